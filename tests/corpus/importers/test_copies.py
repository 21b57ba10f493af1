"""Copies with bodies cut into words, and the corpora of Yahoo and 163."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from postil.corpus.importers.deepcom import read_deepcom
from postil.corpus.importers.tokenized import read_tokenized
from postil.data.rows import Article, Comment
from postil.errors import UnknownName

if TYPE_CHECKING:
    from conftest import Lines
    from postil.corpus.importers.import_report import ImportReport

COPY = {"id": 7, "title": "明天 有 雨", "body": "带 伞", "comment": [["好 的", 3], ["不 去", 4]]}


@pytest.mark.parametrize(
    ("second", "comments"),
    [
        ("none", (Comment("1", "好 的"), Comment("2", "不 去"))),
        ("votes", (Comment("1", "好 的", 3), Comment("2", "不 去", 4))),
        ("grade", (Comment("1", "好 的", grade=3.0), Comment("2", "不 去", grade=4.0))),
    ],
)
def test_the_second_element_is_what_the_caller_says(
    lines: Lines, report: ImportReport, second: Any, comments: tuple[Comment, ...]
) -> None:
    [article] = read_tokenized([lines("data.train.json", COPY)], report, second=second)
    assert article == Article("7", "明天 有 雨", comments, "带 伞", lang="zh")
    assert report.unread_of_comments == ({"1"} if second == "none" else set())


def test_another_meaning_of_the_second_element() -> None:
    with pytest.raises(UnknownName, match="unknown meaning of the second element 'vote'; did you mean 'votes'"):
        list(read_tokenized([], second="vote"))  # type: ignore[arg-type]


def test_yahoo_and_163(lines: Lines) -> None:
    yahoo = lines("yahoo.json", {"_id": "y", "title": "Rain", "paras": ["One.", "Two."], "cmts": [{"cmt": "Oh"}]})
    other = lines("163.json", {"_id": "n", "title": "Snow", "body": "Three.", "cmts": []})
    assert list(read_deepcom([yahoo, other], lang="en")) == [
        Article("y", "Rain", (Comment("1", "Oh"),), "One.\nTwo.", lang="en"),
        Article("n", "Snow", (), "Three.", lang="en"),
    ]
