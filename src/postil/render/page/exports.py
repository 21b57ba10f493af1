"""The files beside a page: its tables as CSV and LaTeX, and its results as JSON."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Final

import msgspec

from postil.records.ids import plain_id
from postil.records.results import Comparison, CorrelationResult, EstimateResult, NcgResult, ScoreResult, StudyResult
from postil.render.audit import accuracies
from postil.render.formats import grid_as, rows_as_csv
from postil.render.page.blocks import Collapsed
from postil.render.passages import length_columns
from postil.render.study import table_rows
from postil.render.table import Table
from postil.render.views import view_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.records.results import Agreement, Audit, GainByLength, Points, Result
    from postil.render.page.blocks import Block, Chapter

__all__ = ["RESULTS", "csv_tables", "latex_tables"]

RESULTS: Final = "results.json"
"""Name of the file with all results."""

Rows = list[dict[str, object]]


def latex_tables(chapter: Chapter) -> dict[str, bytes]:
    """The tables that a chapter shows, for the booktabs package, by file name.

    Args:
        chapter: The chapter.
    """
    sheets = (sheet for part in chapter.parts for sheet in _sheets(part.blocks))
    return {f"{chapter.key}{sheet.key}.tex": _latex(sheet).encode() for sheet in sheets if not sheet.long}


def csv_tables(result: Result, key: str) -> dict[str, bytes]:
    """All numbers of a result in full, by file name; no file where there are no rows.

    Args:
        result: The result.
        key: Prefix of the file names.
    """
    if isinstance(result, CorrelationResult):
        tables = dict(_correlated(result))
    elif isinstance(result, Comparison):
        tables = {"comparison": _rows(result.systems)}
    elif isinstance(result, NcgResult):
        tables = dict(_passages(result))
    elif isinstance(result, StudyResult):
        tables = {table.key: table_rows(table) for part in result.parts for table in part.tables}
        tables |= {each.key: _points(each.points) for part in result.parts for each in part.pictures if each.points}
    elif isinstance(result, EstimateResult):
        tables = {name: _rows(getattr(result, name)) for name in ("systems", "differences", "scores", "curve")}
        tables["signatures"] = [{"metric": name, "signature": text} for name, text in result.signatures.items()]
    elif isinstance(result, ScoreResult):
        tables = {"scores": _rows(result.scores)}
    else:
        view = view_of(result)
        name = f"{key}{result.__struct_config__.tag}.csv"
        return {name: rows_as_csv(view.rows, view.fields).encode()} if view.rows else {}
    return {f"{key}{name}.csv": rows_as_csv(rows, _fields(rows)).encode() for name, rows in tables.items() if rows}


def _sheets(several: Iterable[Block]) -> Iterator[Table]:
    for block in several:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Collapsed):
            yield from _sheets(block.blocks)


def _latex(sheet: Table) -> str:
    return grid_as("latex", sheet.grid(typeset=True, page=True))


def _points(points: Points) -> Rows:
    """The scores and the mean rating of every text."""
    columns = (points.grades, *points.scores.values())
    return [dict(zip(("human", *points.scores), row, strict=True)) for row in zip(*columns, strict=True)]


def _rows(structs: Iterable[msgspec.Struct]) -> Rows:
    return [msgspec.structs.asdict(struct) for struct in structs]


def _less(row: dict[str, object], name: str) -> dict[str, object]:
    return {each: value for each, value in row.items() if each != name}


def _fields(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _correlated(result: CorrelationResult) -> Iterator[tuple[str, Rows]]:
    yield "correlations", result.to_rows()
    both = any(row.p_both is not None for row in result.differences)
    yield "differences", [row if both else _less(row, "p_both") for row in _rows(result.differences)]
    yield (
        "systems",
        [
            {"system": row.system, "n": row.n, "metric": name, "mean": mean, "rank": rank}
            for row in result.systems
            for name, mean, rank in (
                ("people", row.grade, row.rank),
                *((name, mean, row.ranks.get(name)) for name, mean in row.means.items()),
            )
        ],
    )
    yield (
        "disagreements",
        [
            {
                "first": each.first,
                "second": each.second,
                "item": text.item,
                "system": text.system,
                "grade": text.grade,
                "score_first": text.scores[0],
                "score_second": text.scores[1] if text.scores[1:] else None,
                "normalised_first": text.normalised[0],
                "normalised_second": text.normalised[1] if text.scores[1:] else None,
                "difference": text.difference,
                "text": text.text,
            }
            for each in result.disagreements
            for text in each.texts
        ],
    )
    yield "signatures", [{"metric": name, "signature": text} for name, text in result.signatures.items()]
    yield "accuracies", [_there(row) for row in _rows(accuracies(result))]
    if result.audit is not None:
        yield from _audited(result.audit)
    if result.agreement is not None:
        yield from _agreement(result.agreement)


def _passages(result: NcgResult) -> Iterator[tuple[str, Rows]]:
    yield "gains", _rows(result.gains)
    yield "by-length", [*map(_by_length, result.by_length)]
    yield "differences", _rows(result.differences)
    yield (
        "curves",
        [
            {"measure": line.measure, "k": k, "ncg": ncg, "low": low, "high": high}
            for line in result.lines
            for k, ncg, low, high in zip(
                line.k, line.ncg, line.low or repeat(None), line.high or repeat(None), strict=False
            )
        ],
    )
    yield (
        "signatures",
        [{"measure": name, "signature": text} for name, text in {r.name: r.signature for r in result.gains}.items()],
    )


def _by_length(row: GainByLength) -> dict[str, object]:
    """A ranking by length: its numbers and those of its thirds."""
    found = {"measure": row.measure, "leave_one_out": row.leave_one_out, **length_columns(row)}
    for name, third in zip(row.THIRDS, row.thirds, strict=True):
        found |= {f"{name}_{field}": value for field, value in msgspec.structs.asdict(third).items()}
    return found


def _agreement(found: Agreement) -> Iterator[tuple[str, Rows]]:
    yield "agreement", [{"statistic": name, **msgspec.structs.asdict(each)} for name, each in found.estimates.items()]
    yield "pairs", _rows(found.pairs)
    raters: Rows = []
    for rater in found.raters:
        severity = rater.severity
        given = zip(found.labels, rater.histogram or (), strict=rater.histogram is not None)
        raters.append(
            {
                "annotator": rater.name,
                "n": rater.n,
                "mean": rater.mean,
                "severity": severity.value if severity else None,
                "low": severity.low if severity else None,
                "high": severity.high if severity else None,
                "note": rater.note,
                **{f"grade {label:g}": times for label, times in given},
            }
        )
    yield "annotators", raters
    counts = found.confusion or ()
    yield (
        "confusion",
        [
            {"grade": label, "other": other, "n": times}
            for label, row in zip(found.labels, counts, strict=bool(counts))
            for other, times in zip(found.labels, row, strict=True)
        ],
    )


def _audited(audit: Audit) -> Iterator[tuple[str, Rows]]:
    """The parts of an audit; a part within a row is a file of its own."""
    yield "margins", [_there(row) for each in audit.rankings for row in _rows(each.margins)]
    test = {"epsilon": audit.alt_test.epsilon, "q": audit.alt_test.q}
    tested = audit.alt_test.rows
    yield "alt-test", [{**row, **test} for row in _outer(tested)]
    names = ("metric", "mapping")
    yield "alt-test-annotators", _inner(tested, names, "annotators")
    yield "calibration", _outer(audit.calibration)
    yield "reliability", _inner(audit.calibration, names, "bins")
    length = {"lengths": audit.length.lengths, "n": audit.length.n, "left_out": audit.length.left_out}
    yield "length", [{**row, **length} for row in _outer(audit.length.rows)]
    yield "length-quarters", _inner(audit.length.rows, ("metric", "coefficient"), "quartiles")
    yield "raters", _rows(audit.raters.components)
    yield "ceilings", _outer(audit.raters.levels)
    yield "raters-growth", _inner(audit.raters.levels, ("by",), "growth")


def _outer(structs: Sequence[msgspec.Struct]) -> Rows:
    """The numbers of structs, without the parts that are structs themselves."""
    return [{name: value for name, value in row.items() if not isinstance(value, tuple)} for row in _rows(structs)]


def _inner(structs: Sequence[msgspec.Struct], names: Sequence[str], field: str) -> Rows:
    """The parts in a field of structs, each with the names of the struct that it is in."""
    return [
        {**{name: getattr(struct, name) for name in names}, **row}
        for struct in structs
        for row in msgspec.to_builtins(getattr(struct, field), enc_hook=plain_id)
    ]


def _there(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if value is not None}
