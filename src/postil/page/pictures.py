"""Pictures that several kinds of result have: one forest per metric."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from postil.page.blocks import Picture
from postil.page.words import isolated
from postil.plots.forest import IntervalRow, intervals
from postil.results.numbers import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["DRAWN", "forests"]

DRAWN: Final = 60
"""Number of systems that are drawn."""

SCORES: Final = "scores"
"""Key of the picture of all metrics together."""


def forests(caption: str, rows: Sequence[IntervalRow]) -> Iterator[Picture]:
    """All metrics on one axis where it runs from 0 to 1 for each, then every metric by itself.

    Args:
        caption: What the numbers are.
        rows: The numbers; the group of each is its metric.
    """
    metrics: dict[str, list[IntervalRow]] = {}
    for row in rows:
        metrics.setdefault(row.group, []).append(row)
    if len(metrics) > 1 and len(rows) <= DRAWN and all(0 <= row.value <= 1 for row in rows):
        yield _forest(SCORES, caption, [row for of in metrics.values() for row in of])
    for metric, of in metrics.items():
        few = f", the first {DRAWN} of {len(of):,} systems" if len(of) > DRAWN else ""
        yield _forest(metric, f"{caption} by {isolated(metric)}{few}", of[:DRAWN])


def _forest(key: str, caption: str, rows: Sequence[IntervalRow]) -> Picture:
    if any(row.low is not None for row in rows):
        caption = f"{caption}, 95 % confidence intervals"
    said = "; ".join(f"{row.group} of {row.name} {number(row.value)}" for row in rows)
    return Picture(key, key, caption, f"{caption}: {said}", partial(intervals, rows))
