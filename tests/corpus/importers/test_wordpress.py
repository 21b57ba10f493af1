"""Exports of WordPress, and XML that is broken."""

from __future__ import annotations

import bz2
import gzip
from itertools import product
from typing import TYPE_CHECKING, Final

import pytest

from postil.corpus.importers.exports import read_wordpress, without_shortcodes
from postil.corpus.importers.import_report import ImportReport
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput
from refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Problems

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
        "site.xml:3: comments[1].date: expected a date such as 2017-03-30T02:56:13Z, or Unix seconds",
        'site.xml:18: id: article "7" stands in site.xml:3 already; keep one of them',
        "site.xml:23: date: expected a date such as 2017-03-30T02:56:13Z, or Unix seconds",
    ]
    broken = written(tmp_path, "\n\n" + export(item(7, date="soon")))  # blank lines before the declaration count
    assert "site.xml:5: date" in refused(InvalidInput, read_wordpress, [broken])


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


def test_cut_anywhere(tmp_path: Path) -> None:
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
def test_bad_input(tmp_path: Path, text: str, problem: str) -> None:
    assert problem in refused(InvalidInput, read_wordpress, [written(tmp_path, text)])


def test_elements_without_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.documents.xml.LARGEST", 100_000)
    for text in (export(item(7, comment(1, "x" * 200_000))), '<rss a="' + "x" * 300_000):
        with pytest.raises(InvalidInput, match=r"expected (an element of at most|a tag of at most) 100,000"):
            list(read_wordpress([written(tmp_path, text)]))
