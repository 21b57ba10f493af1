"""Document frequencies for CIDEr's idf: of the references at hand, saved from others, or counted on disk.

A hash of references by item tells them apart. Items, and the references of an item, come in any order and in any number
of parts; a reference that an item has twice counts once, as it does for document frequencies. Texts are hashed by their
words, whatever ids these have.

Of more references than memory holds they are counted on disk, order by order. An n-gram of two items is made of n-grams
of two items: a word is numbered if two items have it, a longer n-gram by the number of its first n - 1 words and its
last word, a key of at most 62 bits. Keys are sorted in files by their first bits, so that counts are exact and memory
holds one such file. The bits that a key leaves free take an item or a place: NumPy sorts plain integers ten times as
fast as it finds their order.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import msgspec
import numpy as np

from postil.data.arguments import check_arguments
from postil.data.arrays import WHOLE, Expected
from postil.data.artifacts import ArtifactKind, as_json, check_hash
from postil.data.atomic_file import FolderWriter, writing
from postil.errors import InvalidInput, Undefined, UsageError
from postil.kernel import count_grams, load_grams
from postil.messages import Blank, Hint, Setting
from postil.metrics.references import Frequencies, References, check_order, unknown_norms
from postil.text.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.text.tokenizers import Tokenizer

__all__ = ["BACKGROUND", "DIGITS", "DocumentFrequencies", "DocumentHash", "ExternalFrequencies", "frequencies_of"]

DIGITS: Final = 12
"""Number of hexadecimal digits of a hash in signatures."""
BLOCK: Final = 1 << 12
"""Number of texts that are hashed together, whose words fit the cache of a core."""
FACTOR: Final = 0xD1342543DE82EF95
INVERSE: Final = pow(FACTOR, -1, 1 << 64)
"""Its inverse modulo 2^64."""


class DocumentHash:
    """Hash of the references of items, part by part.

    >>> from postil.text.tokens import Vocabulary
    >>> whole, parts = DocumentHash(), DocumentHash()
    >>> tokens = Vocabulary().encode_tokens([["a", "b"], ["b"], ["b", "a"]])
    >>> whole.add(tokens, np.array([0, 0, 1]))
    >>> parts.add(Vocabulary().encode_tokens([["b", "a"]]), np.array([0]))
    >>> parts.add(Vocabulary().encode_tokens([["b"], ["a", "b"]]), np.array([0, 0]))
    >>> whole.digest() == parts.digest()
    True
    """

    def __init__(self) -> None:
        self._sum = 0
        self._items = 0
        self._words = np.zeros(0, np.uint64)
        self._vocabulary: object = None

    def add(self, tokens: Tokens, items: NDArray[np.int32] | NDArray[np.int64]) -> None:
        """Add the references of some items.

        Args:
            tokens: m references.
            items: [m], index of the item of each, ascending; all references of an item are there.
        """
        if not len(tokens):
            return
        if tokens.vocabulary is not self._vocabulary:
            self._vocabulary, self._words = tokens.vocabulary, np.zeros(0, np.uint64)
        self._words = np.concatenate([self._words, _hashes(tokens.vocabulary.words(len(self._words)))])
        texts = np.concatenate([self._texts(tokens, begin) for begin in range(0, len(tokens), BLOCK)])
        pairs = np.sort(texts + _mixed(items.astype(np.uint64)))
        if (pairs[1:] == pairs[:-1]).any():  # an item has a reference twice; to find which takes longer
            order = np.lexsort((texts, items))
            texts, items = texts[order], items[order]
            first = np.concatenate([[True], (texts[1:] != texts[:-1]) | (items[1:] != items[:-1])])
            texts, items = texts[first], items[first]
        ends = np.append(np.flatnonzero(items[1:] != items[:-1]) + 1, len(items))
        sums = np.diff(np.cumsum(_mixed(texts), dtype=np.uint64)[ends - 1], prepend=np.uint64(0))
        self._sum = (self._sum + int(_mixed(sums).sum(dtype=np.uint64))) % 2**64
        self._items += len(ends)

    def digest(self) -> str:
        """Hexadecimal digits for signatures."""
        return hashlib.sha256(f"{self._items}:{self._sum}".encode()).hexdigest()[:DIGITS]

    def _texts(self, tokens: Tokens, begin: int) -> NDArray[np.uint64]:
        """Hashes of a block of texts: polynomials of a factor, whose coefficients are their words' hashes."""
        offsets = tokens.offsets[begin : begin + BLOCK + 1]
        words = self._words[tokens.ids[offsets[0] : offsets[-1]]]
        sums = np.zeros(len(words) + 1, np.uint64)
        np.cumsum(words * _powers(FACTOR, len(words)), out=sums[1:])
        begins, ends = offsets[:-1] - offsets[0], offsets[1:] - offsets[0]
        # Powers count from the beginning of the block; those of a text from its own.
        own: NDArray[np.uint64] = (sums[ends] - sums[begins]) * _powers(INVERSE, len(words) + 1)[begins]
        own += np.diff(offsets).astype(np.uint64)
        return own


@cache
def _all_powers(factor: int, count: int) -> NDArray[np.uint64]:
    powers = np.full(count, factor, np.uint64)
    powers[0] = 1
    return np.asarray(np.cumprod(powers), np.uint64)


def _powers(factor: int, count: int) -> NDArray[np.uint64]:
    """Powers of a factor modulo 2^64, from the power 0 on."""
    return _all_powers(factor, 1 << count.bit_length())[:count]


def _hashes(words: Iterable[str]) -> NDArray[np.uint64]:
    """A hash of each word, which may hold a lone surrogate."""
    made = (hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words)
    return np.frombuffer(b"".join(made), "<u8").astype(np.uint64)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers whose bits all depend on all bits of the values (SplitMix64; Steele, Lea and Flood 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return mixed ^ mixed >> np.uint64(31)


CONFIG: Final = "config.json"
WORDS: Final = "words.json"
FOLDER: Final = ArtifactKind("a background", CONFIG, 1, "postil score --save-background")
FILES: Final = frozenset([CONFIG, WORDS, *(f"{name}-{n}.npy" for name in ("grams", "df") for n in range(1, 10))])
"""Names of the files of such a folder."""

BACKGROUND: Final = Setting("background", Blank("FOLDER"), python="postil.DocumentFrequencies.load(FOLDER)")
"""The setting of a saved background, for messages that advise one."""


class _Config(msgspec.Struct):
    """Fields of ``config.json``."""

    items: Annotated[int, msgspec.Meta(ge=2, le=2**63 - 1)]
    order: Annotated[int, msgspec.Meta(ge=1, le=9)]
    tokenizer: str
    hash: str


@dataclass(frozen=True, eq=False)
class DocumentFrequencies:
    """Document frequencies of n-grams: the number of items whose references contain each.

    Numbers with one background can be compared between test sets; without one, CIDEr changes with the set. N-grams of
    fewer than two items are not kept: document frequencies 0 and 1 give the same idf.

    Args:
        items: Number of items that were counted.
        tokenizer: Signature of the tokenizer that made the words.
        words: The words of all n-grams, sorted.
        grams: n-grams of each order n = 1, 2, …: int32[G, n], indices into ``words``, rows sorted.
        df: Document frequencies of each order: int32[G], at least 2.
        name: Name in signatures; by default the hash of the content.
        documents: Hash of the references that were counted, where these are a part of their frequencies.

    >>> from postil.metrics.references import References
    >>> from postil.text.tokens import Vocabulary
    >>> tokens = Vocabulary().encode_tokens([["a", "b"], ["a", "b", "c"], ["a"]])
    >>> background = DocumentFrequencies.of(References(tokens, np.array([0, 1, 2, 3])), "space", order=2)
    >>> background.words, [df.tolist() for df in background.df]  # a in 3 items, b and "a b" in 2
    (('a', 'b'), [[3, 2], [2]])
    """

    items: int
    tokenizer: str
    words: tuple[str, ...] = field(repr=False)
    grams: tuple[NDArray[np.int32], ...] = field(repr=False)
    df: tuple[NDArray[np.int32], ...] = field(repr=False)
    name: str = field(default="", kw_only=True)
    documents: str = field(default="", kw_only=True)

    @classmethod
    def of(cls, references: References, tokenizer: str, order: int = 4) -> DocumentFrequencies:
        """Count the n-grams of references, item by item.

        Args:
            references: The references; sets with the same ``items`` index count as one item.
            tokenizer: Signature of the tokenizer that made their tokens.
            order: Length of the longest n-gram, 1 to 9.

        Raises:
            UsageError: The order is out of range.
            Undefined: There is one item only.
        """
        check_order("background", order)
        counted = frequencies_of(references, order, None).grams
        tables = [counted.table(n) for n in range(1, order + 1)]
        known = references.tokens.vocabulary.words()
        used = np.unique(tables[0][0])
        by_word = sorted(used.tolist(), key=known.__getitem__)
        place = np.zeros(len(known), dtype=np.int32)
        place[by_word] = np.arange(len(by_word), dtype=np.int32)
        grams, df = [], []
        for words, counts in tables:
            rows = place[words]
            in_order = np.lexsort(rows.T[::-1])
            grams.append(np.ascontiguousarray(rows[in_order]))
            df.append(np.ascontiguousarray(counts[in_order]))
        return cls(counted.items, tokenizer, tuple(known[i] for i in by_word), tuple(grams), tuple(df))

    def check_tokenizer(self, tokenizer: Tokenizer, name: str = "the background") -> None:
        """Refuse a tokenizer other than the one whose words were counted.

        Args:
            tokenizer: The tokenizer.
            name: Name of these document frequencies in the message.

        Raises:
            UsageError: It is another one.
        """
        if self.tokenizer != tokenizer.signature:
            problem = f"{name} was counted with the tokenizer {self.tokenizer}, not {tokenizer.signature}"
            if self.tokenizer == "words":
                problem += ", which splits texts with combining marks otherwise; count the references again"
            raise UsageError(problem)

    @property
    def order(self) -> int:
        """Length of the longest n-gram that was counted."""
        return len(self.grams)

    @property
    def signature(self) -> str:
        """Part of signatures that names them."""
        return f"{self.name or self.hash}/{self.items}"

    @cached_property
    def hash(self) -> str:
        """First 12 hexadecimal digits of the SHA-256 of the content, for signatures."""
        counts = [len(df) for df in self.df]
        digest = hashlib.sha256(json.dumps([self.items, self.tokenizer, self.words, counts]).encode())
        for array in (*self.grams, *self.df):
            digest.update(np.ascontiguousarray(array, dtype="<i4").tobytes())
        return digest.hexdigest()[:DIGITS]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write a folder: ``config.json``, ``words.json`` and an array of n-grams and of frequencies for each order.

        The same content gives the same bytes. The folder is written atomically, in the place of an older one.

        Raises:
            UsageError: The folder cannot be made or replaced.
            PostilError: The operating system reports an error.
        """
        config = {
            "format": FOLDER.format,
            "items": self.items,
            "order": self.order,
            "tokenizer": self.tokenizer,
            "hash": self.hash,
        }
        with FolderWriter(folder, FILES) as new:
            for n, (grams, df) in enumerate(zip(self.grams, self.df, strict=True), start=1):
                new.array(f"grams-{n}", grams)
                new.array(f"df-{n}", df)
            # Escaped, because a word may hold a lone surrogate, which has no UTF-8 form.
            new.write(WORDS, json.dumps(self.words).encode())
            new.write(CONFIG, as_json(config, indent=2, escaped=True))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> DocumentFrequencies:
        """Read a folder that `save` wrote.

        Raises:
            InvalidInput: The folder is missing or incomplete, of another version, or its content was changed.
        """
        check_arguments(cls.load, locals())
        saved = FOLDER.open(folder)
        said, words = saved.read(CONFIG, _Config), tuple(saved.read(WORDS, list[str]))
        grams, df = [], []
        for n in range(1, said.order + 1):
            rows = Expected("int32", (None, n), low=0, high=len(words) - 1)
            grams.append(saved.array(f"grams-{n}", rows, mapped=False))
            counts = Expected("int32", (len(grams[-1]),), low=2, high=said.items)
            df.append(saved.array(f"df-{n}", counts, mapped=False))
        if len(set(words)) < len(words):
            raise InvalidInput(f"expected each word once; {WHOLE}", where=str(saved.path / WORDS))
        background = cls(said.items, said.tokenizer, words, tuple(grams), tuple(df))
        check_hash(str(saved.path / CONFIG), said.hash, background.hash)
        return background


def frequencies_of(references: References, order: int, background: DocumentFrequencies | None) -> Frequencies:
    """Find the frequencies that a metric needs for these references, once for all metrics.

    Raises:
        Undefined: There is one item only and no background: every idf would be 0.
        UsageError: The background is too short, or comes too late for this vocabulary.
    """
    key = (background, order)
    if key not in references.frequencies:
        if background is None:
            references.frequencies[key] = _own(references, order)
        else:
            references.frequencies[key] = _saved(references, order, background)
    return references.frequencies[key]


def _own(references: References, order: int) -> Frequencies:
    tokens = references.tokens
    grams = count_grams(tokens.ids, tokens.offsets, references.offsets, references.items, order)
    if grams.items < 2:
        raise Undefined(
            "CIDEr needs document frequencies from at least two items, got one: every idf would be 0; score more items "
            "together{saved}",
            saved=Hint(", or give a saved background: {background}", background=BACKGROUND),
        )
    counted = DocumentHash()
    counted.add(tokens, np.repeat(references.items, np.diff(references.offsets)))
    return Frequencies(grams, unknown_norms(tokens, order), f"references/{grams.items}", counted.digest())


def _saved(references: References, order: int, background: DocumentFrequencies) -> Frequencies:
    if background.order < order:
        raise UsageError(f"expected a background with n-grams up to {order}, got one up to {background.order}")
    vocabulary = references.tokens.vocabulary
    try:
        ids = vocabulary.encode_tokens([background.words]).ids
    except ValueError as error:
        raise UsageError("bind metrics with a background before the first candidates are encoded") from error
    words = [np.ascontiguousarray(ids[grams]) for grams in background.grams[:order]]
    try:
        grams = load_grams(background.items, words, list(background.df[:order]))
    except ValueError as error:
        raise InvalidInput(f"{error}; {WHOLE}", where=f"background {background.hash}") from error
    return Frequencies(grams, unknown_norms(references.tokens, order), background.signature, background.documents)


BITS: Final = 6
"""Number of the first bits of a key that choose its file."""
MIX: Final = 0x9E3779B97F4A7C15
"""An odd factor: keys stay distinct, and their first bits are spread."""
K = TypeVar("K", "np.int32", "np.uint64")
RECORD: Final = [("key", "<u8"), ("df", "<i4")]


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
        return DocumentFrequencies(
            self.items,
            self._tokenizer.signature,
            tuple(words[i] for i in used.tolist()),
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
                    rows = np.empty(len(found), RECORD)
                    rows["key"], rows["df"] = found, df
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

    def _written(self) -> AbstractContextManager[None]:
        return writing(f"{self._folder} (a folder for temporary files; TMPDIR names another)")


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
