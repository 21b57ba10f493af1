"""Contextual encoders: a vector for each token of a text, from one layer of a network in a local folder.

Networks are ONNX graphs, and those of transformers.
"""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from postil.encoders.base import Encoded, distinct_raw_texts, model_folder, open_once
from postil.encoders.model_files import ModelFiles
from postil.encoders.networks import EXTRA, OnnxNetwork, TransformersNetwork, one_thread
from postil.encoders.token_batches import TokenBatches, TokenReader
from postil.errors import UsageError, needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.text.tokens import Tokens

__all__ = [
    "ContextualEncoder",
    "OnnxModel",
    "TokenLists",
    "TokenModel",
    "TransformersModel",
    "contextual_encoder",
]

LAST: Final = "last_hidden_state"


class TokenModel(TokenReader, Protocol):
    """A tokenizer, and the layers of a network that are run on its tokens."""

    def vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Hidden states of b texts, float32[b, l, d].

        Args:
            ids: int64[b, l], padded at the end.
            mask: int64[b, l], 1 for tokens and 0 for padding.
        """


class OnnxModel(OnnxNetwork):
    """A layer of an ONNX graph; see `postil.encoders.contextual.TokenModel`.

    The hidden states of layer N are the output ``hidden_states.N``, those of the last layer ``last_hidden_state``; only
    what an output needs is run.

    Args:
        files: Files of the model.
        layer: The layer.

    Raises:
        InvalidInput: The graph or the tokenizer cannot be read, or the graph asks for more than token ids.
        UsageError: The graph has no output for the layer.
    """

    def __init__(self, files: ModelFiles, layer: int) -> None:
        super().__init__(files)
        name = f"hidden_states.{layer}"
        self._output = name if name in self.outputs else LAST
        if self._output not in self.outputs or (self._output == LAST and layer != files.layers):
            problem = f"layer {layer}: {files.graph} has no output {name}, only {', '.join(self.outputs)}"
            raise UsageError(problem)

    def vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `TokenModel.vectors`."""
        return self.run(self._output, ids, mask)


class TransformersModel(TransformersNetwork):
    """The first layers of a network; see `postil.encoders.contextual.TokenModel`.

    Args:
        files: Files of the model.
        layer: Number of layers to run.

    Raises:
        InvalidInput: The files are no model or no tokenizer that the library knows, or do not fit together.
    """

    def __init__(self, files: ModelFiles, layer: int) -> None:
        super().__init__(files, "AutoModel", layer)

    def vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `TokenModel.vectors`."""
        return self.run(ids, mask)


REMEMBERED: Final = 1 << 28
"""Bytes of vectors of texts that are remembered, so that a text is not encoded again for the next batch or control."""
IN_MEMORY: Final = 1 << 30
"""Bytes of vectors above which those of many texts are in a temporary file, of which the system reads what is used."""


@dataclass(frozen=True, eq=False, slots=True)
class TokenLists:
    """Texts as token ids.

    Args:
        ids: Token ids of each of n texts with the special ones.
        truncated: bool[n], True for texts that had more tokens.
    """

    ids: list[list[int]]
    truncated: NDArray[np.bool_]


class ContextualEncoder:
    """Vectors of length 1 for the tokens of texts, special tokens included; an `Encoder`.

    A text is stripped of white space at both ends and cut at the longest that the model takes. It is padded to a number
    of tokens that depends on the text alone, and batches hold texts of one such number and at least `NARROW` tokens, so
    that the vectors of a text are the same to the last bit whatever is encoded with it; on a GPU they are within
    rounding of single precision.

    Args:
        model: The network and its tokenizer.
        name: Name of the model in signatures, by its content.
        layer: Number of layers that are run.
        where: Folder of the model, for messages.
        single: Context in which the calling thread calculates alone; by default none is needed.

    >>> class Letters:
    ...     longest, rows, wide, step, padding = 4, 128, 256, 1, 0
    ...
    ...     def tokenize(self, texts, longest):
    ...         return [[1, *map(ord, text)][:longest] for text in texts]
    ...
    ...     def vectors(self, ids, mask):
    ...         return np.stack([ids, np.zeros_like(ids)], axis=2).astype(np.float32)
    >>> from postil.text.tokens import Vocabulary
    >>> encoded = ContextualEncoder(Letters(), "letters", 1).encode(Vocabulary().encode_tokens([["ab"], ["a"], ["ab"]]))
    >>> encoded.texts.tolist(), encoded.ids.tolist(), encoded.special.tolist(), encoded.vectors[1].tolist()
    ([0, 1, 0], [1, 97, 98, 1, 97], [True, False, False, True, False], [1.0, 0.0])
    """

    reads_tokens = False

    def __init__(
        self,
        model: TokenModel,
        name: str,
        layer: int,
        *,
        where: str = "model",
        single: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._model = model
        self.name = name
        self.layer = layer
        self._batches = TokenBatches(model, where, single)
        self._remembered: dict[tuple[str, int], NDArray[np.float32]] = {}
        self._bytes = 0
        self._lock = Lock()

    @property
    def signature(self) -> str:
        """See `Encoder.signature`."""
        return f"{self.name}-layer-{self.layer}"

    @cached_property
    def special(self) -> NDArray[np.int64]:
        """Ids of the special tokens that the model adds to a text: those of an empty one."""
        return np.unique(np.asarray(self._model.tokenize([""], self._model.longest)[0], dtype=np.int64))

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector, d."""
        with self._batches.single():
            one = np.zeros((1, 1), dtype=np.int64)
            return int(self._model.vectors(one, one + 1).shape[2])

    def encode(self, texts: Tokens, jobs: int = 1) -> Encoded:
        """See `Encoder.encode`.

        Raises:
            InvalidInput: The tokenizer has ids that the network does not know, or its numbers are not finite.
        """
        distinct, index = distinct_raw_texts(texts)
        tokens = self.tokenize(distinct)
        offsets = np.cumsum([0, *map(len, tokens.ids)], dtype=np.int64)
        vectors = _array(int(offsets[-1]), self.dimensions)
        for i, states in self.states(distinct, tokens, jobs):
            vectors[offsets[i] : offsets[i + 1]] = _of_length_one(states)
        ids = np.fromiter(chain.from_iterable(tokens.ids), np.int64, len(vectors))
        return Encoded(
            index,
            offsets,
            np.arange(len(ids), dtype=np.int32),
            ids,
            vectors,
            np.zeros(len(distinct), np.int64),
            np.isin(ids, self.special),
            tokens.truncated,
        )

    def tokenize(self, texts: Sequence[str], longest: int | None = None) -> TokenLists:
        """Token ids of texts.

        Args:
            texts: n raw texts.
            longest: Largest number of tokens of a text, where it is less than the model's.

        Raises:
            InvalidInput: The tokenizer has an id that the network does not know.
        """
        longest = min(self._model.longest, longest or self._model.longest)
        ids = self._batches.tokenize(texts, longest)
        truncated = np.array([len(each) == longest for each in ids], dtype=np.bool_)
        full = np.flatnonzero(truncated)
        again = self._batches.tokenize([texts[i] for i in full.tolist()], longest + 1)
        truncated[full] = [len(each) > longest for each in again]
        return TokenLists(ids, truncated)

    def states(
        self, texts: Sequence[str], tokens: TokenLists, jobs: int = 1
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Compute the hidden states of texts.

        Args:
            texts: n distinct raw texts.
            tokens: The same as token ids.
            jobs: Number of threads; the result does not depend on it.

        Yields:
            The index of each text that has tokens, in any order, and its states, float32[l, d].

        Raises:
            InvalidInput: They are not finite.
        """
        new = []
        keys = [(text.strip(), len(ids)) for text, ids in zip(texts, tokens.ids, strict=True)]
        for i, ids in enumerate(tokens.ids):
            known = self._remembered.get(keys[i])
            if known is not None:
                yield i, known
            elif ids:
                new.append(i)
        for i, padded in self._batches.run(self._model.vectors, tokens.ids, new, jobs):
            found = padded[: len(tokens.ids[i])]
            self._batches.check_finite(found)
            self._remember(keys[i], found)
            yield i, found

    def _remember(self, key: tuple[str, int], states: NDArray[np.float32]) -> None:
        with self._lock:
            if states.nbytes > REMEMBERED or key in self._remembered:
                return
            self._bytes += states.nbytes
            while self._bytes > REMEMBERED:
                oldest = next(iter(self._remembered))
                self._bytes -= self._remembered.pop(oldest).nbytes
            self._remembered[key] = states.copy()


def contextual_encoder(folder: str, layer: int | None = None) -> ContextualEncoder:
    """Open the model of a local folder; the same one is opened once.

    Args:
        folder: A folder of the transformers library with safetensors, or one with ``model.onnx`` and
            ``tokenizer.json``. Nothing is downloaded.
        layer: Number of layers to run; by default ``layer`` of its ``metadata.json``.

    Raises:
        UsageError: There is no such folder, or it has fewer layers; or no layer is named.
        InvalidInput: The folder holds no model, one that is pickled, or parts that do not fit together.
        MissingExtra: The library that runs it is not installed.
    """
    files = ModelFiles.find(model_folder(folder, "a model"))
    return open_once(files.folder, _Layers(files.layer(layer)))


@dataclass(frozen=True, slots=True)
class _Layers:
    """Function that opens the first layers of a model; equal ones find it open."""

    layer: int

    def __call__(self, folder: Path) -> ContextualEncoder:
        files = ModelFiles.find(folder)
        model: TokenModel
        single: Callable[[], AbstractContextManager[None]] = nullcontext
        with needs(f"the model in {files.folder}", EXTRA):
            if files.graph is not None:
                model = OnnxModel(files, self.layer)
            else:
                model, single = TransformersModel(files, self.layer), one_thread
        return ContextualEncoder(model, files.signature, self.layer, where=str(folder), single=single)


def _of_length_one(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors of length 1; one of zeros stays so."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.asarray(vectors * scale, dtype=np.float32)


def _array(rows: int, width: int) -> NDArray[np.float32]:
    """An array to fill, in memory or, if it is large, in a file that is gone when nothing uses it."""
    if rows * width * 4 <= IN_MEMORY:
        return np.empty((rows, width), dtype=np.float32)
    with tempfile.TemporaryFile(prefix="postil-vectors-") as file:
        return np.memmap(file, np.float32, "w+", shape=(rows, width))
