"""How `postil passages` shows what it found."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.passages.files import LINE_RESAMPLES, gain_lines
from postil.errors import UsageError
from postil.escaping import one_line
from postil.plots import Curve, save
from postil.records.atomic_file import check_apart
from postil.records.results import SCHEMA, to_json
from postil.records.row_files import kind_of, write
from postil.records.rows import Score
from postil.render.formats import Format, grid_as, rows_as_csv, rows_as_jsonl, value_with_interval
from postil.render.gain_curves import IN_ONE_PICTURE, draw_together, gather
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from postil.app.passages.files import PassageFindings
    from postil.render.formats import Grid

__all__ = ["as_json", "check_scores", "draw_gains", "gains_as", "remarks", "write_scores"]

LEVEL: Final = 0.05
SENSES: Final = {"topic": "informativeness", "others": "interestingness"}


def gains_as(form: Format, found: PassageFindings, command: str = "") -> str:
    """Lay out what was found.

    Args:
        form: ``json`` has everything; ``jsonl`` and ``csv`` have a row a measure and cut; ``table``, ``markdown`` and
            ``latex`` a row a measure, ``table`` also how the others differ from the best one, `remarks` and signatures.
        found: What was found.
        command: The command line that asked for it, if there was one; it goes into ``json``.
    """
    if form == "json":
        return to_json(as_json(found, command=command))
    rows = list(_gains(found))
    if form == "jsonl":
        return rows_as_jsonl(rows)
    if form == "csv":
        return rows_as_csv(rows)
    text = grid_as(form, _grid(found))
    if form != "table":
        return text
    if found.differences:
        text += "".join("\n" + grid_as(form, grid) for grid in _from_best(found))
    lines = [*remarks(found), "", *map(one_line, _signatures(found))]
    return f"{_head(found)}\n\n{text}\n" + "".join(f"{line}\n" for line in lines)


def as_json(found: PassageFindings, *, command: str = "") -> dict[str, object]:
    """Everything, as it goes into JSON and into reports.

    Args:
        found: What was found.
        command: The command line that asked for it, if there was one.
    """
    options = found.options
    return {
        "schema": SCHEMA,
        "kind": "passages",
        "gains": list(_gains(found)),
        "differences": [asdict(row) for row in found.differences],
        "lines": [
            {
                "measure": each.name,
                "k": list(line.ks),
                "ncg": line.ncg.tolist(),
                "low": None if line.low is None else line.low.tolist(),
                "high": None if line.high is None else line.high.tolist(),
            }
            for each, line in zip(found.ranked, gain_lines(found), strict=True)
        ],
        "data": {
            "passages": len(found.passages),
            "topics": found.topics,
            "informative": found.informative,
            "scale": str(found.scale),
            "left_out": [asdict(each) for each in found.left_out],
        },
        "notes": list(found.notes),
        "settings": {
            "reference": options.reference,
            "pool": options.pool,
            "leave_one_out": options.leave_one_out,
            "folds": options.folds,
            "folds_by": options.folds_by,
            "tokenizer": options.tokenizer,
            "stem": options.stem,
            "stop": options.stop,
            "anchors": options.anchors,
            "resamples": options.resamples,
            "line_resamples": min(options.resamples, LINE_RESAMPLES),
            "seed": options.seed,
            "postil": VERSION,
            **({"command": command} if command else {}),
        },
    }


def check_scores(path: str, passages: str) -> None:
    """See, before the work is done, that scores can be written.

    Args:
        path: Where they shall go.
        passages: The file that is read.

    Raises:
        UsageError: It is standard output, of an unknown kind, or the file that is read.
    """
    if path == "-":
        raise UsageError("--scores: expected a file; standard output is for the gains")
    kind_of(path)
    check_apart(path, [passages])


def write_scores(path: str, found: PassageFindings) -> None:
    """A row for each passage and measure: the topic is the item, the passage's id the system, high is good.

    Args:
        path: JSON Lines or Parquet. A passage without units or reference has no row.
        found: What was found.

    Raises:
        UsageError: The path is standard output.
    """
    write(
        path,
        (
            Score(passage.topic, passage.id, each.name, score, each.signature)
            for each in found.ranked
            for passage, score in zip(found.passages, each.scores.tolist(), strict=True)
            if np.isfinite(score)
        ),
    )


def draw_gains(folder: Path, found: PassageFindings) -> Iterator[Path]:
    """Curves of nCG over k, a picture for each family of measures and one of all families over their best units.

    Args:
        folder: Where the pictures go; made where it is missing.
        found: What was found.

    Yields:
        The pictures that were written.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = {
        each.name: Curve(each.name, np.array(line.ks, np.float64), line.ncg, line.low, line.high)
        for each, line in zip(found.ranked, gain_lines(found), strict=True)
    }
    for title, names in gather({each.name: float(each.curve.ncg[0]) for each in found.ranked}).items():
        path = folder / f"{SENSES[found.options.reference]}-{title}.svg"
        save(draw_together([lines[name] for name in names[:IN_ONE_PICTURE]]), path)
        yield path


def remarks(found: PassageFindings) -> list[str]:
    """What to know besides the numbers, a line each: what was left out, notes, the test, the settings.

    Args:
        found: What was found.
    """
    return [one_line(line) for line in _remarks(found)]


def _gains(found: PassageFindings) -> Iterator[dict[str, object]]:
    for each in found.ranked:
        for place, k in enumerate(each.curve.ks):
            yield {
                "measure": each.measure,
                "k": k,
                "ncg": float(each.curve.ncg[place]),
                "low": None if each.curve.low is None else float(each.curve.low[place]),
                "high": None if each.curve.high is None else float(each.curve.high[place]),
                "reference": found.options.reference,
                "pool": found.options.pool,
                "leave_one_out": each.leave_one_out,
                "signature": each.signature,
            }


def _head(found: PassageFindings) -> str:
    rank = "all in one list" if found.options.pool == "all" else "a list a topic, the mean of them"
    around = found.ranked[0].curve.low is not None
    over = "folds" if found.options.reference == "others" and found.options.pool == "all" else "topics"
    topics = f"{found.topics} topic{'s' * (found.topics > 1)}"
    return (
        f"{SENSES[found.options.reference]}: {len(found.passages)} passages of {topics}, "
        f"{found.informative} with a grade above 0; {rank}" + (f"; 95 % intervals over {over}" if around else "")
    )


def _grid(found: PassageFindings) -> Grid:
    ks = found.ranked[0].curve.ks
    grid = [["measure", *(f"nCG@{k}" for k in ks)]]
    for each in found.ranked:
        curve = each.curve
        low, high = (curve.ncg if side is None else side for side in (curve.low, curve.high))
        cells = [value_with_interval(*cell) for cell in zip(curve.ncg, low, high, strict=True)]
        grid.append([each.name, *(cell if curve.low is not None else cell.partition(" ")[0] for cell in cells)])
    return grid


def _from_best(found: PassageFindings) -> Iterator[Grid]:
    """With passages in their references, and without: the best measure at the first cut, minus each other."""
    ks = found.ranked[0].curve.ks
    differences = {(row.first, row.second, row.k): row for row in found.differences}
    for leave in (False, True):
        some = [each for each in found.ranked if each.leave_one_out is leave or each.is_baseline]
        if all(each.is_baseline for each in some):
            continue
        best = max(some, key=lambda each: float(each.curve.ncg[0]))
        grid = [[f"{best.name} minus (* p < .05)", *(f"nCG@{k}" for k in ks)]]
        for other in some:
            cells = []
            for k in ks if other is not best else ():
                row, sign = differences.get((best.name, other.name, k)), 1
                if row is None:
                    row, sign = differences[other.name, best.name, k], -1
                low, high = sorted((sign * row.low, sign * row.high))
                star = "*" if row.p_holm < LEVEL else ""
                cells.append(value_with_interval(sign * row.value, low, high) + star)
            if cells:
                grid.append([other.name, *cells])
        if len(grid) > 1:
            yield grid


def _remarks(found: PassageFindings) -> Iterator[str]:
    yield from (f"left out: {each}" for each in found.left_out)
    yield from (f"note: {note}" for note in found.notes)
    options = found.options
    if options.reference == "topic":
        yield "a passage is part of its topic's reference, unless it says: without itself"
    if found.differences:
        test = "sign flips of topics" if options.pool == "topic" else "bootstrap"
        yield f"* p < .05 by {test}, after Holm's correction for all pairs at a cut; all pairs: --format json"
    yield f"ties: expected value; seed {options.seed}, {options.resamples} resamples"


def _signatures(found: PassageFindings) -> Iterator[str]:
    """Those that are alike but for their first part, together."""
    alike: dict[str, list[str]] = {}
    for each in found.ranked:
        spec, _, rest = each.signature.partition("|")
        alike.setdefault(rest, []).append(spec)
    for rest, specs in alike.items():
        yield f"signatures: {' '.join(specs)}"
        yield f"  each with |{rest}"
