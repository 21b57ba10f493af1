"""Sums of trees are those of a walk through each, in both kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import each_kernel

if TYPE_CHECKING:
    from types import ModuleType

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


def arrays(trees: list[Any]) -> tuple[tuple[Any, ...], Any]:
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
    assert kernel.tree_sums(scores, *arrays(trees), 0.1).tolist() == expected


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
    nodes, starts = arrays([[(0, 0.5, 1, 2, 0.0), (1, 0.0, 3, 4, 0.0), *[(-1, 0.0, 0, 0, 1.0)] * 3]])
    starts = np.array([0, 5, 5]) if value == 5 and name == "starts" else starts
    changed = dict(zip(("feature", "threshold", "left", "right", "value"), nodes, strict=True)) | {"starts": starts}
    changed[name][place] = value
    starts = changed.pop("starts")
    with pytest.raises(ValueError, match=problem):
        kernel.tree_sums(np.zeros((1, COLUMNS)), tuple(changed.values()), starts, 0.0)
    with pytest.raises(ValueError, match="the same number of values"):
        kernel.tree_sums(np.zeros((1, COLUMNS)), (*nodes[:4], np.zeros(4)), np.array([0, 5]), 0.0)
