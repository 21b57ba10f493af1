"""Correlation of columns or tables of scores with human ratings: `postil.correlate`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeGuard, cast, overload

from postil.app.columns import as_list, refuse_other_form
from postil.app.correlate import CorrelateOptions, correlate_rows, correlate_table
from postil.app.item_scores import LARGEST, open_scores
from postil.errors import InvalidInput, UsageError
from postil.metaeval.table import join
from postil.records.arguments import check_arguments
from postil.records.checks import is_integer, is_number
from postil.records.explain import out_of_range, shown
from postil.records.frames import ColumnNames, is_table, open_rows, plain_value
from postil.records.results import ScoreResult
from postil.records.row_locations import RowLocations
from postil.records.rows import Candidate, Judgement, Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.app.columns import Column
    from postil.app.item_scores import Scores
    from postil.records.frames import Table
    from postil.records.results import CorrelationResult

__all__ = ["correlate"]


@overload
def correlate(
    scores: Mapping[str, Column],
    grades: Column,
    *,
    items: Column | None = None,
    systems: Column | None = None,
    signatures: Mapping[str, str] | None = None,
    options: CorrelateOptions | None = None,
) -> CorrelationResult: ...
@overload
def correlate(
    scores: Scores,
    judgements: Table,
    /,
    *,
    item: str | None = None,
    system: str | None = None,
    candidates: Table | None = None,
    columns: Mapping[str, str] | None = None,
    metric_columns: Sequence[str] = (),
    annotator_columns: Sequence[str] = (),
    options: CorrelateOptions | None = None,
) -> CorrelationResult: ...
@overload
def correlate(
    scores: Scores,
    *,
    judgements: Table,
    item: str | None = None,
    system: str | None = None,
    candidates: Table | None = None,
    columns: Mapping[str, str] | None = None,
    metric_columns: Sequence[str] = (),
    annotator_columns: Sequence[str] = (),
    options: CorrelateOptions | None = None,
) -> CorrelationResult: ...
def correlate(
    scores: Mapping[str, Column] | Scores,
    grades: Column | Table | None = None,
    *,
    judgements: Table | None = None,
    items: Column | None = None,
    systems: Column | None = None,
    signatures: Mapping[str, str] | None = None,
    item: str | None = None,
    system: str | None = None,
    candidates: Table | None = None,
    columns: Mapping[str, str] | None = None,
    metric_columns: Sequence[str] = (),
    annotator_columns: Sequence[str] = (),
    options: CorrelateOptions | None = None,
) -> CorrelationResult:
    """Correlate metric scores with human ratings, with confidence intervals, human reference points and tests.

    There are two forms. **Columns**: ``correlate(scores_by_metric, grades, items=…, systems=…)``, one entry per text.
    **Tables**: ``correlate(scores, judgements)``, which meet on item and system, as in the command; the scores are a
    result of `postil.score`, or item scores as a table: a data frame (pandas, Polars, pyarrow, or another that narwhals
    takes), a list of rows or of dictionaries, or one or more paths of files.

    Args:
        scores: n scores by metric, such as the ``items`` of the result of `postil.score`, controls among them. Or a
            result, or a table (item, system, metric, score).
        grades: Human rating of each of n texts: a number, or a list with one number per annotator. None and NaN stand
            for no rating; a text without any is excluded, and counted.
        judgements: Table of human ratings (item, system, annotator, grade, and aspect where there is more than one).
        items: Item of each text; intervals are over items. By default each text is an item of its own.
        systems: System that wrote each text; by default all are of one system. An item has one text per system.
        signatures: Signature of each metric.
        item: Column of the item, in both tables.
        system: Column of the system, in both tables.
        candidates: Table of the texts (item, system, text), for those of the largest disagreements.
        columns: Columns by field, as ``--column`` has them: ``{"score": "value"}`` of the scores,
            ``{"judgements.grade": "stars"}`` of the judgements.
        metric_columns: Columns of the table of scores that each are a metric, where there is no column ``metric``.
        annotator_columns: Columns of the judgements that each are an annotator, where there is no column ``grade``.
        options: Options; by default those of the command.

    Returns:
        The ``correlations``, ``human``, ``differences``, ``agreement``, ``systems``, ``disagreements``.

    Warns:
        UserWarning: Judgements without a grade were left out; they are in ``data.left_out`` as well.

    Raises:
        InvalidInput: Columns differ in length, something is no number, there is no grade, or an item has two texts of
            one system.
        UsageError: There is no metric, an aspect was asked for in columns, or an argument is of the other form.
        UnknownName: A coefficient, level, metric or field does not exist.
        Undefined: No text has both scores and judgements.

    >>> found = correlate({"bleu-4": [0.1, 0.3, 0.2, 0.5]}, [[1, 2], [3, 3], [3, 2], [5, 4]])
    >>> row = found.correlations[0]
    >>> row.metric, row.coefficient, round(row.value, 4), row.n
    ('bleu-4', 'pearson', 0.9954, 4)

    >>> scores = [{"id": i, "bleu-4": score} for i, score in enumerate([0.1, 0.3, 0.2, 0.5])]
    >>> ratings = [{"id": i, "ann": a, "bob": b} for i, (a, b) in enumerate([(1, 2), (3, 3), (3, 2), (5, 4)])]
    >>> again = correlate(
    ...     scores, ratings, item="id", metric_columns=["bleu-4"], annotator_columns=["ann", "bob"])
    >>> again.correlations[0].value == row.value
    True
    """
    check_arguments(correlate, locals())
    if not isinstance(scores, Mapping) and _are_scores(scores):
        refuse_other_form("scores are a table; name its columns", items=items, systems=systems, signatures=signatures)
        rated = grades if judgements is None else judgements
        if not is_table(rated):
            expected = "a table: a data frame, a path, or a list of rows or dictionaries"
            raise UsageError(f"judgements: expected {expected}, got {type(rated).__name__}")
        names = ColumnNames(
            {"scores": Score, "judgements": Judgement, "candidates": Candidate},
            columns,
            everywhere={"item": item, "system": system},
            wide={"scores": metric_columns, "judgements": annotator_columns},
        )
        return _correlate_tables(scores, rated, candidates, names, options or CorrelateOptions())
    of_tables = {
        "item": item,
        "system": system,
        "candidates": candidates,
        "columns": columns,
        "metric_columns": metric_columns,
        "annotator_columns": annotator_columns,
    }
    refuse_other_form("only for tables; expected none with scores that are columns", **of_tables)
    if judgements is not None:
        raise UsageError("judgements: scores are columns, so expected grades, a column as well")
    return _correlate_columns(
        cast("Mapping[str, Column]", scores),
        cast("Column", grades),
        items=items,
        systems=systems,
        signatures=signatures,
        options=options or CorrelateOptions(),
    )


def _are_scores(scores: object) -> TypeGuard[Scores]:
    """True for a result, a table, or a list of paths."""
    several = isinstance(scores, list | tuple) and all(isinstance(each, str | os.PathLike) for each in scores)
    return several or isinstance(scores, ScoreResult) or is_table(scores)


def _correlate_tables(
    scores: Scores, judgements: Table, candidates: Table | None, names: ColumnNames, options: CorrelateOptions
) -> CorrelationResult:
    """Correlate a table of scores with a table of judgements; see `correlate`."""
    opened = open_scores(scores, names)
    rated = open_rows(judgements, Judgement, "judgements", names)
    for each in rated.left_out:
        warnings.warn(f"judgements left out: {each}", stacklevel=3)
    written = () if candidates is None else open_rows(candidates, Candidate, "candidates", names)
    texts = {(row.item, row.system): row.text for row in written}
    return correlate_rows(opened, rated, options, texts, left_out=rated.left_out)


def _correlate_columns(
    scores: Mapping[str, Column],
    grades: Column,
    *,
    items: Column | None,
    systems: Column | None,
    signatures: Mapping[str, str] | None,
    options: CorrelateOptions,
) -> CorrelationResult:
    check_arguments(_correlate_columns, locals())
    if not scores:
        raise UsageError("no metric: expected at least one column of scores")
    if options.aspect is not None:
        raise UsageError("aspect: the grades are of one question; give those of the one that is meant")
    rated = as_list(grades, "grades")
    n = len(rated)
    of_item = list(map(str, range(n))) if items is None else _ids(items, n, "items")
    of_system = ["system"] * n if systems is None and items is None else _systems(systems, of_item, n)
    score_rows = (
        Score(item, system, metric, value, (signatures or {}).get(metric, ""))
        for metric, column in scores.items()
        for item, system, value in zip(of_item, of_system, _numbers(column, n, metric), strict=True)
    )
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
    table = join(
        score_rows,
        judgements,
        metrics=options.metrics,
        lower_is_better=options.lower_is_better,
        scale=options.scale,
        score_places=_Rows("scores", range(n)),
        judgement_places=_Rows("grades", rows),
    )
    return correlate_table(table, judgements, options)


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
    return list(map(str, values))


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
