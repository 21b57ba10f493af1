"""Arrays of a retriever's model folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.arrays import AnyArray
    from postil.commenters.candidate_pool import CandidatePool
    from postil.commenters.search import Index
    from postil.commenters.store import ModelWriter

__all__ = ["retriever_arrays", "save_retriever"]


def retriever_arrays(index: Index, pool: CandidatePool, ranker: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Arrays of a retriever's model folder, by name.

    Args:
        index: The training articles.
        pool: Their comments.
        ranker: Arrays of the ranker; see `postil.commenters.rankers.Ranker.arrays`.
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
