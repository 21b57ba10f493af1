"""Metric module for Hugging Face `evaluate`.

`evaluate.load(path())` loads it without a network: it copies this file into its cache of modules and runs the copy.
Weights are an argument of ``compute``, and an input in one configuration alone, since `evaluate` demands every input of
every call.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from postil.errors import InvalidInput, UsageError
from postil.metrics.metric_set import DEFAULT_METRICS
from postil.scoring.calls import score

if TYPE_CHECKING:
    from postil.data.frames import Column
    from postil.metrics.own import Metrics

__all__ = ["corpus_scores", "path"]

NAMES: Final = {"candidates": "predictions", "weights": "reference_weights"}
"""Inputs of `evaluate` by the argument of `postil.score`, where the names differ."""

WEIGHTED: Final = "weighted"
"""Configuration whose inputs are predictions, references and their weights."""

DESCRIPTION: Final = """\
Reference-based metrics of postil: BLEU, METEOR, ROUGE, CIDEr and others, each in a form that counts the quality of
every reference (w-meteor) and in its well-known form.
"""
INPUTS: Final = """
Args:
    predictions: n texts.
    references: n texts, or n lists of texts.
    reference_weights: Weights in [0, 1] in the shape of references; metrics with `w-` need them. In the configuration
        "weighted" they are an input like references, for `add` and `add_batch`.
    metrics: Specs such as "meteor" or "w-rouge-l(reading=union)"; by default those given to `load`.
    tokenizer: Name of postil's tokenizer, likewise.
    items: Item of each prediction, where several predictions answer one item (for CIDEr's document frequencies).
Returns:
    The corpus score of each metric, by spec.
"""


def path() -> str:
    """Path of the metric module, for `evaluate.load`.

    >>> path().endswith("evaluate.py")
    True
    """
    return __file__


def corpus_scores(
    predictions: Column,
    references: Column,
    reference_weights: Column | None = None,
    *,
    metrics: Metrics = DEFAULT_METRICS,
    tokenizer: str = "words",
    items: Column | None = None,
) -> dict[str, float]:
    """Score predictions as the metric module does.

    Args:
        predictions: n texts.
        references: n texts, or n lists of texts.
        reference_weights: Weights in [0, 1] in the shape of ``references``.
        metrics: Specs of metrics, or functions; see `postil.score`.
        tokenizer: Name in `postil.text.tokenizers.TOKENIZERS`.
        items: Item of each prediction; see `postil.score`.

    Returns:
        The corpus score of each metric, by spec.

    Raises:
        PostilError: As `postil.score`.

    >>> corpus_scores(["a b c"], ["a b d"], metrics=["rouge-1"])
    {'rouge-1': 0.6666666666666666}
    >>> corpus_scores(["a b c"], [["a b d"]], [[0.5]], metrics=["w-rouge-1"])
    {'w-rouge-1': 0.3333333333333333}
    """
    weights = None if reference_weights is None else _listed(reference_weights)
    try:
        return score(
            predictions, _listed(references), weights=weights, metrics=metrics, tokenizer=tokenizer, items=items
        ).corpus
    except InvalidInput as error:
        where = NAMES.get(error.where, error.where)
        raise InvalidInput(error.problem, where=where, line=error.line, field=error.field) from None


def _listed(column: Column) -> Column:
    """A column of lists, each single text or number as a list of one."""
    if not isinstance(column, list):
        return column
    return [[each] if isinstance(each, str | int | float) else each for each in column]


def __getattr__(name: str) -> object:
    if name == "PostilMetric":
        raise UsageError("PostilMetric needs the package evaluate: pip install evaluate")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


if find_spec("evaluate") is not None:
    import datasets
    import evaluate

    class PostilMetric(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
        """Metrics of postil as a metric module of `evaluate`; `compute` takes the arguments of `corpus_scores`.

        Args:
            config_name: `weighted` if the weights of references are an input of `add` and `add_batch` as well.
            metrics: Specs of metrics, where `compute` names none (`evaluate.combine` gives all modules the same names).
            tokenizer: Name of the tokenizer, likewise.
            options: Options of every metric module of `evaluate`.
        """

        def __init__(
            self,
            config_name: str | None = None,
            *,
            metrics: Metrics = DEFAULT_METRICS,
            tokenizer: str = "words",
            **options: object,
        ) -> None:
            super().__init__(config_name, **options)
            self._defaults = {"metrics": metrics, "tokenizer": tokenizer}

        def _info(self) -> evaluate.EvaluationModuleInfo:
            text = datasets.Value("string")
            inputs: list[dict[str, object]] = [
                {"predictions": text, "references": datasets.Sequence(text)},
                {"predictions": text, "references": text},
            ]
            if self.config_name == WEIGHTED:
                number = datasets.Value("float64")
                inputs[0]["reference_weights"] = datasets.Sequence(number)
                inputs[1]["reference_weights"] = number
            return evaluate.MetricInfo(
                description=DESCRIPTION,
                citation="",
                inputs_description=INPUTS,
                features=[datasets.Features(each) for each in inputs],
                reference_urls=[],
            )

        def _compute(self, *, predictions: Column, references: Column, **options: object) -> dict[str, float]:
            given = self._defaults | options
            return corpus_scores(predictions, references, **given)  # type: ignore[arg-type]  # compute's keywords
