"""Names of arrays of numbers, for annotations; docstrings have their shapes, as in float64[n, M]."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Booleans", "Floats", "Int32s", "Int64s"]

Booleans: TypeAlias = "NDArray[np.bool_]"
Floats: TypeAlias = "NDArray[np.float64]"
Int32s: TypeAlias = "NDArray[np.int32]"
Int64s: TypeAlias = "NDArray[np.int64]"
