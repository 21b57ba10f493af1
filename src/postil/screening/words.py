"""Decisions in a site's own words, such as approved and spam, as rows of decisions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from postil.data.explain import counted
from postil.data.fields import check_texts
from postil.data.row_files import read
from postil.data.rows import Date, Decision, Id, Row
from postil.errors import InvalidInput, UsageError
from postil.messages import Blank, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.data.reading import Reading

__all__ = ["WordedDecision", "Words", "decision_words", "read_worded"]

Words: TypeAlias = "Mapping[str, Literal['keep', 'hold']]"


class WordedDecision(Row, frozen=True, omit_defaults=True, gc=False):
    """A row of `postil.data.rows.Decision` whose decision is a word of the site's.

    Args:
        text: Text of the comment.
        decision: The word.
        reason: Reason in the site's own words.
        date: Date of the comment.
        article: Identifier of its article.
        author: A value that stands for its author.
        id: Identifier of the comment within its article.
        lang: Its language.
    """

    text: str
    decision: str
    reason: str | None = None
    date: Date | None = None
    article: Id | None = None
    author: Id | None = None
    id: Id | None = None
    lang: str | None = None

    def __post_init__(self) -> None:
        check_texts(self, "decision")
        self.meaning("keep")  # which checks the other fields, while the line is known

    def meaning(self, decision: Literal["keep", "hold"]) -> Decision:
        """The decision that the word means; what is held without a reason has the word as its reason.

        Args:
            decision: The decision.
        """
        values = msgspec.structs.asdict(self)
        word = self.decision.strip().casefold()
        if decision == "hold" and not (self.reason or "").strip() and word != "hold":
            values["reason"] = word
        return Decision(**{**values, "decision": decision})


def decision_words(hold: str | None, keep: str | None) -> Words:
    """Words for decisions, in lower case; ``hold`` and ``keep`` mean themselves unless they are named.

    Args:
        hold: Words with commas between them that mean hold; None for none.
        keep: Words that mean keep.

    Raises:
        UsageError: A word is empty, or means both.

    >>> decision_words("Spam, trash", "approved")
    {'spam': 'hold', 'trash': 'hold', 'approved': 'keep'}
    """
    found: dict[str, Literal["keep", "hold"]] = {}
    meanings: tuple[tuple[Literal["keep", "hold"], str | None], ...] = (("hold", hold), ("keep", keep))
    for decision, words in meanings:
        for word in () if words is None else words.split(","):
            plain = word.strip().casefold()
            if not plain:
                raise UsageError("{setting}: expected words with commas between them", setting=Setting(decision, words))
            if found.setdefault(plain, decision) != decision:
                raise UsageError("{setting}: this word means hold as well", setting=Setting("keep", word.strip()))
    return found


def read_worded(file: str, words: Words, reading: Reading) -> list[Decision]:
    """Read a table of decisions in a site's words.

    Args:
        file: The file.
        words: The words.
        reading: Options of reading it.

    Raises:
        InvalidInput: A row is invalid, or its word means nothing.
    """
    known: Words = {"hold": "hold", "keep": "keep", **words}
    found, others = list[Decision](), Counter[str]()
    for row in read(file, WordedDecision, reading):
        decision = known.get(row.decision.strip().casefold())
        if decision is None:
            others[row.decision.strip()] += 1
        else:
            found.append(row.meaning(decision))
    if others:
        some = ", ".join(f"'{word}' ({counted(n, 'row')})" for word, n in others.most_common(5))
        problem = Message(
            "expected one of {known}, got {some}; name each word in {hold} or {keep}, and leave out the undecided",
            known=", ".join(known),
            some=some,
            hold=Setting("hold", Blank("WORDS")),
            keep=Setting("keep", Blank("WORDS")),
        )
        raise InvalidInput(problem, where=file, field="decision")
    return found
