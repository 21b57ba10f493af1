"""Decoding options of generators."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from postil.data.arguments import check_fields
from postil.errors import UsageError, check_least
from postil.messages import Setting

__all__ = ["DecodingOptions"]


@dataclass(frozen=True, slots=True)
class DecodingOptions:
    """Options of decoding.

    Args:
        strategy: ``beam``: the hypothesis with the highest score (see `length_penalty`) that beam search finds, which
            need not be the most probable text; ``greedy``: the most probable token at each step; ``nucleus``: top-p
            sampling (Holtzman et al. 2020).
        beam_size: Number of hypotheses kept per beam.
        length_penalty: Length penalty exponent: the score is log P / n ** length_penalty, n counting the tokens and the
            end token. So 1 maximizes the mean log-probability per token, and 0 log P itself, which favors short texts.
        top_p: Top-p threshold for nucleus sampling.
        temperature: Sampling temperature; lower is more deterministic.
        no_repeat_ngram_size: No n-gram of this size occurs twice in a text; 0 allows repetition.
        min_words: Minimum number of words.
        max_words: Maximum number of words.
        seed: Seed of the sampling.
    """

    strategy: Literal["beam", "greedy", "nucleus"] = "beam"
    beam_size: int = 5
    length_penalty: float = 1.0
    top_p: float = 0.9
    temperature: float = 1.0
    no_repeat_ngram_size: int = 3
    min_words: int = 3
    max_words: int = 50
    seed: int = 20181

    def __post_init__(self) -> None:
        check_fields(self)
        if self.strategy not in ("beam", "greedy", "nucleus"):
            raise UsageError(
                "{strategy}: expected beam, greedy or nucleus, got {got}",
                strategy=Setting("strategy"),
                got=self.strategy,
            )
        check_least(0, seed=self.seed)
        if self.beam_size < 1 or self.no_repeat_ngram_size < 0 or not 1 <= self.min_words <= self.max_words:
            raise UsageError(
                "expected beam_size from 1, no_repeat_ngram_size from 0, and min_words from 1 to max_words"
            )
        if not (0 <= self.length_penalty < math.inf and 0 < self.top_p <= 1 and 0 < self.temperature < math.inf):
            raise UsageError("expected length_penalty from 0, top_p above 0 to 1, and a temperature above 0")

    @property
    def width(self) -> int:
        """Number of hypotheses kept per beam; 1 unless `strategy` is ``beam``."""
        return self.beam_size if self.strategy == "beam" else 1
