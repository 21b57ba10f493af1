"""The interesting passages of the text of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.app.interesting import Ranker
from postil.app.interesting_options import AUTO, InterestingOptions
from postil.app.interesting_page import Page
from postil.app.service.responses import InterestingResponse, ServedPassage
from postil.documents.plain import read_plain
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from postil.app.service.models import OpenModels
    from postil.app.service.requests import InterestingRequest

__all__ = ["interesting"]


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
