"""Scores and human ratings as a call gives them, columns or tables, as rows that know their places."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeGuard, cast

from postil.app.columns import as_list, refuse_other_form
from postil.app.item_scores import LARGEST, open_scores
from postil.errors import InvalidInput, UsageError
from postil.records.arguments import check_arguments
from postil.records.checks import is_integer, is_number
from postil.records.explain import out_of_range, shown
from postil.records.frames import ColumnNames, is_table, open_rows, plain_value
from postil.records.ids import as_id
from postil.records.results import ScoreResult
from postil.records.row_locations import LocatedRows, RowLocations
from postil.records.rows import Candidate, Judgement, Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.app.columns import Column
    from postil.app.item_scores import Scores
    from postil.records.frames import Table, TableRows
    from postil.records.results import Excluded
    from postil.records.row_locations import Source
    from postil.records.rows import Row

__all__ = ["JUDGED", "OpenedJudged", "open_judged", "open_scores_alone"]

JUDGED: Final[Mapping[str, type[Row]]] = {"scores": Score, "judgements": Judgement}
"""Row type of each table of scores and ratings."""


@dataclass(frozen=True, slots=True)
class OpenedJudged:
    """Scores and ratings of a call, as rows.

    Args:
        scores: The scores; None without any.
        judgements: The ratings.
        left_out: Ratings that were left out.
        candidates: The texts.
    """

    scores: Source[Score] | None
    judgements: Source[Judgement]
    left_out: tuple[Excluded, ...] = ()
    candidates: Iterable[Candidate] = ()


def _are_scores(scores: object) -> TypeGuard[Scores]:
    """True for scores that are no columns: a result, a table, or a list of paths."""
    several = isinstance(scores, list | tuple) and all(isinstance(each, str | os.PathLike) for each in scores)
    return several or isinstance(scores, ScoreResult) or is_table(scores)


def _open_judgement_table(judgements: Table, names: ColumnNames) -> TableRows[Judgement]:
    """Open a table of judgements, with a warning about those that are left out."""
    rated = open_rows(judgements, Judgement, "judgements", names)
    for each in rated.left_out:
        warnings.warn(f"judgements left out: {each}", stacklevel=4)
    return rated


def open_judged(
    scores: Mapping[str, Column] | Scores | None,
    grades: Column | Table | None,
    judgements: Table | None,
    *,
    items: Column | None,
    systems: Column | None,
    signatures: Mapping[str, str] | None,
    item: str | None,
    system: str | None,
    columns: Mapping[str, str] | None,
    metric_columns: Sequence[str],
    annotator_columns: Sequence[str],
    aspect: str | None,
    candidates: Table | None = None,
    roles: Mapping[str, type[Row]] = JUDGED,
) -> OpenedJudged:
    """Open scores and ratings of a call in either form.

    Args:
        scores: Scores by metric, a result, a table, or None; with those below, see `postil.correlate`.
        grades: Ratings, or a table of judgements.
        judgements: A table of judgements.
        items: Item of each text, with columns.
        systems: System of each text, with columns.
        signatures: Signature of each metric, with columns.
        item: Column of the item, with tables.
        system: Column of the system, with tables.
        columns: Columns by field, with tables.
        metric_columns: Columns that each are a metric, with tables.
        annotator_columns: Columns that each are an annotator, with tables.
        aspect: The aspect that was asked for, which columns do not have.
        candidates: A table of the texts, where ``roles`` has it.
        roles: Row type of each table that ``columns`` may name.

    Raises:
        InvalidInput: A file, a column or a value is wrong.
        UsageError: An argument is of the other form.
    """
    if scores is None and judgements is None and grades is not None and not is_table(grades):
        scores = {}
    if judgements is not None or scores is None or (not isinstance(scores, Mapping) and _are_scores(scores)):
        refuse_other_form("scores are a table; name its columns", items=items, systems=systems, signatures=signatures)
        table = grades if judgements is None else judgements
        if not is_table(table):
            expected = "a table: a data frame, a path, or a list of rows or dictionaries"
            raise UsageError(f"judgements: expected {expected}, got {type(table).__name__}")
        if isinstance(scores, Mapping):
            raise UsageError("judgements: scores are columns, so expected grades, a column as well")
        names = ColumnNames(
            roles,
            columns,
            everywhere={"item": item, "system": system},
            wide={"scores": metric_columns, "judgements": annotator_columns},
        )
        opened = None if scores is None else open_scores(scores, names)
        rated = _open_judgement_table(table, names)
        written = () if candidates is None else open_rows(candidates, Candidate, "candidates", names)
        return OpenedJudged(opened, rated, tuple(rated.left_out), written)
    of_tables = {
        "item": item,
        "system": system,
        "candidates": candidates,
        "columns": columns,
        "metric_columns": metric_columns,
        "annotator_columns": annotator_columns,
    }
    refuse_other_form("only for tables; expected none with scores that are columns", **of_tables)
    rows, ratings = _judged_columns(
        cast("Mapping[str, Column]", scores),
        cast("Column", grades),
        items=items,
        systems=systems,
        signatures=signatures,
        aspect=aspect,
    )
    return OpenedJudged(rows if scores else None, ratings)


def _judged_columns(
    scores: Mapping[str, Column],
    grades: Column,
    *,
    items: Column | None,
    systems: Column | None,
    signatures: Mapping[str, str] | None,
    aspect: str | None,
) -> tuple[LocatedRows[Score], LocatedRows[Judgement]]:
    """Make rows of columns, one entry per text.

    Args:
        scores: n scores by metric.
        grades: Human rating of each of n texts: a number, a list with one number per annotator, or None.
        items: Item of each text; by default each text is an item of its own.
        systems: System that wrote each text; by default all are of one, or numbered within their item.
        signatures: Signature of each metric.
        aspect: The aspect that was asked for, which must be None.

    Raises:
        InvalidInput: Columns differ in length, something is no number, or there is no grade.
        UsageError: An aspect was asked for.
    """
    check_arguments(_judged_columns, locals())
    if aspect is not None:
        raise UsageError("aspect: the grades are of one question; give those of the one that is meant")
    rated = as_list(grades, "grades")
    n = len(rated)
    of_item, of_system = _texts(n, items, systems)
    judgements: list[Judgement] = []
    rows: list[int] = []
    for row, (item, system, grade) in enumerate(zip(of_item, of_system, rated, strict=True)):
        of_text = [
            Judgement(item, system, str(annotator), rating)
            for annotator, rating in enumerate(_ratings(grade, row), start=1)
            if rating is not None
        ]
        judgements += of_text
        rows += [row] * len(of_text)
    if not judgements:
        raise InvalidInput("expected at least one grade, got none", where="grades")
    return (
        _score_rows(scores, of_item, of_system, signatures),
        LocatedRows(iter(judgements), _Rows("grades", rows)),
    )


def open_scores_alone(
    scores: Mapping[str, Column] | Scores,
    *,
    items: Column | None,
    systems: Column | None,
    signatures: Mapping[str, str] | None,
    item: str | None,
    system: str | None,
    columns: Mapping[str, str] | None,
    metric_columns: Sequence[str],
) -> Source[Score]:
    """Open scores of a call without ratings, in either form; see `open_judged` for the arguments.

    Raises:
        InvalidInput: A file, a column or a value is wrong.
        UsageError: An argument is of the other form.
    """
    if not isinstance(scores, Mapping):
        refuse_other_form("scores are a table; name its columns", items=items, systems=systems, signatures=signatures)
        everywhere = {"item": item, "system": system}
        names = ColumnNames({"scores": Score}, columns, everywhere=everywhere, wide={"scores": metric_columns})
        return open_scores(scores, names)
    of_tables = {"item": item, "system": system, "columns": columns, "metric_columns": metric_columns}
    refuse_other_form("only for tables; expected none with scores that are columns", **of_tables)
    return _score_rows(scores, *_texts(_length(scores), items, systems), signatures)


def _length(scores: Mapping[str, Column]) -> int:
    """Number of texts of columns."""
    check_arguments(_length, locals())
    if not scores:
        raise UsageError("scores: expected at least one column")
    name, column = next(iter(scores.items()))
    return len(as_list(column, name))


def _texts(n: int, items: Column | None, systems: Column | None) -> tuple[list[str], list[str]]:
    """Item and system of each text; by default each is an item of its own, and all are of one system."""
    of_item = list(map(str, range(n))) if items is None else _ids(items, n, "items")
    return of_item, ["system"] * n if systems is None and items is None else _systems(systems, of_item, n)


def _score_rows(
    scores: Mapping[str, Column], of_item: list[str], of_system: list[str], signatures: Mapping[str, str] | None
) -> LocatedRows[Score]:
    n = len(of_item)
    rows = (
        Score(item, system, metric, value, (signatures or {}).get(metric, ""))
        for metric, column in scores.items()
        for item, system, value in zip(of_item, of_system, _numbers(column, n, metric), strict=True)
    )
    return LocatedRows(rows, _Rows("scores", range(n)))


class _Rows(RowLocations):
    """Locations of rows that were made from columns.

    Args:
        where: Name of the argument.
        rows: Index in it of each row that was made; the list repeats.
    """

    def __init__(self, where: str, rows: Sequence[int]) -> None:
        super().__init__(where)
        self._rows = rows

    def line(self, index: int) -> int:
        """See `RowLocations.line`."""
        return self._rows[index % len(self._rows)] + 1


def _column(column: Column, n: int, where: str) -> list[object]:
    values = as_list(column, where)
    if len(values) != n:
        raise InvalidInput(f"expected an entry for each of {n} texts, got {len(values)}", where=where)
    return values


def _ids(column: Column, n: int, where: str) -> list[str]:
    values = _column(column, n, where)
    for row, value in enumerate(values):
        if not isinstance(value, str) and not is_integer(value):
            got = repr(value) if isinstance(value, float) else shown(value)
            raise InvalidInput(f"expected text or an integer, got {got}", where=where, line=row + 1)
    return [as_id(str(value)) for value in values]


def _systems(systems: Column | None, items: list[str], n: int) -> list[str]:
    """System of each text; by default its number within its item."""
    if systems is not None:
        return _ids(systems, n, "systems")
    seen: dict[str, int] = {}
    numbers: list[str] = []
    for item in items:
        seen[item] = seen.get(item, 0) + 1
        numbers.append(str(seen[item]))
    return numbers


def _numbers(column: Column, n: int, where: str) -> list[float]:
    return [_number(value, where, row) for row, value in enumerate(_column(column, n, where))]


def _number(value: object, where: str, row: int) -> float:
    if not is_number(value):
        raise InvalidInput(f"expected a number, got {shown(value)}", where=where, line=row + 1)
    if abs(value) > LARGEST:
        raise InvalidInput(out_of_range(value, -LARGEST, LARGEST), where=where, line=row + 1)
    return float(value)


def _ratings(grade: object, row: int) -> list[float | None]:
    """Ratings of one text."""
    several = [grade] if grade is None or isinstance(grade, str | float) or is_number(grade) else grade
    ratings = map(plain_value, as_list(several, f"grades:{row + 1}"))
    return [None if rating is None else _number(rating, "grades", row) for rating in ratings]
