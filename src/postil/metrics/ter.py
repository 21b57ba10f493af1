"""Translation edit rate, by the package sacrebleu."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from postil.errors import UsageError, needs
from postil.metrics.base import EachPairScorer, Metric, Scorer
from postil.text.sacrebleu_tokenizers import sacrebleu_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.references import Matches, References

__all__ = ["Ter"]


@dataclass(frozen=True, kw_only=True)
class Ter(Metric):
    """TER: edits that turn the candidate into the closest reference, per word of the references.

    An edit inserts, deletes or replaces a word, or shifts a run of words (Snover et al. 2006). Of several references
    the fewest edits count, divided by their mean length. Corpus: edits and lengths are summed. sacreBLEU's package
    computes it, and the numbers are its own, divided by 100. The texts are split at white space, whatever the
    tokenizer; parameters are named as in sacreBLEU's signature.

    From 0 up, mostly below 1; **lower is better**. An empty candidate scores 1, as all its words are missing; of empty
    references a text scores 1, an empty one 0.

    There is no ``w-ter``: edits count against a candidate, so that a lower weight would make a reference better.

    Args:
        case: ``lc``: lower-cased texts are compared; ``mixed``: the texts as they are.
        norm: True to separate punctuation from words, as Tercom does.
        punct: False to remove punctuation.
        asian: True to do so in Chinese and Japanese as well, where ``norm`` makes each character a word.

    Raises:
        UsageError: It is asked for with ``w-``.
        MissingExtra: On scoring, sacrebleu is not installed.

    One of four words differs, and none has to move:

    >>> import postil
    >>> postil.score(["a b x d"], [["a b c d"]], metrics=["ter"]).corpus
    {'ter': 0.25}
    """

    case: Literal["lc", "mixed"] = "lc"
    norm: bool = False
    punct: bool = True
    asian: bool = False
    better: ClassVar[Literal["high", "low"]] = "low"
    high: ClassVar[float] = math.inf
    reads_texts: ClassVar[bool] = True
    reads_tokens: ClassVar[bool] = False
    name: ClassVar[str] = "ter"

    def __post_init__(self) -> None:
        if self.weighted:
            raise UsageError(
                "w-ter: edits count against a text, so a lower weight would make a bad reference the best one; take "
                "ter without weights, or w-bleu or w-chrf"
            )

    def score(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Metric.score`; the statistics are edits and mean length of the references."""
        edits, length = stats.T
        return np.asarray(np.divide(edits, length, out=(edits > 0).astype(np.float64), where=length > 0))

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.against`."""
        return _TerScorer(self, references)


class _TerScorer(EachPairScorer):
    metric: Ter

    def __init__(self, metric: Ter, references: References) -> None:
        super().__init__(metric, references)
        with needs("metric 'ter'", "sacrebleu"):
            made = import_module("sacrebleu.metrics").TER
            self._edits = import_module("sacrebleu.metrics.lib_ter").translation_edit_rate
        self._cut = made(
            normalized=metric.norm,
            no_punct=not metric.punct,
            asian_support=metric.asian,
            case_sensitive=metric.case == "mixed",
        ).tokenizer
        self._words = self._split(references.tokens.raw_texts())

    @property
    def notes(self) -> tuple[str, ...]:
        return (f"sacrebleu:{sacrebleu_version()}",)

    def pairs(self, matches: Matches) -> NDArray[np.float64]:
        """Columns: edits, and length of the reference."""
        bounds, references = matches.references.pairs(matches.sets)
        own = self._split(matches.candidates.raw_texts())
        candidates = np.repeat(np.arange(len(own)), np.diff(bounds)).tolist()
        pairs = zip(candidates, references.tolist(), strict=True)
        found = [self._edits(own[candidate], self._words[reference]) for candidate, reference in pairs]
        return np.array(found, np.float64).reshape(len(references), 2)

    def joined(
        self, pairs: NDArray[np.float64], _weights: NDArray[np.float64], bounds: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        if len(bounds) < 2:
            return np.zeros((0, 2))
        fewest = np.minimum.reduceat(pairs[:, 0], bounds[:-1])
        return np.column_stack([fewest, np.add.reduceat(pairs[:, 1], bounds[:-1]) / np.diff(bounds)])

    def _split(self, texts: Sequence[str]) -> list[list[str]]:
        return [self._cut(text.rstrip()).split() for text in texts]
