"""Growth of time and memory with the size of the input: five sizes per dimension, each in a process of its own.

    python -m bench.growth.run [--only NAME ...] [--quick] [--limit 150] [--memory 18] [--markdown FILE]

A size is left out if the sizes before it say that it would take more than ``--limit`` seconds of processor time or more
than ``--memory`` GiB; its costs are then extrapolated. ``--quick`` takes a tenth of all sizes. With ``--only``, the
rows of other series on the page stay as they are.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from bench.corpus.memory import held
from bench.growth.dimensions import DIMENSIONS, POINTS
from bench.metrics.report import machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.growth.dimensions import Dimension, Line

START: Final = "<!-- growth -->"
END: Final = "<!-- end of growth -->"
NAMES: Final = [dimension.name for dimension in DIMENSIONS]
UPPER: Final = 3
"""Number of the largest sizes that an exponent is fitted to."""
EVERY: Final = 0.1
SUMMARY: Final = (
    *("", "what grows", "command", "largest size before", "largest size", "seconds", "CPU, s", "MiB"),
    *("exponent of time", "of memory", "per unit more"),
)
POINTS_HEAD: Final = ("", "size: seconds, processor seconds, MiB")


class Point(NamedTuple):
    """Cost of a size.

    Args:
        size: The size.
        seconds: Wall-clock time.
        cpu: Processor time of the process and its children.
        memory: Largest resident size in MiB.
    """

    size: int
    seconds: float
    cpu: float
    memory: float


@dataclass
class Found:
    """Points of a line, and the seconds and MiB that sizes left out would take."""

    line: Line
    points: list[Point] = field(default_factory=list)
    left_out: list[Point] = field(default_factory=list)


def start(arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start Python on the arguments; what it prints is dropped, but for errors."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, env=environment)


def prepare(*arguments: str) -> None:
    """Run a preparation in a process of its own, so that this one stays small.

    The peak memory of a process counts that of its parent until it starts its program.

    Raises:
        SystemExit: It fails.
    """
    if code := start(["-m", "bench.growth.run", *arguments]).wait():
        raise SystemExit(code)


def measure(arguments: Sequence[str], size: int, *, together: bool, limit: float) -> Point | None:
    """Run one size in a fresh process; None where it was ended because it needed more memory.

    Args:
        arguments: Arguments of Python.
        size: The size.
        together: True to add the memory of the process's children.
        limit: GiB at which the process is ended.

    Raises:
        SystemExit: It fails.
    """
    began = time.perf_counter()
    process = start(arguments)
    peak, done = 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(EVERY):
            peak = max(peak, held(process.pid) if together else resident(process.pid))
            if peak > 1024 * limit:
                process.kill()

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    done.set()
    watcher.join()
    if process.returncode and peak > 1024 * limit:
        return None
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed: {process.returncode}; {peak:,.0f} MiB")
    return Point(size, took, usage.ru_utime + usage.ru_stime, max(peak, usage.ru_maxrss / 1024))


def resident(pid: int) -> float:
    """MiB of a process that are in memory."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return 0.0


def exponent(points: Sequence[Point], of: int) -> float:
    """Slope of a cost over the size on a log-log scale, by least squares over the largest sizes.

    Args:
        points: The points, the largest last.
        of: Place of the cost in a point.
    """
    some = points[-UPPER:]
    x = [math.log(point.size) for point in some]
    y = [math.log(max(point[of], 1e-3)) for point in some]
    middle = sum(x) / len(x)
    above = [each - middle for each in x]
    return sum(a * b for a, b in zip(above, y, strict=True)) / sum(a * a for a in above)


def expect(points: Sequence[Point], size: int) -> Point:
    """Extrapolate the costs of a size by the exponents between the last two points, that of time at least 1."""
    last = points[-1]
    slopes = [0.0, 0.0, 0.0]
    if len(points) > 1:
        slopes = [max(least, exponent(points[-2:], place)) for place, least in ((1, 1.0), (2, 1.0), (3, 0.0))]
    return Point(size, *(cost * (size / last.size) ** slope for cost, slope in zip(last[1:], slopes, strict=True)))


def run(dimension: Dimension, number: int, given: argparse.Namespace) -> list[Found]:
    """Measure all lines of a series."""
    found = [Found(line) for line in dimension.lines]
    for size in dimension.sizes:
        asked = max(1, size // 10) if given.quick else size
        wanted = []
        for place, one in enumerate(found):
            expected = expect(one.points, asked) if one.points else Point(asked, 0, 0, 0)
            too_large = expected.cpu > given.limit or expected.memory > 1024 * given.memory
            if one.left_out or too_large or (one.line.after and found[place - 1].left_out):
                one.left_out.append(expected)
            else:
                wanted.append((one, expected))
        if not wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="postil-growth-", dir=given.folder) as folder:
            prepare("--make", str(number), str(asked), folder)
            ended = False
            for one, expected in wanted:
                if ended and one.line.after:
                    one.left_out.append(expected)
                    continue
                if one.line.first:
                    prepare("--point", one.line.first, folder)
                arguments = one.line.arguments(Path(folder))
                point = measure(arguments, asked, together=one.line.together, limit=given.memory)
                print(f"{one.line.name}: {point or 'needs more memory'}", file=sys.stderr, flush=True)
                if ended := point is None:
                    one.left_out.append(expected)
                else:
                    one.points.append(point)
    return found


def summary(found: Found) -> list[str]:
    """Cells of a line in the first table."""
    last, line = found.points[-1], found.line
    exponents, more = ["", ""], ""
    if len(found.points) >= UPPER:
        exponents = [f"{exponent(found.points, place):.2f}" for place in (2, 3)]
        before = found.points[-2]
        units = last.size - before.size
        more = f"{micro((last.cpu - before.cpu) / units)}, {binary((last.memory - before.memory) / units)}"
    return [
        line.name,
        line.what,
        f"`{line.command}`",
        "" if line.before is None else f"{line.before:,}",
        f"{last.size:,}",
        f"{last.seconds:.1f}",
        f"{last.cpu:.1f}",
        f"{last.memory:,.0f}",
        *exponents,
        more,
    ]


def micro(seconds: float) -> str:
    """Write a short time."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.1f} {unit}"
    return f"{max(0.0, seconds * 1e6):.2g} µs" if seconds < 1e-5 else f"{seconds * 1e6:.0f} µs"


def binary(mib: float) -> str:
    """Write a small amount of memory."""
    size = mib * 2**20
    for unit, factor in (("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{max(0.0, size):.0f} B"


def points(found: Found) -> list[str]:
    """Cells of a line in the second table."""
    cells = [f"{one.size:,}: {one.seconds:.1f}, {one.cpu:.1f}, {one.memory:,.0f}" for one in found.points]
    for one in found.left_out:
        about = f", about {one.cpu:,.0f} s of processor time, {one.memory:,.0f} MiB" if len(found.points) > 1 else ""
        cells.append(f"{one.size:,}: left out{about}")
    return [found.line.name, "; ".join(cells)]


def rows(head: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Write a table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *cells))


def kept(page: str, cells: Sequence[Sequence[str]], head: Sequence[str]) -> list[list[str]]:
    """Rows of a table of a page, with those measured now in place of the former, in the order of the series."""
    table: dict[str, list[str]] = {}
    _, _, rest = page.partition(f"| {' | '.join(head)} |\n")
    for row in rest.splitlines()[1:]:
        if not row.startswith("| "):
            break
        old = row[2:-2].split(" | ")
        table[old[0]] = old
    table |= {row[0]: list(row) for row in cells}
    names = [line.name for dimension in DIMENSIONS for line in dimension.lines]
    return [table[name] for name in names if name in table]


def section(page: str, found: Sequence[Found], given: argparse.Namespace) -> str:
    """Tables of a run, and those of the page for what was not measured now."""
    flags = f"{' --quick' if given.quick else ''} --limit {given.limit:g} --memory {given.memory:g}"
    parts = [
        f"Machine: {machine()}; `python -m bench.growth.run{flags}`.",
        rows(SUMMARY, kept(page, [summary(one) for one in found if one.points], SUMMARY)),
        rows(POINTS_HEAD, kept(page, [points(one) for one in found], POINTS_HEAD)),
    ]
    return "\n\n".join([START, *parts, END])


def with_section(page: str, text: str) -> str:
    """A page with its section replaced."""
    before, _, rest = page.partition(START)
    return before + text + rest.partition(END)[2]


def parser() -> argparse.ArgumentParser:
    """Options of a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="a tenth of all sizes")
    parser.add_argument("--limit", type=float, default=150.0, help="processor seconds that a size may take")
    parser.add_argument("--memory", type=float, default=18.0, help="GiB that a size may take (default 18)")
    parser.add_argument("--folder", help="folder with room for inputs; by default that of temporary files")
    parser.add_argument("--markdown", type=Path, help="page to put the tables into")
    parser.add_argument("--make", nargs=3, metavar=("PLACE", "SIZE", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument("--point", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    given = parser().parse_args(arguments)
    if given.make:
        place, size, folder = given.make
        DIMENSIONS[int(place)].make(Path(folder), int(size))
        return
    if given.point:
        name, folder = given.point
        POINTS[name](Path(folder))
        return
    wanted = [place for place, name in enumerate(NAMES) if name in given.only]
    minutes = sum(DIMENSIONS[place].expected for place in wanted) / 60
    print(f"about {minutes / (10 if given.quick else 1):.0f} minutes", file=sys.stderr, flush=True)
    found: list[Found] = []
    for place in wanted:
        found += run(DIMENSIONS[place], place, given)
        page = given.markdown.read_text(encoding="utf-8") if given.markdown else ""
        text = section(page, found, given)
        if given.markdown:
            given.markdown.write_text(with_section(page, text), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
