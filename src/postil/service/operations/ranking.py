"""The order of the comments under the article of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.errors import Undefined, UsageError
from postil.service.operations.responses import RankResponse
from postil.threads.ranker_folder import ranked_thread
from postil.threads.thread import Thread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from postil.comments.retrieval import Retriever
    from postil.data.rows import Article
    from postil.service.models import OpenModel, OpenModels
    from postil.service.operations.requests import RankRequest

__all__ = ["rank"]


def rank(models: OpenModels, request: RankRequest) -> RankResponse:
    """Rank the comments of an article.

    Args:
        models: The models.
        request: The request.

    Raises:
        UnknownName: There is no such model.
        UsageError: There is no model for an order, or no order at all.
        InvalidInput: Two comments have one id.
        Undefined: A comment lacks what an order reads.
        PostilError: A model is damaged.
    """
    weights = request.by or _usual(models, request)
    relevance, tokenizer = None, None
    article = request.article.article(comments=True)
    quality = models.quality(request.quality).quality if "quality" in weights else None
    if quality is not None:
        tokenizer = quality.tokenizer
    if "relevance" in weights:
        model, retriever = models.retriever(request.model)
        relevance = _relevance(model, retriever, article)
        tokenizer = retriever.model.setting("tokenizer", str)
    try:
        found = ranked_thread(
            Thread.of(article, tokenizer), weights, relevance=relevance, quality=quality, diversity=request.diversity
        )
    except Undefined as error:
        raise Undefined("by: {problem}; leave the order out", problem=error.message) from None
    return RankResponse(article=article.id, comments=tuple(found))


def _usual(models: OpenModels, request: RankRequest) -> dict[str, float]:
    """Equal weights of the orders whose models are named, or else of those that are there."""
    named = {"relevance": request.model is not None, "quality": request.quality is not None}
    there = {"relevance": models.ranks, "quality": bool(models.qualities)}
    weights = {name: 1.0 for name, one in (named if any(named.values()) else there).items() if one}
    if not weights:
        raise UsageError("by: this service has no model that ranks; expected an order, such as votes or length")
    return weights


def _relevance(model: OpenModel, retriever: Retriever, article: Article) -> NDArray[np.float64]:
    with model.in_use():
        if not retriever.has_input(article):
            parts = " or ".join(retriever.parts)
            problem = f"it has no word in its {parts}, and {retriever.kind} reads nothing else; choose another order"
            raise UsageError(f"article: {problem}")
        return retriever.rank([article])[0]
