"""Metrics by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.metrics.spec import known_metric

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["summed"]


def summed(metrics: Iterable[str]) -> list[str]:
    """Select the metrics whose corpus score is not the mean of the item scores.

    Args:
        metrics: Names of metrics; those of other programs are passed over, since nothing is known of them.

    >>> summed(["bleu-4", "rouge-l", "meteor(corpus=mean)", "control:top(w-meteor)", "bert-score"])
    ['bleu-4']
    """
    known = ((name, known_metric(name)) for name in metrics)
    return [name for name, metric in known if metric is not None and metric.aggregation == "sums"]
