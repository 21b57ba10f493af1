"""The tables of a page, for HTML and LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.records.names import CEILING, PEOPLE, control, metric_of
from postil.render.formats import counted
from postil.render.numbers import grade, interval, number, signed
from postil.render.page.blocks import Cell, Line, Sheet
from postil.render.page.cells import NONE, difference, ended, of_p, plain_value, whole, with_interval
from postil.render.page.lookup import ALPHA
from postil.render.page.words import LEVELS, capital, isolated, titled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from postil.records.results import (
        Comparison,
        ScoreResult,
        SystemComparison,
    )
    from postil.render.page.lookup import Lookup

__all__ = [
    "all_differences",
    "compared_controls",
    "comparison",
    "correlations",
    "first_differences",
    "scores",
    "signatures",
    "systems",
]


def correlations(look: Lookup) -> Sheet:
    """Correlations by coefficient: metrics, each followed by its controls, and human reference points."""
    result = look.result
    counts = {(row.n, row.dropped) for row in result.correlations}
    counted = len(counts) > 1
    head = ["metric", *(titled(name) for name in look.coefficients)]
    if counted:
        head += [_unit(result.settings.by), "excluded"]

    def line(name: str, shown: str, *, behind: bool = False) -> Line:
        rows = [look.rows.get((name, coefficient)) for coefficient in look.coefficients]
        cells = [with_interval(row) for row in rows]
        if counted:
            some = next(filter(None, rows), None)
            cells += [whole(some.n), whole(some.dropped)] if some else [NONE, NONE]
        return Line(shown, tuple(cells), "control" if behind else "", name)

    lines = []
    for members in look.families.values():
        for name in members:
            behind = name.startswith("control:")
            lines.append(line(name, _of(name, members) if behind else name, behind=behind))
    lines += [line(name, control(name), behind=True) for name in look.loose]
    pad = (NONE, NONE) if counted else ()
    for kind, shown in PEOPLE.items():
        rows = [look.people.get((kind, coefficient)) for coefficient in look.coefficients]
        if any(rows):
            some = next(filter(None, rows))
            note = f" ({LEVELS['pool']})" if some.by != result.settings.by else ""
            lines.append(Line(shown + note, (*map(with_interval, rows), *pad), "people"))
    if result.human.ceiling is not None and "pearson" in look.coefficients and result.settings.by == "pool":
        value = Cell(number(result.human.ceiling), value=result.human.ceiling)
        cells = tuple(value if name == "pearson" else NONE for name in look.coefficients)
        lines.append(Line(PEOPLE[CEILING], (*cells, *pad), "people"))
    n = "" if counted or not counts else f", n = {next(iter(counts))[0]:,}"
    by = LEVELS.get(result.settings.by, result.settings.by)
    caption = f"{capital(by)}{n}; 95 % confidence intervals in brackets"
    return Sheet("correlations", caption, tuple(head), tuple(lines))


def first_differences(look: Lookup) -> Sheet:
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
                cells.append(of_p(row.p_holm if row else None))
        if any(cell is not NONE for cell in cells):
            lines.append(Line(f"{first} − {_shown(second, first)}", tuple(cells), full=f"{first} − {second}"))
    return Sheet(
        "differences",
        "Differences of correlations with 95 % confidence intervals (* Holm-adjusted p < .05)",
        tuple(head),
        tuple(lines),
    )


def all_differences(look: Lookup) -> Sheet:
    """All differences, with every test."""
    rows = look.result.differences
    tests = ("p_bootstrap", "p_williams", "p_permutation", "p_holm")
    there = [name for name in tests if any(getattr(row, name) is not None for row in rows)]
    shown = {"p_bootstrap": "bootstrap", "p_williams": "Williams", "p_permutation": "permutation", "p_holm": "Holm"}
    head = ("difference", "coefficient", "value", *(f"p ({shown[name]})" for name in there))
    lines = [
        Line(
            f"{_shown(row.first)} − {_shown(row.second, row.first)}",
            (
                Cell(titled(row.coefficient), words=True),
                difference(row),
                *(of_p(getattr(row, name)) for name in there),
            ),
        )
        for row in rows
    ]
    return ended("all-differences", f"All {counted(len(rows), 'difference')} of correlations", head, lines)


def systems(look: Lookup) -> Sheet:
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
        lines.append(Line(row.system, (whole(row.n), people, *means)))
    if several and any(result.orders.get(name) is not None for name in look.metrics):
        cells = [plain_value(result.orders.get(name)) for name in look.metrics]
        lines.append(Line("τ-b with human ratings", (Cell(""), Cell(""), *cells), "people"))
    rank = ", rank in brackets" if several else ""
    head = ("system", "texts", "human", *look.metrics)
    return ended("systems", f"Mean rating and mean scores of each system{rank}", head, lines)


def comparison(found: Comparison) -> Sheet:
    """Systems against the baseline."""
    items = counted(found.items, "item")
    caption = f"Systems against {isolated(found.baseline)}, means over {items}; 95 % confidence intervals in brackets"
    rows = [row for row in found.systems if not row.metric.startswith("control:")]
    return _compared("comparison", f"{caption} (* Holm-adjusted p < .05)", rows, found.baseline)


def compared_controls(found: Comparison) -> Sheet:
    """The same by controls."""
    rows = [row for row in found.systems if row.metric.startswith("control:")]
    return _compared("compared-controls", "The same by controls", rows, found.baseline)


def _compared(key: str, caption: str, rows: Iterable[SystemComparison], baseline: str) -> Sheet:
    lines = []
    for row in rows:
        mean = Cell(number(row.mean), interval(row.low, row.high), row.mean)
        apart, tests = NONE, [NONE] * 3
        if row.difference is not None:
            strong = row.p_holm is not None and row.p_holm < ALPHA
            around = interval(row.difference_low, row.difference_high)
            apart = Cell(signed(row.difference), around, row.difference, strong)
            tests = [of_p(p) for p in (row.p_bootstrap, row.p_randomisation, row.p_holm)]
        lines.append(Line(row.system, (Cell(row.metric, words=True), mean, apart, *tests)))
    head = ("system", "metric", "mean", f"minus {baseline}", "p (bootstrap)", "p (randomization)", "p (Holm)")
    return ended(key, caption, head, lines)


def scores(found: ScoreResult) -> Sheet:
    """Corpus scores: one row per system, one column per metric."""
    metrics = list(dict.fromkeys(row.metric for row in found.scores))
    by_system: dict[str, dict[str, Cell]] = {}
    texts: dict[str, int] = {}
    for row in found.scores:
        by_system.setdefault(row.system, {})[row.metric] = Cell(number(row.score, 4), value=row.score)
        texts[row.system] = row.n
    lines = [
        Line(name, (whole(texts[name]), *(cells.get(metric, NONE) for metric in metrics)))
        for name, cells in by_system.items()
    ]
    return ended("scores", "Corpus scores of each system over all its texts", ("system", "texts", *metrics), lines)


def signatures(rows: Iterable[tuple[str, str]], noun: str = "metric") -> Sheet:
    """All that the numbers of each metric depend on."""
    lines = [
        Line(name, (Cell(text, words=True),), "control" if name.startswith("control:") else "") for name, text in rows
    ]
    return Sheet(
        "signatures",
        f"Signatures: all that a {noun}’s numbers depend on",
        (noun, "signature"),
        tuple(lines),
    )


def _of(name: str, members: Iterable[str]) -> str:
    """A control; with the metric that it is one of, where the family has controls of several."""
    of = {metric_of(each) for each in members if each.startswith("control:")}
    return control(name) if len(of) == 1 else f"{control(name)} ({metric_of(name)})"


def _shown(name: str, beside: str = "") -> str:
    """A metric or a control; a control without its metric where that stands beside it."""
    metric = metric_of(name)
    if not name.startswith("control:"):
        return name
    return control(name) if metric in {"", beside} else f"{control(name)} ({metric})"


def _unit(by: str) -> str:
    return {"pool": "texts", "item": "items", "system": "systems"}.get(by, "n")
