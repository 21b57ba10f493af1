"""METEOR with a weight on every reference."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple, Self

import numpy as np

from postil.errors import InvalidInput, UsageError
from postil.kernel import meteor
from postil.metrics.base import PairwiseScorer, Scorer, TokenMetric, alignable
from postil.metrics.reference_aggregation import AggregatingScorer, first_best, settle_over
from postil.metrics.references import Matches, References
from postil.text.stems import stems_signature
from postil.text.stop_words import function_words, function_words_signature
from postil.text.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies

__all__ = ["Meteor", "WordNet"]

BEAM: Final = 40
"""Beam size of the alignment search, as in the METEOR 1.5 program."""
CUT: Final = (
    "alignment=2005: some texts repeat too many words, so the search for the fewest crossings was cut short; their "
    "scores are those of the best alignments found"
)
UNWEIGHTED: Final = 0.5
"""The delta at which function words count as much as content words."""


class _Preset(NamedTuple):
    alpha: float
    beta: float
    gamma: float
    delta: float
    stage_weights: tuple[float, float, float]


PRESETS: Final = {
    "en": _Preset(0.85, 0.2, 0.6, 0.75, (1.0, 0.6, 0.8)),
    "other": _Preset(0.75, 1.4, 0.7, 0.5, (1.0, 0.6, 0.8)),
    "2005": _Preset(0.9, 3.0, 0.5, 0.5, (1.0, 1.0, 1.0)),
}


@dataclass(frozen=True, kw_only=True)
class Meteor(TokenMetric):
    """METEOR: words aligned one to one, a mean of precision and recall, and a penalty for scattered matches.

    ``max_j s_j (1 - gamma frag_j^beta) F_j`` with ``F = P R / (alpha P + (1 - alpha) R)`` and
    ``frag = chunks / matches``, 0 where the texts are the same (Banerjee & Lavie 2005; Denkowski & Lavie 2014; with
    weights: Qin et al. 2018, supplement B.3, which prints the penalty outside the maximum: see ``penalty``). P and R
    weight a content word by delta and a function word by 1 - delta, and a match by its stage: exact 1, stem .6, synonym
    .8. The alignment is the beam search of the METEOR 1.5 program. Texts are taken as the tokenizer leaves them.

    With all weights 1 and the program's own list of function words the numbers are the program's (largest difference
    5.6e-16). That list is LGPL, so the package has one of its own. With it, the default, 979 of 2,273 student answers
    differ, by .0040 in the mean and .0818 at most; 1,441 of 2,115 answers in web threads differ, by .0060 in the mean
    and .0956 at most. ``params=other`` and ``params=2005`` use no list.

    In [0, 1]; higher is better; an empty candidate scores 0. Of references with equal scores the first is chosen, so
    the corpus score, unlike item scores, can depend on the order of references. Time grows with the number of words
    and the logarithm of the places that they could be aligned with.

    Args:
        params: ``en``: METEOR 1.5's for English (.85, .2, .6, .75); ``other``: for languages without tuning, such as
            Chinese (.75, 1.4, .7, .5); ``2005``: the first paper's (.9, 3, .5, .5), every stage with weight 1.
        stages: Matchers of words: the same word, the same English stem (Snowball), a WordNet synset in common. The
            paraphrase stage of METEOR 1.5 is not offered, so its default English number, which has it, is not promised.
        alignment: ``1.5``: the beam search of the METEOR 1.5 program, in which equal texts have no penalty. ``2005``:
            that of the first paper, stage by stage without synonyms: of the alignments with most matches the one with
            the fewest crossings, of these the one with the fewest chunks; equal texts are one chunk. Where words occur
            so often that more than a thousand partial alignments after a word, or four million steps in all, would have
            to be looked at, the best of those that were is taken, and a remark says so.
        characters: Take every character outside Latin and Cyrillic words as a word, as METEOR 1.5 does when it
            normalizes Chinese; lower-cases.
        corpus: ``stats``: sum the chosen references' statistics, matches scaled by s_j in P and R only; the program's
            aggregate where all weights are 1. ``mean``: of the items. ``chosen``: the weights only choose the
            reference, its statistics stay unscaled (item scores are weighted all the same). By default ``stats``, and
            ``mean`` where ``over`` is not ``max``.
        over: Reference aggregation. ``max``: the best score by a single reference. ``mean``: ``1/K sum_j s_j F_j``, F_j
            with its penalty. ``top-k``, such as ``top-3``: the mean of the k highest ``s_j F_j``. ``near`` and
            ``kernel``: similarity-weighted means of the weights; ``kernel`` exists with weights only. They are not for
            references that get worse as the text gets better (leave-one-out, halves), nor for many references with few
            distinct weights; see `postil.metrics.reference_aggregation.Over`. All but ``max`` choose no single
            reference, so they go with ``corpus=mean`` alone.
        tau: Width of ``over=kernel``, .1 by default: the smaller, the more the nearest references count.
        penalty: Place of the penalty, which belongs to the alignment with one reference.

            - ``inside``: ``max_j s_j (1 - pen_j) F_j``, as METEOR 1.5 chooses among references.
            - ``outside``: ``(1 - pen_j) s_j F_j`` of the reference with the highest ``s_j F_j``, of equal ones that
              with the lowest penalty: equation B.3 as printed. Never above ``inside``; equal with one reference.
              Raising a weight, or adding a reference, can lower the score, since it can choose a reference with
              scattered matches. ``corpus`` takes the reference so chosen; only with ``over=max``.
        function_words: A UTF-8 file with one function word per line, in place of the English list of the package, such
            as the program's own; only with ``params=en``, as delta is .5 in the others and makes all words equal. The
            spec has its path, signatures have a hash of its words.
        wordnet: A folder with WordNet's files; by default found where Debian and NLTK put it. Only with the synonym
            stage.

    Raises:
        UsageError: A file is given that the parameters make no use of, or whose path cannot stand in a spec; or
            ``over`` is none of these or does not go with the corpus score or the place of the penalty.
        InvalidInput: On scoring two texts of some 100,000 words each or more.

    Three of four words match, in two chunks: F = 3/4, and the penalty is .7 (2/3)^1.4 of it:

    >>> import postil
    >>> spec = "w-meteor(params=other)"
    >>> result = postil.score(["a b x d"], [["a b c d"]], weights=[[0.5]], metrics=[spec])
    >>> round(result.corpus[spec], 4), round(0.5 * 0.75 * (1 - 0.7 * (2 / 3) ** 1.4), 4)
    (0.2262, 0.2262)
    """

    params: Literal["en", "other", "2005"] = "en"
    stages: Literal["exact", "exact+stem", "exact+stem+synonym"] = "exact+stem"
    alignment: Literal["1.5", "2005"] = field(default="1.5", metadata={"brief": True})
    characters: bool = False
    corpus: Literal["stats", "mean", "chosen"] = None  # type: ignore[assignment]  # set below
    over: str = "max"
    tau: float | None = None
    penalty: Literal["inside", "outside"] = field(default="inside", metadata={"brief": True})
    function_words: str | None = None
    wordnet: str | None = None
    name: ClassVar[str] = "meteor"

    def __post_init__(self) -> None:
        settle_over(self)
        if self.corpus is None:
            object.__setattr__(self, "corpus", "stats" if self.over == "max" else "mean")
        if self.over != "max" and self.corpus != "mean":
            raise UsageError(
                f"meteor: corpus={self.corpus} needs the one reference that over=max chooses; with over={self.over} "
                "take corpus=mean, or leave it out"
            )
        if self.over != "max" and self.penalty != "inside":
            raise UsageError(
                f"meteor: penalty=outside is a factor outside the maximum over references, and over={self.over} has no "
                "maximum; take over=max, or leave penalty out"
            )
        if self.function_words is not None and PRESETS[self.params].delta == UNWEIGHTED:
            raise UsageError(f"meteor: function_words has no effect with params={self.params}; leave it out")
        if self.alignment == "2005" and self.stages == "exact+stem+synonym":
            raise UsageError(
                "meteor: alignment=2005 has the stages exact and exact+stem, got stages=exact+stem+synonym"
            )
        if self.wordnet is not None and self.stages != "exact+stem+synonym":
            raise UsageError(f"meteor: wordnet has no effect with stages={self.stages}; leave it out")
        for path in (self.function_words, self.wordnet):
            if path is not None and (not path or "," in path or path != path.strip()):
                raise UsageError(f"meteor: expected a path without commas and outer spaces, got '{path}'")

    @property
    def needs_words(self) -> bool:
        """See `Metric.needs_words`."""
        return not self.characters

    @property
    def for_other_languages(self) -> str:
        """See `Metric.for_other_languages`; METEOR 1.5 was tuned for English."""
        return "params=other" if self.params == "en" else ""

    @property
    def aggregation(self) -> Literal["mean", "sums"]:
        """See `Metric.aggregation`."""
        return "mean" if self.corpus == "mean" else "sums"

    @property
    def width(self) -> int:
        """See `Metric.width`."""
        return {"mean": 2, "stats": 6, "chosen": 7}[self.corpus]

    def score(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Metric.score`."""
        if self.corpus == "mean":
            return super().score(stats)
        preset = PRESETS[self.params]
        out = _f_mean(stats, preset.alpha)
        some = np.flatnonzero(out)
        chunks, matched = stats[some, 4:6].T
        out[some] *= 1.0 - preset.gamma * (chunks / matched) ** preset.beta
        return out

    def items(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Metric.items`."""
        return stats[:, 6] if self.corpus == "chosen" else self.score(stats)

    @property
    def signature(self) -> str:
        """See `Specified.signature`: with a hash of the function words where they count; WordNet is in the notes."""
        words = None
        if PRESETS[self.params].delta != UNWEIGHTED:
            words = function_words_signature(Path(self.function_words) if self.function_words else None)
        return str(replace(self, function_words=words, wordnet=None))

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        if self.characters:
            return _CharacterScorer(self, references)
        return _words_scorer(self, references)


def _words_scorer(metric: Meteor, references: References) -> PairwiseScorer:
    if metric.over != "max":
        return AggregatingScorer(metric, references, replace(metric, over="max", tau=None, weighted=False))
    return _MeteorScorer(metric, references)


class _MeteorScorer(PairwiseScorer):
    metric: Meteor

    def __init__(self, metric: Meteor, references: References) -> None:
        super().__init__(metric, references)
        self._preset = PRESETS[metric.params]
        self._stems = metric.stages != "exact"
        self._outside = metric.penalty == "outside"
        self._function: frozenset[str] = frozenset()
        if self._preset.delta != UNWEIGHTED:
            self._function = function_words(Path(metric.function_words) if metric.function_words else None)
        self._wordnet = None
        if metric.stages == "exact+stem+synonym":
            self._wordnet = WordNet.find(Path(metric.wordnet) if metric.wordnet else None)
        self._is_function = references.tokens.vocabulary.flags(self._function)
        self._cut = False

    @property
    def notes(self) -> tuple[str, ...]:
        notes = [f"stems:{stems_signature()}"] if self._stems else []
        if self._wordnet is not None:
            notes.append(f"synonyms:{self._wordnet.signature}")
        return tuple(notes)

    def remarks(self) -> list[str]:
        """See `Scorer.remarks`."""
        return [CUT] if self._cut else []

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        """Columns of ``corpus=stats``: weighted matches of both sides times s, weighted lengths, chunks, matches."""
        return self._stats(self._table(matches, self.references.weights))

    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        return self._table(matches, np.ones(len(self.references.tokens)))

    def joined(
        self, pairs: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        scores = pairs[:, 0] * weights
        among = scores
        if self._outside:
            keys = _f_mean(pairs[:, 1:5], self._preset.alpha) * weights
            among = np.where(keys == np.repeat(keys[first_best(keys, bounds)], np.diff(bounds)), scores, -1.0)
        first = first_best(among, bounds)
        return self._stats(np.column_stack([scores[first], pairs[first, 1:7], weights[first]]))

    def _table(self, matches: Matches, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Statistics of the best reference of each candidate, float64[n, 9]; see `postil.kernel.meteor`."""
        vocabulary, preset = matches.candidates.vocabulary, self._preset
        known = len(self._is_function)
        fewest = (True,) if self.metric.alignment == "2005" else ()
        with alignable(self.metric):
            table = meteor(
                matches.stems() if self._stems else matches.words,
                weights,
                preset[:4],
                preset.stage_weights,
                BEAM,
                matches.candidates.ids,
                matches.references.tokens.ids,
                np.concatenate([self._is_function, vocabulary.flags(self._function, known)]),
                *self._synsets(vocabulary),
                matches.jobs,
                self._outside,
                *fewest,
            )
        self._cut |= bool(table[:, 8:].any())
        return table

    def _stats(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.metric.corpus == "mean":
            return np.stack([table[:, 0], np.ones(len(table))], axis=1)
        stats = table[:, 1:7].copy()
        if self.metric.corpus == "chosen":
            return np.column_stack([stats, table[:, 0]])
        stats[:, :2] *= table[:, 7:8]
        return stats

    def _synsets(self, vocabulary: Vocabulary) -> tuple[NDArray[np.int64] | None, NDArray[np.int32] | None]:
        if self._wordnet is None:
            return None, None
        senses = [sorted(self._wordnet.synsets(word)) for word in vocabulary.words()]
        offsets = np.zeros(len(senses) + 1, dtype=np.int64)
        np.cumsum([len(ids) for ids in senses], out=offsets[1:])
        return offsets, np.array([i for ids in senses for i in ids], dtype=np.int32)


def _f_mean(stats: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """F without the penalty, of weighted matches and weighted lengths of both sides."""
    out = np.zeros(len(stats))
    some = np.flatnonzero((stats[:, 0] > 0.0) & (stats[:, 1] > 0.0))
    own, theirs, own_length, their_length = stats[some, :4].T
    out[some] = 1.0 / ((1.0 - alpha) / (own / own_length) + alpha / (theirs / their_length))
    return out


class _CharacterScorer(PairwiseScorer):
    """METEOR over characters: references and candidates are tokenized again, and scored as words are."""

    metric: Meteor

    _PIECE: Final = re.compile(r"[0-9a-z\u00df-\u024f\u0400-\u052f]+|\S")

    def __init__(self, metric: Meteor, references: References) -> None:
        super().__init__(metric, references)
        self._pieces = self._split(references.tokens.vocabulary.words())
        vocabulary = Vocabulary()
        again = References(
            self._again(references.tokens, self._pieces, vocabulary),
            references.offsets,
            references.weights,
            references.items,
        )
        self._inner = _words_scorer(replace(metric, characters=False), again)

    def _split(self, words: Sequence[str]) -> list[list[str]]:
        return [self._PIECE.findall(word.lower()) for word in words]

    @staticmethod
    def _again(tokens: Tokens, pieces: Sequence[list[str]], vocabulary: Vocabulary) -> Tokens:
        ids, bounds = tokens.ids.tolist(), tokens.offsets.tolist()
        texts = ([piece for i in ids[a:b] for piece in pieces[i]] for a, b in pairwise(bounds))
        return vocabulary.encode_tokens(list(texts))

    def reweighted(self, weights: NDArray[np.float64]) -> Self:
        other = super().reweighted(weights)
        other._inner = self._inner.reweighted(weights)  # noqa: SLF001 - its own class
        return other

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        return self._inner.measure(self._matches(matches))

    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        return self._inner.pairs(self._matches(matches))

    def joined(
        self, pairs: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        return self._inner.joined(pairs, weights, bounds)

    def alone(self, pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._inner.alone(pairs)

    def remarks(self) -> list[str]:
        return self._inner.remarks()

    def _matches(self, matches: Matches) -> Matches:
        candidates = matches.candidates
        pieces = self._pieces + self._split(candidates.vocabulary.words(len(self._pieces)))
        references = self._inner.references
        again = self._again(candidates, pieces, references.tokens.vocabulary.branch())
        return references.match(again, matches.sets, matches.jobs)

    @property
    def notes(self) -> tuple[str, ...]:
        return self._inner.notes


_PARTS = ("noun", "verb", "adj", "adv")
_FILES = tuple(f"index.{part}" for part in _PARTS) + tuple(f"{part}.exc" for part in _PARTS)
_PART_STEP = 10**8  # offsets have eight digits
_ENDINGS = (
    ("s", ""),
    ("ies", "y"),
    ("es", ""),
    ("men", "man"),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", ""),
    ("er", "e"),
    ("est", ""),
    ("est", "e"),
)
_LARGEST = 1 << 28
"""Largest number of bytes of a file of WordNet; the largest of version 3.1 has 16 MB."""
_VERSION = re.compile(r"WordNet (\d[\d.]*\d) Copyright")
_HOW_TO_GET = (
    "Get it with one of: apt-get install wordnet-base; python -m nltk.downloader wordnet; or set POSTIL_WORDNET to a "
    "folder that holds index.noun, noun.exc and the other index and exception files of WordNet"
)


@dataclass(frozen=True, eq=False)
class WordNet:
    """The synsets of English words by WordNet, where the user has it; made with `WordNet.find` or `WordNet.read`.

    Two words are synonyms when they share a synset. The synsets of a word follow the rule of the METEOR 1.5 jar, found
    by asking it about 130,000 pairs of words: those of the word itself and those of its base forms, of whatever part of
    speech. The base forms are

    - those of the exception lists (``mice``: ``mouse``), when the word stands in any of the four;
    - otherwise the first of these that is in WordNet, as any part of speech: cut ``s``; ``ies`` to ``y``; cut
      ``es``; ``men`` to ``man``; ``ed`` to ``e``; cut ``ed``; ``ing`` to ``e``; cut ``ing``; cut ``er``; ``er`` to
      ``e``; cut ``est``; ``est`` to ``e``. A word of two letters, or one in ``ss``, has none.

    Words are looked up as they are, and WordNet's index is in lower case: ``Car`` is not in it.

    The files are those that wndb(5WN) describes. WordNet 3.0, which Debian and NLTK give, is the one that the jar has.

    Args:
        place: The folder or zip archive it was read from.
        version: The version that its licence text names, for example ``3.0``; empty if it names none.
        lemmas: Lemma (lower case, ``_`` for a space) to its synsets.
        exceptions: Irregular form to base forms.
    """

    place: Path
    version: str
    lemmas: Mapping[str, tuple[int, ...]] = field(repr=False)
    exceptions: Mapping[str, tuple[str, ...]] = field(repr=False)

    @classmethod
    def find(cls, path: Path | None = None) -> WordNet:
        """Read the first WordNet found.

        Looks at: `path`; the environment variable ``POSTIL_WORDNET``; ``/usr/share/wordnet``; ``corpora/wordnet`` and
        ``corpora/wordnet.zip`` in the places where NLTK keeps data. The first two, where given, must be a WordNet.

        Args:
            path: A folder, or a zip archive of one.

        Raises:
            UsageError: There is none; the message says how to get it.
            InvalidInput: A line of its files is not in WordNet's format.

        >>> from postil.errors import UsageError
        >>> try:
        ...     WordNet.find(Path("nowhere"))
        ... except UsageError as error:
        ...     print(str(error)[:55])
        no WordNet in 'nowhere': index.noun is not there. Get i
        """
        given = ((path, ""), (os.environ.get("POSTIL_WORDNET") or None, " (POSTIL_WORDNET)"))
        for place, source in given:
            if place is not None:
                missing = _first_missing(Path(place))
                if missing:
                    raise UsageError(f"no WordNet in '{place}'{source}: {missing} is not there. {_HOW_TO_GET}")
                return cls.read(Path(place))
        for candidate in _usual_places():
            if not _first_missing(candidate):
                return cls.read(candidate)
        raise UsageError(f"METEOR's synonym stage needs WordNet, and none was found. {_HOW_TO_GET}")

    @classmethod
    def read(cls, place: Path) -> WordNet:
        """Read the WordNet of a folder or a zip archive.

        Raises:
            InvalidInput: A file is missing, or a line is not in WordNet's format.
        """
        missing = _first_missing(place)
        if missing:
            raise InvalidInput(f"expected a WordNet, but {missing} is not there", where=str(place))
        lemmas: dict[str, list[int]] = {}
        exceptions: dict[str, list[str]] = {}
        version = ""
        for number, part in enumerate(_PARTS):
            for line, text in _lines(place, f"index.{part}"):
                if text.startswith(" "):
                    found = _VERSION.search(text)
                    version = version or (found[1] if found else "")
                else:
                    lemma, offsets = _index_entry(text, f"{place}/index.{part}", line)
                    lemmas.setdefault(lemma, []).extend(number * _PART_STEP + offset for offset in offsets)
            for line, text in _lines(place, f"{part}.exc"):
                form, *bases = text.split() or [""]
                if not bases:
                    raise InvalidInput(
                        f"expected a form and its base forms, got '{text}'",
                        where=f"{place}/{part}.exc",
                        line=line,
                    )
                exceptions.setdefault(form, []).extend(bases)
        return cls(
            place,
            version,
            {lemma: tuple(synsets) for lemma, synsets in lemmas.items()},
            {form: tuple(dict.fromkeys(bases)) for form, bases in exceptions.items()},
        )

    @property
    def signature(self) -> str:
        """Name, version and hash in signatures: for example ``wordnet-3.0-0123456789ab``."""
        content = repr((sorted(self.lemmas.items()), sorted(self.exceptions.items())))
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return "-".join(filter(None, ("wordnet", self.version, digest)))

    def base_forms(self, word: str) -> tuple[str, ...]:
        """Return the base forms of a word by the rule at the head of this module; often one, or none.

        >>> wordnet = WordNet(Path(), "3.0", {"car": (2,), "axe": (5,), "axis": (7,)}, {"axes": ("axis", "axe")})
        >>> wordnet.base_forms("cars"), wordnet.base_forms("axes"), wordnet.base_forms("bus")
        (('car',), ('axis', 'axe'), ())
        """
        listed = self.exceptions.get(word)
        if listed is not None:
            return listed
        if len(word) < 3 or word.endswith("ss"):
            return ()
        for ending, base_ending in _ENDINGS:
            if word.endswith(ending):
                base = word[: len(word) - len(ending)] + base_ending
                if base in self.lemmas:
                    return (base,)
        return ()

    def synsets(self, word: str) -> tuple[int, ...]:
        """Return the synsets of a word and of its base forms.

        A synset's number is its offset in the data file, plus 0 (noun), 1 (verb), 2 (adjective) or 3 (adverb) times
        10^8: it fits in an int32 and means something only within one version of WordNet.

        Returns:
            The numbers, rising, each once; none for a word that WordNet does not have.

        >>> wordnet = WordNet(Path(), "3.0", {"car": (2, 9), "automobile": (2,)}, {})
        >>> wordnet.synsets("cars"), wordnet.synsets("automobile"), wordnet.synsets("bus")
        ((2, 9), (2,), ())
        """
        found = set(self.lemmas.get(word, ()))
        for base in self.base_forms(word):
            found.update(self.lemmas.get(base, ()))
        return tuple(sorted(found))


def _index_entry(text: str, where: str, line: int) -> tuple[str, list[int]]:
    """Return the lemma and the offsets of a line: lemma pos synset_cnt p_cnt [symbols] sense_cnt tagged offsets."""
    fields = text.split()
    try:
        count, pointers = int(fields[2]), int(fields[3])
        offsets = [int(number) for number in fields[6 + pointers :]]
    except (ValueError, IndexError):
        count, offsets = 0, []
    if count < 1 or len(offsets) != count or not all(0 <= offset < _PART_STEP for offset in offsets):
        raise InvalidInput(f"expected an entry of a WordNet index, got '{text[:60]}'", where=where, line=line)
    return fields[0], offsets


def _lines(place: Path, name: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of one file of a folder or archive, without their ends."""
    try:
        if place.is_dir():
            content = (place / name).read_bytes()
        else:
            with zipfile.ZipFile(place) as archive:
                member = archive.getinfo(_members(archive)[name])
                if member.file_size > _LARGEST:
                    raise InvalidInput(f"expected at most {_LARGEST:,} bytes inflated", where=f"{place}/{name}")
                content = archive.read(member)
    except (OSError, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidInput(f"cannot be read: {error}", where=f"{place}/{name}") from error
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput("expected UTF-8 text", where=f"{place}/{name}", line=line) from error
    return ((line, text) for line, text in enumerate(text.split("\n"), 1) if text.strip())


def _members(archive: zipfile.ZipFile) -> dict[str, str]:
    """File name to member name, of the files at the top of an archive or in its folder ``wordnet``."""
    return {name.removeprefix("wordnet/"): name for name in archive.namelist()}


def _first_missing(place: Path) -> str:
    """Return the first file that a WordNet must have and this place has not; empty if it has all."""
    if place.is_file() and zipfile.is_zipfile(place):
        with zipfile.ZipFile(place) as archive:
            there = set(_members(archive))
    else:
        there = {name for name in _FILES if (place / name).is_file()}
    return next((name for name in _FILES if name not in there), "")


def _usual_places() -> Iterator[Path]:
    yield Path("/usr/share/wordnet")
    for folder in _nltk_folders():
        yield folder / "corpora" / "wordnet"
        yield folder / "corpora" / "wordnet.zip"


def _nltk_folders() -> Iterator[Path]:
    """Yield where NLTK looks for data, in its order."""
    for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep):
        if folder:
            yield Path(folder)
    with suppress(RuntimeError):  # a user without a home
        yield Path.home() / "nltk_data"
    prefix = Path(sys.prefix)
    yield from (prefix / "nltk_data", prefix / "share" / "nltk_data", prefix / "lib" / "nltk_data")
    if "APPDATA" in os.environ:
        yield Path(os.environ["APPDATA"]) / "nltk_data"
    for root in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib"):
        yield Path(root) / "nltk_data"
