"""The section on annotators: inter-annotator agreement, and each annotator."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.explain import shown
from postil.raters.view import pairs_table, raters_table, statistics_table
from postil.results.page.blocks import Paragraph, Picture, collapsed, sentences
from postil.results.plots.bars import histograms
from postil.results.plots.heatmaps import confusion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.meta.parts import Agreement, Rater
    from postil.raters.result import AgreementResult
    from postil.results.page.blocks import Block, Numbers
    from postil.results.table import Table

__all__ = ["agreement_blocks", "agreement_numbers", "pictures"]

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
    drawn = {picture.key: picture for picture in _pictures(found)}
    if "confusion" in drawn:
        yield drawn["confusion"]
    if raters := _most_active(found):
        yield _annotators(raters, len(found.raters))
    if "annotators" in drawn:
        yield drawn["annotators"]
    if len(found.pairs) > 1:
        yield from collapsed(_pairs(found))


def _pictures(found: Agreement) -> Iterator[Picture]:
    yield from filter(None, (_confusions(found), _grades_given(found, _most_active(found))))


def agreement_numbers(found: Agreement) -> Iterator[Numbers]:
    """All numbers of inter-annotator agreement, for the files beside a page.

    Args:
        found: The agreement.
    """
    yield "agreement", [{"statistic": name, **msgspec.structs.asdict(each)} for name, each in found.estimates.items()]
    yield "pairs", found.pairs
    yield (
        "annotators",
        [
            {
                "annotator": rater.name,
                "n": rater.n,
                "mean": rater.mean,
                "severity": rater.severity and rater.severity.value,
                "low": rater.severity and rater.severity.low,
                "high": rater.severity and rater.severity.high,
                "note": rater.note,
                **{
                    f"grade {label:g}": times
                    for label, times in zip(found.labels, rater.histogram or (), strict=rater.histogram is not None)
                },
            }
            for rater in found.raters
        ],
    )
    counts = found.confusion or ()
    yield (
        "confusion",
        [
            {"grade": label, "other": other, "n": times}
            for label, row in zip(found.labels, counts, strict=bool(counts))
            for other, times in zip(found.labels, row, strict=True)
        ],
    )


def pictures(result: AgreementResult) -> Iterable[Picture]:
    """The pictures of inter-annotator agreement that there are.

    Args:
        result: The result.
    """
    return _pictures(result.agreement) if result.agreement is not None else ()


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
