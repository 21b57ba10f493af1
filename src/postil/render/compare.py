"""View of the result of `postil compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import asdict

from postil.render.formats import counted, value_with_interval
from postil.render.systems_table import SystemCell, SystemsTable
from postil.render.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.records.results import Comparison, SystemComparison

__all__ = ["summary", "view"]

LEVEL: Final = 0.05


def view(result: Comparison) -> View:
    """One row per system and metric.

    Args:
        result: The result.
    """
    metrics = _metrics(result)
    shown = [name for name in metrics if not name.startswith("control:")] or metrics
    score, scores = ("score", "corpus scores") if result.summed else ("mean", "means of item scores")
    head = ["system", "metric", score, "difference", "p (bootstrap)", "p (permutation)", "p (Holm)"]
    return View(
        rows=list(map(asdict, result.systems)),
        grids=[[head, *([row.system, row.metric, *_cells(row)] for row in result.systems if row.metric in shown)]],
        head=f"{counted(result.items, 'item')}, {scores}, against {result.baseline}",
        remarks=list(_remarks(result, len(metrics) - len(shown))),
        systems=_systems(result, shown, scores),
    )


def _systems(result: Comparison, metrics: Sequence[str], scores: str) -> SystemsTable:
    """The scores as a table of systems, with those that differ significantly from the baseline."""
    cells: dict[str, dict[str, SystemCell]] = {}
    for row in result.systems:
        if row.metric in metrics:
            different = row.p_holm is not None and row.p_holm < LEVEL
            cells.setdefault(row.system, {})[row.metric] = SystemCell(
                value=row.mean, low=row.low, high=row.high, different=different
            )
    settings = result.settings
    rule = "" if settings.p_values == "postil" else f" as in {settings.p_values}"
    test = f"approximate randomization{rule}, {settings.permutations:,} permutations, Holm-adjusted p < .05"
    return SystemsTable(
        head="system",
        cells=cells,
        counts=dict.fromkeys(cells, result.items),
        unit="item",
        lower_is_better=frozenset(result.lower_is_better),
        tested=f"significantly different from {result.baseline} ({test})" if len(cells) > 1 else "",
        intervals=f"95 % confidence intervals, bootstrap over items, {settings.resamples:,} resamples",
        notes=[f"{scores[:1].upper()}{scores[1:]}."],
        signatures=result.signatures,
    )


def _metrics(result: Comparison) -> list[str]:
    return list(dict.fromkeys(row.metric for row in result.systems))


def _remarks(result: Comparison, hidden: int) -> Iterator[str]:
    if hidden:
        yield f"{counted(hidden, 'control')} not shown; --format json has them all"
    if result.lower_is_better:
        lower = ", ".join(result.lower_is_better)
        yield f"lower is better, so a system below the baseline is better: {lower}"
    yield from (f"excluded: {each}" for each in result.left_out)
    yield from (f"note: {note}" for note in result.notes)
    settings = result.settings
    yield (
        f"seed {settings.seed}, {settings.resamples} resamples, {settings.permutations} permutations; "
        "Holm-adjusted within a metric"
        f"{'' if settings.p_values == 'postil' else f'; p-values as in {settings.p_values}'}"
    )


def _cells(row: SystemComparison) -> list[str]:
    mean = value_with_interval(row.mean, row.low, row.high)
    if row.difference is None:
        return [mean, *["-"] * 4]
    difference = value_with_interval(row.difference, row.difference_low, row.difference_high)
    tests = (row.p_bootstrap, row.p_randomisation, row.p_holm)
    return [mean, difference, *("-" if p is None else f"{p:.4f}" for p in tests)]


def summary(result: Comparison) -> str:
    """Numbers of systems, metrics and items, and of the systems that differ from the baseline.

    Args:
        result: The result.
    """
    metrics = _metrics(result)
    differ = [f"{_differing(result, metric)} by {metric}" for metric in metrics if not metric.startswith("control:")]
    systems = counted(len({row.system for row in result.systems}), "system")
    size = f"{systems}, {counted(len(metrics), 'metric')}, {counted(result.items, 'item')}"
    return f"{size}; significantly different from {result.baseline}: {', '.join(differ)}"


def _differing(result: Comparison, metric: str) -> str:
    tested = [row.p_holm for row in result.systems if row.metric == metric and row.p_holm is not None]
    return f"{sum(p < LEVEL for p in tested)} of {len(tested)}"
