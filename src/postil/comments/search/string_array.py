"""Array of strings in two numeric arrays, which can be mapped into memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.data.arrays import WHOLE, Expected
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.data.arrays import OpenArray

__all__ = ["StringArray"]


@dataclass(frozen=True, eq=False, slots=True)
class StringArray:
    """n texts in UTF-8, concatenated.

    Args:
        data: uint8[bytes].
        offsets: int64[n + 1]; text i is ``data[offsets[i]:offsets[i + 1]]``.
        where: The file they were opened from, for messages.

    >>> texts = StringArray.of(["rain", "", "雨"])
    >>> texts[2], texts[1], len(texts)
    ('雨', '', 3)
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    where: str = ""

    @classmethod
    def open(cls, array: OpenArray, name: str, count: int | None = None) -> StringArray:
        """Open the texts of a folder; the bytes of a text are checked when it is read.

        Args:
            array: Opens an array by its name; see `postil.comments.store.Model.array`.
            name: Prefix of the names of the two arrays.
            count: Number of texts; None is any.

        Raises:
            InvalidInput: An array is missing, or not as expected.
        """
        data = array(f"{name}.data", Expected("uint8"))
        offsets = array(f"{name}.offsets", Expected("int64", (None if count is None else count + 1,), end=len(data)))
        # np.asarray drops the np.memmap class, whose overhead on each view dominates reading texts one by one.
        return cls(np.asarray(data), np.asarray(offsets), str(getattr(data, "filename", name)))

    @classmethod
    def of(cls, texts: Iterable[str]) -> StringArray:
        """Encode and concatenate texts.

        Args:
            texts: The texts.
        """
        data, ends = bytearray(), [0]
        for text in texts:
            data += text.encode("utf-8", "surrogatepass")
            ends.append(len(data))
        return cls(np.frombuffer(bytes(data), dtype=np.uint8), np.array(ends, dtype=np.int64))

    @classmethod
    def concatenate(cls, parts: Sequence[StringArray]) -> StringArray:
        """Append the texts of several arrays to one another.

        Args:
            parts: At least one.
        """
        ends = np.cumsum([0, *(len(part.data) for part in parts)])
        offsets = [np.asarray(part.offsets[:-1]) + begin for part, begin in zip(parts, ends, strict=False)]
        data = np.concatenate([part.data for part in parts])
        return cls(data, np.append(np.concatenate(offsets), ends[-1]).astype(np.int64))

    def take(self, indices: NDArray[np.int64]) -> StringArray:
        """Copy some of the texts.

        Args:
            indices: Their indices, in the order wanted.
        """
        begins, sizes = self.offsets[:-1][indices], np.diff(self.offsets)[indices]
        ends = np.append(0, np.cumsum(sizes)).astype(np.int64)
        places = np.arange(ends[-1]) + np.repeat(begins - ends[:-1], sizes)
        return StringArray(np.asarray(self.data)[places], ends)

    def texts(self, indices: NDArray[np.int64]) -> list[str]:
        """Read some of the texts.

        Args:
            indices: Their indices, in the order wanted.

        Raises:
            InvalidInput: One is damaged.
        """
        data, begins, ends = self.data.data, self.offsets[:-1][indices], self.offsets[1:][indices]
        try:
            return [
                str(data[begin:end], "utf-8", "surrogatepass")
                for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
            ]
        except UnicodeDecodeError:
            return [self[index] for index in indices.tolist()]  # which says which one

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[str]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> str:
        data = self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            problem = f"text {index}: expected UTF-8, got {data[error.start : error.end]!r}; {WHOLE}"
            raise InvalidInput(problem, where=self.where) from error
