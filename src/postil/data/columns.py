"""Columns of any kind (lists, NumPy, Arrow, Polars, pandas, narwhals) as lists; public functions convert them first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from postil.data.frames import is_frame
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Column", "as_list", "refuse_other_form"]


@runtime_checkable
class _Arrow(Protocol):
    def to_pylist(self) -> list[object]: ...


@runtime_checkable
class _Frame(Protocol):
    def to_list(self) -> list[object]: ...


@runtime_checkable
class _Array(Protocol):
    def tolist(self) -> list[object]: ...


Column: TypeAlias = "Sequence[object] | _Arrow | _Frame | _Array"


def as_list(column: object, where: str) -> list[object]:
    """Convert a column to a list of its values.

    Args:
        column: A list, a tuple, a one-dimensional array, or a column of a data frame.
        where: Name of the argument, for messages.

    Raises:
        InvalidInput: It is none of these; a single str is not a column of characters.

    >>> import numpy as np
    >>> as_list(np.array(["a", "b"]), "candidates")
    ['a', 'b']
    """
    if isinstance(column, list):
        return column
    if is_frame(column):
        problem = f"expected a list or a column, got the frame {type(column).__name__}; take one column of it"
        raise InvalidInput(problem, where=where)
    if isinstance(column, tuple):
        return list(column)
    if isinstance(column, _Arrow):
        return column.to_pylist()
    if isinstance(column, _Frame):
        return column.to_list()
    if isinstance(column, _Array):
        values = column.tolist()
        if isinstance(values, list):
            return values
    raise InvalidInput(f"expected a list or a column, got {type(column).__name__}", where=where)


def refuse_other_form(problem: str, **arguments: object) -> None:
    """Refuse arguments that belong to the other form of a call, for columns or for tables.

    Args:
        problem: The problem, in words.
        arguments: Their values; None and an empty list are no value.

    Raises:
        UsageError: One has a value.
    """
    for name, value in arguments.items():
        if value is not None and not (isinstance(value, tuple) and not value):
            raise UsageError(f"{name}: {problem}")
