"""Metrics for EleutherAI's lm-evaluation-harness (`lm_eval`), as corpus scores.

The harness computes a value per document and hands the list of values to an aggregation. Here a value is a
`ScoredText`, and the aggregation `corpus_score` scores them all together, so that BLEU pools its n-grams and CIDEr has
its document frequencies. Importing this module registers the metric ``postil`` and the aggregation ``postil``. There
are no standard errors: the harness has them for a list of its own functions.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.data.explain import shown
from postil.errors import InvalidInput, UsageError
from postil.metrics.metric_set import DEFAULT_METRICS, parse_all
from postil.scoring.calls import score

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ScoredText", "corpus_score", "postil", "scored_texts"]

NAME: Final = "postil"
"""Name of the metric and of the aggregation in the harness's registries."""


class ScoredText(NamedTuple):
    """A generated text with its references: the value of one document and metric.

    Args:
        text: The generated text.
        references: Its references.
        weights: A weight per reference; None if they have none.
        metric: Spec of the metric.
        tokenizer: Name of the tokenizer.
    """

    text: str
    references: tuple[str, ...]
    weights: tuple[float, ...] | None
    metric: str
    tokenizer: str


def scored_texts(
    text: str,
    references: Sequence[str],
    weights: Sequence[float] | None = None,
    *,
    metrics: Sequence[str],
    tokenizer: str = "words",
) -> dict[str, ScoredText]:
    """Values of one document, as ``process_results`` of a task returns them.

    Args:
        text: The generated text.
        references: The references of the document.
        weights: A weight in [0, 1] per reference; metrics with ``w-`` need them.
        metrics: Specs of metrics.
        tokenizer: Name in `postil.text.tokenizers.TOKENIZERS`.

    Returns:
        A value per metric, by spec.

    Raises:
        UnknownName, UsageError: A metric does not exist, or is a function without a name.
        InvalidInput: There is no reference, or there are not as many weights.

    >>> found = scored_texts("a b c", ["a b d"], [0.5], metrics=["rouge-1", "w-rouge-1"])
    >>> {metric: corpus_score([value]) for metric, value in found.items()}
    {'rouge-1': 0.6666666666666666, 'w-rouge-1': 0.3333333333333333}
    """
    if isinstance(references, str) or not references:
        raise InvalidInput("expected at least one text, as a list", where="references")
    if weights is not None and len(weights) != len(references):
        raise InvalidInput(f"expected {len(references)}, one per reference, got {len(weights)}", where="weights")
    specs = [metrics] if isinstance(metrics, str) else metrics
    for spec in specs:
        if not isinstance(spec, str):
            problem = f"expected a spec, got {shown(spec)}; postil.register_metric gives a function a name"
            raise UsageError(f"metrics: {problem}")
    given = None if weights is None else tuple(weights)
    return {spec: ScoredText(text, tuple(references), given, spec, tokenizer) for spec in parse_all(specs)}


def corpus_score(values: Sequence[ScoredText]) -> float:
    """Corpus score of the values of one metric: the aggregation ``postil``.

    Args:
        values: Value of each document.

    Raises:
        PostilError: As `postil.score`.

    >>> corpus_score([ScoredText(text, ("a b",), None, "rouge-1", "words") for text in ("a b", "c b")])
    0.75
    """
    first = values[0]
    return score(
        [value.text for value in values],
        [list(value.references) for value in values],
        weights=None if first.weights is None else [list(value.weights or ()) for value in values],
        metrics=[first.metric],
        tokenizer=first.tokenizer,
    ).corpus[first.metric]


def postil(
    *,
    references: Sequence[str],
    predictions: Sequence[str],
    metrics: Sequence[str] = DEFAULT_METRICS,
    tokenizer: str = "words",
) -> dict[str, ScoredText]:
    """Values of one document with one reference: the metric ``postil`` of a task's ``metric_list``.

    Args:
        references: The document's target, in a list.
        predictions: The generated text, in a list.
        metrics: Specs of metrics.
        tokenizer: Name in `postil.text.tokenizers.TOKENIZERS`.

    Raises:
        UnknownName, UsageError: A metric does not exist.

    >>> list(postil(references=["a b"], predictions=["a c"], metrics=["meteor", "rouge-l"]))
    ['meteor', 'rouge-l']
    """
    return scored_texts(predictions[0], references, metrics=metrics, tokenizer=tokenizer)


if find_spec("lm_eval") is not None:
    from lm_eval.api.registry import aggregation_registry, register_aggregation, register_metric

    if NAME not in aggregation_registry:
        register_aggregation(NAME)(corpus_score)
        register_metric(metric=NAME, higher_is_better=True, aggregation=NAME)(postil)
