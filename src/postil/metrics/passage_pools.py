"""Passages as bags of units, and pools of them as references: informativeness, interestingness, leave-one-out.

Source: González-Gallardo, SanJuan and Torres-Moreno, "Extending Text Informativeness Measures to Passage
Interestingness Evaluation", sections 3.2 and 3.3. Its protocol leaves a passage in its own reference, which is the
default, for comparison with the paper; weighted measures leave it out, since otherwise they would read its own grade.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar, cast

import numpy as np

from postil.data.explain import shown
from postil.errors import Undefined
from postil.text.tokens import Tokens, Units, ngram_units
from postil.text.vectors import Sums, Vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from postil.data.rows import Passage

__all__ = [
    "UNITS",
    "Bags",
    "PassageCollection",
    "Pools",
    "informativeness",
    "interestingness",
    "one_pool",
]

T = TypeVar("T")

UNITS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType({"1": (1, 0), "2": (2, 0), "3": (3, 0), "sk": (2, 1)})
"""Units by name: number of words, and number of words skipped between them."""


class Bags:
    """Passages as bags of units, with the statistics of the whole collection.

    Args:
        units: The units of n passages.
        background: Number of passages, from the first, that the statistics are over; by default all.
    """

    def __init__(self, units: Units, background: int | None = None) -> None:
        self.units = units
        self._background = len(units) if background is None else background

    @property
    def _end(self) -> int:
        """Number of entries of the background."""
        return int(self.units.offsets[self._background])

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """P(u | all passages), float64[U]: relative frequency of each unit in the background."""
        units, end = self.units, self._end
        counts = np.bincount(units.units[:end], units.counts[:end], units.distinct)
        return np.asarray(counts / max(1.0, counts.sum()))

    @cached_property
    def idf(self) -> NDArray[np.float64]:
        """``1 + ln((1 + n) / (1 + df))``, float64[U]; df is the number of the background's n passages with the unit."""
        df = np.bincount(self.units.units[: self._end], minlength=self.units.distinct)
        return np.asarray(1.0 + np.log((1.0 + self._background) / (1.0 + df)))


class PassageCollection:
    """Tokenized passages, as measures read them.

    Args:
        tokens: n passages, without stop words and as stems where those are wanted.
        words: The same passages as plain words, for measures over word vectors; by default ``tokens``.
        note: Note on texts that the tokenizer does not split; empty without any.
        background: Number of passages, from the first, that the statistics of the collection are over; by default all.
        cut: Number of passages that were cut.
        lengths: int64[n], number of words of each passage, stop words among them; by default those of ``tokens``.
        passages: The passages themselves, for measures that read whole texts by page; None where they are not known.
        written: Maker of the words as they stand in the passages, one for each of ``words``, for vectors that tell
            upper from lower case; by default ``words``.
    """

    def __init__(
        self,
        tokens: Tokens,
        words: Tokens | None = None,
        note: str = "",
        *,
        background: int | None = None,
        cut: int = 0,
        lengths: NDArray[np.int64] | None = None,
        passages: Sequence[Passage] | None = None,
        written: Callable[[], Tokens] | None = None,
    ) -> None:
        self.tokens = tokens
        self.words = tokens if words is None else words
        self.note = note
        self.background = background
        self.cut = cut
        self.lengths = tokens.lengths if lengths is None else lengths
        self.passages = passages
        self._written = written
        self._kept: dict[object, object] = {}

    def __len__(self) -> int:
        return len(self.tokens)

    def bags(self, unit: str, *, upto: bool = False) -> Bags:
        """The passages as bags of units, counted once.

        Args:
            unit: A name in `UNITS`.
            upto: True to skip fewer words as well.
        """
        n, gap = UNITS[unit]
        return self.kept((unit, upto), lambda: Bags(ngram_units(self.tokens, n, gap, up_to=upto), self.background))

    def vector_sums(self, vectors: Vectors) -> Sums:
        """The summed vectors of each passage's words or pairs of words, as they stand there, else in lower case.

        Args:
            vectors: The vectors.
        """
        if not vectors.cased:
            return vectors.sums(self.words)
        sums, first = vectors.sums(self.written()), np.array(self.duplicates(), np.int64)
        # Passages with the same words are one text, whose sum the measure takes out of a reference.
        return Sums(sums.vectors[first], sums.known[first], sums.totals[first])

    def written(self) -> Tokens:
        """The words as they stand in the passages."""
        make = self._written
        return self.words if make is None else self.kept("written", make)

    def kept(self, key: object, make: Callable[[], T]) -> T:
        """Return something that several measures share, made at the first call.

        Args:
            key: Its key, one per type.
            make: Its factory.
        """
        if key not in self._kept:
            self._kept[key] = make()
        return cast("T", self._kept[key])

    def duplicates(self, texts: Sequence[str] | None = None) -> list[int]:
        """Index of the first passage with the same words as each, int[n].

        Args:
            texts: n texts that have to be the same as well; by default the words decide alone.

        >>> from postil.text.tokens import Vocabulary
        >>> PassageCollection(Vocabulary().encode_tokens([["a", "b"], ["b"], ["a", "b"]])).duplicates()
        [0, 1, 0]
        """
        first: dict[tuple[bytes, str], int] = {}
        bounds = self.words.offsets.tolist()
        return [
            first.setdefault((self.words.ids[bounds[i] : bounds[i + 1]].tobytes(), texts[i] if texts else ""), i)
            for i in range(len(self))
        ]


_NOTHING: Final = "no passage has a grade above 0, so there is no reference"


@dataclass(frozen=True, eq=False)
class Pools:
    """p pooled references, each with the passages that are scored against it; all numbers are rows of a collection.

    Args:
        reference_offsets: int64[p + 1]; pool i has the references ``reference_offsets[i]:reference_offsets[i + 1]``.
        references: int32[r], passages.
        weights: float64[r], the weight of each.
        text_offsets: int64[p + 1], likewise of the passages that are scored.
        texts: int32[t], these passages, unique.
        own: int64[o], indices into ``references``, in runs.
        own_begins: int64[t], begin in ``own`` of the run of references that leave while a passage is scored.
        own_ends: int64[t], its end. Runs are equal or disjoint; passages with the same one are the same text.
    """

    reference_offsets: NDArray[np.int64]
    references: NDArray[np.int32]
    weights: NDArray[np.float64]
    text_offsets: NDArray[np.int64]
    texts: NDArray[np.int32]
    own: NDArray[np.int64]
    own_begins: NDArray[np.int64]
    own_ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.reference_offsets) - 1

    def own_of(self, index: int) -> NDArray[np.int64]:
        """The references that leave while a passage is scored, as indices into ``references``.

        Args:
            index: The passage, as an index into ``texts``.
        """
        return self.own[self.own_begins[index] : self.own_ends[index]]

    def own_lists(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`own_of` of all passages, concatenated: int64[t + 1] offsets, and the indices.

        Call it of `distinct` pools, as passages with the same run each have it here.
        """
        sizes = self.own_ends - self.own_begins
        offsets = _offsets(sizes)
        return offsets, self.own[np.arange(offsets[-1]) + np.repeat(self.own_begins - offsets[:-1], sizes)]

    def distinct(self) -> tuple[Pools, NDArray[np.int64]]:
        """Keep one of the passages that have the same run, and with it the same score.

        Without this the work for a text that stands n times in its reference grows with the square of n.

        Returns:
            The pools with the first of such passages, and int64[t], the index of each passage's score among theirs.
        """
        number = np.arange(len(self.texts))
        alone = self.own_begins == self.own_ends
        _, first, same = np.unique(
            np.where(alone, len(self.own) + number, self.own_begins), return_index=True, return_inverse=True
        )
        if len(first) == len(number):
            return self, number
        order = np.argsort(first)
        first, rank = first[order], np.argsort(order)
        fewer = replace(
            self,
            text_offsets=np.searchsorted(first, self.text_offsets),
            texts=self.texts[first],
            own_begins=self.own_begins[first],
            own_ends=self.own_ends[first],
        )
        return fewer, rank[same]

    def unweighted(self) -> Pools:
        """The same with all weights 1."""
        return replace(self, weights=np.ones(len(self.weights)))

    def all_inside(self) -> Pools:
        """The same with every passage in its own reference."""
        nowhere = np.zeros_like(self.own_begins)
        return replace(self, own=self.own[:0], own_begins=nowhere, own_ends=nowhere)


def one_pool(same_text: ArrayLike, references: ArrayLike, weights: ArrayLike, texts: ArrayLike) -> Pools:
    """One reference for all passages; texts equal to a passage leave it while that is scored.

    Args:
        same_text: int64[n], equal for passages whose texts are equal.
        references: int32[r], the passages of the reference.
        weights: float64[r], the weight of each.
        texts: int32[t], the passages that are scored.

    >>> pools = one_pool([5, 6, 5], references=[0, 1, 2], weights=[1, 1, 1], texts=[0, 1, 2])
    >>> [pools.own_of(i).tolist() for i in range(3)]
    [[0, 2], [1], [0, 2]]
    """
    same, held, scored = _numbers(same_text), _numbers(references), _numbers(texts)
    own, begins, ends = _own(same[held], same[scored])
    return Pools(
        reference_offsets=np.array([0, len(held)]),
        references=held.astype(np.int32),
        weights=np.asarray(weights, np.float64),
        text_offsets=np.array([0, len(scored)]),
        texts=scored.astype(np.int32),
        own=own,
        own_begins=begins,
        own_ends=ends,
    )


def informativeness(topics: ArrayLike, weights: ArrayLike) -> Pools:
    """References for informativeness: the informative passages of a passage's own topic (equation 12).

    A passage that is informative itself leaves the reference while it is scored; `Pools.all_inside` keeps it there, as
    the paper does. Topics without an informative passage have no pool, and their passages are not scored.

    Args:
        topics: int32[n], the topic of each passage.
        weights: float64[n] in [0, 1], the informativeness of each; 0 is not informative.

    Raises:
        Undefined: No passage is informative.

    >>> pools = informativeness([0, 0, 0, 1], [1, 0.5, 0, 0])
    >>> pools.references.tolist(), pools.texts.tolist(), [pools.own_of(i).tolist() for i in range(3)]
    ([0, 1], [0, 1, 2], [[0], [1], []])
    """
    topic, weight = _numbers(topics), np.asarray(weights, np.float64)
    order = np.argsort(topic, kind="stable").astype(np.int32)
    rich = np.bincount(topic, weight > 0) > 0
    if not rich.any():
        raise Undefined(_NOTHING)
    texts = order[rich[topic[order]]]
    informative = weight[texts] > 0
    references = texts[informative]
    leaving = _offsets(informative)
    return Pools(
        reference_offsets=_offsets(np.bincount(topic[references], minlength=len(rich))[rich]),
        references=references,
        weights=weight[references],
        text_offsets=_offsets(np.bincount(topic[texts], minlength=len(rich))[rich]),
        texts=texts,
        own=np.arange(len(references)),
        own_begins=leaving[:-1],
        own_ends=leaving[1:],
    )


def interestingness(
    topics: ArrayLike,
    weights: ArrayLike,
    same_text: ArrayLike,
    folds: ArrayLike,
    *,
    names: Sequence[str] = (),
    once: bool = False,
) -> Pools:
    """References for interestingness: what is informative for some topic of another fold (section 3.3).

    Texts equal to the passage leave the reference while it is scored; `Pools.all_inside` keeps them there.

    Args:
        topics: int32[n], the topic of each passage.
        weights: float64[n] in [0, 1], the informativeness of each for its topic; 0 is not informative.
        same_text: int32[n], equal for passages whose texts are equal.
        folds: int32[topics], the fold of each topic, see `postil.metrics.folds.folds_of`.
        names: Names of the topics, for messages.
        once: True if a text that is informative for several topics is in the reference once, with its highest weight,
            as in the union of equation 13; else it is there for each.

    Raises:
        Undefined: There is one fold, all informative passages are in one, or there are none.

    >>> pools = interestingness([0, 0, 1], [1, 0, 1], [0, 1, 0], [0, 1])
    >>> pools.references.tolist(), pools.texts.tolist(), [pools.own_of(i).tolist() for i in range(3)]
    ([2, 0], [0, 1, 2], [[0], [], [1]])
    >>> interestingness([0, 1, 2], [1, 0.5, 1], [0, 1, 1], [0, 1, 2], once=True).references.tolist()
    [2, 0, 2, 0, 1]
    """
    topic, weight, same = _numbers(topics), np.asarray(weights, np.float64), _numbers(same_text)
    fold = _numbers(folds)[topic]
    several = int(fold.max()) + 1
    if several < 2:
        raise Undefined("interestingness needs passages of two topics at least, and there is one")
    informative = np.flatnonzero(weight > 0)
    if not len(informative):
        raise Undefined(_NOTHING)
    references, texts, own = [], [], []
    done = 0
    for number in range(several):
        others = informative[fold[informative] != number]
        if not len(others):
            fold_of = f"the fold of {shown(names[int(topic[informative[0]])])}" if names else "one fold"
            raise Undefined(f"every informative passage is in {fold_of}, so its passages have no reference")
        if once:
            others = _first_of_texts(others, same[others], weight[others])
        here = np.flatnonzero(fold == number)
        own.append([part + done for part in _own(same[others], same[here])])
        references.append(others)
        texts.append(here)
        done += len(others)
    pooled = np.concatenate(references)
    places, begins, ends = map(np.concatenate, zip(*own, strict=True))
    return Pools(
        reference_offsets=_offsets(np.array([len(rows) for rows in references])),
        references=pooled.astype(np.int32),
        weights=weight[pooled],
        text_offsets=_offsets(np.array([len(rows) for rows in texts])),
        texts=np.concatenate(texts).astype(np.int32),
        own=places,
        own_begins=begins,
        own_ends=ends,
    )


def _first_of_texts(rows: NDArray[np.int64], same: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """The first row of the highest weight of each text; rows stay in their order."""
    order = np.lexsort((-weight, same))
    return np.sort(rows[order[np.unique(same[order], return_index=True)[1]]])


def _own(references: NDArray[np.int64], texts: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """The references in runs of equal texts, and the begin and end of the run of each text."""
    order = np.argsort(references, kind="stable")
    runs = references[order]
    return order, np.searchsorted(runs, texts), np.searchsorted(runs, texts, side="right")


def _numbers(values: ArrayLike) -> NDArray[np.int64]:
    return np.asarray(values, np.int64)


def _offsets(counts: NDArray[np.int64] | NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
