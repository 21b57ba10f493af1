"""Requests to an embeddings endpoint: texts in, a vector of each out."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.data.explain import counted
from postil.endpoint.chat import CHARACTERS_PER_TOKEN, UNREADABLE, prompt_tokens, read_error
from postil.endpoint.transport import Refused
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from postil.endpoint.chat import Answer, ErrorBody

__all__ = ["EmbeddingRequest", "Embeddings", "read_embeddings"]

_NULL: Final = msgspec.Raw(b"null")


class Embeddings(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Vectors of texts.

    Args:
        vectors: float32[n, d], finite, none of them all 0.
        prompt_tokens: Number of tokens of the texts; None if not said.
        completion_tokens: 0, as nothing is written.
    """

    vectors: NDArray[np.float32]
    prompt_tokens: int | None = None
    completion_tokens: int | None = 0


class EmbeddingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for the vectors of texts. No cache keeps its answer, whose numbers take more room than the texts.

    Args:
        model: The endpoint's name of the model.
        texts: The texts, none of them empty.

    >>> EmbeddingRequest(model="m", texts=("rain",)).body()
    b'{"input":["rain"],"model":"m"}'
    """

    model: str
    texts: tuple[str, ...]

    @property
    def path(self) -> str:
        """Path below the address of the endpoint."""
        return "embeddings"

    @property
    def max_tokens(self) -> int:
        """Maximum number of tokens of the answer: none."""
        return 0

    def at_least(self, tokens: int) -> EmbeddingRequest:
        """The request as it is.

        Args:
            tokens: Least number of tokens of an answer, which this one has none of.
        """
        del tokens
        return self

    def body(self, refused: Collection[str] = ()) -> bytes:
        """Body of the request: JSON with sorted keys.

        Args:
            refused: Options that the endpoint refuses, of which there are none here.
        """
        del refused
        return msgspec.json.encode({"model": self.model, "input": self.texts}, order="sorted")

    def options(self) -> frozenset[str]:
        """Options that the request can do without: none."""
        return frozenset()

    def key(self, refused: Collection[str] = ()) -> str:
        """SHA-256 of the body, in hexadecimal digits.

        Args:
            refused: Options that the endpoint refuses.

        Raises:
            InvalidInput: The model's name or a text cannot be encoded.
        """
        try:
            return hashlib.sha256(self.body(refused)).hexdigest()
        except UnicodeEncodeError as error:
            problem = "cannot be sent: expected Unicode, got half a character"
            raise InvalidInput(f"'{error.object[:60]}' {problem}") from None

    def estimated_tokens(self, count: Callable[[str], int] | None = None) -> int:
        """Number of tokens of the texts.

        Args:
            count: Function that counts the tokens of a text; by default they are estimated as characters / 3.5.
        """
        if count is not None:
            return sum(map(count, self.texts))
        return math.ceil(sum(map(len, self.texts)) / CHARACTERS_PER_TOKEN)

    def read(self, data: bytes, refused: Collection[str]) -> Embeddings:
        """See `read_embeddings`.

        Args:
            data: The body of the response.
            refused: Options that were not sent.
        """
        del refused
        return read_embeddings(data, len(self.texts))

    def rejected(self, body: ErrorBody, refused: Collection[str]) -> Embeddings | None:
        """A refusal is no answer.

        Args:
            body: Body of the response.
            refused: Options that were not sent.
        """
        del body, refused
        return None

    def recall(self, get: Callable[[str], Answer | None], refused: Collection[str] = ()) -> Embeddings | None:
        """Nothing is kept.

        Args:
            get: Function that finds an answer by its key.
            refused: Options that the endpoint refuses.
        """
        del get, refused
        return None

    def keep(self, put: Callable[[str, Answer], Answer], answer: Embeddings, refused: Collection[str]) -> Embeddings:
        """The answer as it is.

        Args:
            put: Function that stores an answer under its key.
            answer: The answer.
            refused: Options that the endpoint refuses.
        """
        del put, refused
        return answer


class _Vector(msgspec.Struct):
    index: int
    embedding: list[float]


class _Body(msgspec.Struct):
    data: list[_Vector] | None = None
    usage: msgspec.Raw = _NULL
    error: msgspec.Raw = _NULL


def read_embeddings(data: bytes, texts: int) -> Embeddings:
    """Read the body of a response.

    Args:
        data: The body.
        texts: Number of the texts.

    Raises:
        ValueError: It is no answer to the request; the message says in what.
        Refused: It has another number of vectors, or vectors of no use.

    >>> body = b'{"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}'
    >>> read_embeddings(body, 2).vectors.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    try:
        found = msgspec.json.decode(data, type=_Body)
    except UNREADABLE as error:
        raise ValueError(f"the answer is no list of embeddings: {error}") from error
    if found.data is None:
        if found.error != _NULL:
            raise ValueError(f"the answer is an error: {read_error(data).message}")
        raise ValueError("the answer is no list of embeddings: it has no data")
    if len(found.data) != texts:
        raise Refused(f"expected {counted(texts, 'vector')}, one per text, got {len(found.data):,}")
    if sorted(each.index for each in found.data) != list(range(texts)):
        raise Refused(f"expected vectors with the indices 0 to {texts - 1}, got others")
    sizes = sorted({len(each.embedding) for each in found.data})
    if len(sizes) != 1 or not sizes[0]:
        raise Refused(f"expected vectors of one dimension, got {', '.join(map(str, sizes))}")
    vectors = np.zeros((texts, sizes[0]), np.float32)
    with np.errstate(over="ignore"):
        for each in found.data:
            vectors[each.index] = each.embedding
    if not (np.isfinite(vectors).all() and vectors.any(axis=1).all()):
        raise Refused("expected vectors of finite numbers that are not all 0, got others")
    return Embeddings(vectors=vectors, prompt_tokens=prompt_tokens(found.usage))
