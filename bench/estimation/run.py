"""Coverage and squared error of estimates from few ratings, on a fully rated set of yours or on synthetic ones.

python -m bench.estimation.run --scores SCORES --judgements JUDGEMENTS [--aspect NAME] --draws 300
python -m bench.estimation.run --synthetic --draws 2000
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from bench.estimation.designs import DESIGNS, made
from bench.estimation.simulation import METHODS, Cell, Judged, planned, simulate
from postil.data.row_files import read
from postil.data.rows import Judgement, Score
from postil.meta import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.meta.estimation import Target

SYNTHETIC_ITEMS: Final = 200
TITLES: Final = {
    "human": "ratings alone",
    "ppi": "PPI++ per system, best score",
    "regression": "ridge regression per system, all scores",
    "best": "crossed, best score",
    "crossed": "crossed, all scores",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", nargs="+", type=Path, help="item scores of all outputs")
    parser.add_argument("--judgements", type=Path, help="ratings of all outputs")
    parser.add_argument("--aspect", help="the aspect, where judgements have several")
    parser.add_argument("--metric", action="append", default=[], help="metric to use; all but controls by default")
    parser.add_argument("--synthetic", action="store_true", help="synthetic sets instead")
    parser.add_argument("--target", nargs="+", default=["population", "items"], choices=["population", "items"])
    parser.add_argument("--graded", nargs="+", type=int, default=[10, 20, 40], help="numbers of rated items")
    parser.add_argument("--raters", nargs="+", type=int, help="ratings per output; 1, 2 and 3, as far as there are")
    parser.add_argument("--pilot", type=int, help="plan from random pilots of so many items too")
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20181)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.synthetic == bool(given.scores and given.judgements):
        parser.error("give --scores and --judgements, or --synthetic")
    sets = synthetic(given) if given.synthetic else [("", from_files(given), None)]
    rows = [row for name, judged, items in sets for row in measured(given, name, judged, items)]
    text = page(rows, given.draws)
    print(text)
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def synthetic(given: argparse.Namespace) -> Iterator[tuple[str, Judged, int | None]]:
    given.target = ["population"]
    for name, what in DESIGNS.items():
        print(f"{name}: {what}", file=sys.stderr)
        yield name, made(name, given.seed), SYNTHETIC_ITEMS


def from_files(given: argparse.Namespace) -> Judged:
    """Scores and ratings of the items whose outputs all have both."""
    scored = table.Scored(row for path in given.scores for row in read(path, Score))
    wanted = given.metric or [name for name in scored.metrics if not name.startswith("control:")]
    rated = table.Judged(read(given.judgements, Judgement), aspect=given.aspect)
    dense = scored.dense[:, [scored.columns[name] for name in wanted]]
    there = [key for key, place in scored.rows.items() if key in rated.rows and not np.isnan(dense[place]).any()]
    systems = sorted({system for _, system in there})
    whole = set(there)
    items = sorted({item for item, _ in there if all((item, system) in whole for system in systems)})
    print(f"{len(items)} items with scores and ratings of all {len(systems)} systems", file=sys.stderr)
    keys = [(item, system) for item in items for system in systems]
    ratings = rated.of(keys)
    cube = np.full((len(keys), int(ratings.counts.max())), np.nan)
    cube[np.arange(cube.shape[1]) < ratings.counts[:, None]] = ratings.grades
    shape = len(items), len(systems)
    scores = dense[[scored.rows[key] for key in keys]]
    return Judged(scores.reshape(*shape, -1), cube.reshape(*shape, -1))


def measured(given: argparse.Namespace, name: str, judged: Judged, items: int | None) -> Iterator[dict[str, object]]:
    """One row per target and number of rated items: means over the numbers of raters."""
    raters = given.raters or range(1, min(3, judged.ratings.shape[2]) + 1)
    for target in given.target:
        for n in given.graded:
            cells = []
            for k in raters:
                found = simulate(judged, n, k, cast("Target", target), draws=given.draws, seed=given.seed, items=items)
                cells.append(found)
            row: dict[str, object] = {"set": name, "target": target, "graded": n}
            for method in METHODS:
                several = [(found[method], found["human"]) for found in cells if found[method].draws]
                if several:
                    row[method] = averages(several)
            if given.pilot and target == "population":
                row["plans"] = plans(given, judged, n, raters, cells)
            print(json.dumps(row), file=sys.stderr)
            yield row


def averages(cells: Sequence[tuple[Cell, Cell]]) -> dict[str, list[float]]:
    """Means over the numbers of raters, of means and of differences."""
    relative = np.array([cell.relative(human) for cell, human in cells]).mean(axis=0)
    coverage = np.array([cell.coverage() for cell, _ in cells]).mean(axis=0)
    return {"squared_error": relative.tolist(), "coverage": coverage.tolist()}


def plans(
    given: argparse.Namespace, judged: Judged, n: int, raters: Sequence[int], cells: Sequence[dict[str, Cell]]
) -> list[float]:
    """Planned over actual standard errors of differences: quantiles .1, .5 and .9 over pilots and raters."""
    shares = [
        planned(judged, given.pilot, n, k, pilots=given.draws, seed=given.seed)
        / math.sqrt(found["crossed"].squared[1] / found["crossed"].draws)
        for k, found in zip(raters, cells, strict=True)
    ]
    return [float(each) for each in np.quantile(np.concatenate(shares), [0.1, 0.5, 0.9])]


def page(rows: Sequence[dict[str, object]], draws: int) -> str:
    """Tables of squared errors and of coverage in Markdown."""
    parts = []
    for measure, title in (
        ("squared_error", "Squared error relative to the ratings alone (means/differences)"),
        ("coverage", "Coverage of 95 % intervals (means/differences)"),
    ):
        shown = [
            name for name in METHODS if (name, measure) not in (("human", "squared_error"), ("regression", "coverage"))
        ]
        lines = [f"| | {' | '.join(TITLES[name] for name in shown)} |", f"|---|{'---|' * len(shown)}"]
        for row in rows:
            name = ", ".join(filter(None, [str(row["set"]), str(row["target"]), f"{row['graded']} items"]))
            lines.append(f"| {name} | {' | '.join(cell(row.get(method), measure) for method in shown)} |")
        parts.append("\n".join([f"{title}, {draws:,} draws:", "", *lines]))
    told = [
        f"- {row['graded']} items: " + ", ".join(f"{each:.2f}" for each in cast("list[float]", row["plans"]))
        for row in rows
        if "plans" in row
    ]
    if told:
        parts.append(
            "\n".join(["Planned over actual standard errors of differences (quantiles .1, .5, .9):", "", *told])
        )
    return "\n\n".join(parts) + "\n"


def cell(found: object, measure: str) -> str:
    if found is None:
        return "–"
    values = cast("dict[str, list[float]]", found)[measure]
    digits = 2 if measure == "squared_error" else 3
    return "/".join(f"{value:.{digits}f}".removeprefix("0") for value in values)


if __name__ == "__main__":
    main()
