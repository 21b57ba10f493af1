"""Designs of rating campaigns: layouts of raters, estimators, and what interval widths and power they give."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from postil.estimation.result import SpreadComponents
from postil.meta.column_correlations import ratio
from postil.meta.significance import power, student_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from postil.meta.estimation import Outputs, Predictions, Target

__all__ = [
    "ESTIMATORS",
    "FEWEST_ITEMS",
    "LAYOUTS",
    "MORE_ITEMS",
    "TARGETS",
    "Campaign",
    "Components",
    "Estimator",
    "Facets",
    "Layout",
    "Prospects",
    "assumed",
    "cheapest",
    "components_of",
    "prospects",
    "shared_noise",
    "steps_to",
]

TARGETS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "population": "mean grade over the population that the items come from",
        "items": "mean over these items of the expected grade",
    }
)
"""The estimands, by name; the first is the default."""

FEWEST_ITEMS: Final = 8
"""Smallest number of items that is planned."""

LEVEL: Final = 0.05
"""Level of the tests, over all pairs of systems together for the power of all."""

STEPS: Final = (1, 1.5, 2, 3, 4, 6, 8)
"""Numbers of items between two powers of ten that a table of plans has."""

MORE_ITEMS: Final = 20
"""Number of items more whose worth is told."""


class Layout(NamedTuple):
    """An assignment of raters to outputs.

    Args:
        name: Its name in results.
        title: Its label in tables.
        phrase: Words that it adds to a number of raters of each item.
        shared: True if the raters of an item rate all its systems, so that severities leave their differences.
    """

    name: Literal["item", "output"]
    title: str
    phrase: str
    shared: bool


class Estimator(NamedTuple):
    """An estimator of the mean grades of systems.

    Args:
        name: Its name, as commands take it.
        phrase: Description.
        scores: True if scores can help it.
        alone: True if it takes one score and one system at a time: it needs scores, and has no plans.
        quantiles: The distribution that its intervals are made by.
        slopes: Title of its slopes of systems.
    """

    name: str
    phrase: str
    scores: bool = True
    alone: bool = False
    quantiles: str = "Student’s t distribution"
    slopes: str = "Slope of grades on weighted scores by system"

    @property
    def joint(self) -> bool:
        """True if it uses the scores of all systems together."""
        return self.scores and not self.alone


LAYOUTS: Final[Mapping[str, Layout]] = MappingProxyType(
    {
        "item": Layout("item", "by item", "the same for all systems", shared=True),
        "output": Layout("output", "by output", "drawn output by output", shared=False),
    }
)
"""The layouts, by name."""

ESTIMATORS: Final[Mapping[str, Estimator]] = MappingProxyType(
    {
        each.name: each
        for each in (
            Estimator("crossed", "difference estimator, all scores and systems together"),
            Estimator("human", "the ratings alone", scores=False),
            Estimator(
                "ppi",
                "PPI++ of each system",
                alone=True,
                quantiles="normal distribution",
                slopes="λ of PPI++ by system",
            ),
        )
    }
)
"""The estimators, by name; the first is the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """Variance components of single ratings by item, system and rater, in squared grades, none below 0.

    Where some cannot be told apart, their sum stands at the one with most facets.

    Args:
        item: Component of items.
        item_system: Component of outputs, beyond items and systems.
        rater: Component of raters: severities.
        item_rater: Component of raters from item to item.
        system_rater: Component of raters from system to system.
        residual: The rest.
    """

    item: float
    item_system: float
    rater: float
    item_rater: float
    system_rater: float
    residual: float

    @classmethod
    def of(cls, estimates: Mapping[str, float]) -> Facets:
        """Facets of estimated components; those below 0 are 0.

        Args:
            estimates: Components by name; see `postil.meta.reliability.Design`.
        """
        of = defaultdict(float, {name: max(0.0, value) for name, value in estimates.items()})
        return cls(
            item=of["item"] + of["text"],
            item_system=of["item:system"],
            rater=of["rater"],
            item_rater=of["item:rater"],
            system_rater=of["system:rater"],
            residual=of["residual"] + of["within"],
        )


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of one output, averaged over systems, in squared grades.

    Args:
        rater_variance: Variance of ratings within outputs; None where it cannot be separated from the others.
        total: Variance of expected ratings over items.
        residual: The part of it that scores leave.
        facets: The components by item, system and rater; None where they are unknown.
    """

    rater_variance: float | None
    total: SpreadComponents
    residual: SpreadComponents
    facets: Facets | None = None

    def by_facets(self, facets: Facets, annotators: int) -> Components:
        """The same with totals from other components; scores leave the same share of them.

        What is estimated is the mean of the annotators' expected grades, so that what an annotator has from item to
        item is a part of it.

        Args:
            facets: The components.
            annotators: Number of annotators.
        """
        mean = facets.item + facets.item_system + facets.item_rater / annotators
        total = SpreadComponents(mean=mean, difference=facets.item_system)
        left = self.residual.mean / self.total.mean if self.total.mean else 1.0
        between = self.residual.difference / self.total.difference if self.total.difference else 1.0
        residual = SpreadComponents(mean=left * total.mean, difference=between * total.difference)
        return Components(self.rater_variance, total, residual, facets)


def assumed(sd: float, reliability: float = 0.5, system_correlation: float = 0.3, r_squared: float = 0.0) -> Components:
    """Variance components from assumptions.

    Args:
        sd: Standard deviation of single ratings of a system over items.
        reliability: Correlation of two ratings of an output, from 0 to 1.
        system_correlation: Correlation of two systems' expected ratings over items.
        r_squared: Share of the variance of expected ratings that scores explain, from 0 to 1.

    >>> found = assumed(1.0)
    >>> found.rater_variance, found.total
    (0.5, SpreadComponents(mean=0.5, difference=0.35))
    """
    mean = reliability * sd**2
    difference = mean * (1 - system_correlation)
    left = 1 - r_squared
    residual = SpreadComponents(mean=left * mean, difference=left * difference)
    return Components((1 - reliability) * sd**2, SpreadComponents(mean=mean, difference=difference), residual)


def components_of(outputs: Outputs, fit: Predictions | None) -> Components:
    """Variance components of a pilot.

    Args:
        outputs: Scores and ratings of the pilot.
        fit: The predictions whose residuals are left; None where scores are not used.
    """
    noise = 0.0
    if outputs.rater_variance is not None:
        noise = outputs.rater_variance * float((1 / outputs.counts[outputs.rated]).mean())
    total = _spread(outputs, outputs.filled, noise)
    left = total if fit is None else _spread(outputs, outputs.filled - fit.left_out, noise)
    return Components(outputs.rater_variance, total, left)


def shared_noise(outputs: Outputs, fit: Predictions, signatures: Iterable[str]) -> Iterator[str]:
    """Yield a note where predictions miss ratings by less than raters differ, so that what they leave counts as 0.

    Args:
        outputs: Scores and ratings.
        fit: The predictions.
        signatures: Signatures of the scores; a judge that saw graded examples shares the errors of their raters.
    """
    if not outputs.rater_variance or components_of(outputs, fit).residual.mean:
        return
    noise = outputs.rater_variance * float((1 / outputs.counts[outputs.rated]).mean())
    missed = _spread(outputs, outputs.filled - fit.left_out, 0.0).mean
    saw = any(name.startswith("judge(") and ",anchors=none" not in name for name in signatures)
    yield (
        f"predictions miss grades by less than raters differ (variance {missed:.2g} against {noise:.2g})"
        f"{', so the judge, which saw ratings, shares the errors of their raters' * saw}; widths for more items are "
        "upper bounds"
    )


def _spread(outputs: Outputs, values: NDArray[np.float64], noise: float) -> SpreadComponents:
    """Mean variance over systems, and that minus the mean covariance, without the raters' part; at least 0."""
    rated = outputs.rated.astype(np.float64)
    values = outputs.within_systems(values)
    shared = rated.T @ rated
    sums = values.T @ rated
    covariances = ratio(values.T @ values - sums * sums.T / np.maximum(shared, 1.0), shared - 1)
    variance = float(np.nanmean(np.diag(covariances)))
    beside = covariances[~np.eye(len(covariances), dtype=bool)]
    shift = float(np.nanmean(beside)) if len(beside) and not np.isnan(beside).all() else 0.0
    return SpreadComponents(mean=max(0.0, variance - noise), difference=max(0.0, variance - shift - noise))


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """Everything that a plan depends on but the numbers of rated items and raters.

    Args:
        components: The variance components.
        items: Number of items.
        systems: Number of systems.
        target: The estimand.
        difference: True difference of two systems that is to be found; None if none is.
        seconds_per_rating: Time of a rating.
        seconds_per_item: Time that each rater of an item needs to read it.
        annotators: Number of annotators; None if it is unknown, and as good as infinite.
        layout: Assignment of raters.
        removed_from: Smallest number of ratings per output with which severities are removed; None if they are kept.
    """

    components: Components
    items: int
    systems: int
    target: Target = "population"
    difference: float | None = None
    seconds_per_rating: float = 40.0
    seconds_per_item: float = 0.0
    annotators: int | None = None
    layout: Layout = LAYOUTS["item"]
    removed_from: int | None = None

    @property
    def pairs(self) -> int:
        """Number of pairs of systems."""
        return self.systems * (self.systems - 1) // 2

    def noise(self, k: float, *, difference: bool = False) -> float | None:
        """Variance that raters put on an output's mean rating (for a difference, half of it); None if it is unknown.

        With the components by item, system and rater it is ``((R + IR + SR) f + RES) / k``, ``f = 1 - k / A``: raters
        are fixed, and all of them together have no error but the residual. R counts as 0 where severities are removed.
        In a difference ``(SR f + RES) / k`` where the raters of an item rate all its systems.

        Args:
            k: Number of ratings per output.
            difference: True for a difference.
        """
        of = self.components.facets
        if of is None:
            return None if self.components.rater_variance is None else self.components.rater_variance / k
        share = 1.0 if self.annotators is None else max(0.0, 1 - k / self.annotators)
        by_rater = of.system_rater
        if not (difference and self.layout.shared):
            removed = self.removed_from is not None and k >= self.removed_from
            by_rater += of.item_rater + (0.0 if removed else of.rater)
        return (by_rater * share + of.residual) / k

    def standard_error(self, n: int, k: float, *, difference: bool = False, scores: bool = True) -> float:
        """Standard error of a system's mean, or of a difference of two.

        ``se² = (1 / n - 1 / N) (residual + noise) + D / N``, twice that for a difference; D is ``total + noise`` for
        the population, ``noise`` for these items (the residual where it is unknown). See `noise`.

        Args:
            n: Number of rated items, at most that of all.
            k: Number of ratings per output.
            difference: True for a difference.
            scores: False for the ratings alone.
        """
        variance = attrgetter("difference" if difference else "mean")
        total = variance(self.components.total)
        residual = variance(self.components.residual) if scores else total
        of_raters = self.noise(k, difference=difference)
        noise = of_raters or 0.0
        beside = residual if of_raters is None else noise
        if self.target == "population":
            beside = total + noise
        squared = (1 / n - 1 / self.items) * (residual + noise) + beside / self.items
        return math.sqrt(squared * (2 if difference else 1))

    def width(self, n: int, k: float, *, difference: bool = False, scores: bool = True) -> float:
        """Width of the 95 % interval of a mean or a difference; see `standard_error`."""
        return (
            2 * student_quantile(1 - LEVEL / 2, n - 1) * self.standard_error(n, k, difference=difference, scores=scores)
        )

    def power(self, n: int, k: float, true: float, pairs: int = 1) -> float:
        """Power to find a true difference.

        Args:
            n: Number of rated items.
            k: Number of ratings per output.
            true: The true difference, in grades.
            pairs: Number of pairs that the level is divided by, a lower bound for Holm's procedure.
        """
        error = self.standard_error(n, k, difference=True)
        return power(abs(true) / error, n - 1, LEVEL / pairs) if error > 0 else float(true != 0)

    def hours(self, n: int, k: int) -> float:
        """Time that all raters need together; output by output, more raters read an item than rate an output of it."""
        readers = float(k)
        if not self.layout.shared:
            readers *= self.systems
            if self.annotators is not None:
                readers = self.annotators * (1 - max(0.0, 1 - k / self.annotators) ** self.systems)
        return n * (readers * self.seconds_per_item + k * self.systems * self.seconds_per_rating) / 3600

    def least_difference(self, n: int, k: int, wanted: float) -> float:
        """The least difference that is found with a power in all pairs, by bisection."""
        low, high = 0.0, self.standard_error(n, k, difference=True)
        while self.power(n, k, high, self.pairs) < wanted:
            low, high = high, 2 * high
        while high - low > 1e-9 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.power(n, k, middle, self.pairs) >= wanted else (middle, high)
        return high


def cheapest(
    campaign: Campaign, raters: tuple[int, ...], *, wanted: float | None, width: float | None
) -> tuple[int, int] | None:
    """Find the numbers of rated items and of ratings per output with the fewest hours that reach what is wanted.

    Width and power improve with every item, so the fewest items are found by bisection for each number of raters.

    Args:
        campaign: The campaign.
        raters: Numbers of ratings per output to choose from.
        wanted: Power for all pairs of systems, for ``campaign.difference``; None if none is asked for.
        width: Largest width of the interval of a difference (of a mean where there is one system); None if none.

    Returns:
        Both numbers; None where none of `FEWEST_ITEMS` items or more do.
    """

    def reaches(n: int, k: int) -> bool:
        enough = True
        if wanted is not None and campaign.difference is not None:
            enough = campaign.power(n, k, campaign.difference, campaign.pairs) >= wanted
        if enough and width is not None:
            enough = campaign.width(n, k, difference=campaign.systems > 1) <= width
        return enough

    found = []
    for k in raters:
        low, high = FEWEST_ITEMS, campaign.items
        if high < low or not reaches(high, k):
            continue
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if reaches(middle, k) else (middle + 1, high)
        found.append((low, k))
    return min(found, key=lambda plan: (campaign.hours(*plan), plan[1]), default=None)


def steps_to(items: int) -> Iterator[int]:
    """Yield numbers of rated items for a table or a curve: 8, 10, 15, 20, 30, 40, 60, 80, 100, … and all.

    >>> list(steps_to(70))
    [8, 10, 15, 20, 30, 40, 60, 70]
    """
    found = (int(step * 10**exponent) for exponent in range(12) for step in STEPS)
    for n in found:
        if n >= items:
            break
        if n >= FEWEST_ITEMS:
            yield n
    yield items


class Prospect(NamedTuple):
    """Expected intervals for a number of rated items.

    Args:
        items: Number of rated items.
        mean: Half the width of the 95 % interval of a system's mean.
        difference: The same of a difference of two systems.
    """

    items: int
    mean: float
    difference: float


class Prospects(NamedTuple):
    """Expected intervals now and with more ratings.

    Args:
        now: With the items that are rated, on average over systems.
        more: With `MORE_ITEMS` more.
        planned: With all items of the campaign; None where they are rated.
        twice: With the present items and one more rating of each output; None where no output has two ratings, so that
            the variance of raters is unknown.
    """

    now: Prospect
    more: Prospect
    planned: Prospect | None
    twice: Prospect | None


def prospects(outputs: Outputs, planned: int) -> Prospects:
    """Expected intervals of a campaign, from the variance components of the ratings so far.

    They are averages over systems; the estimand is the mean over the population of items.

    Args:
        outputs: The ratings so far, of two systems or more with two rated items or more each.
        planned: Number of items of the campaign.

    >>> import numpy as np
    >>> from postil.meta.estimation import Outputs
    >>> grades = np.array([[1.0, 2.0], [3.0, 3.0], [2.0, 5.0], [4.0, 4.0]])
    >>> found = prospects(Outputs(np.zeros((4, 2, 0)), grades, np.ones((4, 2), np.int64), None), 10)
    >>> [(each.items, round(each.mean, 2), round(each.difference, 2)) for each in found if each]
    [(4, 2.05, 2.25), (24, 0.55, 0.6), (10, 0.92, 1.01)]
    """
    n = max(2, round(float(outputs.n.mean())))
    k = 1 / float((1 / outputs.counts[outputs.rated]).mean())
    items, systems = max(n + MORE_ITEMS, planned), len(outputs.n)
    campaign = Campaign(components=components_of(outputs, None), items=items, systems=systems)

    def expected(n: int, k: float) -> Prospect:
        return Prospect(n, campaign.width(n, k) / 2, campaign.width(n, k, difference=True) / 2)

    return Prospects(
        now=expected(n, k),
        more=expected(n + MORE_ITEMS, k),
        planned=expected(planned, k) if planned > n else None,
        twice=expected(n, k + 1) if outputs.rater_variance is not None else None,
    )
