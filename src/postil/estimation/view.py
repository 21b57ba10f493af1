"""View, chapter and pictures of the result of `postil estimate`."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.explain import counted
from postil.data.groups import grouped
from postil.estimation.designs import ESTIMATORS, TARGETS
from postil.meta.parts import severity_remarks
from postil.results.formats import excerpt, listed, noted, value_with_interval
from postil.results.numbers import DASH, interval, number
from postil.results.page.blocks import (
    Block,
    Chapter,
    Collapsed,
    Facts,
    Numbers,
    Paragraph,
    Picture,
    Section,
    collapsed,
    facts,
    isolated,
    left_out,
    sentences,
)
from postil.results.page.chapters import DRAWN, signature_rows, signatures
from postil.results.plots.forest import IntervalRow, RowSet, intervals
from postil.results.plots.heatmaps import matrix
from postil.results.plots.lines import Curve, CurveMark, curves
from postil.results.table import Count, Interval, Name, Number, PValue, Table, Text
from postil.results.views import View, signature_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.estimation.result import EstimateResult, SystemDifference, SystemEstimate
    from postil.kernel.arrays import Floats

__all__ = ["chapter", "decimals", "letter_columns", "pictures", "rank_range", "view"]

LEVEL: Final = 0.05
LETTER: Final = re.compile(r"[a-z]\d*")
MOST_LETTERS: Final = 26
"""Largest number of letters that a cell of a table has."""
MOST: Final = 6
"""Largest number of decimals."""

FEW: Final = 4
"""Largest number of systems that a sentence names."""


def view(result: EstimateResult) -> View:
    """One row per system, the best first.

    Args:
        result: The result.
    """
    size = f"{result.graded:,} of {counted(result.items, 'item')} graded, {counted(len(result.systems), 'system')}"
    best = [
        f"best {row.system} {value_with_interval(row.mean, row.low, row.high, decimals(result), zero=True)}"
        for row in result.systems[:1]
    ]
    return View(
        line="; ".join([size, *best]),
        rows=result.systems,
        grids=[means_table(result)],
        head=head(result),
        remarks=list(_remarks(result)),
        signatures=list(_signatures(result.signatures)),
    )


def head(result: EstimateResult) -> str:
    """One line about the data and the estimand.

    Args:
        result: The result.
    """
    aspect = f", aspect {result.settings.aspect}" if result.settings.aspect else ""
    ratings = sum(row.ratings for row in result.systems)
    return (
        f"{result.graded} of {_plain(result.items, 'item')} graded, {_plain(len(result.systems), 'system')}, "
        f"{_plain(ratings, 'rating')} by {_plain(result.annotators, 'annotator')}{aspect}; target: {result.target}"
        + ("" if ESTIMATORS[result.method].joint else f"; method: {result.method}")
    )


def _plain(n: int, what: str) -> str:
    """A number of things without separators, so that programs can read the line."""
    return f"{n} {what}{'s' * (n != 1)}"


def means_table(result: EstimateResult) -> Table:
    """Means with their ranks and groups, the best system first.

    Args:
        result: The result.
    """
    digits = decimals(result)
    unlike = len({row.n for row in result.systems}) > 1
    letters = dict(zip((row.system for row in result.systems), letter_columns(result.systems), strict=True))
    alone = Interval(
        "ratings only",
        "human_mean",
        plain="ratings only [95 % CI]",
        low="human_low",
        high="human_high",
        digits=digits,
        zero=True,
    )
    return Table(
        key="estimates",
        caption="Mean grades, 95 % confidence intervals over items in brackets; two systems share a letter unless they "
        "differ significantly (Holm-adjusted p < .05)",
        rows=result.systems,
        columns=(
            Name("system", "system"),
            Count("items", "n", only="" if unlike else "page"),
            Interval("mean", "mean", plain="mean [95 % CI]", digits=digits, zero=True),
            *([alone] if result.scores_used else ()),
            Text("rank", rank_range),
            Text("group", "letters", plainly=lambda row: letters[row.system]),
        ),
    )


def decimals(result: EstimateResult) -> int:
    """Number of decimals of means: two digits of the narrowest interval, at least two decimals.

    Args:
        result: The result.
    """
    widths = [row.high - row.low for row in result.systems if row.low is not None and row.high is not None]
    narrowest = min(filter(None, widths), default=1.0)
    return min(MOST, max(2, 1 - math.floor(math.log10(narrowest))))


def rank_range(row: SystemEstimate) -> tuple[str, ...]:
    """The ends of the ranks that the significant differences leave, which may be one.

    Args:
        row: The system.
    """
    return tuple(dict.fromkeys([f"{row.rank_low}", f"{row.rank_high}"]))


def letter_columns(rows: Sequence[SystemEstimate]) -> list[str]:
    """Letters of each system, padded so that equal ones stand below each other, cut where there are too many.

    Args:
        rows: The systems.
    """
    columns = shared_letters(rows)
    if len(columns) > MOST_LETTERS:
        return [excerpt(row.letters, MOST_LETTERS) for row in rows]
    return [
        "".join(letter if place in places else " " * len(letter) for letter, places in columns.items())
        for place in range(len(rows))
    ]


def shared_letters(rows: Sequence[SystemEstimate]) -> dict[str, list[int]]:
    """Places of the systems that have each letter.

    Args:
        rows: The systems.
    """
    return grouped((letter, place) for place, row in enumerate(rows) for letter in LETTER.findall(row.letters))


def worth(result: EstimateResult) -> str | None:
    """Sentence on the worth of the scores; None where they are not used.

    Args:
        result: The result.
    """
    means, differences = result.relative_efficiency.means, result.relative_efficiency.differences
    if not result.scores_used or means is None:
        return None
    beside = f" (differences: {differences * result.graded:,.0f})" if differences is not None else ""
    items = counted(result.graded, "graded item")
    return (
        f"relative efficiency {means:.2f}: {items} with these scores are worth {means * result.graded:,.0f} without "
        f"them{beside}"
    )


def _remarks(result: EstimateResult) -> Iterator[str]:
    if said := worth(result):
        yield said
    tested = [row for row in result.differences if row.p_holm is not None]
    if tested:
        several = sum(row.p_holm is not None and row.p_holm < LEVEL for row in tested)
        are = "difference is" if len(tested) == 1 else "differences are"
        yield f"{several} of {len(tested)} {are} significant (Holm-adjusted p < .05)"
    yield from severity_remarks(result.severity)
    yield from noted(result.notes)
    without = (
        (each.reason, f"{each.system} - {each.other}" if each.other else each.system) for each in result.undefined
    )
    for reason, names in grouped(without).items():
        yield f"no interval of {', '.join(names)}: {reason}"
    for each in result.excluded:
        yield str(each) if each.kept else f"excluded: {each}"


def _signatures(signatures: Mapping[str, str]) -> Iterator[str]:
    """Signatures of postil's metrics; names of the scores of other programs, which may have none."""
    own = {name: text for name, text in signatures.items() if "|" in text}
    yield from signature_lines(own.values())
    yield from (f"{name}: {text}" for name, text in signatures.items() if text and name not in own)


def chapter(result: EstimateResult, key: str) -> Chapter:
    """The chapter of an estimate.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    of = {each.key: each for each in pictures(result)}
    notes = [*severity_remarks(result.severity), *result.notes]
    parts = (
        Section("estimates", "Mean grades", (*([of["estimates"]] if "estimates" in of else ()), means_table(result))),
        Section("widths", "Width of intervals", (*_widths(of),)),
        Section("differences", "Differences between systems", (*_differences(result, of),)),
        Section("predictors", "Scores", (*_scores(result),)),
        Section("notes", "Notes", sentences(notes)),
        Section("data", "Data", (Facts(tuple(left_out(result.excluded))),)),
        Section("settings", "Settings", (*_settings(result),)),
    )
    conclusion = sentences(filter(None, [_verdict(result), worth(result) or result.unused]))
    numbers: tuple[Numbers, ...] = (
        ("systems", result.systems),
        ("differences", result.differences),
        ("scores", result.scores),
        ("curve", result.curve),
        signature_rows("metric", result.signatures),
    )
    return Chapter(
        key,
        "Mean human grades of systems",
        head(result),
        conclusion,
        tuple(part for part in parts if part.blocks),
        numbers,
    )


def _verdict(result: EstimateResult) -> str:
    """The sentence about the best systems and those that cannot be told apart."""
    systems = [row.system for row in result.systems]
    if not systems or (len(systems) > 1 and all(row.p is None for row in result.differences)):
        return ""
    if len(systems) == 1:
        row, digits = result.systems[0], decimals(result)
        ends = interval(row.low, row.high, digits)
        return f"the mean grade of {isolated(row.system)} is {number(row.mean, digits)} {ends}".rstrip()
    groups = [[systems[place] for place in places] for places in shared_letters(result.systems).values()]
    if not groups:  # there are too many
        return ""
    first = groups[0]
    if len(first) == len(systems):
        return f"{_listed(first)} cannot be told apart"
    if len(first) > 1:
        best = result.systems[0]
        below = len(systems) - best.rank_high
        ahead = f"; {isolated(best.system)} is significantly ahead of {below} of the others" if below else ""
        return f"{_listed(first)} cannot be told apart{ahead}"
    ahead = (
        f"{isolated(first[0])} is significantly ahead of {'all others' if len(systems) > 2 else isolated(systems[1])}"
    )
    return f"{ahead}; {_listed(groups[1])} cannot be told apart" if len(groups[1]) > 1 else ahead


def _listed(names: list[str]) -> str:
    return listed(list(map(isolated, names)), most=FEW)


def _widths(pictures: dict[str, Picture]) -> Iterator[Block]:
    if (picture := pictures.get("widths")) is None:
        return
    yield picture
    if (picture := pictures.get("difference-widths")) is not None:
        yield Collapsed(picture.title, (picture,))
    yield Paragraph(
        "The widths to expect, by the variance components of these ratings, with as many ratings per output as here. "
        "Adding items after a look at the intervals is optional stopping: they then cover less than 95 %."
    )


def _differences(result: EstimateResult, pictures: dict[str, Picture]) -> Iterator[Block]:
    if not result.differences:
        return
    if picture := pictures.get("differences"):
        yield picture
    differences = Table(
        key="all-differences",
        caption="Differences of mean grades, 95 % confidence intervals in brackets (* Holm-adjusted p < .05)",
        rows=result.differences,
        columns=(
            Name("difference", lambda row: (row.first, row.second)),
            Interval("value", "value", digits=decimals(result), signed=True, strong=_differs),
            PValue("p", "p"),
            PValue("p, Holm", "p_holm"),
        ),
        long=True,
    )
    yield Collapsed("All differences", (differences,)) if "differences" in pictures else differences
    for each in result.undefined:
        of = f"{isolated(each.system)} − {isolated(each.other)}" if each.other else isolated(each.system)
        yield Paragraph(f"No interval of {of}: {each.reason}.")


def _differs(row: SystemDifference) -> bool:
    return row.p_holm is not None and row.p_holm < LEVEL


def _scores(result: EstimateResult) -> Iterator[Block]:
    if not result.scores:
        return
    yield Table(
        key="predictors",
        caption="Weight of each score, standardized within items and systems; balance: mean score of the graded items "
        "minus that of the others, in standard errors",
        rows=result.scores,
        columns=(Name("score", "metric"), Number("weight", "weight"), Number("balance", "balance_z")),
    )
    values = (
        ("explained variance of the grades", result.r_squared),
        ("common slope", result.common_slope),
        ("item slope", result.item_slope),
        ("variance of raters", result.rater_variance),
    )
    slopes = [row for row in result.systems if row.slope is not None]
    yield Facts(tuple((name, DASH if value is None else number(value)) for name, value in values))
    if slopes and result.scores_used:
        what = ESTIMATORS[result.method].slopes
        columns = (Name("system", "system"), Number("slope", "slope"))
        yield from collapsed(Table(key="slopes", caption=what, rows=slopes, columns=columns))


def _settings(result: EstimateResult) -> Iterator[Block]:
    settings, estimator = result.settings, ESTIMATORS[result.method]
    yield facts(
        ("command", settings.command),
        ("target", f"{result.target}: {TARGETS[result.target]}"),
        ("method", f"{result.method}: {estimator.phrase}"),
        ("intervals", f"95 %, {estimator.quantiles}; raters are fixed, so no interval generalizes to other raters"),
        ("tests", "two-sided, Holm’s correction for all pairs"),
        ("sample", "graded items must be a simple random sample of the items"),
        ("lower is better", listed(list(map(isolated, settings.lower_is_better)))),
        ("aspect", isolated(settings.aspect) if settings.aspect else ""),
        ("scale", settings.scale or ""),
        ("postil", settings.postil),
    )
    yield from collapsed(signatures(result.signatures.items()))


def pictures(result: EstimateResult) -> list[Picture]:
    """Means with intervals and groups, expected widths, and the matrix of differences.

    Args:
        result: The result.
    """
    return [*_forest(result), *_curves(result), *_matrix(result)]


def _forest(result: EstimateResult) -> Iterator[Picture]:
    shown = result.systems[:DRAWN]
    if not shown:
        return
    rows = [
        IntervalRow(row.system, row.mean, row.low, row.high, behind=_behind(row) if result.scores_used else None)
        for row in shown
    ]
    sets = [RowSet(letter, tuple(places)) for letter, places in shared_letters(shown).items()] if len(shown) > 1 else []
    few = f", the first {DRAWN} of {len(result.systems):,} systems" if len(result.systems) > DRAWN else ""
    thin = "; thin lines: those of the ratings alone" if result.scores_used else ""
    bars = "; systems beside one bar cannot be told apart" if sets else ""
    caption = f"Mean grades with 95 % confidence intervals{thin}{bars}{few}"
    said = "; ".join(f"{row.system} {number(row.mean, 2)}, {row.letters}" for row in shown)
    draw = partial(intervals, rows, sets=sets, xlabel="mean grade", digits=decimals(result))
    yield Picture("estimates", "Mean grades", caption, f"{caption}: {said}", draw)


def _behind(row: SystemEstimate) -> tuple[float, float] | None:
    return None if row.human_low is None or row.human_high is None else (row.human_low, row.human_high)


def _curves(result: EstimateResult) -> Iterator[Picture]:
    kinds = (("widths", "a mean", "mean_width"), ("difference-widths", "a difference", "difference_width"))
    for key, of, field in kinds:
        rows = [(row.graded, getattr(row, field), getattr(row, f"human_{field}")) for row in result.curve]
        some = [(n, width, alone) for n, width, alone in rows if width and alone]
        if not some:
            continue
        n, width, alone = (np.array(column, np.float64) for column in zip(*some, strict=True))
        series = [Curve("with scores", n, width)] if result.scores_used else []
        series.append(Curve("ratings alone", n, alone))
        marks = _marks(result.graded, n, series[0].y, alone)
        caption = f"Expected width of the 95 % confidence interval of {of}, by number of graded items"
        said = f"{caption}: " + "; ".join(f"{mark.name}, width {number(mark.y, 2)}" for mark in marks)
        ylabel = f"width of the interval of {of}"
        draw = partial(curves, series, log=bool(n[-1] > 10 * n[0]), marks=marks, xlabel="graded items", ylabel=ylabel)
        yield Picture(key, f"Intervals of {of}", caption, said, draw)


def _marks(graded: int, n: Floats, width: Floats, alone: Floats) -> list[CurveMark]:
    """Today's number of graded items, and the number of the ratings alone that gives the same width."""
    if not n[0] <= graded <= n[-1]:
        return []
    today = float(np.exp(np.interp(np.log(graded), np.log(n), np.log(width))))
    marks = [CurveMark(f"{graded:,} graded items", float(graded), today)]
    if not np.array_equal(width, alone) and alone[-1] <= today <= alone[0]:
        same = float(np.exp(np.interp(-np.log(today), -np.log(alone), np.log(n))))
        marks.append(CurveMark(f"the same from {same:,.0f} items by ratings alone", same, today))
    return marks


def _matrix(result: EstimateResult) -> Iterator[Picture]:
    names = [row.system for row in result.systems[:DRAWN]]
    if len(names) < 3:
        return
    places = {name: place for place, name in enumerate(names)}
    values, marks = np.full((len(names),) * 2, np.nan), np.zeros((len(names),) * 2, bool)
    for row in result.differences:
        if row.first in places and row.second in places:
            first, second = places[row.first], places[row.second]
            values[first, second], values[second, first] = row.value, -row.value
            marks[first, second] = marks[second, first] = _differs(row)
    if np.isnan(values).all():
        return
    caption = "Differences of mean grades between all pairs of systems"
    label = f"{caption}; the numbers are in the table of this section"
    draw = partial(matrix, names, values, marks, digits=decimals(result), mark_note="Holm-adjusted p < .05")
    yield Picture("differences", "Differences", caption, label, draw)
