"""Documents of any format from anywhere: files, standard input, addresses, folders and feeds.

The format is told by the name and the first bytes, and by what a server says.
"""

from __future__ import annotations

import asyncio
import errno
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from postil.data.explain import shown
from postil.data.row_files import FORMATS, PLAIN
from postil.documents import readers
from postil.documents.document import PROSE, Block, Document, FailedPage, Reader
from postil.documents.feed import FeedEntry, FeedReport, is_feed, read_feed
from postil.documents.furniture import ends_sentence, license_blocks
from postil.documents.options import SourceOptions, document_kinds
from postil.documents.raw_files import message_text, refuse_binary
from postil.documents.templates import is_template
from postil.errors import InvalidInput, PostilError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.data.reading import Reading

__all__ = [
    "LARGEST",
    "Loaded",
    "documents_of",
    "endings",
    "entries_of",
    "entry_document",
    "has_rows",
    "is_address",
    "is_document",
    "is_folder",
    "kind_of",
    "load",
    "read_document",
    "read_source",
    "reader",
]

_HEAD: Final = 1024
_XML: Final = re.compile(rb"\s*(?:<\?xml\s[^>]{0,200}\?>|<(mediawiki)\s)")
_NO_DOCUMENT: Final = (
    "expected text, HTML, Markdown, PDF or a feed, got XML of another kind; save it as HTML or text first"
)
_DUMP: Final = "expected a page, got a dump of a wiki; take its passages with: postil corpus import wikipedia"


@cache
def reader(kind: str) -> Reader:
    """The reader of a format.

    Args:
        kind: A name of `document_kinds`.
    """
    found: Reader = import_module(f"{readers.__name__}.{kind}").READER
    return found


def endings() -> list[str]:
    """Endings of the names of documents."""
    return [ending for kind in document_kinds() for ending in reader(kind).endings]


def kind_of(data: bytes, source: str) -> str:
    """Tell the format of a document: by its first bytes, where it is no text, or the ending of its name.

    Args:
        data: The document, or its first kilobyte.
        source: Name of the file, or the address.

    >>> kind_of(b"%PDF-1.7", "a.txt"), kind_of(b"# Tea", "https://tea.example/tea.md?raw=1#a"), kind_of(b"<html>", "-")
    ('pdf', 'markdown', 'html')
    """
    known = {kind: reader(kind) for kind in document_kinds()}
    signed = [
        kind for kind, each in known.items() if each.signature is not None and each.signature.search(data[:_HEAD])
    ]
    name = source.lower()
    if name.startswith(("http://", "https://")):
        name = re.split("[?#]", name, maxsplit=1)[0]
    named = [kind for kind, each in known.items() if not each.binary and name.endswith(each.endings)]
    return next(iter([*(kind for kind in signed if known[kind].binary), *named, *signed, "text"]))


def read_document(
    data: bytes, source: str, kind: str | None = None, *, url: str | None = None, charset: str | None = None
) -> Document:
    r"""Read a document.

    Args:
        data: The document.
        source: Name of the file, or the address; its ending tells the format.
        kind: Its format; by default the one that its name and its first bytes tell.
        url: The address that it was fetched from.
        charset: The encoding that a server named; by default the one that the document names, or UTF-8.

    Raises:
        InvalidInput: It is no document of its format, or has no text; `where` is the source.
        MissingExtra: The package of its format is not installed.

    >>> read_document(b"# Tea\n\nIt *rained*.", "tea.md").text
    'Tea\n\nIt rained.'
    """
    chosen = kind or kind_of(data, source)
    if not reader(chosen).binary:
        refuse_binary(data, source)
    if chosen in {"html", "text"} and (saved := message_text(data, source)):
        data, kind, charset, url = saved.data, "html" if saved.is_html else "text", saved.charset, saved.url or url
        chosen = kind
    if kind is None and chosen == "text":
        _refuse_xml(data, source)
    found = reader(chosen).read(data, source, charset)
    return _with_roles(found if found.url or url is None else replace(found, url=url))


def _with_roles(document: Document) -> Document:
    """Make tags of templates code, and licenses a margin; a document that is a license and nothing else keeps it."""
    of_license = license_blocks([document.text_of(block) for block in document.blocks])
    blocks, sentences = list[Block](), 0
    for block, is_license in zip(document.blocks, of_license, strict=True):
        if block.kind not in PROSE:
            blocks.append(block)
        elif is_template(document.text_of(block)):
            blocks.append(replace(block, kind="code", level=0))
        elif is_license:
            blocks.append(replace(block, kind="margin", level=0))
        else:
            blocks.append(block)
            sentences += ends_sentence(document.text_of(block))
    return replace(document, blocks=tuple(blocks)) if sentences or not any(of_license) else document


def _refuse_xml(data: bytes, source: str) -> None:
    """Raise where a file is XML, whose tags would be taken for words."""
    head = data[:_HEAD].removeprefix(b"\xef\xbb\xbf")
    if found := _XML.match(head):
        raise InvalidInput(_DUMP if found[1] or b"<mediawiki" in head else _NO_DOCUMENT, where=source)


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
