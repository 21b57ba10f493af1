"""BERTScore: greedy matches of tokens by their vectors in context."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np

from postil.encoders.contextual import ContextualEncoder, contextual_encoder
from postil.errors import InvalidInput, UsageError
from postil.kernel import greedy_matches
from postil.metrics.base import Metric, Scorer
from postil.metrics.reference_aggregation import SimilarityScorer, settle_over
from postil.metrics.references import Matches, References, blocks
from postil.metrics.vectors import CutTexts, UnitIdf, check_path, silent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.encoders.base import Encoded
    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.vectors import WeightedUnits

__all__ = ["BertScore"]

TOGETHER: Final = 1 << 18
"""Number of characters of candidates whose vectors are in memory at a time."""


@dataclass(frozen=True, kw_only=True)
class BertScore(Metric):
    """BERTScore (Zhang et al. 2020), as bert-score 0.3.13 computes it.

    With unit vectors x_i of the candidate's tokens and y_j of the reference's, from one layer of a network, and
    weights a, r of the tokens: ``P = sum_i a_i max_j x_i . y_j / sum_i a_i``, ``R = sum_j r_j max_i x_i . y_j / sum_j
    r_j`` and ``F = 2 P R / (P + R)``. Where one is 0 or below and the other is not, F is the lower one, for the
    quotient has a pole there. Special tokens weigh 0, but can be matched. P, R and F of an empty text, and of one
    whose tokens all weigh 0, are 0. Of several references each part takes its own maximum, as the program has it.
    With ``w-`` a reference's weight multiplies what is positive. Higher is better; corpus: mean of the items.

    Args:
        model: Local folder of a model; see `postil.encoders.contextual.contextual_encoder`.
        layer: Number of layers to run; by default ``layer`` of the folder's ``metadata.json``.
        idf: True to weigh tokens by ``ln((M + 1) / (df + 1))``, df the number of the M reference texts with the token.
        part: ``f``, ``p`` or ``r``.
        baseline: File of the program's form, with the columns LAYER, P, R and F: a number b for each layer and part,
            which turns x into ``(x - b) / (1 - b)``, for each reference. With ``w-`` an empty candidate stays at 0.
        over: Reference aggregation; see `postil.metrics.reference_aggregation.Over`.
        tau: Width of ``over=kernel``.

    >>> from postil.metrics.spec import parse_metric
    >>> print(parse_metric("w-bertscore(model=bert,layer=9,over=near)"))
    w-bertscore(model=bert,layer=9,idf=false,part=f,over=near)
    """

    model: str | None = None
    layer: int | None = None
    idf: bool = False
    part: Literal["f", "p", "r"] = "f"
    baseline: str | None = None
    over: str = "max"
    tau: float | None = None

    low: ClassVar[float] = -1.0
    reads_texts: ClassVar[bool] = True
    name: ClassVar[str] = "bertscore"
    aggregation: ClassVar[Literal["mean", "sums"]] = "mean"
    reads_tokens: ClassVar[bool] = False

    def __post_init__(self) -> None:
        settle_over(self)
        check_path(self.name, "model", self.model)
        check_path(self.name, "baseline", self.baseline)

    @property
    def reads_all_references(self) -> bool:
        """See `Metric.reads_all_references`."""
        return self.idf

    @property
    def signature(self) -> str:
        """See `Specified.signature`: the model by content, its layer, and the number of the baseline."""
        if self.model is None:
            return str(self)
        encoder = self.encoder()
        baseline = None if self.baseline is None else repr(self.baseline_number(encoder.layer))
        return str(replace(self, model=encoder.name, layer=encoder.layer, baseline=baseline))

    def encoder(self) -> ContextualEncoder:
        """The model, opened.

        Raises:
            UsageError, InvalidInput, MissingExtra: As `contextual_encoder`; or no folder is named.
        """
        if self.model is None:
            raise UsageError("bertscore needs a model: bertscore(model=FOLDER,layer=N), with a local folder")
        return contextual_encoder(self.model, self.layer)

    def baseline_number(self, layer: int) -> float:
        """Baseline of the layer and part; 0 without a file.

        Args:
            layer: The layer.

        Raises:
            InvalidInput: The file is not of that form, or has no row for the layer.
        """
        return 0.0 if self.baseline is None else _baseline(self.baseline, layer, self.part.upper())

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.bind`."""
        return _BertScorer(self, references)


class _BertScorer(SimilarityScorer):
    """BERTScore, bound to references, whose tokens are encoded once."""

    metric: BertScore

    def __init__(self, metric: BertScore, references: References) -> None:
        super().__init__(metric, references)
        self._encoder = metric.encoder()
        self._baseline = metric.baseline_number(self._encoder.layer)
        self._encoded = references.encode(self._encoder)
        self._idf: UnitIdf | None = None
        if metric.idf:
            # Texts as often as they are there, as the program counts them.
            every = np.arange(len(self._encoded.texts), dtype=np.int32)
            key = ("bertscore-idf", self._encoder.signature)
            self._idf = references.fact(key, lambda: UnitIdf.of(self._encoded, every))
        self._side = self._weighted(self._encoded)
        self._cut = CutTexts()
        self._cut.count("references", self._encoded)

    @property
    def notes(self) -> tuple[str, ...]:
        """See `Scorer.notes`."""
        return (f"idf:references/{self._idf.texts}", f"documents:{self._idf.documents}") if self._idf else ()

    def remarks(self) -> list[str]:
        """See `Scorer.remarks`."""
        return self._cut.remarks(self.metric.model)

    def similarities(self, matches: Matches) -> NDArray[np.float64]:
        """See `SimilarityScorer.similarities`."""
        p, r, _ = self._table(matches).T
        found = p if self.metric.part == "p" else r
        if self.metric.part == "f":
            # Between parts of different signs the harmonic mean has a pole.
            found = np.divide(2 * p * r, p + r, out=np.minimum(p, r), where=p * r > 0)
        return np.asarray((found - self._baseline) / (1 - self._baseline))

    def empty(self, matches: Matches) -> NDArray[np.bool_]:
        """See `SimilarityScorer.empty`; without weights the program rescales the 0 of an empty candidate as well."""
        bounds, _ = matches.references.pairs(matches.sets)
        return np.asarray(self._table(matches)[bounds[:-1], 2] > 0) & self.metric.weighted

    def _table(self, matches: Matches) -> NDArray[np.float64]:
        """P and R of each pair, and 1 where all tokens of the candidate weigh 0."""
        return matches.once(("bertscore", self._encoder.signature, self.metric.idf), lambda: self._compare(matches))

    def _compare(self, matches: Matches) -> NDArray[np.float64]:
        bounds, references = matches.references.pairs(matches.sets)
        out = np.zeros((len(references), 3))
        rights = self._encoded.texts[references]
        mute = silent(self._side)
        characters = np.cumsum([0, *map(len, matches.candidates.raw_texts())])
        for begin, end in blocks(characters, TOGETHER):
            encoded = self._encoder.encode(matches.candidates.take(np.arange(begin, end)), matches.jobs)
            self._cut.count("candidates", encoded)
            side = self._weighted(encoded)
            nothing, inside = silent(side), slice(bounds[begin], bounds[end])
            lefts = np.repeat(encoded.texts, np.diff(bounds[begin : end + 1]))
            # Equal pairs of texts are compared once.
            distinct, place = np.unique(lefts * len(mute) + rights[inside], return_inverse=True)
            left, right = (each.astype(np.int32) for each in np.divmod(distinct, max(1, len(mute))))
            found = greedy_matches(side, self._side, (left, right), matches.jobs)
            found[nothing[left] | mute[right]] = 0.0
            out[inside] = np.column_stack([found[place], nothing[lefts]])
        return out

    def _weighted(self, encoded: Encoded) -> WeightedUnits:
        weights = np.ones(len(encoded.ids)) if self._idf is None else self._idf.of_units(encoded.ids)
        if encoded.special is not None:
            weights[encoded.special] = 0.0
        return encoded.vectors, encoded.rows, encoded.offsets, weights


def _baseline(file: str, layer: int, column: str) -> float:
    """The number of a layer in a file of baselines."""
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"no readable baseline: {error}", where=file) from error
    names, *rows = list(csv.reader(lines)) or [[]]
    if names != ["LAYER", "P", "R", "F"]:
        raise InvalidInput(f"expected the columns LAYER,P,R,F, got {','.join(names)}", where=file, line=1)
    for line, row in enumerate(rows, start=2):
        try:
            values = dict(zip(names, map(float, row), strict=True))
        except ValueError as error:
            raise InvalidInput(f"expected four numbers, got {','.join(row)}", where=file, line=line) from error
        if values["LAYER"] == layer:
            if not values[column] < 1 or math.isinf(values[column]):
                raise InvalidInput(
                    f"expected a number below 1, got {values[column]}", where=file, line=line, field=column
                )
            return values[column]
    raise InvalidInput(f"no row for layer {layer}", where=file)
