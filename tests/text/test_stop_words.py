"""The stop lists fit the tokens that they are taken from."""

from __future__ import annotations

import hashlib
import unicodedata
from importlib import resources

import pytest

from postil.errors import UnknownName
from postil.text.stop_words import STOP_LISTS, stop_words, stop_words_signature, without_stop_words
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary

FILES = resources.files("postil.text").joinpath("stop_lists")


def test_there_is_a_file_for_every_list_and_no_other() -> None:
    assert sorted(file.name for file in FILES.iterdir()) == [f"{lang}.txt" for lang in STOP_LISTS]


@pytest.mark.parametrize("lang", STOP_LISTS)
def test_a_file_says_what_it_is_and_has_no_word_twice(lang: str) -> None:
    lines = FILES.joinpath(f"{lang}.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert "stop words" in lines[0]
    words = [word for line in lines if not line.startswith("#") for word in line.split()]
    assert len(words) == len(stop_words(lang))
    assert 150 <= len(words) <= 260


@pytest.mark.parametrize("lang", [lang for lang in STOP_LISTS if lang != "zh"])
def test_every_word_is_one_token_of_the_words_tokenizer(lang: str) -> None:
    split = tokenizer("words").split
    assert [word for word in stop_words(lang) if split(word) != [word]] == []
    assert all(unicodedata.is_normalized("NFC", word) for word in stop_words(lang))


def test_every_chinese_word_is_one_token_of_jieba() -> None:
    pytest.importorskip("jieba", reason="needs the extra zh")
    split = tokenizer("jieba").split
    assert [word for word in stop_words("zh") if split(word) != [word]] == []


@pytest.mark.parametrize(
    ("lang", "text", "left"),
    [
        ("de", "Das ist nicht der Hund, den ich gestern im Park gesehen habe", "hund gestern park gesehen"),
        ("en", "I don't think they'll say it's the cat that we've seen", "think say cat seen"),
        ("es", "No sé si el perro que está en la casa es de mi hermana", "sé perro casa hermana"),
        ("fr", "L'eau n'est pas froide, mais j'ai peur jusqu'à ce qu'il vienne", "eau froide peur vienne"),
        ("it", "L'acqua dell'isola non è fredda, anch'io l'ho vista", "acqua isola fredda vista"),
        ("nl", "De hond is niet van mij, maar 's avonds zit hij in het huis", "hond avonds zit huis"),
        ("pt", "O cão não está na casa da minha irmã, mas no jardim", "cão casa irmã jardim"),
        ("ru", "Я не знаю, её ли это собака, но она живёт ещё в нашем доме", "знаю собака живёт нашем доме"),
        ("sv", "Hunden är inte min, men den bor hos oss i huset", "hunden bor huset"),
    ],
)
def test_what_is_left_of_a_sentence(lang: str, text: str, left: str) -> None:
    assert [word for word in tokenizer("words").split(text) if word not in stop_words(lang)] == left.split()


def test_what_is_left_of_a_chinese_sentence() -> None:
    pytest.importorskip("jieba", reason="needs the extra zh")
    tokens = tokenizer("jieba").split("我们昨天在公园里看到了一个漂亮的孩子，但是他没有说话……")
    assert [token for token in tokens if token not in stop_words("zh")] == [
        "昨天",
        "公园",
        "看到",
        "漂亮",
        "孩子",
        "说话",
    ]


# Another list gives other scores: who changes a list changes its signature here and says so in CHANGELOG.md.
SIGNATURES = {
    "de": "de-f116f97e",
    "en": "en-82f5b00b",
    "es": "es-d2e3e986",
    "fr": "fr-19705be7",
    "it": "it-3fb33224",
    "nl": "nl-f91c6e4f",
    "pt": "pt-5fd824e7",
    "ru": "ru-16236632",
    "sv": "sv-f5348dd0",
    "zh": "zh-ec9000c5",
}


def test_the_lists_are_the_ones_that_scores_were_made_with() -> None:
    assert {lang: stop_words_signature(lang) for lang in STOP_LISTS} == SIGNATURES


def test_a_signature_is_a_hash_of_the_words_in_order() -> None:
    words = sorted(stop_words("sv"))
    assert stop_words_signature("sv") == "sv-" + hashlib.sha256("\n".join(words).encode("utf-8")).hexdigest()[:8]


@pytest.mark.parametrize("function", [stop_words, stop_words_signature])
@pytest.mark.parametrize("name", ["english", "EN", "", "../text/stop_lists/en", "none"])
def test_an_unknown_list(function: object, name: str) -> None:
    assert callable(function)
    with pytest.raises(UnknownName, match=r"unknown stop list '.*Known: de, en, es"):
        function(name)


def test_each_text_is_without_the_words_of_its_own_list() -> None:
    tokens = Vocabulary().encode(["die Boote der the", "die boats der the", "die the"], tokenizer("words"))
    kept = without_stop_words(tokens, "en", ["de", "en", "none"])
    assert [kept.words(text) for text in range(3)] == [["boote", "the"], ["die", "boats", "der"], ["die", "the"]]
    same = without_stop_words(tokens, "en", ["en"] * 3)
    assert same.ids.tolist() == without_stop_words(tokens, "en").ids.tolist()
