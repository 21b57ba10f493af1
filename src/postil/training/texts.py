"""Texts that a training reads, its word vectors, and the directory that keeps them until the model is whole.

The directory lies next to the model folder, and an interrupted training resumes from it.
"""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar, get_args

import numpy as np
from msgspec import to_builtins

from postil.comments.neural_commenter import READS
from postil.comments.nn.batches import Commented, concatenate_texts
from postil.comments.nn.distributed import broadcast_from_main, is_main_process
from postil.corpus.store import Corpus, Field
from postil.data.atomic_file import locked
from postil.data.explain import have
from postil.data.model_folders import Model, training_folder
from postil.data.progress import OnMessage, live
from postil.errors import MissingExtra, UsageError
from postil.messages import Setting
from postil.text.tokens import Ragged, Vocabulary
from postil.text.vectors import Vectors
from postil.vectors import training as word_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.comments.options import GeneratorOptions, RelevanceOptions, TrainingOptions
    from postil.comments.result import GridSearch
    from postil.data.streams import FilePath

__all__ = ["CorpusTexts", "TrainingDirectory", "corpus_vectors"]

LONGEST: Final = 2**31 - 1
EPOCHS: Final = 8
ENOUGH: Final = 20_000_000
"""Number of words, counting repetitions, that is enough for word vectors."""


_LACKING: Final = {
    ("title",): "no title of train has a word, and ir-t, seq2seq and att read titles alone; train ir-tc or att-tc",
    ("content",): "its articles have no content; train ir-t, seq2seq or att, which read titles alone",
    ("comments",): "no comment of train has a word, so that there is nothing to read",
    ("title", "content"): "neither a title nor a content of train has a word, so that there is nothing to read",
}
"""The error for each set of parts that are empty throughout the training set."""


class CorpusTexts:
    """The token arrays of a corpus, as a commenter looks at them.

    Args:
        corpus: The corpus.
        reads: Parts of an article that are read: ``title``, ``content``, ``both``, or ``comments``, one after the
            other.
        writes: Target: ``comments`` or ``title``.
        content_words: Number of words of a content that are read; None for all.

    Raises:
        UsageError: What is to be read or written has no word in the whole training set. (Where contents are to be
            read, these; articles without titles can be read by their contents.)
    """

    def __init__(
        self, corpus: Corpus, reads: str, writes: str = "comments", *, content_words: int | None = None
    ) -> None:
        self.content_words = content_words
        self.corpus = corpus
        self.reads = reads
        self.writes = writes
        empty = {part for part in get_args(Field) if not len(corpus.tokens("train", part).ids)}
        lacking = tuple(part for part in READS["comments" if reads == "comments" else "both"] if part in empty)
        if READS[reads][-1] in lacking:
            raise UsageError(f"{corpus.path}: {_LACKING[lacking]}")
        if writes == "title" and "title" in empty:
            raise UsageError(f"{corpus.path}: no title of train has a word, so that there is none to learn to write")

    def gaps(self) -> list[str]:
        """Notes on the articles of train and dev without a word to read, or without a title to write.

        A retriever never finds the comments of such an article of train, and ranks those of one of dev at random; a
        generator learns from one what is said whatever the article.

        Returns:
            One note per split and part with such articles, with their number.
        """
        notes = []
        asked = [(READS[self.reads], "which is all that is read of an article")]
        asked += [(READS["title"], "which is to be written")] if self.writes == "title" else []
        for split in (name for name in ("train", "dev") if name in self.corpus.splits):
            for parts, use in asked:
                words = np.sum([self._texts(split, part).lengths for part in parts], axis=0)  # [articles]
                none, named = int(np.count_nonzero(words == 0)), " or ".join(parts)
                if none:
                    notes.append(
                        f"{none:,} of {len(words):,} articles of {split} {have(none)} no word in their {named}, {use}"
                    )
        return notes

    def check_split(self, name: str) -> None:
        """Check that a network has the set that it needs.

        Args:
            name: The split.

        Raises:
            UsageError: The corpus has no such split.
        """
        if name not in self.corpus.splits:
            raise UsageError(
                "{path}: a network needs a {name} set for early stopping; build the corpus with {size}",
                path=str(self.corpus.path),
                name=name,
                size=Setting(name),
            )

    @property
    def about(self) -> dict[str, object]:
        """All that they depend on, as a JSON object."""
        cut = {} if self.content_words is None else {"content_words": self.content_words}
        return {"reads": self.reads, **cut, **self.corpus.metadata.origin}

    def articles(self, split: str) -> Ragged:
        """The words of the articles."""
        if self.reads != "both":
            return self._texts(split, READS[self.reads][0])
        titles, contents = (self._tokens(split, part) for part in READS["both"])
        return concatenate_texts(titles, contents, LONGEST if self.content_words is None else self.content_words)

    def titles(self, split: str) -> Ragged:
        """The words of the titles."""
        return self._texts(split, "title")

    def comments(self, split: str) -> Ragged:
        """The words of the comments, article after article."""
        return self._tokens(split, "comments")

    def starts(self, split: str) -> NDArray[np.int64]:
        """Offsets of the comments of each article, int64[articles + 1]."""
        return np.asarray(self.corpus.starts(split))

    def _texts(self, split: str, part: Field) -> Ragged:
        """One part of each article; all its comments are one text."""
        tokens = self._tokens(split, part)
        return Ragged(tokens.ids, tokens.offsets[self.starts(split)]) if part == "comments" else tokens

    def _tokens(self, split: str, part: Field) -> Ragged:
        tokens = self.corpus.tokens(split, part)
        # np.asarray drops the np.memmap class, whose overhead on each view dominates reading texts one by one.
        return Ragged(np.asarray(tokens.ids), np.asarray(tokens.offsets))


def corpus_vectors(texts: CorpusTexts, folder: Path, *, size: int, seed: int, on_message: OnMessage) -> Vectors:
    """Train word vectors on the training texts, or open those that an interrupted run has trained.

    Args:
        texts: The corpus.
        folder: Folder for the vectors.
        size: Their dimensions.
        seed: Seed of their training.
        on_message: Callback for status messages.

    Raises:
        MissingExtra: gensim is not installed.
    """
    about = texts.about | {"size": size, "seed": seed}
    target = folder / f"vectors-{size}"
    if target.exists():
        kept = Vectors.open(target)
        if kept.metadata.get("about") == json.loads(json.dumps(about)):
            return kept
    lists = word_vectors.WordLists(texts.corpus.words(), [texts.articles("train"), texts.comments("train")])
    size_of_texts = sum(len(each.ids) for each in lists.batches)
    epochs = max(1, min(EPOCHS, round(ENOUGH / max(1, size_of_texts))))
    on_message(f"word vectors are trained on {size_of_texts:,} words, {epochs} times")
    vectors = word_vectors.train(lists, dimensions=size, negative=10, window=8, epochs=epochs, min_count=2, seed=seed)
    vectors.save(target, {"about": about})
    return Vectors.open(target)


_APART: Final = ("address", "engine", "jobs", "training")
"""Options that the model does not depend on, and those of the network, which are recorded on their own."""

Trained = TypeVar("Trained")


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
    def _embeddings_hash(self) -> str | None:
        """Description of a model's initial vectors: their hash, not their path."""
        known = {"corpus": None, "none": "none"}
        return known[self.embeddings] if self.embeddings in known else Vectors.open(self.embeddings).hash

    def metadata(
        self, options: Mapping[str, object], training: TrainingOptions | None, dev: object, grid: GridSearch | None
    ) -> dict[str, object]:
        """Record of the training in the model: no paths, nothing about this machine.

        Args:
            options: Options by name.
            training: Options of the network's training; None without a network.
            dev: Result on dev; JSON.
            grid: Choice of hyperparameters; None without one.
        """
        corpus = self.texts.corpus.metadata
        settings = {name: value for name, value in options.items() if name not in _APART}
        settings["embeddings"] = self._embeddings_hash
        if training is None:
            del settings["network"]
        else:
            settings["training"] = training.portable()
        search = {"grid": to_builtins(grid)} if grid else {}
        return {"options": settings, "corpus": corpus.origin, "tokenizer": corpus.tokenizer, "dev": dev, **search}

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
        articles = texts.articles(name)
        if target == "title":
            return Commented(articles, texts.titles(name), np.arange(len(articles) + 1))
        return Commented(articles, texts.comments(name), texts.starts(name))

    def train(
        self,
        name: str,
        network: GeneratorOptions | RelevanceOptions,
        training: TrainingOptions,
        train: Callable[..., Trained],
        load: Callable[[Path], Trained],
        *,
        target: str = "comments",
    ) -> Trained | None:
        """Train a network, or load the one that an interrupted run has trained already.

        Under torchrun the main process alone prepares and prints.

        Args:
            name: Name of its folder.
            network: Options of the network.
            training: Options of its training.
            train: Function that trains it, given its folder, and by keyword pretrained embeddings, further metadata of
                the model, and callbacks for status messages and after each step.
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
            "embeddings": self._embeddings_hash,
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
        """Word vectors to begin with, float32[words, size], zeros for words without one; None to begin at random."""
        if self.embeddings == "none":
            return None
        if self.embeddings == "corpus":
            try:
                vectors = corpus_vectors(self.texts, self.folder, size=size, seed=self.seed, on_message=on_message)
            except MissingExtra:
                problem = "the network begins with random word vectors, which is worse"
                on_message(f"{problem}: pip install 'postil[vectors]'")
                return None
        else:
            vectors = Vectors.open(self.embeddings)
            if vectors.dimensions != size:
                raise UsageError(f"{self.embeddings}: expected vectors of {size} dimensions, got {vectors.dimensions}")
        rows = vectors.lookup(Vocabulary.of(self.texts.corpus.words()))
        return np.where(rows[:, None] >= 0, vectors.array[np.maximum(rows, 0)], np.float32(0)).astype(np.float32)
