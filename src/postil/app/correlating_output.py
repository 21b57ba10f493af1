"""How `postil correlate` shows what it found."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.output import Format, grid_as, rows_as_csv, rows_as_jsonl, to_json
from postil.metaeval.human import CEILING, HALVES, ONE
from postil.metaeval.table import CONTROL
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.app.correlating import Findings
    from postil.app.output import Grid
    from postil.metaeval.correlation import Correlation
    from postil.metaeval.significance import Difference

__all__ = ["SCHEMA", "as_json", "chosen_differences", "findings_as", "value_with_interval"]

SCHEMA: Final = 1
FEW: Final = 6
"""Of so many metrics all pairs are shown where none belong together."""
LEVEL: Final = 0.05
PEOPLE: Final = {HALVES: "people: split halves", ONE: "people: one against the rest"}


def findings_as(form: Format, found: Findings) -> str:
    """Lay out what was found.

    Args:
        form: ``json`` has everything; ``jsonl`` and ``csv`` have a row a correlation; ``table``, ``markdown`` and
            ``latex`` a row a metric, and the differences that matter most.
        found: What was found.
    """
    if form == "json":
        return to_json(as_json(found))
    rows = [{key: value for key, value in asdict(row).items() if key != "sd"} for row in _all_rows(found)]
    if form == "jsonl":
        return rows_as_jsonl(rows)
    if form == "csv":
        return rows_as_csv(rows)
    text = grid_as(form, _correlation_grid(found))
    shown = chosen_differences(found)
    if shown:
        text += "\n" + grid_as(form, _difference_grid(shown, found.options.coefficients))
    return f"{_head(found)}\n\n{text}\n" + "".join(f"{line}\n" for line in _remarks(found)) if form == "table" else text


def as_json(found: Findings, *, points: bool = False) -> dict[str, object]:
    """Everything, as it goes into JSON and into reports.

    Args:
        found: What was found.
        points: With every text's grade and scores.
    """
    table, options, people = found.table, found.options, found.human
    made: dict[str, object] = {
        "schema": SCHEMA,
        "kind": "correlate",
        "correlations": [row.row() for row in found.correlations.rows],
        "absent": [asdict(row) for row in (*found.correlations.absent, *(people.absent if people else ()))],
        "human": {
            "rows": [row.row() for row in people.rows],
            "reliability": people.reliability,
            "rule": people.rule,
            "pairs": people.pairs,
            "k": people.k,
            "ceiling": people.ceiling,
            "n": people.n,
            "left_out": people.left_out,
        }
        if people
        else {"reason": found.no_human},
        "differences": [asdict(row) for each in found.differences for row in each.rows],
        "notes": list(dict.fromkeys(note for each in found.differences for note in each.notes)),
        "agreement": _agreement(found),
        "systems": _systems(found),
        "disagreements": [
            {
                "first": first,
                "second": second,
                "texts": [{**asdict(row), "text": found.texts.get((row.item, row.system))} for row in rows],
            }
            for (first, second), rows in found.disagreements.items()
        ],
        "data": {
            "texts": len(table),
            "items": len(table.items),
            "systems": len(table.systems),
            "annotators": len(table.ratings.names),
            "ratings": len(table.ratings.grades),
            "aspect": table.aspect,
            "scale": str(table.scale) if table.scale else None,
            "mean": float(table.grades.mean()),
            "sd": float(table.grades.std()),
            "left_out": [asdict(each) for each in table.left_out],
        },
        "signatures": dict(zip(table.metrics, table.signatures, strict=True)),
        "settings": {
            "by": options.by,
            "coefficients": list(options.coefficients),
            "resamples": options.resamples,
            "permutations": options.permutations,
            "seed": options.seed,
            "postil": VERSION,
        },
    }
    if points:
        made["points"] = {
            "grades": table.grades.tolist(),
            "scores": {name: column.tolist() for name, column in zip(table.metrics, table.scores.T, strict=True)},
        }
    return made


def _agreement(found: Findings) -> dict[str, object] | None:
    agreed = found.agreement
    if agreed is None:
        return None
    return {
        "texts": agreed.texts,
        "ratings": agreed.ratings,
        "labels": list(agreed.labels),
        "estimates": {name: asdict(each) for name, each in agreed.estimates.items()},
        "absent": dict(agreed.absent),
        "confusion": None if agreed.confusion is None else agreed.confusion.tolist(),
        "pairs": [asdict(pair) for pair in agreed.pairs],
        "raters": [_plain(asdict(rater)) for rater in agreed.raters],
        "notes": list(agreed.notes),
    }


def _systems(found: Findings) -> list[dict[str, object]]:
    means = found.systems
    return [
        {
            "system": name,
            "n": int(means.n[s]),
            "grade": float(means.grades[s]),
            "rank": int(means.grade_ranks[s]),
            "means": dict(zip(means.metrics, means.means[s].tolist(), strict=True)),
            "ranks": dict(zip(means.metrics, means.ranks[s].tolist(), strict=True)),
        }
        for s, name in enumerate(means.systems)
    ]


def _plain(value: object) -> object:
    """Arrays as lists."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


def _all_rows(found: Findings) -> Iterator[Correlation]:
    yield from found.correlations.rows
    if found.human:
        yield from found.human.rows


def value_with_interval(value: float, low: float, high: float) -> str:
    """``.523 [.481, .562]``.

    >>> value_with_interval(0.5227, 0.481, -0.02)
    '.523 [.481, -.020]'
    """
    shown = (f"{number:.3f}" for number in (value, low, high))
    return "{} [{}, {}]".format(*(re.sub(r"^(-?)0\.", r"\1.", number) for number in shown))


def _correlation_grid(found: Findings) -> Grid:
    coefficients = found.options.coefficients
    lines: dict[str, dict[str, str]] = {name: {} for name in _names(found)}
    for row in _all_rows(found):
        cell = value_with_interval(row.value, row.low, row.high)
        lines.setdefault(PEOPLE.get(row.metric, row.metric), {})[row.coefficient] = cell
    if found.human and found.human.ceiling is not None and "pearson" in coefficients:
        lines["ceiling"] = {"pearson": f"{found.human.ceiling:.3f}".lstrip("0")}
    head = ["metric", *coefficients]
    return [head, *([name, *(cells.get(each, "-") for each in coefficients)] for name, cells in lines.items())]


def _names(found: Findings) -> list[str]:
    """Each metric, followed by its controls; then what belongs to none."""
    table = found.table
    controls = [*(name for name in table.metrics if name.startswith("control:")), *table.draws]
    of: dict[str, list[str]] = {}
    for name in controls:
        match = CONTROL.fullmatch(name)
        of.setdefault(match["metric"] if match else "", []).append(name)
    named = [name for name in table.metrics if name not in controls]
    ordered = [each for name in named for each in (name, *of.get(name, ()))]
    return [*ordered, *(name for name in controls if name not in ordered)]


def chosen_differences(found: Findings) -> list[Difference]:
    """The differences that a reader asks for first: a weighted metric against its plain form and its controls.

    Where no metrics belong together so, all of a few metrics, and none of many.
    """
    rows = [row for each in found.differences for row in each.rows]
    related = [row for row in rows if _family(row.first) == _family(row.second)]
    return related or (rows if len(found.table.metrics) <= FEW else [])


def _family(metric: str) -> str:
    match = CONTROL.fullmatch(metric)
    return (match["metric"] if match else metric).removeprefix("w-")


def _difference_grid(rows: Sequence[Difference], coefficients: Sequence[str]) -> Grid:
    """A row a pair, the weighted metric first; ``*`` where Holm's p is below .05."""
    lines: dict[str, dict[str, str]] = {}
    for row in rows:
        turn = row.second.startswith("w-") and not row.first.startswith("w-")
        first, second = (row.second, row.first) if turn else (row.first, row.second)
        ends = (-row.value, -row.high, -row.low) if turn else (row.value, row.low, row.high)
        mark = "*" if row.p_holm is not None and row.p_holm < LEVEL else " "
        lines.setdefault(f"{first} - {second}", {})[row.coefficient] = value_with_interval(*ends) + mark
    return [
        ["difference (* p < .05)", *coefficients],
        *([pair, *(cells.get(each, "-") for each in coefficients)] for pair, cells in lines.items()),
    ]


def _head(found: Findings) -> str:
    table = found.table
    aspect = f", {table.aspect}" if table.aspect else ""
    over = {"pool": "all texts together", "item": "mean of the items", "system": "means of the systems"}
    return (
        f"{_count(len(table), 'text')} ({_count(len(table.items), 'item')}, {_count(len(table.systems), 'system')}), "
        f"{_count(len(table.ratings.grades), 'grade')} by {_count(len(table.ratings.names), 'annotator')}{aspect}; "
        f"{over[found.options.by]}; 95 % intervals over items"
    )


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _remarks(found: Findings) -> Iterator[str]:
    for left in found.table.left_out:
        yield f"left out: {left}" if "mean taken" not in left.why else str(left)
    for absent in (*found.correlations.absent, *(found.human.absent if found.human else ())):
        what = "the ceiling" if absent.metric == CEILING else f"{absent.coefficient} of {absent.metric}"
        yield f"no {what}: {absent.reason}"
    if found.no_human:
        yield f"no people against people: {found.no_human}"
    elif found.human and found.human.reliability is not None:
        yield (
            f"ceiling: one rating against another correlates {found.human.reliability:.3f}; "
            f"{found.human.k:.2g} ratings a text"
        )
    if found.agreement:
        names = ("alpha-ordinal", "alpha-interval", "kappa-quadratic-pooled", "agreement")
        shown = {name: found.agreement.estimates[name] for name in names if name in found.agreement.estimates}
        yield "agreement: " + ", ".join(
            f"{name} {each.value:.3f}"
            if each.low is None or each.high is None
            else f"{name} {value_with_interval(each.value, each.low, each.high)}"
            for name, each in shown.items()
        )
    for note in dict.fromkeys(note for each in found.differences for note in each.notes):
        yield f"note: {note}"
    pairs = sum(len(each.rows) for each in found.differences)
    if pairs > len(chosen_differences(found)):
        yield f"all {pairs} differences: --format json, or --report FILE.html"
    yield "* p < .05 by permutation of items (random controls: bootstrap), after Holm's correction"
    yield f"seed {found.options.seed}, {found.options.resamples} resamples, {found.options.permutations} permutations"
