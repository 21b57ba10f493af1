"""What to know besides the numbers of `postil correlate`."""

from __future__ import annotations

from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING

from postil.app.correlating.tables import called, chosen_differences
from postil.errors import PostilError
from postil.escaping import one_line
from postil.metrics.reference_aggregation import differ_in_over, is_near
from postil.metrics.spec import parse_metric
from postil.records.names import CEILING, metric_of
from postil.render.formats import short, value_with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.app.correlating.files import Findings
    from postil.metaeval.correlation import Absent
    from postil.metaeval.significance import Difference
    from postil.metrics.base import Metric

__all__ = ["notes", "remarks", "turned", "warned"]


def remarks(found: Findings) -> list[str]:
    """What to know besides the numbers, a line each: what was left out, what does not exist and why, and the settings.

    Args:
        found: What was found.
    """
    options = found.options
    settings = f"seed {options.seed}, {options.resamples} resamples, {options.permutations} permutations"
    lines = [*_of_texts(found), *_of_numbers(found), *_of_people(found), *_of_differences(found), settings]
    return [one_line(line) for line in lines]


def _of_texts(found: Findings) -> Iterator[str]:
    for left in found.table.left_out:
        yield f"left out: {left}" if "mean taken" not in left.why else str(left)
    if low := turned(found):
        yield f"small numbers are good ones, so the sign is turned: {', '.join(low)}"


def _of_numbers(found: Findings) -> Iterator[str]:
    """What does not exist; metrics and coefficients with the same reason on one line."""
    absent = [*found.correlations.absent, *(found.human.absent if found.human else ())]
    for (what, reason), several in _together(absent, found.options.coefficients):
        names = ", ".join(called(name, found).removeprefix("people: ") for name in several)
        yield f"no {what} of {names}: {reason}"
    ceiling = [each.reason for each in absent if each.metric == CEILING]
    yield from (f"no ceiling: {reason}" for reason in ceiling)
    first = [row for row in found.correlations.rows if row.coefficient == found.options.coefficients[0] and row.dropped]
    if first:
        dropped = ", ".join(f"{row.metric} {row.dropped} of {row.dropped + row.n}" for row in first)
        yield f"items dropped, since they have one text, or scores or grades that are all the same: {dropped}"
    known = {(each.metric, each.coefficient) for each in found.correlations.absent}
    unlike = [
        each for result in found.differences for each in result.absent if (each.metric, each.coefficient) not in known
    ]
    for (what, reason), several in _together(unlike, found.options.coefficients):
        yield f"no difference in {what} with {', '.join(several)}: {reason}"


def _together(absent: Sequence[Absent], coefficients: Sequence[str]) -> Iterator[tuple[tuple[str, str], list[str]]]:
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


def _of_people(found: Findings) -> Iterator[str]:
    people, agreed = found.human, found.agreement
    if people is None:
        yield f"no people against people: {found.no_human}"
    elif people.reliability is not None:
        yield (
            f"ceiling: one rating against another correlates {short(people.reliability)}; {people.k:.2g} ratings a text"
        )
    if agreed is None:
        return
    names = ("alpha-ordinal", "alpha-interval", "kappa-quadratic-pooled", "agreement")
    shown = [(name, agreed.estimates[name]) for name in names if name in agreed.estimates]
    yield "agreement: " + ", ".join(
        f"{name} {short(each.value)}"
        if each.low is None or each.high is None
        else f"{name} {value_with_interval(each.value, each.low, each.high)}"
        for name, each in shown
    )
    lacking = [(agreed.absent[name], name) for name in names if name in agreed.absent]
    for reason, several in groupby(lacking, key=lambda each: each[0]):
        yield f"no {', '.join(name for _, name in several)}: {reason}"
    yield from (f"{rater.name} {rater.note}" for rater in agreed.raters if rater.note)


def _of_differences(found: Findings) -> Iterator[str]:
    chosen = chosen_differences(found)
    if chosen:
        yield from (f"note: {note}" for note in notes(found))
    pairs = sum(len(each.rows) for each in found.differences)
    if pairs > len(chosen):
        yield f"all {pairs:,} differences: --format json, or --report FILE.html"
    if chosen:
        yield "* p < .05 by permutation of items (random controls: bootstrap), after Holm's correction"


def notes(found: Findings) -> list[str]:
    """What the tests of differences note, each once."""
    return list(dict.fromkeys(note for each in found.differences for note in each.notes))


def warned(found: Findings) -> list[str]:
    """Signs in the data against a similarity-weighted mean of the references' weights, ``over=near``.

    Args:
        found: What was found.
    """
    falling = [
        f"{metric_of(row.metric)}: within items the mean weight of the references falls as the human score rises "
        f"(pearson {value_with_interval(row.value, row.low, row.high)}); over=near follows that mean, over=max less so"
        for row in found.falling
    ]
    lower = [
        f"{near}: {row.coefficient} is lower than that of {other}: difference {value_with_interval(*ends)}; over=near "
        "loses where references get worse as texts get better, and where many references have few distinct weights"
        for near, other in _near_and_max(found.table.metrics)
        for row, ends in _differences(found, near, other)
        if ends[2] < 0
    ]
    return [*falling, *lower]


def _near_and_max(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The metrics with ``over=near``, each with the same metric with ``over=max`` where that was scored as well."""
    specs = {name: metric for name in names if (metric := _parsed(name)) is not None}
    for name, metric in specs.items():
        if metric.needs_weights and is_near(metric):
            yield from ((name, other) for other, twin in specs.items() if differ_in_over(metric, twin))


def _parsed(name: str) -> Metric | None:
    """The metric of that name; None of a control, and of another tool's metric."""
    with suppress(PostilError):
        return parse_metric(name)
    return None


def _differences(found: Findings, first: str, second: str) -> Iterator[tuple[Difference, tuple[float, float, float]]]:
    """The difference of two metrics in the first coefficient, the first minus the second, with its interval."""
    for row in found.differences[0].rows:
        if (row.first, row.second) == (first, second):
            yield row, (row.value, row.low, row.high)
        elif (row.second, row.first) == (first, second):
            yield row, (-row.value, -row.high, -row.low)


def turned(found: Findings) -> list[str]:
    """The metrics whose small numbers are good ones."""
    table = found.table
    return [name for name, low in zip(table.metrics, table.lower_is_better, strict=True) if low]
