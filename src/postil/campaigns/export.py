"""Exports: tables of ratings or preferences for analysis, and rows that other commands read."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from operator import attrgetter
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

import msgspec

from postil.campaigns.rubric import Rubric, ratings_by_aspect
from postil.campaigns.validation import passage_grade
from postil.data.groups import grouped
from postil.data.rows import Choice, Judgement, PairPreference, Passage, Reference, Row, Side
from postil.data.rows import Rating as RatingOfReference
from postil.errors import InvalidInput
from postil.results.base import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from postil.campaigns.database import Change
    from postil.campaigns.models import Adjudication, Campaign, Item, Rating
    from postil.campaigns.quality import InferredGrades
    from postil.campaigns.store import Store

__all__ = [
    "COLUMNS",
    "AnnotatorRow",
    "ResolvedRow",
    "annotators_table",
    "codebook",
    "export_files",
    "judgements",
    "long_table",
    "passages",
    "preferences",
    "references",
    "resolved_table",
]

R = TypeVar("R", bound=Row)

"""File formats of the tables."""


class AnnotatorRow(Row, frozen=True, gc=False):
    """One annotator; see `COLUMNS`."""

    annotator: str
    ratings: int
    competence: float | None


class ResolvedRow(Row, frozen=True, gc=False):
    """One item; see `COLUMNS`."""

    item: str
    system: str
    sample: int
    aspect: str
    annotators: int
    mean: float
    weighted: float | None
    expected: float | None
    lowest: float
    highest: float
    adjudicated: bool
    grade: float
    gold: float | None
    revision: int
    purpose: str


TEXTS: Final = {"text": str, "context": str}
TEXTS_OF_PAIR: Final = {"text_a": str, "text_b": str}
"""Further columns of the tables of items, where they are asked for; see `COLUMNS` and `PAIR_COLUMNS`."""

COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "item": "the article, the topic of a passage, or what else the text belongs to",
        "system": "who wrote the text: a system, or the id of the comment or passage",
        "sample": "the number of the text among those of its system and item",
        "annotator": "the annotator's pseudonym",
        "round": "1; 2 where the same annotator had the text again",
        "order": "where the text stood in the annotator's order, from 1",
        "aspect": "the aspect that the grade is of; empty where the rubric has one question",
        "grade": "ratings: the annotator's grade, or the share of the text that is marked. resolved: the lead's grade "
        "where adjudicated, else the mean; of marked passages the share that anyone marked, or 2 where all marked all",
        "spans": "the marks, as begin:end in characters from 0, the end not included",
        "gold": "the grade that was known before; such texts are left out of agreement, judgements and references",
        "revision": "1 for texts of the first plan, 2 for those that were added next, and so on",
        "purpose": "gold, training or attention for a text whose grade was known before, in this aspect or another; "
        "else empty",
        "time": "when the grade was given, in UTC",
        "seconds": "how long the text was before the annotator",
        "text": "the text that was rated",
        "context": "what was shown beside it: title and text of the article, then the others, each after its name",
        "annotators": "how many annotators graded the text",
        "mean": "the mean of their grades in round 1",
        "weighted": "the mean of these grades weighted by the competence of the annotators; none without competence",
        "expected": "the posterior mean of the grade, by the one-factor model of competence",
        "lowest": "the lowest of them",
        "highest": "the highest of them",
        "adjudicated": "whether a lead decided",
        "ratings": "how many texts the annotator graded, gold ones and second ratings not counted",
        "competence": "the share of the variance of the annotator's grades that follows the texts, as a one-factor "
        "model infers it from all grades; none where the grades do not determine it",
    }
)
"""Meaning of the columns of the tables."""


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


def export_files(
    store: Store,
    infer: Callable[[Sequence[Rating], Rubric], InferredGrades],
    *,
    table_format: str = "csv",
    timestamps: bool = False,
    texts: bool = True,
) -> dict[str, Sequence[Row] | str]:
    """Collect the files of an export by name: rows, or the text of the codebook; files without rows are left out.

    Args:
        store: The campaign.
        infer: Function that infers the competence of annotators, and grades by it.
        table_format: File format of the tables, one of `postil.campaigns.options.TABLE_FORMATS`.
        timestamps: True to include the time of each rating and the seconds that it took.
        texts: True to include the texts, and what was shown beside them, in the tables.

    Raises:
        InvalidInput: There are no ratings yet.
    """
    campaign, rubric, items = store.campaign(), store.rubric(), store.items()
    ratings, adjudications = store.results.ratings(), store.results.adjudications()
    if not ratings:
        raise InvalidInput("there are no ratings yet", where=store.where)
    resolved: list[ResolvedRow] = []
    files: dict[str, Sequence[Row]] = {}
    if rubric.kind == "pair":
        files[f"ratings.{table_format}"] = list(pair_table(ratings, items if texts else None, timestamps=timestamps))
        files[f"resolved.{table_format}"] = list(resolved_pairs(items, ratings, adjudications, texts=texts))
        files[f"annotators.{table_format}"] = list(annotators_table(ratings, infer(ratings, rubric)))
        files["preferences.jsonl"] = list(preferences(ratings))
        files["judgements.jsonl"] = list(wins_as_grades(ratings))
    else:
        graded = ratings_by_aspect(ratings, rubric)
        every = ratings_by_aspect(ratings, rubric, every=True)
        inferred = [infer(some, scale) for scale, some in graded]
        resolved = [
            row
            # Leads decide about the first aspect.
            for place, (scale, some) in enumerate(every)
            for row in resolved_table(items, some, () if place else adjudications, scale, inferred[place], texts=texts)
        ]
        written = [one for _, some in every for one in some]
        files[f"ratings.{table_format}"] = list(long_table(written, items if texts else None, timestamps=timestamps))
        files[f"resolved.{table_format}"] = resolved
        files[f"annotators.{table_format}"] = list(annotators_table(ratings, inferred[0]))
        files["judgements.jsonl"] = list(judgements(one for _, some in graded for one in some))
    if campaign.rows == "articles":
        files["references.jsonl"] = list(references(items, ratings, adjudications))
    if campaign.rows == "passages":
        files["passages.jsonl"] = list(passages(items, [row for row in resolved if row.aspect == resolved[0].aspect]))
    counts = {
        "texts": len(items),
        "graded texts": len(_first_rounds(ratings)),
        "grades": len(ratings),
        "annotators": len({rating.annotator for rating in ratings}),
        "adjudicated texts": len({one.number for one in adjudications}),
    }
    return {
        **{name: rows for name, rows in files.items() if rows},
        "codebook.json": to_json(codebook(campaign, rubric, counts, store.state.changes())),
    }


def judgements(ratings: Iterable[Rating], *, single_texts: bool = False) -> Iterator[Judgement]:
    """Convert the first rating of each annotator and item to judgement rows; gold items are left out.

    Args:
        ratings: The ratings.
        single_texts: True to name the further texts of a system apart; else they are ratings of one text.
    """
    for one in ratings:
        if one.round == 1 and one.gold is None:
            apart = single_texts and one.sample > 1
            system = f"{one.system} (sample {one.sample})" if apart else one.system
            yield Judgement(one.item, system, one.annotator, one.grade, one.aspect or None)


def _purpose(one: Rating) -> str:
    """Purpose of a text with a known grade, of this aspect or of another one; else empty."""
    known = one.gold is not None or any(gold is not None for gold in one.golds)
    return one.purpose or "gold" if known else ""


def _left(one: Rating) -> Side:
    return "b" if one.swapped else "a"


RatingColumns: TypeAlias = "Mapping[str, tuple[object, Callable[[Rating], object]]]"
"""Columns of a table of ratings: the type of each, and its value for a rating."""

RATING_COLUMNS: Final[RatingColumns] = {
    "item": (str, attrgetter("item")),
    "system": (str, attrgetter("system")),
    "sample": (int, attrgetter("sample")),
    "annotator": (str, attrgetter("annotator")),
    "round": (int, attrgetter("round")),
    "order": (int, lambda one: one.order + 1),
    "aspect": (str, attrgetter("aspect")),
    "grade": (float, attrgetter("grade")),
    "spans": (str, lambda one: " ".join(f"{start}:{end}" for start, end in one.spans)),
    "gold": (float | None, attrgetter("gold")),
    "revision": (int, attrgetter("revision")),
    "purpose": (str, _purpose),
}
PREFERENCE_COLUMNS: Final[RatingColumns] = {
    "item": (str, attrgetter("item")),
    "system_a": (str, lambda one: one.pair[0] if one.pair else one.system),
    "system_b": (str, lambda one: one.pair[1] if one.pair else ""),
    "annotator": (str, attrgetter("annotator")),
    "round": (int, attrgetter("round")),
    "order": (int, lambda one: one.order + 1),
    "preference": (str, lambda one: CHOICE_OF[one.grade]),
    "left": (str, _left),
    "gold": (str | None, lambda one: None if one.gold is None else CHOICE_OF[one.gold]),
    "revision": (int, attrgetter("revision")),
}
TIMES: Final[RatingColumns] = {
    "time": (str, lambda one: _moment(one.time)),
    "seconds": (float | None, attrgetter("seconds")),
}
"""Further columns, where they are asked for."""


def long_table(
    ratings: Iterable[Rating], items: Sequence[Item] | None = None, *, timestamps: bool = False
) -> Iterator[Row]:
    """Make one row per rating, with `RATING_COLUMNS`.

    Args:
        ratings: The ratings.
        items: The items, to include their texts; None to leave them out.
        timestamps: True to include the time of each rating and the seconds that it took.
    """
    shown: RatingColumns = (
        {}
        if items is None
        else {
            "text": (str, lambda one: items[one.number].text),
            "context": (str, lambda one: _context(items[one.number])),
        }
    )
    return _table(ratings, {**RATING_COLUMNS, **(TIMES if timestamps else {}), **shown})


def pair_table(
    ratings: Iterable[Rating], items: Sequence[Item] | None = None, *, timestamps: bool = False
) -> Iterator[Row]:
    """Make one row per rating of a pair, with `PREFERENCE_COLUMNS`.

    Args:
        ratings: The ratings.
        items: The items, to include their texts; None to leave them out.
        timestamps: True to include the time of each rating and the seconds that it took.
    """
    shown: RatingColumns = (
        {}
        if items is None
        else {
            "text_a": (str, lambda one: items[one.number].text),
            "text_b": (str, lambda one: items[one.number].other_text),
            "context": (str, lambda one: _context(items[one.number])),
        }
    )
    return _table(ratings, {**PREFERENCE_COLUMNS, **shown, **(TIMES if timestamps else {})})


def _table(ratings: Iterable[Rating], columns: RatingColumns) -> Iterator[Row]:
    """Rows of a table of ratings."""
    row_type = _extended(Row, {name: kind for name, (kind, _) in columns.items()})
    for one in ratings:
        yield msgspec.convert({name: value(one) for name, (_, value) in columns.items()}, row_type)


def resolved_table(
    items: Sequence[Item],
    ratings: Iterable[Rating],
    adjudications: Iterable[Adjudication],
    rubric: Rubric,
    inferred: InferredGrades,
    *,
    texts: bool = False,
) -> Iterator[ResolvedRow]:
    """Make one row per rated item.

    Args:
        items: The items.
        ratings: The ratings.
        adjudications: Decisions of leads.
        rubric: The rubric.
        inferred: Grades by the competence of annotators.
        texts: True to include the texts.
    """
    decided = {one.number: one.grade for one in adjudications}
    row_type = _extended(ResolvedRow, TEXTS if texts else {})
    for number, given in _first_rounds(ratings).items():
        item, grades = items[number], [one.grade for one in given]
        marked = rubric.kind == "spans"
        together = passage_grade(item.text, [one.spans for one in given]) if marked else fmean(grades)
        values = {
            "item": item.item,
            "system": item.system,
            "sample": item.sample,
            "aspect": given[0].aspect,
            "annotators": len(grades),
            "mean": fmean(grades),
            "weighted": inferred.weighted.get(number),
            "expected": inferred.expected.get(number),
            "lowest": min(grades),
            "highest": max(grades),
            "adjudicated": number in decided,
            "grade": decided.get(number, together),
            "gold": given[0].gold,
            "revision": given[0].revision,
            "purpose": _purpose(given[0]),
        }
        shown = {"text": item.text, "context": _context(item)} if texts else {}
        yield msgspec.convert(values | shown, row_type)


def annotators_table(ratings: Iterable[Rating], inferred: InferredGrades) -> Iterator[AnnotatorRow]:
    """Make one row per annotator.

    Args:
        ratings: The ratings.
        inferred: Competence of the annotators.
    """
    rated = Counter(one.annotator for one in ratings if one.round == 1 and one.gold is None)
    for name in sorted(rated, key=lambda name: (len(name), name)):
        yield AnnotatorRow(annotator=name, ratings=rated[name], competence=inferred.competence.get(name))


def references(
    items: Sequence[Item], ratings: Iterable[Rating], adjudications: Iterable[Adjudication]
) -> Iterator[Reference]:
    """Convert rated comments to reference rows, with their ids, their ratings and, if adjudicated, the lead's grade.

    Args:
        items: The items.
        ratings: The ratings.
        adjudications: Decisions of leads.
    """
    decided = {one.number: one.grade for one in adjudications}
    for number, given in _first_rounds(ratings).items():
        if items[number].gold is None:
            yield Reference(
                items[number].item,
                items[number].text,
                grade=decided.get(number),
                ratings=tuple(RatingOfReference(one.annotator, one.grade) for one in given),
                id=items[number].system,
            )


def passages(items: Sequence[Item], resolved: Iterable[ResolvedRow]) -> Iterator[Passage]:
    """Convert rated passages to passage rows.

    Args:
        items: The items.
        resolved: Their resolved grades.
    """
    texts = {(item.item, item.system): item.text for item in items}  # a passage has no other samples
    for row in resolved:
        if row.gold is None:
            yield Passage(row.item, row.system, texts[row.item, row.system], grade=row.grade)


CHOICE_OF: Final[Mapping[float, Choice]] = MappingProxyType({1.0: "a", 2.0: "tie", 3.0: "b"})
"""Preference that a grade stands for."""

CREDIT: Final[Mapping[Choice, tuple[float, float]]] = MappingProxyType(
    {"a": (1.0, 0.0), "tie": (0.5, 0.5), "b": (0.0, 1.0)}
)
"""Grades of both systems for a preference."""


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
    credit = grouped(
        ((row.item, system, row.annotator), one)
        for row in preferences(ratings)
        for system, one in zip((row.system_a, row.system_b), CREDIT[row.preference], strict=True)
    )
    for (item, system, annotator), given in credit.items():
        yield Judgement(item, system, annotator, fmean(given))


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
    row_type = _extended(ResolvedPair, TEXTS_OF_PAIR if texts else {})
    for number, some in _first_rounds(ratings).items():
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
        yield msgspec.convert(values | both, row_type)


def codebook(
    campaign: Campaign, rubric: Rubric, counts: Mapping[str, int], changes: Iterable[Change] = ()
) -> dict[str, object]:
    """Describe a campaign and the columns of its tables.

    Args:
        campaign: Settings of the campaign.
        rubric: The rubric.
        counts: Numbers by what they count.
        changes: Changes that leads made, under their pseudonyms.
    """
    return {
        "schema": 1,
        "campaign": {
            **msgspec.to_builtins(msgspec.structs.replace(campaign, address="")),
            "created": _moment(campaign.created),
        }
        | ({"overlapping": len(campaign.overlapping)} if campaign.overlapping else {}),
        "rubric": msgspec.to_builtins(rubric),
        "counts": dict(counts),
        "columns": {**COLUMNS, **(PAIR_COLUMNS if rubric.kind == "pair" else {})},
        "changes": [_change(one) for one in changes],
    }


def _change(one: Change) -> dict[str, object]:
    until = one.detail.get("until")
    moments = {"until": _moment(until)} if isinstance(until, float | int) else {}
    return {"time": _moment(one.time), "kind": one.kind, "by": one.pseudonym or None} | {**one.detail, **moments}


def _extended(base: type[R], *columns: Mapping[str, object]) -> type[R]:
    """A type of rows with further columns."""
    fields = [(name, kind) for some in columns for name, kind in some.items()]
    if not fields:
        return base
    return cast("type[R]", msgspec.defstruct(base.__name__, fields, bases=(base,), frozen=True, gc=False))


def _context(item: Item) -> str:
    """All that is shown beside a text, as one text."""
    parts = [item.title, item.content, *(f"{one.name}: {one.text}" for one in item.context)]
    return "\n\n".join(part for part in parts if part)


def _first_rounds(ratings: Iterable[Rating]) -> dict[int, list[Rating]]:
    """Ratings by item, without those of repeated items."""
    return grouped((one.number, one) for one in ratings if one.round == 1)


def _moment(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
