"""Text classifiers: the probability of each label of a text, by a network in a local folder.

Networks are those of transformers with a head for sequences, and ONNX graphs of them.
"""

from __future__ import annotations

import mmap
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from postil.encoders.base import HALF_PAIR, model_folder, open_once
from postil.encoders.model_files import CONFIG, UNLIMITED, ModelFiles
from postil.encoders.networks import EXTRA, OnnxNetwork, TransformersNetwork, one_thread
from postil.encoders.token_batches import TokenBatches, TokenReader
from postil.errors import InvalidInput, needs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Classifier", "LabelModel", "OnnxClassifier", "TransformersClassifier", "open_classifier"]

LOGITS: Final = "logits"
LONGEST: Final = 512
"""Number of tokens that are read of a text where the folder names no largest one."""
CHARACTERS: Final = 100
"""Characters of a text that are tokenized for each token that is read, so that a text of a book costs no seconds."""
DYNAMIC: Final = b"DynamicQuantize"
"""Beginning of the operators that scale by the largest number of a batch."""
MULTI_LABEL: Final = "multi_label_classification"
PROBLEMS: Final = (MULTI_LABEL, "single_label_classification")


class LabelModel(TokenReader, Protocol):
    """A tokenizer, and a network that gives the texts of its tokens numbers for labels."""

    @property
    def has_segments(self) -> bool:
        """True if tokens of a single text are in segments besides the first, which the network is not told."""

    def logits(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Logits of b texts, float32[b, k].

        Args:
            ids: int64[b, l].
            mask: int64[b, l], all 1, as texts are not padded.
        """


class Classifier:
    """Probabilities of the labels of texts.

    A text is stripped of white space at both ends and cut at the longest that the model takes. Batches hold texts of
    one number of tokens, so that none is padded, and heads that read the last token need no rule of their own. So the
    other texts of a batch change the probabilities of a text by rounding of single precision at most. Several threads
    may use one classifier.

    Args:
        model: The network and its tokenizer.
        labels: Names of the k labels.
        signature: Name by the content of the model.
        exclusive: True if a text has exactly one of the labels (softmax), False if each is decided alone (sigmoid).
        files: Files of the model.
        where: Folder of the model, for messages.
        single: Context in which the calling thread calculates alone; by default none is needed.

    >>> class Length:
    ...     longest, rows, wide, step, padding, has_segments = 4, 128, 256, 1, 0, False
    ...
    ...     def tokenize(self, texts, longest):
    ...         return [[ord(each) for each in text][:longest] for text in texts]
    ...
    ...     def logits(self, ids, mask):
    ...         return np.stack([mask.sum(axis=1) - 2, np.zeros(len(ids))], axis=1).astype(np.float32)
    >>> classifier = Classifier(Length(), ("long", "short"), "length", exclusive=True)
    >>> classifier.probabilities(["ab", " abc"]).round(3).tolist()
    [[0.5, 0.5], [0.731, 0.269]]
    """

    def __init__(
        self,
        model: LabelModel,
        labels: Sequence[str],
        signature: str,
        *,
        exclusive: bool,
        files: ModelFiles | None = None,
        where: str = "model",
        single: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._model = model
        self.labels = tuple(labels)
        self.signature = signature
        self.exclusive = exclusive
        self._files = files
        self._batches = TokenBatches(model, where, single, narrow=1)

    def log_odds(self, texts: Sequence[str], jobs: int = 1) -> NDArray[np.float64]:
        """Log odds of each label: the logits of a sigmoid, and of a softmax each against all others together.

        They are what a linear model takes, since they are not bounded, and do not change where a softmax's logits are
        all moved.

        Args:
            texts: n texts.
            jobs: Number of threads; the result does not depend on it.

        Returns:
            float64[n, k].

        Raises:
            InvalidInput: The tokenizer has an id that the network does not know, or its numbers are not finite.
        """
        longest = self._model.longest if self._model.longest < UNLIMITED else LONGEST
        read = [HALF_PAIR.sub("\ufffd", text.strip()[: longest * CHARACTERS]) for text in texts]
        numbers: dict[str, int] = {}
        index = [numbers.setdefault(text, len(numbers)) for text in read]
        nothing = [self._model.padding]  # what stands for a text without a token, as an empty one may be
        tokens = [ids or nothing for ids in self._batches.tokenize(list(numbers), longest)]
        logits = np.zeros((len(numbers), len(self.labels)))
        for i, row in self._batches.run(self._model.logits, tokens, range(len(tokens)), jobs):
            self._batches.check_finite(row)
            logits[i] = row
        return (_against_others(logits) if self.exclusive and len(self.labels) > 1 else logits)[index]

    def probabilities(self, texts: Sequence[str], jobs: int = 1) -> NDArray[np.float64]:
        """Probability of each label, 0 to 1; those of a text add up to 1 where labels exclude each other.

        Args:
            texts: n texts.
            jobs: Number of threads; the result does not depend on it.

        Returns:
            float64[n, k].

        Raises:
            InvalidInput: The tokenizer has an id that the network does not know, or its numbers are not finite.
        """
        return np.asarray(np.exp(-np.logaddexp(0, -self.log_odds(texts, jobs))))

    def files(self) -> dict[str, Path]:
        """Files of the model by their name in its folder, those that opening a copy reads."""
        return {} if self._files is None else self._files.by_name()


def _against_others(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log odds of each of k exclusive labels, float64[n, k]: its logit less the log of the sum of the others' exps."""
    others = [np.logaddexp.reduce(np.delete(logits, i, axis=1), axis=1) for i in range(logits.shape[1])]
    return np.asarray(logits - np.stack(others, axis=1))


def open_classifier(folder: str, *, multi_label: bool | None = None) -> Classifier:
    """Open the text classifier of a local folder; the same one is opened once.

    Args:
        folder: A folder of the transformers library with safetensors, or one with ``model.onnx``, ``tokenizer.json``
            and ``config.json``. Nothing is downloaded.
        multi_label: True where a text may have several labels (a sigmoid for each), False where it has one (softmax);
            by default what ``problem_type`` of ``config.json`` says, and one label where it says nothing. A network
            with a single label has a sigmoid.

    Raises:
        UsageError: There is no such folder.
        InvalidInput: The folder holds no classifier of texts, one that is pickled, parts that do not fit together, or
            another number of labels than the network has.
        MissingExtra: The library that runs it is not installed.
    """
    return open_once(ModelFiles.find(model_folder(folder, "a classifier")).folder, _Opening(multi_label))


@dataclass(frozen=True, slots=True)
class _Opening:
    """Function that opens a classifier; equal ones find it open."""

    multi_label: bool | None

    def __call__(self, folder: Path) -> Classifier:
        files = ModelFiles.find(folder)
        where = str(folder / CONFIG)
        multi_label = _multi_label(files.config, where) if self.multi_label is None else self.multi_label
        labels = _labels(files.config, where)
        model: LabelModel
        single: Callable[[], AbstractContextManager[None]] = nullcontext
        with needs(f"the classifier in {folder}", EXTRA):
            if files.graph is not None:
                model = OnnxClassifier(files, files.graph)
            else:
                model, single = TransformersClassifier(files), one_thread
        with single():
            count = _count(model, str(folder))
        labels = labels or tuple(f"LABEL_{i}" for i in range(count))
        if len(labels) != count:
            problem = f"expected {count} labels, as the network has, got {len(labels)}: {', '.join(labels)}"
            raise InvalidInput(problem, where=where, field="id2label")
        exclusive = count > 1 and not multi_label
        name = f"{files.signature}-{'softmax' if exclusive else 'sigmoid'}"
        return Classifier(model, labels, name, exclusive=exclusive, files=files, where=str(folder), single=single)


class TransformersClassifier(TransformersNetwork):
    """A network of the transformers library with a head for sequences; see `LabelModel`.

    Args:
        files: Files of the model.

    Raises:
        InvalidInput: The files are no classifier or no tokenizer that the library knows, or do not fit together.
    """

    step = 1

    def __init__(self, files: ModelFiles) -> None:
        super().__init__(files, "AutoModelForSequenceClassification")
        if self.config.is_encoder_decoder or self.config.get_text_config().pad_token_id is None:
            # These heads take the last token, and refuse texts together that name the end differently often, or that
            # they could not tell from padding.
            self.wide = 1

    def logits(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `LabelModel.logits`."""
        return self.run(ids, mask)


class OnnxClassifier(OnnxNetwork):
    """An ONNX graph with logits of texts; see `LabelModel`.

    Args:
        files: Files of the model.
        graph: The graph.

    Raises:
        InvalidInput: The graph or the tokenizer cannot be read, or the graph asks for more than token ids of any
            number of texts, or it has no logits.
    """

    def __init__(self, files: ModelFiles, graph: Path) -> None:
        super().__init__(files)
        self.step = 1
        if LOGITS not in self.outputs and len(self.outputs) > 1:
            raise InvalidInput(f"no output {LOGITS}, only {', '.join(self.outputs)}", where=str(graph))
        self._output = LOGITS if LOGITS in self.outputs else self.outputs[0]
        for name, shape in self.inputs.items():
            if any(isinstance(each, int) for each in shape):
                problem = f"input {name} has the shape {shape}, expected one for any number of texts and tokens"
                raise InvalidInput(problem, where=str(graph))
        with graph.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if content.find(DYNAMIC) >= 0:
                self.wide = 1  # the texts of a batch would change each other's numbers

    def logits(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `LabelModel.logits`."""
        return self.run(self._output, ids, mask)


def _count(model: LabelModel, where: str) -> int:
    """Number of labels of a network, which is run on a text."""
    if model.has_segments:
        raise InvalidInput(
            "its tokenizer puts tokens of one text into several segments, which is not known", where=where
        )
    (ids,) = model.tokenize(["a"], min(model.longest, LONGEST))
    rows = np.array([ids or [model.padding]], np.int64)
    try:
        logits = model.logits(rows, np.ones_like(rows))
    except Exception as error:  # any, as the libraries raise many kinds
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InvalidInput(f"the network cannot be run: {said}", where=where) from error
    if logits.ndim != 2 or len(logits) != 1:
        problem = f"expected one number for each label of a text, got an array of the shape {logits.shape}"
        raise InvalidInput(problem, where=where)
    return int(logits.shape[1])


def _multi_label(config: Mapping[str, object], where: str) -> bool:
    """True if a text may have several labels, by the configuration."""
    problem = config.get("problem_type")
    if problem == "regression":
        raise InvalidInput("regression gives numbers that are no probabilities", where=where, field="problem_type")
    if problem not in {*PROBLEMS, None}:
        raise InvalidInput(f"expected {' or '.join(PROBLEMS)}, got {problem}", where=where, field="problem_type")
    return problem == MULTI_LABEL


def _labels(config: Mapping[str, object], where: str) -> tuple[str, ...]:
    """Labels of the configuration in their order; none where it leaves them to the library, which numbers them."""
    kinds = config.get("architectures")
    named = [str(each) for each in kinds] if isinstance(kinds, list) else []
    fitting = [each for each in named if "Classification" in each and "Token" not in each]
    if named and not fitting:
        problem = f"expected a network for the classification of sequences, got {', '.join(named)}"
        raise InvalidInput(problem, where=where, field="architectures")
    found = config.get("id2label")
    if found is None and fitting:
        return ()
    if not isinstance(found, dict) or not found:
        raise InvalidInput('expected the names of the labels, such as {"0": "toxic"}', where=where, field="id2label")
    labels = tuple(str(found.get(str(i), "")).strip() for i in range(len(found)))
    if not all(labels) or len(set(labels)) < len(labels):
        problem = f"expected the names of the labels 0 to {len(labels) - 1}, each another one, got {found}"
        raise InvalidInput(problem, where=where, field="id2label")
    return labels
