"""Exports of Disqus, Discourse, Coral, Reddit and Hacker News."""

from __future__ import annotations

import gzip
import io
import json
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

from postil.corpus.importers.exports import read_coral, read_discourse, read_disqus, read_hackernews, read_reddit
from postil.corpus.importers.import_report import ImportReport
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput
from refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Lines, Problems

NOON: Final = "2020-03-21T12:00:00Z"
SECONDS: Final = 1584792000


def disqus(threads: str, posts: str) -> str:
    head = '<disqus xmlns="http://disqus.com" xmlns:dsq="http://disqus.com/disqus-internals">'
    return f'<?xml version="1.0"?>{head}<category dsq:id="9"><title>General</title></category>{threads}{posts}</disqus>'


def thread(number: int, deleted: str = "false") -> str:
    return (
        f'<thread dsq:id="{number}"><id>/rain</id><category dsq:id="9"/><link>https://site.org/rain</link>'
        f"<title>Rain &amp;amp; snow</title><createdAt>{NOON}</createdAt><author><name>Ann Secret</name></author>"
        f"<ipAddress>192.0.2.7</ipAddress><isDeleted>{deleted}</isDeleted></thread>"
    )


def post(number: int, thread: int, text: str = "Oh", parent: int = 0, spam: str = "false") -> str:
    above = f'<parent dsq:id="{parent}"/>' if parent else ""
    return (
        f'<post dsq:id="{number}"><id/><message><![CDATA[<p>{text}</p>]]></message><createdAt>{NOON}</createdAt>'
        f"<isDeleted>false</isDeleted><isSpam>{spam}</isSpam><author><email>a@secret.org</email><name>Ann</name>"
        f'</author><ipAddress>192.0.2.7</ipAddress><thread dsq:id="{thread}"/>{above}</post>'
    )


def test_disqus(lines: Lines, report: ImportReport, problems: Problems) -> None:
    threads = thread(1) + thread(2, "true") + thread(1)
    posts = post(3, 1) + post(4, 1, "No", 3) + post(5, 1, spam="true") + post(6, 2) + post(7, 1, "")
    posts += "<post><message/></post>"
    path = lines("disqus.xml.gz", disqus(threads, posts))
    comments = Comment("3", "Oh", date=NOON), Comment("4", "No", date=NOON, parent="3")
    rain = Article("1", "Rain & snow", comments, lang="en", url="https://site.org/rain", date=NOON)
    assert list(read_disqus([path], report, lang="en")) == [rain]
    assert (report.unpublished, report.withheld, report.orphans, report.textless) == (1, 1, 1, 1)
    assert [problem.partition(";")[0].replace(f"{path.parent}/", "") for problem in problems(report)] == [
        'disqus.xml.gz:1: id: article "1" stands in disqus.xml.gz:1 already',
        "disqus.xml.gz:1: dsq:id: expected the id of a post, got none",
    ]


TOPIC: Final[dict[str, Any]] = {
    "id": 7,
    "title": "Rain &amp; snow",
    "created_at": "2020-03-21T12:00:00.000Z",
    "category_id": 5,
    "post_stream": {
        "posts": [
            {"id": 70, "post_number": 1, "username": "ann",
             "cooked": "<p>It will rain.</p><blockquote>Wet.</blockquote>"},
            {"id": 71, "post_number": 2, "username": "bob", "cooked": "<p>Oh</p>", "created_at": NOON, "post_type": 1,
             "reply_to_post_number": 1, "actions_summary": [{"id": 2, "count": 3}]},
            {"id": 72, "post_number": 3, "cooked": '<aside class="quote">Oh</aside><p>No</p>', "actions_summary": [],
             "reply_to_post_number": 2},
            {"id": 73, "post_number": 4, "cooked": "<p>closed</p>", "post_type": 3},
            {"id": 74, "post_number": 5, "cooked": "", "hidden": True},
        ],
        "stream": [70, 71, 72, 73, 74, 75, 76],
    },
}  # fmt: skip
RAIN: Final = Article(
    "7",
    "Rain & snow",
    (Comment("71", "Oh", 3, date=NOON), Comment("72", "No", 0, parent="71")),
    "It will rain.\nWet.",
    "5",
    date=NOON,
)


@pytest.mark.parametrize("text", [json.dumps(TOPIC), json.dumps(TOPIC, indent=1), json.dumps([TOPIC], indent=1)])
def test_discourse(lines: Lines, report: ImportReport, text: str) -> None:
    assert list(read_discourse([lines("7.json", text)], report)) == [RAIN]
    assert (report.withheld, report.absent) == (2, 2)


CORAL: Final[tuple[dict[str, Any], ...]] = (
    {"id": "c2", "storyID": "s", "parentID": "c1", "status": "APPROVED", "authorID": "ann",
     "createdAt": {"$date": NOON},
     "revisions": [{"body": "old"}, {"body": "<div>No<br>never</div>"}], "actionCounts": {}},
    {"_id": {"$oid": "x"}, "id": "s", "url": "https://site.org/rain",
     "metadata": {"title": "Rain", "section": "weather"}, "createdAt": {"$date": {"$numberLong": str(SECONDS * 1000)}}},
    {"id": "c1", "storyID": "s", "parentID": None, "status": "NONE", "createdAt": {"$date": NOON},
     "revisions": [{"body": "Oh"}], "actionCounts": {"REACTION": {"$numberInt": "4"}, "FLAG": 1}},
    {"id": "c3", "storyID": "s", "status": "REJECTED", "revisions": [{"body": "bad"}]},
    {"id": "c4", "storyID": "gone", "status": "NONE", "revisions": [{"body": "Yes"}]},
    {"id": "c5", "storyID": "s", "status": "NONE", "revisions": []},
)  # fmt: skip


def test_coral(lines: Lines, report: ImportReport, problems: Problems) -> None:
    comments = Comment("c2", "No\nnever", 0, date=NOON, parent="c1"), Comment("c1", "Oh", 4, date=NOON)
    rain = Article("s", "Rain", comments, category="weather", url="https://site.org/rain", date=NOON)
    assert list(read_coral([lines("coral.json", *CORAL)], report)) == [rain]
    assert (report.withheld, report.orphans) == (1, 1)
    assert problems(report)[0].startswith("coral.json:6: revisions[-1].body: expected an array")


REDDIT: Final[tuple[dict[str, Any], ...]] = (
    {"id": "a1", "title": "Rain &amp; snow", "selftext": "[removed]", "subreddit": "weather", "author": "ann",
     "permalink": "/r/weather/comments/a1/rain/", "url": "https://other.org", "created_utc": SECONDS, "score": 9},
    {"id": "c1", "link_id": "t3_a1", "parent_id": "t3_a1", "body": "Oh &lt;3", "score": -2,
     "created_utc": str(SECONDS)},
    {"id": "c2", "link_id": "t3_a1", "parent_id": "t1_c1", "body": "&gt; Oh\n\nNo", "score": 1, "created_utc": SECONDS},
    {"id": "c3", "link_id": "t3_a1", "parent_id": "t1_c1", "body": "[deleted]", "score": 1},
    {"id": "c4", "link_id": "t3_zz", "parent_id": "t3_zz", "body": "Where?", "score": 1},
    {"id": "c1", "link_id": "t3_a1", "parent_id": "t3_a1", "body": "Again", "score": 1},
)  # fmt: skip


def test_reddit(lines: Lines, report: ImportReport, problems: Problems) -> None:
    files = [lines("comments.jsonl", *REDDIT[1:]), lines("submissions.jsonl.gz", REDDIT[0])]
    comments = Comment("c1", "Oh <3", -2, date=NOON), Comment("c2", "No", 1, date=NOON, parent="c1")
    url = "https://www.reddit.com/r/weather/comments/a1/rain/"
    assert list(read_reddit(files, report)) == [
        Article("a1", "Rain & snow", comments, category="weather", url=url, date=NOON)
    ]
    assert (report.withheld, report.orphans, report.negative) == (1, 1, 1)
    assert problems(report) == [
        'comments.jsonl:5: id: comment "c1" of this article stands in line 1 already; keep one of them'
    ]


def reddit_comment(name: str, body: str, **fields: object) -> dict[str, object]:
    return {"id": name, "link_id": "t3_a1", "parent_id": "t3_a1", "body": body, "score": 1, **fields}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("&amp;nbsp;\n\nOh &amp;amp; no&amp;nbsp;", "Oh &amp; no"),
        ("Oh\n\n&amp;#x200B;\n\nno", "Oh\nno"),
        ("Oh\n\n&#x200B;\n\nno\u200b", "Oh\nno"),
        ("Oh,&nbsp;no &#8203; &ZeroWidthSpace; &amp;amp;#X200b;!", "Oh, no !"),
        ("\u200b\nฝน\u200bตก &lt;3", "ฝน\u200bตก <3"),
        ("&#2000; &space;", "\u07d0 &space;"),
    ],
)
def test_blanks_of_reddit(lines: Lines, report: ImportReport, body: str, text: str) -> None:
    [article] = read_reddit([lines("c.jsonl", REDDIT[0], reddit_comment("c1", body))])
    assert [" ".join(each.split()) for each in article.comments[0].text.split("\n")] == text.split("\n")
    post = {**REDDIT[0], "title": "Rain&amp;nbsp;", "selftext": "&amp;#x200B;\n\nIt &gt; rained.\n\n&amp;nbsp;"}
    [article] = read_reddit([lines("c.jsonl", post, reddit_comment("c1", "&amp;#x200B;"))], report)
    assert (article.title, article.content, article.comments) == ("Rain", "It > rained.", ())
    assert report.textless == 1


@pytest.mark.parametrize(
    "fields",
    [{"distinguished": "moderator"}, {"distinguished": "admin"}, {"stickied": True}, {"author": "AutoModerator"}],
)
def test_comments_of_moderators_are_left_out(lines: Lines, report: ImportReport, fields: dict[str, object]) -> None:
    ours = reddit_comment("c2", "Oh", distinguished=None, stickied=False, author="ann")
    [article] = read_reddit([lines("c.jsonl", REDDIT[0], reddit_comment("c1", "Be kind.", **fields), ours)], report)
    assert [comment.id for comment in article.comments] == ["c2"]
    assert report.withheld == 1


def listing(*things: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "Listing", "data": {"after": None, "children": list(things)}}


def test_listings_of_reddit(lines: Lines, report: ImportReport) -> None:
    """The address of a post that ends in .json gives a listing."""
    post, one, two, gone, *_ = REDDIT
    more = {"kind": "more", "data": {"count": 12, "children": ["x"]}}
    below = listing({"kind": "t1", "data": {**two, "replies": listing({"kind": "t1", "data": gone}, more)}})
    comments = listing({"kind": "t1", "data": {**one, "replies": below}}, more)
    path = lines("thread.json", json.dumps([listing({"kind": "t3", "data": post}), comments]))
    [article] = read_reddit([path], report)
    assert [(comment.id, comment.parent) for comment in article.comments] == [("c1", None), ("c2", "c1")]
    assert (report.withheld, report.absent) == (1, 24)
    [again] = read_reddit([lines("posts.json", json.dumps(listing({"kind": "t3", "data": post})))])
    assert again.title == "Rain & snow"


def test_a_dump_with_a_large_window(tmp_path: Path) -> None:
    zstd = pytest.importorskip("backports.zstd")
    levels = {zstd.CompressionParameter.window_log: 28, zstd.CompressionParameter.compression_level: 1}
    path = tmp_path / "dump.zst"
    with zstd.open(path, "wb", options=levels) as file:
        for row in REDDIT[:3]:
            file.write(json.dumps(row).encode() + b"\n")
    [article] = read_reddit([path])
    assert len(article.comments) == 2


@pytest.mark.parametrize("ending", [b"\n", b""])
def test_a_compressed_dump_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: ImportReport, ending: bytes
) -> None:
    data = gzip.compress(b"\n".join(json.dumps(row).encode() for row in REDDIT[:3]) + ending)
    (path := tmp_path / "dump").write_bytes(data)
    with path.open("rb") as file, io.TextIOWrapper(file) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        [article] = read_reddit(["-"], report)
    assert len(article.comments) == 2


@pytest.mark.parametrize("one_document", [False, True])
def test_a_damaged_dump(tmp_path: Path, report: ImportReport, rejected: list[InvalidInput], one_document: bool) -> None:
    zstd = pytest.importorskip("backports.zstd")
    rows = [{**REDDIT[0], "id": f"a{number}", "selftext": "0123456789" * number} for number in range(3000)]
    data = json.dumps(rows) if one_document else "\n".join(map(json.dumps, rows))
    whole = zstd.compress(data.encode(), level=1)
    (path := tmp_path / "dump.zst").write_bytes(whole[: len(whole) * 3 // 4])
    found = list(read_reddit([path], report))
    assert bool(found) != one_document
    assert [problem.problem for problem in rejected] == ["the zstd file ends early; is the download complete?"]


ITEMS: Final[tuple[dict[str, Any], ...]] = (
    {"id": 5, "type": "comment", "parent": 4, "text": "Why?", "time": SECONDS, "by": "ann"},
    {"id": 1, "type": "story", "title": "Rain", "url": "https://site.org", "time": SECONDS, "score": 9, "kids": [2]},
    {"id": 2, "type": "comment", "parent": 1, "text": "&gt; Rain<p>Oh <a href=\"x\">no</a>", "time": SECONDS},
    {"id": 3, "type": "comment", "parent": 2, "deleted": True},
    {"id": 4, "type": "comment", "parent": 3, "text": "Yes", "time": SECONDS},
    {"id": 6, "type": "comment", "parent": 99, "text": "Where?"},
    {"id": 7, "type": "comment", "parent": 7, "text": "a circle"},
    {"id": 8, "type": "story", "dead": True},
    {"id": 9, "type": "pollopt", "parent": 1},
)  # fmt: skip
THREAD: Final = (("5", "Why?", "4"), ("2", "Oh no", None), ("4", "Yes", "3"))
SAID: Final = tuple(Comment(name, text, date=NOON, parent=parent) for name, text, parent in THREAD)
HACKER: Final = Article("1", "Rain", SAID, url="https://site.org", date=NOON)


def test_hackernews(lines: Lines, report: ImportReport) -> None:
    assert list(read_hackernews([lines("items.jsonl", *ITEMS)], report)) == [HACKER]
    assert (report.withheld, report.unpublished, report.orphans) == (1, 2, 2)


@pytest.mark.parametrize("form", ["lines", "array", "lines of an array"])
def test_items_that_are_null(lines: Lines, report: ImportReport, form: str) -> None:
    items = [None, *ITEMS[:2], None, *ITEMS[2:], None]
    if form == "array":
        text = json.dumps(items)
    elif form == "lines":
        text = "\n".join(map(json.dumps, items))
    else:
        text = "[\n" + ",\n".join(map(json.dumps, items)) + "\n]"
    assert list(read_hackernews([lines("items.json", text)], report)) == [HACKER]
    assert (report.nulls, report.rejected) == (3, 0)


def test_algolia(lines: Lines, report: ImportReport) -> None:
    tree = {
        "id": 1, "type": "story", "title": "Rain", "created_at_i": SECONDS, "points": 4,
        "children": [{"id": 2, "type": "comment", "text": "<p>Oh", "story_id": 1, "parent_id": 1, "points": None,
                      "children": [{"id": 3, "type": "comment", "text": "No", "story_id": 1, "parent_id": 2}]}],
    }  # fmt: skip
    hit = {"objectID": "4", "comment_text": "Yes", "story_id": 1, "parent_id": 1, "children": [5]}
    [story] = read_hackernews([lines("tree.json", json.dumps(tree, indent=1)), lines("hits.jsonl", hit)], report)
    assert story.url == "https://news.ycombinator.com/item?id=1"
    assert story.comments == (Comment("2", "Oh"), Comment("3", "No", parent="2"), Comment("4", "Yes"))


def test_no_names_of_people(lines: Lines) -> None:
    files = {
        read_disqus: lines("a.xml", disqus(thread(1), post(3, 1))),
        read_discourse: lines("b.json", TOPIC),
        read_coral: lines("c.json", *CORAL[:3]),
        read_reddit: lines("d.json", *REDDIT[:3]),
        read_hackernews: lines("e.json", *ITEMS[:3]),
    }
    for read, path in files.items():
        [article] = read([path])
        assert not any(word in repr(article) for word in ("ann", "bob", "Secret", "192.0", "user='"))


CASES: Final[dict[str, tuple[Callable[..., Iterator[Article]], str]]] = {
    "disqus": (read_disqus, disqus(thread(1) + thread(2), "".join(post(each, 1) for each in range(3, 12)))),
    "discourse": (read_discourse, "\n".join(json.dumps({**TOPIC, "id": each}) for each in range(4))),
    "document": (read_discourse, json.dumps([{**TOPIC, "id": each} for each in range(4)], indent=1)),
    "coral": (read_coral, "\n".join(map(json.dumps, CORAL[:5]))),
    "reddit": (read_reddit, "\n".join(map(json.dumps, REDDIT[:5]))),
    "hackernews": (read_hackernews, "\n".join(map(json.dumps, ITEMS))),
}


@pytest.mark.parametrize("name", CASES)
def test_cut_anywhere(tmp_path: Path, name: str) -> None:
    read, whole = CASES[name]
    path = tmp_path / "export"
    for cut in range(0, len(whole), 97):
        problems: list[InvalidInput] = []
        report = ImportReport(problems.append)
        path.write_text(whole[:cut])
        articles = list(read([path], report))
        at_a_line_end = cut and whole[cut - 1 : cut + 1].count("\n") and name not in {"disqus", "document"}
        assert report.rejected == len(problems) == (not at_a_line_end)
        assert report.articles == len(articles)
        if name == "document":
            assert not articles


@pytest.mark.parametrize(
    ("read", "text", "problem"),
    [
        (read_discourse, '{"a": 1}', "x:1: post_stream.posts: expected a topic with an array of posts"),
        (read_discourse, '{"post_stream": {"posts": [1]}}', "x:1: post_stream.posts: expected a topic"),
        (read_discourse, "[1]", "x: expected an object or an array of them: Expected `object | null`"),
        (read_discourse, "[" * 10_000, "x: expected an object or an array of them"),
        (read_coral, '{"storyID": "s"}', "x:1: id: missing"),
        (read_coral, '{"id": "s", "metadata": {"title": 1.5}}', "x:1: title: expected text, got 1.5"),
        (read_reddit, '{"id": "s"}', "x:1: title: missing; expected a submission, or a comment with link_id"),
        (read_reddit, '{"id": "s", "link_id": "t3_a"}', "x:1: body: missing"),
        (read_reddit, '{"id": "s", "link_id": "t3_a", "body": "b", "score": 0.5}', "expected a whole number of votes"),
        (read_reddit, '{"kind": "Listing", "data": {}}', "x:1: data.children: expected an array, got null"),
        (read_reddit, '{"kind": "Listing", "data": {"children": ["a"]}}', "x:1: children: expected an object with"),
        (read_hackernews, '{"id": true}', "x:1: id: expected text, got true"),
        (read_hackernews, '{"id": 3, "type": "comment"}', "x:1: parent: missing in comment"),
        (read_hackernews, "", "x: the file holds no lines"),
        (read_disqus, disqus("", "<post dsq:id='1'><message/></post>"), "x:1: thread.dsq:id: expected the id"),
        (read_disqus, "<rss/>", "x:1: expected an export whose outermost element is disqus, got rss"),
    ],
)
def test_bad_input(tmp_path: Path, read: Any, text: str, problem: str) -> None:
    (path := tmp_path / "x").write_text(text)
    assert problem in refused(InvalidInput, read, [path]).replace(f"{tmp_path}/", "")
