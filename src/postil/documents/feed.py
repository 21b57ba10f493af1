"""Feeds as entries: RSS 0.9 to 2.0, Atom and JSON Feed. Nothing is fetched, and no entity of a file is expanded.

feedparser reads XML that is mended and bounded first: by itself it makes ``AT&T;`` of ``AT&T`` and ``©=1`` of
``&copy=1``, and takes the square of the number of categories and of the length of a name.
"""

from __future__ import annotations

import codecs
import html
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urljoin, urlsplit
from xml.parsers import expat

import msgspec

from postil.data.streams import shown_encoding, told_encoding
from postil.documents.document import language_tag
from postil.documents.readers.html import decode_html
from postil.documents.xml import REPLACEMENT, XmlRepair, declared_encoding
from postil.errors import InvalidInput, needs

__all__ = ["FeedEntry", "FeedReport", "is_feed", "read_feed"]

LARGEST: Final = 1 << 25
"""Largest feed in bytes."""
MOST_ENTRIES: Final = 10_000
MOST_TAGS: Final = 1 << 20
"""Largest number of signs <; reading takes some ten microseconds for each."""
MOST_PREFIXES: Final = 100
"""Largest number of prefixes of namespaces; feedparser goes through all of them at each tag."""
HEAD: Final = 1 << 14
"""Number of bytes in which a feed says that it is one."""

_BEFORE_ROOT: Final = re.compile(r"\s*(?:<\?[^>]*>|<!--(?:[^-]|-(?!->))*-->|<!DOCTYPE[^<>\[]*(?:\[[^\]]*\]\s*)?>|\s)*")
_ROOT: Final = re.compile(r"<((?:[\w.-]{1,40}:)?(rss|RDF|feed))\b([^>]*)>?")
_SPACES: Final = (
    "http://www.w3.org/2005/Atom",
    "http://purl.org/atom/",
    "http://purl.org/rss/1.0/",
    "netscape.com/rdf",
)
_JSON: Final = re.compile(r'\s*\{[^\0]*?"version"\s*:\s*"https?:\\?/\\?/jsonfeed\.org\\?/version\\?/1')
_ENTRY: Final = re.compile(r"<(?:[\w.-]{1,40}:)?(?:item|entry)\b")
_BEGIN_OF_CDATA: Final = "<![CDATA["
_CDATA: Final = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)
_UNSAID: Final = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)
_AROUND: Final = "item|entry|channel|feed|rss|rdf:RDF"
_FIELDS: Final = (
    "comments|content|content:encoded|description|guid|id|issued|link|published|pubDate|summary|title|updated"
)
_FIELD_END: Final = re.compile(rf"</(?:{_FIELDS})\s*+>\s*+(?=</?(?:{_AROUND}|{_FIELDS})[\s>])")
_TOKEN: Final = re.compile(
    rf"{_UNSAID.pattern}|<(?P<end>/?)(?P<name>{_AROUND}|{_FIELDS})(?:\s[^<>]*?)?(?P<alone>/?)>", re.DOTALL
)
"""CDATA, comments, and tags of entries, their parts and what they are in."""
_PREFIX: Final = re.compile(r"xmlns:([\w.-]+)")
_UNREAD: Final = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|</?(?:[\w.-]{1,40}:)?(?:author|categor(?:y|ies)|contributor|creator|keywords|managingEditor|owner|publisher|"
    r"subject|tags|webMaster)\b[^<>]*>",
    re.DOTALL | re.IGNORECASE,
)
"""Tags of people and subjects, which are not read: feedparser takes the square of their number and length."""
_MARKUP: Final = re.compile(r"<[A-Za-z/!][^<>]*>|&(?:#\d{1,6}|[A-Za-z]{2,8});")
_REFERENCE: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_TAG: Final = re.compile(r"<[A-Za-z/!][^<>]*>")
_ISO: Final = re.compile(r"\s*(\d{4}-\d\d-\d\d)(?!\d)")
_NO_FEED: Final = "expected a feed (RSS, Atom or JSON Feed), got something else"
_USUAL: Final = "UTF-8"
_OLD: Final = "cp1252"
"""Encoding of feeds that declare none and are not UTF-8, where their bytes do not tell it."""
_XHTML: Final = "application/xhtml+xml"
_FAILURES: Final = (AssertionError, AttributeError, LookupError, RecursionError, RuntimeError, TypeError, ValueError)
"""Errors of feedparser at tags that it does not expect where they stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    """An entry of a feed.

    Args:
        title: Its title without mark-up; empty without one.
        url: Address of its page; empty without one.
        content: Its text, or as much of it as the feed has; empty if it has none.
        is_html: True if the content is HTML, False if it is plain text.
        date: The date that it was published, ``YYYY-MM-DD``; None if the feed does not say.
        lang: Its language as the feed says, a BCP 47 tag; None if it does not.
    """

    title: str
    url: str
    content: str
    is_html: bool
    date: str | None = None
    lang: str | None = None


@dataclass(slots=True, eq=False)
class FeedReport:
    """Damage that was met in a feed; `read_feed` adds to it.

    Args:
        source: Its name.
        replaced: Characters that XML forbids, and bytes that are not of its encoding, replaced by U+FFFD.
        declared: The encoding that it declares; None where it is read as that.
        encoding: The encoding that it was read as in place of the declared one; empty otherwise.
        cut_off: True if it ends before its end tag; the entry it ends in has what there is of it.
        entries: Number of entries that were read.
        unread: Number of entries that tags which do not match make unreadable.
    """

    source: str = ""
    replaced: int = 0
    declared: str | None = None
    encoding: str = ""
    cut_off: bool = False
    entries: int = 0
    unread: int = 0

    @property
    def is_odd(self) -> bool:
        """True if there is something to say."""
        return self.cut_off or bool(self.replaced or self.encoding or self.unread)


def is_feed(data: bytes) -> bool:
    """True if a file is a feed by its first bytes, whatever its name.

    Args:
        data: The file, or its beginning.

    >>> is_feed(b'<?xml version="1.0"?><rss version="2.0"><channel>'), is_feed(b"<html><body>rss"), is_feed(b"{}")
    (True, False, False)
    """
    head = decode_html(data[:HEAD], declared_encoding(data))
    if head.lstrip()[:1] == "{":
        return _JSON.match(head) is not None
    before = _BEFORE_ROOT.match(head)
    root = None if before is None else _ROOT.match(head, before.end())
    return root is not None and (root[2] == "rss" or any(space in root[3] for space in _SPACES))


def read_feed(
    data: bytes, source: str, *, url: str | None = None, charset: str | None = None, report: FeedReport | None = None
) -> tuple[FeedEntry, ...]:
    r"""The entries of a feed, in its order.

    Args:
        data: The feed.
        source: Its name, for errors.
        url: Its address, which addresses of entries can be relative to.
        charset: Its encoding, as the server says.
        report: Damage that was met in it.

    Raises:
        InvalidInput: It is no feed, declares entities, is too large or has no entry.
        MissingExtra: feedparser is not installed.

    >>> feed = b"<rss version='2.0'><channel><item><title>Rain & snow</title><link>/7?a=1&b=2</link>"
    >>> feed += b"<description>&lt;p&gt;It rained.</description></item></channel></rss>"
    >>> [entry] = read_feed(feed, "fen.xml", url="https://fen.example/feed")
    >>> entry.title, entry.url, entry.content
    ('Rain & snow', 'https://fen.example/7?a=1&b=2', '<p>It rained.')
    """
    report = FeedReport() if report is None else report
    report.source = source
    if len(data) > LARGEST:
        raise InvalidInput(f"expected a feed of at most {LARGEST >> 20} MiB, got {len(data) >> 20} MiB", where=source)
    if not is_feed(data):
        raise InvalidInput(_NO_FEED, where=source)
    if decode_html(data[:HEAD], charset).lstrip()[:1] == "{":
        text = decode_html(data, charset or "utf-8")
        report.replaced += text.count(REPLACEMENT) - data.count(REPLACEMENT.encode())
        entries = tuple(_json_entries(text, source, url))
    else:
        entries = tuple(_xml_entries(data, source, url, charset, report))
    if not entries:
        why = "; it is cut off" if report.cut_off else ""
        raise InvalidInput(f"the feed has no entries{why}", where=source)
    _check_number(len(entries), source)
    report.entries = len(entries)
    return entries


def _json_entries(text: str, source: str, url: str | None) -> Iterator[FeedEntry]:
    try:
        feed = msgspec.json.decode(text.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidInput(f"the JSON of the feed is damaged: {error}", where=source) from None
    items = feed.get("items")
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, Mapping):
            continue
        rich = _text(item, "content_html")
        yield FeedEntry(
            title=_title(_text(item, "title")),
            url=_address(_text(item, "url") or _text(item, "external_url") or _text(item, "id"), url),
            content=(rich or _text(item, "content_text") or _text(item, "summary")).strip(),
            is_html=bool(rich),
            date=_day(_text(item, "date_published") or _text(item, "date_modified")),
            lang=language_tag(_text(item, "language") or _text(feed, "language")),
        )


def _text(item: Mapping[str, object], name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _check_number(entries: int, source: str) -> None:
    if entries > MOST_ENTRIES:
        raise InvalidInput(f"expected a feed of at most {MOST_ENTRIES:,} entries, got {entries:,}", where=source)


def _xml_entries(
    data: bytes, source: str, url: str | None, charset: str | None, report: FeedReport
) -> Iterator[FeedEntry]:
    with needs("reading a feed", "pages"):
        import feedparser  # noqa: PLC0415 - an extra
    text = _mended(data, charset, report)
    before = _BEFORE_ROOT.match(text)
    prolog = "" if before is None else before[0]
    if "<!ENTITY" in prolog:
        raise InvalidInput("the feed declares entities, which no feed needs, so it is not read", where=source)
    text = text[len(prolog) :]
    _check_bounds(text, source)
    if _is_cut_off(text):
        report.cut_off = True
        text = _closed(text)
    number = sum(1 for _ in _ENTRY.finditer(_UNSAID.sub("", text)))
    text = _with_ends(text)
    _check_number(number, source)
    text = _UNREAD.sub(lambda found: found[0] if found[0].startswith("<!") else "", text)
    headers = {"content-type": "application/xml; charset=utf-8"}
    if url is not None:
        headers["content-location"] = url
    try:
        # What is shown is escaped where it is shown, and a text is read for its words, so its addresses stay as they
        # are.
        feed = feedparser.parse(
            io.BytesIO(text.encode()), sanitize_html=False, resolve_relative_uris=False, response_headers=headers
        )
    except _FAILURES as error:
        raise InvalidInput(f"the feed is damaged: {error}", where=source) from error
    report.unread = max(0, number - len(feed.entries))
    atom = feed.version.startswith("atom")
    for entry in feed.entries:
        yield _entry(dict(entry), url, feed.feed.get("language") or "", atom=atom)


def _mended(data: bytes, charset: str | None, report: FeedReport) -> str:
    """The text of a feed whose characters and references XML allows."""
    repair = XmlRepair(charset)
    declared = declared_encoding(data)
    if charset is None and declared is None and not _is_utf8(data):
        found = told_encoding(data) or _OLD
        repair, report.encoding = XmlRepair(found), shown_encoding(found)
    try:
        mended = repair.feed(data, final=True)
    except InvalidInput:  # an encoding that nobody knows
        repair, report.declared, report.encoding = XmlRepair("utf-8"), declared, _USUAL
        mended = repair.feed(data, final=True)
    report.replaced += repair.replaced
    if repair.declared is not None:
        report.declared, report.encoding = repair.declared, _USUAL
    text = mended.decode() + ("]]>" if repair.inside else "")
    closed = _CDATA.sub(_closed_cdata, text)
    return text if closed == text else XmlRepair("utf-8").feed(closed.encode(), final=True).decode()


def _closed_cdata(found: re.Match[str]) -> str:
    """CDATA; a part without an end, which runs on to that of a later one, ends where its element does."""
    parts = found[0].split(_BEGIN_OF_CDATA)
    last = len(parts) - (found.end() < len(found.string))
    for place, part in enumerate(parts[:last]):
        if (end := _FIELD_END.search(part)) is not None:
            parts[place] = f"{part[: end.start()]}]]>{part[end.start() :]}"
    return _BEGIN_OF_CDATA.join(parts)


def _with_ends(text: str) -> str:
    """A feed in which parts of entries that have no end tag have one, before the next tag of a part or an entry."""
    begun = defaultdict[str, list[int]](list)
    ends, latest, around = dict[int, str](), "", frozenset(_AROUND.split("|"))
    for tag in _TOKEN.finditer(text):
        if (name := tag["name"]) is None:
            continue
        if latest:
            begun[latest].append(tag.start())
            latest = ""
        if name in around:
            ends.update((place, f"</{part}>") for part, places in begun.items() for place in places)
            begun.clear()
        elif tag["end"] and begun[name]:
            begun[name].pop()
        elif not tag["end"] and not tag["alone"]:
            latest = name
    pieces, last = list[str](), 0
    for place, end in sorted(ends.items()):
        pieces += text[last:place], end
        last = place
    return "".join((*pieces, text[last:]))


def _is_utf8(data: bytes) -> bool:
    """True if the bytes beyond ASCII are UTF-8, or more of them are than are not."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    text = data.decode("utf-8", "replace")
    return 2 * text.count(REPLACEMENT) <= len(text) - len(text.encode("ascii", "ignore"))


def _check_bounds(text: str, source: str) -> None:
    """Refuse a feed that takes feedparser minutes."""
    if (tags := text.count("<")) > MOST_TAGS:
        raise InvalidInput(f"expected a feed of at most {MOST_TAGS:,} tags, got {tags:,}", where=source)
    if (prefixes := len(set(_PREFIX.findall(text)))) > MOST_PREFIXES:
        problem = f"expected a feed of at most {MOST_PREFIXES} prefixes of namespaces, got {prefixes:,}"
        raise InvalidInput(problem, where=source)


def _is_cut_off(text: str) -> bool:
    """True of a feed that ends before its end tag."""
    root = _ROOT.match(text)
    end = -1 if root is None else text.rfind(f"</{root[1]}")
    return end < 0 or ">" not in text[end:] or _ENTRY.search(text, end) is not None


def _closed(text: str) -> str:
    """A feed that is cut off, without the tag that it is cut off in, and with its open elements closed."""
    if (start := text.rfind("<")) > text.rfind(">"):
        text = text[:start]
    names: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, _: names.append(name)
    parser.EndElementHandler = lambda _: names.pop()
    try:
        parser.Parse(text, True)  # noqa: FBT003 - positional in expat
    except expat.ExpatError as error:
        if error.code != expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]:
            return text
    return text + "".join(f"</{name}>" for name in reversed(names))


def _entry(entry: Mapping[str, Any], url: str | None, usual: str, *, atom: bool) -> FeedEntry:
    bodies = [*entry.get("content", ()), entry.get("summary_detail") or {"value": entry.get("summary", "")}]
    body: Mapping[str, Any] = next((each for each in bodies if (each.get("value") or "").strip()), {})
    content, kind = (body.get("value") or "").strip(), body.get("type") or "text/html"
    is_html = kind == _XHTML or (kind == "text/html" and (atom or _MARKUP.search(content) is not None))
    inherited = (each.get("language") for each in (body, entry.get("title_detail") or {}))
    lang = next(filter(None, (entry.get("language"), *inherited)), usual)
    days = (entry.get("published"), entry.get("updated"), entry.get("created"))
    return FeedEntry(
        title=_title(entry.get("title") or ""),
        url=_address(_link(entry), url),
        content=content,
        is_html=is_html,
        date=next(filter(None, (_day(day or "") for day in days)), None),
        lang=language_tag(lang),
    )


def _link(entry: Mapping[str, Any]) -> str:
    """The address of an entry: its link, or its name where that is one."""
    links = (each.get("href") for each in entry.get("links", ()) if each.get("rel") == "alternate")
    link = next(filter(None, links), None) or entry.get("link")
    return link or ("" if "guidislink" in entry else entry.get("id") or "")


def _title(text: str) -> str:
    text = _unescaped(_TAG.sub(" ", _unescaped(text) if "&lt;" in text else text))
    return " ".join(text.split())[:500]


def _unescaped(text: str) -> str:
    """A text with its references as characters; those without a semicolon are text, as in an address."""
    return _REFERENCE.sub(lambda found: html.unescape(found[0]), text)


def _address(link: str, base: str | None) -> str:
    """An address of a page; empty of anything else."""
    link = "".join(link.split())
    try:
        whole = urljoin(base or "", link) if link else ""
        parts = urlsplit(whole)
    except ValueError:
        return ""
    return whole if parts.scheme in {"http", "https"} and parts.netloc else ""


def _day(text: str) -> str | None:
    """A date of any of the forms of feeds."""
    try:
        if found := _ISO.match(text):
            return date.fromisoformat(found[1]).isoformat()
        return parsedate_to_datetime(text[:100]).date().isoformat() if text else None
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
