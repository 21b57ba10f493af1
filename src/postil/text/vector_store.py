"""The folder that word vectors are kept in, written batch by batch in bounded memory.

| file | content |
|---|---|
| ``vectors.npy`` | float32[V, d], one row per word, little-endian |
| ``words.txt`` | a word a line, in UTF-8 |
| ``metadata.json`` | how they were made: spec, seed, hash of the data, versions; number of words and dimensions, hash |
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import numpy as np

from postil.errors import InvalidInput, PostilError, UsageError
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

__all__ = ["FORMAT", "METADATA", "VECTORS", "WORDS", "ContentHash", "Sieve", "VectorsWriter"]

FORMAT: Final = 2
VECTORS: Final = "vectors.npy"
WORDS: Final = "words.txt"
METADATA: Final = "metadata.json"
_FILES: Final = frozenset({VECTORS, WORDS, METADATA})


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
            "not UTF-8": none if _lines(words) else np.array([not _lines([word]) for word in words], dtype=bool),
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


def _lines(words: Sequence[str]) -> bytes:
    """The lines of ``words.txt``; none if a word cannot stand there."""
    try:
        lines = "\n".join([*words, ""]).encode("utf-8")
    except UnicodeEncodeError:
        return b""
    return lines if lines.count(b"\n") == len(words) else b""


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


class VectorsWriter:
    """Writes a folder of word vectors as they come; memory grows with the words alone.

    The folder appears whole on `commit`, in the place of an older one; without it nothing changes.

    Args:
        folder: The folder to make. One that is there must be empty or hold word vectors, which are replaced.
        dimensions: d.
        skip_bad: Leave out words that cannot be kept (see `Sieve`), instead of refusing.

    Raises:
        UsageError: The folder cannot be made or replaced.
        PostilError: The operating system reports an error.
    """

    def __init__(self, folder: str | os.PathLike[str], dimensions: int, *, skip_bad: bool = False) -> None:
        self.folder = Path(folder)
        self.dimensions = dimensions
        self.words = 0
        self.sieve = Sieve(skip_bad=skip_bad)
        self._hash = ContentHash()
        self._target = Path(os.path.realpath(folder))
        self._part = self._target.with_name(f".{self._target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
        self._files: dict[str, IO[bytes]] = {}
        self.check_target(folder)

    @staticmethod
    def check_target(folder: str | os.PathLike[str]) -> None:
        """See that a folder can be made or replaced; worth asking before long work.

        Raises:
            UsageError: It cannot.
        """
        target = Path(os.path.realpath(folder))
        if not target.parent.is_dir():
            raise UsageError(f"{folder}: parent folder {target.parent} does not exist")
        if target.exists() and not (target.is_dir() and {each.name for each in target.iterdir()} <= _FILES):
            raise UsageError(f"{folder}: is there already and holds more than word vectors; name another folder")

    def __enter__(self) -> Self:
        try:
            self._part.mkdir()
            for name in (VECTORS, WORDS, METADATA):
                self._files[name] = (self._part / name).open("xb")
            self._write_head()
        except OSError as error:
            self._remove()
            raise self._refused(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def add(self, words: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Write the next words.

        Args:
            words: The words.
            vectors: Their vectors, float32[words, d].

        Raises:
            InvalidInput: A word cannot be kept; ``line`` counts the words from 1.
            PostilError: The operating system reports an error.
        """
        words, vectors = self.sieve(words, vectors)
        lines = _lines(words)
        block = np.ascontiguousarray(vectors, dtype="<f4")
        self._hash.add(lines, block)
        self.words += len(words)
        try:
            self._files[WORDS].write(lines)
            self._files[VECTORS].write(block.data)
        except OSError as error:
            raise self._refused(error) from error

    @property
    def left_out(self) -> dict[str, int]:
        """Number of words left out, by reason."""
        return {kind: count for kind, count in self.sieve.left_out.items() if count}

    def commit(self, metadata: Mapping[str, object]) -> None:
        """Write ``metadata.json`` and create the folder atomically.

        Args:
            metadata: Description of the training. The format, the numbers of words and dimensions, what was left out
                and the hash are added.

        Raises:
            InvalidInput: There are no words.
            PostilError: The operating system reports an error.
        """
        if not self.words:
            raise InvalidInput("there are no words to keep")
        whole = {"format": FORMAT, **metadata, **({"left_out": self.left_out} if self.left_out else {})}
        whole |= {"words": self.words, "dimensions": self.dimensions, "hash": self._hash.digest()}
        try:
            self._files[VECTORS].seek(0)
            self._write_head()
            text = json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
            self._files[METADATA].write(text.encode("utf-8"))
            for file in self._files.values():
                file.flush()
                os.fsync(file.fileno())
                file.close()
            self._replace()
        except OSError as error:
            raise self._refused(error) from error

    def _write_head(self) -> None:
        # NumPy leaves room for a longer shape, so that the head of the finished file fits in the place of the first.
        head = {"descr": "<f4", "fortran_order": False, "shape": (self.words, self.dimensions)}
        np.lib.format.write_array_header_1_0(self._files[VECTORS], head)

    def _replace(self) -> None:
        old = self._part.with_suffix(".old")
        there = self._target.exists()
        if there:
            self._target.rename(old)
        try:
            self._part.rename(self._target)
        except OSError:
            if there:
                old.rename(self._target)
            raise
        shutil.rmtree(old, ignore_errors=True)

    def _remove(self) -> None:
        for file in self._files.values():
            with contextlib.suppress(OSError):
                file.close()
        shutil.rmtree(self._part, ignore_errors=True)

    def _refused(self, error: OSError) -> PostilError:
        return PostilError(f"{self.folder}: cannot be written: {error.strerror or error}")
