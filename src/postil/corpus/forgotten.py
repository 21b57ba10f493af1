"""Comments that were erased from a folder: a record that names no text and no id."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.rows import Row
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Chosen", "Erasure", "comment_key", "erasures", "is_placeholder", "keys_of", "placeholder"]

_PLACEHOLDER: Final = "forgotten "
"""Beginning of a placeholder; no tokenizer makes a token with a space within."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Comments and articles to erase.

    Args:
        comments: Ids of the article and of the comment, for each comment.
        articles: Ids of articles, which are erased with all their comments.

    >>> chosen = Chosen(frozenset({("a1", "c1")}), frozenset({"a2"}))
    >>> chosen.has("a1", "c1"), chosen.has("a1", "c2"), chosen.has("a2", "c2")
    (True, False, True)
    """

    comments: frozenset[tuple[str, str]]
    articles: frozenset[str] = frozenset()

    def has(self, article: str, comment: str) -> bool:
        """True if a comment is to be erased.

        Args:
            article: The id of its article.
            comment: Its id.
        """
        return article in self.articles or (article, comment) in self.comments

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the comments and articles, ascending; see `comment_key`."""
        pairs = [*self.comments, *((article, "") for article in self.articles)]
        return tuple(sorted({comment_key(*pair) for pair in pairs}))


def placeholder(word: int) -> str:
    """Make the placeholder of an erased word, by which other words keep their ids.

    Args:
        word: The id of the word.
    """
    return f"{_PLACEHOLDER}{word}"


def is_placeholder(word: str) -> bool:
    """True if a word was erased.

    Args:
        word: The word as the vocabulary has it.

    >>> is_placeholder(placeholder(7)), is_placeholder("forgotten")
    (True, False)
    """
    return word.startswith(_PLACEHOLDER)


class Erasure(Row, frozen=True, gc=False):
    """The record of one erasure, in the ``metadata.json`` of a model or a corpus.

    Args:
        comments: Number of comments that were erased.
        articles: Number of articles that were erased with them.
        hash_before: Hash of the folder before; empty for a corpus, which has none.
        files: Names of the files that were written anew or removed.
        keys: Keys of what was erased, ascending, by which it is kept out later; see `comment_key`.
    """

    comments: int
    articles: int
    hash_before: str
    files: tuple[str, ...]
    keys: tuple[str, ...]


def comment_key(article: str, comment: str = "") -> str:
    """Hash of the ids of a comment, by which a record knows it again without naming it.

    Whoever has the ids can compute it; it cannot be read back.

    Args:
        article: The id of the article.
        comment: The id of the comment; empty for the article as a whole.

    >>> comment_key("a1", "c1") == comment_key("a1", "c1"), len(comment_key("a1", "c1"))
    (True, 32)
    """
    text = f"{len(article)}:{article}{comment}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16, person=b"postil-forget").hexdigest()


def erasures(metadata: object, where: Path) -> tuple[Erasure, ...]:
    """The erasures that a folder's metadata records.

    Args:
        metadata: The value of its field ``forgotten``; None where nothing was erased.
        where: The file, for messages.

    Raises:
        InvalidInput: They are damaged.
    """
    try:
        return msgspec.convert(metadata or [], tuple[Erasure, ...])
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{error}; was the file changed?", where=str(where), field="forgotten") from error


def keys_of(done: tuple[Erasure, ...]) -> frozenset[str]:
    """Keys of all that was erased.

    Args:
        done: The erasures.
    """
    return frozenset(key for one in done for key in one.keys)
