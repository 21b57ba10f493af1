"""The section on annotators: inter-annotator agreement, and each annotator."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from postil.data.explain import shown
from postil.page.blocks import Paragraph, Picture, collapsed, sentences
from postil.plots.bars import histograms
from postil.plots.heatmaps import confusion
from postil.raters.view import pairs_table, raters_table, statistics_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.meta.parts import Agreement, Rater
    from postil.page.blocks import Block
    from postil.results.table import Table

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
    yield statistics_table(found)
    yield from (Paragraph(f"No {name}: {reason}.") for name, reason in found.absent.items())
    yield from sentences(found.notes)
    drawn = {picture.key: picture for picture in agreement_pictures(found)}
    if "confusion" in drawn:
        yield drawn["confusion"]
    if raters := _most_active(found):
        yield _annotators(raters, len(found.raters))
    if "annotators" in drawn:
        yield drawn["annotators"]
    if len(found.pairs) > 1:
        yield from collapsed(_pairs(found))


def agreement_pictures(found: Agreement) -> Iterator[Picture]:
    """The pictures of inter-annotator agreement that there are.

    Args:
        found: The agreement.
    """
    yield from filter(None, (_confusions(found), _grades_given(found, _most_active(found))))


def _most_active(found: Agreement) -> list[Rater]:
    return sorted(found.raters, key=lambda rater: -rater.n)[:RATERS]


def _annotators(raters: Sequence[Rater], of: int) -> Table:
    """The given annotators, out of a total number."""
    few = f"The {len(raters)} annotators with the most ratings of {of:,}" if len(raters) < of else "Annotators"
    return raters_table(raters, caption=few)


def _pairs(found: Agreement) -> Table:
    """Pairs of annotators, those with the most shared texts first."""
    shown = sorted(found.pairs, key=lambda pair: -pair.n)[:PAIRS]
    few = f"The {len(shown)} pairs of annotators with the most shared texts, of {len(found.pairs):,}"
    return pairs_table(shown, few if len(shown) < len(found.pairs) else "Pairs of annotators")


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
