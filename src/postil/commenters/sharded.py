"""A search index whose shards are kept by workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from postil.commenters.top_k import TopK, merge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from postil.commenters.search import Index
    from postil.engine import Engine, StatefulWorkers

__all__ = ["Sharded"]


class Sharded:
    """An index whose shards are kept by workers, on this machine or on many.

    Every shard has the collection statistics of the whole index, so results are those of the whole, to the last bit.
    Leaving ``with`` releases the shards.

    Args:
        engine: Runs the workers.
        parts: The shards, see `postil.commenters.search.Index.shards`.

    >>> from postil.commenters.search import Index
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
        """See `postil.commenters.search.Index.search`.

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
