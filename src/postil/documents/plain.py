"""Reader of plain text: books, reports, letters and notes, with their headings, contents, lists, notes and quotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from postil.documents.binary_files import decoded
from postil.documents.document import PROSE, Block, Document
from postil.documents.furniture import is_contents_line, is_page_number, is_strong_heading
from postil.documents.pieces import check_text
from postil.documents.plain_blocks import PlainBlocks
from postil.documents.plain_lines import Layout, groups

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["plain_blocks", "read_plain"]

_START: Final = re.compile(
    r"^[ \t]*\*{3} ?START OF (?:THE|THIS) PROJECT GUTENBERG(?:[^*]{0,400}\*{3}|[^\n]*)|"
    r"^[^\n]*\*END\*? ?THE SMALL PRINT[^\n]*",
    re.MULTILINE | re.IGNORECASE,
)
_END: Final = re.compile(
    r"^[ \t]*(?:\*{3} ?END OF (?:THE|THIS) PROJECT GUTENBERG|End of (?:the )?Project Gutenberg)",
    re.MULTILINE | re.IGNORECASE,
)
_FIELD: Final = re.compile(r"^(Title|Language|Subject): *(\S[^\r\n]{0,300})", re.MULTILINE)
_LANGUAGES: Final = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "dutch": "nl",
    "portuguese": "pt",
    "chinese": "zh",
}
_HEAD: Final = 20_000
_LINE: Final = 100
_MOST_HEADINGS: Final = 2
_LEAST_PROSE: Final = 0.25
"""Least ratio of the characters of prose to those of other blocks in a text whose headings are headings."""


def read_plain(data: bytes | str, source: str, *, url: str | None = None, charset: str | None = None) -> Document:
    r"""Read a plain text. The text of the document is the text itself.

    Args:
        data: The text.
        source: Name of the file, or the address.
        url: The address that it was fetched from.
        charset: Encoding that a server named.

    Raises:
        InvalidInput: Its encoding cannot be told, or it has no passage.

    >>> document = read_plain(b"CHAPTER I\n\nIt rained\non Ely.\n\n- 7 -\n", "rain.txt")
    >>> [(block.kind, document.text_of(block)) for block in document.blocks]
    [('heading', 'CHAPTER I'), ('paragraph', 'It rained\non Ely.'), ('margin', '- 7 -')]
    """
    text = data if isinstance(data, str) else decoded(data, source, charset).text
    blocks = _with_prose(text, _with_headings(text, list(plain_blocks(text))))
    fields = {
        name: value.strip() for name, value in reversed(_FIELD.findall(text[: blocks[0].end + _HEAD] if blocks else ""))
    }
    in_book = _START.search(text, 0, _HEAD) is not None
    in_letter = bool(blocks) and blocks[0].kind == "margin" and "Subject" in fields
    title = fields.get("Title", "") if in_book else fields.get("Subject", "") if in_letter else ""
    lang = _LANGUAGES.get(fields.get("Language", "").lower()) if in_book else None
    first = next((block for block in blocks if block.kind not in {"margin", "contents"}), None)
    if not title and first is not None and first.kind == "heading":
        title = " ".join(text[first.start : first.end].split())
    document = Document(text=text, blocks=blocks, source=source, title=title, lang=lang, url=url)
    check_text(document)
    return document


def _with_headings(text: str, blocks: list[Block]) -> tuple[Block, ...]:
    """The blocks, with the headings that follow a table of contents, where they look as its entries do."""
    left = 0
    for place in range(len(blocks) - 1, -1, -1):
        block = blocks[place]
        if block.kind in PROSE:
            left = _MOST_HEADINGS
        elif block.kind == "contents" and left and is_strong_heading(line := text[block.start : block.end]):
            left -= 1
            blocks[place] = Block(kind="heading", start=block.start, end=block.end, level=1)
            left = 0 if is_contents_line(line) else left
        elif block.kind == "heading":
            left = max(0, left - 1)
        elif block.kind != "margin":
            left = 0
    return tuple(blocks)


def _with_prose(text: str, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks; in a text that hardly has sentences, such as one of verses or headlines, headings are paragraphs."""
    begin, end = _book(text)
    sizes = {True: 0, False: 0}
    for block in blocks:
        sizes[block.kind in PROSE] += block.end - block.start if begin <= block.start < end else 0
    if sizes[True] >= _LEAST_PROSE * sizes[False]:
        return blocks
    return tuple(
        Block(kind="paragraph", start=block.start, end=block.end)
        if block.kind in {"heading", "margin"}
        and begin <= block.start < end
        and not is_page_number(text[block.start : block.end][:_LINE])
        and any(map(str.isalnum, text[block.start : block.end]))
        else block
        for block in blocks
    )


def plain_blocks(text: str) -> Iterator[Block]:
    """Blocks of a plain text, in their order.

    Args:
        text: The text.
    """
    begin, end = _book(text)
    reader = PlainBlocks(Layout.of(text[begin:end] if begin or end < len(text) else text), is_book=begin > 0)
    before = None
    for group in groups(text):
        if before is not None:
            yield from reader.blocks(before, group)
        before = None
        if group[0].start < begin or group[0].start >= end:
            yield Block(kind="margin", start=group[0].start, end=group[-1].end)
        else:
            before = group
    if before is not None:
        yield from reader.blocks(before, None)


def _book(text: str) -> tuple[int, int]:
    """Bounds of the book in a text of Project Gutenberg; of any other text, its own."""
    start, end = _START.search(text, 0, 1 << 16), None
    for end in _END.finditer(text, max(0, len(text) - (1 << 16))):  # noqa: B007 - the first is wanted
        break
    return (0 if start is None else start.end()), (len(text) if end is None or start is None else end.start())
