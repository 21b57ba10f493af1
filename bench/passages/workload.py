"""A collection of the paper's size, drawn: the same in every run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

TOPICS, PASSAGES = 63, 34_507
WORDS, VOCABULARY = 50, 60_000


@dataclass(frozen=True)
class Workload:
    """Passages as lists of words, the topic of each, and its grade from 0 to 2."""

    words: list[list[str]]
    topic: np.ndarray[tuple[int], np.dtype[np.int64]]
    grade: np.ndarray[tuple[int], np.dtype[np.float64]]


def workload(times: float = 1.0, *, seed: int = 20181) -> Workload:
    """Passages of 20 to 80 words by Zipf's law; a tenth of the words of a topic's informative passages are its own."""
    rng = np.random.default_rng(seed)
    n = round(PASSAGES * times)
    ranks = 1.0 / np.arange(1, VOCABULARY + 1)
    chances = np.cumsum(ranks / ranks.sum())
    topic = np.sort(rng.integers(0, TOPICS, n))
    grade = np.where(rng.random(n) < 0.35, (rng.random(n) * 2).round(2), 0.0)
    lengths = rng.integers(WORDS - 30, WORDS + 31, n)
    ids = np.minimum(np.searchsorted(chances, rng.random(lengths.sum())), VOCABULARY - 1)
    owner = np.repeat(np.arange(n), lengths)
    own = (rng.random(len(ids)) < 0.1) & (grade[owner] > 0)
    ids[own] = 1000 + topic[owner[own]] * 40 + rng.integers(0, 40, own.sum())
    names = [f"w{i}" for i in range(VOCABULARY)]
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    flat = ids.tolist()
    words = [[names[i] for i in flat[begin:end]] for begin, end in pairwise(bounds)]
    return Workload(words, topic, grade)
