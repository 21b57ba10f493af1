"""View of the result of `postil compare --preferences`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.comparison.preferences_result import PreferredSystem
from postil.results.formats import counted, listed, noted, value_with_interval
from postil.results.table import Count, Figure, Interval, Name, Number, PValue, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.comparison.preferences_result import PreferencesResult

__all__ = ["view"]

LEVEL: Final = 0.05
MOST: Final = 45
"""Largest number of pairs in the table: those of ten systems."""
FEW: Final = 4
"""Largest number of systems that a sentence names."""

_OUTCOMES: Final = tuple(Count(name, name) for name in ("wins", "ties", "losses"))


def view(result: PreferencesResult) -> View:
    """One row per system, the strongest first, and one per pair.

    Args:
        result: The result.
    """
    origin = "their mean is 0" if result.baseline is None else f"that of {result.baseline} is 0"
    best = ", ".join(
        f"{row.system} {value_with_interval(row.strength, row.low, row.high)}" for row in result.systems[:2]
    )
    return View(
        line=f"{counted(result.preferences, 'preference')}; {best}",
        rows=result.systems,
        fields=PreferredSystem.__struct_fields__,
        grids=[_systems(result), _pairs(result)],
        findings=[_finding(result)],
        head=(
            f"{counted(result.preferences, 'preference')} of {counted(result.annotators, 'annotator')} for "
            f"{counted(result.items, 'item')}; strengths are natural logarithms, {origin}"
        ),
        remarks=list(_remarks(result)),
    )


def _systems(result: PreferencesResult) -> Table:
    return Table(
        rows=result.systems,
        columns=(
            Name("system", "system"),
            Interval("strength", "strength"),
            Interval("win rate", "win_rate", low="win_low", high="win_high"),
            *_OUTCOMES,
            Figure("rank", lambda row: "-".join(dict.fromkeys(f"{rank}" for rank in (row.rank_low, row.rank_high)))),
            Text("group", "letters"),
        ),
    )


def _pairs(result: PreferencesResult) -> Table:
    return Table(
        rows=result.pairs[:MOST],
        columns=(
            Name("system", "first"),
            Text("against", "second"),
            *_OUTCOMES,
            Number("win rate", "win_rate"),
            Number("by strengths", "expected"),
            Interval("difference of strengths", "difference"),
            PValue("p (Holm)", "p_holm", least=True),
        ),
    )


def _finding(result: PreferencesResult) -> str:
    """The answer in a sentence."""
    if not result.systems:
        return "there is no system"
    best = result.systems[0]
    tested = [row for row in result.pairs if row.first == best.system and row.p_holm is not None]
    below = [row.second for row in tested if (row.p_holm or 0.0) < LEVEL]
    if not below:
        return f"{best.system} has the highest strength, and no system is significantly below it"
    everyone = len(below) == len(result.systems) - 1 > 1
    return f"{best.system} is preferred to {'all others' if everyone else listed(below, most=FEW)}"


def _remarks(result: PreferencesResult) -> Iterator[str]:
    if len(result.pairs) > MOST:
        yield f"{len(result.pairs) - MOST:,} more pairs are in the JSON"
    tested = [row for row in result.pairs if row.p_holm is not None]
    if tested:
        several = sum(row.p_holm is not None and row.p_holm < LEVEL for row in tested)
        are = "difference is" if len(tested) == 1 else "differences are"
        yield f"{several} of {len(tested)} {are} significant (Holm-adjusted p < .05)"
    if result.tie_parameter is not None:
        share = result.tie_parameter / (2 + result.tie_parameter)
        yield f"ties: two equal systems tie in {100 * share:.0f} % of cases by the model of Davidson"
    if result.left is not None:
        left = result.left
        yield f"text on the left preferred: {value_with_interval(left.value, left.low, left.high)} of those decided"
    yield from noted(result.notes)
    settings = result.settings
    yield f"seed {settings.seed}, {settings.resamples} resamples of the items; Holm-adjusted for pairs of systems"
