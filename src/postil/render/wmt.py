"""View of the result of `postil wmt`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.render.audit import tied_notes
from postil.render.formats import counted, listed, short
from postil.render.systems_table import SystemCell, SystemsTable
from postil.render.views import View, best

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.records.results import Correlation, MetricsTaskResult
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
        systems=_paper(result),
    )


def _head(result: MetricsTaskResult) -> str:
    names = [*dict.fromkeys(result.human.values())]
    human = names if len(names) == 1 else [f"{name} ({level} level)" for level, name in result.human.items()]
    used = f"; reference {listed(result.references)}" if result.references else ""
    segments = f", {counted(result.segments, 'judged segment')}" if result.segments else ""
    size = counted(len(result.systems), "system") + segments
    return f"{result.test_set} {result.language_pair}: {size}; human scores: {listed(human)}{used}"


def _cells(result: MetricsTaskResult) -> dict[str, dict[str, tuple[Correlation, int]]]:
    """Correlation and rank by metric and column; metrics by the first column that they have, best first."""
    cells: dict[str, dict[str, tuple[Correlation, int]]] = {
        metric: {} for ranks in result.ranks.values() for metric in ranks
    }
    for row in result.correlations:
        rank = result.ranks[f"{row.by} {row.coefficient}"][row.metric]
        cells[row.metric][f"{OVER[row.by]}: {row.coefficient}"] = row, rank
    return cells


def _grid(result: MetricsTaskResult) -> Grid:
    """One row per metric; a value with the rank of its significance cluster."""
    cells = _cells(result)
    head = list(dict.fromkeys(f"{OVER[row.by]}: {row.coefficient}" for row in result.correlations))
    grid = [["metric", *head]]
    for metric, found in cells.items():
        shown = {column: f"{short(row.value)} ({rank})" for column, (row, rank) in found.items()}
        grid.append([metric, *(shown.get(column, "-") for column in head)])
    return grid


def _paper(result: MetricsTaskResult) -> SystemsTable:
    """The same for a paper, the best in bold."""
    return SystemsTable(
        head="metric",
        cells={
            metric: {
                column: SystemCell(value=row.value, low=row.low, high=row.high, different=rank > 1)
                for column, (row, rank) in found.items()
            }
            for metric, found in _cells(result).items()
        },
        counts={},
        unit="system",
        lower_is_better=frozenset(),
        signatures={},
        tested="not in the first significance cluster (one-sided test at .05)",
        intervals=f"95 % bootstrap confidence intervals, {result.settings.resamples:,} resamples",
        notes=[f"{_head(result)}."],
    )


def _remarks(result: MetricsTaskResult) -> Iterator[str]:
    yield "in brackets: rank of the significance cluster, one-sided p <= .05"
    yield from (f"excluded: {each}" for each in result.left_out)
    for row in result.absent:
        yield f"no {row.coefficient} of {row.metric} ({OVER[row.by]}): {row.reason}"
    yield from tied_notes(result.correlations)
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
    return f"{result.test_set} {result.language_pair}, {size}; {best({first: values})}"
