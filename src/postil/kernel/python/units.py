"""Texts as bags of units, and scores of texts against pooled references."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.kernel.python.checks import check_offsets, check_places, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from postil.kernel.arrays import Floats, Int32s, Int64s

__all__ = ["count_units", "pooled_scores"]


def count_units(
    ids: Int32s,
    offsets: Int64s,
    order: int,
    gap: int = 0,
    up_to: bool = False,  # noqa: FBT001, FBT002
) -> tuple[Int32s, Int64s, Int32s, Int32s]:
    """The distinct units of each text with their counts.

    Args:
        ids: int32[T].
        offsets: int64[n + 1].
        order: Words of a unit, 1 to 9.
        gap: Words left out between one word of a unit and the next.
        up_to: True if fewer may be skipped as well.

    Returns:
        int32[U, order], the words of each unit, by first sight; int64[n + 1], offsets of the texts' entries;
        int32[E], the unit of each entry, by first sight in its text; int32[E], how often the text holds it.
    """
    require(1 <= order <= 9, "expected n-grams of 1 to 9 words")
    require(gap >= 0, "expected a gap of at least 0")
    check_offsets(offsets, len(ids), "expected offsets of the words of texts")
    numbers: dict[tuple[int, ...], int] = {}
    bounds: list[int] = [0]
    units: list[int] = []
    counts: list[int] = []
    for begin, end in pairwise(offsets.tolist()):
        found = _units(ids[begin:end].tolist(), order, range(0 if up_to else gap, gap + 1))
        here = Counter(numbers.setdefault(unit, len(numbers)) for unit in found)
        units += here.keys()
        counts += here.values()
        bounds.append(len(units))
    grams = np.array(list(numbers), np.int32).reshape(-1, order)
    return grams, np.array(bounds, np.int64), np.array(units, np.int32), np.array(counts, np.int32)


def _units(words: list[int], order: int, gaps: range) -> Iterator[tuple[int, ...]]:
    """The units of a text: by their first word, then by the gaps between their words."""

    def extended(unit: tuple[int, ...], at: int) -> Iterator[tuple[int, ...]]:
        if len(unit) == order:
            yield unit
            return
        for gap in gaps:
            if at + gap + 1 < len(words):
                yield from extended((*unit, words[at + gap + 1]), at + gap + 1)

    for at, word in enumerate(words):
        yield from extended((word,), at)


def pooled_scores(  # noqa: PLR0917 - the compiled kernel's order
    bags: tuple[Int64s, Int32s, Int32s],
    references: tuple[Int64s, Int32s, Floats],
    texts: tuple[Int64s, Int32s],
    own: tuple[Int64s, Int64s],
    measures: Sequence[tuple[str, float]],
    share: Floats,
    idf: Floats,
    jobs: int = 1,
) -> Floats:
    """Score texts against pools, each pool a number of weighted texts taken together.

    In a pool R a unit counts ``c(u) = sum_j s_j k_j(u)`` over its texts j. A text's own references leave its pool while
    it is scored; they must hold the same units as the text.

    Args:
        bags: Offsets int64[n + 1], units int32[E] and counts int32[E] of n texts, see `count_units`.
        references: Offsets int64[p + 1] of p pools, the texts in each int32[r], their weights float64[r].
        texts: Offsets int64[p + 1], the texts scored against each pool int32[t].
        own: Offsets int64[t + 1], a text's own references as places in ``references`` int64[o].
        measures: Pairs of ``f``, ``kl``, ``js``, ``logsim``, ``rouge`` or ``tf-idf``, and beta squared of ``f``.
        share: float64[U], P(unit | all texts); read by ``kl``.
        idf: float64[U]; read by ``tf-idf``.
        jobs: Threads, in the compiled kernel.

    Returns:
        float64[measures, t]; NaN where nothing is left in the pool. ``kl`` and ``js`` are divergences, infinite for a
        text without units.
    """
    _check(bags, references, texts, own)
    for name, _ in measures:
        require(name in _MEASURES, "expected f, kl, js, logsim, rouge or tf-idf")
    distinct = int(bags[1].max(initial=-1)) + 1
    for name, values in (("kl", share), ("tf-idf", idf)):
        require(name not in dict(measures) or len(values) == distinct, f"expected a number of every unit for {name}")
    out = np.empty((len(measures), len(texts[1])))
    for number, (begin, end) in enumerate(pairwise(texts[0].tolist())):
        part = slice(references[0][number], references[0][number + 1])
        pool = _Pool(bags, references[1][part], references[2][part], share, idf)
        for text in range(begin, end):
            left = _Left(pool, int(texts[1][text]), references[2][own[1][own[0][text] : own[0][text + 1]]])
            for row, (name, beta_squared) in enumerate(measures):
                exists = left.types > 0 and left.total > 0
                out[row, text] = _MEASURES[name](left, beta_squared) if exists else math.nan
    return out


def _check(
    bags: tuple[Int64s, Int32s, Int32s],
    references: tuple[Int64s, Int32s, Floats],
    texts: tuple[Int64s, Int32s],
    own: tuple[Int64s, Int64s],
) -> None:
    require(len(bags[1]) == len(bags[2]), "expected a count of every unit")
    require(len(references[1]) == len(references[2]), "expected a weight of every reference")
    check_offsets(bags[0], len(bags[1]), "expected offsets of the units of texts")
    check_offsets(references[0], len(references[1]), "expected offsets of references")
    check_offsets(texts[0], len(texts[1]), "expected offsets of texts")
    check_offsets(own[0], len(own[1]), "expected offsets of own references")
    check_places(bags[1], 2**31 - 1, "expected units from 0 to the number of distinct ones")
    require((bags[2] > 0).all(), "expected counts from 1 up")
    require(np.isfinite(references[2]).all(), "expected weights that are finite")
    check_places(references[1], len(bags[0]) - 1, "expected references among the texts")
    check_places(texts[1], len(bags[0]) - 1, "expected texts to score among the texts")
    require(len(own[0]) == len(texts[1]) + 1, "expected own references of every text")
    require(len(texts[0]) == len(references[0]), "expected texts of every pool")
    pool_of = np.repeat(np.repeat(np.arange(len(texts[0]) - 1), np.diff(texts[0])), np.diff(own[0]))
    require(
        ((own[1] >= references[0][pool_of]) & (own[1] < references[0][pool_of + 1])).all(),
        "expected a text's own references in its pool",
    )


class _Pool:
    """A pooled reference: texts with weights, taken together."""

    def __init__(
        self, bags: tuple[Int64s, Int32s, Int32s], texts: Int32s, weights: Floats, share: Floats, idf: Floats
    ) -> None:
        self.bags, self.share, self.idf = bags, share, idf
        offsets, units, counts = bags
        distinct = int(units.max(initial=-1)) + 1
        entries = np.concatenate([np.arange(0), *(np.arange(offsets[text], offsets[text + 1]) for text in texts)])
        self.units = units[entries]
        self.text_counts = counts[entries].astype(np.float64)
        self.text_weights = np.repeat(weights, np.diff(offsets)[texts])
        self.count = np.bincount(self.units, self.text_weights * self.text_counts, distinct)
        self.holders = np.bincount(self.units, minlength=distinct)
        order = np.lexsort((-self.text_weights, self.units))
        self.begins = np.concatenate([[0], np.cumsum(self.holders)])
        self.falling = self.text_weights[order]
        """Weights of the texts that contain each unit, descending."""
        self.falling_counts = self.text_counts[order]
        self.squares = float(((self.count * idf) ** 2).sum()) if len(idf) == distinct else math.nan


class _Left:
    """A text and its leave-one-out pool, without the weights of the text's own references."""

    def __init__(self, pool: _Pool, text: int, own: Floats) -> None:
        offsets, units, counts = pool.bags
        entries = slice(offsets[text], offsets[text + 1])
        self.pool = pool
        self.own = sorted(own.tolist(), reverse=True)
        self.weight = sum(self.own)
        self.units, self.k = units[entries], counts[entries].astype(np.float64)
        self.length = self.k.sum()
        self.before = pool.count[self.units]
        self.holds = pool.holders[self.units] > len(own)
        """True for each unit of the text that the pool still contains."""
        self.c = np.where(self.holds, self.before - self.weight * self.k, 0.0)
        lost = (pool.holders[self.units] == len(own)).sum() if len(own) else 0
        self.types = int(np.count_nonzero(pool.holders) - lost)
        self.total = pool.count.sum() - self.weight * self.length
        self.tokens = pool.text_counts.sum() - len(own) * self.length


def _f(left: _Left, beta_squared: float) -> float:
    """``(1 + b^2) sum_(S and R) m / (b^2 |R| + |S|)`` over types, m the largest weight of the unit's holders."""
    pool, shared = left.pool, 0.0
    for unit in left.units[left.holds]:
        weights = pool.falling[pool.begins[unit] : pool.begins[unit + 1]].tolist()
        for weight in left.own:
            weights.remove(weight)
        shared += weights[0]
    return (1 + beta_squared) * shared / (beta_squared * left.types + len(left.units))


def _kl(left: _Left, _: float) -> float:
    """``sum_R p ln(p (|S| + 1) / (k + P(u | all)))``, p = c / |R|."""
    if not left.length:
        return math.inf
    c, share, k = left.pool.count.copy(), left.pool.share, np.zeros(len(left.pool.count))
    c[left.units], k[left.units] = left.c, left.k
    there = c > 0
    p = c[there] / left.total
    return float((p * np.log(p * (left.length + 1) / (k[there] + share[there]))).sum())


def _js(left: _Left, _: float) -> float:
    """Mean of the divergences of text and pool from their middle, natural logarithms."""
    if not left.length:
        return math.inf
    p, q = left.k / left.length, left.c / left.total
    there = q > 0
    of_text = (p * np.log(2 * p / (p + q))).sum()
    of_pool = (q[there] * np.log(2 * q[there] / (p + q)[there])).sum() + (1 - q.sum()) * math.log(2)
    return float(of_text + of_pool) / 2


def _log_sim(left: _Left, _: float) -> float:
    """``sum_(S and R) p min(a, b) / max(a, b)``, a = ln(1 + k |R| / |S|), b = ln(1 + c)."""
    c, k = left.c[left.c > 0], left.k[left.c > 0]
    a, b = np.log1p(k * left.total / left.length) if len(k) else k, np.log1p(c)
    return float((c * np.minimum(a, b) / np.maximum(a, b)).sum() / left.total)


def _rouge(left: _Left, _: float) -> float:
    """``sum_j s_j sum_u min(k, k_j) / sum_j |r_j|`` over the texts j of the pool."""
    pool, matched = left.pool, 0.0
    for unit, k in zip(left.units[left.holds].tolist(), left.k[left.holds].tolist(), strict=True):
        held = slice(pool.begins[unit], pool.begins[unit + 1])
        matched += float((pool.falling[held] * np.minimum(k, pool.falling_counts[held])).sum()) - left.weight * k
    return matched / float(left.tokens)


def _tf_idf(left: _Left, _: float) -> float:
    """Cosine of ``k idf`` and ``c idf``."""
    idf = left.pool.idf[left.units]
    product = (left.k * left.c * idf**2).sum()
    of_pool = left.pool.squares - ((left.before**2 - left.c**2) * idf**2).sum()
    return min(1.0, float(product / math.sqrt(((left.k * idf) ** 2).sum() * of_pool))) if product > 0 else 0.0


_MEASURES: Final[dict[str, Callable[[_Left, float], float]]] = {
    "f": _f,
    "js": _js,
    "kl": _kl,
    "logsim": _log_sim,
    "rouge": _rouge,
    "tf-idf": _tf_idf,
}
