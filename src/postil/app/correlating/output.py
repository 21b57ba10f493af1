"""How `postil correlate` shows what it found."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from postil.app.annotating.output import agreement_json
from postil.app.correlating.remarks import notes, remarks, turned, warned
from postil.app.correlating.tables import (
    all_rows,
    chosen_differences,
    correlation_grid,
    difference_grid,
    disagreement,
    head,
)
from postil.records.results import SCHEMA, to_json
from postil.render.formats import Format, grid_as, rows_as_csv, rows_as_jsonl, value_with_interval
from postil.version import VERSION

if TYPE_CHECKING:
    from postil.app.correlating.files import Findings

__all__ = ["FIELDS", "as_json", "findings_as", "remarks", "value_with_interval", "warned"]

FIELDS: Final = ("metric", "coefficient", "by", "value", "low", "high", "p", "n", "dropped")
"""The columns of a row a correlation."""


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
    rows = [{field: getattr(row, field) for field in FIELDS} for row in all_rows(found)]
    if form == "jsonl":
        return rows_as_jsonl(rows)
    if form == "csv":
        return rows_as_csv(rows, FIELDS)
    text = grid_as(form, correlation_grid(found))
    shown = chosen_differences(found)
    if shown:
        text += "\n" + grid_as(form, difference_grid(shown, found.options.coefficients))
    if form != "table":
        return text
    if found.options.disagree:
        text += "".join(disagreement(found, first, second) for first, second in found.disagreements)
    return f"{head(found)}\n\n{text}\n" + "".join(f"{line}\n" for line in remarks(found))


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
        "notes": [*notes(found), *warned(found)],
        "agreement": found.agreement and agreement_json(found.agreement),
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
            "lower_is_better": turned(found),
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
