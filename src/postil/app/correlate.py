"""The journey of `postil.correlate`: columns of scores and grades in; how far they agree, and which more, out."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from postil.app.columns import as_list
from postil.app.correlating import CorrelateOptions, Findings, find
from postil.errors import InvalidInput, UsageError
from postil.metaeval.table import join
from postil.records.checks import is_number
from postil.records.explain import shown
from postil.records.rows import Judgement, Score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.app.columns import Column

__all__ = ["correlate"]


def correlate(
    scores: Mapping[str, Column],
    grades: Column,
    *,
    items: Column | None = None,
    systems: Column | None = None,
    signatures: Mapping[str, str] | None = None,
    options: CorrelateOptions | None = None,
) -> Findings:
    """Hold metrics against people: correlations with intervals, the human ceiling, tests of differences.

    Args:
        scores: For each metric n scores, such as the ``items`` of what `postil.score` returns, controls among them.
        grades: For each text what people think of it: a number, or a list of numbers with a place for each annotator
            and None where one did not grade it.
        items: For each text the item that it was written for; intervals are over items. By default each text is one.
        systems: For each text who wrote it; by default all are of one system. An item has one text a system.
        signatures: What the numbers of each metric depend on.
        options: Which coefficients, over what, and so on.

    Returns:
        What was found: ``correlations``, ``human``, ``differences``, ``agreement``, ``systems``, ``disagreements``.

    Raises:
        InvalidInput: Columns differ in length, something is no number, or an item has two texts of one system.
        UsageError: There is no metric.
        UnknownName: A coefficient, level or metric does not exist.
        Undefined: No text has a grade.

    >>> found = correlate({"bleu-4": [0.1, 0.3, 0.2, 0.5]}, [[1, 2], [3, 3], [3, 2], [5, 4]])
    >>> row = found.correlations.rows[0]
    >>> row.metric, row.coefficient, round(row.value, 4), row.n
    ('bleu-4', 'pearson', 0.9954, 4)
    """
    if not scores:
        raise UsageError("no metric: expected at least one column of scores")
    options = options or CorrelateOptions()
    rated = as_list(grades, "grades")
    n = len(rated)
    of_item: list[object] = list(range(n)) if items is None else _column(items, n, "items")
    of_system: list[object] = ["system"] * n if systems is None and items is None else _systems(systems, of_item, n)
    score_rows = (
        Score(item, system, metric, value, (signatures or {}).get(metric, ""))  # type: ignore[arg-type]  # rows check
        for metric, column in scores.items()
        for item, system, value in zip(of_item, of_system, _numbers(column, n, metric), strict=True)
    )
    judgements = list(
        chain.from_iterable(
            _judgements(item, system, grade, row)
            for row, (item, system, grade) in enumerate(zip(of_item, of_system, rated, strict=True))
        )
    )
    table = join(
        score_rows,
        judgements,
        metrics=options.metrics,
        lower_is_better=options.lower_is_better,
        scale=options.scale,
    )
    return find(table, judgements, options)


def _column(column: Column, n: int, where: str) -> list[object]:
    values = as_list(column, where)
    if len(values) != n:
        raise InvalidInput(f"expected an entry for each of {n} texts, got {len(values)}", where=where)
    return values


def _systems(systems: Column | None, items: list[object], n: int) -> list[object]:
    """Who wrote each text; where that is not said, its number within its item."""
    if systems is not None:
        return _column(systems, n, "systems")
    seen: dict[object, int] = {}
    numbers: list[object] = []
    for item in items:
        seen[item] = seen.get(item, 0) + 1
        numbers.append(seen[item])
    return numbers


def _numbers(column: Column, n: int, where: str) -> list[object]:
    values = _column(column, n, where)
    for row, value in enumerate(values):
        if not is_number(value):
            raise InvalidInput(f"expected a number, got {shown(value)}", where=where, line=row + 1)
    return values


def _judgements(item: object, system: object, grade: object, row: int) -> list[Judgement]:
    """What people think of one text."""
    ratings = [grade] if is_number(grade) else as_list(grade, f"grades:{row + 1}")
    made = []
    for annotator, rating in enumerate(ratings, start=1):
        if rating is None:
            continue
        if not is_number(rating):
            raise InvalidInput(f"expected a number, got {shown(rating)}", where="grades", line=row + 1)
        made.append(Judgement(item, system, annotator, rating))  # type: ignore[arg-type]  # rows take integers
    return made
