"""View of the result of `postil wmt`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.render.formats import counted, listed, short
from postil.render.views import View, highest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.records.results import MetricsTaskResult
    from postil.render.formats import Grid

__all__ = ["summary", "view"]

FIELDS: Final = ("metric", "coefficient", "by", "value", "low", "high", "p", "n", "dropped", "rank")
"""The columns of a row per correlation."""

OVER: Final = {"system": "systems", "pool": "segments", "item": "by segment"}
"""Heads of the columns by level."""


def view(result: MetricsTaskResult) -> View:
    """One row per correlation; a grid with a row per metric and a column per level and coefficient.

    Args:
        result: The result.
    """
    return View(
        rows=[
            {field: getattr(row, field) for field in FIELDS[:-1]}
            | {"rank": result.ranks[f"{row.by} {row.coefficient}"].get(row.metric)}
            for row in result.correlations
        ],
        fields=FIELDS,
        grids=[_grid(result)],
        head=_head(result),
        remarks=list(_remarks(result)),
    )


def _head(result: MetricsTaskResult) -> str:
    names = [*dict.fromkeys(result.human.values())]
    human = names if len(names) == 1 else [f"{name} ({level} level)" for level, name in result.human.items()]
    used = f"; reference {listed(result.references)}" if result.references else ""
    segments = f", {counted(result.segments, 'judged segment')}" if result.segments else ""
    size = counted(len(result.systems), "system") + segments
    return f"{result.test_set} {result.language_pair}: {size}; human scores: {listed(human)}{used}"


def _grid(result: MetricsTaskResult) -> Grid:
    """Metrics by the first column that they have, best first; a value with the rank of its significance cluster."""
    cells: dict[str, dict[str, str]] = {}
    for row in result.correlations:
        column = f"{row.by} {row.coefficient}"
        cells.setdefault(row.metric, {})[column] = f"{short(row.value)} ({result.ranks[column][row.metric]})"
    order = [metric for ranks in result.ranks.values() for metric in ranks]
    head = [f"{OVER[by]}: {coefficient}" for by, coefficient in (column.split(" ", 1) for column in result.ranks)]
    return [
        ["metric", *head],
        *([metric, *(cells[metric].get(column, "-") for column in result.ranks)] for metric in dict.fromkeys(order)),
    ]


def _remarks(result: MetricsTaskResult) -> Iterator[str]:
    yield "in brackets: rank of the significance cluster, one-sided p <= .05"
    yield from (f"excluded: {each}" for each in result.left_out)
    for row in result.absent:
        yield f"no {row.coefficient} of {row.metric} ({OVER[row.by]}): {row.reason}"
    if result.settings.lower_is_better:
        yield f"lower is better, so the sign is flipped: {', '.join(result.settings.lower_is_better)}"
    settings = result.settings
    yield f"seed {settings.seed}, {settings.resamples} resamples, {settings.permutations} permutations"


def summary(result: MetricsTaskResult) -> str:
    """Test set, language pair, numbers of metrics and systems, and the highest value of the first column.

    Args:
        result: The result.
    """
    metrics = {row.metric for row in result.correlations}
    first = next(iter(result.ranks), "")
    values = {row.metric: row.value for row in result.correlations if f"{row.by} {row.coefficient}" == first}
    size = f"{counted(len(metrics), 'metric')}, {counted(len(result.systems), 'system')}"
    return f"{result.test_set} {result.language_pair}, {size}; {highest({first: values})}"
