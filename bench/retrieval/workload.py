"""Made-up articles in the size of the paper's corpus: word numbers by a Zipf-Mandelbrot law, two thousand topics.

A third of an article's words comes from its topic, the others from the language, so that articles of a topic are alike.
The same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 20181
TYPES = 1_500_000
TOPICS = 2_000
TOPIC_WORDS = 3_000
OF_TOPIC = 1 / 3
MEAN_WORDS, SPREAD = 569, 0.55


@dataclass(frozen=True, eq=False)
class Workload:
    """n texts: ids int32[T], offsets int64[n + 1]."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def first(self, texts: int) -> Workload:
        return Workload(self.ids[: self.offsets[texts]], self.offsets[: texts + 1])


def workload(articles: int, *, mean: int = MEAN_WORDS, seed: int = SEED) -> Workload:
    """Articles of so many words on average."""
    rng = np.random.default_rng(seed)
    share = 1 / (np.arange(TYPES) + 2.7) ** 1.07
    cumulative = np.cumsum(share / share.sum())
    of_topic = np.cumsum((within := 1 / (np.arange(TOPIC_WORDS) + 2.7)) / within.sum())
    topic_words = np.searchsorted(cumulative, rng.random((TOPICS, TOPIC_WORDS)) * 0.7 + 0.3).astype(np.int32)
    lengths = np.maximum(5, rng.lognormal(np.log(mean) - SPREAD**2 / 2, SPREAD, articles)).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    ids = np.empty(offsets[-1], dtype=np.int32)
    topics = rng.integers(0, TOPICS, articles)
    for start in range(0, articles, 2_000):
        end = min(articles, start + 2_000)
        begin, stop = offsets[start], offsets[end]
        drawn = np.searchsorted(cumulative, rng.random(stop - begin)).astype(np.int32)
        owners = np.repeat(topics[start:end], lengths[start:end])
        topical = rng.random(stop - begin) < OF_TOPIC
        places = np.searchsorted(of_topic, rng.random(int(topical.sum())))
        drawn[topical] = topic_words[owners[topical], places]
        ids[begin:stop] = drawn
    return Workload(ids, offsets)


@dataclass(frozen=True, eq=False)
class Queries:
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def drawn(data: Workload, count: int, words: int | None) -> Queries:
    """Articles of the set, or some of their words."""
    rng = np.random.default_rng(SEED)
    texts = []
    for text in rng.choice(len(data), count, replace=False).tolist():
        ids = data.ids[data.offsets[text] : data.offsets[text + 1]]
        texts.append(ids if words is None else rng.choice(ids, min(words, len(ids)), replace=False))
    return Queries(np.concatenate(texts), np.concatenate([[0], np.cumsum([len(text) for text in texts])]))
