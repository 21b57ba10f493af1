"""References without grades: how much of the gain of weights do few grades keep, of planned and of random references?

The texts of each item are split at random into halves that are each other's references. The gain is the pooled Pearson
correlation with the grades of a weighted metric, less that of the unweighted one. Then a share of the references keeps
its grade, chosen as `postil weights plan` does or at random, and the others are excluded (``ungraded="drop"``). Texts
without a graded reference keep their unweighted score. All is repeated with other halves.

    python examples/planned_references.py FOLDER

FOLDER holds the judged sets; see `reference_sets.py`.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import postil
from postil.metrics.ungraded import plan_references
from reference_sets import Graded, halves, mohler, wmt21

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reference_sets import Judged

    Floats: TypeAlias = NDArray[np.float64]

SHARES = (0.2, 0.1, 0.05)
DRAWS = 20
SEED = 20181
METRICS = ("rouge-l(over=top-1)", "rouge-l")
"""With ``over=top-1`` the maximum of weight times F; by default ROUGE-L takes the maxima of P and R apart."""
SIMILARITY = "rouge-l"
WAYS = ("random", "planned", "planned by a third of the texts")


@dataclass(frozen=True)
class Study:
    """n texts, and the k sets of references that they meet."""

    data: Judged
    similarities: Floats
    """float64[pairs], of each text with each of its references."""
    sets: list[list[str]]
    weights: list[list[float]]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """int64[k + 1]."""
        return np.cumsum([0, *map(len, self.sets)])

    @classmethod
    def of(cls, data: Judged, jobs: int) -> Study:
        """Compare all texts with their references."""
        pairs = [(text, [one]) for text, row in zip(data.candidates, data.references, strict=True) for one in row]
        texts, alone = zip(*pairs, strict=True)
        firsts = [int(np.flatnonzero(data.item == item)[0]) for item in range(data.item[-1] + 1)]
        return cls(
            data=data,
            similarities=postil.score(list(texts), list(alone), metrics=[SIMILARITY], jobs=jobs).items[SIMILARITY],
            sets=[data.references[first] for first in firsts],
            weights=[data.weights[first] for first in firsts],
        )

    def chosen(self, way: str, count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Choose references to grade, bool[m].

        Args:
            way: One of `WAYS`.
            count: Number of references.
            rng: Random generator.
        """
        graded = np.zeros(self.offsets[-1], dtype=bool)
        if way == "random":
            graded[rng.permutation(len(graded))[:count]] = True
            return graded
        known = np.ones(len(self.data.item), dtype=bool)
        if way != "planned":
            known = rng.random(len(known)) < 1 / 3
            known[[int(np.flatnonzero(self.data.item == item)[0]) for item in range(len(self.sets))]] = True
        pairs = np.repeat(known, [len(row) for row in self.data.references])
        found = plan_references(self.similarities[pairs], self.data.item[known], self.offsets, graded, budget=count)
        graded[found.order] = True
        return graded

    def scores(self, metric: str, graded: NDArray[np.bool_], jobs: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Scores of the texts that have a graded reference, float64[n] with 0 elsewhere, and their mask.

        Args:
            metric: A weighted metric.
            graded: bool[m], the references that have a grade.
            jobs: Threads.
        """
        item, parts = self.data.item, np.split(graded, self.offsets[1:-1])
        weights = [
            [weight if known else None for weight, known in zip(row, part, strict=True)]
            for row, part in zip(self.weights, parts, strict=True)
        ]
        reached = np.array([part.any() for part in parts])[item]
        scores = np.zeros(len(item))
        scores[reached] = postil.score(
            self.data.candidates,
            [self.sets[k] for k in item],
            weights=[weights[k] for k in item],
            items=item.tolist(),
            metrics=[metric],
            ungraded="drop",
            jobs=jobs,
        ).items[metric]
        return scores, reached


def gains(study: Study, metric: str, seed: int, jobs: int) -> dict[tuple[str, float], tuple[float, float, float]]:
    """Shares of the gain that are kept, by way and share of the references graded.

    Args:
        study: Texts and references.
        metric: The metric without weights.
        seed: Seed of random choices.
        jobs: Threads.

    Returns:
        The share of the gain that is kept, where other texts keep the unweighted score; the same of the texts that
        have a graded reference alone; and the share of such texts.
    """
    data, rng = study.data, np.random.default_rng(seed)
    whole = postil.score(
        data.candidates, data.references, weights=data.weights, metrics=[metric, f"w-{metric}"], jobs=jobs
    ).items
    plain, weighted = whole[metric], whole[f"w-{metric}"]

    def kept(scores: Floats, among: NDArray[np.bool_]) -> float:
        least, most, value = (np.corrcoef(each[among], data.grades[among])[0, 1] for each in (plain, weighted, scores))
        return float((value - least) / (most - least))

    found: dict[tuple[str, float], tuple[float, float, float]] = {}
    for share in SHARES:
        for way in WAYS:
            graded = study.chosen(way, round(share * study.offsets[-1]), rng)
            scores, reached = study.scores(f"w-{metric}", graded, jobs)
            every = kept(np.where(reached, scores, plain), np.ones_like(reached))
            found[way, share] = every, kept(scores, reached), float(reached.mean())
    return found


def study(whole: Graded, draws: int, jobs: int) -> None:
    """Print the tables of a set.

    Args:
        whole: Texts and their grades.
        draws: Number of halves.
        jobs: Threads.
    """
    made = [Study.of(halves(whole, SEED + draw), jobs) for draw in range(draws)]
    for metric in METRICS:
        runs = [gains(each, metric, draw, jobs) for draw, each in enumerate(made)]
        print(f"\n| {whole.name}, w-{metric} | " + " | ".join(f"{share:.0%} graded" for share in SHARES) + " |")
        print("|---|" + "---|" * len(SHARES))
        for place, name in enumerate(("", ", texts with a graded reference alone", ", share of these texts")):
            for way in WAYS:
                cells = []
                for share in SHARES:
                    values = [100 * run[way, share][place] for run in runs]
                    cells.append(f"{np.mean(values):.0f} % [{min(values):.0f}, {max(values):.0f}]")
                print(f"| {way}{name} | " + " | ".join(cells) + " |")


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="How much few grades of references keep.")
    parser.add_argument("folder", type=Path, help="folder of the judged sets")
    parser.add_argument("--draws", type=int, default=DRAWS, help="number of halves")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore", UserWarning)  # of texts without a graded reference; the tables count them
    for load in (mohler, wmt21):
        study(load(given.folder), given.draws, given.jobs)


if __name__ == "__main__":
    main()
