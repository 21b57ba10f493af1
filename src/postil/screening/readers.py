"""Readers of texts besides n-grams: a sentence encoder, whose numbers are columns of the same fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from postil.data.arrays import Expected
from postil.encoders.endpoint_encoder import TEXTS, EndpointEncoder, Fingerprint, named_endpoint
from postil.encoders.sentences import sentence_encoder, unit_vectors
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from postil.corpus.passes import OnProgress
    from postil.data.model_folders import Model, ModelWriter
    from postil.encoders.endpoint_encoder import EncoderEndpoint
    from postil.encoders.sentences import SentenceEncoder

__all__ = ["Readers", "read_all"]

_SIGNATURE: Final = "encoder"
_PACKAGE: Final = "encoder_package"
_ENDPOINT: Final = "encoder_model"
"""Settings of a screen: signature of its encoder, the package that it is, its name at an endpoint."""
_FOLDER: Final = "encoder/model"
_TEXTS: Final = "encoder/texts"
"""Copy of the encoder, or its fingerprint behind an endpoint, within the folder of the screen."""
_BLOCK: Final = 256
"""Number of texts that are read between two steps of progress."""


@dataclass(frozen=True, eq=False)
class Readers:
    """Readers of texts besides n-grams.

    Args:
        signature: Signature of the sentence encoder; empty without one.
        package: The installed package that is the encoder; empty where the screen has a copy or an endpoint.
        fingerprint: Fingerprint of an encoder behind an endpoint; None for any other.
        open_encoder: Function that opens the encoder, which takes a second; None without one.
    """

    signature: str = ""
    package: str = ""
    fingerprint: Fingerprint | None = None
    open_encoder: Callable[[], SentenceEncoder] | None = None

    @classmethod
    def of(cls, encoder: SentenceEncoder | None) -> Self:
        """Those of an encoder that is open.

        Args:
            encoder: The encoder; None for n-grams alone.
        """
        if encoder is None:
            return cls()
        fingerprint = encoder.fingerprint if isinstance(encoder, EndpointEncoder) else None
        return cls(encoder.signature, encoder.package, fingerprint, lambda: encoder)

    @classmethod
    def open(cls, model: Model, endpoint: EncoderEndpoint | None) -> Self:
        """Those of a screen; an encoder is opened when it is first needed.

        Args:
            model: The folder of the screen.
            endpoint: The endpoint that its encoder is behind, as the user named it.

        Raises:
            InvalidInput: The folder is damaged.
        """
        if not model.config.get(_SIGNATURE):
            return cls()
        package, signature = model.setting(_PACKAGE, str), model.setting(_SIGNATURE, str)
        if model.config.get(_ENDPOINT) is None:
            return cls(signature, package, None, partial(sentence_encoder, package or str(model.path / _FOLDER)))
        texts = np.asarray(model.array(_TEXTS, Expected("float16", (len(TEXTS), None), low=-1)))
        fingerprint = Fingerprint(model.setting(_ENDPOINT, str), texts)
        return cls(signature, package, fingerprint, partial(_behind, endpoint, fingerprint))

    @cached_property
    def encoder(self) -> SentenceEncoder | None:
        """The sentence encoder.

        Raises:
            InvalidInput: It is not the one that the screen was made with.
            MissingExtra: The library that runs it is not installed.
            UsageError: The package that is the encoder is not installed, or nobody named its endpoint.
            EncoderFailed: The endpoint gives no vectors.
        """
        if self.open_encoder is None:
            return None
        found = self.open_encoder()
        if found.signature != self.signature:
            problem = f"expected the encoder {self.signature}, got {found.signature}"
            raise InvalidInput(f"{problem}; train the screen again with this one", where=found.name)
        return found

    def columns(self, texts: Sequence[str], jobs: int = 1) -> NDArray[np.float32]:
        """Columns of texts, float32[n, d].

        Args:
            texts: n texts.
            jobs: Number of threads.
        """
        if self.encoder is None:
            return np.zeros((len(texts), 0), np.float32)
        return unit_vectors(self.encoder, texts, jobs).astype(np.float32)

    def settings(self) -> dict[str, object]:
        """Settings that a screen keeps."""
        if not self.signature:
            return {}
        own = {} if self.fingerprint is None else {_ENDPOINT: self.fingerprint.model}
        return {_SIGNATURE: self.signature, _PACKAGE: self.package, **own}

    def save(self, new: ModelWriter) -> None:
        """Write copies into the folder of a screen in the making.

        Args:
            new: The folder.
        """
        if self.fingerprint is not None:
            new.array(_TEXTS, self.fingerprint.vectors)
        for name, file in (self.encoder.files() if self.encoder is not None else {}).items():
            new.write(f"{_FOLDER}/{name}", file.read_bytes())


def _behind(endpoint: EncoderEndpoint | None, fingerprint: Fingerprint) -> SentenceEncoder:
    return named_endpoint(endpoint, fingerprint.model).open(fingerprint.model, [fingerprint])


def read_all(readers: Readers, texts: Sequence[str], jobs: int, on_progress: OnProgress) -> NDArray[np.float32]:
    """Columns of many texts, with progress.

    Args:
        readers: Readers.
        texts: n texts.
        jobs: Number of threads.
        on_progress: Progress bar.
    """
    if readers.encoder is None:
        return readers.columns(texts)
    blocks = [texts[at : at + _BLOCK] for at in range(0, len(texts), _BLOCK)]
    with on_progress("blocks of texts encoded", blocks, len(blocks)) as stream:
        found = [readers.columns(block, jobs) for block in stream]
    return np.concatenate([readers.columns([]), *found]) if found else readers.columns([])
