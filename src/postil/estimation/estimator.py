"""Estimated mean grades of systems, with intervals, differences, groups, and notes on what they rest on."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from postil.data.ranking import without_noise
from postil.errors import UsageError
from postil.estimation.designs import ESTIMATORS, Campaign, Estimator, components_of, shared_noise, steps_to
from postil.estimation.result import (
    EstimateResult,
    EstimateSettings,
    IntervalWidths,
    PredictingScore,
    RelativeEfficiency,
    SystemDifference,
    SystemEstimate,
    UndefinedInterval,
)
from postil.messages import Blank, Message, Setting
from postil.meta.estimation import (
    FEWEST,
    LEAST_R2,
    Estimated,
    Outputs,
    RatedOutputs,
    Target,
    estimated,
    prediction_powered,
)
from postil.meta.severity import untold
from postil.meta.significance import MOST_SETS, NORMAL, compact_letters, holm, rank_ranges, student_p, student_quantile
from postil.results.base import replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.kernel.arrays import Floats

__all__ = ["Method", "estimate"]

Method: TypeAlias = Literal["crossed", "human", "ppi"]
"""Estimator: of all scores and systems together, of the ratings alone, or PPI++ of each system."""

LEVEL: Final = 0.05
OUT_OF_BALANCE: Final = 3.3
"""Standard errors from which a difference between graded and other items is told; chance does so once in 1,000."""
ROUGH: Final = 20
"""Number of graded items below which groups are rough."""
UNNAMED: Final = f"no letters: the significant differences make more than {MOST_SETS} groups; see the ranks"
MOSTLY: Final = 0.9
"""Share of equal grades from which the interval of a system may be too narrow."""


def estimate(
    rated: RatedOutputs,
    target: Target = "population",
    method: Method = "crossed",
    *,
    settings: EstimateSettings,
) -> EstimateResult:
    """Estimate the mean grade of every system and all differences, with 95 % confidence intervals.

    Args:
        rated: Scores and ratings. For ``ppi`` one score, whose metrics of ``settings.lower_is_better`` change sign.
        target: The estimand: mean over the population that the items come from, or over these items.
        method: ``crossed`` (see `postil.meta.estimation.estimated`), ``human`` or ``ppi``.
        settings: Options of the command.

    Raises:
        UsageError: ``ppi`` with several scores, or of these items.
        Undefined: ``ppi`` where all items of a system are graded.

    >>> from postil.meta.estimation import outputs_of
    >>> from postil.meta.table import Judged
    >>> from postil.estimation.result import EstimateSettings
    >>> from postil.data.rows import Judgement
    >>> judged = Judged([Judgement(str(i), s, "ann", i * 7 % n) for i in range(20) for s, n in (("a", 5), ("b", 9))])
    >>> found = estimate(outputs_of(None, judged), method="human", settings=EstimateSettings(postil=""))
    >>> [(row.system, row.mean, round(row.low, 2), round(row.high, 2), row.letters) for row in found.systems]
    [('b', 3.95, 2.7, 5.2, 'a'), ('a', 2.0, 1.25, 2.75, 'b')]
    """
    estimator = ESTIMATORS[method]
    means = _means(rated, target, estimator, settings.lower_is_better)
    outputs = rated.outputs
    order = sorted(range(len(rated.systems)), key=lambda place: (-means.means[place], rated.systems[place]))
    undefined = list(_undefined(rated, means))
    without = {each.system for each in undefined}
    pairs = [_pair(means, rated.systems, *each, without) for each in combinations(order, 2)]
    differences = _adjusted([row for row, _ in pairs])
    undefined += [reason for _, reason in pairs if reason]
    systems = _systems(rated, means, order, differences, without)
    unnamed = [UNNAMED] if not systems[0].letters else []
    unused = _unused(means, int(outputs.rated_items.sum())) if estimator.joint and not means.used else ""
    return EstimateResult(
        target=target,
        method=method,
        items=len(rated.items),
        graded=int(outputs.rated_items.sum()),
        annotators=rated.annotators,
        scores_used=means.used,
        crossed=estimator.joint and outputs.is_crossed,
        systems=systems,
        differences=differences,
        scores=tuple(_scores(rated, means)),
        common_slope=means.common_slope,
        item_slope=means.item_slope,
        r_squared=means.fit.r_squared if means.fit else None,
        rater_variance=outputs.rater_variance,
        relative_efficiency=_efficiency(means),
        curve=() if estimator.alone else _curve(outputs, means, target),
        undefined=tuple(undefined),
        excluded=rated.excluded,
        notes=(*filter(None, [unused]), *_notes(rated, means, target, estimator), *unnamed),
        signatures=dict(zip(rated.metrics, rated.signatures, strict=True)),
        settings=settings,
        severity=rated.severity,
        unused=unused,
    )


def _half_width(means: Estimated, variance: float, df: int) -> float:
    """Half of the width of a 95 % interval."""
    quantile = NORMAL if means.lambdas is not None else student_quantile(1 - LEVEL / 2, df)
    return quantile * math.sqrt(variance)


def _p_value(means: Estimated, value: float, variance: float, df: int) -> float:
    """P-value of a difference of 0, two-sided; 0 or 1 where the difference is known."""
    if not variance:
        return float(not value)
    t = value / math.sqrt(variance)
    return math.erfc(abs(t) / math.sqrt(2)) if means.lambdas is not None else float(student_p(t, df))


def _means(rated: RatedOutputs, target: Target, estimator: Estimator, lower_is_better: Sequence[str]) -> Estimated:
    if not estimator.alone:
        return estimated(rated.outputs, target, scores=estimator.scores)
    if len(rated.metrics) != 1:
        raise UsageError(
            "ppi takes one score, and there are {n}; choose one: {metric}",
            n=len(rated.metrics),
            metric=Setting("metrics", Blank("NAME")),
        )
    if target != "population":
        raise UsageError(
            "ppi estimates the mean of a population; use {target}, or {method}",
            target=Setting("target", "population"),
            method=Setting("method", "crossed"),
        )
    return prediction_powered(rated.outputs, rated.systems, -1 if rated.metrics[0] in lower_is_better else 1)


def _undefined(rated: RatedOutputs, means: Estimated) -> Iterator[UndefinedInterval]:
    """Systems without an interval, and why."""
    for place, system in enumerate(rated.systems):
        if means.n[place] < 2:
            yield UndefinedInterval(system=system, reason=Message("one graded item"))
        elif not means.covariance[place, place] > 0 and not means.known[place]:
            yield UndefinedInterval(system=system, reason=_no_variance(rated.outputs))


def _no_variance(outputs: Outputs) -> str:
    grades = outputs.grades[outputs.rated]
    if _alike(grades):
        return Message("all grades of all systems are {grade:g}", grade=float(grades[0]))
    return Message("all grades of each system are equal")


def _alike(grades: Floats) -> bool:
    return not without_noise(grades - grades[0], np.abs(grades)).any()


def _pair(
    means: Estimated, systems: Sequence[str], first: int, second: int, without: set[str]
) -> tuple[SystemDifference, UndefinedInterval | None]:
    """The difference of two systems, the first of which has the higher mean, and why it has no interval.

    Args:
        means: The means.
        systems: Names of the systems.
        first: The system with the higher mean.
        second: The other one.
        without: Names of the systems without an interval.
    """
    names = systems[first], systems[second]
    value = float(means.means[first] - means.means[second])
    known = bool(means.known[first] and means.known[second])
    if known:
        value = float(without_noise(value, abs(means.means[first]) + abs(means.means[second])))
    v = means.covariance
    size = v[first, first] + v[second, second]
    variance = float(without_noise(size - 2 * v[first, second], size))
    df = int(min(means.n[first], means.n[second])) - 1
    half = p = undefined = None
    if (variance > 0 or known) and not without & {*names}:
        half, p = _half_width(means, variance, df), _p_value(means, value, variance, df)
    elif not without & {*names}:
        reason = Message("their grades differ by the same on every item")
        undefined = UndefinedInterval(system=names[0], other=names[1], reason=reason)
    row = SystemDifference(
        first=names[0],
        second=names[1],
        value=value,
        low=None if half is None else value - half,
        high=None if half is None else value + half,
        p=p,
        p_holm=None,
    )
    return row, undefined


def _adjusted(rows: Sequence[SystemDifference]) -> tuple[SystemDifference, ...]:
    """Add p adjusted by Holm.

    Of equal systems, max-|t| finds some difference in 5 to 24 % of the draws at up to 20 items, Holm in 2 to 6 %.
    """
    adjusted = iter(holm([row.p for row in rows if row.p is not None]).tolist())
    return tuple(row if row.p is None else replace(row, p_holm=next(adjusted)) for row in rows)


def _systems(
    rated: RatedOutputs,
    means: Estimated,
    order: Sequence[int],
    differences: Sequence[SystemDifference],
    without: set[str],
) -> tuple[SystemEstimate, ...]:
    """One row per system, the best first."""
    places = {rated.systems[place]: rank for rank, place in enumerate(order)}
    significant = np.zeros((len(order), len(order)), bool)
    for row in differences:
        first, second = places[row.first], places[row.second]
        significant[first, second] = significant[second, first] = row.p_holm is not None and row.p_holm < LEVEL
    ranks, letters = rank_ranges(significant), compact_letters(significant)
    rows = []
    for rank, place in enumerate(order):
        name, df = rated.systems[place], int(means.n[place]) - 1
        mean, human = float(means.means[place]), float(means.human_means[place])
        half = None if name in without else _half_width(means, float(means.covariance[place, place]), df)
        variance = float(means.human_covariance[place, place])
        there = df > 0 and (variance > 0 or means.known[place])
        alone = student_quantile(1 - LEVEL / 2, df) * math.sqrt(variance) if there else None
        rows.append(
            SystemEstimate(
                system=name,
                n=df + 1,
                ratings=int(rated.ratings[place]),
                mean=mean,
                low=None if half is None else mean - half,
                high=None if half is None else mean + half,
                human_mean=human,
                human_low=None if alone is None else human - alone,
                human_high=None if alone is None else human + alone,
                slope=means.slopes[place],
                rank_low=ranks[rank][0],
                rank_high=ranks[rank][1],
                letters=letters[rank],
            )
        )
    return tuple(rows)


def _efficiency(means: Estimated) -> RelativeEfficiency:
    """Sums of variances of the grades alone divided by those with scores."""
    systems = len(means.means)
    sums = [
        (float(np.trace(v)), float(systems * np.trace(v) - v.sum())) for v in (means.human_covariance, means.covariance)
    ]
    (alone, between), (with_scores, between_with_scores) = sums
    return RelativeEfficiency(
        means=alone / with_scores if with_scores > 0 else None,
        differences=between / between_with_scores if systems > 1 and between_with_scores > 0 else None,
    )


def _scores(rated: RatedOutputs, means: Estimated) -> Iterator[PredictingScore]:
    """Weight and balance of each score."""
    outputs = rated.outputs
    graded, per_item = outputs.rated_items, outputs.scores.mean(axis=1)
    n, rest = int(graded.sum()), int((~graded).sum())
    for place, metric in enumerate(rated.metrics):
        column, z = per_item[:, place], None
        deviation = float(without_noise(column.std(ddof=1), np.abs(column).max())) if len(column) > 1 else 0.0
        if n and rest and deviation > 0:
            gap = float(column[graded].mean() - column[~graded].mean())
            z = gap / (deviation * math.sqrt(1 / n + 1 / rest))
        yield PredictingScore(metric=metric, weight=means.weights[place] if means.weights else None, balance_z=z)


def _curve(outputs: Outputs, means: Estimated, target: Target) -> tuple[IntervalWidths, ...]:
    """Expected widths by number of graded items, at the number of ratings per output at hand."""
    if means.n.max() < 2 or len(outputs.grades) < FEWEST:
        return ()
    components = components_of(outputs, means.fit if means.used else None)
    campaign = Campaign(components=components, items=len(outputs.grades), systems=len(means.means), target=target)
    k = 1 / float((1 / outputs.counts[outputs.rated]).mean())

    several = campaign.systems > 1
    rows = tuple(
        IntervalWidths(
            graded=n,
            mean_width=campaign.width(n, k),
            difference_width=campaign.width(n, k, difference=True) if several else None,
            human_mean_width=campaign.width(n, k, scores=False),
            human_difference_width=campaign.width(n, k, difference=True, scores=False) if several else None,
        )
        for n in steps_to(campaign.items)
    )
    return rows if any(row.human_mean_width > 0 for row in rows) else ()


def _notes(rated: RatedOutputs, means: Estimated, target: Target, estimator: Estimator) -> Iterator[str]:
    outputs = rated.outputs
    graded = int(outputs.rated_items.sum())
    if means.used and estimator.joint and len(rated.systems) > 1 and not outputs.is_crossed:
        yield "fewer than half of the graded items have two graded systems: scores are centered by system alone"
    if len(rated.systems) > 1 and graded < ROUGH:
        yield Message("groups are rough below {enough} graded items, and there are {n}", enough=ROUGH, n=graded)
    if rated.severity is None:
        yield from untold(rated.single_given)
    if target == "items" and outputs.rater_variance is None:
        few = "too few second ratings" if rated.severity else "one rating per output"
        yield (
            f"{few}: the variance of raters is unknown, so the intervals are not corrected for the share of graded "
            f"items (n/N); {'more' if rated.severity else 'second ratings of some outputs'} would allow it"
        )
    if means.used and means.fit:
        yield from shared_noise(outputs, means.fit, rated.signatures)
    for place in np.flatnonzero(np.diag(means.covariance) > 0).tolist():
        system = rated.systems[place]
        yield from _on_grades(system, outputs.grades[outputs.rated[:, place], place])
    shared = outputs.rated.T.astype(np.int64) @ outputs.rated
    for first, second in np.argwhere(np.triu(shared == 0, 1)).tolist():
        yield Message(
            "no graded item is shared by {first} and {second}: their difference is taken as one of independent means",
            first=rated.systems[first],
            second=rated.systems[second],
        )
    for score in _scores(rated, means):
        if score.balance_z is not None and abs(score.balance_z) > OUT_OF_BALANCE:
            side = "higher" if score.balance_z > 0 else "lower"
            far = f"{abs(score.balance_z):.1f} standard errors {side} on {score.metric}"
            yield f"graded items score {far}: were they sampled at random?"


def _unused(means: Estimated, graded: int) -> str:
    """Note on why scores are not used."""
    if graded < FEWEST or means.fit is None:
        why = f"{graded} graded item{'s' * (graded != 1)} ({FEWEST} needed)"
    else:
        share = math.floor(100 * max(0.0, means.fit.r_squared))
        why = f"they explain {share} % of the variance of the grades ({100 * LEAST_R2:.0f} % needed)"
    return f"scores not used: {why}; the results are those of the ratings alone"


def _on_grades(system: str, grades: Floats) -> Iterator[str]:
    """A note where all or most grades of a system are equal."""
    values, counts = np.unique(grades, return_counts=True)
    most = float(values[counts.argmax()])
    if len(grades) > 1 and _alike(grades):
        yield Message("all {n} grades of {system} are {grade:g}", n=len(grades), system=system, grade=most)
    elif len(grades) > 1 and counts.max() >= MOSTLY * len(grades):
        yield Message(
            "most grades of {system} are {grade:g}: its CI may cover less than 95 %", system=system, grade=most
        )
