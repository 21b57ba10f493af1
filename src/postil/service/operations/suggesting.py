"""Suggestions for the article of a request, by one model or by two that take turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from postil.comments.interleaving import team_draft
from postil.comments.retrieval import Retriever
from postil.comments.show_filter import Selection
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.service.operations.responses import ServedSuggestion, SuggestResponse

if TYPE_CHECKING:
    from msgspec import UnsetType

    from postil.comments.neural_commenter import NeuralCommenter
    from postil.data.rows import Article
    from postil.data.suggestions import Suggestion, Suggestions
    from postil.service.models import OpenModel, OpenModels
    from postil.service.operations.requests import SuggestRequest

__all__ = ["suggest"]


def suggest(models: OpenModels, request: SuggestRequest) -> SuggestResponse:
    """Suggest comments for an article.

    Args:
        models: The models.
        request: The request.

    Raises:
        UnknownName, InvalidInput: There is no such model.
        UsageError: The model was never calibrated, and precision or coverage are given, or both are.
        PostilError: The model is damaged.
    """
    article = request.article.article()
    selection = None
    if request.precision is not None or request.coverage is not None:
        selection = Selection(request.precision, request.coverage)
    if request.interleave is not None:
        try:
            teams = [models.commenter(name) for name in request.interleave]
        except UnknownName as error:
            raise InvalidInput(str(error), field="interleave") from None
        return _interleaved(article, teams, selection, request.k)
    model = models.commenter(request.model)
    found = _suggested(article, model, selection, request.k)
    return SuggestResponse(
        article=article.id,
        model=model.name,
        model_hash=model.hash,
        suggestions=tuple(_served(one, one.rank) for one in found.suggestions),
        filtered=found.filtered,
        reason=found.reason,
    )


def _suggested(article: Article, model: OpenModel, selection: Selection | None, k: int) -> Suggestions:
    commenter = model.commenter
    with model.in_use():
        if selection is not None:
            if not isinstance(commenter, Retriever):
                problem = f"{commenter.kind} generates comments, and only models that retrieve them can be calibrated"
                raise UsageError(f"model {model.name}: {problem}; leave precision and coverage out")
            commenter = commenter.selecting(selection)
        (found,) = commenter.comment([article], k)
        if found.suggestions or found.reason is not None:
            return found
        return msgspec.structs.replace(found, reason=_nothing(article, commenter))


def _nothing(article: Article, commenter: Retriever | NeuralCommenter) -> str:
    """The reason why a model has no suggestion."""
    parts = " or ".join(commenter.parts)
    if not commenter.has_input(article):
        return f"the article has no word in its {parts}, and {commenter.kind} reads nothing else"
    return f"no training article with comments shares a word with the {parts} of this one"


def _interleaved(article: Article, teams: list[OpenModel], selection: Selection | None, k: int) -> SuggestResponse:
    lists = [_suggested(article, model, selection, k) for model in teams]
    first, second = ([one.text for one in found.suggestions] for found in lists)
    hashes = tuple(model.hash for model in teams)
    # The same article always has the same list, however often a page asks for it.
    seed = "\0".join((article.id, *hashes)).encode("utf-8", "surrogatepass")
    drawn = team_draft(first, second, k, seed)
    reason = None
    if not drawn:
        lacking = [(model.name, found.reason) for model, found in zip(teams, lists, strict=True) if found.reason]
        reason = "; ".join(f"{name}: {why}" for name, why in lacking)
    return SuggestResponse(
        article=article.id,
        model=None,
        model_hash=None,
        models=tuple(model.name for model in teams),
        model_hashes=hashes,
        suggestions=tuple(_served(lists[team].suggestions[at], rank, team) for rank, (team, at) in enumerate(drawn, 1)),
        filtered=tuple(dict.fromkeys((*lists[0].filtered, *lists[1].filtered))),
        reason=reason,
    )


def _served(one: Suggestion, rank: int, team: int | UnsetType = UNSET) -> ServedSuggestion:
    return ServedSuggestion(one.text, one.score, rank, one.provenance, one.probability, team)
