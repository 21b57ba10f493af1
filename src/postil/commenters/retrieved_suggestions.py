"""Suggestions made of filtered candidates, with their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.records.suggestions import Filtered, Provenance, Suggestion, Suggestions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from postil.commenters.candidate_pool import CandidatePool
    from postil.commenters.filtering import FilterResult
    from postil.commenters.store import Model
    from postil.records.suggestions import Source

__all__ = ["retrieved_suggestions"]


def retrieved_suggestions(
    article: str,
    model: Model,
    pool: CandidatePool,
    candidates: NDArray[np.int64],
    *,
    texts: Sequence[str],
    scores: NDArray[np.float64],
    result: FilterResult,
) -> Suggestions:
    """Make the suggestions for an article.

    Args:
        article: The id of the article.
        model: The model.
        pool: Its comments.
        candidates: int64[n], indices of comments in the pool.
        texts: The n comments.
        scores: float64[n], their scores.
        result: Result of the filter on them.
    """

    def source(position: int) -> Source:
        return pool.source(int(candidates[position]))

    suggestions = tuple(
        Suggestion(
            texts[one.position],
            float(scores[one.position]),
            rank,
            Provenance.retrieved(
                model.kind, model.hash, [source(position) for position in (one.position, *one.merged)]
            ),
        )
        for rank, one in enumerate(result.accepted, 1)
    )
    filtered = tuple(Filtered(texts[position], reason, source(position)) for position, reason in result.filtered)
    return Suggestions(article, suggestions, filtered, result.nothing)
