"""The files beside a page: its tables as CSV and LaTeX, and its results as JSON."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from postil.comparison.result import Comparison
from postil.correlation.audit_view import accuracies
from postil.correlation.result import CorrelationResult
from postil.data.ids import plain_id
from postil.estimation.result import EstimateResult
from postil.page.blocks import Collapsed
from postil.passages.result import NcgResult
from postil.passages.view import length_columns
from postil.results.formats import grid_as, plain_rows, rows_as_csv
from postil.results.table import Table
from postil.results.views import view_of
from postil.scoring.result import ScoreResult
from postil.studies.result import StudyResult
from postil.studies.view import table_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from postil.meta.audit_parts import Audit
    from postil.meta.parts import Agreement
    from postil.page.blocks import Block, Chapter
    from postil.passages.result import GainByLength
    from postil.results.base import Result

__all__ = ["RESULTS", "csv_tables", "latex_tables"]

RESULTS: Final = "results.json"
"""Name of the file with all results."""

Rows: TypeAlias = "Sequence[Mapping[str, object] | msgspec.Struct]"


def latex_tables(chapter: Chapter) -> dict[str, bytes]:
    """The tables that a chapter shows, for the booktabs package, by file name.

    Args:
        chapter: The chapter.
    """
    sheets = (sheet for part in chapter.parts for sheet in _sheets(part.blocks))
    return {
        f"{chapter.key}{sheet.key}.tex": grid_as("latex", sheet.grid(typeset=True, page=True)).encode()
        for sheet in sheets
        if not sheet.long
    }


def csv_tables(result: Result, key: str) -> dict[str, bytes]:
    """All numbers of a result in full, by file name; no file where there are no rows.

    Args:
        result: The result.
        key: Prefix of the file names.
    """
    made = _TABLES.get(type(result))
    if made is None:
        view = view_of(result)
        name = f"{key}{result.__struct_config__.tag}.csv"
        return {name: rows_as_csv(view.rows, view.fields).encode()} if view.rows else {}
    return {f"{key}{name}.csv": rows_as_csv(rows, _fields(rows)).encode() for name, rows in made(result) if rows}


def _sheets(several: Iterable[Block]) -> Iterator[Table]:
    for block in several:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Collapsed):
            yield from _sheets(block.blocks)


def _latex(sheet: Table) -> str:
    return grid_as("latex", sheet.grid(typeset=True, page=True))


def _fields(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for row in plain_rows(rows) for name in row))


def _kept(rows: Rows, keep: Callable[[str, object], bool]) -> list[dict[str, object]]:
    """Rows with the fields alone whose name and value a function is true for."""
    return [{name: value for name, value in row.items() if keep(name, value)} for row in plain_rows(rows)]


def _there(_: str, value: object) -> bool:
    return value is not None


def _whole(_: str, value: object) -> bool:
    """True for a number, not for parts that are structs themselves."""
    return not isinstance(value, tuple)


def _signatures(noun: str, signatures: Mapping[str, str]) -> tuple[str, Rows]:
    return "signatures", [{noun: name, "signature": text} for name, text in signatures.items()]


def _correlated(result: CorrelationResult) -> Iterator[tuple[str, Rows]]:
    yield "correlations", result.to_rows()
    both = any(row.p_both is not None for row in result.differences)
    yield "differences", _kept(result.differences, lambda name, _: both or name != "p_both")
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
    yield _signatures("metric", result.signatures)
    yield "accuracies", _kept(accuracies(result), _there)
    if result.audit is not None:
        yield from _audited(result.audit)
    if result.agreement is not None:
        yield from _agreement(result.agreement)


def _passages(result: NcgResult) -> Iterator[tuple[str, Rows]]:
    yield "gains", result.gains
    yield "by-length", [*map(_by_length, result.by_length)]
    yield "differences", result.differences
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
    yield _signatures("measure", {row.name: row.signature for row in result.gains})


def _by_length(row: GainByLength) -> dict[str, object]:
    """A ranking by length: its numbers and those of its thirds."""
    found = {"measure": row.measure, "leave_one_out": row.leave_one_out, **length_columns(row)}
    for name, third in zip(row.THIRDS, row.thirds, strict=True):
        found |= {f"{name}_{field}": value for field, value in msgspec.structs.asdict(third).items()}
    return found


def _agreement(found: Agreement) -> Iterator[tuple[str, Rows]]:
    yield "agreement", [{"statistic": name, **msgspec.structs.asdict(each)} for name, each in found.estimates.items()]
    yield "pairs", found.pairs
    yield (
        "annotators",
        [
            {
                "annotator": rater.name,
                "n": rater.n,
                "mean": rater.mean,
                "severity": rater.severity and rater.severity.value,
                "low": rater.severity and rater.severity.low,
                "high": rater.severity and rater.severity.high,
                "note": rater.note,
                **{
                    f"grade {label:g}": times
                    for label, times in zip(found.labels, rater.histogram or (), strict=rater.histogram is not None)
                },
            }
            for rater in found.raters
        ],
    )
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
    yield "margins", _kept([row for each in audit.rankings for row in each.margins], _there)
    test = {"epsilon": audit.alt_test.epsilon, "q": audit.alt_test.q}
    tested = audit.alt_test.rows
    yield "alt-test", [{**row, **test} for row in _kept(tested, _whole)]
    names = ("metric", "mapping")
    yield "alt-test-annotators", _inner(tested, names, "annotators")
    yield "calibration", _kept(audit.calibration, _whole)
    yield "reliability", _inner(audit.calibration, names, "bins")
    length = {"lengths": audit.length.lengths, "n": audit.length.n, "left_out": audit.length.left_out}
    yield "length", [{**row, **length} for row in _kept(audit.length.rows, _whole)]
    yield "length-quarters", _inner(audit.length.rows, ("metric", "coefficient"), "quartiles")
    yield "raters", audit.raters.components
    yield "ceilings", _kept(audit.raters.levels, _whole)
    yield "raters-growth", _inner(audit.raters.levels, ("by",), "growth")


def _inner(structs: Sequence[msgspec.Struct], names: Sequence[str], field: str) -> Rows:
    """The parts in a field of structs, each with the names of the struct that it is in."""
    return [
        {**{name: getattr(struct, name) for name in names}, **row}
        for struct in structs
        for row in msgspec.to_builtins(getattr(struct, field), enc_hook=plain_id)
    ]


def _study(result: StudyResult) -> Iterator[tuple[str, Rows]]:
    for part in result.parts:
        yield from ((table.key, table_rows(table)) for table in part.tables)
        for picture in part.pictures:
            if picture.points:
                columns = {"human": picture.points.grades, **picture.points.scores}
                yield picture.key, [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _estimated(result: EstimateResult) -> Iterator[tuple[str, Rows]]:
    yield from ((name, getattr(result, name)) for name in ("systems", "differences", "scores", "curve"))
    yield _signatures("metric", result.signatures)


_TABLES: Final[Mapping[type[Result], Callable[[Any], Iterable[tuple[str, Rows]]]]] = {
    Comparison: lambda result: [("comparison", result.systems)],
    CorrelationResult: _correlated,
    EstimateResult: _estimated,
    NcgResult: _passages,
    ScoreResult: lambda result: [("scores", result.scores)],
    StudyResult: _study,
}
"""The tables of the kinds that have others than the rows of their view."""
