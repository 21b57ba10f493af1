"""The nouns of a campaign: what is graded, who grades it, and what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Adjudication",
    "Ahead",
    "Answer",
    "Campaign",
    "Conflict",
    "Event",
    "Handover",
    "Item",
    "Kind",
    "Person",
    "Progress",
    "Rating",
    "Refused",
    "Role",
    "Session",
    "Span",
    "Standing",
    "State",
    "Task",
]

Kind: TypeAlias = Literal["grade", "spans"]
"""What an annotator gives a text: a grade on a scale, or marks on its words."""

Role: TypeAlias = Literal["lead", "annotator"]
State: TypeAlias = Literal["open", "graded", "skipped"]
Span: TypeAlias = tuple[int, int]
"""Where a mark begins and ends in a text, in characters (code points); the end is not in it."""


class Refused(UsageError):  # noqa: N818 - says what is wrong
    """A request that the store does not carry out.

    Args:
        kind: ``unknown`` (no such thing, or not this person's), ``forbidden`` (a lead may do it, this person not),
            ``expired``, ``used``, ``stale`` (the text was graded meanwhile), ``left`` (the person is no longer in the
            campaign), ``full`` (no place is free) or ``invalid`` (a grade that is not on the scale, a span outside the
            text, …).
        problem: What is wrong, in words.

    >>> raise Refused("expired", "this invitation has expired; ask for a new one")
    Traceback (most recent call last):
    ...
    postil.annotation.models.Refused: this invitation has expired; ask for a new one
    """

    def __init__(self, kind: str, problem: str) -> None:
        self.kind, self.problem = kind, problem
        super().__init__(problem)


class _Noun(msgspec.Struct, frozen=True, gc=False):
    """Base of all nouns."""


class Campaign(_Noun, frozen=True, kw_only=True):
    """What is done.

    Args:
        name: What people call it.
        what: ``comments``, ``outputs`` or ``passages``.
        each: How many annotators a text has.
        seed: The seed of the plan.
        created: When, in seconds since 1970; the store sets it.
    """

    name: str
    what: Literal["comments", "outputs", "passages"]
    each: int
    seed: int
    created: float = 0.0


class Item(_Noun, frozen=True, kw_only=True):
    """A text to be graded, with what it belongs to.

    Args:
        item: The article's id, or a passage's topic.
        system: Who wrote the text: a system, or the id of the comment or passage.
        text: The text.
        title: The article's headline, or the topic.
        content: The article's text.
        lang: The language, as a BCP 47 tag.
        gold: The grade that is known to be right, where the text is there to check annotators.
    """

    item: str
    system: str
    text: str
    title: str = ""
    content: str = ""
    lang: str = ""
    gold: float | None = None


class Person(_Noun, frozen=True, kw_only=True):
    """Someone who takes part.

    Args:
        id: The number of the person.
        name: The name that the lead knows; empty while a place is free.
        role: What the person may do.
        pseudonym: The name in exports.
        left: Whether the person has left.
    """

    id: int
    name: str
    role: Role
    pseudonym: str
    left: bool = False


class Session(_Noun, frozen=True, kw_only=True):
    """A person who is signed in.

    Args:
        token: The secret that the browser keeps; the store has its hash only.
        person: Who.
        expires: Until when, in seconds since 1970.
    """

    token: str
    person: Person
    expires: float


class Task(_Noun, frozen=True, kw_only=True):
    """A text before an annotator. It does not say which system wrote the text, nor what others think of it.

    Args:
        assignment: The number to answer with.
        place: Where it stands in the annotator's order, from 0.
        total: How many texts the annotator has.
        round: 1, or 2 where the same text is shown again.
        revision: The state that is shown; `Store.rate` refuses a grade for another one.
        state: What has become of it.
        text: The text.
        title: The article's headline.
        content: The article's text.
        lang: The language, as a BCP 47 tag; empty where it is not known.
        grade: The grade that was given.
        spans: The marks that were made.
        reason: Why it was skipped.
    """

    assignment: int
    place: int
    total: int
    round: int
    revision: int
    state: State
    text: str
    title: str
    content: str
    lang: str
    grade: float | None = None
    spans: tuple[Span, ...] = ()
    reason: str = ""


class Answer(_Noun, frozen=True, kw_only=True):
    """What an annotator says about a text.

    Args:
        assignment: The number in the task.
        request: A key that the client made for this answer: sent twice, it is stored once.
        value: The grade, or the marks.
        reason: Why the text is skipped; there is no value then.
        revision: The revision in the task; a text that was answered meanwhile is then refused.
        seconds: How long the text was before the annotator.
    """

    assignment: int
    request: str
    value: float | Sequence[Span] | None = None
    reason: str | None = None
    revision: int | None = None
    seconds: float | None = None


class Progress(_Noun, frozen=True, kw_only=True):
    """How far someone is.

    Args:
        done: How many texts are graded.
        total: How many there are.
        skipped: How many were skipped.
    """

    done: int
    total: int
    skipped: int


class Ahead(_Noun, frozen=True, kw_only=True):
    """How far someone is, and what comes.

    Args:
        progress: How far.
        tasks: Texts that are open, one after another.
    """

    progress: Progress
    tasks: tuple[Task, ...]


class Standing(_Noun, frozen=True, kw_only=True):
    """How far and how fast an annotator is, for the lead.

    Args:
        person: Who.
        progress: How far.
        seconds: The median time for a text, of the last 200 that were graded; None before the first.
        last: When the last answer came, in seconds since 1970; None before the first.
    """

    person: Person
    progress: Progress
    seconds: float | None
    last: float | None


class Handover(_Noun, frozen=True, kw_only=True):
    """What became of the work of someone who left.

    Args:
        moved: How many texts others got.
        short: How many texts of the campaign now have fewer annotators than they are meant to.
    """

    moved: int
    short: int


class Event(_Noun, frozen=True, kw_only=True):
    """Something that an annotator did. Events are added and never changed.

    Args:
        id: Its number, rising with time.
        person: Who.
        assignment: Which text of whose.
        kind: What was done.
        time: When, in seconds since 1970.
        round: 1, or 2 where the same text is shown again.
        request: The key that the client made for it.
        grade: The grade.
        spans: The marks; None where none were asked for.
        reason: Why it was skipped.
        seconds: How long the text was before the annotator.
        undoes: The event that was taken back.
    """

    id: int
    person: int
    assignment: int
    kind: Literal["rate", "skip", "undo"]
    time: float
    round: int
    request: str
    grade: float | None = None
    spans: tuple[Span, ...] | None = None
    reason: str = ""
    seconds: float | None = None
    undoes: int | None = None


class Rating(_Noun, frozen=True, kw_only=True):
    """What an annotator now thinks of a text.

    Args:
        number: The number of the text, from 0.
        item: See `Item`.
        system: See `Item`.
        annotator: The annotator's pseudonym.
        grade: The grade; where passages are marked, the share of the text that is marked.
        round: 1, or 2 where the same text was shown again.
        order: Where the text stood in the annotator's order, from 0.
        time: When, in seconds since 1970.
        seconds: How long it took.
        gold: The grade that is known to be right.
        spans: The marks.
    """

    number: int
    item: str
    system: str
    annotator: str
    grade: float
    round: int
    order: int
    time: float
    seconds: float | None = None
    gold: float | None = None
    spans: tuple[Span, ...] = ()


class Adjudication(_Noun, frozen=True, kw_only=True):
    """What a lead decided about a text; the last one counts.

    Args:
        number: The number of the text.
        lead: The lead's pseudonym.
        grade: The grade.
        reason: Why.
        time: When, in seconds since 1970.
    """

    number: int
    lead: str
    grade: float
    reason: str
    time: float


class Conflict(_Noun, frozen=True, kw_only=True):
    """A text whose grades are far apart. It does not say which system wrote the text.

    Args:
        number: The number of the text, to adjudicate it by.
        text: The text.
        title: The article's headline.
        content: The article's text.
        lang: The language.
        ratings: What each annotator thinks.
        distance: How far the grades are apart.
        adjudication: What was decided, if anything.
    """

    number: int
    text: str
    title: str
    content: str
    lang: str
    ratings: tuple[tuple[str, float], ...]
    distance: float
    adjudication: Adjudication | None = None
