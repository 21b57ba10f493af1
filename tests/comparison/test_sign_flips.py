from __future__ import annotations

from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.comparison.interleaved import LEAST_P, sign_flip_p, sign_test


@given(st.lists(st.integers(-9, 9), max_size=9))
def test_all_patterns_of_signs(values: list[int]) -> None:
    terms = [value for value in values if value]
    sums = [abs(sum(sign * value for sign, value in zip(signs, terms, strict=True))) for signs in _signs(len(terms))]
    expected = sum(each >= abs(sum(terms)) for each in sums) / len(sums) if terms else None
    assert sign_flip_p(values) == (None if expected is None else pytest.approx(expected, abs=1e-9))


def _signs(n: int) -> list[tuple[int, ...]]:
    return list(product((1, -1), repeat=n))


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (9, 2), (300, 250), (1000, 1090)])
def test_the_sign_test_is_binomial(wins: int, losses: int) -> None:
    n = wins + losses
    tail = sum(comb(n, k) for k in range(min(wins, losses) + 1))
    assert sign_test(wins, losses) == pytest.approx(min(1.0, 2 * tail / 2**n), abs=2e-10)


def test_no_p_value_is_zero_or_above_one() -> None:
    assert sign_test(50_000, 20_000) == LEAST_P
    assert sign_test(500, 500) == 1.0
    assert sign_test(0, 0) is None
