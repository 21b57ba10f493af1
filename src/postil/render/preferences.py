"""View of the result of `postil compare --preferences`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import asdict

from postil.plots import IntervalRow, intervals
from postil.records.results import PreferredSystem
from postil.render.formats import counted, listed, noted, value_with_interval
from postil.render.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.plots import Figure
    from postil.records.results import PreferencesResult
    from postil.render.formats import Grid

__all__ = ["draw_strengths", "summary", "view"]

LEVEL: Final = 0.05
MOST: Final = 45
"""Largest number of pairs in the table: those of ten systems."""
FEW: Final = 4
"""Largest number of systems that a sentence names."""
DRAWN: Final = 60
"""Largest number of systems in a picture."""


def view(result: PreferencesResult) -> View:
    """One row per system, the strongest first, and one per pair.

    Args:
        result: The result.
    """
    origin = "their mean is 0" if result.baseline is None else f"that of {result.baseline} is 0"
    return View(
        rows=list(map(asdict, result.systems)),
        fields=PreferredSystem.__struct_fields__,
        grids=[_systems(result), _pairs(result)],
        findings=[_finding(result)],
        head=(
            f"{counted(result.preferences, 'preference')} of {counted(result.annotators, 'annotator')} for "
            f"{counted(result.items, 'item')}; strengths are natural logarithms, {origin}"
        ),
        remarks=list(_remarks(result)),
    )


def _systems(result: PreferencesResult) -> Grid:
    grid: Grid = [["system", "strength", "win rate", "wins", "ties", "losses", "rank", "group"]]
    for row in result.systems:
        rank = f"{row.rank_low}" if row.rank_low == row.rank_high else f"{row.rank_low}-{row.rank_high}"
        numbers = [f"{n:,}" for n in (row.wins, row.ties, row.losses)]
        strength = value_with_interval(row.strength, row.low, row.high)
        rate = value_with_interval(row.win_rate, row.win_low, row.win_high)
        grid.append([row.system, strength, rate, *numbers, rank, row.letters])
    return grid


def _pairs(result: PreferencesResult) -> Grid:
    heads = ["system", "against", "wins", "ties", "losses", "win rate", "by strengths", "difference of strengths"]
    grid: Grid = [[*heads, "p (Holm)"]]
    for row in result.pairs[:MOST]:
        share = "-" if row.win_rate is None else value_with_interval(row.win_rate, None, None)
        numbers = [f"{n:,}" for n in (row.wins, row.ties, row.losses)]
        difference = value_with_interval(row.difference, row.low, row.high)
        p = "-" if row.p_holm is None else f"{row.p_holm:.4f}" if row.p_holm >= 0.0001 else "<.0001"
        expected = value_with_interval(row.expected, None, None)
        grid.append([row.first, row.second, *numbers, share, expected, difference, p])
    return grid


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


def summary(result: PreferencesResult) -> str:
    """Number of preferences, and the strengths of the best systems.

    Args:
        result: The result.
    """
    best = ", ".join(
        f"{row.system} {value_with_interval(row.strength, row.low, row.high)}" for row in result.systems[:2]
    )
    return f"{counted(result.preferences, 'preference')}; {best}"


def draw_strengths(result: PreferencesResult) -> Figure:
    """Draw the strengths with their intervals.

    Args:
        result: The result.
    """
    rows = [IntervalRow(row.system, row.strength, row.low, row.high) for row in result.systems[:DRAWN]]
    return intervals(rows, xlabel="strength")
