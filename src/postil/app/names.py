"""What metrics, their controls, rankings and people are called."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from postil.errors import PostilError
from postil.metrics.spec import parse_metric

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["WITHOUT", "ranking", "summed"]

WITHOUT: Final = ", without itself"
"""How the names of rankings end in which each passage left its reference."""


def ranking(measure: str, *, leave_one_out: bool) -> str:
    """A ranking of passages.

    Args:
        measure: What ranks them.
        leave_one_out: Whether each passage left its reference.

    >>> ranking("f1-1", leave_one_out=True)
    'f1-1, without itself'
    """
    return measure + WITHOUT if leave_one_out else measure


def summed(metrics: Iterable[str]) -> list[str]:
    """Select the metrics whose corpus score is not the mean of the item scores.

    Args:
        metrics: Names of metrics; those of other programs are passed over, since nothing is known of them.

    >>> summed(["bleu-4", "rouge-l", "meteor(corpus=mean)", "control:top(w-meteor)", "bert-score"])
    ['bleu-4']
    """
    found = []
    for name in metrics:
        with suppress(PostilError):
            if parse_metric(name).aggregation == "sums":
                found.append(name)
    return found
