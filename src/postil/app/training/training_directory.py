"""Where the network of a model is trained: beside the model, so that an interrupted run finds again what was done."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from postil.app.corpus.texts import CorpusTexts, first_vectors, hash_of_vectors
from postil.app.progress import live
from postil.commenters.nn.batches import Commented, Ragged
from postil.commenters.nn.distributed import broadcast_from_main, is_main_process
from postil.commenters.store import Model
from postil.errors import UsageError
from postil.records.lock import locked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from postil.app.progress import Say
    from postil.records.row_files import FilePath

__all__ = ["Workshop", "anywhere"]

Trained_co = TypeVar("Trained_co", covariant=True)


class Train(Protocol[Trained_co]):
    """Trains a network."""

    def __call__(
        self,
        folder: Path,
        *,
        embeddings: NDArray[np.float32] | None,
        metadata: Mapping[str, Any],
        on_message: Say,
        on_progress: Callable[[object], None],
    ) -> Trained_co:
        """Train.

        Args:
            folder: The folder to make.
            embeddings: Pretrained embeddings, float32[words, embedding_dim]; None for random ones.
            metadata: What else the model records of its training.
            on_message: Callback for status messages.
            on_progress: Callback after each step.
        """


def anywhere(training: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a training, but for those of this machine.

    Args:
        training: Options by name.
    """
    return {name: value for name, value in training.items() if name not in ("device", "tensorboard")}


@dataclass(frozen=True)
class Workshop:
    """The folder ``.MODEL.training``.

    Args:
        model: The model to make.
        texts: What is trained on.
        vectors: Word vectors to begin with, as `first_vectors` takes them.
        seed: Seed of their training.
        say: Takes words for people.
    """

    model: FilePath
    texts: CorpusTexts
    vectors: str | None
    seed: int
    say: Say

    @property
    def folder(self) -> Path:
        """Where it is."""
        return Path(os.path.realpath(self.model)).with_name(f".{Path(self.model).name}.training")

    def made(self, options: Mapping[str, Any], dev: object) -> dict[str, Any]:
        """What a model says of how it was made: no paths, nothing about this machine.

        Args:
            options: What was asked for, by name.
            dev: How well it does on dev; JSON.
        """
        corpus = self.texts.corpus.metadata
        settled = {name: value for name, value in options.items() if name != "jobs"}
        settled |= {"embeddings": hash_of_vectors(self.vectors), "training": anywhere(options["training"])}
        return {
            "options": settled,
            "corpus": corpus.origin,
            "tokenizer": corpus.tokenizer,
            "dev": dev,
        }

    def split(self, name: str, target: str = "comments") -> Commented:
        """What is read in a split of the corpus, and what is written about it.

        Args:
            name: The split.
            target: ``comments`` or ``title``.

        Raises:
            UsageError: There is none of the name.
        """
        texts = self.texts
        if name not in texts.corpus.splits:
            raise UsageError(
                f"{texts.corpus.path}: a network needs a {name} set to stop in time; build the corpus with --{name}"
            )
        articles = Ragged(*texts.articles(name))
        if target == "title":
            return Commented(articles, Ragged(*texts.titles(name)), np.arange(len(articles.offsets)))
        return Commented(articles, Ragged(*texts.comments(name)), texts.starts(name))

    def network(
        self,
        name: str,
        request: Mapping[str, Any],
        *,
        size: int,
        device: str,
        train: Train[Trained_co],
        load: Callable[[Path], Trained_co],
    ) -> Trained_co | None:
        """Train a network, or take the one that an interrupted run trained already.

        Under torchrun the first process alone prepares and speaks.

        Args:
            name: Its folder here.
            request: What it depends on besides texts and word vectors; JSON.
            size: Dimensions of the word vectors.
            device: Where it is trained.
            train: Trains it.
            load: Opens it.

        Returns:
            The network; None in a process that is not the first.

        Raises:
            UsageError: Options do not fit, or another process trains the model.
            InvalidInput: Word vectors are damaged.
            PostilError: The system refuses to write, or the training fails.
        """
        target = self.folder / name
        request = {**request, "vectors": hash_of_vectors(self.vectors), "texts": self.texts.about}

        def prepared() -> bool:
            """Get ready, and say whether it is trained already."""
            held.enter_context(locked(self.folder, f"{self.model}: another training of this model is running"))
            if target.exists():
                if Model.open(target).metadata.get("request") == json.loads(json.dumps(request)):
                    return True
                shutil.rmtree(target)
            self._vectors(size, self.say)
            return False

        with ExitStack() as held:
            if broadcast_from_main(prepared, device):
                return load(target) if is_main_process() else None
            vectors = self._vectors(size, lambda _: None)
            with live() if is_main_process() else nullcontext(lambda _: None) as show:
                trained = train(
                    target,
                    embeddings=vectors,
                    metadata={"request": request},
                    on_message=self.say,
                    on_progress=show,
                )
            return trained if is_main_process() else None

    def _vectors(self, size: int, say: Say) -> NDArray[np.float32] | None:
        return first_vectors(self.texts, self.folder, given=self.vectors, size=size, seed=self.seed, say=say)

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self.folder, ignore_errors=True)
