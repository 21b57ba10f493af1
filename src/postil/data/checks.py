"""Checks and coercions that a row applies to its own fields when it is made."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, TypeGuard

from msgspec.structs import force_setattr

from postil.data.explain import is_finite, shown
from postil.data.ids import DecomposedId, as_id
from postil.errors import InvalidInput
from postil.kernel.unicode_forms import is_composed

if TYPE_CHECKING:
    import msgspec

__all__ = [
    "check_texts",
    "coerce_ids",
    "coerce_integers",
    "coerce_number_tuple",
    "coerce_numbers",
    "coerce_tuple",
    "is_integer",
    "is_number",
]


def is_integer(value: object) -> TypeGuard[int]:
    """True if a value is an integer of at most 64 bits: Python's or NumPy's, not a bool.

    Args:
        value: Anything.
    """
    if isinstance(value, bool):
        return False
    return isinstance(value, Integral) and -(2**63) <= int(value) < 2**63


def is_number(value: object) -> TypeGuard[float]:
    """True if a value is a finite real number: Python's or NumPy's, not a bool.

    Args:
        value: Anything.
    """
    if isinstance(value, bool):
        return False
    return isinstance(value, Real) and is_finite(value)


def coerce_ids(row: msgspec.Struct, *fields: str) -> None:
    """Coerce ids to text that is compared in NFC; see `postil.data.ids`.

    Args:
        row: The row, newly made.
        fields: The fields that hold ids.

    Raises:
        InvalidInput: An id is neither text nor an integer.
    """
    for field in fields:
        value = getattr(row, field)
        if value.__class__ is DecomposedId or (value.__class__ is str and is_composed(value)):
            continue
        if isinstance(value, bool) or not isinstance(value, str | Integral):
            raise InvalidInput(f"expected text or an integer, got {shown(value)}", field=field)
        force_setattr(row, field, as_id(str(value)))


def check_texts(row: msgspec.Struct, *fields: str, optional: bool = False) -> None:
    """Require text.

    Args:
        row: The row, newly made.
        fields: The fields that hold text.
        optional: True if they may be None.

    Raises:
        InvalidInput: One is something else.
    """
    for field in fields:
        value = getattr(row, field)
        if value.__class__ is str or (optional and value is None):
            continue
        if not isinstance(value, str):
            raise InvalidInput(f"expected text, got {shown(value)}", field=field)
        force_setattr(row, field, str(value))


def coerce_numbers(row: msgspec.Struct, *fields: str, optional: bool = False) -> None:
    """Coerce numbers to finite floats.

    Args:
        row: The row, newly made.
        fields: The fields that hold numbers.
        optional: True if they may be None.

    Raises:
        InvalidInput: One is NaN, infinite, true, false or no number.
    """
    for field in fields:
        value = getattr(row, field)
        if (optional and value is None) or (value.__class__ is float and math.isfinite(value)):
            continue
        if not is_number(value):
            raise InvalidInput(f"expected a number, got {shown(value)}", field=field)
        force_setattr(row, field, float(value))


def coerce_integers(row: msgspec.Struct, *fields: str) -> None:
    """Coerce integers to plain integers; None stays.

    Args:
        row: The row, newly made.
        fields: The fields that hold integers.

    Raises:
        InvalidInput: One is no integer, or has more than 64 bits.
    """
    for field in fields:
        value = getattr(row, field)
        if value is None or (value.__class__ is int and -(2**63) <= value < 2**63):
            continue
        if not is_integer(value):
            raise InvalidInput(f"expected an integer of at most 64 bits, got {shown(value)}", field=field)
        force_setattr(row, field, int(value))


def coerce_tuple(row: msgspec.Struct, field: str, kind: type[object]) -> None:
    """Coerce a list of values to a tuple; None to an empty one.

    Args:
        row: The row, newly made.
        field: The field that holds them.
        kind: Class of each value.

    Raises:
        InvalidInput: One is something else.
    """
    values = getattr(row, field)
    if values == ():
        return
    found = () if values is None else tuple(values) if isinstance(values, list | tuple) else (values,)
    for position, value in enumerate(found):
        if not isinstance(value, kind):
            problem = f"expected a {kind.__name__}, got {shown(value)}"
            raise InvalidInput(problem, field=f"{field}[{position}]")
    force_setattr(row, field, found)


def coerce_number_tuple(row: msgspec.Struct, field: str) -> None:
    """Coerce a list of numbers to a tuple of finite floats; None to an empty one.

    Args:
        row: The row, newly made.
        field: The field that holds them.

    Raises:
        InvalidInput: One is NaN, infinite, true, false or no number.
    """
    coerce_tuple(row, field, object)
    values = getattr(row, field)
    if all(value.__class__ is float for value in values) and all(map(math.isfinite, values)):
        return
    for position, value in enumerate(values):
        if not is_number(value):
            raise InvalidInput(f"expected a number, got {shown(value)}", field=f"{field}[{position}]")
    force_setattr(row, field, tuple(map(float, values)))
