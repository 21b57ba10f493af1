"""Labels learned from columns: simulated by a known logistic model."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.errors import Undefined
from postil.metaeval.label_fit import fit_labels, wilson_interval

EACH = 3
WEIGHTS = np.array([0.8, -0.5, 0.4, 0, 0, 0, 0, 0])


def simulated(random: np.random.Generator, articles: int, strength: float = 1.0) -> tuple[np.ndarray, ...]:
    """Columns, chances and answers of three texts per article; the ranker's score is a noisy first column."""
    columns = random.normal(size=(articles * EACH, len(WEIGHTS)))
    chances = 1 / (1 + np.exp(1.1 - strength * columns @ WEIGHTS))
    scores = 0.3 * columns[:, 0] + random.normal(size=len(columns))
    return columns, scores, chances, random.random(len(columns)) < chances, np.repeat(np.arange(articles), EACH)


def test_the_interval_of_precision_holds_the_true_one() -> None:
    random = np.random.default_rng(5)
    new, _, chances, _, _ = simulated(random, 2000)
    held, kept, reached = 0, [], []
    for _ in range(10):
        columns, scores, _, shown, article = simulated(random, 67)
        found = fit_labels(columns, scores, shown, article, resamples=20, seed=1, folds=7)
        point = next(one for one in found.points if one.coverage >= 0.3)
        probable = 1 / (1 + np.exp(-(found.slope * found.logistic.logits(new) + found.offset))).reshape(-1, EACH)
        best, top = probable.argmax(1), probable.max(1)
        true = np.take_along_axis(chances.reshape(-1, EACH), best[:, None], 1)[:, 0]
        held += point.low <= true[top >= np.quantile(top, 1 - point.coverage)].mean() <= point.high
        kept.append((top >= point.threshold).mean() - point.coverage)
        reached.append(true[top >= point.threshold].mean())
    assert held >= 8
    assert abs(np.mean(kept)) < 0.1  # the threshold of a coverage gives it on articles that nobody has seen
    assert np.mean(reached) > chances.mean() + 0.2


def test_numbers_of_a_fit() -> None:
    columns, scores, _, shown, article = simulated(np.random.default_rng(6), 100, 2.0)
    found = fit_labels(columns, scores, shown, article, resamples=200, seed=1)
    assert found.depth == EACH
    assert found.auc.value > found.ranker_auc.value
    assert found.auc.low is not None
    assert found.auc.high is not None
    assert found.auc.low < found.auc.value < found.auc.high
    assert found.base_rate.value == pytest.approx(shown.mean())
    first = [scores[article == one].argmax() for one in range(100)]
    assert found.first_rate.value == pytest.approx(np.mean([shown[article == one][at] for one, at in enumerate(first)]))
    again = fit_labels(columns, scores, shown, article, resamples=200, seed=1)
    assert again.points == found.points


def test_the_area_is_the_share_of_pairs_in_order() -> None:
    columns, scores, _, shown, article = simulated(np.random.default_rng(7), 40)
    scores = scores.round(1)  # with ties
    found = fit_labels(columns, scores, shown, article, resamples=1, seed=1, folds=3)
    for area, values in ((found.auc, found.probabilities), (found.ranker_auc, scores)):
        apart = np.sign(values[shown][:, None] - values[~shown][None, :])
        assert area.value == pytest.approx((apart + 1).mean() / 2)


def test_labels_that_depend_on_the_article_alone_are_not_learned() -> None:
    """Columns that tell the article would give an AUC near 1 if its own labels were in the fit."""
    random = np.random.default_rng(8)
    areas = []
    for _ in range(8):
        columns, scores, _, _, article = simulated(random, 60)
        columns[:, :6] = random.normal(size=(60, 6))[article]
        shown = (random.random(60) < 0.4)[article]
        try:
            areas.append(fit_labels(columns, scores, shown, article, resamples=1, seed=1, folds=4).auc.value)
        except Undefined as error:
            assert "no better than chance" in str(error)  # noqa: PT017 - one of two right outcomes
            areas.append(0.45)
    assert np.mean(areas) < 0.55
    assert max(areas) < 0.7


@examples(8)
@given(st.integers(0, 2**32 - 1), st.integers(12, 40), st.booleans())
def test_thresholds_fall_as_coverage_rises(seed: int, articles: int, tied: bool) -> None:
    random = np.random.default_rng(seed)
    columns, scores, _, shown, article = simulated(random, articles, 3.0)
    columns = columns.round() if tied else columns
    try:
        found = fit_labels(columns, scores, shown, article, resamples=1, seed=1, folds=2)
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
        fit_labels(columns, columns[:, 0], np.array(shown, bool), article, resamples=1, seed=1)


def test_ends_of_wilson_intervals_solve_their_equation() -> None:
    for good, n in ((0, 7), (3, 7), (7, 7), (40, 100)):
        for end in wilson_interval(good, n):
            assert (good / n - end) ** 2 == pytest.approx(1.959963984540054**2 * end * (1 - end) / n, abs=1e-12)
