"""Rows of suggested comments, and of what people did with them: ranked comments, labels and impressions.

A file of suggestions has one row per article, here on several lines::

    {"article": "a1",
     "suggestions": [
       {"text": "Bring a coat.", "score": 2.5, "rank": 1,
        "provenance": {
          "label": "Machine-generated suggestion: a reader's comment found under another article",
          "method": "retrieved", "model": "ir-tc", "model_hash": "8d0c…",
          "sources": [{"article": "a7", "comment": "3", "title": "Snow", "date": "2017-03-30T02:56:13Z", "upvotes": 8},
                      {"article": "a9", "comment": "12"}], "overlap": null}}],
     "filtered": [
       {"text": "ok", "reason": "too short: 1 word, expected at least 3",
        "source": {"article": "a7", "comment": "5"}}]}

A row of the log of impressions, here on two lines::

    {"impression": "i7", "article": "a1", "models": ["base", "new"], "teams": [0, 1, 1, 0],
     "shown": true, "clicked": [2], "answered": [], "hidden": [4]}
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from postil.data.cells import truth
from postil.data.explain import shown as text_of
from postil.data.fields import check_texts, coerce_ids, coerce_integers, coerce_numbers, coerce_tuple, is_integer
from postil.data.rows import Row
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "EVENTS",
    "LABEL",
    "REASONS",
    "REPLACED",
    "TIED",
    "Filtered",
    "Impression",
    "Label",
    "Majority",
    "Overlap",
    "Prompting",
    "Provenance",
    "RankedComment",
    "ScreenedComment",
    "Selecting",
    "Source",
    "Suggestion",
    "Suggestions",
    "majority",
    "parse_show",
]

LABEL: Final = "Machine-generated suggestion"
"""The words that every suggestion is shown with; its label begins with them."""


class Source(Row, frozen=True, omit_defaults=True, gc=False):
    """A reader's comment on a training article.

    Args:
        article: The id of the training article.
        comment: The id of the comment.
        title: The title of the article.
        url: The address of the article.
        date: The date of the comment in UTC; that of the article where the comment has none.
        upvotes: The upvotes of the comment.
    """

    article: str
    comment: str
    title: str | None = None
    url: str | None = None
    date: str | None = None
    upvotes: int | None = None

    def __post_init__(self) -> None:
        coerce_ids(self, "article", "comment")
        check_texts(self, "title", "url", "date", optional=True)
        coerce_integers(self, "upvotes")


class Overlap(Row, frozen=True, omit_defaults=False, gc=False):
    """The longest word sequence that a generated comment shares with a training comment, or with an example.

    Args:
        span: The words.
        words: Number of words.
        source: A comment that contains them.
    """

    span: str
    words: int
    source: Source

    def __post_init__(self) -> None:
        check_texts(self, "span")
        coerce_integers(self, "words")


class Prompting(Row, frozen=True, omit_defaults=False, gc=False):
    """The request that a language model answered with a comment.

    Args:
        prompt_hash: The first 12 hexadecimal digits of the SHA-256 of the prompt's template.
        examples: The readers' comments that it showed, in their order.
        seed: Seed of sampling; None where the endpoint takes none.
        temperature: Sampling temperature; None where it is the endpoint's own.
    """

    prompt_hash: str
    examples: tuple[Source, ...]
    seed: int | None
    temperature: float | None

    def __post_init__(self) -> None:
        check_texts(self, "prompt_hash")
        coerce_tuple(self, "examples", Source)
        coerce_integers(self, "seed")
        coerce_numbers(self, "temperature", optional=True)


class Selecting(Row, frozen=True, omit_defaults=True, gc=False):
    """A choice among retrieved comments by a language model behind an endpoint.

    Args:
        model: The name of the model, as the endpoint says.
        prompt_hash: Hash of the template of the prompt.
        problem: The reason why its answer could not be used, so that the order is the usual one; None where it chose.
    """

    model: str
    prompt_hash: str
    problem: str | None = None

    def __post_init__(self) -> None:
        check_texts(self, "model", "prompt_hash")
        check_texts(self, "problem", optional=True)


if TYPE_CHECKING:
    Selected: TypeAlias = Selecting | msgspec.UnsetType
    Headline: TypeAlias = str | msgspec.UnsetType
else:
    Selected = Selecting | msgspec.UnsetType | None  # as tables have it
    Headline = str | msgspec.UnsetType | None


class Provenance(Row, frozen=True, omit_defaults=False, gc=False):
    """Origin of a suggestion; build it with `retrieved`, `generated` or `prompted`.

    Args:
        label: The words to show with the suggestion.
        method: ``retrieved``, ``generated``, or ``llm`` for a language model behind an endpoint.
        model: The kind of the model, such as ``ir-tc``; with ``llm`` its name, as the endpoint says.
        model_hash: The hash of the model's folder; with ``llm`` of the folder that the examples are from.
        sources: For a retrieved comment its source, then those of its near duplicates, best score first.
        overlap: For a generated comment its overlap with the training comments, if there is any; with ``llm`` with the
            examples.
        prompting: With ``llm`` the request.
        selecting: The language model that was to choose the comment among those retrieved; left out without one.
    """

    label: str
    method: str
    model: str
    model_hash: str
    sources: tuple[Source, ...] = ()
    overlap: Overlap | None = None
    prompting: Prompting | None = None
    selecting: Selected = msgspec.UNSET

    def __post_init__(self) -> None:
        check_texts(self, "label", "method", "model", "model_hash")
        coerce_tuple(self, "sources", Source)
        if self.selecting is None:
            force_setattr(self, "selecting", msgspec.UNSET)

    @classmethod
    def retrieved(cls, model: str, model_hash: str, sources: Sequence[Source]) -> Provenance:
        """Provenance of a comment that a reader wrote on another article.

        Args:
            model: The kind of the model.
            model_hash: The hash of its folder.
            sources: The comment, then its near duplicates.

        >>> Provenance.retrieved("ir-t", "8d0c", [Source("a7", "3")]).label
        "Machine-generated suggestion: a reader's comment found under another article"
        """
        label = f"{LABEL}: a reader's comment found under another article"
        return cls(label, "retrieved", model, model_hash, tuple(sources))

    @classmethod
    def generated(cls, model: str, model_hash: str, overlap: Overlap | None = None) -> Provenance:
        """Provenance of a generated comment.

        Args:
            model: The kind of the model.
            model_hash: The hash of its folder.
            overlap: The longest overlap with a training comment.

        >>> Provenance.generated("att", "8d0c").label
        'Machine-generated suggestion'
        """
        return cls(LABEL, "generated", model, model_hash, overlap=overlap)

    @classmethod
    def prompted(cls, model: str, model_hash: str, prompting: Prompting, overlap: Overlap | None = None) -> Provenance:
        """Provenance of a comment that a language model wrote.

        Args:
            model: The name of the model, as the endpoint says.
            model_hash: The hash of the folder that the examples are from.
            prompting: The request.
            overlap: The longest overlap with an example.

        >>> Provenance.prompted("big-2", "8d0c", Prompting("1f3a", (Source("a7", "3"),), 1, 0.8)).label
        'Machine-generated suggestion'
        """
        return cls(LABEL, "llm", model, model_hash, overlap=overlap, prompting=prompting)

    def selected(self, selecting: Selecting) -> Provenance:
        """The provenance of a retrieved comment with the language model that was to choose it.

        Args:
            selecting: The choice; one with a problem leaves the label as it is.

        >>> found = Provenance.retrieved("ir-t", "8d0c", [Source("a7", "3")])
        >>> found.selected(Selecting("big-2", "1f3a")).label
        "Machine-generated suggestion: a reader's comment found under another article, chosen by a language model"
        """
        label = self.label if selecting.problem is not None else f"{self.label}, chosen by a language model"
        return msgspec.structs.replace(self, label=label, selecting=selecting)


class Suggestion(Row, frozen=True, omit_defaults=False, gc=False):
    """A suggested comment.

    Args:
        text: The comment.
        score: The commenter's score, higher is better; comparable for one article and one commenter only.
        rank: Rank among the suggestions for the article, from 1.
        provenance: Its origin.
        probability: Probability that an editor would show it, of a model that was calibrated by labels.
    """

    text: str
    score: float
    rank: int
    provenance: Provenance
    probability: float | None = None

    def __post_init__(self) -> None:
        check_texts(self, "text")
        coerce_numbers(self, "score")
        coerce_numbers(self, "probability", optional=True)
        coerce_integers(self, "rank")


class Filtered(Row, frozen=True, omit_defaults=False, gc=False):
    """A candidate that was filtered out.

    Args:
        text: The comment.
        reason: The reason, in words.
        source: Its source, if it was retrieved.
        overlap: Its overlap with an example, if a language model wrote it.
    """

    text: str
    reason: str
    source: Source | None = None
    overlap: Overlap | None = None

    def __post_init__(self) -> None:
        check_texts(self, "text", "reason")


class Suggestions(Row, frozen=True, omit_defaults=False, gc=False):
    """Suggestions for an article: a row of a file of suggestions.

    Args:
        article: The id of the article.
        suggestions: The suggestions, best first.
        filtered: The candidates that were filtered out, best first.
        reason: The reason why there is no suggestion: all candidates are filtered out, or none is probably worth
            showing.
        title: The title of the article, as `postil comment` writes it; left out where a commenter alone made the row.

    >>> first = Suggestion("Bring a coat.", 2.5, 1, Provenance.generated("att", "8d0c"))
    >>> Suggestions("a1", (first,)).suggestions[0].provenance.method
    'generated'
    """

    article: str
    suggestions: tuple[Suggestion, ...]
    filtered: tuple[Filtered, ...] = ()
    reason: str | None = None
    title: Headline = msgspec.UNSET

    def __post_init__(self) -> None:
        check_texts(self, "reason", optional=True)
        coerce_ids(self, "article")
        coerce_tuple(self, "suggestions", Suggestion)
        coerce_tuple(self, "filtered", Filtered)
        if self.title is None:
            force_setattr(self, "title", msgspec.UNSET)
        elif self.title is not msgspec.UNSET:
            check_texts(self, "title")


class ScreenedComment(Row, frozen=True, omit_defaults=False, gc=False):
    """Decision of a site's moderators on a comment, as a screen that learned from them expects it.

    Args:
        probability: Probability that they hold it.
        decision: ``hold`` from the screen's threshold on, else ``keep``.
        reasons: Probability of each reason, in the site's own words.
    """

    probability: float
    decision: Literal["keep", "hold"]
    reasons: dict[str, float]


class RankedComment(Row, frozen=True, omit_defaults=False, gc=False):
    """A comment of a thread with its rank.

    Args:
        article: The id of the article.
        comment: The id of the comment.
        rank: Rank in the thread, from 1.
        score: Relevance or quality by a model, comparable for that model only; of other orders and mixtures the points
            from 0 to 1. Higher is better.
        text: The comment.
        reasons: Facts about the comment in its thread, in words.
        same_as: The id of the first comment above that it is a near duplicate of, if there is any.
        screened: Decision that moderators are expected to make, where a screen was asked.
    """

    article: str
    comment: str
    rank: int
    score: float
    text: str
    reasons: tuple[str, ...] = ()
    same_as: str | None = None
    screened: ScreenedComment | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        coerce_ids(self, "article", "comment")
        check_texts(self, "text")
        coerce_numbers(self, "score")
        coerce_integers(self, "rank")
        coerce_tuple(self, "reasons", str)


REASONS: Final = (
    "other",
    "off the matter",
    "fragment or joke",
    "reply to somebody",
    "advice for another case",
    "unkind",
    "false to the article",
    "spam or mark-up",
    "repeats",
)
"""Reasons not to show a suggestion, as the labeling page offers them; a file may have others."""

TIED: Final = "text that as many would show as would not"
REPLACED: Final = "answer of an annotator who gave a later one about the same text"
"""Reasons why labels are not in the numbers."""

ANSWERS: Final = "true or false, show or hide, 1 or 0"
"""Answers that a label may have."""

_MEANING: Final = {"show": True, "hide": False, "do not show": False}


def parse_show(value: object) -> bool:
    """Read the answer of a label.

    Args:
        value: True, 1, or the text show, true or yes; else False, 0, or the text hide, do not show, false or no; see
            `postil.data.cells` for more words.

    Raises:
        InvalidInput: It is something else.

    >>> [parse_show(value) for value in (True, "Show", "hide", 0, 1.0)]
    [True, True, False, False, True]
    """
    found = _MEANING.get(value.strip().lower(), truth(value)) if isinstance(value, str) else truth(value)
    if found is None:
        raise InvalidInput(f"expected {ANSWERS}; got {text_of(value)}", field="show")
    return found


if TYPE_CHECKING:
    LabelId: TypeAlias = str
    Show: TypeAlias = bool
else:
    LabelId = str | int
    Show = Annotated[bool | int | float | str, msgspec.Meta(extra={"check": parse_show, "expected": ANSWERS})]


class Label(Row, frozen=True, omit_defaults=True, gc=False):
    """The answer of one annotator to: would you show this suggestion under this article?

    Args:
        article: The id of the article.
        text: The suggestion.
        show: True to show it; see `parse_show` for what a file may say.
        reason: Reason not to show it, such as those of `REASONS`.
        annotator: The annotator.
        rank: Rank of the suggestion among those for its article, from 1.
        source_article: The id of the training article that the suggestion was found under.
        source_comment: The id of the comment there.
        model_hash: The hash of the folder of the model that suggested it.
        title: The article's headline; a label with it needs no file of articles.
        content: The article's text.
        lang: The article's language.

    >>> Label("a1", "Bring a coat.", "show", rank=1).show
    True
    """

    article: LabelId
    text: str
    show: Show
    reason: str | None = None
    annotator: LabelId | None = None
    rank: int | None = None
    source_article: LabelId | None = None
    source_comment: LabelId | None = None
    model_hash: str | None = None
    title: str | None = None
    content: str | None = None
    lang: str | None = None

    def __post_init__(self) -> None:
        coerce_ids(self, "article")
        check_texts(self, "text")
        if not self.text.strip():
            raise InvalidInput("expected the text of a suggestion, got an empty one", field="text")
        force_setattr(self, "show", parse_show(self.show))
        check_texts(self, "reason", "model_hash", "title", "content", "lang", optional=True)
        coerce_integers(self, "rank")
        if self.rank is not None and self.rank < 1:
            raise InvalidInput(f"expected a rank from 1, got {self.rank}", field="rank")
        coerce_ids(self, "annotator", "source_article", "source_comment", optional=True)


class Majority(NamedTuple):
    """The answers of most annotators, and the labels that are not in them.

    Args:
        answers: True to show it, by article and text in ascending order.
        ties: Texts that as many would show as would not, each after its article.
        replaced: Texts of the labels that a later one of the same annotator replaces, each after its article.
    """

    answers: dict[tuple[str, str], bool]
    ties: list[str]
    replaced: list[str]


def majority(labels: Iterable[Label]) -> Majority:
    """Find the answer of most annotators to each text under an article.

    An annotator counts with the last answer; a label without an annotator is of another one each.

    Args:
        labels: The labels.

    >>> rows = [Label("a1", "Bring a coat.", show) for show in (True, True, False)]
    >>> rows += [Label("a2", "No.", True), Label("a2", "No.", False)]
    >>> majority([*rows, *(Label("a3", "Oh.", show, annotator="ann") for show in (True, False))])
    Majority(answers={('a1', 'Bring a coat.'): True, ('a3', 'Oh.'): False}, ties=['a2: No.'], replaced=['a3: Oh.'])
    """
    votes: dict[tuple[str, str], dict[str, bool]] = {}
    replaced: list[str] = []
    for number, label in enumerate(labels):
        given, annotator = votes.setdefault((label.article, label.text), {}), label.annotator or f" {number}"
        if annotator in given:
            replaced.append(f"{label.article}: {label.text}")
        given[annotator] = label.show
    counts = {key: Counter(given.values()) for key, given in sorted(votes.items())}
    ties = [f"{article}: {text}" for (article, text), each in counts.items() if each[True] == each[False]]
    answers = {key: each[True] > each[False] for key, each in counts.items() if each[True] != each[False]}
    return Majority(answers, ties, replaced)


EVENTS = ("clicked", "answered", "hidden")
"""Fields with the ranks of suggestions that something was done with."""


def _check_shown(value: object) -> None:
    if not isinstance(value, bool):
        raise InvalidInput(f"expected true or false, got {text_of(value)}", field="shown")


if TYPE_CHECKING:
    ImpressionId: TypeAlias = str
    Names: TypeAlias = tuple[str, ...]
    Ranks: TypeAlias = tuple[int, ...]
    Shown: TypeAlias = bool
else:
    ImpressionId = str | int
    Names = tuple[str, ...]
    Ranks = tuple[int, ...] | None
    Shown = Annotated[bool, msgspec.Meta(extra={"check": _check_shown})]


class Impression(Row, frozen=True, omit_defaults=False, gc=False):
    """Suggestions of two models under an article, interleaved, and the ranks at which something was done.

    Args:
        impression: The id of the impression.
        article: The id of the article.
        models: The names of the two models.
        teams: The model of each suggestion by rank: 0 for the first of them, 1 for the second; None for one that
            counts for neither.
        clicked: Ranks, from 1, of the suggestions that were opened or used.
        shown: True if they were displayed.
        answered: Ranks of those that were replied to.
        hidden: Ranks of those that were hidden or reported.

    >>> Impression("i7", "a1", ("base", "new"), (0, 1), clicked=(3,))
    Traceback (most recent call last):
    ...
    postil.errors.InvalidInput: clicked: expected ranks from 1 to 2, got 3
    """

    impression: ImpressionId
    article: ImpressionId
    models: Names
    teams: tuple[int | None, ...]
    clicked: Ranks
    shown: Shown = True
    answered: Ranks = ()
    hidden: Ranks = ()

    def __post_init__(self) -> None:
        coerce_ids(self, "impression", "article")
        coerce_tuple(self, "models", str)
        if len(self.models) != 2 or self.models[0] == self.models[1]:
            got = ", ".join(map(text_of, self.models)) or "none"
            raise InvalidInput(f"expected the names of two models that differ, got {got}", field="models")
        coerce_tuple(self, "teams", object)
        for team in self.teams:
            if team is not None and not (is_integer(team) and team in {0, 1}):
                raise InvalidInput(f"expected 0, 1 or null for each rank, got {text_of(team)}", field="teams")
        force_setattr(self, "teams", tuple(None if team is None else int(team) for team in self.teams))
        _check_shown(self.shown)
        for name in EVENTS:
            coerce_tuple(self, name, object)
            ranks = getattr(self, name)
            for rank in ranks:
                if not (is_integer(rank) and 1 <= rank <= len(self.teams)):
                    found = f"ranks from 1 to {len(self.teams)}" if self.teams else "no rank where teams is empty"
                    raise InvalidInput(f"expected {found}, got {text_of(rank)}", field=name)
            force_setattr(self, name, tuple(sorted(set(map(int, ranks)))))
