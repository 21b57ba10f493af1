"""Sentences of a text: where they end, and that nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.text.sentences import sentence_bounds

pytest.importorskip("bench.sentences")
from bench.sentences.texts import SplitText, split_texts

ENDS = (*".!?…。", "\n", "\n\n", "\r\n", " ", "\t", "\u2028", "\u2029", "\u00a0", "ly,", ":)", "😀", "-", "—")
QUOTES = tuple("\"”“'()«»「」§")
WORDS = ("A", "b", "iP", "Mr", "U.S.", "[12]", "[note]", "3", "1.", "IV", "さ")
PARTS = ENDS + QUOTES + WORDS
MADE, LATER = split_texts("boundaries"), split_texts("heldout")


def sentences(text: str, lang: str | None = "en") -> list[str]:
    return [" ".join(text[begin:end].split()) for begin, end in sentence_bounds(text, lang)]


@given(st.lists(st.sampled_from(PARTS), max_size=20).map("".join), st.sampled_from(["en", "de", "zh", "xx", None]))
def test_all_but_white_space_is_in_one_sentence(text: str, lang: str | None) -> None:
    end = 0
    for begin, after in sentence_bounds(text, lang):
        assert end <= begin < after
        assert not text[end:begin].strip()
        assert text[begin:after] == text[begin:after].strip()
        assert "\n\n" not in text[begin:after]
        end = after
    assert not text[end:].strip()


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join), st.lists(st.sampled_from(PARTS), max_size=12))
def test_paragraphs_do_not_depend_on_each_other(first: str, parts: list[str]) -> None:
    second = "".join(parts)
    assert sentences(f"{first}\n\n{second}") == sentences(first) + sentences(second)


@pytest.mark.parametrize("one", MADE, ids=lambda one: f"{one.kind} {one.text[:20]}")
def test_texts_that_the_rules_were_made_by(one: SplitText) -> None:
    found = sentence_bounds(one.text, one.lang)
    assert [one.text[begin:end] for begin, end in found] == [one.text[begin:end] for begin, end in one.bounds]


def test_texts_written_after_the_rules() -> None:
    pairs = [(one.marks(sentence_bounds(one.text, one.lang)), one.marks(one.bounds)) for one in LATER]
    wanted = sum(len(wanted) for _, wanted in pairs)
    assert wanted >= 100
    assert sum(len(found ^ wanted) for found, wanted in pairs) <= 0.06 * wanted


def test_few_boundaries_depend_on_the_language() -> None:
    pairs = [(one.marks(sentence_bounds(one.text)), one.marks(one.bounds)) for one in MADE]
    assert sum(len(found ^ wanted) for found, wanted in pairs) <= 2


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            'She wrote "we lost." [Ann Eel, p. 75] The mill burned.',
            ['She wrote "we lost." [Ann Eel, p. 75]', "The mill burned."],
        ),
        ("It burned. [Ibid.] Nobody knew.", ["It burned. [Ibid.]", "Nobody knew."]),
        (
            "It burned. [Ann left at 9 that day.] Nobody knew.",
            ["It burned.", "[Ann left at 9 that day.]", "Nobody knew."],
        ),
        ("It burned. [Eel, 1902] but nobody knew.", ["It burned.", "[Eel, 1902] but nobody knew."]),
    ],
)
def test_the_source_of_a_quotation_stands_with_it(text: str, sentences: list[str]) -> None:
    assert [text[begin:end] for begin, end in sentence_bounds(text, "en")] == sentences


@pytest.mark.parametrize(
    "text",
    [
        "The temp. was low.",
        "the temp. was low.",
        "At max. speed it shook.",
        "The min. is ten.",
        "the max. speed is ten.",
        "The avg. and the std. of it are told.",
        "He works for the govt. and likes it.",
        "Die Versammlung dauert höchst. eine Stunde.",
        "The sign said “No dogs. No cats. No exceptions.” and nobody laughed.",
        "Il dit « Il est tard. Partons ! » et partit.",
        'He asked: "Why? Who did it? And when?" and left the room.',
        "Sie rief: „Halt! Wer da?“ und lief davon.",
        "Elle écrit: «Il pleut. Nous partons.» et part.",
    ],
)
def test_what_is_one_sentence(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    "parts",
    [
        ["It fell to the min.", "Then it rose."],
        ['He said, "It rained.', 'We left."', "Then he went."],
        ["“I was there.", "Nobody helped,” she said."],
        ["The sign said “No dogs.", "No cats.”", "Nobody laughed."],
        ["i have no idea.", "it was late."],
    ],
)
def test_what_is_several(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts


def test_an_ordinal_number_ends_no_german_sentence() -> None:
    text = "Er war der 2. Sohn. Er kam 1990. Danach ging er."
    assert sentences(text, "de") == ["Er war der 2. Sohn.", "Er kam 1990.", "Danach ging er."]


@pytest.mark.parametrize("text", ["a" * 9, '"' * 9, "." * 9, "( " * 9 + "A.", "A. " * 9, "😀 " * 9])
def test_a_text_without_a_sentence_is_one(text: str) -> None:
    assert sentence_bounds(text) == [(0, len(text.rstrip()))]


@pytest.mark.parametrize("text", ["", " \n\n\t "])
def test_white_space_has_no_sentence(text: str) -> None:
    assert sentence_bounds(text) == []


@pytest.mark.parametrize(
    "piece",
    ['"', ".", '."', "A. ", "(A. ", "。”", ". " + " " * 200, "\n- a", "a.1 ", "😀 ", '"a. b." c ', "“A. b.” c "],
)
def test_no_character_is_read_far_more_often_in_a_longer_text(piece: str) -> None:
    """A quadratic rule would not end within the limit of a test run."""
    text = piece * 20_000
    assert sum(end - begin for begin, end in sentence_bounds(text)) <= len(text)
