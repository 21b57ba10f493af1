"""Logistic regression on sparse rows, as scikit-learn's solver of the dual problem fits it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import needs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.kernel.arrays import Booleans, Floats, Int64s

__all__ = ["fit_sparse_logistic"]

_STEPS: Final = 1000


def fit_sparse_logistic(
    entries: tuple[Int64s, NDArray[np.int32], NDArray[np.float32]],
    columns: int,
    dense: NDArray[np.float32],
    targets: Booleans,
    *,
    inverse_penalty: float,
    tolerances: Sequence[float],
) -> tuple[NDArray[np.float32], Floats]:
    """Minimize ``|w|^2 / 2 + C sum_i ln(1 + exp(-y_i logit_i))`` for each target, y = 1 for True and -1 for False.

    Args:
        entries: int64[n + 1] offsets of the rows, int32[E] columns, and float32[E] values.
        columns: Number m of sparse columns.
        dense: float32[n, d], columns after these.
        targets: bool[n, t], each with both outcomes.
        inverse_penalty: C, above 0; the intercept is penalized like a weight.
        tolerances: For each target the largest violation of optimality at which its fit ends, in logits of a row; of
            equal targets that of the first one counts.

    Returns:
        float32[t, m + d], weights; float64[t], intercepts.

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    with needs("learning a screen", "screening"):
        from scipy.sparse import csr_matrix, hstack  # type: ignore[import-untyped]  # noqa: PLC0415
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # noqa: PLC0415

    offsets, places, values = entries
    matrix = csr_matrix((values, places, offsets), shape=(len(targets), columns))
    if dense.shape[1]:
        matrix = hstack([matrix, csr_matrix(dense)], format="csr")
    weights, intercepts = np.empty((targets.shape[1], matrix.shape[1]), np.float32), np.empty(targets.shape[1])
    known: dict[bytes, int] = {}
    for target in range(targets.shape[1]):
        same = known.setdefault(targets[:, target].tobytes(), target)
        if same < target:
            weights[target], intercepts[target] = weights[same], intercepts[same]
            continue
        # Its order of coordinates is drawn at random: the seed makes it the same each time.
        learner = LogisticRegression(
            C=inverse_penalty, solver="liblinear", dual=True, tol=tolerances[target], max_iter=_STEPS, random_state=0
        )
        learner.fit(matrix, targets[:, target])
        weights[target], intercepts[target] = learner.coef_[0], learner.intercept_[0]
    return weights, intercepts
