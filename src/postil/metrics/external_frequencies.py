"""Document frequencies of more references than memory holds, counted on disk, order by order.

An n-gram of two items is made of n-grams of two items: a word is numbered if two items have it, a longer n-gram by the
number of its first n - 1 words and its last word, a key of at most 62 bits. Keys are sorted in files by their first
bits, so that counts are exact and memory holds one such file. The bits that a key leaves free take an item or a place:
NumPy sorts plain integers ten times as fast as it finds their order.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from postil.data.atomic_file import write_error
from postil.errors import Undefined
from postil.metrics.background import DocumentFrequencies
from postil.metrics.document_hash import DocumentHash
from postil.metrics.references import check_order
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.text.tokenizers import Tokenizer

__all__ = ["ExternalFrequencies"]

BITS: Final = 6
"""Number of the first bits of a key that choose its file."""
MIX: Final = np.uint64(0x9E3779B97F4A7C15)
"""An odd factor: keys stay distinct, and their first bits are spread."""
K = TypeVar("K", np.int32, np.uint64)
RECORD: Final = np.dtype([("key", "<u8"), ("df", "<i4")])


@dataclass(frozen=True, slots=True)
class _Keys:
    """Keys of the n-grams of an order: the number of the first n - 1 words, and the last word.

    Args:
        low: Number of bits of the last word.
        bits: Number of bits of a key.
    """

    low: int
    bits: int

    @classmethod
    def of(cls, heads: int, words: int) -> _Keys:
        """Find the bits of keys, given the numbers of (n-1)-grams and of words."""
        low = words.bit_length()
        return cls(low, max(heads.bit_length() + low, BITS))

    @property
    def bounds(self) -> NDArray[np.uint64]:
        """Keys with which the files from the second on begin."""
        return np.arange(1, 1 << BITS, dtype=np.uint64) << np.uint64(self.bits - BITS)

    def ends(
        self, numbers: NDArray[np.int32], last: NDArray[np.int32], begins: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Places where an n-gram ends that two items may have, and its key.

        Args:
            numbers: Number of the (n-1)-gram that ends at each token; -1 of one that fewer than two items have.
            last: Number of each token.
            begins: Mask of the first tokens of texts.
        """
        ends = np.flatnonzero((numbers[:-1] >= 0) & (numbers[1:] >= 0) & ~begins[1:]) + 1
        keys = numbers[ends - 1].astype(np.uint64) << np.uint64(self.low) | last[ends].astype(np.uint64)
        return ends, keys * MIX & np.uint64((1 << self.bits) - 1)


@dataclass(frozen=True, eq=False, slots=True)
class _Order:
    """The n-grams of an order from 2 on that two items have: their number is the index of their key, in files."""

    made: _Keys
    keys: NDArray[np.uint64]
    df: NDArray[np.int32]

    def numbers(
        self, before: NDArray[np.int32], last: NDArray[np.int32], begins: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        """Number of the n-gram that ends at each token, -1 of one that fewer than two items have; see `_Keys.ends`."""
        numbers = np.full(len(last), -1, np.int32)
        if not len(self.keys):
            return numbers
        ends, keys = self.made.ends(before, last, begins)
        free = np.uint64(64 - self.made.bits)
        for first in range(0, len(keys), 1 << int(free)):
            # In order, as the search in the files is then from page to page.
            wanted, place = _ordered(keys[first : first + (1 << int(free))], free)
            at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
            numbers[ends[first:][place]] = np.where(self.keys[at] == wanted, at, -1)
        return numbers


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
    >>> from postil.text.tokenizers import tokenizer
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
        self._hash = DocumentHash()
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
        of_text = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        self._hash.add(tokens, of_text)
        item = np.repeat(of_text, tokens.lengths)
        self._df = np.concatenate([self._df, np.zeros(len(self._vocabulary) - len(self._df), np.int32)])
        for words, df in _distinct(tokens.ids.astype(np.uint64), item, 32):
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
            made = _Keys.of(len(self._orders[-1].keys) if self._orders else len(self._df), len(self._df))
            with self._written():
                self._spill(n, made)
                self._orders.append(self._merge(n, made))

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
            numbers = order.numbers(numbers, last, begins)
            found, first = _first_places(numbers)
            grams.append(local[first[:, None] + np.arange(1 - n, 1)])
            df.append(order.df[found])
        names = tuple(words[i] for i in used.tolist())
        return DocumentFrequencies(
            self.items,
            self._tokenizer.signature,
            names,
            tuple(grams),
            tuple(df),
            name="references",
            documents=self._hash.digest(),
        )

    def _frequent(self, words: NDArray[np.int32]) -> NDArray[np.int32]:
        """Ids of words, -1 in place of those that fewer than two items have."""
        df = np.concatenate([self._df, [0]])
        return np.where(df[np.minimum(words, len(self._df))] > 1, words, -1).astype(np.int32)

    def _spill(self, n: int, made: _Keys) -> None:
        """Number the places of (n-1)-grams, and write the keys of n-grams into files by their first bits."""
        with ExitStack() as stack:
            parts = [stack.enter_context((self._folder / f"part-{i}").open("wb")) for i in range(1 << BITS)]
            blocks = stack.enter_context((self._folder / "blocks").open("rb"))
            before = stack.enter_context((self._folder / f"ends-{n - 1}").open("rb")) if n > 2 else None
            after = stack.enter_context((self._folder / f"ends-{n}").open("wb"))
            for _ in range(self._blocks):
                ids, item, begins = (np.load(blocks) for _ in range(3))
                last = self._frequent(ids)
                numbers = last if before is None else self._orders[-1].numbers(np.load(before), last, begins)
                if n < self.order:
                    np.save(after, numbers)
                ends, keys = made.ends(numbers, last, begins)
                for found, df in _distinct(keys, item[ends], made.bits):
                    rows = _rows(found, df)
                    for part, own in zip(parts, np.split(rows, np.searchsorted(found, made.bounds)), strict=True):
                        part.write(own.tobytes())
        (self._folder / f"ends-{n - 1}").unlink(missing_ok=True)

    def _merge(self, n: int, made: _Keys) -> _Order:
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
        return _Order(
            made=made,
            keys=_mapped(self._folder / f"keys-{n}", np.uint64),
            df=_mapped(self._folder / f"df-{n}", np.int32),
        )

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


def _ordered(keys: NDArray[np.uint64], free: np.uint64) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Keys in their order and the place of each; `free` first bits of a key are 0, and enough for a place."""
    pairs = np.sort(keys << free | np.arange(len(keys), dtype=np.uint64))
    return pairs >> free, (pairs & ((np.uint64(1) << free) - np.uint64(1))).astype(np.int64)


def _first_places(numbers: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct numbers from 0, sorted, and the first place of each."""
    at = np.flatnonzero(numbers >= 0)
    found, place = _ordered(numbers[at].astype(np.uint64), np.uint64(32))
    new = np.flatnonzero(np.diff(found, prepend=np.uint64(1 << 32)))
    return found[new].astype(np.int64), at[place[new]]


def _rows(keys: NDArray[np.uint64], df: NDArray[np.int32]) -> NDArray[np.void]:
    rows = np.empty(len(keys), RECORD)
    rows["key"], rows["df"] = keys, df
    return rows


def _distinct(
    keys: NDArray[np.uint64], item: NDArray[np.int32], bits: int
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.int32]]]:
    """Distinct keys, sorted, and the number of items of each, for as many items at a time as keys leave bits for.

    Args:
        keys: Keys.
        item: The item of each, in their order.
        bits: Number of bits of a key.
    """
    free = np.uint64(64 - bits)
    begin = 0
    while begin < len(keys):
        end = int(np.searchsorted(item, int(item[begin]) + (1 << int(free))))
        own = (item[begin:end] - item[begin]).astype(np.uint64)
        pairs = np.sort(keys[begin:end] << free | own)
        pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])] >> free
        starts = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]]))
        yield pairs[starts], np.diff(starts, append=len(pairs)).astype(np.int32)
        begin = end
