"""View of a training of a model of interest: nCG of each ranking, differences from the trained one, weights."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from postil.passages.view import Ranking, by_cutoff, differences_table, gains_table, length_tables
from postil.results.formats import counted, noted
from postil.results.table import Figure, Name, Table, Text
from postil.results.views import View, best

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.interest.result import InterestTrainingResult

__all__ = ["view"]


def view(result: InterestTrainingResult) -> View:
    """Make the view of a training.

    Args:
        result: The training.
    """
    gains = by_cutoff(result.gains, "measure")
    pairs = [Ranking(name, name, rows) for name, rows in by_cutoff(result.differences, "second").items()]
    minus = [
        differences_table(f"{each.first} minus", pairs, alone=f"{each.first} minus (* p < .05)")
        for each in result.differences[:1]
    ]
    weights = (
        Name("weight of", "unit"),
        Text("kind", "kind"),
        Figure("grades", "{:+.3f}".format, at=attrgetter("weight")),
    )
    return View(
        line=f"{_size(result)}; {best((f'nCG@{row.k}', row.measure, row.ncg) for row in result.gains)}",
        rows=result.gains,
        grids=[gains_table([Ranking(name, name, rows) for name, rows in gains.items()], noun="ranking")],
        details=[*minus, *length_tables(result.by_length), Table(rows=result.weights, columns=weights)],
        head=f"{_size(result)}; one list per page, the mean of them",
        remarks=list(_remarks(result)),
    )


def _size(result: InterestTrainingResult) -> str:
    data = result.data
    return f"{counted(data.passages, 'passage')} of {counted(data.topics, 'page')}, scale {data.scale}"


def _remarks(result: InterestTrainingResult) -> Iterator[str]:
    settings = result.settings
    yield from (f"excluded: {each}" for each in result.data.left_out)
    yield f"words and pairs with a weight: {result.words:,}; shown are the largest and the smallest"
    yield from noted(result.notes)
    pages = "" if settings.min_pages == 1 else f" of {counted(settings.min_pages, 'page')}"
    cues = f", {settings.cues:g} added to cues" if settings.cues else ""
    yield (
        f"{counted(settings.folds, 'fold')}, penalty {settings.penalty:g}, words of at least "
        f"{counted(settings.min_count, 'passage')}{pages}{cues}; seed {settings.seed}, "
        f"{counted(settings.resamples, 'resample')}"
    )
