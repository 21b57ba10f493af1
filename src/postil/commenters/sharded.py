"""An index whose parts lie with workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from postil.commenters.top_k import Likest, merged

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from postil.commenters.search import Index
    from postil.engine import Engine, StatefulWorkers

__all__ = ["Sharded"]


class Sharded:
    """An index whose parts lie with workers, on this machine or on many.

    Each part knows the idf of each word in all of it, so that the answers are those of the whole, to the last bit.
    Leaving ``with`` lets the parts go.

    Args:
        engine: The engine whose workers load the parts.
        parts: The parts, see `postil.commenters.search.Index.shards`.

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
        self._workers: StatefulWorkers[Index] = engine.start_workers(_ready, parts)

    def search(self, ids: NDArray[np.int32], offsets: NDArray[np.int64], k: int) -> Likest:
        """See `postil.commenters.search.Index.search`.

        Args:
            ids: int32[T].
            offsets: int64[n + 1].
            k: How many.
        """
        return merged(self._workers.call(_search, (ids, offsets, k)), self._firsts, k)

    def close(self) -> None:
        """Let the parts go."""
        self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _ready(part: Index) -> Index:
    """Load a part and prepare it for queries."""
    part.prepare()
    return part


def _search(part: Index, request: tuple[NDArray[np.int32], NDArray[np.int64], int]) -> Likest:
    return part.search(*request)
