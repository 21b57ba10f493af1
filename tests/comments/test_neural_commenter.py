"""Texts for people from what a network wrote, options of its decoding, and what it copied."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.comments.neural_commenter import CopyIndex, NeuralCommenter, detokenize, save_generator
from postil.comments.nn.token_ids import SPECIAL
from postil.comments.text_arrays import SharedSpan, SpanIndex, StringArray
from postil.data.model_folders import Model, ModelWriter
from postil.data.rows import Article
from postil.text.tokenizers import tokenizer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("words", "cut", "text"),
    [
        (["i", "think", "they", "don", "t", "know"], "words", "I think they don't know"),
        (["it", "s", "what", "we", "ve", "got"], "words", "It's what we've got"),
        (["t", "shirts", "for", "s"], "words", "T shirts for's"),
        (["Well", ",", "no", "(", "really", ")", "."], "13a", "Well, no (really)."),
        (["你", "知道", "吗", "？"], "rjieba", "你知道吗？"),
        (["用", "iPhone", "拍", "的"], "rjieba", "用iPhone拍的"),
        (["你", "好"], "characters", "你好"),
        (["a", "b"], "space", "a b"),
        ([], "words", ""),
    ],
)
def test_words_become_a_text(words: list[str], cut: str, text: str) -> None:
    if cut == "rjieba":
        pytest.importorskip("rjieba")
    assert detokenize(words, cut) == text


@given(st.lists(st.sampled_from(["i", "s", "t", "don", "rain", "won", "é", "7", "straße", "天气"]), max_size=9))
def test_the_tokenizer_finds_the_same_words(words: list[str]) -> None:
    assert tokenizer("words").split(detokenize(words, "words")) == words


@given(st.lists(st.sampled_from(["Rain", ",", ".", "(", ")", "don't", "3.5", "!", "%", "天气", '"']), max_size=9))
def test_so_does_one_with_punctuation(words: list[str]) -> None:
    text = detokenize(words, "13a")
    assert text == " ".join(words) or tokenizer("13a").split(text) == words


def test_an_empty_list_has_its_reason(tmp_path: Path) -> None:
    offsets = np.array([0, 2])
    known = CopyIndex(
        SpanIndex.of(np.array([0, 1]), offsets), StringArray.of(["a1"]), np.array([0, 1]), StringArray.of(["0"])
    )
    with ModelWriter(tmp_path / "m", "att", {"tokenizer": "words", "reads": "title"}, {}) as new:
        save_generator(new, ["rain", "again", "in", "town"], known)
    commenter = NeuralCommenter(Model.open(tmp_path / "m"))
    written = [[(1,), (0, 1)], [(0,), (0, 1, 2, 3)], []]
    hypotheses = [
        [SimpleNamespace(tokens=[word + SPECIAL for word in words], score=1.0) for words in each] for each in written
    ]
    vars(commenter)["generator"] = SimpleNamespace(generate=lambda *_: hypotheses)  # a network of any kind
    found = commenter.comment([Article(name, "rain", ()) for name in ("none", "one", "silent")], 2)
    assert [[one.text for one in row.suggestions] for row in found] == [[], ["Rain again in town"], []]
    assert [row.reason for row in found] == [
        "all 2 candidates are filtered out: too short",
        None,
        None,
    ]


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


def test_texts_can_be_taken_out() -> None:
    ids, offsets = np.array([5, 6, 7, 6, 7, 8, 5]), np.array([0, 3, 3, 6, 7])
    taken = SpanIndex.of(ids, offsets).take(np.array([1, 2, 3]))
    alone = SpanIndex.of(ids[3:], np.array([0, 0, 3, 4]))
    np.testing.assert_array_equal(taken.ids, alone.ids)
    np.testing.assert_array_equal(taken.order, alone.order)
