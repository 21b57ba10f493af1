"""Peak memory and time of `postil score` by the number of references, which are read beside the candidates.

    python -m bench.metrics.references [--references N ...] [--words 20] [--metric SPEC ...] [--folder FOLDER]

writes files of candidates and of ten references per item, in the same order of items, and scores them in a fresh
process on one thread. ``--shuffled`` puts the candidates in another order, so that all references are read at once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

EACH = 10
"""Number of references per item."""
WORDS = [f"w{n}" for n in range(20_000)]


def files(folder: Path, references: int, words: int, *, shuffled: bool) -> tuple[Path, Path]:
    """Write both files: words by Zipf's law, one system."""
    draw = np.random.default_rng(2018)
    items = references // EACH
    order = draw.permutation(items) if shuffled else np.arange(items)
    share = 1 / np.arange(1, len(WORDS) + 1)
    bounds = np.cumsum(share / share.sum())

    def texts(count: int) -> list[str]:
        ids = np.minimum(np.searchsorted(bounds, draw.random((count, words))), len(WORDS) - 1)
        return [" ".join([WORDS[i] for i in row]) for row in ids.tolist()]

    with (folder / "r.jsonl").open("w", encoding="utf-8") as file:
        for first in range(0, items, 1000):
            rows = texts(EACH * min(1000, items - first))
            file.writelines(
                json.dumps({"item": f"item-{first + i // EACH}", "text": text}) + "\n" for i, text in enumerate(rows)
            )
    with (folder / "c.jsonl").open("w", encoding="utf-8") as file:
        for first in range(0, items, 1000):
            numbers = order[first : first + 1000].tolist()
            file.writelines(
                json.dumps({"item": f"item-{number}", "system": "s", "text": text}) + "\n"
                for number, text in zip(numbers, texts(len(numbers)), strict=True)
            )
    return folder / "c.jsonl", folder / "r.jsonl"


def peak(candidates: Path, references: Path, metrics: list[str]) -> tuple[float, float]:
    """Peak memory in MB and seconds of one run."""
    specs = [part for metric in metrics for part in ("-m", metric)]
    command = [sys.executable, "-m", "postil", "score", str(candidates), "-r", str(references), *specs]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(process.returncode)
    return usage.ru_maxrss * 1024 / 1e6, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--references", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--words", type=int, default=20)
    parser.add_argument("--metric", nargs="+", default=["bleu-4", "rouge-l"])
    parser.add_argument("--folder", help="folder with room for the files; by default that of temporary files")
    parser.add_argument("--shuffled", action="store_true")
    given = parser.parse_args()
    print("| references | peak memory | time |\n|---|---|---|")
    for references in given.references:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            paths = files(Path(folder), references, given.words, shuffled=given.shuffled)
            memory, seconds = peak(*paths, given.metric)
        print(f"| {references:,} of {given.words} words | {memory:,.0f} MB | {seconds:,.0f} s |", flush=True)


if __name__ == "__main__":
    main()
