"""Remarks on metrics and tokenizers that are for another language."""

from __future__ import annotations

import pytest

import postil
from postil.metrics.notes import language_remarks
from postil.metrics.spec import parse_metric

GERMAN = ["Die Versammlung wurde auf den nächsten Tag verschoben, weil nicht genug Leute da waren."]
ENGLISH = ["The meeting was put off until the next day since there were not enough people."]
CHINESE, JAPANESE, THAI = ["今天天气很好，我们去公园。"], ["今日は天気がいいですね。"], ["วันนี้อากาศดีมาก"]
ARABIC, KOREAN = ["اجتمع الناس في الساحة الكبيرة أمس"], ["오늘은 날씨가 아주 좋습니다"]


def remarks(texts: list[str], *specs: str, tokenizer: str = "words") -> list[str]:
    return list(language_remarks({spec: parse_metric(spec) for spec in specs}, tokenizer, texts, "references"))


@pytest.mark.parametrize(
    ("texts", "are"),
    [
        (GERMAN, "German"),
        (ARABIC, "written in Arabic letters"),
        (KOREAN, "Korean"),
        (CHINESE, "Chinese"),
        (JAPANESE, "Japanese"),
    ],
)
def test_metrics_for_english(texts: list[str], are: str) -> None:
    said = remarks(texts, "meteor", "w-meteor", "rouge-1(stem=true)", "bleu-4", "chrf", tokenizer="characters")
    assert said == [
        f"meteor, w-meteor are for English, and the references are {are}; params=other fits them",
        f"rouge-1(stem=true) is for English, and the references are {are}; stem=false fits them",
    ]
    assert remarks(texts, "meteor(params=other)", "rouge-l", "rouge-lsum", tokenizer="characters") == []


def test_english_has_no_remark() -> None:
    assert remarks(ENGLISH, "meteor", "rouge-1(stem=true)", tokenizer="13a") == []
    assert remarks([], "meteor") == []


@pytest.mark.parametrize("tokenizer", ["13a", "ptb", "space"])
@pytest.mark.parametrize(("texts", "fits"), [(CHINESE, "jieba"), (JAPANESE, "MeCab"), (THAI, "PyThaiNLP")])
def test_tokenizers_that_split_at_spaces(texts: list[str], fits: str, tokenizer: str) -> None:
    (said,) = remarks(texts, "bleu-1", tokenizer=tokenizer)
    assert said.startswith(f"the tokenizer {tokenizer} splits words at spaces, and the references are ")
    assert fits in said
    assert "characters" in said


def test_words_that_somebody_separated_are_split_at_spaces() -> None:
    assert remarks(["今天 天气 很 好 ， 我们 去 公园 。"], "bleu-1", tokenizer="space") == []


@pytest.mark.parametrize(("texts", "fits"), [(JAPANESE, "characters"), (KOREAN, "words"), (ARABIC, "words")])
def test_jieba_is_for_chinese(texts: list[str], fits: str) -> None:
    for tokenizer in ("jieba", "rjieba"):
        (said,) = remarks(texts, "bleu-1", tokenizer=tokenizer)
        assert f"the tokenizer {tokenizer} is for Chinese, and the references are " in said
        assert f"what fits: {fits}" in said
    assert remarks(CHINESE, "bleu-1", tokenizer="jieba") == remarks(ENGLISH, "bleu-1", tokenizer="jieba") == []


def test_scores_of_python_warn_and_are_what_they_were() -> None:
    with pytest.warns(UserWarning, match="meteor is for English, and the references are German"):
        found = postil.score(GERMAN, [[f"{GERMAN[0]} Heute nicht."]], metrics=["meteor", "bleu-1"])
    assert 0 < found.corpus["meteor"] < 1


def test_metrics_that_read_no_tokens_have_no_tokenizer() -> None:
    assert remarks(JAPANESE, "chrf", tokenizer="13a") == []
