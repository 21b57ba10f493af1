"""The interesting passages of the text of a request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from postil.app.interesting import rank_passages
from postil.app.page import passages_in
from postil.app.service.responses import InterestingResponse, ServedPassage
from postil.errors import InvalidInput
from postil.text.stop_words import STOP_LISTS
from postil.text.tokenizers import is_han_text

if TYPE_CHECKING:
    from postil.app.service.models import OpenModels
    from postil.app.service.requests import InterestingRequest

__all__ = ["interesting"]


def interesting(models: OpenModels, request: InterestingRequest) -> InterestingResponse:
    """Find the passages that say most of what a text is about.

    Args:
        models: The settings.
        request: The request.

    Raises:
        UnknownName: The measure or the tokenizer does not exist.
        UsageError: The measure has no units, or reads weights.
        InvalidInput: The text has no passage.
    """
    passages = passages_in(request.text, request.split)
    if not passages:
        raise InvalidInput("expected a text with passages, got an empty one", field="text")
    han = any(is_han_text(one.text) for one in passages)
    language = re.split("[-_]", (request.lang or "").lower())[0]
    ranked = rank_passages(
        [one.text for one in passages],
        k=request.k,
        measure=request.measure,
        tokenizer=request.tokenizer or ("characters" if han else "words"),
        stop=language if language in STOP_LISTS else "none",
        jobs=models.jobs,
    )
    return InterestingResponse(
        measure=request.measure,
        passages=tuple(
            ServedPassage(
                rank=one.rank,
                text=one.text,
                start=passages[one.index].start,
                end=passages[one.index].end,
                score=one.score,
                reasons=one.reasons,
            )
            for one in ranked
        ),
    )
