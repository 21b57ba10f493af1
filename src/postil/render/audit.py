"""Tables and notes of the audit of `postil correlate`, for text formats and pages alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from postil.render.formats import counted, listed, short, value_with_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from postil.records.results import (
        AltTest,
        AltTestRow,
        Audit,
        Calibration,
        Correlation,
        CorrelationResult,
        LengthBias,
        RaterVariance,
        UndefinedMapping,
    )
    from postil.render.formats import Grid

__all__ = [
    "MAPPINGS",
    "MISSING",
    "AuditTable",
    "accuracies",
    "accuracy_table",
    "annotator_table",
    "audit_notes",
    "audit_tables",
    "chance_label",
    "counted_raters",
    "threshold",
    "tied_notes",
]

MISSING: Final = "-"
"""Text of a cell without a number."""

MAPPINGS: Final = ("none", "rounded", "isotonic", "linear")
"""Mappings of scores to the scale of the ratings, in the order in which they are shown: each is compared by itself."""


Mapped = TypeVar("Mapped", "AltTestRow", "Calibration")


@dataclass(frozen=True, slots=True)
class AuditTable:
    """A table of an audit.

    Args:
        key: Identifier, for ids and file names.
        title: Head of the first column where the table stands alone.
        noun: Head of the first column below a caption.
        caption: Its caption.
        head: Heads of the other columns.
        rows: The cells.
    """

    key: str
    title: str
    noun: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def grid(self) -> Grid:
        """The cells with the title."""
        return [[self.title, *self.head], *map(list, self.rows)]


def chance_label(name: str) -> str:
    """Label of the line with the accuracy by chance of a metric.

    >>> chance_label("meteor")
    'chance: meteor'
    """
    return f"chance: {name}"


def threshold(value: float) -> str:
    """An epsilon, without a 0 before the point.

    >>> threshold(0.2), threshold(0), threshold(1.5)
    ('.2', '0', '1.5')
    """
    text = f"{value:.3g}"
    return text.removeprefix("0") if text.startswith("0.") else text


def tied_notes(rows: Iterable[Correlation], named: Callable[[str], str] = str) -> Iterator[str]:
    """A note on metrics whose best threshold ties every pair, level by level.

    Args:
        rows: Accuracies.
        named: Function that marks a name that users gave.
    """
    of: dict[tuple[str, str], list[Correlation]] = {}
    for row in rows:
        if row.all_tied:
            of.setdefault((row.coefficient, row.by), []).append(row)
    for (coefficient, by), tied in of.items():
        which = listed([named(row.metric) for row in tied])
        yield (
            f"{coefficient} by {by} of {which}: the best threshold ties every pair of texts, so "
            f"{short(tied[0].value)} is what the same score for all would get, and shows nothing of an order"
        )


def accuracies(result: CorrelationResult) -> list[Correlation]:
    """The accuracies of metrics and controls, each once: those of the audit, then those among the coefficients.

    Args:
        result: The result.
    """
    every = [row for each in (result.audit.rankings if result.audit else ()) for row in each.rows]
    every += [row for row in result.correlations if row.pairs is not None]
    return list({(row.metric, row.coefficient, row.by): row for row in every}.values())


def accuracy_table(result: CorrelationResult) -> AuditTable | None:
    """Accuracies with all that belongs to them; None where there is no accuracy.

    Args:
        result: The result.
    """
    rows = accuracies(result)
    if not rows:
        return None
    head = ("measure", "value", "chance", "p", "plain", "ties", "epsilon", "pairs")
    lines = list(map(_accuracy, rows))
    there = [place for place in range(len(head) + 1) if any(line[place] != MISSING for line in lines)]
    return AuditTable(
        "accuracies",
        "accuracy",
        "metric",
        "Accuracy in ranking pairs of texts or systems, with 95 % confidence intervals; chance is the metric’s own "
        "scores in random order, p the one-sided p-value against it, plain the accuracy where only equal scores are a "
        "tie, ties the accuracy of a constant metric",
        tuple(head[place - 1] for place in there[1:]),
        tuple(tuple(line[place] for place in there) for line in lines),
    )


def _accuracy(row: Correlation) -> tuple[str, ...]:
    return (
        row.metric,
        f"{row.coefficient} by {row.by}",
        _estimate(row.value, row.low, row.high),
        _estimate(row.chance, row.chance_low, row.chance_high),
        f"{row.p:.4f}".removeprefix("0"),
        _number(row.plain),
        _number(row.ties),
        MISSING if row.epsilon is None else threshold(row.epsilon),
        MISSING if row.pairs is None else f"{row.pairs:,}",
    )


def audit_tables(audit: Audit) -> Iterator[AuditTable]:
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


def _margins(audit: Audit) -> AuditTable:
    rows = [
        (f"{row.first} - {row.second}", f"{row.coefficient} by {row.by}", _estimate(row.value, row.low, row.high))
        for ranking in audit.rankings
        for row in ranking.margins
    ]
    caption = (
        "The best metric minus each other one and minus the controls, and each metric minus the lengths; 95 % "
        "confidence intervals"
    )
    return AuditTable("margins", "margin", "difference", caption, ("measure", "value"), tuple(rows))


def _by_mapping(rows: Sequence[Mapped]) -> list[Mapped]:
    return sorted(rows, key=lambda row: MAPPINGS.index(row.mapping) if row.mapping in MAPPINGS else len(MAPPINGS))


def _alt_test(test: AltTest) -> AuditTable:
    rows = [
        (
            row.metric,
            row.mapping,
            short(row.omega),
            _estimate(row.rho, row.low, row.high),
            "yes" if row.passed else "no",
            f"{sum(each.wins for each in row.annotators)}/{len(row.annotators)}",
        )
        for row in _by_mapping(test.rows)
    ]
    caption = (
        f"Alternative annotator test, epsilon {threshold(test.epsilon)}: winning rate omega (passed from .5 on), "
        "average advantage probability rho with 95 % confidence intervals, annotators that the metric wins against"
    )
    head = ("mapping", "omega", "rho", "passed", "won")
    return AuditTable(
        "alt-test", f"alternative test, epsilon {threshold(test.epsilon)}", "metric", caption, head, tuple(rows)
    )


def annotator_table(test: AltTest) -> AuditTable:
    """Each annotator beside each metric.

    Args:
        test: The alternative annotator test.
    """
    rows = [
        (
            row.metric,
            row.mapping,
            each.annotator,
            f"{each.n:,}",
            short(each.advantage),
            short(each.human),
            f"{each.p:.4f}".removeprefix("0"),
            "yes" if each.wins else "no",
        )
        for row in _by_mapping(test.rows)
        for each in row.annotators
    ]
    head = ("mapping", "annotator", "texts", "advantage", "human", "p", "wins")
    caption = (
        "Each annotator: share of texts on which the metric is at least as close to the others (advantage), and on "
        "which the annotator is (human)"
    )
    return AuditTable("alt-test-annotators", "annotators", "metric", caption, head, tuple(rows))


def _calibration(found: Sequence[Calibration]) -> AuditTable:
    rows = [
        (
            row.metric,
            row.mapping,
            _estimate(row.mae, row.mae_low, row.mae_high),
            short(row.rmse),
            short(row.bias),
            _estimate(row.ece, row.ece_low, row.ece_high),
        )
        for row in _by_mapping(found)
    ]
    caption = (
        "Error of the ratings that each metric predicts, in grades: mean absolute error, root mean squared error, "
        "mean error (above 0: too high), expected calibration error; 95 % confidence intervals"
    )
    head = ("mapping", "mae", "rmse", "bias", "ece")
    return AuditTable("calibration", "calibration, in grades", "metric", caption, head, tuple(rows))


def _length(found: LengthBias) -> AuditTable:
    quarters = max((len(row.quartiles) for row in found.rows), default=0)
    rows = [
        (
            row.metric,
            row.coefficient,
            *map(short, (row.plain, row.with_length, row.grades_with_length)),
            _estimate(row.partial, row.low, row.high),
            *(_number(each.value) for each in row.quartiles),
        )
        for row in found.rows
    ]
    caption = (
        "Length: correlation of metric and ratings (plain), of metric and log length, of ratings "
        "and log length, partial given log length with its 95 % confidence interval, and within each quarter of the "
        "texts by length, the shortest first (Q1 to Q4)"
    )
    head = ("coefficient", "plain", "with length", "grades with length", "partial")
    quarter = tuple(f"Q{place}" for place in range(1, quarters + 1))
    return AuditTable("length", "length", "metric", caption, (*head, *quarter), tuple(rows))


def _components(found: RaterVariance) -> AuditTable:
    rows = [(row.component, short(row.estimate), _number(row.share)) for row in found.components]
    caption = f"Variance components of the ratings, in squared grades ({found.design}); below 0 counts as 0"
    return AuditTable("raters", "variance of ratings", "component", caption, ("estimate", "share"), tuple(rows))


def _ceilings(found: RaterVariance) -> AuditTable:
    counts = list(dict.fromkeys(each.k for level in found.levels for each in level.growth))
    rows = []
    for level in found.levels:
        growth = {each.k: each.ceiling for each in level.growth}
        own = (f"{level.k:.3g}", _number(level.g), _number(level.phi), _number(level.ceiling))
        rows.append((level.by, *own, *(_number(growth.get(k)) for k in counts)))
    caption = (
        "Reliability of the mean of k raters: generalizability coefficient g, index of dependability phi, ceiling of "
        "Pearson’s coefficient, and the ceiling with other numbers of raters"
    )
    more = tuple(f"ceiling, k = {k:g}" for k in counts)
    return AuditTable("ceilings", "reliability", "level", caption, ("k", "g", "phi", "ceiling", *more), tuple(rows))


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
    yield from (f"no {what} {listed(names, most=6)}: {reason}" for reason, names in reasons.items())


def _number(value: float | None) -> str:
    return MISSING if value is None else short(value)


def _estimate(value: float | None, low: float | None, high: float | None) -> str:
    return MISSING if value is None else value_with_interval(value, low, high)
