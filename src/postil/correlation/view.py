"""View of the result of `postil correlate`, its numbers by name, and findings as sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from postil.correlation.audit_view import (
    Wording,
    accuracies,
    accuracy_table,
    audit_notes,
    audit_tables,
    chance_label,
    row_label,
    verdict,
)
from postil.correlation.metrics_table import LEVEL_PHRASES, metrics_table
from postil.data.escaping import one_line
from postil.data.explain import counted
from postil.data.groups import grouped, nested
from postil.data.parts import Estimate
from postil.messages import Blank, Hint, Message, Setting
from postil.meta.coefficients import TABLE, linear, tied_notes, titled
from postil.meta.parts import (
    CEILING,
    HALVES,
    PEOPLE,
    Correlation,
    Difference,
    HumanAgreement,
    UndefinedResult,
    is_significant,
    severity_remarks,
)
from postil.results.formats import grid_as, listed, noted, short, value_with_interval
from postil.results.names import LENGTH, control, family, is_control, metric_of, unweighted
from postil.results.numbers import estimate, number
from postil.results.page.blocks import ABOVE, UNCLEAR, VERDICTS, Point, first_minus_second, isolated
from postil.results.page.blocks import verdict as difference_verdict
from postil.results.table import Column, Interval, Kind, Name, PValue, Table
from postil.results.views import WHOLE, View, best

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from postil.correlation.result import CorrelationResult, DisagreementPair

__all__ = [
    "Line",
    "Lookup",
    "Pair",
    "ceilings",
    "correlation_table",
    "difference_table",
    "metric_lines",
    "on_severity",
    "paragraph",
    "view",
    "weights",
]

FIELDS: Final = ("metric", "coefficient", "by", "value", "low", "high", "p", "n", "dropped")
"""The columns of a row per correlation."""

OF_ACCURACIES: Final = (
    "epsilon",
    "pairs",
    "plain",
    "ties",
    "chance",
    "chance_low",
    "chance_high",
    "chance_fixed",
    "draws",
    "exact",
    "all_tied",
)
"""Further columns where some row has them."""

OF_BASELINE: Final = ("difference", "difference_low", "difference_high", "difference_p", "significant")
"""Further columns where there is a baseline."""

FEW: Final = 6
"""Largest number of metrics of which all pairs are shown where none are related."""

REPORT: Final = Setting("report", Blank("FILE.html"), instead="postil.report(result, path=FILE)")
AGREEMENT: Final = {
    "alpha-ordinal": "Krippendorff's alpha, ordinal",
    "alpha-interval": "Krippendorff's alpha, interval",
    "kappa-quadratic-pairs": "Cohen's kappa, quadratic weights, mean of pairs",
    "kappa-quadratic-pooled": "Scott's pi, quadratic weights",
    "agreement": "equal ratings",
}
"""The statistics of agreement that are shown, by name."""

ORDER: Final = ("shuffled", "best", "top", "nearest", "mean-weight")
"""Order of the controls of a metric."""

NAMED: Final = 3
"""Number of metrics that a sentence names."""


def view(result: CorrelationResult, *, disagreements: bool = False) -> View:
    """One row per correlation; a grid of correlations, and one of the differences that matter most.

    Args:
        result: The result.
        disagreements: True to show the texts of the largest disagreements below the tables.
    """
    shown, settings = [] if result.settings.baseline else _chosen(result), result.settings
    grids = [correlation_table(_lines(result), settings.coefficients, from_baseline=_from_baseline(result))]
    if shown:
        grids.append(difference_table(_pairs(shown), settings.coefficients, strong=result.is_significant))
    grids += filter(None, [accuracy_table(result)])
    if result.audit:
        grids += audit_tables(result.audit)
    fields = (
        *FIELDS,
        *(name for name in OF_ACCURACIES if any(getattr(row, name) is not None for row in _rows(result))),
    )
    of_baseline = OF_BASELINE if settings.baseline else ()
    return View(
        line=_line(result),
        rows=[
            {field: getattr(row, field) for field in fields}
            | dict(zip(of_baseline, _difference_fields(result, row), strict=False))
            for row in _rows(result)
        ],
        fields=(*fields, *of_baseline),
        grids=grids,
        findings=[
            Message("{topic}: {said}", topic=topic, said=said)
            for topic, said in verdict(result, Wording(str, value_with_interval))
        ],
        head=_head(result),
        below="".join(map(_disagreement, result.disagreements)) if disagreements else "",
        remarks=[
            *_on_texts(result),
            *_on_numbers(result),
            *tied_notes(accuracies(result)),
            *_on_people(result),
            *_on_differences(result, len(shown)),
            *(audit_notes(result.audit) if result.audit else ()),
            f"seed {settings.seed}, {settings.resamples} resamples, {settings.permutations} permutations",
        ],
        metrics=metrics_table([result]),
        undefined=[row.metric for row in result.absent],
    )


def _head(result: CorrelationResult) -> str:
    data = result.data
    aspect = f", {data.aspect}" if data.aspect else ""
    texts, items, systems = counted(data.texts, "text"), counted(data.items, "item"), counted(data.systems, "system")
    return (
        f"{texts} ({items}, {systems}), {counted(data.ratings, 'grade')} by {counted(data.annotators, 'annotator')}"
        f"{aspect}; {LEVEL_PHRASES[result.settings.by]}; 95 % intervals over items"
    )


def _rows(result: CorrelationResult) -> Iterator[Correlation]:
    yield from result.correlations
    yield from result.human.rows


@dataclass(frozen=True, slots=True)
class Line:
    """The coefficients of a metric, a control, a human reference point or chance.

    Args:
        name: Its name.
        rows: The coefficients by name.
        kind: See `Table`.
        full: The full name, where ``name`` is a short one.
        counts: The row with the number of units, where it is shown.
    """

    name: str
    rows: Mapping[str, Correlation | Estimate]
    kind: Kind = ""
    full: str = ""
    counts: Correlation | None = None


def correlation_table(
    lines: Iterable[Line],
    coefficients: Sequence[str],
    *more: Column,
    caption: str = "",
    from_baseline: Mapping[str, Sequence[Column]] = MappingProxyType({}),
) -> Table:
    """One row per metric, control and human reference point; one column per coefficient.

    Args:
        lines: The rows.
        coefficients: The coefficients.
        more: Further columns.
        caption: The caption.
        from_baseline: Columns that follow each coefficient.
    """
    return Table(
        key="correlations",
        caption=caption,
        rows=list(lines),
        columns=(
            Name("metric", "name", full=lambda line: line.full or line.name),
            *chain.from_iterable(
                (
                    Interval(titled(name), "value", at=partial(_of, name), plain=name),
                    *from_baseline.get(name, ()),
                )
                for name in coefficients
            ),
            *more,
        ),
        kind=attrgetter("kind"),
    )


def _from_baseline(result: CorrelationResult) -> dict[str, tuple[Column, ...]]:
    """Columns of each metric minus the baseline, by coefficient: the difference, and its p where there is a test."""
    columns: dict[str, tuple[Column, ...]] = {}
    head = f"- {result.settings.baseline}"
    for coefficient, rows in grouped((row.coefficient, row) for row in result.from_baseline).items():
        at = partial(_in, {row.first: row for row in rows})
        difference = Interval(head, "value", at=at, signed=True, strong=result.is_significant, unmarked=" ")
        tested = any(row.p_holm is not None for row in rows)
        columns[coefficient] = (difference, *([PValue("p (Holm)", "p_holm", at=at, zero=False)] if tested else ()))
    return columns


def _in(rows: Mapping[str, Difference], line: Line) -> Difference | None:
    return rows.get(line.full or line.name)


def _difference_fields(result: CorrelationResult, row: Correlation) -> tuple[float | None, ...]:
    """The values of `OF_BASELINE` for a row."""
    for each in result.from_baseline:
        if (each.first, each.coefficient) == (row.metric, row.coefficient):
            return each.value, each.low, each.high, each.p_holm, result.is_significant(each)
    return (None,) * len(OF_BASELINE)


def _of(name: str, row: Line | Pair) -> Correlation | Estimate | Difference | None:
    return row.rows.get(name)


def by_chance(row: Correlation | None) -> Estimate | None:
    """The accuracy by chance, if there is one.

    Args:
        row: An accuracy.
    """
    if row is None or row.chance is None:
        return None
    return Estimate(value=row.chance, low=row.chance_low, high=row.chance_high)


def _lines(result: CorrelationResult) -> Iterator[Line]:
    """Metrics with their controls and their accuracy by chance, then the human reference points."""
    of: dict[str, dict[str, Correlation]] = {name: {} for name in _names(result)}
    for row in _rows(result):
        of.setdefault(row.metric, {})[row.coefficient] = row
    for name, rows in of.items():
        yield Line(_label(name, result), rows)
        chance = {each: found for each, row in rows.items() if (found := by_chance(row))}
        if chance and not is_control(name) and name not in PEOPLE:  # people are compared with people
            yield Line(chance_label(name), chance)
    if bounded := ceilings(result.human, result.settings.coefficients):
        yield Line(_label(CEILING, result), bounded)


def ceilings(human: HumanAgreement, coefficients: Sequence[str]) -> dict[str, Estimate]:
    """The reliability ceiling of each coefficient that has one.

    Args:
        human: Human reference points.
        coefficients: Names of the coefficients.
    """
    if human.ceiling is None:
        return {}
    return dict.fromkeys(linear(coefficients), Estimate(value=human.ceiling, low=None, high=None))


def _label(name: str, result: CorrelationResult) -> str:
    """Label of a line; it says that it is over all texts where the other lines are not."""
    over = ", all texts" if name == CEILING and result.settings.by != "pool" else ""
    return PEOPLE.get(name, name) + over


def _names(result: CorrelationResult) -> list[str]:
    """Each metric, followed by its controls; then the controls of no metric."""
    found = [*(row.metric for row in result.correlations), *(row.metric for row in result.absent)]
    random = [name for name in dict.fromkeys(found) if name not in result.signatures and name not in PEOPLE]
    controls = [*(name for name in result.signatures if name.startswith("control:")), *random]
    of = grouped((metric_of(name), name) for name in controls)
    named = [name for name in result.signatures if name not in controls]
    ordered = [each for name in named for each in (name, *of.get(name, ()))]
    return [*ordered, *(name for name in controls if name not in ordered)]


def _chosen(result: CorrelationResult) -> Sequence[Difference]:
    """Differences between a weighted metric, its unweighted form and its controls.

    Where no metrics are related so, all differences of a few metrics, and none of many.
    """
    related = [row for row in result.differences if family(row.first) == family(row.second)]
    return related or (result.differences if len(result.signatures) <= FEW else [])


@dataclass(frozen=True, slots=True)
class Pair:
    """The differences of two metrics.

    Args:
        first: A metric.
        second: Another.
        rows: The differences by coefficient.
    """

    first: str
    second: str
    rows: Mapping[str, Difference]


def difference_table(
    pairs: Iterable[Pair],
    coefficients: Sequence[str],
    tested: Collection[str] = (),
    caption: str = "",
    *,
    strong: Callable[[Difference], bool],
) -> Table:
    """One row per pair; a star where the difference is significant.

    Args:
        pairs: The rows.
        coefficients: The coefficients.
        tested: Those of them whose p-value a page shows.
        caption: The caption.
        strong: Function that is true for a significant difference.
    """
    columns: list[Column] = [
        Name(
            "difference",
            lambda pair: (pair.first, row_label(pair.second, pair.first)),
            full=lambda pair: (pair.first, pair.second),
            plain="difference (* p < .05)",
        )
    ]
    for name in coefficients:
        at = partial(_of, name)
        columns.append(Interval(titled(name), "value", at=at, plain=name, signed=True, strong=strong, unmarked=" "))
        if name in tested:
            columns.append(PValue("p\xa0(Holm)", "p_holm", at=at, only="page"))
    return Table(key="differences", caption=caption, rows=list(pairs), columns=columns)


def _pairs(rows: Sequence[Difference]) -> Iterator[Pair]:
    """The differences by pair, the weighted metric first."""
    turned = (row.reversed() if unweighted(row.second) and not unweighted(row.first) else row for row in rows)
    of = nested(((row.first, row.second), row.coefficient, row) for row in turned)
    return (Pair(*names, found) for names, found in of.items())


def _disagreement(pair: DisagreementPair) -> str:
    """A table of the texts on which two opinions differ most, each with its text below it."""
    opinions = (pair.first, pair.second)[: max((len(row.scores) for row in pair.texts), default=1)]
    grid = [[f"where {pair.first} and {pair.second} differ most", *opinions, "grade", "difference"]]
    for row in pair.texts:
        numbers = (*row.normalised, row.grade, row.difference)
        grid.append([f"{row.item} by {row.system}", *(f"{number:.2f}" for number in numbers)])
    lines = grid_as("table", grid).splitlines()
    texts = (None, None, *(row.text for row in pair.texts))
    return "\n" + "".join(
        f"{line}\n" + (f"    {one_line(text)}\n" if text else "") for line, text in zip(lines, texts, strict=True)
    )


def _on_texts(result: CorrelationResult) -> Iterator[str]:
    for left in result.data.left_out:
        yield str(left) if left.kept else f"excluded: {left}"
    if result.settings.lower_is_better:
        yield f"lower is better, so the sign is flipped: {', '.join(result.settings.lower_is_better)}"


def _on_numbers(result: CorrelationResult) -> Iterator[str]:
    """Undefined coefficients; metrics and coefficients with the same reason on one line."""
    coefficients = result.settings.coefficients
    for (what, reason), several in _together(result.absent, coefficients):
        names = ", ".join(_label(name, result).removeprefix("human: ") for name in several)
        yield f"no {what} of {names}: {reason}"
    yield from (f"no reliability ceiling: {each.reason}" for each in result.absent if each.metric == CEILING)
    first = [row for row in result.correlations if row.coefficient == coefficients[0] and row.dropped]
    if first:
        dropped = ", ".join(f"{row.metric} {row.dropped} of {row.dropped + row.n}" for row in first)
        units = "systems" if result.settings.by == "within-system" else "items"
        constant = "" if TABLE[coefficients[0]].ties else ", or scores or grades that are all the same"
        yield f"{units} dropped, since they have one text{constant}: {dropped}"
    for (what, reason), several in _together(result.absent_differences, coefficients):
        yield f"no difference in {what} with {', '.join(several)}: {reason}"
    if any(row.chance is not None for row in result.correlations) or (result.audit and result.audit.rankings):
        yield "p of an accuracy: against chance, the same scores in random order"


def _together(
    absent: Sequence[UndefinedResult], coefficients: Sequence[str]
) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Coefficients and reason, with the metrics that they are the same for."""
    of = grouped(((each.metric, each.reason), each.coefficient) for each in absent if each.metric != CEILING)
    same: dict[tuple[str, str], list[str]] = {}
    for (metric, reason), lacking in of.items():
        what = "coefficient" if set(lacking) == set(coefficients) else ", ".join(lacking)
        same.setdefault((what, reason), []).append(metric)
    yield from same.items()


def _on_people(result: CorrelationResult) -> Iterator[str]:
    people, agreed = result.human, result.agreement
    if people.reason:
        yield f"no human agreement: {people.reason}"
    elif people.reliability is not None:
        yield (
            f"reliability ceiling: two single ratings correlate {short(people.reliability)}; "
            f"{people.k:.2g} ratings per text"
        )
    yield from on_severity(result)
    if agreed is None:
        return
    shown = [(name, agreed.estimates[name]) for name in AGREEMENT if name in agreed.estimates]
    yield "agreement: " + "; ".join(
        f"{AGREEMENT[name]} {value_with_interval(each.value, each.low, each.high)}" for name, each in shown
    )
    lacking = [(agreed.absent[name], name) for name in AGREEMENT if name in agreed.absent]
    for reason, several in groupby(lacking, key=lambda each: each[0]):
        yield f"no {'; '.join(AGREEMENT[name] for _, name in several)}: {reason}"
    yield from (f"agreement: {note}" for note in agreed.notes)
    yield from (f"{rater.name} {rater.note}" for rater in agreed.raters if rater.note)


def on_severity(result: CorrelationResult) -> Iterator[str]:
    """Sentences on severities of annotators, and on their part in the human reference points.

    Args:
        result: The result.
    """
    people, severity = result.human, result.severity
    yield from severity_remarks(severity)
    if severity is None or severity.removed or not is_significant(severity):
        return
    ceiling = None if people.ceiling is None else short(people.ceiling)
    if people.adjusted_ceiling is not None and (adjusted := short(people.adjusted_ceiling)) != ceiling:
        yield (
            "annotators vary from text to text, so that their severities, which are kept, lower what can be reached; "
            f"the reliability ceiling with severities removed is {adjusted}"
        )
    if people.rows and not people.adjusted:
        yield "human reference points are of the ratings as given, severities included"


def _on_differences(result: CorrelationResult, shown: int) -> Iterator[str]:
    if shown:
        yield from noted(note for note in result.notes if note not in result.warnings)
    if result.settings.baseline:
        yield f"differences: each metric minus {result.settings.baseline}"
        yield from noted(note for note in result.notes if note not in result.warnings)
    if len(result.differences) > shown:
        yield Message(
            "all {count:,} differences: {whole}{page}",
            count=len(result.differences),
            whole=WHOLE,
            page=Hint(", or {report}", report=REPORT),
        )
    if shown or result.from_baseline:
        controls = "" if result.extent.few_items else " (random controls: bootstrap)"
        yield f"* p < .05 by paired permutation test{controls}, Holm-adjusted, and the interval excludes 0"


def _line(result: CorrelationResult) -> str:
    values = [(row.coefficient, row.metric, row.value) for row in result.correlations if not is_control(row.metric)]
    highest = {coefficient: value for coefficient, _, value in sorted(values, key=itemgetter(2))}
    metrics = [name for name in result.signatures if not name.startswith("control:")]
    data = result.data
    size = ", ".join(map(counted, (len(metrics), data.texts, data.annotators), ("metric", "text", "annotator")))
    if not values:
        return f"{size}; no coefficient exists"
    above: dict[str, Correlation] = {}
    for row in sorted(result.correlations, key=lambda row: row.value):
        if is_control(row.metric) and row.value >= highest.get(row.coefficient, math.inf):
            above[row.coefficient] = row
    several = len(highest) > 1
    said = [f"{row.metric} {f'{name} ' * several}{short(row.value)}" for name, row in above.items()]
    return f"{size}; {best(values)}{'; ' * bool(said)}{', '.join(said)}"


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
        of = grouped((metric_of(name), name) for name in names if is_control(name))
        self.controls = {name: tuple(sorted(of.pop(name, ()), key=_order)) for name in self.metrics}
        self.loose = tuple(name for several in of.values() for name in several)
        self.families = {
            name: (*members, *(control for member in members for control in self.controls[member]))
            for name, members in grouped((family(name), name) for name in self.metrics).items()
        }
        rows = (row.coefficient for row in result.correlations)
        self.coefficients = tuple(dict.fromkeys([*result.settings.coefficients, *rows]))
        self.tested = {row.coefficient for row in result.differences if row.p_holm is not None}
        self.main = next((name for name in self.coefficients if name in self.tested), "".join(self.coefficients[:1]))

    def difference(self, first: str, second: str, coefficient: str) -> Difference | None:
        """The coefficient of the first minus that of the second."""
        return first_minus_second(self._differences, first, second, coefficient)

    def verdict(self, row: Difference) -> str:
        """The finding of a difference about its first side, one of `VERDICTS`."""
        return difference_verdict(row) if self.result.extent.allows(row) else UNCLEAR

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
    kind = _kind_of(look.coefficients)
    verb = "agrees" if kind == "accuracy" else "correlates"
    best = [(row, titled(coefficient)) for coefficient in look.coefficients if (row := look.best(coefficient))]
    groups = grouped((row.metric, f"{coefficient} {_value(row)}") for row, coefficient in best)
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
    unclear = [isolated(row.second) for row in rows if look.verdict(row) == UNCLEAR]
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
    above = [isolated(each.first) for each in rows if look.verdict(each) == ABOVE]
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
        found = {other: look.verdict(row) for other, row in rows.items()}
        groups = grouped((side, _name(other)) for other, side in found.items() if main.get(other) != side)
        by = f"By {titled(coefficient)}"
        verdicts = [
            f"{side} {listed(groups[side], 'or' if side == UNCLEAR else 'and')}" for side in VERDICTS if side in groups
        ]
        if verdicts:
            said.append(f"{by}{' instead' if main else ''} {'; '.join(verdicts)}.")
        elif rows:
            said.append(f"{by} the same.")
        main = main or {other: look.verdict(row) for other, row in rows.items()}
    return " ".join(said)


def _name(other: str) -> str:
    return control(other) if other.startswith("control:") else f"unweighted {isolated(other)}"
