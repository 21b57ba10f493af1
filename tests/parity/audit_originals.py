"""Numbers of the programs that an audit is compared with, on made tables: mt-metrics-eval and AltTest.

    python tests/parity/audit_originals.py MTME ALTTEST

MTME is a folder with google-research/mt-metrics-eval (what a package index has under that name is another program),
ALTTEST one with the notebook of nitaytech/AltTest; neither is installed. Run it again only to change the tables.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from types import ModuleType

FROZEN = Path(__file__).parent / "frozen_audit.json"
MADE_BY = {
    "mtme": "google-research/mt-metrics-eval: mt_metrics_eval/stats.py at 544e0fc, pce.py at 1b47eab, "
    "tau_optimization.py at 0b82d96",
    "alttest": "nitaytech/AltTest: alt_test_example.ipynb at 13eada2",
}
COMMANDS = {
    "acc-eq": "stats.KendallWithTiesOpt(…, variant='acc23', average_by='item', 'sys' or 'none', sample_rate=1.0)",
    "pa": "stats.Agreement of the systems' means: agreeing pairs / pairs",
    "spa": "stats.PairwiseConfidenceError, the mean of the systems in order and in reverse",
    "acc-eq, differences": "stats.PairwisePermutationSigDiff(…, k=2000, block size 2000) after np.random.seed(1): "
    "delta, and the share of draws with |difference| >= |delta| - 1e-10",
    "spa, differences": "stats.PermutationSigDiff(…, k=1000) of stats.PairwiseConfidenceError with 20,000 patterns "
    "after np.random.seed(1): likewise",
    "alternative annotator test": "alt_test(…, 'neg_rmse', epsilon): winning rate, advantage probability",
}
BY = {"item": "item", "within-system": "sys", "pool": "none"}
"""Name of a level there by its name here."""
SMALL, LARGE = 30, 3
"""Numbers of tables that are kept."""


@dataclass(frozen=True)
class Cells:
    """Grades and scores by two metrics of some texts of items by systems.

    Args:
        items: Number of items.
        systems: Number of systems.
        grades: The grade of a text by its item and system.
        scores: The two scores of each of them.
    """

    items: int
    systems: int
    grades: dict[tuple[int, int], float]
    scores: dict[tuple[int, int], tuple[float, float]]

    def vectors(self, *, reverse: bool = False) -> tuple[list[float | None], list[list[float | None]]]:
        """Grades, and scores of each metric, one system after the other; None where there is no text."""
        order = range(self.systems)[:: -1 if reverse else 1]
        keys = [(item, system) for system in order for item in range(self.items)]
        scores = [[self.scores[key][m] if key in self.scores else None for key in keys] for m in range(2)]
        return [self.grades.get(key) for key in keys], scores

    def means(self) -> tuple[list[float], list[list[float]]]:
        """Each system's mean grade, and its mean score by each metric."""
        of = [[key for key in self.grades if key[1] == system] for system in range(self.systems)]
        of = [keys for keys in of if keys]
        scores = [[sum(self.scores[key][m] for key in keys) / len(keys) for keys in of] for m in range(2)]
        return [sum(map(self.grades.__getitem__, keys)) / len(keys) for keys in of], scores


def made(seed: int, *, large: bool = False, holes: bool = True, continuous: bool = False) -> Cells:
    """Scores that are multiples of 1/16, grades that are halves, with ties, holes and constant groups.

    Args:
        seed: Seed of the table.
        large: True for 40 items by 12 systems.
        holes: True if texts may be missing.
        continuous: True for scores and grades without ties, multiples of 2^-20, and no constant group.
    """
    rng = random.Random(seed)  # noqa: S311 - tables, not secrets
    items, systems = (40, 12) if large else (3 + rng.randrange(12), 2 + rng.randrange(5))
    share, levels, steps = rng.choice([0.0, 0.1, 0.4]) * holes, rng.choice([3, 6, 20]), rng.choice([2, 9, 60])
    one_grade = [rng.random() < 0.1 for _ in range(items)]
    one_score = [rng.random() < 0.1 for _ in range(items)]
    grades, scores = {}, {}
    for item in range(items):
        for system in range(systems):
            good = rng.gauss(0, 1) + 0.5 * system
            drawn = [rng.gauss(0, 1.2), rng.gauss(0, 1.5)]
            if rng.random() < share:
                continue
            if continuous:
                grades[item, system] = round(good * 2**20) / 2**20
                scores[item, system] = tuple(round((good + each) * 2**20) / 2**20 for each in drawn)
                continue
            grades[item, system] = 2.0 if one_grade[item] else max(1.0, min(levels / 2, round(2 * good) / 2 + 2))
            scores[item, system] = tuple(
                0.25 if one_score[item] else round((good + each) * steps / 4) / 16 for each in drawn
            )
    return Cells(items, systems, grades, scores)


def of_few_items() -> list[Cells]:
    """Tables without ties whose sign patterns are at most 512, for which drawn ones come close to all of them."""
    tables = [made(seed, holes=False, continuous=True) for seed in range(300, 400)]
    return [cells for cells in tables if cells.items in {8, 9} and cells.systems >= 4][:6]


def rated(seed: int) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Grades by annotator and text, and a judge's; some texts have one grade, one annotator has few."""
    rng = random.Random(seed)  # noqa: S311 - tables, not secrets
    raters = 3 + rng.randrange(3)
    people: dict[str, dict[str, float]] = {f"r{rater}": {} for rater in range(raters)}
    judge = {}
    noise = rng.choice([0.4, 0.8, 1.4])
    for text in range(60 + rng.randrange(60)):
        good = rng.gauss(3, 1.2)
        for rater, row in enumerate(people.values()):
            if rng.random() < (0.2 if rater == 0 else 0.8):
                row[f"t{text}"] = float(max(1, min(5, round(good + rng.gauss(0, 0.8)))))
        judge[f"t{text}"] = float(max(1, min(5, round(good + rng.gauss(0, noise)))))
    return people, judge


def mtme(folder: str) -> ModuleType:
    """Import mt-metrics-eval's `stats` from a folder that holds the package."""
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("mt_metrics_eval.stats")
    finally:
        sys.path.remove(folder)


def alternative_test(folder: str) -> Any:
    """AltTest's `alt_test`, from the cells of its notebook that import and define."""
    notebook = json.loads(Path(folder, "alt_test_example.ipynb").read_text("utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    for text in cells[: 1 + next(number for number, text in enumerate(cells) if "def alt_test(" in text)]:
        exec(text, names)  # noqa: S102 - the original's own code
    return names["alt_test"]


def accuracies(stats: Any, cells: Cells) -> dict[str, list[float]]:
    """`acc-eq` of both metrics by level, and pairwise accuracy."""
    grades, scores = cells.vectors()
    found = {
        by: [float(stats.KendallWithTiesOpt(grades, each, "acc23", cells.systems, theirs, 1.0)[0]) for each in scores]
        for by, theirs in BY.items()
    }
    of_grades, of_scores = cells.means()
    agreeing = [stats.Agreement(of_grades, each) for each in of_scores]
    return found | {"pa": [float(right / pairs) if pairs else -1.0 for right, pairs in agreeing]}


def soft_accuracies(stats: Any, cells: Cells) -> list[float]:
    """`spa` of both metrics, the mean over both orders of the systems; all cells are there."""
    orders = [cells.vectors(reverse=reverse) for reverse in (False, True)]
    return [
        float(np.mean([stats.PairwiseConfidenceError(grades, each[m], cells.systems)[0] for grades, each in orders]))
        for m in range(2)
    ]


def pair_differences(stats: Any, cells: Cells, by: str) -> list[float]:
    """The first metric's `acc-eq` minus the second's, and the two-sided share of draws that reach it."""
    grades, scores = cells.vectors()
    first, second = (stats.Correlation(cells.systems, grades, each) for each in scores)
    np.random.seed(1)  # noqa: NPY002 - as the original draws
    params = stats.PermutationSigDiffParams(block_size=2000)
    _, delta, _, draws = stats.PairwisePermutationSigDiff(second, first, "acc23", BY[by], 2000, params)
    return _two_sided(float(delta), draws)


def soft_differences(stats: Any, cells: Cells) -> list[float]:
    """The first metric's `spa` minus the second's, and the two-sided share of draws that reach it."""
    grades, scores = cells.vectors()
    first, second = (stats.Correlation(cells.systems, grades, each) for each in scores)
    np.random.seed(1)  # noqa: NPY002 - as the original draws
    params = stats.PermutationSigDiffParams(block_size=2000)
    _, delta, _, draws = stats.PermutationSigDiff(
        second,
        first,
        stats.PairwiseConfidenceError,
        "none",
        1000,
        params,
        num_sys=cells.systems,
        num_permutations=20_000,
    )
    return _two_sided(float(delta), draws)


def _two_sided(delta: float, draws: list[tuple[float, float]]) -> list[float]:
    return [delta, float(np.mean([abs(one - other) >= abs(delta) - 1e-10 for one, other in draws]))]


def main(mtme_folder: str, alttest_folder: str) -> None:
    stats, alt_test = mtme(mtme_folder), alternative_test(alttest_folder)
    tables = [made(seed) for seed in range(SMALL)] + [made(seed, large=True) for seed in range(LARGE)]
    whole = [made(seed, holes=False) for seed in range(100, 100 + SMALL)]
    page = {
        "made_by": MADE_BY,
        "command": COMMANDS,
        "accuracies": [accuracies(stats, cells) for cells in tables],
        "soft": [soft_accuracies(stats, cells) for cells in whole],
        "pair differences": {
            by: [pair_differences(stats, made(seed, holes=False), by) for seed in range(200, 212)] for by in BY
        },
        "soft differences": [soft_differences(stats, cells) for cells in of_few_items()],
        "alternative annotator test": [
            [float(number) for number in alt_test(judge, people, "neg_rmse", epsilon)]
            for people, judge in map(rated, range(20))
            for epsilon in (0.1, 0.2)
        ],
    }
    FROZEN.write_text(json.dumps(page, indent=0, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
