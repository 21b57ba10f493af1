"""Item scores and judgements of files and tables, refused where they are too large to calculate with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from postil.errors import UsageError
from postil.records.explain import out_of_range
from postil.records.frames import TableRows, open_rows
from postil.records.results import ScoreResult
from postil.records.row_files import read
from postil.records.row_locations import FileLocations, LocatedRows, RowLocations
from postil.records.rows import Judgement, Score
from postil.records.wide import read_wide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.records.frames import ColumnNames, Table
    from postil.records.reading import Reading
    from postil.records.row_files import FilePath
    from postil.records.row_locations import Source

    Scores: TypeAlias = ScoreResult | Table | Sequence[FilePath]

__all__ = [
    "LARGEST",
    "Scores",
    "ScoresWithCopies",
    "open_judgements",
    "open_score_files",
    "open_scores",
    "read_judgements",
]

LARGEST: Final = 1e100
"""Largest magnitude of a score or a rating, so that no sum of squares overflows."""


class ScoresWithCopies:
    """Score rows, of which those of candidates that are references of their item are kept in mind.

    Args:
        scores: The rows.

    Attributes:
        places: Locations of the rows.
        copies: Item and system of these candidates, when all rows were read.
    """

    def __init__(self, scores: Source[Score]) -> None:
        self.places = scores.places
        self.copies: set[tuple[str, str]] = set()
        self._scores = scores

    def __iter__(self) -> Iterator[Score]:
        for row in self._scores:
            if row.equal_references and row.item is not None:
                self.copies.add((row.item, row.system))
            yield row


def open_scores(scores: Scores, names: ColumnNames) -> LocatedRows[Score]:
    """Open item scores of any kind.

    Args:
        scores: A result of `postil.score`, a table, or several paths.
        names: Names of the columns of ``scores``.

    Raises:
        UsageError: A result has no item scores, or it is no table, or none.
        InvalidInput: A file or a column is missing, or a value is wrong.
    """
    if isinstance(scores, ScoreResult):
        if names.given("scores"):
            raise UsageError("columns: scores are a result, whose items and systems have names already")
        return _joined([TableRows(scores.score_rows(), RowLocations("scores"))])
    several = isinstance(scores, list | tuple) and all(isinstance(each, str | os.PathLike) for each in scores)
    tables = cast("Sequence[Table]", scores if several else [scores])
    return _joined([open_rows(table, Score, "scores", names) for table in tables])


def open_score_files(paths: Sequence[str], reading: Reading, metric_columns: Sequence[str] = ()) -> LocatedRows[Score]:
    """Open files of item scores.

    Args:
        paths: Files of score rows, or of tables with one column per metric; ``-`` for standard input.
        reading: Options of reading them.
        metric_columns: The columns that are a metric each, with commas between them.

    Raises:
        UsageError: There is no file, or a format or column makes no sense.
        InvalidInput: A file is missing.
    """
    names = _names(metric_columns)
    return _joined([read_wide(each, Score, names, reading) if names else read(each, Score, reading) for each in paths])


def _joined(sources: Sequence[Source[Score]]) -> LocatedRows[Score]:
    """Score rows of several sources, one after the other."""
    if not sources:
        raise UsageError("expected at least one file of scores")
    places = FileLocations(", ".join(source.places.where for source in sources))
    return LocatedRows(_checked(places.rows(sources), places), places)


def _checked(rows: Iterable[Score], places: RowLocations) -> Iterator[Score]:
    for index, row in enumerate(rows):
        if abs(row.score) > LARGEST:
            raise places.error(index, "score", out_of_range(row.score, -LARGEST, LARGEST))
        for value in row.statistics:
            if abs(value) > LARGEST:
                raise places.error(index, "statistics", out_of_range(value, -LARGEST, LARGEST))
        yield row


def open_judgements(path: str, reading: Reading, annotator_columns: Sequence[str] = ()) -> LocatedRows[Judgement]:
    """Open a file of judgements.

    Args:
        path: A file of judgement rows, or a table with one column per annotator; ``-`` for standard input.
        reading: Options of reading it.
        annotator_columns: The columns that are the ratings of one annotator each, with commas between them.

    Raises:
        UsageError: A format or column makes no sense.
        InvalidInput: The file is missing.
    """
    names = _names(annotator_columns)
    return read_wide(path, Judgement, names, reading) if names else read(path, Judgement, reading)


def _names(columns: Sequence[str]) -> list[str]:
    names = [name.strip() for each in columns for name in each.split(",")]
    if "" in names:
        raise UsageError(f"expected names of columns with commas between them, got '{','.join(columns)}'")
    return names


def read_judgements(judgements: Source[Judgement]) -> tuple[list[Judgement], RowLocations]:
    """Read judgements, with their locations for messages.

    Args:
        judgements: Judgement rows.

    Raises:
        InvalidInput: A row is invalid, or a rating is too large to calculate with.
    """
    rows = list(judgements)
    for place, row in enumerate(rows):
        if abs(row.grade) > LARGEST:
            raise judgements.places.error(place, "grade", out_of_range(row.grade, -LARGEST, LARGEST))
    return rows, judgements.places
