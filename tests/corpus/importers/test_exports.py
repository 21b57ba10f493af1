"""Exports of Disqus, Discourse, Coral, Reddit, Hacker News and WordPress, and XML that is broken."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import sys
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import pytest

from postil.corpus.importers.exports import (
    read_coral,
    read_discourse,
    read_disqus,
    read_hackernews,
    read_reddit,
    read_wordpress,
    without_shortcodes,
)
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


COMMENT: Final = """<wp:comment><wp:comment_id>{id}</wp:comment_id>
<wp:comment_author><![CDATA[Ann Secret]]></wp:comment_author>
<wp:comment_author_email>ann@secret.org</wp:comment_author_email><wp:comment_author_IP>192.0.2.7</wp:comment_author_IP>
<wp:comment_date>2020-03-21 07:27:01</wp:comment_date><wp:comment_date_gmt>2020-03-21 06:27:01</wp:comment_date_gmt>
<wp:comment_content><![CDATA[{text}]]></wp:comment_content><wp:comment_approved>{approved}</wp:comment_approved>
<wp:comment_type>{type}</wp:comment_type><wp:comment_parent>{parent}</wp:comment_parent></wp:comment>"""
ITEM: Final = """<item><title>Rain &amp; snow</title><link>https://site.org/rain</link><dc:creator>ann</dc:creator>
<content:encoded><![CDATA[<!-- wp:paragraph --><p>It will <b>rain</b>.</p>
<blockquote>A proverb.</blockquote>]]></content:encoded><excerpt:encoded><![CDATA[no]]></excerpt:encoded>
<wp:post_id>{id}</wp:post_id><wp:post_date_gmt>{date}</wp:post_date_gmt><wp:status>{status}</wp:status>
<wp:post_type>{type}</wp:post_type><category domain="post_tag">wet</category>
<category domain="category" nicename="weather"><![CDATA[Weather]]></category>{comments}</item>"""


def comment(number: int = 1, text: str = "Oh", approved: str = "1", kind: str = "comment", parent: int = 0) -> str:
    return COMMENT.format(id=number, text=text, approved=approved, type=kind, parent=parent)


def item(
    number: int = 7, *comments: str, date: str = "2020-03-21 05:00:00", status: str = "publish", kind: str = "post"
) -> str:
    return ITEM.format(id=number, comments="".join(comments), date=date, status=status, type=kind)


def export(*items: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8" ?>\n<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/">'
        f"<channel>\n<title>Site</title><language>de-AT</language>{''.join(items)}\n</channel></rss>"
    )


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "site.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_posts_and_comments(tmp_path: Path, report: ImportReport) -> None:
    replies = (
        comment(1, "First line\nsecond &lt;3 <blockquote>It will rain.</blockquote>"),
        comment(2, "No", parent=1),
        comment(3, "buy", approved="spam"),
        comment(4, "wait", approved="0"),
        comment(5, "bin", approved="trash"),
        comment(6, "[...] there", kind="pingback"),
        comment(8, "<blockquote>only a quote</blockquote>"),
    )
    post = item(7, *replies).replace("It will", '[gallery ids="1"]It will')
    [article] = read_wordpress([written(tmp_path, export(post))], report)
    at = "2020-03-21T06:27:01Z"
    comments = Comment("1", "First line\nsecond <3", date=at), Comment("2", "No", date=at, parent="1")
    text, url = "It will rain.\nA proverb.", "https://site.org/rain"
    assert article == Article("7", "Rain & snow", comments, text, "Weather", "de-AT", url, date="2020-03-21T05:00:00Z")
    assert not any(word in repr(article) for word in ("Secret", "secret", "192.0", "'ann'"))  # no names of people
    assert (report.withheld, report.textless, report.comments) == (4, 1, 2)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("[caption id='a']<img> A duck[/caption]", "<img> A duck"),
        ("a [gallery] b [gallery ids=1,2]", "a  b "),
        ("[embed]https://x.org/[/embed]b", "b"),
        ("[box]see[/box] [button link='x'] [su_note]a[/su_note]", "see  a"),
        *[("[sic] [...] [1] [a link](x) [[gallery]] [note to self]",) * 2],
        ("[embed]" * 20_000, ""),
        ("https://x.org/a\n <p>b</p>\n\thttps://x.org/c \r\nhttps://x.org d", "\n <p>b</p>\n\nhttps://x.org d"),
        ("[a " * 20_000, "[a " * 20_000),
    ],
    ids=lambda text: text[:12],
)
def test_shortcodes(html: str, text: str) -> None:
    assert without_shortcodes(html) == text


def test_what_is_no_published_post(tmp_path: Path, report: ImportReport) -> None:
    items = (
        item(1, status="draft"),
        item(2, kind="attachment", status="inherit"),
        item(3, kind="page"),
        item(4, comment(), kind="page", date="0000-00-00 00:00:00"),
        item(5).replace("</item>", "<wp:post_password>x</wp:post_password></item>"),
        item(6),
    )
    found = list(read_wordpress([written(tmp_path, export(*items))], report, lang="de"))
    assert [(article.id, article.date, article.lang) for article in found] == [
        ("4", None, "de"),
        ("6", "2020-03-21T05:00:00Z", "de"),
    ]
    assert (report.unpublished, report.bare) == (4, 1)


def test_a_broken_comment_and_a_broken_post(tmp_path: Path, report: ImportReport, problems: Problems) -> None:
    bad = comment(2).replace("2020-03-21 06:27:01", "yesterday")
    items = (item(7, comment(1), bad), item(7), item(8, date="soon"), item(9))
    found = list(read_wordpress([written(tmp_path, export(*items))], report))
    assert [(article.id, len(article.comments)) for article in found] == [("7", 1), ("9", 0)]
    assert [problem.partition(", got")[0].replace(f"{tmp_path}/", "") for problem in problems(report)] == [
        "site.xml:3: comments[1].date: expected a date such as 2017-03-30T02:56:13Z, 30.03.2017 02:56 or Unix seconds",
        'site.xml:18: id: article "7" stands in site.xml:3 already; keep one of them',
        "site.xml:23: date: expected a date such as 2017-03-30T02:56:13Z, 30.03.2017 02:56 or Unix seconds",
    ]
    broken = written(tmp_path, "\n\n" + export(item(7, date="soon")))  # blank lines before the declaration count
    assert "site.xml:5: date" in refused(InvalidInput, read_wordpress, [broken])


@pytest.mark.parametrize(
    ("escaped", "category"),
    [
        ("Council &amp; Courts", "Council & Courts"),
        ("What&#x27;s on", "What's on"),
        ("R&D", "R&D"),
        (" ", None),
        ("7 < 8", "7 < 8"),
    ],
)
def test_categories_are_decoded_as_titles_are(tmp_path: Path, lines: Lines, escaped: str, category: str | None) -> None:
    """Sites keep both escaped, and write them so into CDATA and JSON."""
    path = tmp_path / "site.xml"
    path.write_text(export(item(1)).replace("[Weather]", f"[{escaped}]"), encoding="utf-8")
    [post] = read_wordpress([path])
    story = {"id": "s", "metadata": {"title": escaped.strip() or "t", "section": escaped}}
    [of_coral] = read_coral([lines("coral.jsonl", story)])
    assert post.category == of_coral.category == category
    assert of_coral.title == (category or "t")


def test_addresses_of_reddit_are_decoded(lines: Lines) -> None:
    post = {"id": "a1", "title": "Rain", "subreddit": "weather", "url": "https://site.org/?a=1&amp;copy=2&b=3"}
    assert [each.url for each in read_reddit([lines("c.jsonl", post)])] == ["https://site.org/?a=1&copy=2&b=3"]


DAMAGED: Final = export(item(1), item(2, comment(1, "with a MARK in it")), item(3)).replace("Rain &amp; snow", "TITLE")


@pytest.mark.parametrize(
    ("mark", "title", "found"),
    [
        ("\0", "a", ("with a � in it", "a", 1)),
        ("\x08", "\x1f", ("with a � in it", "�", 4)),
        ("\ufffe\uffff", "a", ("with a �� in it", "a", 2)),
        ("-", "&#x1c;&#0;&#xD800;&#xFFFF;", ("with a - in it", "����", 12)),
        ("R&D", "R&D &nbsp;&mdash; AT&T; a&b=1", ("with a R&D in it", "R&D — AT&T; a&b=1", 0)),
    ],
)
def test_forbidden_characters_are_replaced_and_counted(
    tmp_path: Path, mark: str, title: str, found: tuple[str, str, int]
) -> None:
    data = "\n\r\n " + DAMAGED.replace("MARK", mark).replace("TITLE", title)
    for encoding, pack in product(("utf-8", "utf-8-sig", "utf-16"), (bytes, gzip.compress, bz2.compress)):
        report = ImportReport()
        articles = list(read_wordpress([written(tmp_path, pack(data.encode(encoding)))], report))
        assert [article.id for article in articles] == ["1", "2", "3"]
        assert (articles[1].comments[0].text, articles[2].title, report.replaced) == found


@pytest.mark.parametrize(
    ("declared", "mark", "found"),
    [
        ("UTF-8", b"caf\xe9", ("caf�", 1)),
        ("UTF-8", b"\xc3\xa9 \xed\xa0\x80", ("é ���", 3)),
        ("ISO-8859-1", b"caf\xe9 \x80", ("café €", 0)),
        ("windows-1252", "café".encode(), ("café", 0)),
        ("GBK", "雨".encode("gbk"), ("雨", 0)),
    ],
)
def test_bytes_of_another_encoding(tmp_path: Path, declared: str, mark: bytes, found: tuple[str, int]) -> None:
    data = DAMAGED.replace("UTF-8", declared).encode().replace(b"MARK", mark)
    articles = list(read_wordpress([written(tmp_path, data)], report := ImportReport()))
    assert [article.id for article in articles] == ["1", "2", "3"]
    assert (articles[1].comments[0].text, report.replaced) == (f"with a {found[0]} in it", found[1])
    wrong = declared == "windows-1252"
    assert report.detected == [f"{tmp_path}/site.xml declares windows-1252 and is UTF-8; read as UTF-8"] * wrong


@pytest.mark.parametrize(
    ("tail", "problems"), [("\0\x1a\n\0", 0), ("\n<!-- cached -->\n", 0), ("\0<rss/>", 1), ("x", 1)]
)
def test_what_follows_the_outermost_element(tmp_path: Path, report: ImportReport, tail: str, problems: int) -> None:
    path = written(tmp_path, export(item(1), item(2)) + tail + "\0" * 200_000)
    assert [article.id for article in read_wordpress([path], report)] == ["1", "2"]
    assert report.rejected == len(report.unfinished) == problems


def test_wordpress_cut_anywhere(tmp_path: Path) -> None:
    whole = export(*(item(number, comment(1), comment(2, "ÄÖ 明天")) for number in range(1, 5))).encode()
    ends = [at for at in range(len(whole)) if whole.startswith(b"</item>", at)]
    for cut in range(0, len(whole), 97):
        problems: list[InvalidInput] = []
        report = ImportReport(problems.append)
        found = list(read_wordpress([written(tmp_path, whole[:cut])], report))
        assert len(found) == sum(end + len("</item>") <= cut for end in ends)
        assert all(len(article.comments) == 2 for article in found)
        assert report.rejected == len(problems) == 1
        assert report.unfinished == problems
        assert "the rest is not read; is the file cut off?" in str(problems[0])


ENTITY: Final = "site.xml:1: declares the entity a, which no export does; remove the declaration"
UNKNOWN: Final = "site.xml: not XML in a known encoding"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "site.xml:1: not XML at column 1: no element found"),
        ("id,title\n1,x", "site.xml:1: not XML at column 1: syntax error"),
        ("<html><body/></html>", "site.xml:1: expected an export whose outermost element is rss, got html"),
        ('<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><rss>&b;</rss>', ENTITY),
        ('<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss>&a;</rss>', ENTITY),
        ("<rss><a></rss>", "site.xml:1: not XML at column 11: mismatched tag"),
        ("<rss>" + "<a>" * 200, "site.xml:1: expected elements at most 100 deep, got deeper ones"),
        (
            '<?xml version="1.0" encoding="none-such"?><rss/>',
            f"{UNKNOWN}: unknown encoding: none-such; save it as",
        ),
        (export(item(7, comment(1, "x" * 5_000_000))), "expected HTML of at most 4,194,304 characters"),
    ],
)
def test_bad_xml(tmp_path: Path, text: str, problem: str) -> None:
    assert problem in refused(InvalidInput, read_wordpress, [written(tmp_path, text)])


def test_elements_without_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.documents.xml.LARGEST", 100_000)
    for text in (export(item(7, comment(1, "x" * 200_000))), '<rss a="' + "x" * 300_000):
        with pytest.raises(InvalidInput, match=r"expected (an element of at most|a tag of at most) 100,000"):
            list(read_wordpress([written(tmp_path, text)]))
