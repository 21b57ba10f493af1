"""A campaign that grows under load: texts every second, a backup every two seconds, beside eight who rate.

    python -m bench.annotate.growth [--comments 8000] [--rate 200] [--seconds 60] [--only sqlite] [--markdown FILE]

Texts and backups come from a process of their own, as those of `postil annotate add` and `postil annotate backup` do;
PostgreSQL is dumped by `pg_dump`. The page of the other benchmark gets, or changes, its section about this one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.annotate import databases
from bench.annotate.client import load
from bench.annotate.databases import Files
from bench.annotate.run import Found, Server, line, looked_up, sign_in
from bench.annotate.workload import make
from postil.campaigns.add import add
from postil.campaigns.backups import backup
from postil.campaigns.options import AddOptions, BackupOptions
from postil.campaigns.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.annotate.client import Load
    from bench.annotate.databases import Databases

TEXTS = 20
"""Number of texts that are added each time."""

START, END = "<!-- growth -->", "<!-- end of growth -->"
SECTION = """**While the campaign grows.** {comments:,} comments, {clients} annotators. A process of its own adds
{texts} texts every second and takes a backup every two seconds (`pg_dump` for PostgreSQL), while a lead looks at the
pages: `python -m bench.annotate.growth`, {seconds:.0f} s for each database. Milliseconds as above; `add` and `backup`
are the median times of one.

| {heads} |
|{rules}
{runs}
"""
HEADS = (
    *("database", "ratings requested", "acknowledged", "per second", "errors", "lost", "twice"),
    *("median", "99 %", "slowest", "texts added", "add", "backups", "backup"),
)


@dataclass(frozen=True)
class Growth:
    """A load, and what was done beside it."""

    database: str
    load: Load
    found: Found
    added: Sequence[float]
    saved: Sequence[float]


def grow(url: str, folder: Path, seconds: float) -> None:
    """Add texts and take backups on the beat, or at once when behind it; print the times of each."""
    added: list[float] = []
    saved: list[float] = []
    began = time.perf_counter()
    for beat in range(int(seconds)):
        time.sleep(max(0.0, began + beat - time.perf_counter()))
        if time.perf_counter() - began > seconds:
            break
        texts = [
            {"id": f"n{beat}-{n}", "text": f"A text that was added after {beat} s, number {n}."} for n in range(TEXTS)
        ]
        file = folder / f"more{beat}.jsonl"
        article = {"id": f"n{beat}", "title": f"Article {beat}", "content": "More words. " * 200, "comments": texts}
        file.write_text(json.dumps(article) + "\n", encoding="utf-8")
        start = time.perf_counter()
        add(url, [str(file)], AddOptions())
        added.append(time.perf_counter() - start)
        if beat % 2 == 0:
            start = time.perf_counter()
            save(url, folder / f"backup{beat}")
            saved.append(time.perf_counter() - start)
    print(json.dumps([added, saved]))


def save(url: str, file: Path) -> None:
    """Take a backup and remove it."""
    if "://" not in url:
        backup(url, str(file), BackupOptions())
    else:
        program = shutil.which("pg_dump") or "pg_dump"
        subprocess.run([program, "-Fc", "-f", str(file), url], check=True)
    file.unlink()


async def measure(where: Databases, folder: Path, clients: int, rate: float, seconds: float) -> Growth:
    """Rate while the campaign grows."""
    url = where.fresh()
    server = Server(url)
    try:
        with Store.open(url) as store:
            browsers, lead = await sign_in(store, server.port, clients)
            before = len(store.items())
        command = [sys.executable, "-m", "bench.annotate.growth", "--grow", url, str(folder), "--seconds", str(seconds)]
        beside = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        found = await load(browsers, lead, rate=rate or math.inf, seconds=seconds)
        said, _ = await beside.communicate()
        assert beside.returncode == 0
    finally:
        server.kill()
    added, saved = json.loads(said)
    with Store.open(url) as store:
        plan = store.plan()
        assert len(store.items()) == before + TEXTS * len(added)
    on = Counter(item for order in plan.orders for item, _ in order)
    assert all(on[item] == plan.annotators_per_item for item in range(plan.items))
    return Growth(where.name, found, looked_up(url, found.acknowledged), added, saved)


def growth_line(run: Growth, rate: float) -> str:
    took = sorted(1000 * one for one in run.load.took)
    done = len(run.load.acknowledged)
    quantiles = statistics.median(took), took[int(0.99 * (len(took) - 1))], took[-1]
    return line(
        run.database,
        f"{rate:.0f} per second" if rate else "unlimited",
        f"{done:,}",
        f"{done / run.load.seconds:.0f}",
        len(run.load.errors),
        run.found.lost,
        run.found.twice,
        *(f"{number:.1f}" for number in quantiles),
        f"{TEXTS * len(run.added):,}",
        f"{1000 * statistics.median(run.added):.0f}",
        len(run.saved),
        f"{1000 * statistics.median(run.saved):.0f}",
    )


def with_section(page: str, section: str) -> str:
    """A page with its section replaced, or added at the end."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before.rstrip()}\n\n{START}\n{section}{END}\n{after.lstrip(chr(10))}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--comments", type=int, default=8_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rate", type=float, default=200.0, help="ratings per second; 0 for unlimited")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    parser.add_argument("--postgresql", metavar="URL", help="a server to make databases in; else one of our own")
    parser.add_argument("--markdown", type=Path, help="page to put the table into")
    parser.add_argument("--grow", nargs=2, metavar=("URL", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.grow:
        grow(options.grow[0], Path(options.grow[1]), options.seconds)
        return
    runs: list[Growth] = []
    with tempfile.TemporaryDirectory(prefix="postil-bench-") as name, ExitStack() as open_until:
        folder = Path(name)
        make(folder / "campaign.db", options.comments, options.clients, options.comments)
        kinds: list[Databases] = [] if options.only == "postgresql" else [Files(folder / "campaign.db", folder)]
        if options.only != "sqlite":
            url = options.postgresql or databases.postgresql(folder / "server", open_until)
            if url:
                kinds.append(databases.Server(folder / "campaign.db", url))
        for where in kinds:
            runs.append(asyncio.run(measure(where, folder, options.clients, options.rate, options.seconds)))
            print(growth_line(runs[-1], options.rate), *runs[-1].load.errors[:5], sep="\n", flush=True)
    section = SECTION.format(
        comments=options.comments,
        clients=options.clients,
        texts=TEXTS,
        seconds=options.seconds,
        heads=" | ".join(HEADS),
        rules="---|" * len(HEADS),
        runs="\n".join(growth_line(run, options.rate) for run in runs),
    )
    if options.markdown:
        page = options.markdown.read_text(encoding="utf-8")
        options.markdown.write_text(with_section(page, section), encoding="utf-8")
    if any(run.load.errors or run.found.lost or run.found.twice for run in runs):
        sys.exit(1)


if __name__ == "__main__":
    main()
