"""The token arrays of a corpus for training, and pretrained word vectors for networks."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Final, get_args

import numpy as np

from postil.comments.nn.batches import concatenate_texts
from postil.corpus.store import Corpus, Field
from postil.data.explain import have
from postil.errors import MissingExtra, UsageError
from postil.messages import Setting
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors
from postil.vectors.training import train as train_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.data.progress import OnMessage

    Texts = tuple[NDArray[np.int32], NDArray[np.int64]]

__all__ = ["CorpusTexts", "corpus_vectors", "first_vectors", "hash_of_vectors"]

LONGEST: Final = 2**31 - 1
EPOCHS: Final = 8
ENOUGH: Final = 20_000_000
"""Number of words, counting repetitions, that is enough for word vectors."""


_PARTS: Final[Mapping[str, tuple[Field, ...]]] = {
    "title": ("title",),
    "content": ("content",),
    "both": ("title", "content"),
    "comments": ("comments",),
}
"""The parts of an article behind each value of ``reads``."""

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
        lacking = tuple(part for part in _PARTS["comments" if reads == "comments" else "both"] if part in empty)
        if _PARTS[reads][-1] in lacking:
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
        asked = [(_PARTS[self.reads], "which is all that is read of an article")]
        asked += [(_PARTS["title"], "which is to be written")] if self.writes == "title" else []
        for split in (name for name in ("train", "dev") if name in self.corpus.splits):
            for parts, use in asked:
                words = np.sum([np.diff(self._texts(split, part)[1]) for part in parts], axis=0)  # [articles]
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

    def words(self) -> list[str]:
        """The words, by id; a frequent word has a low id."""
        return self.corpus.words()

    def articles(self, split: str) -> Texts:
        """The words of the articles: ids int32[T] and offsets int64[articles + 1]."""
        if self.reads != "both":
            return self._texts(split, _PARTS[self.reads][0])
        titles, contents = (self.corpus.tokens(split, part) for part in _PARTS["both"])
        both = concatenate_texts(titles, contents, LONGEST if self.content_words is None else self.content_words)
        return both.ids, both.offsets

    def titles(self, split: str) -> Texts:
        """The words of the titles: ids int32[T] and offsets int64[articles + 1]."""
        return self._texts(split, "title")

    def comments(self, split: str) -> Texts:
        """The words of the comments, article after article: ids int32[T] and offsets int64[comments + 1]."""
        found = self.corpus.tokens(split, "comments")
        return np.asarray(found.ids), np.asarray(found.offsets)

    def starts(self, split: str) -> NDArray[np.int64]:
        """Offsets of the comments of each article, int64[articles + 1]."""
        return np.asarray(self.corpus.starts(split))

    def _texts(self, split: str, part: Field) -> Texts:
        """One part of each article; all its comments are one text."""
        tokens = self.corpus.tokens(split, part)
        offsets = np.asarray(tokens.offsets)
        return np.asarray(tokens.ids), offsets[self.starts(split)] if part == "comments" else offsets


def first_vectors(
    texts: CorpusTexts, folder: Path, *, given: str | None, size: int, seed: int, on_message: OnMessage
) -> NDArray[np.float32] | None:
    """Word vectors for a network to begin with.

    Args:
        texts: The corpus.
        folder: Folder for the vectors that are trained here, for resuming.
        given: A folder of word vectors; None trains them on the corpus, ``none`` begins at random.
        size: Their dimensions.
        seed: Seed of their training.
        on_message: Callback for status messages.

    Returns:
        float32[words, size], zeros for words without one; None to begin at random.

    Raises:
        UsageError: The vectors given have another size.
        InvalidInput: They are damaged.
    """
    if given == "none":
        return None
    words = texts.words()
    if given is not None:
        vectors = Vectors.open(given)
        if vectors.array.shape[1] != size:
            raise UsageError(f"{given}: expected vectors of {size} dimensions, got {vectors.array.shape[1]}")
    else:
        try:
            vectors = corpus_vectors(texts, folder, size=size, seed=seed, on_message=on_message)
        except MissingExtra:
            on_message("the network begins with random word vectors, which is worse: pip install 'postil[vectors]'")
            return None
    known = Vocabulary()
    known.encode_tokens([words])
    rows = vectors.lookup(known)
    return np.where(rows[:, None] >= 0, vectors.array[np.maximum(rows, 0)], np.float32(0)).astype(np.float32)


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
    if (found := _kept(folder / f"vectors-{size}", about)) is not None:
        return found
    lists = _Lists(texts.words(), [texts.articles("train"), texts.comments("train")])
    epochs = max(1, min(EPOCHS, round(ENOUGH / max(1, lists.size))))
    on_message(f"word vectors are trained on {lists.size:,} words, {epochs} times")
    vectors = train_vectors(lists, dimensions=size, negative=10, window=8, epochs=epochs, min_count=2, seed=seed)
    vectors.save(folder / f"vectors-{size}", {"about": about})
    return Vectors.open(folder / f"vectors-{size}")


def hash_of_vectors(given: str | None) -> str | None:
    """Description of a model's initial vectors: their hash, not their path."""
    return given if given in (None, "none") else Vectors.open(given).hash


def _kept(folder: Path, about: dict[str, object]) -> Vectors | None:
    """Word vectors of a run that was interrupted, if it was about the same."""
    if not folder.exists():
        return None
    vectors = Vectors.open(folder)
    return vectors if vectors.metadata.get("about") == json.loads(json.dumps(about)) else None


class _Lists:
    """Texts as lists of words, to be gone through many times.

    Args:
        words: The words, by id.
        arrays: Ids and offsets of texts.
    """

    def __init__(self, words: list[str], arrays: list[Texts]) -> None:
        self._words = words
        self._arrays = arrays
        self.size = sum(len(ids) for ids, _ in arrays)

    def __iter__(self) -> Iterator[list[str]]:
        words = self._words
        for ids, offsets in self._arrays:
            for start, end in pairwise(offsets.tolist()):
                yield [words[word] for word in ids[start:end].tolist()]
