"""Time `postil correlate` and its parts, beside a loop over SciPy, in one run.

    python -m bench.metaeval.run [--items 500] [--systems 20] [--metrics 20] [--jobs 2] [--markdown FILE]

The data are simulated: items of different difficulty, systems of different quality, metrics that correlate more or
less with the ratings; half of the metrics have ties. The loop over SciPy would take hours, so a few of its resamples
and permutations are timed and extrapolated; the tables give their numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.metaeval import scipy_loop
from bench.metrics.report import machine, version
from postil.metaeval import correlations, differences, join
from postil.metaeval.permutation import PERMUTATIONS
from postil.metaeval.replicates import KENDALL_RESAMPLES
from postil.metaeval.resampling import RESAMPLES
from postil.records import Judgement, Score, write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from postil.metaeval import Coefficient

COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall-b")
TESTED = COEFFICIENTS[:2]

PAGE = """# Benchmarks of meta-evaluation

This page is made by `make bench`. {items} items, {systems} systems, {metrics} metrics, two annotators per text,
simulated by `bench/metaeval/run.py`, the same in every run. Confidence intervals are from {resamples:,} resamples of
the items (Kendall: {kendall}), tests from {permutations:,} permutations for each of the {pairs} pairs of metrics.

The loop over SciPy calls it once for each metric, resample and permutation, as a script would. It would take hours:
as many resamples and permutations as stand in the last column were timed, and the time multiplied up.

Machine: {machine}; postil with {jobs} threads, SciPy {scipy}.
"""


def rows(items: int, systems: int, metrics: int) -> tuple[list[Score], list[Judgement]]:
    """Scores and ratings of every item by every system."""
    rng = np.random.default_rng(20181)
    good = rng.normal(size=(items, 1)) + rng.normal(size=systems) * 0.5 + rng.normal(size=(items, systems))
    columns = [good + rng.normal(size=good.shape) * (0.5 + 0.15 * metric) for metric in range(metrics)]
    scores = [
        Score(f"item {i}", f"system {s}", f"metric {metric}", float(column[i, s].round(1 if metric % 2 else 9)), "")
        for i in range(items)
        for s in range(systems)
        for metric, column in enumerate(columns)
    ]
    judgements = [
        Judgement(f"item {i}", f"system {s}", who, float(np.clip(np.round(3 + good[i, s] + rng.normal() * 0.7), 1, 5)))
        for i in range(items)
        for s in range(systems)
        for who in ("ann", "bob")
    ]
    return scores, judgements


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def command(folder: Path, jobs: int) -> float:
    """`postil correlate` on files, as a process of its own."""
    line = [sys.executable, "-m", "postil", "correlate", "scores.jsonl", "--judgements", "judgements.jsonl"]
    line += [word for name in COEFFICIENTS for word in ("--coefficient", name)]
    line += ["--format", "json", "--jobs", str(jobs)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return seconds(lambda: subprocess.run(line, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Time meta-evaluation, beside a loop over SciPy.")
    for name, default in (("items", 500), ("systems", 20), ("metrics", 20), ("jobs", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--scipy-resamples", type=int, default=5, help="of the loop over SciPy that are timed")
    parser.add_argument("--scipy-permutations", type=int, default=10)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args(arguments)

    scores, judgements = rows(given.items, given.systems, given.metrics)
    table = join(scores, judgements)
    lines: list[dict[str, str | float]] = []

    def line(what: str, postil: Callable[[], object], loop: Callable[[], object], times: float, timed: str) -> None:
        took = seconds(postil)
        lines.append({"what": what, "postil": took, "scipy": seconds(loop) * times, "timed": timed})
        print(f"{what}: {took:.2f} s, SciPy {lines[-1]['scipy']:.0f} s", file=sys.stderr)

    for name in COEFFICIENTS:
        several = KENDALL_RESAMPLES if name.startswith("kendall") else RESAMPLES
        found = correlations(table, [name], resamples=1, jobs=given.jobs).rows
        np.testing.assert_allclose([row.value for row in found], scipy_loop.values(table, name), atol=1e-12)
        line(
            f"{name}, values and intervals",
            partial(correlations, table, [name], jobs=given.jobs),
            partial(scipy_loop.intervals, table, name, given.scipy_resamples),
            several / given.scipy_resamples,
            f"{given.scipy_resamples} of {several:,} resamples",
        )
    for name in TESTED:
        line(
            f"{name}, all pairs: intervals, Williams, permutations",
            partial(differences, table, name, jobs=given.jobs),
            partial(scipy_loop.tests, table, name, given.scipy_permutations),
            PERMUTATIONS / given.scipy_permutations,
            f"{given.scipy_permutations} of {PERMUTATIONS:,} permutations, no intervals",
        )
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder, "scores.jsonl"), scores)
        write(Path(folder, "judgements.jsonl"), judgements)
        whole = command(Path(folder), given.jobs)

    text = page(given, lines, whole)
    print(text)
    if given.json:
        given.json.write_text(json.dumps({"lines": lines, "command": whole}, indent=1) + "\n", encoding="utf-8")
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")


def page(given: argparse.Namespace, lines: Sequence[dict[str, str | float]], whole: float) -> str:
    head = PAGE.format(
        **{name: getattr(given, name) for name in ("items", "systems", "metrics", "jobs")},
        resamples=RESAMPLES,
        kendall=KENDALL_RESAMPLES,
        permutations=PERMUTATIONS,
        pairs=given.metrics * (given.metrics - 1) // 2,
        machine=machine(),
        scipy=version("scipy"),
    )
    table = ["| | postil | loop over SciPy | ratio | timed of the loop |", "|---|---|---|---|---|"]
    ours, theirs = (sum(float(line[who]) for line in lines) for who in ("postil", "scipy"))
    for line in [*lines, {"what": "all of it", "postil": ours, "scipy": theirs, "timed": ""}]:
        mine, loop = float(line["postil"]), float(line["scipy"])
        table.append(f"| {line['what']} | {mine:.2f} s | {loop:,.0f} s | {loop / mine:,.0f}x | {line['timed']} |")
    last = (
        f"`postil correlate` from files to JSON, with human agreement, its ceiling and Kendall's differences: "
        f"{whole:.1f} s."
    )
    return "\n".join([head, *table, "", last]) + "\n"


if __name__ == "__main__":
    main()
