"""The tables and the JSON of a run."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import statistics
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.metrics.run import Row, Speed
    from bench.metrics.startup import Controlled, Memory, Start

PAGE = """# Benchmarks

This page is made by `make bench`. Raw strings in, scores out, splitting into words included; one process, one
thread. In each round every contestant of a line is timed once, starting with another each time, so a noisy machine
disturbs all alike; ratios come from that one run. A timing lasts at least half a second, repeated where one pass is
quicker. A ratio to a peer's *fastest* round is the careful one. Peers too slow for 2,000 items score the first 200.
A peer marked "not counted" computes less or something else and stands there for orientation. Start-up, of Java
machines above all, and a warm-up pass are outside the timing.

**zh27**: 2,000 candidates of 12 words, 27 references of 17 words each, 30,000 Chinese-looking words by Zipf's law,
already separated by spaces. **en5**: 2,000 candidates of 20 words, 5 references of 20 words each. Both are drawn by
`bench/metrics/workload.py`, the same in every run. How long judging metrics takes:
[benchmarks-correlate.md](benchmarks-correlate.md); measures of passages:
[benchmarks-passages.md](benchmarks-passages.md)."""
HEAD = "| {} | candidates/s: median [slowest, fastest] | postil / its median | postil / its fastest | |"


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "from source"


def machine() -> str:
    """Processor, cores, Python: what a speed depends on."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"


def markdown(
    rows: Sequence[Row], starts: Sequence[Start], memories: Sequence[Memory], added: Sequence[Controlled]
) -> str:
    parts = [PAGE, f"Machine: {machine()}."]
    for workload in dict.fromkeys(row.workload for row in rows):
        parts.append(f"### {workload}")
        parts += [_table(row) for row in rows if row.workload == workload]
    if starts:
        lines = [f"| {start.name} | {start.text} |" for start in starts]
        parts.append("\n".join(["| fresh process | median [slowest, fastest] |", "|---|---|", *lines]))
    if memories:
        lines = [f"| {each.candidates:,} | {each.peak_mib:,.0f} MiB | {each.seconds:.1f} s |" for each in memories]
        head = ["| candidates through `postil score` | peak memory | time |", "|---|---|---|"]
        parts.append("\n".join([*head, *lines]))
    if added:
        head = [
            "| `postil.score`, unweighted and weighted | alone | with controls | ratio |",
            "|---|---|---|---|",
        ]
        parts.append("\n".join([*head, *(f"| {each.name} | {_seconds(each)} |" for each in added)]))
    return "\n\n".join(parts)


def _seconds(each: Controlled) -> str:
    both = (statistics.median(each.without), statistics.median(each.controlled))
    return f"{both[0]:.2f} s | {both[1]:.2f} s | {_times(each.ratio)}"


def _table(row: Row) -> str:
    ours = row.speeds[0].median
    lines = [HEAD.format(row.line.title), "|---|---|---|---|---|"]
    for place, speed in enumerate(row.speeds):
        name = f"{speed.name} {speed.version}" if place > 1 else speed.name
        if speed.missing:
            lines.append(f"| {name.strip()} | {speed.missing} | | | {speed.note} |")
            continue
        ratios = f"{_times(ours / speed.median)} | {_times(ours / max(speed.rates))}" if place > 1 else " | "
        lines.append(f"| {name} | {_rate(speed)} | {ratios} | {_remark(speed, row)} |")
    return "\n".join(lines)


def _rate(speed: Speed) -> str:
    return f"{speed.median:,.0f} [{min(speed.rates):,.0f}, {max(speed.rates):,.0f}]"


def _times(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= 20 else f"{ratio:.1f}x"


def _remark(speed: Speed, row: Row) -> str:
    part = f"first {speed.items} items" if speed.items < row.speeds[0].items else ""
    return "; ".join(text for text in (speed.note, part) if text)


def as_json(
    rows: Sequence[Row], starts: Sequence[Start], memories: Sequence[Memory], added: Sequence[Controlled]
) -> str:
    speeds = [
        {"workload": row.workload, "line": row.line.name, "specs": row.line.specs, **asdict(speed)}
        for row in rows
        for speed in row.speeds
    ]
    return json.dumps(
        {
            "schema": 1,
            "machine": machine(),
            "speeds": speeds,
            "starts": [asdict(start) for start in starts],
            "memory": [asdict(each) for each in memories],
            "controls": [asdict(each) for each in added],
        },
        indent=1,
    )
