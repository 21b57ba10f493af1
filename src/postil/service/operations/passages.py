"""The interesting passages of the text of a request, and what is delivered with suggestions for an article."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from postil.documents.markup import HtmlCleaner
from postil.documents.plain import read_plain
from postil.errors import InvalidInput
from postil.interest.calls import Ranker
from postil.interest.options import AUTO, InterestingOptions
from postil.interest.page import Page
from postil.service.operations.requests import InterestingRequest, SuggestRequest
from postil.service.operations.responses import DigestPassage, DigestResponse, InterestingResponse, ServedPassage
from postil.service.operations.suggesting import suggest

if TYPE_CHECKING:
    from postil.service.models import OpenModels
    from postil.service.operations.requests import SentArticle

__all__ = ["digest", "interesting"]


MOST: Final = 5
"""Largest number of suggestions, and of passages."""


def interesting(models: OpenModels, request: InterestingRequest) -> InterestingResponse:
    """Find the passages of a text that readers should see first.

    Args:
        models: The settings.
        request: The request.

    Raises:
        UnknownName: The goal, the measure or the tokenizer does not exist.
        UsageError: The measure has no units, or reads weights; or there are a goal and a measure.
        InvalidInput: The text has no passage.
    """
    if not request.text.strip():
        raise InvalidInput("expected a text with passages, got an empty one", field="text")
    options = InterestingOptions(
        k=request.k,
        goal=request.goal,
        measure=request.measure,
        split=request.split,
        lang=request.lang,
        tokenizer=request.tokenizer or AUTO,
        jobs=models.jobs,
    )
    found = Ranker.open(options).rank(Page.of_document(read_plain(request.text, "text"), options))
    return InterestingResponse(
        goal=found.goal,
        lang=found.lang,
        measure=found.measure,
        notes=found.notes,
        passages=tuple(
            ServedPassage(
                rank=one.rank,
                text=one.text,
                start=one.start or 0,
                end=one.end or 0,
                score=one.score,
                reasons=one.reasons,
            )
            for one in found.passages
        ),
    )


def digest(models: OpenModels, article: SentArticle) -> DigestResponse:
    """Suggest comments for an article by the first model, and find its interesting passages.

    Args:
        models: The models.
        article: The article.

    Raises:
        UsageError: No model suggests comments.
        PostilError: The model is damaged.
    """
    found = suggest(models, SuggestRequest(article=article, k=MOST))
    return DigestResponse(
        article=found.article,
        url=article.url,
        model=found.model,
        model_hash=found.model_hash,
        suggestions=found.suggestions,
        reason=found.reason,
        passages=_passages(models, article),
    )


def _passages(models: OpenModels, article: SentArticle) -> tuple[DigestPassage, ...]:
    clean = HtmlCleaner()
    text = clean(article.content or "")
    if not text.strip():
        return ()
    request = InterestingRequest(text=text, k=MOST, lang=article.lang)
    return tuple(
        msgspec.convert(one, DigestPassage, from_attributes=True) for one in interesting(models, request).passages
    )
