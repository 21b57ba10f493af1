"""Boosted trees: evaluated without scikit-learn, to the last bit what it predicts."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from postil.errors import MissingExtra, Undefined
from postil.learners.boosting import Tree, Trees, boosting_fit, classifier_fit

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
        max_iter=100,
        learning_rate=0.05,
        max_leaf_nodes=8,
        min_samples_leaf=40,
        early_stopping=False,
        random_state=1,
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
