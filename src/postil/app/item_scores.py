"""Item scores and judgements of files, refused where they are too large to calculate with."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from postil.errors import UsageError
from postil.records.explain import out_of_range
from postil.records.row_files import read
from postil.records.row_locations import RowLocations
from postil.records.rows import Judgement, Score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.errors import InvalidInput

__all__ = ["LARGEST", "ScoreFiles", "read_judgements"]

LARGEST: Final = 1e100
"""Largest magnitude of a score or a rating, so that no sum of squares overflows."""


class ScoreFiles(RowLocations):
    """Score rows of several files, read one after the other, with their locations.

    Args:
        paths: Files of score rows, at least one; ``-`` for standard input.

    Raises:
        UsageError: There is no file.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        if not paths:
            raise UsageError("expected at least one file of scores")
        self._sources = [read(path, Score) for path in paths]
        super().__init__(", ".join(source.places.where for source in self._sources))
        self._begins: list[int] = []

    def rows(self) -> Iterator[Score]:
        """All rows.

        Raises:
            InvalidInput: A row is invalid, or a score is too large to calculate with.
        """
        done = 0
        for source in self._sources:
            self._begins.append(done)
            for row in source:
                if abs(row.score) > LARGEST:
                    raise self.error(done, "score", out_of_range(row.score, -LARGEST, LARGEST))
                for value in row.statistics:
                    if abs(value) > LARGEST:
                        raise self.error(done, "statistics", out_of_range(value, -LARGEST, LARGEST))
                done += 1
                yield row

    def error(self, index: int, field: str, problem: str) -> InvalidInput:
        """See `RowLocations.error`."""
        source = bisect_right(self._begins, index) - 1
        return self._sources[source].places.error(index - self._begins[source], field, problem)


def read_judgements(path: str) -> tuple[list[Judgement], RowLocations]:
    """Read judgements, with their locations for messages.

    Args:
        path: A file of judgement rows; ``-`` for standard input.

    Raises:
        InvalidInput: A row is invalid, or a rating is too large to calculate with.
    """
    rated = read(path, Judgement)
    rows = list(rated)
    for place, row in enumerate(rows):
        if abs(row.grade) > LARGEST:
            raise rated.places.error(place, "grade", out_of_range(row.grade, -LARGEST, LARGEST))
    return rows, rated.places
