"""Tables of a page, for HTML and LaTeX, and their cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from postil.comparison.view import compared_table
from postil.correlation.audit_view import chance_label, row_label
from postil.correlation.view import Line, Pair, by_chance, ceilings, correlation_table, difference_table
from postil.meta.coefficients import titled
from postil.page.lookup import control_label
from postil.page.words import LEVELS, capital, isolated
from postil.results.formats import counted
from postil.results.names import CEILING, PEOPLE, control, is_control
from postil.results.table import Count, Interval, Name, Number, PValue, Table, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from postil.comparison.result import Comparison
    from postil.meta.parts import SystemMean
    from postil.page.lookup import Lookup

__all__ = [
    "all_differences",
    "compared_controls",
    "comparison",
    "correlations",
    "first_differences",
    "metric_lines",
    "signatures",
    "systems",
]


def correlations(look: Lookup) -> Table:
    """Correlations by coefficient: metrics, each followed by its controls, and human reference points."""
    result = look.result
    counts = {(row.n, row.dropped) for row in result.correlations}
    row = attrgetter("counts")
    more = (Count(_unit(result.settings.by), "n", at=row), Count("excluded", "dropped", at=row))
    n = f", n = {next(iter(counts))[0]:,}" if len(counts) == 1 else ""
    by = LEVELS.get(result.settings.by, result.settings.by)
    caption = f"{capital(by)}{n}; 95 % confidence intervals in brackets"
    lines = (*(line for _, line in metric_lines(look)), *_people(look))
    return correlation_table(lines, look.coefficients, *(more if len(counts) > 1 else ()), caption=caption)


def metric_lines(look: Lookup) -> Iterator[tuple[str, Line]]:
    """The lines of metrics, controls and accuracies by chance, each with the family that it belongs to, if any.

    Args:
        look: The numbers.
    """

    def line(name: str, label: str) -> Line:
        rows = {each: row for each in look.coefficients if (row := look.rows.get((name, each)))}
        return Line(label, rows, "control" if is_control(name) else "", name, next(iter(rows.values()), None))

    for family, members in look.families.items():
        for name in members:
            yield family, line(name, control_label(name, members) if is_control(name) else name)
            if name in look.with_chance:
                chance = {each: by_chance(look.rows.get((name, each))) for each in look.coefficients}
                yield family, Line(chance_label(name), {each: row for each, row in chance.items() if row}, "control")
    yield from (("", line(name, control(name))) for name in look.loose)


def _people(look: Lookup) -> Iterator[Line]:
    by, human = look.result.settings.by, look.result.human
    for kind, label in PEOPLE.items():
        people = {each: row for each in look.coefficients if (row := look.people.get((kind, each)))}
        if people:
            over = f" ({LEVELS['pool']})" if next(iter(people.values())).by != by else ""
            yield Line(label + over, people, "people")
    if by == "pool" and (bounded := ceilings(human, look.coefficients)):
        yield Line(PEOPLE[CEILING], bounded, "people")


def first_differences(look: Lookup) -> Table:
    """The first differences to look at."""
    pairs = []
    for first, second in look.first_pairs():
        rows = {each: row for each in look.coefficients if (row := look.difference(first, second, each))}
        pairs += [Pair(first, second, rows)] if rows else []
    caption = "Differences of correlations with 95 % confidence intervals (* Holm-adjusted p < .05, interval without 0)"
    return difference_table(pairs, look.coefficients, look.tested, caption)


def all_differences(look: Lookup) -> Table:
    """All differences, with every test."""
    rows = look.result.differences
    tests = {
        "p_bootstrap": "bootstrap",
        "p_williams": "Williams",
        "p_permutation": "permutation",
        "p_both": "PERM-BOTH",
        "p_holm": "Holm",
    }
    there = [name for name in tests if any(getattr(row, name) is not None for row in rows)]
    return Table(
        key="all-differences",
        caption=f"All {counted(len(rows), 'difference')} of correlations",
        rows=rows,
        columns=(
            Name("difference", lambda row: (row_label(row.first), row_label(row.second, row.first))),
            Text("coefficient", lambda row: titled(row.coefficient)),
            Interval("value", "value", signed=True, strong=attrgetter("significant")),
            *(PValue(f"p ({tests[name]})", name) for name in there),
        ),
        long=True,
    )


@dataclass(frozen=True, slots=True)
class _System:
    """Mean scores of a system with their ranks; or rank correlations with the ratings, which have no rank."""

    name: str
    means: Mapping[str, tuple[float, int | None]]
    row: SystemMean | None = None


def systems(look: Lookup) -> Table:
    """Mean scores beside mean ratings, the highest rating first."""
    result = look.result
    several = len(result.systems) > 1
    rows = [
        _System(
            row.system, {name: (mean, row.ranks[name]) for name, mean in row.means.items() if name in row.ranks}, row
        )
        for row in sorted(result.systems, key=lambda row: row.rank)
    ]
    orders = {name: (value, None) for name in look.metrics if (value := result.orders.get(name)) is not None}
    if several and orders:
        rows.append(_System("τ-b with human ratings", orders))
    rank = ", rank in brackets" if several else ""
    return Table(
        key="systems",
        caption=f"Mean rating and mean scores of each system{rank}",
        rows=rows,
        columns=(
            Name("system", "name"),
            Count("texts", "n", at=attrgetter("row"), dash=""),
            Number("human", "grade", at=attrgetter("row"), grade=True, rank="rank" if several else None, dash=""),
            *(
                Number(name, partial(_part, name, 0), rank=partial(_part, name, 1) if several else None)
                for name in look.metrics
            ),
        ),
        kind=lambda row: "" if row.row else "people",
    )


def _part(metric: str, place: int, row: _System) -> float | None:
    return row.means[metric][place] if metric in row.means else None


def comparison(found: Comparison) -> Table:
    """Systems against the baseline."""
    items = counted(found.items, "item")
    kind = "corpus scores" if found.summed else "means"
    caption = f"Systems against {isolated(found.baseline)}, {kind} over {items}; 95 % confidence intervals in brackets"
    metrics = {row.metric for row in found.systems if not is_control(row.metric)}
    return compared_table(found, metrics, caption=f"{caption} (* Holm-adjusted p < .05)")


def compared_controls(found: Comparison) -> Table:
    """The same by controls."""
    controls = {row.metric for row in found.systems if is_control(row.metric)}
    return compared_table(found, controls, "compared-controls", "The same by controls")


def signatures(rows: Iterable[tuple[str, str]], noun: str = "metric") -> Table:
    """All that the numbers of each metric depend on."""
    return Table(
        key="signatures",
        caption=f"Signatures: all that a {noun}’s numbers depend on",
        rows=list(rows),
        columns=(Name(noun, itemgetter(0)), Text("signature", itemgetter(1))),
        kind=lambda row: "control" if is_control(row[0]) else "",
        long=True,
    )


def _unit(by: str) -> str:
    return {"pool": "texts", "item": "items", "system": "systems", "within-system": "systems"}.get(by, "n")
