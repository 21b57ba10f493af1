"""Similar training articles of an article, without the article itself and copies of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.search.index import TopK, merge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from postil.comments.ranked_texts import Texts
    from postil.engine import Engine, StatefulWorkers
    from postil.search.index import Index, TopK
    from postil.search.string_array import StringArray

__all__ = ["Neighbors", "Sharded"]

COPY_COSINE: Final = 0.98
"""Smallest cosine of an article and a copy of it."""
_ROUNDING: Final = 1e-6
"""More than the errors of a cosine."""


@dataclass(frozen=True, eq=False)
class Neighbors:
    """A search for similar articles.

    Args:
        index: The training articles.
        names: Their ids.
        wanted: Number of similar articles to find.
        jobs: Number of search threads.
        engine: Engine whose workers keep the index and search it; None for this process. The results are the same.
    """

    index: Index
    names: StringArray
    wanted: int
    jobs: int = 1
    engine: Engine | None = None

    def find(self, names: Sequence[str], words: Texts) -> list[NDArray[np.int64]]:
        """Find the most similar articles of n articles.

        Args:
            names: The ids of the articles.
            words: Their words.

        Returns:
            For each article int64[m], training articles, the most similar first; fewer than wanted where no further
            one shares a word with it.
        """
        wanted, most = self.wanted, max(1, len(self.index))
        found: list[NDArray[np.int64]] = []
        top = self._search(*words, min(2 * wanted, most))
        for at, (name, documents, scores) in enumerate(zip(names, top.documents, top.scores, strict=True)):
            ids = words[0][words[1][at] : words[1][at + 1]]
            others = self._others(name, ids, documents, scores)
            # Copies, such as those of a weekly title, may fill the first ranks: search deeper until enough others come.
            best = documents
            while len(others) < wanted and best[-1] >= 0 and len(best) < most:
                k = min(4 * len(best), most)
                deeper = self._search(ids, np.array([0, len(ids)]), k)
                best = deeper.documents[0]
                others = self._others(name, ids, best, deeper.scores[0])
            found.append(others[:wanted])
        return found

    @cached_property
    def _sharded(self) -> Sharded | None:
        """The index in shards that workers keep."""
        if self.engine is None or not len(self.index):
            return None
        return Sharded(self.engine, self.index.shards(min(self.engine.jobs, len(self.index))))

    def _search(self, ids: NDArray[np.int32], offsets: NDArray[np.int64], k: int) -> TopK:
        if self._sharded is None:
            return self.index.search(ids, offsets, k, jobs=self.jobs)
        return self._sharded.search(ids, offsets, k)

    def _others(
        self, name: str, ids: NDArray[np.int32], documents: NDArray[np.int32], scores: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """The documents that are neither the article itself nor a copy of it."""
        found = documents[documents >= 0]
        other = np.array([one != name for one in self.names.texts(found.astype(np.int64))], dtype=bool)
        near = np.arange(len(found))
        if self.index.weighting == "tf-idf":  # a cosine of known words alone, so not below that of all words
            near = near[scores[: len(found)] > COPY_COSINE - _ROUNDING]
        other[near] &= self.index.cosines(ids, found[near]) < COPY_COSINE
        return np.asarray(found[other], dtype=np.int64)


class Sharded:
    """An index whose shards are kept by workers, on this machine or on many.

    Every shard has the collection statistics of the whole index, so results are those of the whole, to the last bit.
    Leaving ``with`` releases the shards.

    Args:
        engine: Runs the workers.
        parts: The shards, see `postil.search.index.Index.shards`.

    >>> from postil.search.index import Index
    >>> from postil.engine import open_engine
    >>> ids, offsets = np.array([0, 1, 1, 2, 0, 3], dtype=np.int32), np.array([0, 3, 6])
    >>> index = Index.of(ids, offsets, words=4)
    >>> with open_engine() as engine, Sharded(engine, index.shards(2)) as sharded:
    ...     sharded.search(np.array([3, 1], dtype=np.int32), np.array([0, 1, 2]), k=2).documents.tolist()
    [[1, -1], [0, -1]]
    """

    def __init__(self, engine: Engine, parts: Sequence[Index]) -> None:
        self._firsts = np.cumsum([0, *map(len, parts)])[:-1].tolist()
        self._workers: StatefulWorkers[Index] = engine.start_workers(_prepared, parts)

    def search(self, ids: NDArray[np.int32], offsets: NDArray[np.int64], k: int) -> TopK:
        """See `postil.search.index.Index.search`.

        Args:
            ids: int32[T].
            offsets: int64[n + 1].
            k: Number of documents per query.
        """
        return merge(self._workers.call(_search, (ids, offsets, k)), self._firsts, k)

    def close(self) -> None:
        """Release the shards."""
        self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _prepared(shard: Index) -> Index:
    """A shard whose first search does not have to compute its bounds."""
    shard.prepare()
    return shard


def _search(shard: Index, request: tuple[NDArray[np.int32], NDArray[np.int64], int]) -> TopK:
    return shard.search(*request)
