"""Static vectors of the ranker by features: chosen, and copied to where the model folder is made."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.corpus.texts import corpus_vectors
from postil.encoders.base import model_folder
from postil.encoders.static import MATRIX, TOKENIZER, open_static
from postil.errors import MissingExtra
from postil.messages import Blank, Message, Setting
from postil.text.vector_store import WORDS
from postil.text.vectors import Vectors
from postil.vectors.imported import PACKAGES, shipped_vectors

if TYPE_CHECKING:
    from pathlib import Path

    from postil.corpus.texts import CorpusTexts
    from postil.data.progress import OnMessage

__all__ = ["SIZE", "check_vectors", "stage_vectors"]

SIZE: Final = 128
"""Dimensions of word vectors that are trained on a corpus."""
MOST: Final = 200_000
"""Number of word vectors that a model keeps whatever the corpus; of more, also those of its words."""
WORDS_ONLY: Final = Message(
    "the ranker reads words only, which is worse: pip install wordllama 'postil[meaning]', or name a folder: {vectors}",
    vectors=Setting("vectors", Blank("DIR")),
)


def check_vectors(choice: str) -> None:
    """Check the vectors that are asked for, before a training begins.

    Args:
        choice: A folder of static vectors, ``corpus``, ``none`` or ``auto``.

    Raises:
        UsageError: There is no such folder.
        InvalidInput: The folder holds no vectors.
        MissingExtra: The packages that read or train them are not installed.
    """
    if choice == "corpus" and find_spec("gensim") is None:
        raise MissingExtra(Message("{vectors}", vectors=Setting("vectors", "corpus")), "vectors")
    if choice not in {"auto", "corpus", "none"}:
        open_static(choice)


def stage_vectors(choice: str, texts: CorpusTexts, folder: Path, seed: int, on_message: OnMessage) -> str | None:
    """Put the vectors of a model into a folder.

    Args:
        choice: A folder of static vectors, ``corpus``, ``none`` or ``auto``.
        texts: The corpus.
        folder: Working directory of the training; they are put into ``static`` there.
        seed: Seed of the training of word vectors.
        on_message: Callback for status messages.

    Returns:
        Their origin: ``given``, ``corpus``, or a package and its version. None without vectors.

    Raises:
        UsageError: There is no such folder.
        InvalidInput: The folder holds no vectors.
        MissingExtra: The packages that read or train them are not installed.
    """
    target = folder / "static"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if choice == "none":
        return None
    if choice == "auto":
        return _automatic(texts, target, seed, on_message)
    if choice == "corpus":
        return _of_corpus(texts, target, seed, on_message)
    given = model_folder(choice, "a model of vectors")
    if (given / WORDS).exists():
        _kept(Vectors.open(given), texts.words()).save(target)
    else:
        shutil.copyfile(next(given.glob("*.safetensors")), target / MATRIX)
        shutil.copyfile(given / TOKENIZER, target / TOKENIZER)
    return "given"


def _automatic(texts: CorpusTexts, target: Path, seed: int, on_message: OnMessage) -> str | None:
    for package in PACKAGES:
        if find_spec(package) is None:
            continue
        shipped = shipped_vectors(package)
        shutil.copyfile(shipped.matrix, target / MATRIX)
        shutil.copyfile(shipped.tokenizer, target / TOKENIZER)
        try:
            open_static(str(target))
        except MissingExtra as error:
            on_message(Message("vectors of {package} are not used: {why}", package=package, why=error.message))
            continue
        origin = f"{package} {shipped.version}"
        on_message(Message("vectors of {origin} ({automatic})", origin=origin, automatic=Setting("vectors", "auto")))
        return origin
    if find_spec("gensim") is not None:
        return _of_corpus(texts, target, seed, on_message)
    on_message(WORDS_ONLY)
    return None


def _of_corpus(texts: CorpusTexts, target: Path, seed: int, on_message: OnMessage) -> str:
    vectors = corpus_vectors(texts, target.parent, size=SIZE, seed=seed, on_message=on_message)
    vectors.save(target)
    return "corpus"


def _kept(vectors: Vectors, words: list[str]) -> Vectors:
    """The vectors that a model keeps."""
    if len(vectors) <= MOST:
        return vectors
    of_corpus = frozenset(words)
    rows = [at for at, word in enumerate(vectors.words) if at < MOST or word in of_corpus]
    metadata = {name: value for name, value in vectors.metadata.items() if name != "hash"}
    return Vectors(tuple(vectors.words[at] for at in rows), np.asarray(vectors.array[rows]), metadata)
