"""Many texts in two arrays, which can be mapped into memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.arrays import WHOLE, Expected
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from postil.arrays import Open

__all__ = ["Strings"]


@dataclass(frozen=True, eq=False, slots=True)
class Strings:
    """n texts, in UTF-8 behind one another.

    Args:
        data: uint8[bytes].
        offsets: int64[n + 1]; text i is ``data[offsets[i]:offsets[i + 1]]``.
        where: Where they were opened from.

    >>> texts = Strings.of(["rain", "", "雨"])
    >>> texts[2], texts[1], len(texts)
    ('雨', '', 3)
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    where: str = ""

    @classmethod
    def open(cls, array: Open, name: str, count: int | None = None) -> Strings:
        """Open texts of a folder; the bytes of a text are looked at when it is read.

        Args:
            array: Opens an array by its name; see `postil.commenters.store.Model.array`.
            name: Name of the texts, which the names of its two arrays begin with.
            count: Number of texts; None is any.

        Raises:
            InvalidInput: An array is missing, or another one.
        """
        data = array(f"{name}.data", Expected("uint8"))
        offsets = array(f"{name}.offsets", Expected("int64", (None if count is None else count + 1,), end=len(data)))
        # Views without the overhead of np.memmap, which tells where texts are taken one by one.
        return cls(np.asarray(data), np.asarray(offsets), str(getattr(data, "filename", name)))

    @classmethod
    def of(cls, texts: Iterable[str]) -> Strings:
        """Put texts behind one another.

        Args:
            texts: The texts.
        """
        data, ends = bytearray(), [0]
        for text in texts:
            data += text.encode("utf-8", "surrogatepass")
            ends.append(len(data))
        return cls(np.frombuffer(bytes(data), dtype=np.uint8), np.array(ends, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, place: int) -> str:
        data = self.data[self.offsets[place] : self.offsets[place + 1]].tobytes()
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            problem = f"text {place}: expected UTF-8, got {data[error.start : error.end]!r}; {WHOLE}"
            raise InvalidInput(problem, where=self.where) from error
