"""`postil.score` and `postil.consensus_weights`: columns in, a result or weights out."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.columns import as_list
from postil.app.reference_columns import ReferenceColumns
from postil.errors import InvalidInput
from postil.metrics.consensus import NAME, SIMILARITY, similarity_of
from postil.metrics.evaluation import CHUNK, Batch, Evaluation, SystemTotals, bind_references
from postil.metrics.metric_set import DEFAULT_METRICS, lowest_weight, parse_all
from postil.records.arguments import check_arguments
from postil.records.results import ScoreResult
from postil.text.tokenizers import tokenizer as named_tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.app.columns import Column
    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.controls import ControlOptions
    from postil.metrics.own import Metrics

__all__ = ["SYSTEM", "consensus_weights", "score"]

SYSTEM: Final = "candidates"
"""Name of the system in the rows of a result whose candidates came without one."""


def score(
    candidates: Column,
    references: Column,
    *,
    weights: Column | None = None,
    metrics: Metrics = DEFAULT_METRICS,
    tokenizer: str = "words",
    items: Column | None = None,
    background: DocumentFrequencies | None = None,
    controls: ControlOptions | None = None,
    jobs: int = 1,
) -> ScoreResult:
    """Score candidates against weighted references.

    Args:
        candidates: n texts, or n lists of tokens. Lists, NumPy, Arrow, Polars and pandas columns are taken as they are.
        references: References of each candidate, any number of them: n lists of texts, or of lists of tokens. A list
            that stands at several places (the same object) is tokenized once.
        weights: The shape of ``references``, numbers in [0, 1] (for delta-bleu in [-1, 1]);
            ``postil.Scale(1, 5).weights(grades)`` makes them from grades. Metrics with ``w-`` need them.
        metrics: Specs such as ``"meteor"`` or ``"w-rouge-l(reading=union)"``; see `postil.metrics.spec`. A function
            of a candidate and its references is a metric as well; see `postil.register_metric`.
        tokenizer: Name in `postil.text.TOKENIZERS`. Lists of tokens are taken as they are.
        items: Item of each candidate, so that the references of one item count once for CIDEr's document frequencies,
            whether several systems answer it or its references differ (leave-one-out). By default candidates with the
            same list of references share an item.
        background: Saved document frequencies in place of those of ``references``.
        controls: Controls of the ``w-`` metrics to add to the item scores, under names such as
            ``control:nearest(w-meteor)``; see `postil.metrics.controls.Controls`.
        jobs: Number of threads. The numbers do not depend on it.

    Returns:
        The result, with ``.corpus``, ``.items`` and ``.signatures`` by spec.

    Warns:
        UserWarning: Some texts are Han text and meet the ``words`` tokenizer, or the data show a sign against
            ``over=near``; see `postil.metrics.near`.

    Raises:
        UnknownName: A metric or tokenizer does not exist; the message offers the nearest.
        UsageError: An argument is of another kind.
        InvalidInput: Shapes do not fit, a candidate has no references, a weight is out of range, or more than a tenth
            of the candidates or references are Han text and meet the ``words`` tokenizer (of fewer a warning tells).
            ``line`` counts candidates from 1.
        Undefined: CIDEr of a single item without a background.

    >>> result = score(["a b c"], [["a b c d", "x"]], weights=[[0.5, 1.0]], metrics=["rouge-l", "w-rouge-l"])
    >>> result.corpus["w-rouge-l"] == result.corpus["rouge-l"] / 2
    True
    """
    check_arguments(score, locals())
    several = [metrics] if isinstance(metrics, str) or callable(metrics) else metrics
    chosen = parse_all(several, weighted=weights is not None)
    if any(metric.needs_weights for metric in chosen.values()) and weights is None:
        raise InvalidInput("missing; a w- metric needs a weight for every reference", where="weights")
    named_tokenizer(tokenizer)  # an unknown one is reported before the columns are read
    texts = as_list(candidates, "candidates")
    if not texts:
        raise InvalidInput("expected at least one candidate, got none", where="candidates")
    columns = ReferenceColumns.gather(len(texts), references, weights, items, lowest_weight(chosen, -1.0))
    evaluation = Evaluation(
        chosen,
        columns.references,
        tokenizer=tokenizer,
        background=background,
        controls=controls,
        jobs=jobs,
        tokenized=not isinstance(texts[0], str) and not isinstance(columns.references.texts[0], str),
        refuse=columns.refuse,
    )
    totals, values = SystemTotals(evaluation.metrics), dict[str, list["NDArray[np.float64]"]]()
    parts = range(0, len(texts), CHUNK)
    for scored in evaluation.measure(
        Batch(texts[begin : begin + CHUNK], columns.sets[begin : begin + CHUNK], begin) for begin in parts
    ):
        totals.add(SYSTEM, scored.stats)
        for name, part in (*scored.item_scores(), *scored.control_scores()):
            values.setdefault(name, []).append(part)
    for remark in evaluation.remarks:
        warnings.warn(remark, stacklevel=2)
    return ScoreResult(
        scores=totals.scores(),
        aggregation="corpus",
        items={name: np.concatenate(found) for name, found in values.items()},
        item_signatures=evaluation.controls.signatures if evaluation.controls else {},
    )


def consensus_weights(
    references: Column, *, tokenizer: str = "words", metric: str = SIMILARITY, jobs: int = 1
) -> list[list[float]]:
    """Weight ungraded references by their similarity to the others of their row.

    A reference's mean similarity to the others, divided by the highest of its row; where no reference is like another,
    or there is only one, all have 1.

    Args:
        references: n lists of texts, or of lists of tokens, as ``postil.score`` takes them. A list that stands at
            several places (the same object) is tokenized once.
        tokenizer: Name in `postil.text.TOKENIZERS`. Lists of tokens are taken as they are.
        metric: The similarity, a spec without ``w-``.
        jobs: Number of threads. The numbers do not depend on it.

    Returns:
        The shape of ``references``, numbers in [0, 1].

    Raises:
        UnknownName, UsageError: A metric or tokenizer does not exist, or the metric reads weights.
        InvalidInput: A row is empty or no list of texts, or more than a tenth of the references are Han text and meet
            the ``words`` tokenizer (of fewer a warning tells). ``line`` counts rows from 1.
        Undefined: CIDEr of a single row.

    >>> consensus_weights([["a b", "a c", "d b"], ["e"]])
    [[1.0, 0.5, 0.5], [1.0]]
    """
    check_arguments(consensus_weights, locals())
    similarity = similarity_of(f"{NAME}({metric})")
    chosen = named_tokenizer(tokenizer)
    rows = as_list(references, "references")
    if not rows:
        return []
    columns = ReferenceColumns.gather(len(rows), rows)
    texts = replace(columns.references, similarity=similarity)
    bound, remark = bind_references(texts, chosen, jobs=jobs, refuse=columns.refuse)
    if remark:
        warnings.warn(remark, stacklevel=2)
    of_set = np.split(bound.weights, bound.offsets[1:-1])
    return [of_set[number].tolist() for number in columns.sets]
