"""Training word vectors: word2vec's skip-gram with negative sampling, by gensim."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from postil.errors import InvalidInput, MissingExtra, UsageError
from postil.text.vectors import Vectors
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["SEED", "train"]

SEED: Final = 20181
LONGEST: Final = 10_000
"""gensim ignores the words of a text after this many, so longer texts are split."""


def train(
    token_lists: Iterable[Sequence[str]],
    *,
    dimensions: int = 300,
    negative: int = 15,
    bigrams: bool = False,
    window: int = 5,
    epochs: int = 5,
    min_count: int = 1,
    sample: float = 1e-3,
    seed: int = SEED,
    workers: int = 1,
    begin: Callable[[str], None] | None = None,
) -> Vectors:
    """Train a vector for every word, or for every pair of adjacent words, of some texts.

    Skip-gram with negative sampling (Mikolov et al. 2013, Distributed representations of words and phrases and their
    compositionality). One worker and the same seed give the same bytes on one machine with the same versions; more
    workers are quicker and give slightly other numbers each time.

    Args:
        token_lists: Texts as lists of words, iterated ``epochs + 2`` times.
        dimensions: Length of a vector.
        negative: Number of noise words per pair of words, at least 1.
        bigrams: Train on pairs of adjacent words, joined with ``_``, in place of words.
        window: Maximum distance of a context word.
        epochs: Number of epochs.
        min_count: Minimum number of occurrences of a word that gets a vector.
        sample: Subsampling threshold: words with a larger share of the texts are skipped at random; 0 for none.
        seed: Random seed.
        workers: Number of threads.
        begin: Callback with the name of each stage: counting, then each epoch.

    Returns:
        The vectors in memory, by descending frequency, then alphabetically; their metadata has spec, seed, a hash of
        the texts and versions.

    Raises:
        MissingExtra: gensim is not installed.
        UsageError: A parameter is out of range, or the texts can be iterated only once.
        InvalidInput: No word occurs often enough.
    """
    at_least_one = {"dimensions": dimensions, "negative": negative, "window": window, "epochs": epochs}
    at_least_one |= {"min_count": min_count, "workers": workers}
    _check(at_least_one, sample, seed)
    if iter(token_lists) is token_lists:
        raise UsageError("expected texts that can be iterated several times, such as a list, got an iterator")
    word2vec, versions = _gensim()
    tell = begin or (lambda _: None)
    tell("counting words")
    texts = _Texts(token_lists, bigrams=bigrams)
    counted = texts.count()
    vocabulary = counted.vocabulary(min_count)
    if not vocabulary:
        unit = "pair of adjacent words" if bigrams else "word"
        raise InvalidInput(f"no {unit} occurs {min_count} times in {counted.texts:,} texts", where="texts")
    model = word2vec(
        vector_size=dimensions,
        sg=1,
        hs=0,
        negative=negative,
        window=window,
        min_count=1,
        sample=sample,
        seed=seed,
        workers=workers,
        epochs=epochs,
        sorted_vocab=0,  # sorted already, with a tie rule that does not depend on the machine
        hashfxn=_stable_hash,
    )
    model.build_vocab_from_freq(vocabulary, corpus_count=counted.pieces)
    model.train(texts, total_examples=counted.pieces, epochs=epochs, callbacks=[_Epochs(epochs, tell)])
    parameters = {name: value for name, value in at_least_one.items() if name != "workers"} | {"sample": sample}
    return Vectors(
        tuple(model.wv.index_to_key),
        np.ascontiguousarray(model.wv.vectors, dtype=np.float32),
        {
            "spec": f"word2vec(skip-gram,{','.join(f'{name}={value:g}' for name, value in parameters.items())})",
            "bigrams": bigrams,
            "seed": seed,
            "workers": workers,
            "data": counted.data,
            "texts": counted.texts,
            "tokens": counted.tokens,
            "versions": {"postil": VERSION, **versions},
        },
    )


class _Counted(NamedTuple):
    """Counts of texts.

    Args:
        units: Number of occurrences of each word or bigram.
        data: Hash of the texts.
        texts: Number of texts.
        tokens: Number of words.
        pieces: Number of pieces that gensim is given.
    """

    units: Counter[str]
    data: str
    texts: int
    tokens: int
    pieces: int

    def vocabulary(self, min_count: int) -> dict[str, int]:
        """Units that are frequent enough, by descending count, then alphabetically."""
        ordered = sorted(self.units.items(), key=lambda pair: (-pair[1], pair[0]))
        return {unit: n for unit, n in ordered if n >= min_count}


class _Texts:
    """Texts, split into pieces that gensim does not truncate."""

    def __init__(self, token_lists: Iterable[Sequence[str]], *, bigrams: bool) -> None:
        self._token_lists = token_lists
        self._bigrams = bigrams

    def __iter__(self) -> Iterator[list[str]]:
        for tokens in self._token_lists:
            units = [f"{one}_{two}" for one, two in pairwise(tokens)] if self._bigrams else list(tokens)
            for begin in range(0, len(units), LONGEST):
                yield units[begin : begin + LONGEST]

    def count(self) -> _Counted:
        """Count and hash the texts."""
        data = hashlib.sha256()
        texts = tokens = 0
        for words in self._token_lists:
            if isinstance(words, str):
                raise UsageError(f"expected texts as lists of words, got the text {words[:40]!r}")
            data.update("\0".join([*words, "\n"]).encode("utf-8", "surrogatepass"))
            texts += 1
            tokens += len(words)
        counts: Counter[str] = Counter()
        pieces = 0
        for piece in self:
            counts.update(piece)
            pieces += 1
        return _Counted(counts, f"sha256:{data.hexdigest()}", texts, tokens, pieces)


class _Epochs:
    """Callbacks of gensim."""

    def __init__(self, epochs: int, begin: Callable[[str], None]) -> None:
        self._names = iter([f"epoch {number} of {epochs}" for number in range(1, epochs + 1)])
        self._begin = begin

    def on_epoch_begin(self, _model: object) -> None:
        self._begin(next(self._names))

    def on_epoch_end(self, _model: object) -> None:
        pass

    def on_train_begin(self, _model: object) -> None:
        pass

    def on_train_end(self, _model: object) -> None:
        pass


def _stable_hash(text: str) -> int:
    """Hash of a text that is the same in every process, unlike Python's own."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "little")


def _gensim() -> tuple[Any, dict[str, str]]:
    """Word2Vec, and the versions that numbers depend on."""
    try:
        import gensim  # type: ignore[import-untyped]  # noqa: PLC0415 - heavy and optional
        from gensim.models.word2vec import Word2Vec  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("training word vectors", "vectors") from error
    return Word2Vec, {"gensim": gensim.__version__, "numpy": np.__version__}


def _check(at_least_one: dict[str, int], sample: float, seed: int) -> None:
    for name, value in at_least_one.items():
        if value < 1:
            raise UsageError(f"{name}: expected at least 1, got {value}")
    if not 0 <= sample <= 1:
        raise UsageError(f"sample: expected 0 to 1, got {sample}")
    if not 0 <= seed < 2**32:
        raise UsageError(f"seed: expected 0 to {2**32 - 1}, got {seed}")
