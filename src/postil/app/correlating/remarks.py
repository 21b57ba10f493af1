"""What to know besides the numbers of `postil correlate`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from postil.app.correlating.tables import called, chosen_differences
from postil.app.output import printable, short, value_with_interval
from postil.metaeval.human import CEILING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.app.correlating.files import Findings
    from postil.metaeval.correlation import Absent

__all__ = ["notes", "remarks", "turned"]


def remarks(found: Findings) -> list[str]:
    """What to know besides the numbers, a line each: what was left out, what does not exist and why, and the settings.

    Args:
        found: What was found.
    """
    options = found.options
    settings = f"seed {options.seed}, {options.resamples} resamples, {options.permutations} permutations"
    lines = [*_of_texts(found), *_of_numbers(found), *_of_people(found), *_of_differences(found), settings]
    return [printable(line) for line in lines]


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


def turned(found: Findings) -> list[str]:
    """The metrics whose small numbers are good ones."""
    table = found.table
    return [name for name, low in zip(table.metrics, table.lower_is_better, strict=True) if low]
