"""The table of a paper: one row per metric, and one column per aspect, level or coefficient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.data.explain import counted
from postil.data.groups import grouped
from postil.meta.coefficients import TABLE, titled
from postil.meta.parts import ALPHA
from postil.results.formats import listed, short
from postil.results.names import is_control
from postil.results.systems_table import SystemsTable
from postil.results.table import Interval, Name, crossed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from postil.correlation.result import CorrelationResult
    from postil.meta.parts import Correlation

__all__ = ["LEVEL_HEADS", "LEVEL_PHRASES", "metrics_table"]

LEVEL_HEADS: Final = {"pool": "all texts", "item": "by item", "system": "systems", "within-system": "within systems"}
"""Heads of columns by level."""

LEVEL_PHRASES: Final = {
    "pool": "all texts together",
    "item": "mean of the items",
    "system": "means of the systems",
    "within-system": "texts of each system, mean of the systems",
}
"""Phrases for what coefficients are over, by level."""


SIGNIFICANT: Final = "significantly above it (p < .05)"

ON_OTHER_ITEMS: Final = "above it for these systems on other items (p < .05), which says nothing of other systems"


@dataclass(frozen=True, slots=True)
class _Cell:
    """A coefficient of a metric in one column.

    Args:
        metric: The metric.
        head: Head of the column.
        value: The coefficient.
        low: Lower end of its confidence interval, if there is one.
        high: Upper end.
        different: True if it differs significantly from that of the baseline.
    """

    metric: str
    head: str
    value: float
    low: float | None
    high: float | None
    different: bool


def metrics_table(results: Sequence[CorrelationResult]) -> SystemsTable:
    """One row per metric, one column per aspect, level and coefficient; what columns share is said below.

    Controls and human reference points are no rows of it, so that the best one is a metric.

    Args:
        results: The results: of several aspects or levels, or one.
    """
    head = _heads(results)
    cells = [
        _Cell(row.metric, head(result, row.coefficient), row.value, row.low, row.high, _differs(result, row))
        for result in results
        for row in result.correlations
        if not is_control(row.metric)
    ]
    baseline = results[0].settings.baseline
    tested = "significantly different (Holm-adjusted p < .05, and the interval excludes 0) from "
    return SystemsTable(
        table=crossed(cells, Name("metric", "metric"), "head", Interval("", "value"), key="metrics"),
        unit="text",
        different=(lambda cell: cell.different) if baseline else None,
        tested=tested if baseline else "",
        baseline=baseline,
        intervals=f"95 % bootstrap confidence intervals over items, {results[0].settings.resamples:,} resamples",
        notes=list(_notes(results, head)),
        signatures={name: text for name, text in results[0].signatures.items() if not is_control(name)},
        by_metric=True,
    )


def _heads(results: Sequence[CorrelationResult]) -> Callable[[CorrelationResult, str], str]:
    """The head of the column of a result and a coefficient: what tells it from the other columns."""
    aspects = len({result.data.aspect for result in results}) > 1
    levels = len({result.settings.by for result in results}) > 1
    coefficients = len(results[0].settings.coefficients) > 1 or not (aspects or levels)

    def head(result: CorrelationResult, coefficient: str) -> str:
        parts = ((result.data.aspect or "no aspect", aspects), (LEVEL_HEADS[result.settings.by], levels))
        over = ", ".join(part for part, told in parts if told)
        return ": ".join(filter(None, [over, titled(coefficient) if coefficients else ""]))

    return head


def _differs(result: CorrelationResult, row: Correlation) -> bool:
    return any(
        result.is_significant(each)
        for each in result.from_baseline
        if (each.first, each.coefficient) == (row.metric, row.coefficient)
    )


def _notes(results: Sequence[CorrelationResult], head: Callable[[CorrelationResult, str], str]) -> Iterator[str]:
    """Notes on the coefficients, on the numbers of texts, and on chance."""
    names = results[0].settings.coefficients
    levels = dict.fromkeys(result.settings.by for result in results)
    over = f", {LEVEL_PHRASES[results[0].settings.by]}" if len(levels) == 1 else ""
    yield f"Coefficients with human ratings: {listed([titled(name) for name in names])}{over}."
    sizes = grouped((_size(result), result.data.aspect or "all") for result in results)
    of = {size: listed(list(dict.fromkeys(aspects))) for size, aspects in sizes.items()}
    yield "; ".join(f"{size} ({aspects})" if len(of) > 1 else size for size, aspects in of.items()) + "."
    yield from filter(None, (_chance(results, name, head) for name in names))
    of_systems = "system" in levels
    few = dict.fromkeys(each for result in results for each in result.extent.remarks(of_systems=of_systems))
    yield from (f"{each}." for each in few)


def _size(result: CorrelationResult) -> str:
    data = result.data
    texts = f"{counted(data.texts, 'text')} ({counted(data.items, 'item')}, {counted(data.systems, 'system')})"
    return f"{texts}, {counted(data.annotators, 'annotator')}"


def _chance(
    results: Sequence[CorrelationResult], coefficient: str, head: Callable[[CorrelationResult, str], str]
) -> str:
    """A sentence on a coefficient by chance, and on how many metrics are above it in each column."""
    accuracy, chances, above = TABLE[coefficient].accuracy, [], list[tuple[str, str]]()
    for result in results:
        rows = [row for row in result.correlations if row.coefficient == coefficient and not is_control(row.metric)]
        if not rows:
            continue
        ends = sorted({short(row.chance) for row in rows if row.chance is not None})
        if ends:
            chances.append(f"{head(result, coefficient)} {ends[0]}" + f" to {ends[-1]}" * (len(ends) > 1))
        clear = sum(row.p < ALPHA and row.value > (row.chance or 0.0) for row in rows)
        few = _too_few(result, coefficient)
        of = "" if few else f" {clear} of {counted(len(rows), 'metric')}"
        claim = few or (ON_OTHER_ITEMS if result.settings.by == "system" and not accuracy else SIGNIFICANT)
        above.append((claim, f"{head(result, coefficient)}{of}"))
    if not above:
        return ""
    chance = f"(the same scores in random order) {', '.join(chances)}" if accuracy else "0"
    said = [f"{claim}: {', '.join(columns)}" for claim, columns in grouped(above).items()]
    return f"By chance {'; '.join([chance, *said])}."


def _too_few(result: CorrelationResult, coefficient: str) -> str:
    """A clause where items or systems are too few for a claim; else empty.

    The p-value of an accuracy is against random orders of the texts or systems at hand, others resample items.
    """
    extent, by = result.extent, result.settings.by
    if TABLE[coefficient].accuracy:
        return ""
    few = counted(extent.items, "item") if extent.few_items else ""
    if by == "system" and extent.few_systems:
        few = counted(extent.systems, "system")
    return f"with {few} no metric can be said to be above it" if few else ""
