"""Static encoders: one vector per word or subword, whatever stands around it."""

from __future__ import annotations

import hashlib
import json
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from postil.encoders.base import (
    Encoded,
    Encoder,
    check_no_pickles,
    distinct_raw_texts,
    distinct_texts,
    model_folder,
    open_once,
)
from postil.errors import InvalidInput, needs
from postil.text.vectors import WORDS, Vectors

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from tokenizers import Tokenizer as SubwordTokenizer

    from postil.text.tokens import Tokens

__all__ = ["EXTRA", "MATRIX", "TOKENIZER", "SubwordEncoder", "WordEncoder", "open_static", "read_subwords"]

EXTRA: Final = "vectors"
"""Extra of the package with what subword vectors need."""
MATRIX: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
SPLIT: Final = 1 << 16
"""Largest number of texts whose token ids are kept."""
FLOATS: Final = ("float16", "float32", "float64")
DIGITS: Final = 12
"""Number of hexadecimal digits of a hash in signatures."""


@dataclass(frozen=True, eq=False)
class WordEncoder:
    """Vectors of words, or of pairs of adjacent words, for the tokens of the tokenizer that scores name.

    Args:
        vectors: The vectors.

    >>> from postil.text.tokens import Vocabulary
    >>> encoder = WordEncoder(Vectors(("rain", "snow"), np.array([[1, 0], [1, 2]], dtype=np.float32)))
    >>> encoded = encoder.encode(Vocabulary().encode_tokens([["snow", "and", "rain"], []]))
    >>> encoded.rows.tolist(), encoded.offsets.tolist(), encoded.unknown.tolist()
    ([1, 0], [0, 2, 2], [1, 0])
    """

    vectors: Vectors
    reads_tokens: ClassVar[bool] = True

    @property
    def signature(self) -> str:
        """See `Encoder.signature`."""
        return self.vectors.signature

    def encode(self, texts: Tokens, jobs: int = 1) -> Encoded:
        """See `Encoder.encode`."""
        del jobs
        first, index = distinct_texts(texts, by_tokens=texts.texts is None or not self.vectors.cased)
        rows, offsets = self.vectors.units(texts.take(first))
        used = np.unique(rows[rows >= 0])
        zero = used[~self.vectors.array[used].any(axis=1)]
        return _known_units(index, offsets, rows, (rows >= 0) & ~np.isin(rows, zero), self.vectors.array)


@dataclass(frozen=True, eq=False)
class SubwordEncoder:
    """Vectors of subwords, for raw texts that the tokenizer of the folder splits.

    Args:
        tokenizer: The tokenizer, which neither pads nor truncates: with padding, the vectors of a text would depend on
            the longest text that is split with it.
        vectors: float32[V, d], one row per token id.
        known: bool[V], False for ids without a vector: the token for unknown text, and zero vectors.
        hash: First 12 hexadecimal digits of a SHA-256 of both files.
        split: Token ids of texts that were split lately: references are often candidates too, and systems often agree.
    """

    tokenizer: SubwordTokenizer = field(repr=False)
    vectors: NDArray[np.float32] = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)
    hash: str
    split: dict[str, array[int]] = field(default_factory=dict, repr=False)
    reads_tokens: ClassVar[bool] = False

    @property
    def signature(self) -> str:
        """See `Encoder.signature`."""
        rows, dimensions = self.vectors.shape
        return f"{rows}x{dimensions}-{self.hash}"

    def encode(self, texts: Tokens, jobs: int = 1) -> Encoded:
        """See `Encoder.encode`."""
        del jobs  # the tokenizer has threads of its own
        distinct, index = distinct_raw_texts(texts)
        ids = self._ids(distinct)
        offsets = np.cumsum([0, *map(len, ids)])
        rows = np.frombuffer(b"".join(ids), np.int32)
        return _known_units(index, offsets, rows, self.known[rows], self.vectors)

    def _ids(self, texts: list[str]) -> list[array[int]]:
        """Token ids of distinct texts."""
        new = [text for text in texts if text not in self.split]
        found = self.tokenizer.encode_batch_fast(new, add_special_tokens=False)
        of_new = {text: array("i", each.ids) for text, each in zip(new, found, strict=True)}
        ids = [of_new[text] if text in of_new else self.split[text] for text in texts]
        if len(self.split) + len(of_new) > SPLIT:
            self.split.clear()
        self.split.update(of_new if len(of_new) <= SPLIT else {})
        return ids


def open_static(folder: str) -> Encoder:
    """Open static vectors, once for all that use them.

    Args:
        folder: A folder of word vectors, as ``postil vectors`` makes it; or one with one matrix in a ``*.safetensors``
            file and the tokenizer of its rows in ``tokenizer.json``.

    Raises:
        UsageError: It is no folder.
        MissingExtra: The packages that read subword vectors are not installed.
        InvalidInput: It holds no such files, or they do not fit together.
    """
    return open_once(model_folder(folder, "a model of vectors"), _open)


def _open(folder: Path) -> Encoder:
    if (folder / WORDS).exists():
        return WordEncoder(Vectors.open(folder))
    matrices = sorted(folder.glob("*.safetensors"))
    wanted = f"{WORDS} with vectors.npy, or one *.safetensors with {TOKENIZER}"
    if not matrices:
        check_no_pickles(folder, wanted)
    if len(matrices) != 1 or not (folder / TOKENIZER).is_file():
        missing = f"{len(matrices)} files *.safetensors" if len(matrices) != 1 else f"{matrices[0].name} alone"
        raise InvalidInput(f"no vectors here: expected {wanted}, got {missing}", where=str(folder))
    return read_subwords(matrices[0], folder / TOKENIZER)


def read_subwords(matrix: Path, splitter: Path) -> SubwordEncoder:
    """Read vectors and their tokenizer.

    Args:
        matrix: A safetensors file with one matrix, one row per token.
        splitter: A file of the library ``tokenizers``.

    Raises:
        MissingExtra: The packages that read them are not installed.
        InvalidInput: They are not such files, or do not fit together.
    """
    with needs("a model of subword vectors", EXTRA):
        from safetensors import SafetensorError  # noqa: PLC0415 - packages of an extra
        from safetensors.numpy import load  # noqa: PLC0415
        from tokenizers import Tokenizer as SubwordTokenizer  # noqa: PLC0415
    content, description = matrix.read_bytes(), splitter.read_bytes()
    try:
        tensors = load(content)
    except (SafetensorError, ValueError, TypeError, KeyError) as error:
        expected = f"expected one matrix of {', '.join(FLOATS)}"
        raise InvalidInput(f"{expected}; it cannot be read: {error}; copied whole?", where=str(matrix)) from None
    vectors = _only_matrix(tensors, matrix)
    try:
        tokenizer = SubwordTokenizer.from_buffer(description)
        model = json.loads(description)["model"]
    except Exception as error:  # the library raises nothing narrower
        raise InvalidInput(f"not a readable tokenizer: {error}", where=str(splitter)) from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if (size := tokenizer.get_vocab_size(with_added_tokens=True)) != len(vectors):
        problem = f"expected one row per token, got {len(vectors):,} rows and a tokenizer of {size:,} tokens"
        raise InvalidInput(f"{problem}; they are of different models", where=str(matrix))
    known = np.asarray(vectors.any(axis=1))
    unknown = tokenizer.token_to_id(str(model["unk_token"])) if model.get("unk_token") else model.get("unk_id")
    if unknown is not None:
        known[unknown] = False
    digest = hashlib.sha256(hashlib.sha256(description).digest() + hashlib.sha256(content).digest())
    return SubwordEncoder(tokenizer, vectors, known, digest.hexdigest()[:DIGITS])


def _only_matrix(tensors: dict[str, NDArray[np.float32]], path: Path) -> NDArray[np.float32]:
    """The vectors of a file, which are the only thing in it."""
    names = ", ".join(sorted(tensors)) or "nothing"
    if len(tensors) != 1:
        raise InvalidInput(f"expected one matrix, the vectors, got {len(tensors)} tensors: {names}", where=str(path))
    (vectors,) = tensors.values()
    if vectors.ndim != 2 or vectors.dtype.name not in FLOATS:
        shape = f"{vectors.dtype}{list(vectors.shape)}"
        raise InvalidInput(f"expected a matrix of {', '.join(FLOATS)}, got {names} as {shape}", where=str(path))
    with np.errstate(over="ignore"):
        vectors = vectors.astype(np.float32, copy=False)
    if not np.isfinite(vectors).all():
        raise InvalidInput("expected finite numbers in the vectors", where=str(path))
    return vectors


def _known_units(
    index: NDArray[np.int64],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64] | NDArray[np.int32],
    known: NDArray[np.bool_],
    vectors: NDArray[np.float32],
) -> Encoded:
    """Texts without their units that have no vector."""
    bounds = np.concatenate([[0], np.cumsum(known)])[offsets]
    kept = rows[known].astype(np.int64)
    return Encoded(index, bounds, kept.astype(np.int32), kept, vectors, np.diff(offsets) - np.diff(bounds))
