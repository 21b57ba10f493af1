"""Document frequencies of more references than memory holds, counted on disk, order by order.

An n-gram of two items is made of n-grams of two items: a word is numbered if two items have it, a longer n-gram by the
number of its first n - 1 words and its last word, a key of 64 bits. Keys are sorted in files by their first bits, so
that counts are exact and memory holds one such file.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from postil.errors import Undefined
from postil.metrics.background import DocumentFrequencies
from postil.metrics.references import check_order
from postil.records.atomic_file import write_error
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.text.tokenizers import Tokenizer

__all__ = ["ExternalFrequencies"]

BITS: Final = 6
"""Number of the first bits of a key that choose its file."""
BOUNDS: Final = np.arange(1, 1 << BITS, dtype=np.uint64) << np.uint64(64 - BITS)
MIX: Final = np.uint64(0x9E3779B97F4A7C15)
"""An odd factor: keys stay distinct, and their first bits are spread."""
K = TypeVar("K", np.int32, np.uint64)
RECORD: Final = np.dtype([("key", "<u8"), ("df", "<i4")])


@dataclass(frozen=True, eq=False, slots=True)
class _Order:
    """The n-grams of an order from 2 on that two items have: their number is the index of their key, in files."""

    keys: NDArray[np.uint64]
    df: NDArray[np.int32]

    def numbers(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Numbers of n-grams by sorted keys; -1 of those that fewer than two items have."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int32)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1).astype(np.int32)


class ExternalFrequencies:
    """Document frequencies of references that come block by block; the counts lie in a folder.

    Args:
        folder: An empty folder for the counts, about 25 bytes per word of the references.
        tokenizer: The tokenizer.
        order: Length of the longest n-gram, 1 to 9.
        jobs: Number of threads of the tokenizer; no number depends on it.

    Raises:
        UsageError: The order is out of range.

    >>> import tempfile
    >>> from postil.text import tokenizer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     counted = ExternalFrequencies(folder, tokenizer("space"), order=2)
    ...     counted.add(["a b", "a b c", "a", "x y"], [2, 2])
    ...     counted.add(["c a b"], [1])
    ...     counted.count(lambda name: None)
    ...     found = counted.of(["a b d"])
    >>> found.words, [df.tolist() for df in found.df], found.signature  # a in 3 items, b and "a b" in 2
    (('a', 'b'), [[3, 2], [2]], 'references/3')
    """

    def __init__(self, folder: str, tokenizer: Tokenizer, order: int, jobs: int = 1) -> None:
        check_order("background", order)
        self.order = order
        """Length of the longest n-gram."""
        self.items = 0
        """Number of items so far."""
        self._folder = Path(folder)
        self._tokenizer = tokenizer
        self._jobs = jobs
        self._vocabulary = Vocabulary()
        self._blocks = 0
        self._df = np.zeros(0, np.int32)
        self._orders: list[_Order] = []

    def add(self, texts: Sequence[str], sizes: Sequence[int]) -> None:
        """Add the references of some items: their words are counted, and kept for the longer n-grams.

        Args:
            texts: The references, item after item.
            sizes: Number of the references of each item.

        Raises:
            PostilError: The disk is full.
        """
        tokens = self._vocabulary.encode(texts, self._tokenizer, self._jobs, allow_han=True)
        item = np.repeat(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), tokens.lengths)
        words, df = _distinct(tokens.ids, item)
        self._df = np.concatenate([self._df, np.zeros(len(self._vocabulary) - len(self._df), np.int32)])
        self._df[words] += df
        begins = _begins(tokens.offsets)
        with self._written(), (self._folder / "blocks").open("ab") as file:
            for array in (tokens.ids, item, begins):
                np.save(file, array)
        self._blocks += 1
        self.items += len(sizes)

    def count(self, begin: Callable[[str], None]) -> None:
        """Count the n-grams from order 2 on, when all references were added.

        Args:
            begin: Callback at the beginning of each order, with a name for a progress bar.

        Raises:
            Undefined: There is one item only: every idf would be 0.
            PostilError: The disk is full.
        """
        if self.items < 2:
            raise Undefined("CIDEr needs document frequencies from at least two items, got one")
        for n in range(2, self.order + 1):
            begin(f"document frequencies of {n}-grams")
            with self._written():
                self._spill(n)
                self._orders.append(self._merge(n))

    def of(self, texts: Sequence[str]) -> DocumentFrequencies:
        """Find the document frequencies of the n-grams of some texts.

        Args:
            texts: References and candidates; all others' n-grams are left out.
        """
        tokens = Vocabulary().encode(texts, self._tokenizer, self._jobs, allow_han=True)
        words = tokens.vocabulary.words()
        known = self._frequent(self._vocabulary.branch().encode_tokens([words]).ids)
        used = np.flatnonzero(known >= 0)
        place = np.full(len(words), -1, np.int32)
        place[used] = np.arange(len(used))
        local, numbers = place[tokens.ids], known[tokens.ids]
        last, begins = numbers, _begins(tokens.offsets)
        grams, df = [np.arange(len(used), dtype=np.int32)[:, None]], [self._df[known[used]]]
        for n, order in enumerate(self._orders, start=2):
            ends, keys = _keys(numbers, last, begins)
            distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
            found = order.numbers(distinct)
            kept = found >= 0
            grams.append(local[ends[first[kept], None] + np.arange(1 - n, 1)])
            df.append(order.df[found[kept]])
            numbers = np.full(len(last), -1, np.int32)
            numbers[ends] = found[inverse]
        names = tuple(words[i] for i in used.tolist())
        return DocumentFrequencies(
            self.items, self._tokenizer.signature, names, tuple(grams), tuple(df), name="references"
        )

    def _frequent(self, words: NDArray[np.int32]) -> NDArray[np.int32]:
        """Ids of words, -1 in place of those that fewer than two items have."""
        df = np.concatenate([self._df, [0]])
        return np.where(df[np.minimum(words, len(self._df))] > 1, words, -1).astype(np.int32)

    def _spill(self, n: int) -> None:
        """Number the places of (n-1)-grams, and write the keys of n-grams into files by their first bits."""
        with ExitStack() as stack:
            parts = [stack.enter_context((self._folder / f"part-{i}").open("wb")) for i in range(1 << BITS)]
            blocks = stack.enter_context((self._folder / "blocks").open("rb"))
            before = stack.enter_context((self._folder / f"ends-{n - 1}").open("rb")) if n > 2 else None
            after = stack.enter_context((self._folder / f"ends-{n}").open("wb"))
            for _ in range(self._blocks):
                ids, item, begins = (np.load(blocks) for _ in range(3))
                last = self._frequent(ids)
                numbers = last if before is None else self._numbers(np.load(before), last, begins)
                if n < self.order:
                    np.save(after, numbers)
                ends, keys = _keys(numbers, last, begins)
                rows = _rows(*_distinct(keys, item[ends]))
                for part, own in zip(parts, np.split(rows, np.searchsorted(rows["key"], BOUNDS)), strict=True):
                    part.write(own.tobytes())
        (self._folder / f"ends-{n - 1}").unlink(missing_ok=True)

    def _numbers(
        self, before: NDArray[np.int32], last: NDArray[np.int32], begins: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        """Number of the n-gram that ends at each token, in the last order that was counted; see `_keys`."""
        ends, keys = _keys(before, last, begins)
        distinct, inverse = np.unique(keys, return_inverse=True)
        numbers = np.full(len(last), -1, np.int32)
        numbers[ends] = self._orders[-1].numbers(distinct)[inverse]
        return numbers

    def _merge(self, n: int) -> _Order:
        """Sort and sum the files of an order one by one; they follow one another in the order of keys."""
        with (self._folder / f"keys-{n}").open("wb") as keys, (self._folder / f"df-{n}").open("wb") as counts:
            for i in range(1 << BITS):
                path = self._folder / f"part-{i}"
                rows = np.fromfile(path, RECORD)
                path.unlink()
                if not len(rows):
                    continue
                order = np.argsort(rows["key"])
                sorted_keys = rows["key"][order]
                starts = np.flatnonzero(np.concatenate([[True], np.diff(sorted_keys) != 0]))
                df = np.add.reduceat(rows["df"][order], starts, dtype=np.int32)
                keys.write(sorted_keys[starts[df > 1]].tobytes())
                counts.write(df[df > 1].tobytes())
        return _Order(_mapped(self._folder / f"keys-{n}", np.uint64), _mapped(self._folder / f"df-{n}", np.int32))

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise write_error(f"{self._folder} (a folder for temporary files; TMPDIR names another)", error) from error


def _mapped(path: Path, dtype: type[K]) -> NDArray[K]:
    """An array in a file, whose pages the system may drop from memory."""
    return np.asarray(np.memmap(path, dtype, "r")) if path.stat().st_size else np.zeros(0, dtype)


def _begins(offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mask of the tokens that are the first of their text."""
    mask = np.zeros(offsets[-1], np.bool_)
    mask[offsets[:-1][np.diff(offsets) > 0]] = True
    return mask


def _keys(
    numbers: NDArray[np.int32], last: NDArray[np.int32], begins: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Places where an n-gram ends that two items may have, and its key.

    Args:
        numbers: Number of the (n-1)-gram that ends at each token; -1 of one that fewer than two items have.
        last: Number of each token.
        begins: Mask of the first tokens of texts.
    """
    ends = np.flatnonzero((numbers[:-1] >= 0) & (numbers[1:] >= 0) & ~begins[1:]) + 1
    keys = numbers[ends - 1].astype(np.uint64) << np.uint64(32) | last[ends].astype(np.uint64)
    return ends, keys * MIX


def _rows(keys: NDArray[np.uint64], df: NDArray[np.int32]) -> NDArray[np.void]:
    rows = np.empty(len(keys), RECORD)
    rows["key"], rows["df"] = keys, df
    return rows


def _distinct(keys: NDArray[K], item: NDArray[np.int32]) -> tuple[NDArray[K], NDArray[np.int32]]:
    """The distinct keys, sorted, and the number of items that have each; items are in their order."""
    if not len(keys):
        return keys, np.zeros(0, np.int32)
    order = np.argsort(keys, kind="stable")
    keys, item = keys[order], item[order]
    new = np.concatenate([[True], keys[1:] != keys[:-1]])
    counted = new | np.concatenate([[True], item[1:] != item[:-1]])
    starts = np.flatnonzero(new)
    return keys[starts], np.add.reduceat(counted, starts, dtype=np.int32)
