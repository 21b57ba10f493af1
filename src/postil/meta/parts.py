"""Parts of results: coefficients and their differences, people, agreement, severities, components of the ratings."""

from __future__ import annotations

from math import factorial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from msgspec.structs import replace

from postil.data.parts import Estimate, Excluded, OptionalPart, Part, Ranged
from postil.messages import Fact, Listed, Message
from postil.results.numbers import number, p_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


__all__ = [
    "CEILING",
    "FEW_ITEMS",
    "FEW_SYSTEMS",
    "HALVES",
    "ONE",
    "PEOPLE",
    "SEVERITY_LEVEL",
    "STATISTICS",
    "Agreement",
    "AnnotatorBias",
    "AnnotatorCorrelation",
    "Correlation",
    "Difference",
    "Extent",
    "HumanAgreement",
    "PairAgreement",
    "Points",
    "Rater",
    "RaterCount",
    "RaterLevel",
    "RaterVariance",
    "Severity",
    "SystemMean",
    "UndefinedMapping",
    "UndefinedResult",
    "VarianceComponent",
    "few_items_remark",
    "is_significant",
    "severity_remarks",
]

ALPHA: Final = 0.05
"""Level of significance of a difference."""

FEW_ITEMS: Final = 10
"""Smallest number of items whose resamples a claim may rest on.

Of simulated items with effects of their own, 95 % percentile intervals over 10 hold in 87 to 90 % of samples, those
over 5 in 80 to 87 %, and those over 2 in half.
"""

FEW_SYSTEMS: Final = 5
"""Smallest number of systems of which a permutation can have a two-sided p below .05: of 4 it is 2/24 at least."""

ITEMS: Final = Message("items")
"""Name of what intervals and tests resample, in the plural."""

SEVERITY_LEVEL: Final = 0.05
"""Level of the test of severities: p below it, and annotators use the scale differently."""

ANNOTATORS: Final = 3
"""Number of annotators of a group that a sentence names."""

HALVES: Final = "human:halves"
"""Metric of the rows of split-half correlation."""

ONE: Final = "human:one"
"""Metric of the rows of one annotator against the others."""

CEILING: Final = "human:ceiling"
"""Metric of the reliability ceiling where it is undefined."""

PEOPLE: Final[Mapping[str, str]] = {
    HALVES: "human: split-half correlation",
    ONE: "human: one annotator against the others",
    CEILING: "human: reliability ceiling",
}
"""Labels of the human reference points."""

_POOLED = "over every two ratings of a text, each pair in both orders; both ratings have one distribution by chance"

_PAIRS = "mean over pairs of annotators, weighted by the texts that they share"

STATISTICS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "agreement": "percent agreement: share of equal ratings among every two ratings of a text",
        "within-1": "adjacent agreement: share of ratings at most 1 apart among every two ratings of a text",
        "kappa-unweighted-pairs": f"Cohen's kappa, unweighted, {_PAIRS}",
        "kappa-linear-pairs": f"Cohen's kappa, linear weights, {_PAIRS}",
        "kappa-quadratic-pairs": f"Cohen's kappa, quadratic weights, {_PAIRS}",
        "kappa-unweighted-pooled": f"Scott's pi, unweighted, {_POOLED}",
        "kappa-linear-pooled": f"weighted Scott's pi, linear weights, {_POOLED}",
        "kappa-quadratic-pooled": f"weighted Scott's pi, quadratic weights, {_POOLED}",
        "alpha-nominal": "Krippendorff's alpha, nominal",
        "alpha-ordinal": "Krippendorff's alpha, ordinal",
        "alpha-interval": "Krippendorff's alpha, interval",
    }
)
"""Definitions of the statistics, by name.

Those named ``kappa-*-pooled`` are not Cohen's kappa, which gives each of two annotators a distribution of their own:
over the symmetric table of all pairs they are Scott's pi, weighted in two of the three, and the unweighted one is
Fleiss' kappa where all texts have equally many ratings.
"""


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


class Extent(NamedTuple):
    """Numbers of items and of systems, which decide what intervals and tests allow to say.

    Args:
        items: Number of items.
        systems: Number of systems.
    """

    items: int
    systems: int

    @property
    def few_items(self) -> bool:
        """True if intervals and tests that resample the items are no ground for a claim."""
        return self.items < FEW_ITEMS

    @property
    def few_systems(self) -> bool:
        """True if the order of the systems is no evidence, however well it agrees."""
        return self.systems < FEW_SYSTEMS

    @property
    def least_p(self) -> float:
        """Smallest one-sided p of an exact permutation of the systems: one of all orders has the best agreement."""
        return 1 / factorial(self.systems)

    def allows(self, row: Difference) -> bool:
        """True if a difference may be called significant where its interval and its p say so.

        Paired permutation of items is exact however few they are. PERM-BOTH swaps single texts, so it generalizes over
        systems, but its p is too small where texts of an item are alike, and the interval over items makes up for that.

        Args:
            row: The difference.

        >>> row = Difference(first="a", second="b", coefficient="pa", by="system", value=0.2, low=0.1, high=0.3, n=3)
        >>> Extent(items=50, systems=3).allows(row), Extent(items=50, systems=8).allows(row)
        (False, True)
        """
        if self.few_items and row.p_permutation is None:
            return False
        return row.by != "system" or not self.few_systems or row.p_both is not None

    def remarks(self, *, of_systems: bool) -> Iterator[Message]:
        """Warnings of few items and of few systems.

        Args:
            of_systems: True if there are coefficients of the systems' means.

        >>> for said in Extent(items=2, systems=3).remarks(of_systems=True):
        ...     print(said.partition(":")[0])
        2 items are few
        3 systems are few
        """
        yield from few_items_remark(self.items)
        if of_systems and 1 < self.systems < FEW_SYSTEMS:
            yield Message(
                "{count} systems are few: by system, intervals and p-values over items hold for these systems on other "
                "items, not for other systems; an exact permutation of {count} systems has a one-sided p of {least} "
                "at least",
                count=self.systems,
                least=number(self.least_p),
            )


def few_items_remark(items: int, units: str = ITEMS) -> Iterator[Message]:
    """A warning of intervals over few items, where there are any.

    Args:
        items: Number of items that were resampled.
        units: Name of several of them.
    """
    if 1 < items < FEW_ITEMS:
        yield Message(
            "{count} {units} are few: intervals and tests that resample {units} cannot be trusted below {least}, so "
            "nothing is called significant by them alone",
            count=items,
            units=units,
            least=FEW_ITEMS,
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
        estimates: The statistics that exist, in the order of `postil.meta.parts.STATISTICS`.
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


class AnnotatorBias(Part, frozen=True, kw_only=True):
    """The constant by which one annotator grades above or below the mean of all annotators of a group.

    Args:
        annotator: The annotator.
        ratings: Number of ratings.
        bias: In grades, positive if the annotator grades higher than that mean (lenient).
    """

    annotator: str
    ratings: int
    bias: float


class Severity(Part, frozen=True, kw_only=True):
    """Severities of annotators: constants by which their grades differ.

    Args:
        rule: Rule that was asked for: ``remove``, ``keep``, or ``auto`` (remove where p is below .05).
        removed: True if they were removed from the ratings.
        F: F statistic of all severities; None where they explain all differences within texts, or none can be tested.
        df1: Degrees of freedom of the severities.
        df2: Degrees of freedom of what they leave.
        p: P-value of F; None where there is no test.
        groups: Annotators that are connected by shared texts; those of different groups cannot be compared.
        annotators: Every annotator.
    """

    rule: Literal["auto", "remove", "keep"]
    removed: bool
    F: float | None
    df1: int
    df2: int
    p: float | None
    groups: tuple[tuple[str, ...], ...]
    annotators: tuple[AnnotatorBias, ...]


def is_significant(severity: Severity) -> bool:
    """True if the annotators' severities differ by more than chance.

    Args:
        severity: The severities.
    """
    return severity.p is not None and severity.p < SEVERITY_LEVEL


def severity_remarks(severity: Severity | None) -> Iterator[Message]:
    """Sentences on annotators who use the scale differently, and on groups of them that cannot be compared.

    Args:
        severity: The severities; None where no text has two ratings.

    >>> from postil.meta.parts import AnnotatorBias, Severity
    >>> biases = [AnnotatorBias(annotator=name, ratings=9, bias=r) for name, r in (("bob", -0.48), ("dan", 0.48))]
    >>> groups = (("bob", "dan"),)
    >>> found = Severity(
    ...     rule="auto", removed=True, F=8.1, df1=1, df2=8, p=0.02, groups=groups, annotators=tuple(biases)
    ... )
    >>> list(map(str, severity_remarks(found)))
    ['annotators use the scale differently: bob grades .48 below their mean, dan .48 above; removed']
    """
    if severity is None:
        return
    if is_significant(severity):
        ranked = sorted(severity.annotators, key=lambda each: each.bias)
        yield _apart(ranked[0], ranked[-1], removed=severity.removed)
    elif severity.removed:
        yield (
            Message("severities of annotators are removed, though too few ratings test them")
            if severity.p is None
            else Message(
                "severities of annotators are removed, though they may be chance, p {p}", p=p_value(severity.p)
            )
        )
    several = [group for group in severity.groups if len(group) > 1]
    alone = len(severity.groups) - len(several)
    if len(several) > 1:
        groups = Listed([_named(group) for group in several], last="; ", between="; ")
        if alone:
            yield Message(
                "no shared text connects some annotators, so the severities of one group cannot be compared with those "
                "of another: {groups}; and {n} who share none",
                groups=groups,
                n=alone,
            )
        else:
            yield Message(
                "no shared text connects some annotators, so the severities of one group cannot be compared with those "
                "of another: {groups}",
                groups=groups,
            )
    elif alone:
        yield Message(
            "annotators who share no text with others, whose severity is unknown: {names}",
            names=_named([group[0] for group in severity.groups if len(group) == 1]),
        )


def _apart(low: AnnotatorBias, high: AnnotatorBias, *, removed: bool) -> Message:
    """A clause on the annotators who grade lowest and highest."""
    below, above = number(abs(low.bias), 2), number(high.bias, 2)
    if removed:
        return Message(
            "annotators use the scale differently: {first} grades {below} below their mean, {last} {above} above; "
            "removed",
            first=low.annotator,
            below=below,
            last=high.annotator,
            above=above,
        )
    return Message(
        "annotators use the scale differently: {first} grades {below} below their mean, {last} {above} above; kept; "
        "severity remove takes them out of the ratings",
        first=low.annotator,
        below=below,
        last=high.annotator,
        above=above,
    )


def _named(names: Sequence[str]) -> Fact:
    """A list of annotators, of whom some are named where there are two more at least."""
    if len(names) <= ANNOTATORS + 1:
        return Listed(names)
    return Message("{names} and {n:,} more", names=Listed(names[:ANNOTATORS], last=", "), n=len(names) - ANNOTATORS)
