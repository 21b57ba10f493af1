"""Suggestions for an article and its interesting passages, as they are delivered when it is published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from postil.app.service.passages import interesting
from postil.app.service.requests import InterestingRequest, SuggestRequest
from postil.app.service.responses import DigestPassage, DigestResponse
from postil.app.service.suggesting import suggest
from postil.corpus.formats.html_text import HtmlCleaner

if TYPE_CHECKING:
    from postil.app.service.models import OpenModels
    from postil.app.service.requests import SentArticle

__all__ = ["digest"]

MOST: Final = 5
"""Largest number of suggestions, and of passages."""


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
