"""Good sentences among the ten first ones, on the graded sentences that the shipped model is fitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bench.interest.ideas import parts
from bench.interest.rankings import LONGEST, RESAMPLES, SEED
from postil.metrics.folds import folds_of

if TYPE_CHECKING:
    from bench.interest.rankings import Floats, Graded

__all__ = ["CUES", "MIN_COUNT", "MIN_PAGES", "PENALTY", "good_of_ten"]

PENALTY: Final = 150.0
MIN_COUNT: Final = 8
MIN_PAGES: Final = 6
CUES: Final = 0.06
"""Options of the shipped fit."""
NO_WORDS: Final = 1_000_000
"""Number of passages that no word is in, so that none has a weight."""
FOLDS: Final = 10
FIRST: Final = 10


def good_of_ten(graded: Graded) -> str:
    """Table of rankings: good sentences among the ten first of each document, the mean over documents.

    Args:
        graded: The passages; a grade above 0 is good. The fits never see the document that they rank.
    """
    standard = parts(graded)
    folds = folds_of(graded.pages, min(FOLDS, graded.pages), seed=SEED)
    untrained = standard["cues"] + standard["names"] + standard["overlap"]
    rankings = {
        "untrained sum": untrained,
        "logsim-1": graded.measure("logsim-1"),
        "topic: logsim-1, stop words": graded.measure("logsim-1", "en"),
        LONGEST: graded.words.astype(np.float64),
        "8 to 32 words first": -np.maximum(8.0 - graded.words, 0.0) - np.maximum(graded.words - 32.0, 0.0),
        "cues": standard["cues"],
        "fit of features": graded.rated.cross_fitted(folds, PENALTY, NO_WORDS),
        "fit of features and words": graded.rated.cross_fitted(folds, PENALTY, MIN_COUNT, MIN_PAGES),
        "with more weight of cues, as shipped": graded.rated.cross_fitted(folds, PENALTY, MIN_COUNT, MIN_PAGES, CUES),
    }
    base = _good(graded, untrained)
    share = float((graded.grades > 0).mean())
    lines = [
        f"Rated: {len(graded.passages):,} passages of {graded.pages} documents, {share:.1%} good\n",
        "| ranking | good of ten | minus untrained |",
        "|---|---|---|",
    ]
    for name, scores in rankings.items():
        good = _good(graded, scores)
        low, high = _interval(good - base)
        lines.append(f"| {name} | {good.mean():.2f} | {(good - base).mean():+.2f} [{low:.2f}, {high:.2f}] |")
    return "\n".join(lines)


def _good(graded: Graded, scores: Floats) -> Floats:
    """Expected number of good passages among the first ten of each document, with ties in a random order."""
    out = np.zeros(graded.pages)
    for number in range(graded.pages):
        here = graded.page == number
        mine, good = scores[here], graded.grades[here] > 0
        last = np.sort(mine)[-FIRST]
        tied = mine == last
        out[number] = good[mine > last].sum() + good[tied].mean() * (FIRST - (mine > last).sum())
    return out


def _interval(values: Floats) -> tuple[float, float]:
    """Percentile interval of the mean, by resamples of the documents."""
    drawn = np.random.default_rng(SEED).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)
