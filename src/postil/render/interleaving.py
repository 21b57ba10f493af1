"""View of the result of `postil compare --interleaved`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import asdict

from postil.plots import IntervalRow, intervals
from postil.records.results import Preference
from postil.render.formats import counted, noted, value_with_interval
from postil.render.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.plots import Figure
    from postil.records.results import InterleavedPair, InterleavedRank, InterleavingResult
    from postil.render.formats import Grid

__all__ = ["draw_preferences", "summary", "view"]

CREDIT: Final = "credit"
"""Name of the measure that has all events."""


def view(result: InterleavingResult) -> View:
    """One row per pair of models and measure.

    Args:
        result: The result.
    """
    return View(
        rows=list(map(asdict, result.rows)),
        fields=Preference.__struct_fields__,
        grids=[_preferences(result), _ranks(result)],
        findings=[_finding(pair, result) for pair in result.pairs],
        head=f"{counted(result.impressions, 'impression')}; preferences from -.5 to .5, above 0 for the model",
        remarks=list(_remarks(result)),
    )


def _preferences(result: InterleavingResult) -> Grid:
    head = ["model", "against", "measure", "impressions", "wins", "ties", "losses", "preference"]
    grid: Grid = [[*head, "p (sign test)", "p (articles)", "p (Holm)"]]
    for row in result.rows:
        numbers = [f"{n:,}" for n in (row.impressions, row.wins, row.ties, row.losses)]
        tests = map(_p_value, (row.p_sign, row.p_articles, row.p_holm))
        preference = value_with_interval(row.preference, row.low, row.high)
        grid.append([row.model, row.baseline, row.measure, *numbers, preference, *tests])
    return grid


def _p_value(p: float | None) -> str:
    return "-" if p is None else f"{p:.4f}" if p >= 0.0001 else "<.0001"


def _ranks(result: InterleavingResult) -> Grid:
    grid: Grid = [["model", "against", "rank", "suggestions", "p (balance)", "clicked", "answered", "hidden"]]
    for row in result.ranks:
        of = f"{row.of_model:,} : {row.of_baseline:,}"
        grid.append([row.model, row.baseline, str(row.rank), of, _p_value(row.p_balance), *_rates(row)])
    return grid


def _rates(row: InterleavedRank) -> Iterator[str]:
    """Shares of the suggestions at a rank that have an event: of the model, and of the baseline."""
    for of_model, of_baseline in (
        (row.model_clicked, row.baseline_clicked),
        (row.model_answered, row.baseline_answered),
        (row.model_hidden, row.baseline_hidden),
    ):
        shares = ((of_model, row.of_model), (of_baseline, row.of_baseline))
        yield " : ".join(value_with_interval(n / of, None, None) if of else "-" for n, of in shares)


def _credit(pair: InterleavedPair, result: InterleavingResult) -> Preference | None:
    """The preference of a pair by credit; None where no impression has an event."""
    for row in result.rows:
        if (row.model, row.baseline, row.measure) == (pair.model, pair.baseline, CREDIT):
            return row
    return None


def _finding(pair: InterleavedPair, result: InterleavingResult) -> str:
    """The answer in a sentence."""
    names = f"{pair.model} and {pair.baseline}"
    row = _credit(pair, result)
    if row is None:
        return f"{names}: no suggestion was clicked, answered or hidden, so nothing can be said"
    if not pair.balanced:
        return f"{names}: nothing can be said, since a fair coin did not make these lists; see the notes"
    decided = counted(row.wins + row.losses, "impression")
    if row.significant:
        better, worse = (pair.model, pair.baseline) if row.preference > 0 else (pair.baseline, pair.model)
        return f"{better} helps more than {worse}: it wins {max(row.wins, row.losses):,} of {decided} with a winner"
    said = f"{names} cannot be told apart: {pair.model} wins {row.wins:,} of {decided} with a winner"
    more = 0 if pair.needed is None else pair.needed - pair.shown
    return said + (f"; a preference of {pair.detectable:g} needs about {more:,} more impressions" if more > 0 else "")


def _remarks(result: InterleavingResult) -> Iterator[str]:
    for pair in result.pairs:
        names = f"{pair.model} against {pair.baseline}"
        shown = f"{pair.shown:,} of {counted(pair.impressions, 'impression')} shown"
        yield f"{names}: {shown}, {counted(pair.articles, 'article')}; {pair.outcomes:,} with an event"
        if pair.needed is not None:
            yield f"{names}: to find a preference of {pair.detectable:g} with power .8, show {pair.needed:,} like these"
    yield from (f"excluded: {each}" for each in result.left_out)
    yield from noted(result.notes)
    settings = result.settings
    yield "credit is clicks and answers less hidden suggestions; by hidden, the model with fewer of them wins"
    yield "at ranks, pairs of numbers are of the model and of the one it is against"
    yield f"seed {settings.seed}, {settings.resamples} resamples of the articles; Holm-adjusted for pairs of models"


def summary(result: InterleavingResult) -> str:
    """Number of impressions, and the preference of each pair by credit.

    Args:
        result: The result.
    """
    found = [row for row in result.rows if row.measure == CREDIT]
    said = [
        f"{row.model} over {row.baseline} {value_with_interval(row.preference, row.low, row.high)}" for row in found
    ]
    return f"{counted(result.impressions, 'impression')}; {', '.join(said)}"


def draw_preferences(result: InterleavingResult) -> Figure:
    """Draw the preferences with their intervals.

    Args:
        result: The result.
    """
    return intervals(
        [
            IntervalRow(row.measure, row.preference, row.low, row.high, f"{row.model} over {row.baseline}")
            for row in result.rows
        ],
        xlabel="preference",
    )
