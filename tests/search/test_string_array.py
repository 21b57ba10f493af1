from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.errors import InvalidInput
from postil.search.string_array import StringArray

if TYPE_CHECKING:
    from pathlib import Path

# Any code point, half a surrogate pair too: JSON may hold one.
TEXTS = st.lists(st.text(st.characters(codec=None), max_size=12), max_size=12)


@given(TEXTS)
def test_texts_come_back(texts: list[str]) -> None:
    strings = StringArray.of(texts)
    assert len(strings) == len(texts)
    assert [strings[place] for place in range(len(strings))] == texts
    assert (strings.data.dtype, strings.offsets.dtype) == (np.uint8, np.int64)


@given(TEXTS, st.data())
def test_texts_are_copied_and_joined(texts: list[str], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=20)) if texts else []
    strings = StringArray.of(texts)
    taken = strings.take(np.array(places, np.int64))
    assert strings.texts(np.array(places, np.int64)) == [texts[place] for place in places]
    assert [taken[place] for place in range(len(taken))] == [texts[place] for place in places]
    both = StringArray.concatenate([strings, taken, StringArray.of([])])
    expected = StringArray.of([*texts, *(texts[place] for place in places)])
    assert both.offsets.tolist() == expected.offsets.tolist()
    assert both.data.tobytes() == expected.data.tobytes()


def test_a_damaged_text_is_named() -> None:
    strings = StringArray(np.frombuffer(b"ab\xff", np.uint8), np.array([0, 2, 3]), "texts.npy")
    assert strings.texts(np.array([0, 0])) == ["ab", "ab"]
    with pytest.raises(InvalidInput, match=r"^texts\.npy: text 1: expected UTF-8, got b'\\xff'"):
        strings.texts(np.array([0, 1]))


def test_texts_are_taken_one_by_one() -> None:
    strings = StringArray.of(text * 2 for text in ("a", "雨", ""))
    assert [strings[place] for place in range(3)] == ["aa", "雨雨", ""]
    assert strings.offsets.tolist() == [0, 2, 8, 8]


def test_texts_come_back_from_files(tmp_path: Path) -> None:
    for texts in (["rain", "", "雨\n", "a\u2028b"], ["", ""], []):
        strings = StringArray.of(texts)
        np.save(tmp_path / "data.npy", strings.data)
        np.save(tmp_path / "offsets.npy", strings.offsets)
        # An empty file cannot be mapped, but an array of no bytes has a header.
        kept = StringArray(*(np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("data", "offsets")))
        assert [kept[place] for place in range(len(kept))] == texts


def test_texts_travel_between_processes() -> None:
    again = pickle.loads(pickle.dumps(StringArray.of(["rain", "雨"])))  # noqa: S301 - our own
    assert again[1] == "雨"
