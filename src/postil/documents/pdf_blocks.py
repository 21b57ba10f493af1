"""Blocks of a PDF: lines joined to paragraphs over columns and pages, words joined over line ends."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from postil.documents.document import Block
from postil.documents.pdf_kinds import LARGER, kinds_of, measures_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.documents.document import BlockKind
    from postil.documents.pdf_kinds import Measures
    from postil.documents.pdf_lines import Line

__all__ = ["blocks_of"]

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
