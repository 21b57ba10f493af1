"""Boosted regression trees: fitted by scikit-learn, kept as arrays and evaluated without it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from postil.errors import MissingExtra, Undefined

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["LEAF", "Tree", "Trees", "boosting_fit", "classifier_fit"]

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int32]"

TREES: Final = 150
RATE: Final = 0.05
LEAVES: Final = 8
LEAF: Final = 40
"""Least number of texts in a leaf."""
BLOCK: Final = 1 << 12
"""Number of rows that are looked up together."""
BITS: Final = 8
"""Most leaves of a tree that look-ups serve."""
_LOWEST: Final = np.array([(mask & -mask).bit_length() - 1 if mask else 0 for mask in range(2**BITS)])
OUTCOME_TREES: Final = 100
"""Number of trees for outcomes."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A regression tree of k nodes, the root first, every node before those below it.

    Args:
        feature: int32[k], column that a node compares; -1 for a leaf.
        threshold: float64[k]; a text goes left where its score is at most this; 0 for a leaf.
        left: int32[k], node below for these texts; 0 for a leaf.
        right: int32[k], node below for the others; 0 for a leaf.
        value: float64[k], what a leaf adds to the grade; 0 for other nodes.
    """

    feature: Integers
    threshold: Floats
    left: Integers
    right: Integers
    value: Floats

    def leaves(self, scores: Floats) -> Floats:
        """The value of the leaf of each text, float64[n]."""
        node, rows = np.zeros(len(scores), np.int32), np.arange(len(scores))
        while len(rows):
            feature = self.feature[node[rows]]
            rows, feature = rows[feature >= 0], feature[feature >= 0]
            here = node[rows]
            node[rows] = np.where(scores[rows, feature] <= self.threshold[here], self.left[here], self.right[here])
        return self.value[node]

    def sound(self, columns: int) -> bool:
        """True if every walk from the root ends in a leaf.

        Args:
            columns: Number of columns of scores.
        """
        k, node = len(self.feature), np.arange(len(self.feature))
        inner = (self.feature >= 0) & (self.feature < columns) & (self.left > node) & (self.right > node)
        inner &= (self.left < k) & (self.right < k)
        leaf = (self.feature == -1) & (self.left == 0) & (self.right == 0)
        return k > 0 and bool((inner | leaf).all())


@dataclass(frozen=True, eq=False)
class Trees:
    """Boosted regression trees.

    Args:
        baseline: Mean grade of the rows that they were fitted on; of outcomes the logit of their share.
        trees: The trees, in the order of their sum.
        gain: float64[m], share of each column in the reduction of the squared error; 0 in all without a split.
    """

    baseline: float
    trees: tuple[Tree, ...]
    gain: Floats

    def predict(self, scores: Floats) -> Floats:
        """Predict a grade, or the logit of an outcome: what scikit-learn predicts, to the last bit.

        Args:
            scores: float64[n, m].

        Returns:
            float64[n].
        """
        out = np.full(len(scores), self.baseline)
        if self._large:
            for tree in self.trees:
                out += tree.leaves(scores)
            return out
        for begin in range(0, len(scores), BLOCK):
            for values in self._by_masks(scores[begin : begin + BLOCK]):
                out[begin : begin + BLOCK] += values
        return out

    def _by_masks(self, scores: Floats) -> Floats:
        """The value of each tree, of at most 8 leaves, for n rows, float64[trees, n].

        A score above the threshold of a node rules the leaves on its left out, and the leftmost leaf that no node rules
        out is that of the text (Lucchese et al. 2015, QuickScorer): a few look-ups for all trees instead of walks.
        """
        tables, leaves = self._look_ups
        there = np.full((len(scores), len(self.trees)), 2**BITS - 1, np.uint8)
        for column, steps, table in tables:
            there &= table[np.searchsorted(steps, scores[:, column])]
        lowest = _LOWEST[there.T]
        return np.asarray(leaves[np.arange(len(self.trees))[:, None], lowest])

    @cached_property
    def _large(self) -> bool:
        """True if a tree has more leaves than look-ups serve."""
        return any((tree.feature < 0).sum() > BITS for tree in self.trees)

    @cached_property
    def _look_ups(self) -> tuple[list[tuple[int, Floats, NDArray[np.uint8]]], Floats]:
        """For each column its number, thresholds and leaves; and the values of leaves, float64[trees, 8].

        Thresholds are ascending; for each place among them there are the leaves that no node of the column rules out,
        uint8[thresholds + 1, trees].
        """
        masks = [_leaf_masks(tree) for tree in self.trees]
        leaves = np.zeros((len(self.trees), BITS))
        for row, (_, values) in zip(leaves, masks, strict=True):
            row[: len(values)] = values
        nodes = [
            (int(tree.feature[node]), float(tree.threshold[node]), number, ~mask & 0xFF)
            for number, (tree, (left, _)) in enumerate(zip(self.trees, masks, strict=True))
            for node, mask in left.items()
        ]
        tables = []
        for column in sorted({node[0] for node in nodes}):
            own = [node[1:] for node in nodes if node[0] == column]
            steps = np.unique([threshold for threshold, _, _ in own])
            table = np.full((len(steps) + 1, len(self.trees)), 2**BITS - 1, np.uint8)
            for threshold, number, kept in own:
                table[int(np.searchsorted(steps, threshold)) + 1 :, number] &= np.uint8(kept)
            tables.append((column, steps, table))
        return tables, leaves


def boosting_fit(scores: Floats, grades: Floats, rising: NDArray[np.int8], seed: int) -> Trees:
    """Fit 150 histogram trees of 8 leaves, at least 40 texts in each, with learning rate .05.

    Args:
        scores: float64[n, m].
        grades: float64[n].
        rising: int8[m], 1 where the prediction may not fall with a column, -1 where it may not rise, else 0.
        seed: Seed of the sample that bins are made from, of more than 200,000 texts.

    Raises:
        Undefined: There are fewer texts than two leaves need.
        MissingExtra: scikit-learn is not installed.

    >>> x = np.arange(100.0)[:, None]
    >>> trees = boosting_fit(x, np.where(x[:, 0] < 50, 1.0, 3.0), np.ones(1, np.int8), seed=1)
    >>> trees.predict(np.array([[0.0], [99.0]])).round(2).tolist(), trees.gain.tolist()
    ([1.0, 3.0], [1.0])
    """
    if len(scores) < 2 * LEAF:
        problem = f"boosting needs at least {2 * LEAF} texts in each fit ({LEAF} per leaf), and there are {len(scores)}"
        raise Undefined(f"{problem}; give more judgements, or --method ridge")
    model = _estimator("HistGradientBoostingRegressor", "--method boosting")(
        max_iter=TREES,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=LEAF,
        monotonic_cst=rising.tolist(),
        early_stopping=False,
        random_state=seed,
    )
    return _fitted(model, scores, grades)


def classifier_fit(columns: Floats, outcomes: NDArray[np.bool_], seed: int) -> Trees:
    """Fit 100 histogram trees of 8 leaves to outcomes by log loss, at least 40 rows in each leaf, learning rate .05.

    Args:
        columns: float64[n, m].
        outcomes: bool[n].
        seed: Seed of the sample that bins are made from, of more than 200,000 rows.

    Returns:
        The trees; their predictions are logits of True.

    Raises:
        Undefined: There are fewer rows than two leaves need, or all outcomes are the same.
        MissingExtra: scikit-learn is not installed.

    >>> x = np.arange(100.0)[:, None]
    >>> trees = classifier_fit(x, x[:, 0] >= 50, seed=1)
    >>> (trees.predict(np.array([[0.0], [99.0]])) > 0).tolist()
    [False, True]
    """
    if len(columns) < 2 * LEAF:
        raise Undefined(f"boosting needs at least {2 * LEAF} rows ({LEAF} per leaf), and there are {len(columns)}")
    if outcomes.all() or not outcomes.any():
        raise Undefined("expected outcomes of both kinds, got one kind")
    model = _estimator("HistGradientBoostingClassifier", "boosted trees")(
        max_iter=OUTCOME_TREES,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=LEAF,
        early_stopping=False,
        random_state=seed,
    )
    return _fitted(model, columns, outcomes)


def _estimator(name: str, what: str) -> Callable[..., Any]:
    try:
        import sklearn.ensemble  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra(what, "boosting") from error
    return getattr(sklearn.ensemble, name)  # type: ignore[no-any-return]


def _fitted(model: Any, columns: Floats, targets: NDArray[np.generic]) -> Trees:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # noqa: PLC0415  # of scikit-learn

    with threadpool_limits(1):  # so few rows are faster on one thread, and sums keep their order
        model.fit(columns, targets)
    nodes = [each.nodes for (each,) in model._predictors]  # noqa: SLF001 - it has no public name
    gain = np.zeros(columns.shape[1])
    for each in nodes:
        splits = each[each["is_leaf"] == 0]
        np.add.at(gain, splits["feature_idx"], splits["gain"])
    trees = tuple(map(_tree, nodes))
    return Trees(float(model._baseline_prediction.item()), trees, gain / (gain.sum() or 1.0))  # noqa: SLF001


def _leaf_masks(tree: Tree) -> tuple[dict[int, int], Floats]:
    """For each inner node the leaves on its left as bits, counted from the left; and the values of the leaves."""
    left: dict[int, int] = {}
    values: list[float] = []

    def walk(node: int) -> int:
        if tree.feature[node] < 0:
            values.append(float(tree.value[node]))
            return 1 << (len(values) - 1)
        left[node] = walk(int(tree.left[node]))
        return left[node] | walk(int(tree.right[node]))

    walk(0)
    return left, np.array(values)


def _tree(nodes: NDArray[np.void]) -> Tree:
    leaf = nodes["is_leaf"] == 1
    return Tree(
        feature=np.where(leaf, -1, nodes["feature_idx"]).astype(np.int32),
        threshold=np.where(leaf, 0.0, nodes["num_threshold"]),
        left=np.where(leaf, 0, nodes["left"]).astype(np.int32),
        right=np.where(leaf, 0, nodes["right"]).astype(np.int32),
        value=np.where(leaf, nodes["value"], 0.0),
    )
