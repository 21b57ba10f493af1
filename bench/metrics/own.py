"""Cost of scoring by an own metric: a Python function called by itself in a loop, and by `postil.score`.

    python -m bench.metrics.own [--items N] [--rounds N]

prints the table that `bench.metrics.run --own` adds to the page. Times are processor time of one thread; rounds of both
ways take turns.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.metrics.workload import Workload, workloads

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[[str, list[str], list[float]], float]


@dataclass(frozen=True)
class OwnCost:
    """Microseconds per candidate, one value per round: a function alone, in postil, and in postil as a second one."""

    name: str
    alone: list[float]
    within: list[float]
    second: list[float]

    @property
    def row(self) -> str:
        alone, within = statistics.median(self.alone), statistics.median(self.within)
        more = statistics.median(b - a for a, b in zip(self.alone, self.within, strict=True))
        second = statistics.median(b - a for a, b in zip(self.alone, self.second, strict=True))
        added = f"{more:.1f} µs ({100 * more / alone:,.0f} %) | {second:.1f} µs ({100 * second / alone:,.0f} %)"
        return f"| {self.name} | {alone:.1f} µs | {within:.1f} µs | {added} |"


HEAD = """| own metric, per candidate | called in a loop | by `postil.score` | added | added by a second own metric |
|---|---|---|---|---|"""


def constant(candidate: str, references: list[str], weights: list[float]) -> float:
    """The cheapest function there is."""
    del candidate, references, weights
    return 0.5


def unigrams(candidate: str, references: list[str], weights: list[float]) -> float:
    """Weighted maximum of unigram F1, in pure Python."""
    words = Counter(candidate.split())
    found = [Counter(text.split()) for text in references]
    shares = [2 * (words & each).total() / max(1, words.total() + each.total()) for each in found]
    return max(weight * share for weight, share in zip(weights, shares, strict=True))


def costs(workload: Workload, rounds: int) -> list[OwnCost]:
    """Time each function on a workload."""
    n = len(workload.items)
    references = f"{len(workload.items[0].references)} references"
    return [
        OwnCost(f"{workload.name}, {references}: {function.__name__}", *_timed(workload, function, n, rounds))
        for function in (constant, unigrams)
    ]


def _timed(workload: Workload, function: Function, n: int, rounds: int) -> tuple[list[float], list[float], list[float]]:
    import postil

    candidates, references, weights = workload.candidates, workload.references, workload.weights
    alone, within, second = list[float](), list[float](), list[float]()

    def again(candidate: str, references: list[str], weights: list[float]) -> float:
        return function(candidate, references, weights)

    for _ in range(rounds + 1):  # the first warms up
        start = time.process_time()
        expected = [function(*row) for row in zip(candidates, references, weights, strict=True)]
        alone.append((time.process_time() - start) / n * 1e6)
        start = time.process_time()
        found = postil.score(candidates, references, weights=weights, metrics=[function], jobs=1)
        within.append((time.process_time() - start) / n * 1e6)
        assert found.items[function.__name__].tolist() == expected
        start = time.process_time()
        postil.score(candidates, references, weights=weights, metrics=[function, again], jobs=1)
        second.append((time.process_time() - start) / n * 1e6 - within[-1])
    return alone[1:], within[1:], second[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    print(HEAD)
    for workload in workloads(given.items):
        for cost in costs(workload, given.rounds):
            print(cost.row)


if __name__ == "__main__":
    main()
