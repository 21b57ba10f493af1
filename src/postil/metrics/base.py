"""Base classes: a `Metric` is a value; bound to references it is a `Scorer`, whose statistics add."""

from __future__ import annotations

import copy
import dataclasses
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from postil.errors import InvalidInput
from postil.text.tokenizers import check_tokenizer_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.references import Matches, References
    from postil.text.tokens import Tokens

__all__ = [
    "EachPairScorer",
    "Metric",
    "PairwiseScorer",
    "Scorer",
    "Specified",
    "TokenMetric",
    "alignable",
    "mean_of_items",
]


@dataclass(frozen=True, kw_only=True)
class Specified(ABC):
    """Base of metrics and measures: parameters as a value, so that equal parameters make equal values.

    Printing it gives the full spec, which parses back to an equal value; see :mod:`postil.metrics.spec`. A field whose
    metadata have ``brief`` is printed only if it differs from its default, so that older signatures stay as they are.
    The function ``check`` of the metadata refuses values of a spec.

    Args:
        weighted: True if the references' weights count (``w-`` in front of the name); else all are taken as 1.
    """

    weighted: bool = dataclasses.field(default=False, metadata={"hidden": True})

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in the table of :mod:`postil.metrics.spec`, without ``w-``."""

    @property
    def signature(self) -> str:
        """The full spec as signatures have it, in which a file is named by its content, never by its path.

        Raises:
            InvalidInput: A file that it names cannot be read.
        """
        return str(self)

    def __str__(self) -> str:
        parameters = [
            f"{field.name}={_printed(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if not field.metadata.get("hidden")
            and getattr(self, field.name) is not None
            and not (field.metadata.get("brief") and getattr(self, field.name) == field.default)
        ]
        head = f"w-{self.name}" if self.weighted else self.name
        return f"{head}({','.join(parameters)})" if parameters else head


@dataclass(frozen=True, kw_only=True)
class Metric(Specified):
    """A metric and its parameters, as a value: equal parameters make equal metrics.

    Args:
        weighted: True if the references' weights count (``w-`` in front of the name); else all are taken as 1.

    >>> from postil.metrics.spec import parse_metric
    >>> metric = parse_metric("w-cider")
    >>> print(metric, metric.better, metric.low, metric.high)
    w-cider(order=4) high 0.0 1.0
    """

    better: ClassVar[Literal["high", "low"]] = "high"
    """``high`` if higher is better, ``low`` if lower is better."""
    low: ClassVar[float] = 0.0
    """The lowest score."""
    high: ClassVar[float] = 1.0
    """The highest score; rounding may exceed it in the last digits."""
    lowest_weight: ClassVar[float] = 0.0
    """The smallest weight of a reference that means something to this metric."""
    reads_texts: ClassVar[bool] = False
    """True if it reads the texts themselves, which are kept beside their tokens then."""
    origin: ClassVar[str] = ""
    """Version or hash of the source of a metric from outside the package; empty for those of the package."""

    @property
    def signature(self) -> str:
        """See `Specified.signature`."""
        return f"{self}|{self.origin}" if self.origin else str(self)

    @abstractmethod
    def bind(self, references: References, background: DocumentFrequencies | None) -> Scorer:
        """Make the scorer of references whose weights are final; called by `against`."""

    @property
    def aggregation(self) -> Literal["mean", "sums"]:
        """Corpus rule: ``mean`` of the item scores, or one score of the ``sums`` of all items' statistics."""
        return "sums"

    @property
    def needs_weights(self) -> bool:
        """True if every reference must have a weight."""
        return self.weighted

    @property
    def needs_references(self) -> bool:
        """False if it is a metric of the candidate alone, which no reference changes."""
        return True

    @property
    def reads_tokens(self) -> bool:
        """False if it reads texts alone, so that no score depends on the tokenizer."""
        return True

    @property
    def own_tokenizer(self) -> str:
        """Name of the tokenizer that it takes in place of the one of the run; empty for that one."""
        return ""

    @property
    def reads_all_references(self) -> bool:
        """True if a score depends on the references of other items in another way than by document frequencies."""
        return False

    @property
    def needs_words(self) -> bool:
        """True if scores depend on where the tokenizer splits texts into words."""
        return self.reads_tokens

    @property
    def for_other_languages(self) -> str:
        """Parameter that makes it fit texts in other languages; empty if it is not for English alone."""
        return ""

    @property
    def idf_order(self) -> int:
        """Length of the longest n-gram whose document frequencies it reads; 0 where it has no idf."""
        return 0

    @property
    def width(self) -> int:
        """Number of statistics of each candidate, k; 2 where the corpus score is the mean of the item scores."""
        return 2

    def score(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of n rows of statistics, or of n sums of them; they depend on no reference.

        Args:
            stats: float64[n, k].

        Returns:
            float64[n].
        """
        return mean_of_items(stats)

    def items(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """Item scores of n rows of statistics; nearly always `score`.

        Args:
            stats: float64[n, k].

        Returns:
            float64[n].
        """
        return self.score(stats)

    def against(self, references: References, background: DocumentFrequencies | None = None) -> Scorer:
        """Bind references once, then score any number of candidates.

        Args:
            references: Texts with weights.
            background: Document frequencies for metrics with an idf; by default those of ``references``.

        Raises:
            InvalidInput: A weight is too small for this metric, or a file that it reads is not what it should be.
            UsageError: The background does not reach to the metric's order, or WordNet is asked for and not there.
            Undefined: The metric does not exist for these references: CIDEr of a single item without a background.
        """
        references = references.split_by(self.own_tokenizer)
        if not self.needs_weights:
            return self.bind(references.unweighted(), background)
        if references.weights.min() < self.lowest_weight:
            least = references.weights.min()
            raise InvalidInput(
                f"{self.name}: expected weights from 0 to 1, got {least}; only delta-bleu takes negative ones",
                where="references",
                field="weight",
            )
        return self.bind(references, background)

    def against_unweighted(self, references: References, background: DocumentFrequencies | None = None) -> Scorer:
        """Bind references with weights of 1, whether or not the metric has ``w-``.

        Args:
            references: Texts; their weights are not read.
            background: As in `against`.
        """
        return self.bind(references.split_by(self.own_tokenizer).unweighted(), background)


@dataclass(frozen=True, kw_only=True)
class TokenMetric(Metric):
    """Base of metrics that read tokens, and may take another tokenizer than the run's.

    Args:
        tokenizer: Name in `postil.text.tokenizers.TOKENIZERS`; by default the tokenizer of the run.

    >>> import postil
    >>> specs = ["rouge-l(beta=1)", "rouge-l(tokenizer=space,beta=1)"]
    >>> [round(score, 4) for score in postil.score(["a b."], [["a b"]], metrics=specs).corpus.values()]
    [1.0, 0.5]
    """

    tokenizer: str = dataclasses.field(default="", metadata={"brief": True, "check": check_tokenizer_name})

    @property
    def own_tokenizer(self) -> str:
        """See `Metric.own_tokenizer`."""
        return self.tokenizer


def _printed(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


class Scorer(ABC):
    """A metric bound to references.

    ``stats`` of candidates add: the corpus score of some candidates is the score of the sum of their rows, so a
    bootstrap, a shard or a stream needs nothing more. Made by `Metric.against`.

    >>> import numpy as np
    >>> from postil.metrics.references import References
    >>> from postil.metrics.spec import parse_metric
    >>> from postil.text.tokens import Vocabulary
    >>> vocabulary = Vocabulary()
    >>> references = References(vocabulary.encode_tokens([["a", "b"], ["c", "d"]]), np.array([0, 1, 2]))
    >>> scorer = parse_metric("bleu-1(smooth=none)").against(references)
    >>> candidates = vocabulary.branch().encode_tokens([["a", "x"], ["c", "d"]])
    >>> stats = scorer.stats(candidates, np.array([0, 1], dtype=np.int32))
    >>> scorer.items(stats).tolist(), scorer.score(stats.sum(axis=0, keepdims=True)).tolist()
    ([0.5, 1.0], [0.75])
    """

    def __init__(self, metric: Metric, references: References) -> None:
        self.metric = metric
        self.references = references

    @property
    def notes(self) -> tuple[str, ...]:
        """``key:value`` facts for the signature that the metric's spec does not hold."""
        return ()

    def remarks(self) -> list[str]:
        """Remarks on the texts that were bound and measured, one line each."""
        return []

    @abstractmethod
    def measure(self, matches: Matches) -> NDArray[np.float64]:
        """Statistics of n candidates from their matches with the references, float64[n, k]."""

    def score(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Metric.score`."""
        return self.metric.score(stats)

    def items(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Metric.items`."""
        return self.metric.items(stats)

    def reweighted(self, weights: NDArray[np.float64]) -> Self:
        """Copy the scorer with other weights of the same references.

        Args:
            weights: float64[m].
        """
        other = copy.copy(self)
        other.references = dataclasses.replace(self.references, weights=weights)
        return other

    def measure_each(self, matches: Matches, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Statistics by each of several weights of the references, float64[d, n, k].

        Args:
            matches: As in `measure`.
            weights: float64[d, m].
        """
        return np.stack([self.reweighted(row).measure(matches) for row in weights])

    def stats(self, candidates: Tokens, sets: NDArray[np.int32], jobs: int = 1) -> NDArray[np.float64]:
        """Statistics of n candidates, float64[n, k].

        Args:
            candidates: n texts, encoded with the vocabulary of the references or a branch of it; for a metric with its
                own tokenizer with that of the references that it was bound to, and with their texts.
            sets: int32[n], index of the set of references of each candidate.
            jobs: Number of threads; the result does not depend on it.

        Raises:
            InvalidInput: There is not one set number for each candidate, or a number has no set.
            UsageError: The candidates were encoded with another vocabulary.
        """
        return self.measure(self.references.match(candidates, sets, jobs))


class PairwiseScorer(Scorer):
    """A scorer of pairs: its comparison of a candidate with a reference depends on no other reference and no weight.

    So each pair is compared once, however often the references are weighted anew or chosen among.
    """

    @abstractmethod
    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        """Compare candidates with one reference each, float64[p, c]; no weight is read.

        Args:
            matches: p candidates and sets of a single reference.
        """

    @abstractmethod
    def joined(
        self, pairs: NDArray[np.float64], weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Statistics of candidates from their pairs, float64[n, k]; equal to those of `measure` to the last bit.

        Args:
            pairs: float64[p, c], rows of `pairs`, candidate after candidate.
            weights: float64[p], the weight of the reference of each.
            bounds: int64[n + 1], offsets of the pairs of each candidate; each has at least one.
        """

    def alone(self, pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score each pair as if its reference were the only one, without weights: float64[p].

        Args:
            pairs: float64[p, c], rows of `pairs`.
        """
        return self.items(self.joined(pairs, np.ones(len(pairs)), np.arange(len(pairs) + 1)))


class EachPairScorer(PairwiseScorer):
    """A scorer of pairs whose `pairs` takes sets of several references, so that `measure` needs no code of its own."""

    @abstractmethod
    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        """Compare candidates with each of their references, float64[p, c] in the order of `References.pairs`.

        Args:
            matches: n candidates and sets of any size, p pairs.
        """

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        """See `Scorer.measure`."""
        bounds, references = self.references.pairs(matches.sets)
        return self.joined(self.pairs(matches), self.references.weights[references], bounds)


@contextmanager
def alignable(metric: Metric) -> Iterator[None]:
    """Report texts whose alignment the kernel refuses, as its memory grows with the product of their lengths.

    Args:
        metric: The metric that aligns.

    Raises:
        InvalidInput: The kernel refused; its message has the lengths.
    """
    try:
        yield
    except OverflowError as error:
        raise InvalidInput(f"{metric}: {error}; split them, or take another metric", where="candidates") from error


def mean_of_items(stats: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of a metric whose corpus score is the mean of the item scores.

    Args:
        stats: float64[n, 2], the item's value and 1, or sums of such rows.

    >>> import numpy as np
    >>> mean_of_items(np.array([[0.25, 1.0], [1.5, 2.0]])).tolist()
    [0.25, 0.75]
    """
    mean: NDArray[np.float64] = stats[:, 0] / stats[:, 1]
    return mean
