"""Batches of texts as token ids, whose composition does not change what a network says of a text."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import numpy as np

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Network: TypeAlias = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]

__all__ = ["NARROW", "TokenBatches", "TokenReader"]


class TokenReader(Protocol):
    """A tokenizer, and how the network that reads its tokens wants them."""

    longest: int
    """Largest number of tokens of a text, special ones included."""
    rows: int
    """Number of token ids that the network knows."""
    wide: int
    """Number of tokens that are run together where many texts have one padded length."""
    step: int
    """Texts are padded to a multiple of this number of tokens; 1 where they are not padded."""
    padding: int
    """Token id of padding."""

    def tokenize(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        """Token ids of texts with the special tokens, cut to the largest number.

        Args:
            texts: The texts.
            longest: Largest number of tokens of a text, special ones included.
        """


NARROW: Final = 64
"""Smallest number of tokens in a batch; a shorter one is filled up. Libraries multiply fewer rows by other code, whose
last bits differ: MKL does with fewer than 16, by 2e-6 between a text alone and in a batch."""


@dataclass(frozen=True, eq=False, slots=True)
class TokenBatches:
    """Texts as token ids, and batches of them for a network.

    A text is padded to a number of tokens that depends on the text alone, and a batch holds texts of one such number,
    so that the other texts of a batch change what is said of one by rounding at most, and by nothing where batches are
    filled up to `NARROW` tokens. Padding to the longest text of a batch would change the last digits of hidden states.

    Args:
        model: The tokenizer, and how the network wants tokens.
        where: Folder of the model, for messages.
        single: Context in which the calling thread calculates alone; by default none is needed.
        narrow: Smallest number of tokens in a batch; a shorter one is filled up with copies of its first text.
    """

    model: TokenReader
    where: str = "model"
    single: Callable[[], AbstractContextManager[None]] = nullcontext
    narrow: int = NARROW
    _lock: Lock = field(default_factory=Lock)

    def tokenize(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        """Token ids of texts without white space at their ends, cut to the largest number.

        Args:
            texts: The texts.
            longest: Largest number of tokens of a text, special ones included.

        Raises:
            InvalidInput: The tokenizer has an id that the network does not know.
        """
        with self._lock:  # tokenizers keep the largest number themselves, and may not change it while they run
            ids = self.model.tokenize([text.strip() for text in texts], longest)
        most = max((max(each, default=0) for each in ids), default=0)
        if most >= self.model.rows:
            problem = f"the tokenizer has the id {most}, the network knows {self.model.rows}; are they of one model?"
            raise InvalidInput(problem, where=self.where)
        return ids

    def run(
        self, network: Network, ids: Sequence[list[int]], places: Collection[int], jobs: int = 1
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Run a network on texts.

        Args:
            network: Function from int64[b, l], token ids padded at the end, and int64[b, l], 1 for tokens and 0 for
                padding, to an array with b rows.
            ids: Token ids of texts.
            places: Indices of the texts that are run, which have tokens.
            jobs: Number of threads; the result does not depend on it.

        Yields:
            The index of each of these texts, in any order, and its row, padded as its tokens are.
        """
        batches = list(_batches({i: self._padded(len(ids[i])) for i in places}, self.model.wide))
        run = partial(self._run, network, ids)
        with self.single(), ThreadPoolExecutor(max(1, jobs)) as pool:
            for batch, rows in zip(batches, (pool.map if jobs > 1 else map)(run, batches), strict=True):
                yield from zip(batch, rows, strict=False)  # copies fill the batch up

    def check_finite(self, numbers: NDArray[np.float32]) -> None:
        """Refuse what a network that is not whole says.

        Args:
            numbers: Its numbers.

        Raises:
            InvalidInput: One of them is not finite.
        """
        if not np.isfinite(numbers).all():
            problem = "the network gives numbers that are not finite; was the folder copied whole?"
            raise InvalidInput(problem, where=self.where)

    def _padded(self, tokens: int) -> int:
        """Number of tokens that a text is padded to."""
        return min(-(-tokens // self.model.step) * self.model.step, max(tokens, self.model.longest))

    def _run(self, network: Network, ids: Sequence[list[int]], batch: list[int]) -> NDArray[np.float32]:
        length = self._padded(len(ids[batch[0]]))
        rows = np.full((max(len(batch), -(-self.narrow // length)), length), self.model.padding, dtype=np.int64)
        mask = np.zeros_like(rows)
        for row, place in enumerate(batch):
            rows[row, : len(ids[place])] = ids[place]
            mask[row, : len(ids[place])] = 1
        rows[len(batch) :], mask[len(batch) :] = rows[0], mask[0]
        with self.single():
            return network(rows, mask)


def _batches(lengths: Mapping[int, int], wide: int) -> Iterator[list[int]]:
    """Texts of one padded length, of about `wide` tokens together."""
    by_length: dict[int, list[int]] = {}
    for place, length in lengths.items():
        by_length.setdefault(length, []).append(place)
    for length, places in sorted(by_length.items()):
        size = -(-wide // length)
        for begin in range(0, len(places), size):
            yield places[begin : begin + size]
