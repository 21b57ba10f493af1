"""What each annotator is like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.metaeval.coefficients import ratio, starts_of
from postil.metaeval.resampling import estimate, in_blocks
from postil.records.explain import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from postil.metaeval.resampling import Estimate
    from postil.metaeval.score_matrix import Ratings

__all__ = ["Rater", "raters"]


@dataclass(frozen=True, slots=True)
class Rater:
    """One annotator.

    Args:
        name: The annotator.
        n: How many texts were graded.
        mean: The mean grade.
        severity: Rater bias, in grades, positive for a lenient annotator and negative for a severe one: the mean
            difference between the annotator's grade and the mean of the other grades of the text; None where no text
            has another grade.
        histogram: How often each label was given; None where there are too many labels.
        note: What else to know, in words; else empty.
    """

    name: str
    n: int
    mean: float
    severity: Estimate | None
    histogram: tuple[int, ...] | None
    note: str


def raters(
    ratings: Ratings, item: NDArray[np.int64], values: NDArray[np.float64], copies: NDArray[np.int32], *, few: bool
) -> Iterator[Rater]:
    """Every annotator, in the order of their names.

    Args:
        ratings: The ratings of n texts, of which some have several.
        item: int64[n], the item of each text that has several ratings.
        values: float64[k], the distinct grades, rising.
        copies: int32[1 + R, items], once every item, then how often each is drawn.
        few: Whether grades are labels.
    """
    who, label = ratings.annotators, np.searchsorted(values, ratings.grades)
    text = np.repeat(np.arange(len(item)), ratings.counts)
    total = np.add.reduceat(ratings.grades, ratings.offsets[:-1])[text]
    several = np.flatnonzero(ratings.counts[text] > 1)
    several = several[np.argsort(who[several], kind="stable")]
    difference = ratings.grades[several] - (total - ratings.grades)[several] / (ratings.counts[text][several] - 1)
    starts, of_rating = starts_of(who[several]), item[text[several]]

    def severity(block: NDArray[np.int32]) -> dict[str, NDArray[np.float64]]:
        drawn = block[:, of_rating].astype(np.float64)
        sums = np.add.reduceat(drawn * difference, starts, axis=1)
        return {"severity": ratio(sums, np.add.reduceat(drawn, starts, axis=1))}

    severities = in_blocks(severity, copies, len(several))["severity"]
    column = {int(number): at for at, number in enumerate(who[several[starts]])}
    shared = np.unique(who[several].astype(np.int64) * copies.shape[1] + of_rating)  # of annotators and items
    items = np.bincount(shared // copies.shape[1], minlength=len(ratings.names))
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
            note=f"gave only the label {shown(float(values[given[0]]))}" if len(given) == 1 else "",
        )
