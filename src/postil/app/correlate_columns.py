"""Correlation of columns of scores with columns of human ratings: `postil.correlate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.app.columns import as_list
from postil.app.correlate import CorrelateOptions, correlate_table
from postil.app.item_scores import LARGEST
from postil.errors import InvalidInput, UsageError
from postil.metaeval.table import join
from postil.records.arguments import check_arguments
from postil.records.checks import is_integer, is_number
from postil.records.explain import out_of_range, shown
from postil.records.row_locations import RowLocations
from postil.records.rows import Judgement, Score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.app.columns import Column
    from postil.records.results import CorrelationResult

__all__ = ["correlate"]


def correlate(
    scores: Mapping[str, Column],
    grades: Column,
    *,
    items: Column | None = None,
    systems: Column | None = None,
    signatures: Mapping[str, str] | None = None,
    options: CorrelateOptions | None = None,
) -> CorrelationResult:
    """Correlate metric scores with human ratings, with confidence intervals, human reference points and tests.

    Args:
        scores: n scores by metric, such as the ``items`` of the result of `postil.score`, controls among them.
        grades: Human rating of each of n texts: a number, or a list with one number per annotator. None stands for no
            rating; a text without any is excluded, and counted.
        items: Item of each text; intervals are over items. By default each text is an item of its own.
        systems: System that wrote each text; by default all are of one system. An item has one text per system.
        signatures: Signature of each metric.
        options: Options; by default those of the command.

    Returns:
        The ``correlations``, ``human``, ``differences``, ``agreement``, ``systems``, ``disagreements``.

    Raises:
        InvalidInput: Columns differ in length, something is no number, there is no grade, or an item has two texts of
            one system.
        UsageError: There is no metric, or an aspect was asked for.
        UnknownName: A coefficient, level or metric does not exist.

    >>> found = correlate({"bleu-4": [0.1, 0.3, 0.2, 0.5]}, [[1, 2], [3, 3], [3, 2], [5, 4]])
    >>> row = found.correlations[0]
    >>> row.metric, row.coefficient, round(row.value, 4), row.n
    ('bleu-4', 'pearson', 0.9954, 4)
    """
    check_arguments(correlate, locals())
    if not scores:
        raise UsageError("no metric: expected at least one column of scores")
    options = options or CorrelateOptions()
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
        advice = "; where there is no grade, give None" if where == "grades" and isinstance(value, float) else ""
        raise InvalidInput(f"expected a number, got {shown(value)}{advice}", where=where, line=row + 1)
    if abs(value) > LARGEST:
        raise InvalidInput(out_of_range(value, -LARGEST, LARGEST), where=where, line=row + 1)
    return float(value)


def _ratings(grade: object, row: int) -> list[float | None]:
    """Ratings of one text."""
    several = [grade] if grade is None or isinstance(grade, str | float) or is_number(grade) else grade
    return [
        None if rating is None else _number(rating, "grades", row) for rating in as_list(several, f"grades:{row + 1}")
    ]
