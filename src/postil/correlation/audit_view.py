"""Tables and notes of the audit of `postil correlate`, for text formats and pages alike."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeVar

from postil.data.explain import counted
from postil.messages import Message
from postil.results.formats import listed
from postil.results.names import control, is_control, metric_of
from postil.results.table import Column, Count, Figure, Interval, Kind, Marks, Name, Number, PValue, Record, Table, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from postil.correlation.result import (
        AltTest,
        AltTestRow,
        Audit,
        Calibration,
        CorrelationResult,
        LengthBias,
        LengthBiasRow,
        LengthQuartile,
    )
    from postil.meta.parts import Correlation, RaterLevel, RaterVariance, UndefinedMapping

__all__ = [
    "MAPPINGS",
    "accuracies",
    "accuracy_table",
    "annotator_table",
    "audit_notes",
    "audit_tables",
    "chance_label",
    "counted_raters",
    "row_label",
    "threshold",
]

MAPPINGS: Final = ("none", "rounded", "isotonic", "linear")
"""Mappings of scores to the scale of the ratings, in the order in which they are shown: each is compared by itself."""


Mapped = TypeVar("Mapped", "AltTestRow", "Calibration")


def chance_label(name: str) -> str:
    """Label of the line with the accuracy by chance of a metric.

    >>> chance_label("meteor")
    'chance: meteor'
    """
    return f"chance: {name}"


def row_label(name: str, beside: str = "") -> str:
    """A metric or a control; a control without its metric where that stands beside it.

    Args:
        name: The name.
        beside: The metric beside it.
    """
    metric = metric_of(name)
    if not is_control(name):
        return name
    return control(name) if metric in {"", beside} else f"{control(name)} ({metric})"


def threshold(value: float) -> str:
    """An epsilon, without a 0 before the point.

    >>> threshold(0.2), threshold(0), threshold(1.5)
    ('.2', '0', '1.5')
    """
    text = f"{value:.3g}"
    return text.removeprefix("0") if text.startswith("0.") else text


def accuracies(result: CorrelationResult) -> list[Correlation]:
    """The accuracies of metrics and controls, each once: those of the audit, then those among the coefficients.

    Args:
        result: The result.
    """
    every = [row for each in (result.audit.rankings if result.audit else ()) for row in each.rows]
    every += [row for row in result.correlations if row.pairs is not None]
    return list({(row.metric, row.coefficient, row.by): row for row in every}.values())


def accuracy_table(result: CorrelationResult) -> Table | None:
    """Accuracies with all that belongs to them; None where there is no accuracy.

    Args:
        result: The result.
    """
    rows = accuracies(result)
    columns = (
        _name("accuracy"),
        _measure(),
        Interval("value", "value"),
        Interval("chance", "chance", low="chance_low", high="chance_high"),
        PValue("p", "p", zero=False),
        Number("plain", "plain"),
        Number("ties", "ties"),
        Figure("epsilon", lambda row: None if row.epsilon is None else threshold(row.epsilon)),
        Count("pairs", "pairs"),
    )
    there = [column for column in columns if any(column.value(row) is not None for row in rows)]
    caption = (
        "Accuracy in ranking pairs of texts or systems, with 95 % confidence intervals; chance is the metric’s own "
        "scores in random order, p the one-sided p-value against it, plain the accuracy where only equal scores are a "
        "tie, ties the accuracy of a constant metric"
    )
    return _of_metrics("accuracies", caption, rows, *there) if rows else None


def _name(alone: str) -> Name:
    """The metrics and controls; a title for the table where it stands alone."""
    return Name("metric", lambda row: row_label(row.metric), full="metric", plain=alone)


def _measure() -> Text:
    return Text("measure", lambda row: f"{row.coefficient} by {row.by}")


def _of_metrics(key: str, caption: str, rows: Sequence[Record], *columns: Column, long: bool = False) -> Table:
    return Table(key=key, caption=caption, rows=rows, columns=columns, kind=_kind, long=long)


def _kind(row: Record) -> Kind:
    return "control" if is_control(row.metric) else ""


def audit_tables(audit: Audit) -> Iterator[Table]:
    """The tables of an audit that have rows.

    Args:
        audit: The audit.
    """
    tables = (
        _margins(audit),
        _alt_test(audit.alt_test),
        _calibration(audit.calibration),
        _length(audit.length),
        _components(audit.raters),
        _ceilings(audit.raters),
    )
    return (table for table in tables if table.rows)


def _margins(audit: Audit) -> Table:
    caption = (
        "The best metric minus each other one and minus the controls, and each metric minus the lengths; 95 % "
        "confidence intervals"
    )
    return Table(
        key="margins",
        caption=caption,
        rows=[row for ranking in audit.rankings for row in ranking.margins],
        columns=(
            Name("difference", lambda row: (row.first, row.second), plain="margin"),
            _measure(),
            Interval("value", "value", signed=True),
        ),
    )


def _by_mapping(rows: Sequence[Mapped]) -> list[Mapped]:
    return sorted(rows, key=lambda row: MAPPINGS.index(row.mapping) if row.mapping in MAPPINGS else len(MAPPINGS))


def _alt_test(test: AltTest) -> Table:
    caption = (
        f"Alternative annotator test, epsilon {threshold(test.epsilon)}: winning rate omega (passed from .5 on), "
        "average advantage probability rho with 95 % confidence intervals, annotators that the metric wins against"
    )
    return _of_metrics(
        "alt-test",
        caption,
        _by_mapping(test.rows),
        _name(f"alternative test, epsilon {threshold(test.epsilon)}"),
        Text("mapping", "mapping"),
        Number("omega", "omega"),
        Interval("rho", "rho"),
        Marks("passed", "passed"),
        Figure("won", lambda row: f"{sum(each.wins for each in row.annotators)}/{len(row.annotators)}"),
    )


def annotator_table(test: AltTest) -> Table:
    """Each annotator beside each metric.

    Args:
        test: The alternative annotator test.
    """
    return Table(
        key="alt-test-annotators",
        caption="Each annotator: share of texts on which the metric is at least as close to the others (advantage), "
        "and on which the annotator is (human)",
        rows=[(row, each) for row in _by_mapping(test.rows) for each in row.annotators],
        columns=(
            Name("metric", lambda row: row_label(row[0].metric), full=lambda row: row[0].metric),
            Text("mapping", lambda row: row[0].mapping),
            Text("annotator", "annotator", at=itemgetter(1)),
            Count("texts", "n", at=itemgetter(1)),
            Number("advantage", "advantage", at=itemgetter(1)),
            Number("human", "human", at=itemgetter(1)),
            PValue("p", "p", at=itemgetter(1)),
            Marks("wins", "wins", at=itemgetter(1)),
        ),
        kind=lambda row: _kind(row[0]),
        long=True,
    )


def _calibration(found: Sequence[Calibration]) -> Table:
    caption = (
        "Error of the ratings that each metric predicts, in grades: mean absolute error, root mean squared error, "
        "mean error (above 0: too high), expected calibration error; 95 % confidence intervals"
    )
    return _of_metrics(
        "calibration",
        caption,
        _by_mapping(found),
        _name("calibration, in grades"),
        Text("mapping", "mapping"),
        Interval("mae", "mae", low="mae_low", high="mae_high"),
        Number("rmse", "rmse"),
        Number("bias", "bias"),
        Interval("ece", "ece", low="ece_low", high="ece_high"),
    )


def _length(found: LengthBias) -> Table:
    caption = (
        "Length: correlation of metric and ratings (plain), of metric and log length, of ratings "
        "and log length, partial given log length with its 95 % confidence interval, and within each quarter of the "
        "texts by length, the shortest first (Q1 to Q4)"
    )
    quarters = max((len(row.quartiles) for row in found.rows), default=0)
    return _of_metrics(
        "length",
        caption,
        found.rows,
        _name("length"),
        Text("coefficient", "coefficient"),
        Number("plain", "plain"),
        Number("with length", "with_length"),
        Number("grades with length", "grades_with_length"),
        Interval("partial", "partial"),
        *(Number(f"Q{place + 1}", "value", at=partial(_quarter, place)) for place in range(quarters)),
    )


def _quarter(place: int, row: LengthBiasRow) -> LengthQuartile:
    return row.quartiles[place]


def _components(found: RaterVariance) -> Table:
    return Table(
        key="raters",
        caption=f"Variance components of the ratings, in squared grades ({found.design}); below 0 counts as 0",
        rows=found.components,
        columns=(
            Name("component", "component", plain="variance of ratings"),
            Number("estimate", "estimate"),
            Number("share", "share"),
        ),
    )


def _ceilings(found: RaterVariance) -> Table:
    caption = (
        "Reliability of the mean of k raters: generalizability coefficient g, index of dependability phi, ceiling of "
        "Pearson’s coefficient, and the ceiling with other numbers of raters"
    )
    counts = dict.fromkeys(each.k for level in found.levels for each in level.growth)
    columns = (
        Name("level", "by", plain="reliability"),
        Figure("k", lambda row: f"{row.k:.3g}"),
        Number("g", "g"),
        Number("phi", "phi"),
        Number("ceiling", "ceiling"),
        *(Number(f"ceiling, k = {k:g}", partial(_ceiling, k=k)) for k in counts),
    )
    return Table(key="ceilings", caption=caption, rows=found.levels, columns=columns)


def _ceiling(level: RaterLevel, k: float) -> float | None:
    """The ceiling with another number of raters."""
    return {each.k: each.ceiling for each in level.growth}.get(k)


def counted_raters(k: float) -> str:
    """A number of raters, which may be a mean.

    >>> counted_raters(1), counted_raters(2.661)
    ('1 rater', '2.66 raters')
    """
    return f"{k:.3g} rater" if k == 1 else f"{k:.3g} raters"


def audit_notes(audit: Audit, named: Callable[[str], str] = str) -> Iterator[str]:
    """Notes on the numbers of an audit: numbers that do not exist, and how to read those that do.

    Args:
        audit: The audit.
        named: Function that marks a name that users gave.
    """
    for ranking in audit.rankings:
        lacking = ((named(each.metric), each.reason) for each in ranking.absent)
        yield from _without(f"{ranking.coefficient} by {ranking.by} of", lacking)
    test = audit.alt_test
    yield from test.notes
    tested, mapped = set(test.absent), set(audit.uncalibrated)
    for what, undefined in (("alternative test", tested - mapped), ("calibration", mapped - tested)):
        yield from _without(f"{what} of", _mappings(audit, undefined, named))
    yield from _without("alternative test and calibration of", _mappings(audit, tested & mapped, named))
    skipped = {each.annotator: each.n for row in test.rows for each in row.skipped}
    if skipped:
        names = listed([f"{named(name)} ({counted(n, 'text')})" for name, n in skipped.items()], most=6)
        yield f"not in the alternative test, for too few texts that somebody else rated: {names}"
    if any(row.mapping == "rounded" for row in test.rows):
        yield (
            "real numbers cannot tie with an annotator, ratings can: compare rows of one mapping, and first with "
            "control:constant"
        )
    yield from _on_length(audit.length, named)
    if audit.raters.reason:
        yield f"no variance components: {audit.raters.reason}"
    yield from (f"no g or phi by {level.by}: {level.reason}" for level in audit.raters.levels if level.reason)


def _mappings(
    audit: Audit, chosen: Collection[UndefinedMapping], named: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    """Name and reason of some metrics and mappings, in the order in which they came."""
    for row in dict.fromkeys([*audit.alt_test.absent, *audit.uncalibrated]):
        if row in chosen:
            yield f"{named(row.metric)} ({row.mapping})", row.reason


def _on_length(found: LengthBias, named: Callable[[str], str]) -> Iterator[str]:
    yield from _without("length bias of", ((named(each.metric), each.reason) for each in found.absent))
    if found.left_out:
        yield f"without a length above 0, so not in the length table: {counted(found.left_out, 'text')}"
    for row in found.rows[:1]:
        ranges = [
            f"{each.start:g} to {each.to:g} (n {each.n:,})"
            if each.start is not None and each.to is not None
            else "none"
            for each in row.quartiles
        ]
        yield f"quarters by {named(found.lengths)}: {'; '.join(ranges)}"
    reasons = (
        (f"{named(row.metric)} ({row.coefficient}, Q{place})", each.reason)
        for row in found.rows
        for place, each in enumerate(row.quartiles, 1)
        if each.reason
    )
    yield from _without("correlation of", reasons)


def _without(what: str, lacking: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A line for each reason, with all that it holds for."""
    reasons: dict[str, list[str]] = {}
    for name, reason in lacking:
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        yield Message("no {what} {names}: {reason}", what=what, names=listed(names, most=6), reason=reason)
