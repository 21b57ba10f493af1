"""Decisions in a site's own words, such as approved and spam, as rows of decisions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from postil.data.explain import counted
from postil.data.fields import check_texts
from postil.data.row_files import read
from postil.data.row_locations import LocatedRows, SelectedRows
from postil.data.rows import DECISIONS, Date, Decision, Id, Row
from postil.errors import InvalidInput, UsageError
from postil.messages import Blank, Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.data.reading import Reading

__all__ = ["DecisionRow", "Words", "decision_words", "read_worded"]

Meaning: TypeAlias = Literal["keep", "hold", "skip"]
Words: TypeAlias = "Mapping[str, Meaning]"
SHOWN: Final = 8
"""Largest number of words without a meaning that a message names."""


class DecisionRow(Row, frozen=True, omit_defaults=True, gc=False):
    """A row of `postil.data.rows.Decision` whose decision is a word of the site's, if somebody decided.

    Args:
        text: Text of the comment.
        decision: The word; None or blank where nobody decided.
        reason: Reason in the site's own words.
        date: Date of the comment.
        article: Identifier of its article.
        author: A value that stands for its author.
        id: Identifier of the comment within its article.
        lang: Its language.
    """

    spelled = ("text", "reason", "article", "author", "id", "lang")
    text: str
    decision: str | None
    reason: str | None = None
    date: Date | None = None
    article: Id | None = None
    author: Id | None = None
    id: Id | None = None
    lang: str | None = None

    def __post_init__(self) -> None:
        check_texts(self, "decision", optional=True)
        self.meaning("keep")  # which checks the other fields, while the line is known

    @property
    def word(self) -> str:
        """The word for the decision, in lower case; empty where there is none."""
        return (self.decision or "").strip().casefold()

    def meaning(self, decision: Literal["keep", "hold"]) -> Decision:
        """The decision that the word means; what is held without a reason has the word as its reason.

        Args:
            decision: The decision.
        """
        values = msgspec.structs.asdict(self)
        if decision == "hold" and not (self.reason or "").strip() and self.word != "hold":
            values["reason"] = self.word
        return Decision(**{**values, "decision": decision})


def decision_words(hold: str | None, keep: str | None, skip: str | None = None) -> Words:
    """Words for decisions, in lower case; ``hold`` and ``keep`` mean themselves unless they are named.

    Args:
        hold: Words with commas between them that mean hold; None for none.
        keep: Words that mean keep.
        skip: Words that mean neither.

    Raises:
        UsageError: A word is empty, or has two meanings.

    >>> decision_words("Spam, trash", "approved", "new")
    {'spam': 'hold', 'trash': 'hold', 'approved': 'keep', 'new': 'skip'}
    """
    found: dict[str, Meaning] = {}
    meanings: tuple[tuple[Meaning, str | None], ...] = (("hold", hold), ("keep", keep), ("skip", skip))
    for meaning, words in meanings:
        for word in () if words is None else words.split(","):
            plain = word.strip().casefold()
            if not plain:
                raise UsageError("{setting}: expected words with commas between them", setting=Setting(meaning, words))
            if (before := found.setdefault(plain, meaning)) != meaning:
                raise UsageError(
                    "{setting}: this word means {before} as well", setting=Setting(meaning, word.strip()), before=before
                )
    return found


def read_worded(file: str, words: Words, reading: Reading) -> LocatedRows[Decision]:
    """Read a table of decisions in a site's words; rows that nobody decided on are left out and counted.

    Args:
        file: The file.
        words: The words.
        reading: Options of reading it.

    Raises:
        InvalidInput: A row is invalid, or its word means nothing.
    """
    known: Words = {"hold": "hold", "keep": "keep", **words}
    others, left_out = Counter[str](), Counter[str]()

    def is_decision(row: DecisionRow) -> bool:
        meaning = known.get(row.word) if row.word else ""
        if meaning is None:
            others[(row.decision or "").strip()] += 1
        elif meaning not in DECISIONS:
            left_out[meaning] += 1
        return meaning in DECISIONS

    rows = read(file, DecisionRow, reading)
    decided = SelectedRows(rows, rows.places, is_decision)
    try:
        found = [row.meaning("hold" if known[row.word] == "hold" else "keep") for row in decided]
    except InvalidInput as error:
        date = rows.places.column("date")
        if error.field != date or file == "-":
            raise
        # Words without a meaning are told beside the date, so that both are mended at once.
        undated = replace(reading, columns={**reading.columns, "date": ""}, say=lambda _: None)
        try:
            read_worded(file, words, undated)
        except InvalidInput as other:
            said = Message(
                "{words}; and {date} in line {line}: {problem}",
                words=other.problem,
                date=date,
                line=error.line or 0,
                problem=error.problem,
            )
            raise InvalidInput(said, where=file, field=other.field) from None
        raise
    if others:
        raise InvalidInput(_unknown(known, others), where=file, field=rows.places.column("decision"))
    parts: list[str] = []
    if n := left_out[""]:
        parts.append(f"{counted(n, 'row')} without a decision, left out")
    if n := left_out["skip"]:
        skip = Setting("skip")
        parts.append(Message("{rows} that {skip} names, left out", rows=counted(n, "decision"), skip=skip))
    if parts:
        reading.tell(file, Message("{parts}", parts=Listed(parts, last="; ")))
    return LocatedRows(iter(found), decided.places)


def _unknown(known: Words, others: Counter[str]) -> Message:
    """The problem that words have no meaning."""
    some = [f"'{word}' ({counted(n, 'row')})" for word, n in others.most_common(SHOWN)]
    if len(others) > SHOWN:
        some.append(f"{len(others) - SHOWN:,} more")
    return Message(
        "expected one of {known}, got {some}; name each word in {hold}, {keep} or, where nobody decided, {skip}",
        known=", ".join(known),
        some=Listed(some),
        hold=Setting("hold", Blank("WORDS")),
        keep=Setting("keep", Blank("WORDS")),
        skip=Setting("skip", Blank("WORDS")),
    )
