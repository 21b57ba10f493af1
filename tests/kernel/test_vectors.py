"""Greedy matches are those of the definition in both kernels, whatever else is matched and by however many threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from kernels import KERNELS, compiled, needs_both
from postil.kernel.python import greedy_matches as defined


@pytest.fixture(params=KERNELS)
def match(request):
    return request.param.greedy_matches


def side(vectors, texts, weights=None):
    rows = np.array([row for text in texts for row in text], np.int32)
    offsets = np.cumsum([0, *map(len, texts)])
    return vectors, rows, offsets, np.ones(len(rows)) if weights is None else np.array(weights, float)


def unit_vectors(count, dimensions, random):
    vectors = random.normal(size=(count, dimensions))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def problem(seed, dimensions=5, texts=6, longest=40):
    random = np.random.default_rng(seed)
    vectors = unit_vectors(30, dimensions, random)
    sides = []
    for _ in range(2):
        drawn = [random.integers(0, 30, random.integers(0, longest + 1)).tolist() for _ in range(texts)]
        sides.append(side(vectors, drawn, random.random(sum(map(len, drawn)))))
    pairs = tuple(random.integers(0, texts, 25).astype(np.int32) for _ in range(2))
    return *sides, pairs


def test_worked_values(match) -> None:
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)  # a, b, d
    left, right = side(vectors, [[0, 2]]), side(vectors, [[1], [0]])
    pairs = np.zeros(2, np.int32), np.arange(2, dtype=np.int32)
    np.testing.assert_allclose(match(left, right, pairs), [[0.4, 0.8], [0.8, 1.0]], atol=1e-7)
    by_length = side(vectors, [[0, 2]], [1, 5])
    np.testing.assert_allclose(match(by_length, right, pairs)[0], [4 / 6, 0.8], atol=1e-7)


def test_equal_units_match_fully(match) -> None:
    """Though the product of a vector with itself is not quite 1 in single precision, and another for each vector."""
    vectors = unit_vectors(30, 256, np.random.default_rng(5))
    texts = side(vectors, [list(range(30)), [3, 4], [5]], np.linspace(0.1, 2, 33))
    pairs = np.array([0, 1, 2, 0], np.int32), np.array([0, 1, 2, 2], np.int32)
    found = match(texts, texts, pairs)
    assert found[:3].tolist() == [[1.0, 1.0]] * 3
    assert found[3, 1] == 1.0


def test_negative_maxima_are_kept(match) -> None:
    vectors = np.array([[1, 0], [-1, 0]], np.float32)
    pairs = np.zeros(1, np.int32), np.zeros(1, np.int32)
    assert match(side(vectors, [[0]]), side(vectors, [[1, 1]]), pairs).tolist() == [[-1.0, -1.0]]


def test_units_without_weight_can_be_matched(match) -> None:
    vectors = np.array([[1, 0], [0, 1]], np.float32)
    pairs = np.zeros(1, np.int32), np.zeros(1, np.int32)
    left, right = side(vectors, [[0]], [1]), side(vectors, [[0, 1]], [0, 1])
    assert match(left, right, pairs).tolist() == [[1.0, 0.0]]


def test_empty_texts_and_sides_without_weight_score_0(match) -> None:
    vectors = np.eye(2, dtype=np.float32)
    left = side(vectors, [[], [0], [1]], [0, 1])
    pairs = np.array([0, 1, 1, 2, 0], np.int32), np.array([1, 0, 1, 2, 0], np.int32)
    assert match(left, left, pairs).tolist() == [[0, 0], [0, 0], [0, 0], [1, 1], [0, 0]]
    nothing = np.zeros(0, np.int32)
    assert match(left, left, (nothing, nothing)).shape == (0, 2)


@given(st.integers(0, 2**32), st.integers(1, 21), st.sampled_from([3, 17, 40]))
@examples(40)
@needs_both
def test_both_kernels_agree_to_a_millionth(seed, dimensions, longest) -> None:
    given = problem(seed, dimensions, longest=longest)
    np.testing.assert_allclose(compiled.greedy_matches(*given), defined(*given), atol=1e-6)


@pytest.mark.parametrize(("dimensions", "texts"), [(3, 7), (20, 12), (4096, 4)])
@pytest.mark.parametrize("jobs", [1, 3])
def test_texts_that_are_packed_together(match, dimensions: int, texts: int, jobs: int) -> None:
    """Each text on the left with each on the right; of 4,096 dimensions few units are packed together."""
    left, right, _ = problem(5, dimensions, texts)
    places = np.arange(texts, dtype=np.int32)
    for pairs in (
        (np.repeat(places, texts), np.tile(places, texts)),
        (np.tile(places, texts), np.repeat(places, texts)),
    ):
        np.testing.assert_allclose(match(left, right, pairs, jobs), defined(left, right, pairs), atol=1e-6)
    some = np.repeat(places, texts), np.tile(places, texts)
    found = match(left, right, some, jobs)
    for pair in range(0, len(found), 7):
        alone = match(left, right, (some[0][[pair]], some[1][[pair]]))
        assert alone.tobytes() == found[[pair]].tobytes()


@pytest.mark.parametrize("dimensions", [1, 4, 19])
def test_the_bits_of_a_pair_depend_on_nothing_else(match, dimensions) -> None:
    left, right, (lefts, rights) = problem(7, dimensions)
    found = match(left, right, (lefts, rights), 1)
    assert match(left, right, (lefts, rights), 3).tobytes() == found.tobytes()
    assert match(right, left, (rights, lefts))[:, ::-1].tobytes() == found.tobytes()
    for pair in range(0, len(lefts), 5):
        alone = match(left, right, (lefts[[pair]], rights[[pair]]))
        assert alone.tobytes() == found[[pair]].tobytes()


def test_one_text_in_more_pairs_than_a_block_of_work_has(match) -> None:
    vectors = unit_vectors(3, 4, np.random.default_rng(1))
    left, right = side(vectors, [[0, 1]]), side(vectors, [[2], [1, 2]])
    rights = np.arange(2500, dtype=np.int32) % 2
    found = match(left, right, (np.zeros(2500, np.int32), rights), 2)
    assert (found == found[:2][rights]).all()


def test_bad_input_is_refused(match) -> None:
    left, right, (lefts, rights) = problem(3)
    with pytest.raises(ValueError, match="of the same length on both sides"):
        match(left, (np.zeros((30, 4), np.float32), *right[1:]), (lefts, rights))
    with pytest.raises(ValueError, match="pairs of texts"):
        match(left, right, (lefts[1:].copy(), rights))
    with pytest.raises(ValueError, match="pairs of texts"):
        match(left, right, (lefts + np.int32(6), rights))
    vectors, rows, offsets, weights = left
    for bad in (
        (vectors, rows + np.int32(30), offsets, weights),
        (vectors, rows, offsets + 1, weights),
        (vectors, rows, offsets, weights[1:].copy()),
    ):
        with pytest.raises(ValueError, match="a row and a weight of each unit"):
            match(bad, right, (lefts, rights))
