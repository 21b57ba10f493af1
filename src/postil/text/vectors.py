"""Word vectors: the folder that they are kept in, and their sums for the words of texts.

| file | content |
|---|---|
| ``vectors.npy`` | float32[V, d], one row per word, little-endian |
| ``words.txt`` | a word a line, in UTF-8 |
| ``metadata.json`` | how they were made: spec, seed, hash of the data, versions; number of words and dimensions, hash |

A folder is written batch by batch in bounded memory.
"""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from postil.data.arrays import WHOLE, Expected
from postil.data.artifacts import ArtifactKind, as_json, check_hash, lines_of
from postil.data.atomic_file import FolderWriter
from postil.errors import InvalidInput, Undefined, UsageError
from postil.kernel.unicode_forms import normalized
from postil.text.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = [
    "FILES",
    "FORMAT",
    "METADATA",
    "VECTORS",
    "WORDS",
    "ContentHash",
    "Sieve",
    "Sums",
    "Vectors",
    "VectorsWriter",
    "as_written",
    "summed_rows",
]

FORMAT: Final = 2
VECTORS: Final = "vectors.npy"
WORDS: Final = "words.txt"
METADATA: Final = "metadata.json"
FILES: Final = frozenset({VECTORS, WORDS, METADATA})
"""Names of the files of such a folder."""
KIND: Final = ArtifactKind("word vectors", METADATA, FORMAT, "postil vectors train or postil vectors convert")


class Sieve:
    """Refuses, or leaves out, words that cannot be kept: not UTF-8, met before, or with numbers that are not finite.

    Args:
        skip_bad: Leave them out and count them, instead of refusing.

    >>> sieve = Sieve(skip_bad=True)
    >>> words, _ = sieve(["a", "b", "a", "c"], np.array([[1], [np.nan], [2], [3]], dtype=np.float32))
    >>> words, sieve.left_out
    (['a', 'c'], {'not UTF-8': 0, 'met before': 1, 'not finite': 1})
    """

    def __init__(self, *, skip_bad: bool = False) -> None:
        self.left_out = {"not UTF-8": 0, "met before": 0, "not finite": 0}
        self._skip_bad = skip_bad
        self._met = Vocabulary()
        self._done = 0

    def __call__(self, words: Sequence[str], vectors: NDArray[np.float32]) -> tuple[Sequence[str], NDArray[np.float32]]:
        """The words that can be kept, with their vectors.

        Args:
            words: The next words.
            vectors: Their vectors, float32[words, d].

        Raises:
            InvalidInput: A word cannot be kept; ``line`` counts all words so far from 1.
        """
        none = np.zeros(len(words), dtype=bool)
        highest = len(self._met) - 1
        ids = self._met.encode_tokens([words]).ids
        bad = {
            "not UTF-8": none if lines_of(words) else np.array([not lines_of([word]) for word in words], dtype=bool),
            # A new word has the next free id, so that the id of one met before is not above all that came earlier.
            "met before": ids <= np.maximum.accumulate(np.concatenate([[highest], ids]))[:-1],
            "not finite": np.asarray(~np.isfinite(vectors).all(axis=1)),
        }
        keep = np.ones(len(words), dtype=bool)
        for places in bad.values():
            keep &= ~places
        for index in np.flatnonzero(~keep).tolist():
            kind = next(kind for kind, places in bad.items() if places[index])
            if not self._skip_bad:
                raise InvalidInput(_problem(kind, words[index], vectors[index]), line=self._done + index + 1)
            self.left_out[kind] += 1
        self._done += len(words)
        if keep.all():
            return words, vectors
        return [word for word, kept in zip(words, keep.tolist(), strict=True) if kept], vectors[keep]


def _problem(kind: str, word: str, vector: NDArray[np.float32]) -> str:
    if kind == "not UTF-8":
        try:
            shown = repr(word.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError:  # a surrogate that stands for no byte of a file
            shown = ascii(word)
        return f"expected a word in UTF-8, on one line, got {shown}"
    if kind == "met before":
        return f"the word {word!r} comes a second time"
    odd = vector[~np.isfinite(vector)][0]
    return f"expected finite numbers, got {odd} in the vector of {word!r}"


class ContentHash:
    r"""A hash of words and vectors, which does not depend on how they are cut into batches.

    >>> whole, parts = ContentHash(), ContentHash()
    >>> whole.add(b"a\nb\n", np.array([[1], [2]], dtype=np.float32))
    >>> parts.add(b"a\n", np.array([[1]], dtype=np.float32))
    >>> parts.add(b"b\n", np.array([[2]], dtype=np.float32))
    >>> whole.digest() == parts.digest()
    True
    """

    def __init__(self) -> None:
        self._words, self._vectors = hashlib.sha256(), hashlib.sha256()

    def add(self, lines: bytes, vectors: NDArray[np.float32]) -> None:
        """Take the next words and their vectors.

        Args:
            lines: The words as they stand in ``words.txt``.
            vectors: float32[words, d].
        """
        self._words.update(lines)
        self._vectors.update(np.ascontiguousarray(vectors, dtype="<f4").data)

    def digest(self) -> str:
        """12 hexadecimal digits."""
        return hashlib.sha256(self._words.digest() + self._vectors.digest()).hexdigest()[:12]


class VectorsWriter(FolderWriter):
    """Writes a folder of word vectors as they come; memory grows with the words alone.

    The folder appears whole after `commit`, in the place of an older one; without it nothing changes.

    Args:
        folder: The folder to make. One that is there must be empty or hold word vectors, which are replaced.
        dimensions: d.
        skip_bad: Leave out words that cannot be kept (see `Sieve`), instead of refusing.

    Raises:
        UsageError: The folder cannot be made or replaced.
        PostilError: The operating system reports an error.
    """

    def __init__(self, folder: str | os.PathLike[str], dimensions: int, *, skip_bad: bool = False) -> None:
        super().__init__(folder, FILES)
        self.wanted = False
        self.dimensions = dimensions
        self.count = 0
        self.sieve = Sieve(skip_bad=skip_bad)
        self._hash = ContentHash()
        self._held = ExitStack()

    def __enter__(self) -> Self:
        super().__enter__()
        self._vectors, self._words = (self._held.enter_context(self.path(name).open("xb")) for name in (VECTORS, WORDS))
        self._write_head()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._held:
            super().__exit__(kind, error, trace)

    def add(self, words: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Write the next words.

        Args:
            words: The words.
            vectors: Their vectors, float32[words, d].

        Raises:
            InvalidInput: A word cannot be kept; ``line`` counts the words from 1.
        """
        words, vectors = self.sieve(words, vectors)
        lines = lines_of(words)
        block = np.ascontiguousarray(vectors, dtype="<f4")
        self._hash.add(lines, block)
        self.count += len(words)
        self._words.write(lines)
        self._vectors.write(block.data)

    @property
    def left_out(self) -> dict[str, int]:
        """Number of words left out, by reason."""
        return {kind: count for kind, count in self.sieve.left_out.items() if count}

    def commit(self, metadata: Mapping[str, object]) -> None:
        """Write ``metadata.json``, and let the folder appear at the end of the block.

        Args:
            metadata: Description of the training. The format, the numbers of words and dimensions, what was left out
                and the hash are added.

        Raises:
            InvalidInput: There are no words.
        """
        if not self.count:
            raise InvalidInput("there are no words to keep")
        whole = {"format": FORMAT, **metadata, **({"left_out": self.left_out} if self.left_out else {})}
        whole |= {"words": self.count, "dimensions": self.dimensions, "hash": self._hash.digest()}
        self._vectors.seek(0)
        self._write_head()
        self._held.close()
        self.write(METADATA, as_json(whole, indent=2))
        self.wanted = True

    def _write_head(self) -> None:
        # NumPy leaves room for a longer shape, so that the head of the finished file fits in the place of the first.
        head = {"descr": "<f4", "fortran_order": False, "shape": (self.count, self.dimensions)}
        np.lib.format.write_array_header_1_0(self._vectors, head)


COMPOSING: Final = "words-2"
"""The tokenizer whose tokens are composed (NFC) and without soft hyphens as well."""
LOWERING: Final = frozenset({COMPOSING, "words", "rouge", "ptb"})
"""Tokenizers whose tokens are in lower case."""


def as_written(tokens: Tokens) -> Tokens:
    """The tokens of texts as they stand there, one for each token.

    A token that does not stand in its text, such as a bracket of ptb, stays as it is; and so do all tokens where the
    texts were not kept, or the tokenizer does not lower-case.

    Args:
        tokens: n texts.

    >>> from postil.text.tokenizers import tokenizer
    >>> tokens = Vocabulary().encode(["Rice and rice (NASA's)"], tokenizer("words"), keep_texts=True)
    >>> tokens.words(0), as_written(tokens).words(0)
    (['rice', 'and', 'rice', 'nasa', 's'], ['Rice', 'and', 'rice', 'NASA', 's'])
    """
    if tokens.texts is None or tokens.tokenizer is None or tokens.tokenizer.name not in LOWERING:
        return tokens
    known, bounds = tokens.vocabulary.words(), pairwise(tokens.offsets.tolist())
    composed = tokens.tokenizer.name == COMPOSING
    forms = [
        _forms(
            normalized("NFC", text.replace("\xad", "")) if composed else text,
            [known[i] for i in tokens.ids[begin:end].tolist()],
        )
        for text, (begin, end) in zip(tokens.texts, bounds, strict=True)
    ]
    return Vocabulary().encode_tokens(forms)


def _forms(text: str, tokens: Sequence[str]) -> Sequence[str]:
    """The tokens of one text as they stand there."""
    lowered = text.lower()
    if lowered == text:
        return tokens
    # Some letters, such as the Turkish capital I with a dot, become two characters, which a token may part.
    place = range(len(lowered) + 1) if len(lowered) == len(text) else _places(text)
    found, at = [], 0
    for token in tokens:
        begin = lowered.find(token, at)
        at = at if begin < 0 else begin + len(token)
        form = token if begin < 0 else text[place[begin] : place[at]]
        found.append(form if len(form.lower()) == len(token) else token)
    return found


def _places(text: str) -> list[int]:
    """The place in a text of each character of its lower-case form, and its end."""
    places = [place for place, character in enumerate(text) for _ in character.lower()]
    return [*places, len(text)]


BLOCK: Final = 8192
"""Number of vectors that are compared together."""
SUMMED: Final = 512
"""Number of vectors that are summed together: few enough for the cache."""


@dataclass(frozen=True, eq=False, slots=True)
class Sums:
    """The summed vectors of n texts.

    Args:
        vectors: float64[n, d]; zeros where no unit of a text has a vector.
        known: int64[n], how many units of each text have a vector, repeats included.
        totals: int64[n], how many units each text has.
    """

    vectors: NDArray[np.float64]
    known: NDArray[np.int64]
    totals: NDArray[np.int64]

    @property
    def unknown(self) -> float:
        """The share of the units of all texts that have no vector, 0 to 1; 0 where there are no units."""
        units = int(self.totals.sum())
        return 1 - int(self.known.sum()) / units if units else 0.0


@dataclass(frozen=True, eq=False)
class Vectors:
    """A vector for each of V words.

    Args:
        words: V words, each once. In a model over bigrams a word is two words joined with ``_``.
        array: float32[V, d], one row per word; memory-mapped where it comes from a folder.
        metadata: Description of their training; ``"bigrams": True`` in it says that the words are bigrams.

    Raises:
        InvalidInput: The shapes do not fit.

    >>> from postil.text.tokens import Vocabulary
    >>> vectors = Vectors(("rain", "snow"), np.array([[1, 0], [1, 2]], dtype=np.float32))
    >>> sums = vectors.sums(Vocabulary().encode_tokens([["rain", "and", "snow"], []]))
    >>> sums.vectors.tolist(), sums.known.tolist(), sums.totals.tolist()
    ([[2.0, 2.0], [0.0, 0.0]], [2, 0], [3, 0])
    """

    words: tuple[str, ...] = field(repr=False)
    array: NDArray[np.float32] = field(repr=False)
    metadata: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if self.array.ndim != 2 or self.array.dtype != np.float32:
            shape = f"{self.array.dtype}{list(self.array.shape)}"
            raise InvalidInput(f"expected float32 in rows, got {shape}", where="vectors")
        if len(self.words) != len(self.array):
            raise InvalidInput(f"expected one row per word, got {len(self.array)} rows for {len(self.words)} words")

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dimensions(self) -> int:
        """Length of a vector, d."""
        return int(self.array.shape[1])

    @property
    def bigrams(self) -> bool:
        """True if the words are bigrams, so that texts are looked up by pairs of adjacent words."""
        return bool(self.metadata.get("bigrams", False))

    @cached_property
    def cased(self) -> bool:
        """True if some word has upper-case letters, so that words are looked up as they stand in texts."""
        return any(word != word.lower() for word in self.words)

    @cached_property
    def hash(self) -> str:
        """12 hexadecimal digits of a SHA-256 of words and vectors: as ``metadata.json`` says it, else computed."""
        said = self.metadata.get("hash")
        return said if isinstance(said, str) else self._computed_hash()

    @property
    def signature(self) -> str:
        """Their entry in signatures of scores, for example ``3000000x300-0123456789ab``."""
        return f"{len(self)}x{self.dimensions}{'-bigrams' if self.bigrams else ''}-{self.hash}"

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Vectors:
        """Open a folder of word vectors; the array stays on disk, its rows are read when they are needed.

        Args:
            folder: The folder, as `save`, ``postil vectors train`` or ``postil vectors convert`` write it.

        Raises:
            InvalidInput: The folder is missing or incomplete, of another version, or its parts do not fit together.
        """
        found = KIND.open(folder)
        words = found.lines(WORDS)
        array = found.array("vectors", Expected("float32", (len(words), None)))
        return cls(tuple(words), np.asarray(array), MappingProxyType(dict(found.head)))

    def save(self, folder: str | os.PathLike[str], metadata: Mapping[str, object] | None = None) -> None:
        """Write a folder (see `postil.text.vectors`); the same content gives the same bytes.

        Args:
            folder: The folder to make. One that is there must be empty or hold word vectors, which are replaced.
            metadata: Entries to add to ``metadata.json``.

        Raises:
            InvalidInput: There are no words, a word comes twice or cannot stand on a line of UTF-8, or a number is not
                finite. ``line`` counts words from 1.
            UsageError: The folder cannot be made or replaced.
            PostilError: The operating system reports an error.
        """
        with VectorsWriter(folder, self.dimensions) as writer:
            for begin, block in self._blocks():
                writer.add(self.words[begin : begin + len(block)], block)
            writer.commit({**self.metadata, **(metadata or {})})

    def check(self) -> None:
        """Read everything and see that it still is what was written.

        Raises:
            InvalidInput: The content does not fit the hash in ``metadata.json``.
        """
        check_hash("", self.hash, self._computed_hash())

    def lookup(self, vocabulary: Vocabulary) -> NDArray[np.int64]:
        """For each word of a vocabulary its row, or -1; int64[words].

        A word is looked up as it stands, and where it has no vector in lower case. The first call goes through all V
        words once.

        >>> from postil.text.tokens import Vocabulary
        >>> vocabulary = Vocabulary()
        >>> _ = vocabulary.encode_tokens([["snow", "Snow", "Rain", "fog"]])
        >>> Vectors(("Rain", "rain", "snow"), np.zeros((3, 1), dtype=np.float32)).lookup(vocabulary).tolist()
        [2, 2, 0, -1]
        """
        return self._rows_in_any_case(vocabulary.words())

    def units(self, tokens: Tokens) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of each text's words, or of its pairs of adjacent words in a model over bigrams.

        Args:
            tokens: n texts; kept with their tokens, so that words are looked up as they stand there.

        Returns:
            int64[u], the row of each unit or -1; and int64[n + 1], the offsets of the units of each text.
        """
        forms = as_written(tokens) if self.cased else tokens
        if self.bigrams:
            return self._pairs(forms)
        return self.lookup(forms.vocabulary)[forms.ids], tokens.offsets

    def sums(self, tokens: Tokens) -> Sums:
        """Sum the vectors of each text's words, or of its pairs of adjacent words in a model over bigrams.

        Args:
            tokens: n texts.

        Returns:
            The sums in double precision. The sum of a text does not depend on the texts around it.
        """
        rows, offsets = self.units(tokens)
        has_vector = rows >= 0
        before = np.concatenate([[0], np.cumsum(has_vector)])[offsets]
        return Sums(_finite(summed_rows(self.array, rows[has_vector], before)), np.diff(before), np.diff(offsets))

    def nearest(self, words: Sequence[str], k: int = 10) -> list[list[tuple[str, float]]]:
        """The words whose vectors point most nearly the same way.

        Args:
            words: The words to look around.
            k: Number of neighbors per word.

        Returns:
            For each word k others with their cosine, -1 to 1, the highest first; equal ones in the order of rows. Zero
            vectors have no direction and are skipped.

        Raises:
            UsageError: A word has no vector.
            Undefined: The vector of a word is zero.

        >>> vectors = Vectors(("a", "b", "c"), np.array([[1, 0], [0, 2], [3, 3]], dtype=np.float32))
        >>> [(word, round(cosine, 3)) for word, cosine in vectors.nearest(["a"], 2)[0]]
        [('c', 0.707), ('b', 0.0)]
        """
        if not words:
            return []
        rows = self._rows_of(words)
        for word, row in zip(words, rows.tolist(), strict=True):
            if row < 0:
                raise UsageError(f"no vector for '{word}'{self._hint(word)}")
        wanted = _finite(self.array[rows].astype(np.float64))
        lengths = np.linalg.norm(wanted, axis=1)
        for word, length in zip(words, lengths.tolist(), strict=True):
            if not length:
                raise Undefined(f"the vector of '{word}' is zero and points nowhere, so no word is near it")
        cosines = np.empty((len(words), len(self)))
        for begin, block in self._blocks():
            full = _finite(block.astype(np.float64))
            norms = np.linalg.norm(full, axis=1)
            products = (wanted / lengths[:, None]) @ full.T
            cosines[:, begin : begin + len(block)] = np.where(norms > 0, products / np.where(norms > 0, norms, 1), -2)
        cosines[np.arange(len(words)), rows] = -2
        return [self._best(row, k) for row in cosines]

    def _best(self, cosines: NDArray[np.float64], k: int) -> list[tuple[str, float]]:
        k = min(k, len(cosines))
        least = np.partition(cosines, len(cosines) - k)[len(cosines) - k] if k else np.inf
        places = np.flatnonzero((cosines >= least) & (cosines > -2))
        in_order = places[np.argsort(-cosines[places], kind="stable")][:k]
        return [(self.words[i], min(1.0, max(-1.0, float(cosines[i])))) for i in in_order.tolist()]

    def _hint(self, word: str) -> str:
        folded = word.casefold()
        other = next((each for each in self.words if each.casefold() == folded), None)
        if other is not None:
            return f"; there is one for '{other}'"
        return "; the words are bigrams, such as new_york" if self.bigrams and "_" not in word else ""

    def _rows_in_any_case(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The row of each name as it stands, else of its lower-case form, or -1."""
        rows = self._rows_of(names)
        others = [place for place in np.flatnonzero(rows < 0).tolist() if names[place] != names[place].lower()]
        rows[others] = self._rows_of([names[place].lower() for place in others])
        return rows

    def _rows_of(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The row of each name, or -1."""
        ids = self._known.branch().encode_tokens([names]).ids
        return np.where(ids < len(self), ids, -1).astype(np.int64)

    @cached_property
    def _known(self) -> Vocabulary:
        """A vocabulary in which the id of each word is its row."""
        known = Vocabulary.of(self.words)
        if len(known) != len(self):
            problem = f"expected each word once, got {len(self)} words of which {len(known)} are distinct"
            raise InvalidInput(f"{problem}; {WHOLE}", where=WORDS)
        return known

    def _pairs(self, tokens: Tokens) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The row of each pair of adjacent words, or -1, and where the pairs of each text begin, int64[n + 1]."""
        last = np.zeros(len(tokens.ids) + 1, dtype=bool)  # one more, for a batch without tokens
        last[tokens.offsets[1:][tokens.lengths > 0] - 1] = True
        begins = np.flatnonzero(~last[:-1])
        pairs = (tokens.ids[begins].astype(np.int64) << 32) | tokens.ids[begins + 1]
        distinct, place = np.unique(pairs, return_inverse=True)
        known = tokens.vocabulary.words()
        names = [f"{known[pair >> 32]}_{known[pair & 0xFFFFFFFF]}" for pair in distinct.tolist()]
        offsets = np.concatenate([[0], np.cumsum(np.maximum(tokens.lengths - 1, 0))])
        return self._rows_in_any_case(names)[place], offsets

    def _blocks(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        for begin in range(0, len(self), BLOCK):
            yield begin, self.array[begin : begin + BLOCK]

    def _computed_hash(self) -> str:
        content = ContentHash()
        for begin, block in self._blocks():
            lines = "\n".join([*self.words[begin : begin + len(block)], ""])
            content.add(lines.encode("utf-8", "surrogatepass"), block)
        return content.digest()


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values that were computed from vectors, which are read where they are needed and looked at there."""
    if not np.isfinite(values).all():
        raise InvalidInput(f"expected finite numbers; {WHOLE}", where=VECTORS)
    return values


def summed_rows(
    array: NDArray[np.float32],
    rows: NDArray[np.int64] | NDArray[np.int32],
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Sums of rows, text by text; the sum of a text does not depend on the texts around it.

    Args:
        array: float32[k, d].
        rows: u rows of it.
        offsets: int64[n + 1]; text i is the sum of ``array[rows[offsets[i]:offsets[i + 1]]]``.
        weights: float64[u], factor of each row; by default 1.

    Returns:
        float64[n, d].

    >>> two = np.array([[1, 0], [0, 2]], dtype=np.float32)
    >>> summed_rows(two, np.array([0, 1, 1]), np.array([0, 2, 2, 3]), np.array([1, 1, 0.5])).tolist()
    [[1.0, 2.0], [0.0, 0.0], [0.0, 1.0]]
    """

    def part(begin: int, end: int) -> NDArray[np.float64]:
        vectors = array[rows[begin:end]].astype(np.float64)
        return vectors if weights is None else vectors * weights[begin:end, None]

    n = len(offsets) - 1
    out = np.zeros((n, array.shape[1]))
    first = 0
    while first < n:
        end = int(np.searchsorted(offsets, offsets[first] + SUMMED, side="right")) - 1
        if end > first:
            vectors = part(int(offsets[first]), int(offsets[end]))
            begins = offsets[first:end] - offsets[first]
            filled = np.diff(offsets[first : end + 1]) > 0
            if filled.any():
                out[first:end][filled] = np.add.reduceat(vectors, begins[filled], axis=0)
        else:  # one text with more words than a block
            end = first + 1
            last = int(offsets[end])
            for begin in range(int(offsets[first]), last, SUMMED):
                out[first] += part(begin, min(begin + SUMMED, last)).sum(axis=0)
        first = end
    return out
