"""Candidates against references, batch by batch, here or on an engine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from postil.app.score import encode
from postil.errors import InvalidInput
from postil.metrics.panel import Panel
from postil.metrics.references import References
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from postil.metrics.background import Background
    from postil.metrics.base import Metric

__all__ = ["Batch", "Bench"]


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
    """

    texts: Sequence[str]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    metrics: Mapping[str, Metric]
    background: Background | None
    tokenizer: str

    def __call__(self, batch: Batch) -> dict[str, NDArray[np.float64]]:
        """Score a batch.

        Args:
            batch: The candidates.

        Returns:
            For each spec the statistics of each candidate, float64[n, k].

        Raises:
            InvalidInput: A text cannot be split; ``line`` counts the texts of the batch from 1.
        """
        vocabulary, panel = self._bound
        cut = named_tokenizer(self.tokenizer)
        encoded = encode(batch.texts, cut, vocabulary.branch(), 1, _in_batch)
        return panel.measure(encoded, batch.items)

    @cached_property
    def _bound(self) -> tuple[Vocabulary, Panel]:
        vocabulary = Vocabulary()
        cut = named_tokenizer(self.tokenizer)
        tokens = encode(self.texts, cut, vocabulary, 1, _in_batch)
        bound = References(tokens, self.offsets, self.weights)
        return vocabulary, Panel(self.metrics, bound, background=self.background, tokenizer=cut.signature)


def _in_batch(place: int, problem: str) -> InvalidInput:
    return InvalidInput(problem, line=place + 1)
