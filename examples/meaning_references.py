"""Graded references and similarity of meaning: what meaning adds to words, weights to meaning, and a fit to both.

Vectors of units, here wordllama's, compare texts that share no words. Each table has Pearson correlations with the
grades, and differences with 95 % intervals over the items. What has parameters to fit (the width of a kernel, learned
combinations) is fitted to eight ninths of the items and scored on the remaining ninth.

The texts of each item are split at random into halves that are each other's references.

    postil vectors import wordllama --out wordllama
    python examples/meaning_references.py FOLDER wordllama

FOLDER holds the judged sets; see `reference_sets.py`.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import postil
from graded_references import FOLDS, best_of
from postil.meta.resampling import bootstrap_counts
from postil.metrics.controls import ControlOptions
from reference_sets import RESAMPLES, compared_whole, correlated, dstc7, halves, mohler, shown, wmt21

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from postil.meta.coefficients import By
    from reference_sets import Judged

    Floats: TypeAlias = NDArray[np.float64]
    Found: TypeAlias = tuple[dict[str, float], dict[str, Floats]]
    """Numbers by name, and those of resamples."""

SETS = {"mohler": mohler, "dstc7": dstc7, "wmt21": wmt21}
DRAWS = 20
SEED = 20181
LEVELS = ("pooled", "within halves", "within both halves")
"""Columns of tables. The texts of one half share their references; of both, the better half has the worse ones."""
TAUS = (0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
WORDS = ("rouge-l", "w-rouge-l", "w-rouge-l near", "meteor", "w-meteor", "w-meteor near")
MEANING = tuple(
    f"{head}vector-f1 {weigh}{over}"
    for weigh in ("idf", "norm")
    for head, over in (("", ""), ("w-", ""), ("w-", " near baseline"), ("w-", " kernel .1"), ("w-", " kernel .05"))
)
COSINES = ("vector-cosine idf", "w-vector-cosine idf", "w-vector-cosine idf near baseline")
CONTROLS = ("log length", "mean grade")
COMBINATIONS = {
    "ridge: controls": (CONTROLS, "ridge"),
    "ridge: words": ((*WORDS, *CONTROLS), "ridge"),
    "ridge: words and meaning": ((*WORDS, *MEANING, *CONTROLS), "ridge"),
    "ridge: words, meaning, cosines": ((*WORDS, *MEANING, *COSINES, *CONTROLS), "ridge"),
    "boosting: words and meaning": ((*WORDS, *MEANING, *CONTROLS), "boosting"),
}
"""Columns and learner of each combination."""
BEST = "w-vector-f1 idf near baseline"
COSINE = COSINES[-1]
AS_GRADES = (
    "w-rouge-l kernel",
    "w-meteor kernel",
    "w-vector-f1 idf kernel .1",
    "w-vector-f1 idf near",
    "ridge: words, meaning, cosines",
    "nearest grade by vector-f1",
    "mean grade",
)
"""Scores that are estimates of a grade."""
DIFFERENCES = (
    ("vector-f1 idf", "meteor"),
    ("w-vector-f1 idf", "w-meteor"),
    (BEST, "w-meteor near"),
    (COSINE, "w-meteor near"),
    (COSINE, BEST),
    ("w-vector-f1 idf", "vector-f1 idf"),
    ("w-vector-f1 idf", "w-vector-f1 idf, shuffled"),
    ("w-vector-f1 idf", "vector-f1 idf, best five"),
    (BEST, f"{BEST}, shuffled"),
    (BEST, "vector-f1 idf, best five"),
    (COSINE, f"{COSINE}, shuffled"),
    ("w-vector-f1 idf kernel .1", "w-vector-f1 idf kernel .1, shuffled"),
    ("w-vector-f1 idf near", "w-vector-f1 idf"),
    (BEST, "w-vector-f1 idf near"),
    ("w-vector-f1 idf kernel .1", BEST),
    ("ridge: words", "w-meteor near"),
    ("ridge: words and meaning", "ridge: words"),
    ("ridge: words and meaning", BEST),
    ("ridge: words, meaning, cosines", "ridge: words and meaning"),
    ("ridge: words, meaning, cosines", COSINE),
    ("boosting: words and meaning", "ridge: words and meaning"),
    (BEST, "nearest grade by vector-f1"),
    (BEST, "log length"),
    (BEST, "ridge: controls"),
    ("ridge: words and meaning", "ridge: controls"),
)


def specs_of(vectors: str) -> dict[str, str]:
    """The metrics by the names that tables give them; kernels have the default width where no other is said."""
    words = {
        f"{head}{name}{over}": f"{head}{name}({over.replace(' ', 'over=')})".removesuffix("()")
        for name in ("rouge-l", "meteor")
        for head, over in (("", ""), ("w-", ""), ("w-", " near"), ("w-", " kernel"))
    }

    def f1(weigh: str, *parameters: str, head: str = "w-", name: str = "vector-f1") -> str:
        return f"{head}{name}({','.join([f'vectors={vectors}', f'weigh={weigh}', *parameters])})"

    near = "over=near", "baseline=auto"
    meaning = {"w-vector-f1 even": f1("none")}
    for weigh in ("idf", "norm"):
        meaning |= {
            f"vector-f1 {weigh}": f1(weigh, head=""),
            f"w-vector-f1 {weigh}": f1(weigh),
            f"w-vector-f1 {weigh} near baseline": f1(weigh, *near),
            f"w-vector-f1 {weigh} kernel .1": f1(weigh, "over=kernel", "baseline=auto"),
            f"w-vector-f1 {weigh} kernel .05": f1(weigh, "over=kernel", "tau=0.05", "baseline=auto"),
        }
    meaning |= {
        "w-vector-f1 idf top-5": f1("idf", "over=top-5"),
        "w-vector-f1 idf mean": f1("idf", "over=mean"),
        "w-vector-f1 idf near": f1("idf", "over=near"),
        "vector-cosine idf": f1("idf", head="", name="vector-cosine"),
        "w-vector-cosine idf": f1("idf", name="vector-cosine"),
        "w-vector-cosine near baseline": f1("none", *near, name="vector-cosine"),
        "w-vector-cosine idf near baseline": f1("idf", *near, name="vector-cosine"),
    }
    return words | meaning


def scores_of(data: Judged, vectors: str, jobs: int) -> dict[str, Floats]:
    """Scores and controls of a set's texts, float64[n] or float64[n, draws].

    Args:
        data: The texts.
        vectors: Folder of the vectors of units.
        jobs: Threads.
    """
    specs = specs_of(vectors)
    kernels = [specs["w-vector-f1 idf kernel .1"].removesuffix(")") + f",tau={tau:g})" for tau in TAUS]
    controls = ControlOptions(draws=DRAWS, seed=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # halves are what they are
        found = postil.score(
            data.candidates,
            data.references,
            weights=data.weights,
            metrics=[*specs.values(), *kernels],
            controls=controls,
            jobs=jobs,
        ).items
    scores: dict[str, Floats] = {name: found[spec] for name, spec in specs.items()}
    scores["w-vector-f1 idf kernel, width fitted"] = held_out(
        np.column_stack([found[spec] for spec in kernels]), data.grades, data.cluster[data.item]
    )
    idf = specs["w-vector-f1 idf"]
    scores["vector-f1 idf, best five"] = found[f"control:best-5({idf})"]
    for name in (BEST, "w-vector-f1 idf", "w-vector-f1 idf kernel .1", COSINE):
        draws = [found[f"control:shuffled({specs[name]},draw={draw})"] for draw in range(1, DRAWS + 1)]
        scores[f"{name}, shuffled"] = np.column_stack(draws)
    scores["nearest grade by vector-f1"] = found[f"control:nearest({idf})"]
    scores["mean grade"] = found[f"control:mean-weight({specs[BEST]})"]
    scores["log length"] = np.log1p([len(text.split()) for text in data.candidates])
    return scores


def held_out(scores: Floats, grades: Floats, cluster: NDArray[np.int32]) -> Floats:
    """The column that the other folds choose, for each fold of the items.

    Args:
        scores: float64[n, columns].
        grades: Of the texts.
        cluster: The item of each text.
    """
    out = np.zeros(len(scores))
    for fold in range(FOLDS):
        inside = cluster % FOLDS == fold
        out[inside] = scores[inside, best_of(scores[~inside], grades[~inside])]
    return out


def combined(data: Judged, scores: Mapping[str, Floats], columns: Sequence[str], method: str) -> Floats:
    """Out-of-fold grades of a combination of scores, float64[n]; folds of items are drawn at random.

    Args:
        data: The texts.
        scores: Scores by name.
        columns: Names of those to combine.
        method: Name of the learner.
    """
    cluster = data.cluster[data.item]
    drawn = np.random.default_rng(SEED).permutation(cluster.max() + 1)  # `postil combine` folds items in their order
    result = postil.fit_combination(
        {name: scores[name] for name in columns},
        data.grades,
        items=[f"{drawn[item]:06d}" for item in cluster],
        systems=[f"{text:06d}" for text in range(len(cluster))],
        options=postil.CombineOptions(method=method, folds=FOLDS, resamples=1),
    )
    out = np.empty(len(cluster))
    out[np.array(result.texts.systems, dtype=np.int64)] = result.texts.grades
    return out


def levels(data: Judged) -> list[tuple[Judged, By]]:
    """The texts and the level of each of `LEVELS`."""
    return [(data, "pool"), (data, "item"), (compared_whole(data), "item")]


def study(data: Judged, vectors: str, jobs: int) -> list[Found]:
    """Correlations with the grades at each of `LEVELS`, and last errors of `AS_GRADES`.

    Args:
        data: The texts.
        vectors: Folder of the vectors of units.
        jobs: Threads.
    """
    scores = scores_of(data, vectors, jobs)
    scores |= {name: combined(data, scores, *of) for name, of in COMBINATIONS.items()}
    return [*(correlated(each, scores, by, "pearson", jobs) for each, by in levels(data)), errors(data, scores)]


def errors(data: Judged, scores: Mapping[str, Floats]) -> Found:
    """Root mean squared errors of scores as grades from 0 to 1, and those of resamples of the items.

    Args:
        data: The texts.
        scores: Scores by name.
    """
    cluster = data.cluster[data.item]
    counts = bootstrap_counts(int(cluster.max()) + 1, RESAMPLES)
    texts = counts @ np.bincount(cluster)
    values, samples = {}, {}
    columns = {name: scores[name] for name in AS_GRADES} | {"constant": np.full(len(cluster), data.grades.mean())}
    for name, column in columns.items():
        squares = (column - data.grades) ** 2
        values[name] = float(np.sqrt(squares.mean()))
        samples[name] = np.sqrt(counts @ np.bincount(cluster, squares) / texts)
    return values, samples


def difference(found: Found, one: str, other: str) -> str:
    """A difference with its interval: bold where that is above 0, italic where it is below."""
    values, samples = found
    cell = shown(values[one] - values[other], samples[one] - samples[other], signed=True)
    clear = cell.count("+") == len(LEVELS), cell.count("-") == len(LEVELS)
    return f"**{cell}**" if clear[0] else f"*{cell}*" if clear[1] else cell


def print_tables(sets: dict[str, list[Found]]) -> None:
    """Correlations of each score, and differences at each level; one column per set."""
    head = f"{' | '.join(sets)} |\n|---|{'---|' * len(sets)}"
    print(f"\n| {' / '.join(LEVELS)} | {head}")
    for name in next(iter(sets.values()))[0][0]:
        cells = (
            " / ".join("-" if np.isnan(values[name]) else f"{values[name]:.3f}" for values, _ in found[: len(LEVELS)])
            for found in sets.values()
        )
        print(f"| {name} | {' | '.join(cells)} |")
    print(f"\n| error as a grade from 0 to 1 | {head}")
    for name in (*AS_GRADES, "constant"):
        cells = (shown(values[name], samples[name]) for *_, (values, samples) in sets.values())
        print(f"| {name} | {' | '.join(cells)} |")
    for number, level in enumerate(LEVELS):
        print(f"\n| {level} | {head}")
        for one, other in DIFFERENCES:
            cells = (difference(found[number], one, other) for found in sets.values())
            print(f"| {one} − {other} | {' | '.join(cells)} |")


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Similarity of meaning against graded references.")
    parser.add_argument("folder", type=Path, help="folder of the judged sets")
    parser.add_argument("vectors", help="folder of static vectors")
    parser.add_argument("--set", choices=SETS, action="append", help="one of the sets; repeatable")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    given = parser.parse_args(arguments)
    sets = {}
    for name in given.set or SETS:
        data = halves(SETS[name](given.folder))
        print(f"- {data}")
        sets[name] = study(data, given.vectors, given.jobs)
    print_tables(sets)


if __name__ == "__main__":
    main()
