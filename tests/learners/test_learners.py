"""Learners: trees, logistic regression and sparse ridge, against plain programs."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.errors import InvalidInput, MissingExtra, Undefined, UsageError
from postil.learners.boosting import Tree, Trees, boosting_fit, classifier_fit
from postil.learners.linear import GroupedColumns, Logistic, grouped_ridge
from postil.learners.sparse_logistic import fit_sparse_logistic

ensemble = pytest.importorskip("sklearn.ensemble")


def drawn(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(n, 3)).round(1)
    return scores, np.sin(2 * scores[:, 0]) + scores[:, 1] ** 2 + rng.normal(size=n)


def test_predictions_are_those_of_scikit_learn() -> None:
    scores, grades = drawn()
    rising = np.array([0, 1, -1], np.int8)
    model = ensemble.HistGradientBoostingRegressor(
        max_iter=150,
        learning_rate=0.05,
        max_leaf_nodes=8,
        min_samples_leaf=40,
        monotonic_cst=[0, 1, -1],
        early_stopping=False,
        random_state=1,
    ).fit(scores, grades)
    asked = np.vstack([scores, scores + 1e-12, np.random.default_rng(2).normal(size=(200, 3)) * 9])
    found = boosting_fit(scores, grades, rising, seed=1)
    assert found.predict(asked).tolist() == model.predict(asked).tolist()
    assert len(found.trees) == 150
    assert found.gain.sum() == pytest.approx(1)


def test_logits_are_those_of_scikit_learn() -> None:
    scores, grades = drawn()
    true = grades > 0.5
    model = ensemble.HistGradientBoostingClassifier(
        max_iter=100, learning_rate=0.05, max_leaf_nodes=8, min_samples_leaf=40, early_stopping=False, random_state=1
    ).fit(scores, true)
    asked = np.vstack([scores, np.random.default_rng(2).normal(size=(200, 3)) * 9])
    assert classifier_fit(scores, true, seed=1).predict(asked).tolist() == model.decision_function(asked).tolist()


def test_no_trees_are_the_baseline() -> None:
    assert Trees(0.5, (), np.zeros(3)).predict(np.zeros((4, 3))).tolist() == [0.5] * 4


@pytest.mark.parametrize(("leaves", "sound"), [(64, True), (65, False)])
def test_trees_have_at_most_64_leaves(leaves: int, sound: bool) -> None:
    chain = Tree(
        feature=np.array([0, -1] * (leaves - 1) + [-1], np.int32),
        threshold=np.array([float(at // 2) for at in range(2 * leaves - 1)]),
        left=np.array([at + 1 if at % 2 == 0 else 0 for at in range(2 * leaves - 2)] + [0], np.int32),
        right=np.array([at + 2 if at % 2 == 0 else 0 for at in range(2 * leaves - 2)] + [0], np.int32),
        value=np.array([0.0 if at % 2 == 0 else float(at) for at in range(2 * leaves - 2)] + [99.0]),
    )
    assert chain.sound(1) == sound
    trees, asked = Trees(0.5, (chain,), np.ones(1)), np.array([[-1.0], [0.5], [8.0], [80.0]])
    if sound:
        assert trees.predict(asked).tolist() == [1.5, 3.5, 17.5, 99.5]
    else:
        with pytest.raises(ValueError, match="at most 64 leaves"):
            trees.predict(asked)


def test_a_node_is_below_one_other_alone() -> None:
    below = {"left": np.array([1, 2, 0, 0], np.int32), "right": np.array([2, 3, 0, 0], np.int32)}
    nodes = Tree(np.array([0, 0, -1, -1], np.int32), np.zeros(4), value=np.zeros(4), **below)
    assert not nodes.sound(1)


def test_a_bound_holds_everywhere() -> None:
    scores, grades = drawn()
    free, bound = (boosting_fit(scores, grades, np.array([0, sign, 0], np.int8), seed=1) for sign in (0, 1))
    line = np.zeros((100, 3))
    line[:, 1] = np.linspace(-3, 3, 100)
    assert (np.diff(bound.predict(line)) >= 0).all()
    assert (np.diff(free.predict(line)) < 0).any()


def test_too_few_texts_and_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, grades = drawn(79)
    with pytest.raises(
        Undefined, match=r"at least 80 texts in each fit \(40 per leaf\), and there are 79; .* method=.ridge"
    ):
        boosting_fit(scores, grades, np.zeros(3, np.int8), seed=1)
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(MissingExtra, match=r"method=.boosting. needs an optional package: .*postil\[boosting\]"):
        boosting_fit(*drawn(), np.zeros(3, np.int8), seed=1)
    with pytest.raises(MissingExtra, match=r"boosted trees needs an optional package: .*postil\[boosting\]"):
        classifier_fit(drawn()[0], drawn()[1] > 0, seed=1)


def test_outcomes_that_cannot_be_fitted() -> None:
    scores, _ = drawn(100)
    with pytest.raises(Undefined, match="outcomes of both kinds"):
        classifier_fit(scores, np.ones(100, bool), seed=1)
    with pytest.raises(Undefined, match="at least 80 rows"):
        classifier_fit(scores[:79], scores[:79, 0] > 0, seed=1)


def labeled(seed: int, n: int = 200, columns: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns)) * [1, 100, 0.01, 1][:columns] + 5
    return x, rng.random(n) < 1 / (1 + np.exp(-(x[:, 0] - 5) + 0.02 * (x[:, 1] - 5)))


@pytest.mark.parametrize("l2", [0.01, 1.0, 100.0])
def test_fits_are_those_of_scikit_learn(l2: float) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    x, true = labeled(3)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    peer = linear.LogisticRegression(C=1 / l2, tol=1e-10, max_iter=1000).fit(z, true)
    model = Logistic.fit(x, true, l2)
    assert model.weights == pytest.approx(peer.coef_[0], abs=1e-6)
    assert model.intercept == pytest.approx(peer.intercept_[0], abs=1e-6)
    assert model.probabilities(x) == pytest.approx(peer.predict_proba(z)[:, 1], abs=1e-6)


@given(st.integers(0, 1000), st.floats(0.01, 10), st.floats(-5, 5))
def test_units_of_a_column_change_nothing(seed: int, scale: float, shift: float) -> None:
    x, true = labeled(seed, n=40, columns=2)
    found = Logistic.fit(x, true).predict(x)
    assert Logistic.fit(x * scale + shift, true).predict(x * scale + shift) == pytest.approx(found, abs=1e-6)


def test_separable_outcomes_and_constant_columns() -> None:
    x = np.column_stack([np.arange(10.0), np.full(10, 0.1), np.full(10, 1e9)])
    model = Logistic.fit(x, x[:, 0] >= 5, l2=1e-6)
    assert (model.predict(x) > 0).tolist() == [False] * 5 + [True] * 5
    assert model.weights[1:].tolist() == [0, 0]
    assert np.isfinite(model.predict(np.array([[5.0, 7.0, 0.0]]))).all()


def test_logits_of_a_row_do_not_depend_on_others() -> None:
    x, true = labeled(5)
    model = Logistic.fit(x, true)
    assert [model.predict(row[None])[0] for row in x] == model.predict(x).tolist()


def test_what_cannot_be_fitted() -> None:
    x, true = labeled(1)
    with pytest.raises(Undefined, match="outcomes of both kinds"):
        Logistic.fit(x, np.ones(len(x), bool))
    with pytest.raises(Undefined, match="outcomes of both kinds"):
        Logistic.fit(x[:0], true[:0])
    with pytest.raises(UsageError, match="l2: expected a number above 0, got nan"):
        Logistic.fit(x, true, float("nan"))
    with pytest.raises(UsageError, match="one outcome per row"):
        Logistic.fit(x, true[1:])
    x[3, 0] = np.inf
    with pytest.raises(InvalidInput, match="expected finite numbers"):
        Logistic.fit(x, true)


@pytest.mark.parametrize("penalty", [0.1, 10.0])
def test_weights_are_those_of_the_normal_equations(penalty: float) -> None:
    rng = np.random.default_rng(3)
    binary = rng.random((60, 90)) < 0.1
    dense, target = rng.normal(size=(60, 3)), rng.normal(size=60)
    groups = rng.integers(0, 5, 60)
    rows, columns = np.nonzero(binary)
    whole = np.hstack([binary, dense])
    for group in range(5):
        here = groups == group
        whole[here] -= whole[here].mean(axis=0)
        target[here] += 7.0 * group
    centered = target - np.array([target[groups == group].mean() for group in range(5)])[groups]
    expected = np.linalg.solve(whole.T @ whole + penalty * np.eye(93), whole.T @ centered)
    found = grouped_ridge(GroupedColumns(rows, columns, 90, dense, groups), target, penalty)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_nothing_to_learn_has_no_weights() -> None:
    none = np.zeros(0, np.int64)
    columns = GroupedColumns(none, none, 2, np.ones((3, 1)), np.array([0, 0, 1]))
    assert grouped_ridge(columns, np.array([1.0, 1.0, 5.0]), 1.0).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("tolerance", [0.1, 0.5])
def test_a_tolerance_moves_logits_of_a_sparse_fit_by_less(tolerance: float) -> None:
    rng = np.random.default_rng(5)
    rows, width, size = 400, 20, 600
    odds = np.log(np.arange(1, size + 1)) - rng.gumbel(size=(rows, size))  # columns by Zipf's law, none twice in a row
    places = np.argsort(odds, axis=1)[:, :width].astype(np.int32)
    entries = np.arange(rows + 1) * width, places.ravel(), np.full(rows * width, width**-0.5, np.float32)
    first = rng.normal(size=size)[places].mean(axis=1) + rng.normal(size=rows) / 5 > 0
    targets, dense = np.stack([first, rng.random(rows) < 0.1, first], axis=1), np.zeros((rows, 0), np.float32)

    def fitted(tolerances: list[float]) -> tuple[np.ndarray, np.ndarray]:
        weights, intercepts = fit_sparse_logistic(
            entries, size, dense, targets, inverse_penalty=10, tolerances=tolerances
        )
        return weights, weights[:, places].sum(axis=2) * width**-0.5 + intercepts[:, None]

    weights, logits = fitted([tolerance] * 3)
    _, exact = fitted([1e-6] * 3)
    assert 0 < np.abs(logits - exact).max() < tolerance
    mixed, _ = fitted([tolerance, 1e-6, 1e-6])
    assert mixed[0].tobytes() == weights[0].tobytes() == mixed[2].tobytes()  # equal targets are fitted once
