"""Boosted regression trees: fitted by scikit-learn, kept as arrays and evaluated without it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from postil.errors import Undefined, needs
from postil.kernel import tree_sums
from postil.messages import Message, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s

__all__ = ["Tree", "Trees", "boosting_fit", "classifier_fit"]

TREES: Final = 150
RATE: Final = 0.05
LEAVES: Final = 8
LEAF: Final = 40
"""Least number of texts in a leaf."""
MOST_LEAVES: Final = 64
"""Most leaves of a tree that the kernel reads."""
OUTCOME_TREES: Final = 100
"""Number of trees for outcomes."""


class Tree(NamedTuple):
    """A regression tree of k nodes, the root first, every node before those below it.

    Args:
        feature: int32[k], column that a node compares; -1 for a leaf.
        threshold: float64[k]; a text goes left where its score is at most this; 0 for a leaf.
        left: int32[k], node below for these texts; 0 for a leaf.
        right: int32[k], node below for the others; 0 for a leaf.
        value: float64[k], what a leaf adds to the grade; 0 for other nodes.
    """

    feature: Int32s
    threshold: Floats
    left: Int32s
    right: Int32s
    value: Floats

    @classmethod
    def of(cls, feature: ArrayLike, threshold: ArrayLike, left: ArrayLike, right: ArrayLike, value: ArrayLike) -> Tree:
        """The tree of columns of numbers, whatever their type."""
        first, below, other = (np.ascontiguousarray(each, np.int32) for each in (feature, left, right))
        ends, levels = (np.ascontiguousarray(each, np.float64) for each in (threshold, value))
        return cls(first, ends, below, other, levels)

    def sound(self, columns: int) -> bool:
        """True if every node is below one before it, which a walk takes to one of at most 64 leaves.

        Args:
            columns: Number of columns of scores.
        """
        k, node = len(self.feature), np.arange(len(self.feature))
        inner = (self.feature >= 0) & (self.feature < columns) & (self.left > node) & (self.right > node)
        inner &= (self.left < k) & (self.right < k)
        leaf = (self.feature == -1) & (self.left == 0) & (self.right == 0)
        below = np.sort(np.concatenate([self.left[inner], self.right[inner]]))
        return k > 0 and bool((inner | leaf).all()) and np.array_equal(below, node[1:]) and leaf.sum() <= MOST_LEAVES


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
        return tree_sums(np.ascontiguousarray(scores), *self._nodes, self.baseline)

    @classmethod
    def of(cls, trees: Floats, tree_offsets: Int64s, gain: Floats) -> Trees:
        """The trees of `arrays`."""
        each = tuple(Tree.of(*trees[begin:end].T) for begin, end in pairwise(tree_offsets.tolist()))
        return cls(float(gain[-1]), each, gain[:-1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Nodes of all trees, float64[k, 5], where those of each begin, and the gains with the baseline, by name."""
        nodes, starts = self._nodes
        return {"trees": np.column_stack(nodes), "tree_offsets": starts, "gain": np.append(self.gain, self.baseline)}

    @cached_property
    def _nodes(self) -> tuple[tuple[NDArray[Any], ...], Int64s]:
        """The nodes of all trees as the kernel takes them, and where those of each begin."""
        columns = zip(Tree.of([], [], [], [], []), *self.trees, strict=True)
        return tuple(map(np.concatenate, columns)), np.cumsum([0, *(len(tree.feature) for tree in self.trees)])


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
        raise Undefined(
            "{problem}; give more judgements, or {ridge}", problem=problem, ridge=Setting("method", "ridge")
        )
    use = Message("{boosting}", boosting=Setting("method", "boosting"))
    more = {"max_iter": TREES, "monotonic_cst": rising.tolist(), "random_state": seed}
    return _fitted("HistGradientBoostingRegressor", use, scores, grades, more)


def classifier_fit(columns: Floats, outcomes: Booleans, seed: int) -> Trees:
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
    more = {"max_iter": OUTCOME_TREES, "random_state": seed}
    return _fitted("HistGradientBoostingClassifier", "boosted trees", columns, outcomes, more)


def _fitted(
    name: str, what: str, columns: Floats, targets: NDArray[np.generic], settings: Mapping[str, object]
) -> Trees:
    """Fit an estimator of scikit-learn.

    Args:
        name: Its class.
        what: Name of the need, for a message.
        columns: float64[n, m].
        targets: n grades or outcomes.
        settings: Its settings, beside those of all.
    """
    with needs(what, "boosting"):
        import sklearn.ensemble  # type: ignore[import-untyped]  # noqa: PLC0415
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # noqa: PLC0415  # of scikit-learn

    model = getattr(sklearn.ensemble, name)(
        learning_rate=RATE, max_leaf_nodes=LEAVES, min_samples_leaf=LEAF, early_stopping=False, **settings
    )
    with threadpool_limits(1):  # so few rows are faster on one thread, and sums keep their order
        model.fit(columns, targets)
    nodes = [each.nodes for (each,) in model._predictors]  # noqa: SLF001 - it has no public name
    gain = np.zeros(columns.shape[1])
    for each in nodes:
        splits = each[each["is_leaf"] == 0]
        np.add.at(gain, splits["feature_idx"], splits["gain"])
    trees = tuple(map(_tree, nodes))
    return Trees(float(model._baseline_prediction.item()), trees, gain / (gain.sum() or 1.0))  # noqa: SLF001


def _tree(nodes: NDArray[np.void]) -> Tree:
    leaf = nodes["is_leaf"] == 1
    return Tree.of(
        feature=np.where(leaf, -1, nodes["feature_idx"]),
        threshold=np.where(leaf, 0.0, nodes["num_threshold"]),
        left=np.where(leaf, 0, nodes["left"]),
        right=np.where(leaf, 0, nodes["right"]),
        value=np.where(leaf, nodes["value"], 0.0),
    )
