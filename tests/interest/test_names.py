"""Names of a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.interest.features import page_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They met Mr. Smith and J. R. Hartley in St. Ives.", ("Mr. Smith", "J. R. Hartley", "St. Ives")),
        ("Then the Bishop of Ely saw it, with Ana de la Cruz.", ("Bishop of Ely", "Ana de la Cruz")),
        ("On Monday we left in May, and I'm glad I did.", ()),
        ("NATO and the U.S. Army agreed.", ("NATO", "U.S. Army")),
        ("We saw Ely, Ely’s tower, and York's.", ("Ely", "York")),
        ("Rain fell. Snow fell! (Hail fell.) “Sleet fell,” he said: Wind.", ()),
        ("We read \N{LEFT DOUBLE QUOTATION MARK}The Old Mill\N{RIGHT DOUBLE QUOTATION MARK}.", ("Old Mill",)),
        ("we met Émile in Ålesund", ("Émile", "Ålesund")),
        ("CONTENTS AND INDEX", ()),
        ("北京是首都", ()),
        ("", ()),
    ],
)
def test_names_of_a_passage(text: str, expected: tuple[str, ...]) -> None:
    assert page_names([text]) == [expected]


def test_the_first_word_counts_where_the_page_has_it_inside_a_sentence() -> None:
    alone, both = page_names(["Ada wrote it."]), page_names(["Ada wrote it.", "It was Ada.", "The Ada."])
    assert alone == [()]
    assert both == [("Ada",), ("Ada",), ("Ada",)]


@given(st.lists(st.text(st.sampled_from("Ab É.’' -“(中I\n"), max_size=12), max_size=5))
def test_names_are_parts_of_their_passages(texts: list[str]) -> None:
    for text, names in zip(texts, page_names(texts), strict=True):
        assert len(set(names)) == len(names)
        for name in names:
            assert name in text
            assert any(letter.isupper() for letter in name)
