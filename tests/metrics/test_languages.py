"""Script and language of some texts."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import pytest

from postil.metrics.languages import writing_of

DATA = Path(os.environ.get("POSTIL_DATA", Path(__file__).parents[3] / "shared" / "data"))
MADE = Path(__file__).parents[1] / "text" / "languages" / "texts.txt"
GROUPS = {
    lang: [line for line in lines.splitlines() if line and not line.startswith("#")]
    for lang, lines in re.findall(r"^== (\w+)\n((?:(?!== ).*\n?)*)", MADE.read_text(encoding="utf-8"), re.MULTILINE)
}


@pytest.mark.parametrize("lang", ["de", "en", "es", "fr", "it", "nl", "pt", "sv"])
def test_languages_of_latin_letters_by_function_words(lang: str) -> None:
    assert writing_of(GROUPS[lang]) == ("Latin", lang)


@pytest.mark.parametrize(
    ("lang", "script"),
    [("ru", "Cyrillic"), ("zh", "Han"), ("ja", "Japanese"), ("ko", "Hangul"), ("el", "Greek"), ("ar", "Arabic")],
)
def test_scripts(lang: str, script: str) -> None:
    found = writing_of(GROUPS[lang])
    assert found == (script, None)
    assert not found.is_english


@pytest.mark.parametrize("lang", ["pl", "fi", "tr", "cs", "ca", "id", "ro", "hu", "none"])
def test_what_function_words_do_not_tell_is_no_reason_for_a_remark(lang: str) -> None:
    assert writing_of(GROUPS[lang]) == ("Latin", None)
    assert writing_of(GROUPS[lang]).is_english


@pytest.mark.parametrize("text", ["", "42 + 1", "Paris, Hotel 5", "Die hard", "no me"])
def test_few_words_tell_nothing(text: str) -> None:
    assert writing_of([text]).is_english


def test_names() -> None:
    assert writing_of(["日本語のテキスト"]).name == "Japanese"
    assert writing_of(["עברית"]).name == "written in Hebrew letters"


def test_comments_of_a_forum_and_messages_in_german() -> None:
    forum, german = (
        DATA / "articles" / "reddit_college.en.jsonl.gz",
        DATA / "moderated" / "germeval2018_train.de.jsonl.gz",
    )
    if not forum.is_file() or not german.is_file():
        pytest.skip(f"no data in {DATA}; POSTIL_DATA names the folder")
    with gzip.open(forum, "rt", encoding="utf-8") as lines:
        comments = [
            comment["text"]
            for line, _ in zip(lines, range(100), strict=False)
            for comment in json.loads(line)["comments"]
        ]
    with gzip.open(german, "rt", encoding="utf-8") as lines:
        messages = [json.loads(line)["text"] for line, _ in zip(lines, range(1000), strict=False)]
    assert all(writing_of([comment]).is_english for comment in comments)
    assert sum(writing_of([message]).language == "de" for message in messages) > 0.75 * len(messages)
