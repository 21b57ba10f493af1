"""Prediction-powered inference: the mean grade of each system by PPI++, for comparison with other work."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from postil.errors import Undefined
from postil.messages import Setting
from postil.metaeval.estimation import estimated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.metaeval.estimation import Estimated, Outputs

__all__ = ["prediction_powered"]


def prediction_powered(outputs: Outputs, systems: Sequence[str], sign: int = 1) -> Estimated:
    """Estimate mean grades by PPI++ (Angelopoulos, Duchi and Zrnic 2023), one system at a time.

    ``mean = mean over ungraded items of lambda f + mean over graded items of (y - lambda f)``. Means, variances and
    lambda are those of ppi-python 0.2.3; covariances of systems come from the same linear approximation, by item.

    Args:
        outputs: Grades, and exactly one score, on the scale of the grades.
        systems: Names of the systems, for messages.
        sign: -1 for a score for which lower is better.

    Raises:
        Undefined: All items of a system are graded.

    >>> from postil.metaeval.estimation import Outputs
    >>> scores = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> grades = np.array([[1.0], [3.0], [np.nan], [np.nan]])
    >>> found = prediction_powered(Outputs(scores[..., None], grades, np.ones((4, 1), np.int64), None), ["a"])
    >>> found.means.tolist(), found.lambdas.tolist()
    ([2.3], [0.15])
    """
    scores, shape = sign * outputs.scores[:, :, 0], outputs.grades.shape
    influence, means, lambdas = np.zeros(shape), np.zeros(shape[1]), np.zeros(shape[1])
    for place, system in enumerate(systems):
        graded = outputs.rated[:, place]
        n, rest = int(graded.sum()), int((~graded).sum())
        if not rest:
            raise Undefined(
                "ppi needs items without a grade, and all {n} of {system} have one; use {human}",
                n=n,
                system=system,
                human=Setting("method", "human"),
            )
        y, f = outputs.filled[:, place], scores[:, place]
        shared = (y[graded] - y[graded].mean()) @ (f[graded] - f[graded].mean()) / n
        spread = f.var(ddof=1) * (1 + n / rest)
        lambdas[place] = tuned = float(np.clip(shared / spread, 0.0, 1.0)) if spread > 0 else 0.0
        missed, predicted = y[graded] - tuned * f[graded], tuned * f[~graded]
        means[place] = predicted.mean() + missed.mean()
        influence[graded, place] = (missed - missed.mean()) / n
        influence[~graded, place] = (predicted - predicted.mean()) / rest
    covariance = influence.T @ influence + (0.0 if outputs.by_severities is None else outputs.by_severities)
    alone = estimated(outputs, scores=False)
    return replace(alone, means=means, covariance=covariance, used=True, lambdas=lambdas)
