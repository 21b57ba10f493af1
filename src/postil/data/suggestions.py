"""Rows of suggested comments and of ranked comments.

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
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.data.checks import check_texts, coerce_ids, coerce_integers, coerce_numbers, coerce_tuple
from postil.data.rows import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "LABEL",
    "Filtered",
    "Overlap",
    "Prompting",
    "Provenance",
    "RankedComment",
    "Source",
    "Suggestion",
    "Suggestions",
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
    """

    label: str
    method: str
    model: str
    model_hash: str
    sources: tuple[Source, ...] = ()
    overlap: Overlap | None = None
    prompting: Prompting | None = None

    def __post_init__(self) -> None:
        check_texts(self, "label", "method", "model", "model_hash")
        coerce_tuple(self, "sources", Source)

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

    >>> first = Suggestion("Bring a coat.", 2.5, 1, Provenance.generated("att", "8d0c"))
    >>> Suggestions("a1", (first,)).suggestions[0].provenance.method
    'generated'
    """

    article: str
    suggestions: tuple[Suggestion, ...]
    filtered: tuple[Filtered, ...] = ()
    reason: str | None = None

    def __post_init__(self) -> None:
        check_texts(self, "reason", optional=True)
        coerce_ids(self, "article")
        coerce_tuple(self, "suggestions", Suggestion)
        coerce_tuple(self, "filtered", Filtered)


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
    """

    article: str
    comment: str
    rank: int
    score: float
    text: str
    reasons: tuple[str, ...] = ()
    same_as: str | None = None

    def __post_init__(self) -> None:
        coerce_ids(self, "article", "comment")
        check_texts(self, "text")
        coerce_numbers(self, "score")
        coerce_integers(self, "rank")
        coerce_tuple(self, "reasons", str)
