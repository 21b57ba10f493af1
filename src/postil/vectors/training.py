"""Training word vectors: word2vec's skip-gram and CBOW, with negative sampling or hierarchical softmax, by gensim."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

import numpy as np

from postil.errors import InvalidInput, UnknownName, UsageError, check_least, needs
from postil.text.vectors import Vectors
from postil.vectors.options import OutputLayer, Word2VecModel
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from postil.text.tokens import Ragged

__all__ = ["SEED", "WordLists", "train"]

SEED: Final = 20181
NEGATIVE: Final = 15
"""Number of noise words per pair of words, as in the paper on passage interestingness."""
LONGEST: Final = 10_000
"""gensim ignores the words of a text after this many, so longer texts are split."""


@dataclass(frozen=True, eq=False)
class WordLists:
    """Texts as lists of words, to be gone through many times.

    Args:
        words: The words, by id.
        batches: The texts.
    """

    words: Sequence[str]
    batches: Sequence[Ragged]

    def __iter__(self) -> Iterator[list[str]]:
        for texts in self.batches:
            for begin, end in pairwise(texts.offsets.tolist()):
                yield [self.words[word] for word in texts.ids[begin:end].tolist()]


def train(
    token_lists: Iterable[Sequence[str]],
    *,
    model: Word2VecModel = "skip-gram",
    output: OutputLayer = "negative",
    dimensions: int = 300,
    negative: int | None = None,
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

    Skip-gram or CBOW, with negative sampling or hierarchical softmax (Mikolov et al. 2013, Efficient estimation of word
    representations in vector space, and Distributed representations of words and phrases and their compositionality).
    One worker and the same seed give the same bytes on one machine with the same versions; more workers are quicker and
    give slightly other numbers each time.

    Args:
        token_lists: Texts as lists of words, iterated ``epochs + 2`` times.
        model: ``skip-gram`` or ``cbow``.
        output: ``negative`` for negative sampling, ``hierarchical`` for hierarchical softmax.
        dimensions: Length of a vector.
        negative: Number of noise words per pair of words, at least 1; None for 15. Hierarchical softmax has none.
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
        UnknownName, UsageError: There is no such model or output, a parameter is out of range or goes with another
            output, or the texts can be iterated only once.
        InvalidInput: No word occurs often enough.
    """
    noise = _noise_words(model, output, negative)
    at_least_one = {"dimensions": dimensions, **noise, "window": window, "epochs": epochs, "min_count": min_count}
    _check({**at_least_one, "workers": workers}, sample, seed)
    if iter(token_lists) is token_lists:
        raise UsageError("expected texts that can be iterated several times, such as a list, got an iterator")
    word2vec, versions = _gensim()
    tell = begin or (lambda _: None)
    tell("counting words")
    texts = _Texts(token_lists, bigrams=bigrams)
    counted = texts.count()
    vocabulary = counted.vocabulary(min_count, "pair of adjacent words" if bigrams else "word")
    network = word2vec(
        vector_size=dimensions,
        sg=int(model == "skip-gram"),
        hs=int(output == "hierarchical"),
        negative=noise.get("negative", 0),
        window=window,
        min_count=1,
        sample=sample,
        seed=seed,
        workers=workers,
        epochs=epochs,
        sorted_vocab=0,  # sorted already, with a tie rule that does not depend on the machine
        hashfxn=_stable_hash,
    )
    network.build_vocab_from_freq(vocabulary, corpus_count=counted.pieces)
    network.train(texts, total_examples=counted.pieces, epochs=epochs, callbacks=[_epochs(epochs, tell)])
    parameters = at_least_one | {"sample": sample}
    kind = model if output == "negative" else f"{model},hierarchical-softmax"
    return Vectors(
        tuple(network.wv.index_to_key),
        np.ascontiguousarray(network.wv.vectors, dtype=np.float32),
        {
            "spec": f"word2vec({kind},{','.join(f'{name}={value:g}' for name, value in parameters.items())})",
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

    def vocabulary(self, min_count: int, unit: str) -> dict[str, int]:
        """Units that are frequent enough, by descending count, then alphabetically."""
        ordered = sorted(self.units.items(), key=lambda pair: (-pair[1], pair[0]))
        frequent = {name: n for name, n in ordered if n >= min_count}
        if not frequent:
            raise InvalidInput(f"no {unit} occurs {min_count} times in {self.texts:,} texts", where="texts")
        return frequent


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


def _epochs(epochs: int, begin: Callable[[str], None]) -> SimpleNamespace:
    """Callbacks of gensim, which tell when an epoch begins."""
    names = (f"epoch {number} of {epochs}" for number in range(1, epochs + 1))
    others = dict.fromkeys(("on_epoch_end", "on_train_begin", "on_train_end"), lambda _model: None)
    return SimpleNamespace(on_epoch_begin=lambda _model: begin(next(names)), **others)


def _stable_hash(text: str) -> int:
    """Hash of a text that is the same in every process, unlike Python's own."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "little")


def _gensim() -> tuple[Any, dict[str, str]]:
    """Word2Vec, and the versions that numbers depend on."""
    with needs("training word vectors", "vectors"):
        import gensim  # type: ignore[import-untyped]  # noqa: PLC0415 - heavy and optional
        from gensim.models.word2vec import Word2Vec  # type: ignore[import-untyped]  # noqa: PLC0415
    return Word2Vec, {"gensim": gensim.__version__, "numpy": np.__version__}


def _noise_words(model: str, output: str, negative: int | None) -> dict[str, int]:
    """The number of noise words, by its name; nothing for hierarchical softmax."""
    for kind, name, known in (("model", model, get_args(Word2VecModel)), ("output", output, get_args(OutputLayer))):
        UnknownName.check(kind, name, known)
    if output == "hierarchical" and negative is not None:
        raise UsageError("negative: hierarchical softmax has no noise words; leave it out, or take the output negative")
    return {} if output == "hierarchical" else {"negative": NEGATIVE if negative is None else negative}


def _check(at_least_one: dict[str, int], sample: float, seed: int) -> None:
    check_least(1, **at_least_one)
    if not 0 <= sample <= 1:
        raise UsageError(f"sample: expected 0 to 1, got {sample}")
    if not 0 <= seed < 2**32:
        raise UsageError(f"seed: expected 0 to {2**32 - 1}, got {seed}")
