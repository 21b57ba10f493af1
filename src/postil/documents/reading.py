"""One way to read a document of any format: the format by the name and the first bytes, and the reader of it."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from postil.documents import readers
from postil.documents.document import PROSE, Block
from postil.documents.furniture import ends_sentence, license_blocks
from postil.documents.raw_files import message_text, refuse_binary
from postil.documents.templates import is_template
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from postil.documents.document import Document, Reader

__all__ = ["document_kinds", "endings", "kind_of", "read_document", "reader"]

_HEAD: Final = 1024
_XML: Final = re.compile(rb"\s*(?:<\?xml\s[^>]{0,200}\?>|<(mediawiki)\s)")
_NO_DOCUMENT: Final = (
    "expected text, HTML, Markdown, PDF or a feed, got XML of another kind; save it as HTML or text first"
)
_DUMP: Final = "expected a page, got a dump of a wiki; take its passages with: postil corpus import wikipedia"


@cache
def document_kinds() -> tuple[str, ...]:
    """Formats of documents: the names of the modules of `postil.documents.readers`.

    >>> document_kinds()
    ('html', 'markdown', 'pdf', 'text', 'wikitext')
    """
    return tuple(sorted(each.name for each in iter_modules(readers.__path__)))


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
