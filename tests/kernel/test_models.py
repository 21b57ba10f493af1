"""Loops of models: greedy matches, sums of powers, highest scores and sums of trees are those of the definitions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from exploration import examples
from kernels import KERNELS, compiled, each_kernel, needs_both
from postil.kernel.python import greedy_matches as defined

if TYPE_CHECKING:
    from types import ModuleType


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


A, B, D, OPPOSITE = [1, 0], [0, 1], [0.6, 0.8], [-1, 0]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (([A, D], [1, 1]), ([B], [1]), [0.4, 0.8]),
        (([A, D], [1, 1]), ([A], [1]), [0.8, 1.0]),
        (([A, D], [1, 5]), ([B], [1]), [4 / 6, 0.8]),
        (([A], [1]), ([OPPOSITE, OPPOSITE], [1, 1]), [-1.0, -1.0]),
        (([A], [1]), ([A, B], [0, 1]), [1.0, 0.0]),  # a unit without weight can be matched
    ],
)
def test_worked_values(match, left, right, expected) -> None:
    sides = [side(np.array(units, np.float32), [range(len(units))], weights) for units, weights in (left, right)]
    np.testing.assert_allclose(match(*sides, (np.zeros(1, np.int32),) * 2), [expected], atol=1e-7)


def test_equal_units_match_fully(match) -> None:
    """Though the product of a vector with itself is not quite 1 in single precision, and another for each vector."""
    vectors = unit_vectors(30, 256, np.random.default_rng(5))
    texts = side(vectors, [list(range(30)), [3, 4], [5]], np.linspace(0.1, 2, 33))
    pairs = np.array([0, 1, 2, 0], np.int32), np.array([0, 1, 2, 2], np.int32)
    found = match(texts, texts, pairs)
    assert found[:3].tolist() == [[1.0, 1.0]] * 3
    assert found[3, 1] == 1.0


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


# Few different values, so that there are ties; wide ones, so that powers fall to nothing.
numbers = st.one_of(st.sampled_from([-1.0, 0.0, 2.0, -math.inf]), st.floats(-300, 300, width=32))
shapes = st.tuples(st.integers(1, 4), st.integers(1, 200))
tables = arrays.arrays(np.float32, shapes, elements=numbers)


@each_kernel
@examples(150)
@given(tables)
def test_sums_are_those_of_double_precision(kernel, scores):
    found = kernel.log_sums(scores)
    assert found.dtype == np.float32
    for row, got in zip(scores.tolist(), found.tolist(), strict=True):
        top = max(row)
        if top == -math.inf:
            assert got == -math.inf
        else:
            wanted = top + math.log(math.fsum(math.exp(score - top) for score in row))
            assert math.isclose(got, wanted, rel_tol=2e-6, abs_tol=2e-6)


@each_kernel
@examples(150)
@given(tables, st.data())
def test_highest_come_first_and_of_equals_the_first(kernel, scores, data):
    k = data.draw(st.integers(1, scores.shape[1]))
    columns, values = kernel.highest(scores, k)
    assert columns.dtype == np.int64
    for row, where, what in zip(scores.tolist(), columns.tolist(), values.tolist(), strict=True):
        assert where == sorted(range(len(row)), key=lambda column: (-row[column], column))[:k]
        assert what == [row[column] for column in where]


@each_kernel
def test_rows_are_longer_than_what_is_calculated_with_together(kernel):
    """9,000 scores, the highest in the first, a middle and the last place."""
    scores = np.linspace(-9, -3, 9000, dtype=np.float32)[None].repeat(2, axis=0)
    scores[0, [0, 4096, 8999]] = [3, 5, 4]
    assert kernel.highest(scores, 4)[0].tolist() == [[4096, 8999, 0, 8998], [8999, 8998, 8997, 8996]]
    exact = np.log(np.exp(scores.astype(np.float64)).sum(1))
    np.testing.assert_allclose(kernel.log_sums(scores), exact, rtol=1e-6)


@each_kernel
@pytest.mark.parametrize("k", [0, 4])
def test_more_than_there_is(kernel, k):
    with pytest.raises(ValueError, match="expected k from 1"):
        kernel.highest(np.zeros((1, 3), np.float32), k)


NUMBERS = st.sampled_from([-1.5, -0.1, 0.0, 0.1, 0.3, 2.0, np.inf, -np.inf, np.nan])
COLUMNS = 3


@st.composite
def drawn_tree(draw: st.DrawFn) -> list[tuple[int, float, int, int, float]]:
    """Nodes of a tree: a leaf is split a few times, wherever it is."""
    nodes = [(-1, 0.0, 0, 0, draw(st.floats(-2, 2)))]
    for _ in range(draw(st.integers(0, 6))):
        leaf = draw(st.sampled_from([at for at, node in enumerate(nodes) if node[0] < 0]))
        sides = draw(st.permutations([len(nodes), len(nodes) + 1]))
        nodes[leaf] = (draw(st.integers(0, COLUMNS - 1)), draw(NUMBERS), sides[0], sides[1], 0.0)
        nodes += [(-1, 0.0, 0, 0, draw(st.floats(-2, 2))) for _ in range(2)]
    return nodes


def arrays_of(trees: list[Any]) -> tuple[tuple[Any, ...], Any]:
    """Trees as the kernel takes them."""
    columns = zip(*(node for tree in trees for node in tree), strict=True) if trees else ((),) * 5
    kinds = ("int32", "float64", "int32", "int32", "float64")
    nodes = tuple(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True))
    return nodes, np.cumsum([0, *map(len, trees)])


@each_kernel
@given(trees=st.lists(drawn_tree(), max_size=4), rows=st.lists(st.tuples(*[NUMBERS] * COLUMNS), max_size=5))
def test_sums_are_those_of_walks(kernel: ModuleType, trees: list[Any], rows: list[tuple[float, ...]]) -> None:
    expected = []
    for row in rows:
        total = 0.1
        for tree in trees:
            feature, threshold, left, right, value = tree[0]
            while feature >= 0:
                feature, threshold, left, right, value = tree[left if row[feature] <= threshold else right]
            total += value
        expected.append(total)
    scores = np.array(rows, np.float64).reshape(len(rows), COLUMNS)
    assert kernel.tree_sums(scores, *arrays_of(trees), 0.1).tolist() == expected


@each_kernel
@pytest.mark.parametrize(
    ("name", "place", "value", "problem"),
    [
        ("feature", 0, 3, "columns of scores"),
        ("feature", 0, -2, "columns of scores"),
        ("left", 0, 0, "nodes before those below"),
        ("right", 0, 5, "nodes before those below"),
        ("right", 1, 1, "nodes before those below"),
        ("starts", 0, 1, "where the nodes of each tree begin"),
        ("starts", 1, 6, "where the nodes of each tree begin"),
        ("starts", 1, 5, "a node of each tree"),
    ],
)
def test_nodes_that_end_nowhere_are_refused(
    kernel: ModuleType, name: str, place: int, value: int, problem: str
) -> None:
    nodes, starts = arrays_of([[(0, 0.5, 1, 2, 0.0), (1, 0.0, 3, 4, 0.0), *[(-1, 0.0, 0, 0, 1.0)] * 3]])
    starts = np.array([0, 5, 5]) if value == 5 and name == "starts" else starts
    changed = dict(zip(("feature", "threshold", "left", "right", "value"), nodes, strict=True)) | {"starts": starts}
    changed[name][place] = value
    starts = changed.pop("starts")
    with pytest.raises(ValueError, match=problem):
        kernel.tree_sums(np.zeros((1, COLUMNS)), tuple(changed.values()), starts, 0.0)
    with pytest.raises(ValueError, match="the same number of values"):
        kernel.tree_sums(np.zeros((1, COLUMNS)), (*nodes[:4], np.zeros(4)), np.array([0, 5]), 0.0)
