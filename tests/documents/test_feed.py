from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.documents.feed import FeedEntry, entry_document, is_feed, read_feed
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

RSS = """<?xml version="1.0" encoding="UTF-8"?>
<!-- of the fen --><!DOCTYPE rss PUBLIC "-//N//DTD RSS 0.91//EN" "http://no.example/rss.dtd">
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><title>The Fen</title><link>https://fen.example</link><language>en-gb</language>
<item><title>Water &amp;amp; reeds&nbsp;&amp;lt;b&amp;gt;</title><link> /7?a=1&amp;b=2 </link>
<description>Short.</description><content:encoded><![CDATA[<p>It rained on Ely.</p><p>A &nbsp; lot.]]></content:encoded>
<pubDate>Wed, 02 Oct 2002 23:00:00 EST</pubDate></item>
<item><title>No link</title><guid isPermaLink="false">x1</guid><description>Plain text: 3 of 4.</description>
<dc:date>2021-03-04T01:00:00+01:00</dc:date></item>
<item><guid>https://fen.example/9</guid><description>&lt;p&gt;No title.</description><pubDate>some day</pubDate></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de" xml:base="https://moor.example/blog/">
<title>Moor</title><link rel="self" href="feed.xml"/>
<entry><title type="html">&lt;em&gt;Hochwasser&lt;/em&gt;</title><link rel="self" href="1.atom"/><link href="1.html"/>
<id>urn:1</id><published>2020-01-02T03:04:05Z</published><updated>2022-01-01T00:00:00Z</updated><summary>Kurz.</summary>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Es <b>regnet</b>.</p></div></content></entry>
<entry xml:lang="fr"><title>Crue</title><id>https://moor.example/2</id><updated>2022-01-01T00:00:00Z</updated>
<content type="html">&lt;p&gt;Il pleut.&lt;/p&gt;</content></entry>
<entry><title>a &lt; b</title><id>urn:3</id><updated>2022-01-01</updated>
<content type="text">a &lt;b&gt; c</content></entry>
</feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="https://fen.example/"><title>Fen</title>
<dc:language>nl</dc:language></channel><item rdf:about="https://fen.example/1"><title>Riet</title>
<link>https://fen.example/1</link><description>Het riet.</description><dc:date>2005-05-06</dc:date></item></rdf:RDF>"""
JSON = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "Fen",
    "language": "en",
    "items": [
        {
            "id": "1",
            "url": "/a",
            "title": "A",
            "content_html": "<p>Rain.</p>",
            "date_published": "2020-02-03T04:05:06Z",
        },
        {"id": "https://fen.example/b", "content_text": "Snow < rain.", "language": "de-AT"},
        {"id": 3, "title": 7, "content_html": None},
        "no entry",
    ],
}


def test_rss() -> None:
    first, second, third = read_feed(RSS.encode(), "fen.xml", url="https://fen.example/feeds/all.xml")
    assert first == FeedEntry(
        title="Water & reeds",
        url="https://fen.example/7?a=1&b=2",
        content="<p>It rained on Ely.</p><p>A \xa0 lot.",
        is_html=True,
        date="2002-10-02",
        lang="en-gb",
    )
    assert (second.url, second.content, second.is_html, second.date) == ("", "Plain text: 3 of 4.", False, "2021-03-04")
    assert (third.title, third.url, third.is_html, third.date) == ("", "https://fen.example/9", True, None)


def test_atom() -> None:
    first, second, third = read_feed(ATOM.encode(), "moor.xml")
    assert (first.title, first.url, first.date, first.lang) == (
        "Hochwasser",
        "https://moor.example/blog/1.html",
        "2020-01-02",
        "de",
    )
    assert (first.content, first.is_html) == ("<div><p>Es <b>regnet</b>.</p></div>", True)
    assert (second.url, second.content, second.lang) == ("https://moor.example/2", "<p>Il pleut.</p>", "fr")
    assert (third.title, third.url, third.content, third.is_html) == ("a < b", "", "a <b> c", False)


def test_rss_1() -> None:
    entry = FeedEntry(
        title="Riet", url="https://fen.example/1", content="Het riet.", is_html=False, date="2005-05-06", lang="nl"
    )
    assert read_feed(RDF.encode(), "fen.rdf") == (entry,)


def test_json() -> None:
    first, second, third = read_feed(json.dumps(JSON).encode(), "feed.json", url="https://fen.example/feed.json")
    assert first == FeedEntry(
        title="A", url="https://fen.example/a", content="<p>Rain.</p>", is_html=True, date="2020-02-03", lang="en"
    )
    assert (second.url, second.content, second.is_html, second.lang) == (
        "https://fen.example/b",
        "Snow < rain.",
        False,
        "de-AT",
    )
    assert (third.title, third.url, third.content) == ("", "", "")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "windows-1251", "iso-8859-5"])
def test_encodings(encoding: str) -> None:
    said = "utf-8" if encoding == "utf-8-sig" else encoding
    feed = f'<?xml version="1.0" encoding="{said}"?><rss><channel><item><title>Вода</title></item></channel></rss>'
    assert is_feed(feed.encode(encoding))
    assert read_feed(feed.encode(encoding), "a.xml")[0].title == "Вода"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html><head><title>rss</title></head></html>",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<feed><entry/></feed>",
        b'{"items": []}',
        b"rss",
        b"%PDF-1.7",
        b"\x00\xff\xfe\x80",
    ],
)
def test_other_files_are_no_feeds(data: bytes) -> None:
    assert not is_feed(data)
    with pytest.raises(InvalidInput, match="expected a feed"):
        read_feed(data, "a.xml")


LAUGHS = "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, 10))


@pytest.mark.parametrize(
    ("feed", "problem"),
    [
        (
            f'<!DOCTYPE rss [<!ENTITY l0 "ha">{LAUGHS}]><rss><channel><item><title>&l9;',
            "declares entities|expected a feed",
        ),
        ("<!DOCTYPE rss [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><rss><item><title>&x;", "declares entities|expected"),
        ("<rss><channel></channel></rss>", "no entries"),
        ('{"version": "https://jsonfeed.org/version/1", "items": [', "damaged"),
        ('{"version": "https://jsonfeed.org/version/1", "items": ' + "[" * 100_000, "damaged"),
    ],
    ids=["laughs", "file", "empty", "cut", "deep"],
)
def test_hostile_and_damaged_feeds_are_one_sentence(feed: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem) as caught:
        read_feed(feed.encode(), "a.xml")
    assert "\n" not in str(caught.value)


def test_a_feed_that_is_cut_off_gives_its_whole_entries() -> None:
    assert next(entry.title for entry in read_feed(RSS[:900].encode(), "a.xml")) == "Water & reeds"


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.documents.feed.MOST_ENTRIES", 2)
    with pytest.raises(InvalidInput, match="at most 2 entries, got 3"):
        read_feed(RSS.encode(), "a.xml")
    monkeypatch.setattr("postil.documents.feed.LARGEST", 1 << 20)
    with pytest.raises(InvalidInput, match="at most 1 MiB, got 2 MiB"):
        read_feed(RSS.encode() + b" " * (2 << 20), "a.xml")


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "http://[", "//", "mailto:a@b.example"]
)
def test_only_addresses_of_the_web_are_taken(link: str) -> None:
    feed = f"<rss><channel><item><title>a</title><link>{link}</link></item></channel></rss>"
    assert read_feed(feed.encode(), "a.xml")[0].url == ""


def test_entries_are_documents() -> None:
    rich, plain, short = read_feed(RSS.encode(), "fen.xml", url="https://fen.example/feeds/all.xml")
    document = entry_document(rich, "fen.xml")
    assert [document.text_of(block) for block in document.blocks] == ["It rained on Ely.", "A lot."]
    assert (document.title, document.date, document.lang) == ("Water & reeds", "2002-10-02", "en-gb")
    assert document.source == document.url == "https://fen.example/7?a=1&b=2"
    assert entry_document(plain, "fen.xml").text == "Plain text: 3 of 4."
    assert entry_document(plain, "fen.xml").source == "fen.xml"
    assert entry_document(short, "fen.xml").text == "No title."
    with pytest.raises(InvalidInput, match=r"^fen.xml: the feed has no text of this entry"):
        entry_document(FeedEntry(title="a", url="", content="", is_html=False), "fen.xml")


def test_scripts_of_an_entry_are_no_text() -> None:
    entry = FeedEntry(title="", url="", content="<p>It rained.<script>alert(1)</script></p>", is_html=True)
    assert entry_document(entry, "fen.xml").text == "It rained."


def attempt(read: Callable[[], object]) -> None:
    try:
        read()
    except InvalidInput as problem:
        assert "\n" not in str(problem)  # noqa: PT017


@examples(150)
@given(
    st.sampled_from([RSS, ATOM, RDF, json.dumps(JSON)]), st.integers(0, 1500), st.text(max_size=12), st.integers(0, 200)
)
def test_damage_gives_entries_or_one_sentence(feed: str, at: int, junk: str, lost: int) -> None:
    data = (feed[:at] + junk + feed[at + lost :]).encode("utf-8", "replace")
    attempt(lambda: read_feed(data, "a.xml"))
