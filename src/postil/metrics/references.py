"""Graded references, and their matches with candidates by words, by stems and by other pieces of texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar, cast

import numpy as np

from postil.errors import InvalidInput, UsageError
from postil.kernel import Grams, Overlap, bleu_stats, overlap
from postil.text.tokenizers import Native, native_tokenizer, tokenizer
from postil.text.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from postil.encoders.base import Encoded, Encoder

__all__ = [
    "LONGEST",
    "Characters",
    "Cut",
    "Frequencies",
    "MarkedWords",
    "Matches",
    "PieceMatches",
    "Pieces",
    "References",
    "Sentences",
    "blocks",
    "check_order",
    "check_positive",
    "unknown_norms",
]

T = TypeVar("T")

BLEU_ORDER: Final = 4
"""Length of the longest n-gram of BLEU-1 to BLEU-4."""
LONGEST: Final = 9
"""Length of the longest n-gram that the kernel counts."""
LEAST: Final = 1e-6
"""The lowest value of parameters such as beta and sigma, which are squared."""
MOST: Final = 1e6
"""Their highest value."""


def check_order(name: str, order: int, longest: int = LONGEST) -> None:
    """Refuse an order of n-grams that the kernel does not count.

    Raises:
        UsageError: ``order`` is not in 1 to ``longest``.

    >>> check_order("cider", 0)
    Traceback (most recent call last):
    ...
    postil.errors.UsageError: cider: order: expected 1 to 9, got 0
    """
    if not 1 <= order <= longest:
        raise UsageError(f"{name}: order: expected 1 to {longest}, got {order}")


def check_positive(name: str, field: str, value: float) -> None:
    """Refuse a parameter whose square is 0 or infinite in floating point, or makes all scores alike.

    Args:
        name: Name of the metric.
        field: Name of the parameter.
        value: Its value.

    Raises:
        UsageError: It is not in 1e-6 to 1e6.

    >>> check_positive("cider-d", "sigma", 1e-200)
    Traceback (most recent call last):
    ...
    postil.errors.UsageError: cider-d: sigma: expected a positive number from 1e-6 to 1e6, got 1e-200
    """
    if not LEAST <= value <= MOST:
        between = " from 1e-6 to 1e6" if value > 0.0 else ""
        raise UsageError(f"{name}: {field}: expected a positive number{between}, got {value}")


@dataclass(frozen=True, eq=False, slots=True)
class Frequencies:
    """Document frequencies in the token ids of some references, ready for the kernel.

    Args:
        grams: The frequencies.
        norms: float64[m, order], norm of each reference's tf-idf vector in each order; negative until a candidate
            shares an n-gram of that order with it and the kernel fills it in.
        signature: Part of signatures that names them.
        documents: Hash of the references that were counted; empty where the name is a hash.
    """

    grams: Grams
    norms: NDArray[np.float64]
    signature: str
    documents: str

    def of_others(self, tokens: Tokens) -> Frequencies:
        """The same frequencies for other references in the same vocabulary."""
        return replace(self, norms=unknown_norms(tokens, self.grams.order))


def unknown_norms(tokens: Tokens, order: int) -> NDArray[np.float64]:
    """Norms of m texts that the kernel fills in when they are first needed, float64[m, order] of -1."""
    return np.full((len(tokens), order), -1.0)


@dataclass(frozen=True, eq=False, slots=True)
class References:
    """m reference texts in k sets, each with a weight; a metric is bound to them once to score many systems.

    Args:
        tokens: The texts, m of them, set after set.
        offsets: int64[k + 1]; set s is the texts ``offsets[s]:offsets[s + 1]``. No set is empty.
        weights: float64[m], s_j of each text: in [0, 1], for delta-BLEU in [-1, 1]. All 1 where none are given.
        items: int32[k], index of each set's item, for document frequencies; the sets of one item are adjacent. By
            default every set is an item of its own. Leave-one-out sets share their item.
        jobs: Number of threads that encode them; the vectors do not depend on it.
        split: Name of the tokenizer that `split_by` split them by; empty for that of the run.

    Raises:
        InvalidInput: Shapes do not fit, there is no set or an empty one, the sets of an item are not adjacent, or
            a weight is no number in [-1, 1].

    >>> from postil.text.tokens import Vocabulary
    >>> tokens = Vocabulary().encode_tokens([["a", "b"], ["c"], ["a"]])
    >>> references = References(tokens, np.array([0, 2, 3]), np.array([1.0, 0.5, 0.25]))
    >>> len(references), references.items.tolist(), references.unweighted().weights.tolist()
    (2, [0, 1], [1.0, 1.0, 1.0])
    """

    tokens: Tokens
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64] = field(default=None)  # type: ignore[arg-type]  # set below
    items: NDArray[np.int32] = field(default=None)  # type: ignore[arg-type]  # set below
    jobs: int = 1
    split: str = ""
    frequencies: dict[tuple[object, int], Frequencies] = field(default_factory=dict, repr=False)
    """Document frequencies that metrics have asked for, shared by all that are bound to these texts."""
    cut: dict[Cut, Pieces] = field(default_factory=dict, repr=False)
    """These texts in other pieces than tokens, by the way that they are cut; see `Matches.pieces`."""
    encoded: dict[Hashable, Encoded] = field(default_factory=dict, repr=False)
    """These texts as vectors, by the signature of the encoder; see `encode`."""
    facts: dict[Hashable, object] = field(default_factory=dict, repr=False)
    """Numbers that metrics compute from all references together; those of some of them, or of each alone, are these."""
    splits: dict[str, References] = field(default_factory=dict, repr=False)
    """These texts by other tokenizers, by name; see `split_by`."""

    def __post_init__(self) -> None:
        texts, sets = len(self.tokens), len(self.offsets) - 1
        self._keep("offsets", self.offsets, np.int64)
        self._keep("weights", self.weights, np.float64, np.ones(texts))
        self._keep("items", self.items, np.int32, np.arange(sets))
        if sets < 1:
            raise InvalidInput("expected at least one set of references, got none", where="references")
        if self.weights.shape != (texts,) or self.items.shape != (sets,):
            raise InvalidInput(
                f"expected {texts} weights and {sets} items, got {self.weights.shape} and {self.items.shape}",
                where="references",
            )
        if self.offsets[0] != 0 or self.offsets[-1] != texts:
            raise InvalidInput(
                f"expected offsets from 0 to {texts}, got {self.offsets[0]} to {self.offsets[-1]}", where="references"
            )
        self._check_sets()
        wrong = np.flatnonzero(~((self.weights >= -1.0) & (self.weights <= 1.0)))
        if wrong.size:
            raise InvalidInput(
                f"expected a number from 0 to 1, got {self.weights[wrong[0]]}",
                where="references",
                line=int(wrong[0]) + 1,
                field="weight",
            )

    def _keep(self, name: str, values: ArrayLike | None, dtype: DTypeLike, default: ArrayLike = ()) -> None:
        """Set a field to a contiguous array of the dtype that the kernel takes."""
        object.__setattr__(self, name, np.ascontiguousarray(default if values is None else values, dtype=dtype))

    def _check_sets(self) -> None:
        empty = np.flatnonzero(np.diff(self.offsets) < 1)
        if empty.size:
            raise InvalidInput("expected at least one reference, got none", where="references", line=int(empty[0]) + 1)
        steps = np.diff(self.items)
        if (steps < 0).any() and np.count_nonzero(steps) + 1 != len(np.unique(self.items)):
            raise InvalidInput("expected the sets of one item next to one another", where="references", field="items")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def encode(self, encoder: Encoder) -> Encoded:
        """These texts as vectors, encoded at the first call.

        Args:
            encoder: The encoder.
        """
        if encoder.signature not in self.encoded:
            self.encoded[encoder.signature] = encoder.encode(self.tokens, self.jobs)
        return self.encoded[encoder.signature]

    def fact(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return a number of all references, computed at the first call.

        Args:
            key: Its key, one per type.
            compute: Function that computes it.
        """
        if key not in self.facts:
            self.facts[key] = compute()
        return cast("T", self.facts[key])

    def unweighted(self) -> References:
        """The same references with weights of 1, as a metric without ``w-`` reads them."""
        return self if (self.weights == 1.0).all() else replace(self, weights=np.ones(len(self.tokens)))

    def split_by(self, name: str) -> References:
        """The same references by another tokenizer, into tokens of a vocabulary of their own; split at the first call.

        Args:
            name: Name of the tokenizer; empty for these references.

        Raises:
            UnknownName, MissingExtra: As `postil.text.tokenizers.tokenizer`.
            UsageError: The texts were not kept beside their tokens.

        >>> from postil.text.tokenizers import tokenizer
        >>> from postil.text.tokens import Vocabulary
        >>> tokens = Vocabulary().encode(["Tea, please"], tokenizer("words"), keep_texts=True)
        >>> References(tokens, np.array([0, 1])).split_by("13a").tokens.words(0)
        ['Tea', ',', 'please']
        """
        if name in {"", self.split}:
            return self
        if name not in self.splits:
            chosen = tokenizer(name)
            if self.tokens.tokenizer == chosen:
                return self
            again = self.tokens.split_by(chosen, jobs=self.jobs)
            self.splits[name] = References(again, self.offsets, None, self.items, self.jobs, name)  # type: ignore[arg-type]  # weights follow
        return replace(self.splits[name], weights=self.weights)

    def others(
        self,
        texts: NDArray[np.int64] | None,
        offsets: NDArray[np.int64],
        items: NDArray[np.int32],
        weights: ArrayLike | None = None,
    ) -> References:
        """Bind some of the texts in other sets; document frequencies and other facts stay those of these references.

        Args:
            texts: Indices of m texts; by default all.
            offsets: As in the class.
            items: As in the class.
            weights: As in the class.
        """
        tokens = self.tokens if texts is None else self.tokens.take(texts)
        made = References(tokens, offsets, weights, items, self.jobs, self.split)  # type: ignore[arg-type]  # None for all 1
        for key, known in self.frequencies.items():
            made.frequencies[key] = known.of_others(tokens)
        for name, split in self.splits.items():
            made.splits[name] = split.others(texts, offsets, items)
        return replace(made, encoded=self.encoded if texts is None else {}, facts=dict(self.facts))

    def subset(self, keep: NDArray[np.bool_]) -> References:
        """Select references, at least one of each set; the document frequencies stay those of all.

        Args:
            keep: bool[m], mask of the references that are kept.
        """
        offsets = np.concatenate([[0], np.cumsum(np.add.reduceat(keep.astype(np.int64), self.offsets[:-1]))])
        return self.others(np.flatnonzero(keep), offsets, self.items, self.weights[keep])

    def split_alike(self, candidates: Tokens, jobs: int = 1) -> Tokens:
        """Candidates in the tokens of these references: as they are, or split by the tokenizer of `split_by`.

        Args:
            candidates: n texts, of the vocabulary of these references, or of those that were split.
            jobs: Number of threads; the result does not depend on it.
        """
        own = self.tokens.vocabulary
        if not self.split or candidates.vocabulary.begins_as(own):
            return candidates
        return candidates.split_by(tokenizer(self.split), own, jobs)

    def pairs(self, sets: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of n candidates with the references of their sets, candidate after candidate.

        Args:
            sets: int32[n], index of the set of references of each candidate.

        Returns:
            int64[n + 1], offsets of the pairs of each candidate; and int64[pairs], index of the reference of each pair.
        """
        counts = np.diff(self.offsets)[sets]
        bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        shift = np.repeat(self.offsets[sets] - bounds[:-1], counts)
        return bounds, np.arange(bounds[-1]) + shift

    def match(self, candidates: Tokens, sets: NDArray[np.int32], jobs: int = 1) -> Matches:
        """Match candidates with their sets of references, for all metrics.

        Args:
            candidates: n texts, encoded with the vocabulary of these references or a branch of it; see `split_alike`.
            sets: int32[n], index of the set of references of each candidate.
            jobs: Number of threads; the result does not depend on it.

        Raises:
            InvalidInput: There is not one set number for each candidate, or a number has no set.
            UsageError: The candidates were encoded with another vocabulary.
        """
        sets, candidates = np.ascontiguousarray(sets, dtype=np.int32), self.split_alike(candidates, jobs)
        if not candidates.vocabulary.begins_as(self.tokens.vocabulary):
            raise UsageError("candidates must be encoded with the vocabulary of the references or a branch of it")
        if len(sets) != len(candidates):
            raise InvalidInput(f"expected {len(candidates)} set numbers, got {len(sets)}", where="sets")
        wrong = np.flatnonzero((sets < 0) | (sets >= len(self)))
        if wrong.size:
            raise InvalidInput(
                f"expected the number of a set of references, 0 to {len(self) - 1}, got {sets[wrong[0]]}",
                where="sets",
                line=int(wrong[0]) + 1,
            )
        return Matches(self, candidates, sets, jobs)


class Matches:
    """Matches of n candidates with their references, by word and by stem.

    Made by `References.match`, which checks its arguments; the metrics of a set share it.
    """

    def __init__(self, references: References, candidates: Tokens, sets: NDArray[np.int32], jobs: int = 1) -> None:
        self.references = references
        self.candidates = candidates
        self.sets = sets
        self.jobs = jobs
        self._found: dict[Hashable, object] = {}
        self._bleu: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []

    def __len__(self) -> int:
        return len(self.candidates)

    def of(self, references: References) -> Matches:
        """These matches in the tokens of references that `References.split_by` made of these; made at the first call.

        Args:
            references: The references that a metric is bound to.
        """
        if references.split == self.references.split:
            return self
        return self.once(("split", references.split), lambda: references.match(self.candidates, self.sets, self.jobs))

    def bleu_stats(self, weights: NDArray[np.float64], order: int) -> NDArray[np.float64]:
        """Statistics of BLEU up to an order, float64[n, 2 order + 2]; counted once for all orders.

        Args:
            weights: float64[m]; the same array, not a copy, finds earlier counts again.
            order: Length of the longest n-gram, at most `BLEU_ORDER`.
        """
        stats = next((known for given, known in self._bleu if given is weights), None)
        if stats is None:
            stats = bleu_stats(self.words, weights[None], BLEU_ORDER, False, self.jobs)  # noqa: FBT003
            self._bleu = [*self._bleu[-1:], (weights, stats)]  # without weights, and with
        columns = [*range(order), *range(BLEU_ORDER, BLEU_ORDER + order), 2 * BLEU_ORDER, 2 * BLEU_ORDER + 1]
        return stats if order == BLEU_ORDER else np.ascontiguousarray(stats[:, columns])

    @cached_property
    def words(self) -> Overlap:
        """Overlap of words, computed when it is first needed."""
        return self._overlap(self.candidates, self.references.tokens)

    def stems(self, algorithm: str = "english") -> Overlap:
        """Overlap of stems, computed when it is first needed.

        Args:
            algorithm: A name of `postil.text.stems.STEMMERS`.
        """
        candidates, references = self.candidates, self.references.tokens
        return self.once(
            ("stems", algorithm), lambda: self._overlap(candidates.stemmed(algorithm), references.stemmed(algorithm))
        )

    def pieces(self, cut: Cut) -> PieceMatches:
        """Candidates and references in other pieces than tokens, cut when they are first needed.

        Args:
            cut: The way to cut them.

        Raises:
            UsageError: The texts were not kept beside their tokens.
        """
        if cut not in self.references.cut:
            self.references.cut[cut] = cut(self.references.tokens, Vocabulary(), self.jobs)
        references = self.references.cut[cut]
        return self.once(
            ("pieces", cut),
            lambda: PieceMatches(
                cut(self.candidates, references.tokens.vocabulary.branch(), self.jobs),
                references,
                self.sets,
                self.references.offsets,
                self.jobs,
            ),
        )

    def encode(self, encoder: Encoder) -> Encoded:
        """The candidates as vectors, encoded at the first call; `References.encode` has the references.

        Args:
            encoder: The encoder.
        """
        return self.once(("encoded", encoder.signature), lambda: encoder.encode(self.candidates, self.jobs))

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Something that metrics share of these texts, such as numbers of their pairs, computed at the first call.

        Args:
            key: Its key, one per type.
            compute: Function that computes it.
        """
        if key not in self._found:
            self._found[key] = compute()
        return cast("T", self._found[key])

    def _overlap(self, candidates: Tokens, references: Tokens) -> Overlap:
        return overlap(
            candidates.ids,
            candidates.offsets,
            self.sets,
            references.ids,
            references.offsets,
            self.references.offsets,
            self.jobs,
        )


PIECES: Final = 1 << 22
"""Approximate number of pieces of references that are matched at a time, which bounds memory (32 MiB)."""


@dataclass(frozen=True, eq=False, slots=True)
class Pieces:
    """Texts in pieces.

    Args:
        tokens: The pieces as token ids.
        sentences: int64[s + 1], offsets of sentences in all pieces; those of the texts where no sentences are cut.
    """

    tokens: Tokens
    sentences: NDArray[np.int64]

    def part(self, begin: int, end: int) -> Pieces:
        """Some texts in a row.

        Args:
            begin: Index of the first.
            end: Index after the last.
        """
        tokens = self.tokens
        first, last = (int(tokens.offsets[i]) for i in (begin, end))
        inside = slice(*np.searchsorted(self.sentences, [first, last + 1]))
        offsets = tokens.offsets[begin : end + 1] - first
        return Pieces(replace(tokens, ids=tokens.ids[first:last], offsets=offsets), self.sentences[inside] - first)


@dataclass(frozen=True, slots=True)
class Cut(ABC):
    """A way to cut texts into pieces, as a value."""

    @abstractmethod
    def __call__(self, tokens: Tokens, vocabulary: Vocabulary, jobs: int) -> Pieces:
        """Cut texts.

        Args:
            tokens: The texts.
            vocabulary: Vocabulary of the pieces; new ones are added.
            jobs: Number of threads; the result does not depend on it.

        Raises:
            UsageError: The texts were not kept beside their tokens.
        """


@dataclass(frozen=True, slots=True)
class Characters(Cut):
    """Characters of the texts themselves.

    Args:
        lowercase: True for those of the lower-cased text.
        whitespace: True to keep white space.

    >>> from postil.text.tokens import Vocabulary
    >>> texts = Vocabulary().encode_tokens([["A", "b"]], keep_texts=True)
    >>> Characters(whitespace=True)(texts, Vocabulary(), 1).tokens.words(0)
    ['A', ' ', 'b']
    """

    lowercase: bool = False
    whitespace: bool = False

    def __call__(self, tokens: Tokens, vocabulary: Vocabulary, jobs: int) -> Pieces:
        """See `Cut`."""
        native: Native = "every-character" if self.whitespace else "characters"
        return _split(_lowered(tokens, lowercase=self.lowercase), native, vocabulary, jobs)


@dataclass(frozen=True, slots=True)
class MarkedWords(Cut):
    """Words between white space; a punctuation mark at the end of one, else at its begin, is a word of its own.

    Args:
        lowercase: True for those of the lower-cased text.
    """

    lowercase: bool = False

    def __call__(self, tokens: Tokens, vocabulary: Vocabulary, jobs: int) -> Pieces:
        """See `Cut`."""
        return _split(_lowered(tokens, lowercase=self.lowercase), "marks", vocabulary, jobs)


@dataclass(frozen=True, slots=True)
class Sentences(Cut):
    r"""Words of the lines of a text; a list of tokens is one sentence.

    Args:
        stem: Name of a stemmer for the words, or empty.

    >>> from postil.text.tokenizers import tokenizer
    >>> from postil.text.tokens import Vocabulary
    >>> texts = Vocabulary().encode(["A b.\n\nC!", "d"], tokenizer("words"), keep_texts=True)
    >>> pieces = Sentences()(texts, Vocabulary(), 1)
    >>> pieces.tokens.offsets.tolist(), pieces.sentences.tolist()
    ([0, 3, 4], [0, 2, 3, 4])
    """

    stem: str = ""

    def __call__(self, tokens: Tokens, vocabulary: Vocabulary, jobs: int) -> Pieces:
        """See `Cut`."""
        if tokens.tokenizer is None:
            again = vocabulary.encode_tokens([tokens.words(i) for i in range(len(tokens))])
            sentences = again.offsets
        else:
            lines = [[line for line in text.split("\n") if line] for text in _texts(tokens)]
            parts = vocabulary.encode([line for text in lines for line in text], tokens.tokenizer, jobs, allow_han=True)
            sentences = parts.offsets
            again = replace(parts, offsets=sentences[np.cumsum([0, *map(len, lines)])])
        return Pieces(again.stemmed(self.stem) if self.stem else again, sentences)


def _texts(tokens: Tokens) -> Sequence[str]:
    if tokens.texts is None:
        raise UsageError("the metric reads texts, not tokens; encode them with keep_texts=True")
    return tokens.texts


def _lowered(tokens: Tokens, *, lowercase: bool) -> Sequence[str]:
    texts = _texts(tokens)
    return [text.lower() for text in texts] if lowercase else texts


def _split(texts: Sequence[str], native: Native, vocabulary: Vocabulary, jobs: int) -> Pieces:
    tokens = vocabulary.encode(texts, native_tokenizer(native), jobs)
    return Pieces(tokens, tokens.offsets)


@dataclass(frozen=True, eq=False, slots=True)
class PieceMatches:
    """Candidates and their references in pieces.

    Args:
        candidates: n texts.
        references: m texts, set after set.
        sets: int32[n], the set of references of each candidate.
        set_offsets: int64[k + 1]; set s is the references ``set_offsets[s]:set_offsets[s + 1]``.
        jobs: Number of threads.
    """

    candidates: Pieces
    references: Pieces
    sets: NDArray[np.int32]
    set_offsets: NDArray[np.int64]
    jobs: int

    def count(
        self, count: Callable[[Overlap, NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        """Counts of all pairs of candidate and reference, int64[pairs, c], from some candidates at a time.

        Args:
            count: Function from an overlap, and the offsets of the sentences of its candidates and of its references,
                to counts of its pairs.
        """
        parts = []
        pieces = np.diff(self.references.tokens.offsets[self.set_offsets])[self.sets]
        for begin, end in list(blocks(np.concatenate([[0], np.cumsum(pieces)]), PIECES)) or [(0, 0)]:
            sets = self.sets[begin:end]
            first, last = (int(sets.min()), int(sets.max()) + 1) if len(sets) else (0, 0)
            inside = self.set_offsets[first : last + 1]
            own, theirs = self.candidates.part(begin, end), self.references.part(int(inside[0]), int(inside[-1]))
            part = overlap(
                own.tokens.ids,
                own.tokens.offsets,
                sets - np.int32(first),
                theirs.tokens.ids,
                theirs.tokens.offsets,
                inside - inside[0],
                self.jobs,
            )
            parts.append(count(part, own.sentences, theirs.sentences))
        return np.concatenate(parts)


def blocks(bounds: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Ranges of texts whose parts are about as many as a number; each of at least one text, if there are any.

    Args:
        bounds: int64[n + 1], offsets of the parts of each of n texts.
        most: The number.

    >>> list(blocks(np.array([0, 3, 4, 9]), 4))
    [(0, 2), (2, 3)]
    """
    begin = 0
    while begin < len(bounds) - 1:
        end = max(begin + 1, int(np.searchsorted(bounds, bounds[begin] + most, side="right")) - 1)
        yield begin, end
        begin = end
