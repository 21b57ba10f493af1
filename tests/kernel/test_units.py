"""Bags of units and pooled scores: both kernels against a plain reading of the definitions, and against each other."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from kernels import compiled, each_kernel, needs_both
from postil.kernel import python

MEASURES = [("f", 1.0), ("f", 4.0), ("kl", 0.0), ("js", 0.0), ("logsim", 0.0), ("rouge", 0.0), ("tf-idf", 0.0)]

texts_of_words = st.lists(st.lists(st.integers(0, 6), max_size=9), min_size=1, max_size=7)


def ragged(rows, dtype=np.int32):
    return np.array([x for row in rows for x in row], dtype), np.cumsum([0, *map(len, rows)], dtype=np.int64)


def plain_units(words, order, gaps):
    """Every choice of places whose distances are allowed."""
    chosen = [(at,) for at in range(len(words))]
    for _ in range(order - 1):
        chosen = [(*c, c[-1] + gap + 1) for c in chosen for gap in gaps if c[-1] + gap + 1 < len(words)]
    return Counter(tuple(words[at] for at in c) for c in chosen)


@each_kernel
@examples(150)
@given(texts_of_words, st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_units_are_what_a_plain_reading_finds(kernel, texts, order, gap, up_to):
    grams, offsets, units, counts = kernel.count_units(*ragged(texts), order, gap, up_to)
    assert len({tuple(gram) for gram in grams.tolist()}) == len(grams)
    for text, (begin, end) in zip(texts, pairwise(offsets.tolist()), strict=True):
        found = {
            tuple(grams[unit].tolist()): int(k) for unit, k in zip(units[begin:end], counts[begin:end], strict=True)
        }
        assert found == plain_units(text, order, range(0 if up_to else gap, gap + 1))


@needs_both
@examples(150)
@given(texts_of_words, st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_both_kernels_number_units_alike(texts, order, gap, up_to):
    for one, other in zip(*(k.count_units(*ragged(texts), order, gap, up_to) for k in (compiled, python)), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


@each_kernel
def test_units_that_cannot_be(kernel):
    for order, gap in ((0, 0), (10, 0), (2, -1)):
        with pytest.raises(ValueError, match="expected"):
            kernel.count_units(*ragged([[1, 2]]), order, gap, False)


@st.composite
def problems(draw):
    """Texts with equal ones among them, pools of them, and who leaves."""
    words = draw(texts_of_words)
    words += [words[i] for i in draw(st.lists(st.integers(0, len(words) - 1), max_size=3))]
    grades = st.sampled_from([0.2, 1 / 3, 0.5, 1.0])
    pools, scored, own = [], [], []
    for _ in range(draw(st.integers(1, 3))):
        references = draw(st.lists(st.tuples(st.integers(0, len(words) - 1), grades), max_size=8))
        pools.append(references)
        scored.append(draw(st.lists(st.integers(0, len(words) - 1), max_size=5)))
        same = [[j for j, (r, _) in enumerate(references) if words[r] == words[t]] for t in scored[-1]]
        own.append([found if draw(st.booleans()) else found[:1] for found in same])
    plain = draw(st.booleans())
    pools = [[(text, 1.0 if plain else weight) for text, weight in pool] for pool in pools]
    return words, pools, scored, own, draw(st.sampled_from([1, 2]))


def arguments(problem, kernel):
    words, pools, scored, own, order = problem
    _, offsets, units, counts = kernel.count_units(*ragged(words), order, 0, False)
    references, reference_offsets = ragged([[text for text, _ in pool] for pool in pools])
    weights, _ = ragged([[weight for _, weight in pool] for pool in pools], np.float64)
    texts, text_offsets = ragged(scored)
    places, own_offsets = ragged(
        [[int(begin) + j for j in row] for begin, rows in zip(reference_offsets, own, strict=False) for row in rows],
        np.int64,
    )
    totals = np.bincount(units, counts)
    share = totals / totals.sum() if len(totals) else totals
    idf = 1.0 + np.log((1 + len(words)) / (1 + np.bincount(units))) if len(units) else np.zeros(0)
    return (
        (offsets, units, counts),
        (reference_offsets, references, weights),
        (text_offsets, texts),
        (own_offsets, places),
        MEASURES,
        share,
        idf,
    )


def plain_scores(problem):
    """Every measure as its formula is printed, over dictionaries."""
    words, pools, scored, own, order = problem
    bags = [plain_units(text, order, range(1)) for text in words]
    everything = sum(bags, Counter())
    share = {unit: k / everything.total() for unit, k in everything.items()}
    df = Counter(unit for bag in bags for unit in bag)
    idf = {unit: 1.0 + math.log((1 + len(words)) / (1 + df[unit])) for unit in df}
    rows = []
    for references, texts, leaving in zip(pools, scored, own, strict=True):
        for text, gone in zip(texts, leaving, strict=True):
            held = [(bags[r], s) for j, (r, s) in enumerate(references) if j not in gone]
            rows.append(plain_row(bags[text], held, share, idf))
    return np.array(rows).reshape(-1, len(MEASURES)).T


def plain_row(s, held, share, idf):
    r = {}
    for bag, weight in held:
        for unit, k in bag.items():
            r[unit] = r.get(unit, 0.0) + weight * k
    if not r:
        return [math.nan] * len(MEASURES)
    size_s, size_r = s.total(), sum(r.values())
    shared = [unit for unit in s if unit in r]
    best = sum(max(weight for bag, weight in held if unit in bag) for unit in shared)
    row = [2 * best / (len(s) + len(r)), 5 * best / (4 * len(r) + len(s))]
    p = {unit: c / size_r for unit, c in r.items()}
    if size_s:
        row.append(sum(p[u] * math.log(p[u] * (size_s + 1) / (s[u] + share[u])) for u in r))
        of_s = {unit: k / size_s for unit, k in s.items()}
        middle = {u: (p.get(u, 0.0) + of_s.get(u, 0.0)) / 2 for u in {*p, *of_s}}
        row.append(sum(q[u] * math.log(q[u] / middle[u]) for q in (p, of_s) for u in q) / 2)
    else:
        row += [math.inf, math.inf]
    a = {u: math.log(1 + s[u] / size_s * size_r) for u in shared}
    b = {u: math.log(1 + r[u]) for u in shared}
    row.append(sum(p[u] * math.exp(-abs(math.log(a[u] / b[u]))) for u in shared))
    matches = sum(weight * min(k, bag[unit]) for bag, weight in held for unit, k in s.items())
    row.append(matches / sum(bag.total() for bag, _ in held))
    product = sum(s[u] * r[u] * idf[u] ** 2 for u in shared)
    norms = [math.sqrt(sum((k * idf[u]) ** 2 for u, k in v.items())) for v in (s, r)]
    row.append(product / (norms[0] * norms[1]) if shared else 0.0)
    return row


@each_kernel
@examples(200)
@given(problems())
def test_pooled_scores_are_what_a_plain_reading_finds(kernel, problem):
    found = kernel.pooled_scores(*arguments(problem, kernel))
    np.testing.assert_allclose(found, plain_scores(problem), rtol=1e-10, atol=1e-12)


@needs_both
@examples(200)
@given(problems())
def test_both_kernels_score_alike_and_threads_change_nothing(problem):
    first, second = (k.pooled_scores(*arguments(problem, k)) for k in (compiled, python))
    np.testing.assert_allclose(first, second, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(compiled.pooled_scores(*arguments(problem, compiled), 3), first)


@st.composite
def folds(draw):
    """Every pool is all texts but those of a fold, which are scored against it, so that pools overlap a lot."""
    words = draw(st.lists(st.lists(st.integers(0, 5), max_size=7), min_size=4, max_size=14))
    plain = draw(st.booleans())
    weights = [1.0 if plain else draw(st.sampled_from([0.2, 0.7, 1.0])) for _ in words]
    several = draw(st.integers(4, 6))
    pools, scored, own = [], [], []
    for fold in range(several):
        pools.append([(text, weights[text]) for text in range(len(words)) if text % several != fold])
        scored.append([text for text in range(len(words)) if text % several == fold])
        own.append([[j for j, (r, _) in enumerate(pools[-1]) if words[r] == words[text]] for text in scored[-1]])
    return words, pools, scored, own, draw(st.sampled_from([1, 2]))


@each_kernel
@examples(100)
@given(folds())
def test_pools_that_overlap(kernel, problem):
    found = kernel.pooled_scores(*arguments(problem, kernel))
    np.testing.assert_allclose(found, plain_scores(problem), rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(kernel.pooled_scores(*arguments(problem, kernel), 3), found)
    without_f = [*arguments(problem, kernel)]
    without_f[4] = MEASURES[2:]  # weights need not be sorted, so that pools can be made from one another
    np.testing.assert_allclose(kernel.pooled_scores(*without_f), found[2:], rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(kernel.pooled_scores(*without_f), kernel.pooled_scores(*without_f, 3))


WRONG = {
    "bags": ((np.array([0, 1]), np.array([0, 0], np.int32), np.array([1, 1], np.int32)), "offsets"),
    "references": ((np.array([0, 1]), np.array([9], np.int32), np.array([1.0])), "among the texts"),
    "texts": ((np.array([0, 1]), np.array([-1], np.int32)), "among the texts"),
    "own": ((np.array([0, 1]), np.array([5])), "in its pool"),
    "measures": ([("g", 1.0)], "expected f, kl"),
    "share": (np.zeros(0), "every unit"),
    "idf": (np.zeros(7), "every unit"),
}


@each_kernel
@pytest.mark.parametrize("name", WRONG)
def test_pools_that_cannot_be(kernel, name):
    problem = ([[0, 1], [1]], [[(1, 1.0)]], [[0]], [[[]]], 1)
    names = ("bags", "references", "texts", "own", "measures", "share", "idf")
    right = dict(zip(names, arguments(problem, kernel), strict=True))
    assert kernel.pooled_scores(*right.values()).shape == (len(MEASURES), 1)
    with pytest.raises(ValueError, match=WRONG[name][1]):
        kernel.pooled_scores(*(right | {name: WRONG[name][0]}).values())
