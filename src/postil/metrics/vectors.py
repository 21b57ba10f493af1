"""Metrics of the vectors of texts: vector-f1, vector-cosine and sentence-cosine, and what they share with bertscore.

Units are matched by the kernel and not by a matrix product in NumPy, which needs memory for what is reduced at once,
and equal lengths: padding changes scores (an F of .28 becomes .92 where 23 units are padded to 211). Idf, baseline and
the share of unknown units depend on all references, which are therefore not streamed for metrics that have one.
"""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from postil.encoders.sentences import SentenceEncoder, sentence_encoder
from postil.encoders.static import open_static
from postil.errors import Undefined, UsageError
from postil.kernel import greedy_matches
from postil.metrics.background import DIGITS, DocumentFrequencies
from postil.metrics.base import Metric, Scorer, TokenMetric
from postil.metrics.reference_aggregation import SimilarityScorer, settle_over
from postil.text.vectors import summed_rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from postil.encoders.base import Encoded, Encoder
    from postil.metrics.references import Matches, References

    WeightedUnits: TypeAlias = tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]

__all__ = [
    "AUTO",
    "CutTexts",
    "EncodedMetric",
    "SentenceCosine",
    "TextVectors",
    "UnitIdf",
    "VectorCosine",
    "VectorF1",
    "VectorMetric",
    "VectorScorer",
    "check_path",
    "silent",
]

AUTO: Final = "auto"
"""The baseline that is measured on the references."""
PAIRS: Final = 1000
"""Number of pairs of references whose mean is the baseline."""
SEED: Final = 20181
DECIMALS: Final = 6
"""Decimals of that baseline, which signatures have in full."""
MANY: Final = 0.2
"""Smallest share of units without a vector that is worth a remark."""

Prepared = TypeVar("Prepared")


class EncodedMetric(Metric):
    """Base of metrics that compare texts by vectors, and may rescale by the similarity of unrelated texts.

    A dataclass that extends it has the fields ``baseline``, ``over`` and ``tau``.

    Raises:
        UsageError: A parameter is out of range, or a path cannot stand in a spec.
    """

    baseline: str | None
    source_field: ClassVar[str]
    """Name of the parameter that names the model."""
    reads_texts: ClassVar[bool] = True
    aggregation: ClassVar[Literal["mean", "sums"]] = "mean"

    @abstractmethod
    def encoder(self) -> Encoder:
        """Open the model; once, until a file of the folder changes."""

    @property
    def source(self) -> str | None:
        """Folder of the model, or the name of a package, as the user wrote it."""
        named: str | None = getattr(self, self.source_field)
        return named

    @property
    def weighing(self) -> str:
        """Weights of units: ``none``, ``idf`` or ``norm``."""
        return "none"

    @property
    def reads_tokens(self) -> bool:
        """See `Metric.reads_tokens`."""
        return self.encoder().reads_tokens

    @property
    def reads_all_references(self) -> bool:
        """See `Metric.reads_all_references`: idf, baseline and the share of unknown units are of all of them."""
        return True

    def __post_init__(self) -> None:
        settle_over(self)
        check_path(self.name, self.source_field, self.source)
        if self.baseline not in {None, AUTO}:  # the form that specs have
            number = self._number(str(self.baseline))
            short = f"{number:g}"
            object.__setattr__(self, "baseline", short if float(short) == number else str(number))

    def _number(self, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not -1.0 <= number < 1.0:
            raise UsageError(f"{self.name}: baseline: expected auto or a number from -1 to below 1, got '{text}'")
        return number


def check_path(name: str, field: str, path: str | None) -> None:
    """Refuse a path that cannot stand in a spec.

    Args:
        name: Name of the metric.
        field: Name of its parameter.
        path: The path, or None.

    Raises:
        UsageError: It is empty, or has commas, brackets or outer spaces.

    >>> check_path("bertscore", "model", "bert (copy)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    postil.errors.UsageError: bertscore: model: expected a path without commas, brackets and outer spaces, got ...
    """
    if path is not None and (not path or path != path.strip() or set(path) & set(",()")):
        raise UsageError(
            f"{name}: {field}: expected a path without commas, brackets and outer spaces, got '{path}'; a link to it "
            "can have another name"
        )


@dataclass(frozen=True, kw_only=True)
class VectorMetric(EncodedMetric, TokenMetric):
    """Base of metrics that compare texts by static vectors of their units.

    Args:
        vectors: Folder of word vectors, whose units are the tokens; or of subword vectors with a tokenizer of its own.
        weigh: Weights of units.
        baseline: Similarity of unrelated texts.
        over: Reference aggregation.
        tau: Width of ``over=kernel``.
    """

    vectors: str | None = None
    weigh: Literal["none", "idf", "norm"] = "none"
    baseline: str | None = None
    over: str = "max"
    tau: float | None = None
    source_field: ClassVar[str] = "vectors"

    @property
    def weighing(self) -> str:
        """See `EncodedMetric.weighing`."""
        return self.weigh

    @property
    def signature(self) -> str:
        """See `Specified.signature`."""
        return str(self) if self.vectors is None else str(replace(self, vectors=self.encoder().signature))

    @property
    def own_tokenizer(self) -> str:
        """See `Metric.own_tokenizer`.

        Raises:
            UsageError: The vectors are of subwords, which they split themselves.
        """
        if self.tokenizer and not self.reads_tokens:
            raise UsageError(f"{self.name}: tokenizer has no effect with {self.vectors}, which splits texts itself")
        return self.tokenizer

    def encoder(self) -> Encoder:
        """Open the vectors; once, until a file of the folder changes.

        Raises:
            UsageError: None are named, or it is no folder.
            InvalidInput: The folder does not hold vectors.
        """
        if self.vectors is None:
            raise UsageError(f"{self.name} needs vectors: {self.name}(vectors=FOLDER), made by postil vectors")
        return open_static(self.vectors)


@dataclass(frozen=True, eq=False, slots=True)
class UnitIdf:
    """Idf of units: ``ln((M + 1) / (df + 1))``, with M reference texts of which df have the unit.

    A text that several items have counts once for each; one that an item has twice counts once.

    Args:
        texts: M.
        ids: int64[v], identities of the units that occur, ascending.
        values: float64[v], their idf; that of others is ``ln(M + 1)``.
        documents: Hash of the frequencies, for signatures.

    >>> from postil.encoders.base import Encoded
    >>> ids, none = np.array([7, 7, 9]), np.zeros((1, 1), np.float32)
    >>> encoded = Encoded(np.arange(2), np.array([0, 1, 3]), ids.astype(np.int32), ids, none, np.zeros(2, int))
    >>> idf = UnitIdf.of(encoded, np.array([0, 0]))
    >>> idf.of_units(np.array([7, 9, 8])).round(4).tolist()
    [0.0, 0.4055, 1.0986]
    """

    texts: int
    ids: NDArray[np.int64]
    values: NDArray[np.float64]
    documents: str = ""

    @classmethod
    def of(cls, references: Encoded, items: NDArray[np.int32]) -> UnitIdf:
        """Count units of references.

        Args:
            references: m texts.
            items: int32[m], the item of each.
        """
        times = _documents(references, items)[1]
        text = np.repeat(np.arange(len(references.lengths)), references.lengths)
        ids, place = np.unique(references.ids, return_inverse=True)
        unit_of_text = np.sort(place * len(times) + text)  # several times faster than unique
        unit_of_text = unit_of_text[np.diff(unit_of_text, prepend=-1) > 0]
        df = np.bincount(unit_of_text // len(times), times[unit_of_text % len(times)], len(ids))
        texts = int(times.sum())
        digest = hashlib.sha256(ids.astype("<i8").tobytes() + df.astype("<i8").tobytes())
        return cls(texts, ids, np.log((texts + 1) / (df + 1)), digest.hexdigest()[:DIGITS])

    def of_units(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Idf of units by their identity, float64 like ``ids``."""
        unseen = math.log(self.texts + 1)
        if not len(self.ids):
            return np.full(len(ids), unseen)
        place = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[place] == ids, self.values[place], unseen)


class CutTexts:
    """Number of texts that were cut at the largest number of tokens of a model.

    >>> from postil.encoders.base import Encoded
    >>> one, cut = np.zeros(1, np.int32), np.array([True])
    >>> encoded = Encoded(np.zeros(3, int), np.array([0, 1]), one, one, np.ones((1, 1)), one, truncated=cut)
    >>> texts = CutTexts()
    >>> texts.count("candidates", encoded)
    >>> texts.remarks("bert")
    ['3 of 3 candidates have more tokens than the model in bert takes, and were cut']
    """

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int]] = {}

    def count(self, role: str, encoded: Encoded) -> None:
        """Count texts.

        Args:
            role: Kind of texts, in the plural, such as ``candidates``.
            encoded: The texts.
        """
        if encoded.truncated is not None:
            cut, texts = self._counts.get(role, (0, 0))
            cut += int(encoded.truncated[encoded.texts].sum())
            self._counts[role] = cut, texts + len(encoded.texts)

    def remarks(self, model: str | None) -> list[str]:
        """A line for each kind of texts of which some were cut.

        Args:
            model: Folder of the model.
        """
        return [
            f"{cut:,} of {texts:,} {role} have more tokens than the model in {model} takes, and were cut"
            for role, (cut, texts) in self._counts.items()
            if cut
        ]


class VectorScorer(SimilarityScorer, Generic[Prepared]):
    """Base of scorers over vectors; a subclass prepares texts and compares pairs of them.

    Args:
        metric: The metric.
        references: The references.

    Raises:
        UsageError: No vectors are named, or they are no folder.
        InvalidInput: The folder does not hold vectors.
        Undefined: The baseline is to be measured, and there is one item only, or all references are alike.
    """

    metric: EncodedMetric

    def __init__(self, metric: EncodedMetric, references: References) -> None:
        super().__init__(metric, references)
        self._encoder = metric.encoder()
        self._encoded = references.encode(self._encoder)
        self._items = np.repeat(references.items, np.diff(references.offsets))
        self._idf = None
        if metric.weighing == "idf":
            key = ("idf", self._encoder.signature)
            self._idf = references.fact(key, lambda: UnitIdf.of(self._encoded, self._items))
        self._prepared = self.prepare(self._encoded)
        self._baseline = self._find_baseline()
        self._counts = {"references": _counts(self._encoded), "candidates": np.zeros(2, np.int64)}
        self._cut = CutTexts()
        self._cut.count("references", self._encoded)

    @property
    def notes(self) -> tuple[str, ...]:
        """See `Scorer.notes`."""
        unknown, units = self._counts["references"]
        return (
            *([f"idf:references/{self._idf.texts}"] if self._idf else []),
            *([f"baseline:{self._baseline:g}"] if self.metric.baseline == AUTO else []),
            *([f"unknown:{unknown / units:.2%}"] if unknown else []),
            *([f"documents:{self._idf.documents}"] if self._idf else []),
        )

    def remarks(self) -> list[str]:
        """See `Scorer.remarks`."""
        return self._cut.remarks(self.metric.source) + [
            f"{unknown / units:.1%} of the units of the {role} have no vector in {self.metric.source} and are left "
            "out; take vectors of their language, and the tokenizer that the vectors were made with"
            for role, (unknown, units) in self._counts.items()
            if unknown > MANY * units
        ]

    @abstractmethod
    def prepare(self, encoded: Encoded) -> Prepared:
        """Prepare the distinct texts of a batch for `compare`."""

    @abstractmethod
    def without(self, texts: Prepared) -> NDArray[np.bool_]:
        """Mask of the distinct texts with nothing to compare, bool[t]: no known unit, or none that weighs anything."""

    @abstractmethod
    def compare(
        self, own: Prepared, theirs: Prepared, pairs: tuple[NDArray[np.int32], NDArray[np.int32]], jobs: int
    ) -> NDArray[np.float64]:
        """Compare pairs of distinct texts, float64[p, c]."""

    @abstractmethod
    def scores(self, compared: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of comparisons, before they are rescaled: float64[p] in [0, 1]."""

    def similarities(self, matches: Matches) -> NDArray[np.float64]:
        """See `SimilarityScorer.similarities`."""
        values = self.scores(matches.once(self._key("pairs"), lambda: self._compared(matches)))
        return values if self._baseline is None else np.maximum((values - self._baseline) / (1 - self._baseline), 0.0)

    def empty(self, matches: Matches) -> NDArray[np.bool_]:
        """See `SimilarityScorer.empty`."""
        return self.without(self._candidates(matches))[matches.encode(self._encoder).texts]

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        """See `Scorer.measure`."""
        encoded = matches.encode(self._encoder)
        self._counts["candidates"] = self._counts["candidates"] + _counts(encoded)
        self._cut.count("candidates", encoded)
        return super().measure(matches)

    def weights(self, encoded: Encoded, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weight of each unit, float64[u].

        Args:
            encoded: The texts.
            lengths: float64[u], the length of each unit's vector.
        """
        if self._idf is not None:
            return self._idf.of_units(encoded.ids)
        return lengths if self.metric.weighing == "norm" else np.ones(len(encoded.rows))

    def _key(self, kind: str) -> Hashable:
        return (kind, type(self), self._encoder.signature, self.metric.weighing)

    def _compared(self, matches: Matches) -> NDArray[np.float64]:
        encoded = matches.encode(self._encoder)
        bounds, references = matches.references.pairs(matches.sets)
        own = np.repeat(encoded.texts, np.diff(bounds))
        theirs = matches.references.encode(self._encoder).texts[references]
        # Equal pairs of texts are compared once.
        distinct, place = np.unique(own * len(self._encoded.lengths) + theirs, return_inverse=True)
        pairs = np.divmod(distinct, max(1, len(self._encoded.lengths)))
        lefts, rights = (each.astype(np.int32) for each in pairs)
        return self.compare(self._candidates(matches), self._prepared, (lefts, rights), matches.jobs)[place]

    def _candidates(self, matches: Matches) -> Prepared:
        return matches.once(self._key("candidates"), lambda: self.prepare(matches.encode(self._encoder)))

    def _find_baseline(self) -> float | None:
        metric = self.metric
        if metric.baseline != AUTO:
            return None if metric.baseline is None else float(metric.baseline)

        def measure() -> float:
            pairs = _unrelated(self._encoded, self._items, self.references.tokens.raw_texts())
            if pairs is None:
                raise Undefined(
                    f"{metric.name}: baseline=auto needs references of at least two items, got those of one; give a "
                    "number, such as baseline=0.3"
                )
            # Rounded before it is used, so that the number in the signature gives the same scores.
            found = round(float(self.scores(self.compare(self._prepared, self._prepared, pairs, 1)).mean()), DECIMALS)
            if found == 1.0:
                raise Undefined(
                    f"{metric.name}: baseline=auto has nothing to rescale, as the references of all items score 1 "
                    "against each other; give a number, such as baseline=0.3"
                )
            return found

        # Of vector-f1 the part counts that `scores` reads.
        return self.references.fact((self._key("baseline"), getattr(metric, "part", "")), measure)


def _counts(encoded: Encoded) -> NDArray[np.int64]:
    """Units without a vector, and all units, of all texts: int64[2]."""
    unknown = int(encoded.unknown[encoded.texts].sum())
    return np.array([unknown, unknown + int(encoded.lengths[encoded.texts].sum())])


def _documents(references: Encoded, items: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Texts of items, each once: int64[2, D], item and distinct text; and int64[t], the items that have each text.

    Items count and not sets, of which leave-one-out has many per item; pairs of sets would compare texts with
    themselves.
    """
    most = len(references.lengths)
    documents = np.divmod(np.unique(items * np.int64(most) + references.texts), most)
    return np.stack(documents), np.bincount(documents[1], minlength=most)


def _unrelated(
    references: Encoded, items: NDArray[np.int32], texts: Sequence[str]
) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """Draw pairs of texts of different items, the same in whatever order items and references come.

    Args:
        references: m texts.
        items: int32[m], the item of each.
        texts: The m texts.

    Returns:
        Index of the distinct text on either side; None where there is one item only.
    """
    (item, text), _ = _documents(references, items)
    if item[0] == item[-1]:
        return None
    _, first = np.unique(references.texts, return_index=True)
    words = [texts[place] for place in first.tolist()]
    rank = np.empty(len(words), np.int64)
    rank[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
    starts = np.flatnonzero(np.diff(item, prepend=-1))
    of_item = [np.sort(rank[each]) for each in np.split(text, starts[1:])]
    in_order = sorted(each.tolist() for each in of_item)
    by_rank = np.argsort(rank)
    text = by_rank[np.concatenate(in_order)]
    sizes = np.array([len(each) for each in in_order])
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    random = np.random.default_rng(SEED)
    one = random.integers(0, len(text), PAIRS)
    own = np.searchsorted(begins, one, side="right") - 1
    other = (random.random(PAIRS) * (len(text) - sizes[own])).astype(np.int64)
    other += np.where(other >= begins[own], sizes[own], 0)
    return text[one].astype(np.int32), text[other].astype(np.int32)


@dataclass(frozen=True, kw_only=True)
class VectorF1(VectorMetric):
    """F1 of units that are matched by their vectors, each with the most similar unit of the other text.

    With unit vectors x_i of the candidate and y_j of a reference, of length 1, and weights a_i and r_j of units,
    ``P = sum_i a_i max_j x_i . y_j / sum_i a_i``, ``R = sum_j r_j max_i x_i . y_j / sum_j r_j`` and
    ``F = 2 P R / (P + R)``, 0 where P + R is not positive: BERTScore's matching (Zhang et al. 2020, equations 1 to 3)
    on vectors that do not depend on their context. Of several references ``max_j s_j F_j``. Corpus: mean of the items.

    In [0, 1]; higher is better. Units without a vector are left out on both sides; a text without any that weighs
    something scores 0. Unrelated texts have an F well above 0, and longer ones a higher one: ``baseline=auto`` rescales
    that away, and ``w-vector-f1(weigh=idf,over=near,baseline=auto)`` is what graded references are best used with.

    Args:
        vectors: Folder of word vectors, whose units are the tokens; or of subword vectors (one matrix in a
            ``*.safetensors`` file, with ``tokenizer.json``), which split the texts themselves. The spec has its path,
            signatures have a hash of its content.
        weigh: Weights of units. ``none``: 1. ``idf``: ``ln((M + 1) / (df + 1))`` with M reference texts of which df
            have the unit, each text once for each item. ``norm``: the length of the vector before normalization, which
            is high for rare units.
        part: ``f``: F; ``p``: P; ``r``: R.
        baseline: Score B of unrelated texts, below 1: F becomes ``max(0, (F - B) / (1 - B))``. ``auto``: the mean over
            1,000 pairs of references of different items, drawn with a fixed seed; signatures have the number.
        over: Reference aggregation: ``max``, ``mean``, ``top-k``, such as ``top-3``, ``near`` or ``kernel``; see
            `postil.metrics.reference_aggregation.Over`.
        tau: Width of ``over=kernel``.

    Raises:
        UsageError: A parameter is out of range, or a path cannot stand in a spec; on scoring, no folder is named or
            there is none.
        InvalidInput: On scoring, where the folder does not hold vectors.
        Undefined: On scoring with ``baseline=auto``, where there is one item only, or all references are alike.

    ``a`` is at a right angle to ``b``, ``d`` is not: P = (0 + .8) / 2 and R = .8.

    >>> import tempfile, postil
    >>> from postil.text.vectors import Vectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Vectors(("a", "b", "d"), np.array([[1, 0], [0, 1], [3, 4]], dtype=np.float32)).save(f"{folder}/v")
    ...     spec = f"vector-f1(vectors={folder}/v)"
    ...     round(postil.score(["a d"], [["b"]], metrics=[spec]).corpus[spec], 6)
    0.533333
    """

    part: Literal["f", "p", "r"] = field(default="f", metadata={"brief": True})
    name: ClassVar[str] = "vector-f1"

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        return _VectorF1Scorer(self, references)


class _VectorF1Scorer(VectorScorer["WeightedUnits"]):
    metric: VectorF1

    def prepare(self, encoded: Encoded) -> WeightedUnits:
        unit, lengths = encoded.normalized()
        return _merged_units(unit, self.weights(encoded, lengths))

    def without(self, texts: WeightedUnits) -> NDArray[np.bool_]:
        return silent(texts)

    def compare(
        self, own: WeightedUnits, theirs: WeightedUnits, pairs: tuple[NDArray[np.int32], NDArray[np.int32]], jobs: int
    ) -> NDArray[np.float64]:
        """Columns: P and R."""
        return greedy_matches(own, theirs, pairs, jobs)

    def scores(self, compared: NDArray[np.float64]) -> NDArray[np.float64]:
        precision, recall = compared.T
        if self.metric.part != "f":
            return np.asarray(np.clip(precision if self.metric.part == "p" else recall, 0.0, 1.0))
        total = precision + recall
        f = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(np.clip(f, 0.0, 1.0))


def silent(texts: WeightedUnits) -> NDArray[np.bool_]:
    """Mask of the texts without a unit that weighs anything.

    Args:
        texts: The texts.
    """
    _, _, offsets, weights = texts
    return np.asarray(np.diff(np.concatenate([[0], np.cumsum(weights > 0)])[offsets]) == 0)


def _merged_units(encoded: Encoded, weights: NDArray[np.float64]) -> WeightedUnits:
    """Distinct texts for `greedy_matches`, each unit once with the sum of its weights.

    Args:
        encoded: The texts, with vectors of length 1.
        weights: float64[u], the weight of each unit.

    >>> from postil.encoders.base import Encoded
    >>> two, rows = np.eye(2, dtype=np.float32), np.array([1, 0, 1, 1], np.int32)
    >>> encoded = Encoded(np.arange(2), np.array([0, 3, 4]), rows, rows.astype(int), two, np.zeros(2))
    >>> _, rows, offsets, weights = _merged_units(encoded, np.array([1.0, 2.0, 3.0, 4.0]))
    >>> rows.tolist(), offsets.tolist(), weights.tolist()
    ([0, 1, 1], [0, 2, 3], [2.0, 4.0, 4.0])
    """
    texts, most = len(encoded.lengths), max(1, len(encoded.vectors))
    key = np.repeat(np.arange(texts), encoded.lengths) * most + encoded.rows
    order = np.argsort(key, kind="stable")
    key = key[order]
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    text, rows = np.divmod(key[begins], most)
    merged = np.add.reduceat(weights[order], begins) if len(begins) else np.zeros(0)
    offsets = np.searchsorted(text, np.arange(texts + 1))
    return encoded.vectors, rows.astype(np.int32), offsets, merged


BLOCK: Final = 4096
"""Number of pairs that are multiplied together, and of texts that are summed together."""


@dataclass(frozen=True, kw_only=True)
class VectorCosine(VectorMetric):
    """Cosine of the summed vectors of two texts; a negative one is 0.

    ``F = max(0, u . v / (|u| |v|))`` with ``u = sum_i a_i x_i`` over the units of the candidate, v of a reference, and
    the vectors as long as they are. Of several references ``max_j s_j F_j``. Corpus: mean of the items. In [0, 1];
    higher is better. Units without a vector are left out; a text whose sum is zero scores 0.

    Args:
        vectors: Folder of vectors, as for ``vector-f1``.
        weigh: Weights of units. ``none``: 1. ``idf``: ``ln((M + 1) / (df + 1))``, as for ``vector-f1``. ``norm``: the
            length of the vector once more.
        baseline: Score of unrelated texts, as for ``vector-f1``.
        over: Reference aggregation, as for ``vector-f1``.
        tau: Width of ``over=kernel``.

    Raises:
        UsageError, InvalidInput, Undefined: As `VectorF1`.

    The sum of ``a`` and ``d`` is (4, 4), half a right angle from ``b``:

    >>> import tempfile, postil
    >>> from postil.text.vectors import Vectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Vectors(("a", "b", "d"), np.array([[1, 0], [0, 1], [3, 4]], dtype=np.float32)).save(f"{folder}/v")
    ...     spec = f"vector-cosine(vectors={folder}/v)"
    ...     round(postil.score(["a d"], [["b"]], metrics=[spec]).corpus[spec], 6)
    0.707107
    """

    name: ClassVar[str] = "vector-cosine"

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        return _VectorCosineScorer(self, references)


class TextVectors(NamedTuple):
    """One vector per text in single precision, of length 1 but for rounding, or 0.

    Args:
        rows: float32[t, d].
        lengths: float64[t], the lengths after rounding, so that a text has a cosine of 1 with itself.
    """

    rows: NDArray[np.float32]
    lengths: NDArray[np.float64]

    @classmethod
    def of_sums(cls, encoded: Encoded, weights: NDArray[np.float64]) -> TextVectors:
        """Sum the vectors of each distinct text's units.

        Args:
            encoded: The texts.
            weights: float64[u], factor of each unit.
        """
        texts = len(encoded.lengths)
        made = cls(np.empty((texts, encoded.vectors.shape[1]), np.float32), np.empty(texts))
        for begin in range(0, texts, BLOCK):  # those of all references in double precision would be twice as large
            some = slice(begin, begin + BLOCK)
            sums = summed_rows(encoded.vectors, encoded.rows, encoded.offsets[begin : begin + BLOCK + 1], weights)
            lengths = _lengths(sums)[:, None]
            made.rows[some] = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
            made.lengths[some] = _lengths(made.rows[some].astype(np.float64))
        return made


class _VectorCosineScorer(VectorScorer[TextVectors]):
    """Cosine of summed vectors, bound to references; see `VectorScorer`."""

    def prepare(self, encoded: Encoded) -> TextVectors:
        """See `VectorScorer.prepare`."""
        _, lengths = encoded.normalized()
        return TextVectors.of_sums(encoded, self.weights(encoded, lengths))

    def without(self, texts: TextVectors) -> NDArray[np.bool_]:
        """See `VectorScorer.without`."""
        return np.asarray(texts.lengths == 0)

    def compare(
        self,
        own: TextVectors,
        theirs: TextVectors,
        pairs: tuple[NDArray[np.int32], NDArray[np.int32]],
        jobs: int,
    ) -> NDArray[np.float64]:
        """Column: the cosine, 0 for a zero vector; the bits of a pair do not depend on the others."""
        del jobs
        lefts, rights = pairs
        products = np.empty(len(lefts))
        for begin in range(0, len(lefts), BLOCK):
            some = slice(begin, begin + BLOCK)
            products[some] = (own.rows[lefts[some]].astype(np.float64) * theirs.rows[rights[some]]).sum(axis=1)
        lengths = own.lengths[lefts] * theirs.lengths[rights]
        return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)[:, None]

    def scores(self, compared: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `VectorScorer.scores`."""
        return np.asarray(np.clip(compared[:, 0], 0.0, 1.0))


def _lengths(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lengths of rows, float64[n]."""
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=1)))


@dataclass(frozen=True, kw_only=True)
class SentenceCosine(EncodedMetric):
    """Cosine of the vectors that a sentence encoder gives two texts; a negative one is 0.

    ``F = max(0, u . v / (|u| |v|))``. Of several references ``max_j s_j F_j``. Corpus: mean of the items. In [0, 1];
    higher is better. A blank text scores 0.

    Args:
        model: Local folder of a model with ``modules.json``, or ``package:wordllama``; see
            `postil.encoders.sentences.sentence_encoder`. The spec has its name, signatures have a hash of its
            content.
        prefix: Text before each text, with a space, as some models want it: ``query:``.
        baseline: Score B of unrelated texts, below 1: F becomes ``max(0, (F - B) / (1 - B))``. ``auto``: the mean over
            1,000 pairs of references of different items; signatures have the number.
        over: Reference aggregation; see `postil.metrics.reference_aggregation.Over`.
        tau: Width of ``over=kernel``.

    Raises:
        UsageError: A parameter is out of range, or a path cannot stand in a spec; on scoring, no model is named or
            there is none.
        InvalidInput: On scoring, where the folder does not hold a model that can be read.
        Undefined: On scoring with ``baseline=auto``, where there is one item only.

    >>> from postil.metrics.spec import parse_metric
    >>> print(parse_metric("w-sentence-cosine(model=e5,prefix=query:,over=near)"))
    w-sentence-cosine(model=e5,prefix=query:,over=near)
    """

    model: str | None = None
    prefix: str | None = None
    baseline: str | None = None
    over: str = "max"
    tau: float | None = None
    name: ClassVar[str] = "sentence-cosine"
    reads_tokens: ClassVar[bool] = False
    source_field: ClassVar[str] = "model"

    @property
    def reads_all_references(self) -> bool:
        """See `Metric.reads_all_references`: only a baseline that is measured does."""
        return self.baseline == AUTO

    @property
    def signature(self) -> str:
        """See `Specified.signature`."""
        return str(self) if self.model is None else str(replace(self, model=self.encoder().name))

    def encoder(self) -> SentenceEncoder:
        """See `EncodedMetric.encoder`.

        Raises:
            UsageError, UnknownName, InvalidInput, MissingExtra: As `sentence_encoder`; or no model is named.
        """
        if self.model is None:
            raise UsageError("sentence-cosine needs a model: sentence-cosine(model=FOLDER), with a local folder")
        return sentence_encoder(self.model, self.prefix or "")

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.bind`."""
        return _VectorCosineScorer(self, references)
