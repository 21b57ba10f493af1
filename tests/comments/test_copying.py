"""The longest run of words that two texts share, against a plain search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from postil.comments.copying import SharedSpan, SpanIndex

if TYPE_CHECKING:
    from pathlib import Path

Words = st.lists(st.integers(0, 3), max_size=12)


def runs(texts: list[list[int]]) -> SpanIndex:
    ids = np.array([word for text in texts for word in text], dtype=np.int32)
    return SpanIndex.of(ids, np.cumsum([0, *map(len, texts)]))


def plain(texts: list[list[int]], words: list[int]) -> SharedSpan | None:
    """By trying all, the longest first, then the one that begins first, then the first text."""
    for size in range(len(words), 1, -1):
        for begin in range(len(words) - size + 1):
            for number, text in enumerate(texts):
                if any(text[at : at + size] == words[begin : begin + size] for at in range(len(text) - size + 1)):
                    return SharedSpan(number, begin, size)
    return None


@given(st.lists(Words, max_size=6), Words)
def test_it_is_the_longest_and_the_first(texts: list[list[int]], words: list[int]) -> None:
    assert runs(texts).longest(words) == plain(texts, words)


def test_a_run_does_not_go_from_one_text_into_the_next() -> None:
    assert runs([[1, 2], [3, 4]]).longest([2, 3]) is None
    assert runs([[1, 2], [], [3, 4]]).longest([1, 2, 3, 4]) == SharedSpan(0, 0, 2)


def test_words_that_no_text_has() -> None:
    assert runs([[1, 2, 3]]).longest([9, 9, 2, 3, 9]) == SharedSpan(0, 2, 2)
    assert runs([]).longest([1, 2]) is None


def test_arrays_can_be_mapped(tmp_path: Path) -> None:
    some = runs([[1, 2, 3], [2, 3, 4, 5]])
    for name in ("ids", "order"):
        np.save(tmp_path / f"{name}.npy", getattr(some, name))
    mapped = SpanIndex(*(np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("ids", "order")))
    assert mapped.longest([0, 2, 3, 4]) == SharedSpan(1, 1, 3)


def test_texts_can_be_taken_out() -> None:
    ids, offsets = np.array([5, 6, 7, 6, 7, 8, 5]), np.array([0, 3, 3, 6, 7])
    taken = SpanIndex.of(ids, offsets).take(np.array([1, 2, 3]))
    alone = SpanIndex.of(ids[3:], np.array([0, 0, 3, 4]))
    np.testing.assert_array_equal(taken.ids, alone.ids)
    np.testing.assert_array_equal(taken.order, alone.order)
