"""The release of the Tencent corpus, its scores and its contents from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from postil.corpus.importers.tencent import range_seen, read_contents, read_tencent
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from conftest import Lines, Problems
    from postil.corpus.importers.import_report import ImportReport

TRAIN = {"channel": "体育", "comment": [["好球", 12], ["输了", 0]], "title": "决赛", "url": "http://k.qq.com/1"}
TEST = {"channel": "体育", "comment": [["好球", 12, 0.75], ["输了", 0, 0]], "title": "决赛"}


def test_a_line_to_train_on(lines: Lines) -> None:
    [article] = read_tencent([lines("data.train.json", TRAIN)])
    comments = (Comment("1", "好球", 12), Comment("2", "输了", 0))
    url = "http://k.qq.com/1"
    assert article == Article(url, "决赛", comments, category="体育", lang="zh", url=url)


def test_a_line_of_the_test_set_is_named_by_its_place(lines: Lines, report: ImportReport) -> None:
    found = list(read_tencent([lines("data.test.json.gz", TEST, "", TEST)], report))
    assert [article.id for article in found] == ["data.test:1", "data.test:3"]
    assert [comment.grade for comment in found[0].comments] == [0.75, 0.0]
    assert (report.by_place, report.graded, report.low, report.high) == (2, 4, 0, 0.75)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0, 1, "from 0 to 1: on [0, 1], as the README of the release has them"),
        (1, 5, "from 1 to 5: on 1 to 5, as the paper has them"),
        (1.5, 4, "from 1.5 to 4: on 1 to 5, as the paper has them"),
        (0, 5, "from 0 to 5: neither on [0, 1] nor on 1 to 5; say the scale with scale when you score"),
        (1, 1, "from 1 to 1: on [0, 1] or on 1 to 5, all are the same"),
    ],
)
def test_the_range_is_said(low: float, high: float, words: str) -> None:
    assert range_seen(low, high) == words


def test_contents_are_joined_by_url(lines: Lines, report: ImportReport) -> None:
    data = lines("data.train.json", *({**TRAIN, "url": f"u{i}"} for i in range(5)))
    tsv = lines("c.tsv.gz", "u0\tEins\tzwei", "u1\t ", "u9\tNobody's")
    json = lines("c.jsonl", *({"url": f"u{i}", name: name} for i, name in ((2, "content"), (3, "text"), (4, "body"))))
    found = list(read_tencent([data], report, contents=[tsv, json]))
    assert [article.content for article in found] == ["Eins\tzwei", None, "content", "text", "body"]
    assert (report.without_content, report.unused, report.rejected) == (1, 1, 0)


def test_contents_with_something_broken(lines: Lines, problems: Problems, report: ImportReport) -> None:
    tsv = lines("c.tsv", b"\xef\xbb\xbfu1\tRain", "no tab", b"u2\t\xb0\xae", "u1\tRain", "u1\tSnow", "\tnone")
    json = lines("c.jsonl", {"url": "u3", "content": "Sun"}, {"url": "u4"}, {"url": 5, "text": ""}, '{"url"')
    assert read_contents([tsv, json], report) == {"u1": "Rain", "u3": "Sun"}
    assert problems(report) == [
        "c.tsv:2: : expected a url, a tab and a content",
        "c.tsv:3: : byte 0xb0 at offset 3 of the line is not UTF-8; save it as UTF-8",
        f'c.tsv:5: url: "u1" has another content in {tsv}:1; keep one of them',
        "c.tsv:6: : expected a url, a tab and a content",
        "c.jsonl:2: content or text or body: missing; the line has: url",
        "c.jsonl:3: url: expected text, got 5",
        "c.jsonl:4: : the JSON ends too early; is the line cut off?",
    ]


def test_the_same_url_twice(lines: Lines) -> None:
    path = lines("data.train.json", TRAIN, TRAIN)
    with pytest.raises(InvalidInput, match=r':2: url: article "http://k\.qq\.com/1" stands in .*:1 already'):
        list(read_tencent([path]))


def test_a_comment_that_is_no_list(lines: Lines, problems: Problems, report: ImportReport) -> None:
    line = {**TRAIN, "comment": [["好球", "viele"], [], ["", 3], "ja", ["nein", 2]]}
    [article] = read_tencent([lines("data.train.json", line)], report)
    assert article.comments == (Comment("4", "ja"), Comment("5", "nein", 2))
    assert report.textless == 1
    assert problems(report) == [
        'data.train.json:1: comment[0].1: expected a whole number of votes, got "viele"',
        "data.train.json:1: comment[1].0: missing; the comment has: nothing",
    ]
