"""The result of `postil study`, and its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from postil.data.parts import OptionalPart, Part
from postil.meta.parts import Points
from postil.meta.resampling import estimate
from postil.passages.result import GainCurvePoints
from postil.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["StudyCell", "StudyPart", "StudyPicture", "StudyResult", "StudyRow", "StudyTable", "interval_cells"]

StudyCell: TypeAlias = float | int | str | tuple[float, float | None, float | None] | None
"""A number, words, nothing, or a number with its interval."""

DECIMALS: Final = 12
"""Decimals of the numbers, since sums in another order, as of other numbers of threads, differ in their last digits."""


class StudyRow(OptionalPart, frozen=True, kw_only=True):
    """A row of a table.

    Args:
        name: Name of the row.
        cells: Its cells.
        kind: ``control`` where it is there for comparison only, ``people`` where it is about people, ``group`` where
            it is the title of the rows below it and has no cells.
        digits: Number of decimals.
    """

    name: str
    cells: tuple[StudyCell, ...] = ()
    kind: Literal["", "control", "people", "group"] = ""
    digits: int = 3


class StudyTable(Part, frozen=True, kw_only=True):
    """A table of a study; a row without cells is the title of the rows below it."""

    key: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[StudyRow, ...]

    def __post_init__(self) -> None:
        if not self.head or any(len(row.cells) != len(self.head) - 1 for row in self.rows if row.kind != "group"):
            raise ValueError(f"expected {len(self.head) - 1} cells in each row")


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


class StudyPicture(OptionalPart, frozen=True, kw_only=True):
    """Curves over k, bars, or scores against ratings.

    Args:
        title: Its short title.
        caption: Its caption.
        curves: Curves over k.
        xlabel: Label of the horizontal axis.
        ylabel: Label of the vertical axis.
        names: Names of bars.
        counts: Their lengths.
        aside: Number of last bars that are no kinds, such as all others together.
        key: Identifier of its numbers, for file names; empty where a table has them.
        points: Scores against ratings, one panel per metric.
        notes: Second line of each panel; empty for none.
    """

    title: str
    caption: str
    curves: tuple[GainCurvePoints, ...] = ()
    xlabel: str = ""
    ylabel: str = ""
    names: tuple[str, ...] = ()
    counts: tuple[float, ...] = ()
    aside: int = 0
    key: str = ""
    points: Points | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        kinds = (self.curves, self.names, self.points and self.points.scores)
        if sum(map(bool, kinds)) != 1 or len(self.names) != len(self.counts):
            raise ValueError("expected curves, names with counts, or points")
        if self.notes and (self.points is None or len(self.notes) != len(self.points.scores)):
            raise ValueError("expected a note for each panel of points")


class StudyPart(OptionalPart, frozen=True, kw_only=True):
    """A section of a study."""

    key: str
    title: str
    words: tuple[str, ...] = ()
    tables: tuple[StudyTable, ...] = ()
    pictures: tuple[StudyPicture, ...] = ()


class StudyResult(Result, frozen=True, kw_only=True, tag="study"):
    """A study: sections with tables and pictures.

    Args:
        title: Its title.
        data: The data, in words.
        weights: Source of the references' weights, if known.
        conclusion: Its conclusions, one paragraph each.
        parts: Its sections.
        settings: Names and values.
    """

    title: str
    data: str = ""
    weights: str = ""
    conclusion: tuple[str, ...] = ()
    parts: tuple[StudyPart, ...]
    settings: tuple[tuple[str, str], ...] = ()
