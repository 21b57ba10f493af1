"""Fit of the probability that a suggestion is worth showing, and of what it is worth on articles it has not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from postil.calibration.result import CoveragePoint, FilterComparison, FurtherLabels
from postil.comments.show_filter import COVERAGE, DEPTH
from postil.data.parts import Estimate
from postil.data.ranking import without_noise
from postil.errors import Undefined
from postil.learners.linear import Logistic
from postil.meta.grade_fits import isotonic_fit
from postil.meta.resampling import Draws, bootstrap_counts, estimate, in_blocks
from postil.meta.significance import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s

__all__ = [
    "FOLDS",
    "LEAST",
    "FittedFilter",
    "LabelFit",
    "compared",
    "first_of",
    "fit_labels",
]

FOLDS: Final = 9
"""Number of folds of articles."""

LEAST: Final = 30
"""Smallest number of labels that a filter is learned from."""

LEAST_OF_A_KIND: Final = 5
"""Smallest number of labels to show, and not to."""

PENALTIES: Final = (3.0, 10.0, 30.0, 100.0)
"""L2 penalties to choose from, of columns of standard deviation 1."""

INNER_FOLDS: Final = 3
"""Number of folds on which a penalty is chosen."""

_CALIBRATION_PENALTY: Final = 1.0
"""Penalty of the slope of a standardized logit, so that few labels that a column separates give no certainty."""
LEAST_SHOWN: Final = 10
"""Smallest number of articles with a suggestion that a precision is told of."""
FURTHER: Final = 100
"""Number of further labels whose effect is estimated."""
_SIMULATIONS: Final = 200
"""Number of simulated sets of labels."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedFilter:
    """The probability of being worth showing, 1 / (1 + exp(-(slope * logit + offset))).

    Args:
        kind: ``learned``, the filter over several columns, or ``score``, the ranker's score alone.
        columns: int64[c], the columns that it reads.
        logistic: The logit of a row of these.
        slope: Slope of the calibration of logits.
        offset: Offset of the calibration.
        penalty: The L2 penalty.
        probabilities: float64[n], of each label out of fold.
    """

    kind: Literal["learned", "score"]
    columns: Int64s
    logistic: Logistic
    slope: float
    offset: float
    penalty: float
    probabilities: Floats

    def calibrated(self, logits: Floats) -> Floats:
        """Probabilities of logits out of fold, which have no intercept.

        Args:
            logits: float64[n].
        """
        offset = self.offset + self.slope * self.logistic.intercept
        return np.asarray(1 / (1 + np.exp(-np.clip(self.slope * logits + offset, -700, 700))))


@dataclass(frozen=True, slots=True, eq=False)
class LabelFit:
    """A fit, and its report.

    Args:
        kept: The filter.
        depth: Number of first suggestions of an article that a filter chooses from.
        reorders: True if the filter orders these, beyond those that have labels.
        points: The distinct thresholds, from the lowest coverage to the whole.
        base_rate: Share of the labels to show.
        first_rate: Share of the articles whose first suggestion is one to show.
        comparisons: The filter over all columns against the ranker's score.
        auc: Area under the ROC curve of the probability.
        ranker_auc: Area under the ROC curve of the ranker's score.
        further: Effect that further labels are expected to have; None for the ranker's score.
    """

    kept: FittedFilter
    depth: int
    reorders: bool
    points: tuple[CoveragePoint, ...]
    base_rate: Estimate
    first_rate: Estimate
    comparisons: tuple[FilterComparison, ...]
    auc: Estimate
    ranker_auc: Estimate
    further: FurtherLabels | None


def fit_labels(
    columns: Floats,
    shown: Booleans,
    article: Int64s,
    draws: Draws,
    *,
    first: Sequence[Floats] = (),
    blocks: Sequence[Int64s] = (),
    folds: int = FOLDS,
) -> LabelFit:
    """Fit the probability of being worth showing.

    The fit is logistic regression with an L2 penalty; columns, penalty and calibration are chosen on labels of other
    articles; features beside an encoder's five numbers cost .05 of AUC on 225 labels. Every number is of probabilities
    out of fold: of a fit without the labels of the same article. A fit that orders these articles worse than the
    ranker's score does is refused, and the calibrated score is kept.

    Args:
        columns: float64[n, m]; the first one is the score by which the ranker orders the suggestions of an article.
        shown: bool[n], the labels.
        article: int64[n], the number of each label's article, from 0.
        draws: Random draws of the articles.
        first: For each article float64[k, m], the columns of its first suggestions, labeled or not, among which the
            filter chooses; none if it chooses among as many as have labels.
        blocks: Sets of columns of which the filter may read one; by default all columns.
        folds: Largest number of folds of articles.

    Raises:
        Undefined: The labels are too few, of one kind, or cannot be told apart; the message says which.
    """
    articles = int(article.max(initial=-1)) + 1
    _check(shown, articles)
    scores = columns[:, 0]
    sets = blocks or [np.arange(columns.shape[1])]
    ends = np.cumsum([0, *map(len, first)])
    whole = np.concatenate([columns, *first])
    owner = np.concatenate([article, np.repeat(np.arange(len(first)), np.diff(ends))])
    every = _out_of_fold(columns, shown, article, article % min(folds, articles), sets=sets, rows=(whole, owner))
    logits = every[: len(columns)]
    counts = bootstrap_counts(articles, draws.resamples, draws.seed)
    comparisons = compared(logits, scores, shown, article, counts)
    learned = _learned(columns, shown, article, logits, sets)
    worse = learned is None or any(each.difference.value < 0 for each in comparisons)
    kept = _calibrated_score(columns, shown, np.arange(1) if first else sets[0]) if worse else learned
    if kept is None:
        raise Undefined(_no_filter(comparisons, ordered=learned is not None))
    sizes = np.bincount(article, minlength=articles)
    of_first = first_of(scores, scores, article)
    rates = in_blocks(
        lambda drawn: {
            "base": drawn @ np.bincount(article, shown, articles) / np.maximum(drawn @ sizes, 1),
            "first": drawn @ shown[of_first] / articles,
        },
        counts,
        articles,
    )
    area, _ = comparisons
    reorders = bool(first) and kept.kind == "learned"
    if reorders:
        lowest = float(every.min())  # of an article without suggestions
        best = np.array([some.max(initial=lowest) for some in np.split(every[len(columns) :], ends[1:-1])])
        points = _expected_points(best, logits, shown, article, counts)
    else:
        points = _points(kept.probabilities, scores, shown, article)
    further = None
    if kept.kind == "learned":
        reached = next((one for one in points if one.coverage >= COVERAGE - 1e-9), points[-1])
        gains = _simulated_gains(kept, columns, shown, article, first, seed=draws.seed)
        further = _further(np.minimum(gains, 1 - reached.precision), len(shown))
    return LabelFit(
        kept=kept,
        depth=DEPTH if reorders else int(np.median(sizes)),
        reorders=reorders,
        points=tuple(points),
        base_rate=estimate(rates["base"], articles),
        first_rate=estimate(rates["first"], articles),
        comparisons=comparisons,
        auc=area.score if kept.kind == "score" else area.learned,
        ranker_auc=area.score,
        further=further,
    )


def _further(gains: Floats, labels: int) -> FurtherLabels:
    """The effect of further labels.

    Args:
        gains: float64[s], simulated ones.
        labels: Number of labels so far.
    """
    low, high = np.percentile(gains, (2.5, 97.5)).tolist()
    gain = Estimate(value=float(gains.mean()), low=low, high=high)
    return FurtherLabels(labels=FURTHER, gain=gain, width=math.sqrt(labels / (labels + FURTHER)))


def _simulated_gains(
    kept: FittedFilter, columns: Floats, shown: Booleans, article: Int64s, first: Sequence[Floats], *, seed: int
) -> Floats:
    """Changes of the precision by `FURTHER` labels.

    Cross-fits of the same labels, tenfold and twofold, tell a third of the true gain. So in each draw, a fit to a
    resample of the articles is the truth. Labels are drawn from it for as many articles as there are, and for more; a
    filter is fitted to either, and the mean of the true probabilities of what it would show at `COVERAGE` is its
    precision. Columns and penalty are those of the filter.

    Args:
        kept: The filter.
        columns: float64[n, m].
        shown: bool[n].
        article: int64[n].
        first: For each article float64[k, m]; none where a filter chooses among the labeled texts.
        seed: Random seed.

    Returns:
        float64[s].
    """
    rows = columns[:, kept.columns]
    articles = int(article.max()) + 1
    of_article = np.split(np.argsort(article, kind="stable"), np.cumsum(np.bincount(article))[:-1])
    candidates = [some[:, kept.columns] for some in first if len(some)] or [rows[some] for some in of_article]
    pool = np.concatenate(candidates)
    owner = np.repeat(np.arange(len(candidates)), [len(some) for some in candidates])
    wanted = max(math.ceil(COVERAGE * articles - 1e-9), min(LEAST_SHOWN, articles))
    more = articles + max(1, round(FURTHER * articles / len(rows)))
    random = np.random.default_rng(seed)

    def precision(labeled: Int64s, labels: Booleans, truth: Floats) -> float:
        logits = _predicted(rows[labeled], labels, kept.penalty, pool)
        best = first_of(logits, logits, owner)
        return float(truth[best[np.argsort(-logits[best], kind="stable")[:wanted]]].mean())

    gains = []
    for _ in range(_SIMULATIONS):
        seen = np.concatenate([of_article[one] for one in random.integers(0, articles, articles)])
        if shown[seen].all() or not shown[seen].any():
            continue
        truth = Logistic.fit(rows[seen], shown[seen], _CALIBRATION_PENALTY)
        drawn = [of_article[one] for one in random.integers(0, articles, more)]
        whole, now = np.concatenate(drawn), sum(map(len, drawn[:articles]))
        labels = random.random(len(whole)) < truth.probabilities(rows[whole])
        chances = truth.probabilities(pool)
        gains.append(precision(whole, labels, chances) - precision(whole[:now], labels[:now], chances))
    return np.array(gains)


def _learned(
    columns: Floats, shown: Booleans, article: Int64s, logits: Floats, sets: Sequence[Int64s]
) -> FittedFilter | None:
    """The filter over a set of columns, calibrated by logits out of fold; None if their order is none."""
    calibration = Logistic.fit(logits[:, None], shown, _CALIBRATION_PENALTY)
    slope = float(calibration.weights[0] / calibration.scale[0])
    if slope <= 0:
        return None
    offset = calibration.intercept - slope * float(calibration.mean[0])
    chosen, penalty = _choice(columns, shown, article, sets)
    whole = Logistic.fit(columns[:, chosen], shown, penalty)
    found = FittedFilter("learned", chosen, whole, slope, offset - slope * whole.intercept, penalty, logits)
    return replace(found, probabilities=found.calibrated(logits))


def _calibrated_score(columns: Floats, shown: Booleans, names: Int64s) -> FittedFilter | None:
    """The first column as a filter, the others with weight 0; None if its order is no better than chance."""
    fitted = Logistic.fit(columns[:, :1], shown, _CALIBRATION_PENALTY)
    if fitted.weights[0] <= 0:
        return None
    others = len(names) - 1
    mean, weights = (np.append(part, np.zeros(others)) for part in (fitted.mean, fitted.weights))
    whole = Logistic(mean, np.append(fitted.scale, np.ones(others)), weights, fitted.intercept)
    probabilities = whole.probabilities(columns)
    return FittedFilter("score", names, whole, 1.0, 0.0, _CALIBRATION_PENALTY, probabilities)


def _no_filter(comparisons: Sequence[FilterComparison], *, ordered: bool) -> str:
    """The reason for no filter: the ranker's order is no better than chance, and so is the learned one, or it is worse.

    Args:
        comparisons: The learned filter against the ranker's score.
        ordered: True if the learned order is better than chance.
    """
    (auc, score), (precision, other) = ((each.learned.value, each.score.value) for each in comparisons)
    if ordered:
        found = (
            f"the filter does worse than the ranker's score (AUC {auc:.2f} against {score:.2f}, precision at coverage "
            f"{COVERAGE:g} {100 * precision:.0f} % against {100 * other:.0f} %), whose order is no better than chance"
        )
    else:
        found = f"its order is no better than chance (AUC {auc:.2f}), and neither is the ranker's ({score:.2f})"
    told = "what to show cannot be told from what not to show by these labels: on articles that the fit has not seen"
    return f"{told} {found}; label more suggestions"


def _check(shown: Booleans, articles: int) -> None:
    wanted = f"a filter needs at least {LEAST}, with {LEAST_OF_A_KIND} of each kind, of {LEAST_SHOWN} articles or more"
    n, yes = len(shown), int(shown.sum())
    if n < LEAST or min(yes, n - yes) < LEAST_OF_A_KIND or articles < LEAST_SHOWN:
        raise Undefined(
            f"{n} labels of {articles} articles, {yes} to show and {n - yes} not: {wanted}; label more suggestions"
        )


def _out_of_fold(
    columns: Floats,
    shown: Booleans,
    article: Int64s,
    fold: Int64s,
    *,
    sets: Sequence[Int64s],
    rows: tuple[Floats, Int64s],
) -> Floats:
    """Logits of rows by fits without the labels of their articles, each with columns and penalty chosen there.

    An intercept would be the higher, the fewer of the left-out labels are to show, and so order folds by the opposite
    of their labels; that of the calibration stands for all.

    Args:
        columns: float64[n, m].
        shown: bool[n].
        article: int64[n].
        fold: int64[n], the fold of each label.
        sets: Sets of columns to choose from.
        rows: float64[r, m], and int64[r], the article of each.

    Returns:
        float64[r].
    """
    wanted, owner = rows
    logits = np.zeros(len(wanted))
    of_article = np.zeros(int(article.max()) + 1, np.int64)
    of_article[article] = fold
    for number in np.unique(fold).tolist():
        others = fold != number
        if shown[others].all() or not shown[others].any():
            continue
        chosen, penalty = _choice(columns[others], shown[others], article[others], sets)
        model = Logistic.fit(columns[others][:, chosen], shown[others], penalty)
        left = of_article[owner] == number
        logits[left] = model.predict(wanted[left][:, chosen]) - model.intercept
    return logits


def _choice(columns: Floats, shown: Booleans, article: Int64s, sets: Sequence[Int64s]) -> tuple[Int64s, float]:
    """The set of columns and the penalty with the lowest log loss on labels of other articles.

    Of tied ones it is the first set, and the largest penalty.
    """
    fold = np.unique(article, return_inverse=True)[1] % INNER_FOLDS
    sign = np.where(shown, -1.0, 1.0)

    def loss(chosen: Int64s, penalty: float) -> float:
        logits = np.zeros(len(shown))
        for number in range(INNER_FOLDS):
            others = fold != number
            logits[~others] = _predicted(
                columns[others][:, chosen], shown[others], penalty, columns[~others][:, chosen]
            )
        return round(float(np.logaddexp(0, sign * logits).sum()), 9)

    tried = [(loss(chosen, penalty), at, -penalty) for at, chosen in enumerate(sets) for penalty in PENALTIES]
    _, at, negative = min(tried)
    return sets[at], -negative


def _predicted(columns: Floats, shown: Booleans, penalty: float, others: Floats) -> Floats:
    """Logits of other rows; the same for all where the labels are of one kind."""
    yes = int(shown.sum())
    if yes in {0, len(shown)}:
        return np.full(len(others), math.log((yes + 0.5) / (len(shown) - yes + 0.5)))
    return Logistic.fit(columns, shown, penalty).predict(others)


def _points(probabilities: Floats, scores: Floats, shown: Booleans, article: Int64s) -> list[CoveragePoint]:
    """Coverage and precision at each threshold that tells articles apart.

    An article's first suggestion is that with the highest probability, whatever the threshold.
    """
    articles = int(article.max()) + 1
    first = first_of(probabilities, scores, article)
    best, good = probabilities[first], shown[first].astype(np.float64)
    pooled = isotonic_fit(best[:, None], good).predict(best[:, None])
    levels = np.unique(best)[::-1]
    points = []
    for level, lower in zip(levels, [*levels[1:], 0.0], strict=True):
        above = best >= level
        n = int(above.sum())
        if n < min(LEAST_SHOWN, articles):
            continue
        low, high = wilson_interval(int(good[above].sum()), n)
        points.append(
            CoveragePoint(
                coverage=n / articles,
                threshold=0.0 if n == articles else float(level + lower) / 2,
                precision=float(good[above].mean()),
                low=low,
                high=high,
                pooled=min(1.0, max(0.0, float(pooled[above].mean()))),
                articles=n,
            )
        )
    return points


def _expected_points(
    best: Floats, logits: Floats, shown: Booleans, article: Int64s, counts: Int32s
) -> list[CoveragePoint]:
    """Coverage and expected precision at each threshold, where the most probable of an article may have no label.

    The precision is the mean of the articles' largest probabilities. (An isotonic regression on the labels is too high
    there, by .03 to .09 in simulations, since these are at the end of its range.) Its interval is over resamples of the
    articles, with the calibration fitted to each, and the filter held fixed.

    Args:
        best: float64[articles], the largest logit of an article's first suggestions, out of fold.
        logits: float64[n], of the labels, out of fold.
        shown: bool[n], the labels.
        article: int64[n], the number of each label's article.
        counts: int32[R, articles], resample multiplicities.
    """
    articles = len(best)
    levels = np.unique(best)[::-1]
    order = np.argsort(-best, kind="stable")
    ends = np.searchsorted(-best[order], -levels, side="right") - 1

    def precisions(drawn: Int32s) -> dict[str, Floats]:
        slope, offset = _calibrations(logits, shown, drawn[:, article].astype(np.float64))
        probabilities = _sigmoid(slope[:, None] * best[order] + offset[:, None])
        weights = drawn[:, order].astype(np.float64)
        above, sums = (np.cumsum(each, axis=1)[:, ends] for each in (weights, weights * probabilities))
        return {"precision": np.divide(sums, above, out=np.full(sums.shape, np.nan), where=above > 0)}

    samples = in_blocks(precisions, counts, max(len(logits), articles))["precision"]
    slope, offset = (float(each[0]) for each in _calibrations(logits, shown, np.ones((1, len(logits)))))
    values = _sigmoid(slope * levels + offset)
    points = []
    for at, (level, lower) in enumerate(zip(values, [*values[1:], 0.0], strict=True)):
        n = int(ends[at]) + 1
        if n < min(LEAST_SHOWN, articles):
            continue
        found = estimate(samples[:, at], articles)
        low, high = (found.value if end is None else end for end in (found.low, found.high))
        points.append(
            CoveragePoint(
                coverage=n / articles,
                threshold=0.0 if n == articles else float(level + lower) / 2,
                precision=found.value,
                low=min(low, found.value),
                high=max(high, found.value),
                pooled=found.value,
                articles=n,
            )
        )
    return points


def _calibrations(logits: Floats, shown: Booleans, weights: Floats) -> tuple[Floats, Floats]:
    """Slopes and offsets of logistic regressions on one column, as `Logistic.fit`, each with other weights of the rows.

    Args:
        logits: float64[n].
        shown: bool[n].
        weights: float64[R, n].

    Returns:
        float64[R] each.
    """
    scale = float(logits.std()) or 1.0
    column = (logits - logits.mean()) / scale
    slope, offset = np.zeros(len(weights)), np.zeros(len(weights))
    for _ in range(_STEPS):
        chance = _sigmoid(slope[:, None] * column + offset[:, None])
        wrong, bend = weights * (chance - shown), weights * chance * (1 - chance)
        down = (wrong * column).sum(axis=1) + _CALIBRATION_PENALTY * slope
        base = wrong.sum(axis=1)
        aa, ab, bb = (
            (bend * column**2).sum(axis=1) + _CALIBRATION_PENALTY,
            (bend * column).sum(axis=1),
            bend.sum(axis=1),
        )
        bb += _TINY  # labels of one kind in a resample have no best offset
        determinant = aa * bb - ab**2
        slope, offset = slope - (bb * down - ab * base) / determinant, offset - (aa * base - ab * down) / determinant
        offset = np.clip(offset, -_LARGEST, _LARGEST)
    return slope / scale, offset - slope * float(logits.mean()) / scale


def _sigmoid(logits: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -700, 700))))


_STEPS: Final = 12
"""Newton steps of a calibration in two parameters; six are enough."""
_TINY: Final = 1e-9
_LARGEST: Final = 30.0
"""Largest size of an offset."""


def compared(
    learned: Floats, scores: Floats, shown: Booleans, article: Int64s, counts: Int32s
) -> tuple[FilterComparison, ...]:
    """Compare what a filter was learned to say with the ranker's score, on the same resamples of articles.

    Args:
        learned: float64[n], what the filter says of each label, out of fold.
        scores: float64[n], the ranker's score.
        shown: bool[n], the labels.
        article: int64[n], the number of each label's article, from 0.
        counts: int32[R, articles], resample multiplicities.

    Returns:
        The rows ``auc`` and ``precision``.

    >>> one = np.ones((1, 2), np.int32)
    >>> found = compared(np.array([1.0, 0]), np.array([0.0, 1]), np.array([True, False]), np.array([0, 1]), one)
    >>> [(each.measure, each.learned.value, each.score.value, each.difference.value) for each in found]
    [('auc', 1.0, 0.0, 1.0), ('precision', 0.5, 0.5, 0.0)]
    """
    articles = counts.shape[1]
    rows = []
    for measure, statistic in (("auc", _areas), ("precision", _precisions)):
        first, second = (statistic(values, scores, shown, article, counts) for values in (learned, scores))
        rows.append(
            FilterComparison(
                measure=measure,
                learned=estimate(first, articles),
                score=estimate(second, articles),
                difference=estimate(without_noise(first - second, 1.0), articles),
            )
        )
    return tuple(rows)


def first_of(values: Floats, scores: Floats, article: Int64s) -> Int64s:
    """The label that is first of its article by a value, and of tied ones by the ranker's score, int64[articles].

    Args:
        values: float64[n].
        scores: float64[n].
        article: int64[n], the number of each label's article, from 0 without a gap.
    """
    order = np.lexsort((-scores, -values, article))
    return np.asarray(order[np.searchsorted(article[order], np.arange(int(article.max()) + 1))])


def _areas(values: Floats, _: Floats, shown: Booleans, article: Int64s, counts: Int32s) -> Floats:
    """Area under the ROC curve of all labels and of resamples of articles, float64[1 + R]."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(values[order]) > 0))
    yes, owner = shown[order], article[order]

    def areas(drawn: Int32s) -> dict[str, Floats]:
        weights = drawn[:, owner].astype(np.float64)
        good = np.add.reduceat(weights * yes, starts, axis=1)
        bad = np.add.reduceat(weights * ~yes, starts, axis=1)
        below = np.cumsum(bad, axis=1) - bad / 2
        total = good.sum(axis=1) * bad.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return {"auc": np.where(total > 0, (good * below).sum(axis=1) / total, np.nan)}

    return in_blocks(areas, counts, len(values))["auc"]


def _precisions(values: Floats, scores: Floats, shown: Booleans, article: Int64s, counts: Int32s) -> Floats:
    """Precision of the first suggestions at `COVERAGE`, of all articles and of resamples of them, float64[1 + R]."""
    first = first_of(values, scores, article)
    first = first[np.argsort(-values[first], kind="stable")]
    best = values[first]
    ends = np.flatnonzero(np.append(np.diff(best) < 0, True))  # tied articles are above a threshold together
    articles = len(first)
    least = max(COVERAGE * articles - 1e-9, min(LEAST_SHOWN, articles))

    def precisions(drawn: Int32s) -> dict[str, Floats]:
        weights = drawn[:, article[first]].astype(np.float64)
        above = np.cumsum(weights, axis=1)[:, ends]
        good = np.cumsum(weights * shown[first], axis=1)[:, ends]
        at = (above >= least).argmax(axis=1)[:, None]
        return {"precision": (np.take_along_axis(good, at, 1) / np.take_along_axis(above, at, 1))[:, 0]}

    return in_blocks(precisions, counts, articles)["precision"]
