"""Requirements of both kernels on what comes from outside, in the same words; see ``native/checks.hpp``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["check_offsets", "check_places", "check_rising", "check_texts", "check_types", "plain_objects", "require"]


def require(right: object, what: str) -> None:
    """Raise a ValueError unless a requirement is met.

    Args:
        right: True if it is.
        what: The expected value, for the message.
    """
    if not right:
        raise ValueError(what)


def check_offsets(offsets: NDArray[np.int64], end: int, what: str) -> None:
    """Require offsets that begin with 0, never decrease and end with ``end``."""
    require(len(offsets) and offsets[0] == 0 and offsets[-1] == end and (offsets[1:] >= offsets[:-1]).all(), what)


def check_places(places: NDArray[np.int32], end: int, what: str) -> None:
    """Require indices from 0 to ``end`` - 1."""
    require(not places.size or 0 <= int(places.min()) <= int(places.max()) < end, what)


def check_rising(places: NDArray[np.int32], end: int, what: str) -> None:
    """Require strictly ascending indices from 0 to ``end`` - 1."""
    check_places(places, end, what)
    require((places[1:] > places[:-1]).all(), what)


def check_texts(ids: NDArray[np.int32], offsets: NDArray[np.int64], what: str) -> None:
    """Require token ids from 0 up, and concatenated texts."""
    check_offsets(offsets, len(ids), what)
    check_places(ids, 2**31, what)


def check_types(arrays: tuple[NDArray[Any], ...], types: tuple[str, ...], what: str) -> None:
    """Require one-dimensional arrays of given types.

    Raises:
        TypeError: They have others, or are more or fewer.
    """
    if [(array.dtype.name, array.ndim) for array in arrays] != [(kind, 1) for kind in types]:
        raise TypeError(what)


def plain_objects(data: bytes) -> bool:
    r"""Return True if every line is one object and no object repeats a key.

    Args:
        data: Lines of JSON, in UTF-8.

    >>> plain_objects(b'{"a":1,"b":{"a":2}}\n'), plain_objects(b'{"a":1,"a":2}\n'), plain_objects(b"{}{}\n")
    (True, False, False)
    """
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    try:
        return all(isinstance(json.loads(line, object_pairs_hook=_once), dict) for line in lines)
    except (ValueError, RecursionError):
        return False


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found
