"""Lines of a PDF page in the order in which they are read, columns one after the other."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import groupby, pairwise
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
MOST_LEVELS: Final = 3
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
        lines += found
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
    starts, ends = sorted(run.x for run in runs), sorted(run.right for run in runs)
    low, high = starts[0], ends[-1]
    width = high - low
    frequent = Counter(round(x) for x in starts)
    best: tuple[int, float] | None = None
    for x, count in frequent.items():
        if count < LEAST_ROWS or not low + 0.15 * width < x < high - 0.15 * width:
            continue
        at = x - 1.5
        right, left = len(runs) - bisect_left(starts, at), bisect_right(ends, at)
        score = min(left, right) - (len(runs) - left - right) // 2
        if min(left, right) >= LEAST_ROWS and (best is None or score > best[0]):
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
        if len(widths) < LEAST_ROWS or sum(widths) < max(LEAST_WIDTH * width, FILLED * space) * len(widths):
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
        text, cells = row[0].text, 1
        for last, run in pairwise(row):
            if _is_mark(run, text, size, base):
                continue
            gap = run.x - last.right
            if gap > CELL * size:
                text, cells = f"{text.rstrip()}  {run.text.lstrip()}", cells + 1
            else:
                text += " " + run.text if gap > 0.13 * size else run.text
        text = " ".join(text.split()) if cells == 1 else text.strip()
        if text:
            spoken = [run for run in row if run.text.strip()]
            yield Line(
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
