"""Measures of a passage against a pooled reference, over words, n-grams, skip-grams or word vectors.

S is a passage, R its reference, ``c(u) = sum_j s_j k_j(u)`` the count of unit u in the passages of R, each counted with
its weight s_j; without ``w-`` all weights are 1. ``|R| = sum c``, ``p = c / |R|``; k(u) is the count of u in S, |S|
their sum. Source, unless another is named: González-Gallardo, SanJuan and Torres-Moreno, "Extending Text
Informativeness Measures to Passage Interestingness Evaluation".

`PRINCIPLES` says which measures satisfy which principles of interestingness; tests/law/test_principles.py checks each
cell. The first three are those of section 2.3 of "Extending Text Informativeness Measures to Passage Interestingness
Evaluation", the others those of Hilderman and Hamilton, "Measuring the Interestingness of Discovered Knowledge: A
Principled Approach" (2003), which are about the counts of one summary. research/passage-measures.md has the
definitions.

Measures over units are made of sums over what passage and reference share, and of terms of the reference alone. So a
reference is added up once for all its passages, what is left out of it for one passage is subtracted, and the work is
linear in the units of all passages. `Measure.ranked` is the one place that turns the sign where lower is better.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

import numpy as np

from postil.data.groups import grouped
from postil.data.ranking import TOLERANCE, without_noise
from postil.errors import UsageError
from postil.kernel import pooled_scores
from postil.metrics.base import Specified
from postil.metrics.passage_pools import UNITS, PassageCollection, Pools
from postil.metrics.references import check_positive
from postil.text.vectors import Sums, Vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metrics.preprocessing import Preprocessing

__all__ = [
    "HILDERMAN",
    "PRINCIPLES",
    "Baseline",
    "Cosine",
    "FScore",
    "Found",
    "JensenShannon",
    "KullbackLeibler",
    "Length",
    "LogSim",
    "Measure",
    "Overlap",
    "PooledRouge",
    "Random",
    "TfIdf",
    "measure_passages",
    "of_paper",
]


@dataclass(frozen=True, kw_only=True)
class Measure(Specified):
    """A measure and its parameters, as a value.

    Args:
        weighted: True to use the weights of the reference's passages: the ``w-`` in front of the name.
    """

    better: ClassVar[Literal["high", "low"]] = "high"
    """Direction: ``high`` if higher is better."""
    uses_reference: ClassVar[bool] = True
    """False for baselines, which look at no reference."""

    @abstractmethod
    def values(self, collection: PassageCollection, pools: Pools, jobs: int = 1) -> NDArray[np.float64]:
        """The measure of every passage that the pools score, float64[t]; NaN where nothing is left of its reference.

        Args:
            collection: The passages.
            pools: Their references.
            jobs: Number of threads; the numbers do not depend on it.
        """

    def notes(self, collection: PassageCollection) -> tuple[str, ...]:
        """``key:value`` facts for the signature that the spec does not hold.

        Args:
            collection: The passages.
        """
        del collection
        return ()

    def coverage(self, collection: PassageCollection, how: Preprocessing) -> str:
        """Note on the words that a model does not cover; empty for measures without a model.

        Args:
            collection: The passages.
            how: Their preprocessing.
        """
        del collection, how
        return ""

    def ranked(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values with the sign that makes higher better; minus infinity, so last, for NaN.

        Args:
            values: float64[t], of `values`.
        """
        oriented = -values if self.better == "low" else values
        return np.asarray(np.where(np.isnan(oriented), -np.inf, oriented), np.float64)


@dataclass(frozen=True, kw_only=True)
class Overlap(Measure):
    """A measure over the units that a passage shares with its reference.

    Args:
        unit: The units, a name in `UNITS`.
        upto: For skip-grams, true to count the pairs with nothing between them as well.
    """

    unit: str = dataclasses.field(default="1", metadata={"hidden": True})
    upto: bool = False

    family: ClassVar[str]
    kernel: ClassVar[str]
    """Name of the measure in the kernel."""
    rounding: ClassVar[float] = 0.0
    """Largest value taken for rounding noise and set to 0: above 0 where near-equal terms are subtracted."""

    def __post_init__(self) -> None:
        if self.upto and not UNITS[self.unit][1]:
            raise UsageError(f"{self.name}: upto goes with skip-grams, {self.family}-sk; leave it out")

    @property
    def name(self) -> str:
        """See `Specified.name`."""
        return f"{self.family}-{self.unit}"

    def values(self, collection: PassageCollection, pools: Pools, jobs: int = 1) -> NDArray[np.float64]:
        """See `Measure.values`."""
        return np.asarray(_together([self], collection, pools, jobs)[0], np.float64)


@dataclass(frozen=True, kw_only=True)
class FScore(Overlap):
    """``(1 + beta^2) sum_(S and R) m(u) / (beta^2 |R| + |S|)`` over distinct units (equations 4 to 8).

    m(u) is 1; with ``w-`` it is the largest weight of the reference's passages that hold u. Higher is better, 0 to 1.

    Args:
        beta: Weight of recall relative to precision, 1e-6 to 1e6.

    Raises:
        UsageError: beta is out of range, or ``upto`` without skip-grams.

    The last passage shares 2 of its 3 words with the 4 of its reference, ``a b c`` and ``b d``, so F1 = 2 2 / (4 + 3);
    the others leave their reference while they are scored:

    >>> from postil.metrics.passage_pools import PassageCollection
    >>> from postil.metrics.passage_pools import informativeness
    >>> from postil.text.tokens import Vocabulary
    >>> texts = Vocabulary().encode_tokens([["a", "b", "c"], ["b", "d"], ["b", "c", "x"]])
    >>> FScore().values(PassageCollection(texts), informativeness([0, 0, 0], [1, 1, 0])).round(3).tolist()
    [0.4, 0.4, 0.571]
    """

    beta: float = 1.0

    family: ClassVar[str] = "f1"
    kernel: ClassVar[str] = "f"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self.name, "beta", self.beta)


@dataclass(frozen=True, kw_only=True)
class KullbackLeibler(Overlap):
    """``sum_R p ln(p (|S| + 1) / (k + P(u | all passages)))`` (equation 1 with mu = 1).

    Lower is better; it is not normalized. A passage without units is infinitely far, so it ranks last. At most 1e-12 is
    rounding noise, and 0.

    The reference of the last passage, ``a b c`` and ``b d``, has p(a) = 1/5; where a is missing that adds
    1/5 ln(1/5 (3 + 1) / (1/8)), as one of the collection's eight words is a:

    >>> from postil.metrics.passage_pools import PassageCollection
    >>> from postil.metrics.passage_pools import informativeness
    >>> from postil.text.tokens import Vocabulary
    >>> texts = Vocabulary().encode_tokens([["a", "b", "c"], ["b", "d"], ["b", "c", "x"]])
    >>> KullbackLeibler().values(PassageCollection(texts), informativeness([0, 0, 0], [1, 1, 0])).round(3).tolist()
    [1.574, 1.049, 0.714]
    """

    better: ClassVar[Literal["high", "low"]] = "low"
    family: ClassVar[str] = "kl"
    kernel: ClassVar[str] = "kl"
    rounding: ClassVar[float] = TOLERANCE


@dataclass(frozen=True, kw_only=True)
class JensenShannon(Overlap):
    """Mean of the divergences of p and k / |S| from their mean; natural logarithms, nothing smoothed (Lin 1991).

    Lower is better, 0 to ln 2. A passage without units is infinitely far, so it ranks last. At most 1e-12 is rounding
    noise, and 0.

    The last passage has x alone, a third of its words, and its reference a and d, two fifths of its own:

    >>> from postil.metrics.passage_pools import PassageCollection
    >>> from postil.metrics.passage_pools import informativeness
    >>> from postil.text.tokens import Vocabulary
    >>> texts = Vocabulary().encode_tokens([["a", "b", "c"], ["b", "d"], ["b", "c", "x"]])
    >>> JensenShannon().values(PassageCollection(texts), informativeness([0, 0, 0], [1, 1, 0])).round(3).tolist()
    [0.413, 0.413, 0.264]
    """

    better: ClassVar[Literal["high", "low"]] = "low"
    family: ClassVar[str] = "js"
    kernel: ClassVar[str] = "js"
    rounding: ClassVar[float] = TOLERANCE


@dataclass(frozen=True, kw_only=True)
class LogSim(Overlap):
    """``sum_(S and R) p min(a, b) / max(a, b)``, ``a = ln(1 + k |R| / |S|)``, ``b = ln(1 + c)`` (equations 2 and 3).

    Higher is better, 0 to 1. Unlike the other measures it depends on the scale of the weights, by |R|.

    The last passage shares b and c with ``a b c`` and ``b d``: 2/5 ln(1 + 5/3) / ln 3 + 1/5 ln 2 / ln(1 + 5/3):

    >>> from postil.metrics.passage_pools import PassageCollection
    >>> from postil.metrics.passage_pools import informativeness
    >>> from postil.text.tokens import Vocabulary
    >>> texts = Vocabulary().encode_tokens([["a", "b", "c"], ["b", "d"], ["b", "c", "x"]])
    >>> LogSim().values(PassageCollection(texts), informativeness([0, 0, 0], [1, 1, 0])).round(3).tolist()
    [0.368, 0.252, 0.498]
    """

    family: ClassVar[str] = "logsim"
    kernel: ClassVar[str] = "logsim"


@dataclass(frozen=True, kw_only=True)
class PooledRouge(Overlap):
    """``sum_j s_j sum_u min(k, k_j) / sum_j |r_j|`` over the passages j of the reference (equation 9).

    Higher is better, 0 to 1.

    The last passage shares two words with ``a b c`` and one with ``b d``, which have five:

    >>> from postil.metrics.passage_pools import PassageCollection
    >>> from postil.metrics.passage_pools import informativeness
    >>> from postil.text.tokens import Vocabulary
    >>> texts = Vocabulary().encode_tokens([["a", "b", "c"], ["b", "d"], ["b", "c", "x"]])
    >>> PooledRouge().values(PassageCollection(texts), informativeness([0, 0, 0], [1, 1, 0])).round(3).tolist()
    [0.5, 0.333, 0.6]
    """

    family: ClassVar[str] = "rouge"
    kernel: ClassVar[str] = "rouge"


@dataclass(frozen=True, kw_only=True)
class TfIdf(Overlap):
    """Cosine of ``k idf`` and ``c idf``, ``idf = 1 + ln((1 + n) / (1 + df))`` over the n passages of the collection.

    Higher is better, 0 to 1.

    Each of the first two shares b alone with its reference, the other one; b is in every passage, so its idf is 1:

    >>> from postil.metrics.passage_pools import PassageCollection
    >>> from postil.metrics.passage_pools import informativeness
    >>> from postil.text.tokens import Vocabulary
    >>> texts = Vocabulary().encode_tokens([["a", "b", "c"], ["b", "d"], ["b", "c", "x"]])
    >>> TfIdf().values(PassageCollection(texts), informativeness([0, 0, 0], [1, 1, 0])).round(3).tolist()
    [0.216, 0.216, 0.461]
    """

    family: ClassVar[str] = "tf-idf"
    kernel: ClassVar[str] = "tf-idf"


class Baseline(Measure):
    """A measure that no reference changes."""

    uses_reference: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.weighted:
            raise UsageError(f"w-{self.name}: no reference changes {self.name}; leave out w-")


@dataclass(frozen=True, kw_only=True)
class Length(Baseline):
    """1 / number of words: the paper's baseline, which no reference can change. Higher is better.

    Args:
        inverse: True to rank short passages first; with ``false`` the value is the number of words.
    """

    inverse: bool = True
    name: ClassVar[str] = "length"

    def values(self, collection: PassageCollection, pools: Pools, jobs: int = 1) -> NDArray[np.float64]:
        """See `Measure.values`; 0 for a passage without words, which so ranks last."""
        del jobs
        words = collection.tokens.lengths[pools.texts].astype(np.float64)
        if not self.inverse:
            return words
        shares = np.zeros_like(words)
        np.divide(1.0, words, out=shares, where=words > 0)
        return shares


@dataclass(frozen=True, kw_only=True)
class Random(Baseline):
    """A constant: all passages are tied, so its nCG is the expected value of a random order."""

    name: ClassVar[str] = "random"

    def values(self, collection: PassageCollection, pools: Pools, jobs: int = 1) -> NDArray[np.float64]:
        """See `Measure.values`."""
        del collection, jobs
        return np.zeros(len(pools.texts))


def measure_passages(
    measures: Sequence[Measure], collection: PassageCollection, pools: Pools, jobs: int = 1
) -> dict[Measure, NDArray[np.float64]]:
    """Score passages by several measures at once; measures over the same units share one pass of the kernel.

    Args:
        measures: The measures. Those without ``w-`` take all weights for 1.
        collection: The passages.
        pools: Their references.
        jobs: Number of threads; the numbers do not depend on it.

    Returns:
        For each measure float64[t], see `Measure.values`.
    """
    found = {each: each.values(collection, pools, jobs) for each in measures if not isinstance(each, Overlap)}
    overlaps = (each for each in measures if isinstance(each, Overlap))
    for group in grouped(((each.unit, each.upto, each.weighted), each) for each in overlaps).values():
        found.update(zip(group, _together(group, collection, pools, jobs), strict=True))
    return {measure: found[measure] for measure in measures}


def _together(
    measures: Sequence[Overlap], collection: PassageCollection, pools: Pools, jobs: int
) -> NDArray[np.float64]:
    """Score by measures over the same units with the same weights, float64[measures, t]."""
    first = measures[0]
    bags = collection.bags(first.unit, upto=first.upto)
    pools, same = (pools if first.weighted else pools.unweighted()).distinct()
    kinds = {measure.kernel for measure in measures}
    none = np.zeros(0)
    values = pooled_scores(
        (bags.units.offsets, bags.units.units, bags.units.counts),
        (pools.reference_offsets, pools.references, pools.weights),
        (pools.text_offsets, pools.texts),
        pools.own_lists(),
        [(measure.kernel, measure.beta**2 if isinstance(measure, FScore) else 1.0) for measure in measures],
        bags.share if "kl" in kinds else none,
        bags.idf if "tf-idf" in kinds else none,
        jobs,
    )
    noise = np.array([[measure.rounding] for measure in measures])
    return np.where(values <= noise, 0.0, values)[:, same]


@dataclass(frozen=True, kw_only=True)
class Cosine(Measure):
    """Cosine of the sum of a passage's word vectors and that of its reference's passages (equation 10).

    Words without a vector are ignored; stems have none, so it goes over the words before stemming. A word is looked up
    as it stands in the passage, and where it has no vector in lower case. A model over
    bigrams sums the vectors of pairs of adjacent words. With ``w-`` a passage's vector counts times its weight.
    Higher is better, -1 to 1; 0 where either sum is zero.

    Args:
        vectors: A folder that ``postil vectors`` wrote.

    The second passage points halfway between the words of the first, its reference:

    >>> import tempfile
    >>> from postil.metrics.passage_pools import PassageCollection
    >>> from postil.metrics.passage_pools import informativeness
    >>> from postil.text.tokens import Vocabulary
    >>> texts = Vocabulary().encode_tokens([["rain"], ["rain", "snow"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Vectors(("rain", "snow"), np.eye(2, dtype=np.float32)).save(f"{folder}/v")
    ...     measure = Cosine(vectors=f"{folder}/v")
    ...     measure.values(PassageCollection(texts), informativeness([0, 0], [1, 0]).all_inside()).round(4).tolist()
    [1.0, 0.7071]
    """

    vectors: str | None = None
    name: ClassVar[str] = "cosine"

    def notes(self, collection: PassageCollection) -> tuple[str, ...]:
        """See `Measure.notes`."""
        model = self._model(collection)
        return (f"vectors:{model.signature}", *(["case:written"] if model.cased else []))

    def coverage(self, collection: PassageCollection, how: Preprocessing) -> str:
        """The share of words without a vector, and any other preprocessing that the vectors were trained with."""
        model, used = self._model(collection), how.word_facts
        trained = {key: str(model.metadata.get(key, value)) for key, value in used.items()}
        if not model.bigrams and trained.get("stop") == "none":
            trained["stop"] = used["stop"]  # single words keep their vectors when stop words are removed
        other = [key for key in trained if trained[key] != used[key]]
        there, here = (" and ".join(f"{key}:{facts[key]}" for key in other) for facts in (trained, used))
        units = "pairs of words" if model.bigrams else "words"
        found = f"{self._sums(collection).unknown:.1%} of the {units} have no vector"
        return f"{found}; trained with {there}, used with {here}" if other else found

    def values(self, collection: PassageCollection, pools: Pools, jobs: int = 1) -> NDArray[np.float64]:
        """See `Measure.values`.

        Raises:
            UsageError: No vectors are named.
            InvalidInput: The folder does not hold vectors.
        """
        del jobs
        sums = self._sums(collection).vectors
        pools, same = pools.distinct()
        offsets, places = pools.own_lists()
        weights = pools.weights if self.weighted else np.ones(len(pools.weights))
        out = np.empty(len(pools.texts))
        for pool in range(len(pools)):
            held = slice(pools.reference_offsets[pool], pools.reference_offsets[pool + 1])
            here = slice(pools.text_offsets[pool], pools.text_offsets[pool + 1])
            of_texts = sums[pools.texts[here]]
            own = offsets[here.start : here.stop + 1]
            number = np.diff(own)
            row = np.repeat(np.arange(len(of_texts)), number)
            leaving = np.bincount(row, weights[places[own[0] : own[-1]]], len(of_texts))
            whole = weights[held] @ sums[pools.references[held]]
            left = whole - leaving[:, None] * of_texts
            left[np.linalg.norm(left, axis=1) <= TOLERANCE * np.linalg.norm(whole)] = 0.0
            norms = np.linalg.norm(of_texts, axis=1) * np.linalg.norm(left, axis=1)
            cosines = np.zeros(len(of_texts))
            np.divide((of_texts * left).sum(axis=1), norms, out=cosines, where=norms > 0)
            cosines = without_noise(cosines, 1.0)
            nothing = number == held.stop - held.start
            out[here] = np.where(nothing, np.nan, cosines.clip(-1, 1))
        return out[same]

    def _model(self, collection: PassageCollection) -> Vectors:
        if not self.vectors:
            raise UsageError(f"{self.name} needs word vectors: {self.name}(vectors=FOLDER), made by postil vectors")
        return collection.kept(("vectors", self.vectors), lambda: Vectors.open(str(self.vectors)))

    def _sums(self, collection: PassageCollection) -> Sums:
        model = self._model(collection)
        return collection.kept(("sums", self.vectors), lambda: collection.vector_sums(model))


Found: TypeAlias = Literal["yes", "weakly", "no"]
"""Always so; never the other way round, but it can make no difference; it can be the other way round."""

Table: TypeAlias = Mapping[str, Mapping[str, Found]]


def _table(names: str, rows: Mapping[str, str]) -> Table:
    cells: dict[str, Found] = {"y": "yes", "w": "weakly", "n": "no"}
    return MappingProxyType(
        {
            family: MappingProxyType({name: cells[cell] for name, cell in zip(names.split(), row, strict=True)})
            for family, row in rows.items()
        }
    )


PRINCIPLES: Final = _table(
    "permutation concentration dispersion transfer weight padding",
    {
        "f1": "yyynwy",
        "w-f1": "yynnwy",
        "kl": "ynynny",
        "js": "yyywyy",
        "logsim": "yyyyyn",
        "rouge": "yyywyw",
        "tf-idf": "yynnny",
        "cosine": "ynnnnn",
        "length": "ynwywy",
        "random": "ywwwww",
    },
)
"""By family of measures: the paper's principles and two more. Weighted forms that are not named go with these."""

HILDERMAN: Final = _table(
    "minimum maximum skewness permutation transfer",
    {
        "f1": "nwnyw",
        "w-f1": "nwnyw",
        "kl": "nnnnn",
        "js": "nnnyn",
        "logsim": "nnnyn",
        "rouge": "nwnyw",
        "tf-idf": "nnnnn",
        "cosine": "nnnnn",
        "length": "wwwyw",
        "random": "wwwyw",
    },
)
"""By family of measures: the principles of Hilderman and Hamilton, of the counts of a passage."""


def of_paper() -> tuple[str, ...]:
    """The families that have permutation invariance, diversity (both forms) and transfer.

    >>> of_paper()
    ('logsim',)
    """
    three = ("permutation", "concentration", "dispersion", "transfer")
    return tuple(family for family, row in PRINCIPLES.items() if all(row[name] == "yes" for name in three))
