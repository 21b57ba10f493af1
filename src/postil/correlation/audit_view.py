"""An audit's verdict in plain sentences, its tables and its notes, for text formats and pages alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import ceil, factorial, inf
from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeVar

from postil.data.explain import counted
from postil.data.groups import grouped
from postil.messages import Message
from postil.meta.coefficients import TABLE
from postil.results.base import replace
from postil.results.formats import listed
from postil.results.names import LENGTH, control, is_control, metric_of
from postil.results.table import Column, Count, Figure, Interval, Kind, Marks, Name, Number, PValue, Record, Table, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from postil.correlation.result import (
        AltTest,
        AltTestRow,
        Audit,
        AuditRanking,
        Calibration,
        CorrelationResult,
        LengthBias,
        LengthBiasRow,
        LengthQuartile,
    )
    from postil.meta.parts import Correlation, Difference, Extent, RaterLevel, RaterVariance, UndefinedMapping

__all__ = [
    "MAPPINGS",
    "Wording",
    "accuracies",
    "accuracy_table",
    "annotator_table",
    "audit_notes",
    "audit_tables",
    "chance_label",
    "row_label",
    "verdict",
]

MAPPINGS: Final = ("none", "rounded", "isotonic", "linear")
"""Mappings of scores to the scale of the ratings, in the order in which they are shown: each is compared by itself."""

Mapped = TypeVar("Mapped", "AltTestRow", "Calibration")

ALPHA: Final = 0.05

CONSTANT: Final = "control:constant"

NAMED: Final = 5
"""Number of names that a sentence gives."""

MORE: Final = 1.5
"""Factor by which the number of raters grows at least, in the sentence about more raters."""

TIMES: Final = 1000
"""Multiple of the items from which on an estimate of more items says only that it is more."""

FAIR: Final = ("rounded", "isotonic")
"""Mappings under which metrics are compared with a constant, of which the first that exists is taken."""


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


def _of_metrics(key: str, caption: str, rows: Sequence[Record], *columns: Column) -> Table:
    return Table(key=key, caption=caption, rows=rows, columns=columns, kind=_kind)


def _kind(row: Record) -> Kind:
    return "control" if is_control(row.metric) else ""


def audit_tables(audit: Audit) -> Iterator[Table]:
    """The tables of an audit that have rows.

    Args:
        audit: The audit.
    """
    epsilon = threshold(audit.alt_test.epsilon)
    tables = (
        Table(
            key="margins",
            caption="The best metric minus each other one and minus the controls, and each metric minus the lengths; "
            "95 % confidence intervals",
            rows=[row for ranking in audit.rankings for row in ranking.margins],
            columns=(
                Name("difference", lambda row: (row.first, row.second), plain="margin"),
                _measure(),
                Interval("value", "value", signed=True),
            ),
        ),
        _of_metrics(
            "alt-test",
            f"Alternative annotator test, epsilon {epsilon}: winning rate omega (passed from .5 on), average "
            "advantage probability rho with 95 % confidence intervals, annotators that the metric wins against",
            _by_mapping(audit.alt_test.rows),
            _name(f"alternative test, epsilon {epsilon}"),
            Text("mapping", "mapping"),
            Number("omega", "omega"),
            Interval("rho", "rho"),
            Marks("passed", "passed"),
            Figure("won", lambda row: f"{sum(each.wins for each in row.annotators)}/{len(row.annotators)}"),
        ),
        _of_metrics(
            "calibration",
            "Error of the ratings that each metric predicts, in grades: mean absolute error, root mean squared error, "
            "mean error (above 0: too high), expected calibration error; 95 % confidence intervals",
            _by_mapping(audit.calibration),
            _name("calibration, in grades"),
            Text("mapping", "mapping"),
            Interval("mae", "mae", low="mae_low", high="mae_high"),
            Number("rmse", "rmse"),
            Number("bias", "bias"),
            Interval("ece", "ece", low="ece_low", high="ece_high"),
        ),
        _length(audit.length),
        Table(
            key="raters",
            caption=f"Variance components of the ratings, in squared grades ({audit.raters.design}); below 0 counts as "
            "0",
            rows=audit.raters.components,
            columns=(
                Name("component", "component", plain="variance of ratings"),
                Number("estimate", "estimate"),
                Number("share", "share"),
            ),
        ),
        _ceilings(audit.raters),
    )
    return (table for table in tables if table.rows)


def _by_mapping(rows: Sequence[Mapped]) -> list[Mapped]:
    return sorted(rows, key=lambda row: MAPPINGS.index(row.mapping) if row.mapping in MAPPINGS else len(MAPPINGS))


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


def _length(found: LengthBias) -> Table:
    quarters = max((len(row.quartiles) for row in found.rows), default=0)
    return _of_metrics(
        "length",
        "Length: correlation of metric and ratings (plain), of metric and log length, of ratings "
        "and log length, partial given log length with its 95 % confidence interval, and within each quarter of the "
        "texts by length, the shortest first (Q1 to Q4)",
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


def _ceilings(found: RaterVariance) -> Table:
    counts = dict.fromkeys(each.k for level in found.levels for each in level.growth)
    return Table(
        key="ceilings",
        caption="Reliability of the mean of k raters: generalizability coefficient g, index of dependability phi, "
        "ceiling of Pearson’s coefficient, and the ceiling with other numbers of raters",
        rows=found.levels,
        columns=(
            Name("level", "by", plain="reliability"),
            Figure("k", lambda row: f"{row.k:.3g}"),
            Number("g", "g"),
            Number("phi", "phi"),
            Number("ceiling", "ceiling"),
            *(Number(f"ceiling, k = {k:g}", partial(_ceiling, k=k)) for k in counts),
        ),
    )


def _ceiling(level: RaterLevel, k: float) -> float | None:
    """The ceiling with another number of raters."""
    return {each.k: each.ceiling for each in level.growth}.get(k)


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
    for reason, names in grouped((reason, name) for name, reason in lacking).items():
        yield Message("no {what} {names}: {reason}", what=what, names=listed(names, most=6), reason=reason)


@dataclass(frozen=True, slots=True)
class Wording:
    """The form of names and numbers in sentences.

    Args:
        named: Function that marks a name that users gave.
        estimate: Function that prints a value with its interval, where there is one.
    """

    named: Callable[[str], str]
    estimate: Callable[[float, float | None, float | None], str]

    def number(self, value: float) -> str:
        """A number without an interval."""
        return self.estimate(value, None, None)

    def names(self, names: Sequence[str]) -> str:
        """A list of names."""
        return listed([self.named(name) for name in dict.fromkeys(names)], most=NAMED)

    def out_of(self, those: Sequence[str], n: int) -> str:
        """Those of n metrics that a sentence holds for."""
        return "every metric" if len(those) == n > 1 else self.names(those) or "no metric"


def verdict(result: CorrelationResult, say: Wording) -> list[tuple[str, str]]:
    """Pairs of topic and sentences, one per question that an audit answers; none without an audit.

    Args:
        result: The result.
        say: The form of names and numbers.
    """
    audit, extent = result.audit, result.extent
    if audit is None:
        return []
    few = extent.few_items
    if few:
        say = Wording(say.named, partial(_without_interval, say))
    every = sorted(audit.rankings, key=lambda each: each.of)
    every = [replace(each, margins=()) if _too_few(each, extent) else each for each in every]
    rankings = [_metrics_alone(each, audit.length.lengths) for each in every]
    points = [
        *(
            (each.of, _ranking(each, of_all, audit.length.lengths, say, _too_few(each, extent)))
            for each, of_all in zip(rankings, every, strict=True)
        ),
        ("chance", _chance(rankings, say)),
        ("length", " ".join(_above_length(audit, rankings, say))),
        ("a constant", " ".join(_constant(audit, rankings, say, few=few))),
        ("an annotator", _annotator(audit, say)),
        ("more raters", _more_raters(audit, result.settings.by, say)),
        ("more items", _more_items(rankings, result.data.items, say)),
        ("more texts", _skipped(audit, say)),
    ]
    return [(topic, said) for topic, said in points if said]


def _too_few(ranking: AuditRanking, extent: Extent) -> str:
    """The number of items or of systems, where it is so small that intervals do not tell the best metric."""
    if ranking.of == "systems" and extent.few_systems:
        return counted(extent.systems, "system")
    return counted(extent.items, "item") if extent.few_items else ""


def _without_interval(say: Wording, value: float, _low: float | None, _high: float | None) -> str:
    """A number without its interval."""
    return say.number(value)


def _metrics_alone(ranking: AuditRanking, lengths: str) -> AuditRanking:
    """The same without the rows of controls and lengths."""
    return replace(ranking, rows=tuple(row for row in ranking.rows if not _stands_beside(row.metric, lengths)))


def _stands_beside(name: str, lengths: str) -> bool:
    """True for controls and lengths, which metrics are compared with."""
    return is_control(name) or name == lengths


def _best(ranking: AuditRanking) -> Correlation | None:
    return max(ranking.rows, key=lambda row: row.value, default=None)


def _leads(ranking: AuditRanking) -> list[Difference]:
    """Margins of the best metric over the other metrics."""
    best, metrics = _best(ranking), {row.metric for row in ranking.rows}
    name = best.metric if best else ""
    turned = [row if row.first == name else row.reversed() for row in ranking.margins]
    return [row for row in turned if row.first == name and row.second in metrics]


def _ranking(ranking: AuditRanking, of_all: AuditRanking, lengths: str, say: Wording, few: str) -> str:
    """The metric that ranks texts or systems best, and the metrics and controls that it is not seen to be above.

    Args:
        ranking: The ranking by metrics.
        of_all: That by controls and lengths as well.
        lengths: Name of the lengths.
        say: The form of names and numbers.
        few: Items or systems that are too few for more than the highest value; empty where there are enough.
    """
    best, rows = _best(ranking), ranking.rows
    if best is None:
        reasons = "; ".join(dict.fromkeys(each.reason for each in ranking.absent))
        return f"No metric can be said to rank {ranking.of}: {reasons or 'none has an accuracy'}."
    value = f"{TABLE[best.coefficient].phrase} {say.estimate(best.value, best.low, best.high)}"
    name, leads = say.named(best.metric), _leads(ranking)
    beside = [row for row in of_all.rows if _stands_beside(row.metric, lengths)]
    ahead = sorted((row for row in beside if row.value >= best.value), key=lambda row: -row.value)
    higher = [f"{_control(row.metric, lengths, say)} has {say.estimate(row.value, row.low, row.high)}" for row in ahead]
    aside = f"; {listed(higher, most=NAMED)}" if higher else ""
    value += ", which ties every pair as a constant does" if best.all_tied else ""
    if not any(row.p < ALPHA for row in rows):
        same = say.names([row.metric for row in rows if row.value == best.value])
        return f"No metric ranks {ranking.of} better than chance; the highest is {value} ({same}){aside}."
    place = " best among the metrics" if aside else " best" if len(rows) > 1 else ""
    first = f"{name} ranks {ranking.of}{place}, with {value}{aside}"
    near = [
        _control(row.metric, lengths, say)
        for row in beside
        if row not in ahead and (lead := _margin(ranking, best.metric, row.metric)) and not lead.excludes_zero
    ]
    unclear = [row.second for row in leads if not row.excludes_zero]
    if unclear or (near and not leads):
        others = listed([*map(say.named, unclear), *near], most=NAMED)
        why = "the interval of the difference includes 0"
        again = f"{first}. {name}" if aside else f"{first}; it"
        return f"{again} cannot be told apart from {others} ({why})."
    if not leads and len(rows) > 1:
        unsaid = f"{f'with {few}' if few else 'without intervals'} no metric can be said to rank {ranking.of} best"
        return f"The highest {value} is that of {name}{aside}; {unsaid}."
    if not leads:
        return f"{first}."
    others = "every other metric" if len(leads) == len(rows) - 1 else say.names([row.second for row in leads])
    but = f", that of its lead over {listed(near, 'or', NAMED)} does not" if near else ""
    return f"{first}; the interval of its lead over {others} excludes 0{but}."


def _control(name: str, lengths: str, say: Wording) -> str:
    """A control or the lengths, in a sentence."""
    if name in {LENGTH, lengths}:
        return "the length of the text" if name == LENGTH else f"the length of the text ({say.named(name)})"
    return say.named(name)


def _margin(ranking: AuditRanking, first: str, second: str) -> Difference | None:
    """The margin of one over another, if there is one."""
    for row in ranking.margins:
        if {row.first, row.second} == {first, second}:
            return row if row.first == first else row.reversed()
    return None


def _chance(rankings: Sequence[AuditRanking], say: Wording) -> str:
    """Metrics that are better than their own scores in random order."""
    said = []
    for ranking in rankings:
        rows = [row for row in ranking.rows if row.chance is not None]
        if not rows:
            continue
        above = say.out_of([row.metric for row in rows if row.p < ALPHA], len(rows))
        least = 1 / factorial(min(row.n for row in rows)) if ranking.of == "systems" else 0
        few = f" (so few systems have too few orders: p is at least {say.number(least)})" if least >= ALPHA else ""
        said.append(f"{above} in ranking {ranking.of}{few}")
    return f"Better than its own scores in random order (p < .05): {'; '.join(said)}." if said else ""


def _above_length(audit: Audit, rankings: Sequence[AuditRanking], say: Wording) -> Iterator[str]:
    """Metrics that are better than the lengths, and the part of a correlation that remains without length."""
    name, said = audit.length.lengths, []
    for ranking in rankings:
        turned = [row if row.second == name else row.reversed() for row in ranking.margins]
        metrics = {row.metric for row in ranking.rows}
        rows = [row for row in turned if row.second == name and row.first in metrics]
        if rows:
            above = say.out_of([row.first for row in rows if row.value > 0 and row.excludes_zero], len(rows))
            below = [row.first for row in rows if row.value < 0 and row.excludes_zero]
            worse = f" (and worse: {say.out_of(below, len(rows))})" if below else ""
            said.append(f"{above} in ranking {ranking.of}{worse}")
    if said:
        yield f"Better than the length of the text alone (interval of the difference without 0): {'; '.join(said)}."
    row = _correlated_with_length(audit, rankings)
    if row is not None and row.partial is not None:
        plain, part = say.number(row.plain), say.estimate(row.partial, row.low, row.high)
        change = f"falls from {plain} to" if row.partial < row.plain else f"rises from {plain} to"
        change = "stays at" if say.number(row.partial) == plain else change
        yield f"Given length, Pearson of {say.named(row.metric)} {change} {part}."
    elif not said:
        reasons = [each.reason for each in audit.length.absent if each.metric == name] or [
            each.reason for each in audit.length.absent
        ]
        yield from (Message("Nothing can be said about length: {reason}.", reason=reason) for reason in reasons[:1])


def _correlated_with_length(audit: Audit, rankings: Sequence[AuditRanking]) -> LengthBiasRow | None:
    """The row of the metric that ranks texts best, or else the first metric."""
    rows = [row for row in audit.length.rows if TABLE[row.coefficient].linear and not is_control(row.metric)]
    best = next((best.metric for each in rankings if each.of == "texts" and (best := _best(each))), "")
    return next((row for row in rows if row.metric == best), next(iter(rows), None))


def _constant(audit: Audit, rankings: Sequence[AuditRanking], say: Wording, *, few: bool) -> Iterator[str]:
    """Metrics that are better than the same score for every text; with few items what that score has alone."""
    for ranking in rankings:
        ties = {row.metric: row.ties for row in ranking.rows if row.ties is not None}
        lows = {row.metric: 0.0 if row.low is None else row.low for row in ranking.rows}
        if ties:
            share = say.number(next(iter(ties.values())))
            above = say.out_of([name for name, of in ties.items() if lows[name] > of], len(ties))
            better = "" if few else f"; better: {above}"
            yield f"The same score for every text would rank {ranking.of} with {share}{better}."
    test = {(row.metric, row.mapping): row for row in audit.alt_test.rows}
    mapping = next((each for each in FAIR if (CONSTANT, each) in test), "")
    rows = [row for row in audit.alt_test.rows if row.mapping == mapping]
    metrics = [row for row in rows if not _stands_beside(row.metric, audit.length.lengths)]
    if not metrics:
        return
    constant = test[CONSTANT, mapping]
    above = say.out_of([row.metric for row in metrics if _above(row, constant)], len(metrics))
    rho = say.estimate(constant.rho, constant.low, constant.high)
    better = "" if few else f"; above it, intervals apart: {above}"
    yield f"In the alternative annotator test ({mapping}) a constant has rho {rho}{better}."
    if passing := [row.metric for row in rows if row.metric in {CONSTANT, audit.length.lengths} and row.passed]:
        yield f"{say.names(passing)} would pass that test too, so that passing it says little here."


def _above(row: AltTestRow, constant: AltTestRow) -> bool:
    return row.low is not None and constant.high is not None and row.low > constant.high


def _annotator(audit: Audit, say: Wording) -> str:
    """Metrics that pass the alternative annotator test, for each mapping by itself."""
    test = audit.alt_test
    rows = [row for row in test.rows if not _stands_beside(row.metric, audit.length.lengths)]
    if not rows:
        reasons = list(dict.fromkeys(each.reason for each in test.absent if not is_control(each.metric)))
        return f"Nothing can be said about replacing an annotator: {'; '.join(reasons)}." if reasons else ""
    tested = counted(max(len(row.annotators) for row in rows), "annotator")
    at = f"one of the {tested} at epsilon {threshold(test.epsilon)}"
    if not any(row.passed for row in rows):
        return f"No metric may replace {at}, by any mapping of its scores."
    said = [
        f"{mapping}: {say.out_of([row.metric for row in every if row.passed], len(every))}"
        for mapping in MAPPINGS
        if (every := [row for row in rows if row.mapping == mapping])
    ]
    return f"May replace {at}, each mapping of the scores taken by itself: {'; '.join(said)}."


def _more_raters(audit: Audit, by: str, say: Wording) -> str:
    """Growth of the ceiling with the number of raters."""
    levels = {level.by: level for level in audit.raters.levels}
    level = levels.get(by) or levels.get("pool") or next(iter(levels.values()), None)
    if level is None or level.ceiling is None:
        reason = audit.raters.reason if level is None else level.reason
        return f"Nothing can be said about more raters: {reason}." if reason else ""
    more = next((each for each in level.growth if each.k >= MORE * level.k and each.ceiling is not None), None)
    raters = f"{level.k:.3g} rater{'s' * (level.k != 1)}"
    now = f"With {raters} per text the ceiling of Pearson by {level.by} is {say.number(level.ceiling)}"
    if more is None or more.ceiling is None:
        return f"{now}."
    then = say.number(more.ceiling)
    if then == say.number(level.ceiling):
        return f"{now}, and no higher with {more.k:g}."
    return f"{now}; with {more.k:g} it would rise to {then}."


def _more_items(rankings: Sequence[AuditRanking], items: int, say: Wording) -> str:
    """Number of items with which the best metric could be told apart from another one."""
    said = []
    for ranking in rankings:
        unclear = [row for row in _leads(ranking) if not row.excludes_zero and row.low is not None and row.value > 0]
        if unclear:
            row = min(unclear, key=_factor)
            pair = f"{say.named(row.first)} from {say.named(row.second)} in ranking {ranking.of}"
            said.append(f"{pair} takes {_items(_factor(row), items)}")
    return f"If the differences stay as they are, telling {'; telling '.join(said)} (now {items:,})." if said else ""


def _factor(row: Difference) -> float:
    """Multiple of the items at which half the interval is as wide as the difference is large."""
    width = (row.high or 0) - (row.low or 0)
    return (width / 2 / abs(row.value)) ** 2 if row.value else inf


def _items(factor: float, items: int) -> str:
    """A number of items to two digits.

    >>> _items(25.5, 12), _items(0.9, 12), _items(1e9, 12)
    ('about 310 items', 'a few more items', 'more than 1,000 times as many items')
    """
    if factor > TIMES:
        return f"more than {TIMES:,} times as many items"
    needed = ceil(factor * items)
    if needed <= items:  # an interval that is wider on the side of 0
        return "a few more items"
    step = 10 ** max(len(str(needed)) - 2, 0)
    return f"about {ceil(needed / step) * step:,} items"


def _skipped(audit: Audit, say: Wording) -> str:
    """Annotators with too few texts for the alternative annotator test."""
    skipped = {each.annotator: each.n for row in audit.alt_test.rows for each in row.skipped}
    named = listed([f"{say.named(name)} ({counted(n, 'text')})" for name, n in skipped.items()], most=NAMED)
    return f"Too few texts that somebody else rated to be in the test of annotators: {named}." if skipped else ""
