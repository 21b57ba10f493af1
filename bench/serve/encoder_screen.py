"""A served screen that reads a sentence encoder, beside the encoder by itself, in one run.

    python -m bench.serve.encoder_screen --decisions FILE --encoder DIR|package:NAME [--seconds 20] [--workers 2]

A screen is trained on four fifths of the decisions. Then as many processes of one thread as the service has workers
encode texts of the rest, each text by itself, before and after the service is asked for others of them: at the rate of
the encoder, at .6 of it, and at half of that. Prints Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.metrics.report import machine
from bench.serve.run import ASKED, Server, ask
from postil.data.row_files import read
from postil.data.rows import Decision
from postil.encoders.endpoint_encoder import open_encoder
from postil.encoders.sentences import unit_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WANTED: Final = 0.6
"""Share of the rate of the encoder that a service is to answer."""
LOADS: Final = (1.0, WANTED, WANTED / 2)
ROUTE: Final = "/v1alpha1/comments:analyze"


def encoded(name: str, texts: Sequence[str], seconds: float) -> list[float]:
    """Seconds that an encoder takes for each of some texts, one by one, for a time."""
    encoder = open_encoder(name, None)
    unit_vectors(encoder, texts[:1])
    took = list[float]()
    while sum(took) < seconds:
        text = f"{texts[len(took) % len(texts)]} {len(took)}"  # none twice: vectors of known texts are kept
        start = time.perf_counter()
        unit_vectors(encoder, [text])
        took.append(time.perf_counter() - start)
    return took


def alone(name: str, texts: Sequence[str], seconds: float, processes: int) -> tuple[float, list[float]]:
    """Texts in a second that several processes of one thread encode together, and the seconds of each text."""
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        found = pool.starmap(encoded, [(name, texts[at::processes], seconds) for at in range(processes)])
    return sum(len(took) / sum(took) for took in found), [each for took in found for each in took]


def row(name: str, offered: str, answered: float, took: list[float], *, of: float, refused: str = "") -> str:
    """A row of the table."""
    times = sorted(1000 * each for each in took) or [float("nan")]
    middle, slow = (f"{times[int(part * (len(times) - 1))]:.1f}" for part in (0.5, 0.95))
    return f"| {name} | {offered} | {answered:.1f} | {answered / of:.2f} | {middle} | {slow} | {refused} |"


def rows(given: argparse.Namespace, folder: Path) -> Iterator[str]:
    """Rows of the table."""
    decisions = [one for one in read(str(given.decisions), Decision) if one.text.strip()]
    known = int(len(decisions) * (1 - ASKED))
    texts = [one.text for one in decisions[known:]]
    learned = folder / "decisions.jsonl"
    lines = [json.dumps({"text": one.text, "decision": one.decision, "lang": given.lang}) for one in decisions[:known]]
    learned.write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "postil", "train", "screen", str(learned), "--encoder", given.encoder]
    subprocess.run([*command, "--out", str(folder / "screen")], check=True, capture_output=True)
    before, took = alone(given.encoder, texts, given.seconds / 2, given.workers)
    yield row("encoder alone, before", "", before, took, of=before)
    wanted = {"requestedAttributes": {"TOXICITY": {}}, "languages": [given.lang], "doNotStore": True}
    with Server(None, given.workers, folder / "service", ("--screen", str(folder / "screen"))) as server:
        for load in LOADS:
            rate = before * load
            bodies = [
                json.dumps({"comment": {"text": f"{text} {load} {time}"}, **wanted}).encode()  # no text twice
                for time in range(1 + int(rate * given.seconds / len(texts)))
                for text in texts
            ]
            start = time.perf_counter()
            found = asyncio.run(ask(server.port, bodies, rate, given.seconds, route=ROUTE))
            answered = len(found.took) / (time.perf_counter() - start)
            yield row("service", f"{rate:.1f}", answered, found.took, of=before, refused=f"{len(found.failed):,}")
    after, took = alone(given.encoder, texts, given.seconds / 2, given.workers)
    yield row("encoder alone, after", "", after, took, of=before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=Path, required=True, help="rows that postil train screen reads")
    parser.add_argument("--encoder", required=True, help="a folder or package:NAME")
    parser.add_argument("--lang", default="en", help="language of the decisions")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    print(f"Machine: {machine()}; load {os.getloadavg()[0]:.1f} at the start.\n")
    print("| | asked per second | texts per second | share of the encoder | ms, median | ms, 95 % | refused |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for line in rows(given, Path(folder)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
