"""The section on annotators: inter-annotator agreement, and each annotator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.plots import confusion, histograms, svg
from postil.records.explain import shown
from postil.records.names import STATISTICS
from postil.render.formats import counted
from postil.render.numbers import grade, interval, signed
from postil.render.page.blocks import Cell, Collapsed, Paragraph, Picture, Row, Table
from postil.render.page.tables import NONE, plain_value, whole, with_interval
from postil.render.page.words import capital

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.records.results import Agreement, Rater
    from postil.render.page.blocks import Block

__all__ = ["agreement_blocks"]

RATERS: Final = 12
"""Number of annotators that are shown, those with the most ratings."""

PAIRS: Final = 45
"""Number of pairs of annotators that are shown, those with the most shared texts."""

LABELS: Final = 20
"""Largest number of labels that have a confusion matrix."""


def agreement_blocks(found: Agreement) -> Iterator[Block]:
    """Inter-annotator agreement, counts of pairs of ratings, and each annotator.

    Args:
        found: The agreement.
    """
    yield _statistics(found)
    yield from (Paragraph(f"No {name}: {reason}.") for name, reason in found.absent.items())
    yield from (Paragraph(f"{capital(note)}.") for note in found.notes)
    if picture := _confusions(found):
        yield picture
    raters = sorted(found.raters, key=lambda rater: -rater.n)[:RATERS]
    yield _annotators(raters, len(found.raters))
    if picture := _grades_given(found, raters):
        yield picture
    if len(found.pairs) > 1:
        sheet = _pairs(found)
        yield Collapsed(sheet.caption, (sheet,))


def _statistics(found: Agreement) -> Table:
    """The statistics of agreement."""
    lines = [
        Row(name, (with_interval(each), Cell(STATISTICS.get(name, ""), words=True)))
        for name, each in found.estimates.items()
    ]
    caption = (
        f"{counted(found.texts, 'text')}, {counted(found.ratings, 'rating')}; 95 % confidence intervals in brackets"
    )
    return Table("agreement", caption, ("statistic", "value", "definition"), tuple(lines))


def _annotators(raters: Sequence[Rater], of: int) -> Table:
    """The given annotators, out of a total number."""
    notes = any(rater.note for rater in raters)
    lines = []
    for rater in raters:
        severe = rater.severity
        cells = [
            whole(rater.n),
            Cell(grade(rater.mean), value=rater.mean),
            NONE
            if severe is None
            else Cell(signed(severe.value, 2), interval(severe.low, severe.high, 2), severe.value),
        ]
        lines.append(Row(rater.name, (*cells, *([Cell(rater.note, words=True)] if notes else []))))
    few = f"The {len(raters)} annotators with the most ratings of {of:,}" if len(raters) < of else "Annotators"
    head = ("annotator", "ratings", "mean", "bias", *(["note"] if notes else []))
    return Table("annotators", few, head, tuple(lines))


def _pairs(found: Agreement) -> Table:
    """Pairs of annotators, those with the most shared texts first."""
    shown = sorted(found.pairs, key=lambda pair: -pair.n)[:PAIRS]
    reasons = any(pair.reason for pair in shown)
    lines = [
        Row(
            f"{pair.first} and {pair.second}",
            (
                whole(pair.n),
                *(plain_value(value) for value in (pair.agreement, pair.unweighted, pair.linear, pair.quadratic)),
                *([Cell(pair.reason, words=True)] if reasons else []),
            ),
        )
        for pair in shown
    ]
    head = ("pair", "texts", "agreement", "kappa", "linear", "quadratic", *(["note"] if reasons else []))
    few = f"The {len(shown)} pairs of annotators with the most shared texts, of {len(found.pairs):,}"
    return Table("pairs", few if len(shown) < len(found.pairs) else "Pairs of annotators", head, tuple(lines))


def _confusions(found: Agreement) -> Picture | None:
    """The confusion matrix of two annotators; None where there are too many labels."""
    if found.confusion is None or not 2 <= len(found.labels) <= LABELS:
        return None
    label = "Counts of every two ratings of one text by two annotators"
    drawn = svg(confusion(_labels(found), found.confusion), label)
    return Picture("Ratings of one text by two annotators", "Every two ratings of one text, in both orders", drawn)


def _grades_given(found: Agreement, raters: Sequence[Rater]) -> Picture | None:
    """Histograms of the ratings of some annotators."""
    rows = [(rater.name, rater.histogram) for rater in raters if rater.histogram is not None]
    if not rows:
        return None
    figure = histograms([name for name, _ in rows], _labels(found), [counts for _, counts in rows])
    label = "Counts of ratings by annotator: " + "; ".join(name for name, _ in rows)
    return Picture("Ratings by annotator", "Share of each rating among those of each annotator", svg(figure, label))


def _labels(found: Agreement) -> list[str]:
    return [shown(label) for label in found.labels]
