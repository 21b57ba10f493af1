"""Ridge and isotonic regression of ratings on scores: worked by hand, and compared with other solvers."""

from __future__ import annotations

import numpy as np
import pytest

from postil.errors import Undefined
from postil.meta.grade_fits import assign_items, isotonic, isotonic_fit, ridge_fit


def drawn(seed: int, n: int = 40, m: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, m)) @ rng.normal(size=(m, m)) + rng.normal(size=m)
    return scores, scores @ rng.normal(size=m) + rng.normal(size=n)


def standardized(scores: np.ndarray) -> np.ndarray:
    return np.asarray((scores - scores.mean(axis=0)) / scores.std(axis=0))


def test_ridge_worked_by_hand() -> None:
    # Two columns of mean 0 and standard deviation 1 that are orthogonal: each weight is its own, over 1 + penalty.
    scores = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    grades = 3 + 2 * scores[:, 0] + scores[:, 1]
    model = ridge_fit(scores, grades, 0.01)
    assert model.weights.tolist() == pytest.approx([2 / 1.01, 1 / 1.01], abs=1e-12)
    assert (model.mean.tolist(), model.scale.tolist(), model.intercept) == ([0, 0], [1, 1], 3)
    assert model.predict(np.array([[3.0, 0.0]])).tolist() == pytest.approx([3 + 3 * 2 / 1.01], abs=1e-12)


@pytest.mark.parametrize("penalty", [0.0, 0.01, 1.0])
def test_ridge_solves_the_normal_equations(penalty: float) -> None:
    scores, grades = drawn(1)
    z, y = standardized(scores), grades - grades.mean()
    wanted = np.linalg.solve(z.T @ z + penalty * len(z) * np.eye(z.shape[1]), z.T @ y)
    model = ridge_fit(scores, grades, penalty)
    assert model.weights == pytest.approx(wanted, abs=1e-10)
    assert model.predict(scores) == pytest.approx(grades.mean() + z @ wanted, abs=1e-10)


def test_bounded_ridge_is_that_of_scipy() -> None:
    lsq_linear = pytest.importorskip("scipy.optimize").lsq_linear
    at_bounds = 0
    for seed in range(60):
        scores, grades = drawn(seed)
        rising = np.random.default_rng([seed, 1]).integers(-1, 2, scores.shape[1]).astype(np.int8)
        n, m = scores.shape
        z = np.vstack([standardized(scores), np.sqrt(0.01 * n) * np.eye(m)])
        y = np.concatenate([grades - grades.mean(), np.zeros(m)])
        bounds = np.where(rising > 0, 0, -np.inf), np.where(rising < 0, 0, np.inf)
        wanted = lsq_linear(z, y, bounds, method="bvls", tol=1e-14)
        found = ridge_fit(scores, grades, 0.01, rising).weights
        assert found == pytest.approx(wanted.x, abs=1e-9), seed
        assert (found * rising >= 0).all()
        at_bounds += int(((found == 0) & (rising != 0)).sum())
    assert at_bounds > 30


def test_constant_and_dependent_columns() -> None:
    scores, grades = drawn(2, m=2)
    alone = ridge_fit(scores, grades, 0.0)
    with_constant = ridge_fit(np.column_stack([scores, np.full(len(scores), 0.1 + 0.2)]), grades, 0.0)
    assert with_constant.weights.tolist() == pytest.approx([*alone.weights.tolist(), 0.0], abs=1e-10)
    twice = ridge_fit(scores[:, [0, 1, 1]], grades, 0.0)  # the weights of least norm share what one column had
    assert twice.weights == pytest.approx(alone.weights[[0, 1, 1]] / [1, 2, 2], abs=1e-9)
    assert ridge_fit(np.full((5, 1), 7.0), np.arange(5.0)).predict(np.array([[9.0]])).tolist() == [2.0]


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e90])
def test_the_size_of_scores_does_not_matter(size: float) -> None:
    scores, grades = drawn(3)
    wanted = ridge_fit(scores, grades)
    found = ridge_fit(scores * size, grades)
    assert found.weights == pytest.approx(wanted.weights, rel=1e-6)
    assert found.predict(scores * size) == pytest.approx(wanted.predict(scores), rel=1e-6)


def test_a_grade_does_not_depend_on_the_texts_beside_it() -> None:
    scores, grades = drawn(4, n=70)
    model = ridge_fit(scores, grades)
    whole = model.predict(scores)
    assert [model.predict(row[None])[0] for row in scores] == whole.tolist()
    assert model.predict(np.asfortranarray(scores)).tolist() == whole.tolist()


def test_isotonic_keeps_few_points_and_says_the_same() -> None:
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 50, 400):
        scores, grades = rng.normal(size=n).round(1), rng.integers(1, 6, n).astype(float)
        model = isotonic_fit(scores[:, None], grades)
        at = np.concatenate([scores, rng.normal(size=50)])
        assert model.predict(at[:, None]).tolist() == isotonic(scores, grades, at).tolist()
        assert len(model.known) <= len(np.unique(scores))
    assert len(model.known) < 20


def test_isotonic_of_a_metric_for_which_lower_is_better() -> None:
    model = isotonic_fit(np.array([[1.0], [2.0], [3.0]]), np.array([5.0, 3.0, 1.0]), falls=True)
    assert model.predict(np.array([[0.0], [1.5], [3.0], [8.0]])).tolist() == [5.0, 4.0, 1.0, 1.0]


def test_folds_of_items() -> None:
    assert assign_items(list("abcde"), 5).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(Undefined, match=r"9 folds need at least as many items, and 2 have .* give folds=2 or fewer"):
        assign_items(["a", "b"], 9)
    with pytest.raises(Undefined, match=r"only one item \(a\)"):
        assign_items(["a"], 9)
