"""Text <-> metric: the one table of names, and the grammar ``[w-]name[(parameter=value,…)]``."""

from __future__ import annotations

import dataclasses
import math
import re
from functools import cache, partial
from types import MappingProxyType, NoneType, UnionType
from typing import TYPE_CHECKING, Final, Literal, TypeVar, cast, get_args, get_origin, get_type_hints, overload

from postil.capabilities import Capability, capabilities, load
from postil.data.arguments import check_arguments
from postil.data.rows import EXTERNAL
from postil.errors import PostilError, UnknownName, UsageError
from postil.metrics.bertscore import BertScore
from postil.metrics.bleu import Bleu, DeltaBleu, SacreBleu
from postil.metrics.chrf import Chrf
from postil.metrics.cider import Cider, CiderD
from postil.metrics.meteor import Meteor
from postil.metrics.own import Registry, define, reads_weights
from postil.metrics.passage_measures import (
    Cosine,
    FScore,
    JensenShannon,
    KullbackLeibler,
    Length,
    LogSim,
    Measure,
    PooledRouge,
    Random,
    TfIdf,
)
from postil.metrics.passage_pools import UNITS
from postil.metrics.rouge import RougeL, RougeLsum, RougeN, RougeScoreL, RougeScoreLsum, RougeScoreN
from postil.metrics.ter import Ter
from postil.metrics.vectors import SentenceCosine, VectorCosine, VectorF1

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from postil.metrics.base import Metric, Specified

__all__ = [
    "MEASURES",
    "METRICS",
    "known_metric",
    "load_plugins",
    "own_metric",
    "parse_measure",
    "parse_metric",
    "register_metric",
    "summed",
]

T = TypeVar("T")

Parsed = TypeVar("Parsed", bound="Specified")

METRICS: Final[Mapping[str, Callable[..., Metric]]] = MappingProxyType(
    {
        "bertscore": BertScore,
        "bleu": SacreBleu,
        "bleu-1": partial(Bleu, order=1),
        "bleu-2": partial(Bleu, order=2),
        "bleu-3": partial(Bleu, order=3),
        "bleu-4": partial(Bleu, order=4),
        "chrf": Chrf,
        "chrf++": partial(Chrf, words=2),
        "cider": Cider,
        "cider-d": CiderD,
        "delta-bleu": DeltaBleu,
        "meteor": Meteor,
        "rouge-1": partial(RougeN, unit="1"),
        "rouge-2": partial(RougeN, unit="2"),
        "rouge-l": RougeL,
        "rouge-lsum": RougeLsum,
        "rouge-su4": partial(RougeN, unit="su4"),
        "rouge1": partial(RougeScoreN, unit="1"),
        "rouge2": partial(RougeScoreN, unit="2"),
        "rougeL": RougeScoreL,
        "rougeLsum": RougeScoreLsum,
        "sentence-cosine": SentenceCosine,
        "ter": Ter,
        "vector-cosine": VectorCosine,
        "vector-f1": VectorF1,
    }
)
"""Every metric by name; ``w-`` in front of a name makes the references' weights count."""


def _added(capability: Capability, target: str, **parameters: object) -> Measure:
    """Make a measure that a capability adds, which is loaded where it is first made."""
    return cast("Measure", load(capability, target)(**parameters))


MEASURES: Final[Mapping[str, Callable[..., Measure]]] = MappingProxyType(
    {
        f"{make.family}-{unit}": partial(make, unit=unit)
        for make in (FScore, JensenShannon, KullbackLeibler, LogSim, PooledRouge, TfIdf)
        for unit in UNITS
    }
    | {"cosine": Cosine}
    | {name: partial(_added, each, target) for each in capabilities() for name, target in each.measures.items()}
    | {"length": Length, "random": Random}
)
"""Every measure of passages by name; ``w-`` in front of a name makes the weights of the reference's passages count."""

_OWN: Final = Registry(METRICS)

_SPEC: Final = re.compile(r"\s*(?P<name>[^()\s]+)\s*(?:\((?P<parameters>.*)\)\s*)?", re.DOTALL)


def parse_metric(spec: str) -> Metric:
    """Parse the spec of a metric.

    Args:
        spec: Spec, such as ``bleu-4``, ``w-meteor`` or ``w-rouge-l(reading=union,beta=1)``. A name that no metric has
            stands for the one that has it in other letters, upper or lower case: ``BLEU``, ``chrF``, ``ROUGE-L``.

    Raises:
        UnknownName: No such metric, parameter or choice; the message offers the nearest.
        UsageError: The spec is not of that form, or a value does not fit its parameter or the other parameters.

    >>> print(parse_metric("w-rouge-l(reading=union)"))
    w-rouge-l(reading=union,beta=1.2,over=max)
    >>> parse_metric(str(parse_metric("cider-d(sigma=4)"))) == parse_metric("cider-d(sigma=4)")
    True
    """
    check_arguments(parse_metric, locals())
    return _parse("metric", spec, METRICS, _OWN, any_case=True)


def known_metric(name: str, signature: str = EXTERNAL) -> Metric | None:
    """The metric of a name in results; None for a control, and for a metric of another program.

    Args:
        name: The name, as its user wrote it.
        signature: Its signature, if known, whose spec has the values of all parameters.

    >>> known_metric("meteor") == parse_metric("meteor"), known_metric("bert-score")
    (True, None)
    """
    try:
        spec = signature.partition("|")[0]
        return _parse("metric", name if spec in {"", EXTERNAL} else spec, METRICS, _OWN.registered)
    except PostilError:
        return None


def own_metric(given: Callable[..., object], *, weighted: bool) -> Metric:
    """The metric of a function or class, whether or not it is registered.

    Args:
        given: It.
        weighted: True if there are weights; a function that reads weights gets them then, else all are 1.

    Raises:
        UsageError: It is no metric, or its name is that of another.
    """
    made = _OWN.of(given)
    return made(weighted=True) if weighted and reads_weights(made) else made()


def load_plugins(plugins: Iterable[str]) -> None:
    """Import modules with own metrics.

    Args:
        plugins: ``.py`` files, or names of modules that Python finds.

    Raises:
        UsageError: There is no such file or module, or it registers what is no metric.
        PostilError: The code of one raises an error.
    """
    for plugin in plugins:
        _OWN.load(plugin)


@overload
def register_metric(given: T) -> T: ...


@overload
def register_metric(
    *,
    name: str | None = None,
    better: Literal["high", "low"] = "high",
    low: float | None = None,
    high: float | None = None,
    version: str | None = None,
    batched: bool = False,
    batch_size: int | None = None,
) -> Callable[[T], T]: ...


def register_metric(
    given: object = None,
    *,
    name: str | None = None,
    better: Literal["high", "low"] = "high",
    low: float | None = None,
    high: float | None = None,
    version: str | None = None,
    batched: bool = False,
    batch_size: int | None = None,
) -> object:
    """Register an own metric, as a decorator with or without options; the function or class stays as it is.

    A metric is one of these:

    - A function ``f(candidate: str, references: list[str]) -> float`` of raw texts, or ``f(candidate, references,
      weights: list[float])``. The latter exists as ``name``, where all weights are 1, and as ``w-name``. Its other
      parameters, with defaults that are a number, text, True or False, are parameters in specs: ``name(alpha=2)``.
    - A function ``f(candidate: str) -> float`` of the candidate alone, which scores without references as well.
    - The same with ``batched``: lists of all of them, and a sequence with one number per candidate is returned.
    - A class whose objects are called like that, such as one with a model; parameters in specs are those of its
      ``__init__``, or its fields if it is a dataclass. An object is made when it is first needed, once.
    - A frozen dataclass that extends `postil.metrics.base.Metric`, for statistics other than the mean of item scores.

    The corpus score is the mean of the item scores.

    Args:
        given: The function or class.
        name: Name in specs; by default that of the function or class. Letters, digits, ``_ - . +``.
        better: ``high`` if higher is better, else ``low``; correlate and compare read it from the signature.
        low: The lowest score, below which a score is an error; by default any.
        high: The highest score, likewise.
        version: Version in signatures; by default a hash of the source of the function or class alone.
        batched: True if a call takes many candidates.
        batch_size: Largest number of candidates in a call; by default 64.

    Raises:
        UsageError: It is of another form, or its name does not fit specs or is that of another metric.

    >>> import postil
    >>> @postil.register_metric(low=0, high=1, version="1")
    ... def any_equal(candidate: str, references: list[str], *, lower: bool = False) -> bool:
    ...     return candidate in references or (lower and candidate.lower() in map(str.lower, references))
    >>> postil.score(["Yes"], [["yes", "no"]], metrics=["any_equal", "any_equal(lower=true)"]).corpus
    {'any_equal': 0.0, 'any_equal(lower=true)': 1.0}
    """
    check_arguments(register_metric, locals())

    def register(given: T) -> T:
        made = define(
            given,
            name=name,
            better=better,
            low=low,
            high=high,
            version=version,
            batched=batched,
            batch_size=batch_size,
        )
        _OWN.add(given, made)
        return given

    return register if given is None else register(given)


def parse_measure(spec: str) -> Measure:
    """Parse the spec of a measure of passages.

    Args:
        spec: Spec, such as ``f1-2``, ``w-logsim-1`` or ``kl-sk(upto=true)``.

    Raises:
        UnknownName, UsageError: As `parse_metric`.

    >>> print(parse_measure("w-f1-2(beta=2)"))
    w-f1-2(upto=false,beta=2)
    """
    check_arguments(parse_measure, locals())
    return _parse("measure", spec, MEASURES)


def _parse(
    kind: str,
    spec: str,
    known: Mapping[str, Callable[..., Parsed]],
    own: Mapping[str, Callable[..., Parsed]] = MappingProxyType({}),
    *,
    any_case: bool = False,
) -> Parsed:
    match = _SPEC.fullmatch(spec)
    if not match:
        raise UsageError(f"{kind} '{spec}': expected name or name(parameter=value,…)")
    name = match["name"]
    weighted = name.startswith("w-")
    base = name.removeprefix("w-")
    make = known.get(base) or own.get(base) or (_in_other_case(base, known, own) if any_case else None)
    if make is None:
        names = [*known, *own]
        raise UnknownName(kind, name, [f"w-{each}" for each in names] if weighted else names)
    return make(weighted=weighted, **_parameters(kind, spec, type(make()), match["parameters"]))


def _in_other_case(
    name: str, known: Mapping[str, Callable[..., Parsed]], own: Mapping[str, Callable[..., Parsed]]
) -> Callable[..., Parsed] | None:
    """Find the metric of a name in other letters, upper or lower case; None where there is none, or several."""
    for table in (known, own):
        alike = [each for each in table if each.lower() == name.lower()]
        if alike:
            return table[alike[0]] if len(alike) == 1 else None
    return None


@cache
def _hints(metric: type[Specified]) -> dict[str, object]:
    """Types of a metric's fields; finding them takes longer than all else here, hence the cache."""
    return get_type_hints(metric)


def _parameters(kind: str, spec: str, metric: type[Specified], text: str | None) -> dict[str, object]:
    """Parameters in the brackets, each converted to the type of its field."""
    fields = {field.name: field for field in dataclasses.fields(metric) if not field.metadata.get("hidden")}
    names = sorted(fields, key="tokenizer".__eq__)  # the metric's own come first
    hints = _hints(metric)
    values: dict[str, object] = {}
    for part in (text or "").split(",") if text and text.strip() else []:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            hint = "" if equals or not values else " (a value cannot hold a comma)"
            raise UsageError(f"{kind} '{spec}': expected parameter=value, got '{part.strip()}'{hint}")
        if name == "tokenizer" and name not in fields and getattr(metric, "reads_tokens", None) is False:
            raise UsageError(
                f"{kind} '{spec}': {spec.partition('(')[0].strip()} reads texts, whatever the tokenizer; leave it out"
            )
        UnknownName.check(f"parameter of {spec.partition('(')[0].strip()}", name, names)
        if name in values:
            raise UsageError(f"{kind} '{spec}': {name} is given twice")
        if check := fields[name].metadata.get("check"):
            check(value)
        values[name] = _value(f"{kind} '{spec}'", name, value, hints[name])
    return values


def _value(what: str, name: str, text: str, wanted: object) -> object:
    if get_origin(wanted) is UnionType:  # a parameter that may be left out
        (wanted,) = set(get_args(wanted)) - {NoneType}
    if get_origin(wanted) is Literal:
        UnknownName.check(f"value of {name}", text, get_args(wanted))
        return text
    if wanted is bool:
        if text not in {"true", "false"}:
            raise UsageError(f"{what}: {name}: expected true or false, got '{text}'")
        return text == "true"
    if wanted in {int, float}:
        try:
            number = int(text) if wanted is int else float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            kind = "a whole number" if wanted is int else "a number"
            raise UsageError(f"{what}: {name}: expected {kind}, got '{text}'")
        return number
    return text


def summed(metrics: Iterable[str]) -> list[str]:
    """Select the metrics whose corpus score is not the mean of the item scores.

    Args:
        metrics: Names of metrics; those of other programs are skipped, since nothing is known of them.

    >>> summed(["bleu-4", "rouge-l", "meteor(corpus=mean)", "control:top(w-meteor)", "bert-score"])
    ['bleu-4']
    """
    known = ((name, known_metric(name)) for name in metrics)
    return [name for name, metric in known if metric is not None and metric.aggregation == "sums"]
