"""The numbers of correlations by name, and findings as sentences: no more than intervals and tests allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.correlation.audit_view import chance_label
from postil.correlation.view import Line, by_chance
from postil.meta.coefficients import TABLE, titled
from postil.meta.parts import HALVES
from postil.results.formats import listed
from postil.results.names import LENGTH, control, family, is_control, metric_of, unweighted
from postil.results.numbers import estimate, number
from postil.results.page.blocks import UNCLEAR, VERDICTS, first_minus_second, is_clear, isolated, verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from postil.correlation.result import CorrelationResult
    from postil.meta.parts import Correlation, Difference
    from postil.results.page.blocks import Point

__all__ = ["Lookup", "metric_lines", "paragraph", "weights"]

FEW: Final = 6
"""Largest number of metrics of which all pairs are shown where none belong together."""

ORDER: Final = ("shuffled", "best", "top", "nearest", "mean-weight")
"""Order of the controls of a metric."""

NAMED: Final = 3
"""Number of metrics that a sentence names."""


class Lookup:
    """The numbers of a correlation result, by name.

    Args:
        result: The result.

    Attributes:
        metrics: The metrics, without controls, in the order in which they came.
        with_chance: Those of them that have an accuracy by chance.
        controls: The controls of each of them.
        loose: Controls that belong to none, such as the length of the text.
        families: Metrics that differ in their weights only, each family with its controls.
        coefficients: The coefficients.
        tested: Those of them whose differences are tested; the others have intervals only.
        main: The first one that is tested, else the first.
    """

    def __init__(self, result: CorrelationResult) -> None:
        self.result = result
        self.rows = {(row.metric, row.coefficient): row for row in result.correlations}
        self.people = {(row.metric, row.coefficient): row for row in result.human.rows}
        self._differences = {(row.first, row.second, row.coefficient): row for row in result.differences}
        names = dict.fromkeys([*result.signatures, *(row.metric for row in result.correlations)])
        self.metrics = tuple(name for name in names if not is_control(name))
        chance = {row.metric for row in result.correlations if row.chance is not None}
        self.with_chance = chance.intersection(self.metrics)
        of: dict[str, list[str]] = {}
        for name in names:
            if is_control(name):
                of.setdefault(metric_of(name), []).append(name)
        self.controls = {name: tuple(sorted(of.pop(name, ()), key=_order)) for name in self.metrics}
        self.loose = tuple(name for several in of.values() for name in several)
        families: dict[str, list[str]] = {}
        for name in self.metrics:
            families.setdefault(family(name), []).append(name)
        self.families = {
            name: (*members, *(control for member in members for control in self.controls[member]))
            for name, members in families.items()
        }
        rows = (row.coefficient for row in result.correlations)
        self.coefficients = tuple(dict.fromkeys([*result.settings.coefficients, *rows]))
        self.tested = {row.coefficient for row in result.differences if row.p_holm is not None}
        self.main = next((name for name in self.coefficients if name in self.tested), "".join(self.coefficients[:1]))

    def difference(self, first: str, second: str, coefficient: str) -> Difference | None:
        """The coefficient of the first minus that of the second."""
        return first_minus_second(self._differences, first, second, coefficient)

    def best(self, coefficient: str) -> Correlation | None:
        """The metric with the highest coefficient, the first of equal ones."""
        rows = [self.rows[name, coefficient] for name in self.metrics if (name, coefficient) in self.rows]
        return max(rows, key=lambda row: row.value, default=None)

    def controls_above(self, coefficient: str) -> list[Correlation]:
        """The controls whose coefficient is that of the best metric or higher, the highest first."""
        best = self.best(coefficient)
        rows = [row for (name, of), row in self.rows.items() if of == coefficient and is_control(name)]
        return sorted((row for row in rows if best and row.value >= best.value), key=lambda row: -row.value)

    def unweighted(self, metric: str) -> str | None:
        """The unweighted form of a weighted metric, if it was scored."""
        name = unweighted(metric)
        return name if name in self.metrics else None

    def against(self, metric: str) -> tuple[str, ...]:
        """The unweighted form and the controls of a metric, which it beats where its weights have an effect."""
        mine = [name for name in (self.unweighted(metric), *self.controls[metric]) if name]
        return (*mine, *(name for name in self.loose if mine and name == LENGTH))

    def first_pairs(self) -> Iterator[tuple[str, str]]:
        """The first pairs to compare: a weighted metric with its unweighted form and its controls.

        Where no metrics belong together so, all pairs of a few metrics; of many, the best against each other one.
        """
        related = [(name, other) for name in self.metrics for other in self.against(name)]
        if related:
            yield from related
        elif len(self.metrics) <= FEW:
            yield from ((a, b) for place, a in enumerate(self.metrics) for b in self.metrics[place + 1 :])
        elif best := self.best(self.main):
            yield from ((best.metric, name) for name in self.metrics if name != best.metric)


def _order(control: str) -> tuple[int, str]:
    kind = control.removeprefix("control:").partition("(")[0].partition("-")[0]
    return (ORDER.index(kind) if kind in ORDER else len(ORDER), control)


def metric_lines(look: Lookup) -> Iterator[tuple[str, Line]]:
    """The lines of metrics, controls and accuracies by chance, each with the family that it belongs to, if any.

    Args:
        look: The numbers.
    """

    def line(name: str, label: str) -> Line:
        rows = {each: row for each in look.coefficients if (row := look.rows.get((name, each)))}
        return Line(label, rows, "control" if is_control(name) else "", name, next(iter(rows.values()), None))

    for shared, members in look.families.items():
        for name in members:
            yield shared, line(name, _control_label(name, members) if is_control(name) else name)
            if name in look.with_chance:
                chance = {each: by_chance(look.rows.get((name, each))) for each in look.coefficients}
                yield shared, Line(chance_label(name), {each: row for each, row in chance.items() if row}, "control")
    yield from (("", line(name, control(name))) for name in look.loose)


def _control_label(name: str, members: Iterable[str]) -> str:
    """Label of a control, with its metric where the family has controls of several."""
    metrics = {metric_of(each) for each in members if is_control(each)}
    return control(name) if len(metrics) == 1 else f"{control(name)} ({metric_of(name)})"


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


def _kind_of(coefficients: Collection[str]) -> str:
    """Kind of number that coefficients are.

    >>> _kind_of(["pearson", "spa"]), _kind_of(["acc-eq"])
    ('correlation', 'accuracy')
    """
    return "accuracy" if all(TABLE[name].accuracy for name in coefficients) else "correlation"


def _value(row: Correlation) -> str:
    return estimate(row.value, row.low, row.high)


def _best(look: Lookup) -> str:
    """The best metric by each coefficient."""
    groups: dict[str, list[str]] = {}
    kind = _kind_of(look.coefficients)
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
                f"The split-half {_kind_of([coefficient])} of the human ratings is {_value(halves)} "
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


def _name(other: str) -> str:
    return control(other) if other.startswith("control:") else f"unweighted {isolated(other)}"
