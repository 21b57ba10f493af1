r"""Three own metrics: a function, a function that reads the weights of references, and a class that scores batches.

On the command line:

    postil score candidates.jsonl -r references.jsonl --scale 1:5 --plugin own_metrics.py \
        -m brief -m 'brief(words=20)' -m w-closest_length -m w-hashed-cosine

In Python: import this file, and name the metrics in postil.score(..., metrics=["hashed-cosine", brief]).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

import postil

if TYPE_CHECKING:
    from numpy.typing import NDArray


def brief(candidate: str, references: list[str], *, words: int = 12) -> bool:
    """Score 1 for a candidate of at most a number of words; --plugin needs no decorator for it."""
    del references
    return len(candidate.split()) <= words


@postil.register_metric(low=0, high=1)
def closest_length(candidate: str, references: list[str], weights: list[float]) -> float:
    """Ratio of the shorter to the longer text, times the weight; the best reference counts."""
    n = len(candidate.split())
    lengths = [len(text.split()) for text in references]
    ratios = [min(n, m) / max(n, m, 1) for m in lengths]
    return max(weight * ratio for weight, ratio in zip(weights, ratios, strict=True))


@postil.register_metric(name="hashed-cosine", low=0, high=1, version="1", batched=True, batch_size=256)
@dataclass(frozen=True)
class HashedCosine:
    """Weighted maximum of the cosine of hashed words; stands for a model, which is fastest with many texts at once."""

    size: int = 1024

    def embed(self, texts: list[str]) -> NDArray[np.float64]:
        """Vectors of length 1 (0 for empty texts), float64[texts, size]."""
        found = np.zeros((len(texts), self.size))
        for row, text in zip(found, texts, strict=True):
            for word in text.lower().split():
                row[crc32(word.encode()) % self.size] += 1.0
        norms: NDArray[np.float64] = np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1.0)
        return found / norms

    def __call__(
        self, candidates: list[str], references: list[list[str]], weights: list[list[float]]
    ) -> NDArray[np.float64]:
        """One score per candidate."""
        sizes = [len(texts) for texts in references]
        theirs = self.embed([text for texts in references for text in texts])
        ours = np.repeat(self.embed(candidates), sizes, axis=0)
        scores = (ours * theirs).sum(axis=1) * np.concatenate(weights)
        return np.asarray(np.maximum.reduceat(scores, np.cumsum([0, *sizes[:-1]])))
