"""Statistics of each annotator: mean rating, rater bias, label histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from postil.messages import Message
from postil.metaeval.coefficients import ratio, starts_of
from postil.metaeval.resampled_rows import sums_by_item
from postil.metaeval.resampling import estimate, in_blocks
from postil.records.explain import shown
from postil.records.results import Rater

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from postil.metaeval.resampling import Counts
    from postil.metaeval.score_matrix import Ratings

__all__ = ["raters"]


def raters(
    ratings: Ratings, item: NDArray[np.int64], values: NDArray[np.float64], counts: Counts, *, few: bool
) -> Iterator[Rater]:
    """Statistics of every annotator, in the order of their names.

    Args:
        ratings: The ratings of n texts, some of which have several.
        item: int64[n], the item of each text that has several ratings.
        values: float64[k], distinct ratings, ascending.
        counts: Integers[R, items], resample multiplicities.
        few: True if ratings are labels.
    """
    who, label = ratings.annotators, np.searchsorted(values, ratings.grades)
    text = np.repeat(np.arange(len(item)), ratings.counts)
    total = np.add.reduceat(ratings.grades, ratings.offsets[:-1])[text]
    several = np.flatnonzero(ratings.counts[text] > 1)
    several = several[np.argsort(who[several], kind="stable")]
    difference = ratings.grades[several] - (total - ratings.grades)[several] / (ratings.counts[text][several] - 1)
    starts, of_rating = starts_of(who[several]), item[text[several]]
    group = np.repeat(np.arange(len(starts)), np.diff([*starts, len(several)]))
    total_of = sums_by_item(of_rating, group, difference, counts.shape[1])
    number_of = sums_by_item(of_rating, group, np.ones(len(several)), counts.shape[1])

    def severity(block: NDArray[np.int32]) -> dict[str, NDArray[np.float64]]:
        return {"severity": ratio(total_of(block), number_of(block))}

    severities = in_blocks(severity, counts, len(several))["severity"]
    column = {int(number): at for at, number in enumerate(who[several[starts]])}
    shared = np.unique(who[several].astype(np.int64) * counts.shape[1] + of_rating)  # of annotators and items
    items = np.bincount(shared // counts.shape[1], minlength=len(ratings.names))
    for number, name in enumerate(ratings.names):
        mine = who == number
        histogram = np.bincount(label[mine], minlength=len(values))
        given = np.flatnonzero(histogram)
        yield Rater(
            name=name,
            n=int(mine.sum()),
            mean=float(ratings.grades[mine].mean()),
            severity=estimate(severities[:, column[number]], int(items[number])) if number in column else None,
            histogram=tuple(histogram.tolist()) if few else None,
            note=Message("gave only the label {label}", label=shown(float(values[given[0]])))
            if len(given) == 1
            else "",
        )
