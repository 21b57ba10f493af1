"""A screen: probabilities that a site's moderators hold a text, learned from what they held.

The folder is a model folder:

| file | content |
|---|---|
| ``config.json`` | targets with their calibration, threshold, attributes, languages, what reads texts besides n-grams |
| ``columns``, ``idf``, ``weights``, ``dense`` | the m known columns, and the weights of each target |
| ``decisions/…`` | what it learned from: columns and hashes of ids, no text; see `Decisions` |
| ``encoder/…``, ``classifier/…`` | copies of what reads texts besides, if anything does |
| ``metadata.json`` | options, evaluation, what was erased, checksums |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, Self

import msgspec
import numpy as np

from postil.data.arrays import Expected
from postil.data.model_folders import Model, ModelWriter
from postil.errors import InvalidInput
from postil.screening.decisions import ARRAYS, Decisions
from postil.screening.features import COLUMNS, Counts, Vocabulary, count_grams
from postil.screening.fit import Calibration, DecidedTexts, LearnedWeights
from postil.screening.readers import Readers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.data.arrays import AnyArray
    from postil.data.streams import FilePath
    from postil.encoders.endpoint_encoder import EncoderEndpoint
    from postil.kernel.arrays import Floats

__all__ = ["HOLD", "KIND", "Screen", "ScreenSettings", "Screened", "Target", "read_decisions", "write_screen"]

KIND: Final = "screen"
"""Kind of the model folder."""
HOLD: Final = "hold"
"""Name of the target that is the decision, whatever the reason."""


class Screened(msgspec.Struct, frozen=True):
    """Probabilities and decision of a screen for a text.

    Args:
        probability: Probability that moderators hold it, whatever the reason.
        decision: ``hold`` from the screen's threshold on, else ``keep``.
        reasons: Probability of each reason that the screen has learned, in the site's own words.
        attributes: Probability of each attribute that it answers.
    """

    probability: float
    decision: Literal["keep", "hold"]
    reasons: Mapping[str, float]
    attributes: Mapping[str, float]


class Target(msgspec.Struct, frozen=True):
    """A target of a screen.

    Args:
        name: ``hold``, the name of a reason, or of an attribute that several reasons make.
        slope: Slope of its calibration.
        offset: Offset of its calibration.
        reason: True for a reason.
    """

    name: str
    slope: float
    offset: float
    reason: bool = False

    @property
    def calibration(self) -> Calibration:
        """Its calibration."""
        return Calibration(self.slope, self.offset)


class ScreenSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a screen, in its ``config.json``.

    Args:
        targets: Its targets, the decision first.
        threshold: Probability from which a text is held.
        attributes: The target of each attribute that it answers.
        languages: Languages of most of the decisions that it learned from, where known.
        reasons: Names of all reasons of the decisions.
        all_languages: All languages of the decisions.
        read_reasons: Reasons that are read by the classifier alone, as the decisions do not teach them.
    """

    targets: tuple[Target, ...]
    threshold: float
    attributes: dict[str, str]
    languages: tuple[str, ...]
    reasons: tuple[str, ...]
    all_languages: tuple[str, ...]
    read_reasons: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Screen:
    """An open screen; `open` it.

    Args:
            path: Its folder.
        hash: The hash of its folder.
        settings: Its settings.
        weights: Logits of its targets.
        readers: Readers of texts besides n-grams.
    """

    path: Path
    hash: str
    settings: ScreenSettings
    weights: LearnedWeights
    readers: Readers

    @classmethod
    def open(cls, folder: FilePath, endpoint: EncoderEndpoint | None = None) -> Self:
        """Open a screen.

        Args:
            folder: The folder that ``postil train screen`` made.
            endpoint: The endpoint that its sentence encoder is behind, if it is behind one.

        Raises:
            InvalidInput: There is no such screen, or it is damaged.
        """
        model = Model.open(folder, {KIND})
        settings = _settings(model)
        columns = model.array("columns", Expected("uint32", (None,), low=0, high=2 * COLUMNS - 1))
        size, targets = len(columns), len(settings.targets)
        vocabulary = Vocabulary(
            columns, model.array("idf", Expected("float32", (size,), low=0)), model.setting(_UNSEEN, float)
        )
        weights = LearnedWeights(
            vocabulary,
            model.array("weights", Expected("float32", (targets, size))),
            model.array("dense", Expected("float32", (targets, None))),
            model.array("intercepts", Expected("float64", (targets,))),
        )
        return cls(model.path, model.hash, settings, weights, Readers.open(model, endpoint))

    def holding_from(self, threshold: float | None) -> Self:
        """The same screen with another threshold.

        Args:
            threshold: Probability from which a text is held; None for its own.
        """
        if threshold is None:
            return self
        return replace(self, settings=msgspec.structs.replace(self.settings, threshold=threshold))

    @property
    def threshold(self) -> float:
        """Probability from which a text is held."""
        return self.settings.threshold

    @property
    def attributes(self) -> Mapping[str, str]:
        """The target of each attribute that it answers, by name."""
        return self.settings.attributes

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages of most of the decisions that it learned from, where known."""
        return self.settings.languages

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons with a probability of their own, in the site's own words."""
        taught = (each.name for each in self.settings.targets if each.reason)
        return (*taught, *self.settings.read_reasons)

    def judge(self, texts: Sequence[str], jobs: int = 1) -> list[Screened]:
        """Tell what moderators would do with texts.

        Args:
            texts: The texts, without mark-up.
            jobs: Number of threads of what reads texts besides n-grams.

        Raises:
            PostilError: What reads texts besides n-grams fails.
        """
        columns = self.readers.columns(texts, jobs)
        found = dict(
            zip((each.name for each in self.settings.targets), self._probabilities(texts, columns).T, strict=True)
        )
        read = self.readers.label_probabilities(columns)
        found |= {name: read[name] for name in self.settings.read_reasons}
        rows = [dict(zip(found, row, strict=True)) for row in np.stack([*found.values()], axis=1).tolist()]
        return [
            Screened(
                probability=row[HOLD],
                decision="hold" if row[HOLD] >= self.threshold else "keep",
                reasons={name: row[name] for name in self.reasons},
                attributes={name: row[target] for name, target in self.attributes.items()},
            )
            for row in rows
        ]

    def probabilities(self, texts: Sequence[str], jobs: int = 1) -> Floats:
        """Probability of each target, float64[n, t]; see `judge`.

        Args:
            texts: n texts.
            jobs: Number of threads of readers of texts besides n-grams.
        """
        return self._probabilities(texts, self.readers.columns(texts, jobs))

    def _probabilities(self, texts: Sequence[str], columns: NDArray[np.float32]) -> Floats:
        logits = self.weights.logits(DecidedTexts(count_grams(texts), columns))
        calibrations = [each.calibration for each in self.settings.targets]
        return np.stack([each.probabilities(logits[:, at]) for at, each in enumerate(calibrations)], axis=1)


def write_screen(
    folder: FilePath,
    settings: ScreenSettings,
    metadata: Mapping[str, object],
    *,
    weights: LearnedWeights,
    decisions: Decisions,
    readers: Readers,
    replace: bool = False,
    before: Model | None = None,
) -> None:
    """Write the folder of a screen.

    Args:
        folder: The folder.
        settings: Its settings.
        metadata: Options and evaluation of its training, and what was erased.
        weights: Logits of its targets.
        decisions: The decisions that it learned from.
        readers: Readers of texts besides n-grams.
        replace: True to replace a folder that is there.
        before: The screen before, with the same readers, whose copies are taken without opening a reader.

    Raises:
        UsageError: The folder cannot be made or replaced.
        PostilError: The operating system reports an error.
    """
    config = {**msgspec.to_builtins(settings), _UNSEEN: weights.vocabulary.unseen, **readers.settings()}
    counts = decisions.texts.counts
    kept: dict[str, AnyArray] = {"offsets": counts.offsets, "columns": counts.columns, "counts": counts.counts}
    kept |= {"dense": decisions.texts.dense, **{name: getattr(decisions, name) for name in ARRAYS}}
    with ModelWriter(folder, KIND, config, metadata, replace=replace) as new:
        new.array("columns", weights.vocabulary.columns)
        new.array("idf", weights.vocabulary.idf)
        new.array("weights", weights.sparse)
        new.array("dense", weights.dense)
        new.array("intercepts", weights.intercepts)
        for name, values in kept.items():
            new.array(f"{_DECISIONS}/{name}", values)
        if before is None:
            readers.save(new)
        else:
            new.share(before)


def _settings(model: Model) -> ScreenSettings:
    try:
        return msgspec.convert(model.config, ScreenSettings)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{error}; was the file changed?", where=str(model.path / "config.json")) from error


_UNSEEN: Final = "unseen"
"""Setting of a screen: the idf of a column that no text had."""
_DECISIONS: Final = "decisions"
"""Folder of what a screen learned from."""
_DTYPES: Final[Mapping[str, str]] = {
    "held": "bool",
    "reason": "int16",
    "language": "int16",
    "dates": "float64",
    "lengths": "int32",
    "author": "uint64",
    "text": "uint64",
}


def read_decisions(model: Model) -> Decisions:
    """Read what a screen learned from.

    Args:
        model: Its folder.

    Raises:
        InvalidInput: It is damaged.
    """
    settings = _settings(model)
    held = model.array(f"{_DECISIONS}/held", Expected("bool"), mapped=False)
    size = len(held)
    columns = model.array(f"{_DECISIONS}/columns", Expected("uint32", (None,), low=0, high=2 * COLUMNS - 1))
    offsets = model.array(f"{_DECISIONS}/offsets", Expected("int64", (size + 1,), end=len(columns)))
    counts = model.array(f"{_DECISIONS}/counts", Expected("uint8", (len(columns),), low=1))
    dense = model.array(f"{_DECISIONS}/dense", Expected("float32", (size, None)), mapped=False)
    arrays = {
        name: model.array(f"{_DECISIONS}/{name}", Expected(dtype, (size,)), mapped=False)
        for name, dtype in _DTYPES.items()
    }
    keys = model.array(f"{_DECISIONS}/keys", Expected("uint8", (size, 32)), mapped=False)
    return Decisions(
        texts=DecidedTexts(Counts(offsets, columns, counts), dense),
        reasons=settings.reasons,
        languages=settings.all_languages,
        keys=keys,
        **arrays,
    )
