"""Rank ranges and compact letters say what the significant differences say."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.meta.significance import compact_letters, rank_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray


@st.composite
def significant(draw: st.DrawFn) -> NDArray[np.bool_]:
    systems = draw(st.integers(1, 8))
    differ = np.zeros((systems, systems), bool)
    for first, second in combinations(range(systems), 2):
        differ[first, second] = differ[second, first] = draw(st.booleans())
    return differ


@examples(40)
@given(significant())
def test_two_systems_share_a_letter_unless_they_differ(differ: NDArray[np.bool_]) -> None:
    letters = [set(re.findall(r"[a-z]\d*", text)) for text in compact_letters(differ)]
    assert all(letters)
    for first in range(len(differ)):
        for second in range(first):
            assert bool(letters[first] & letters[second]) != bool(differ[first, second])


@examples(40)
@given(significant())
def test_letters_are_in_order_and_none_is_idle(differ: NDArray[np.bool_]) -> None:
    letters = compact_letters(differ)
    sets = [{place for place, text in enumerate(letters) if letter in text} for letter in sorted({*"".join(letters)})]
    assert not any(one <= other for place, one in enumerate(sets) for other in sets[:place] + sets[place + 1 :])
    assert [sorted(each) for each in sets] == sorted(map(sorted, sets))


@examples(40)
@given(significant())
def test_rank_ranges_count_systems_above_and_below(differ: NDArray[np.bool_]) -> None:
    for place, (low, high) in enumerate(rank_ranges(differ)):
        assert low == 1 + differ[place, :place].sum()
        assert high == len(differ) - differ[place, place + 1 :].sum()
        assert 1 <= low <= place + 1 <= high <= len(differ)


def test_many_groups_have_names_with_numbers() -> None:
    differ = ~np.eye(30, dtype=bool)
    letters = compact_letters(differ)
    assert letters[:2] == ["a", "b"]
    assert letters[25:28] == ["z", "a1", "b1"]
    assert rank_ranges(differ) == [(place, place) for place in range(1, 31)]


def test_too_many_groups_have_no_letters() -> None:
    differ = np.kron(np.eye(12, dtype=bool), ~np.eye(2, dtype=bool)).astype(bool)
    assert compact_letters(differ) == [""] * 24
    assert max(map(len, compact_letters(differ[:18, :18]))) > 256  # 2 ** 9 sets, each in half of them
