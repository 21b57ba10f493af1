"""Cells with intervals, and the conclusion of `postil study uses`: its main numbers in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.meta.resampling import estimate
from postil.studies.view import cell_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.studies.result import StudyCell, StudyPart, StudyRow, StudyTable

__all__ = ["conclusion", "interval_cells"]

DECIMALS: Final = 12
"""Decimals of the numbers, since sums in another order, as of other numbers of threads, differ in their last digits."""


def interval_cells(samples: NDArray[np.float64], items: int) -> Iterator[StudyCell]:
    """Values with their intervals.

    Args:
        samples: float64[m, 1 + R], m values and those of each resample.
        items: Number of items that were resampled.

    Yields:
        A cell for each value, empty where it is undefined.

    >>> list(interval_cells(np.array([[0.5, 0.25, 0.75], [np.nan] * 3]), items=2))
    [(0.5, 0.2625, 0.7375), None]
    """
    for each in samples:
        found = estimate(np.round(each, DECIMALS) + 0.0, items)
        yield None if np.isnan(found.value) else (found.value, found.low, found.high)


def conclusion(parts: Sequence[StudyPart]) -> Iterator[str]:
    """Conclusions of the study, one sentence per part.

    Args:
        parts: Its parts.

    Yields:
        The sentences.
    """
    tables = {table.key: table for part in parts for table in part.tables}
    ranking, votes, variance = (tables[key] for key in ("ranking-gains", "votes-gains", "variance"))
    at_5, pairs = (_cell(ranking, ranking.rows[0], name) for name in ("nDCG@5", "pairs in order"))
    pooled, within = (_cell(votes, votes.rows[0], name) for name in ("R², all comments", "R², within threads"))
    between = _cell(variance, variance.rows[0], "share")
    base = ranking.rows[0].name.partition(" − ")[2]
    yield f"Comment ranking: over {base}, the text adds {at_5} to nDCG@5 and {pairs} to the share of pairs in order."
    yield (
        f"Upvote prediction: over {base}, the text adds {pooled} to R² over all comments and {within} within threads. "
        f"Share of the variance of votes that is between articles: {between}."
    )
    if titles := tables.get("titles"):
        best = max(titles.rows, key=lambda row: _first(row, titles, "rouge-l"))
        yield f"Headlines: {best.name} has the highest ROUGE-L, {_cell(titles, best, 'rouge-l')}."


def _cell(table: StudyTable, row: StudyRow, column: str) -> str:
    """A value with its interval, as text."""
    return " ".join(cell_text(row.cells[table.head.index(column) - 1], row.digits)).strip()


def _first(row: StudyRow, table: StudyTable, column: str) -> float:
    """The value of a cell."""
    cell = row.cells[table.head.index(column) - 1]
    value = cell[0] if isinstance(cell, tuple) else cell
    return float(value) if value is not None else 0.0
