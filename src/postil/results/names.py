"""Names of metrics and of their controls, as files of scores and results have them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "CONTROL",
    "LENGTH",
    "control",
    "copies_remark",
    "display_name",
    "display_names",
    "falls_by_signature",
    "family",
    "is_control",
    "labelled",
    "metric_of",
    "printed_times_100",
    "reads_weights",
    "unweighted",
]


LENGTH: Final = "control:length"
"""The control that is the number of tokens of the text."""

CONTROL: Final = re.compile(r"control:(?P<kind>[^(]+)\((?P<metric>.+)\)")
"""Name of a control, with the metric that it belongs to."""


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


DISPLAY: Final[Mapping[str, str]] = {
    "bertscore": "BERTScore",
    "bleu": "BLEU",
    "bleu-1": "BLEU-1",
    "bleu-2": "BLEU-2",
    "bleu-3": "BLEU-3",
    "bleu-4": "BLEU-4",
    "bleurt": "BLEURT",
    "chrf": "chrF",
    "chrf++": "chrF++",
    "cider": "CIDEr",
    "cider-d": "CIDEr-D",
    "comet": "COMET",
    "delta-bleu": "ΔBLEU",
    "meteor": "METEOR",
    "metricx": "MetricX",
    "rouge-1": "ROUGE-1",
    "rouge-2": "ROUGE-2",
    "rouge-l": "ROUGE-L",
    "rouge-lsum": "ROUGE-Lsum",
    "rouge-su4": "ROUGE-SU4",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougel": "ROUGE-L",
    "rougelsum": "ROUGE-Lsum",
    "sentence-cosine": "sentence cosine",
    "ter": "TER",
    "vector-cosine": "vector cosine",
    "vector-f1": "vector F1",
}
"""Names of metrics in papers, by the names in specs in lower case."""

_MINUS: Final = re.compile(" [-−] ")

_TIMES_100: Final = re.compile(r"bleu(-\d)?|chrf(\+\+)?|rouge.*|ter")
"""Metrics whose programs, or whose papers, print scores times 100."""

_AS_OTHERS: Final = re.compile(r"meteor")
"""Metrics whose programs print scores from 0 to 1, and papers times 100 beside others that are."""

_SPEC: Final = re.compile(r"(?P<weighted>w-)?(?P<name>[^()]+)(?P<parameters>\(.*\))?", re.DOTALL)


def display_name(metric: str, *, parameters: bool = False) -> str:
    """The name of a metric in a paper; a metric that is not known keeps its own.

    Args:
        metric: Its spec.
        parameters: True to keep the parameters of the spec.

    >>> display_name("w-bleu-4"), display_name("rouge-l(beta=1)"), display_name("control:top(w-meteor)")
    ('w-BLEU-4', 'ROUGE-L', 'top references (w-METEOR)')
    """
    if is_control(metric):
        of = metric_of(metric)
        return f"{control(metric)} ({display_name(of, parameters=parameters)})" if of else control(metric)
    match = _SPEC.fullmatch(metric)
    if match is None or (name := DISPLAY.get(match["name"].lower())) is None:
        return metric
    return f"{match['weighted'] or ''}{name}{match['parameters'] or '' if parameters else ''}"


def display_names(metrics: Iterable[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The name of each metric in a table for a paper, no two alike.

    Metrics that would share a name keep their parameters, and where these are the same their specs.

    Args:
        metrics: Specs of metrics.
        given: Names that were chosen, by spec.

    >>> display_names(["bleu", "rouge-l", "rouge-l(beta=1)", "rouge-1", "rouge1"], {"bleu": "SacreBLEU"}).values()
    dict_values(['SacreBLEU', 'ROUGE-L', 'ROUGE-L(beta=1)', 'rouge-1', 'rouge1'])
    """
    given = given or {}
    names = {metric: given.get(metric, display_name(metric)) for metric in metrics}
    for other in (lambda metric: display_name(metric, parameters=True), str):
        shared = {name for name, count in Counter(names.values()).items() if count > 1}
        names |= {metric: other(metric) for metric, name in names.items() if name in shared and metric not in given}
    return names


def labelled(text: str, names: Mapping[str, str]) -> str:
    """Give a metric the name that a user chose, where a text is the metric, a difference of it, or a control of it.

    Args:
        text: A cell of a table, or a label of a picture.
        names: Names by specs.

    >>> names = {"w-meteor": "ours", "meteor": "METEOR"}
    >>> [labelled(text, names) for text in ("w-meteor - meteor", "control:top(w-meteor)", "a meteor", "meteor, passed")]
    ['ours - METEOR', 'control:top(ours)', 'a meteor', 'METEOR, passed']
    >>> labelled("meteor minus that of meteor", names)  # of a system with this name
    'METEOR minus that of meteor'
    """
    if not names or text in names:
        return names.get(text, text)
    metric, minus_that, of = text.partition(" minus that of ")
    if minus_that:
        return f"{labelled(metric, names)}{minus_that}{of}"
    of_control = text.partition("(")[2].removesuffix(")")
    of_picture = text.removeprefix("− ").removeprefix("unweighted ").removesuffix(", passed")
    for metric in (of_control, of_picture):
        if metric in names:
            before, _, after = text.rpartition(metric)
            return f"{before}{names[metric]}{after}"
    minus = _MINUS.search(text)
    return text if minus is None else minus[0].join(labelled(each, names) for each in text.split(minus[0], 1))


def printed_times_100(metric: str, beside: Iterable[str] = ()) -> bool:
    """True for a metric whose scores are printed times 100: BLEU, chrF, ROUGE and TER, and METEOR beside one of them.

    Args:
        metric: Its spec; it may be weighted.
        beside: Specs of all metrics of the table.

    >>> [printed_times_100(metric) for metric in ("bleu", "w-rouge-l(beta=1)", "meteor", "control:length")]
    [True, True, False, False]
    >>> printed_times_100("w-meteor", ["cider-d", "w-meteor"]), printed_times_100("w-meteor", ["bleu-4", "w-meteor"])
    (False, True)
    """
    match = _SPEC.fullmatch(metric)
    if match is None:
        return False
    name = match["name"].lower()
    if _AS_OTHERS.fullmatch(name):
        return any(map(printed_times_100, beside))
    return _TIMES_100.fullmatch(name) is not None


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
