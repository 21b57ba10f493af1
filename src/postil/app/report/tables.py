"""The tables of a page: made once, shown as HTML and as LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from postil.app.report.blocks import Cell, Line, Sheet
from postil.app.report.lookup import ALPHA
from postil.app.report.words import (
    COEFFICIENTS,
    DASH,
    LEVELS,
    PEOPLE,
    control,
    count,
    grade,
    interval,
    isolated,
    metric_of,
    number,
    p_value,
    signed,
)
from postil.metaeval.agreement import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from postil.app.report.gains import Gains, Group
    from postil.app.report.lookup import Lookup
    from postil.app.report.results import (
        Agreement,
        Compared,
        Comparison,
        Difference,
        Estimate,
        GainDifference,
        Rater,
        Scored,
    )

__all__ = [
    "RATERS",
    "active",
    "agreement",
    "all_differences",
    "all_gain_differences",
    "annotators",
    "compared_controls",
    "comparison",
    "correlations",
    "cost_of_itself",
    "first_differences",
    "gains",
    "gains_from_best",
    "pairs",
    "scores",
    "signatures",
    "systems",
]

RATERS: Final = 12
"""So many annotators are shown, those with the most grades."""

PAIRS: Final = 45
"""So many pairs of annotators are shown, those with the most shared texts."""


ROWS: Final = 1000
"""Tables end after so many rows; the CSV files have all."""

Cells: TypeAlias = tuple[Cell, ...]
NONE: Final = Cell(DASH)


def correlations(look: Lookup) -> Sheet:
    """Metrics, each followed by its controls, and people, by each coefficient."""
    result = look.result
    counts = {(row.n, row.dropped) for row in result.correlations}
    counted = len(counts) > 1
    head = ["metric", *(COEFFICIENTS.get(name, name) for name in look.coefficients)]
    if counted:
        head += [_unit(result.settings.by), "left out"]

    def line(name: str, shown: str, *, behind: bool = False) -> Line:
        rows = [look.rows.get((name, coefficient)) for coefficient in look.coefficients]
        cells = [_with_interval(row) for row in rows]
        if counted:
            some = next(filter(None, rows), None)
            cells += [_whole(some.n), _whole(some.dropped)] if some else [NONE, NONE]
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
            lines.append(Line(shown + note, (*map(_with_interval, rows), *pad), "people"))
    if result.human.ceiling is not None and "pearson" in look.coefficients and result.settings.by == "pool":
        value = Cell(number(result.human.ceiling), value=result.human.ceiling)
        cells = tuple(value if name == "pearson" else NONE for name in look.coefficients)
        lines.append(Line("people: ceiling", (*cells, *pad), "people"))
    n = "" if counted or not counts else f", n = {next(iter(counts))[0]:,}"
    by = LEVELS.get(result.settings.by, result.settings.by)
    caption = f"{by[:1].upper()}{by[1:]}{n}; 95 % intervals in brackets"
    return Sheet("correlations", caption, tuple(head), tuple(lines))


def first_differences(look: Lookup) -> Sheet:
    """The differences that a reader asks for first."""
    head = ["difference"]
    for name in look.coefficients:
        head += [COEFFICIENTS.get(name, name), *(["p\N{NO-BREAK SPACE}(Holm)"] if name in look.tested else [])]
    lines = []
    for first, second in look.first_pairs():
        cells: list[Cell] = []
        for coefficient in look.coefficients:
            row = look.difference(first, second, coefficient)
            cells.append(_difference(row) if row else NONE)
            if coefficient in look.tested:
                cells.append(_p(row.p_holm if row else None))
        if any(cell is not NONE for cell in cells):
            lines.append(Line(f"{first} − {_shown(second, first)}", tuple(cells), full=f"{first} − {second}"))
    return Sheet(
        "differences",
        "Differences of correlations with 95 % intervals (* p < .05 after Holm’s correction)",
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
                Cell(COEFFICIENTS.get(row.coefficient, row.coefficient), words=True),
                _difference(row),
                *(_p(getattr(row, name)) for name in there),
            ),
        )
        for row in rows
    ]
    return _ended("all-differences", f"All {count(len(rows), 'difference')} of correlations", head, lines)


def systems(look: Lookup) -> Sheet:
    """Mean scores beside mean grades, best first by people."""
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
        lines.append(Line(row.system, (_whole(row.n), people, *means)))
    if several and any(result.orders.get(name) is not None for name in look.metrics):
        taus = [(result.orders.get(name)) for name in look.metrics]
        cells = [NONE if tau is None else Cell(number(tau), value=tau) for tau in taus]
        lines.append(Line("τ-b with people", (Cell(""), Cell(""), *cells), "people"))
    rank = ", rank in brackets" if several else ""
    head = ("system", "texts", "people", *look.metrics)
    return _ended("systems", f"Mean grade and mean scores of each system{rank}", head, lines)


def agreement(found: Agreement) -> Sheet:
    """The statistics of agreement."""
    lines = [
        Line(name, (_with_interval(each), Cell(STATISTICS.get(name, ""), words=True)))
        for name, each in found.estimates.items()
    ]
    caption = f"{count(found.texts, 'text')}, {count(found.ratings, 'grade')}; 95 % intervals in brackets"
    return Sheet("agreement", caption, ("statistic", "value", "what it is"), tuple(lines))


def active(found: Agreement) -> list[Rater]:
    """The annotators with the most grades."""
    return sorted(found.raters, key=lambda rater: -rater.n)[:RATERS]


def annotators(raters: Sequence[Rater], of: int) -> Sheet:
    """Some annotators.

    Args:
        raters: These.
        of: How many there are.
    """
    notes = any(rater.note for rater in raters)
    lines = []
    for rater in raters:
        severe = rater.severity
        cells = [
            _whole(rater.n),
            Cell(grade(rater.mean), value=rater.mean),
            NONE
            if severe is None
            else Cell(signed(severe.value, 2), interval(severe.low, severe.high, 2), severe.value),
        ]
        lines.append(Line(rater.name, (*cells, *([Cell(rater.note, words=True)] if notes else []))))
    few = f"The {len(raters)} annotators with the most grades of {of:,}" if len(raters) < of else "Annotators"
    head = ("annotator", "grades", "mean", "above the others", *(["note"] if notes else []))
    return Sheet("annotators", few, head, tuple(lines))


def pairs(found: Agreement) -> Sheet:
    """Pairs of annotators, those with the most shared texts first."""
    shown = sorted(found.pairs, key=lambda pair: -pair.n)[:PAIRS]
    reasons = any(pair.reason for pair in shown)
    lines = [
        Line(
            f"{pair.first} and {pair.second}",
            (
                _whole(pair.n),
                *(
                    NONE if value is None else Cell(number(value), value=value)
                    for value in (pair.agreement, pair.unweighted, pair.linear, pair.quadratic)
                ),
                *([Cell(pair.reason, words=True)] if reasons else []),
            ),
        )
        for pair in shown
    ]
    head = ("pair", "texts", "equal grades", "kappa", "linear", "quadratic", *(["note"] if reasons else []))
    few = f"The {len(shown)} pairs of annotators with the most shared texts, of {len(found.pairs):,}"
    return Sheet("pairs", few if len(shown) < len(found.pairs) else "Pairs of annotators", head, tuple(lines))


def comparison(found: Comparison) -> Sheet:
    """Systems against the baseline."""
    caption = f"Systems against {isolated(found.baseline)}, {count(found.items, 'item')}; 95 % intervals in brackets"
    rows = [row for row in found.systems if not row.metric.startswith("control:")]
    return _compared("comparison", f"{caption} (* p < .05 after Holm’s correction)", rows, found.baseline)


def compared_controls(found: Comparison) -> Sheet:
    """The same by controls."""
    rows = [row for row in found.systems if row.metric.startswith("control:")]
    return _compared("compared-controls", "The same by controls", rows, found.baseline)


def _compared(key: str, caption: str, rows: Iterable[Compared], baseline: str) -> Sheet:
    lines = []
    for row in rows:
        mean = Cell(number(row.mean), interval(row.low, row.high), row.mean)
        apart, tests = NONE, [NONE] * 3
        if row.difference is not None:
            strong = row.p_holm is not None and row.p_holm < ALPHA
            around = interval(row.difference_low, row.difference_high)
            apart = Cell(signed(row.difference), around, row.difference, strong)
            tests = [_p(p) for p in (row.p_bootstrap, row.p_randomisation, row.p_holm)]
        lines.append(Line(row.system, (Cell(row.metric, words=True), mean, apart, *tests)))
    head = ("system", "metric", "mean", f"minus {baseline}", "p (bootstrap)", "p (randomisation)", "p (Holm)")
    return _ended(key, caption, head, lines)


def scores(found: Scored) -> Sheet:
    """Corpus scores: a row a system, a column a metric."""
    metrics = list(dict.fromkeys(row.metric for row in found.scores))
    by_system: dict[str, dict[str, Cell]] = {}
    texts: dict[str, int] = {}
    for row in found.scores:
        by_system.setdefault(row.system, {})[row.metric] = Cell(number(row.score, 4), value=row.score)
        texts[row.system] = row.n
    lines = [
        Line(name, (_whole(texts[name]), *(cells.get(metric, NONE) for metric in metrics)))
        for name, cells in by_system.items()
    ]
    return _ended("scores", "Scores of each system over all its texts", ("system", "texts", *metrics), lines)


def gains(look: Gains) -> Sheet:
    """The nCG of each measure at each cut, those together that may be held against one another."""
    several = len(look.groups) > 1
    lines: list[Line] = []
    for group in look.groups:
        best = {k: look.highest(group, k) for k in look.cuts if len(group.names) > 1}
        if several:
            lines.append(Line(f"{group.title[:1].upper()}{group.title[1:]}", (), "group"))
        lines += [_gains_of(look, name, best) for name in group.names]
    if look.baselines:
        lines.append(Line("Baselines, which look at no reference", (), "group"))
        lines += [_gains_of(look, name, {}) for name in look.baselines]
    caption = "nCG at each cut"
    if look.has_intervals:
        caption += f", 95 % intervals over {look.units} in brackets"
    if any(len(group.names) > 1 for group in look.groups):
        caption += f"; bold: the highest{' of each group' if several else ''}"
    return Sheet("gains", caption, ("measure", *_cuts(look)), tuple(lines))


def gains_from_best(look: Gains, group: Group) -> Sheet:
    """The best of a group at the first cut, minus each other and the baselines."""
    best = look.best(group, look.cuts[0]) if look.cuts else ""
    lines = []
    for name in (*group.names, *look.baselines):
        rows = [look.difference(best, name, k) for k in look.cuts if name != best]
        if any(rows):
            cells = tuple(_difference(row) if row else NONE for row in rows)
            lines.append(Line(look.short[name], cells, "control" if name in look.baselines else "", name))
    key = "differences" if group is look.groups[0] else "differences-without-itself"
    title = f"{group.title[:1].upper()}{group.title[1:]}: " if group.title else ""
    name = look.short.get(best, best)
    caption = (
        f"{title}{isolated(name)}, the highest at the first cut, minus the others; 95 % intervals in brackets "
        "(* p < .05 after Holm’s correction)"
    )
    return Sheet(key, caption, (f"{name} minus", *_cuts(look)), tuple(lines))


def all_gain_differences(look: Gains) -> Sheet:
    """All pairs of rankings."""
    pairs = dict.fromkeys((row.first, row.second) for row in look.result.differences)
    lines = []
    for first, second in pairs:
        rows = [look.difference(first, second, k) for k in look.cuts]
        lines.append(Line(f"{first} − {second}", tuple(_difference(row) if row else NONE for row in rows)))
    return _ended("all-differences", f"All {count(len(pairs), 'pair')}", ("difference", *_cuts(look)), lines)


def cost_of_itself(look: Gains) -> Sheet:
    """How nCG changes when passages leave their references."""
    lines = []
    for inside, outside in look.both:
        cells = []
        for k in look.cuts:
            before, after = look.rows.get((inside, k)), look.rows.get((outside, k))
            change = after.ncg - before.ncg if before and after else None
            cells.append(NONE if change is None else Cell(signed(change), value=change))
        lines.append(Line(look.short[inside], tuple(cells)))
    caption = "How nCG changes when each passage is left out of its own reference"
    return Sheet("itself", caption, ("measure", *_cuts(look)), tuple(lines))


def _gains_of(look: Gains, name: str, best: Mapping[int, tuple[str, ...]]) -> Line:
    cells = []
    for k in look.cuts:
        row = look.rows.get((name, k))
        top = name in best.get(k, ())
        cells.append(Cell(number(row.ncg), interval(row.low, row.high), row.ncg, best=top) if row else NONE)
    return Line(look.short[name], tuple(cells), full=name if len(look.groups) > 1 else "")


def _cuts(look: Gains) -> list[str]:
    return [f"nCG@{k:,}" for k in look.cuts]


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


def _ended(key: str, caption: str, head: tuple[str, ...], lines: Sequence[Line]) -> Sheet:
    """A table that may be long."""
    more = f" (the first {ROWS:,} rows of {len(lines):,})" if len(lines) > ROWS else ""
    return Sheet(key, caption + more, head, tuple(lines[:ROWS]))


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


def _with_interval(row: Estimate | None) -> Cell:
    if row is None:
        return NONE
    return Cell(number(row.value), interval(row.low, row.high), row.value)


def _difference(row: Difference | GainDifference) -> Cell:
    strong = row.p_holm is not None and row.p_holm < ALPHA
    return Cell(signed(row.value), interval(row.low, row.high), row.value, strong)


def _p(p: float | None) -> Cell:
    return NONE if p is None else Cell(p_value(p), value=p)


def _whole(n: int) -> Cell:
    return Cell(f"{n:,}", value=n)


def _unit(by: str) -> str:
    return {"pool": "texts", "item": "items", "system": "systems"}.get(by, "n")
