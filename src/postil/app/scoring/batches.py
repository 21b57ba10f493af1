"""Candidates against references, batch by batch, here or on an engine."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from postil.errors import InvalidInput
from postil.metrics.consensus import consensus
from postil.metrics.controls import Controls
from postil.metrics.metric_set import Panel
from postil.metrics.near import NearSigns
from postil.metrics.references import References
from postil.text.han import HanTexts
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from postil.app.progress import Say
    from postil.app.scoring.files import ScoringOptions
    from postil.app.scoring.references import Corpus
    from postil.engine import Engine
    from postil.metrics.background import Background
    from postil.metrics.base import Metric
    from postil.records.rows import Candidate
    from postil.text.tokenizers import Tokenizer
    from postil.text.tokens import Tokens

__all__ = ["Batch", "Bench", "Bound", "Slice", "measured", "settle"]


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Candidates that are scored together.

    Args:
        texts: n texts.
        items: int32[n], the item of each.
    """

    texts: Sequence[str]
    items: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Bench:
    """All that scoring a batch needs; it can be sent to another process, which binds the references anew.

    Args:
        texts: m references, item after item.
        offsets: int64[items + 1]; item i has the references ``offsets[i]:offsets[i + 1]``.
        weights: float64[m].
        metrics: Specs and metrics.
        background: Document frequencies, where they do not come from the references.
        tokenizer: Its name.
        signatures: For each spec the metric's signature where the command runs.
    """

    texts: Sequence[str]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    metrics: Mapping[str, Metric]
    background: Background | None
    tokenizer: str
    signatures: Mapping[str, str]

    def __call__(self, batch: Batch) -> dict[str, NDArray[np.float64]]:
        """Score a batch.

        Args:
            batch: The candidates.

        Returns:
            For each spec the statistics of each candidate, float64[n, k].

        Raises:
            InvalidInput: A metric reads a file that is missing here, or is another one than where the command runs.
        """
        vocabulary, panel = self._bound
        cut = named_tokenizer(self.tokenizer)
        encoded = vocabulary.branch().encode(batch.texts, cut, allow_han=True)
        return panel.measure(encoded, batch.items)

    @cached_property
    def _bound(self) -> tuple[Vocabulary, Panel]:
        for spec, metric in self.metrics.items():
            if metric.signature != self.signatures[spec]:
                problem = f"{spec}: the file is not the same on every machine; copy it to all of them"
                raise InvalidInput(problem, where="metrics")
        vocabulary = Vocabulary()
        cut = named_tokenizer(self.tokenizer)
        tokens = vocabulary.encode(self.texts, cut, allow_han=True)
        bound = References(tokens, self.offsets, self.weights)
        return vocabulary, Panel(self.metrics, bound, background=self.background, tokenizer=cut.signature)


@dataclass(frozen=True, eq=False, slots=True)
class Slice:
    """Some candidates of the file.

    Args:
        rows: n candidates.
        items: int32[n], the item of each.
        first: How many candidates came before.
    """

    rows: Sequence[Candidate]
    items: NDArray[np.int32]
    first: int

    @property
    def texts(self) -> list[str]:
        """What they say."""
        return [row.text for row in self.rows]


@dataclass(frozen=True, eq=False, slots=True)
class Bound:
    """References as numbers, and what scores candidates against them; `of` makes it.

    Args:
        corpus: The references; their texts are let go where no engine needs them.
        vocabulary: Their words.
        references: The references.
        panel: The metrics, bound to them.
        controls: The controls of the weighted metrics, if they are asked for.
        near: What in references and candidates speaks against ``over=near``.
        cut: How texts are split.
    """

    corpus: Corpus
    vocabulary: Vocabulary
    references: References
    panel: Panel
    controls: Controls | None
    near: NearSigns
    cut: Tokenizer

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        metrics: Mapping[str, Metric],
        options: ScoringOptions,
        *,
        background: Background | None,
        say: Say,
    ) -> Bound:
        """Bind metrics to references.

        Args:
            corpus: The references.
            metrics: Specs and metrics.
            options: What was asked for.
            background: Document frequencies, where they do not come from the references.
            say: Takes remarks for people.

        Raises:
            InvalidInput: Too many references are Han text, and the tokenizer is ``words``.
            Undefined: CIDEr of a single item without a background.
        """
        cut = named_tokenizer(options.tokenizer)
        vocabulary = Vocabulary()
        tokens = vocabulary.encode(corpus.texts, cut, options.jobs, allow_han=True)
        han = HanTexts(cut, "references")
        han.see(corpus.texts)
        settle(han, options, corpus.refuse, say)
        if options.engine == "local":
            corpus.texts.clear()
        bound = References(tokens, corpus.offsets, corpus.weights)
        if corpus.similarity is not None:
            weights = consensus(bound, corpus.similarity, background=background, jobs=options.jobs)
            bound = replace(bound, weights=weights)
        panel = Panel(metrics, bound, background=background, tokenizer=cut.signature, weights=corpus.how)
        controls = Controls(panel, bound, options.controls) if options.controls else None
        return cls(corpus, vocabulary, bound, panel, controls, NearSigns(metrics, bound), cut)

    def encoded(self, texts: Sequence[str], jobs: int) -> Tokens:
        """Candidates as numbers, for a while.

        Args:
            texts: The candidates.
            jobs: Threads.
        """
        return self.vocabulary.branch().encode(texts, self.cut, jobs, allow_han=True)


def measured(
    bound: Bound, slices: Iterator[Slice], engine: Engine | None, options: ScoringOptions
) -> Iterator[tuple[Slice, dict[str, NDArray[np.float64]]]]:
    """Score candidates slice by slice.

    Args:
        bound: What scores them.
        slices: The candidates.
        engine: Where it is done; None for here.
        options: What was asked for.

    Yields:
        Each slice, and for each spec the statistics of its candidates, float64[n, k].
    """
    if engine is None:
        for part in slices:
            yield part, bound.panel.measure(bound.encoded(part.texts, options.jobs), part.items, options.jobs)
        return
    bench = Bench(
        bound.corpus.texts,
        bound.references.offsets,
        bound.references.weights,
        bound.panel.metrics,
        bound.panel.background,
        options.tokenizer,
        {spec: metric.signature for spec, metric in bound.panel.metrics.items()},
    )
    sent: deque[Slice] = deque()

    def batches() -> Iterator[Batch]:
        for part in slices:
            sent.append(part)
            yield Batch(part.texts, part.items)

    for stats in engine.map(bench, batches()):
        yield sent.popleft(), stats


def settle(han: HanTexts, options: ScoringOptions, refuse: Callable[[int, str], InvalidInput], say: Say) -> None:
    """Refuse Han texts where they are many and not allowed, else tell of them.

    Args:
        han: What was met.
        options: Whether they are allowed.
        refuse: Makes the error for a text by its place.
        say: Takes remarks for people.

    Raises:
        InvalidInput: They are too many.
    """
    if not options.allow_han:
        han.check(refuse)
    if han.remark:
        say(han.remark)
