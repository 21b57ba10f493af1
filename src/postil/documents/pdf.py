"""PDF files as documents: paragraphs over lines, columns and pages; headings, contents, notes and margins apart."""

from __future__ import annotations

import io
import logging
import re
from datetime import date
from typing import TYPE_CHECKING, Final

from postil.documents.document import Document
from postil.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from pypdf import PdfReader

    from postil.documents.pdf_lines import Line

__all__ = ["read_pdf"]

MOST_STREAM: Final = 1 << 25
"""Largest number of bytes of one decompressed stream."""
MOST_PAGES: Final = 20_000
HEAD: Final = 1024
"""Number of bytes in which a PDF says that it is one."""
READABLE: Final = 0.5
"""Least share of characters that the fonts of a document name."""
_SILENT: Final = logging.NullHandler()
_NO_TITLE: Final = re.compile(
    r"untitled.*|microsoft \w+ - .*|\S+\.\w{2,5}|document\d*|slide \d+|\W*|\d+",
    re.IGNORECASE,
)
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_DATE: Final = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?")
_NO_CHARACTERS: Final = "has fonts that do not name the characters they show, so its text is unreadable; run OCR first"
_ENCRYPTED: Final = "is encrypted with a password; save it without one, with qpdf for example"


def read_pdf(data: bytes, source: str) -> Document:
    """Read a PDF.

    Paragraphs are joined over lines, columns and pages, and words over line ends. Titles and dates come from what the
    file says of itself, where that is no name of a file; else the title is the first of the largest headings.

    Args:
        data: The file.
        source: Its name, for the document and for errors.

    Raises:
        InvalidInput: It is no PDF, damaged, encrypted with a password, without text, or larger than texts are.
        MissingExtra: pypdf is not installed.
    """
    try:
        from pypdf import apply_configuration  # noqa: PLC0415 - an extra
        from pypdf.errors import DependencyError, LimitReachedError  # noqa: PLC0415

        from postil.documents.pdf_blocks import blocks_of  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("reading a PDF", "pdf") from error
    logging.getLogger("pypdf").addHandler(_SILENT)
    if b"%PDF-" not in data[:HEAD]:
        raise InvalidInput("is no PDF file: it does not begin as one", where=source)
    try:
        with apply_configuration(
            array_based_stream_maximum_output_length=MOST_STREAM,
            lzw_maximum_output_length=MOST_STREAM,
            run_length_maximum_output_length=MOST_STREAM,
            zlib_maximum_output_length=MOST_STREAM,
        ):
            reader = _opened(data, source)
            lines = _lines(reader, source)
            title, lang, day = _title(reader), _language(reader), _date(reader)
    except InvalidInput:
        raise
    except LimitReachedError as error:
        raise InvalidInput(f"is larger than a text can be: {_said(error)}", where=source) from None
    except DependencyError:
        raise MissingExtra("decrypting a PDF", "pdf") from None
    except RecursionError:
        raise InvalidInput("is damaged: its objects contain each other", where=source) from None
    except Exception as error:  # of damaged files pypdf raises whatever its code meets
        raise InvalidInput(f"is damaged, or cut off: {_said(error)}", where=source) from None
    text, blocks = blocks_of(lines)
    if not title:
        headings = [block for block in blocks if block.kind == "heading" and block.page == lines[0].page]
        first = min(headings, key=lambda block: block.level, default=None)
        title = "" if first is None else text[first.start : first.end][:300]
    return Document(text=text, blocks=blocks, source=source, title=title, lang=lang, date=day)


def _opened(data: bytes, source: str) -> PdfReader:
    """Open a file, with the empty password where it is encrypted."""
    from pypdf import PdfReader  # noqa: PLC0415
    from pypdf.errors import FileNotDecryptedError  # noqa: PLC0415

    try:
        reader = PdfReader(io.BytesIO(data), root_object_recovery_limit=2_000)
        if reader.is_encrypted and not reader.decrypt(""):
            raise InvalidInput(_ENCRYPTED, where=source)
        if len(reader.pages) > MOST_PAGES:
            raise InvalidInput(f"expected at most {MOST_PAGES:,} pages, got {len(reader.pages):,}", where=source)
    except FileNotDecryptedError:
        raise InvalidInput(_ENCRYPTED, where=source) from None
    return reader


def _lines(reader: PdfReader, source: str) -> list[Line]:
    """The lines of all pages."""
    from pypdf.errors import LimitReachedError  # noqa: PLC0415

    from postil.documents.pdf_content import ContentReader  # noqa: PLC0415
    from postil.documents.pdf_fonts import UNREADABLE  # noqa: PLC0415
    from postil.documents.pdf_lines import lines_of  # noqa: PLC0415

    content = ContentReader(source)
    lines: list[Line] = []
    unreadable = total = 0
    broken: Exception | None = None
    for number, page in enumerate(reader.pages, start=1):
        try:
            runs = content.runs(page)
        except (InvalidInput, LimitReachedError):
            raise
        except Exception as error:  # a damaged page; the others may be whole
            broken = error
            continue
        unreadable += sum(run.text.count(UNREADABLE) for run in runs)
        total += sum(len(run.text) for run in runs)
        lines += lines_of(runs, number)
    if not lines and broken is not None:
        raise broken
    if not any(sign.isalnum() for line in lines for sign in line.text):
        problem = "has no text, only pictures; run OCR first" if not total or unreadable == 0 else _NO_CHARACTERS
        raise InvalidInput(problem, where=source)
    if unreadable > READABLE * total:
        raise InvalidInput(_NO_CHARACTERS, where=source)
    return lines


def _title(reader: PdfReader) -> str:
    said = reader.metadata.get("/Title") if reader.metadata else None
    title = " ".join(said.split()) if isinstance(said, str) else ""
    return "" if _NO_TITLE.fullmatch(title) else title[:300]


def _language(reader: PdfReader) -> str | None:
    said = reader.root_object.get("/Lang")
    found = _LANGUAGE.fullmatch(said.strip()) if isinstance(said, str) else None
    return None if found is None else found[0]


def _date(reader: PdfReader) -> str | None:
    said = reader.metadata.get("/CreationDate") if reader.metadata else None
    found = _DATE.match(said) if isinstance(said, str) else None
    if found is None or found[3] is None:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3])).isoformat()
    except ValueError:
        return None


def _said(error: Exception) -> str:
    """Message of an error, in one short line."""
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return text if len(text) < 120 else text[:119] + "…"
