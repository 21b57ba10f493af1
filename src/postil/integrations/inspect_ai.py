"""Scorer and metric for `inspect_ai`: scores of samples, and corpus scores of all of them.

A task takes ``scorer=item_scores([…])``. The targets of a sample are its references, and a field of its metadata may
hold their weights. The scorer's metric is `corpus_scores`, which scores the outputs of all samples together, so that
BLEU pools its n-grams and CIDEr has its document frequencies; of several epochs, each output counts.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypedDict

from postil.errors import InvalidInput, Undefined, UsageError
from postil.metrics.metric_set import DEFAULT_METRICS, parse_all
from postil.scoring.calls import score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.solver import TaskState

__all__ = ["Scored", "corpus_of_samples", "sample_scores"]

KEY: Final = "postil"
"""Field of a score's metadata that has the references of its sample, and how they were scored."""

NAMES: Final = ("corpus_scores", "item_scores")
"""Names of the functions that need the framework."""


class Scored(TypedDict):
    """The note on how a sample was scored, in the metadata of its score.

    Args:
        references: The targets of the sample.
        weights: A weight per reference; None if they have none.
        metrics: Specs of metrics.
        tokenizer: Name of the tokenizer.
    """

    references: list[str]
    weights: list[float] | None
    metrics: list[str]
    tokenizer: str


def sample_scores(
    text: str,
    references: Sequence[str],
    weights: Sequence[float] | None = None,
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    tokenizer: str = "words",
) -> dict[str, float]:
    """Score the output for one sample.

    Args:
        text: The output.
        references: The targets of the sample.
        weights: A weight in [0, 1] per reference, for metrics with ``w-``.
        metrics: Specs of metrics.
        tokenizer: Name in `postil.text.tokenizers.TOKENIZERS`.

    Returns:
        The item score of each metric by spec, less those that a text alone does not have, as CIDEr.

    Raises:
        PostilError: As `postil.score`.

    >>> sample_scores("a b c", ["a b d"], metrics=["rouge-1", "cider-d"])
    {'rouge-1': 0.6666666666666666}
    """
    found: dict[str, float] = {}
    for spec in metrics:
        with suppress(Undefined):
            result = score([text], [list(references)], weights=_one(weights), metrics=[spec], tokenizer=tokenizer)
            found[spec] = float(result.items[spec][0])
    return found


def _one(weights: Sequence[float] | None) -> list[list[float]] | None:
    return None if weights is None else [list(weights)]


def corpus_of_samples(
    texts: Sequence[str],
    samples: Sequence[Scored],
    items: Sequence[str | int],
    *,
    metrics: Sequence[str] | None = None,
    tokenizer: str | None = None,
) -> dict[str, float]:
    """Score the outputs for all samples together.

    Args:
        texts: n outputs.
        samples: Notes of the scorer on each: references, weights, metrics and tokenizer.
        items: The sample of each output; several outputs of one count its references once for CIDEr.
        metrics: Specs of metrics; by default those of the scorer.
        tokenizer: Name of the tokenizer, likewise.

    Returns:
        The corpus score of each metric, by spec; none without outputs.

    Raises:
        PostilError: As `postil.score`.

    >>> noted = {"references": ["a b d"], "weights": None, "metrics": ["rouge-1"], "tokenizer": "words"}
    >>> corpus_of_samples(["a b c", "a b d"], [noted, noted], [1, 1])
    {'rouge-1': 0.8333333333333333}
    """
    if not texts:
        return {}
    first = samples[0]
    weights = [each["weights"] for each in samples]
    return score(
        list(texts),
        [each["references"] for each in samples],
        weights=None if first["weights"] is None else weights,
        metrics=first["metrics"] if metrics is None else metrics,
        tokenizer=tokenizer or first["tokenizer"],
        items=list(items),
    ).corpus


def __getattr__(name: str) -> object:
    if name in NAMES:
        raise UsageError(f"{name} needs the package inspect_ai: pip install inspect_ai")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


if find_spec("inspect_ai") is not None:
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer

    @metric(scores="unreduced")  # type: ignore[untyped-decorator]  # inspect_ai is not read
    def corpus_scores(metrics: str | Sequence[str] | None = None, tokenizer: str | None = None) -> Metric:
        """Corpus scores of the outputs that `item_scores` scored.

        Args:
            metrics: Specs of metrics; by default those of the scorer.
            tokenizer: Name of the tokenizer, likewise.
        """
        specs = None if metrics is None else _specs(metrics)

        def corpus(scores: list[SampleScore]) -> dict[str, float]:
            noted: list[Scored] = [each.score.metadata[KEY] for each in scores if KEY in (each.score.metadata or {})]
            if len(noted) < len(scores):
                raise UsageError("corpus_scores: expected scores of item_scores, got those of another scorer")
            return corpus_of_samples(
                [each.score.answer or "" for each in scores],
                noted,
                [place if each.sample_id is None else each.sample_id for place, each in enumerate(scores)],
                metrics=specs,
                tokenizer=tokenizer,
            )

        return corpus

    @scorer(metrics=[corpus_scores()])  # type: ignore[untyped-decorator]  # the same
    def item_scores(
        metrics: str | Sequence[str] = DEFAULT_METRICS, tokenizer: str = "words", weights: str | None = None
    ) -> Scorer:
        """Score the output of each sample against its targets.

        Args:
            metrics: Specs of metrics such as ``"meteor"`` or ``"w-rouge-l"``; see `postil.score`.
            tokenizer: Name in `postil.text.tokenizers.TOKENIZERS`.
            weights: Field of the samples' metadata with a weight in [0, 1] for each target; metrics with ``w-`` need
                it.

        Raises:
            UnknownName, UsageError: A metric does not exist, or one with ``w-`` has no weights.
        """
        specs = _specs(metrics)
        needy = [spec for spec, each in parse_all(specs, weighted=weights is not None).items() if each.needs_weights]
        if needy and weights is None:
            raise UsageError(f'{needy[0]} needs weights of the targets: weights="FIELD", a field of the metadata')

        async def scored(state: TaskState, target: Target) -> Score:
            of_target = None if weights is None else (state.metadata or {}).get(weights)
            if weights is not None and of_target is None:
                raise InvalidInput(f"sample {state.sample_id}: no weights in its metadata", where=weights)
            references, text = list(target), state.output.completion
            noted = Scored(references=references, weights=of_target, metrics=specs, tokenizer=tokenizer)
            found = sample_scores(text, references, of_target, metrics=specs, tokenizer=tokenizer)
            return Score(value=dict(found), answer=text, metadata={KEY: noted})

        return scored


def _specs(metrics: str | Sequence[str]) -> list[str]:
    return [metrics] if isinstance(metrics, str) else list(metrics)
