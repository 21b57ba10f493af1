"""Passages as bags of units: preprocessing, and what all measures of one collection share."""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, TypeVar, cast

import numpy as np

from postil.errors import UsageError
from postil.messages import Setting
from postil.options import Flag, options
from postil.text.han import HanTexts, all_remarks
from postil.text.stems import stems, stems_signature
from postil.text.stop_words import stop_words_signature, without_stop_words
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Tokens, Vocabulary, ngram_units
from postil.text.vectors import Sums, as_written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.row_locations import RowLocations
    from postil.data.rows import Passage
    from postil.text.tokens import Units
    from postil.text.vectors import Vectors

__all__ = ["UNITS", "Bags", "PassageCollection", "Preprocessing"]

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

        >>> PassageCollection(Vocabulary().encode_tokens([["a", "b"], ["b"], ["a", "b"]])).duplicates()
        [0, 1, 0]
        """
        first: dict[tuple[bytes, str], int] = {}
        bounds = self.words.offsets.tolist()
        return [
            first.setdefault((self.words.ids[bounds[i] : bounds[i + 1]].tobytes(), texts[i] if texts else ""), i)
            for i in range(len(self))
        ]


@options
class Preprocessing:
    """Preprocessing of passages: tokenization, stop words, stems; or the anchors in place of the words.

    Args:
        tokenizer: Tokenizer: words, space, 13a or ptb; for Chinese jieba, rjieba (the same, faster) or characters.
        stem: none, or a stemmer such as porter.
        stop: none, or a list of stop words such as en.
        anchors: Take the passages' anchors for their words.
    """

    tokenizer: Annotated[str, Flag(metavar="NAME")] = "words"
    stem: Annotated[str, Flag(metavar="NAME")] = "none"
    stop: Annotated[str, Flag(metavar="LANG")] = "none"
    anchors: bool = False

    @property
    def signature(self) -> str:
        """The part of a score's signature that says how passages were read."""
        stem = "none" if self.stem == "none" else stems_signature(self.stem)
        words = "anchors" if self.anchors else named_tokenizer(self.tokenizer).signature
        return f"words:{words}|stop:{self._stop}|stem:{stem}"

    @property
    def word_facts(self) -> dict[str, str]:
        """The facts that word vectors depend on: ``tokenizer`` and ``stop``; anchors have no stop words."""
        if self.anchors:
            return {"tokenizer": "anchors"}
        return {"tokenizer": named_tokenizer(self.tokenizer).signature, "stop": self._stop}

    @property
    def _stop(self) -> str:
        return "none" if self.stop == "none" else stop_words_signature(self.stop)

    def collection(
        self,
        passages: Sequence[Passage],
        places: RowLocations,
        jobs: int = 1,
        longest: NDArray[np.int64] | None = None,
        stops: Sequence[str] | None = None,
    ) -> PassageCollection:
        """Tokenize passages.

        Args:
            passages: n passages.
            places: Their locations, for messages.
            jobs: Number of threads; the result does not depend on it.
            longest: int64[n], number of words, stop words among them, at which each passage is cut; by default none is.
            stops: Stop list of each passage, in place of `stop`.

        Raises:
            InvalidInput: More than a tenth of the passages are Han text and meet the ``words`` tokenizer.
            UnknownName: There is no such tokenizer, stop list or stemmer.
            UsageError: The anchors are asked for and no passage has any.
        """
        tokenizer = named_tokenizer(self.tokenizer)
        if self.anchors:
            anchors = [[" ".join(each.lower().split()) for each in passage.anchors] for passage in passages]
            if not any(anchors):
                raise UsageError(
                    "{anchors}: no passage has any; fill the field anchors or leave it out", anchors=Setting("anchors")
                )
            whole = [[" ".join(each.split()) for each in passage.anchors] for passage in passages]
            return PassageCollection(
                Vocabulary().encode_tokens(anchors),
                passages=passages,
                written=lambda: Vocabulary().encode_tokens(whole),
            )
        texts = [passage.text for passage in passages]
        han = HanTexts(tokenizer, "passages")
        han.see(texts)
        han.check(lambda place, problem: places.error(place, "text", problem))
        encoded = split = Vocabulary().encode(texts, tokenizer, jobs, allow_han=True, keep_texts=True)
        cut = 0
        if longest is not None:
            cut = int((encoded.lengths > longest).sum())
            encoded = encoded.truncated(longest)
        words = tokens = without_stop_words(encoded, self.stop, stops)
        if self.stem != "none":
            # One call of the stemmer per distinct word, not per token.
            stem_of = Vocabulary().encode_tokens([stems(words.vocabulary.words(), self.stem)])
            tokens = Tokens(stem_of.ids[words.ids], words.offsets, stem_of.vocabulary)

        def written() -> Tokens:
            forms = as_written(split)
            return without_stop_words(forms if longest is None else forms.truncated(longest), self.stop)

        remark = "; ".join(all_remarks(han))
        return PassageCollection(
            tokens, words, remark, cut=cut, lengths=encoded.lengths, passages=passages, written=written
        )
