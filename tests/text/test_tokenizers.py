"""Tokenizers, tokens, and units of texts, counted."""

from __future__ import annotations

import pickle
import re
import unicodedata
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.errors import UnknownName
from postil.text.tokenizers import TOKENIZERS, is_han_text, stored_tokenizer, tokenizer
from postil.text.tokens import Units, Vocabulary, ngram_units

PLAIN = ["space", "words", "characters", "rouge", "13a", "ptb"]
SACREBLEU = [
    f"sacrebleu:{name}"
    for name in ("13a", "intl", "zh", "char", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm")
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def test_the_table_names_the_tokenizers() -> None:
    assert list(TOKENIZERS) == ["space", "words", "characters", "rouge", "13a", "ptb", "jieba", "rjieba", *SACREBLEU]


@pytest.mark.parametrize("name", PLAIN)
def test_a_tokenizer_is_a_value(name: str) -> None:
    one = tokenizer(name)
    assert one == tokenizer(name)
    assert hash(one) == hash(tokenizer(name))
    assert (one.name.partition("-")[0], one.signature.partition("-")[0]) == (name, name)
    assert one.native == (None if name in {"13a", "ptb"} else name)
    assert pickle.loads(pickle.dumps(one)).split("a b") == ["a", "b"] or name == "characters"  # noqa: S301
    with pytest.raises(AttributeError):
        one.name = "other"  # type: ignore[misc]


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"unknown tokenizer 'word'; did you mean 'words'\?"):
        tokenizer("word")


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("space", "  It's\tfine,\u3000ok\n", ["It's", "fine,", "ok"]),
        ("words", "It's FINE, snake_case 3.5 Élan", ["it", "s", "fine", "snake_case", "3", "5", "élan"]),
        ("words", "İstanbul", ["i\u0307stanbul"]),  # lower-cased to i and a combining dot
        ("words", "पूर्व प्रधानमन्त्री", ["पूर्व", "प्रधानमन्त्री"]),
        ("words", "می‌روم \u200cab\u200d c\u200d\u200cd", ["می‌روم", "ab", "c\u200d\u200cd"]),
        ("words", "Cre\u0300me crème H\u0331 h\u0331", ["crème", "crème", "\u1e96", "\u1e96"]),
        ("words", "co\u00adoperate e\u00ad\u0301", ["cooperate", "é"]),
        ("words", "שָׁלוֹם", ["שָׁלוֹם"]),
        ("words", "\u0301abc \u200dd_\u0301", ["abc", "d_\u0301"]),
        ("words", "naïve x² foo_bar", ["naïve", "x²", "foo_bar"]),
        ("words", "👍🏽 ❤️ 3️⃣", ["3\ufe0f\u20e3"]),  # emoji are no words, a digit with marks is
        ("characters", "我 a\u3000👍🏽\n", ["我", "a", "👍", "🏽"]),
        ("rouge", "It's FINE, snake_case 3.5 Élan", ["it", "s", "fine", "snake", "case", "3", "5", "lan"]),
        ("rouge", "\u212a Straße ² ½", ["k", "stra", "e"]),  # the sign of kelvin is lower-cased to k
        ("13a", "Hello, world.", ["Hello", ",", "world", "."]),
        ("13a", "1,000.5 a.b .5 5. 3-4 a-b", ["1,000.5", "a", ".", "b", ".", "5", "5", ".", "3", "-", "4", "a-b"]),
        ("13a", "x,.5 wait...", ["x", ",", ".5", "wait", ".", ".", "."]),
        ("13a", "&quot;a&quot; &amp;lt; b &gt; c", ['"', "a", '"', "<", "b", ">", "c"]),
        ("13a", "<skipped>hy-\nphen\nnew don't", ["hyphen", "new", "don't"]),
        ("13a", "[x]{y}^_`~@#$%*+=|\\/", list("[x]{y}^_`~@#$%*+=|\\/")),
    ],
)
def test_frozen_cases(name: str, text: str, tokens: list[str]) -> None:
    assert tokenizer(name).split(text) == tokens


@given(text=st.text(st.characters(exclude_categories=["Mn", "Mc", "Me"], exclude_characters="İ\xad\u200c\u200d")))
def test_texts_without_marks_have_the_words_of_the_first_rule(text: str) -> None:
    plain = "".join(one for one in text if unicodedata.is_normalized("NFC", one.lower()))
    assert tokenizer("words").split(plain) == stored_tokenizer("words").split(plain)


@given(text=st.text(st.characters(categories=["L", "M", "Nd"], max_codepoint=0x1FFF)))
def test_texts_have_the_words_of_their_composed_form(text: str) -> None:
    words = tokenizer("words").split
    assert words(unicodedata.normalize("NFD", text)) == words(text) == words(unicodedata.normalize("NFC", text))


def test_chinese_words_are_those_of_the_composed_text() -> None:
    for name in ("jieba", "rjieba"):
        assert tokenizer(name).split("我爱cre\u0300me") == tokenizer(name).split("我爱crème")


def test_a_folder_keeps_the_rule_of_its_time() -> None:
    assert stored_tokenizer("words").split("वह दान") == ["वह", "द", "न"]
    assert stored_tokenizer("words-2") == tokenizer("words") == tokenizer("words-2")
    assert stored_tokenizer("words") != tokenizer("words")
    assert stored_tokenizer("13a") == tokenizer("13a")


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("text", ["", " ", "\n\u3000\t"])
def test_a_blank_text_has_no_tokens(name: str, text: str) -> None:
    assert tokenizer(name).split(text) == []


@pytest.mark.parametrize("name", PLAIN)
@given(texts=st.lists(TEXTS, max_size=5))
def test_tokens_are_whole_and_batches_are_the_same(name: str, texts: list[str]) -> None:
    chosen = tokenizer(name)
    tokens = chosen.split_all(texts)
    assert tokens == [chosen.split(text) for text in texts]
    assert all(token and not re.search(r"\s", token) for row in tokens for token in row)


@pytest.mark.parametrize("name", ["space", "characters"])
@given(text=TEXTS)
def test_nothing_but_white_space_is_lost(name: str, text: str) -> None:
    assert "".join(tokenizer(name).split(text)) == "".join(text.split())


@given(st.text(st.sampled_from("我們𠀀豈 ab9_,。かé"), max_size=12))
def test_han_text_counts_characters_against_runs(text: str) -> None:
    def is_han(c: str) -> bool:
        n = ord(c)
        return 0x3400 <= n <= 0x4DBF or 0x4E00 <= n <= 0x9FFF or 0xF900 <= n <= 0xFAFF or 0x20000 <= n <= 0x3FFFF

    han = sum(map(is_han, text))
    runs = 0
    inside = False
    for c in text:
        other = bool(re.match(r"\w", c)) and not is_han(c)
        runs += other and not inside
        inside = other
    assert is_han_text(text) is (han > 0 and han >= runs)


def test_texts_are_kept_beside_their_tokens_if_asked_for() -> None:
    texts = ["A b.", "", "c"]
    for name in ("words", "13a"):
        kept = Vocabulary().encode(texts, tokenizer(name), keep_texts=True)
        assert kept.texts == texts
        assert Vocabulary().encode(texts, tokenizer(name)).texts is None
    assert kept.take(np.array([2, 0, 2])).texts == ["c", "A b.", "c"]
    assert Vocabulary().encode_tokens([["a", "b"], []], keep_texts=True).texts == ["a b", ""]
    assert Vocabulary().encode_tokens([["a"]]).take(np.array([0])).texts is None


def test_take_is_the_texts_one_by_one() -> None:
    tokens = Vocabulary().encode_tokens([["a", "b"], [], ["b", "c", "b"]])
    taken = tokens.take(np.array([2, 1, 0, 2]))
    assert [taken.words(i) for i in range(4)] == [["b", "c", "b"], [], ["a", "b"], ["b", "c", "b"]]
    assert taken.ids.dtype == np.int32
    assert taken.offsets.dtype == np.int64
    assert len(tokens.take(np.array([], dtype=np.int64))) == 0


def counted(*texts: str, n: int = 1, gap: int = 0, up_to: bool = False) -> tuple[list[Counter[str]], Units]:
    """The units of each text as words, with their counts."""
    vocabulary = Vocabulary()
    units = ngram_units(vocabulary.encode(texts, tokenizer("words")), n, gap, up_to=up_to)
    words = vocabulary.words()
    found = [
        Counter(
            {" ".join(words[word] for word in units.grams[units.units[e]]): int(units.counts[e]) for e in range(*row)}
        )
        for row in pairwise(units.offsets.tolist())
    ]
    return found, units


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"n": 1}, {"a": 3, "b": 2, "c": 1}),
        ({"n": 2}, {"a b": 2, "b a": 1, "b c": 1, "c a": 1}),
        ({"n": 3}, {"a b a": 1, "b a b": 1, "a b c": 1, "b c a": 1}),
        # a gap of exactly one word: places 0 2, 1 3, 2 4, 3 5
        ({"n": 2, "gap": 1}, {"a a": 1, "b b": 1, "a c": 1, "b a": 1}),
        # and of none as well
        ({"n": 2, "gap": 1, "up_to": True}, {"a b": 2, "b a": 2, "b c": 1, "c a": 1, "a a": 1, "b b": 1, "a c": 1}),
        ({"n": 2, "gap": 4}, {"a a": 1}),
        ({"n": 9}, {}),
    ],
)
def test_units_of_a_text(asked, expected) -> None:
    (found,), _ = counted("a b a b c a", **asked)
    assert found == Counter(expected)


def test_units_do_not_cross_texts() -> None:
    found, units = counted("a b", "c", "", "d a b", n=2)
    assert found == [{"a b": 1}, {}, {}, {"d a": 1, "a b": 1}]
    assert len(units) == 4
    assert units.distinct == 2


def test_numbers_of_units() -> None:
    """Types are distinct units, totals count repeats: what |S| is for F1, and what it is for the others."""
    _, units = counted("a b a", "", "c c c c")
    assert units.types.tolist() == [2, 0, 1]
    assert units.totals.tolist() == [3, 0, 4]


def test_units_are_numbered_by_first_sight_and_stand_so_in_their_text() -> None:
    _, units = counted("b a", "a c b a")
    assert units.units.tolist() == [0, 1, 1, 2, 0]
    assert units.counts.tolist() == [1, 1, 2, 1, 1]
    assert (units.offsets.dtype, units.units.dtype, units.counts.dtype) == (np.int64, np.int32, np.int32)


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
@pytest.mark.parametrize("n", [1, 2])
def test_nothing_has_no_units(texts, n) -> None:
    found, units = counted(*texts, n=n)
    assert found == [{}] * len(texts)
    assert (units.distinct, units.grams.shape) == (0, (0, n))
    assert units.totals.tolist() == [0] * len(texts)


@pytest.mark.parametrize(("n", "gap"), [(0, 0), (10, 0), (2, -1)])
def test_units_that_cannot_be(n, gap) -> None:
    with pytest.raises(ValueError, match="expected"):
        counted("a b", n=n, gap=gap)
