"""Working directory of a training, next to the model folder, from which an interrupted training resumes."""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import numpy as np

from postil.comments.nn.batches import Commented, Ragged
from postil.comments.nn.distributed import broadcast_from_main, is_main_process
from postil.comments.store import Model, training_folder
from postil.data.atomic_file import locked
from postil.data.progress import OnMessage, live
from postil.training.texts import CorpusTexts, first_vectors, hash_of_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.comments.options import GeneratorOptions, RelevanceOptions, TrainingOptions
    from postil.data.streams import FilePath

__all__ = ["TrainingDirectory"]


_APART: Final = ("address", "engine", "jobs", "training")
"""Options that the model does not depend on, and those of the network, which are recorded on their own."""

Trained_co = TypeVar("Trained_co", covariant=True)


class Train(Protocol[Trained_co]):
    """A function that trains a network."""

    def __call__(
        self,
        folder: Path,
        *,
        embeddings: NDArray[np.float32] | None,
        metadata: Mapping[str, object],
        on_message: OnMessage,
        on_progress: Callable[[object], None],
    ) -> Trained_co:
        """Train the network.

        Args:
            folder: The model folder to write.
            embeddings: Pretrained embeddings, float32[words, embedding_dim]; None for random ones.
            metadata: Further metadata of the model.
            on_message: Callback for status messages.
            on_progress: Callback after each step.
        """


@dataclass(frozen=True)
class TrainingDirectory:
    """The folder ``.MODEL.training``.

    Args:
        model: The model folder to write.
        texts: Texts to train on.
        embeddings: A folder of word vectors, ``corpus`` or ``none``.
        seed: Seed of the training of word vectors.
        on_message: Callback for status messages.
    """

    model: FilePath
    texts: CorpusTexts
    embeddings: str
    seed: int
    on_message: OnMessage

    @property
    def folder(self) -> Path:
        """Path of the folder."""
        return training_folder(self.model)

    @property
    def _given(self) -> str | None:
        return None if self.embeddings == "corpus" else self.embeddings

    def metadata(
        self, options: Mapping[str, object], training: TrainingOptions | None, dev: object
    ) -> dict[str, object]:
        """Record of the training in the model: no paths, nothing about this machine.

        Args:
            options: Options by name.
            training: Options of the network's training; None without a network.
            dev: Result on dev; JSON.
        """
        corpus = self.texts.corpus.metadata
        settings = {name: value for name, value in options.items() if name not in _APART}
        settings["embeddings"] = hash_of_vectors(self._given)
        if training is None:
            del settings["network"]
        else:
            settings["training"] = training.portable()
        return {"options": settings, "corpus": corpus.origin, "tokenizer": corpus.tokenizer, "dev": dev}

    def split(self, name: str, target: str = "comments") -> Commented:
        """Source and target texts of a split of the corpus.

        Args:
            name: The split.
            target: ``comments`` or ``title``.

        Raises:
            UsageError: The corpus has no such split.
        """
        texts = self.texts
        texts.check_split(name)
        articles = Ragged(*texts.articles(name))
        if target == "title":
            return Commented(articles, Ragged(*texts.titles(name)), np.arange(len(articles.offsets)))
        return Commented(articles, Ragged(*texts.comments(name)), texts.starts(name))

    def train(
        self,
        name: str,
        network: GeneratorOptions | RelevanceOptions,
        training: TrainingOptions,
        train: Train[Trained_co],
        load: Callable[[Path], Trained_co],
        *,
        target: str = "comments",
    ) -> Trained_co | None:
        """Train a network, or load the one that an interrupted run has trained already.

        Under torchrun the main process alone prepares and prints.

        Args:
            name: Name of its folder.
            network: Options of the network.
            training: Options of its training.
            train: Function that trains it.
            load: Function that loads it.
            target: ``comments`` or ``title``.

        Returns:
            The network; None in other processes than the main one.

        Raises:
            UsageError: Options do not fit, or another process trains the model.
            InvalidInput: Word vectors are damaged.
            PostilError: The operating system reports an error, or the training fails.
        """
        folder = self.folder / name
        request = {
            "network": network.recorded(),
            "training": training.portable(),
            "target": target,
            "embeddings": hash_of_vectors(self._given),
            "texts": self.texts.about,
        }

        def prepare() -> bool:
            """Lock the folder and train word vectors; True if the network is trained already."""
            held.enter_context(locked(self.folder, f"{self.model}: another training of this model is running"))
            if folder.exists():
                if Model.open(folder).metadata.get("request") == json.loads(json.dumps(request)):
                    return True
                shutil.rmtree(folder)
            self._vectors(network.embedding_dim, self.on_message)
            return False

        with ExitStack() as held:
            # Others wait here until the main process has prepared everything, and read the word vectors it stored.
            if broadcast_from_main(prepare, training.device):
                return load(folder) if is_main_process() else None
            vectors = self._vectors(network.embedding_dim, lambda _: None)
            with live() if is_main_process() else nullcontext(lambda _: None) as show:
                metadata = {"request": request}
                trained = train(
                    folder, embeddings=vectors, metadata=metadata, on_message=self.on_message, on_progress=show
                )
            return trained if is_main_process() else None

    def _vectors(self, size: int, on_message: OnMessage) -> NDArray[np.float32] | None:
        return first_vectors(
            self.texts, self.folder, given=self._given, size=size, seed=self.seed, on_message=on_message
        )

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
