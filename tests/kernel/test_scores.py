"""Sums of powers and the highest scores: both kernels against the definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from exploration import examples
from kernels import each_kernel

# Few different values, so that there are ties; wide ones, so that powers fall to nothing.
numbers = st.one_of(st.sampled_from([-1.0, 0.0, 2.0, -math.inf]), st.floats(-300, 300, width=32))
shapes = st.tuples(st.integers(1, 4), st.integers(1, 200))
tables = arrays.arrays(np.float32, shapes, elements=numbers)


@each_kernel
@examples(150)
@given(tables)
def test_sums_are_those_of_double_precision(kernel, scores):
    found = kernel.log_sums(scores)
    assert found.dtype == np.float32
    for row, got in zip(scores.tolist(), found.tolist(), strict=True):
        top = max(row)
        if top == -math.inf:
            assert got == -math.inf
        else:
            wanted = top + math.log(math.fsum(math.exp(score - top) for score in row))
            assert math.isclose(got, wanted, rel_tol=2e-6, abs_tol=2e-6)


@each_kernel
@examples(150)
@given(tables, st.data())
def test_highest_come_first_and_of_equals_the_first(kernel, scores, data):
    k = data.draw(st.integers(1, scores.shape[1]))
    columns, values = kernel.highest(scores, k)
    assert columns.dtype == np.int64
    for row, where, what in zip(scores.tolist(), columns.tolist(), values.tolist(), strict=True):
        assert where == sorted(range(len(row)), key=lambda column: (-row[column], column))[:k]
        assert what == [row[column] for column in where]


@each_kernel
def test_rows_are_longer_than_what_is_calculated_with_together(kernel):
    """9,000 scores, the highest in the first, a middle and the last place."""
    scores = np.linspace(-9, -3, 9000, dtype=np.float32)[None].repeat(2, axis=0)
    scores[0, [0, 4096, 8999]] = [3, 5, 4]
    assert kernel.highest(scores, 4)[0].tolist() == [[4096, 8999, 0, 8998], [8999, 8998, 8997, 8996]]
    exact = np.log(np.exp(scores.astype(np.float64)).sum(1))
    np.testing.assert_allclose(kernel.log_sums(scores), exact, rtol=1e-6)


@each_kernel
@pytest.mark.parametrize("k", [0, 4])
def test_more_than_there_is(kernel, k):
    with pytest.raises(ValueError, match="expected k from 1"):
        kernel.highest(np.zeros((1, 3), np.float32), k)
