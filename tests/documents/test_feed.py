from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.documents.feed import FeedEntry, FeedReport, is_feed, read_feed
from postil.documents.reading import entry_document
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
        {"id": "1", "url": "/a", "title": "A"}
        | {"content_html": "<p>Rain.</p>", "date_published": "2020-02-03T04:05:06Z"},
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
        content="<p>It rained on Ely.</p><p>A &nbsp; lot.",
        is_html=True,
        date="2002-10-02",
        lang="en-gb",
    )
    assert (second.url, second.content, second.is_html, second.date) == ("", "Plain text: 3 of 4.", False, "2021-03-04")
    assert (third.title, third.url, third.is_html, third.date) == ("", "https://fen.example/9", True, None)


def test_atom() -> None:
    first, second, third = read_feed(ATOM.encode(), "moor.xml")
    assert (first.title, first.date, first.lang) == ("Hochwasser", "2020-01-02", "de")
    assert first.url == "https://moor.example/blog/1.html"
    assert (first.content, first.is_html) == ("<p>Es <b>regnet</b>.</p>", True)
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
    assert (second.url, second.content, second.lang) == ("https://fen.example/b", "Snow < rain.", "de-AT")
    assert not second.is_html
    assert (third.title, third.url, third.content) == ("", "", "")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "windows-1251", "iso-8859-5"])
def test_encodings(encoding: str) -> None:
    said = "utf-8" if encoding == "utf-8-sig" else encoding
    feed = f'<?xml version="1.0" encoding="{said}"?><rss><channel><item><title>Вода</title></item></channel></rss>'
    assert is_feed(feed.encode(encoding))
    assert read_feed(feed.encode(encoding), "a.xml")[0].title == "Вода"


NO_FEEDS = (
    *(b"", b"<html><head><title>rss</title></head></html>", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    *(b"<feed><entry/></feed>", b'{"items": []}', b"rss", b"%PDF-1.7", b"\x00\xff\xfe\x80"),
)


@pytest.mark.parametrize("data", NO_FEEDS)
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


def feed_of(*items: str, head: str = "") -> str:
    return f'{head}<rss version="2.0"><channel><title>M</title>{"".join(items)}</channel></rss>'


LAST = "<item><title>Last &amp; least</title><link>http://a.example/?a=1&amp;b=2</link><description>End.</description></item>"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Eels & bread", "Eels & bread"),
        ("R&D at AT&T; Q&A", "R&D at AT&T; Q&A"),
        ("a &copy=1 &lt=2 & &", "a &copy=1 &lt=2 & &"),
        ("&nbsp;&eacute;&#233; &copy; &nosuch;", "éé © &nosuch;"),
        ("1 < 2 & 3", "1 < 2 & 3"),
        ("<![CDATA[Tom & Jerry]]> & co", "Tom & Jerry & co"),
        ("a\x1cb&#x1c;c&#0;&#xD800;", "a�b�c��"),
    ],
)
def test_raw_ampersands_are_text_and_harm_nothing_after_them(written: str, shown: str) -> None:
    item = f"<item><title>{written}</title><link>http://a.example/?a=1&b=2&copy=3&amp;d=4</link>"
    first, last = read_feed(feed_of(f"{item}<description>{written}</description></item>", LAST).encode(), "a.xml")
    assert first.title == first.content.replace("\xa0", "") == shown
    assert first.url == "http://a.example/?a=1&b=2&copy=3&d=4"
    assert (last.title, last.url, last.content) == ("Last & least", "http://a.example/?a=1&b=2", "End.")


def test_raw_ampersands_of_atom() -> None:
    [entry] = read_feed(
        b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>a & b</title><link href="http://a.example/?a=1&b=2"/>'
        b'<content type="html">&lt;p&gt;Rain & &amp;lt;snow&amp;gt; on AT&T&lt;/p&gt;</content></entry></feed>',
        "a.xml",
    )
    assert (entry.title, entry.url, entry.is_html) == ("a & b", "http://a.example/?a=1&b=2", True)
    assert entry_document(entry, "a.xml").text == "Rain & <snow> on AT&T"


@pytest.mark.parametrize(
    ("inside", "content"),
    [
        ("<p>One & two<br>three</p><img src=a.png>", '<p>One &amp; two<br>three</p><img src="a.png">'),
        ("<b>One <i>two</b></i>", "<b>One <i>two</b></i>"),
        ("<p>One<p>two", "<p>One<p>two"),
        ("<a b='1' b='2'>One</a>", '<a b="1" b="2">One</a>'),
        ("<nowhere:p>One", "<p>One"),
    ],
)
def test_tags_that_do_not_match_harm_one_entry(inside: str, content: str) -> None:
    report = FeedReport()
    feed = feed_of(f"<item><title>a</title><description>{inside}</description></item>", LAST)
    first, last = read_feed(feed.encode(), "a.xml", report=report)
    assert first.content == content
    assert (last.title, last.url, last.content) == ("Last & least", "http://a.example/?a=1&b=2", "End.")
    assert not report.is_odd


@pytest.mark.parametrize(
    "item",
    [
        "<item><title>One</title><description>It rained &amp; stopped.</item>",
        "<item><title>One<description>It rained & stopped.</description></item>",
        "<item><title>One</title><description>It rained & stopped.",
        "<item><title>One</title><description><![CDATA[It rained & stopped.</description></item>",
        "<item><title><![CDATA[One</title><description><![CDATA[It rained & stopped.]]></description></item>",
        "<item><title><![CDATA[One</title><description><![CDATA[It rained & stopped.</description></item>",
    ],
)
def test_parts_of_entries_without_an_end_keep_their_text(item: str) -> None:
    for following in ([LAST, LAST], [LAST.replace("End.", "<![CDATA[End.]]>"), LAST], []):
        report = FeedReport()
        found = read_feed(feed_of(item, *following).encode(), "a.xml", report=report)
        assert [(each.title, each.content) for each in found] == [
            ("One", "It rained & stopped."),
            *[("Last & least", "End.")] * len(following),
        ]
        assert not report.is_odd


def test_entries_in_comments_are_none() -> None:
    read_feed(feed_of("<!-- <item> -->", LAST).encode(), "a.xml", report=(report := FeedReport()))
    assert (report.entries, report.unread) == (1, 0)


def test_entries_that_cannot_be_read_are_counted() -> None:
    report = FeedReport()
    feed = feed_of("<item><title>a</title><media:content><media:title>One</item>", LAST, LAST)
    assert len(read_feed(feed.encode(), "a.xml", report=report)) == 2
    assert (report.unread, report.is_odd) == (1, True)


CHINESE = "今天下雨了，我们没有去公园，只好在家里看书。"


def test_a_feed_that_is_cut_off_gives_what_it_has_and_says_so() -> None:
    items = [
        f"<item><title>T{n}</title><description><![CDATA[<p>Rain {n} & snow.</p>]]></description></item>"
        for n in range(3)
    ]
    whole = feed_of(*items)
    ends = [whole.index(item) + len(item) for item in items]
    for cut in range(whole.index("<item>") + 8, len(whole)):
        report = FeedReport()
        found = read_feed(whole[:cut].encode(), "a.xml", report=report)
        complete = sum(end <= cut for end in ends)
        assert [(each.title, each.content) for each in found[:complete]] == [
            (f"T{n}", f"<p>Rain {n} & snow.</p>") for n in range(complete)
        ]
        assert len(found) - complete <= 1
        assert (report.cut_off, report.entries, report.unread) == (True, len(found), 0)
        assert all("Rain" not in each.content or each.content.startswith("<p>Rain") for each in found)
    read_feed(whole.encode(), "a.xml", report=(report := FeedReport()))
    assert not report.is_odd
    read_feed((whole + "\n<!-- cached --><script>x</script>").encode(), "a.xml", report=report)
    assert not report.is_odd
    with pytest.raises(InvalidInput, match="the feed has no entries; it is cut off"):
        read_feed(b"<rss><channel><title>", "a.xml")


@pytest.mark.parametrize(
    ("head", "data", "shown", "report"),
    [
        ("utf-8", b"caf\xe9 \xc3\xa9", "caf� é", (1, None, "")),
        ("iso-8859-1", "café".encode(), "café", (0, "iso-8859-1", "UTF-8")),
        ("iso-8859-1", b"caf\xe9 \x80", "café €", (0, None, "")),
        ("utf8mb4", "café".encode(), "café", (0, "utf8mb4", "UTF-8")),
        ("", b"caf\xe9", "café", (0, None, "cp1252")),
        ("", "café".encode(), "café", (0, None, "")),
        ("", "café — “naïve” ".encode() + b"\xe9", "café — “naïve” �", (1, None, "")),
        ("", CHINESE.encode("gbk"), CHINESE, (0, None, "gb18030")),
        ("utf-8", "Caf\xe9".encode() + b"\0", "Café�", (1, None, "")),
    ],
)
def test_bytes_of_another_encoding_are_told(
    head: str, data: bytes, shown: str, report: tuple[int, str | None, str]
) -> None:
    declared = f'\n<?xml version="1.0" encoding="{head}"?>' if head else ""
    feed = feed_of("<item><title>MARK</title></item>", head=declared).encode().replace(b"MARK", data)
    met = FeedReport()
    assert [entry.title for entry in read_feed(feed, "a.xml", report=met)] == [shown]
    assert (met.replaced, met.declared, met.encoding) == report
    assert met.is_odd == (report != (0, None, ""))


def test_damaged_bytes_of_a_json_feed_are_counted() -> None:
    met = FeedReport()
    feed = (
        json.dumps(JSON | {"items": [{"id": "1", "title": "MARK �"}]}, ensure_ascii=False)
        .encode()
        .replace(b"MARK", b"a\xff")
    )
    assert [entry.title for entry in read_feed(feed, "a.json", report=met)] == ["a� �"]
    assert met.replaced == 1


@pytest.mark.parametrize(
    ("feed", "problem"),
    [
        (feed_of("<item>", "<a/>" * 1_100_000, "</item>"), "at most 1,048,576 tags"),
        (feed_of("<item>" * 10_001), "at most 10,000 entries, got 10,001"),
        (
            feed_of("<item " + " ".join(f"xmlns:n{n}='x'" for n in range(101)) + ">"),
            "at most 100 prefixes of namespaces, got 101",
        ),
    ],
    ids=["tags", "entries", "prefixes"],
)
def test_feeds_that_would_take_minutes_are_refused(feed: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read_feed(feed.encode(), "a.xml")


def test_people_and_subjects_are_not_read() -> None:
    """Their number and length would be squared."""
    inside = "".join(f"<category>c{n}</category><dc:subject>s{n}</dc:subject>" for n in range(20_000))
    inside += f"<author>{'a.a-' * 50_000}@</author><itunes:keywords>{'a,' * 50_000}</itunes:keywords>"
    item = f"<item><title>a</title>{inside}<description><![CDATA[<p>An <author>a</author> of it]]></description></item>"
    [entry] = read_feed(feed_of(item).encode(), "a.xml")
    assert (entry.title, entry.content) == ("a", "<p>An <author>a</author> of it")


def test_nothing_is_asked_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("urllib.request.OpenerDirector.open", refuse)
    head = '<!DOCTYPE rss SYSTEM "http://a.example/rss.dtd">'
    item = "<item xml:base='http://a.example/'><link>b?c=1</link><description>&lt;img src='x'></description></item>"
    [entry] = read_feed(feed_of(item, head=head).encode(), "a.xml")
    assert (entry.url, entry.content) == ("http://a.example/b?c=1", "<img src='x'>")


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
