"""Measure the metrics of postil beside the packages that compute the same numbers, in one run.

    python -m bench.metrics.run [--workload zh27 en5] [--line all bleu ...] [--rounds 5] [--json FILE] [--markdown FILE]

Raw strings in, splitting into words included, one process, one thread. In each round every contestant of a line is
timed once, one after the other and starting with another each time, so that a noisy machine disturbs all alike. Slow
peers score the first 200 items only. Peers come from ``bench/requirements.txt``; those that are not installed are
reported and skipped.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.metrics import report, startup
from bench.metrics.lines import LINES, Line
from bench.metrics.own import costs
from bench.metrics.workload import SHAPES, Workload, workloads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WARM = 20
"""Items scored once before the timing; a Java machine needs a whole pass."""
SETTLE = 0.2
"""Seconds of rest before each timing."""
LEAST = 0.5
"""Seconds that a timing lasts at least, so that short ones do not measure how a processor wakes up."""
POSTIL, WEIGHTED = "postil", "postil, weighted"


@dataclass(frozen=True)
class Speed:
    """Candidates per second of one contestant, one value per round; ``missing`` is the reason where there is none."""

    name: str
    version: str
    items: int
    rates: list[float]
    note: str = ""
    missing: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.rates)


@dataclass(frozen=True)
class Row:
    """The speeds of a line on a workload; the first two are postil's."""

    workload: str
    line: Line
    speeds: list[Speed]


@dataclass(frozen=True)
class Contestant:
    """Something to call once a round."""

    speed: Speed
    items: int
    call: Callable[[Workload], None]
    warm: int = WARM


def measure(line: Line, workload: Workload, *, rounds: int, slow_items: int) -> Row:
    """Time postil, weighted and not, and the peers of a line, round by round."""
    with ExitStack() as stack:
        field = _contestants(line, workload, slow_items, stack)
        ready = [contestant for contestant in field if not contestant.speed.missing]
        parts = {contestant.items: workload.first(contestant.items) for contestant in ready}
        for contestant in ready:
            contestant.call(workload.first(contestant.warm))
        for number in range(rounds):
            first = number % len(ready)
            for contestant in [*ready[first:], *ready[:first]]:
                contestant.speed.rates.append(_rate(contestant, parts[contestant.items]))
    return Row(workload.name, line, [contestant.speed for contestant in field])


def _rate(contestant: Contestant, part: Workload) -> float:
    """Candidates per second, after a pause for the garbage and background threads of the one before."""
    gc.collect()
    time.sleep(SETTLE)
    start, calls, elapsed = time.perf_counter(), 0, 0.0
    while elapsed < LEAST:
        contestant.call(part)
        calls += 1
        elapsed = time.perf_counter() - start
    return calls * len(part.items) / elapsed


def _contestants(line: Line, workload: Workload, slow_items: int, stack: ExitStack) -> list[Contestant]:
    every = len(workload.items)
    field = [_postil(POSTIL, line.specs, every), _postil(WEIGHTED, line.weighted, every)]
    for peer in line.peers:
        items = min(slow_items, every) if peer.slow else every
        speed = Speed(peer.name, peer.version or "", items, [], peer.note, peer.missing)
        if peer.missing:
            field.append(Contestant(speed, items, lambda _: None))
            continue
        score = stack.enter_context(peer.start())
        field.append(Contestant(speed, items, _texts_of(score), items if peer.java else WARM))
    return field


def _texts_of(score: Callable[[Sequence[str], Sequence[Sequence[str]]], None]) -> Callable[[Workload], None]:
    return lambda workload: score(workload.candidates, workload.references)


def _postil(name: str, specs: Sequence[str], items: int) -> Contestant:
    import postil

    def call(workload: Workload) -> None:
        weights = workload.weights if name == WEIGHTED else None
        postil.score(
            workload.candidates, workload.references, weights=weights, metrics=specs, tokenizer="space", jobs=1
        )

    return Contestant(Speed(name, report.version("postil"), items, []), items, call)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names, shapes = [line.name for line in LINES], [shape.name for shape in SHAPES]
    parser.add_argument("--workload", nargs="+", choices=shapes, default=shapes)
    parser.add_argument("--line", nargs="+", choices=names, default=names, help="which lines (default: every one)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--items", type=int, default=2000, help="items of a workload (default 2000)")
    parser.add_argument("--slow-items", type=int, default=200, help="items for slow peers (default 200)")
    parser.add_argument("--no-start", action="store_true", help="leave out the cold starts")
    parser.add_argument("--memory", action="store_true", help="score a million candidates through the command line")
    parser.add_argument("--controls", action="store_true", help="measure what controls add, on short and long texts")
    parser.add_argument("--own", action="store_true", help="measure what a call of an own metric costs")
    parser.add_argument("--json", type=Path, help="write every number")
    parser.add_argument("--markdown", type=Path, help="write the tables")
    return parser.parse_args()


def main() -> None:
    os.environ.setdefault("RAYON_NUM_THREADS", "1")  # peers in Rust: one thread, as everybody
    given = _arguments()
    starts = [] if given.no_start else startup.cold_starts()
    sets = [workload for workload in workloads(given.items) if workload.name in given.workload]
    memories = []
    if given.memory:  # before any peer is loaded
        metrics = LINES[0].specs
        memories = [startup.memory(sets[0], candidates, metrics) for candidates in (10_000, 100_000, 1_000_000)]
    added = [
        startup.controls(workload, metrics, joined=joined, rounds=given.rounds)
        for workload in (sets if given.controls else [])
        for metrics in (("meteor",), ("bleu-4", "meteor", "rouge-l", "cider-d"))
        for joined in (1, 20)
    ]
    own = [cost for workload in (sets if given.own else []) for cost in costs(workload, given.rounds)]
    rows: list[Row] = []
    for workload in sets:
        for line in LINES:
            if line.name in given.line:
                print(f"{workload.name}: {line.title} …", file=sys.stderr, flush=True)
                rows.append(measure(line, workload, rounds=given.rounds, slow_items=given.slow_items))
    text = report.markdown(rows, starts, memories, added, own)
    print(text)
    if given.markdown:
        given.markdown.write_text(text + "\n", "utf-8")
    if given.json:
        given.json.write_text(report.as_json(rows, starts, memories, added, own) + "\n", "utf-8")


if __name__ == "__main__":
    main()
