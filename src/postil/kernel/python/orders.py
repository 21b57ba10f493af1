"""Sign patterns that leave one of two columns not above the other, counted for many pairs of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from postil.kernel.python.checks import check_places, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["order_counts"]


def order_counts(  # noqa: PLR0917 - the compiled kernel's order
    own: NDArray[np.float64],
    other: NDArray[np.float64],
    together: NDArray[np.int32],
    pairs: NDArray[np.int32],
    slack: NDArray[np.float64],
    jobs: int = 1,
) -> NDArray[np.int64]:
    """Count the patterns k in which one column is not above another, and in which it is not below it.

    With ``d = (own[m, a, k] - own[m, b, k]) + (other[l, a, k] - other[l, b, k])`` these are the patterns with ``d <=
    slack``, and those with ``d >= -slack``.

    Args:
        own: float64[M, C, K], C columns of sums.
        other: float64[L, C, K], sums that are added.
        together: int32[Q, 2], m and l.
        pairs: int32[P, 2], a and b.
        slack: float64[Q, P], largest difference that counts as none.
        jobs: Threads, in the compiled kernel.

    Returns:
        int64[Q, P, 2].
    """
    del jobs
    require(own.shape[1:] == other.shape[1:], "expected the same columns and patterns on both sides")
    require(slack.shape == (len(together), len(pairs)), "expected a slack for each pair")
    for places, end in ((together[:, 0], len(own)), (together[:, 1], len(other)), (pairs, own.shape[1])):
        check_places(places, end, "expected sums of each pair")
    out = np.empty((len(together), len(pairs), 2), np.int64)
    for p, (a, b) in enumerate(pairs):
        of_own, of_other = own[:, a] - own[:, b], other[:, a] - other[:, b]
        for q, (m, added) in enumerate(together):
            apart = of_own[m] + of_other[added]
            out[q, p] = (apart <= slack[q, p]).sum(), (apart >= -slack[q, p]).sum()
    return out
