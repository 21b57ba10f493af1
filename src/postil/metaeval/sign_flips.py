"""Exact sign-flip test of whole numbers; of numbers that are 1 or -1 it is the sign test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["LEAST_P", "sign_flip_p", "sign_test"]

LEAST_P: Final = 1e-9
"""Smallest p-value that is given."""

DECIMALS: Final = 10
"""Decimals of p-values; rounding errors are below them."""

REACH: Final = 16
"""Standard deviations beyond which a sum has no probability: by Hoeffding's inequality less than 1e-55."""


def sign_flip_p(values: ArrayLike) -> float | None:
    """Compute the p-value of a sum whose terms have either sign with probability 1/2.

    The probabilities of all sums are the inverse Fourier transform of the characteristic function, the product of
    ``cos(v t)`` over the values v, so that no pattern of signs is drawn or enumerated.

    Args:
        values: Integers[n], such as wins less losses of each article.

    Returns:
        The probability of a sum at least as far from 0, at least `LEAST_P`; None where all values are 0.

    >>> sign_flip_p([1, 1, 1, 1, 0]), sign_flip_p([2, -1]), sign_flip_p([0])
    (0.125, 1.0, None)
    """
    given = np.asarray(values, np.int64)
    sizes, numbers = np.unique(np.abs(given[given != 0]), return_counts=True)
    if not len(sizes):
        return None
    observed = abs(int(given.sum()))
    deviation = math.sqrt(numbers @ sizes.astype(np.float64) ** 2)
    farthest = min(int(sizes @ numbers), math.ceil(REACH * deviation))
    if observed > farthest:
        return LEAST_P
    length = 1 << (2 * farthest).bit_length()
    angles = 2 * np.pi / length * np.arange(length // 2 + 1)
    transform = np.ones(len(angles))
    for size, number in zip(sizes.tolist(), numbers.tolist(), strict=True):
        transform *= np.cos(size * angles) ** number
    of_sums = np.fft.irfft(transform, length)
    p = 2 * of_sums[observed : farthest + 1].sum() if observed else 1.0
    return round(float(min(1.0, max(LEAST_P, p))), DECIMALS)


def sign_test(wins: int, losses: int) -> float | None:
    """Sign test, two-sided: the exact binomial p-value of wins and losses that are equally likely.

    Args:
        wins: Number of wins.
        losses: Number of losses.

    Returns:
        The p-value; None where there are none.

    >>> sign_test(4, 0), sign_test(6, 2), sign_test(0, 0)
    (0.125, 0.2890625, None)
    """
    return sign_flip_p(np.repeat([1, -1], [wins, losses]))
