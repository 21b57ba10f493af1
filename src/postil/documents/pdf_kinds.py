"""Kinds of the lines of a PDF: headings, contents, notes, code and what stands in the margins."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from postil.documents.document import BlockKind
    from postil.documents.pdf_lines import Line

__all__ = ["LARGER", "Measures", "kinds_of", "measures_of"]

LARGER: Final = 1.12
"""Least ratio of the sizes of a heading and the text."""
SMALLER: Final = 0.93
"""Largest ratio of the sizes of a footnote and the text."""
EDGE: Final = 2
"""Number of rows at the top and at the bottom of a page where page headers are looked for."""
ENTRIES: Final = 0.12
"""Least share of lines of a list of references or notes that have a number in front or a year."""
SHORTEST_LIST: Final = 4
"""Least number of lines of a table of contents without dots."""

_DIGITS: Final = re.compile(r"\d+|\b[ivxlc]+\b")
_PAGE_NUMBER: Final = re.compile(
    r"[-–—|\s]*(?:(?:page|p\.|seite|s\.|página|pagina)\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:/|of|von|de|sur|di)\s*\d{1,4})?"
    r"[-–—|\s]*",
    re.IGNORECASE,
)
_DOTS: Final = re.compile(
    r"(?<![.·…_])(?<![.·…_]\s)(?:[.·…_]\s?){4,}+\s*+(?:\d{1,4}|[ivxlc]{1,7})?$|\.{4,}|(?:\. ){4,}"
)
_NUMBER_AT_END: Final = re.compile(r"^\d{1,4}(?=\s)|(?<!\S)\d{1,4}$")
_PAGE_AT_END: Final = re.compile(r"(?:^|.*\s)(\d{1,4})$")
_INDEX: Final = re.compile(r".*\D,\s*\d{1,4}(?:[-–]\d{1,4})?(?:,\s*\d{1,4}(?:[-–]\d{1,4})?)*$")
_NUMBERED: Final = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,4}|[IVX]{1,5}|[A-Z])[.)]?\s+\S")
_CAPTION: Final = re.compile(
    r"(?:figure|fig\.|table|chart|exhibit|box|abbildung|abb\.|tabelle|tab\.|tableau|figura|tabla|tabella)\s*"
    r"[A-Z]?\d{1,3}(?:[.\-]\d{1,3})*\s*([.:|–—-]|$)?|[图圖表]\s*\d{1,3}",
    re.IGNORECASE,
)
_NOTE: Final = re.compile(r"(?:\d{1,3}|[*†‡§¶]{1,3}|\[\d{1,3}\]|\(\d{1,3}\))[.)]?\s*\S")
_YEAR: Final = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
_END: Final = re.compile(r"[.!?:;,。！？：；，][\"'”’»)\]]*$")
_SOURCES: Final = re.compile(
    r"(?:\W*\d{0,2}(?:\.\d{1,2})*\W*|appendix \w+\W+)?(?:references?(?: (?:and notes|cited))?|bibliography|works cited|"
    r"literature(?: cited)?|(?:end|foot)?notes|sources|literatur(?:verzeichnis)?|quellen(?:verzeichnis)?|anmerkungen|"
    r"bibliographie|références|notes et références|bibliografía|referencias|bibliografia|referências|riferimenti|"
    r"bronnen|referenties|källor|referenser|литература|参考文献|參考文獻|注释|註釋)\W*",
    re.IGNORECASE,
)
_CONTENTS: Final = re.compile(
    r"(?:table of )?contents|index|(?:inhalts)?verzeichnis|inhalt|table des matières|sommaire|índice|indice|sumário|"
    r"inhoud(?:sopgave)?|innehåll|содержание|目录|目錄",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Measures:
    """Measures of a document.

    Args:
        size: Size of most of its text.
        leading: Distance of most of its lines, as a multiple of the size.
        mono: True if most of its text is in fonts of one width, so that these do not mean code.
        bold: True if most of its text is bold.
    """

    size: float
    leading: float
    mono: bool
    bold: bool


def measures_of(lines: Sequence[Line]) -> Measures:
    """The measures of a document.

    Args:
        lines: Its lines; at least one.
    """
    sizes: Counter[float] = Counter()
    gaps: Counter[float] = Counter()
    mono = bold = total = 0
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
        total += len(line.text)
        mono += len(line.text) * line.mono
        bold += len(line.text) * line.bold
    size = max(sizes, key=lambda each: (sizes[each], each))
    for last, line in pairwise(lines):
        if (last.page, last.column) == (line.page, line.column) and abs(line.size - size) < 0.6:
            gap = (last.y - line.y) / line.size if line.size else 0.0
            if 0.8 < gap < 2.6:
                gaps[round(gap, 2)] += 1
    leading = max(gaps, key=lambda each: (gaps[each], -each)) if gaps else 1.2
    return Measures(size or 1.0, leading, 2 * mono > total, 2 * bold > total)


def kinds_of(lines: Sequence[Line], measures: Measures) -> list[BlockKind]:
    """The kind of each line; ``paragraph`` where it is text.

    Args:
        lines: The lines of a document in reading order.
        measures: Its measures.
    """
    kinds: list[BlockKind] = ["paragraph"] * len(lines)
    for at in _margins(lines, measures):
        kinds[at] = "margin"
    inside = [at for at, kind in enumerate(kinds) if kind != "margin"]
    for at in _contents(lines, inside):
        kinds[at] = "contents"
    for at in _tables(lines, [at for at in inside if kinds[at] == "paragraph"]):
        kinds[at] = "table"
    for place, at in enumerate(inside):
        line = lines[at]
        if kinds[at] != "paragraph":
            continue
        if line.mono and not measures.mono:
            kinds[at] = "code"
        elif _is_caption(line, measures):
            kinds[at] = "caption"
        else:
            above = lines[inside[place - 1]] if place else None
            below = lines[inside[place + 1]] if place + 1 < len(inside) else None
            if _is_heading(line, above, below, measures):
                kinds[at] = "heading"
    for at in _notes(lines, kinds, measures):
        kinds[at] = "note"
    return kinds


def _margins(lines: Sequence[Line], measures: Measures) -> set[int]:
    """Lines at the edges of pages that repeat on others up to their digits, and page numbers with what is beside."""
    found: set[int] = set()
    edges: list[tuple[int, bool]] = []
    cells: dict[int, list[str]] = {}
    repeated: defaultdict[tuple[str, bool], set[int]] = defaultdict(set)
    for _, group in groupby(range(len(lines)), key=lambda at: lines[at].page):
        by_height = sorted(group, key=lambda at: -lines[at].y)
        heights = sorted({round(lines[at].y) for at in by_height}, reverse=True)
        for heads, rows in ((True, heights[:EDGE]), (False, heights[-EDGE:])):
            for at in by_height:
                if round(lines[at].y) in rows:
                    edges.append((at, heads))
                    cells[at] = _cells(lines[at])
                    for cell in cells[at]:
                        repeated[cell, heads].add(lines[at].page)
    pages = len({line.page for line in lines})
    numbers = _numbers(lines, {at for at, _ in edges}, pages)
    for at, heads in edges:
        line = lines[at]
        alone = _PAGE_NUMBER.fullmatch(line.text) is not None or at in numbers
        often = max(len(repeated[cell, heads]) for cell in cells[at]) >= (2 if pages < 40 else 3)
        if line.artifact or alone or (often and line.size < LARGER * measures.size and len(line.text) < 160):
            found.add(at)
    beside = {(lines[at].page, round(lines[at].y)) for at in found}
    short = (at for at, _ in edges if len(lines[at].text) < 80)
    return found | {at for at in short if (lines[at].page, round(lines[at].y)) in beside}


def _numbers(lines: Sequence[Line], edges: AbstractSet[int], pages: int) -> set[int]:
    """Lines at the edges of pages that begin or end with the page's number, counted from wherever most pages are."""
    offsets: defaultdict[int, set[int]] = defaultdict(set)
    ends: defaultdict[int, list[int]] = defaultdict(list)
    for at in edges:
        line = lines[at]
        for found in _NUMBER_AT_END.finditer(line.text):
            offset = int(found[0]) - line.page
            offsets[offset].add(line.page)
            ends[offset].append(at)
    usual = max(offsets, key=lambda offset: len(offsets[offset]), default=None)
    if usual is None or len(offsets[usual]) < max(3, pages // 3):
        return set()
    return {at for at in ends[usual] if lines[at].cells > 1 or len(lines[at].text) < 60}


def _cells(line: Line) -> list[str]:
    """The text of a line and each of its longer cells, which lines of other pages may share."""
    cells = [cell for cell in line.text.split("  ") if sum(map(str.isalpha, cell)) > 9] if line.cells > 1 else []
    return [_folded(line.text), *map(_folded, cells)]


def _folded(text: str) -> str:
    return " ".join(_DIGITS.sub("#", text.lower()).split())


def _contents(lines: Sequence[Line], inside: Sequence[int]) -> Iterator[int]:
    """Lines of tables of contents and indexes."""
    listed: list[tuple[int, int]] = []  # lines that end in a number not below the last one's

    def taken() -> list[int]:
        headed = listed and listed[0][0] > 0 and _CONTENTS.fullmatch(lines[inside[listed[0][0] - 1]].text.strip(" :."))
        if len(listed) < (2 if headed else SHORTEST_LIST):
            return []
        return [inside[place] for place in range(listed[0][0], listed[-1][0] + 1)]

    for place, at in enumerate(inside):
        text = lines[at].text
        if _DOTS.search(text):
            yield at
            # An entry of two lines has its dots in the second.
            if place and (above := lines[inside[place - 1]]).page == lines[at].page and not _DOTS.search(above.text):
                close = above.y - lines[at].y < 1.6 * lines[at].size and abs(above.size - lines[at].size) < 0.6
                if close and not _END.search(above.text) and not _CONTENTS.fullmatch(above.text):
                    yield inside[place - 1]
            continue
        found = None if len(text) > 120 else _PAGE_AT_END.match(text)
        number = int(found[1]) if found else -1
        if len(text) < 80 and _INDEX.match(text):
            number = listed[-1][1] if listed else 0
        if number >= 0 and (not listed or (place - listed[-1][0] <= 2 and number >= listed[-1][1])):
            listed.append((place, number))
        elif not listed or place - listed[-1][0] >= 2 or number >= 0:
            yield from taken()
            listed = [(place, number)] if number >= 0 else []
    yield from taken()


def _tables(lines: Sequence[Line], inside: Sequence[int]) -> Iterator[int]:
    """Lines of three or more cells, and those of two cells that follow one another."""
    for two, group in groupby(inside, key=lambda at: lines[at].cells > 1):
        rows = list(group)
        if two and (len(rows) > 2 or any(lines[at].cells > 2 for at in rows)):
            yield from rows


def _is_caption(line: Line, measures: Measures) -> bool:
    found = _CAPTION.match(line.text)
    if found is None:
        return False
    return found[1] is not None or line.size < SMALLER * measures.size or line.text[0] in "图圖表"


def _is_heading(line: Line, above: Line | None, below: Line | None, measures: Measures) -> bool:
    words, last = len(line.text.split()), line.text[-1]
    letters = sum(each.isalpha() for each in line.text)
    if letters < 2 or words > 25 or last in ",;" or 2 * letters < len(line.text.replace(" ", "")):
        return False
    closed = _END.search(line.text) is not None
    if line.size >= LARGER * measures.size:
        return not (closed and words > 12)
    if words > 14 or closed or last == "-" or line.text[0].islower() or line.size < SMALLER * measures.size:
        return False
    apart = _gap(above, line) > 1.25 * measures.leading
    after = _gap(line, below)
    if line.bold and not measures.bold:
        return below is None or not below.bold or after > 1.3 * measures.leading or apart
    return apart and words <= 10 and _stands_alone(line, below, after / measures.leading, letters)


def _stands_alone(line: Line, below: Line | None, after: float, letters: int) -> bool:
    """True if a short line is no text: in capitals, with a number, or with a gap before text that begins anew."""
    if below is None or line.right > line.left + 0.75 * (line.edge - line.left):
        return False
    capitals = letters > 3 and line.text.isupper()
    numbered = _NUMBERED.match(line.text) is not None
    return (after > 1.15 or capitals) and (capitals or numbered or not below.text[:1].islower())


def _gap(above: Line | None, below: Line | None) -> float:
    """Distance of two lines as a multiple of the lower one's size; large where they are in different columns."""
    if above is None or below is None or (above.page, above.column) != (below.page, below.column):
        return 9.0
    return (above.y - below.y) / (below.size or 1.0)


def _listed(lines: Sequence[Line], kinds: Sequence[BlockKind], entries: Sequence[int]) -> Sequence[int]:
    """Lines under a heading of references if many have a number in front or a year; none if it is text."""
    texts = [lines[at].text for at in entries if kinds[at] != "heading"]
    marked = sum(1 for text in texts if _NOTE.match(text) or _YEAR.search(text))
    return entries if marked >= ENTRIES * len(texts) else ()


def _notes(lines: Sequence[Line], kinds: Sequence[BlockKind], measures: Measures) -> Iterator[int]:
    """Footnotes, which stand small at the end of a column, and lists of references under their heading."""
    sources: float | None = None  # size of the heading of the list that is being read
    entries: list[int] = []  # lines since the last heading
    for at, line in enumerate(lines):
        if kinds[at] in {"heading", "paragraph"} and len(line.text) < 40 and _SOURCES.fullmatch(line.text):
            yield from _listed(lines, kinds, entries)
            entries = []
            if kinds[at] == "heading":
                sources = line.size
        elif kinds[at] == "heading":
            yield from _listed(lines, kinds, entries)
            entries = []
            if sources is not None and line.size >= sources - 0.3:
                sources = None
            elif sources is not None:
                entries.append(at)
        elif sources is not None and kinds[at] in {"paragraph", "caption"}:
            entries.append(at)
    yield from _listed(lines, kinds, entries)
    for _, group in groupby(range(len(lines)), key=lambda at: (lines[at].page, lines[at].column)):
        column = [at for at in group if kinds[at] != "margin"]
        small = 0
        while small < len(column) and lines[column[-1 - small]].size <= SMALLER * measures.size:
            small += 1
        if all(kinds[at] == "heading" for at in column[: len(column) - small]):
            continue  # a page all in small type, such as a licence, is no footnote
        foot = column[len(column) - small :]
        while foot and not _NOTE.match(lines[foot[0]].text):
            foot = foot[1:]
        yield from (at for at in foot if kinds[at] in {"paragraph", "caption", "heading"})
