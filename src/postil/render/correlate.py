"""View of the result of `postil correlate`."""

from __future__ import annotations

import math
import re
from itertools import groupby
from typing import TYPE_CHECKING, Final

from postil.escaping import one_line
from postil.records.names import CEILING, PEOPLE, family, is_control, metric_of
from postil.render.audit import (
    accuracies,
    accuracy_table,
    audit_notes,
    audit_tables,
    chance_label,
    tied_notes,
)
from postil.render.formats import counted, grid_as, short, value_with_interval
from postil.render.severity import is_significant, severity_remarks
from postil.render.verdict import Wording, verdict
from postil.render.views import View, best

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.records.results import (
        Correlation,
        CorrelationResult,
        Difference,
        DisagreementPair,
        UndefinedResult,
    )
    from postil.render.formats import Grid

__all__ = ["on_severity", "summary", "view", "warnings_of"]

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

FEW: Final = 6
"""Largest number of metrics of which all pairs are shown where none are related."""

OVER: Final = {
    "pool": "all texts together",
    "item": "mean of the items",
    "system": "means of the systems",
    "within-system": "texts of each system, mean of the systems",
}
AGREEMENT: Final = {
    "alpha-ordinal": "Krippendorff's alpha, ordinal",
    "alpha-interval": "Krippendorff's alpha, interval",
    "kappa-quadratic-pairs": "Cohen's kappa, quadratic weights, mean of pairs",
    "kappa-quadratic-pooled": "Scott's pi, quadratic weights",
    "agreement": "equal ratings",
}
"""The statistics of agreement that are shown, by name."""
WARNED: Final = re.compile(
    "; over=(near|kernel) (follows|loses)|references? of (its|their) own item|^few outliers rule"
)
"""Part of every warning: means of weights by similarity, candidates that are references, outliers; of no other note."""


def view(result: CorrelationResult, *, disagreements: bool = False) -> View:
    """One row per correlation; a grid of correlations, and one of the differences that matter most.

    Args:
        result: The result.
        disagreements: True to show the texts of the largest disagreements below the tables.
    """
    shown, settings = _chosen(result), result.settings
    grids = [_correlation_grid(result)]
    if shown:
        grids.append(_difference_grid(shown, settings.coefficients))
    if table := accuracy_table(result):
        grids.append(table.grid)
    if result.audit:
        grids += [table.grid for table in audit_tables(result.audit)]
    fields = (
        *FIELDS,
        *(name for name in OF_ACCURACIES if any(getattr(row, name) is not None for row in _rows(result))),
    )
    return View(
        rows=[{field: getattr(row, field) for field in fields} for row in _rows(result)],
        fields=fields,
        grids=grids,
        findings=[f"{topic}: {said}" for topic, said in verdict(result, Wording(str, value_with_interval))],
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
    )


def warnings_of(result: CorrelationResult) -> list[str]:
    """The notes that warn of ``over=near`` and ``over=kernel``, candidates that are references, and outliers.

    Args:
        result: The result.
    """
    return [note for note in result.notes if WARNED.search(note)]


def _head(result: CorrelationResult) -> str:
    data = result.data
    aspect = f", {data.aspect}" if data.aspect else ""
    texts, items, systems = counted(data.texts, "text"), counted(data.items, "item"), counted(data.systems, "system")
    return (
        f"{texts} ({items}, {systems}), {counted(data.ratings, 'grade')} by {counted(data.annotators, 'annotator')}"
        f"{aspect}; {OVER[result.settings.by]}; 95 % intervals over items"
    )


def _rows(result: CorrelationResult) -> Iterator[Correlation]:
    yield from result.correlations
    yield from result.human.rows


def _correlation_grid(result: CorrelationResult) -> Grid:
    """One row per metric, control and human reference point; one column per coefficient."""
    coefficients = result.settings.coefficients
    lines: dict[str, dict[str, str]] = {}
    chance = {row.metric for row in result.correlations if row.chance is not None and not is_control(row.metric)}
    for name in _names(result):
        lines |= {name: {}, chance_label(name): {}} if name in chance else {name: {}}
    for row in _rows(result):
        cell = value_with_interval(row.value, row.low, row.high)
        lines.setdefault(_label(row.metric, result), {})[row.coefficient] = cell
        if row.metric in chance and row.chance is not None:
            cell = value_with_interval(row.chance, row.chance_low, row.chance_high)
            lines[chance_label(row.metric)][row.coefficient] = cell
    if result.human.ceiling is not None and "pearson" in coefficients:
        lines[_label(CEILING, result)] = {"pearson": short(result.human.ceiling)}
    head = ["metric", *coefficients]
    return [head, *([name, *(cells.get(each, "-") for each in coefficients)] for name, cells in lines.items())]


def _label(name: str, result: CorrelationResult) -> str:
    """Label of a line; it says that it is over all texts where the other lines are not."""
    over = ", all texts" if name == CEILING and result.settings.by != "pool" else ""
    return PEOPLE.get(name, name) + over


def _names(result: CorrelationResult) -> list[str]:
    """Each metric, followed by its controls; then the controls of no metric."""
    found = [*(row.metric for row in result.correlations), *(row.metric for row in result.absent)]
    random = [name for name in dict.fromkeys(found) if name not in result.signatures and name not in PEOPLE]
    controls = [*(name for name in result.signatures if name.startswith("control:")), *random]
    of: dict[str, list[str]] = {}
    for name in controls:
        of.setdefault(metric_of(name), []).append(name)
    named = [name for name in result.signatures if name not in controls]
    ordered = [each for name in named for each in (name, *of.get(name, ()))]
    return [*ordered, *(name for name in controls if name not in ordered)]


def _chosen(result: CorrelationResult) -> Sequence[Difference]:
    """Differences between a weighted metric, its unweighted form and its controls.

    Where no metrics are related so, all differences of a few metrics, and none of many.
    """
    related = [row for row in result.differences if family(row.first) == family(row.second)]
    return related or (result.differences if len(result.signatures) <= FEW else [])


def _difference_grid(rows: Sequence[Difference], coefficients: Sequence[str]) -> Grid:
    """One row per pair, the weighted metric first; ``*`` where it is significant."""
    lines: dict[str, dict[str, str]] = {}
    for each in rows:
        row = each.reversed() if each.second.startswith("w-") and not each.first.startswith("w-") else each
        mark = "*" if row.significant else " "
        cell = value_with_interval(row.value, row.low, row.high) + mark
        lines.setdefault(f"{row.first} - {row.second}", {})[row.coefficient] = cell
    return [
        ["difference (* p < .05)", *coefficients],
        *([pair, *(cells.get(each, "-") for each in coefficients)] for pair, cells in lines.items()),
    ]


def _disagreement(pair: DisagreementPair) -> str:
    """A table of the texts on which two opinions differ most, each with its text below it."""
    opinions = (pair.first, pair.second)[: max((len(row.scores) for row in pair.texts), default=1)]
    grid = [["where they differ most", *opinions, "grade", "difference"]]
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
        yield f"excluded: {left}" if "mean taken" not in left.why else str(left)
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
        constant = "" if coefficients[0] == "acc-eq" else ", or scores or grades that are all the same"
        yield f"{units} dropped, since they have one text{constant}: {dropped}"
    for (what, reason), several in _together(result.absent_differences, coefficients):
        yield f"no difference in {what} with {', '.join(several)}: {reason}"
    if any(row.chance is not None for row in result.correlations) or (result.audit and result.audit.rankings):
        yield "p of an accuracy: against chance, the same scores in random order"


def _together(
    absent: Sequence[UndefinedResult], coefficients: Sequence[str]
) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Coefficients and reason, with the metrics that they are the same for."""
    of: dict[tuple[str, str], list[str]] = {}
    for each in absent:
        if each.metric != CEILING:
            of.setdefault((each.metric, each.reason), []).append(each.coefficient)
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
    if people.adjusted_ceiling is not None:
        yield (
            "annotators vary from text to text, so that their severities, which are kept, lower what can be reached; "
            f"the reliability ceiling with severities removed is {short(people.adjusted_ceiling)}"
        )
    if people.rows and not people.adjusted:
        yield "human reference points are of the ratings as given, severities included"


def _on_differences(result: CorrelationResult, shown: int) -> Iterator[str]:
    if shown:
        yield from (f"note: {note}" for note in result.notes if not WARNED.search(note))
    if len(result.differences) > shown:
        yield f"all {len(result.differences):,} differences: --format json, or --report FILE.html"
    if shown:
        yield (
            "* p < .05 by paired permutation test (random controls: bootstrap), Holm-adjusted, and the interval "
            "excludes 0"
        )


def summary(result: CorrelationResult) -> str:
    """Numbers of metrics, texts and annotators, and the best value of each coefficient.

    Args:
        result: The result.
    """
    values: dict[str, dict[str, float]] = {}
    for row in result.correlations:
        if not is_control(row.metric):
            values.setdefault(row.coefficient, {})[row.metric] = row.value
    metrics = [name for name in result.signatures if not name.startswith("control:")]
    data = result.data
    size = ", ".join(map(counted, (len(metrics), data.texts, data.annotators), ("metric", "text", "annotator")))
    if not values:
        return f"{size}; no coefficient exists"
    above: dict[str, Correlation] = {}
    for row in sorted(result.correlations, key=lambda row: row.value):
        if is_control(row.metric) and row.value >= max(values.get(row.coefficient, {}).values(), default=math.inf):
            above[row.coefficient] = row
    several = len(values) > 1
    said = [f"{row.metric} {f'{name} ' * several}{short(row.value)}" for name, row in above.items()]
    return f"{size}; {best(values)}{'; ' * bool(said)}{', '.join(said)}"
