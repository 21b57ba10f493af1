from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.text import ptb
from postil.text.ptb import split_ptb

PARTS = (
    "a|A.|The|<b|<b>|no.|5|(555)|555-1234|1/2|1|.|..|.5|x.y|U.S.|don't|cannot|a@b.c|http://a.b/c|中文|“|'21|'n|J.|He|+1|"
    "&amp;|,|Mr.|\u3000|\xa0|no|:)|etc."
)

WHITE = st.sampled_from(
    [" ", " ", "  ", "", "\t", "\n", "\x1f", "\x85", "\xa0", "\u1680", "\u2009", "\u202f", "\u3000"]
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("A. The cat", "a the cat"),  # an initial before such a word is none
        ("A. Cat", "a. cat"),
        ("No. 5, no. b", "no. 5 no b"),
        ("call (555) 555-1234 now", "call -lrb-555-rrb- 555-1234 now"),
        ("a <b c> d", "a <b c> d"),
        ("he cannot, isn’t gonna", "he can not is n't gon na"),
        ("the school., the end", "the school. the end"),
        ("¢ £ € ½ … — 😀 °", "cents # $ 1/2 °"),
        ("!! ! ?! ?", "!! ?!"),
        ("so\nit\u2028goes", "so it goes"),
        ("go '21\u3000there, '21\u2009x", "go '21 there '21 x"),  # white to the program, and to us
        ("rock 'n roll, rock 'n\u3000roll", "rock 'n roll rock n roll"),  # not to all of its rules
        ("go '21\x1fx no.\u202f5", "go 21 x no 5"),  # white to Python alone
        ("call (555)\t555-1234", "call -lrb- 555 -rrb- 555-1234"),
        ("﻿ab\xadcd", "abcd"),
        ("", ""),
    ],
)
def test_rules(text: str, tokens: str) -> None:
    assert " ".join(split_ptb(text)) == tokens


@examples(300)
@given(st.lists(st.tuples(st.sampled_from(PARTS.split("|")), WHITE)))
def test_the_fast_path_changes_nothing(parts: list[tuple[str, str]]) -> None:
    text = "".join(piece + space for piece, space in parts)
    whole = ptb._scan(text)
    assert split_ptb(text) == whole
    assert split_ptb(text) == whole  # from the memory of the first time


def test_the_memory_of_chunks_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptb, "_MOST", 50)
    ptb._KNOWN.clear()
    text = " ".join(f"w{'x' * (i % 7)}-{'y' * i}" for i in range(200))
    assert len(split_ptb(text)) == len(text.split())
    assert len(ptb._KNOWN) <= 50
    assert all(len(chunk) <= 32 for chunk in ptb._KNOWN)


def test_long_texts_without_spaces_take_linear_time_and_stay_whole() -> None:
    assert split_ptb("ab" * 50_000) == ["ab" * 50_000]
    assert split_ptb("a-" * 5_000 + "a") == ["a-" * 5_000 + "a"]
