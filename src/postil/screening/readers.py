"""Readers of texts besides n-grams: a sentence encoder and a text classifier, whose numbers are columns of the fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, Self

import msgspec
import numpy as np

from postil.data.arrays import WHOLE, Expected
from postil.encoders.classifiers import open_classifier
from postil.encoders.endpoint_encoder import TEXTS, EndpointEncoder, Fingerprint, named_endpoint
from postil.encoders.sentences import sentence_encoder, unit_vectors
from postil.errors import InvalidInput, UsageError
from postil.messages import Setting
from postil.screening.classifier_labels import label_meanings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.corpus.passes import OnProgress
    from postil.data.model_folders import Model, ModelWriter
    from postil.encoders.classifiers import Classifier
    from postil.encoders.endpoint_encoder import EncoderEndpoint
    from postil.encoders.sentences import SentenceEncoder
    from postil.kernel.arrays import Floats

__all__ = ["Readers", "read_all"]

_SIGNATURE: Final = "encoder"
_PACKAGE: Final = "encoder_package"
_ENDPOINT: Final = "encoder_model"
"""Settings of a screen: signature of its encoder, the package that it is, its name at an endpoint."""
_FOLDER: Final = "encoder/model"
_TEXTS: Final = "encoder/texts"
"""Copy of the encoder, or its fingerprint behind an endpoint, within the folder of the screen."""
_CLASSIFIER: Final = "classifier"
_LABELS: Final = "classifier_labels"
"""Settings of a screen: signature of its classifier, and the meanings of its labels."""
_CLASSIFIER_FOLDER: Final = "classifier/model"
_MOST: Final = 8.0
"""Log odds beyond which a classifier is no surer; one such is a column of 1."""
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
        classifier_signature: Signature of the classifier; empty without one.
        meanings: ``hold`` or a reason for each of its labels that is read.
        classifier_folder: Folder of the classifier; None without one.
    """

    signature: str = ""
    package: str = ""
    fingerprint: Fingerprint | None = None
    open_encoder: Callable[[], SentenceEncoder] | None = None
    classifier_signature: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    classifier_folder: str | None = None

    def with_encoder(self, encoder: SentenceEncoder) -> Self:
        """With an encoder that is open.

        Args:
            encoder: The encoder.
        """
        return replace(
            self,
            signature=encoder.signature,
            package=encoder.package,
            fingerprint=encoder.fingerprint if isinstance(encoder, EndpointEncoder) else None,
            open_encoder=lambda: encoder,
        )

    def with_classifier(self, folder: str, labels: str | None) -> Self:
        """With a text classifier.

        Args:
            folder: Its folder.
            labels: Meanings of its labels, as the user wrote them; None for what their names tell.

        Raises:
            UsageError: There is no such folder, or the meanings are none.
            UnknownName: It has no such label.
            InvalidInput: The folder holds no classifier.
            MissingExtra: The library that runs it is not installed.
        """
        classifier = open_classifier(folder)
        meanings = label_meanings(labels, classifier.labels, exclusive=classifier.exclusive)
        return replace(self, classifier_signature=classifier.signature, meanings=meanings, classifier_folder=folder)

    @classmethod
    def open(cls, model: Model, endpoint: EncoderEndpoint | None) -> Self:
        """Those of a screen; an encoder is opened when it is first needed.

        Args:
            model: The folder of the screen.
            endpoint: The endpoint that its encoder is behind, as the user named it.

        Raises:
            InvalidInput: The folder is damaged.
        """
        found = cls()
        if model.config.get(_CLASSIFIER):
            found = cls(
                classifier_signature=model.setting(_CLASSIFIER, str),
                meanings=_meanings(model),
                classifier_folder=str(model.path / _CLASSIFIER_FOLDER),
            )
        if not model.config.get(_SIGNATURE):
            return found
        package, signature = model.setting(_PACKAGE, str), model.setting(_SIGNATURE, str)
        found = replace(found, signature=signature, package=package)
        if model.config.get(_ENDPOINT) is None:
            return replace(found, open_encoder=partial(sentence_encoder, package or str(model.path / _FOLDER)))
        texts = np.asarray(model.array(_TEXTS, Expected("float16", (len(TEXTS), None), low=-1)))
        fingerprint = Fingerprint(model.setting(_ENDPOINT, str), texts)
        return replace(found, fingerprint=fingerprint, open_encoder=partial(_behind, endpoint, fingerprint))

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

    @cached_property
    def classifier(self) -> Classifier | None:
        """The text classifier.

        Raises:
            InvalidInput: It is damaged, or not the one that the screen was made with.
            MissingExtra: The library that runs it is not installed.
        """
        if self.classifier_folder is None:
            return None
        found = open_classifier(self.classifier_folder)
        if found.signature != self.classifier_signature:
            problem = f"expected the classifier {self.classifier_signature}, got {found.signature}"
            raise InvalidInput(f"{problem}; train the screen again", where=self.classifier_folder)
        return found

    def check_endpoint(self, named: str | None) -> None:
        """Check that an endpoint that the user names is of use.

        Args:
            named: Its address; None where nobody names one.

        Raises:
            UsageError: No encoder of the screen is behind an endpoint.
        """
        if named is not None and self.fingerprint is None:
            raise UsageError(
                "{encoder}: the screen has no encoder behind an endpoint; leave it out",
                encoder=Setting("encoder", named),
            )

    def columns(self, texts: Sequence[str], jobs: int = 1) -> NDArray[np.float32]:
        """Columns of texts, float32[n, d].

        Args:
            texts: n texts.
            jobs: Number of threads.
        """
        parts = [np.zeros((len(texts), 0), np.float32)]
        if self.encoder is not None:
            parts.append(unit_vectors(self.encoder, texts, jobs).astype(np.float32))
        if self.classifier is not None:
            labels = {label: at for at, label in enumerate(self.classifier.labels)}
            if unknown := [label for label in self.meanings if label not in labels]:
                raise InvalidInput(
                    f"the classifier has no label {unknown[0]}; {WHOLE}", where=str(self.classifier_folder)
                )
            places = [labels[label] for label in self.meanings]
            odds = self.classifier.log_odds(texts, jobs)[:, places]
            parts.append((np.clip(odds, -_MOST, _MOST) / _MOST).astype(np.float32))
        return np.concatenate(parts, axis=1)

    def label_probabilities(self, columns: NDArray[np.float32]) -> dict[str, Floats]:
        """Probabilities of the labels of the classifier, float64[n] each, by what they mean: the highest of several.

        Args:
            columns: float32[n, d]; see `columns`.
        """
        found: dict[str, Floats] = {}
        first = columns.shape[1] - len(self.meanings)
        for at, meaning in enumerate(self.meanings.values(), first):
            chance = 1 / (1 + np.exp(-_MOST * columns[:, at].astype(np.float64)))
            found[meaning] = np.maximum(found.get(meaning, chance), chance)
        return found

    def settings(self) -> dict[str, object]:
        """Settings that a screen keeps."""
        found: dict[str, object] = {}
        if self.classifier_signature:
            found |= {_CLASSIFIER: self.classifier_signature, _LABELS: dict(self.meanings)}
        if self.signature:
            found |= {_SIGNATURE: self.signature, _PACKAGE: self.package}
        return found if self.fingerprint is None else {**found, _ENDPOINT: self.fingerprint.model}

    def save(self, new: ModelWriter) -> None:
        """Write copies into the folder of a screen in the making.

        Args:
            new: The folder.
        """
        if self.fingerprint is not None:
            new.array(_TEXTS, self.fingerprint.vectors)
        for name, file in (self.encoder.files() if self.encoder is not None else {}).items():
            new.write(f"{_FOLDER}/{name}", file.read_bytes())
        for name, file in (self.classifier.files() if self.classifier is not None else {}).items():
            new.write(f"{_CLASSIFIER_FOLDER}/{name}", file.read_bytes())


def _meanings(model: Model) -> dict[str, str]:
    try:
        return msgspec.convert(model.config.get(_LABELS), dict[str, str])
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{error}; {WHOLE}", where=str(model.path / "config.json"), field=_LABELS) from error


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
    if readers.encoder is None and readers.classifier is None:
        return readers.columns(texts)
    blocks = [texts[at : at + _BLOCK] for at in range(0, len(texts), _BLOCK)]
    with on_progress("blocks of texts read", blocks, len(blocks)) as stream:
        found = [readers.columns(block, jobs) for block in stream]
    return np.concatenate([readers.columns([]), *found]) if found else readers.columns([])
