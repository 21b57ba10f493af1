"""Verdict of an audit in plain sentences: no more than its intervals and tests allow."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, factorial, inf
from typing import TYPE_CHECKING, Final

from postil.correlation.audit_view import MAPPINGS, counted_raters, threshold
from postil.data.explain import counted
from postil.messages import Message
from postil.meta.coefficients import TABLE
from postil.results.base import replace
from postil.results.formats import listed
from postil.results.names import LENGTH, is_control

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from postil.correlation.result import AltTestRow, Audit, AuditRanking, CorrelationResult, LengthBiasRow
    from postil.meta.parts import Correlation, Difference

__all__ = ["Wording", "verdict"]

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
    audit = result.audit
    if audit is None:
        return []
    every = sorted(audit.rankings, key=lambda each: each.of)
    rankings = [_of_metrics(each, audit.length.lengths) for each in every]
    points = [
        *(
            (each.of, _ranking(each, of_all, audit.length.lengths, say))
            for each, of_all in zip(rankings, every, strict=True)
        ),
        ("chance", _chance(rankings, say)),
        ("length", " ".join(_length(audit, rankings, say))),
        ("a constant", " ".join(_constant(audit, rankings, say))),
        ("an annotator", _annotator(audit, say)),
        ("more raters", _more_raters(audit, result.settings.by, say)),
        ("more items", _more_items(rankings, result.data.items, say)),
        ("more texts", _skipped(audit, say)),
    ]
    return [(topic, said) for topic, said in points if said]


def _of_metrics(ranking: AuditRanking, lengths: str) -> AuditRanking:
    """The same without the rows of controls and lengths."""
    rows = (row for row in ranking.rows if not _stands_beside(row.metric, lengths))
    return replace(ranking, rows=tuple(rows))


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


def _ranking(ranking: AuditRanking, of_all: AuditRanking, lengths: str, say: Wording) -> str:
    """The metric that ranks texts or systems best, and the metrics and controls that it is not seen to be above.

    Args:
        ranking: The ranking by metrics.
        of_all: That by controls and lengths as well.
        lengths: Name of the lengths.
        say: The form of names and numbers.
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
        return f"{_then(first, aside, name)} cannot be told apart from {others} ({why})."
    if not leads and len(rows) > 1:
        unsaid = f"without intervals no metric can be said to rank {ranking.of} best"
        return f"The highest {value} is that of {name}{aside}; {unsaid}."
    if not leads:
        return f"{first}."
    others = "every other metric" if len(leads) == len(rows) - 1 else say.names([row.second for row in leads])
    but = f", that of its lead over {listed(near, 'or', NAMED)} does not" if near else ""
    return f"{first}; the interval of its lead over {others} excludes 0{but}."


def _then(first: str, aside: str, name: str) -> str:
    """Begin what follows about the best metric, which is named again where something else was spoken of."""
    return f"{first}. {name}" if aside else f"{first}; it"


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


def _length(audit: Audit, rankings: Sequence[AuditRanking], say: Wording) -> Iterator[str]:
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


def _constant(audit: Audit, rankings: Sequence[AuditRanking], say: Wording) -> Iterator[str]:
    """Metrics that are better than the same score for every text."""
    for ranking in rankings:
        ties = {row.metric: row.ties for row in ranking.rows if row.ties is not None}
        lows = {row.metric: 0.0 if row.low is None else row.low for row in ranking.rows}
        if ties:
            share = say.number(next(iter(ties.values())))
            above = say.out_of([name for name, of in ties.items() if lows[name] > of], len(ties))
            yield f"The same score for every text would rank {ranking.of} with {share}; better: {above}."
    test = {(row.metric, row.mapping): row for row in audit.alt_test.rows}
    mapping = next((each for each in FAIR if (CONSTANT, each) in test), "")
    rows = [row for row in audit.alt_test.rows if row.mapping == mapping]
    metrics = [row for row in rows if not _stands_beside(row.metric, audit.length.lengths)]
    if not metrics:
        return
    constant = test[CONSTANT, mapping]
    above = say.out_of([row.metric for row in metrics if _above(row, constant)], len(metrics))
    rho = say.estimate(constant.rho, constant.low, constant.high)
    yield f"In the alternative annotator test ({mapping}) a constant has rho {rho}; above it, intervals apart: {above}."
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
    now = f"With {counted_raters(level.k)} per text the ceiling of Pearson by {level.by} is {say.number(level.ceiling)}"
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
