"""The parts of the result of `postil correlate`: coefficients, differences, people, and the audit."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
from msgspec.structs import replace

from postil.records.parts import Estimate, Excluded, OptionalPart, Part, check_interval

__all__ = [
    "Agreement",
    "AltTest",
    "AltTestRow",
    "Audit",
    "AuditRanking",
    "Calibration",
    "CalibrationBin",
    "Correlation",
    "CorrelationData",
    "CorrelationSettings",
    "Difference",
    "DisagreementPair",
    "DisagreementText",
    "HumanAgreement",
    "LengthBias",
    "LengthBiasRow",
    "LengthQuartile",
    "PairAgreement",
    "Points",
    "Rater",
    "RaterCount",
    "RaterLevel",
    "RaterVariance",
    "SkippedAnnotator",
    "SystemMean",
    "TestedAnnotator",
    "UndefinedLengthBias",
    "UndefinedMapping",
    "UndefinedResult",
    "VarianceComponent",
]


class Correlation(OptionalPart, frozen=True, kw_only=True):
    """A coefficient of one metric, control or human reference point with the human scores.

    The fields from ``epsilon`` on belong to ``acc-eq``, ``pa`` and ``spa``; None for other coefficients.

    Args:
        metric: The metric, the control, or ``human:…``.
        coefficient: Name of the coefficient.
        by: Level: ``pool``, ``item``, ``system`` or ``within-system``.
        value: The coefficient, from -1 to 1 (an accuracy from 0 to 1); higher is better whichever way the metric
            points. For a random control the mean over its draws.
        low: Lower end of the 95 % confidence interval over resamples of the items; None for an accuracy that no
            resample has.
        high: Upper end.
        p: Two-sided p-value of the coefficient being 0, see `postil.metaeval.resampling.p_value`; of an accuracy the
            one-sided p-value against chance.
        n: Number of texts, items or systems it is over; of ``acc-eq`` by ``item`` and ``within-system`` of groups.
        dropped: Items (or systems, ``within-system``) excluded since they have one text, or their scores or their
            grades are all the same; of ``acc-eq`` only those with one text.
        sd: Standard deviation over the draws of a random control.
        epsilon: Largest difference of scores that counts as a tie.
        pairs: Number of pairs of texts or of systems.
        plain: Accuracy where only equal scores are a tie.
        ties: Mean share of pairs that people tie, which is the accuracy of a constant metric.
        chance: Mean accuracy of the metric's own scores (of systems, for ``pa`` and ``spa``) in random order.
        chance_low: The 2.5th percentile of that.
        chance_high: The 97.5th percentile.
        chance_fixed: Expected accuracy in random order at the one best threshold.
        draws: Number of random orders.
        exact: True if ``spa`` is over all sign patterns of the items.
    """

    metric: str
    coefficient: str
    by: str
    value: float
    low: float | None
    high: float | None
    p: float
    n: int
    dropped: int
    sd: float | None = None
    epsilon: float | None = None
    pairs: int | None = None
    plain: float | None = None
    ties: float | None = None
    chance: float | None = None
    chance_low: float | None = None
    chance_high: float | None = None
    chance_fixed: float | None = None
    draws: int | None = None
    exact: bool | None = None

    def __post_init__(self) -> None:
        check_interval(self.low, self.high)


class UndefinedResult(Part, frozen=True, kw_only=True):
    """A coefficient that does not exist.

    Args:
        metric: The metric.
        coefficient: Name of the coefficient.
        by: Level.
        reason: The reason, in words.
    """

    metric: str
    coefficient: str
    by: str
    reason: str


class HumanAgreement(Part, frozen=True, kw_only=True):
    """Human reference points: split-half and leave-one-out correlation, reliability and its ceiling.

    Args:
        rows: Split-half correlations, then leave-one-out correlations, by coefficient.
        reliability: Pearson correlation of two single ratings of a text; None where there is none.
        rule: Rule of the mean that the reliability is: ``annotators`` or ``ratings``.
        pairs: Number of pairs of annotators, or of draws.
        k: Harmonic mean of the number of ratings per text.
        ceiling: Expected upper bound of the Pearson correlation with the mean ratings; None where there is none.
        n: Number of texts with two ratings or more.
        left_out: Number of texts with one.
        reason: The reason where there is nothing; then all else is empty, and the JSON has the reason alone.
    """

    rows: tuple[Correlation, ...] = ()
    reliability: float | None = None
    rule: str = ""
    pairs: int = 0
    k: float = 0
    ceiling: float | None = None
    n: int = 0
    left_out: int = 0
    reason: str = ""


class Difference(Part, frozen=True, kw_only=True):
    """The difference of two metrics in their correlation with the human scores.

    Args:
        first: A metric.
        second: Another metric, or a random control of the first.
        coefficient: Name of the coefficient.
        by: Level.
        value: The coefficient of the first minus that of the second (of a control: minus the mean over its draws).
        low: Lower end of the 95 % confidence interval over resamples of the items, the same for both; None for
            accuracies that no resample has.
        high: Upper end.
        n: Number of texts, items or systems both are over; by item the fewer of the two.
        p_bootstrap: By the same resamples.
        p_williams: By Williams' test, which takes the texts as independent; None where it does not apply.
        p_permutation: By paired permutation of items; None where there is no such test.
        p: The one to go by: `p_permutation` or `p_both` where there is one, else `p_bootstrap`; None for Kendall's
            coefficients.
        p_holm: `p` adjusted by Holm for the number of rows of its kind.
        p_both: For ``acc-eq``, ``pa`` and ``spa``, by paired permutation of single texts or pairs of texts (PERM-BOTH).
    """

    first: str
    second: str
    coefficient: str
    by: str
    value: float
    low: float | None
    high: float | None
    n: int
    p_bootstrap: float | None = None
    p_williams: float | None = None
    p_permutation: float | None = None
    p: float | None = None
    p_holm: float | None = None
    p_both: float | None = None

    def __post_init__(self) -> None:
        check_interval(self.low, self.high)

    def reversed(self) -> Difference:
        """The same difference as the second metric minus the first."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            value=-self.value,
            low=None if self.high is None else -self.high,
            high=None if self.low is None else -self.low,
        )


class PairAgreement(Part, frozen=True, kw_only=True):
    """The agreement of two annotators on the texts that they share.

    Args:
        first: An annotator.
        second: Another.
        n: Number of shared texts.
        agreement: Percent agreement, as a share.
        unweighted: Cohen's kappa, from -1 to 1.
        linear: Cohen's kappa with linear weights.
        quadratic: Cohen's kappa with quadratic weights.
        reason: The reason where kappas are None; else empty.
    """

    first: str
    second: str
    n: int
    agreement: float
    unweighted: float | None
    linear: float | None
    quadratic: float | None
    reason: str = ""


class Rater(Part, frozen=True, kw_only=True):
    """One annotator.

    Args:
        name: The annotator.
        n: Number of texts that were rated.
        mean: Mean rating.
        severity: Rater bias in grades, positive if lenient: mean difference between the annotator's rating and the mean
            of the other ratings of the text; None where no text has another rating.
        histogram: Number of times that each label was given; None where there are too many labels.
        note: A note, in words; else empty.
    """

    name: str
    n: int
    mean: float
    severity: Estimate | None
    histogram: tuple[int, ...] | None
    note: str = ""


class Agreement(Part, frozen=True, kw_only=True):
    """Inter-annotator agreement.

    Args:
        texts: Number of rated texts.
        ratings: Number of ratings.
        labels: The distinct grades, ascending.
        estimates: The statistics that exist, in the order of `postil.records.names.STATISTICS`.
        absent: Reasons why the others do not exist, in words.
        left_out: Texts that are in no pair, or not as they came.
        confusion: Counts of pairs of ratings of one text, row label and column label, in both orders; None where
            there are too many labels.
        pairs: Every two annotators who share a text.
        raters: Every annotator.
        notes: Notes, in words.
    """

    texts: int
    ratings: int
    labels: tuple[float, ...]
    estimates: dict[str, Estimate]
    absent: dict[str, str] = {}  # noqa: RUF012 - msgspec copies an empty one
    left_out: tuple[Excluded, ...] = ()
    confusion: tuple[tuple[int, ...], ...] | None = None
    pairs: tuple[PairAgreement, ...] = ()
    raters: tuple[Rater, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rows = [*(self.confusion or ()), *(rater.histogram for rater in self.raters if rater.histogram is not None)]
        if any(len(row) != len(self.labels) or min(row, default=0) < 0 for row in rows) or (
            self.confusion is not None and len(self.confusion) != len(self.labels)
        ):
            raise ValueError(f"expected counts for each of {len(self.labels)} labels")


class SystemMean(Part, frozen=True, kw_only=True):
    """Means of one system.

    Args:
        system: The system.
        n: Number of texts.
        grade: Mean of the mean ratings of its texts.
        rank: Its rank by that mean, from 1.
        means: Mean score by metric.
        ranks: Rank by that mean, by metric.
    """

    system: str
    n: int
    grade: float
    rank: int
    means: dict[str, float]
    ranks: dict[str, int]


class DisagreementText(OptionalPart, frozen=True, kw_only=True):
    """A text on which two metrics, or a metric and people, differ.

    Args:
        row: Its row in the joined table.
        item: Its item.
        system: The system that wrote it.
        grade: Its mean rating.
        scores: The score by each metric in question.
        normalised: The same rescaled to the mean and variance of the ratings, then clipped.
        difference: The first rescaled score minus the second, or minus the mean rating where there is no second.
        text: The text, where the candidates were given.
    """

    row: int | None = None
    item: str
    system: str
    grade: float
    scores: tuple[float, ...]
    normalised: tuple[float, ...]
    difference: float
    text: str | None

    def __post_init__(self) -> None:
        if not 1 <= len(self.scores) == len(self.normalised) <= 2:
            raise ValueError("expected one or two scores, each with its normalised one")


class DisagreementPair(Part, frozen=True, kw_only=True):
    """The texts on which two metrics, or a metric and people, differ most.

    Args:
        first: A metric.
        second: Another, or ``people``.
        texts: The texts, the largest difference first.
    """

    first: str
    second: str
    texts: tuple[DisagreementText, ...]


class CorrelationData(Part, frozen=True, kw_only=True):
    """The joined table that correlations are over.

    Args:
        texts: Number of texts with scores and ratings.
        items: Number of items.
        systems: Number of systems.
        annotators: Number of annotators.
        ratings: Number of ratings.
        aspect: The aspect that was judged, where there is more than one.
        scale: Scale of the grades, where it is known.
        mean: Mean of the texts' mean ratings.
        sd: Standard deviation of the texts' mean ratings.
        left_out: Rows that did not join.
    """

    texts: int
    items: int
    systems: int
    annotators: int
    ratings: int
    aspect: str | None = None
    scale: str | None = None
    mean: float
    sd: float
    left_out: tuple[Excluded, ...] = ()


class CorrelationSettings(OptionalPart, frozen=True, kw_only=True):
    """Options of `postil correlate`.

    Args:
        by: Level of the coefficients.
        coefficients: Names of the coefficients.
        lower_is_better: Metrics for which lower is better.
        resamples: Number of resamples of the items.
        permutations: Number of permutations.
        seed: Seed of both.
        postil: The version that made the result.
        command: The command line, if there was one.
        alt_epsilon: Cost-benefit penalty of the alternative annotator test; None without an audit.
        lengths: Scores that are lengths; empty without an audit.
        folds: Number of folds of the cross-fitting; 0 without an audit.
    """

    by: Literal["pool", "item", "system", "within-system"]
    coefficients: tuple[str, ...]
    lower_is_better: tuple[str, ...]
    resamples: int
    permutations: int
    seed: int
    postil: str
    command: str = ""
    alt_epsilon: float | None = None
    lengths: str = ""
    folds: int = 0

    def __post_init__(self) -> None:
        if not self.coefficients:
            raise ValueError("expected at least one coefficient")


class Points(Part, frozen=True, kw_only=True):
    """The mean rating and the scores of every text.

    Args:
        grades: Mean rating by text.
        scores: Score by text, by metric.
    """

    grades: tuple[float, ...]
    scores: dict[str, tuple[float, ...]]

    def __post_init__(self) -> None:
        if any(len(column) != len(self.grades) for column in self.scores.values()):
            raise ValueError(f"expected a score for each of {len(self.grades)} grades")


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


class AltTestRow(Part, frozen=True, kw_only=True):
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

    def __post_init__(self) -> None:
        check_interval(self.low, self.high)


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


class Calibration(Part, frozen=True, kw_only=True):
    """Error of a metric's predicted ratings, each by a fit on the other folds.

    Args:
        metric: The metric, or ``control:…``.
        mapping: Mapping of its scores to the scale of the ratings.
        mae: Mean absolute error, in grades.
        rmse: Root mean squared error, in grades.
        bias: Mean error, in grades; above 0 where it predicts too high.
        ece: Expected calibration error, in grades.
        n: Number of texts.
        bins: The bins that are not empty, ascending.
        mae_low: Lower end of the 95 % confidence interval over resamples of the items; None where there is one item.
        mae_high: Upper end.
        ece_low: Lower end of that of `ece`.
        ece_high: Upper end.
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

    def __post_init__(self) -> None:
        check_interval(self.mae_low, self.mae_high)
        check_interval(self.ece_low, self.ece_high)


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


class LengthBiasRow(Part, frozen=True, kw_only=True):
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

    def __post_init__(self) -> None:
        check_interval(self.low, self.high)


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
