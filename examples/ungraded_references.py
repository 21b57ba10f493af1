"""Many references that nobody has graded: the best of them, their mean, the mean of a few, or consensus weights?

Sets with many noisy references, with a few of them, and with clean ones; the grades that are predicted are those of the
texts that are scored. Weights stand beside the same weights shuffled within each set, and consensus weights beside the
mean similarities that they come from, which are not divided by the best of the set.

    python examples/ungraded_references.py FOLDER

FOLDER holds the judged sets; see `reference_sets.py`.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import postil
from postil.metrics.controls import ControlOptions
from postil.metrics.references import References
from postil.metrics.rouge import RougeL
from postil.metrics.ungraded import mean_similarities
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary
from reference_sets import Judged, everyone_else, halves, mohler, posts, print_table, wmt21

if TYPE_CHECKING:
    from numpy.typing import NDArray

METRICS = ("rouge-l", "meteor")
OVERS = ("max", "top-3", "top-5", "mean", "near")
WEIGHTED = ("max", "mean")
DRAWS = 5


def five_best(data: Judged) -> Judged:
    """Only the five references with the highest grades; of equal ones the first."""
    best = [np.argsort(-np.array(row), kind="stable")[:5] for row in data.weights]
    references = [[row[i] for i in chosen] for row, chosen in zip(data.references, best, strict=True)]
    return replace(data, name=f"{data.name}, five best-graded references", references=references)


def first_five(data: Judged) -> Judged:
    """Only the first five references."""
    shared = {id(row): row[:5] for row in data.references}
    references = [shared[id(row)] for row in data.references]
    return replace(data, name=f"{data.name}, first five", references=references)


def raw_weights(rows: list[list[str]]) -> list[list[float]]:
    """For each text its mean similarity to the others of its row: consensus weights before the division."""
    tokens = Vocabulary().encode(list(chain.from_iterable(rows)), tokenizer("words"))
    offsets = np.cumsum([0, *map(len, rows)])
    means = mean_similarities(References(tokens, offsets), RougeL(beta=1))
    return [part.tolist() for part in np.split(means, offsets[1:-1])]


def scores_of(data: Judged, metric: str, jobs: int) -> dict[str, NDArray[np.float64]]:
    """Item scores by what was done with the references."""
    rows = list({id(row): row for row in data.references}.values())
    of_row = {id(row): i for i, row in enumerate(rows)}
    made = {"consensus": postil.consensus_weights(rows, jobs=jobs), "not divided": raw_weights(rows)}
    unweighted = [f"{metric}(over={over})" for over in OVERS]
    found = postil.score(data.candidates, data.references, metrics=unweighted, jobs=jobs).items
    out = dict(zip(OVERS, found.values(), strict=True))
    for name, weights in made.items():
        specs = [f"w-{metric}(over={over})" for over in WEIGHTED]
        items = postil.score(
            data.candidates,
            data.references,
            weights=[weights[of_row[id(row)]] for row in data.references],
            metrics=specs,
            controls=ControlOptions(draws=DRAWS, choices=1),
            jobs=jobs,
        ).items
        for over, spec in zip(WEIGHTED, specs, strict=True):
            draws = [items[f"control:shuffled({spec},draw={draw})"] for draw in range(1, DRAWS + 1)]
            out |= {f"{over}, {name}": items[spec], f"{over}, {name}, shuffled": np.column_stack(draws)}
        if name == "consensus":
            out["max of the five most alike"] = items[f"control:best-5({specs[0]})"]
    return out


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="What to do with references that nobody has graded.")
    parser.add_argument("folder", type=Path, help="folder of the judged sets")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    given = parser.parse_args(arguments)
    answers, responses = everyone_else(mohler(given.folder)), posts(given.folder)
    translations = halves(wmt21(given.folder))
    for data in (answers, responses, first_five(responses), five_best(answers), translations):
        print(f"\n## {data}")
        for metric in METRICS:
            scores = scores_of(data, metric, given.jobs)
            pairs = [(name.removesuffix(", shuffled"), name) for name in scores if name.endswith("shuffled")]
            print_table(replace(data, name=metric), scores, "max", pairs, given.jobs)


if __name__ == "__main__":
    main()
