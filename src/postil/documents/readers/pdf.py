"""Reader of PDF files: lines in the order in which they are read, and paragraphs over lines, columns and pages.

Headings, contents, notes and margins stand apart.
"""

from __future__ import annotations

import io
import logging
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import accumulate, groupby, pairwise, takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from postil.documents.document import Block, BlockKind, Document, Reader, language_tag
from postil.errors import InvalidInput, MissingExtra, needs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from pypdf import PdfReader

    from postil.documents.pdf_content import Run

__all__ = ["LARGER", "READER", "Line", "Measures", "blocks_of", "kinds_of", "lines_of", "measures_of", "read_pdf"]

SAME_ROW: Final = 0.35
"""Largest difference of baselines on one line, as a share of the size."""
RAISED: Final = 0.55
"""The same of characters of a smaller size, which may stand above or below the line."""
CELL: Final = 1.6
"""Least gap between cells of a table, as a share of the size."""
LEAST_ROWS: Final = 4
"""Least number of lines in each of two columns."""
LEAST_WIDTH: Final = 0.16
"""Least mean width of the lines of a column, as a share of the text's width; page numbers are narrower."""
FILLED: Final = 0.6
"""Least mean width of the lines of a column, as a share of the column's; cells of tables are narrower."""
FILLED_IN_PART: Final = 0.3
FULL: Final = 0.8
LEAST_FULL: Final = 0.2
"""The same of a column with code and lists, of whose lines a fifth fill most of its width; those of tables do not."""
MOST_LEVELS: Final = 3
LONGEST_TERM: Final = 6
"""Largest number of words of a term that is explained beside it."""
LONGEST_LEAD: Final = 8
"""Largest number of words of a heading that text goes on after on the same line."""
_SENTENCE: Final = re.compile(r"[^\Wa-z\d_]\S* +\S+ +\S+ .*[.!?]")
_UNITS: Final = frozenset({"m", "mm", "cm", "dm", "km", "s", "kg", "ft", "in"})


@dataclass(slots=True, eq=False)
class Line:
    """A line.

    Args:
        text: Its text; cells of a table are apart by two spaces.
        x: Its left end in points.
        right: Its right end.
        y: Height of its baseline above the bottom of the page.
        size: Size of most of its text.
        bold: True if all its text is bold.
        mono: True if the characters of all its fonts have one width.
        artifact: True if the file marks it as a page header, a page number or the like.
        cells: Number of its pieces with wide gaps between.
        page: Number of its page, from 1.
        second: Left end of the second of them.
        lead: Number of characters of a heading in bold that it begins with, such as ``2.1. Mills.``.
        column: Number of its column on the page; lines over the full width have a number of their own.
        left: Left end of most lines of the column.
        edge: Right end of the column.
    """

    text: str
    x: float
    right: float
    y: float
    size: float
    bold: bool
    mono: bool
    artifact: bool
    cells: int
    page: int
    second: float = 0.0
    lead: int = 0
    column: int = 0
    left: float = 0.0
    edge: float = 0.0


def lines_of(runs: Sequence[Run], page: int) -> list[Line]:
    """The lines of a page in reading order.

    Text that stands at an angle to most of the page's is left out.

    Args:
        runs: The text of the page.
        page: Its number.
    """
    turns: Counter[int] = Counter()
    for run in runs:
        turns[run.turned] += len(run.text)
    if not turns:
        return []
    upright = max(turns, key=lambda turned: (turns[turned], -turned))
    lines: list[Line] = []
    for number, column in enumerate(_columns([run for run in runs if run.turned == upright], 0)):
        found = list(_rows(column, page))
        starts = Counter(round(line.x) for line in found)
        left = min(starts, key=lambda x: (-starts[x], x)) if found else 0
        edge = max((line.right for line in found), default=0.0)
        for line in found:
            line.column, line.left, line.edge = number, float(left), edge
            if line.cells > 1 and _is_justified(line):
                line.text, line.cells = " ".join(line.text.split()), 1
        lines += _defined(found)
    return lines


def _columns(runs: list[Run], level: int) -> Iterator[list[Run]]:
    """Groups of runs in reading order: columns, and what stands over the full width between them."""
    middle = _gutter(runs) if level < MOST_LEVELS else None
    if middle is None:
        yield runs
        return
    for full, rows in groupby(_grouped(runs), key=lambda row: _is_across(row, middle)):
        inside = [run for row in rows for run in row]
        if full:
            yield inside
        else:
            yield from _columns([run for run in inside if run.x < middle], level + 1)
            yield from _columns([run for run in inside if run.x >= middle], level + 1)


def _is_across(row: Sequence[Run], middle: float) -> bool:
    """True if a row goes over the gutter."""
    return any(run.x < middle - 1 and run.right > middle + 1 for run in row)


def _gutter(runs: list[Run]) -> float | None:
    """The left end of the right one of two columns; None where there are none."""
    if len(runs) < 2 * LEAST_ROWS:
        return None
    from_left, to_right = sorted(runs, key=attrgetter("x")), sorted(runs, key=attrgetter("right"))
    starts, ends = [run.x for run in from_left], [run.right for run in to_right]
    before_start = list(accumulate((len(run.text) for run in from_left), initial=0))
    before_end = list(accumulate((len(run.text) for run in to_right), initial=0))
    low, high, total = starts[0], ends[-1], before_end[-1]
    width = high - low
    frequent = Counter(map(round, starts))
    best: tuple[int, float] | None = None
    for x, count in frequent.items():
        if count < LEAST_ROWS or not low + 0.15 * width < x < high - 0.15 * width:
            continue
        at = x - 1.5
        first, last = bisect_left(starts, at), bisect_right(ends, at)
        left, right = before_end[last], total - before_start[first]
        score = min(left, right) - (total - left - right) // 2
        if min(last, len(runs) - first) >= LEAST_ROWS and (best is None or score > best[0]):
            best = score, at
    if best is None or not _are_columns(runs, best[1], width):
        return None
    return best[1]


def _are_columns(runs: list[Run], middle: float, width: float) -> bool:
    """True if enough lines on both sides are wide enough for text, and few go across among them."""
    sides: tuple[list[float], list[float]] = ([], [])
    across = beside = 0
    for row in _grouped(runs):
        if _is_across(row, middle):
            across += 1
            continue
        halves = [[run for run in row if (run.x >= middle) == right] for right in (False, True)]
        for half, widths in zip(halves, sides, strict=True):
            if half:
                widths.append(max(run.right for run in half) - min(run.x for run in half))
        beside += all(halves)
    low = min(run.x for run in runs)
    for widths, space in zip(sides, (middle - low, low + width - middle), strict=True):
        if len(widths) < LEAST_ROWS:
            return False
        mean, full = sum(widths) / len(widths), sum(1 for each in widths if each > FULL * space)
        filled = FILLED if full < LEAST_FULL * len(widths) else FILLED_IN_PART
        if mean < max(LEAST_WIDTH * width, filled * space):
            return False
    return min(map(len, sides)) * 3 >= across or beside >= 2 * LEAST_ROWS


def _grouped(runs: list[Run]) -> Iterator[list[Run]]:
    """Runs by baseline, from top to bottom; raised and lowered ones go with the line they belong to."""
    row: list[Run] = []
    base = size = 0.0
    for run in sorted(runs, key=lambda run: (-run.y, run.x)):
        raised = max(size, run.size) > 1.15 * min(size, run.size)
        if row and base - run.y > (RAISED if raised else SAME_ROW) * max(size, run.size):
            yield row
            row = []
        if not row or run.size > 1.15 * size:
            base, size = run.y, run.size
        row.append(run)
    if row:
        yield row


def _rows(runs: list[Run], page: int) -> Iterator[Line]:
    for row in _grouped(runs):
        row.sort(key=lambda run: run.x)
        sizes: Counter[float] = Counter()
        for run in row:
            sizes[round(run.size, 1)] += len(run.text)
        size = max(sizes, key=lambda each: (sizes[each], each))
        base = next(run.y for run in row if round(run.size, 1) == size)
        text, cells, right, second = row[0].text, 1, row[0].right, 0.0
        for run in row[1:]:
            gap, right = run.x - right, max(right, run.right)
            if _is_mark(run, text, size, base):
                continue
            if gap > CELL * size:
                text, cells, second = f"{text.rstrip()}  {run.text.lstrip()}", cells + 1, second or run.x
            else:
                text += " " + run.text if gap > 0.13 * size else run.text
        text = " ".join(text.split()) if cells == 1 else text.strip()
        if text:
            spoken = [run for run in row if run.text.strip()]
            yield Line(
                second=second,
                lead=_lead(spoken, text) if cells == 1 else 0,
                text=text,
                x=spoken[0].x,
                right=max(run.right for run in spoken),
                y=base,
                size=size,
                bold=all(run.bold for run in spoken),
                mono=all(run.mono for run in spoken),
                artifact=all(run.artifact for run in spoken),
                cells=cells,
                page=page,
            )


def _defined(lines: list[Line]) -> Iterator[Line]:
    """Lines, those of a term and the text that explains it as two: a sentence, or one that goes on right below."""
    for line, below in pairwise([*lines, None]):
        assert line is not None  # noqa: S101 - the last one only is none
        term, _, text = line.text.partition("  ")
        hangs = below is not None and below.cells == 1 and abs(below.x - line.second) < 0.3 * line.size
        near = (
            below is not None and line.y - below.y < 1.6 * line.size and abs(line.size - below.size) < 0.06 * line.size
        )
        if line.cells == 2 and len(term.split()) <= LONGEST_TERM and ((hangs and near) or _SENTENCE.fullmatch(text)):
            yield replace(line, text=term, cells=1, right=line.second - CELL * line.size)
            yield replace(line, text=text, cells=1, x=line.second)
        else:
            yield line


def _lead(row: Sequence[Run], text: str) -> int:
    """Number of characters of a heading in bold at the beginning of a line of text."""
    bold = list(takewhile(lambda run: run.bold, row))
    if not bold or len(bold) == len(row):
        return 0
    heading = " ".join("".join(run.text for run in bold).split())
    at = text.find(heading[-8:]) + len(heading[-8:])
    found = (
        heading.endswith(".")
        and len(heading.split()) <= LONGEST_LEAD
        and 2 * sum(map(str.isalpha, heading)) > len(heading)
    )
    return at if found and at >= len(heading) and text[at : at + 1] == " " else 0


def _is_justified(line: Line) -> bool:
    """True if wide gaps only fill the line: they stand between all words, and the line ends where its column does."""
    spans = line.x < line.left + 3 * line.size and line.right > line.edge - 0.2 * line.size
    words = line.text.split()
    return spans and len(words) == line.cells and 2 * sum(map(str.isalpha, words)) >= len(words)


def _is_mark(run: Run, before: str, size: float, base: float) -> bool:
    """True of a raised mark of a footnote, which is no part of the sentence."""
    if run.size > 0.85 * size or run.y - base < 0.15 * size:
        return False
    text = run.text.strip(" ,;()[]")
    word = before.rpartition(" ")[2]
    is_sign = bool(text) and len(text) <= 3 and (text.isdigit() or all(sign in "*†‡§¶" for sign in text))
    return is_sign and not word[-1:].isdigit() and word not in _UNITS


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
_LINE_END: Final = re.compile(r"[.!?:;,。！？：；，][\"'”’»)\]]*$")
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
                if close and not _LINE_END.search(above.text) and not _CONTENTS.fullmatch(above.text):
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
    closed = _LINE_END.search(line.text) is not None
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
    with needs("reading a PDF", "pages"):
        from pypdf import apply_configuration  # noqa: PLC0415 - an extra
        from pypdf.errors import DependencyError, LimitReachedError  # noqa: PLC0415
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
        raise MissingExtra("decrypting a PDF", "pages") from None
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
    return language_tag(said) if isinstance(said, str) else None


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
_SENTENCE_END: Final = re.compile(r"[.!?。！？…][\"'”’»)\]」』]*$")
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
        blocks.append(Block(kind=piece.kind, start=at, end=at + len(text), level=level, page=piece.lines[0].page))
        texts.append(text)
        at += len(text) + 2
    return "\n\n".join(texts), tuple(blocks)


def _pieces(lines: Sequence[Line], kinds: Sequence[BlockKind], measures: Measures) -> Iterator[_Piece]:
    """Lines together that make a block; what stands within a paragraph follows it."""
    open_piece: _Piece | None = None
    waiting: list[_Piece] = []
    for line, kind in zip(lines, kinds, strict=True):
        if kind in _FLOATING and open_piece is not None and open_piece.kind in {"paragraph", "item"}:
            if waiting and waiting[-1].kind == kind and _together(waiting[-1].lines[-1], line, kind, measures):
                waiting[-1].lines.append(line)
            else:
                waiting.append(_Piece(kind, [line]))
            continue
        if kind == "paragraph" and open_piece is not None:
            if waiting and _goes_on(waiting[-1], line, measures):
                waiting[-1].lines.append(line)
                continue
            if open_piece.kind in {"paragraph", "item"} and not _begins(open_piece, line, measures):
                open_piece.lines.append(line)
                continue
        elif (
            open_piece is not None and open_piece.kind == kind and _together(open_piece.lines[-1], line, kind, measures)
        ):
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
    closed = _SENTENCE_END.search(last.text) is not None
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


READER: Final = Reader(
    read=lambda data, source, _: read_pdf(data, source),
    endings=(".pdf",),
    media=("application/pdf",),
    signature=re.compile(b"%PDF-"),
    binary=True,
)
