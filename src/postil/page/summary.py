"""Findings as sentences: no more than confidence intervals and tests allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from postil.meta.coefficients import titled
from postil.page.lookup import UNCLEAR, VERDICTS, finding, is_clear, verdict
from postil.page.words import capital, isolated, kind_of
from postil.results.formats import counted, listed
from postil.results.names import HALVES, LENGTH, control
from postil.results.numbers import estimate, number, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.comparison.result import Comparison
    from postil.meta.parts import Correlation
    from postil.page.lookup import Lookup
    from postil.scoring.result import ScoreResult

__all__ = ["SIGNIFICANTLY", "Point", "compared", "paragraph", "scored", "weights"]

Point: TypeAlias = tuple[str, str]
"""A metric and a sentence about it."""

SIGNIFICANTLY: Final = (
    "“Significantly” means that the 95 % confidence interval of the difference excludes 0 and that the Holm-adjusted "
    "p, where there is a test, is below .05."
)
"""Definition of the word, once per chapter."""

NAMED: Final = 3
"""Number of metrics that a sentence names."""

SYSTEMS: Final = 20
"""Number of systems that a sentence names."""


def paragraph(look: Lookup) -> str:
    """The best metrics, the significance of their lead, and their distance from human reference points.

    Args:
        look: The numbers.
    """
    return " ".join(filter(None, [_best(look), _lead(look), *_people(look), _length(look)]))


def weights(look: Lookup) -> list[Point]:
    """Findings on each metric with an unweighted form or controls, compared with them.

    Args:
        look: The numbers.
    """
    coefficients = [name for name in look.coefficients if name in look.tested] or look.coefficients
    points = []
    for name in look.metrics:
        others = [other for other in look.against(name) if other != LENGTH]
        if others and (said := _against(look, name, others, coefficients)):
            points.append((name, said))
    return points


def _value(row: Correlation) -> str:
    return estimate(row.value, row.low, row.high)


def _best(look: Lookup) -> str:
    """The best metric by each coefficient."""
    groups: dict[str, list[str]] = {}
    kind = kind_of(look.coefficients)
    verb = "agrees" if kind == "accuracy" else "correlates"
    for coefficient in look.coefficients:
        if row := look.best(coefficient):
            groups.setdefault(row.metric, []).append(f"{titled(coefficient)} {_value(row)}")
    if not groups:
        return f"No metric has {'an' if kind == 'accuracy' else 'a'} {kind} with human ratings."
    aside = _controls(look)
    among = " among the metrics" if aside else ""
    if len(look.metrics) == 1:
        return f"{isolated(look.metrics[0])} {verb} with human ratings: {listed(groups[look.metrics[0]])}{aside}."
    if len(groups) == 1:
        ((name, values),) = groups.items()
        every = "by every coefficient" if len(values) > 1 else "with human ratings"
        return f"{isolated(name)} has the highest {kind}{among} {every}: {listed(values)}{aside}."
    (first, values), *rest = groups.items()
    said = [f"{isolated(first)} {verb} best{among} with human ratings by {listed(values)}"]
    return ", ".join(said + [f"{isolated(name)} by {listed(values)}" for name, values in rest]) + f"{aside}."


def _controls(look: Lookup) -> str:
    """Controls that are as high as the best metric, or higher, as the end of a sentence."""
    said = ""
    for coefficient in look.coefficients:
        above = look.controls_above(coefficient)
        names = ["the length of the text" if row.metric == LENGTH else isolated(row.metric) for row in above]
        values = [f"{name} has {_value(row)}" for name, row in zip(names, above, strict=True)]
        by = f"by {titled(coefficient)} " if len(look.coefficients) > 1 else ""
        said += f"; {by}{listed(values, most=NAMED)}" if above else ""
    return said


def _lead(look: Lookup) -> str:
    """Significance of the lead of the best metric."""
    coefficient = look.main
    best = look.best(coefficient)
    if best is None:
        return ""
    rows = [row for name in look.metrics if (row := look.difference(best.metric, name, coefficient))]
    if not rows:
        return ""
    unclear = [isolated(row.second) for row in rows if not is_clear(row)]
    by = f"By {titled(coefficient)} {isolated(best.metric)}"
    if not unclear:
        return f"{by} is significantly higher than every other metric."
    if len(unclear) == len(rows):
        return f"{by} is not significantly higher than any other metric."
    names = listed(unclear, "or", NAMED)
    higher = len(rows) - len(unclear)
    return f"{by} is significantly higher than {higher} of the {len(rows)} other metrics, but not than {names}."


def _people(look: Lookup) -> Iterator[str]:
    """Distance of the best metric from the human reference points."""
    people = look.result.human
    if people.reason:
        yield f"There are no human reference points: {people.reason}."
        return
    for coefficient in look.coefficients:
        halves, best = look.people.get((HALVES, coefficient)), look.best(coefficient)
        if halves and best and halves.by == best.by:
            away = f"{number(abs(halves.value - best.value))} {'below' if best.value < halves.value else 'above'}"
            yield (
                f"The split-half {kind_of([coefficient])} of the human ratings is {_value(halves)} "
                f"({titled(coefficient)}); {isolated(best.metric)} lies {away}, a difference without a test."
            )
            break
    best = look.best("pearson")
    if people.ceiling is not None and best and best.by == "pool":
        yield (
            "The reliability ceiling, the expected upper bound of Pearson’s coefficient with these mean ratings, is "
            f"{number(people.ceiling)}; {isolated(best.metric)} reaches {number(best.value)}."
        )


def _length(look: Lookup) -> str:
    """Comparison of the metrics with the length of the text."""
    coefficient = look.main
    row = look.rows.get((LENGTH, coefficient))
    if row is None:
        return ""
    rows = [each for name in look.metrics if (each := look.difference(name, LENGTH, coefficient))]
    above = [isolated(each.first) for each in rows if is_clear(each) and each.value > 0]
    said = f"The length of the text alone reaches {_value(row)} ({titled(coefficient)})"
    if not rows:
        return f"{said}."
    if len(above) in {0, len(rows)}:
        return f"{said}; {'every' if above else 'no'} metric is significantly higher."
    return f"{said}; {listed(above, most=NAMED)} {'are' if len(above) > 1 else 'is'} significantly higher."


def _against(look: Lookup, metric: str, others: Sequence[str], coefficients: Sequence[str]) -> str:
    """A metric compared with its unweighted form and controls: by the first coefficient, then where others differ."""
    said: list[str] = []
    main: dict[str, str] = {}
    for coefficient in coefficients:
        rows = {other: row for other in others if (row := look.difference(metric, other, coefficient))}
        groups: dict[str, list[str]] = {}
        for other, row in rows.items():
            if main.get(other) != verdict(row):
                groups.setdefault(verdict(row), []).append(_name(other))
        by = f"By {titled(coefficient)}"
        verdicts = [
            f"{side} {listed(groups[side], 'or' if side == UNCLEAR else 'and')}" for side in VERDICTS if side in groups
        ]
        if verdicts:
            said.append(f"{by}{' instead' if main else ''} {'; '.join(verdicts)}.")
        elif rows:
            said.append(f"{by} the same.")
        main = main or {other: verdict(row) for other, row in rows.items()}
    return " ".join(said)


def compared(found: Comparison) -> list[Point]:
    """Findings of each metric on the systems, compared with the baseline.

    Args:
        found: The comparison.
    """
    points = []
    for name in dict.fromkeys(row.metric for row in found.systems):
        rows = [row for row in found.systems if row.metric == name and row.difference is not None]
        if name.startswith("control:") or not rows:
            continue
        groups: dict[str, list[str]] = {}
        for row in rows:
            value = row.difference or 0
            side = finding(value, row.difference_low, row.difference_high, row.p_holm)
            groups.setdefault(side, []).append(f"{isolated(row.system)} ({signed(value)})")
        said = "; ".join(
            f"{side} {isolated(found.baseline)}: {listed(groups[side], most=SYSTEMS)}"
            for side in VERDICTS
            if side in groups
        )
        low = ". Lower is better here" if name in found.lower_is_better else ""
        points.append((name, f"{capital(said)}{low}."))
    return points


def scored(found: ScoreResult) -> str:
    """The system with the highest score by each metric.

    Args:
        found: The scores.
    """
    best: dict[str, list[str]] = {}
    for name in dict.fromkeys(row.metric for row in found.scores):
        rows = [row for row in found.scores if row.metric == name]
        top = max(rows, key=lambda row: row.score)
        best.setdefault(top.system, []).append(f"{isolated(name)} ({number(top.score)})")
    systems = len({row.system for row in found.scores})
    if systems < 2:
        return ""
    said = [f"{isolated(system)} has the highest {listed(names, most=NAMED)}" for system, names in best.items()]
    return f"Of {counted(systems, 'system')} {'; '.join(said)}."


def _name(other: str) -> str:
    return control(other) if other.startswith("control:") else f"unweighted {isolated(other)}"
