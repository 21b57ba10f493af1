"""The nine measures without postil: over dictionaries as they are printed, and over scikit-learn's sparse matrices."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SHIFT = {"1": 0, "2": 1, "sk": 2}
"""Distance of the two words of a unit."""


def units_of(words: Sequence[str], unit: str) -> list[str]:
    shift = SHIFT[unit]
    return list(words) if not shift else [f"{a} {b}" for a, b in zip(words, words[shift:], strict=False)]


def plain(passage: Counter[str], references: Sequence[Counter[str]], share: dict[str, float]) -> tuple[float, ...]:
    """F1, KL and LogSim of one passage against the passages of its reference."""
    r: Counter[str] = Counter()
    for each in references:
        r.update(each)
    size_s, size_r = passage.total(), r.total()
    shared = [unit for unit in passage if unit in r]
    f1 = 2 * len(shared) / (len(passage) + len(r))
    p = {unit: count / size_r for unit, count in r.items()}
    kl = sum(p[u] * math.log(p[u] * (size_s + 1) / (passage[u] + share[u])) for u in r)
    sides = [(math.log(1 + passage[u] / size_s * size_r), math.log(1 + r[u]), p[u]) for u in shared]
    return f1, kl, sum(min(a, b) / max(a, b) * part for a, b, part in sides)


class Sparse:
    """Counts of units by CountVectorizer, measures over their non-zero entries."""

    def __init__(self, words: Sequence[Sequence[str]], unit: str) -> None:
        from sklearn.feature_extraction.text import CountVectorizer  # type: ignore[import-untyped]

        self.counts = CountVectorizer(analyzer=lambda each: units_of(each, unit)).fit_transform(words).tocsr()
        total = np.asarray(self.counts.sum(axis=0)).ravel()
        self.log_share = np.log(total / total.sum())
        self.share = total / total.sum()

    def scores(
        self, texts: NDArray[np.int64], references: NDArray[np.int64], inside: NDArray[np.bool_]
    ) -> Iterator[Floats]:
        """F1, KL and LogSim of texts; ``inside`` says which of them leave the reference while they are scored."""
        of_texts = self.counts[texts]
        in_reference = self.counts[references]
        c = np.asarray(in_reference.sum(axis=0)).ravel().astype(np.float64)
        holders = in_reference.getnnz(axis=0)
        unit, k = of_texts.indices, of_texts.data.astype(np.float64)
        starts = of_texts.indptr[:-1]
        leaves = np.repeat(inside, np.diff(of_texts.indptr))
        left = np.where(holders[unit] > leaves, c[unit] - k * leaves, 0.0)

        def per_text(values: Floats) -> Floats:
            return np.asarray(np.add.reduceat(values, starts))

        size_s = per_text(k)
        types_s = np.diff(of_texts.indptr)
        types = (holders > 0).sum() - per_text((leaves & (holders[unit] == 1)).astype(np.float64))
        total = c.sum() - size_s * inside
        yield 2 * per_text((left > 0).astype(np.float64)) / (types + types_s)

        def surprise(counts: Floats, log_share: Floats) -> Floats:
            out = np.zeros_like(counts)
            there = counts > 0
            out[there] = counts[there] * (np.log(counts[there]) - log_share[there])
            return out

        whole = surprise(c, self.log_share).sum()
        change = per_text((surprise(left, self.log_share[unit]) - surprise(c[unit], self.log_share[unit])) * leaves)
        covered = per_text(left * (np.log(k + self.share[unit]) - self.log_share[unit]))
        yield (whole + change - covered) / total - np.log(total) + np.log1p(size_s)
        scale = np.repeat(total / size_s, types_s)
        a, b = np.log1p(k * scale), np.log1p(left)
        yield per_text(np.where(left > 0, left * np.minimum(a, b) / np.maximum(a, b), 0.0)) / total
