"""The numbers of a correlation result, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from postil.results.names import LENGTH, control, family, is_control, metric_of, unweighted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from postil.correlation.result import CorrelationResult
    from postil.meta.parts import Correlation, Difference
    from postil.passages.result import GainDifference

__all__ = [
    "ABOVE",
    "ALPHA",
    "BELOW",
    "UNCLEAR",
    "VERDICTS",
    "Lookup",
    "control_label",
    "finding",
    "first_minus_second",
    "is_clear",
    "verdict",
]

At = TypeVar("At", str, int)
AnyDifference = TypeVar("AnyDifference", "Difference", "GainDifference")

ABOVE: Final = "significantly higher than"
BELOW: Final = "significantly lower than"
UNCLEAR: Final = "not significantly different from"
VERDICTS: Final = (ABOVE, BELOW, UNCLEAR)

ALPHA: Final = 0.05
FEW: Final = 6
"""Largest number of metrics of which all pairs are shown where none belong together."""

ORDER: Final = ("shuffled", "best", "top", "nearest", "mean-weight")


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


def control_label(name: str, members: Iterable[str]) -> str:
    """Label of a control, with its metric where the family has controls of several.

    Args:
        name: The control.
        members: The family.
    """
    metrics = {metric_of(each) for each in members if is_control(each)}
    return control(name) if len(metrics) == 1 else f"{control(name)} ({metric_of(name)})"


def is_clear(row: Difference | GainDifference) -> bool:
    """True if the confidence interval excludes 0 and the Holm-adjusted p, where there is one, is below .05."""
    return finding(row.value, row.low, row.high, row.p_holm) != UNCLEAR


def verdict(row: Difference | GainDifference) -> str:
    """The finding of a difference about its first side, one of `VERDICTS`."""
    return finding(row.value, row.low, row.high, row.p_holm)


def finding(value: float, low: float | None, high: float | None, p_holm: float | None) -> str:
    """One of `VERDICTS`.

    Args:
        value: The difference.
        low: Lower end of its 95 % confidence interval.
        high: Upper end.
        p_holm: Holm-adjusted p; None where there is no test.
    """
    if low is None or high is None or low <= 0 <= high or (p_holm is not None and p_holm >= ALPHA):
        return UNCLEAR
    return ABOVE if value > 0 else BELOW


def first_minus_second(
    rows: Mapping[tuple[str, str, At], AnyDifference], first: str, second: str, at: At
) -> AnyDifference | None:
    """The difference of two names at a coefficient or rank cutoff, reversed where it is stored the other way.

    Args:
        rows: The differences.
        first: A name.
        second: Another.
        at: The coefficient or rank cutoff.
    """
    if found := rows.get((first, second, at)):
        return found
    turned = rows.get((second, first, at))
    if turned is None or turned.low is None or turned.high is None:
        return None
    return turned.reversed()
