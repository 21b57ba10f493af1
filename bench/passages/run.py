"""Time the nine discrete measures of the paper on a collection of its size, beside two ways to do without postil.

    python -m bench.passages.run [--rounds 3] [--jobs 2] [--markdown FILE]

Words are split already. Units are counted and all nine measures found for informativeness, with each passage in its
reference and without it, and for interestingness in twelve folds.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.metrics.report import machine, version
from bench.passages.peers import SHIFT, Sparse, plain, units_of
from bench.passages.workload import Workload, workload
from postil.metrics.measures import measure_passages
from postil.metrics.passage_collection import PassageCollection
from postil.metrics.pool import folds_of, informativeness, interestingness
from postil.metrics.spec import parse_measure
from postil.text import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Found = dict[tuple[str, str, str], NDArray[np.float64]]

FAMILIES = ("f1", "kl", "logsim")
FOLDS, SEED = 12, 20181
PAGE = """# Benchmarks of the measures of passages

This page is made by `make bench`. {passages:,} passages of {topics} topics, {words:,} words, drawn by
`bench/passages/workload.py` in the size of the paper's collection, the same in every run; {informative:,} passages are
informative. Words are split already. Timed: counting units (words, pairs, skip-grams) and the nine measures F1, KL and
LogSim, for informativeness with each passage in its reference and without it, and for interestingness in twelve folds:
{scores:,} scores. All numbers were checked to agree to 1e-9.

Machine: {machine}; postil with {jobs} threads, median of {rounds} rounds [slowest, fastest].
"""


def by_postil(data: Workload, tokens: PassageCollection, jobs: int) -> Found:
    """Everything by postil, from words that are numbered already."""
    collection = PassageCollection(tokens.tokens)
    measures = [parse_measure(f"{family}-{unit}") for unit in SHIFT for family in FAMILIES]
    with ThreadPoolExecutor(jobs) as threads:
        list(threads.map(collection.bags, SHIFT))
    weights = data.grade / 2
    topics = informativeness(data.topic, weights)
    others = interestingness(
        data.topic, weights, tokens.duplicates(), folds_of(int(data.topic.max()) + 1, FOLDS, seed=SEED)
    )
    found: Found = {}
    for name, pools in (("in", topics.all_inside()), ("out", topics), ("others", others)):
        for measure, values in measure_passages(measures, collection, pools, jobs).items():
            scores = np.empty(len(data.words))
            scores[pools.texts] = values
            family, _, unit = measure.name.partition("-")
            found[name, family, unit] = scores
    return found


def by_sparse(data: Workload) -> Found:
    """Everything by scikit-learn, SciPy and NumPy. Equal texts do not leave a reference; there are none."""
    found: Found = {}
    rich = data.grade > 0
    folds = folds_of(int(data.topic.max()) + 1, FOLDS, seed=SEED)[data.topic]
    for unit in SHIFT:
        sparse = Sparse(data.words, unit)
        for name in ("in", "out", "others"):
            groups = folds if name == "others" else data.topic
            for family in FAMILIES:
                found[name, family, unit] = np.empty(len(data.words))
            for group in np.unique(groups):
                texts = np.flatnonzero(groups == group)
                references = np.flatnonzero(rich & ((groups != group) if name == "others" else (groups == group)))
                leaves = rich[texts] if name == "out" else np.zeros(len(texts), bool)
                for family, values in zip(FAMILIES, sparse.scores(texts, references, leaves), strict=True):
                    found[name, family, unit][texts] = values
    return found


def by_plain_reading(data: Workload, some: Sequence[int]) -> Found:
    """A few passages over dictionaries, each reference added up anew."""
    found: Found = {}
    rich = np.flatnonzero(data.grade > 0)
    folds = folds_of(int(data.topic.max()) + 1, FOLDS, seed=SEED)[data.topic]
    for unit in SHIFT:
        bags = [Counter(units_of(words, unit)) for words in data.words]
        every: Counter[str] = Counter()
        for bag in bags:
            every.update(bag)
        total = every.total()
        share = {name: count / total for name, count in every.items()}
        for name in ("in", "out", "others"):
            rows = []
            for text in some:
                chosen = rich[
                    (folds[rich] != folds[text]) if name == "others" else (data.topic[rich] == data.topic[text])
                ]
                rows.append(plain(bags[text], [bags[r] for r in chosen if name != "out" or r != text], share))
            for family, values in zip(FAMILIES, zip(*rows, strict=True), strict=True):
                found[name, family, unit] = np.array(values)
    return found


def timed(call: Callable[[], Found]) -> tuple[float, Found]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="The measures of passages, beside two ways to do without postil.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--some", type=int, default=20, help="passages that the plain reading scores; its time is scaled"
    )
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args(arguments)

    data = workload()
    tokens = PassageCollection(Vocabulary().encode_tokens(data.words))
    some = np.linspace(0, len(data.words) - 1, given.some).astype(int).tolist()
    times: dict[str, list[float]] = {"postil": [], "sparse": []}
    for _ in range(given.rounds):
        took, mine = timed(lambda: by_postil(data, tokens, given.jobs))
        times["postil"].append(took)
        took, theirs = timed(lambda: by_sparse(data))
        times["sparse"].append(took)
        print(f"postil {times['postil'][-1]:.2f} s, sparse {times['sparse'][-1]:.2f} s", file=sys.stderr)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    one, _ = timed(lambda: by_postil(data, tokens, 1))
    for key, values in theirs.items():
        np.testing.assert_allclose(mine[key], values, rtol=1e-9, atol=1e-9, err_msg=str(key))
    few, scored = timed(lambda: by_plain_reading(data, some))
    for key, values in scored.items():
        np.testing.assert_allclose(mine[key][some], values, rtol=1e-9, atol=1e-9, err_msg=str(key))
    growth = []
    for factor in (1, 3, 10):
        larger = data if factor == 1 else workload(factor)
        numbered = tokens if factor == 1 else PassageCollection(Vocabulary().encode_tokens(larger.words))
        growth.append((factor, sum(map(len, larger.words)), timed(lambda: by_postil(larger, numbered, given.jobs))[0]))  # noqa: B023

    text = page(given, data, times, one, few * len(data.words) / given.some, peak, growth)
    print(text)
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")


def page(  # noqa: PLR0917
    given: argparse.Namespace,
    data: Workload,
    times: dict[str, list[float]],
    one: float,
    few: float,
    peak: float,
    growth: Sequence[tuple[int, int, float]],
) -> str:
    head = PAGE.format(
        passages=len(data.words),
        topics=int(data.topic.max()) + 1,
        words=sum(map(len, data.words)),
        informative=int((data.grade > 0).sum()),
        scores=27 * len(data.words),
        machine=machine(),
        jobs=given.jobs,
        rounds=given.rounds,
    )
    mine = statistics.median(times["postil"])
    lines = ["| | time | postil is faster by |", "|---|---|---|"]
    for name, label in (
        ("postil", "postil"),
        ("sparse", f"scikit-learn {version('scikit-learn')}, SciPy sparse, NumPy"),
    ):
        middle = statistics.median(times[name])
        ratio = "" if name == "postil" else f"{middle / mine:.1f}x"
        lines.append(f"| {label} | {middle:.2f} s [{max(times[name]):.2f}, {min(times[name]):.2f}] | {ratio} |")
    lines.append(f"| postil, one thread | {one:.2f} s | |")
    lines.append(
        f"| plain reading over dictionaries, {given.some} passages scaled up | {few:,.0f} s | {few / mine:,.0f}x |"
    )
    lines += [
        "",
        f"Peak memory of the process with both: {peak:,.0f} MiB.",
        "",
        "| passages | words | postil | a million words |",
    ]
    lines.append("|---|---|---|---|")
    lines += [
        f"| x{factor} | {words:,} | {took:.2f} s | {took / words * 1e6:.2f} s |" for factor, words, took in growth
    ]
    return "\n".join([head, *lines]) + "\n"


if __name__ == "__main__":
    main()
