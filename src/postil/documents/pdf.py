"""PDF files as documents: paragraphs over lines, columns and pages; headings, contents, notes and margins apart."""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Final

from postil.documents.document import Block, Document
from postil.documents.pdf_lines import LARGER, kinds_of, lines_of, measures_of
from postil.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypdf import PdfReader

    from postil.documents.document import BlockKind
    from postil.documents.pdf_lines import Line, Measures

__all__ = ["blocks_of", "read_pdf"]

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

    from postil.documents.pdf_content import UNREADABLE, ContentReader  # noqa: PLC0415

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


_BULLET: Final = re.compile(r"(?:[•‣▪◦●○■□◆–—*·\uf0b7\uf0a7➢✓-]\s+|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)]\s+)(?=\S)")
_SIGN: Final = re.compile(r"[•‣▪◦●○■□◆–—*·\uf0b7\uf0a7➢✓-]")
_END: Final = re.compile(r"[.!?。！？…][\"'”’»)\]」』]*$")
_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_FIRST: Final = re.compile(r"[^\W\d_]+")
_LAST: Final = re.compile(r"(?<![^\W\d_])(?<![^\W\d_]-)[^\W\d_]++(?:-[^\W\d_]++)*+(?=[-\xad]$)")
_CJK: Final = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_KEEP: Final = frozenset(
    ("all", "cross", "ex", "half", "high", "long", "low", "mid", "multi", "non", "post", "pre", "self", "semi", "well")
)
"""First parts of words that usually keep their hyphen."""
_FLOATING: Final = frozenset({"margin", "note", "caption", "table"})
"""Kinds that a paragraph can go on after."""


@dataclass(slots=True, eq=False)
class _Piece:
    """Lines that will be a block."""

    kind: BlockKind
    lines: list[Line] = field(default_factory=list)


def blocks_of(lines: Sequence[Line]) -> tuple[str, tuple[Block, ...]]:
    """The text of a document and its blocks.

    Args:
        lines: Its lines in reading order; at least one.
    """
    measures = measures_of(lines)
    words = _Words(lines)
    pieces = list(_pieces(lines, kinds_of(lines, measures), measures))
    sizes = sorted({round(piece.lines[0].size, 1) for piece in pieces if piece.kind == "heading"}, reverse=True)
    texts: list[str] = []
    blocks: list[Block] = []
    at = 0
    for piece in pieces:
        text = words.joined([line.text for line in piece.lines], as_lines=piece.kind in {"code", "table"})
        if piece.kind == "item":
            text = _BULLET.sub("", text, count=1)
        if not text:
            continue
        level = 1 if piece.kind == "item" else 0
        if piece.kind == "heading":
            level = min(1 + sizes.index(round(piece.lines[0].size, 1)), 6)
        page = piece.lines[0].page
        blocks.append(Block(kind=piece.kind, start=at, end=at + len(text), level=level, page=page))
        texts.append(text)
        at += len(text) + 2
    return "\n\n".join(texts), tuple(blocks)


def _pieces(lines: Sequence[Line], kinds: Sequence[BlockKind], measures: Measures) -> Iterator[_Piece]:
    """Lines together that make a block; what stands within a paragraph follows it."""
    open_piece: _Piece | None = None
    waiting: list[_Piece] = []
    for line, kind in zip(lines, kinds, strict=True):
        last = open_piece.lines[-1] if open_piece else None
        if kind in _FLOATING and open_piece is not None and open_piece.kind in {"paragraph", "item"}:
            if waiting and waiting[-1].kind == kind and _together(waiting[-1].lines[-1], line, kind, measures):
                waiting[-1].lines.append(line)
            else:
                waiting.append(_Piece(kind, [line]))
            continue
        if kind == "paragraph" and open_piece is not None and last is not None:
            if waiting and _goes_on(waiting[-1], line, measures):
                waiting[-1].lines.append(line)
                continue
            if open_piece.kind in {"paragraph", "item"} and not _begins(open_piece, line, measures):
                open_piece.lines.append(line)
                continue
        elif open_piece is not None and last is not None and _goes_with(open_piece, last, line, kind, measures):
            open_piece.lines.append(line)
            continue
        if open_piece is not None:
            yield _settled(open_piece)
        yield from waiting
        waiting = []
        rest = line
        if line.lead and kind == "paragraph" and not measures.bold:
            yield _Piece("heading", [replace(line, text=line.text[: line.lead])])
            rest = replace(line, text=line.text[line.lead :].lstrip())
        is_item = kind == "paragraph" and _BULLET.match(rest.text) is not None
        open_piece = _Piece("item" if is_item else kind, [rest])
    if open_piece is not None:
        yield _settled(open_piece)
    yield from waiting


def _settled(piece: _Piece) -> _Piece:
    """A paragraph set in from both sides is a quotation."""
    if piece.kind == "paragraph" and len(piece.lines) > 1:
        inset = all(line.x > line.left + 1.2 * line.size for line in piece.lines)
        if inset and max(line.right for line in piece.lines) < piece.lines[0].edge - 1.2 * piece.lines[0].size:
            return _Piece("quote", piece.lines)
    return piece


def _goes_on(piece: _Piece, line: Line, measures: Measures) -> bool:
    """True if a line of small text is the next one of a caption or a note."""
    last = piece.lines[-1]
    return (
        piece.kind in {"caption", "note"}
        and _together(last, line, piece.kind, measures)
        and line.size <= last.size + 0.3 < measures.size
    )


def _goes_with(piece: _Piece, last: Line, line: Line, kind: BlockKind, measures: Measures) -> bool:
    return piece.kind == kind and _together(last, line, kind, measures)


def _together(last: Line, line: Line, kind: BlockKind, measures: Measures) -> bool:
    """True if a line that is no text belongs to the block of the last one."""
    if kind in {"contents", "margin"} or last.page != line.page:
        return False
    gap = (last.y - line.y) / (line.size or 1.0)
    near = 0 < gap < 1.45 * max(measures.leading, 1.2) and last.column == line.column
    if kind in {"code", "table"}:
        return 0 < gap < 3.2
    if kind == "note":
        return near and re.match(r"[\[(]?(?:\d{1,3}|[*†‡§])[\])]?[.\s]\s*\S", line.text) is None
    return near and abs(last.size - line.size) < 0.06 * line.size


def _begins(piece: _Piece, line: Line, measures: Measures) -> bool:
    """True if a line of text begins a paragraph."""
    last = piece.lines[-1]
    closed = _END.search(last.text) is not None
    is_item = _BULLET.match(line.text) and (closed or _SIGN.match(line.text) or piece.kind == "item")
    if is_item or (line.lead and closed):
        return True
    if max(last.size, line.size) > 1.06 * LARGER * min(last.size, line.size):
        return True
    short = last.right < last.edge - 0.12 * (last.edge - last.left)
    if (last.page, last.column) != (line.page, line.column):
        if closed:
            return short or line.x > line.left + 0.7 * line.size or piece.kind == "item"
        return last.text[-1] == ":" and short
    gap = (last.y - line.y) / (line.size or 1.0)
    if gap < 0 or gap > 1.3 * measures.leading + 0.05:
        return closed or gap < 0 or gap > 1.8 * measures.leading or not line.text[:1].islower()
    return _is_set_in(piece, line, closed=closed, short=short)


def _is_set_in(piece: _Piece, line: Line, *, closed: bool, short: bool) -> bool:
    """True if a line right below the last one of a paragraph begins another by its own or the last one's ends."""
    first, last = piece.lines[0], piece.lines[-1]
    indent = 0.7 * line.size
    if piece.kind == "paragraph" and line.x > last.x + indent and abs(last.x - line.left) < indent:
        return closed or not line.text[:1].islower()
    if piece.kind == "item" and closed and line.x < first.x + 0.3 * line.size and abs(line.x - line.left) < indent:
        return short or first.x > line.left + indent
    return (closed or last.text[-1] == ":") and short


def _is_cut(last: str, text: str) -> bool:
    """True if a line ends within an address or after an underscore of a name."""
    word = last.rpartition(" ")[2]
    if word[-1] == "_":
        return len(word) > 1 and text[0].isalnum()
    is_address = "://" in word or word.startswith("www.")
    return is_address and (word[-1] in "/-?&=#%~" or (word[-1] == "." and text[0].islower())) and not text[0].isspace()


class _Words:
    """Words of a document, to know which are written with a hyphen."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._known: Counter[str] = Counter()
        for line in lines:
            self._known.update(word.lower() for word in _WORD.findall(line.text.rstrip("-\xad")))

    def joined(self, lines: Sequence[str], *, as_lines: bool = False) -> str:
        """Lines as one text."""
        if as_lines:
            return "\n".join(lines).replace("\xad", "")
        pieces: list[str] = []
        for text in lines:
            if not pieces:
                pieces.append(text)
                continue
            last = pieces[-1]
            if _is_cut(last, text) or (_CJK.match(last[-1]) and _CJK.match(text)):
                pieces.append(text)
            elif last.endswith(("-", "\xad")) and (end := _LAST.search(last)) and (start := _FIRST.match(text)):
                pieces[-1] = last if self._keeps(end[0], start[0], soft=last[-1] == "\xad") else last[:-1]
                pieces.append(text)
            else:
                pieces += [" ", text]
        return "".join(pieces).replace("\xad", "")

    def _keeps(self, left: str, right: str, *, soft: bool) -> bool:
        """True if a hyphen at a line end belongs to the word."""
        if soft:
            return False
        whole, apart = f"{left}{right}".lower(), f"{left}-{right}".lower()
        if self._known[whole] != self._known[apart]:
            return self._known[apart] > self._known[whole]
        return right[0].isupper() or "-" in left or left.lower() in _KEEP
