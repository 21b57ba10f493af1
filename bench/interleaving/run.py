"""Coverage of intervals, errors and power of tests of interleaved suggestions, over simulated logs, as a table.

python -m bench.interleaving.run --logs 1000
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from bench.interleaving.simulation import MODELS, Design, draw, simulate, tilt_of
from postil.comparison.interleaved import interleaved_preferences
from postil.meta.resampling import Draws

if TYPE_CHECKING:
    from collections.abc import Iterator

DESIGNS: Final = (
    Design(100, 1),
    Design(1000, 1),
    Design(5000, 1),
    Design(50, 20),
    Design(200, 5, fixed=True),
    Design(50, 20, fixed=True),
    Design(200, 5, spread=1.0),
    Design(50, 20, spread=1.0),
    Design(20, 50, spread=1.0),
    Design(10, 100, spread=1.0),
)
PREFERENCES: Final = (0.0, 0.05, 0.1)
UNFAIR: Final = (Design(1000, 1, coin=0.55), Design(1000, 1, coin=0.6), Design(1000, 1, coin=0.7))
PILOT: Final = 20
"""Number of smaller logs whose needed numbers are medians."""
LOOKS: Final = (1, 5, 20)
LEVEL: Final = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20181)
    given = parser.parse_args()
    tables = covered, needed, unfair, looked
    for line in chain.from_iterable(chain(table(given.logs, given.seed), [""]) for table in tables):
        print(line, flush=True)


def covered(logs: int, seed: int) -> Iterator[str]:
    """Lines of the table of coverage, and of tests."""
    heads = "articles", "impressions of each", "lists of each", "spread", "preference"
    yield f"| {' | '.join((*heads, 'covered', 'sign test', 'by article', 'said'))} |"
    yield "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for design in DESIGNS:
        for wanted in PREFERENCES:
            found = simulate(design, wanted, logs=logs, seed=seed)
            cells = [f"{each:.3f}".lstrip("0") for each in (found.covered, found.sign, found.articles, found.said)]
            setting = (
                f"{design.articles:,}",
                f"{design.each}",
                "one" if design.fixed else "drawn",
                f"{design.spread:g}",
                f"{wanted:g}",
            )
            yield f"| {' | '.join((*setting, *cells))} |"


def needed(logs: int, seed: int) -> Iterator[str]:
    """Lines of the table of power with the number of impressions that a smaller log asks for."""
    yield "| impressions of an article | lists of each | spread | needed, median of pilots | power |"
    yield "| ---: | --- | ---: | ---: | ---: |"
    for pilot in (Design(500, 1), Design(100, 5, spread=1.0), Design(100, 5, fixed=True)):
        random, tilt = np.random.default_rng(seed), tilt_of(0.05, pilot.spread)
        asked = []
        for _ in range(PILOT):
            result = interleaved_preferences(draw(pilot, tilt, random), MODELS[0], Draws(resamples=1))
            asked.append(result.pairs[0].needed or 0)
        enough = int(np.median(asked))
        design = replace(pilot, articles=round(enough / pilot.each))
        found = simulate(design, 0.05, logs=logs, seed=seed, resamples=1)
        setting = f"{pilot.each}", "one" if pilot.fixed else "drawn", f"{pilot.spread:g}"
        yield f"| {' | '.join(setting)} | {enough:,} | {found.articles:.3f} |"


def unfair(logs: int, seed: int) -> Iterator[str]:
    """Lines of the table of coins that are not fair."""
    yield "| probability that the new model is first | mean preference | by article | shown as unfair |"
    yield "| ---: | ---: | ---: | ---: |"
    for design in (replace(UNFAIR[0], coin=0.5), *UNFAIR):
        found = simulate(design, 0.0, logs=logs, seed=seed, resamples=100)
        cells = f"{found.preference:+.3f}", f"{found.articles:.3f}", f"{found.unfair:.3f}"
        yield f"| {design.coin:g} | {' | '.join(cells)} |"


def looked(logs: int, seed: int) -> Iterator[str]:
    """Lines of the table of errors where somebody looks again and again, and stops at the first p below .05."""
    yield "| looks, one every 100 impressions | p below .05 at one of them |"
    yield "| ---: | ---: |"
    random, found = np.random.default_rng(seed), np.zeros(max(LOOKS))
    for _ in range(logs):
        rows = draw(Design(100 * max(LOOKS), 1), 0.0, random)
        results = (
            interleaved_preferences(rows[: 100 * n], MODELS[0], Draws(resamples=1)) for n in range(1, max(LOOKS) + 1)
        )
        p = np.array([result.rows[0].p_articles or 1.0 for result in results])
        found += np.maximum.accumulate(p < LEVEL)
    for looks in LOOKS:
        yield f"| {looks} | {found[looks - 1] / logs:.3f} |"


if __name__ == "__main__":
    main()
