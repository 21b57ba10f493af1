from __future__ import annotations

import pytest

from postil.errors import InvalidInput
from postil.text.han import HanTexts, composed_remark
from postil.text.tokenizers import tokenizer

ENGLISH, HAN = "Nice weather today", "今天天气很好"


def met(texts: list[object], name: str = "words") -> HanTexts:
    found = HanTexts(tokenizer(name), "comments")
    found.see(texts)
    return found


def refuse(place: int, problem: str) -> InvalidInput:
    return InvalidInput(problem, where="c.jsonl", line=place + 1, field="text")


def test_a_tenth_may_be_han_texts() -> None:
    some = met([ENGLISH] * 9 + [HAN])
    some.check(refuse)
    assert some.remark == (
        "1 of 10 comments is Han text, which the tokenizer words does not split; jieba, rjieba and characters do"
    )


def test_more_than_a_tenth_are_refused_at_the_first() -> None:
    some = met([ENGLISH] * 7 + [HAN] * 2 + [ENGLISH] * 10)
    with pytest.raises(InvalidInput) as refusal:
        some.check(refuse)
    assert str(refusal.value) == (
        "c.jsonl:8: text: Han text cannot be split into words at spaces and punctuation, and 2 of 19 comments are; "
        "expected another tokenizer: jieba (or rjieba, the same words faster), characters, or space where the words "
        "are separated already"
    )


def test_places_go_on_from_one_part_to_the_next() -> None:
    found = met([ENGLISH] * 3)
    found.see([ENGLISH, HAN])
    assert (found.first, found.han, found.texts) == (4, 1, 5)


@pytest.mark.parametrize("name", ["space", "characters", "13a", "ptb"])
def test_other_tokenizers_ask_for_nothing(name: str) -> None:
    found = met([HAN] * 3, name)
    found.check(refuse)
    assert (found.remark, found.texts) == ("", 3)


def test_what_is_no_text_and_what_only_quotes_han_is_not_counted() -> None:
    found = met([None, 5, [HAN], "She sat the exam in 東京 last year"])
    found.check(refuse)
    assert (found.remark, found.texts) == ("", 4)


def test_capitals_are_one_word_as_the_tokenizer_has_them() -> None:
    assert met(["İ中"]).han == 1  # lower-cased, the dotted capital is a letter and a mark


TEXTS = {
    "Japanese": "今日はとても良い天気です",
    "Thai": "วันนี้อากาศดีมาก",
    "Lao": "ມື້ນີ້ອາກາດດີ",
    "Khmer": "ថ្ងៃនេះអាកាសធាតុល្អ",
    "Burmese": "ဒီနေ့ ရာသီဥတု ကောင်းတယ်",
    "Tibetan": "དེ་རིང་གནམ་གཤིས་ཡག་པོ་འདུག",
    "Javanese": "ꦱꦸꦒꦼꦁꦫꦮꦸꦃ",
}


@pytest.mark.parametrize("script", TEXTS)
def test_scripts_without_spaces(script: str) -> None:
    many = met([ENGLISH, TEXTS[script]])
    with pytest.raises(InvalidInput) as refusal:
        many.check(refuse)
    told = str(refusal.value)
    assert told.startswith(f"c.jsonl:2: text: {script} text cannot be split into words at spaces and punctuation")
    assert "jieba" not in told
    assert "characters, or space where the words are separated already" in told
    assert met([TEXTS[script]] + [ENGLISH] * 9).remark == (
        f"1 of 10 comments is {script} text, which the tokenizer words does not split; characters does"
    )


@pytest.mark.parametrize("text", ["오늘 날씨가 좋다", "आज मौसम अच्छा है", "शुभ प्रभात", "الطقس جميل", "Hôm nay trời đẹp"])
def test_scripts_with_spaces(text: str) -> None:
    assert met([text] * 3).remark == ""


def test_a_quoted_word_makes_no_spaceless_text() -> None:
    assert met(["They served us a bowl of น้ำ, and everyone had some of it"]).han == 0


def test_texts_in_other_forms_are_counted_over_all_roles() -> None:
    references = HanTexts(tokenizer("words"), "references")
    references.see(["cre\u0300me", "tea", "caf\u0065\u0301"])
    candidates = met(["crème"])
    assert composed_remark(candidates) == ""
    assert composed_remark(references, candidates) == (
        "2 of 3 references are not in the Unicode form NFC, and were read in it"
    )
    candidates.see(["cre\u0300me"])
    assert composed_remark(references, candidates) == (
        "2 of 3 references and 1 of 2 comments are not in the Unicode form NFC, and were read in it"
    )
    assert composed_remark(met(["cre\u0300me"], "space")) == ""


@pytest.mark.parametrize("text", [HAN, "Сегодня хорошая погода, 20 °C", "Καλημέρα"])
def test_rouge_is_not_for_other_letters(text: str) -> None:
    many = met([text, ENGLISH], "rouge")
    with pytest.raises(InvalidInput) as refusal:
        many.check(refuse)
    assert str(refusal.value) == (
        "c.jsonl:1: text: text in other letters than a to z is dropped by the tokenizer rouge, and 1 of 2 comments is; "
        "expected another tokenizer: words, or jieba for Chinese"
    )
    assert met([text] + [ENGLISH] * 9, "rouge").remark == (
        "1 of 10 comments is text in other letters than a to z, which the tokenizer rouge drops; "
        "words, and jieba for Chinese, keep them"
    )


def test_some_other_letters_are_no_matter_to_rouge() -> None:
    assert met(["Zoë's naïve café", "20 °C", "— … “”", "我like it"], "rouge").remark == ""
