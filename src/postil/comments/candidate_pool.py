"""The training comments of a retriever, which are its candidates, with what stands beside a suggestion."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.comments.text_arrays import StringArray
from postil.data.arrays import WHOLE, AnyArray, Expected, OpenArray
from postil.data.fields import unix_seconds
from postil.data.suggestions import Source
from postil.documents.markup import plain_text
from postil.errors import InvalidInput
from postil.screening.reasons import QUOTATION, REPLY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from postil.comments.index import Index
    from postil.data.model_folders import ModelWriter
    from postil.data.rows import Article

__all__ = ["MISSING", "CandidatePool", "retriever_arrays", "save_retriever"]

MISSING: Final = -(2**63)
"""Value of a date or a number of upvotes that is unknown."""

_EARLIEST, _LATEST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999, which a date of Python can be
_FOLDER: Final = "comments"
_OF_ARTICLES: Final = ("articles", "languages", "titles", "urls", "article_dates")


@dataclass(frozen=True, eq=False)
class CandidatePool:
    """The training comments, article by article, which are the candidates.

    Args:
        articles: Ids of the training articles.
        languages: Their languages, empty where unknown.
        titles: Their titles.
        urls: Their addresses, empty where unknown.
        article_dates: int64[articles], their dates in Unix seconds, or `MISSING`.
        starts: int64[articles + 1], the index of each article's first comment.
        ids: Ids of the comments.
        texts: The comments, without mark-up.
        dates: int64[comments], their dates in Unix seconds, or `MISSING`.
        upvotes: int64[comments], their upvotes, or `MISSING`.
        flags: uint8[comments], the bits `REPLY` and `QUOTATION`.

    >>> from postil.data.rows import Article, Comment
    >>> rain = Article("a7", "Rain", (Comment("1", "Again!"), Comment("2", "Bring a coat.", upvotes=5)))
    >>> pool = CandidatePool.of([rain])
    >>> pool.source(1).title, pool.source(1).upvotes, list(pool.take(np.arange(1), np.array([1]), np.array([0])).texts)
    ('Rain', 5, ['Bring a coat.'])
    """

    articles: StringArray
    languages: StringArray
    titles: StringArray
    urls: StringArray
    article_dates: NDArray[np.int64]
    starts: NDArray[np.int64]
    ids: StringArray
    texts: StringArray
    dates: NDArray[np.int64]
    upvotes: NDArray[np.int64]
    flags: NDArray[np.uint8]

    @classmethod
    def of(cls, articles: Iterable[Article]) -> CandidatePool:
        """Collect the comments of articles.

        Args:
            articles: The articles.
        """
        names: list[str] = []
        languages: list[str] = []
        titles: list[str] = []
        urls: list[str] = []
        article_dates: list[int] = []
        starts = [0]
        ids: list[str] = []
        dates: list[int] = []
        upvotes: list[int] = []
        flags = bytearray()

        def texts() -> Iterator[str]:
            for article in articles:
                names.append(article.id)
                languages.append(article.lang or "")
                titles.append(article.title)
                urls.append(article.url or "")
                article_dates.append(_seconds(article.date))
                for comment in article.comments:
                    ids.append(comment.id)
                    dates.append(_seconds(comment.date))
                    upvotes.append(MISSING if comment.upvotes is None else comment.upvotes)
                    text, quoted = plain_text(comment.text)
                    flags.append(REPLY * (comment.parent is not None) | QUOTATION * quoted)
                    yield text
                starts.append(len(ids))

        said = StringArray.of(texts())
        return cls(
            articles=StringArray.of(names),
            languages=StringArray.of(languages),
            titles=StringArray.of(titles),
            urls=StringArray.of(urls),
            article_dates=np.array(article_dates, np.int64),
            starts=np.array(starts, np.int64),
            ids=StringArray.of(ids),
            texts=said,
            dates=np.array(dates, np.int64),
            upvotes=np.array(upvotes, np.int64),
            flags=np.frombuffer(bytes(flags), np.uint8),
        )

    @classmethod
    def open(cls, array: OpenArray, articles: int) -> CandidatePool:
        """Open the comments of a model folder.

        Args:
            array: Opens an array by its name; see `postil.data.model_folders.Model.array`.
            articles: Number of articles.

        Raises:
            InvalidInput: An array is missing, or not as expected.
        """
        texts = StringArray.open(array, f"{_FOLDER}/texts")
        comments = len(texts)

        def strings(name: str, count: int) -> StringArray:
            return StringArray.open(array, f"{_FOLDER}/{name}", count)

        def numbers(name: str, expected: Expected) -> AnyArray:
            # np.asarray drops the np.memmap class, whose overhead on each view dominates reading values one by one.
            return np.asarray(array(f"{_FOLDER}/{name}", expected))

        return cls(
            articles=strings("articles", articles),
            languages=strings("languages", articles),
            titles=strings("titles", articles),
            urls=strings("urls", articles),
            article_dates=numbers("article_dates", Expected("int64", (articles,))),
            starts=numbers("starts", Expected("int64", (articles + 1,), end=comments)),
            ids=strings("ids", comments),
            texts=texts,
            dates=numbers("dates", Expected("int64", (comments,))),
            upvotes=numbers("upvotes", Expected("int64", (comments,))),
            flags=numbers("flags", Expected("uint8", (comments,))),
        )

    def arrays(self) -> Iterator[tuple[str, AnyArray]]:
        """The arrays that `open` reads.

        Yields:
            Name and values of each.
        """
        for name, values in self._fields().items():
            if isinstance(values, StringArray):
                yield f"{_FOLDER}/{name}.data", values.data
                yield f"{_FOLDER}/{name}.offsets", values.offsets
            else:
                yield f"{_FOLDER}/{name}", np.asarray(values)

    def __len__(self) -> int:
        return len(self.texts)

    def owner(self, comments: ArrayLike) -> NDArray[np.int64]:
        """Indices of the articles of comments.

        Args:
            comments: The indices of the comments.
        """
        return np.asarray(np.searchsorted(self.starts, comments, side="right") - 1, np.int64)

    def source(self, comment: int) -> Source:
        """Source of a comment.

        Args:
            comment: Its index.

        Raises:
            InvalidInput: A text or a date of it is damaged.
        """
        article = int(self.owner(comment))
        upvotes, date = int(self.upvotes[comment]), int(self.dates[comment])
        return Source(
            self.articles[article],
            self.ids[comment],
            title=self.titles[article] or None,
            url=self.urls[article] or None,
            date=_date(int(self.article_dates[article]) if date == MISSING else date),
            upvotes=None if upvotes == MISSING else upvotes,
        )

    def take(
        self, articles: NDArray[np.int64], comments: NDArray[np.int64], owners: NDArray[np.int64]
    ) -> CandidatePool:
        """Take some of the articles and comments, in another order.

        Args:
            articles: int64[n], indices of articles.
            comments: int64[m], indices of comments.
            owners: int64[m], the place of each comment's article in ``articles``, ascending.
        """
        starts = np.append(0, np.cumsum(np.bincount(owners, minlength=len(articles)))).astype(np.int64)
        taken = {
            name: _taken(values, articles if name in _OF_ARTICLES else comments)
            for name, values in self._fields().items()
            if name != "starts"
        }
        return replace(self, starts=starts, **taken)  # type: ignore[arg-type]  # by name

    @classmethod
    def concatenate(cls, pools: Sequence[CandidatePool]) -> CandidatePool:
        """Append pools to one another.

        Args:
            pools: At least one.
        """
        ends = np.cumsum([0, *(len(pool) for pool in pools)])
        starts = [np.asarray(pool.starts[:-1]) + begin for pool, begin in zip(pools, ends[:-1], strict=True)]
        parts = [pool._fields() for pool in pools]
        joined: dict[str, StringArray | AnyArray] = {}
        for name, first in parts[0].items():
            values = [part[name] for part in parts]
            joined[name] = (
                StringArray.concatenate(values)  # type: ignore[arg-type]  # as the first is one
                if isinstance(first, StringArray)
                else np.concatenate(values)  # type: ignore[arg-type]
            )
        joined["starts"] = np.append(np.concatenate(starts), ends[-1]).astype(np.int64)
        return cls(**joined)  # type: ignore[arg-type]  # by name

    def _fields(self) -> Mapping[str, StringArray | AnyArray]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _taken(values: StringArray | AnyArray, indices: NDArray[np.int64]) -> StringArray | AnyArray:
    return values.take(indices) if isinstance(values, StringArray) else np.asarray(values)[indices]


def _seconds(date: str | None) -> int:
    return MISSING if date is None else unix_seconds(date)


def _date(seconds: int) -> str | None:
    if seconds == MISSING:
        return None
    if not _EARLIEST <= seconds <= _LATEST:
        raise InvalidInput(f"expected a date in Unix seconds, got {seconds}; {WHOLE}", where=f"{_FOLDER}/dates")
    return f"{datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat()}Z"


def retriever_arrays(index: Index, pool: CandidatePool, ranker: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Arrays of a retriever's model folder, by name.

    Args:
        index: The training articles.
        pool: Their comments.
        ranker: Arrays of the ranker; see `postil.comments.rankers.Ranker.arrays`.
    """
    found = {f"index/{name}": values for name, values in index.arrays().items()}
    return found | dict(pool.arrays()) | {f"ranker/{name}": values for name, values in ranker.items()}


def save_retriever(
    new: ModelWriter, index: Index, pool: CandidatePool, words: Sequence[str], *, ranker: Mapping[str, AnyArray]
) -> None:
    """Write a retriever into a model folder, apart from its relevance model.

    Args:
        new: The folder in the making.
        index: The training articles.
        pool: Their comments.
        words: The vocabulary, by id.
        ranker: Arrays of the ranker: ``vectors`` of the comments, or their words as ``words.ids`` and
            ``words.offsets``, and for their cosine the ``idf`` of each word.
    """
    for name, values in retriever_arrays(index, pool, ranker).items():
        new.array(name, values)
    new.words(words)
