"""Evaluation: metrics bound to graded references once, then applied to candidates batch by batch.

Every caller goes through it: `postil.score`, the command of that name, `postil evaluate` and consensus weights.

Statistics of candidates add up, and a corpus score is that of their sum. So shards, batches and resamples need no more
than rows of statistics, and no references. Each batch is tokenized in a branch of the vocabulary that is dropped after
it, so the memory of a stream does not grow with its words. Matches of a candidate with its references are found once
for all metrics.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.grades import METHODS, Scale
from postil.data.groups import grouped
from postil.errors import InvalidInput
from postil.metrics.controls import ControlOptions, Controls
from postil.metrics.languages import language_remarks
from postil.metrics.metric_set import DeterministicSum, MetricSet
from postil.metrics.own import MetricFailed
from postil.metrics.paper_names import paper_remarks
from postil.metrics.reference_aggregation import NearSigns, SingleReferenceScorer, averages_weights
from postil.metrics.references import References
from postil.metrics.result import ScoreResult, SystemScore
from postil.metrics.ungraded import NAME, consensus, similarity_of
from postil.results.names import copies_remark
from postil.text.han import HanTexts, composed_remark
from postil.text.tokenizers import WHOLE, Tokenizer
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.engine import Engine
    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.base import Metric

    Refuse = Callable[[int, str], InvalidInput]

__all__ = [
    "CHUNK",
    "NO_REFERENCES",
    "Batch",
    "Evaluation",
    "ItemScores",
    "ReferenceCopies",
    "ReferenceTexts",
    "RemoteEvaluation",
    "ScoredBatch",
    "SystemTotals",
    "bind_references",
    "check_background",
    "counts",
    "reads_run_tokens",
    "weighting_signature",
]

CHUNK: Final = 8192
"""Number of candidates per batch."""


@dataclass(frozen=True, eq=False, slots=True)
class ReferenceTexts:
    """Graded references before they are tokenized.

    Args:
        texts: m texts or m lists of tokens, set after set.
        offsets: int64[sets + 1]; set i has the texts ``offsets[i]:offsets[i + 1]``.
        weights: float64[m]; by default all 1.
        items: int32[sets], the item of each set; by default every set is an item of its own.
        weighting: Weights method as signatures have it; see `weighting_signature`.
        similarity: Metric for consensus weights, which take the place of `weights`; by default none.
        whole: Least and largest number of references per set before the ungraded ones were excluded; None where none
            were asked to be.
    """

    texts: list[object]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    items: NDArray[np.int32] | None = None
    weighting: str = "given"
    similarity: Metric | None = None
    whole: tuple[int, int] | None = None


NO_REFERENCES: Final = ReferenceTexts([""], np.array([0, 1]), weighting="")
"""The one set of all candidates where no metric reads references; no candidate counts as a copy of its text."""


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Candidates that are scored together.

    Args:
        texts: n texts or n lists of tokens.
        sets: int32[n], the set of references for each.
        first: Number of candidates before them.
        items: Item of each, where they have names.
        systems: System of each, where they have names.
        references: References that the metrics are bound to before: those of a block, which this batch begins. By
            default they stay bound as they are.
        background: Document frequencies in place of those of these references.
    """

    texts: Sequence[object]
    sets: NDArray[np.int32]
    first: int = 0
    items: Sequence[str] = ()
    systems: Sequence[str] = ()
    references: ReferenceTexts | None = None
    background: DocumentFrequencies | None = None


class ScoredBatch:
    """A batch with the statistics of its candidates; made by `Evaluation.measure`.

    Args:
        evaluation: The metrics and references.
        batch: The candidates.
        stats: Statistics by spec, float64[n, k].
        tokens: The candidates as token ids; by default they are tokenized when they are first needed.

    Attributes:
        copies: int64[n], number of references of its item that each candidate is.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        batch: Batch,
        stats: Mapping[str, NDArray[np.float64]],
        tokens: Tokens | None = None,
    ) -> None:
        self.batch = batch
        self.stats = stats
        self.copies = evaluation.copies.see(batch.texts, batch.sets)
        self._evaluation = evaluation
        self._tokens = tokens

    @property
    def tokens(self) -> Tokens:
        """The candidates as token ids, in a branch of the references' vocabulary."""
        if self._tokens is None:
            self._tokens = self._evaluation.encode(self.batch)
        return self._tokens

    def item_scores(self) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Item scores by spec, float64[n]."""
        for spec, stats in self.stats.items():
            yield spec, self._evaluation.metrics.items(spec, stats)

    @property
    def statistics(self) -> dict[str, NDArray[np.float64]]:
        """Statistics by spec, float64[n, k], of the metrics whose corpus score is not the mean of the item scores."""
        metrics = self._evaluation.metrics.metrics
        return {spec: stats for spec, stats in self.stats.items() if metrics[spec].aggregation == "sums"}

    def control_scores(self) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Item scores by control, float64[n], each computed when it is asked for."""
        evaluation = self._evaluation
        if evaluation.controls:
            yield from evaluation.controls.scores(self.tokens, self.batch.sets, evaluation.jobs)


class Evaluation:
    """Metrics, controls and checks bound to the same references.

    Args:
        metrics: Metrics by the spec that the user wrote.
        references: The references.
        tokenizer: Name in `postil.text.tokenizers.TOKENIZERS`; lists of tokens are taken as they are.
        background: Document frequencies in place of those of the references.
        controls: Controls of the weighted metrics, and the length; by default none.
        jobs: Number of threads; no number depends on it.
        allow_han: True to let ``words`` split any number of Han texts at their spaces and punctuation.
        tokenized: True if candidates and references are lists of tokens, which signatures tell.
        split: True to tokenize references even if no metric and no control reads tokens.
        sizes: Least and largest number of references per set, where these are a block of more; by default theirs.
        met: Counts of the references of all blocks, as `counts` makes them; by default these references are counted.
        grades: Scale for scores with ``over=kernel`` as grades; see `MetricSet`.
        refuse: Error for a reference text by its index and the problem.

    Raises:
        UnknownName: There is no such tokenizer.
        UsageError: The document frequencies are those of another tokenizer.
        InvalidInput: A reference is neither text nor a list of tokens as the first is, or too many are Han texts.
        Undefined: CIDEr of a single item without document frequencies.

    >>> from postil.metrics.metric_set import parse_all
    >>> references = ReferenceTexts(["a b", "a c", "d"], np.array([0, 2, 3]), np.array([1.0, 0.5, 1.0]))
    >>> evaluation = Evaluation(parse_all(["rouge-l", "w-rouge-l"]), references, tokenizer="space")
    >>> for scored in evaluation.measure([Batch(["a c", "d"], np.array([0, 1], dtype=np.int32))]):
    ...     print({spec: values.tolist() for spec, values in scored.item_scores()})
    {'rouge-l': [1.0, 1.0], 'w-rouge-l': [0.5, 1.0]}
    """

    def __init__(
        self,
        metrics: Mapping[str, Metric],
        references: ReferenceTexts,
        *,
        tokenizer: str,
        background: DocumentFrequencies | None = None,
        controls: ControlOptions | None = None,
        jobs: int = 1,
        allow_han: bool = False,
        tokenized: bool = False,
        split: bool = False,
        sizes: tuple[int, int] | None = None,
        met: Sequence[HanTexts] | None = None,
        grades: Scale | None = None,
        refuse: Refuse | None = None,
    ) -> None:
        self.tokenizer = named_tokenizer(tokenizer)
        self.jobs = jobs
        self.allow_han = allow_han
        if background is not None:
            check_background(background, metrics, self.tokenizer)
        self._own = any(metric.own_tokenizer for metric in metrics.values())
        self._keep_texts = self._own or any(metric.reads_texts for metric in metrics.values())
        self._split = controls is not None or reads_run_tokens(metrics.values())
        self._split_references = self._split or split
        self._blocks = met is not None
        if met is None:
            every = [*metrics.values(), *filter(None, [references.similarity])]
            split = self._split_references or reads_run_tokens(every)
            met = counts(every, self.tokenizer, "references", split=split)
        self._met = met
        self.copies = ReferenceCopies()
        """The candidates so far that are references of their item."""
        shown = "given" if tokenized else self.tokenizer.signature
        self._set_of = partial(MetricSet, metrics, tokenizer=shown, sizes=sizes, grades=grades)
        self.bind(references, background, refuse)
        sample = next((each.sample for each in self._met if each.sample), [])
        named = language_remarks(metrics, self.tokenizer.name, sample, "references")
        asked = [*paper_remarks(metrics, self.tokenizer, weighted=references.weights is not None)]
        weighted = [metric for metric in metrics.values() if metric.needs_weights and not averages_weights(metric)]
        if weighted and not self._blocks and references.weights is not None and not np.any(references.weights):
            asked.append("all references have the weight 0, so metrics of weighted references are 0 for any text")
        self.remarks = [*filter(None, [each.remark for each in self._met]), *named, *asked]
        """Remarks on the texts, one line each; those on candidates are added when `measure` ends."""
        self.controls = Controls(self.metrics, controls) if controls else None

    def bind(
        self, references: ReferenceTexts, background: DocumentFrequencies | None = None, refuse: Refuse | None = None
    ) -> None:
        """Bind the metrics to references: to all at first, or to those of one block after the other.

        Args:
            references: The references.
            background: Document frequencies in place of those of the references.
            refuse: Error for a reference text by its index and the problem.
        """
        self._texts = references
        self.references = bind_references(
            references,
            self.tokenizer,
            background=background,
            jobs=self.jobs,
            allow_han=self.allow_han,
            keep_texts=self._keep_texts,
            split=self._split_references,
            own=self._own,
            refuse=refuse,
            met=() if self._blocks else self._met,
        )
        if references is not NO_REFERENCES:
            self.copies.bind(references.texts, references.offsets)
        self.metrics = self._set_of(
            self.references, background=background, weights=references.weighting, whole=references.whole
        )

    def encode(self, batch: Batch, refuse: Refuse | None = None) -> Tokens:
        """Tokenize candidates into a branch of the references' vocabulary, which itself stays as it is.

        Args:
            batch: The candidates.
            refuse: Error for a candidate by its index, counted over all batches.

        Raises:
            InvalidInput: A candidate is neither text nor a list of tokens, as the first one of the batch is.
        """
        refuse = refuse or _refusal("candidates")
        return _encode(
            batch.texts,
            self.tokenizer,
            self.references.tokens.vocabulary.branch(),
            self.jobs,
            lambda i, problem: refuse(batch.first + i, problem),
            keep_texts=self._keep_texts,
        )

    def measure(
        self, batches: Iterable[Batch], refuse: Refuse | None = None, engine: Engine | None = None
    ) -> Iterator[ScoredBatch]:
        """Measure candidates as they come; memory holds the batches under way alone, and a block.

        Args:
            batches: The candidates.
            refuse: Error for a candidate by its index, counted over all batches.
            engine: Engine that computes the statistics, to the same bits; by default this process.

        Yields:
            Each batch with its statistics.

        Raises:
            InvalidInput: As `encode`; or, after the last batch, too many of the candidates were Han texts.
            MetricFailed: A metric from outside the package raised an error, or returned what is no score.
        """
        refuse = refuse or _refusal("candidates")
        met, near = self._of_candidates(), NearSigns(self.metrics.metrics, self.references)
        for scored in self._measured(batches, refuse, engine):
            for han in met:
                han.see(scored.batch.texts)
            if near.asked:
                near.see(scored.tokens, scored.batch.sets)
            yield scored
        for han in () if self.allow_han else met:
            han.check(refuse)
        of_scorers = [] if self._blocks else self.metrics.remarks()  # they count the texts of a block
        self.remarks += filter(None, [*self._notes(met), self.copies.remark, *near.remarks(), *of_scorers])

    def pair_scores(
        self, batches: Iterable[Batch], refuse: Refuse | None = None
    ) -> Iterator[tuple[Batch, dict[str, NDArray[np.float64]]]]:
        """Score each candidate against each reference of its set alone, by metrics without weights.

        Args:
            batches: The candidates.
            refuse: Error for a candidate by its index, counted over all batches.

        Yields:
            Each batch with its scores by spec, float64[pairs], in the order of `References.pairs`.

        Raises:
            InvalidInput: As `measure`.
            MetricFailed: As `measure`.
        """
        refuse, met = refuse or _refusal("candidates"), self._of_candidates()
        singles = SingleReferenceScorer(self.metrics.metrics, self.references, self.metrics.background)
        for batch in batches:
            for han in met:
                han.see(batch.texts)
            tokens = self.encode(batch, refuse) if self._split else self._whole(batch, refuse)
            yield batch, singles.scores(tokens, batch.sets, self.jobs)
        for han in () if self.allow_han else met:
            han.check(refuse)
        self.remarks += self._notes(met)

    def _of_candidates(self) -> list[HanTexts]:
        """Counts of candidates that their tokenizers are not for."""
        return counts(self.metrics.metrics.values(), self.tokenizer, "candidates", split=self._split)

    def _notes(self, candidates: Sequence[HanTexts]) -> list[str]:
        """Remarks on the candidates that were seen, and one on all texts that are not in NFC."""
        composing = [next(each for each in met if each.composed) for met in (self._met, candidates) if _composed(met)]
        return [note for note in (*(each.remark for each in candidates), composed_remark(*composing)) if note]

    def _whole(self, batch: Batch, refuse: Refuse) -> Tokens:
        """Candidates whose tokens nothing reads."""
        vocabulary = self.references.tokens.vocabulary
        return _whole(
            batch.texts,
            vocabulary.branch() if self._own else vocabulary,
            lambda i, problem: refuse(batch.first + i, problem),
            own=self._own,
        )

    def _measured(self, batches: Iterable[Batch], refuse: Refuse, engine: Engine | None) -> Iterator[ScoredBatch]:
        if engine is None:
            for batch in batches:
                if batch.references is not None:
                    self.bind(batch.references, batch.background)
                tokens = self.encode(batch, refuse) if self._split else self._whole(batch, refuse)
                try:
                    stats = self.metrics.measure(tokens, batch.sets, self.jobs)
                except MetricFailed as error:
                    if error.row is None:
                        raise
                    raise MetricFailed(str(refuse(batch.first + error.row, str(error)))) from error.__cause__
                yield ScoredBatch(self, batch, stats, tokens if self._split else None)
            return
        remote = RemoteEvaluation(
            replace(self._texts, weights=self.references.weights, similarity=None),
            self.metrics.metrics,
            self.metrics.background,
            self.tokenizer.name,
            {spec: metric.signature for spec, metric in self.metrics.metrics.items()},
        )
        sent: deque[Batch] = deque()

        def send() -> Iterator[Batch]:
            for batch in batches:
                sent.append(batch)
                yield Batch(batch.texts, batch.sets, batch.first)  # a caller's batch may hold more

        for stats in engine.map(remote, send()):
            yield ScoredBatch(self, sent.popleft(), stats)


@dataclass(frozen=True, eq=False)
class RemoteEvaluation:
    """An evaluation that is sent to another process, which binds the references anew and keeps them bound.

    Args:
        references: The references, with their final weights.
        metrics: Metrics by spec.
        background: Document frequencies in place of those of the references.
        tokenizer: Name of the tokenizer.
        signatures: Signature of each metric where the command runs, by spec.
    """

    references: ReferenceTexts
    metrics: Mapping[str, Metric]
    background: DocumentFrequencies | None
    tokenizer: str
    signatures: Mapping[str, str]

    def __call__(self, batch: Batch) -> dict[str, NDArray[np.float64]]:
        """Compute the statistics of a batch by spec, float64[n, k].

        Args:
            batch: The candidates.

        Raises:
            InvalidInput: A metric reads a file that is missing here, or is another one than where the command runs.
        """
        return self._evaluation.metrics.measure(self._evaluation.encode(batch), batch.sets)

    @cached_property
    def _evaluation(self) -> Evaluation:
        for spec, metric in self.metrics.items():
            if metric.signature != self.signatures[spec]:
                raise InvalidInput(
                    f"{spec}: the file is not the same on every machine; copy it to all of them", where="metrics"
                )
        # Han texts have been counted where the command runs.
        return Evaluation(
            self.metrics, self.references, tokenizer=self.tokenizer, background=self.background, allow_han=True
        )


class ItemScores:
    """Item scores, controls and statistics of candidates, collected as batches arrive.

    Args:
        evaluation: The metrics and controls.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._values: dict[str, list[NDArray[np.float64]]] = {}
        self._statistics: dict[str, list[NDArray[np.float64]]] = {}
        self._copies: list[int] = []
        self._items: list[str] = []
        self._systems: list[str] = []

    def add(self, scored: ScoredBatch) -> None:
        """Add the candidates of a batch."""
        self._items += scored.batch.items
        self._systems += scored.batch.systems
        for name, values in (*scored.item_scores(), *scored.control_scores()):
            self._values.setdefault(name, []).append(values)
        self._copies += scored.copies.tolist()
        for spec, statistics in scored.statistics.items():
            self._statistics.setdefault(spec, []).append(statistics)

    def result(self, totals: SystemTotals) -> ScoreResult:
        """Make the result of all candidates.

        Args:
            totals: Statistics of the systems.
        """
        controls = self._evaluation.controls
        return ScoreResult(
            scores=totals.scores(),
            aggregation="corpus",
            items={name: np.concatenate(parts) for name, parts in self._values.items()},
            item_signatures=controls.signatures if controls else {},
            item_names=tuple(self._items),
            system_names=tuple(self._systems),
            statistics={spec: np.concatenate(parts) for spec, parts in self._statistics.items()},
            equal_references=tuple(self._copies) if any(self._copies) else (),
        )


class SystemTotals:
    """Statistics of each system, summed as batches arrive.

    Args:
        metrics: The metrics, bound.
    """

    def __init__(self, metrics: MetricSet) -> None:
        self._metrics = metrics
        self._sums: dict[str, dict[str, DeterministicSum]] = {}

    def add(self, system: str, stats: Mapping[str, NDArray[np.float64]]) -> None:
        """Add the statistics of some candidates of a system, float64[n, k] by spec."""
        sums = self._sums.setdefault(system, {spec: DeterministicSum() for spec in stats})
        for spec, rows in stats.items():
            sums[spec].add(rows)

    def add_rows(self, systems: Sequence[str], stats: Mapping[str, NDArray[np.float64]]) -> None:
        """Add the statistics of candidates of any systems, each system's in their order."""
        for name, rows in grouped((system, row) for row, system in enumerate(systems)).items():
            self.add(name, {spec: values[rows] for spec, values in stats.items()})

    def scores(self) -> tuple[SystemScore, ...]:
        """Corpus scores, system by system in the order of their first candidates."""
        return tuple(
            SystemScore(
                system=system,
                metric=spec,
                score=self._metrics.corpus(spec, total.sum()),
                n=total.count,
                signature=self._metrics.signatures[spec],
            )
            for system, sums in self._sums.items()
            for spec, total in sums.items()
        )


_OF_SET: Final = 0x9E3779B97F4A7C15
"""Odd factor that keeps equal texts of different sets apart."""


class ReferenceCopies:
    """The candidates that are word for word a reference of their set, but for white space around them.

    Texts are compared by 64 bits of their hash, so that memory grows by eight bytes per reference.

    >>> copies = ReferenceCopies()
    >>> copies.bind(["a b", "c", "a b"], np.array([0, 2, 3]))
    >>> copies.see([" a b", "c", "a"], np.array([0, 1, 1])).tolist(), copies.found, copies.seen
    ([1, 0, 0], 1, 3)
    """

    def __init__(self) -> None:
        self._keys = np.zeros(0, np.uint64)
        self.seen = 0
        """Number of candidates so far."""
        self.found = 0
        """Number of them that are references of their item."""

    def bind(self, texts: Sequence[object], offsets: NDArray[np.int64]) -> None:
        """Take the references of the next candidates.

        Args:
            texts: m texts or lists of tokens, set after set.
            offsets: int64[sets + 1], first text of each set.
        """
        self._keys = np.sort(_keys(texts, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))

    def see(self, texts: Sequence[object], sets: NDArray[np.integer]) -> NDArray[np.int64]:
        """Count the references that each candidate is, and the candidates that are any.

        Args:
            texts: n texts or lists of tokens.
            sets: Integers[n], the set of references for each.

        Returns:
            int64[n].
        """
        keys = _keys(texts, sets)
        first, behind = (np.searchsorted(self._keys, keys, side) for side in ("left", "right"))
        self.seen += len(keys)
        self.found += int(np.count_nonzero(behind > first))
        return np.asarray(behind - first, np.int64)

    @property
    def remark(self) -> str:
        """The number of copies, in words; empty without any."""
        return copies_remark(self.found, self.seen)


def _keys(texts: Iterable[object], sets: NDArray[np.integer]) -> NDArray[np.uint64]:
    """One key per text and set."""
    plain = (hash(text.strip() if isinstance(text, str) else tuple(text)) for text in texts)  # type: ignore[arg-type]
    hashes = np.fromiter(plain, np.int64, len(sets)).view(np.uint64)
    return np.asarray(hashes ^ (sets.astype(np.uint64) * _OF_SET), np.uint64)


def bind_references(
    references: ReferenceTexts,
    tokenizer: Tokenizer,
    *,
    background: DocumentFrequencies | None = None,
    jobs: int = 1,
    allow_han: bool = False,
    keep_texts: bool = False,
    split: bool = True,
    own: bool = False,
    refuse: Refuse | None = None,
    met: Sequence[HanTexts] = (),
) -> References:
    """Tokenize references, and weight them by consensus where that is asked for.

    Args:
        references: The references.
        tokenizer: The tokenizer.
        background: Document frequencies for a similarity with an idf.
        jobs: Number of threads; no number depends on it.
        allow_han: As in `Evaluation`.
        keep_texts: True to keep the texts beside their tokens; see `Metric.reads_texts`.
        split: False to leave the texts whole, if the similarity reads no tokens either; see `Metric.reads_tokens`.
        own: True if a metric has its own tokenizer.
        refuse: Error for a text by its index and the problem.
        met: Counts that see the texts.

    Raises:
        InvalidInput: A text is neither text nor a list of tokens as the first is, or too many are Han texts.
        Undefined: The similarity is CIDEr, and there is a single item.
    """
    refuse = refuse or _refusal("references")
    similarity = references.similarity
    if similarity is not None:
        own = own or bool(similarity.own_tokenizer)
        keep_texts = keep_texts or own or similarity.reads_texts
    if split or (similarity is not None and reads_run_tokens([similarity])):
        tokens = _encode(references.texts, tokenizer, Vocabulary(), jobs, refuse, keep_texts=keep_texts)
    else:
        tokens = _whole(references.texts, Vocabulary(), refuse, own=own)
    for han in met:
        han.see(references.texts)
    for han in () if allow_han else met:
        han.check(refuse)
    weights, items = references.weights, references.items
    bound = References(tokens, references.offsets, weights, items, jobs)  # type: ignore[arg-type]  # None for defaults
    if similarity is not None:
        bound = replace(bound, weights=consensus(bound, similarity, background=background, jobs=jobs))
    return bound


def reads_run_tokens(metrics: Iterable[Metric]) -> bool:
    """True if a metric reads tokens of the tokenizer of the run.

    Args:
        metrics: The metrics.
    """
    return any(metric.reads_tokens and not metric.own_tokenizer for metric in metrics)


def counts(metrics: Iterable[Metric], tokenizer: Tokenizer, what: str, *, split: bool) -> list[HanTexts]:
    """Counts of the texts that a tokenizer is not for, one for each tokenizer that splits them.

    Args:
        metrics: The metrics.
        tokenizer: The tokenizer of the run.
        what: Name of the texts, in the plural.
        split: True if it splits them.
    """
    own = dict.fromkeys(named_tokenizer(each.own_tokenizer) for each in metrics if each.own_tokenizer)
    return [HanTexts(each, what) for each in dict.fromkeys([*([tokenizer] if split else []), *own])]


def check_background(
    background: DocumentFrequencies, metrics: Mapping[str, Metric], tokenizer: Tokenizer, name: str | None = None
) -> None:
    """Refuse document frequencies of another tokenizer than that of the metrics that read them.

    Args:
        background: The document frequencies.
        metrics: The metrics, by spec.
        tokenizer: The tokenizer of the run.
        name: Name of the document frequencies in the message.

    Raises:
        UsageError: They were counted with another tokenizer.
    """
    own = [metric.own_tokenizer for metric in metrics.values() if metric.idf_order]
    for each in dict.fromkeys(own or [""]):
        background.check_tokenizer(named_tokenizer(each) if each else tokenizer, *([name] if name else []))


def weighting_signature(method: str, scale: Scale | None) -> str:
    """Weights method as signatures have it.

    Args:
        method: Name in `postil.data.grades.METHODS`, or ``consensus`` with or without a metric in brackets.
        scale: Scale of the grades, for methods that read it.

    >>> weighting_signature("votes", None), weighting_signature("consensus(rouge-1)", None)
    ('votes', 'consensus(rouge-1(count=clipped,corpus=mean))')
    """
    similarity = similarity_of(method)
    if similarity is not None:
        return f"{NAME}({similarity.signature})"
    return f"{method}|scale:{scale}" if method in METHODS and METHODS[method].needs_scale else method


def _encode(
    texts: Sequence[object],
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    jobs: int,
    refuse: Refuse,
    *,
    keep_texts: bool,
) -> Tokens:
    """Token ids of texts, or of lists of tokens where the first is one."""
    if texts and not isinstance(texts[0], str):
        _check_token_lists(texts, refuse)
        return vocabulary.encode_tokens(texts, keep_texts=keep_texts)  # type: ignore[arg-type]  # checked
    try:
        return vocabulary.encode(texts, tokenizer, jobs, allow_han=True, keep_texts=keep_texts)  # type: ignore[arg-type]  # the kernel checks
    except TypeError:
        _check_texts(texts, refuse)
        raise


def _composed(met: Iterable[HanTexts]) -> bool:
    return any(each.composed for each in met)


def _whole(texts: Sequence[object], vocabulary: Vocabulary, refuse: Refuse, *, own: bool) -> Tokens:
    """Texts without tokens; lists of tokens, where the first is one, are joined by spaces.

    Where a metric has its own tokenizer, such lists keep their tokens.
    """
    if texts and not isinstance(texts[0], str):
        _check_token_lists(texts, refuse)
        if own:
            return vocabulary.encode_tokens(texts, keep_texts=True)  # type: ignore[arg-type]  # checked
        texts = [" ".join(tokens) for tokens in texts]  # type: ignore[arg-type]  # checked
    elif set(map(type, texts)) > {str}:
        _check_texts(texts, refuse)
    return Tokens(np.zeros(0, np.int32), np.zeros(len(texts) + 1, np.int64), vocabulary, list(texts), WHOLE)  # type: ignore[arg-type]  # checked


def _check_texts(texts: Sequence[object], refuse: Refuse) -> None:
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise refuse(i, f"expected a text, as the first is one, got {type(text).__name__}") from None


def _check_token_lists(texts: Sequence[object], refuse: Refuse) -> None:
    for i, tokens in enumerate(texts):
        if not isinstance(tokens, list | tuple | np.ndarray):
            wanted = "a list of tokens, as the first is one" if i else "a text or a list of tokens"
            raise refuse(i, f"expected {wanted}, got {type(tokens).__name__}")
        for token in tokens:
            if not isinstance(token, str):
                raise refuse(i, f"expected tokens of type str, got {type(token).__name__}")


def _refusal(where: str) -> Refuse:
    return lambda i, problem: InvalidInput(problem, where=where, line=i + 1)
