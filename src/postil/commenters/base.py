"""What a commenter is, and the rows that say what it suggests and where each suggestion comes from.

A file of suggestions has a row an article, here on several lines::

    {"article": "a1",
     "suggestions": [
       {"text": "Bring a coat.", "score": 2.5, "rank": 1,
        "provenance": {
          "label": "Machine-generated suggestion: a reader's comment found under another article",
          "made": "retrieved", "model": "ir-tc", "hash": "8d0c…",
          "sources": [{"article": "a7", "comment": "3"}, {"article": "a9", "comment": "12"}], "copied": null}}],
     "held": [
       {"text": "ok", "reason": "too short: 1 word, expected at least 3",
        "source": {"article": "a7", "comment": "5"}}]}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from postil.records.checks import settle_ids, settle_integers, settle_numbers, settle_several, settle_texts
from postil.records.rows import Row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from postil.records.row_files import FilePath
    from postil.records.rows import Article

__all__ = ["LABEL", "Commenter", "Copied", "Held", "Provenance", "Source", "Suggestion", "Suggestions"]

LABEL: Final = "Machine-generated suggestion"
"""The words that every suggestion is shown with; its label begins with them."""


class Source(Row, frozen=True, omit_defaults=False, gc=False):
    """A reader's comment of the training articles.

    Args:
        article: The id of the article that it stood under.
        comment: Its id there.
    """

    article: str
    comment: str

    def __post_init__(self) -> None:
        settle_ids(self, "article", "comment")


class Copied(Row, frozen=True, omit_defaults=False, gc=False):
    """What a generated comment shares with a training comment: the longest run of words.

    Args:
        span: The words.
        words: How many they are.
        source: A comment in which they stand.
    """

    span: str
    words: int
    source: Source

    def __post_init__(self) -> None:
        settle_texts(self, "span")
        settle_integers(self, "words")


class Provenance(Row, frozen=True, omit_defaults=False, gc=False):
    """Where a suggestion comes from; `retrieved` and `generated` make it.

    Args:
        label: The words to show with the suggestion.
        made: ``retrieved`` or ``generated``.
        model: The kind of the model, such as ``ir-tc``.
        hash: The hash of the model's folder.
        sources: Of a retrieved comment where it stood, and then its near duplicates, the better scored first.
        copied: Of a generated comment what it shares with a training comment, if that was looked for and found.
    """

    label: str
    made: str
    model: str
    hash: str
    sources: tuple[Source, ...] = ()
    copied: Copied | None = None

    def __post_init__(self) -> None:
        settle_texts(self, "label", "made", "model", "hash")
        settle_several(self, "sources", Source)

    @classmethod
    def retrieved(cls, model: str, hash: str, sources: Sequence[Source]) -> Provenance:  # noqa: A002 - the field
        """Of a comment that a reader wrote about something else.

        Args:
            model: The kind of the model.
            hash: The hash of its folder.
            sources: Where the comment stood, then its near duplicates.

        >>> Provenance.retrieved("ir-t", "8d0c", [Source("a7", "3")]).label
        "Machine-generated suggestion: a reader's comment found under another article"
        """
        return cls(f"{LABEL}: a reader's comment found under another article", "retrieved", model, hash, tuple(sources))

    @classmethod
    def generated(cls, model: str, hash: str, copied: Copied | None = None) -> Provenance:  # noqa: A002 - the field
        """Of a comment that nobody wrote.

        Args:
            model: The kind of the model.
            hash: The hash of its folder.
            copied: What it shares with a training comment.

        >>> Provenance.generated("att", "8d0c").label
        'Machine-generated suggestion'
        """
        return cls(LABEL, "generated", model, hash, copied=copied)


class Suggestion(Row, frozen=True, omit_defaults=False, gc=False):
    """A comment that is suggested.

    Args:
        text: What it says.
        score: How good the commenter thinks it is; high is good, and only one commenter's scores compare.
        rank: Its place among the suggestions for its article, from 1.
        provenance: Where it comes from.
    """

    text: str
    score: float
    rank: int
    provenance: Provenance

    def __post_init__(self) -> None:
        settle_texts(self, "text")
        settle_numbers(self, "score")
        settle_integers(self, "rank")


class Held(Row, frozen=True, omit_defaults=False, gc=False):
    """A comment that would have been suggested, but for a reason.

    Args:
        text: What it says.
        reason: Why it is held, in words.
        source: Where it stood, if it was retrieved.
    """

    text: str
    reason: str
    source: Source | None = None

    def __post_init__(self) -> None:
        settle_texts(self, "text", "reason")


class Suggestions(Row, frozen=True, omit_defaults=False, gc=False):
    """What a commenter suggests for an article: a row of a file of suggestions.

    Args:
        article: The id of the article.
        suggestions: The best first.
        held: What else would stand among them.

    >>> first = Suggestion("Bring a coat.", 2.5, 1, Provenance.generated("att", "8d0c"))
    >>> Suggestions("a1", (first,)).suggestions[0].provenance.made
    'generated'
    """

    article: str
    suggestions: tuple[Suggestion, ...]
    held: tuple[Held, ...] = ()

    def __post_init__(self) -> None:
        settle_ids(self, "article")
        settle_several(self, "suggestions", Suggestion)
        settle_several(self, "held", Held)


class Commenter(Protocol):
    """What suggests comments.

    Its order is the one tie rule of `postil.records.ranking.best_first`: the score falls, then the key rises. A saved
    commenter, loaded elsewhere, gives the same suggestions.
    """

    def comment(self, articles: Sequence[Article], k: int) -> list[Suggestions]:
        """Suggest comments.

        Args:
            articles: The articles; their own comments are not looked at.
            k: How many comments an article, at most.

        Returns:
            The suggestions for each article, in the articles' order.

        Raises:
            UsageError: k is less than 1.
        """

    def save(self, folder: FilePath) -> None:
        """Write the model folder; see `postil.commenters.store`.

        Args:
            folder: A folder that is not there yet.

        Raises:
            UsageError: It is there, or its parent is not.
            PostilError: The system refuses to write.
        """

    @classmethod
    def load(cls, folder: FilePath) -> Self:
        """Open a model folder.

        Args:
            folder: The folder.

        Raises:
            InvalidInput: It holds no such model, or was cut short.
        """
