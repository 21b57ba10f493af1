"""Many texts in two arrays, which can be mapped into memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["Strings"]


@dataclass(frozen=True, eq=False, slots=True)
class Strings:
    """n texts, in UTF-8 behind one another.

    Args:
        data: uint8[bytes].
        offsets: int64[n + 1]; text i is ``data[offsets[i]:offsets[i + 1]]``.

    >>> texts = Strings.of(["rain", "", "雨"])
    >>> texts[2], texts[1], len(texts)
    ('雨', '', 3)
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

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
        return self.data[self.offsets[place] : self.offsets[place + 1]].tobytes().decode("utf-8", "surrogatepass")
