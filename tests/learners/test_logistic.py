"""Logistic regression against scikit-learn, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.errors import InvalidInput, Undefined, UsageError
from postil.learners.linear import Logistic


def drawn(seed: int, n: int = 200, columns: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns)) * [1, 100, 0.01, 1][:columns] + 5
    return x, rng.random(n) < 1 / (1 + np.exp(-(x[:, 0] - 5) + 0.02 * (x[:, 1] - 5)))


@pytest.mark.parametrize("l2", [0.01, 1.0, 100.0])
def test_fits_are_those_of_scikit_learn(l2: float) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    x, true = drawn(3)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    peer = linear.LogisticRegression(C=1 / l2, tol=1e-10, max_iter=1000).fit(z, true)
    model = Logistic.fit(x, true, l2)
    assert model.weights == pytest.approx(peer.coef_[0], abs=1e-6)
    assert model.intercept == pytest.approx(peer.intercept_[0], abs=1e-6)
    assert model.probabilities(x) == pytest.approx(peer.predict_proba(z)[:, 1], abs=1e-6)


@given(st.integers(0, 1000), st.floats(0.01, 10), st.floats(-5, 5))
def test_units_of_a_column_change_nothing(seed: int, scale: float, shift: float) -> None:
    x, true = drawn(seed, n=40, columns=2)
    found = Logistic.fit(x, true).predict(x)
    assert Logistic.fit(x * scale + shift, true).predict(x * scale + shift) == pytest.approx(found, abs=1e-6)


def test_separable_outcomes_and_constant_columns() -> None:
    x = np.column_stack([np.arange(10.0), np.full(10, 0.1), np.full(10, 1e9)])
    model = Logistic.fit(x, x[:, 0] >= 5, l2=1e-6)
    assert (model.predict(x) > 0).tolist() == [False] * 5 + [True] * 5
    assert model.weights[1:].tolist() == [0, 0]
    assert np.isfinite(model.predict(np.array([[5.0, 7.0, 0.0]]))).all()


def test_logits_of_a_row_do_not_depend_on_others() -> None:
    x, true = drawn(5)
    model = Logistic.fit(x, true)
    assert [model.predict(row[None])[0] for row in x] == model.predict(x).tolist()


def test_what_cannot_be_fitted() -> None:
    x, true = drawn(1)
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
