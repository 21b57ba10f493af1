"""Time accuracies and an audit of metrics, beside mt-metrics-eval on tables that it can finish."""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bench.corpus.memory import watched
from postil.data.row_files import write
from postil.data.rows import Judgement, Score
from postil.meta.correlation import correlations, differences
from postil.meta.resampling import Draws
from postil.meta.table import Table, join

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.meta.coefficients import By

LEVELS = {"item": "item", "pool": "none"}
"""Levels of accuracies by mt-metrics-eval's names."""
DRAWS = 1000
"""Permutations of a test there, and at most for `spa` here."""
COMMANDS = (
    "--audit -c acc-eq --by item",
    "-c acc-eq --by within-system",
    "-c pa -c spa --by system",
    "-c acc-eq --by pool",
)
USUAL = "-c pearson -c spearman -c kendall-b"
PAGE = """## Accuracies and audits

The same simulated ratings by three annotators, with continuous scores. mt-metrics-eval is the program of WMT's metrics
task, from its repository; it takes all pairs of scores (a sample rate of 1). One thread each. It has values, and
one-sided p-values from {draws:,} permutations; postil's times include confidence intervals, chance and two-sided
p-values.
"""
LARGE = """
`postil correlate` from files to JSON, with {jobs} threads, all settings at their defaults:

| table | command | time | peak memory |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Sizes:
    """Sizes of the tables.

    Args:
        items: Number of items of the large table.
        systems: Number of systems of all tables.
        metrics: Number of metrics of the large table.
        compared: Number of items, and of metrics, where mt-metrics-eval takes part.
        few: Number of items where it has all pairs of texts in memory.
        texts: Number of texts of the table of the usual coefficients.
    """

    items: int = 625
    systems: int = 16
    metrics: int = 20
    compared: tuple[int, int] = (100, 5)
    few: int = 50
    texts: int = 200_000


SMALL = Sizes(items=40, systems=6, metrics=4, compared=(20, 3), few=10, texts=2_000)
"""Sizes to try the benchmark with."""


def rows(items: int, systems: int, metrics: int, annotators: int = 3) -> tuple[list[Score], list[Judgement]]:
    """Continuous scores, lengths and ratings of every item by every system."""
    rng = np.random.default_rng(20181)
    good = rng.normal(size=(items, 1)) + rng.normal(size=systems) * 0.5 + rng.normal(size=(items, systems))
    columns = {f"metric {m}": good + rng.normal(size=good.shape) * (0.5 + 0.15 * m) for m in range(metrics)}
    columns["control:length"] = np.maximum(1, np.round(20 + 4 * good + 4 * rng.normal(size=good.shape)))
    ratings = np.clip(np.round(3 + good[..., None] + rng.normal(size=(*good.shape, 3)) * 0.7), 1, 5)
    texts = [(i, s, f"item {i}", f"system {s}") for i in range(items) for s in range(systems)]
    scores = [
        Score(item, system, name, float(column[i, s]))
        for i, s, item, system in texts
        for name, column in columns.items()
    ]
    judgements = [
        Judgement(item, system, who, float(grade))
        for i, s, item, system in texts
        for who, grade in zip(("ann", "bob", "cem")[:annotators], ratings[i, s, :annotators], strict=True)
    ]
    return scores, judgements


def ratio(mine: float, other: float) -> str:
    """Print the time of another program divided by postil's, with two decimals where it is below 10."""
    found = other / mine
    return f"{found:,.0f}x" if found >= 10 else f"{found:.2f}x"


def seconds(call: Callable[[], object]) -> float:
    """Time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


class Original:
    """mt-metrics-eval on the metrics of a complete table.

    Args:
        folder: Folder that holds the package `mt_metrics_eval`.
    """

    def __init__(self, folder: Path) -> None:
        sys.path.insert(0, str(folder))
        self.stats: Any = importlib.import_module("mt_metrics_eval.stats")
        self.pce: Any = importlib.import_module("mt_metrics_eval.pce")

    def sides(self, table: Table) -> list[Any]:
        """Its object for each metric: vectors of all systems' scores, one system after the other."""
        order = np.lexsort((table.item, table.system))
        grades = table.grades[order].tolist()
        return [
            self.stats.Correlation(len(table.systems), grades, column.tolist()) for column in table.oriented[order].T
        ]

    def values(self, table: Table, by: str) -> list[float]:
        """Accuracy with ties of each metric, or ``spa``."""
        if by == "system":
            return [float(side.PairwiseConfidenceError("sys")[0]) for side in self.sides(table)]
        return [float(side.KendallWithTiesOpt(LEVELS[by], "acc23", 1.0)[0]) for side in self.sides(table)]

    def tests(self, table: Table, by: str, draws: int) -> None:
        """p-values of all pairs of metrics."""
        params = self.stats.PermutationSigDiffParams(block_size=draws + 1)  # never stops early
        for first, second in combinations(self.sides(table), 2):
            if by == "system":
                self.stats.PermutationSigDiff(
                    first,
                    second,
                    self.stats.PairwiseConfidenceError,
                    "none",
                    draws,
                    params,
                    num_sys=len(table.systems),
                )
            else:
                self.stats.PairwisePermutationSigDiff(first, second, "acc23", LEVELS[by], draws, params)


def compared(original: Original, sizes: Sizes) -> list[str]:
    """Rows of the table of both programs."""
    items, metrics = sizes.compared
    scores, judgements = rows(items, sizes.systems, metrics)
    names = [f"metric {m}" for m in range(metrics)]
    table = join(scores, judgements, metrics=names)
    kept = {f"item {i}" for i in range(sizes.few)}
    few = join(
        [row for row in scores if row.item in kept], [row for row in judgements if row.item in kept], metrics=names
    )
    found = []
    for coefficient, by, of in (("acc-eq", "item", table), ("acc-eq", "pool", few), ("spa", "system", table)):
        name, level = cast("Any", coefficient), cast("By", by)
        ours = correlations(of, [name], level, draws=Draws(resamples=1))
        theirs = original.values(of, by)
        if coefficient == "acc-eq":  # the sign patterns of the other are drawn
            np.testing.assert_allclose([row.value for row in ours.rows], theirs, rtol=0, atol=1e-9)
        what = f"`{coefficient}` by {by}, {len(of):,} texts, {metrics} metrics"
        took = seconds(lambda: correlations(of, [name], level)), seconds(lambda: original.values(of, by))  # noqa: B023
        found.append(f"| {what} | {took[0]:.2f} s | {took[1]:.2f} s | {ratio(*took)} |")
        if by != "pool":
            what = f"`{coefficient}` by {by}: tests of {metrics * (metrics - 1) // 2} pairs"
            took = (
                seconds(lambda: differences(of, name, level)),  # noqa: B023
                seconds(lambda: original.tests(of, by, DRAWS)),  # noqa: B023
            )
            found.append(f"| {what} | {took[0]:.2f} s | {took[1]:.2f} s | {ratio(*took)} |")
        print(found[-1], file=sys.stderr)
    return found


def estimated(original: Original, sizes: Sizes, draws: int = 4) -> str:
    """A sentence on the time that mt-metrics-eval would take for the large table, from a few of its draws."""
    names = ["metric 0", "metric 1"]
    table = join(*rows(sizes.items, sizes.systems, 2), metrics=names)
    pairs = sizes.metrics * (sizes.metrics - 1) // 2
    hours = []
    for by in ("item", "system"):
        value = seconds(lambda: original.values(table, by)) / 2  # noqa: B023
        # The test calibrates both metrics first, which is no part of a draw.
        tested = max(0.0, seconds(lambda: original.tests(table, by, draws)) - 2 * value * (by == "item"))  # noqa: B023
        hours.append((value * sizes.metrics + tested / draws * DRAWS * pairs) / 3600)
    return (
        f"For {sizes.metrics} metrics and {len(table):,} texts mt-metrics-eval would take about {hours[0]:.1f} h by "
        f"item and {hours[1]:.1f} h by system, as timed on {draws} of {DRAWS:,} permutations of one of {pairs} pairs."
    )


def large(sizes: Sizes, jobs: int) -> list[str]:
    """Rows of the table of `postil correlate` on large tables, in processes of their own."""
    found = []
    for texts, systems, metrics, annotators, commands in (
        (sizes.items * sizes.systems, sizes.systems, sizes.metrics, 3, COMMANDS),
        (sizes.texts, sizes.systems, 3, 3, (USUAL,)),
        (sizes.texts, 4, 3, 2, (USUAL,)),
    ):
        scores, judgements = rows(texts // systems, systems, metrics, annotators)
        if commands == (USUAL,):
            scores = [row for row in scores if not row.metric.startswith("control:")]
        with tempfile.TemporaryDirectory() as folder:
            files = [str(Path(folder, name)) for name in ("scores.jsonl", "judgements.jsonl")]
            write(files[0], scores)
            write(files[1], judgements)
            del scores, judgements
            for command in commands:
                line = [sys.executable, "-m", "postil", "correlate", files[0], "--judgements", files[1]]
                line += [*command.split(), "--format", "json", "--jobs", str(jobs)]
                took, peak = watched(line, quiet=True)
                table = f"{metrics} metrics, {texts:,} texts of {systems} systems, {annotators} raters"
                found.append(f"| {table} | `{command}` | {took:.1f} s | {peak:,.0f} MiB |")
                print(found[-1], file=sys.stderr)
    return found


def chapter(sizes: Sizes, jobs: int, folder: Path | None) -> str:
    """The chapter of the page.

    Args:
        sizes: Sizes of the tables.
        jobs: Number of threads of the commands.
        folder: Folder with mt-metrics-eval; without one it is not compared.
    """
    parts = [PAGE.format(draws=DRAWS)]
    if folder is not None:
        original = Original(folder)
        head = ["| | postil | mt-metrics-eval | ratio |", "|---|---|---|---|"]
        parts += ["\n".join([*head, *compared(original, sizes)]), "", estimated(original, sizes)]
    else:
        parts.append("mt-metrics-eval was not there.")
    return "\n".join([*parts, LARGE.format(jobs=jobs).rstrip("\n"), *large(sizes, jobs)]) + "\n"
