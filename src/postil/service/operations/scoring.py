"""Scores of the texts of a request against graded references."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Final

from postil.data.frames import SYSTEM
from postil.data.rows import Candidate
from postil.data.scale import Scale
from postil.errors import InvalidInput
from postil.results.result_json import SCHEMA
from postil.scoring.calls import score as score_rows
from postil.service.operations.responses import ScoredItem, ScoreResponse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.scoring.result import ScoreResult
    from postil.service.models import OpenModels
    from postil.service.operations.requests import ScoreRequest

__all__ = ["FILE_PARAMETERS", "score"]

FILE_PARAMETERS: Final = ("model", "vectors", "function_words", "wordnet")
"""Parameters of metrics that name a file or folder, which only the configuration may do."""
_NAMES_FILE: Final = re.compile(rf"\b(?:{'|'.join(FILE_PARAMETERS)})\s*=")
_CONSENSUS: Final = re.compile(r"\s*consensus\s*\((.*)\)\s*", re.DOTALL)


def score(models: OpenModels, request: ScoreRequest) -> ScoreResponse:
    """Score candidates against references, as `postil score` does.

    Args:
        models: The models, with the metrics that may read files.
        request: The request.

    Raises:
        UnknownName: A metric, tokenizer or weights method does not exist.
        UsageError: Metrics, weights and scale do not go together.
        InvalidInput: An item has no references, or a system answers one twice; or a metric names a file.
        Undefined: CIDEr of a single item.
    """
    for spec in request.metrics or ():
        _check_files(spec, models.metrics, "metrics")
    method = _CONSENSUS.fullmatch(request.weights or "")
    if method is not None:
        _check_files(method[1], models.metrics, "weights")
    if not request.candidates or not request.references:
        raise InvalidInput(
            "expected at least one, got none", field="references" if request.candidates else "candidates"
        )
    rows = [Candidate(one.item, SYSTEM if one.system is None else one.system, one.text) for one in request.candidates]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = score_rows(
                rows,
                list(request.references),
                metrics=request.metrics,
                tokenizer=request.tokenizer,
                weights=request.weights,
                scale=None if request.scale is None else Scale.parse(request.scale),
                ungraded=request.ungraded,
                jobs=models.jobs,
            )
        except InvalidInput as error:
            raise _at_field(error) from None
    items = tuple(_items(found)) if request.items else None
    remarks = tuple(one.message.args[0] for one in said if isinstance(one.message, Warning))
    return ScoreResponse(schema=SCHEMA, scores=found.scores, items=items, remarks=remarks)


def _check_files(spec: str, allowed: tuple[str, ...], field: str) -> None:
    if _NAMES_FILE.search(spec) and _plain(spec) not in set(map(_plain, allowed)):
        expected = f"one of {', '.join(allowed)}" if allowed else "one that reads no file of the server"
        raise InvalidInput(f"expected a metric without {' or '.join(FILE_PARAMETERS)}, or {expected}", field=field)


def _plain(spec: str) -> str:
    return "".join(spec.split()).removeprefix("w-")


def _at_field(error: InvalidInput) -> InvalidInput:
    """The error of a row with the place of its field in the request."""
    place = error.where if error.line is None else f"{error.where}[{error.line - 1}]"
    return InvalidInput(error.message, field=".".join(filter(None, (place, error.field))))


def _items(found: ScoreResult) -> Iterator[ScoredItem]:
    metrics = list(found.items)
    columns = [found.items[name].tolist() for name in metrics]
    for item, system, *values in zip(found.item_names, found.system_names, *columns, strict=True):
        yield ScoredItem(item=item, system=system, scores=dict(zip(metrics, values, strict=True)))
