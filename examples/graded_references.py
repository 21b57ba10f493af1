"""References with grades: is a weight inside the maximum the best use of them?

For a candidate c and references with similarities F_j = m(c, r_j) and weights s_j in [0, 1] the weighted metrics take
max_j s_j F_j. The families below do other things with the same numbers. Their parameters are chosen on eight ninths of
the items, by the pooled Pearson correlation with the grades, and the score of the remaining ninth is kept, so that
every number printed is of texts that had no part in a choice. Beside them stand the same families, chosen in the same
way, with the weights shuffled among each candidate's references, and with the parameters that another set chooses.

The texts of each item are split at random into halves that are each other's references.

    python examples/graded_references.py FOLDER
    python examples/graded_references.py FOLDER --votes reddit_college.en.jsonl.gz
    python examples/graded_references.py FOLDER --where-near-loses

FOLDER holds the judged sets; see `reference_sets.py`, also for the file with votes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable  # noqa: TC003 - FAMILIES
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import postil
from postil.metrics.controls import ControlOptions
from reference_sets import (
    Graded,
    Judged,
    compared_whole,
    dstc7,
    everyone_else,
    halves,
    mohler,
    print_table,
    two_grades,
    voted,
    wmt21,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int32]

METRICS = ("rouge-l", "meteor")
FOLDS = 9
DRAWS = 5
SEED = 20181
POWERS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
SHARPNESS = (1.0, 2.0, 4.0, 8.0, 16.0)
PULLS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
CENTRES = (0.0, 0.25, 0.5, 0.75, 1.0)
THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
PRIORS = (0.0, 0.01, 0.1, 1.0, 10.0)


@dataclass(frozen=True)
class Pairs:
    """Similarities and weights of n candidates and at most K references, 0 where there is none."""

    f: Floats
    s: Floats
    there: Floats
    """1 where there is a reference."""

    @property
    def relative(self) -> Floats:
        """The weights divided by the highest of the candidate's references."""
        return _ratio(self.s, self.s.max(axis=1, keepdims=True))

    def shuffled(self, seed: int) -> Pairs:
        """The weights of each candidate's references permuted among them."""
        order = np.argsort(np.random.default_rng(seed).random(self.s.shape) + 2 * (1 - self.there), axis=1)
        return replace(self, s=np.take_along_axis(self.s, order, axis=1))


def _ratio(above: Floats, below: Floats) -> Floats:
    """0 where the denominator is."""
    return np.divide(above, below, out=np.zeros(np.broadcast(above, below).shape), where=below > 0)


def _mean(weights: Floats, values: Floats) -> Floats:
    """Weighted means of rows."""
    return _ratio(np.sum(weights * values, axis=1), np.sum(weights, axis=1))


def _highest(values: Floats) -> Floats:
    return np.asarray(values.max(axis=1))


def power(x: Pairs, p: float) -> Floats:
    """Take max s^p F; p = 1 is the weighted metric, p = 0 the unweighted one."""
    return _highest(x.there * x.s**p * x.f)


def relative_power(x: Pairs, p: float) -> Floats:
    """The same with weights divided by the highest; a large p keeps the top-graded."""
    return _highest(x.there * x.relative**p * x.f)


def threshold(x: Pairs, t: float) -> Floats:
    """Take max F over references with s >= t times the highest, without weights; t = 1 keeps the top-graded."""
    return _highest((x.relative >= t) * x.there * x.f)


def mean(x: Pairs, p: float) -> Floats:
    """Take 1/K sum s^p F, which is over=mean with powers as weights."""
    return _mean(x.there, x.s**p * x.f)


def normed_mean(x: Pairs, p: float) -> Floats:
    """Take sum s^p F / sum s^p."""
    return _mean(x.there * x.relative**p, x.f)


def soft_maximum(x: Pairs, p: float, q: float) -> Floats:
    """Take (1/K sum (s^p F)^q)^(1/q): from the mean, q = 1, to a maximum."""
    return _mean(x.there, (x.s**p * x.f) ** q) ** (1 / q)


def pull_down(x: Pairs, p: float, pull: float) -> Floats:
    """Take max s^p F less a part of max (1 - s) F: similarity to bad references counts against."""
    return power(x, p) - pull * _highest(x.there * (1 - x.s) * x.f)


def difference(x: Pairs, p: float, pull: float) -> Floats:
    """The same with normed means: sum s^p F / sum s^p less a part of sum (1 - s) F / sum (1 - s)."""
    return normed_mean(x, p) - pull * _mean(x.there * (1 - x.s), x.f)


def signed_mean(x: Pairs, centre: float) -> Floats:
    """Take 1/K sum (s - centre) F: references below the centre have negative weights."""
    return _mean(x.there, (x.s - centre) * x.f)


def near(x: Pairs, q: float, prior: float) -> Floats:
    """Take sum F^q s / (prior + sum F^q) times (K + prior) / K; q = 1 and prior = 1 is over=near."""
    similarity, k = x.there * x.f**q, x.there.sum(axis=1)
    return _ratio(np.sum(similarity * x.s, axis=1) * (k + prior), (prior + np.sum(similarity, axis=1)) * k)


FAMILIES: dict[str, tuple[Callable[..., Floats], tuple[tuple[float, ...], ...]]] = {
    "power": (power, (POWERS,)),
    "relative power": (relative_power, (POWERS,)),
    "threshold": (threshold, (THRESHOLDS,)),
    "power mean": (mean, (POWERS,)),
    "normed mean": (normed_mean, (POWERS,)),
    "soft maximum": (soft_maximum, (POWERS, SHARPNESS)),
    "pull-down": (pull_down, (POWERS, PULLS)),
    "difference": (difference, (POWERS, PULLS)),
    "signed mean": (signed_mean, (CENTRES,)),
    "near": (near, (SHARPNESS, PRIORS)),
}


def nearest(x: Pairs) -> Floats:
    """The grade of the nearest reference, the mean of ties; no similarity is in it."""
    rounded = np.where(x.there > 0, x.f.round(12), -1.0)
    return _mean((rounded == rounded.max(axis=1, keepdims=True)).astype(np.float64), x.s)


def pairs_of(data: Judged, spec: str, jobs: int) -> Pairs:
    """Every candidate with each of its references alone."""
    there, s = _filled(data.weights)
    f = np.zeros(there.shape)
    again = [text for text, row in zip(data.candidates, data.references, strict=True) for _ in row]
    alone = [[text] for row in data.references for text in row]
    f[there > 0] = postil.score(again, alone, metrics=[spec], jobs=jobs).items[spec]
    return Pairs(f, s, there)


def offered(data: Judged, metric: str, jobs: int) -> dict[str, Floats]:
    """The metric as it is offered, with the weights shuffled among the references; w-rouge-l takes P and R apart."""
    names = [metric, f"{metric}(over=mean)", f"{metric}(over=near)"]
    specs = [f"w-{metric}", f"w-{metric}(over=mean)", f"w-{metric}(over=near)"]
    items = postil.score(
        data.candidates,
        data.references,
        weights=data.weights,
        metrics=names + specs,
        controls=ControlOptions(draws=DRAWS, choices=1, seed=SEED),
        jobs=jobs,
    ).items
    scores = {name: items[name] for name in names}
    for spec in specs:
        draws = [items[f"control:shuffled({spec},draw={draw})"] for draw in range(1, DRAWS + 1)]
        scores |= {spec: items[spec], f"{spec}, shuffled": np.column_stack(draws)}
    return scores


def fixed(x: Pairs, shuffles: list[Pairs]) -> dict[str, Floats]:
    """Metrics that need no choice, and controls."""
    scores = {"weighted max": power(x, 1), "plain max": power(x, 0), "plain mean": mean(x, 0)}
    ways: dict[str, Callable[[Pairs], Floats]] = {
        "weighted max": lambda y: power(y, 1),
        "weighted mean": lambda y: mean(y, 1),
        "squared weights, max": lambda y: power(y, 2),
        "squared weights, mean": lambda y: mean(y, 2),
        "top-graded, max": lambda y: threshold(y, 1),
        "top-graded, mean": lambda y: normed_mean(y, 1000),
    }
    for name, way in ways.items():
        scores |= {name: way(x), f"{name}, shuffled": np.column_stack([way(y) for y in shuffles])}
    return scores | {"nearest grade": nearest(x), "mean grade": _mean(x.there, x.s)}


def grid_of(x: Pairs, family: str) -> tuple[list[tuple[float, ...]], Floats]:
    """All parameters of a family and their scores, float64[n, parameters]."""
    function, grids = FAMILIES[family]
    parameters = list(product(*grids))
    return parameters, np.column_stack([function(x, *values) for values in parameters])


def best_of(scores: Floats, grades: Floats) -> int:
    """The column with the highest Pearson correlation; the first of equal ones."""
    x, y = scores - scores.mean(axis=0), grades - grades.mean()
    spread = np.sqrt(np.sum(x**2, axis=0) * np.sum(y**2))
    return int(np.argmax(np.where(spread > 0, _ratio(y @ x, spread), -1.0)))


def held_out(x: Pairs, family: str, grades: Floats, cluster: Integers) -> tuple[Floats, list[tuple[float, ...]]]:
    """The scores of each fold by the parameters of the others, and these parameters.

    Args:
        x: n candidates with their references.
        family: A name in `FAMILIES`.
        grades: Of the candidates.
        cluster: The question, thread or segment of each candidate; it stays in one fold.
    """
    parameters, scores = grid_of(x, family)
    out, chosen = np.zeros(len(scores)), []
    for fold in range(FOLDS):
        inside = cluster % FOLDS == fold
        best = best_of(scores[~inside], grades[~inside])
        out[inside] = scores[inside, best]
        chosen.append(parameters[best])
    return out, chosen


def study(sets: list[Judged], metric: str, jobs: int) -> None:
    """The tables of one metric."""
    pairs = [pairs_of(data, f"{metric}(over=top-1)", jobs) for data in sets]
    choices: list[dict[str, tuple[float, ...]]] = [{} for _ in sets]
    for data, x, choice in zip(sets, pairs, choices, strict=True):
        for family in FAMILIES:
            parameters, scores = grid_of(x, family)
            choice[family] = parameters[best_of(scores, data.grades)]
    for data, x in zip(sets, pairs, strict=True):
        print(f"\n## {metric}: {data}\n")
        shuffles = [x.shuffled(SEED + draw) for draw in range(DRAWS)]
        cluster = data.cluster[data.item]
        table = fixed(x, shuffles)
        for family, (function, _) in FAMILIES.items():
            table[family], chosen = held_out(x, family, data.grades, cluster)
            draws = [held_out(y, family, data.grades, cluster)[0] for y in shuffles]
            table[f"{family}, shuffled"] = np.column_stack(draws)
            often = max(set(chosen), key=chosen.count)
            print(f"- {family}: {often} in {chosen.count(often)} of {FOLDS} folds")
            for other, choice in zip(sets, choices, strict=True):
                if other is not data:
                    table[f"{family} {choice[family]} of {other.name}"] = function(x, *choice[family])
        print_table(replace(data, name=f"{metric}, {data.name}"), table, "weighted max", controls_of(table), jobs)


def where_near_loses(whole: Graded, jobs: int) -> None:
    """The similarity-weighted mean against the maximum, where the references get worse as the texts get better.

    And last where they do not: within halves, whose texts share their references.

    Args:
        whole: Texts and their grades.
        jobs: Threads.
    """
    for data in (everyone_else(whole), compared_whole(halves(whole)), halves(whole)):
        scores = {"mean weight of the references": _mean(*_filled(data.weights))}
        names = [(f"w-{metric}(over=near)", f"w-{metric}") for metric in METRICS]
        specs = [spec for pair in names for spec in pair]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it is what the table is about
            scores |= postil.score(
                data.candidates, data.references, weights=data.weights, metrics=specs, jobs=jobs
            ).items
        print_table(data, scores, specs[1], names, jobs)


def _filled(rows: list[list[float]]) -> tuple[Floats, Floats]:
    """Mask of the weights that are present, and the weights, 0 where absent: float64[n, K] each."""
    sizes = np.array([len(row) for row in rows])
    there = np.arange(sizes.max()) < sizes[:, None]
    filled = np.zeros(there.shape)
    filled[there] = [weight for row in rows for weight in row]
    return there.astype(np.float64), filled


def controls_of(table: dict[str, Floats]) -> list[tuple[str, str]]:
    """The scores that have a shuffled form, and that."""
    return [(name.removesuffix(", shuffled"), name) for name in table if name.endswith(", shuffled")]


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="What to do with the grades of references.")
    parser.add_argument("folder", type=Path, help="folder of the judged sets")
    parser.add_argument("--votes", type=Path, help="file of posts and comments with votes, as one more set")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    parser.add_argument("--leave-one-out", action="store_true", help="every text against all others, not half of them")
    parser.add_argument(
        "--where-near-loses",
        action="store_true",
        help="over=near against the maximum where the mean grade of the references falls as the own grade rises",
    )
    given = parser.parse_args(arguments)
    if given.where_near_loses:
        for load in (mohler, wmt21, dstc7):
            for whole in (load(given.folder), two_grades(load(given.folder))):
                where_near_loses(whole, given.jobs)
        return
    graded = [mohler(given.folder), wmt21(given.folder), dstc7(given.folder)]
    graded += [voted(given.votes)] if given.votes else []
    sets = [everyone_else(data) if given.leave_one_out else halves(data) for data in graded]
    for metric in METRICS:
        study(sets, metric, given.jobs)
    fresh = [halves(dstc7(given.folder, "informativeness"))]
    fresh += [halves(voted(given.votes, first=3))] if given.votes else []
    print("\n# As offered; no choice has seen the last sets\n")
    for metric in METRICS:
        for data in (*sets, *fresh):
            print(f"\n## {metric}: {data}")
            scores, name = offered(data, metric, given.jobs), f"{metric}, {data.name}"
            mean_of = f"{metric}(over=mean)"
            pairs = [(f"w-{metric}", metric), (mean_of, metric), (f"w-{mean_of}", mean_of), *controls_of(scores)]
            print_table(replace(data, name=name), scores, f"w-{metric}", pairs, given.jobs)


if __name__ == "__main__":
    main()
