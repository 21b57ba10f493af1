"""Metrics of postil as an object with ``update``, ``compute`` and ``reset``, for training loops and `torchmetrics`.

The state is the texts themselves, so that BLEU pools its n-grams and CIDEr has its document frequencies over all
batches: `compute` gives what `postil.score` gives of all texts at once. Sums would do for BLEU and means, but CIDEr's
weights come from the references of all batches. States are joined end to end, in one process or by `torchmetrics` over
several.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.explain import shown
from postil.data.fields import is_integer
from postil.data.frames import as_list, plain_value
from postil.errors import InvalidInput, UsageError
from postil.metrics.metric_set import DEFAULT_METRICS, parse_all
from postil.scoring.calls import score

if TYPE_CHECKING:
    from postil.data.frames import Column
    from postil.metrics.own import Metrics

__all__ = ["BatchScores", "corpus_scores", "encoded_batch"]

NEEDED: Final = "PostilMetric needs the package torchmetrics: pip install torchmetrics"


class _Text(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A text of a batch.

    Args:
        text: The text.
        references: Its references.
        weights: Their weights; None where none are given.
        item: The item that it answers; None where none is given.
    """

    text: str
    references: tuple[str, ...]
    weights: tuple[float, ...] | None = None
    item: str | int | None = None


DECODER: Final = msgspec.json.Decoder(_Text)


class BatchScores:
    """Scores of texts that come in batches, for a loop of any framework.

    Args:
        metrics: Specs of metrics, or functions; see `postil.score`.
        tokenizer: Name in `postil.text.tokenizers.TOKENIZERS`.

    Raises:
        UnknownName, UsageError: A metric does not exist.

    >>> scores = BatchScores(["bleu-2", "w-rouge-l"])
    >>> scores.update(["the cat sat"], [["the cat sat on the mat", "a cat"]], [[0.5, 1.0]])
    >>> scores.update(["a dog"], ["a dog barked"], [0.75])
    >>> {spec: round(value, 4) for spec, value in scores.compute().items()}
    {'bleu-2': 1.0, 'w-rouge-l': 0.5396}
    """

    def __init__(self, metrics: Metrics = DEFAULT_METRICS, *, tokenizer: str = "words") -> None:
        self._metrics, self._tokenizer = checked(metrics), tokenizer
        self._state = b""

    def update(self, preds: Column, target: Column, weights: Column | None = None, items: Column | None = None) -> None:
        """Add a batch.

        Args:
            preds: n texts.
            target: The references of each: a text, or a list of texts.
            weights: Weights in [0, 1] in the shape of ``target``, for metrics with ``w-``.
            items: Item of each text, where several texts answer one item (for CIDEr's document frequencies).

        Raises:
            InvalidInput: Columns differ in length, or something is no text; says where.
        """
        self._state += encoded_batch(preds, target, weights, items)

    def compute(self) -> dict[str, float]:
        """Score all texts since the last `reset`.

        Returns:
            The corpus score of each metric, by spec.

        Raises:
            PostilError: As `postil.score`; there are no texts.
        """
        return corpus_scores(self._state, self._metrics, self._tokenizer)

    def reset(self) -> None:
        """Forget all texts."""
        self._state = b""

    def merge_state(self, other: BatchScores) -> None:
        """Add the texts of another object, such as that of another process.

        Args:
            other: The object.
        """
        self._state += other._state


def checked(metrics: Metrics) -> Metrics:
    """Metrics that exist.

    Args:
        metrics: Specs of metrics, or functions.

    Raises:
        UnknownName, UsageError: One does not exist.
    """
    parse_all([metrics] if isinstance(metrics, str) or callable(metrics) else metrics, weighted=True)
    return metrics


def rises(metrics: Metrics) -> bool | None:
    """True if higher is better by all metrics, False if lower is, None if they differ.

    Args:
        metrics: Specs of metrics, or functions.

    >>> rises(["meteor", "rouge-l"])
    True
    """
    several = [metrics] if isinstance(metrics, str) or callable(metrics) else metrics
    found = {each.better == "high" for each in parse_all(several, weighted=True).values()}
    return found.pop() if len(found) == 1 else None


def encoded_batch(preds: Column, target: Column, weights: Column | None = None, items: Column | None = None) -> bytes:
    r"""Encode a batch as JSON Lines; batches are joined end to end.

    Args:
        preds: n texts.
        target: The references of each: a text, or a list of texts.
        weights: Weights in the shape of ``target``.
        items: Item of each text.

    Raises:
        InvalidInput: Columns differ in length, or something is no text; says where.

    >>> encoded_batch(["a b"], ["a c"], [0.5])
    b'["a b",["a c"],[0.5],null]\n'
    """
    texts = as_list(preds, "preds")
    columns = [
        [None] * len(texts) if given is None else as_list(given, name)
        for name, given in (("target", target), ("weights", weights), ("items", items))
    ]
    for name, column in zip(("target", "weights", "items"), columns, strict=True):
        if len(column) != len(texts):
            raise InvalidInput(f"expected one entry for each of {len(texts)} texts, got {len(column)}", where=name)
    lines = []
    for row, (text, *others) in enumerate(zip(texts, *columns, strict=True), start=1):
        references, numbers, item = map(plain_value, others)
        several = references if isinstance(references, list) else [references]
        for name, found in (("preds", [text]), ("target", several)):
            if wrong := [each for each in found if not isinstance(each, str)]:
                raise InvalidInput(f"expected text, got {shown(plain_value(wrong[0]))}", where=name, line=row)
        if not (item is None or isinstance(item, str) or is_integer(item)):
            raise InvalidInput(f"expected text or an integer, got {shown(item)}", where="items", line=row)
        given = numbers if numbers is None or isinstance(numbers, list) else [numbers]
        lines.append(msgspec.json.encode([text, several, given, item]) + b"\n")
    return b"".join(lines)


def corpus_scores(data: bytes, metrics: Metrics, tokenizer: str = "words") -> dict[str, float]:
    """Score the texts of joined batches.

    Args:
        data: Batches as of `encoded_batch`, end to end.
        metrics: Specs of metrics, or functions.
        tokenizer: Name of the tokenizer.

    Returns:
        The corpus score of each metric, by spec.

    Raises:
        UsageError: There are no texts.
        PostilError: As `postil.score`.
    """
    texts = DECODER.decode_lines(data)
    if not texts:
        raise UsageError("there are no texts to score: call update first")
    weights = [each.weights for each in texts]
    for name, column in (("weights", weights), ("items", [each.item for each in texts])):
        if 0 < column.count(None) < len(texts):
            raise InvalidInput(
                f"missing in {column.count(None)} of {len(texts)} texts; give all of them, or none", where=name
            )
    try:
        return score(
            [each.text for each in texts],
            [each.references for each in texts],
            weights=None if weights[0] is None else weights,
            metrics=metrics,
            tokenizer=tokenizer,
            items=None if texts[0].item is None else [each.item for each in texts],
        ).corpus
    except InvalidInput as error:
        where = {"candidates": "preds", "references": "target"}.get(error.where, error.where)
        raise InvalidInput(error.problem, where=where, line=error.line, field=error.field) from None


def __getattr__(name: str) -> object:
    if name == "PostilMetric":
        raise UsageError(NEEDED)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


if find_spec("torchmetrics") is not None:
    import torch
    from torchmetrics import Metric
    from torchmetrics.utilities import dim_zero_cat

    class PostilMetric(Metric):  # type: ignore[misc]  # torchmetrics is not read
        """Metrics of postil as a metric of `torchmetrics`: `BatchScores` with its state in tensors.

        Args:
            metrics: Specs of metrics, or functions; see `postil.score`.
            tokenizer: Name in `postil.text.tokenizers.TOKENIZERS`.
            options: Options of every metric of `torchmetrics`, such as ``sync_on_compute``.

        Raises:
            UnknownName, UsageError: A metric does not exist.
        """

        is_differentiable = False
        full_state_update = False
        texts: list[torch.Tensor]

        def __init__(self, metrics: Metrics = DEFAULT_METRICS, *, tokenizer: str = "words", **options: object) -> None:
            super().__init__(**options)
            self._metrics, self._tokenizer = checked(metrics), tokenizer
            self.add_state("texts", default=[], dist_reduce_fx="cat")

        @property
        def higher_is_better(self) -> bool | None:
            """Direction of the metrics; None where they differ."""
            return rises(self._metrics)

        @property
        def dtype(self) -> torch.dtype:
            """Type of the state, also of that of a process that had no batch: of another type gloo breaks off."""
            return torch.uint8

        def update(
            self, preds: Column, target: Column, weights: Column | None = None, items: Column | None = None
        ) -> None:
            """See `BatchScores.update`."""
            lines = bytearray(encoded_batch(preds, target, weights, items))
            if lines:
                self.texts.append(torch.frombuffer(lines, dtype=torch.uint8).to(self.device))

        def compute(self) -> dict[str, torch.Tensor]:
            """See `BatchScores.compute`; a value is a tensor of the device."""
            data = bytes(dim_zero_cat(self.texts).to("cpu", torch.uint8).numpy()) if len(self.texts) else b""
            found = corpus_scores(data, self._metrics, self._tokenizer)
            dtype = torch.float32 if self.device.type == "mps" else torch.float64  # Apple's has no more
            return {spec: torch.tensor(value, dtype=dtype, device=self.device) for spec, value in found.items()}
