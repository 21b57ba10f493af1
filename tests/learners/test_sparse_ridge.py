"""Ridge regression within groups on sparse columns."""

from __future__ import annotations

import numpy as np
import pytest

from postil.learners.linear import GroupedColumns, grouped_ridge


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
