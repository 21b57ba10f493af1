"""Sentence encoders behind an embeddings endpoint that the user names.

A model folder keeps the endpoint's name of the encoder, and its vectors of three fixed texts, by which another encoder
of this name is noticed. It never keeps the address: only one that the user names now is spoken to.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from weakref import finalize

import numpy as np

from postil.encoders.encoder_options import is_address
from postil.encoders.sentences import SentenceEncoder, sentence_encoder
from postil.errors import PostilError, UsageError
from postil.messages import Blank, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.data.progress import OnMessage
    from postil.endpoint.client import Client
    from postil.endpoint.embeddings import EmbeddingRequest
    from postil.endpoint.limits import Price

__all__ = [
    "EncoderEndpoint",
    "EncoderFailed",
    "EndpointEncoder",
    "Fingerprint",
    "endpoint_model",
    "named_endpoint",
    "open_encoder",
    "requests_for",
]

TEXTS: Final = (
    "Rain again, and nobody brought a coat.",
    "The council votes on the new school tomorrow.",
    "这座城市的面包店关门了。",
)
"""Texts whose vectors tell encoders apart."""
NEAREST: Final = 0.99
"""Smallest cosine of two vectors of one text by one encoder: those of another precision or machine differ by less."""
TOGETHER: Final = 32
"""Number of texts of a request: as many as common servers take."""
LONGEST: Final = 1_000
"""Number of bytes of UTF-8 of a text that are sent: fewer than the 512 tokens that small models read, in any script."""
RATE: Final = 300
"""Number of requests per minute to another machine."""


class EncoderFailed(PostilError):  # noqa: N818 - says what has happened
    """The endpoint of a sentence encoder gives no vectors, or none that can be used."""


@dataclass(frozen=True, eq=False, slots=True)
class Fingerprint:
    """Vectors of `TEXTS`, which tell an encoder from another one of its name.

    A hash of rounded vectors would change with the last bit of a number beside a bound, so encoders are compared by
    cosines, and the one that was seen first gives the signature. Of 384 numbers of three texts rounded to two digits,
    noise of 1e-5 moves at least one in .61 of 300 tries.

    Args:
        model: The endpoint's name of the encoder.
        vectors: float16[3, d], of length 1.

    >>> one, near, other = (Fingerprint("m", np.array([row] * 3, np.float16)) for row in ([0, 1], [0.01, 1], [1, 0]))
    >>> one.fits(near), one.fits(other), one.signature == other.signature
    (True, False, False)
    """

    model: str
    vectors: NDArray[np.float16]

    @classmethod
    def of(cls, model: str, vectors: NDArray[np.float32]) -> Fingerprint:
        """That of vectors of any length.

        Args:
            model: The endpoint's name of the encoder.
            vectors: float32[3, d].
        """
        wide = vectors.astype(np.float64)
        return cls(model, (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float16))

    @property
    def signature(self) -> str:
        """Name, dimension, and a hash of the vectors."""
        digest = hashlib.sha256(np.ascontiguousarray(self.vectors).tobytes()).hexdigest()
        return f"endpoint:{self.model}-{self.vectors.shape[1]}-{digest[:8]}"

    def fits(self, other: Fingerprint) -> bool:
        """True if another one is of the same encoder.

        Args:
            other: The other one.
        """
        if (self.model, self.vectors.shape) != (other.model, other.vectors.shape):
            return False
        mine, theirs = (each.vectors.astype(np.float64) for each in (self, other))
        return bool(((mine * theirs).sum(axis=1) >= NEAREST).all())

    def keep(self, folder: Path) -> None:
        """Keep it beside the blocks of an interrupted run.

        Args:
            folder: The folder that keeps them.
        """
        folder.mkdir(exist_ok=True)
        file = _kept(folder, self.model)
        part = file.with_suffix(".part.npy")
        np.save(part, self.vectors, allow_pickle=False)
        part.replace(file)

    @classmethod
    def kept(cls, folder: Path, model: str) -> list[Fingerprint]:
        """The one that an interrupted run has kept, if there is one.

        Args:
            folder: The folder that keeps it.
            model: The endpoint's name of the encoder.
        """
        with suppress(OSError, ValueError, EOFError):  # there is none, or no longer a whole one
            vectors = np.load(_kept(folder, model), allow_pickle=False)
            if vectors.dtype == np.float16 and vectors.ndim == 2 and len(vectors) == len(TEXTS):
                return [cls(model, vectors)]
        return []


def _kept(folder: Path, model: str) -> Path:
    return folder / f"encoded-{hashlib.blake2b(os.fsencode(model), digest_size=12).hexdigest()}-texts.npy"


class EndpointEncoder(SentenceEncoder):
    """A sentence encoder behind an endpoint. Its connections are closed when nobody has it any more.

    Args:
        client: Client of the endpoint.
        model: The endpoint's name of the encoder.
        known: Fingerprints of encoders, of which one of the same encoder gives the signature.

    Raises:
        EncoderFailed: The endpoint gives no vectors.
    """

    def __init__(self, client: Client, model: str, known: Iterable[Fingerprint] = ()) -> None:
        asked = _Asked(client, model)
        seen = Fingerprint.of(model, asked.vectors(TEXTS))
        self.fingerprint = next((each for each in known if each.fits(seen)), seen)
        dimensions = seen.vectors.shape[1]

        def vectors(texts: Sequence[str], jobs: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
            del jobs
            sent = [_beginning(text) for text in texts]
            found = asked.vectors(sent) if sent else np.zeros((0, dimensions), np.float32)
            if found.shape[1] != dimensions:
                raise asked.failure(f"expected vectors of {dimensions} dimensions, got {found.shape[1]}")
            return found, np.array([len(one) < len(text) for one, text in zip(sent, texts, strict=True)], np.bool_)

        super().__init__(vectors, self.fingerprint.signature)
        finalize(self, client.close)

    @property
    def signature(self) -> str:
        """See `postil.encoders.base.Encoder.signature`."""
        return self.name


@dataclass(frozen=True, slots=True)
class _Asked:
    """An endpoint that is asked for vectors."""

    client: Client
    model: str

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts, float32[n, d]; of a text that the endpoint finds too long, those of its first half."""
        from postil.endpoint.transport import TooLong  # noqa: PLC0415 - asyncio is behind it

        try:
            found = list(self._answers(texts))
        except TooLong as error:
            if len(texts) == 1 and len(texts[0]) == 1:
                raise self.failure(error.message) from error
        except EncoderFailed:
            raise
        except PostilError as error:
            raise self.failure(error.message) from error
        else:
            sizes = sorted({each.shape[1] for each in found})
            if len(sizes) > 1:
                raise self.failure(f"expected vectors of one dimension, got {', '.join(map(str, sizes))}")
            return np.concatenate(found)
        if len(texts) == 1:
            return self.vectors([texts[0][: len(texts[0]) // 2]])
        half = (len(texts) + 1) // 2
        return np.concatenate([self.vectors(texts[:half]), self.vectors(texts[half:])])

    def _answers(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        from postil.endpoint.chat import Failed  # noqa: PLC0415

        with closing(self.client.answers(_requests(self.model, texts))) as answers:
            for answer in answers:
                if isinstance(answer, Failed):
                    raise self.failure(answer.reason)
                yield answer.vectors

    def failure(self, problem: str | Message) -> EncoderFailed:
        return EncoderFailed("the endpoint gives no vectors by {model}: {problem}", model=self.model, problem=problem)


def _beginning(text: str) -> str:
    """The part of a text that is sent."""
    return text.encode()[:LONGEST].decode(errors="ignore")


def _requests(model: str, texts: Sequence[str]) -> Iterator[EmbeddingRequest]:
    from postil.endpoint.embeddings import EmbeddingRequest  # noqa: PLC0415 - asyncio is behind it

    for at in range(0, len(texts), TOGETHER):
        yield EmbeddingRequest(model=model, texts=tuple(texts[at : at + TOGETHER]))


def requests_for(model: str, texts: Iterable[str]) -> Iterator[EmbeddingRequest]:
    """Requests for the vectors of texts that are encoded together.

    Args:
        model: The endpoint's name of the encoder.
        texts: The texts; blank ones are not sent, and equal ones once.
    """
    stripped = dict.fromkeys(text.strip() for text in texts)
    yield from _requests(model, [_beginning(text) for text in stripped if text])


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderEndpoint:
    """An embeddings endpoint that the user named, and how patiently it is asked.

    Args:
        url: Its address.
        retries: Number of times that a failed call is repeated.
        timeout: Seconds until an answer must be there.
        keyed: True to send it the key of access of the environment.
        on_message: Callback for messages: the host before the first call if it is not this machine, and long waits.
    """

    url: str
    retries: int = 5
    timeout: float = 120.0
    keyed: bool = True
    on_message: OnMessage = lambda _: None

    def client(self, price: Price | None = None) -> Client:
        """Make a client.

        Args:
            price: Price of tokens, for estimates.

        Raises:
            UsageError: The address or the key is none.
            MissingExtra: httpx2 is not installed.
        """
        from postil.endpoint.client import Client, Pace  # noqa: PLC0415 - asyncio is behind it
        from postil.endpoint.limits import Limits, Rate  # noqa: PLC0415

        return Client(
            self.url,
            api_key=(os.environ.get("POSTIL_API_KEY") or None) if self.keyed else None,
            limits=Limits(price=price),
            pace=Pace(usual=Rate(RATE, "min"), retries=self.retries, timeout=self.timeout),
            on_message=self.on_message,
            setting="encoder",
        )

    def open(self, model: str, known: Iterable[Fingerprint] = ()) -> EndpointEncoder:
        """Open an encoder of it.

        Args:
            model: The endpoint's name of the encoder.
            known: Fingerprints of encoders, of which one of the same encoder gives the signature.

        Raises:
            EncoderFailed: It gives no vectors.
            UsageError: The address or the key is none.
            MissingExtra: httpx2 is not installed.
        """
        client = self.client()
        try:
            return EndpointEncoder(client, model, known)
        except BaseException:
            client.close()
            raise


def named_endpoint(endpoint: EncoderEndpoint | None, model: str) -> EncoderEndpoint:
    """The endpoint of a model's encoder.

    Args:
        endpoint: The endpoint that the user named; None where nobody did.
        model: The endpoint's name of the encoder.

    Raises:
        UsageError: Nobody named one.
    """
    if endpoint is None:
        raise UsageError(
            "the sentence encoder {model} is behind an endpoint, whose address no model keeps: name it with {encoder}",
            model=model,
            encoder=Setting("encoder", Blank("URL")),
        )
    return endpoint


def open_encoder(
    encoder: str, model: str | None, known: Iterable[Fingerprint] = (), *, on_message: OnMessage = lambda _: None
) -> SentenceEncoder:
    """Open an encoder that the user named: a folder, a package, or an endpoint.

    Args:
        encoder: Its name or address.
        model: The endpoint's name of it; None for any other encoder.
        known: Fingerprints of encoders behind endpoints, of which one of the same encoder gives the signature.
        on_message: Callback for status messages.

    Raises:
        UsageError: There is no such folder, or the endpoint's name of the encoder is missing.
        UnknownName: It is no known package.
        InvalidInput: The folder holds no sentence encoder.
        MissingExtra: The library that runs it or speaks to the endpoint is not installed.
        EncoderFailed: The endpoint gives no vectors.
    """
    if not is_address(encoder):
        return sentence_encoder(encoder)
    return EncoderEndpoint(url=encoder, on_message=on_message).open(endpoint_model(model), known)


def endpoint_model(model: str | None) -> str:
    """The endpoint's name of an encoder.

    Args:
        model: The name; None where nobody said it.

    Raises:
        UsageError: Nobody said it.
    """
    if model is None:
        raise UsageError(
            "name the sentence encoder at this endpoint with {model}", model=Setting("encoder_model", Blank("NAME"))
        )
    return model
