"""How `postil correlate` shows what it found."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.correlating.files import PEOPLE
from postil.app.output import Format, counted, grid_as, printable, rows_as_csv, rows_as_jsonl, to_json
from postil.metaeval.human import CEILING, HALVES, ONE
from postil.metaeval.table import CONTROL
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.app.correlating.files import Findings
    from postil.app.output import Grid
    from postil.metaeval.correlation import Absent, Correlation
    from postil.metaeval.significance import Difference

__all__ = ["FIELDS", "SCHEMA", "as_json", "chosen_differences", "findings_as", "remarks", "value_with_interval"]

SCHEMA: Final = 1
FIELDS: Final = ("metric", "coefficient", "by", "value", "low", "high", "p", "n", "dropped")
"""The columns of a row a correlation."""
FEW: Final = 6
"""Of so many metrics all pairs are shown where none belong together."""
LEVEL: Final = 0.05
WIDE: Final = 1e6
"""From here on numbers are shown with an exponent."""
CALLED: Final = {HALVES: "people: split halves", ONE: "people: one against the rest", CEILING: "ceiling"}


def findings_as(form: Format, found: Findings, command: str = "") -> str:
    """Lay out what was found.

    Args:
        form: ``json`` has everything; ``jsonl`` and ``csv`` have a row a correlation; ``table``, ``markdown`` and
            ``latex`` a row a metric, and the differences that matter most; ``table`` also `remarks` and, of metrics
            whose disagreements were asked for by name, the worst.
        found: What was found.
        command: The command line that asked for it, if there was one; it goes into ``json``.
    """
    if form == "json":
        return to_json(as_json(found, command=command))
    rows = [{field: getattr(row, field) for field in FIELDS} for row in _all_rows(found)]
    if form == "jsonl":
        return rows_as_jsonl(rows)
    if form == "csv":
        return rows_as_csv(rows, FIELDS)
    text = grid_as(form, _correlation_grid(found))
    shown = chosen_differences(found)
    if shown:
        text += "\n" + grid_as(form, _difference_grid(shown, found.options.coefficients))
    if form != "table":
        return text
    if found.options.disagree:
        text += "".join(_disagreement(found, first, second) for first, second in found.disagreements)
    return f"{_head(found)}\n\n{text}\n" + "".join(f"{line}\n" for line in remarks(found))


def as_json(found: Findings, *, points: bool = False, command: str = "") -> dict[str, object]:
    """Everything, as it goes into JSON and into reports.

    Args:
        found: What was found.
        points: With every text's grade and scores.
        command: The command line that asked for it, if there was one.
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
        "notes": _notes(found),
        "agreement": _agreement(found),
        "systems": _systems(found),
        "orders": dict(zip(found.systems.metrics, found.systems.taus, strict=True)),
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
            "lower_is_better": _turned(found),
            "resamples": options.resamples,
            "permutations": options.permutations,
            "seed": options.seed,
            "postil": VERSION,
            **({"command": command} if command else {}),
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
        "left_out": [asdict(each) for each in agreed.left_out],
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

    >>> value_with_interval(0.5227, 0.481, -0.02), value_with_interval(2.5e8, -1e-17, 3e8)
    ('.523 [.481, -.020]', '2.500e+08 [0, 3.000e+08]')
    """
    numbers = (value, low, high)
    largest = max(map(abs, numbers))
    return "{} [{}, {}]".format(*(_wide(each) if largest >= WIDE else _short(each) for each in numbers))


def _short(number: float) -> str:
    """Three decimals, without a 0 before the point, nor a sign before 0."""
    shown = f"{number:.3f}"
    sign, digits = ("-", shown[1:]) if shown.startswith("-") else ("", shown)
    return ("" if float(digits) == 0 else sign) + (digits[1:] if digits.startswith("0.") else digits)


def _wide(number: float) -> str:
    return f"{number:.3e}" if abs(number) >= 1e-3 else "0"


def _correlation_grid(found: Findings) -> Grid:
    coefficients = found.options.coefficients
    lines: dict[str, dict[str, str]] = {name: {} for name in _names(found)}
    for row in _all_rows(found):
        cell = value_with_interval(row.value, row.low, row.high)
        lines.setdefault(_called(row.metric, found), {})[row.coefficient] = cell
    if found.human and found.human.ceiling is not None and "pearson" in coefficients:
        lines[_called(CEILING, found)] = {"pearson": _short(found.human.ceiling)}
    head = ["metric", *coefficients]
    return [head, *([name, *(cells.get(each, "-") for each in coefficients)] for name, cells in lines.items())]


def _called(name: str, found: Findings) -> str:
    """The name of a line; what is over all texts says so where the other lines are not."""
    over = ", all texts" if name in {ONE, CEILING} and found.options.by != "pool" else ""
    return CALLED.get(name, name) + over


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


def _disagreement(found: Findings, first: str, second: str) -> str:
    """The texts on which two opinions differ most, each with what it says."""
    rows = found.disagreements[first, second]
    opinions = [first] if second == PEOPLE else [first, second]
    grid = [["where they differ most", *opinions, "grade", "difference"]]
    for row in rows:
        numbers = (*row.normalised, row.grade, row.difference)
        grid.append([f"{row.item} by {row.system}", *(f"{number:.2f}" for number in numbers)])
    lines = grid_as("table", grid).splitlines()
    texts = (found.texts.get((row.item, row.system)) for row in rows)
    return "\n" + "".join(
        f"{line}\n" + (f"    {printable(text)}\n" if text else "")
        for line, text in zip(lines, (None, None, *texts), strict=True)
    )


def _head(found: Findings) -> str:
    table = found.table
    aspect = f", {table.aspect}" if table.aspect else ""
    over = {"pool": "all texts together", "item": "mean of the items", "system": "means of the systems"}
    texts, items, systems = (
        counted(len(each), what) for each, what in ((table, "text"), (table.items, "item"), (table.systems, "system"))
    )
    return printable(
        f"{texts} ({items}, {systems}), "
        f"{counted(len(table.ratings.grades), 'grade')} by {counted(len(table.ratings.names), 'annotator')}{aspect}; "
        f"{over[found.options.by]}; 95 % intervals over items"
    )


def remarks(found: Findings) -> list[str]:
    """What to know besides the numbers, a line each: what was left out, what does not exist and why, and the settings.

    Args:
        found: What was found.
    """
    options = found.options
    settings = f"seed {options.seed}, {options.resamples} resamples, {options.permutations} permutations"
    lines = [*_of_texts(found), *_of_numbers(found), *_of_people(found), *_of_differences(found), settings]
    return [printable(line) for line in lines]


def _of_texts(found: Findings) -> Iterator[str]:
    for left in found.table.left_out:
        yield f"left out: {left}" if "mean taken" not in left.why else str(left)
    turned = _turned(found)
    if turned:
        yield f"small numbers are good ones, so the sign is turned: {', '.join(turned)}"


def _of_numbers(found: Findings) -> Iterator[str]:
    """What does not exist; metrics and coefficients with the same reason on one line."""
    absent = [*found.correlations.absent, *(found.human.absent if found.human else ())]
    for (what, reason), several in _together(absent, found.options.coefficients):
        names = ", ".join(_called(name, found).removeprefix("people: ") for name in several)
        yield f"no {what} of {names}: {reason}"
    ceiling = [each.reason for each in absent if each.metric == CEILING]
    yield from (f"no ceiling: {reason}" for reason in ceiling)
    first = [row for row in found.correlations.rows if row.coefficient == found.options.coefficients[0] and row.dropped]
    if first:
        dropped = ", ".join(f"{row.metric} {row.dropped} of {row.dropped + row.n}" for row in first)
        yield f"items dropped, since they have one text, or scores or grades that are all the same: {dropped}"
    known = {(each.metric, each.coefficient) for each in found.correlations.absent}
    unlike = [
        each for result in found.differences for each in result.absent if (each.metric, each.coefficient) not in known
    ]
    for (what, reason), several in _together(unlike, found.options.coefficients):
        yield f"no difference in {what} with {', '.join(several)}: {reason}"


def _together(absent: Sequence[Absent], coefficients: Sequence[str]) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Coefficients and reason, with the metrics that they are the same for."""
    of: dict[tuple[str, str], list[str]] = {}
    for each in absent:
        if each.metric != CEILING:
            of.setdefault((each.metric, each.reason), []).append(each.coefficient)
    same: dict[tuple[str, str], list[str]] = {}
    for (metric, reason), lacking in of.items():
        what = "coefficient" if set(lacking) == set(coefficients) else ", ".join(lacking)
        same.setdefault((what, reason), []).append(metric)
    yield from same.items()


def _of_people(found: Findings) -> Iterator[str]:
    people, agreed = found.human, found.agreement
    if people is None:
        yield f"no people against people: {found.no_human}"
    elif people.reliability is not None:
        yield (
            f"ceiling: one rating against another correlates {_short(people.reliability)}; "
            f"{people.k:.2g} ratings a text"
        )
    if agreed is None:
        return
    names = ("alpha-ordinal", "alpha-interval", "kappa-quadratic-pooled", "agreement")
    shown = [(name, agreed.estimates[name]) for name in names if name in agreed.estimates]
    yield "agreement: " + ", ".join(
        f"{name} {_short(each.value)}"
        if each.low is None or each.high is None
        else f"{name} {value_with_interval(each.value, each.low, each.high)}"
        for name, each in shown
    )
    lacking = [(agreed.absent[name], name) for name in names if name in agreed.absent]
    for reason, several in groupby(lacking, key=lambda each: each[0]):
        yield f"no {', '.join(name for _, name in several)}: {reason}"
    yield from (f"{rater.name} {rater.note}" for rater in agreed.raters if rater.note)


def _of_differences(found: Findings) -> Iterator[str]:
    chosen = chosen_differences(found)
    if chosen:
        yield from (f"note: {note}" for note in _notes(found))
    pairs = sum(len(each.rows) for each in found.differences)
    if pairs > len(chosen):
        yield f"all {pairs:,} differences: --format json, or --report FILE.html"
    if chosen:
        yield "* p < .05 by permutation of items (random controls: bootstrap), after Holm's correction"


def _notes(found: Findings) -> list[str]:
    return list(dict.fromkeys(note for each in found.differences for note in each.notes))


def _turned(found: Findings) -> list[str]:
    table = found.table
    return [name for name, low in zip(table.metrics, table.lower_is_better, strict=True) if low]
