"""Speed of `postil score` by the format of the candidates, as processor time of the command.

    python -m bench.metrics.files [--rows 1000000] [--rounds 3]

writes candidates of 12 words by ten systems, and three references per item, into a temporary folder; rounds of all
formats take turns. The table goes into `research/benchmarks-files.md`.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SYSTEMS, REFERENCES, WORDS = 10, 3, 12
FORMATS = ("jsonl", "csv", "csv.gz", "jsonl.gz")
HEAD = """| candidates | metrics | seconds: median [fastest, slowest] | speed, JSON Lines = 100 % |
|---|---|---|---|"""
RUNS = (("one metric, `-m rouge-l`", ("-m", "rouge-l")), ("default metrics", ()))


def sentence(rng: random.Random) -> str:
    """Words by Zipf's law, every third sentence with a comma, as CSV quotes it."""
    words = [f"w{int(30_000 ** rng.random())}" for _ in range(WORDS)]
    return " ".join(words[:5]) + (", " if rng.random() < 1 / 3 else " ") + " ".join(words[5:])


def candidates(rows: int) -> Iterator[tuple[str, str, str]]:
    rng = random.Random(20181)
    for system in range(SYSTEMS):
        for item in range(rows // SYSTEMS):
            yield f"a{item}", f"s{system}", sentence(rng)


def make(folder: Path, rows: int) -> None:
    """Write the candidates in each format, and the references."""
    from postil.data.row_files import write
    from postil.data.rows import Candidate, Reference

    rng = random.Random(20182)
    write(
        folder / "r.jsonl",
        (Reference(f"a{i}", sentence(rng)) for i in range(rows // SYSTEMS) for _ in range(REFERENCES)),
    )
    with (folder / "c.jsonl").open("w") as lines, (folder / "c.csv").open("w", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(("item", "system", "text"))
        for item, system, text in candidates(rows):
            lines.write(json.dumps({"item": item, "system": system, "text": text}) + "\n")
            writer.writerow((item, system, text))
    for name in ("csv.gz", "jsonl.gz"):
        write(folder / f"c.{name}", (Candidate(*row) for row in candidates(rows)))


def seconds(folder: Path, form: str, options: tuple[str, ...]) -> float:
    """Processor time of one command."""
    words = ("score", f"c.{form}", "-r", "r.jsonl", *options)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "postil", *words], cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure postil score by the format of the candidates.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, given.rows)
        print(HEAD)
        for what, options in RUNS:
            found: dict[str, list[float]] = {form: [] for form in FORMATS}
            for _ in range(given.rounds):
                for form in FORMATS:
                    found[form].append(seconds(folder, form, options))
            base = statistics.median(found["jsonl"])
            for form, several in found.items():
                middle = statistics.median(several)
                times = f"{middle:.2f} [{min(several):.2f}, {max(several):.2f}]"
                print(f"| `.{form}` | {what} | {times} | {100 * base / middle:.0f} % |", flush=True)


if __name__ == "__main__":
    main()
