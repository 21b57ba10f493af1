"""View of the result of `postil compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.messages import Message
from postil.results.formats import counted, noted
from postil.results.names import is_control
from postil.results.systems_table import SystemsTable
from postil.results.table import Count, Interval, Name, PValue, Table, Text, crossed
from postil.results.views import WHOLE, View

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from postil.comparison.result import Comparison, SystemComparison

__all__ = ["compared_table", "view"]

LEVEL: Final = 0.05


def view(result: Comparison) -> View:
    """One row per system and metric.

    Args:
        result: The result.
    """
    metrics = _metrics(result)
    shown = [name for name in metrics if not is_control(name)] or metrics
    scores = _scores(result)
    return View(
        line=_line(result),
        rows=result.systems,
        grids=[compared_table(result, shown)],
        head=f"{counted(result.items, 'item')}, {scores}, against {result.baseline}",
        remarks=list(_remarks(result, len(metrics) - len(shown))),
        systems=_systems(result, shown, scores),
    )


def compared_table(result: Comparison, metrics: Collection[str], key: str = "comparison", caption: str = "") -> Table:
    """Systems against the baseline, one row per system and metric.

    Args:
        result: The result.
        metrics: The metrics that are shown.
        key: Key of the table.
        caption: Its caption.
    """
    return Table(
        key=key,
        caption=caption,
        rows=[row for row in result.systems if row.metric in metrics],
        columns=(
            Name("system", "system"),
            Text("metric", "metric"),
            Interval("score" if result.summed else "mean", "mean"),
            Interval(
                f"minus {result.baseline}",
                "difference",
                plain="difference",
                low="difference_low",
                high="difference_high",
                signed=True,
                strong=_differs,
            ),
            PValue("p (bootstrap)", "p_bootstrap"),
            PValue("p (randomization)", "p_randomisation", plain="p (permutation)"),
            PValue("p (Holm)", "p_holm"),
        ),
        long=key != "comparison",
    )


def _differs(row: SystemComparison) -> bool:
    return row.p_holm is not None and row.p_holm < LEVEL


def _scores(result: Comparison) -> str:
    return "corpus scores" if result.summed else "means of item scores"


def _systems(result: Comparison, metrics: Sequence[str], scores: str) -> SystemsTable:
    """The scores as a table of systems, with those that differ significantly from the baseline."""
    table = crossed(
        [row for row in result.systems if row.metric in metrics],
        Name("system", "system"),
        "metric",
        Interval("", "mean"),
        key="systems",
        beside=[Count("items", lambda _: result.items)],
    )
    settings = result.settings
    rule = "" if settings.p_values == "postil" else f" as in {settings.p_values}"
    test = f"approximate randomization{rule}, {settings.permutations:,} permutations, Holm-adjusted p < .05"
    return SystemsTable(
        table=table,
        unit="item",
        lower_is_better=frozenset(result.lower_is_better),
        different=_differs,
        tested=f"significantly different from {result.baseline} ({test})" if len(table.rows) > 1 else "",
        intervals=f"95 % confidence intervals, bootstrap over items, {settings.resamples:,} resamples",
        notes=[f"{scores[:1].upper()}{scores[1:]}."],
        signatures=result.signatures,
    )


def _metrics(result: Comparison) -> list[str]:
    return list(dict.fromkeys(row.metric for row in result.systems))


def _remarks(result: Comparison, hidden: int) -> Iterator[str]:
    if hidden:
        yield Message(
            "{count} control not shown; {whole} has them all",
            "{count:,} controls not shown; {whole} has them all",
            count=hidden,
            whole=WHOLE,
        )
    if result.lower_is_better:
        lower = ", ".join(result.lower_is_better)
        yield f"lower is better, so a system below the baseline is better: {lower}"
    yield from (f"excluded: {each}" for each in result.left_out)
    yield from noted(result.notes)
    settings = result.settings
    yield (
        f"seed {settings.seed}, {settings.resamples} resamples, {settings.permutations} permutations; "
        "Holm-adjusted within a metric"
        f"{'' if settings.p_values == 'postil' else f'; p-values as in {settings.p_values}'}"
    )


def _line(result: Comparison) -> str:
    metrics = _metrics(result)
    differ = [f"{_differing(result, metric)} by {metric}" for metric in metrics if not is_control(metric)]
    systems = counted(len({row.system for row in result.systems}), "system")
    size = f"{systems}, {counted(len(metrics), 'metric')}, {counted(result.items, 'item')}"
    return f"{size}; significantly different from {result.baseline}: {', '.join(differ)}"


def _differing(result: Comparison, metric: str) -> str:
    tested = [row.p_holm for row in result.systems if row.metric == metric and row.p_holm is not None]
    return f"{sum(p < LEVEL for p in tested)} of {len(tested)}"
