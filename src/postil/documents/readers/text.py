"""Reader of plain text: books, reports, letters and notes, with their headings, contents, lists, notes and quotes."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.documents.document import PROSE, Block, BlockKind, Document, Reader, check_text
from postil.documents.furniture import (
    ends_sentence,
    is_caption_line,
    is_contents_line,
    is_heading_line,
    is_imprint_line,
    is_note_line,
    is_page_number,
    is_strong_heading,
    item_marker,
    section_kind,
    without_number,
)
from postil.documents.raw_files import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


__all__ = ["READER", "Layout", "Line", "groups", "plain_blocks", "read_plain"]

_DIGITS: Final = re.compile(r"\d+|\b[ivxlc]+\b")
_WIDEST: Final = 160
"""Largest width, in characters, to which a text is taken to be wrapped."""
_WIDE: Final = 100
_WORD: Final = 16
"""Number of columns that a wrapped line leaves free at most, as a rule."""
_SAMPLE: Final = 200_000
"""Number of lines by which a layout is told."""
_REPEATED: Final = 3
_LONGEST_HEADER: Final = 80


class Line(NamedTuple):
    """A line that is not blank.

    Args:
        text: Its text without white space around.
        start: Index of its first visible character in the text.
        indent: Number of columns before it; a tab counts as four.
    """

    text: str
    start: int
    indent: int

    @property
    def end(self) -> int:
        """Index after its last visible character."""
        return self.start + len(self.text)


class Layout(NamedTuple):
    """Habits of a text.

    Args:
        width: Number of columns to which its paragraphs are wrapped; 0 if every line is a paragraph.
        indent: Number of columns before most lines.
        headers: Lines that stand alone time and again, as `_repeated_key` has them: headers of pages.
    """

    width: int
    indent: int
    headers: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Layout:
        """Tell the layout of a text.

        Args:
            text: The text.
        """
        lengths, indents, alone, seen = Counter[int](), Counter[int](), Counter[str](), 0
        ended = 0
        for group in groups(text):
            if len(group) == 1 and len(group[0].text) <= _LONGEST_HEADER and not ends_sentence(group[0].text):
                alone[_repeated_key(group[0].text)] += 1
            for line in group[:-1]:
                lengths[line.indent + len(line.text)] += 1
                indents[line.indent] += 1
                ended += ends_sentence(line.text)
            seen += len(group)
            if seen > _SAMPLE:
                break
        number = lengths.total()
        return cls(
            width=_width(lengths, ended / number) if number else 0,
            indent=indents.most_common(1)[0][0] if number else 0,
            headers=frozenset(key for key, times in alone.items() if times >= _REPEATED and any(map(str.isalpha, key))),
        )


def groups(text: str) -> Iterator[list[Line]]:
    r"""Groups of lines without a blank line between them.

    Args:
        text: The text.

    >>> [[line.text for line in group] for group in groups("One\n two\n\nthree")]
    [['One', 'two'], ['three']]
    """
    group, place = list[Line](), 0
    for whole in text.splitlines(keepends=True):
        right = whole.rstrip()
        if right:
            bare = right.lstrip()
            before = len(right) - len(bare)
            indent = before + 3 * whole.count("\t", 0, before)
            group.append(Line(bare, place + before, indent))
        if group and (not right or whole.endswith("\f")):
            yield group
            group = []
        place += len(whole)
    if group:
        yield group


def _repeated_key(line: str) -> str:
    """The line without the numbers in which headers of pages differ.

    Args:
        line: The line.
    """
    return _DIGITS.sub("#", " ".join(line.split()))


def _width(lengths: Counter[int], ended: float) -> int:
    """Width to which lines that others follow are wrapped; 0 if they are not. Some share of them ends sentences."""
    number, below, width = lengths.total(), 0, 0
    for length in sorted(lengths):
        below += lengths[length]
        if below >= 0.9 * number:
            width = length
            break
    filled = sum(times for length, times in lengths.items() if length >= width - _WORD)
    if width > _WIDEST or filled < (0.6 if width > _WIDE else 0.4 if ended > 0.5 else 0) * number:
        return 0
    return width


_RULE: Final = re.compile(r"(?:[-=_*~#^+.•·◊–—]\s*){3,}|[⁂❦☙§*]{1,3}")
_UNDERLINE: Final = re.compile(r"={3,}|-{3,}|~{3,}|\^{3,}|_{3,}")
_COLUMNS: Final = re.compile(r"\S(?: {3,}|\t+ *)\S|^\||^\+[-=+]+\+$")
_GAP: Final = re.compile(r"\S(?: {3,}|\t+ *)(?=\S)")
_CODE: Final = re.compile(
    r"[{}]\s*$|[\[({=+-].*;\s*$|^(?:def|class|import|from|return|for|while|if|elif|else|var|let|const|function|public|private|void|"
    r"int|#include|\$|>>>|\.\.\.|//|/\*|SELECT|sudo|pip|git|npm|cd)\b.*[\w:;({)\]]$|[-+*/=!<>|&]=|[-=]>|"
    r"\w\([^()]{0,80}\)\s*[;:{]?$|^\w+ = \S|^[$>#] \S"
)
_HEADER: Final = re.compile(
    r"(?:From|To|Cc|Bcc|Subject|Date|Sent|Reply-To|Message-ID|In-Reply-To|References|Newsgroups|Organization|Lines|Xref|"
    r"Path|Return-Path|Received|MIME-Version|Content-[\w-]+|X-[\w-]+|User-Agent|Distribution|Keywords|Von|An|Betreff|Datum)"
    r": ?\S.*"
)
_WROTE: Final = re.compile(
    r"(?:On|Am|Le|El) .{5,120}(?:wrote|schrieb .{2,60}|a écrit|escribió) ?:|.{2,80} (?:writes|wrote):|"
    r"-{3,} ?(?:Original|Forwarded).{0,20}Message ?-{3,}.*",
    re.IGNORECASE,
)
_ILLUSTRATION: Final = re.compile(r"\[(?:Illustration|Frontispiece|Image|Figure|Abbildung|Picture)\b", re.IGNORECASE)
_WIKI_HEADING: Final = re.compile(r"(={2,6})\s*[^=].*?\1|(#{1,6})\s+\S.*")
_LONGEST_SIGNATURE: Final = 12
_LONGEST_CAPTION: Final = 8
"""Number of groups after which the bracket of a caption that is never closed is forgotten."""
_BOOK_WORDS: Final = 30
"""Number of words of the first paragraph of a book; shorter ones are of the title page."""
_MOST_HEADINGS: Final = 12
"""Largest number of headings that a group begins with; lines that look so after them are text, in linear time."""
_SHORT: Final = 0.7
_MOST: Final = 0.6
_CODE_LINE: Final = 200


class _PlainBlocks:
    """A reader of groups of lines, in their order.

    Args:
        layout: Habits of the text.
        is_book: True for a book, whose title page may have sentences.
    """

    def __init__(self, layout: Layout, *, is_book: bool = False) -> None:
        self._layout = layout
        self._least = _BOOK_WORDS if is_book else 0
        self._section: BlockKind | None = None
        self._entries = set[str]()
        self._begun = False
        self._signature = 0
        self._fenced = False
        self._open = 0

    def blocks(self, group: list[Line], following: Sequence[Line] | None) -> Iterator[Block]:
        """Blocks of a group.

        Args:
            group: The lines.
            following: The next group; None after the last.
        """
        first, last = 0, len(group)
        while first < last and self._is_margin(group[first]):
            first += 1
        while last > first and self._is_margin(group[last - 1]) and not self._is_underline(group, last - 1):
            last -= 1
        yield from (_block("margin", [line]) for line in group[:first])
        if first < last:
            yield from self._inner(group[first:last], following)
        yield from (_block("margin", [line]) for line in group[last:])

    def _is_margin(self, line: Line) -> bool:
        text = line.text
        if len(text) > _CODE_LINE or text.startswith("```"):
            return False
        alone = _repeated_key(text) in self._layout.headers and not is_strong_heading(text)
        return alone or _RULE.fullmatch(text) is not None or is_page_number(text)

    def _is_underline(self, group: Sequence[Line], place: int) -> bool:
        """True if a line underlines the heading before it."""
        if place != 1 or not _UNDERLINE.fullmatch(group[1].text):
            return False
        return (
            len(group[0].text) <= 100 and 0.5 * len(group[0].text) <= len(group[1].text) <= 2 * len(group[0].text) + 3
        )

    def _inner(self, group: list[Line], following: Sequence[Line] | None) -> Iterator[Block]:
        """Blocks of a group without page numbers and rules around it."""
        for _ in range(_MOST_HEADINGS):
            if len(group) > 1 and self._is_underline(group, 1):
                yield from self._heading(group[:1], 1 if group[1].text[0] == "=" else 2)
                yield _block("margin", group[1:2])
                length = 2
            elif (kind := self._special(group)) is not None:
                yield from self._listed(group) if kind == "contents" else [_block(kind, group)]
                return
            elif length := self._heading_lines(group, following):
                yield from self._heading(group[:length], _level(group[0].text))
            else:
                break
            group = group[length:]
            if not group:
                return
        yield from self._text(group)

    def _text(self, group: list[Line]) -> Iterator[Block]:
        """Blocks of a group without headings before it, by the section that it is in."""
        if self._section == "contents" and _is_prose(group) and sum(map(_is_entry, group)) < 0.5 * len(group):
            self._section = None
        if self._section == "contents":
            yield from self._listed(group)
        elif self._section == "note":
            yield from _notes(group)
        elif self._section == "margin" or (not self._begun and not _is_prose(group, self._least)):
            yield _block("margin", group)
        else:
            self._begun = True
            yield from self._prose(group)

    def _heading(self, lines: Sequence[Line], level: int) -> Iterator[Block]:
        text = " ".join(line.text for line in lines)
        kind = section_kind(text)
        if self._section == "contents" and kind is None and _key(text) not in self._entries:
            # An entry of a table of contents looks as a heading does; its second coming is one.
            yield from self._listed(lines)
            return
        self._section = kind
        yield _block("heading", lines, level)

    def _listed(self, lines: Sequence[Line]) -> Iterator[Block]:
        """Lines of a table of contents."""
        for line in lines:
            words = line.text[:200].split()
            self._entries.update((_key(line.text), *(_key(" ".join(words[:k])) for k in (1, 2))))
            self._entries.add(_key(without_number(line.text)))
            yield _block("contents", [line])

    def _special(self, group: Sequence[Line]) -> BlockKind | None:
        """Role of a group that its lines show together; None if they show none."""
        first, number = group[0].text, len(group)
        if self._signature or first == "--":
            self._signature = max(0, (self._signature or _LONGEST_SIGNATURE) - number)
            return "margin"
        if first.startswith("```") or self._fenced:
            fences = sum(line.text.startswith("```") for line in group)
            self._fenced ^= bool(fences % 2)
            return "code"
        imprint = all(is_imprint_line(line.text) for line in (group if self._begun else group[:1]))
        if imprint or _is_head(group):
            return "margin"
        if self._open or _ILLUSTRATION.match(first):
            closed = any(line.text.endswith("]") for line in group)
            self._open = 0 if closed else (self._open or _LONGEST_CAPTION) - 1
            return "caption"
        if is_caption_line(first):
            return "caption"
        return self._in_columns(group) or ("code" if self._is_code(group) else None)

    def _in_columns(self, group: Sequence[Line]) -> BlockKind | None:
        """Role of lines with gaps: contents, if numbers of pages are at their ends, or a table."""
        first, number = group[0].text, len(group)
        gaps = sum(len(_GAP.findall(line.text[:_CODE_LINE])) > 1 and "..." not in line.text for line in group)
        if self._section != "contents" and number > 1 and gaps >= _MOST * number:
            return "table"
        listed = number > 1 or "..." in first or "…" in first or self._section == "contents"
        if listed and sum(is_contents_line(line.text) for line in group) >= _MOST * number:
            return "contents"
        columns = sum(_COLUMNS.search(line.text[:_CODE_LINE]) is not None for line in group)
        return "table" if number > 1 and columns >= _MOST * number else None

    def _is_code(self, group: Sequence[Line]) -> bool:
        indented = all(line.indent >= self._layout.indent + 4 for line in group)
        coded = sum(len(line.text) <= _CODE_LINE and _CODE.search(line.text) is not None for line in group)
        if indented:
            return coded >= 0.4 * len(group)
        return len(group) >= 3 and coded >= 0.7 * len(group)

    def _heading_lines(self, group: Sequence[Line], following: Sequence[Line] | None) -> int:
        """Number of the first lines of a group that are a heading."""
        first = group[0].text
        if _WIKI_HEADING.fullmatch(first[:_CODE_LINE]):
            return 1
        short = [len(line.text) <= 80 and not line.text.endswith((",", ";")) for line in group[:4]]
        if len(group) <= 4 and all(short) and (is_strong_heading(first) or len(group) == 1):
            rest = all(is_strong_heading(line.text) or is_heading_line(line.text) for line in group)
            listed = item_marker(first) and (following is None or item_marker(following[0].text))
            if rest and (is_strong_heading(first) or following is not None) and not listed:
                return len(group)
        if item_marker(first) or not is_strong_heading(first) or len(first) > max(0.8 * self._layout.width, 40):
            return 0
        return 1 if len(group) == 1 or first.isupper() or not group[1].text[:1].islower() else 0

    def _prose(self, group: list[Line]) -> Iterator[Block]:
        """Paragraphs, items, quotes, verses and notes of a group."""
        if any(line.text.startswith(">") for line in group) or any(
            len(line.text) <= _CODE_LINE and _WROTE.fullmatch(line.text) for line in group
        ):
            yield from self._letter(group)
        elif is_note_line(group[0].text):
            yield from _notes(group)
        elif item_marker(group[0].text) or sum(item_marker(line.text) > 0 for line in group) > max(1, 0.3 * len(group)):
            yield from self._items(group)
        elif self._is_set_off(group):
            yield _block("quote", group)
        else:
            yield from self._paragraphs(group)

    def _letter(self, group: Sequence[Line]) -> Iterator[Block]:
        """Blocks of a group with quoted lines of a letter: a line quoted alone is a quote, others are a margin."""
        run = list[Line]()
        for place, line in enumerate(group):
            quoted = line.text.startswith(">")
            around = [group[k].text.startswith(">") for k in (place - 1, place + 1) if 0 <= k < len(group)]
            aside = quoted and (any(around) or not ends_sentence(line.text))
            if not quoted and not (len(line.text) <= _CODE_LINE and _WROTE.fullmatch(line.text)):
                run.append(line)
                continue
            if run:
                yield from self._paragraphs(run)
                run = []
            yield _block("margin" if aside or not quoted else "quote", [line])
        if run:
            yield from self._paragraphs(run)

    def _items(self, group: Sequence[Line]) -> Iterator[Block]:
        run, level, least = list[Line](), 0, min(line.indent for line in group)
        for line in group:
            if item_marker(line.text):
                if run:
                    yield _block("item" if level else "paragraph", run, level)
                run, level = [], 1 + min((line.indent - least) // 2, 8)
            run.append(line)
        yield _block("item" if level else "paragraph", run, level)

    def _is_set_off(self, group: Sequence[Line]) -> bool:
        """True if a group is a quote or a verse: indented, or of lines that end well before the others do."""
        if all(line.indent >= self._layout.indent + 2 for line in group) and (len(group) > 1 or self._layout.width):
            return True
        width = self._layout.width
        if len(group) < 3 or width < 40:
            return False
        short = all(line.indent + len(line.text) < _SHORT * width for line in group)
        capitals = sum(line.text.lstrip("\"'“‘(")[:1].isupper() for line in group)
        return short and capitals >= 0.8 * len(group)

    def _paragraphs(self, group: Sequence[Line]) -> Iterator[Block]:
        """Paragraphs of a group: its lines, or what indents and short lines make of them."""
        run = list[Line]()
        for place, line in enumerate(group):
            if run and self._begins(group, place):
                yield _block("paragraph", run)
                run = []
            if not run and self._layout.width == 0 and place + 1 < len(group) and is_heading_line(line.text):
                yield _block("heading", [line], _level(line.text))
            else:
                run.append(line)
        if run:
            yield _block("paragraph", run)

    def _begins(self, group: Sequence[Line], place: int) -> bool:
        """True if a line begins a paragraph, though no blank line is before it."""
        line, before = group[place], group[place - 1]
        width = self._layout.width
        if width == 0 or len(before.text) > 1.5 * width:
            return True
        ended = ends_sentence(before.text) or before.text.endswith(":")
        if line.indent >= before.indent + 2 and ended:
            return True
        word = len(line.text[:40].split()[0])
        return ended and before.indent + len(before.text) + 1 + word < 0.85 * width and line.text[0].isupper()


def _block(kind: BlockKind, lines: Sequence[Line], level: int = 0) -> Block:
    return Block(kind=kind, start=lines[0].start, end=lines[-1].end, level=level)


def _is_head(group: Sequence[Line]) -> bool:
    """True if a group is the head of a letter: sender, subject, date."""
    known = sum(_HEADER.fullmatch(line.text[:500]) is not None for line in group[:20])
    return known >= 2 and known >= _MOST * min(len(group), 20)


def _notes(group: Sequence[Line]) -> Iterator[Block]:
    """Notes of a group, each from its mark to the next."""
    run = list[Line]()
    for line in group:
        if run and is_note_line(line.text):
            yield _block("note", run)
            run = []
        run.append(line)
    yield _block("note", run)


def _level(text: str) -> int:
    """Depth of a heading by its marks or its number."""
    if found := _WIKI_HEADING.fullmatch(text[:_CODE_LINE]):
        return len(found[1] or found[2])
    number = re.match(r"\d{1,2}(?:\.\d{1,2})*", text)
    return 1 + number[0].count(".") if number else 1


def _key(text: str) -> str:
    """The words of an entry, without its page number."""
    return "".join(re.findall(r"[^\W\d_]", text[:200].casefold()))


def _is_entry(line: Line) -> bool:
    """True if a line can be an entry of a table of contents."""
    return (
        is_contents_line(line.text)
        or is_strong_heading(line.text)
        or (len(line.text) < 70 and is_heading_line(line.text))
    )


def _is_prose(group: Sequence[Line], least: int = 0) -> bool:
    """True if a group is running text: sentences of at least some words, or more words than a title page has."""
    words = 0
    for line in group:
        words += len(line.text[:400].split())
    ended = any(ends_sentence(line.text) or re.search(r"[a-z]{2}[.!?。！？] ", line.text[:400]) for line in group)
    return (ended and words >= least) or words >= 40


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
_MOST_TITLES: Final = 2
_LEAST_PROSE: Final = 0.25
"""Least ratio of the characters of prose to those of other blocks in a text whose headings are headings."""


def read_plain(data: bytes | str, source: str, charset: str | None = None) -> Document:
    r"""Read a plain text. The text of the document is the text itself.

    Args:
        data: The text.
        source: Name of the file, or the address.
        charset: Encoding that a server named.

    Raises:
        InvalidInput: Its encoding cannot be told, or it has no passage.

    >>> document = read_plain(b"CHAPTER I\n\nIt rained\non Ely.\n\n- 7 -\n", "rain.txt")
    >>> [(block.kind, document.text_of(block)) for block in document.blocks]
    [('heading', 'CHAPTER I'), ('paragraph', 'It rained\non Ely.'), ('margin', '- 7 -')]
    """
    text, notes = (data, ()) if isinstance(data, str) else decoded(data, source, charset)
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
    document = Document(text=text, blocks=blocks, source=source, title=title, lang=lang, notes=notes)
    check_text(document)
    return document


def _with_headings(text: str, blocks: list[Block]) -> tuple[Block, ...]:
    """The blocks, with the headings that follow a table of contents, where they look as its entries do."""
    left = 0
    for place in range(len(blocks) - 1, -1, -1):
        block = blocks[place]
        if block.kind in PROSE:
            left = _MOST_TITLES
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
    reader = _PlainBlocks(Layout.of(text[begin:end] if begin or end < len(text) else text), is_book=begin > 0)
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


READER: Final = Reader(read=read_plain, endings=(".txt", ".text", ".eml"))
