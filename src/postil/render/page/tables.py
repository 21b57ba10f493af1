"""Tables of a page, for HTML and LaTeX, and their cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.records.names import CEILING, PEOPLE, control, metric_of
from postil.records.results import Difference
from postil.render.audit import chance_label
from postil.render.formats import counted
from postil.render.numbers import DASH, grade, interval, number, p_value, signed
from postil.render.page.blocks import Cell, Row, Table
from postil.render.page.lookup import ALPHA, control_label
from postil.render.page.words import LEVELS, capital, isolated, titled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.records.results import (
        Comparison,
        Correlation,
        Estimate,
        GainDifference,
        ScoreResult,
        SystemComparison,
    )
    from postil.render.page.lookup import Lookup

__all__ = [
    "NONE",
    "all_differences",
    "compared_controls",
    "comparison",
    "correlations",
    "cut",
    "difference",
    "first_differences",
    "plain_value",
    "row_label",
    "scores",
    "signatures",
    "systems",
    "whole",
    "with_interval",
]


ROWS: Final = 1000
"""Largest number of rows of a table on the page; the CSV files have all."""

NONE: Final = Cell(DASH)
"""The cell of a missing number."""


def whole(n: int) -> Cell:
    """A count."""
    return Cell(f"{n:,}", value=n)


def plain_value(value: float | None) -> Cell:
    """A number without an interval, if there is one."""
    return NONE if value is None else Cell(number(value), value=value)


def with_interval(row: Correlation | Estimate | None) -> Cell:
    """A number with its interval, if there is one."""
    return NONE if row is None else Cell(number(row.value), interval(row.low, row.high), row.value)


def _by_chance(row: Correlation | None) -> Cell:
    """The accuracy by chance, if there is one."""
    if row is None or row.chance is None:
        return NONE
    return Cell(number(row.chance), interval(row.chance_low, row.chance_high), row.chance)


def difference(row: Difference | GainDifference | None) -> Cell:
    """A difference, if there is one; strong where it is significant."""
    if row is None:
        return NONE
    strong = row.significant if isinstance(row, Difference) else _holds(row.p_holm)
    return Cell(signed(row.value), interval(row.low, row.high), row.value, strong=strong)


def _holds(p_holm: float | None) -> bool:
    return p_holm is not None and p_holm < ALPHA


def _p_cell(p: float | None) -> Cell:
    """A p-value, if there is one."""
    return NONE if p is None else Cell(p_value(p), value=p)


def cut(key: str, caption: str, head: tuple[str, ...], lines: Sequence[Row]) -> Table:
    """A table of at most `ROWS` rows.

    Args:
        key: Identifier, for ids and file names.
        caption: Its caption.
        head: Labels of the columns.
        lines: All rows.
    """
    more = f" (the first {ROWS:,} rows of {len(lines):,})" if len(lines) > ROWS else ""
    return Table(key, caption + more, head, tuple(lines[:ROWS]))


def correlations(look: Lookup) -> Table:
    """Correlations by coefficient: metrics, each followed by its controls, and human reference points."""
    result = look.result
    counts = {(row.n, row.dropped) for row in result.correlations}
    counted = len(counts) > 1
    head = ["metric", *(titled(name) for name in look.coefficients)]
    if counted:
        head += [_unit(result.settings.by), "excluded"]

    def line(name: str, shown: str, *, behind: bool = False) -> Row:
        rows = [look.rows.get((name, coefficient)) for coefficient in look.coefficients]
        cells = [with_interval(row) for row in rows]
        if counted:
            some = next(filter(None, rows), None)
            cells += [whole(some.n), whole(some.dropped)] if some else [NONE, NONE]
        return Row(shown, tuple(cells), "control" if behind else "", name)

    lines = []
    for members in look.families.values():
        for name in members:
            behind = name.startswith("control:")
            lines.append(line(name, control_label(name, members) if behind else name, behind=behind))
            if name in look.with_chance:
                chance = [_by_chance(look.rows.get((name, coefficient))) for coefficient in look.coefficients]
                lines.append(Row(chance_label(name), (*chance, *([NONE, NONE] if counted else [])), "control"))
    lines += [line(name, control(name), behind=True) for name in look.loose]
    pad = (NONE, NONE) if counted else ()
    for kind, shown in PEOPLE.items():
        rows = [look.people.get((kind, coefficient)) for coefficient in look.coefficients]
        if any(rows):
            some = next(filter(None, rows))
            note = f" ({LEVELS['pool']})" if some.by != result.settings.by else ""
            lines.append(Row(shown + note, (*map(with_interval, rows), *pad), "people"))
    if result.human.ceiling is not None and "pearson" in look.coefficients and result.settings.by == "pool":
        value = Cell(number(result.human.ceiling), value=result.human.ceiling)
        cells = tuple(value if name == "pearson" else NONE for name in look.coefficients)
        lines.append(Row(PEOPLE[CEILING], (*cells, *pad), "people"))
    n = "" if counted or not counts else f", n = {next(iter(counts))[0]:,}"
    by = LEVELS.get(result.settings.by, result.settings.by)
    caption = f"{capital(by)}{n}; 95 % confidence intervals in brackets"
    return Table("correlations", caption, tuple(head), tuple(lines))


def first_differences(look: Lookup) -> Table:
    """The first differences to look at."""
    head = ["difference"]
    for name in look.coefficients:
        head += [titled(name), *(["p\N{NO-BREAK SPACE}(Holm)"] if name in look.tested else [])]
    lines = []
    for first, second in look.first_pairs():
        cells: list[Cell] = []
        for coefficient in look.coefficients:
            row = look.difference(first, second, coefficient)
            cells.append(difference(row))
            if coefficient in look.tested:
                cells.append(_p_cell(row.p_holm if row else None))
        if any(cell is not NONE for cell in cells):
            lines.append(Row(f"{first} − {row_label(second, first)}", tuple(cells), full=f"{first} − {second}"))
    return Table(
        "differences",
        "Differences of correlations with 95 % confidence intervals (* Holm-adjusted p < .05, interval without 0)",
        tuple(head),
        tuple(lines),
    )


def all_differences(look: Lookup) -> Table:
    """All differences, with every test."""
    rows = look.result.differences
    tests = ("p_bootstrap", "p_williams", "p_permutation", "p_both", "p_holm")
    there = [name for name in tests if any(getattr(row, name) is not None for row in rows)]
    shown = {
        "p_bootstrap": "bootstrap",
        "p_williams": "Williams",
        "p_permutation": "permutation",
        "p_both": "PERM-BOTH",
        "p_holm": "Holm",
    }
    head = ("difference", "coefficient", "value", *(f"p ({shown[name]})" for name in there))
    lines = [
        Row(
            f"{row_label(row.first)} − {row_label(row.second, row.first)}",
            (
                Cell(titled(row.coefficient), words=True),
                difference(row),
                *(_p_cell(getattr(row, name)) for name in there),
            ),
        )
        for row in rows
    ]
    return cut("all-differences", f"All {counted(len(rows), 'difference')} of correlations", head, lines)


def systems(look: Lookup) -> Table:
    """Mean scores beside mean ratings, the highest rating first."""
    result = look.result
    several = len(result.systems) > 1
    lines = []
    for row in sorted(result.systems, key=lambda row: row.rank):
        people = Cell(grade(row.grade), f"({row.rank})" if several else "", row.grade)
        means = [
            Cell(number(row.means[name]), f"({row.ranks[name]})" if several else "", row.means[name])
            if name in row.means and name in row.ranks
            else NONE
            for name in look.metrics
        ]
        lines.append(Row(row.system, (whole(row.n), people, *means)))
    if several and any(result.orders.get(name) is not None for name in look.metrics):
        cells = [plain_value(result.orders.get(name)) for name in look.metrics]
        lines.append(Row("τ-b with human ratings", (Cell(""), Cell(""), *cells), "people"))
    rank = ", rank in brackets" if several else ""
    head = ("system", "texts", "human", *look.metrics)
    return cut("systems", f"Mean rating and mean scores of each system{rank}", head, lines)


def comparison(found: Comparison) -> Table:
    """Systems against the baseline."""
    items = counted(found.items, "item")
    kind = "corpus scores" if found.summed else "means"
    caption = f"Systems against {isolated(found.baseline)}, {kind} over {items}; 95 % confidence intervals in brackets"
    rows = [row for row in found.systems if not row.metric.startswith("control:")]
    return _compared("comparison", f"{caption} (* Holm-adjusted p < .05)", rows, found)


def compared_controls(found: Comparison) -> Table:
    """The same by controls."""
    rows = [row for row in found.systems if row.metric.startswith("control:")]
    return _compared("compared-controls", "The same by controls", rows, found)


def _compared(key: str, caption: str, rows: Iterable[SystemComparison], found: Comparison) -> Table:
    lines = []
    for row in rows:
        mean = Cell(number(row.mean), interval(row.low, row.high), row.mean)
        apart, tests = NONE, [NONE] * 3
        if row.difference is not None:
            around = interval(row.difference_low, row.difference_high)
            apart = Cell(signed(row.difference), around, row.difference, strong=_holds(row.p_holm))
            tests = [_p_cell(p) for p in (row.p_bootstrap, row.p_randomisation, row.p_holm)]
        lines.append(Row(row.system, (Cell(row.metric, words=True), mean, apart, *tests)))
    score = "score" if found.summed else "mean"
    head = ("system", "metric", score, f"minus {found.baseline}", "p (bootstrap)", "p (randomization)", "p (Holm)")
    return cut(key, caption, head, lines)


def scores(found: ScoreResult) -> Table:
    """Corpus scores: one row per system, one column per metric."""
    metrics = list(dict.fromkeys(row.metric for row in found.scores))
    by_system: dict[str, dict[str, Cell]] = {}
    texts: dict[str, int] = {}
    for row in found.scores:
        by_system.setdefault(row.system, {})[row.metric] = Cell(number(row.score, 4), value=row.score)
        texts[row.system] = row.n
    lines = [
        Row(name, (whole(texts[name]), *(cells.get(metric, NONE) for metric in metrics)))
        for name, cells in by_system.items()
    ]
    return cut("scores", "Corpus scores of each system over all its texts", ("system", "texts", *metrics), lines)


def signatures(rows: Iterable[tuple[str, str]], noun: str = "metric") -> Table:
    """All that the numbers of each metric depend on."""
    lines = [
        Row(name, (Cell(text, words=True),), "control" if name.startswith("control:") else "") for name, text in rows
    ]
    return Table(
        "signatures",
        f"Signatures: all that a {noun}’s numbers depend on",
        (noun, "signature"),
        tuple(lines),
    )


def row_label(name: str, beside: str = "") -> str:
    """A metric or a control; a control without its metric where that stands beside it.

    Args:
        name: The name.
        beside: The metric beside it.
    """
    metric = metric_of(name)
    if not name.startswith("control:"):
        return name
    return control(name) if metric in {"", beside} else f"{control(name)} ({metric})"


def _unit(by: str) -> str:
    return {"pool": "texts", "item": "items", "system": "systems", "within-system": "systems"}.get(by, "n")
