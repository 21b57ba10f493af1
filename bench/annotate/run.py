"""Eight people grade at once over HTTP; then the server is killed in the middle of it.

    python -m bench.annotate.run [--comments 45000] [--rate 200] [--seconds 60] [--keep FILE] [--markdown FILE]

The server is `postil annotate serve` in a process of its own, with SQLite in a file. Latencies are what a client
measures: request, answer and the network of this machine in between. The clients share the machine with the server.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.annotate.client import Browser, load
from bench.annotate.workload import make, names
from bench.metrics.report import machine, version
from postil.annotation.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.annotate.client import Load

PAGE = """# Benchmarks of grading

This page is made by `make bench`: {comments:,} comments in the campaign, two annotators each, {before:,} grades given
before. The server is one process of `postil annotate serve` with SQLite (every grade is on disk before it is
acknowledged); {clients} clients grade at once over HTTP, and a lead looks at the pages. Each answer brings the next
text with its article, as in the browser. Milliseconds, measured at the client, on the same machine.

Machine: {machine}; load of the machine before the run: {busy:.2f}. FastAPI {fastapi}, uvicorn {uvicorn}, SQLAlchemy
{sqlalchemy}.

| {seconds:.0f} s of load | |
|---|---|
| grades asked for | {rate:.0f} a second |
| grades acknowledged | {done:,}, {speed:.0f} a second |
| processor time of the server, the lead's pages and numbers with it | {worked:.1f} ms a grade |
| errors | {errors} |
| in the database afterwards | {stored:,} of {done:,}, each once |

| page | median | 95 % | slowest | times |
|---|---|---|---|---|
{pages}

**`kill -9`.** Under the same load the server was killed {kills} times after {after} s. Of {acknowledged:,} acknowledged
grades {lost} were lost. {unanswered} had no answer when the server went; their clients sent them again to the new
server under the same keys, and each is there once.
"""


class Server:
    """`postil annotate serve`."""

    def __init__(self, file: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "postil", "annotate", "serve", str(file), "--port", str(self.port)]
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


async def sign_in(store: Store, port: int, annotators: int) -> tuple[list[Browser], Browser]:
    browsers = [Browser(port) for _ in range(annotators)]
    for browser, name in zip(browsers, names(annotators), strict=True):
        await browser.join(store.invite(name, "annotator"))
    lead = Browser(port)
    await lead.join(store.invite("lead", "lead"))
    return browsers, lead


async def pages(browsers: Sequence[Browser], lead: Browser, times: int) -> dict[str, list[float]]:
    """How long pages take when nothing else is asked for."""
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


def line(name: str, took: Sequence[float]) -> str:
    some = sorted(1000 * one for one in took)
    high = some[int(0.95 * (len(some) - 1))]
    return f"| {name} | {statistics.median(some):.1f} | {high:.1f} | {some[-1]:.1f} | {len(some):,} |"


def stored(file: Path, keys: set[str]) -> tuple[int, int]:
    """How many of these keys have a row, and how many rows they have."""
    with Store.open(str(file)) as store:
        rows = [event.request for event in store.events() if event.request in keys]
    return len(set(rows)), len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--comments", type=int, default=45_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="where the campaign is made once, and taken from afterwards")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "campaign.db")
        after = 5.0
        left = round(options.rate / options.clients * (options.seconds + after * options.kills) * 1.2 + 50)
        if options.keep is None or not options.keep.is_file():
            make(options.keep or file, options.comments, options.clients, left)
        if options.keep is not None:
            shutil.copyfile(options.keep, file)
        with Store.open(str(file)) as store:
            before = sum(one.progress.done for one in store.standings())
        print(f"{before:,} grades before", flush=True)
        found, quiet, worked = asyncio.run(measure(file, options.clients, options.rate, options.seconds))
        there, rows = stored(file, found.acknowledged)
        assert there == rows
        acknowledged, lost, unanswered = 0, 0, 0
        for number in range(options.kills):
            print(f"kill {number + 1}", flush=True)
            told, gone, open_then = asyncio.run(killed(file, options.clients, options.rate, after))
            acknowledged, lost, unanswered = acknowledged + told, lost + gone, unanswered + open_then
    lines = [
        *(line(f"{path}, nothing else going on", took) for path, took in quiet.items()),
        line("a grade, under load", found.took),
        *(line(f"{path}, under load", took) for path, took in found.pages.items()),
    ]
    page = PAGE.format(
        comments=options.comments,
        before=before,
        clients=options.clients,
        machine=machine(),
        busy=busy,
        fastapi=version("fastapi"),
        uvicorn=version("uvicorn"),
        sqlalchemy=version("sqlalchemy"),
        seconds=found.seconds,
        rate=options.rate,
        done=len(found.acknowledged),
        speed=len(found.acknowledged) / found.seconds,
        worked=1000 * worked / max(1, len(found.acknowledged)),
        errors=len(found.errors),
        stored=there,
        pages="\n".join(lines),
        kills=options.kills,
        after=f"{after:.0f}",
        acknowledged=acknowledged,
        lost=lost,
        unanswered=unanswered,
    )
    print(page)
    print(*found.errors[:5], sep="\n")
    if options.markdown:
        options.markdown.write_text(page, encoding="utf-8")
    if lost or found.errors or there != len(found.acknowledged):
        sys.exit(1)


async def measure(file: Path, clients: int, rate: float, seconds: float) -> tuple[Load, dict[str, list[float]], float]:
    """The load, pages without load, and the server's processor time under load in seconds."""
    server = Server(file)
    try:
        with Store.open(str(file)) as store:
            browsers, lead = await sign_in(store, server.port, clients)
        await settled(lead)
        quiet = await pages(browsers, lead, 30)
        before = server.worked()
        found = await load(browsers, lead, rate=rate, seconds=seconds)
        return found, quiet, server.worked() - before
    finally:
        server.kill()


async def killed(file: Path, clients: int, rate: float, after: float) -> tuple[int, int, int]:
    """Acknowledged grades, those of them that were lost, and those without an answer, which are sent again."""
    server = Server(file)
    with Store.open(str(file)) as store:
        browsers, _ = await sign_in(store, server.port, clients)
    running = asyncio.create_task(load(browsers, None, rate=rate, seconds=10 * after))
    await asyncio.sleep(after)
    server.kill()
    found = await running
    there, rows = stored(file, found.acknowledged)
    assert there == rows
    again = Server(file)
    try:
        with Store.open(str(file)) as store:
            back, _ = await sign_in(store, again.port, clients)
        for number, fields in found.unanswered:
            status, text = await back[number].ask("/rate", {**fields, "csrf": back[number].csrf})
            assert status == 200, text
    finally:
        again.kill()
    keys = {str(fields["request"]) for _, fields in found.unanswered}
    assert stored(file, keys) == (len(keys), len(keys))
    assert not found.errors, found.errors
    return len(found.acknowledged), len(found.acknowledged) - there, len(keys)


if __name__ == "__main__":
    main()
