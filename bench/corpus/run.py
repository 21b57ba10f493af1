"""Time the build of a corpus beside the bare tokenizer, and watch its memory.

    python -m bench.corpus.run [--rounds 3] [--comments 500000] [--large 10000000] [--markdown FILE]

One process, the same texts, the same run: cutting them into words in Python, and all of `postil corpus build`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.corpus import workload
from bench.corpus.memory import watched
from bench.metrics.report import machine
from postil.corpus.build import Source, build
from postil.corpus.options import BuildOptions
from postil.corpus.store import Corpus
from postil.engine import open_engine
from postil.render.dataset_card import card
from postil.text import tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

AT_ONCE = 10_000
PAGE = """# Benchmarks of building corpora

This page is made by `make bench`. *Bare tokenizer*: the time to cut the titles, contents and comments of the file into
words, `tokenizer(NAME).split_all`, and nothing else. *Build*: all of `postil corpus build` from the JSON Lines on disk
to the finished folder (reading, thresholds, near duplicates, splits, vocabulary, Parquet, token arrays, statistics,
card). Both in one process, in the same run; processor time, median of {rounds} rounds.

Machine: {machine}

| corpus | tokenizer | comments | words | bare tokenizer, words/s | build, words/s | of the bare speed | comments/s |
|---|---|---|---|---|---|---|---|
{rows}
"""
LARGE = """
A made-up site of {comments:,} comments ({megabytes:,.0f} MB of JSON Lines, {words:,} words in the token arrays), two
processes: **{seconds:,.0f} s** ({each:.1f} s a million comments), and at most **{memory:,.0f} MiB** in all processes
together.
"""


def texts_of(path: Path) -> Iterator[list[str]]:
    """Titles, contents and comments, many at a time."""
    texts: list[str] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            texts += [row["title"], row["content"] or "", *(comment["text"] for comment in row["comments"])]
            if len(texts) >= AT_ONCE:
                yield texts
                texts = []
    yield texts


def measure(path: Path, name: str, rounds: int) -> tuple[int, int, float, float]:
    """Comments, words, and seconds of the bare tokenizer and of the build."""
    cut = tokenizer(name)
    cut.split_all(["warm 热身 危危危危危"])
    bare, whole = [], []
    words = 0
    options = BuildOptions(source="benchmark", license="none", tokenizer=name, test_min_upvotes=0)
    for _ in range(rounds):
        spent, words = 0.0, 0
        for texts in texts_of(path):
            start = time.process_time()
            found = cut.split_all(texts)
            spent += time.process_time() - start
            words += sum(map(len, found))
        bare.append(spent)
        with tempfile.TemporaryDirectory() as folder, open_engine() as engine:
            start = time.process_time()
            corpus = build([Source(path)], Path(folder, "corpus"), options, engine, card)
            whole.append(time.process_time() - start)
        print(f"{path.name}: bare {bare[-1]:.2f} s, build {whole[-1]:.2f} s", file=sys.stderr)
    del corpus
    comments = sum(line.count('"text"') for line in path.read_text(encoding="utf-8").splitlines())
    return comments, words, statistics.median(bare), statistics.median(whole)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Building a corpus, beside cutting its texts into words.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--comments", type=int, default=500_000, help="of the made-up site")
    parser.add_argument("--large", type=int, default=0, help="comments of a site whose memory is watched; 0: none")
    parser.add_argument(
        "--corpus", action="append", default=[], metavar="NAME=TOKENIZER=FILE", help="article rows of your own"
    )
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args(arguments)

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "made.jsonl")
        workload.write(made, given.comments)
        corpora = [("made up", "words", made), *(tuple(one.split("=", 2)) for one in given.corpus)]
        for label, name, path in corpora:
            comments, words, bare, whole = measure(Path(path), str(name), given.rounds)
            rows.append(
                f"| {label} | {name} | {comments:,} | {words:,} | {words / bare:,.0f} | {words / whole:,.0f} "
                f"| {bare / whole:.2f} | {comments / whole:,.0f} |"
            )
        text = PAGE.format(rounds=given.rounds, machine=machine(), rows="\n".join(rows))
        if given.large:
            text += large(Path(folder), given.large)
    print(text)
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")


def large(folder: Path, comments: int) -> str:
    source, out = folder / "large.jsonl", folder / "large"
    workload.write(source, comments)
    command = [sys.executable, "-m", "postil", "corpus", "build", str(source), "--out", str(out)]
    seconds, memory = watched([*command, "--source", "made up", "--license", "none", "--jobs", "2"])
    found = sum(size.comments for size in Corpus.open(out).metadata.splits.values())
    words = sum(path.stat().st_size // 4 for path in (out / "tokens").rglob("*.ids.npy"))
    return LARGE.format(
        comments=found,
        megabytes=source.stat().st_size / 1e6,
        words=words,
        seconds=seconds,
        each=seconds / found * 1e6,
        memory=memory,
    )


if __name__ == "__main__":
    main()
