"""Reordering of an article's best candidates by a sentence encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.comments.reranker import DEPTH, Reranker, reranked, standardized
from postil.encoders.sentences import SentenceEncoder
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

numbers = st.floats(-1e6, 1e6, width=32)


def by_topic(texts: Sequence[str], jobs: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    del jobs
    found = np.array([[text.count("rain"), text.count("chess"), 1] for text in texts], np.float32).reshape(-1, 3)
    return found, np.zeros(len(texts), np.bool_)


def reranker(weight: float = 1.0, hub: Sequence[float] = (0, 0, 0)) -> Reranker:
    return Reranker(SentenceEncoder(by_topic, "topics"), np.array(hub, np.float32), weight)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=12), st.integers(1, 12), st.floats(0, 8))
def test_the_best_stay_ahead_and_are_ordered_by_the_sum(
    pairs: list[tuple[float, float]], depth: int, weight: float
) -> None:
    scores, cosines = np.array(pairs).T
    best = np.argsort(-scores, kind="stable")[:depth]
    found = reranked(scores, best, cosines[best], weight)
    others = np.setdiff1d(np.arange(len(scores)), best)
    assert np.array_equal(found[others], scores[others])
    assert not len(others) or found[best].min() > found[others].max()
    deviation = standardized(scores[best])[1]
    sums = scores[best] + weight * deviation * standardized(cosines[best])[0]
    order = np.argsort(sums)
    assert (np.diff(found[best][order]) >= 0).all()


def test_the_cosine_decides_where_the_ranker_does_not() -> None:
    texts = ["chess, chess", "rain, rain", "nothing", " "]
    found = reranker().scores("rain", texts, np.zeros(4))
    assert np.argsort(-found).tolist() == [1, 2, 0, 3]


def test_less_hub_takes_away_what_is_near_everything() -> None:
    plain = reranker().less_hub("rain", ["rain", "nothing"])
    np.testing.assert_allclose(plain, [1, 0.5**0.5], atol=1e-3)
    less = reranker(hub=(0, 0, 0.5)).less_hub("rain", ["rain", "nothing"])
    np.testing.assert_allclose(plain - less, [0.5**0.5 / 2, 0.5], atol=1e-3)


def test_only_the_best_are_encoded() -> None:
    seen: list[str] = []

    def vectors(texts: Sequence[str], jobs: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        seen.extend(texts)
        return by_topic(texts, jobs)

    one = Reranker(SentenceEncoder(vectors, "topics"), np.zeros(3, np.float32), 1.0)
    scores = -np.arange(DEPTH + 2, dtype=np.float64)
    found = one.scores("rain", [f"rain {n}" for n in range(DEPTH + 2)], scores)
    assert seen == ["rain", *(f"rain {n}" for n in range(DEPTH))]
    assert found[DEPTH:].tolist() == scores[DEPTH:].tolist()
    seen.clear()
    assert Reranker(one.encoder, one.hub, 0.0).scores("rain", ["a"] * 3, scores[:3]).tolist() == [0, -1, -2]
    assert not seen


def test_another_dimension_is_refused() -> None:
    with pytest.raises(InvalidInput, match="expected vectors of 2 dimensions, got 3; train the model again"):
        reranker(hub=(0, 0)).less_hub("rain", ["rain"])
