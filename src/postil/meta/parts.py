"""The result of `postil correlate`: coefficients, differences, people, and its parts."""

from __future__ import annotations

from typing import Final, Literal

from msgspec.structs import replace

from postil.results.parts import Estimate, Excluded, OptionalPart, Part, Ranged

__all__ = [
    "Agreement",
    "AnnotatorCorrelation",
    "Correlation",
    "CorrelationData",
    "CorrelationSettings",
    "Difference",
    "DisagreementPair",
    "DisagreementText",
    "HumanAgreement",
    "PairAgreement",
    "Points",
    "Rater",
    "SystemMean",
    "UndefinedResult",
]

ALPHA: Final = 0.05
"""Level of significance of a difference."""


class Correlation(Ranged, frozen=True, kw_only=True, omit_defaults=True):
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
        p: Two-sided p-value of the coefficient being 0, see `postil.meta.resampling.p_value`; of an accuracy the
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
        all_tied: True if the best threshold of ``acc-eq`` ties every pair, so that `value` is `ties`, as of a constant.
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
    all_tied: bool | None = None


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


class AnnotatorCorrelation(Part, frozen=True, kw_only=True):
    """A coefficient between the ratings of one annotator and the mean of the others' ratings of the same texts.

    Args:
        annotator: The annotator.
        coefficient: Name of the coefficient.
        by: Level.
        value: The coefficient; None where it does not exist.
        n: Number of texts that others rated as well.
    """

    annotator: str
    coefficient: str
    by: str
    value: float | None
    n: int


class HumanAgreement(Part, frozen=True, kw_only=True):
    """Human reference points: split-half correlation, one annotator against the others, reliability and its ceiling.

    Args:
        rows: Split-half correlations, then those of one annotator against the others, by coefficient.
        reliability: Pearson correlation of two single ratings of a text; None where there is none.
        rule: Rule of the mean that the reliability is: ``annotators`` or ``ratings``.
        pairs: Number of pairs of annotators, or of draws.
        k: Harmonic mean of the number of ratings per text.
        ceiling: Expected upper bound of the Pearson correlation with the mean ratings; None where there is none.
        n: Number of texts with two ratings or more.
        left_out: Number of texts with one.
        reason: The reason where there is nothing; then all else is empty, and the JSON has the reason alone.
        adjusted: True if the rows are of ratings without severities, which were significant.
        varying: True if some texts lack ratings by some annotators.
        adjusted_ceiling: The ceiling with severities removed; None where annotators are the same for all texts.
        annotators: Each annotator against the others, by coefficient; their mean is the row of it.
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
    adjusted: bool = False
    varying: bool = False
    adjusted_ceiling: float | None = None
    annotators: tuple[AnnotatorCorrelation, ...] = ()


class Difference(Ranged, frozen=True, kw_only=True):
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

    @property
    def significant(self) -> bool:
        """True if `p_holm` is below .05 and the interval excludes 0.

        The interval is asked for since PERM-BOTH takes pairs of texts for independent, so that its p may be too small.
        """
        return self.excludes_zero and self.p_holm is not None and self.p_holm < ALPHA

    def reversed(self) -> Difference:
        """The same difference as the second metric minus the first."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            value=0.0 - self.value,
            low=None if self.high is None else 0.0 - self.high,
            high=None if self.low is None else 0.0 - self.low,
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
        bins: Edges, ascending, of the bins of grades that kappas and Scott's pi are of; empty where they are of the
            grades themselves.
        estimates: The statistics that exist, in the order of `postil.results.names.STATISTICS`.
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
    absent: dict[str, str] = {}
    left_out: tuple[Excluded, ...] = ()
    confusion: tuple[tuple[int, ...], ...] | None = None
    pairs: tuple[PairAgreement, ...] = ()
    raters: tuple[Rater, ...] = ()
    notes: tuple[str, ...] = ()
    bins: tuple[float, ...] = ()

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
