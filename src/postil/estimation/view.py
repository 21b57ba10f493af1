"""View of the result of `postil estimate`."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from postil.data.explain import counted
from postil.estimation.designs import ESTIMATORS
from postil.meta.parts import severity_remarks
from postil.results.formats import excerpt, noted, value_with_interval
from postil.results.table import Count, Interval, Name, Table, Text
from postil.results.views import View, signature_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.estimation.result import EstimateResult, SystemEstimate

__all__ = ["decimals", "head", "letter_columns", "means_table", "shared_letters", "view", "worth"]

LEVEL: Final = 0.05
LETTER: Final = re.compile(r"[a-z]\d*")
MOST_LETTERS: Final = 26
"""Largest number of letters that a cell of a table has."""
MOST: Final = 6
"""Largest number of decimals."""


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
    found: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        for letter in LETTER.findall(row.letters):
            found.setdefault(letter, []).append(place)
    return found


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
    for reason, names in _together(result).items():
        yield f"no interval of {', '.join(names)}: {reason}"
    for each in result.excluded:
        yield str(each) if each.kept else f"excluded: {each}"


def _signatures(signatures: Mapping[str, str]) -> Iterator[str]:
    """Signatures of postil's metrics; names of the scores of other programs, which may have none."""
    own = {name: text for name, text in signatures.items() if "|" in text}
    yield from signature_lines(own.values())
    yield from (f"{name}: {text}" for name, text in signatures.items() if text and name not in own)


def _together(result: EstimateResult) -> Mapping[str, list[str]]:
    """Means and differences without an interval, by reason."""
    found: dict[str, list[str]] = {}
    for each in result.undefined:
        found.setdefault(each.reason, []).append(f"{each.system} - {each.other}" if each.other else each.system)
    return found
