"""Encoders: texts to vectors, one for each unit of a text (a word or subword) or one for each text.

Every kind of encoder gives the same value, `Encoded`, so that a metric does not ask where its vectors come from. Models
are local folders; nothing is downloaded, and no file that can run code (a pickle) is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, cast

import numpy as np

from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from postil.text.tokens import Tokens

__all__ = [
    "Encoded",
    "Encoder",
    "check_no_pickles",
    "distinct_raw_texts",
    "distinct_texts",
    "model_folder",
    "open_once",
]

Opened = TypeVar("Opened")

PICKLES: Final = frozenset({".bin", ".ckpt", ".pickle", ".pkl", ".pt", ".pth"})
"""Endings of files that Python or torch pickle."""
HALF_PAIR: Final = re.compile(r"[\ud800-\udfff]")
KEPT: Final = 4
"""Number of models that stay open."""


@dataclass(frozen=True, eq=False, slots=True)
class Encoded:
    """n texts as units with vectors; equal texts are encoded once, so that t <= n distinct ones are held.

    Args:
        texts: int64[n], index of each text among the distinct ones.
        offsets: int64[t + 1]; distinct text i has the units ``offsets[i]:offsets[i + 1]``.
        rows: int32[u], row of each unit in ``vectors``.
        ids: int64[u], identity of each unit's type, which document frequencies count: of static vectors the row, of
            contextual ones the token id.
        vectors: float32[k, d]; of static vectors the whole matrix, memory-mapped.
        unknown: int64[t], number of units of each text without a vector, which are left out of ``rows``.
        special: bool[u], True for tokens that the model adds to a text, such as [CLS]: they weigh nothing, but can be
            matched. None where there are none.
        truncated: bool[t], True for texts that were cut at the model's maximum. None where none can be.

    >>> two = np.array([[3, 4], [0, 2]], dtype=np.float32)
    >>> encoded = Encoded(
    ...     np.array([0, 1, 0]), np.array([0, 1, 3]), np.array([1, 0, 1], np.int32), np.arange(3), two, np.zeros(2, int)
    ... )
    >>> unit, lengths = encoded.normalized()
    >>> unit.vectors.round(4).astype(float).round(4).tolist(), unit.rows.tolist(), lengths.tolist()
    ([[0.6, 0.8], [0.0, 1.0]], [1, 0, 1], [2.0, 5.0, 2.0])
    """

    texts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    rows: NDArray[np.int32]
    ids: NDArray[np.int64]
    vectors: NDArray[np.float32]
    unknown: NDArray[np.int64]
    special: NDArray[np.bool_] | None = None
    truncated: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of units of each distinct text, int64[t]."""
        return np.diff(self.offsets)

    def normalized(self) -> tuple[Encoded, NDArray[np.float64]]:
        """The same units with vectors of length 1, and the lengths that they had.

        Only the rows in use are kept, in their order, so that memory is bounded by the texts and not by the vectors.

        Returns:
            The units; and float64[u], the length of each unit's vector. A zero vector stays zero.

        Raises:
            InvalidInput: A vector is not finite.
        """
        is_used = np.zeros(len(self.vectors), dtype=bool)
        is_used[self.rows] = True
        used, rows = np.flatnonzero(is_used), (np.cumsum(is_used) - 1)[self.rows]
        vectors = self.vectors[used].astype(np.float32, copy=False)
        # Converted first: while numpy converts it sums parts of rows, whose bounds depend on the rows before.
        squares = vectors.astype(np.float64)
        squares *= squares
        lengths = np.sqrt(squares.sum(axis=1))
        if not np.isfinite(lengths).all():
            raise InvalidInput("expected finite numbers in the vectors; is the folder a whole copy?", where="vectors")
        scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        unit = (vectors * scale[:, None]).astype(np.float32)
        changed = Encoded(
            self.texts,
            self.offsets,
            rows.astype(np.int32),
            self.ids,
            unit,
            self.unknown,
            self.special,
            self.truncated,
        )
        return changed, lengths[rows]


class Encoder(Protocol):
    """A model that gives texts vectors; one unit per text if it encodes sentences.

    A text's units and vectors never depend on the texts that are encoded with it, nor on ``jobs``.
    """

    @property
    def signature(self) -> str:
        """Entry in signatures of scores: shape and content hash, and the layer or pooling where there is one."""

    @property
    def reads_tokens(self) -> bool:
        """True if the units are the tokens of the tokenizer that scores name; False if it splits raw texts itself."""

    def encode(self, texts: Tokens, jobs: int = 1) -> Encoded:
        """Encode n texts.

        Args:
            texts: The texts; `Tokens.raw_texts` has them as they were before tokenization.
            jobs: Number of threads.

        Raises:
            InvalidInput: The folder of the model is not what it was, or its numbers are not finite.
        """


def distinct_texts(texts: Tokens, *, by_tokens: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct texts of a batch.

    Args:
        texts: n texts.
        by_tokens: True to compare their tokens, False to compare the raw texts.

    Returns:
        int64[t], the first place of each distinct text; and int64[n], the index of each text among them.

    >>> from postil.text.tokens import Vocabulary
    >>> first, index = distinct_texts(Vocabulary().encode_tokens([["a"], ["b", "c"], ["a"]]), by_tokens=True)
    >>> first.tolist(), index.tolist()
    ([0, 1], [0, 1, 0])
    """
    keys: Sequence[str | bytes]
    if by_tokens:
        content, bounds = texts.ids.tobytes(), (texts.offsets * texts.ids.itemsize).tolist()
        keys = [content[begin:end] for begin, end in pairwise(bounds)]
    else:
        keys = texts.raw_texts()
    numbers: dict[str | bytes, int] = {}
    index = np.fromiter((numbers.setdefault(key, len(numbers)) for key in keys), np.int64, len(keys))
    _, first = np.unique(index, return_index=True)
    return first, index


def distinct_raw_texts(texts: Tokens) -> tuple[list[str], NDArray[np.int64]]:
    r"""Distinct raw texts of a batch, for tokenizers of other libraries.

    These take Unicode alone, so that half a surrogate pair becomes U+FFFD, the character in place of what is none.

    Args:
        texts: n texts.

    Returns:
        The t distinct texts in the order of their first places; and int64[n], the index of each text among them.

    >>> from postil.text.tokens import Vocabulary
    >>> distinct, index = distinct_raw_texts(Vocabulary().encode_tokens([["a"], ["b", "\ud800"], ["a"]]))
    >>> print(ascii(distinct), index.tolist())
    ['a', 'b \ufffd'] [0, 1, 0]
    """
    first, index = distinct_texts(texts, by_tokens=False)
    raw = texts.raw_texts()
    return [HALF_PAIR.sub("\ufffd", raw[i]) for i in first.tolist()], index


def model_folder(folder: str, kind: str) -> Path:
    """The path of a local folder.

    Args:
        folder: As the user named it.
        kind: Expected content, for messages, such as ``the model``.

    Raises:
        UsageError: It is no folder.

    >>> model_folder("glove", "the model")
    Traceback (most recent call last):
    ...
    postil.errors.UsageError: glove: no such folder; the model is read from a local folder, nothing is downloaded
    """
    path = Path(folder)
    if not path.is_dir():
        found = "is a file" if path.is_file() else "no such folder"
        raise UsageError(f"{folder}: {found}; {kind} is read from a local folder, nothing is downloaded")
    return path


def check_no_pickles(folder: Path, wanted: str) -> None:
    """Refuse a folder whose weights are a pickle; called where none of the files that are read are there.

    Args:
        folder: The folder.
        wanted: Names of the files that would be read, for the message.

    Raises:
        InvalidInput: It holds a pickle.
    """
    found = sorted(each.name for each in folder.iterdir() if each.suffix in PICKLES)
    if found:
        problem = f"{found[0]} is a pickle, which can run any code, and is not read; expected {wanted}"
        raise InvalidInput(problem, where=str(folder))


def open_once(folder: Path, read: Callable[[Path], Opened]) -> Opened:
    """Open a model, or return the one that is open already, unless a file of the folder was changed since.

    Args:
        folder: The folder.
        read: Function that opens it; the same function, or one that is equal, finds the open model again.
    """
    stamps = tuple(
        (str(each.relative_to(folder)), status.st_mtime_ns, status.st_size)
        for each in sorted(folder.rglob("*"))
        for status in (each.stat(),)
    )
    return cast("Opened", _opened(folder.resolve(), stamps, read))


@lru_cache(maxsize=KEPT)
def _opened(folder: Path, stamps: object, read: Callable[[Path], object]) -> object:
    """A model of a folder whose files have these times and sizes."""
    del stamps
    return read(folder)
