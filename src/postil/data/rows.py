"""Row types: the data models of files.

Every row is frozen and checks itself when it is made, from a file or in Python: ids become text, numbers are finite
floats, an optional list that is null becomes empty, a signature that is null ``external``. Unknown fields are ignored.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from postil.data.explain import shown, unlike
from postil.data.fields import (
    check_texts,
    coerce_date,
    coerce_ids,
    coerce_integers,
    coerce_number_tuple,
    coerce_numbers,
    coerce_tuple,
    optional_date,
)
from postil.errors import InvalidInput
from postil.kernel.unicode_forms import is_composed

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "CHOICES",
    "DECISIONS",
    "Article",
    "ArticleContent",
    "Candidate",
    "Choice",
    "Comment",
    "Decision",
    "Draft",
    "GradedText",
    "JudgeScore",
    "Judgement",
    "Maximum",
    "PairJudgement",
    "PairPreference",
    "Passage",
    "PlannedReference",
    "Rating",
    "Reference",
    "Row",
    "Score",
    "TopicArticle",
    "check_choice",
]

EXTERNAL: Final = "external"
"""Signature of a score of which nothing is known but its metric's name."""


class Row(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Base of all rows. No row can point to itself, so the garbage collector need not watch the millions of them."""

    spelled: ClassVar[tuple[str, ...]] = ()
    """Fields that a table may fill with a word for no value, such as n/a, which would count as a text: it is told."""


if TYPE_CHECKING:
    Date: TypeAlias = str
    Id: TypeAlias = str
    Signature: TypeAlias = str
    Votes: TypeAlias = int
    Names: TypeAlias = tuple[str, ...]
    Ratings: TypeAlias = tuple["Rating", ...]
    Comments: TypeAlias = tuple["Comment", ...]
    Statistics: TypeAlias = tuple[float, ...]
else:
    # A file may say more than a row holds: an integer for an id, null for no ratings. The row settles it.
    Date = Annotated[
        str | int | float, msgspec.Meta(extra={"check": optional_date, "expected": "a date", "kind": "date"})
    ]
    Id = str | int
    Signature = str | None
    Votes = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
    Names = tuple[str, ...] | None
    Ratings = tuple["Rating", ...] | None
    Comments = tuple["Comment", ...]
    Statistics = tuple[float, ...] | None


def _mean_grade(row: Comment | Reference) -> float | None:
    if row.grade is not None or not row.ratings:
        return row.grade
    grades = [rating.grade for rating in row.ratings]
    # A sum that does not depend on the order of the ratings, so neither does any score.
    try:
        return math.fsum(grades) / len(grades)
    except OverflowError:
        return math.fsum(grade / len(grades) for grade in grades)


class Rating(Row, frozen=True, omit_defaults=True, gc=False):
    """The rating of a text by one annotator.

    Args:
        annotator: The annotator.
        grade: Quality of the text, on the annotators' scale.
    """

    annotator: Id
    grade: float

    def __post_init__(self) -> None:
        coerce_ids(self, "annotator")
        coerce_numbers(self, "grade")


class Comment(Row, frozen=True, omit_defaults=True, gc=False):
    """A reader's comment on an article.

    Args:
        id: Identifier within its article.
        text: Its text.
        upvotes: Upvotes, minus downvotes where a site counts those too.
        grade: The agreed grade. Where ratings are given as well, the agreed grade is the one that counts.
        ratings: One rating per annotator.
        user: Its author; a name, or a number that stands for one.
        date: Its date in UTC, such as `2017-03-30T02:56:13Z`; made of what `postil.data.fields.parse_date` takes.
        parent: Identifier of the comment that it replies to.
    """

    id: Id
    text: str
    upvotes: Votes | None = None
    grade: float | None = None
    ratings: Ratings = ()
    user: Id | None = None
    date: Date | None = None
    parent: Id | None = None

    def __post_init__(self) -> None:
        if self.date is not None:
            coerce_date(self)
        votes = self.upvotes
        if (
            (self.id.__class__ is self.text.__class__ is str)
            and (votes is None or (votes.__class__ is int and -(2**63) <= votes < 2**63))
            and self.grade is None
            and self.user is None
            and self.ratings == ()
            and (self.id.isascii() or is_composed(self.id))
            and (
                self.parent is None
                or (self.parent.__class__ is str and (self.parent.isascii() or is_composed(self.parent)))
            )
        ):
            return  # fast path: most comments are like that, and there are millions
        coerce_ids(self, "id")
        check_texts(self, "text")
        coerce_integers(self, "upvotes")
        coerce_numbers(self, "grade", optional=True)
        coerce_tuple(self, "ratings", Rating)
        coerce_ids(self, "user", "parent", optional=True)

    @property
    def mean_grade(self) -> float | None:
        """The agreed grade, else the mean of the ratings, else None."""
        return _mean_grade(self)


class Article(Row, frozen=True, omit_defaults=True, gc=False):
    """An article with the comments under it.

    Args:
        id: Identifier of the article.
        title: Its headline.
        comments: Comments that readers wrote under it.
        content: Its text.
        category: The section it was published in.
        lang: Its language, as a BCP 47 tag such as `zh` or `en`.
        url: Its address.
        held_out: Comments set aside when references were drawn for a test; they are no references.
        date: Its date in UTC, as of a comment.
    """

    id: Id
    title: str
    comments: Comments
    content: str | None = None
    category: str | None = None
    lang: str | None = None
    url: str | None = None
    held_out: Comments | None = ()
    date: Date | None = None

    def __post_init__(self) -> None:
        if self.date is not None:
            coerce_date(self)
        coerce_ids(self, "id")
        check_texts(self, "title")
        coerce_tuple(self, "comments", Comment)
        coerce_tuple(self, "held_out", Comment)
        check_texts(self, "content", "category", "lang", "url", optional=True)

    def references(self) -> Iterator[Reference]:
        """The comments as references for this article.

        Yields:
            A reference for each comment, in order, with the article's id as its item and the comment's as its own.

        >>> article = Article("a1", "Rain tomorrow", (Comment("c1", "Bring a coat.", grade=4.0),))
        >>> [(reference.item, reference.id, reference.grade) for reference in article.references()]
        [('a1', 'c1', 4.0)]
        """
        for comment in self.comments:
            yield Reference(
                self.id,
                comment.text,
                grade=comment.grade,
                ratings=comment.ratings,
                upvotes=comment.upvotes,
                id=comment.id,
            )


class Draft(Article, frozen=True, omit_defaults=True, gc=False):
    """An article to comment on: as `Article`, and it need not have comments yet."""

    comments: Comments = ()


DECISIONS: Final = ("keep", "hold")
"""Decisions on a comment: readers may see it, or they may not."""
_TO_DECIDE: Final = "; write keep for what readers may see and hold for what they may not, and leave out the undecided"


def _check_decision(value: object) -> None:
    if value not in DECISIONS:
        raise InvalidInput(unlike(" or ".join(DECISIONS), value, _TO_DECIDE), field="decision")


if TYPE_CHECKING:
    Verdict: TypeAlias = Literal["keep", "hold"]
else:
    Verdict = Annotated[str, msgspec.Meta(extra={"check": _check_decision, "expected": "keep or hold"})]


class Decision(Row, frozen=True, omit_defaults=True, gc=False):
    """The decision of a site's moderators, or of its own rules, on a comment.

    Args:
        text: Text of the comment.
        decision: ``keep`` where readers may see it, ``hold`` where they may not.
        reason: Reason in the site's own words, such as ``spam``; None where none is known, or it is blank.
        date: Date of the comment in UTC, as of `Comment`.
        article: Identifier of its article.
        author: A value that stands for its author.
        id: Identifier of the comment within its article.
        lang: Its language, as a BCP 47 tag.

    >>> Decision("Buy cheap watches!", "hold", "spam", date="2017-03-30").date
    '2017-03-30T00:00:00Z'
    >>> Decision("Bring a coat.", "approved")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    postil.errors.InvalidInput: decision: expected keep or hold, got "approved"; write keep for what readers may ...
    """

    text: str
    decision: Verdict
    reason: str | None = None
    date: Date | None = None
    article: Id | None = None
    author: Id | None = None
    id: Id | None = None
    lang: str | None = None

    def __post_init__(self) -> None:
        check_texts(self, "text")
        _check_decision(self.decision)
        check_texts(self, "reason", "lang", optional=True)
        if self.reason is not None and not self.reason.strip():
            force_setattr(self, "reason", None)
        if self.date is not None:
            coerce_date(self)
        coerce_ids(self, "article", "author", "id", optional=True)


class Candidate(Row, frozen=True, omit_defaults=True, gc=False):
    """The text of a system for an item.

    Args:
        item: The item that it was written for.
        system: The system that wrote it.
        text: The text.
    """

    spelled = ("text",)
    item: Id
    system: Id
    text: str

    def __post_init__(self) -> None:
        coerce_ids(self, "item", "system")
        check_texts(self, "text")


class Reference(Row, frozen=True, omit_defaults=True, gc=False):
    """A reference for an item, with its quality.

    Args:
        item: The item that it was written for.
        text: The text.
        grade: The agreed grade. Where ratings are given as well, the agreed grade is the one that counts.
        weight: Its quality weight in [0, 1], or in [-1, 1] for delta-BLEU.
        ratings: One rating per annotator.
        upvotes: Upvotes, minus downvotes where a site counts those too.
        system: The system that wrote it, where one of those that are compared did.
        id: Identifier within its item, such as that of a comment: references that are equal in all else are several
            only if their ids differ.

    >>> Reference(7, "Bring a coat.", ratings=(Rating("ann", 4), Rating("bob", 5))).mean_grade
    4.5
    """

    spelled = ("text",)
    item: Id
    text: str
    grade: float | None = None
    weight: float | None = None
    ratings: Ratings = ()
    upvotes: Votes | None = None
    system: Id | None = None
    id: Id | None = None

    def __post_init__(self) -> None:
        if (
            (self.item.__class__ is self.text.__class__ is str)
            and self.grade is self.weight is None
            and self.upvotes is None
            and self.system is None
            and self.ratings == ()
            and (self.id is None or (self.id.__class__ is str and self.id.isascii()))
            and self.item.isascii()
        ):
            return  # fast path: most references of test sets are like that
        coerce_ids(self, "item")
        check_texts(self, "text")
        coerce_numbers(self, "grade", "weight", optional=True)
        coerce_tuple(self, "ratings", Rating)
        coerce_integers(self, "upvotes")
        coerce_ids(self, "system", "id", optional=True)

    @property
    def mean_grade(self) -> float | None:
        """The agreed grade, else the mean of the ratings, else None."""
        return _mean_grade(self)


class PlannedReference(Row, frozen=True, omit_defaults=True, gc=False):
    """A reference to grade, in a plan of which references to grade.

    Args:
        item: The item that it was written for.
        reference: Its number among the references of the item, from 1.
        text: Its text.
        order: Its place in the plan, from 1.
        gain: Increase of the plan's value by it: of the sum over the texts to be scored of the highest similarity to a
            reference that is graded.
    """

    item: Id
    reference: int
    text: str
    order: int
    gain: float

    def __post_init__(self) -> None:
        coerce_ids(self, "item")
        check_texts(self, "text")
        coerce_integers(self, "reference", "order")
        coerce_numbers(self, "gain")


class Judgement(Row, frozen=True, omit_defaults=True, gc=False):
    """The rating of a system's text by one annotator.

    Args:
        item: The item that the text was written for.
        system: The system that wrote it.
        annotator: The annotator.
        grade: Its quality, on the annotators' scale.
        aspect: The aspect that was judged, where there is more than one.
    """

    spelled = ("aspect",)
    item: Id
    system: Id
    annotator: Id
    grade: float
    aspect: str | None = None

    def __post_init__(self) -> None:
        if (
            (self.item.__class__ is self.system.__class__ is self.annotator.__class__ is str)
            and (self.grade.__class__ is float and math.isfinite(self.grade))
            and self.aspect is None
            and (
                (self.item.isascii() or is_composed(self.item))
                and (self.system.isascii() or is_composed(self.system))
                and (self.annotator.isascii() or is_composed(self.annotator))
            )
        ):
            return  # fast path: most judgements are like that
        coerce_ids(self, "item", "system", "annotator")
        coerce_numbers(self, "grade")
        check_texts(self, "aspect", optional=True)


class Maximum(Row, frozen=True, omit_defaults=True, gc=False):
    """The highest grade that the texts of an item can have, where items have maxima of their own.

    Args:
        item: The item, such as a question of a test.
        maximum: The grade, such as its points.
    """

    item: Id
    maximum: float

    def __post_init__(self) -> None:
        coerce_ids(self, "item")
        coerce_numbers(self, "maximum")


class Passage(Row, frozen=True, omit_defaults=True, gc=False):
    """A passage about a topic, with its grade.

    Args:
        topic: The topic.
        id: Identifier within its topic.
        text: Its text.
        anchors: Anchor texts of the links in it.
        grade: Its interestingness, on the annotators' scale.
    """

    topic: Id
    id: Id
    text: str
    anchors: Names = ()
    grade: float | None = None

    def __post_init__(self) -> None:
        coerce_ids(self, "topic", "id")
        check_texts(self, "text")
        coerce_tuple(self, "anchors", str)
        coerce_numbers(self, "grade", optional=True)


class TopicArticle(Row, frozen=True, omit_defaults=True, gc=False):
    """The text of an article on a topic.

    Args:
        topic: The topic.
        text: The text.
    """

    topic: Id
    text: str

    def __post_init__(self) -> None:
        coerce_ids(self, "topic")
        check_texts(self, "text")


class Score(Row, frozen=True, omit_defaults=True, gc=False):
    """The score of a text by a metric.

    Args:
        item: The item that was scored; None for the whole corpus.
        system: The system that wrote the text.
        metric: The metric, as its user wrote it.
        score: The score.
        signature: All that the number depends on; ``external`` where another program says nothing of it.
        statistics: Statistics of the text that add up to those of a corpus, of metrics whose corpus score is not the
            mean of the item scores.
        equal_references: Number of references of its item that are the same text; None where there are none.
    """

    item: Id | None
    system: Id
    metric: str
    score: float
    signature: Signature = EXTERNAL
    statistics: Statistics = ()
    equal_references: int | None = None

    def __post_init__(self) -> None:
        if (
            (self.item.__class__ is self.system.__class__ is self.metric.__class__ is self.signature.__class__ is str)
            and (self.score.__class__ is float and math.isfinite(self.score))
            and self.statistics == ()
            and (
                (self.item.isascii() or is_composed(self.item)) and (self.system.isascii() or is_composed(self.system))
            )
        ):
            return  # fast path: most scores are like that, and there are millions
        coerce_ids(self, "item", optional=True)
        coerce_ids(self, "system")
        if self.signature is None:
            force_setattr(self, "signature", EXTERNAL)  # null in a file
        check_texts(self, "metric", "signature")
        coerce_numbers(self, "score")
        if self.statistics != ():
            coerce_number_tuple(self, "statistics")


class JudgeScore(Score, frozen=True, omit_defaults=True, gc=False):
    """The score of a text by a judge, a language model.

    Args:
        item: The item that was judged.
        system: The system that wrote the text.
        metric: Name of the judge, or of a control of it.
        score: The grade.
        signature: All that the grade depends on.
        statistics: None of a judge.
        mass: Probability of all grades together; None where no probabilities are known.
        samples: Number of sampled answers that the grade is the mean of; 0 where it is an expected value.
        calls: Number of answers that it was made of.
        omitted: Number of words of the article that were left out of the prompt.
    """

    mass: float | None = None
    samples: int = 0
    calls: int = 0
    omitted: int = 0


class GradedText(Row, frozen=True, omit_defaults=True, gc=False):
    """A text with the grade that a combination of scores suggests, for people to look through.

    Args:
        item: The item that it was written for.
        system: The system that wrote it.
        text: The text; None where it is not among the candidates.
        score: The grade, to hundredths; None where it is undecided.
        grade: The mean grade that people gave; None where none is known.
        maximum: The highest grade of the item, where items have maxima of their own.
        metric: Name of the combination.
        signature: All that the grade depends on.
    """

    item: Id
    system: Id
    text: str | None
    score: float | None
    grade: float | None
    maximum: float | None
    metric: str
    signature: Signature


class ArticleContent(Row, frozen=True, omit_defaults=True, gc=False):
    """An article without comments, which texts are judged for.

    Args:
        id: Identifier of the article: the item of its texts.
        title: Its headline.
        content: Its text.
    """

    id: Id
    title: str
    content: str | None = None

    def __post_init__(self) -> None:
        coerce_ids(self, "id")
        check_texts(self, "title")
        check_texts(self, "content", optional=True)


CHOICES: Final = ("a", "tie", "b")
"""Preferences: for the text of system a, for neither, for that of system b."""


def check_choice(value: object, field: str = "preference") -> None:
    """Refuse what is no preference.

    Args:
        value: The value.
        field: Its field; in any other than ``preference`` there is no tie.

    Raises:
        InvalidInput: It is none of `CHOICES`.
    """
    choices = CHOICES if field == "preference" else ("a", "b")
    if value not in choices:
        raise InvalidInput(unlike(f"{', '.join(choices[:-1])} or {choices[-1]}", value), field=field)


def _check_left(value: object) -> None:
    if value is not None:
        check_choice(value, "left")


if TYPE_CHECKING:
    Choice: TypeAlias = Literal["a", "tie", "b"]
    Side: TypeAlias = Literal["a", "b"]
else:
    Choice = Annotated[str, msgspec.Meta(extra={"check": check_choice, "expected": "a, tie or b"})]
    Side = Annotated[str | None, msgspec.Meta(extra={"check": _check_left, "expected": "a or b"})]


class PairPreference(Row, frozen=True, omit_defaults=True, gc=False):
    """The preference of one annotator for one of two systems' texts.

    Args:
        item: The item that both texts were written for.
        system_a: System of one text.
        system_b: System of the other.
        annotator: The annotator.
        preference: ``a``, ``b``, or ``tie`` where neither is better.
        left: The text that was on the left, ``a`` or ``b``; None where it is not known.

    >>> PairPreference("i1", "base", "base", "ann", "a")
    Traceback (most recent call last):
    ...
    postil.errors.InvalidInput: system_b: expected a system other than system_a, got "base" for both
    """

    item: Id
    system_a: Id
    system_b: Id
    annotator: Id
    preference: Choice
    left: Side | None = None

    def __post_init__(self) -> None:
        coerce_ids(self, "item", "system_a", "system_b", "annotator")
        if self.system_a == self.system_b:
            problem = f"expected a system other than system_a, got {shown(self.system_a)} for both"
            raise InvalidInput(problem, field="system_b")
        check_choice(self.preference)
        _check_left(self.left)


class PairJudgement(PairPreference, frozen=True, omit_defaults=True, gc=False):
    """The preference of a judge, a language model, for one of two systems' texts, which it saw in both orders.

    Args:
        item: The item that both texts were written for.
        system_a: System of one text.
        system_b: System of the other.
        annotator: Name of the judge.
        preference: ``a``, ``b``, or ``tie`` where neither is better.
        left: None of a judge, as either text was first.
        score: Expected preference for the text of system a in [0, 1], the mean of both orders; a tie is .5.
        score_first: The same where this text was first.
        score_second: The same where it was second.
        mass: Mean probability of all verdicts together; None where no probabilities are known.
        samples: Number of sampled answers with a verdict; 0 where it is an expected value.
        calls: Number of answers that it was made of; 0 where both texts are equal.
        omitted: Number of words of the article that were left out of the prompt.
        signature: All that the preference depends on.
    """

    score: float = 0.5
    score_first: float = 0.5
    score_second: float = 0.5
    mass: float | None = None
    samples: int = 0
    calls: int = 0
    omitted: int = 0
    signature: Signature = EXTERNAL
