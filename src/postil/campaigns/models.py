"""Data models of a campaign: items, people, assignments, annotations and decisions."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import msgspec

from postil.data.fields import coerce_ids
from postil.errors import InvalidInput, UsageError
from postil.messages import Fact, Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


__all__ = [
    "FORMER",
    "HEADINGS",
    "ITEM_TYPES",
    "Adjudication",
    "Annotation",
    "AnnotationTask",
    "AnnotatorProgress",
    "Campaign",
    "CampaignState",
    "Conflict",
    "Context",
    "Drawn",
    "Event",
    "EventKind",
    "Feedback",
    "Given",
    "Groups",
    "Item",
    "ItemOrder",
    "ItemRows",
    "ItemType",
    "Kind",
    "NoCampaign",
    "Person",
    "Presentation",
    "Progress",
    "Purpose",
    "Rating",
    "Reassignment",
    "Refused",
    "Revision",
    "Role",
    "Session",
    "ShownLabel",
    "ShownTexts",
    "Span",
    "Upcoming",
    "name_of",
    "parse_context",
]

ItemType: TypeAlias = Literal[
    "text", "comment", "answer", "summary", "translation", "passage", "comments", "outputs", "passages"
]
"""Type of the items. The last three are former names; see `FORMER`."""

ItemRows: TypeAlias = Literal["articles", "candidates", "passages"]
"""Rows that items come from: the comments of articles (or references of a plan), candidates, or passages."""

Groups: TypeAlias = Literal["articles", "items", "topics"]
"""Groups that texts belong to, by the name that they have in words."""

ITEM_TYPES: Final = ("text", "comment", "answer", "summary", "translation", "passage")

FORMER: Final[Mapping[ItemType, tuple[ItemType, ItemRows]]] = MappingProxyType(
    {"comments": ("comment", "articles"), "outputs": ("comment", "candidates"), "passages": ("passage", "passages")}
)
"""Item type and rows that a former name stands for."""

HEADINGS: Final[Mapping[ItemType, tuple[str, str]]] = MappingProxyType(
    {
        "text": ("Text", "Article"),
        "comment": ("Comment", "Article"),
        "answer": ("Answer", "Question"),
        "summary": ("Summary", "Source"),
        "translation": ("Translation", "Source"),
        "passage": ("Passage", "Topic"),
    }
)
"""English headings of a text and of the article or source that it belongs to."""

CONTEXTS: Final = ("article", "source", "thread")
"""Contexts that have a meaning of their own; other names are columns."""


def parse_context(given: str) -> tuple[str, ...]:
    """Parse the names of what is shown with each text.

    Args:
        given: ``none``, or names of `CONTEXTS` and of columns, separated by commas.

    Raises:
        UsageError: A name is empty or stands twice, or ``none`` is one of several.

    >>> parse_context("article,hint"), parse_context("none")
    (('article', 'hint'), ())
    """
    names = tuple(name.strip() for name in given.split(","))
    if names == ("none",):
        return ()
    if not all(names) or len(set(names)) < len(names) or "none" in names:
        raise UsageError(
            "{context}: expected none, or distinct names of {names} and columns, separated by commas; got '{got}'",
            context=Setting("context"),
            names=Listed(CONTEXTS, last=", "),
            got=given,
        )
    return names


Kind: TypeAlias = Literal["grade", "spans", "pair"]
"""Type of an annotation: a grade on a scale, span annotations, or the preference for one of two texts."""

ItemOrder: TypeAlias = Literal["spread", "together"]
"""Items of one article in a presentation order: far apart, or in a row."""

Presentation: TypeAlias = tuple[int, int]
"""An item and a round: 1, or 2 where the item is repeated for the same annotator."""

Purpose: TypeAlias = Literal["", "attention", "training"]
"""Purpose of a gold item besides checking annotators."""

Feedback: TypeAlias = Literal["", "training", "gold"]
"""Gold items whose label is shown after a rating: none, those of the training, or all but attention checks."""

Role: TypeAlias = Literal["lead", "annotator"]
State: TypeAlias = Literal["open", "graded", "skipped"]
EventKind: TypeAlias = Literal["rate", "skip", "undo"]
Sides: TypeAlias = tuple[tuple[str, int], tuple[str, int]]
"""Texts of a pair, each with the grade that says it is better."""
Span: TypeAlias = tuple[int, int]
"""Start and end of a span, in characters (code points); the end is exclusive."""


class Refused(UsageError):  # noqa: N818 - the rejection of a request, not a fault
    """Request that the store rejects.

    Args:
        kind: ``unknown`` (no such thing, or not this person's), ``forbidden`` (permission denied), ``expired``,
            ``used``, ``stale`` (the item was annotated in the meantime), ``left`` (the person was removed), ``full``
            (the plan has no free slot), ``closed`` (the campaign takes no answers) or ``invalid`` (a grade outside the
            scale, a span outside the text, …).
        template: One sentence that names the problem, which pages translate.
        many: The same for several things, where the words differ.
        facts: The facts of the template.

    >>> raise Refused("expired", "this invitation has expired; ask for a new one")
    Traceback (most recent call last):
    ...
    postil.campaigns.models.Refused: this invitation has expired; ask for a new one
    """

    def __init__(self, kind: str, template: str, many: str = "", /, **facts: Fact) -> None:
        self.kind = kind
        super().__init__(template, many, **facts)


class NoCampaign(InvalidInput):
    """Database without a campaign, or a file that does not exist."""


class _Record(msgspec.Struct, frozen=True, gc=False):
    """Base of all records."""


class Drawn(_Record, frozen=True, kw_only=True):
    """Origin of the suggestions that a campaign of labels asks about.

    Args:
        model: Hash of the model's files, apart from the filter that is learned from labels.
        articles: Hash of the articles that were drawn from.
        sample: Number of articles to draw.
        per_article: Number of suggestions per article.
        among: Number of first suggestions that they were drawn from; None for the first ones themselves.
        annotators: Number of annotators.
        teach: True if suggestions are drawn in rounds, by what the labels so far say.
    """

    model: str
    articles: str
    sample: int
    per_article: int
    among: int | None
    annotators: int
    teach: bool = False


class Revision(_Record, frozen=True, kw_only=True):
    """Revision of the plan: the items that were added at one time.

    Args:
        number: Number of the revision; 1 is the first plan.
        time: Time, in seconds since 1970.
        seed: Random seed.
        first: Number of its first item; its items follow one another.
        items: Number of items, gold ones included.
        known: Number of items of the files that were left out, as the campaign had them already.
        hash: Hash of its items (BLAKE2b, 128 bits).
    """

    number: int
    time: float
    seed: int
    first: int
    items: int
    known: int
    hash: str


class Campaign(_Record, frozen=True, kw_only=True, omit_defaults=True):
    """Settings of a campaign.

    Args:
        name: Name shown to annotators.
        item_type: Type of the items.
        annotators_per_item: Number of annotators per item.
        seed: Random seed of the plan.
        created: Time of creation, in seconds since 1970; set by the store.
        overlapping: Numbers of the items with one annotator more.
        by_item: True if all items of an article have the same annotators.
        sampled_from: Number of articles that those of the campaign were sampled from; None where all were taken.
        drawn: Origin of its suggestions, of a campaign of labels; None of another one.
        revisions: Revisions of the plan after the first one.
        rows: Rows that the items come from; by default those that usually have items of the type.
        context: Names of what is shown with each text: ``article``, ``source``, ``thread`` and columns.
        pairs: Number of pairs of texts per article, 0 for all; None where single texts are rated.
        feedback: Gold items whose label annotators see after they have rated them.
        address: URL where people reach the pages: that of the last server, or one that an invitation was given in
            place of none or of one for this machine alone; empty before both.
        without_articles: True where articles are shown and no item has one with a title or a content; set by the store.
    """

    name: str
    item_type: ItemType
    annotators_per_item: int
    seed: int
    created: float = 0.0
    overlapping: tuple[int, ...] = ()
    by_item: bool = False
    sampled_from: int | None = None
    drawn: Drawn | None = None
    revisions: tuple[Revision, ...] = ()
    rows: ItemRows | None = None
    context: tuple[str, ...] | None = None
    pairs: int | None = None
    feedback: Feedback = ""
    address: str = ""
    without_articles: bool = False

    def __post_init__(self) -> None:
        usual: dict[ItemType, ItemRows] = {"comment": "articles", "passage": "passages"}
        item_type, rows = FORMER.get(self.item_type, (self.item_type, usual.get(self.item_type, "candidates")))
        msgspec.structs.force_setattr(self, "item_type", item_type)
        msgspec.structs.force_setattr(self, "rows", self.rows or rows)
        msgspec.structs.force_setattr(self, "context", ("article",) if self.context is None else self.context)

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of what is shown with each text, articles apart where no item has one."""
        context = self.context or ()
        return tuple(name for name in context if name != "article") if self.without_articles else context

    @property
    def grouped_by(self) -> Groups:
        """Name of the groups that texts belong to by their ``item``."""
        if self.rows == "passages":
            return "topics"
        return "articles" if "article" in self.shown else "items"

    @property
    def groups(self) -> Message:
        """Word for the groups that texts belong to."""
        return {"articles": Message("articles"), "items": Message("items"), "topics": Message("topics")}[
            self.grouped_by
        ]

    @property
    def shows_articles(self) -> bool:
        """True if texts are shown beside something that is called an article."""
        return self.grouped_by == "articles" and HEADINGS[self.item_type][1] == "Article"


class Context(_Record, frozen=True, kw_only=True):
    """A text that is shown with an item, besides its article.

    Args:
        name: ``source``, ``thread``, or the name of a column; shown as the heading.
        text: The text.
    """

    name: str
    text: str


class Item(_Record, frozen=True, kw_only=True):
    """An item to annotate, with its context.

    Args:
        item: Id of the article, or topic of the passage.
        system: Source of the text: a system, or the id of the comment or passage.
        text: The text.
        title: Headline of the article, or the topic.
        content: Body of the article.
        lang: Language, as a BCP 47 tag.
        gold: Gold label of a gold item, which is there to check annotators.
        sample: Number of the text among those of its article and system, from 1.
        context: Texts shown with it besides the article.
        purpose: ``attention`` for a text that asks for a grade, ``training`` for a gold item to learn from, else empty.
        golds: Gold labels of all aspects, where there are several; None for those without one. `gold` is the first.
        other_system: Source of the second text of a pair; empty for a single text.
        other_text: Second text of a pair.
    """

    item: str
    system: str
    text: str
    title: str = ""
    content: str = ""
    lang: str = ""
    gold: float | None = None
    sample: int = 1
    context: tuple[Context, ...] = ()
    purpose: Purpose = ""
    golds: tuple[float | None, ...] = ()
    other_system: str = ""
    other_text: str = ""

    def __post_init__(self) -> None:
        coerce_ids(self, "item", "system", "other_system")

    @property
    def name(self) -> str:
        """Name within the article: the system, or both systems of a pair."""
        return name_of(self.system, self.other_system)

    @property
    def has_article(self) -> bool:
        """True if it is shown with an article that has a title or a content."""
        return bool(self.title.strip() or self.content.strip())


def name_of(system: str, other_system: str | None) -> str:
    """Name of an item within its article.

    Args:
        system: Source of the text.
        other_system: Source of the second text of a pair; empty or None for a single text.

    >>> name_of("base", ""), name_of("base", "new")
    ('base', 'base : new')
    """
    return f"{system} : {other_system}" if other_system else system


class Person(_Record, frozen=True, kw_only=True):
    """An annotator, a lead, or a free slot of the plan.

    Args:
        id: Number of the person.
        name: Name known to the lead; empty for a free slot.
        role: Role, which decides about permissions.
        pseudonym: Name used in exports.
        left: True if the person was removed.
    """

    id: int
    name: str
    role: Role
    pseudonym: str
    left: bool = False


class Session(_Record, frozen=True, kw_only=True):
    """Session of a signed-in person.

    Args:
        token: Secret kept by the browser; the store has only its hash.
        person: The signed-in person.
        expires: Time of expiry, in seconds since 1970.
    """

    token: str
    person: Person
    expires: float


class ShownTexts(_Record, frozen=True, kw_only=True):
    """Texts of an item as they are shown to people, who do not learn its system.

    Args:
        text: The text.
        title: Headline of the article.
        content: Body of the article.
        lang: Language, as a BCP 47 tag; empty if unknown.
        context: Texts shown with it besides the article.
        other_text: Second text of a pair; empty for a single text.
    """

    text: str
    title: str
    content: str
    lang: str
    context: tuple[Context, ...] = ()
    other_text: str = ""


class AnnotationTask(ShownTexts, frozen=True, kw_only=True):
    """An item as presented to an annotator; it reveals neither the system nor the ratings of others.

    Args:
        assignment: Number of the assignment, which an annotation refers to.
        position: Position in the annotator's presentation order, from 0.
        total: Number of presentations in that order.
        round: 1, or 2 for a repeated item.
        revision: Revision of the shown state, for optimistic concurrency control: `Grading.rate` refuses an annotation
            that is based on another one.
        state: State of the assignment.
        grade: Current grade, if there is one.
        spans: Current span annotations.
        reason: Reason for skipping.
        grades: Current grades of all aspects, where there are several.
        swapped: True if the second text of a pair is on the left.
    """

    assignment: int
    position: int
    total: int
    round: int
    revision: int
    state: State
    grade: float | None = None
    spans: tuple[Span, ...] = ()
    reason: str = ""
    grades: tuple[float, ...] = ()
    swapped: bool = False

    @property
    def sides(self) -> Sides:
        """Texts of a pair from left to right."""
        first, second = (self.text, 1), (self.other_text, 3)
        return (second, first) if self.swapped else (first, second)


class Annotation(_Record, frozen=True, kw_only=True):
    """An annotation as submitted: a grade, span annotations, or a skip.

    Args:
        assignment: Number of the assignment.
        idempotency_key: Key made by the client; an annotation submitted twice under one key is stored once.
        value: The grade, one grade per aspect, or the spans.
        reason: Reason for skipping; there is no value then.
        revision: Revision of the task, for optimistic concurrency control; a stale one is refused.
        seconds: Time that the item was shown, in seconds.
    """

    assignment: int
    idempotency_key: str
    value: float | Sequence[float | None] | Sequence[Span] | None = None
    reason: str | None = None
    revision: int | None = None
    seconds: float | None = None


class Progress(_Record, frozen=True, kw_only=True):
    """Progress of an annotator.

    Args:
        done: Number of graded presentations.
        total: Number of assigned presentations.
        skipped: Number of skipped ones.
    """

    done: int
    total: int
    skipped: int


class CampaignState(_Record, frozen=True, kw_only=True):
    """State of a campaign at one moment.

    Args:
        status: ``running``; ``paused`` by a lead: no new item is handed out, answers are stored; ``ending``: the same,
            as the deadline has passed; ``closed``: no answer is stored.
        message: Message of a lead to the annotators.
        deadline: Deadline, in seconds since 1970; None if there is none.
        since: Time of the last change of the status, in seconds since 1970; None before the first.
        lapsed: True if the deadline closed the campaign, and no lead.
    """

    status: Literal["running", "paused", "ending", "closed"] = "running"
    message: str = ""
    deadline: float | None = None
    since: float | None = None
    lapsed: bool = False


class ShownLabel(_Record, frozen=True, kw_only=True):
    """Feedback to an annotator: a rating of a gold item beside its label.

    Args:
        text: The text.
        lang: Language of the text, as a BCP 47 tag; empty if unknown.
        grades: The grades; one, or one of each aspect.
        golds: The labels; None where an aspect has none.
    """

    text: str
    lang: str
    grades: tuple[float, ...]
    golds: tuple[float | None, ...]


class Upcoming(_Record, frozen=True, kw_only=True):
    """Progress of an annotator, with the tasks that come next.

    Args:
        progress: The progress.
        tasks: Consecutive open tasks; none unless the campaign is running.
        state: State of the campaign.
        label: Label of the item that was just rated, in a campaign with feedback.
    """

    progress: Progress
    tasks: tuple[AnnotationTask, ...]
    state: CampaignState = CampaignState()
    label: ShownLabel | None = None


class AnnotatorProgress(_Record, frozen=True, kw_only=True):
    """Progress and speed of an annotator, for the lead.

    Args:
        person: The annotator.
        progress: The progress.
        seconds: Median time per item over the last 200 annotations, in seconds; None before the first.
        last: Time of the last annotation, in seconds since 1970; None before the first.
    """

    person: Person
    progress: Progress
    seconds: float | None
    last: float | None


class Reassignment(_Record, frozen=True, kw_only=True):
    """Outcome of removing an annotator.

    Args:
        moved: Number of items reassigned, or reserved for a new annotator.
        short: Number of items of the campaign that now have fewer annotators than planned.
    """

    moved: int
    short: int


class Event(NamedTuple):
    """Entry of the event log, with the columns of its table. Entries are appended and never changed.

    Args:
        id: Number of the event, ascending with time.
        person: Number of the annotator.
        assignment: Number of the assignment.
        kind: Type of the event.
        grade: The grade.
        spans: The span annotations; None where the rubric asks for none.
        reason: Reason for skipping.
        time: Time, in seconds since 1970.
        seconds: Time that the item was shown, in seconds.
        idempotency_key: Key made by the client.
        before: Number of the event that made the assignment's state before this one.
        previous: Number of the event that undo reverts after this one.
        undoes: Number of the undone event.
        grades: Grades of all aspects, where there are several; `grade` is the first of them.
    """

    id: int
    person: int
    assignment: int
    kind: EventKind
    grade: float | None
    spans: tuple[Span, ...] | None
    reason: str
    time: float
    seconds: float | None
    idempotency_key: str
    before: int | None
    previous: int | None
    undoes: int | None
    grades: tuple[float, ...]


class Rating(_Record, frozen=True, kw_only=True):
    """Current rating of an item by one annotator.

    Args:
        number: Number of the item, from 0.
        item: See `Item`.
        system: See `Item`; of a pair its name, with both systems.
        annotator: Pseudonym of the annotator.
        grade: The grade; of a pair 1 for the first text, 2 for a tie, 3 for the second one; for span annotations the
            share of the text that is annotated.
        round: 1, or 2 for a repeated item.
        order: Position in the annotator's presentation order, from 0.
        time: Time, in seconds since 1970.
        seconds: Time that the item was shown, in seconds.
        gold: Gold label.
        spans: Span annotations.
        revision: Revision of the plan that the item belongs to; 1 for the first plan.
        sample: See `Item`.
        purpose: See `Item`.
        aspect: Name of the aspect that `grade` and `gold` are of; empty where none was selected.
        grades: Grades of all aspects, where there are several; `grade` is the first of them.
        golds: See `Item`.
        pair: Systems of a pair; None for a single text.
        swapped: True if the second text of a pair was on the left.
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
    revision: int = 1
    sample: int = 1
    purpose: Purpose = ""
    aspect: str = ""
    grades: tuple[float, ...] = ()
    golds: tuple[float | None, ...] = ()
    pair: tuple[str, str] | None = None
    swapped: bool = False


class Given(_Record, frozen=True, kw_only=True):
    """Rating that was given with another tool.

    Args:
        item: Number of the item.
        annotator: Pseudonym of the annotator.
        value: The grade, one grade of each aspect, or the spans.
        time: Time, in seconds since 1970; None if it is unknown.
        seconds: Time that it took, in seconds; None if it is unknown.
    """

    item: int
    annotator: str
    value: float | Sequence[float] | Sequence[Span]
    time: float | None
    seconds: float | None

    def in_time(self) -> tuple[bool, float]:
        """Key that sorts ratings by time; those without one come last, in their order."""
        return self.time is None, self.time or 0.0


class Adjudication(_Record, frozen=True, kw_only=True):
    """Decision of a lead about an item; the last one counts.

    Args:
        number: Number of the item.
        lead: Pseudonym of the lead.
        grade: The adjudicated grade.
        reason: Reason for the decision.
        time: Time, in seconds since 1970.
    """

    number: int
    lead: str
    grade: float
    reason: str
    time: float


class Conflict(ShownTexts, frozen=True, kw_only=True):
    """An item with disagreement, queued for adjudication; it does not reveal the system.

    Args:
        number: Number of the item.
        ratings: Pseudonym and grade of each annotator.
        distance: Highest minus lowest grade.
        adjudication: The last decision, if there is one.
    """

    number: int
    ratings: tuple[tuple[str, float], ...]
    distance: float
    adjudication: Adjudication | None = None

    @property
    def sides(self) -> Sides:
        """Texts of a pair, the first one first."""
        return (self.text, 1), (self.other_text, 3)
