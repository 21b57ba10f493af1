"""Arrays in the folders that postil makes: what each has to be, and one way to open them that sees to it.

A folder may come from elsewhere, be copied in part or be changed. What is computed from its arrays takes them for
offsets and places, so each is looked at when it is opened: type, shape, and, but for the largest ones, each of its
values. Of the largest ones (the postings of an index, the words of comments) whoever reads a part looks at that part.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["WHOLE", "Expected", "as_npy", "check_array", "open_array"]

AnyArray: TypeAlias = "NDArray[Any]"
"""An array whose dtype is only known at run time."""
OpenArray: TypeAlias = "Callable[[str, Expected], AnyArray]"
"""A function that opens an array by its name and sees that it is as expected."""

WHOLE: Final = "was the folder copied whole?"
# As NumPy writes it, of one or two dimensions, little-endian and row by row.
_HEAD: Final = re.compile(
    rb"(?s)\x93NUMPY\x01\0..{'descr': '([<|][a-z]\d+)', 'fortran_order': False, 'shape': \((\d+),(?: (\d+))?\), } *\n"
)
# Arrays that were looked at: those of a corpus are opened for each of its parts.
_SEEN: Final[set[tuple[object, ...]]] = set()
_MOST: Final = 1024
_BLOCK: Final = 2**15
"""Offsets that are compared together: few enough for the nearest caches."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Description of a valid array.

    Args:
        dtype: Type of its values, such as ``int32``; files have them little-endian.
        shape: Length of each dimension; None is any.
        low: Lowest value allowed; None leaves values unread. Floating-point values must be finite as well.
        high: Highest value allowed; None is any.
        end: For offsets, which begin with 0 and do not fall, the last one.

    >>> print(Expected("int32", (2, None), low=0), Expected("int64", (5,), end=12), sep="; ")
    int32[2, any] from 0; int64[5], offsets that rise from 0 to 12
    """

    dtype: str
    shape: tuple[int | None, ...] = (None,)
    low: float | None = None
    high: float | None = None
    end: int | None = None

    def __str__(self) -> str:
        shape = ", ".join("any" if size is None else str(size) for size in self.shape)
        if self.end is not None:
            return f"{self.dtype}[{shape}], offsets that rise from 0 to {self.end}"
        low = "" if self.low is None else f" from {self.low:g}"
        return f"{self.dtype}[{shape}]{low}{'' if self.high is None else f' to {self.high:g}'}"

    def problem(self, array: AnyArray) -> str | None:
        """Return what is there instead, or None if the array is as expected.

        Args:
            array: The array.
        """
        native = array.dtype == np.dtype(self.dtype) and array.flags.c_contiguous
        right = len(self.shape) == array.ndim and all(
            wanted in {None, size} for wanted, size in zip(self.shape, array.shape, strict=True)
        )
        if not (native and right):
            other = "" if array.dtype.isnative else " of the other byte order"
            order = "" if array.flags.c_contiguous else ", column by column"
            return f"{array.dtype.newbyteorder('=').name}{other}{list(array.shape)}{order}"
        return self._values(np.asarray(array))  # np.memmap takes time for each view

    def _values(self, array: AnyArray) -> str | None:
        if self.end is not None:
            if not len(array) or array[0] != 0 or array[-1] != self.end:
                return f"offsets from {array[0]} to {array[-1]}" if len(array) else "none"
            for begin in range(0, len(array), _BLOCK):
                block = array[begin : begin + _BLOCK + 1]
                rises = block[1:] >= block[:-1]
                if not rises.all():
                    place = int(np.argmin(rises))
                    return f"{block[place + 1]} after {block[place]}"
            return None
        if self.low is None or not array.size:
            return None
        low, high = array.min(), array.max()  # NaN where there is one, which no comparison holds for
        if low >= self.low and high <= (np.inf if self.high is None else self.high) and high < np.inf:
            return None
        return f"{low} to {high}"


def as_npy(values: AnyArray) -> bytes:
    """Encode an array as ``numpy.save`` writes it.

    Args:
        values: The array, not of objects.
    """
    out = io.BytesIO()
    np.save(out, values, allow_pickle=False)
    return out.getvalue()


def open_array(file: Path, expected: Expected, *, remake: str, mapped: bool = True) -> AnyArray:
    """Open an array of a folder, and see that it is what it has to be.

    Args:
        file: The file, as ``numpy.save`` writes it. Archives and pickled objects are refused.
        expected: Its specification.
        remake: The command that makes such a folder anew.
        mapped: Map the file into memory, to be read where it is needed; else read all of it.

    Returns:
        The array, read-only where it is mapped.

    Raises:
        InvalidInput: There is no such file, it is no array, or another one.
    """
    try:
        array = _mapped(file)
        stat = file.stat()
    except FileNotFoundError as error:
        raise InvalidInput(f"missing; {WHOLE}", where=str(file)) from error
    except Exception as error:  # a damaged head makes many a thing of NumPy's reader
        raise InvalidInput(f"not an array, or one cut short; {_what_to_do(remake)}", where=str(file)) from error
    key = (str(file), stat.st_ino, stat.st_size, stat.st_mtime_ns, expected)
    if key not in _SEEN:
        check_array(array, expected, where=str(file), remake=remake)
        if len(_SEEN) >= _MOST:
            _SEEN.clear()
        _SEEN.add(key)
    return array if mapped else np.array(array)


def _mapped(file: Path) -> AnyArray:
    """Map an array into memory; most have a head that needs no parser of Python, whose time is that of all checks."""
    with file.open("rb") as stream:
        head = _HEAD.match(stream.read(192))
        if head is None:
            return np.lib.format.open_memmap(file, mode="r")
        shape = tuple(int(size) for size in head.groups()[1:] if size is not None)
        return np.memmap(stream, np.dtype(head[1].decode()), "r", head.end(), shape)


def check_array(array: AnyArray, expected: Expected, *, where: str, remake: str) -> None:
    """See that an array is what it has to be.

    Args:
        array: The array.
        expected: Its specification.
        where: Its file, for messages.
        remake: The command that makes it anew.

    Raises:
        InvalidInput: It is another one.
    """
    problem = expected.problem(array)
    if problem is not None:
        raise InvalidInput(f"expected {expected}, got {problem}; {_what_to_do(remake)}", where=where)


def _what_to_do(remake: str) -> str:
    return f"{WHOLE} Else make it anew with {remake}"
