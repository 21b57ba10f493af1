"""Eight clients rate concurrently over HTTP; then the server is killed under load.

    python -m bench.annotate.run [--comments 45000] [--rate 200 --rate 0] [--seconds 60] [--postgresql URL]
                                 [--keep FILE] [--markdown FILE]

`--rate 0` is unlimited. The server is `postil annotate serve` in a process of its own, with SQLite in a file
and, where Debian's PostgreSQL is installed, with that. Latencies are what a client measures: request, answer and the
network of this machine in between. The clients share the machine with the server.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import socket
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
from bench.annotate.client import Browser, load
from bench.annotate.databases import Files
from bench.annotate.workload import make, names, plans
from bench.metrics.report import machine, version
from postil.campaigns.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.annotate.client import Load
    from bench.annotate.databases import Databases

PAGE = """# Benchmarks of annotation

This page is made by `make bench`: {comments:,} comments in the campaign, two annotators per item, {before:,} ratings
given before. The server is one process of `postil annotate serve`; every rating is on disk before it is acknowledged.
{clients} clients rate concurrently over HTTP, and a lead loads the pages. Each response brings the next item with its
article, as in the browser. Milliseconds, measured at the client, on the same machine.

Machine: {machine}; load of the machine before the run: {busy:.2f}.
Starlette {starlette}, uvicorn {uvicorn}, SQLAlchemy {sqlalchemy}.

| database | ratings requested | s | acknowledged | per second | errors | lost | twice | median | 95 % | slowest | CPU |
|---|---|---|---|---|---|---|---|---|---|---|---|
{runs}

**lost**, **twice**: every acknowledged rating is looked up in the database by its idempotency key, item and grade.
**CPU**: processor time of the server per rating, including the pages of leads, without PostgreSQL's own.

| page | median | 95 % | slowest | times |
|---|---|---|---|---|
{pages}

**`kill -9`.** Under a load of {kill_rate:.0f} ratings per second the server was killed after {after:.0f} s. Ratings
without a response were sent again to the new server under the same key, and are stored once.

| database | times killed | acknowledged | lost | sent again | lost of those |
|---|---|---|---|---|---|
{kills}

**Plans** for {comments:,} items. `exact`: items with exactly as many annotators as asked for; least and most items per
annotator and shared per pair; the correlation of an item's positions in two presentation orders.

| annotators | per item | exact | per annotator | per pair | correlation | s |
|---|---|---|---|---|---|---|
{plans}
"""
AFTER = 5.0
"""Seconds until the server is killed."""


class Server:
    """`postil annotate serve`."""

    def __init__(self, url: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "postil", "annotate", "serve", url, "--port", str(self.port)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr
        lines = iter(self.process.stderr.readline, "")
        assert any(line.startswith("serving ") for line in lines), "the server does not start"

    def worked(self) -> float:
        """Processor time so far, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass(frozen=True)
class Found:
    """Number of acknowledged ratings, and of those lost or stored twice."""

    asked: int
    lost: int
    twice: int


@dataclass(frozen=True)
class Run:
    """A load and what became of it."""

    database: str
    rate: float
    load: Load
    quiet: Mapping[str, Sequence[float]]
    worked: float
    found: Found


async def sign_in(store: Store, port: int, annotators: int) -> tuple[list[Browser], Browser]:
    browsers = [Browser(port) for _ in range(annotators)]
    for browser, name in zip(browsers, names(annotators), strict=True):
        await browser.join(store.people.invite(name, "annotator"))
    lead = Browser(port)
    await lead.join(store.people.invite("lead", "lead"))
    return browsers, lead


async def pages(browsers: Sequence[Browser], lead: Browser, times: int) -> dict[str, list[float]]:
    """Latency of pages without other load."""
    took: dict[str, list[float]] = {}
    asked = [(browsers[0], "/grade"), (browsers[0], "/task"), (lead, "/lead"), (lead, "/lead/agreement")]
    for browser, path in [*asked, (lead, "/lead/conflicts")]:
        for _ in range(times):
            start = time.perf_counter()
            status, text = await browser.ask(path, script=path == "/task")
            took.setdefault(path, []).append(time.perf_counter() - start)
            assert status == 200, text
    return took


async def settled(lead: Browser) -> None:
    """Wait until the lead's numbers are there."""
    while "being worked out" in (await lead.ask("/lead", script=False))[1]:
        await asyncio.sleep(0.5)


def quantiles(took: Sequence[float]) -> tuple[float, float, float]:
    """Median, 95 % and slowest, in milliseconds."""
    some = sorted(1000 * one for one in took) or [math.nan]
    return statistics.median(some), some[int(0.95 * (len(some) - 1))], some[-1]


def looked_up(url: str, grades: Mapping[str, tuple[int, float]]) -> Found:
    """Look acknowledged ratings up by key, item and grade."""
    with Store.open(url) as store:
        there = Counter(
            event.idempotency_key
            for event in store.results.events()
            if grades.get(event.idempotency_key) == (event.assignment, event.grade)
        )
    return Found(len(grades), sum(there[key] == 0 for key in grades), sum(there[key] > 1 for key in grades))


async def measure(where: Databases, clients: int, rate: float, seconds: float) -> Run:
    """Pages without load, then the load."""
    url = where.fresh()
    server = Server(url)
    try:
        with Store.open(url) as store:
            browsers, lead = await sign_in(store, server.port, clients)
        await settled(lead)
        quiet = await pages(browsers, lead, 30)
        before = server.worked()
        found = await load(browsers, lead, rate=rate or math.inf, seconds=seconds)
        worked = server.worked() - before
    finally:
        server.kill()
    return Run(where.name, rate, found, quiet, worked, looked_up(url, found.acknowledged))


async def killed(url: str, clients: int, rate: float) -> tuple[Found, Found]:
    """Count lost ratings: acknowledged ones, and those sent again because they had no response."""
    server = Server(url)
    with Store.open(url) as store:
        browsers, _ = await sign_in(store, server.port, clients)
    running = asyncio.create_task(load(browsers, None, rate=rate, seconds=10 * AFTER))
    await asyncio.sleep(AFTER)
    server.kill()
    found = await running
    assert not found.errors, found.errors
    told = looked_up(url, found.acknowledged)
    again = Server(url)
    sent: dict[str, tuple[int, float]] = {}
    try:
        with Store.open(url) as store:
            back, _ = await sign_in(store, again.port, clients)
        for number, fields in found.unanswered:
            status, text = await back[number].ask("/rate", {**fields, "csrf": back[number].csrf})
            assert status == 200, text
            sent[str(fields["idempotency_key"])] = int(str(fields["assignment"])), float(str(fields["grade"]))
    finally:
        again.kill()
    return told, looked_up(url, sent)


def line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def run_line(run: Run) -> str:
    done = len(run.load.acknowledged)
    return line(
        run.database,
        f"{run.rate:.0f} per second" if run.rate else "unlimited",
        f"{run.load.seconds:.0f}",
        f"{done:,}",
        f"{done / run.load.seconds:.0f}",
        len(run.load.errors),
        run.found.lost,
        run.found.twice,
        *(f"{number:.1f}" for number in quantiles(run.load.took)),
        f"{1000 * run.worked / max(1, done):.1f}",
    )


def page_lines(run: Run) -> list[str]:
    """Pages without load, and under it."""
    rate = f"{run.rate:.0f} ratings per second" if run.rate else "unlimited ratings"
    every = [(name, "idle server", took) for name, took in run.quiet.items()]
    every += [(name, rate, took) for name, took in run.load.pages.items()]
    return [
        line(f"{run.database}: {name}, {when}", *(f"{number:.1f}" for number in quantiles(took)), len(took))
        for name, when, took in every
    ]


def plan_lines(comments: int) -> list[str]:
    lines = []
    for annotators, each, made, seconds in plans(comments):
        on = Counter(item for order in made.orders for item, _ in order)
        exact = sum(on[item] == each for item in range(comments))
        of = made.statistics()
        least = [
            f"{min(counts):,} to {max(counts):,}"
            for counts in ([one.texts for one in of.annotators], [one.texts for one in of.pairs])
        ]
        lines.append(line(annotators, each, f"{exact:,}", *least, f"{of.order_correlation or 0:.3f}", f"{seconds:.1f}"))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--comments", type=int, default=45_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rate", type=float, action="append", help="ratings per second; 0 for unlimited")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--open", type=int, default=6_500, help="open items per annotator")
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    parser.add_argument("--postgresql", metavar="URL", help="a server to make databases in; else one of our own")
    parser.add_argument("--keep", type=Path, help="where the campaign is made once, and taken from afterwards")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    rates = options.rate or [200.0, 0.0]
    kill_rate = rates[0] or 200.0
    busy = os.getloadavg()[0]
    runs: list[Run] = []
    kills: list[str] = []
    safe = True
    with tempfile.TemporaryDirectory(prefix="postil-bench-") as folder, ExitStack() as open_until:
        file: Path = options.keep or Path(folder, "campaign.db")
        if not file.is_file():
            print("making the campaign", flush=True)
            make(file, options.comments, options.clients, options.open)
        with Store.open(str(file)) as store:
            before = sum(one.progress.done for one in store.people.annotator_progress())
        kinds: list[Databases] = [] if options.only == "postgresql" else [Files(file, Path(folder))]
        if options.only != "sqlite":
            url = options.postgresql or databases.postgresql(Path(folder, "server"), open_until)
            if url:
                kinds.append(databases.Server(file, url))
            else:
                print("PostgreSQL is not installed, and no --postgresql is given")
        for where in kinds:
            for rate in rates:
                runs.append(asyncio.run(measure(where, options.clients, rate, options.seconds)))
                print(run_line(runs[-1]), *runs[-1].load.errors[:5], sep="\n", flush=True)
            ended = [asyncio.run(killed(where.fresh(), options.clients, kill_rate)) for _ in range(options.kills)]
            told, sent = zip(*ended, strict=True) if ended else ((), ())
            counts = [sum(one.asked for one in told), sum(one.lost + one.twice for one in told)]
            counts += [sum(one.asked for one in sent), sum(one.lost + one.twice for one in sent)]
            safe = safe and not counts[1] and not counts[3]
            kills.append(line(where.name, options.kills, *(f"{count:,}" for count in counts)))
            print(kills[-1], flush=True)
    page = PAGE.format(
        comments=options.comments,
        before=before,
        clients=options.clients,
        machine=machine(),
        busy=busy,
        starlette=version("starlette"),
        uvicorn=version("uvicorn"),
        sqlalchemy=version("sqlalchemy"),
        runs="\n".join(map(run_line, runs)),
        pages="\n".join(text for run in runs if run.rate for text in page_lines(run)),
        kill_rate=kill_rate,
        after=AFTER,
        kills="\n".join(kills),
        plans="\n".join(plan_lines(options.comments)),
    )
    print(page)
    if options.markdown:
        options.markdown.write_text(page, encoding="utf-8")
    if not safe or any(run.load.errors or run.found.lost or run.found.twice for run in runs):
        sys.exit(1)


if __name__ == "__main__":
    main()
