"""Passages of a text and their places in it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.app.page import passages_in

PARTS = ("\n", "\r\n", " ", "\t", "\u2028", "A", "b", ". ", "! ", "。", '"', "”", "😀")


@given(
    st.lists(st.sampled_from(PARTS), max_size=20).map("".join), st.sampled_from(["paragraphs", "lines", "sentences"])
)
def test_a_passage_is_what_stands_at_its_place(text: str, split: str) -> None:
    found = passages_in(text, split)  # type: ignore[arg-type]  # one of the three
    end = 0
    for one in found:
        assert end <= one.start < one.end
        between, end = text[end : one.start], one.end
        assert not between.strip()
        assert " ".join(text[one.start : one.end].split()) == one.text != ""
    assert not text[end:].strip()


@pytest.mark.parametrize(
    ("split", "wanted"),
    [
        ("paragraphs", ["One. Two more.", "Three is here."]),
        ("lines", ["One. Two", "more.", "Three is", "here."]),
        ("sentences", ["One.", "Two more.", "Three is here."]),
    ],
)
def test_each_way_to_split(split: str, wanted: list[str]) -> None:
    text = "One. Two\nmore.\n \nThree is\nhere.\n"
    found = passages_in(text, split)  # type: ignore[arg-type]  # one of the three
    assert [one.text for one in found] == wanted
    assert [re.sub(r"\s+", " ", text[one.start : one.end]) for one in found] == wanted
