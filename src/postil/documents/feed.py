"""Feeds as entries: RSS 0.9 to 2.0, Atom and JSON Feed. Nothing is fetched, and no entity of a file is expanded."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

import msgspec
from msgspec.structs import replace

from postil.documents.reading import read_document
from postil.errors import InvalidInput, MissingExtra
from postil.text.html_article import decode_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import Element

    from postil.records.documents import Document

__all__ = ["FeedEntry", "entry_document", "is_feed", "read_feed"]

LARGEST: Final = 1 << 25
"""Largest feed in bytes."""
MOST_ENTRIES: Final = 10_000
HEAD: Final = 1 << 14
"""Number of bytes in which a feed says that it is one."""

_XML: Final = "http://www.w3.org/XML/1998/namespace"
_BEFORE_ROOT: Final = re.compile(r"\s*(?:<\?[^>]*>|<!--(?:[^-]|-(?!->))*-->|<!DOCTYPE[^<>\[]*(?:\[[^\]]*\]\s*)?>|\s)*")
_ROOT: Final = re.compile(r"<(?:[\w.-]{1,40}:)?(rss|RDF|feed)\b([^>]*)>?")
_SPACES: Final = (
    "http://www.w3.org/2005/Atom",
    "http://purl.org/atom/",
    "http://purl.org/rss/1.0/",
    "netscape.com/rdf",
)
_JSON: Final = re.compile(r'\s*\{[^\0]*?"version"\s*:\s*"https?:\\?/\\?/jsonfeed\.org\\?/version\\?/1')
_ENCODING: Final = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']")
_ENTITY: Final = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]{1,30};)")
_NO_XML: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_MARKUP: Final = re.compile(r"<[A-Za-z/!][^<>]*>|&(?:#\d{1,6}|[A-Za-z]{2,8});")
_TAG: Final = re.compile(r"<[A-Za-z/!][^<>]*>")
_ISO: Final = re.compile(r"\s*(\d{4}-\d\d-\d\d)(?!\d)")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_NO_FEED: Final = "expected a feed (RSS, Atom or JSON Feed), got something else"


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


def is_feed(data: bytes) -> bool:
    """True if a file is a feed by its first bytes, whatever its name.

    Args:
        data: The file, or its beginning.

    >>> is_feed(b'<?xml version="1.0"?><rss version="2.0"><channel>'), is_feed(b"<html><body>rss"), is_feed(b"{}")
    (True, False, False)
    """
    head = decode_html(data[:HEAD], _encoding(data))
    if head.lstrip()[:1] == "{":
        return _JSON.match(head) is not None
    before = _BEFORE_ROOT.match(head)
    root = None if before is None else _ROOT.match(head, before.end())
    return root is not None and (root[1] == "rss" or any(space in root[2] for space in _SPACES))


def read_feed(data: bytes, source: str, *, url: str | None = None, charset: str | None = None) -> tuple[FeedEntry, ...]:
    r"""The entries of a feed, in its order.

    Args:
        data: The feed.
        source: Its name, for errors.
        url: Its address, which addresses of entries can be relative to.
        charset: Its encoding, as the server says.

    Raises:
        InvalidInput: It is no feed, declares entities, is too large or has no entry.
        MissingExtra: lxml is not installed.

    >>> feed = b"<rss version='2.0'><channel><item><title>Rain</title><link>/7</link>"
    >>> feed += b"<description>&lt;p&gt;It rained.</description></item></channel></rss>"
    >>> read_feed(feed, "fen.xml", url="https://fen.example/feed")
    (FeedEntry(title='Rain', url='https://fen.example/7', content='<p>It rained.', is_html=True, date=None, lang=None),)
    """
    if len(data) > LARGEST:
        raise InvalidInput(f"expected a feed of at most {LARGEST >> 20} MiB, got {len(data) >> 20} MiB", where=source)
    if not is_feed(data):
        raise InvalidInput(_NO_FEED, where=source)
    text = decode_html(data, charset or _encoding(data))
    entries = tuple(_json_entries(text, source, url) if text.lstrip()[:1] == "{" else _xml_entries(text, source, url))
    if not entries:
        raise InvalidInput("the feed has no entries", where=source)
    if len(entries) > MOST_ENTRIES:
        raise InvalidInput(f"expected a feed of at most {MOST_ENTRIES:,} entries, got {len(entries):,}", where=source)
    return entries


def entry_document(entry: FeedEntry, source: str) -> Document:
    """The text of an entry as a document, with the title, date, language and address that the feed gives it.

    Args:
        entry: The entry.
        source: Name or address of the feed; the document is named by the entry's own address where it has one.

    Raises:
        InvalidInput: The feed has no text of the entry, or none with a passage.
        MissingExtra: lxml or trafilatura is not installed.
    """
    name = entry.url or source
    if not entry.content:
        raise InvalidInput("the feed has no text of this entry, only its address", where=name)
    if entry.is_html:
        page = f"<html><body><article>{entry.content}</article></body></html>"
        document = read_document(page.encode("utf-8", "replace"), name, "html", charset="utf-8")
    else:
        document = read_document(entry.content.encode("utf-8", "replace"), name, "text")
    facts = {"title": entry.title, "date": entry.date, "lang": entry.lang, "url": entry.url or None}
    return replace(document, **{name: value for name, value in facts.items() if value})


def _encoding(data: bytes) -> str | None:
    found = _ENCODING.match(data[:HEAD])
    return None if found is None else found[1].decode("ascii")


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
            lang=_language(_text(item, "language") or _text(feed, "language")),
        )


def _text(item: Mapping[str, object], name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _xml_entries(text: str, source: str, url: str | None) -> Iterator[FeedEntry]:
    try:
        from lxml import etree  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("reading a feed", "html") from error
    before = _BEFORE_ROOT.match(text)
    prolog = "" if before is None else before[0]
    if "<!ENTITY" in prolog:
        raise InvalidInput("the feed declares entities, which no feed needs, so it is not read", where=source)
    text = text[len(prolog) :]
    text = _ENTITY.sub(lambda name: html.unescape(name[0]).replace("&", "&amp;"), _NO_XML.sub("", text))
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    if root is None:
        raise InvalidInput(_NO_FEED, where=source)
    channel = next((each for each in root if _name(each) == "channel"), root)
    usual = _said(_children(channel, "language"))
    for element in root.iter():
        if _name(element) in {"item", "entry"}:
            yield _entry(element, url, usual)


def _entry(element: Element, url: str | None, usual: str) -> FeedEntry:
    atom = _name(element) == "entry"
    base = _base(element, url)
    title = next(_children(element, "title"), None)
    bodies = _bodies(element)
    content, is_html = next((body for body in bodies if body[0].strip()), ("", False))
    days = ("published", "issued", "updated", "modified") if atom else ("pubDate", "date", "published", "updated")
    lang = _said(_children(element, "language")) or _inherited(element, f"{{{_XML}}}lang") or usual
    return FeedEntry(
        title=_title("" if title is None else _content(title)[0]),
        url=_address(_link(element), base),
        content=content.strip(),
        is_html=is_html,
        date=next(filter(None, (_day(_said(_children(element, name))) for name in days)), None),
        lang=_language(lang),
    )


def _bodies(element: Element) -> Iterator[tuple[str, bool]]:
    """The texts of an entry, the longest form first; True with those that are HTML."""
    for name in ("encoded", "content", "description", "summary"):
        for child in _children(element, name):
            if name == "content" and child.get("src") and child.text is None:
                continue
            yield _content(child)


def _content(element: Element) -> tuple[str, bool]:
    """The text of an element; True if it is HTML. Of Atom the attribute ``type`` says so, of RSS the text itself."""
    from lxml import etree  # noqa: PLC0415

    kind = (element.get("type") or "").lower()
    if len(element):
        inner = "".join(etree.tostring(child, encoding="unicode") for child in element)
        return _without_spaces((element.text or "") + inner), True
    text = element.text or ""
    if kind in {"text", "text/plain"}:
        return text, False
    return text, kind in {"html", "text/html", "xhtml"} or _MARKUP.search(text) is not None


def _without_spaces(markup: str) -> str:
    """Take prefixes and declarations of namespaces out of XHTML, which HTML does not have."""
    markup = re.sub(r'\sxmlns(?::[\w.-]+)?="[^"]*"', "", markup)
    return re.sub(r"(</?)[\w.-]{1,40}:(?=\w)", r"\1", markup)


def _link(element: Element) -> str:
    """The address of an entry: its link, or its name where that is one."""
    links = list(_children(element, "link"))
    for link in links:
        if link.get("href") and (link.get("rel") or "alternate") == "alternate":
            return str(link.get("href"))
    for link in links:
        if (link.text or "").strip():
            return str(link.text)
    for name in _children(element, "guid"):
        if (name.get("isPermaLink") or "true").lower() != "false":
            return str(name.text or "")
    about = next((value for key, value in element.attrib.items() if str(key).endswith("}about")), "")
    return str(about) or _said(_children(element, "id"))


def _base(element: Element, url: str | None) -> str | None:
    """The address that addresses within an element are relative to."""
    bases = [each.get(f"{{{_XML}}}base") for each in (element, *element.iterancestors())]
    for base in reversed([base for base in bases if base]):
        url = _address(base, url) or url
    return url


def _inherited(element: Element, name: str) -> str:
    return next((str(each.get(name)) for each in (element, *element.iterancestors()) if each.get(name)), "")


def _children(element: Element, name: str) -> Iterator[Element]:
    return (child for child in element if _name(child) == name)


def _said(elements: Iterator[Element]) -> str:
    return next(((each.text or "").strip() for each in elements), "")


def _name(element: Element) -> str:
    """Name of an element without its namespace; empty of what is no element."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _title(text: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", html.unescape(text) if "&lt;" in text else text)).split())[:500]


def _address(link: str, base: str | None) -> str:
    """An address of a page; empty of anything else."""
    link = "".join(link.split())
    try:
        whole = urljoin(base or "", link) if link else ""
        parts = urlsplit(whole)
    except ValueError:
        return ""
    return whole if parts.scheme in {"http", "https"} and parts.netloc else ""


def _language(text: str) -> str | None:
    found = _LANGUAGE.fullmatch(text.strip().replace("_", "-"))
    return None if found is None else found[0]


def _day(text: str) -> str | None:
    """A date of any of the forms of feeds."""
    try:
        if found := _ISO.match(text):
            return date.fromisoformat(found[1]).isoformat()
        return parsedate_to_datetime(text[:100]).date().isoformat() if text else None
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
