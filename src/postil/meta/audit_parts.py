"""The parts of an audit of metrics, in the result of `postil correlate --audit`."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from postil.meta.parts import Correlation, Difference, UndefinedResult
from postil.results.parts import OptionalPart, Part, Ranged

__all__ = [
    "AltTest",
    "AltTestRow",
    "Audit",
    "AuditRanking",
    "Calibration",
    "CalibrationBin",
    "LengthBias",
    "LengthBiasRow",
    "LengthQuartile",
    "RaterCount",
    "RaterLevel",
    "RaterVariance",
    "SkippedAnnotator",
    "TestedAnnotator",
    "UndefinedLengthBias",
    "UndefinedMapping",
    "VarianceComponent",
]


class TestedAnnotator(Part, frozen=True, kw_only=True):
    """An annotator in the alternative annotator test of one metric.

    Args:
        annotator: Name of the annotator.
        n: Number of texts that the annotator and somebody else rated.
        advantage: Share of these on which the metric is at least as close to the others' ratings as the annotator.
        human: Share on which the annotator is at least as close as the metric.
        p: One-sided p-value of the annotator being better by epsilon or more.
        wins: True if that is rejected, by Benjamini and Yekutieli over the annotators: the metric wins.
    """

    __test__: ClassVar = False  # pytest would take it for tests
    annotator: str
    n: int
    advantage: float
    human: float
    p: float
    wins: bool


class SkippedAnnotator(Part, frozen=True, kw_only=True):
    """An annotator with too few texts for the alternative annotator test.

    Args:
        annotator: Name of the annotator.
        n: Number of texts that the annotator and somebody else rated.
    """

    annotator: str
    n: int


class AltTestRow(Ranged, frozen=True, kw_only=True):
    """The alternative annotator test of one metric or control.

    Args:
        metric: The metric, or ``control:…``.
        mapping: Mapping of its scores to the scale of the ratings: ``none``, ``isotonic``, ``rounded`` or ``linear``.
        omega: Winning rate: share of the tested annotators against whom it wins.
        rho: Average advantage probability: mean of `TestedAnnotator.advantage`.
        low: Lower end of the 95 % confidence interval of rho over resamples of the items; None where there is one item.
        high: Upper end.
        passed: True if omega is at least .5.
        annotators: The tested annotators, in the order of their names.
        skipped: Those with too few texts.
    """

    metric: str
    mapping: str
    omega: float
    rho: float
    low: float | None
    high: float | None
    passed: bool
    annotators: tuple[TestedAnnotator, ...]
    skipped: tuple[SkippedAnnotator, ...] = ()


class UndefinedMapping(Part, frozen=True, kw_only=True):
    """A number of an audit that does not exist for a metric and a mapping.

    Args:
        metric: The metric, or ``control:…``.
        mapping: Mapping of its scores to the scale of the ratings.
        reason: The reason, in words.
    """

    metric: str
    mapping: str
    reason: str


class AltTest(Part, frozen=True, kw_only=True):
    """The alternative annotator test (Calderon, Reichart and Dror 2025) of every metric.

    Args:
        epsilon: Cost-benefit penalty.
        q: False discovery rate over the annotators.
        rows: One row per metric or control and mapping.
        absent: Those that do not exist, and why.
        notes: Notes on the numbers, in words.
    """

    epsilon: float
    q: float
    rows: tuple[AltTestRow, ...]
    absent: tuple[UndefinedMapping, ...]
    notes: tuple[str, ...]


class CalibrationBin(Part, frozen=True, kw_only=True):
    """A bin of the reliability curve.

    Args:
        n: Number of texts.
        predicted: Mean predicted rating.
        grade: Mean of the texts' mean ratings.
    """

    n: int
    predicted: float
    grade: float


class Calibration(Ranged, frozen=True, kw_only=True):
    """Error of a metric's predicted ratings, each by a fit on the other folds.

    Args:
        metric: The metric, or ``control:…``.
        mapping: Mapping of its scores to the scale of the ratings.
        mae: Mean absolute error, in grades.
        rmse: Root mean squared error, in grades.
        bias: Mean error, in grades; above 0 where it predicts too high.
        ece: Expected calibration error, in grades, corrected for the part that chance has in it.
        n: Number of texts.
        bins: The bins that are not empty, ascending.
        mae_low: Lower end of the 95 % confidence interval over resamples of the items; None where there is one item.
        mae_high: Upper end.
        ece_low: Lower end of that of `ece`.
        ece_high: Upper end.
        ece_plain: `ece` as it comes: the mean distance of the bins from the diagonal.
    """

    metric: str
    mapping: str
    mae: float
    rmse: float
    bias: float
    ece: float
    n: int
    bins: tuple[CalibrationBin, ...]
    mae_low: float | None = None
    mae_high: float | None = None
    ece_low: float | None = None
    ece_high: float | None = None
    ece_plain: float | None = None

    INTERVALS: ClassVar = (("mae_low", "mae_high"), ("ece_low", "ece_high"))


class LengthQuartile(Part, frozen=True, kw_only=True):
    """The correlation of a metric with the ratings in a quarter of the texts by length.

    Args:
        n: Number of texts.
        start: Shortest length; ``from`` in JSON.
        to: Longest length.
        value: The coefficient; None where it does not exist.
        reason: The reason then, in words.
    """

    n: int
    start: float | None = msgspec.field(name="from")
    to: float | None
    value: float | None
    reason: str | None = None


class LengthBiasRow(Ranged, frozen=True, kw_only=True):
    """The part that length has in the correlation of a metric with the ratings.

    Args:
        metric: The metric, or ``control:…``.
        coefficient: ``pearson`` or ``spearman``.
        plain: Correlation of metric and ratings.
        with_length: Correlation of metric and logarithm of length.
        grades_with_length: Correlation of ratings and logarithm of length.
        partial: Partial correlation of metric and ratings given the logarithm of length; None where it is undefined.
        low: Lower end of its 95 % confidence interval over resamples of the items.
        high: Upper end.
        quartiles: Correlation of metric and ratings in each quarter of the texts by length.
    """

    metric: str
    coefficient: str
    plain: float
    with_length: float
    grades_with_length: float
    partial: float | None
    low: float | None
    high: float | None
    quartiles: tuple[LengthQuartile, ...]


class UndefinedLengthBias(Part, frozen=True, kw_only=True):
    """A metric without a row in the table of length bias.

    Args:
        metric: The metric, or the name of the lengths where there are none.
        reason: The reason, in words.
    """

    metric: str
    reason: str


class LengthBias(Part, frozen=True, kw_only=True):
    """The part that length has in the correlations of metrics with the ratings.

    Args:
        lengths: Name of the scores that are lengths.
        n: Number of texts.
        left_out: Number of texts whose length is not above 0.
        rows: One row per metric or control and coefficient.
        absent: Metrics without a row, and why.
    """

    lengths: str
    n: int
    left_out: int
    rows: tuple[LengthBiasRow, ...]
    absent: tuple[UndefinedLengthBias, ...]


class VarianceComponent(Part, frozen=True, kw_only=True):
    """A variance component of the ratings.

    Args:
        component: Its facets, such as ``item:rater``; ``residual`` or ``within`` for the rest.
        estimate: The estimate, in squared grades; may be below 0.
        share: Its share of the sum, where those below 0 count as 0; None where the sum is 0.
    """

    component: str
    estimate: float
    share: float | None


class RaterCount(Part, frozen=True, kw_only=True):
    """Reliability of the mean of a number of raters.

    Args:
        k: Number of raters.
        g: Generalizability coefficient (relative decisions), from 0 to 1; None where it is undefined.
        phi: Index of dependability (absolute decisions), from 0 to 1; None where it is undefined.
        ceiling: Expected upper bound of the Pearson correlation with the mean rating; None where it is undefined.
    """

    k: float
    g: float | None
    phi: float | None
    ceiling: float | None


class RaterLevel(Part, frozen=True, kw_only=True):
    """Reliability of the mean ratings at one level.

    Args:
        by: Level: ``pool``, ``item`` or ``system``.
        k: Harmonic mean of the number of ratings per text.
        g: Generalizability coefficient with k raters; None where it is undefined.
        phi: Index of dependability with k raters; None where it is undefined.
        ceiling: Expected upper bound of the Pearson correlation with the mean rating; None where it is undefined.
        growth: The same for other numbers of raters.
        reason: The reason where g and phi are undefined, in words.
    """

    by: str
    k: float
    g: float | None
    phi: float | None
    ceiling: float | None
    growth: tuple[RaterCount, ...]
    reason: str | None = None


class RaterVariance(OptionalPart, frozen=True, kw_only=True):
    """Variance components of the ratings, and the gain from more raters.

    Args:
        design: Facets of the design, in words; empty where there is nothing.
        components: The variance components.
        levels: Reliability and ceiling by level.
        reason: The reason where there is nothing, in words.
    """

    design: str
    components: tuple[VarianceComponent, ...]
    levels: tuple[RaterLevel, ...]
    reason: str = ""


class AuditRanking(Part, frozen=True, kw_only=True):
    """Accuracy of the metrics in ranking texts or systems, for the verdict of an audit.

    Args:
        of: ``texts`` or ``systems``.
        coefficient: ``acc-eq`` for texts, ``spa`` for systems.
        by: Level.
        rows: One row per metric or control, with chance.
        absent: Those that do not exist, and why.
        margins: The best metric minus each other one, and each metric minus the lengths; bootstrap alone.
    """

    of: Literal["texts", "systems"]
    coefficient: str
    by: str
    rows: tuple[Correlation, ...]
    absent: tuple[UndefinedResult, ...]
    margins: tuple[Difference, ...]


class Audit(OptionalPart, frozen=True, kw_only=True):
    """Tests of a metric that go beyond coefficients: could it stand in for a person?

    Args:
        alt_test: The alternative annotator test.
        calibration: Error of predicted ratings, one row per metric and mapping.
        length: The part that length has.
        raters: Variance components of the ratings.
        rankings: Accuracy in ranking texts and systems.
        uncalibrated: Metrics and mappings without a calibration, and why.
    """

    alt_test: AltTest
    calibration: tuple[Calibration, ...]
    length: LengthBias
    raters: RaterVariance
    rankings: tuple[AuditRanking, ...]
    uncalibrated: tuple[UndefinedMapping, ...] = ()
