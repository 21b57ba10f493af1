"""Metrics bound to the same references, and deterministic sums of their statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.metrics.own import FunctionMetric, MetricFailed, reporting
from postil.metrics.reference_aggregation import Over
from postil.metrics.spec import own_metric, parse_metric
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from postil.data.grades import Scale
    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.base import Metric, Scorer
    from postil.metrics.references import Matches, References
    from postil.text.tokens import Tokens

__all__ = ["DEFAULT_METRICS", "DeterministicSum", "MetricSet", "default_metrics", "lowest_weight", "parse_all"]

DEFAULT_METRICS: Final = ("bleu-4", "meteor", "rouge-l", "cider-d")
"""The usual four, which are scored where no metric is named."""


def parse_all(specs: Iterable[str | Callable[..., object]], *, weighted: bool = False) -> dict[str, Metric]:
    """Parse metrics, by the spec that the user wrote and in order.

    Args:
        specs: Specs, and functions or classes, which go by their names; one that comes twice counts once.
        weighted: True if there are weights, which a function gets that reads weights.

    Raises:
        UnknownName: A metric, parameter or value is not in its table.
        UsageError: A spec cannot be read, a function is no metric, two have one name, or there is none.

    >>> {spec: str(metric) for spec, metric in parse_all(["bleu-4", "w-rouge-1"]).items()}
    {'bleu-4': 'bleu-4(smooth=coco,effective=false)', 'w-rouge-1': 'w-rouge-1(count=clipped,corpus=mean)'}
    """
    metrics: dict[str, Metric] = {}
    by: dict[str, object] = {}
    for spec in specs:
        metric = parse_metric(spec) if isinstance(spec, str) else own_metric(spec, weighted=weighted)
        name = spec if isinstance(spec, str) else metric.name
        if by.setdefault(name, spec) is not spec and metrics[name] != metric:
            raise UsageError(f"metrics: two are called {name}; postil.register_metric(name=…) gives another name")
        metrics.setdefault(name, metric)
    if not metrics:
        raise UsageError("no metric: expected at least one, such as bleu-4, meteor or w-rouge-l")
    return metrics


def default_metrics(*, weighted: bool, idf: bool = True) -> tuple[str, ...]:
    """The usual four metrics, each followed by its weighted form.

    Args:
        weighted: True if the references have weights.
        idf: True if there are document frequencies; without them CIDEr-D does not exist.

    >>> default_metrics(weighted=True)[:2]
    ('bleu-4', 'w-bleu-4')
    """
    names = [name for name in DEFAULT_METRICS if idf or name != "cider-d"]
    return tuple(f"{head}{name}" for name in names for head in (("", "w-") if weighted else ("",)))


def lowest_weight(metrics: Mapping[str, Metric], default: float) -> float:
    """The lowest weight that all metrics take.

    Args:
        metrics: Metrics by spec; those that read no weights are ignored.
        default: The value where none reads weights.
    """
    return max((metric.lowest_weight for metric in metrics.values() if metric.needs_weights), default=default)


class MetricSet:
    """Metrics bound to references; matches of a candidate with its references are found once for all metrics.

    Args:
        metrics: By the spec that the user wrote.
        references: The references.
        background: Document frequencies for the metrics with an idf.
        tokenizer: Signature of the tokenizer that made the tokens; ``given`` where texts came as lists of tokens.
        weights: Weights method, for the signatures of weighted metrics.
        sizes: Least and largest number of references per set, where these are some of more; by default theirs.
        whole: The same with the ungraded references that were excluded, for signatures; None where none were asked to
            be.
        grades: Scale of the grades that the weights are shares of, for scores with ``over=kernel`` as grades on it; by
            default they stay means of weights.

    Raises:
        InvalidInput, UsageError, Undefined: As `Metric.against`.

    >>> from postil.metrics.references import References
    >>> from postil.text.tokens import Vocabulary
    >>> vocabulary = Vocabulary()
    >>> references = References(vocabulary.encode_tokens([["a", "b"], ["c"]]), np.array([0, 2]))
    >>> metrics = MetricSet(parse_all(["rouge-1", "bleu-1(smooth=none)"]), references, tokenizer="space")
    >>> candidates = vocabulary.branch().encode_tokens([["a"], ["c", "b"]])
    >>> stats = metrics.measure(candidates, np.array([0, 0], dtype=np.int32))
    >>> metrics.items("rouge-1", stats["rouge-1"]).round(4).tolist()
    [0.3333, 0.6667]
    >>> metrics.corpus("rouge-1", stats["rouge-1"].sum(axis=0))
    0.5
    """

    def __init__(
        self,
        metrics: Mapping[str, Metric],
        references: References,
        *,
        background: DocumentFrequencies | None = None,
        tokenizer: str,
        weights: str = "given",
        sizes: tuple[int, int] | None = None,
        whole: tuple[int, int] | None = None,
        grades: Scale | None = None,
    ) -> None:
        self.metrics = metrics
        self._grades = {spec: grades for spec, metric in metrics.items() if Over.of(metric).name == "kernel" and grades}
        self.background = background
        self.tokenizer = tokenizer
        self.references = references
        unweighted = references.unweighted()  # one object for all metrics without w-, so that they share counts
        self._scorers: dict[str, Scorer] = {}
        for spec, metric in metrics.items():
            with reporting(metric):
                self._scorers[spec] = metric.against(references if metric.needs_weights else unweighted, background)
        each = np.diff(references.offsets)
        count = _range(sizes or (each.min(), each.max())) + (f" of {_range(whole)}" if whole else "")
        self.signatures: dict[str, str] = {
            spec: "|".join(
                [
                    scorer.metric.signature,
                    *(["better:low"] if scorer.metric.better == "low" else []),
                    *_split_by(scorer.metric, tokenizer),
                    *([f"weights:{weights}"] if scorer.metric.needs_weights else []),
                    *(["as-grade"] if spec in self._grades else []),
                    *([f"references:{count}"] if scorer.metric.needs_references else []),
                    *scorer.notes,
                    f"postil:{VERSION}",
                ]
            )
            for spec, scorer in self._scorers.items()
        }
        """Signature of each metric, by spec: all that its numbers depend on."""

    def scorer(self, spec: str) -> Scorer:
        """The scorer of a metric."""
        return self._scorers[spec]

    def remarks(self) -> list[str]:
        """Remarks of all scorers, each once; see `Scorer.remarks`."""
        return list(dict.fromkeys(line for scorer in self._scorers.values() for line in scorer.remarks()))

    def measure(self, candidates: Tokens, sets: NDArray[np.int32], jobs: int = 1) -> dict[str, NDArray[np.float64]]:
        """Statistics of n candidates by spec, float64[n, k]; see `Scorer.stats`."""
        matches = self.references.match(candidates, sets, jobs)
        return {spec: _measured(scorer, matches.of(scorer.references)) for spec, scorer in self._scorers.items()}

    def items(self, spec: str, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """Item scores, float64[n]."""
        return self.as_grades(spec, self._scorers[spec].items(stats))

    def corpus(self, spec: str, total: NDArray[np.float64]) -> float:
        """The corpus score of the sum of the candidates' statistics, float64[k]."""
        return float(self.as_grades(spec, self._scorers[spec].score(total[None, :]))[0])

    def as_grades(self, spec: str, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn means of weights g into grades, ``low + g (high - low)``, where that was asked for.

        Args:
            spec: The metric.
            scores: Its scores, or those of one of its controls.
        """
        scale = self._grades.get(spec)
        return scale.low + scores * (scale.high - scale.low) if scale else scores


def _split_by(metric: Metric, tokenizer: str) -> list[str]:
    """Part of the signature for the tokenizer, where scores depend on it; ``tokenizer`` is that of the run."""
    if tokenizer == "given":
        return ["tokenizer:given"]
    own = metric.own_tokenizer
    return [f"tokenizer:{named_tokenizer(own).signature if own else tokenizer}"] if metric.reads_tokens else []


def _range(sizes: tuple[int, int]) -> str:
    least, most = sizes
    return f"{least}" if least == most else f"{least}-{most}"


def _measured(scorer: Scorer, matches: Matches) -> NDArray[np.float64]:
    """Statistics of a scorer, which are looked at if it is not of the package."""
    metric = scorer.metric
    with reporting(metric):
        stats = scorer.measure(matches)
        if metric.origin and not isinstance(metric, FunctionMetric):
            stats = np.asarray(stats, dtype=np.float64)
            if stats.shape != (len(matches), metric.width):
                raise MetricFailed(
                    f"{metric.name} measured an array of shape {stats.shape}; expected float64[{len(matches)}, "
                    f"{metric.width}], with {metric.width} the metric's width"
                )
            if not np.isfinite(stats).all():
                raise MetricFailed(f"{metric.name} measured statistics that are not finite")
    return stats


class DeterministicSum:
    """A sum of rows that is the same to the last bit however the rows are batched.

    Rows are summed in blocks of 1,024 in their order, and blocks in theirs, so neither the size of a batch nor the
    number of threads changes the order of additions.

    >>> total = DeterministicSum()
    >>> total.add(np.ones((1500, 2)))
    >>> total.add(np.ones((2, 2)))
    >>> total.sum().tolist()
    [1502.0, 1502.0]
    """

    BLOCK: Final = 1024

    def __init__(self) -> None:
        self.count = 0
        self._whole: NDArray[np.float64] | None = None
        self._open: NDArray[np.float64] | None = None
        self._open_rows = 0

    def add(self, rows: NDArray[np.float64]) -> None:
        """Add float64[n, k]."""
        self.count += len(rows)
        while len(rows):
            part = rows[: self.BLOCK - self._open_rows]
            rows = rows[len(part) :]
            self._open_rows = (self._open_rows + len(part)) % self.BLOCK
            if self._open is not None:
                part = np.concatenate([self._open[None], part])
            # Running sums are made one row after the other, whatever the layout in memory.
            self._open = np.add.accumulate(part, axis=0)[-1].copy()
            if self._open_rows == 0:
                self._whole, self._open = self.sum(), None

    def sum(self) -> NDArray[np.float64]:
        """The sum so far, float64[k]."""
        if self._open is None:
            return np.zeros(0) if self._whole is None else self._whole
        return self._open if self._whole is None else self._whole + self._open
