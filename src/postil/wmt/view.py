"""View of the result of `postil wmt`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from postil.data.explain import counted
from postil.data.groups import grouped
from postil.meta.coefficients import tied_notes, titled
from postil.meta.parts import few_items_remark
from postil.results.formats import listed, short
from postil.results.page.blocks import Picture
from postil.results.plots.forest import IntervalRow, Landmark, intervals
from postil.results.systems_table import SystemsTable
from postil.results.table import Column, Figure, Interval, Name, PValue, Table, Text, crossed
from postil.results.views import View, best

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.meta.parts import Correlation
    from postil.wmt.result import MetricsTaskResult

__all__ = ["pictures", "view"]

FIELDS: Final = ("metric", "coefficient", "by", "value", "low", "high", "p", "n", "dropped", "rank")
"""The columns of a row per correlation."""

CHANCE: Final = ("chance", "chance_low", "chance_high")
"""Further columns where some row has them: accuracies."""

OVER: Final = {"system": "systems", "pool": "segments", "item": "by segment"}
"""Heads of the columns by level."""


def view(result: MetricsTaskResult) -> View:
    """One row per correlation; a grid with a row per metric and a column per level and coefficient.

    Args:
        result: The result.
    """
    paper = _paper(result)
    accuracies = [row for row in result.correlations if row.chance is not None]
    more = CHANCE if accuracies else ()
    return View(
        line=_line(result),
        rows=[
            {field: getattr(row, field) for field in FIELDS[:-1]}
            | {"rank": _rank(result, row)}
            | {field: getattr(row, field) for field in more}
            for row in result.correlations
        ],
        fields=(*FIELDS, *more),
        details=[_accuracies(accuracies)] if accuracies else [],
        grids=[_table(result, Figure("", lambda row: f"{short(row.value)} ({_rank(result, row)})"))],
        head=_head(result),
        remarks=list(_remarks(result)),
        systems=paper,
        metrics=replace(paper, notes=[*paper.notes, *_chances(accuracies)]),
        undefined=[row.metric for row in result.absent],
    )


def _paper(result: MetricsTaskResult) -> SystemsTable:
    """The same for a paper, the best in bold."""
    return SystemsTable(
        table=_table(result, Interval("", "value")),
        unit="system",
        different=lambda row: _rank(result, row) > 1,
        tested="not in the first significance cluster (one-sided test at .05)",
        intervals=f"95 % bootstrap confidence intervals, {result.settings.resamples:,} resamples",
        notes=[f"{_head(result)}.", *(f"{each}." for each in _on_few(result))],
        by_metric=True,
    )


def _head(result: MetricsTaskResult) -> str:
    names = [*dict.fromkeys(result.human.values())]
    human = names if len(names) == 1 else [f"{name} ({level} level)" for level, name in result.human.items()]
    used = f"; reference {listed(result.references)}" if result.references else ""
    segments = f", {counted(result.segments, 'judged segment')}" if result.segments else ""
    size = counted(len(result.systems), "system") + segments
    return f"{result.test_set} {result.language_pair}: {size}; human scores: {listed(human)}{used}"


def _rank(result: MetricsTaskResult, row: Correlation) -> int:
    return result.ranks[f"{row.by} {row.coefficient}"][row.metric]


def _table(result: MetricsTaskResult, cell: Column) -> Table:
    """One row per metric, those of the first significance cluster above."""
    order = list(dict.fromkeys(metric for ranks in result.ranks.values() for metric in ranks))
    found = crossed(
        result.correlations,
        Name("metric", "metric"),
        lambda row: f"{OVER[row.by]}: {row.coefficient}",
        cell,
        key="correlations",
    )
    return replace(found, rows=sorted(found.rows, key=lambda line: order.index(found.columns[0].value(line))))


def _accuracies(rows: Sequence[Correlation]) -> Table:
    """Accuracies beside what the same scores have in random order."""
    return Table(
        key="accuracies",
        caption="Accuracies, and those of the same scores in random order",
        rows=rows,
        columns=(
            Name("metric", "metric", plain="accuracy"),
            Text("measure", lambda row: f"{OVER[row.by]}: {row.coefficient}"),
            Interval("value", "value"),
            Interval("chance", "chance", low="chance_low", high="chance_high"),
            PValue("p", "p", zero=False),
        ),
    )


def pictures(result: MetricsTaskResult) -> Iterator[Picture]:
    """A forest of the metrics for each level and coefficient; of an accuracy with a line at what chance gives.

    Args:
        result: The result.
    """
    for (by, coefficient), rows in grouped(((row.by, row.coefficient), row) for row in result.correlations).items():
        ordered = sorted(rows, key=lambda row: -row.value)
        chances = [row.chance for row in rows if row.chance is not None]
        line = [Landmark("chance" if len({*chances}) == 1 else "highest chance", max(chances))] if chances else []
        title = f"{OVER[by]}: {titled(coefficient)}"
        caption = f"{title} of each metric, 95 % confidence intervals{'; the line is chance' if line else ''}"
        drawn = [IntervalRow(row.metric, row.value, row.low, row.high) for row in ordered]
        said = "; ".join(f"{row.metric} {short(row.value)}" for row in ordered)
        draw = partial(intervals, drawn, landmarks=line, xlabel=titled(coefficient))
        yield Picture(f"{by}-{coefficient}", title, caption, f"{caption}: {said}", draw)


def _chances(rows: Sequence[Correlation]) -> Iterator[str]:
    """A note on what accuracies would be by chance."""
    for head, values in grouped((f"{OVER[row.by]}: {row.coefficient}", row.chance or 0.0) for row in rows).items():
        least, most = short(min(values)), short(max(values))
        yield f"{head} by chance, the same scores in random order: {least}{f' to {most}' if most != least else ''}."


def _on_few(result: MetricsTaskResult) -> Iterator[str]:
    """Warnings of few systems, which scores of systems resample, and of few segments."""
    levels = {row.by for row in result.correlations}
    if "system" in levels:
        yield from few_items_remark(len(result.systems), "systems")
    if "segment" in result.human:
        yield from few_items_remark(result.segments, "segments")


def _remarks(result: MetricsTaskResult) -> Iterator[str]:
    yield "in brackets: rank of the significance cluster, one-sided p <= .05"
    yield from (f"excluded: {each}" for each in result.left_out)
    for row in result.absent:
        yield f"no {row.coefficient} of {row.metric} ({OVER[row.by]}): {row.reason}"
    yield from tied_notes(result.correlations)
    yield from _on_few(result)
    if result.settings.lower_is_better:
        yield f"lower is better, so the sign is flipped: {', '.join(result.settings.lower_is_better)}"
    settings = result.settings
    yield f"seed {settings.seed}, {settings.resamples} resamples, {settings.permutations} permutations"


def _line(result: MetricsTaskResult) -> str:
    metrics = {row.metric for row in result.correlations}
    first = next(iter(result.ranks), "")
    values = [(first, row.metric, row.value) for row in result.correlations if f"{row.by} {row.coefficient}" == first]
    size = f"{counted(len(metrics), 'metric')}, {counted(len(result.systems), 'system')}"
    return f"{result.test_set} {result.language_pair}, {size}; {best(values)}"
