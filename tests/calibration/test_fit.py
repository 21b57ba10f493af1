"""Labels learned from columns: simulated by a known logistic model."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.calibration.fit import FittedFilter, fit_labels
from postil.calibration.result import CalibrationResult, CoveragePoint, FurtherLabels
from postil.calibration.view import expectations
from postil.data.parts import Estimate
from postil.errors import Undefined
from postil.meta.resampling import Draws
from postil.meta.significance import wilson_interval

EACH = 3
WEIGHTS = np.array([0.8, -0.5, 0.4, 0, 0, 0, 0, 0])


def simulated(random: np.random.Generator, articles: int, strength: float = 1.0) -> tuple[np.ndarray, ...]:
    """Columns, chances and answers of three texts per article; the first column is the ranker's noisy score."""
    columns = random.normal(size=(articles * EACH, len(WEIGHTS)))
    chances = 1 / (1 + np.exp(1.1 - strength * columns @ WEIGHTS))
    columns = np.column_stack([0.3 * columns[:, 0] + random.normal(size=len(columns)), columns])
    return columns, chances, random.random(len(columns)) < chances, np.repeat(np.arange(articles), EACH)


def test_the_interval_of_precision_holds_the_true_one() -> None:
    random = np.random.default_rng(5)
    new, chances, _, _ = simulated(random, 2000)
    held, covered, reached = 0, [], []
    for _ in range(10):
        columns, _, shown, article = simulated(random, 67)
        found = fit_labels(columns, shown, article, draws=Draws(resamples=20, seed=1), folds=7)
        point = next(one for one in found.points if one.coverage >= 0.3)
        kept = found.kept
        probable = 1 / (1 + np.exp(-(kept.slope * kept.logistic.predict(new) + kept.offset))).reshape(-1, EACH)
        best, top = probable.argmax(1), probable.max(1)
        true = np.take_along_axis(chances.reshape(-1, EACH), best[:, None], 1)[:, 0]
        held += point.low <= true[top >= np.quantile(top, 1 - point.coverage)].mean() <= point.high
        covered.append((top >= point.threshold).mean() - point.coverage)
        reached.append(true[top >= point.threshold].mean())
    assert held >= 8
    assert abs(np.mean(covered)) < 0.1  # the threshold of a coverage gives it on articles that nobody has seen
    assert np.mean(reached) > chances.mean() + 0.2


def test_numbers_of_a_fit() -> None:
    columns, _, shown, article = simulated(np.random.default_rng(6), 100, 2.0)
    found = fit_labels(columns, shown, article, draws=Draws(resamples=200, seed=1))
    assert found.depth == EACH
    assert found.auc.value > found.ranker_auc.value
    assert found.auc.low is not None
    assert found.auc.high is not None
    assert found.auc.low < found.auc.value < found.auc.high
    assert found.base_rate.value == pytest.approx(shown.mean())
    first = [columns[article == one, 0].argmax() for one in range(100)]
    assert found.first_rate.value == pytest.approx(np.mean([shown[article == one][at] for one, at in enumerate(first)]))
    again = fit_labels(columns, shown, article, draws=Draws(resamples=200, seed=1))
    assert again.points == found.points


def test_further_labels_bring_the_less_the_more_there_are() -> None:
    """The expected gain is near the true one, of the filter that is fitted to a hundred labels more."""
    random = np.random.default_rng(9)
    new, chances, _, _ = simulated(random, 2000, 1.5)

    def precision(kept: FittedFilter) -> float:
        logits = kept.logistic.predict(new[:, kept.columns]).reshape(-1, EACH)
        best = np.take_along_axis(chances.reshape(-1, EACH), logits.argmax(1)[:, None], 1)[:, 0]
        return float(best[np.argsort(-logits.max(1))[:600]].mean())

    means = []
    for articles in (30, 120):
        gains = []
        for _ in range(4):
            columns, _, shown, article = simulated(random, articles + 33, 1.5)
            few = article < articles
            fewer, more = (
                fit_labels(columns[some], shown[some], article[some], draws=Draws(resamples=1, seed=1), folds=3)
                for some in (few, article >= 0)
            )
            if (found := fewer.further) is None:  # the filter is refused
                continue
            assert found.width == pytest.approx((articles * EACH / (articles * EACH + 100)) ** 0.5)
            assert found.gain.low is not None
            assert found.gain.high is not None
            assert found.gain.low < found.gain.value < found.gain.high
            gains.append((found.gain.value, precision(more.kept) - precision(fewer.kept)))
        expected, true = np.mean(gains, axis=0)
        assert expected == pytest.approx(true, abs=0.04)
        means.append(expected)
    assert means[0] > 1.5 * means[1] > 0


def test_the_area_is_the_share_of_pairs_in_order() -> None:
    columns, _, shown, article = simulated(np.random.default_rng(7), 40)
    columns[:, 0] = columns[:, 0].round(1)  # with ties
    found = fit_labels(columns, shown, article, draws=Draws(resamples=1, seed=1), folds=3)
    for area, values in ((found.auc, found.kept.probabilities), (found.ranker_auc, columns[:, 0])):
        apart = np.sign(values[shown][:, None] - values[~shown][None, :])
        assert area.value == pytest.approx((apart + 1).mean() / 2)


def test_labels_that_depend_on_the_article_alone_are_not_learned() -> None:
    """Columns that tell the article would give an AUC near 1 if its own labels were in the fit."""
    random = np.random.default_rng(8)
    areas = []
    for _ in range(8):
        columns, _, _, article = simulated(random, 60)
        columns[:, 1:7] = random.normal(size=(60, 6))[article]
        shown = (random.random(60) < 0.4)[article]
        try:
            areas.append(fit_labels(columns, shown, article, draws=Draws(resamples=1, seed=1), folds=4).auc.value)
        except Undefined as error:
            assert "no better than chance" in str(error)  # noqa: PT017 - one of two right outcomes
            areas.append(0.45)
    assert np.mean(areas) < 0.55
    assert max(areas) < 0.7


@examples(8)
@given(st.integers(0, 2**32 - 1), st.integers(12, 40), st.booleans())
def test_thresholds_fall_as_coverage_rises(seed: int, articles: int, tied: bool) -> None:
    random = np.random.default_rng(seed)
    columns, _, shown, article = simulated(random, articles, 3.0)
    columns = columns.round() if tied else columns
    try:
        found = fit_labels(columns, shown, article, draws=Draws(resamples=1, seed=1), folds=2)
    except Undefined:
        return
    points = found.points
    assert points[-1].coverage == 1
    assert points[-1].threshold == 0
    for before, after in pairwise(points):
        assert before.coverage < after.coverage
        assert before.threshold > after.threshold
        assert before.pooled >= after.pooled - 1e-12
    # Pooling does not change the whole.
    assert points[-1].pooled == pytest.approx(points[-1].precision)
    for one in points:
        assert 0 <= one.low <= one.precision <= one.high <= 1


@pytest.mark.parametrize(
    ("shown", "articles"),
    [([True] * 40, 20), ([False] * 38 + [True] * 2, 20), ([True, False] * 10, 10), ([True, False] * 20, 4), ([], 0)],
)
def test_too_few_labels_are_told(shown: list[bool], articles: int) -> None:
    n = len(shown)
    article = np.arange(n) % max(articles, 1)
    article.sort()
    columns = np.random.default_rng(1).normal(size=(n, 2))
    said = rf"{n} labels of {articles} articles, {sum(shown)} to show .* needs at least 30, with 5 of each kind"
    with pytest.raises(Undefined, match=said):
        fit_labels(columns, np.array(shown, bool), article, draws=Draws(resamples=1, seed=1))


def test_ends_of_wilson_intervals_solve_their_equation() -> None:
    for good, n in ((0, 7), (3, 7), (7, 7), (40, 100)):
        for end in wilson_interval(good, n):
            assert (good / n - end) ** 2 == pytest.approx(1.959963984540054**2 * end * (1 - end) / n, abs=1e-12)


def test_a_filter_that_is_worse_than_the_score_is_refused() -> None:
    """A score that says all, beside columns of noise: the score is kept, as probabilities."""
    random = np.random.default_rng(3)
    refused = 0
    for _ in range(8):
        article = np.repeat(np.arange(60), EACH)
        columns = random.normal(size=(len(article), 12))
        shown = random.random(len(article)) < 1 / (1 + np.exp(0.5 - 1.5 * columns[:, 0]))
        found = fit_labels(columns, shown, article, draws=Draws(resamples=50, seed=1))
        area, precision = found.comparisons
        assert (area.measure, precision.measure) == ("auc", "precision")
        worse = min(area.difference.value, precision.difference.value) < 0
        assert found.kept.kind == ("score" if worse else "learned")
        if worse:
            refused += 1
            assert found.auc == found.ranker_auc == area.score
            assert np.flatnonzero(found.kept.logistic.weights).tolist() == [0]
            order = np.argsort(columns[:, 0])
            assert (np.diff(found.kept.probabilities[order]) > 0).all()
            assert found.kept.probabilities.mean() == pytest.approx(shown.mean())
    assert refused >= 5


def test_the_precision_of_a_comparison_is_that_of_the_points() -> None:
    columns, _, shown, article = simulated(np.random.default_rng(6), 100, 2.0)
    found = fit_labels(columns, shown, article, draws=Draws(resamples=200, seed=1))
    assert found.kept.kind == "learned"
    area, precision = found.comparisons
    assert precision.learned.value == next(one.precision for one in found.points if one.coverage >= 0.3)
    # The score: the first of each article, and of these the best 30.
    scores = columns[:, 0].reshape(-1, EACH)
    best = np.argsort(-scores.max(1))[:30]
    assert precision.score.value == shown.reshape(-1, EACH)[best, scores.argmax(1)[best]].mean()
    for one in (area, precision):
        assert one.difference.value == pytest.approx(one.learned.value - one.score.value)
        assert one.difference.low is not None
        assert one.difference.high is not None
        # Paired: narrower than what two independent intervals give.
        assert one.difference.low < one.difference.value < one.difference.high


def test_a_change_of_nothing_has_no_minus() -> None:
    point = CoveragePoint(coverage=0.3, threshold=0.5, precision=0.6, low=0.5, high=0.7, pooled=0.6, articles=30)
    gain = Estimate(value=-0.002, low=-0.004, high=0.03)
    found = CalibrationResult(
        labels=90,
        articles=100,
        shown=40,
        labels_hash="0",
        excluded=(),
        resamples=9,
        seed=1,
        first_rate=gain,
        points=(point,),
        further=FurtherLabels(labels=100, gain=gain, width=0.5),
    )
    assert "tenths by +0 points (in simulations +0 to +3)" in expectations(found)[1]
