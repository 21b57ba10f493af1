"""Values by their keys, where several values have the same key."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

__all__ = ["grouped", "nested"]

Key = TypeVar("Key", bound="Hashable")
Inner = TypeVar("Inner", bound="Hashable")
Value = TypeVar("Value")


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The values of each key, both in the order of the pairs.

    Args:
        pairs: Keys with a value each.

    >>> grouped([("b", 1), ("a", 2), ("b", 3)])
    {'b': [1, 3], 'a': [2]}
    """
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def nested(cells: Iterable[tuple[Key, Inner, Value]]) -> dict[Key, dict[Inner, Value]]:
    """The values by both of their keys, in the order of the cells; the last of those with the same keys counts.

    Args:
        cells: Outer keys, inner keys and their value.

    >>> nested([("b", "x", 1), ("a", "x", 2), ("b", "y", 3)])
    {'b': {'x': 1, 'y': 3}, 'a': {'x': 2}}
    """
    found: dict[Key, dict[Inner, Value]] = {}
    for key, inner, value in cells:
        found.setdefault(key, {})[inner] = value
    return found
