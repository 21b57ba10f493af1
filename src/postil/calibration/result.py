"""The result of `postil calibrate`, and its parts."""

from __future__ import annotations

from postil.data.parts import Estimate, Excluded, Part
from postil.results.base import Result

__all__ = ["CalibrationResult", "CoveragePoint", "FilterComparison", "FurtherLabels", "ShowColumn"]


class CoveragePoint(Part, frozen=True, kw_only=True):
    """A threshold of the probability of being worth showing.

    Args:
        coverage: Share of the articles with a suggestion above it.
        threshold: The threshold.
        precision: Share of these articles whose first suggestion an editor would show; see
            `CalibrationResult.reorders`.
        low: Lower end of its 95 % confidence interval (Wilson's, or over resamples; each article counts once).
        high: Upper end.
        pooled: The precision as it does not rise with coverage: by an isotonic regression on the probability, or as it
            is.
        articles: Number of the articles.
    """

    coverage: float
    threshold: float
    precision: float
    low: float
    high: float
    pooled: float
    articles: int


class ShowColumn(Part, frozen=True, kw_only=True):
    """A column of the filter learned from labels.

    Args:
        name: Its name.
        weight: Change of the logit per standard deviation.
    """

    name: str
    weight: float


class FilterComparison(Part, frozen=True, kw_only=True):
    """The filter over all columns against the ranker's score, on articles that neither has seen.

    Args:
        measure: ``auc``, or ``precision``: that of the first suggestions of the most probable three tenths of the
            articles.
        learned: The filter over all columns.
        score: The ranker's score.
        difference: `learned` less `score`, paired on the same resamples of the articles.
    """

    measure: str
    learned: Estimate
    score: Estimate
    difference: Estimate


class FurtherLabels(Part, frozen=True, kw_only=True):
    """Effect that further labels are expected to have on the precision at coverage .3.

    Args:
        labels: Number of further labels.
        gain: Change of the precision, by labels that are simulated from fits to resamples of the articles: the mean of
            the simulations, and the 2.5th and 97.5th percentiles.
        width: Width of the interval of the precision by then, as a share of its width now.
    """

    labels: int
    gain: Estimate
    width: float


class CalibrationResult(Result, frozen=True, kw_only=True, tag="calibration"):
    """A filter learned from labels, with what it gives on articles that the fit has not seen.

    Args:
        labels: Number of texts with an answer.
        articles: Number of their articles.
        shown: Number of the texts to show.
        labels_hash: Hash of the answers.
        excluded: Labels that are not in the numbers, or that are of other texts.
        resamples: Number of resamples of the articles.
        seed: Random seed.
        reason: The reason why there is no filter; empty where there is one.
        depth: Number of first suggestions of an article that the filter chooses from.
        reorders: True if the filter orders these and chooses the most probable of them, which may have no label; the
            precision is then the mean of their probabilities, and its interval over resamples of the articles.
        filter: ``learned`` for the filter over all columns; ``score`` for the ranker's score, calibrated, where the
            learned filter is refused; empty where there is none.
        penalty: L2 penalty of the fit.
        base_rate: Share of the texts to show.
        first_rate: Share of the articles whose first suggestion is one to show, without a filter.
        auc: Area under the ROC curve of the probability.
        ranker_auc: That of the ranker's score.
        comparisons: The learned filter against the ranker's score.
        points: Precision against coverage, by rising coverage.
        columns: Weights of the columns, the largest first.
        further: Effect that further labels are expected to have; None without a learned filter.
        notes: Notes on the numbers.
    """

    labels: int
    articles: int
    shown: int
    labels_hash: str
    excluded: tuple[Excluded, ...]
    resamples: int
    seed: int
    reason: str = ""
    depth: int = 0
    reorders: bool = False
    filter: str = ""
    penalty: float | None = None
    base_rate: Estimate | None = None
    first_rate: Estimate | None = None
    auc: Estimate | None = None
    ranker_auc: Estimate | None = None
    comparisons: tuple[FilterComparison, ...] = ()
    points: tuple[CoveragePoint, ...] = ()
    columns: tuple[ShowColumn, ...] = ()
    further: FurtherLabels | None = None
    notes: tuple[str, ...] = ()
