"""View of the result of `postil compare --interleaved`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from postil.comparison.interleaved_result import Preference
from postil.results.formats import counted, noted, short, value_with_interval
from postil.results.table import Count, Figure, Interval, Name, PValue, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.comparison.interleaved_result import InterleavedPair, InterleavedRank, InterleavingResult

__all__ = ["view"]

CREDIT: Final = "credit"
"""Name of the measure that has all events."""


def view(result: InterleavingResult) -> View:
    """One row per pair of models and measure.

    Args:
        result: The result.
    """
    found = [row for row in result.rows if row.measure == CREDIT]
    said = [
        f"{row.model} over {row.baseline} {value_with_interval(row.preference, row.low, row.high)}" for row in found
    ]
    return View(
        line=f"{counted(result.impressions, 'impression')}; {', '.join(said)}",
        rows=result.rows,
        fields=Preference.__struct_fields__,
        grids=[_preferences(result), _ranks(result)],
        findings=[_finding(pair, result) for pair in result.pairs],
        head=f"{counted(result.impressions, 'impression')}; preferences from -.5 to .5, above 0 for the model",
        remarks=list(_remarks(result)),
    )


def _preferences(result: InterleavingResult) -> Table:
    return Table(
        rows=result.rows,
        columns=(
            Name("model", "model"),
            Text("against", "baseline"),
            Text("measure", "measure"),
            *(Count(name, name) for name in ("impressions", "wins", "ties", "losses")),
            Interval("preference", "preference"),
            PValue("p (sign test)", "p_sign", least=True),
            PValue("p (articles)", "p_articles", least=True),
            PValue("p (Holm)", "p_holm", least=True),
        ),
    )


def _ranks(result: InterleavingResult) -> Table:
    return Table(
        rows=result.ranks,
        columns=(
            Name("model", "model"),
            Text("against", "baseline"),
            Count("rank", "rank", separated=False),
            Figure("suggestions", lambda row: f"{row.of_model:,} : {row.of_baseline:,}"),
            PValue("p (balance)", "p_balance", least=True),
            *(Figure(event, partial(_shares, event)) for event in ("clicked", "answered", "hidden")),
        ),
    )


def _shares(event: str, row: InterleavedRank) -> str:
    """Shares of the suggestions at a rank that have an event: of the model, and of the baseline."""
    sides = ((getattr(row, f"{side}_{event}"), getattr(row, f"of_{side}")) for side in ("model", "baseline"))
    return " : ".join(short(n / of) if of else "-" for n, of in sides)


def _credit(pair: InterleavedPair, result: InterleavingResult) -> Preference | None:
    """The preference of a pair by credit; None where no impression has an event."""
    of = (pair.model, pair.baseline, CREDIT)
    return next((row for row in result.rows if (row.model, row.baseline, row.measure) == of), None)


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
