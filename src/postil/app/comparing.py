"""The journey of `postil compare`: item scores in, systems against a baseline out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from postil.app.correlating.files import Several
from postil.app.names import summed
from postil.errors import UsageError
from postil.escaping import one_line
from postil.metaeval.permutation import PERMUTATIONS
from postil.metaeval.resampling import RESAMPLES, SEED
from postil.metaeval.systems import compare
from postil.records.results import SCHEMA, to_json
from postil.records.row_files import read
from postil.records.rows import Score
from postil.render.formats import Format, counted, grid_as, rows_as_csv, rows_as_jsonl, value_with_interval
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.metaeval.systems import Compared, Comparison
    from postil.render.formats import Grid

__all__ = ["CompareOptions", "compare_files", "comparison_as", "remarks"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CompareOptions:
    """What `postil compare` was asked for.

    Args:
        baseline: The system to compare with; by default the first.
        intersect: Compare on the items that all systems share.
        lower_is_better: Metrics whose small numbers are good ones.
        resamples: How many resamples of the items.
        permutations: How many draws of approximate randomisation.
        seed: The seed of both.
    """

    baseline: str | None = None
    intersect: bool = False
    lower_is_better: tuple[str, ...] = ()
    resamples: int = RESAMPLES
    permutations: int = PERMUTATIONS
    seed: int = SEED


def compare_files(scores: Sequence[str], options: CompareOptions) -> Comparison:
    """Compare the systems of files of item scores.

    Args:
        scores: Files of score rows; ``-`` for standard input.
        options: What to compute.

    Raises:
        UsageError: There is no file, or no such baseline.
        InvalidInput: Something in a file is wrong, or systems cover different items; says where.
        Undefined: Systems share fewer than two items.
    """
    if scores.count("-") > 1:
        raise UsageError("only one of the files can be standard input")
    scored = Several([read(path, Score) for path in scores])
    return compare(
        scored.rows(),
        options.baseline,
        intersect=options.intersect,
        lower_is_better=options.lower_is_better,
        resamples=options.resamples,
        permutations=options.permutations,
        seed=options.seed,
        places=scored,
    )


def comparison_as(form: Format, found: Comparison, command: str = "") -> str:
    """Lay out a comparison.

    Args:
        form: ``json`` has everything; ``jsonl`` and ``csv`` a row a system and metric, as the others.
        found: What was found.
        command: The command line that asked for it, if there was one; it goes into ``json``.
    """
    rows = [asdict(row) for row in found.rows]
    if form == "json":
        settings = {"resamples": found.resamples, "permutations": found.permutations, "seed": found.seed}
        return to_json(
            {
                "schema": SCHEMA,
                "kind": "compare",
                "aggregation": "item mean",
                "baseline": found.baseline,
                "items": found.items,
                "systems": rows,
                "lower_is_better": list(found.lower_is_better),
                "left_out": [asdict(each) for each in found.left_out],
                "notes": list(found.notes),
                "settings": {**settings, "postil": VERSION, **({"command": command} if command else {})},
            }
        )
    if form == "jsonl":
        return rows_as_jsonl(rows)
    if form == "csv":
        return rows_as_csv(rows)
    text = grid_as(form, _grid(found))
    if form != "table":
        return text
    head = one_line(f"{counted(found.items, 'item')}, means of item scores, against {found.baseline}")
    return f"{head}\n\n{text}\n" + "".join(f"{line}\n" for line in remarks(found))


def remarks(found: Comparison) -> list[str]:
    """What to know besides the numbers, a line each: what was left out, and the settings.

    Args:
        found: What was found.
    """
    hidden = len(found.metrics) - len(_shown(found))
    turned = ", ".join(found.lower_is_better)
    different = ", ".join(summed(found.metrics))
    lines = [
        *([f"the corpus scores that postil score prints are other numbers for {different}"] if different else []),
        *([f"{counted(hidden, 'control')} not shown; --format json has them all"] if hidden else []),
        *([f"small numbers are good ones, so a system below the baseline is better: {turned}"] if turned else []),
        *(f"left out: {each}" for each in found.left_out),
        *(f"note: {note}" for note in found.notes),
        f"seed {found.seed}, {found.resamples} resamples, {found.permutations} draws of signs; Holm within a metric",
    ]
    return [one_line(line) for line in lines]


def _grid(found: Comparison) -> Grid:
    head = ["system", "metric", "mean", "difference", "p (bootstrap)", "p (randomisation)", "p (Holm)"]
    shown = _shown(found)
    return [head, *([row.system, row.metric, *_cells(row)] for row in found.rows if row.metric in shown)]


def _shown(found: Comparison) -> list[str]:
    """The metrics, without their controls; the controls where there is nothing else."""
    return [name for name in found.metrics if not name.startswith("control:")] or list(found.metrics)


def _cells(row: Compared) -> list[str]:
    mean = value_with_interval(row.mean, row.low, row.high)
    if row.difference is None or row.difference_low is None or row.difference_high is None:
        return [mean, *["-"] * 4]
    difference = value_with_interval(row.difference, row.difference_low, row.difference_high)
    tests = (row.p_bootstrap, row.p_randomisation, row.p_holm)
    return [mean, difference, *("-" if p is None else f"{p:.4f}" for p in tests)]
