"""One way to read a document of any format: the format by the name and the first bytes, and the reader of it."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec.structs import replace

from postil.documents.document import PROSE, Block
from postil.documents.furniture import ends_sentence, license_blocks
from postil.documents.raw_files import decoded, message_text, refuse_binary
from postil.documents.templates import is_template
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from postil.documents.document import Document

__all__ = ["ENDINGS", "DocumentKind", "kind_of", "read_document"]

DocumentKind: TypeAlias = Literal["html", "markdown", "pdf", "text", "wikitext"]
"""Format of a document."""

ENDINGS: Final = MappingProxyType[str, DocumentKind](
    {
        ".html": "html",
        ".htm": "html",
        ".xhtml": "html",
        ".mht": "html",
        ".mhtml": "html",
        ".md": "markdown",
        ".markdown": "markdown",
        ".mdown": "markdown",
        ".mkd": "markdown",
        ".mdx": "markdown",
        ".rmd": "markdown",
        ".qmd": "markdown",
        ".pdf": "pdf",
        ".txt": "text",
        ".text": "text",
        ".eml": "text",
        ".wiki": "wikitext",
        ".wikitext": "wikitext",
        ".mediawiki": "wikitext",
    }
)
"""Format by the ending of a name."""

_HEAD: Final = 1024
_HTML: Final = re.compile(
    rb"(?:\s|<!--[^>]*-->|<\?xml[^>]*>)*<(?:!doctype\s+html|html|head|body|article|meta|title)[\s>]", re.IGNORECASE
)
_XML: Final = re.compile(rb"\s*(?:<\?xml\s[^>]{0,200}\?>|<(mediawiki)\s)")
_NO_DOCUMENT: Final = (
    "expected text, HTML, Markdown, PDF or a feed, got XML of another kind; save it as HTML or text first"
)
_DUMP: Final = "expected a page, got a dump of a wiki; take its passages with: postil corpus import wikipedia"


def kind_of(data: bytes, source: str) -> DocumentKind:
    """Tell the format of a document: PDF by its first bytes, others by the ending of the name, else HTML or text.

    Args:
        data: The document, or its first kilobyte.
        source: Name of the file, or the address.

    >>> kind_of(b"%PDF-1.7", "a.txt"), kind_of(b"# Tea", "https://tea.example/tea.md?raw=1#a"), kind_of(b"<html>", "-")
    ('pdf', 'markdown', 'html')
    """
    head = data[:_HEAD]
    if b"%PDF-" in head:
        return "pdf"
    name = source.lower()
    if name.startswith(("http://", "https://")):
        name = re.split("[?#]", name, maxsplit=1)[0]
    for ending, kind in ENDINGS.items():
        if name.endswith(ending) and kind != "pdf":
            return kind
    return "html" if _HTML.match(head.removeprefix(b"\xef\xbb\xbf")) else "text"


def read_document(
    data: bytes, source: str, kind: DocumentKind | None = None, *, url: str | None = None, charset: str | None = None
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
    if chosen != "pdf":
        refuse_binary(data, source)
    if chosen in {"html", "text"} and (saved := message_text(data, source)):
        data, kind, charset, url = saved.data, "html" if saved.is_html else "text", saved.charset, saved.url or url
        chosen = kind
    if kind is None and chosen == "text":
        _refuse_xml(data, source)
    return _with_roles(_read(data, source, chosen, url, charset))


def _read(data: bytes, source: str, kind: DocumentKind, url: str | None, charset: str | None) -> Document:
    """Read a document of a format; what reads it is loaded where it is needed."""
    match kind:
        case "html":
            from postil.documents.readers.html import read_html  # noqa: PLC0415 - lxml is an extra

            return read_html(data, source, url=url, charset=charset)
        case "pdf":
            from postil.documents.readers.pdf import read_pdf  # noqa: PLC0415 - as above

            return replace(read_pdf(data, source), url=url)
        case _:
            text, notes = decoded(data, source, charset)
            return replace(_read_text(text, source, kind), url=url, notes=notes)


def _read_text(text: str, source: str, kind: DocumentKind) -> Document:
    """Read a document that is text for people as well."""
    if kind == "markdown":
        from postil.documents.readers.markdown import read_markdown  # noqa: PLC0415

        return read_markdown(text, source)
    if kind == "wikitext":
        from postil.documents.readers.wikitext import read_wikitext  # noqa: PLC0415

        return read_wikitext(text, source)
    from postil.documents.readers.text import read_plain  # noqa: PLC0415

    return read_plain(text, source)


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
