"""Mean ratings of systems, estimated from few rated items and the scores of all: the crossed difference estimator.

The scores predict ratings; the mean of what they miss on the rated items corrects the mean of the predictions over all
items. So scores only remove variance: whatever they are worth, the estimand is about people's ratings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from postil.data.groups import grouped
from postil.data.parts import Excluded
from postil.data.ranking import without_noise
from postil.errors import Undefined, UsageError
from postil.messages import Message, Setting
from postil.meta.column_correlations import ratio
from postil.meta.severity import severities
from postil.meta.table import Judged, Key, Ratings, Scored, excluded_texts, repeated_texts, such_as, united

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.kernel.arrays import Booleans, Floats, Int64s
    from postil.meta.choices import Rule
    from postil.meta.parts import Severity

__all__ = [
    "FEWEST",
    "LEAST_R2",
    "Estimated",
    "Outputs",
    "Predictions",
    "RatedOutputs",
    "Target",
    "chosen_metrics",
    "estimated",
    "outputs_of",
    "prediction_powered",
    "predictions",
]

Target: TypeAlias = Literal["population", "items"]
"""Estimand: mean over the population that the items come from, or over these items (finite population)."""

PSEUDO: Final = 20
"""Pseudo-outputs per score in the ridge regression, and pseudo-items at the common slope."""
STEEPEST: Final = 1.5
"""Largest slope of a system."""
LEAST_R2: Final = 0.05
"""Smallest share of the variance of the ratings that scores must explain to be used."""
FEWEST: Final = 8
"""Smallest number of rated items with which scores are used."""
PRIOR: Final = 4
"""Degrees of freedom of the mean variance in the moderated variances (Smyth 2004)."""
CONVERGED: Final = 1e-13
"""Largest change of the last round of centering."""
CONSTANT: Final = 1e-12
"""Standard deviation, as a share of the largest score, below which a score is constant."""


@dataclass(frozen=True, eq=False)
class Outputs:
    """Scores of all outputs of S systems for N items, and mean ratings of some.

    Args:
        scores: float64[N, S, m].
        grades: float64[N, S], mean rating of each output; NaN where there is none.
        counts: int64[N, S], number of ratings of each output.
        rater_variance: Variance of ratings within outputs; None where no output has two.
        by_severities: float64[S, S], covariance of the mean ratings that the uncertainty of removed severities makes;
            None where none are removed.
    """

    scores: Floats
    grades: Floats
    counts: Int64s
    rater_variance: float | None
    by_severities: Floats | None = None

    @cached_property
    def rated(self) -> Booleans:
        """bool[N, S], True where an output has a rating."""
        return ~np.isnan(self.grades)

    @cached_property
    def n(self) -> Int64s:
        """int64[S], number of rated items of each system."""
        return np.asarray(self.rated.sum(axis=0), np.int64)

    @property
    def known(self) -> Booleans:
        """bool[S], True for systems whose mean over these items is known without error.

        All their outputs are rated, and the ratings of an output differ by severities at most.
        """
        return np.asarray((self.n == len(self.grades)) & (self.rater_variance == 0))

    @property
    def rated_items(self) -> Booleans:
        """bool[N], True for items with a rating."""
        return np.asarray(self.rated.any(axis=1))

    @cached_property
    def filled(self) -> Floats:
        """float64[N, S], mean ratings, 0 where there is none."""
        return np.where(self.rated, self.grades, 0.0)

    @cached_property
    def is_crossed(self) -> bool:
        """True if at least half of the rated items have two rated systems, so that items can be centered."""
        several = self.rated.sum(axis=1)[self.rated_items] >= 2
        return bool(self.grades.shape[1] > 1 and several.mean() >= 0.5)

    def over_systems(self, values: Floats) -> Floats:
        """float64[S, …], means over the rated items of each system."""
        rated = self.rated.reshape(self.rated.shape + (1,) * (values.ndim - 2))
        return np.asarray((values * rated).sum(axis=0) / np.maximum(self.n, 1).reshape(-1, *(1,) * (values.ndim - 2)))

    def within_systems(self, values: Floats) -> Floats:
        """float64[N, S], minus the means of `over_systems`; 0 where there is no rating."""
        return np.where(self.rated, values - self.over_systems(values), 0.0)

    def centered(self, values: Floats) -> Floats:
        """Remove item means and system means over the rated outputs; 0 elsewhere.

        Args:
            values: float64[N, S, …].
        """
        return _centered(values, self.rated, crossed=self.is_crossed)


def _centered(values: Floats, there: Booleans, *, crossed: bool) -> Floats:
    """Remove item and system means over some outputs, in turns until nothing moves; system means alone if not crossed.

    One round does where every item that is there has all systems.
    """
    mask = there.reshape(there.shape + (1,) * (values.ndim - 2))
    values = np.where(mask, values, 0.0)
    sizes = [np.maximum(mask.sum(axis=axis, keepdims=True), 1) for axis in (1, 0)]
    largest = np.abs(values).max(initial=0.0)
    while True:
        before = values
        for axis, size in list(zip((1, 0), sizes, strict=True))[0 if crossed else 1 :]:
            values = np.where(mask, values - values.sum(axis=axis, keepdims=True) / size, 0.0)
        if not crossed or np.abs(values - before).max(initial=0.0) <= CONVERGED * max(1.0, largest):
            return values


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Predicted ratings of all outputs.

    Args:
        fitted: float64[N, S], up to a constant per system.
        left_out: float64[N, S], of rated items: by a fit that has not seen the item.
        weights: float64[m], weight of each standardized score.
        common_slope: Slope of ratings on the weighted scores over all systems, from 0 to 1.
        item_slope: Slope of items' mean ratings on their mean weighted scores, from 0 to 1; None where items cannot be
            centered.
        slopes: float64[S], slope of each system, from 0 to 1.5.
        r_squared: Share of the variance of the ratings within systems that `left_out` explains.
    """

    fitted: Floats
    left_out: Floats
    weights: Floats
    common_slope: float
    item_slope: float | None
    slopes: Floats
    r_squared: float


def predictions(outputs: Outputs) -> Predictions:
    """Predict ratings from scores: weights of the scores, then slopes of systems, shrunk to a common one, and of items.

    Adding a constant to all scores of a system changes nothing, and neither does the unit or the sign of a score, so a
    judge that favors a system is harmless. One regression per system would multiply the squared error by 1.3 to 4.4 at
    ten rated items, and one for all systems never multiplies it by more than 1.02 (six judged sets, 300 draws each).

    Args:
        outputs: Scores and ratings, with at least two rated items of every system.

    >>> quality = np.arange(40.0).reshape(20, 2) * 7 % 5
    >>> grades = np.where(np.arange(20)[:, None] < 12, quality, np.nan)
    >>> fit = predictions(Outputs(quality[..., None], grades, np.ones((20, 2), np.int64), None))
    >>> round(fit.r_squared, 2), fit.common_slope, fit.slopes.round(2).tolist()
    (0.86, 1.0, [1.31, 1.31])
    """
    scores, varying = _standardized(outputs)
    x, y = outputs.centered(scores), outputs.centered(outputs.filled)
    weights, drawn = _weights(outputs, scores, x, y, varying)
    composite = scores @ weights
    centered, unseen = outputs.centered(composite), outputs.centered(drawn)
    common = float(np.clip(_quotient((unseen * y).sum(), (unseen**2).sum()), 0.0, 1.0))
    slopes, slopes_without = _system_slopes(outputs, centered, y, common)
    if outputs.is_crossed:
        item, item_without = _item_slopes(outputs, composite.mean(axis=1))
        mean, mean_without = composite.mean(axis=1, keepdims=True), drawn.mean(axis=1, keepdims=True)
        fitted = slopes * (composite - mean) + item * mean
        left_out = slopes_without * (drawn - mean_without) + item_without[:, None] * mean_without
    else:
        item, fitted, left_out = None, slopes * composite, slopes_without * drawn
    missed = outputs.within_systems(outputs.filled - left_out)
    total = (outputs.within_systems(outputs.filled) ** 2).sum()
    return Predictions(
        fitted=fitted,
        left_out=left_out,
        weights=weights,
        common_slope=common,
        item_slope=item,
        slopes=slopes,
        r_squared=1 - float((missed**2).sum() / total) if total > 0 else 0.0,
    )


def _standardized(outputs: Outputs) -> tuple[Floats, int]:
    """float64[N, S, m], scores in units of their deviation within items and systems, and how many of them vary."""
    scores = outputs.scores
    deviations = _centered(scores, np.ones(scores.shape[:2], bool), crossed=outputs.is_crossed).std(axis=(0, 1))
    varies = deviations > CONSTANT * np.abs(scores).max(axis=(0, 1), initial=0.0)
    scaled = np.where(varies, scores / np.where(varies, deviations, 1.0), 0.0)
    return np.asarray(scaled - scaled.mean(axis=0)), int(varies.sum())


def _weights(outputs: Outputs, scores: Floats, x: Floats, y: Floats, varying: int) -> tuple[Floats, Floats]:
    """Ridge weights float64[m]; and the composite float64[N, S] of each rated item by weights without it.

    Without an item, its products are subtracted n / (n - 1) times, n the rated items of the system: the means that
    centering removed had a share of it. That is exact where every rated item has all systems.
    """
    m = scores.shape[2]
    penalty = PSEUDO * max(1, varying) * np.eye(m)
    factors = _without_one(outputs.n)
    gram, cross = np.einsum("isa,isb->ab", x, x), np.einsum("isa,is->a", x, y)
    own = np.flatnonzero(outputs.rated_items)
    grams = gram - np.einsum("s,isa,isb->iab", factors, x[own], x[own])
    crosses = cross - np.einsum("s,isa,is->ia", factors, x[own], y[own])
    drawn = np.zeros(scores.shape[:2])
    without = np.linalg.solve(grams + penalty, crosses[..., None])[..., 0]
    drawn[own] = np.einsum("isa,ia->is", scores[own], without)
    return np.linalg.solve(gram + penalty, cross), drawn


def _system_slopes(outputs: Outputs, x: Floats, y: Floats, common: float) -> tuple[Floats, Floats]:
    """Slopes of the systems float64[S], shrunk to the common one; and float64[N, S] without each item."""
    if common <= 0:
        return np.zeros(x.shape[1]), np.zeros(x.shape)
    prior = PSEUDO * float((x**2).sum()) / int(outputs.rated.sum())
    if prior <= 0:
        return np.zeros(x.shape[1]), np.zeros(x.shape)
    products, squares = (x * y).sum(axis=0), (x**2).sum(axis=0)
    factors = _without_one(outputs.n)
    slopes = (products + prior * common) / (squares + prior)
    without = (products - factors * x * y + prior * common) / (squares - factors * x**2 + prior)
    return slopes.clip(0.0, STEEPEST), without.clip(0.0, STEEPEST)


def _item_slopes(outputs: Outputs, means: Floats) -> tuple[float, Floats]:
    """Slope of items' mean ratings on their mean composites; and float64[N] without each item."""
    several = outputs.rated.sum(axis=1)
    size = np.maximum(several, 1)
    grades = outputs.within_systems(outputs.filled).sum(axis=1) / size
    level = outputs.within_systems(np.repeat(means[:, None], outputs.rated.shape[1], axis=1)).sum(axis=1) / size
    products, squares = several * level * grades, several * level**2
    n = int(outputs.rated_items.sum())
    factor = n / max(1, n - 1)
    slope = float(np.clip(_quotient(products.sum(), squares.sum()), 0.0, 1.0))
    without = np.nan_to_num(ratio(products.sum() - factor * products, squares.sum() - factor * squares))
    return slope, without.clip(0.0, 1.0)


def _without_one(n: Int64s) -> Floats:
    """Factor n / (n - 1) of the products of a row that leaves centered sums; 0 where there is one row only."""
    return np.nan_to_num(ratio(n.astype(np.float64), np.asarray(n - 1.0, np.float64)))


def _quotient(numerator: float, denominator: float) -> float:
    return float(numerator / denominator) if denominator > 0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Estimated:
    """Estimated mean ratings of S systems.

    Args:
        means: float64[S].
        covariance: float64[S, S], of the means.
        human_means: float64[S], of the ratings alone.
        human_covariance: float64[S, S].
        n: int64[S], number of rated items.
        known: bool[S], True for means without error, which have an interval of width 0.
        fit: The predictions; None where there are no scores.
        used: True if they are used; the numbers are those of the ratings alone otherwise.
        lambdas: float64[S], the power-tuning parameters of PPI++, from 0 to 1; None for other estimators.
    """

    means: Floats
    covariance: Floats
    human_means: Floats
    human_covariance: Floats
    n: Int64s
    known: Booleans
    fit: Predictions | None = None
    used: bool = False
    lambdas: Floats | None = None

    @property
    def slopes(self) -> list[float] | list[None]:
        """Slope of each system; 0 where scores are not used, None where there are none."""
        if self.lambdas is not None:
            return list(map(float, self.lambdas))
        return [None] * len(self.n) if self.fit is None else list(map(float, self.fit.slopes * self.used))

    @property
    def weights(self) -> list[float] | None:
        """Weight of each score; 0 where they are not used."""
        return list(map(float, self.fit.weights * self.used)) if self.fit else None

    @property
    def common_slope(self) -> float | None:
        """Slope over all systems; 0 where scores are not used."""
        return self.fit.common_slope * self.used if self.fit else None

    @property
    def item_slope(self) -> float | None:
        """Slope of items; 0 where scores are not used."""
        return self.fit.item_slope * self.used if self.fit and self.fit.item_slope is not None else None


def estimated(outputs: Outputs, target: Target = "population", *, scores: bool = True) -> Estimated:
    """Estimate the mean rating of every system and the covariance of the estimates.

    ``mean_s = mean over rated items (y - yhat) + mean over all items yhat``, the difference estimator of survey
    sampling (Cassel, Särndal and Wretman 1976), with ``V_st = (n_st / (n_s n_t) - 1 / N) E_st + D_st / N``: E is the
    covariance of the leave-one-out residuals over items, D that of the ratings (``population``), or the rater variance
    divided by the number of ratings (``items``; E where no output has two ratings). Where severities of annotators are
    removed, what is uncertain of them is added. The rated items must be a simple random sample of the items. All
    variances are moderated: see `_covariance`. Percentile bootstrap intervals cover .88 to .91 at ten items.

    Args:
        outputs: Scores and ratings.
        target: The estimand.
        scores: False to use the ratings alone.

    >>> quality = np.arange(40.0).reshape(20, 2) * 7 % 5
    >>> grades = np.where(np.arange(20)[:, None] < 12, quality, np.nan)
    >>> found = estimated(Outputs(quality[..., None], grades, np.ones((20, 2), np.int64), None))
    >>> found.means.round(2).tolist(), found.human_means.round(2).tolist(), quality.mean(axis=0).tolist()
    ([1.99, 1.97], [2.0, 1.92], [2.0, 2.0])
    """
    alone = outputs.over_systems(outputs.filled)
    from_grades = _covariance(outputs, outputs.filled)
    beside = from_grades if target == "population" else _rater_noise(outputs)
    human = _variance(outputs, from_grades, beside)
    found = Estimated(alone, human, alone, human, outputs.n, outputs.known & (target == "items"))
    if not scores or not outputs.scores.shape[2] or outputs.rated_items.sum() < 2:
        return found
    fit = predictions(outputs)
    if fit.r_squared < LEAST_R2 or outputs.rated_items.sum() < FEWEST:
        return replace(found, fit=fit)
    residuals = _covariance(outputs, outputs.filled - fit.left_out)
    means = outputs.over_systems(outputs.filled - fit.fitted) + fit.fitted.mean(axis=0)
    return replace(found, means=means, covariance=_variance(outputs, residuals, beside), fit=fit, used=True)


def _rater_noise(outputs: Outputs) -> Floats | None:
    """Diagonal matrix of the variance that raters put on mean ratings; None where it cannot be separated."""
    if outputs.rater_variance is None:
        return None
    shares = np.divide(1.0, outputs.counts, out=np.zeros(outputs.grades.shape), where=outputs.rated)
    return np.asarray(np.diag(outputs.rater_variance * shares.sum(axis=0) / np.maximum(outputs.n, 1)))


def _variance(outputs: Outputs, residuals: Floats, beside: Floats | None) -> Floats:
    """Covariance of the estimated means, float64[S, S]; see `estimated`."""
    rated = outputs.rated.astype(np.float64)
    shared = rated.T @ rated
    items = len(outputs.grades)
    per_item = ratio(shared, np.outer(outputs.n, outputs.n).astype(np.float64))
    sampling = np.nan_to_num(per_item) - 1 / items
    found = sampling * residuals + (residuals if beside is None else beside) / items
    return np.asarray(found if outputs.by_severities is None else found + outputs.by_severities)


def _covariance(outputs: Outputs, values: Floats) -> Floats:
    """Covariance over shared rated items, float64[S, S], with moderated variances.

    Each variance v becomes ``((n - 1) v + 4 vbar) / (n + 3)``, vbar the mean over systems, and correlations stay: where
    most ratings are the top of the scale, a few equal ones have variance 0, and an interval of width 0: without this,
    coverage on such sets is .45 to .77.
    """
    rated = outputs.rated.astype(np.float64)
    values = outputs.within_systems(values)
    shared = rated.T @ rated
    sums = values.T @ rated  # [s, t]: the sum of s over the items that it shares with t
    products = values.T @ values - sums * sums.T / np.maximum(shared, 1.0)
    found = np.where(shared >= 2, products / np.maximum(shared - 1, 1.0), 0.0)
    sizes = (values**2).sum(axis=0) + (outputs.n * outputs.over_systems(np.abs(outputs.filled)) ** 2)
    variances = np.maximum(0.0, without_noise(np.diag(found), sizes))
    several = outputs.n > 1
    mean = variances[several].mean() if several.any() else 0.0
    moderated = ((outputs.n - 1) * variances + PRIOR * mean) / (outputs.n + PRIOR - 1)
    deviations = np.sqrt(variances)
    correlations = np.nan_to_num(ratio(found, np.outer(deviations, deviations)))
    np.fill_diagonal(correlations, 1.0)
    return np.asarray(correlations * np.outer(np.sqrt(moderated), np.sqrt(moderated)))


def prediction_powered(outputs: Outputs, systems: Sequence[str], sign: int = 1) -> Estimated:
    """Estimate mean grades by PPI++ (Angelopoulos, Duchi and Zrnic 2023), one system at a time.

    ``mean = mean over ungraded items of lambda f + mean over graded items of (y - lambda f)``. Means, variances and
    lambda are those of ppi-python 0.2.3; covariances of systems come from the same linear approximation, by item.

    Args:
        outputs: Grades, and exactly one score, on the scale of the grades.
        systems: Names of the systems, for messages.
        sign: -1 for a score for which lower is better.

    Raises:
        Undefined: All items of a system are graded.

    >>> from postil.meta.estimation import Outputs
    >>> scores = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> grades = np.array([[1.0], [3.0], [np.nan], [np.nan]])
    >>> found = prediction_powered(Outputs(scores[..., None], grades, np.ones((4, 1), np.int64), None), ["a"])
    >>> found.means.tolist(), found.lambdas.tolist()
    ([2.3], [0.15])
    """
    scores, shape = sign * outputs.scores[:, :, 0], outputs.grades.shape
    influence, means, lambdas = np.zeros(shape), np.zeros(shape[1]), np.zeros(shape[1])
    for place, system in enumerate(systems):
        graded = outputs.rated[:, place]
        n, rest = int(graded.sum()), int((~graded).sum())
        if not rest:
            raise Undefined(
                "ppi needs items without a grade, and all {n} of {system} have one; use {human}",
                n=n,
                system=system,
                human=Setting("method", "human"),
            )
        y, f = outputs.filled[:, place], scores[:, place]
        shared = (y[graded] - y[graded].mean()) @ (f[graded] - f[graded].mean()) / n
        spread = f.var(ddof=1) * (1 + n / rest)
        lambdas[place] = tuned = float(np.clip(shared / spread, 0.0, 1.0)) if spread > 0 else 0.0
        missed, predicted = y[graded] - tuned * f[graded], tuned * f[~graded]
        means[place] = predicted.mean() + missed.mean()
        influence[graded, place] = (missed - missed.mean()) / n
        influence[~graded, place] = (predicted - predicted.mean()) / rest
    covariance = influence.T @ influence + (0.0 if outputs.by_severities is None else outputs.by_severities)
    return replace(estimated(outputs, scores=False), means=means, covariance=covariance, used=True, lambdas=lambdas)


@dataclass(frozen=True, slots=True, eq=False)
class RatedOutputs:
    """Outputs of S systems for N items, with their names.

    Args:
        outputs: Scores and mean ratings, without severities where they are removed.
        single: The single ratings of the rated outputs, without severities likewise.
        single_given: The same as they were given.
        places: int64[n] twice, the item and the system of each of these outputs.
        items: Names of the items.
        systems: Names of the systems.
        metrics: Names of the scores.
        signatures: Signature of each metric.
        ratings: int64[S], number of ratings of each system.
        annotators: Number of annotators.
        aspect: The aspect that was judged; None where there is only one, without a name.
        excluded: Everything that was excluded, and outputs whose ratings were averaged.
        severity: Severities of the annotators; None where no output has two ratings.
    """

    outputs: Outputs
    single: Ratings
    single_given: Ratings
    places: tuple[Int64s, Int64s]
    items: tuple[str, ...]
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    signatures: tuple[str, ...]
    ratings: Int64s
    annotators: int
    aspect: str | None
    excluded: tuple[Excluded, ...]
    severity: Severity | None


def outputs_of(
    scored: Scored | None,
    judged: Judged,
    metrics: Sequence[str] = (),
    *,
    scores: bool = True,
    severity: Rule = "keep",
) -> RatedOutputs:
    """Assemble scores and ratings.

    Every item has all systems with all scores, and every system has ratings: what lacks something is excluded, counted
    and named. Nothing is imputed.

    Args:
        scored: The scores; None where there are only ratings.
        judged: The ratings.
        metrics: The metrics to keep; by default all but controls.
        scores: False to use the ratings alone, so that outputs without a score stay.
        severity: Rule for severities of annotators in the ratings.

    Raises:
        UnknownName: There is no such metric.
        UsageError: There is no metric besides controls.
        Undefined: No output has both scores and ratings.

    >>> from postil.meta.table import Judged, Scored
    >>> from postil.data.rows import Judgement, Score
    >>> rows = [Score(item, system, "judge", 0.5, "") for item in "123" for system in "ab"]
    >>> made = outputs_of(Scored(rows), Judged([Judgement("2", "a", "ann", 4.0), Judgement("9", "a", "ann", 2.0)]))
    >>> made.systems, made.outputs.grades.tolist(), list(map(str, made.excluded))
    (('a',), [[nan], [4.0], [nan]], ['systems without grades: 1 (b)', 'judged but not scored: 1 (item 9 by a)'])
    """
    if scored is not None:
        scored, judged = united(scored, judged)
    if scored is None or not scores:
        return _made(list(dict.fromkeys([*(scored.rows if scored else ()), *judged.rows])), None, judged, (), severity)
    wanted = chosen_metrics(scored, metrics)
    dense = scored.dense[:, [scored.columns[name] for name in wanted]]
    keys, complete = list(scored.rows), ~np.isnan(dense).any(axis=1)
    graded = {key[1] for key in keys if key in judged.rows}
    lacking = [key for key, there in zip(keys, complete.tolist(), strict=True) if not there and key[1] in graded]
    systems, items = _whole([key for key, there in zip(keys, complete.tolist(), strict=True) if there], judged)
    if not items:
        raise Undefined(_nothing(keys, judged, lacking))
    lost = [name for name in dict.fromkeys(key[0] for key in keys) if name not in items]
    return _made(
        [key for key in keys if key[0] in items and key[1] in systems],
        (scored, wanted),
        judged,
        (
            *_named(Message("systems without grades"), [each for each in _systems(keys) if each not in graded]),
            *_named(
                "systems whose grades are all excluded",
                [each for each in _systems(keys) if each in graded and each not in systems],
            ),
            *excluded_texts("not scored by every metric", lacking),
            *_named("items without all systems, excluded with their grades", lost),
            *excluded_texts("judged but not scored", [key for key in judged.rows if key not in scored.rows]),
        ),
        severity,
    )


def chosen_metrics(scored: Scored, metrics: Sequence[str]) -> tuple[str, ...]:
    """Metrics to use of scores.

    Args:
        scored: The scores.
        metrics: The metrics that were asked for; by default all but controls.

    Raises:
        UnknownName: There is no such metric.
        UsageError: There is no metric besides controls.
    """
    scored.check(metrics)
    wanted = tuple(dict.fromkeys(metrics or [name for name in scored.metrics if not name.startswith("control:")]))
    if not wanted:
        raise UsageError(
            "all scores are controls, which are used where {metrics} names them: {control}",
            metrics=Setting("metrics"),
            control=scored.metrics[0],
        )
    return wanted


def _whole(keys: Sequence[Key], judged: Judged) -> tuple[set[str], set[str]]:
    """Systems with ratings, and the items that have all of them.

    A system whose ratings are all on other items has none left, so it goes, and more items may be whole without it.
    """
    of = grouped(keys)
    systems = {key[1] for key in keys if key in judged.rows}
    while systems:
        items = {item for item, several in of.items() if systems.issubset(several)}
        left = {
            system for item, system in keys if item in items and system in systems and (item, system) in judged.rows
        }
        if left == systems:
            return systems, items
        systems = left
    return set(), set()


def _nothing(keys: Sequence[Key], judged: Judged, lacking: Sequence[Key]) -> str:
    return (
        f"no graded output has all scores on an item that all systems have: {len(keys)} scored{such_as(keys)}, "
        f"{len(judged.rows)} judged{such_as(judged.rows)}, {len(lacking)} not scored by every metric; scores and "
        "judgements meet on item and system"
    )


def _systems(keys: Iterable[Key]) -> list[str]:
    return list(dict.fromkeys(key[1] for key in keys))


def _named(why: str, names: Sequence[str]) -> tuple[Excluded, ...]:
    return (Excluded.of(why, names),) if names else ()


def _made(
    keys: Sequence[Key],
    scores: tuple[Scored, tuple[str, ...]] | None,
    judged: Judged,
    excluded: tuple[Excluded, ...],
    rule: Rule,
) -> RatedOutputs:
    """Outputs of some keys; without scores, systems without ratings are excluded here."""
    graded = [key for key in keys if key in judged.rows]
    there = set(_systems(graded))
    items = {name: place for place, name in enumerate(dict.fromkeys(key[0] for key in keys))}
    systems = {name: place for place, name in enumerate(each for each in _systems(keys) if each in there)}
    if scores is None:
        excluded = _named(Message("systems without grades"), [each for each in _systems(keys) if each not in there])
    scored, wanted = scores if scores is not None else (None, ())
    grid = np.zeros((len(items), len(systems), len(wanted)))
    if scored is not None:
        rows = np.zeros(grid.shape[:2], np.int64)
        for key in keys:
            rows[items[key[0]], systems[key[1]]] = scored.rows[key]
        grid = scored.dense[:, [scored.columns[name] for name in wanted]][rows]
    given = judged.of(graded)
    biased = severities(given)
    removed = biased if biased is not None and biased.removed(rule) else None
    ratings = removed.adjusted if removed else given
    at = np.array([items[key[0]] for key in graded], np.int64), np.array([systems[key[1]] for key in graded], np.int64)
    grades, counts = np.full(grid.shape[:2], np.nan), np.zeros(grid.shape[:2], np.int64)
    grades[at], counts[at] = ratings.means, ratings.counts
    return RatedOutputs(
        outputs=Outputs(
            scores=grid,
            grades=grades,
            counts=counts,
            rater_variance=removed.variance if removed else _rater_variance(given),
            by_severities=removed.covariance(_shares(ratings, at[1], len(systems))) if removed else None,
        ),
        single=ratings,
        single_given=given,
        places=at,
        items=tuple(items),
        systems=tuple(systems),
        metrics=wanted,
        signatures=tuple(scored.signatures[name] for name in wanted) if scored is not None else (),
        ratings=np.asarray(counts.sum(axis=0)),
        annotators=len(ratings.names),
        aspect=judged.aspect,
        excluded=(
            *excluded,
            *repeated_texts([key for key in graded if key in judged.repeated]),
            *judged.left_out,
        ),
        severity=biased.told(rule) if biased else None,
    )


def _shares(ratings: Ratings, system: Int64s, systems: int) -> Floats:
    """float64[S, A], share of each annotator in the mean rating of each system.

    Args:
        ratings: Ratings of n outputs.
        system: int64[n], system of each output.
        systems: S.
    """
    counts, annotators = ratings.counts, len(ratings.names)
    cell = np.repeat(system, counts) * annotators + ratings.annotators
    shares = np.bincount(cell, np.repeat(1 / counts, counts), minlength=systems * annotators)
    return np.asarray(shares.reshape(systems, annotators) / np.bincount(system, minlength=systems)[:, None])


def _rater_variance(ratings: Ratings) -> float | None:
    """Variance of ratings within outputs, pooled; None where no output has two."""
    counts = ratings.counts
    spare = int((counts - 1).sum())
    if spare < 1:
        return None
    of = np.repeat(np.arange(len(counts)), counts)
    apart = without_noise(ratings.grades - ratings.means[of], np.abs(ratings.grades))
    return float((apart**2).sum() / spare)
