"""How grades come out: as tables for people's own analyses, and as rows that other commands read."""

from __future__ import annotations

from datetime import UTC, datetime
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from postil.annotation.spans import passage_grade
from postil.records.rows import Passage, Reference, Row
from postil.records.rows import Rating as RatingOfReference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from postil.annotation.models import Adjudication, Campaign, Item, Rating
    from postil.annotation.rubric import Rubric

__all__ = [
    "COLUMNS",
    "LongRow",
    "ResolvedRow",
    "TimedRow",
    "codebook",
    "long_table",
    "passages",
    "references",
    "resolved_table",
]


class LongRow(Row, frozen=True, gc=False):
    """A grade; see `COLUMNS`."""

    item: str
    system: str
    annotator: str
    round: int
    order: int
    grade: float
    spans: str
    gold: float | None


class TimedRow(LongRow, frozen=True, gc=False):
    """A grade with its time; see `COLUMNS`."""

    time: str
    seconds: float | None


class ResolvedRow(Row, frozen=True, gc=False):
    """A text; see `COLUMNS`."""

    item: str
    system: str
    annotators: int
    mean: float
    lowest: float
    highest: float
    adjudicated: bool
    grade: float
    gold: float | None


COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "item": "the article, or the topic of a passage",
        "system": "who wrote the text: a system, or the id of the comment or passage",
        "annotator": "the annotator's pseudonym",
        "round": "1; 2 where the same annotator had the text again",
        "order": "where the text stood in the annotator's order, from 1",
        "grade": "ratings: the annotator's grade, or the share of the text that is marked. resolved: the lead's grade "
        "where adjudicated, else the mean; of marked passages the share that anyone marked, or 2 where all marked all",
        "spans": "the marks, as begin:end in characters from 0, the end not included",
        "gold": "the grade that was known before; such texts are left out of agreement, judgements and references",
        "time": "when the grade was given, in UTC",
        "seconds": "how long the text was before the annotator",
        "annotators": "how many annotators graded the text",
        "mean": "the mean of their grades in round 1",
        "lowest": "the lowest of them",
        "highest": "the highest of them",
        "adjudicated": "whether a lead decided",
    }
)
"""What the columns of the tables mean."""


def long_table(ratings: Iterable[Rating], *, timed: bool = False) -> Iterator[LongRow]:
    """A row a grade.

    Args:
        ratings: What annotators think.
        timed: Say when each grade was given, and how long it took.
    """
    for one in ratings:
        row = LongRow(
            item=one.item,
            system=one.system,
            annotator=one.annotator,
            round=one.round,
            order=one.order + 1,
            grade=one.grade,
            spans=" ".join(f"{start}:{end}" for start, end in one.spans),
            gold=one.gold,
        )
        yield TimedRow(**msgspec.structs.asdict(row), time=_moment(one.time), seconds=one.seconds) if timed else row


def resolved_table(
    items: Sequence[Item], ratings: Iterable[Rating], adjudications: Iterable[Adjudication], rubric: Rubric
) -> Iterator[ResolvedRow]:
    """A row for each text that has a grade.

    Args:
        items: The texts.
        ratings: What annotators think.
        adjudications: What leads decided.
        rubric: What was asked.
    """
    decided = {one.number: one.grade for one in adjudications}
    for number, given in _first_rounds(ratings).items():
        item, grades = items[number], [one.grade for one in given]
        marked = rubric.kind == "spans"
        together = passage_grade(item.text, [one.spans for one in given]) if marked else fmean(grades)
        yield ResolvedRow(
            item=item.item,
            system=item.system,
            annotators=len(grades),
            mean=fmean(grades),
            lowest=min(grades),
            highest=max(grades),
            adjudicated=number in decided,
            grade=decided.get(number, together),
            gold=item.gold,
        )


def references(
    items: Sequence[Item], ratings: Iterable[Rating], adjudications: Iterable[Adjudication]
) -> Iterator[Reference]:
    """Graded comments as reference rows, with the ratings and, where a lead decided, the agreed grade.

    Args:
        items: The texts.
        ratings: What annotators think.
        adjudications: What leads decided.
    """
    decided = {one.number: one.grade for one in adjudications}
    for number, given in _first_rounds(ratings).items():
        if items[number].gold is None:
            yield Reference(
                items[number].item,
                items[number].text,
                grade=decided.get(number),
                ratings=tuple(RatingOfReference(one.annotator, one.grade) for one in given),
            )


def passages(items: Sequence[Item], resolved: Iterable[ResolvedRow]) -> Iterator[Passage]:
    """Graded passages as passage rows.

    Args:
        items: The texts.
        resolved: Their grades.
    """
    texts = {(item.item, item.system): item.text for item in items}
    for row in resolved:
        if row.gold is None:
            yield Passage(row.item, row.system, texts[row.item, row.system], grade=row.grade)


def codebook(campaign: Campaign, rubric: Rubric, counts: Mapping[str, int]) -> dict[str, object]:
    """What a reader of the tables must know.

    Args:
        campaign: What was done.
        rubric: What was asked.
        counts: How many there are of what.
    """
    done = msgspec.to_builtins(campaign)
    return {
        "schema": 1,
        "campaign": {**done, "created": _moment(campaign.created)},
        "rubric": msgspec.to_builtins(rubric),
        "counts": dict(counts),
        "columns": dict(COLUMNS),
    }


def _first_rounds(ratings: Iterable[Rating]) -> dict[int, list[Rating]]:
    """The grades of each text, second ones left out."""
    found: dict[int, list[Rating]] = {}
    for one in ratings:
        if one.round == 1:
            found.setdefault(one.number, []).append(one)
    return found


def _moment(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
