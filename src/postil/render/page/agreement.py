"""What a page says of annotators: how far they agree, and what each of them is like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.plots import confusion, histograms, svg
from postil.records.explain import shown
from postil.records.names import STATISTICS
from postil.render.formats import counted
from postil.render.numbers import grade, interval, signed
from postil.render.page.blocks import Cell, Fold, Line, Picture, Sheet, Words
from postil.render.page.cells import NONE, plain_value, whole, with_interval
from postil.render.page.words import capital

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.records.results import Agreement, Rater
    from postil.render.page.blocks import Block

__all__ = ["agreement_blocks"]

RATERS: Final = 12
"""So many annotators are shown, those with the most grades."""

PAIRS: Final = 45
"""So many pairs of annotators are shown, those with the most shared texts."""

LABELS: Final = 20
"""Up to so many grades have a picture of who meant what."""


def agreement_blocks(found: Agreement) -> Iterator[Block]:
    """How far annotators agree, what they meant by their grades, and what each of them is like.

    Args:
        found: How far they agree.
    """
    yield _statistics(found)
    yield from (Words(f"No {name}: {reason}.") for name, reason in found.absent.items())
    yield from (Words(f"{capital(note)}.") for note in found.notes)
    if picture := _confusions(found):
        yield picture
    raters = sorted(found.raters, key=lambda rater: -rater.n)[:RATERS]
    yield _annotators(raters, len(found.raters))
    if picture := _grades_given(found, raters):
        yield picture
    if len(found.pairs) > 1:
        sheet = _pairs(found)
        yield Fold(sheet.caption, (sheet,))


def _statistics(found: Agreement) -> Sheet:
    """The statistics of agreement."""
    lines = [
        Line(name, (with_interval(each), Cell(STATISTICS.get(name, ""), words=True)))
        for name, each in found.estimates.items()
    ]
    caption = f"{counted(found.texts, 'text')}, {counted(found.ratings, 'grade')}; 95 % intervals in brackets"
    return Sheet("agreement", caption, ("statistic", "value", "what it is"), tuple(lines))


def _annotators(raters: Sequence[Rater], of: int) -> Sheet:
    """Some of so many annotators."""
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
        lines.append(Line(rater.name, (*cells, *([Cell(rater.note, words=True)] if notes else []))))
    few = f"The {len(raters)} annotators with the most grades of {of:,}" if len(raters) < of else "Annotators"
    head = ("annotator", "grades", "mean", "above the others", *(["note"] if notes else []))
    return Sheet("annotators", few, head, tuple(lines))


def _pairs(found: Agreement) -> Sheet:
    """Pairs of annotators, those with the most shared texts first."""
    shown = sorted(found.pairs, key=lambda pair: -pair.n)[:PAIRS]
    reasons = any(pair.reason for pair in shown)
    lines = [
        Line(
            f"{pair.first} and {pair.second}",
            (
                whole(pair.n),
                *(plain_value(value) for value in (pair.agreement, pair.unweighted, pair.linear, pair.quadratic)),
                *([Cell(pair.reason, words=True)] if reasons else []),
            ),
        )
        for pair in shown
    ]
    head = ("pair", "texts", "equal grades", "kappa", "linear", "quadratic", *(["note"] if reasons else []))
    few = f"The {len(shown)} pairs of annotators with the most shared texts, of {len(found.pairs):,}"
    return Sheet("pairs", few if len(shown) < len(found.pairs) else "Pairs of annotators", head, tuple(lines))


def _confusions(found: Agreement) -> Picture | None:
    """Who meant what by a grade; None where there are too many grades."""
    if found.confusion is None or not 2 <= len(found.labels) <= LABELS:
        return None
    label = "How often one annotator gave one grade and another annotator another grade to the same text"
    drawn = svg(confusion(_labels(found), found.confusion), label)
    return Picture("Grades of one text by two annotators", "Every two grades of one text, in both orders", drawn)


def _grades_given(found: Agreement, raters: Sequence[Rater]) -> Picture | None:
    """How often each of some annotators gave each grade."""
    rows = [(rater.name, rater.histogram) for rater in raters if rater.histogram is not None]
    if not rows:
        return None
    figure = histograms([name for name, _ in rows], _labels(found), [counts for _, counts in rows])
    label = "How often each annotator gave each grade: " + "; ".join(name for name, _ in rows)
    return Picture("Grades given by each annotator", "How often each annotator gave each grade", svg(figure, label))


def _labels(found: Agreement) -> list[str]:
    return [shown(label) for label in found.labels]
