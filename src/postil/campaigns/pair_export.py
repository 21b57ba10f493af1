"""Exports of a campaign of pairs: preferences, a table of ratings, one of resolved pairs, and wins as grades."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.preferences import PairPreference
from postil.data.rows import Judgement, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from postil.campaigns.models import Adjudication, Item, Rating
    from postil.data.preferences import Choice, Side

__all__ = ["PAIR_COLUMNS", "PairRow", "ResolvedPair", "pair_table", "preferences", "resolved_pairs", "wins_as_grades"]

CHOICE_OF: Final[Mapping[float, Choice]] = MappingProxyType({1.0: "a", 2.0: "tie", 3.0: "b"})
"""Preference that a grade stands for."""

CREDIT: Final[Mapping[Choice, tuple[float, float]]] = MappingProxyType(
    {"a": (1.0, 0.0), "tie": (0.5, 0.5), "b": (0.0, 1.0)}
)
"""Grades of both systems for a preference."""

PAIR_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "system_a": "the system of one text of the pair",
        "system_b": "the system of the other",
        "preference": "ratings: a, b or tie. resolved: the lead's preference where adjudicated, else that of most "
        "annotators, tie where as many prefer the other",
        "left": "the text that was on the left, a or b",
        "a": "the number of annotators who prefer a",
        "ties": "the number of annotators who prefer neither",
        "b": "the number of annotators who prefer b",
        "text_a": "the text of system a",
        "text_b": "the text of system b",
    }
)
"""Meaning of the columns of the tables that those of single texts lack."""


class PairRow(Row, frozen=True, gc=False):
    """One preference; see `PAIR_COLUMNS`."""

    item: str
    system_a: str
    system_b: str
    annotator: str
    round: int
    order: int
    preference: str
    left: str
    gold: str | None
    revision: int


class TimedPairRow(PairRow, frozen=True, gc=False):
    """One preference with its time; see `PAIR_COLUMNS`."""

    time: str
    seconds: float | None


class PairTextRow(PairRow, frozen=True, gc=False):
    """One preference with both texts; see `PAIR_COLUMNS`."""

    text_a: str
    text_b: str
    context: str


class TimedPairTextRow(PairTextRow, frozen=True, gc=False):
    """One preference with both texts and its time; see `PAIR_COLUMNS`."""

    time: str
    seconds: float | None


class ResolvedPair(Row, frozen=True, gc=False):
    """One pair; see `PAIR_COLUMNS`."""

    item: str
    system_a: str
    system_b: str
    annotators: int
    a: int
    ties: int
    b: int
    adjudicated: bool
    preference: str
    gold: str | None
    revision: int


class ResolvedPairText(ResolvedPair, frozen=True, gc=False):
    """One pair with both texts; see `PAIR_COLUMNS`."""

    text_a: str
    text_b: str


def preferences(ratings: Iterable[Rating]) -> Iterator[PairPreference]:
    """Convert the first rating of each annotator and pair to preference rows; gold items are left out.

    Args:
        ratings: The ratings.
    """
    for one in ratings:
        if one.pair is not None and one.round == 1 and one.gold is None:
            yield PairPreference(one.item, *one.pair, one.annotator, CHOICE_OF[one.grade], _left(one))


def wins_as_grades(ratings: Iterable[Rating]) -> Iterator[Judgement]:
    """Convert preferences to judgements: the share of an annotator's pairs of an item that a system wins.

    A win is 1, a tie .5, a loss 0. A system that an annotator has in no pair of the item has no judgement.

    Args:
        ratings: The ratings.
    """
    credit: dict[tuple[str, str, str], list[float]] = {}
    for row in preferences(ratings):
        for system, one in zip((row.system_a, row.system_b), CREDIT[row.preference], strict=True):
            credit.setdefault((row.item, system, row.annotator), []).append(one)
    for (item, system, annotator), given in credit.items():
        yield Judgement(item, system, annotator, fmean(given))


def pair_table(
    ratings: Iterable[Rating],
    items: Sequence[Item],
    *,
    moment: Callable[[float], str] | None = None,
    beside: Callable[[Item], str] | None = None,
) -> Iterator[PairRow]:
    """Make one row per rating of a pair.

    Args:
        ratings: The ratings.
        items: The items.
        moment: Function that formats the time of each rating; None to leave times out.
        beside: Function that says what was shown beside a pair; None to leave that and the texts out.
    """
    row_type = {
        (False, False): PairRow,
        (True, False): TimedPairRow,
        (False, True): PairTextRow,
        (True, True): TimedPairTextRow,
    }[moment is not None, beside is not None]
    for one in ratings:
        a, b = one.pair or (one.system, "")
        values: dict[str, object] = {
            "item": one.item,
            "system_a": a,
            "system_b": b,
            "annotator": one.annotator,
            "round": one.round,
            "order": one.order + 1,
            "preference": CHOICE_OF[one.grade],
            "left": _left(one),
            "gold": None if one.gold is None else CHOICE_OF[one.gold],
            "revision": one.revision,
        }
        if moment is not None:
            values |= {"time": moment(one.time), "seconds": one.seconds}
        if beside is not None:
            item = items[one.number]
            values |= {"text_a": item.text, "text_b": item.other_text, "context": beside(item)}
        yield msgspec.convert(values, row_type)


def resolved_pairs(
    items: Sequence[Item],
    ratings: Iterable[Rating],
    adjudications: Iterable[Adjudication],
    *,
    texts: bool = False,
) -> Iterator[ResolvedPair]:
    """Make one row per rated pair.

    Args:
        items: The items.
        ratings: The ratings.
        adjudications: Decisions of leads.
        texts: True to include both texts.
    """
    decided = {one.number: one.grade for one in adjudications}
    given: dict[int, list[Rating]] = {}
    for one in ratings:
        if one.round == 1:
            given.setdefault(one.number, []).append(one)
    for number, some in given.items():
        item, counts = items[number], Counter(CHOICE_OF[one.grade] for one in some)
        most = max(counts.values())
        winners: list[Choice] = [choice for choice in counts if counts[choice] == most]
        together = winners[0] if len(winners) == 1 else "tie"
        values: dict[str, object] = {
            "item": item.item,
            "system_a": item.system,
            "system_b": item.other_system,
            "annotators": len(some),
            "a": counts["a"],
            "ties": counts["tie"],
            "b": counts["b"],
            "adjudicated": number in decided,
            "preference": CHOICE_OF[decided[number]] if number in decided else together,
            "gold": None if item.gold is None else CHOICE_OF[item.gold],
            "revision": some[0].revision,
        }
        both = {"text_a": item.text, "text_b": item.other_text} if texts else {}
        yield msgspec.convert(values | both, ResolvedPairText if texts else ResolvedPair)


def _left(one: Rating) -> Side:
    return "b" if one.swapped else "a"
