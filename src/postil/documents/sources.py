"""Sources of documents: files, standard input, addresses, folders and feeds."""

from __future__ import annotations

import asyncio
import errno
import re
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Final, NamedTuple

from msgspec.structs import replace

from postil.data.explain import shown
from postil.data.row_files import FORMATS, PLAIN
from postil.documents.document import FailedPage
from postil.documents.feed import FeedEntry, FeedReport, is_feed, read_feed
from postil.documents.reading import document_kinds, endings, read_document, reader
from postil.errors import InvalidInput, PostilError
from postil.options import Flag, options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.data.reading import Reading
    from postil.documents.document import Document

__all__ = [
    "LARGEST",
    "Loaded",
    "SourceOptions",
    "documents_of",
    "entries_of",
    "entry_document",
    "has_rows",
    "is_address",
    "is_document",
    "is_folder",
    "load",
    "read_source",
]

LARGEST: Final = 1 << 26
"""Largest document in bytes; it is read as a whole."""
SECONDS: Final = 60.0
"""Longest fetch of an address."""
UNTOLD: Final = (
    "message/rfc822",
    "text/plain",
    "application/rss+xml",
    "application/atom+xml",
    "application/feed+json",
    "application/json",
    "application/xml",
    "text/xml",
)
"""Media types that are fetched and do not tell the format of a document."""
ADDRESSES: Final = "no such file; addresses begin with http:// or https://"
BLOCK: Final = 1 << 16
ROWS: Final = tuple(set(FORMATS) - {".txt"})
"""Endings of tables; a .txt file is a document."""
SAVED: Final = ("_files", ".files", "-Dateien", "_fichiers", "_archivos", "_file", "_bestanden", "_arquivos")
"""Ends of the name of the folder that a browser saves beside a page, for what the page shows."""
WORDS: Final = (".docx", ".doc", ".odt", ".rtf", ".epub")
"""Endings of documents that are refused, with what to do."""


@options
class SourceOptions:
    """Options of reading documents.

    Args:
        kind: Format of a document whose name or beginning does not tell it.
        follow: Fetch the page of each entry of a feed, instead of taking its text in the feed.
    """

    kind: Annotated[
        str | None, Flag(metavar="KIND", names=" or ".join(", ".join(document_kinds()).rsplit(", ", 1)))
    ] = None
    follow: bool = False


class Loaded(NamedTuple):
    """The bytes of a document or a feed.

    Args:
        data: The bytes.
        source: Name of the file, or the address.
        kind: Kind of document, as a server says; None if nobody says.
        charset: Encoding, as a server says.
        url: The address it was fetched from, after redirects.
    """

    data: bytes
    source: str
    kind: str | None = None
    charset: str | None = None
    url: str | None = None


def is_address(source: str) -> bool:
    """True if a source is an address and not a file.

    Args:
        source: The source.

    >>> is_address("HTTPS://news.example/a.html"), is_address("https.html")
    (True, False)
    """
    return source.lower().startswith(("http://", "https://"))


def is_folder(source: str) -> bool:
    """True if a source is a folder.

    Args:
        source: The source.
    """
    try:
        return bool(source) and Path(source).is_dir()
    except (OSError, ValueError):  # a name that no file can have
        return False


def has_rows(source: str, reading: Reading = PLAIN) -> bool:
    """True if a source is a table; a .txt file, or standard input, only where its format is named.

    Args:
        source: The source. An address is none, and a feed in JSON is none.
        reading: Options of reading a table.
    """
    if reading.format is not None:
        return True
    bare = source.lower().removesuffix(".gz").removesuffix(".zst")
    if source == "-" or is_address(source) or not bare.endswith(ROWS):
        return False
    return not (source.lower().endswith(".json") and _begins_as_feed(source))


def is_document(source: str, reading: Reading = PLAIN) -> bool:
    """True if a source is one document, where a command reads a table as well.

    Args:
        source: The source; an address is one, and a .txt file whose first line does not name a column ``title``.
        reading: Options of reading a table; with a format or names of columns it is a table.
    """
    if reading.format is not None or reading.columns or source == "-":
        return False
    name = source.lower()
    if is_address(source) or name.endswith((*(set(endings()) - {".txt"}), *WORDS)):
        return True
    return name.endswith(".txt") and Path(source).is_file() and not _has_titles(source)


def _has_titles(path: str) -> bool:
    with Path(path).open("rb") as stream:
        head = stream.readline(BLOCK).decode("utf-8", "replace")
    return any(cell.strip(' "\r\n\ufeff').casefold() == "title" for cell in re.split("[\t,;|]", head))


def _begins_as_feed(path: str) -> bool:
    try:
        with Path(path).open("rb") as stream:
            return is_feed(stream.read(BLOCK))
    except (OSError, ValueError):
        return False


def load(source: str, *, named: bool = True) -> Loaded:
    """Load a document or a feed.

    Args:
        source: A file, an address, or ``-`` for standard input.
        named: True if the user named the address, so that it may be one inside the network.

    Raises:
        InvalidInput: It cannot be read, or is larger than 64 MiB.
        MissingExtra: It is an address, and httpx2 is not installed.
    """
    if is_address(source):
        from postil.endpoint import page_fetch  # noqa: PLC0415 - documents that are files need no network

        media = dict.fromkeys(UNTOLD) | {each: kind for kind in document_kinds() for each in reader(kind).media}
        limits = page_fetch.FetchLimits(size=LARGEST, seconds=SECONDS)
        try:
            page = asyncio.run(
                page_fetch.fetch_page(source, limits=limits, kinds=frozenset(media), allow_private=named)
            )
        except InvalidInput as error:
            raise InvalidInput(error.problem, where=source) from None
        return Loaded(page.body, source, media[page.kind], page.charset, page.url)
    try:
        if source == "-":
            return Loaded(_whole(sys.stdin.buffer, source), source)
        with Path(source).open("rb") as stream:
            return Loaded(_whole(stream, source), source)
    except FileNotFoundError:
        raise InvalidInput(ADDRESSES if "://" in source else "no such file", where=source) from None
    except (OSError, ValueError) as error:
        if not source or isinstance(error, ValueError) or error.errno == errno.ENAMETOOLONG:
            raise InvalidInput(f"expected the name of a file or an address, got {shown(source)}") from None
        raise InvalidInput(f"cannot be read: {error.strerror}", where=source) from None


def read_source(loaded: Loaded, options: SourceOptions) -> Document:
    """Read a document.

    Args:
        loaded: Its bytes.
        options: Its kind, where the user says it.

    Raises:
        InvalidInput, MissingExtra: As `read_document`.
    """
    kind = options.kind or loaded.kind
    return read_document(loaded.data, loaded.source, kind, url=loaded.url, charset=loaded.charset)


def entries_of(feed: Loaded, options: SourceOptions) -> Iterator[Document | FailedPage | FeedReport]:
    """Read the entries of a feed, in its order, after what is to be said of it.

    Args:
        feed: The feed.
        options: Options; the pages of entries are fetched if they say so.

    Raises:
        InvalidInput: The feed cannot be read.
    """
    report = FeedReport()
    entries = read_feed(feed.data, feed.source, url=feed.url, charset=feed.charset, report=report)
    if report.is_odd:
        yield report
    for number, entry in enumerate(entries, start=1):
        name = entry.url or f"{feed.source}#{number}"
        try:
            if options.follow and entry.url:
                yield read_source(load(entry.url, named=False), SourceOptions())
            else:
                yield entry_document(entry, name)
        except PostilError as error:
            yield _failed(name, error)


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


def documents_of(sources: Sequence[str], options: SourceOptions) -> Iterator[Document | FailedPage | FeedReport]:
    """Read several documents, one at a time; what cannot be read does not end the others.

    Args:
        sources: Files, addresses, feeds, and folders, whose documents are read in the order of their names.
        options: Options.
    """
    for source in sources:
        for name in _files_in(Path(source)) if is_folder(source) else [source]:
            try:
                if has_rows(name):
                    raise InvalidInput("a table of passages is ranked alone; name no other source beside it")
                loaded = load(name)
                if is_feed(loaded.data):
                    yield from entries_of(loaded, options)
                else:
                    yield read_source(loaded, options)
            except PostilError as error:
                yield _failed(name, error)


def _files_in(folder: Path) -> list[str]:
    """Documents and feeds in a folder and the folders in it, without hidden ones and what belongs to a saved page."""
    found, ends = [], tuple(endings())
    paths = sorted(folder.rglob("*"))
    pages = [path.with_suffix("") for path in paths if path.suffix.lower() in {".html", ".htm"}]
    parts = {page.with_name(f"{page.name}{end}") for page in pages for end in SAVED}
    for path in paths:
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        hidden = hidden or not parts.isdisjoint(path.parents)
        if path.name.lower().endswith(ends) and not hidden and path.is_file():
            found.append(str(path))
    return found


def _failed(source: str, error: PostilError) -> FailedPage:
    return FailedPage(source=source, problem=error.problem if isinstance(error, InvalidInput) else error.message)


def _whole(stream: IO[bytes], name: str) -> bytes:
    data = bytearray()
    while block := stream.read(BLOCK):
        data += block
        if len(data) > LARGEST:
            raise InvalidInput(f"expected a document of at most {LARGEST:,} bytes, got a longer one", where=name)
    return bytes(data)
