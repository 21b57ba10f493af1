"""The weighted metrics beside the formulas that the supplement of their paper prints, B.1 to B.5, computed plainly.

Where the text leaves something open, the comment says what is taken.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, permutations
from math import exp, log, prod, sqrt
from typing import TYPE_CHECKING

import pytest

import postil

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Words = tuple[str, ...]
Grams = Counter[Words]

SPECS = [
    *(f"w-bleu-{n}(smooth=none)" for n in range(1, 5)),
    "w-rouge-l(reading=union)",
    "w-cider",
    "w-meteor(params=2005,stages=exact,penalty=outside)",
    "w-meteor(params=2005,stages=exact)",
]
BETA = 1.2
ITEMS = 150


def cases() -> tuple[list[Words], list[list[Words]], list[list[float]]]:
    """Candidates, references and weights over few words, so that all of them meet and chunks compete."""
    rng = random.Random(20181)  # noqa: S311 - not a secret

    def text(longest: int = 6) -> Words:
        return tuple(rng.choices("abcdefg", weights=[6, 5, 4, 3, 2, 1, 1], k=rng.randint(1, longest)))

    references = [[text() for _ in range(rng.randint(1, 4))] for _ in range(ITEMS)]
    weights = [[rng.choice([0.0, 0.25, 0.5, 1.0, rng.random()]) for _ in row] for row in references]
    near = (tuple(rng.sample(row[0], len(row[0]))) for row in references)  # the words of a reference, shuffled
    return [text(5) if rng.random() < 0.5 else words for words in near], references, weights


def grams(words: Words, n: int) -> Grams:
    return Counter(words[i : i + n] for i in range(len(words) - n + 1))


def closest(c: Words, references: Sequence[Words]) -> int:
    """B.1 refers to Papineni et al. for BP, and they to the best match length: the closest, of two the shorter."""
    return min((abs(len(r) - len(c)), len(r)) for r in references)[1]


def matches(c: Words, references: Sequence[Words], s: Sequence[float], n: int) -> float:
    """B.2, above the line."""
    of = [grams(r, n) for r in references]
    return sum(min(k, max(w * counts[g] for w, counts in zip(s, of, strict=True))) for g, k in grams(c, n).items())


def bleu(matched: Sequence[float], counts: Sequence[int], length: int, reference: int) -> float:
    """B.1; 0 where a precision is 0 or does not exist."""
    if not all(matched) or not all(counts):
        return 0.0
    bp = min(1.0, exp(1 - reference / length))
    return bp * exp(sum(log(m / k) / len(counts) for m, k in zip(matched, counts, strict=True)))


def lcs(c: Words, r: Words) -> set[int]:
    """The places in c of the longest common subsequence; of several the first in the order of places."""

    def within(places: tuple[int, ...]) -> bool:
        left = iter(r)
        return all(c[i] in left for i in places)

    sizes = range(len(c), -1, -1)
    return set(next(places for k in sizes for places in combinations(range(len(c)), k) if within(places)))


def rouge_l(c: Words, references: Sequence[Words], s: Sequence[float]) -> float:
    """B.4; a word in several LCSs has their largest weight; |r^j| is the length of B.1, or the union if larger."""
    of = [lcs(c, r) for r in references]
    union = sum(max((w for w, places in zip(s, of, strict=True) if i in places), default=0.0) for i in range(len(c)))
    prc, rec = union / len(c), min(1.0, union / closest(c, references))
    return (1 + BETA**2) * prc * rec / (rec + BETA**2 * prc) if union else 0.0


def cider(c: Words, references: Sequence[Words], s: Sequence[float], df: Callable[[Words], int]) -> float:
    """B.5 with beta_n = 1/4; idf is log(items) - log(df), df the items whose references hold the n-gram, at least 1."""

    def vector(words: Words, n: int) -> dict[Words, float]:
        return {g: k * (log(ITEMS) - log(max(1, df(g)))) for g, k in grams(words, n).items()}

    def cosine(x: dict[Words, float], y: dict[Words, float]) -> float:
        norms = sqrt(sum(v * v for v in x.values()) * sum(v * v for v in y.values()))
        return sum(v * y.get(g, 0.0) for g, v in x.items()) / norms if norms else 0.0

    return sum(
        w * cosine(vector(c, n), vector(r, n)) / 4 / len(references)
        for n in range(1, 5)
        for w, r in zip(s, references, strict=True)
    )


def aligned(c: Words, r: Words) -> tuple[int, int]:
    """Matches and chunks of the one-to-one alignment with the most matches and, of those, the fewest chunks."""
    places = {word: [i for i, other in enumerate(c) if other == word] for word in {*c}}
    best = (0, 0)
    pairs_of = [[(word, i, tuple(t for t, w in enumerate(r) if w == word)) for i in at] for word, at in places.items()]
    alignments: list[tuple[tuple[int, int], ...]] = [()]
    for group in pairs_of:
        own, theirs = [i for _, i, _ in group], group[0][2]
        k = min(len(own), len(theirs))
        ways = [
            tuple(zip(some, others, strict=True)) for some in combinations(own, k) for others in permutations(theirs, k)
        ]
        alignments = [(*before, *way) for before in alignments for way in ways]
    for alignment in alignments:
        pairs = {*alignment}
        chunks = sum((i - 1, t - 1) not in pairs for i, t in pairs)
        best = max(best, (len(pairs), -chunks))
    return best[0], -best[1]


def meteor(c: Words, references: Sequence[Words], s: Sequence[float], *, outside: bool) -> float:
    """B.3, F and penalty as Banerjee and Lavie; of equal s_j F_j the least penalty counts, and none for equal texts."""
    found = []
    for w, r in zip(s, references, strict=True):
        m, chunks = aligned(c, r)
        if m:
            p, q = m / len(c), m / len(r)
            f, bp = 10 * p * q / (q + 9 * p), 0.0 if c == r else 0.5 * (chunks / m) ** 3
            found.append((round(w * f, 12), 1 - bp) if outside else (w * f * (1 - bp), 1.0))
    return prod(max(found, default=(0.0, 0.0)))


def test_items_are_the_printed_formulas() -> None:
    candidates, references, weights = cases()
    ours = postil.score(
        [" ".join(c) for c in candidates],
        [[" ".join(r) for r in row] for row in references],
        weights=weights,
        metrics=SPECS,
        tokenizer="space",
    )
    of_items = [{g for r in row for n in range(1, 5) for g in grams(r, n)} for row in references]

    def df(gram: Words) -> int:
        return sum(gram in each for each in of_items)

    statistics = []
    for row, (c, r, s) in enumerate(zip(candidates, references, weights, strict=True)):
        matched, counts = [matches(c, r, s, n) for n in range(1, 5)], [grams(c, n).total() for n in range(1, 5)]
        statistics.append([*matched, *counts, len(c), closest(c, r)])
        expected = [
            *(bleu(matched[:n], counts[:n], len(c), closest(c, r)) for n in range(1, 5)),
            rouge_l(c, r, s),
            cider(c, r, s, df),
            meteor(c, r, s, outside=True),
            meteor(c, r, s, outside=False),
        ]
        for spec, value in zip(SPECS, expected, strict=True):
            assert ours.items[spec][row] == pytest.approx(value, abs=1e-9), (spec, c, r, s)
    # "Aggregating respective statistics": BLEU sums them, ROUGE-L and CIDEr take the mean.
    sums = [sum(column) for column in zip(*statistics, strict=True)]
    for n in range(1, 5):
        expected_corpus = bleu(sums[:n], [int(k) for k in sums[4 : 4 + n]], int(sums[8]), int(sums[9]))
        assert ours.corpus[SPECS[n - 1]] == pytest.approx(expected_corpus)
    for spec in SPECS[4:6]:
        assert ours.corpus[spec] == pytest.approx(ours.items[spec].mean())
    inside, outside = ours.items[SPECS[7]], ours.items[SPECS[6]]
    assert (outside < inside - 1e-3).any()  # else the two orders were not told apart
