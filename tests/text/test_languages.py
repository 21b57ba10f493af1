"""Language of a text, and None where it cannot be told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.text.languages import detect_language, sentence_languages
from postil.text.stop_words import STOP_LISTS

pytest.importorskip("bench.sentences")
from bench.sentences.languages import language_texts

TEXTS = language_texts()


@pytest.mark.parametrize("lang", sorted({*TEXTS} - {"none"}))
def test_a_language_is_told_from_a_sentence_and_a_paragraph(lang: str) -> None:
    found = [detect_language(text) for text in TEXTS[lang]]
    assert found == [lang, None if lang == "id" else lang]  # the paragraph could be Malay as well


def test_the_languages_with_a_stop_list_are_among_them() -> None:
    assert {*STOP_LISTS, "zh", "ja", "ko"} <= TEXTS.keys()


@pytest.mark.parametrize("text", [*TEXTS["none"], "", "\n", "The cat", "你好", "\ud800"])
def test_a_text_in_no_language_has_none(text: str) -> None:
    assert detect_language(text) is None


@pytest.mark.parametrize("lang", ["de", "ru", "zh"])
def test_a_text_half_in_one_language_and_half_in_another_has_none(lang: str) -> None:
    assert detect_language(4 * TEXTS["en"][1] + 4 * TEXTS[lang][1]) is None


def test_names_and_numbers_in_between_do_not_matter() -> None:
    names = "Tom Hanks, Meg Ryan, Bill Pullman, Ross Malinger, 12.4, 33 %, https://a.example/le/la/les\n" * 10
    assert detect_language(names + TEXTS["fr"][1] + names) == "fr"


def test_all_of_a_long_text_counts() -> None:
    assert detect_language(TEXTS["en"][1] + 50 * TEXTS["sv"][1]) == "sv"


@given(st.text(max_size=200))
def test_any_text_has_a_code_of_two_letters_or_none(text: str) -> None:
    assert len(detect_language(text) or "xx") == 2


EN, DE = "The lock keeper wrote everything down in a book.", "Der Müller schrieb alles in ein grünes Buch."


def test_sentences_that_say_little_are_in_the_language_of_their_block() -> None:
    assert sentence_languages([EN, "Nine left.", DE, "Neun.", "Ah!"], [0, 0, 1, 1, 2]) == ("en", "en", "de", "de", "en")
    assert sentence_languages([EN, DE, "Neun."], [0, 0, 0], "de") == ("en", "de", "en")


def test_one_short_sentence_alone_makes_no_language_of_a_page() -> None:
    assert sentence_languages([EN, EN, "Am Abend gehen sie heim."], [0, 0, 0]) == ("en",) * 3
    assert sentence_languages([EN, DE], [0, 0]) == ("en", "de")  # long enough
    assert sentence_languages(["1, 2", "3"], [0, 1]) == (None, None)
    assert sentence_languages([], []) == ()
