"""What metrics, their controls, rankings and people are called."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from postil.errors import PostilError
from postil.metaeval.human import CEILING, HALVES, ONE
from postil.metaeval.table import CONTROL
from postil.metrics.spec import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["PEOPLE", "WITHOUT", "control", "family", "metric_of", "ranking", "summed"]

WITHOUT: Final = ", without itself"
"""How the names of rankings end in which each passage left its reference."""

PEOPLE: Final[Mapping[str, str]] = {
    HALVES: "people: split halves",
    ONE: "people: one against the rest",
    CEILING: "people: ceiling",
}
CONTROLS: Final[Mapping[str, str]] = {
    "shuffled": "shuffled weights",
    "top": "top references",
    "nearest": "weight of the nearest reference",
    "mean-weight": "mean weight of the references",
    "length": "length of the text",
}


def control(full: str) -> str:
    """What a control is.

    Args:
        full: Its name.

    >>> control("control:best-5(w-meteor)"), control("control:length")
    ('best 5 references', 'length of the text')
    """
    kind = full.removeprefix("control:").partition("(")[0]
    best = re.fullmatch(r"best-(\d+)", kind)
    return f"best {best[1]} references" if best else CONTROLS.get(kind, kind)


def metric_of(full: str) -> str:
    """The metric of a control; nothing where it belongs to none.

    Args:
        full: Its name.

    >>> metric_of("control:top(w-bleu-4(smooth=exp))"), metric_of("control:length")
    ('w-bleu-4(smooth=exp)', '')
    """
    match = CONTROL.fullmatch(full)
    return match["metric"] if match else ""


def family(metric: str) -> str:
    """What a metric, its weighted form and their controls have in common.

    >>> family("control:top(w-meteor)"), family("w-meteor"), family("meteor")
    ('meteor', 'meteor', 'meteor')
    """
    return (metric_of(metric) or metric).removeprefix("w-")


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
            if parse(name).aggregation == "sums":
                found.append(name)
    return found
