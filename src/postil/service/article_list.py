"""Articles that an editor can choose from: those of a table, read when the service starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from postil.comments.article_files import checked_articles, open_articles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from postil.data.rows import Article

__all__ = ["ArticleList", "FoundArticles", "ListedArticle"]

MOST: Final = 50
"""Largest number of articles that a search gives."""

STEP: Final = 125
"""Number of comparisons of a word with an article between two steps of a search."""


class ListedArticle(msgspec.Struct, frozen=True, kw_only=True):
    """An article in the list.

    Args:
        number: Its number in the list, from 0.
        title: Its headline.
        comments: Number of its comments.
        category: The section it was published in.
        date: Its date.
        lang: Its language.
    """

    number: int
    title: str
    comments: int
    category: str | None
    date: str | None
    lang: str | None


class FoundArticles(msgspec.Struct, frozen=True, kw_only=True):
    """The first articles that a search finds.

    Args:
        articles: The articles, the newest first.
        total: Number of all articles that it finds.
    """

    articles: tuple[ListedArticle, ...]
    total: int


class ArticleList:
    """Articles that can be searched by title and section: the newest first, then those without a date as they came.

    Args:
        articles: The articles.
    """

    def __init__(self, articles: Sequence[Article] = ()) -> None:
        self._articles = sorted(articles, key=lambda one: one.date or "", reverse=True)  # dates of one form, in UTC
        self._words = [f"{one.title} {one.category or ''} {one.id}".casefold() for one in self._articles]

    @classmethod
    def read(cls, path: str, on_message: Callable[[str], None] = lambda _: None) -> Self:
        """Read a table of articles with or without comments, in any format that postil reads.

        Args:
            path: The file or folder.
            on_message: Callback for status messages.

        Raises:
            InvalidInput: It cannot be read, or a row is no article.
            MissingExtra: Its format needs what is not installed.
        """
        rows = open_articles(path, None, on_message)
        return cls(list(checked_articles(rows, comments=True, on_message=on_message)))

    def __len__(self) -> int:
        return len(self._articles)

    def __getitem__(self, number: int) -> Article:
        return self._articles[number]

    def search(self, query: str) -> FoundArticles:
        """Find the articles whose title, section or id contains every word of a query.

        Args:
            query: Words, or their beginnings; all articles where there is none.
        """
        return self.found([number for some in self.steps(query) for number in some])

    def steps(self, query: str) -> Iterator[list[int]]:
        """Search step by step, so that a search can be stopped, and lets others work meanwhile.

        Args:
            query: The words.

        Yields:
            The numbers of the articles that each step finds.
        """
        words = _needed(query.casefold().split())
        size = max(1, STEP // max(1, len(words)))
        for start in range(0, len(self._words), size):
            texts = enumerate(self._words[start : start + size], start)
            yield [at for at, text in texts if all(word in text for word in words)]

    def found(self, numbers: Sequence[int]) -> FoundArticles:
        """The outcome of a search.

        Args:
            numbers: The numbers of the articles that it finds.
        """
        return FoundArticles(articles=tuple(map(self._listed, numbers[:MOST])), total=len(numbers))

    def _listed(self, number: int) -> ListedArticle:
        one = self._articles[number]
        return ListedArticle(
            number=number,
            title=one.title,
            comments=len(one.comments),
            category=one.category,
            date=one.date,
            lang=one.lang,
        )


def _needed(words: Sequence[str]) -> list[str]:
    """The words that are no part of another one, the longest first: what has these has all.

    >>> _needed(["a", "rain", "rain", "train"])
    ['train']
    """
    needed: list[str] = []
    for word in sorted(set(words), key=len, reverse=True):
        if not any(word in one for one in needed):
            needed.append(word)
    return sorted(needed, key=lambda word: (-len(word), word))
