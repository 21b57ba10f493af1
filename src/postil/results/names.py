"""Names in results: controls, human reference points, families of metrics, statistics of agreement."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "CEILING",
    "CONTROL",
    "HALVES",
    "LENGTH",
    "ONE",
    "PEOPLE",
    "STATISTICS",
    "WITHOUT_ITSELF",
    "control",
    "copies_remark",
    "falls_by_signature",
    "family",
    "is_control",
    "metric_of",
    "ranking",
    "reads_weights",
    "signature_lines",
    "unweighted",
]

HALVES: Final = "human:halves"
"""Metric of the rows of split-half correlation."""

ONE: Final = "human:one"
"""Metric of the rows of one annotator against the others."""

CEILING: Final = "human:ceiling"
"""Metric of the reliability ceiling where it is undefined."""

LENGTH: Final = "control:length"
"""The control that is the number of tokens of the text."""

CONTROL: Final = re.compile(r"control:(?P<kind>[^(]+)\((?P<metric>.+)\)")
"""Name of a control, with the metric that it belongs to."""

PEOPLE: Final[Mapping[str, str]] = {
    HALVES: "human: split-half correlation",
    ONE: "human: one annotator against the others",
    CEILING: "human: reliability ceiling",
}
"""Labels of the human reference points."""

WITHOUT_ITSELF: Final = ", without itself"
"""Ending of the names of leave-one-out rankings; part of the JSON."""

CONTROLS: Final[Mapping[str, str]] = {
    "shuffled": "shuffled weights",
    "top": "top references",
    "nearest": "weight of the nearest reference",
    "mean-weight": "mean weight of the references",
    "controls-only": "length and mean weight alone",
    "length": "length of the text",
    "falling": "anchors in falling order",
    "order": "mean of rising and falling order",
    "no-article": "without the article",
    "no-anchors": "without anchors",
    "repeat": "asked again",
}

_POOLED = "over every two ratings of a text, each pair in both orders; both ratings have one distribution by chance"
_PAIRS = "mean over pairs of annotators, weighted by the texts that they share"

STATISTICS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "agreement": "percent agreement: share of equal ratings among every two ratings of a text",
        "within-1": "adjacent agreement: share of ratings at most 1 apart among every two ratings of a text",
        "kappa-unweighted-pairs": f"Cohen's kappa, unweighted, {_PAIRS}",
        "kappa-linear-pairs": f"Cohen's kappa, linear weights, {_PAIRS}",
        "kappa-quadratic-pairs": f"Cohen's kappa, quadratic weights, {_PAIRS}",
        "kappa-unweighted-pooled": f"Scott's pi, unweighted, {_POOLED}",
        "kappa-linear-pooled": f"weighted Scott's pi, linear weights, {_POOLED}",
        "kappa-quadratic-pooled": f"weighted Scott's pi, quadratic weights, {_POOLED}",
        "alpha-nominal": "Krippendorff's alpha, nominal",
        "alpha-ordinal": "Krippendorff's alpha, ordinal",
        "alpha-interval": "Krippendorff's alpha, interval",
    }
)
"""Definitions of the statistics, by name.

Those named ``kappa-*-pooled`` are not Cohen's kappa, which gives each of two annotators a distribution of their own:
over the symmetric table of all pairs they are Scott's pi, weighted in two of the three, and the unweighted one is
Fleiss' kappa where all texts have equally many ratings.
"""


def is_control(name: str) -> bool:
    """True for the name of a control.

    Args:
        name: The name.

    >>> is_control("control:length"), is_control("meteor")
    (True, False)
    """
    return name.startswith("control:")


def copies_remark(copies: int, of: int | None = None) -> str:
    """Remark on candidates that are references of their own item; empty without any.

    Args:
        copies: Number of these candidates.
        of: Number of candidates, where it is known.

    >>> copies_remark(1, 20)
    '1 of 20 candidates is a reference of its own item, so a metric compares it with itself'
    """
    count = f"{copies:,}" if of is None else f"{copies:,} of {of:,}"
    if copies == 1:
        what = "candidate" if of is None else "candidates"
        return f"{count} {what} is a reference of its own item, so a metric compares it with itself"
    their = "candidates are references of their own items, so metrics compare them with themselves"
    return f"{count} {their}" if copies else ""


def control(full: str) -> str:
    """Label of a control.

    Args:
        full: Its name.

    >>> control("control:best-5(w-meteor)"), control("control:length"), control("control:shuffled(judge(m))")
    ('best 5 references', 'length of the text', 'permuted grades of anchors')
    """
    kind = full.removeprefix("control:").partition("(")[0]
    if kind == "shuffled" and metric_of(full).startswith("judge("):
        return "permuted grades of anchors"
    best = re.fullmatch(r"best-(\d+)", kind)
    return f"best {best[1]} references" if best else CONTROLS.get(kind, kind)


def metric_of(full: str) -> str:
    """Metric of a control; empty where it belongs to none.

    Args:
        full: Its name.

    >>> metric_of("control:top(w-bleu-4(smooth=exp))"), metric_of("control:length")
    ('w-bleu-4(smooth=exp)', '')
    """
    match = CONTROL.fullmatch(full)
    return match["metric"] if match else ""


def ranking(measure: str, leave_one_out: bool) -> str:  # noqa: FBT001
    """Name of a ranking of passages.

    Args:
        measure: The measure.
        leave_one_out: True if each passage left its reference while it was scored.

    >>> ranking("f1-1", False), ranking("f1-1", True)
    ('f1-1', 'f1-1, without itself')
    """
    return measure + WITHOUT_ITSELF if leave_one_out else measure


def falls_by_signature(metric: str, signature: str) -> bool:
    """True if lower is better for a metric, as its signature says.

    Args:
        metric: Its name; a control has the direction of its metric, not of its own signature.
        signature: Its signature.

    >>> falls_by_signature("edits", "edits|better:low|references:1"), falls_by_signature("meteor", "meteor")
    (True, False)
    """
    return "better:low" in signature.split("|") and not metric.startswith("control:")


def reads_weights(metric: str, signature: str) -> bool:
    """True if the scores of a metric depend on weights of references, as its name or its signature says.

    Args:
        metric: Its name; a control depends on what its metric depends on.
        signature: Its signature.

    >>> reads_weights("w-meteor", "external"), reads_weights("judge(m)", "judge(m)|weights:score|scale:1:5")
    (True, True)
    >>> reads_weights("meteor", "meteor|references:5"), reads_weights("control:length", "control:length")
    (False, False)
    """
    name = metric_of(metric) or metric
    return unweighted(name) is not None or any(part.startswith("weights:") for part in signature.split("|"))


def unweighted(metric: str) -> str | None:
    """The unweighted form of a weighted metric; None for other metrics and for controls.

    Args:
        metric: Its name.

    >>> unweighted("w-meteor"), unweighted("meteor")
    ('meteor', None)
    """
    return metric.removeprefix("w-") if metric.startswith("w-") else None


def family(metric: str) -> str:
    """Name shared by a metric, its weighted form and their controls.

    >>> family("control:top(w-meteor)"), family("w-meteor"), family("meteor")
    ('meteor', 'meteor', 'meteor')
    """
    return (metric_of(metric) or metric).removeprefix("w-")


def signature_lines(signatures: Iterable[str]) -> Iterator[str]:
    """Signatures that are alike but for their first part, together.

    Args:
        signatures: The signatures.
    """
    alike: dict[str, list[str]] = {}
    for signature in signatures:
        spec, _, rest = signature.partition("|")
        alike.setdefault(rest, []).append(spec)
    for rest, specs in alike.items():
        yield f"signatures: {' '.join(specs)}"
        yield f"  each with |{rest}"
