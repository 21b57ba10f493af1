"""The section on annotators: inter-annotator agreement, and each annotator."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from postil.plots import confusion, histograms
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

__all__ = ["agreement_blocks", "agreement_pictures"]

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
    drawn = {picture.key: picture for picture in agreement_pictures(found)}
    if "confusion" in drawn:
        yield drawn["confusion"]
    if raters := _most_active(found):
        yield _annotators(raters, len(found.raters))
    if "annotators" in drawn:
        yield drawn["annotators"]
    if len(found.pairs) > 1:
        sheet = _pairs(found)
        yield Collapsed(sheet.caption, (sheet,))


def agreement_pictures(found: Agreement) -> Iterator[Picture]:
    """The pictures of inter-annotator agreement that there are.

    Args:
        found: The agreement.
    """
    yield from filter(None, (_confusions(found), _grades_given(found, _most_active(found))))


def _most_active(found: Agreement) -> list[Rater]:
    return sorted(found.raters, key=lambda rater: -rater.n)[:RATERS]


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
    title, caption = "Ratings of one text by two annotators", "Every two ratings of one text, in both orders"
    return Picture("confusion", title, caption, label, partial(confusion, _labels(found), found.confusion))


def _grades_given(found: Agreement, raters: Sequence[Rater]) -> Picture | None:
    """Histograms of the ratings of some annotators."""
    rows = [(rater.name, rater.histogram) for rater in raters if rater.histogram is not None]
    if not rows:
        return None
    draw = partial(histograms, [name for name, _ in rows], _labels(found), [counts for _, counts in rows])
    label = "Counts of ratings by annotator: " + "; ".join(name for name, _ in rows)
    caption = "Share of each rating among those of each annotator"
    return Picture("annotators", "Ratings by annotator", caption, label, draw)


def _labels(found: Agreement) -> list[str]:
    return [shown(label) for label in found.labels]
