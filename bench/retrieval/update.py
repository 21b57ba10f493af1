"""Time an update with 1 % new articles beside training from nothing, as commands.

    python -m bench.retrieval.update ARTICLES [--ranker NAME] [--kind ir-tc] [--share .01] [--rounds 3]

ARTICLES is a file of article rows; the last of them are the new ones. Each round trains on all articles but the new
ones and updates that model, and the medians are compared: wall time and processor time of the whole command, start of
Python and imports included.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from postil.data.row_files import read, write
from postil.data.rows import Article

BUILD = ("--min-content-words", "0", "--min-comments", "1", "--source", "bench", "--license", "bench", "--test", "0")


def run(*words: str) -> tuple[float, float]:
    """Run a command; return its wall time and processor time in seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "postil", *words], check=True, capture_output=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Build the corpora, take the times, and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("articles")
    parser.add_argument("--ranker")
    parser.add_argument("--kind", default="ir-tc")
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    source = Path(asked.articles).resolve()
    ranker = ("--ranker", asked.ranker) if asked.ranker else ()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rows = list(read(source, Article))
        new = max(1, round(len(rows) * asked.share))
        for name, part, dev in (("old", rows[:-new], "0.05"), ("new", rows[-new:], "0")):
            write(Path(f"{name}.jsonl"), part)
            run("corpus", "build", f"{name}.jsonl", *BUILD, "--dev", dev, "--out", name)
        times: dict[str, list[tuple[float, float]]] = {"train": [], "update": [], "start": []}
        for number in range(asked.rounds):
            times["train"].append(run("train", asked.kind, "--corpus", "old", "--out", f"model-{number}", *ranker))
            update = ("train", "--update", f"model-{number}", "--corpus", "new", "--out", f"updated-{number}")
            times["update"].append(run(*update))
            times["start"].append(run("--version"))
        medians = {name: [statistics.median(each) for each in zip(*some, strict=True)] for name, some in times.items()}
        print(
            f"{len(rows) - new:,} articles, {new:,} new; medians of {asked.rounds} rounds, seconds wall and processor"
        )
        for name, (wall, processor) in medians.items():
            print(f"{name:7}{wall:9.2f}{processor:9.2f}")
        shares = [update / train for update, train in zip(medians["update"], medians["train"], strict=True)]
        print(f"update takes {shares[0]:.1%} of the wall time of training, {shares[1]:.1%} of the processor time")


if __name__ == "__main__":
    main()
