"""The result of `postil correlate`, and its parts, those of an audit among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from postil.data.parts import Excluded, OptionalPart, Part, Ranged
from postil.meta.parts import (
    Agreement,
    Correlation,
    Difference,
    Extent,
    HumanAgreement,
    Points,
    RaterVariance,
    Severity,
    SystemMean,
    UndefinedMapping,
    UndefinedResult,
)
from postil.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.messages import Message

__all__ = [
    "AltTest",
    "AltTestRow",
    "Audit",
    "AuditRanking",
    "Calibration",
    "CalibrationBin",
    "CorrelationData",
    "CorrelationResult",
    "CorrelationSettings",
    "DisagreementPair",
    "DisagreementText",
    "LengthBias",
    "LengthBiasRow",
    "LengthQuartile",
    "SkippedAnnotator",
    "TestedAnnotator",
    "UndefinedLengthBias",
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
        baseline: Metric that the others are compared with; empty without one.
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
    baseline: str = ""

    def __post_init__(self) -> None:
        if not self.coefficients:
            raise ValueError("expected at least one coefficient")


class CorrelationResult(Result, frozen=True, kw_only=True, tag="correlate"):
    """Metrics against people: correlations, human reference points, tests of differences.

    Args:
        correlations: One row per metric or control and coefficient.
        absent: Coefficients that do not exist, and why.
        human: Human reference points.
        differences: One row per pair of metrics and coefficient.
        notes: Notes on the numbers.
        agreement: Inter-annotator agreement; None where no text has two ratings.
        systems: Mean scores and ratings of each system.
        orders: By metric, Kendall's tau-b of the systems' means with their mean ratings.
        disagreements: The texts on which two opinions differ most.
        data: The table that all is over.
        signatures: All that the numbers of each metric depend on.
        settings: Options of the command.
        points: Every text's ratings and scores; `postil correlate --format json` has none.
        weights: Source of the references' weights, if known.
        absent_differences: Metrics that have no differences, and why, beyond those in `absent`.
        audit: The audit; None where none was asked for.
        severity: Severities of the annotators; None where no text has two ratings.
        warnings: The notes that warn: of few items and systems, of ``over=near`` and ``over=kernel``, of candidates
            that are references, and of outliers.
        from_baseline: Each metric minus the baseline, adjusted for the number of these alone; empty without a baseline.
    """

    correlations: tuple[Correlation, ...]
    absent: tuple[UndefinedResult, ...]
    human: HumanAgreement
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    agreement: Agreement | None
    systems: tuple[SystemMean, ...]
    orders: dict[str, float | None]
    disagreements: tuple[DisagreementPair, ...]
    data: CorrelationData
    signatures: dict[str, str]
    settings: CorrelationSettings
    points: Points | None = None
    weights: str = ""
    absent_differences: tuple[UndefinedResult, ...] = ()
    audit: Audit | None = None
    severity: Severity | None = None
    warnings: tuple[str, ...] = ()
    from_baseline: tuple[Difference, ...] = ()

    @property
    def extent(self) -> Extent:
        """The numbers of items and of systems, which decide what may be called significant."""
        return Extent(items=self.data.items, systems=self.data.systems)

    def few_remarks(self) -> Iterator[Message]:
        """Warnings of few items, and of few systems where coefficients are of these."""
        return self.extent.remarks(of_systems=self.settings.by == "system" or self.audit is not None)

    def is_significant(self, row: Difference) -> bool:
        """True if a difference of this result may be called significant.

        Args:
            row: The difference.
        """
        return row.significant and self.extent.allows(row)

    def to_rows(self) -> list[dict[str, object]]:
        """One row per coefficient, for ``pandas.DataFrame(rows)`` or ``polars.DataFrame(rows)``.

        A field of `Correlation` with a default is a column where some row has it.
        """
        rows = [msgspec.structs.asdict(row) for row in (*self.correlations, *self.human.rows)]
        required = Correlation.__struct_fields__[: -len(Correlation.__struct_defaults__)]
        some = {name for row in rows for name, value in row.items() if value is not None}
        fields = [name for name in Correlation.__struct_fields__ if name in {*required, "sd", *some}]
        return [{name: row[name] for name in fields} for row in rows]

    def to_dict(self) -> dict[str, object]:
        """See `Result.to_dict`; human reference points are either all there or a reason alone."""
        made = Result.to_dict(self)
        people: dict[str, object] = made["human"]  # type: ignore[assignment]  # a struct is a dict there
        reason = people.pop("reason")
        return made | {"human": {"reason": reason}} if reason else made
