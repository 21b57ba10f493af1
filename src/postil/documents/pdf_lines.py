"""Lines of a PDF page in the order in which they are read, columns one after the other."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise, takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.documents.pdf_content import Run

__all__ = ["Line", "lines_of"]

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
    bands = groupby(_bands(runs, middle), key=lambda band: band[0])
    for full, group in bands:
        inside = [run for _, row in group for run in row]
        if full:
            yield inside
        else:
            yield from _columns([run for run in inside if run.x < middle], level + 1)
            yield from _columns([run for run in inside if run.x >= middle], level + 1)


def _bands(runs: list[Run], middle: float) -> Iterator[tuple[bool, list[Run]]]:
    """Rows from top to bottom; True with those that go over the gutter."""
    for row in _grouped(runs):
        across = any(run.x < middle - 1 and run.right > middle + 1 for run in row)
        yield across, row


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
        if any(run.x < middle - 1 and run.right > middle + 1 for run in row):
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
