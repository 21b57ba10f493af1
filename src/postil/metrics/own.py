"""Own metrics: a function or class that its user wrote becomes a metric, by what its signature says."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import math
import re
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from postil.data.arguments import check_arguments
from postil.errors import UsageError
from postil.metrics.base import Metric
from postil.metrics.function_metric import Declaration, FunctionMetric, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Given: TypeAlias = Callable[..., object]

__all__ = ["Metrics", "define", "reads_weights"]

Metrics: TypeAlias = "Sequence[str | Callable[..., object]]"
"""Specs, and functions or classes that are metrics themselves."""

BATCH: Final = 64
"""Largest number of candidates in a call of a batched function, where none is stated."""

NAME: Final = re.compile(r"(?!w-)[^\W\d][\w.+-]*")
"""A name that specs can hold: what stands in front of the bracket, and begins with no ``w-``."""

DIGITS: Final = 12
"""Number of hexadecimal digits of a hash in signatures."""

PLAIN: Final = (bool, int, float, str)
"""Types that a parameter in a spec can have."""

EMPTY: Final = inspect.Parameter.empty


def define(
    given: object,
    *,
    name: str | None = None,
    better: Literal["high", "low"] = "high",
    low: float | None = None,
    high: float | None = None,
    version: str | None = None,
    batched: bool = False,
    batch_size: int | None = None,
) -> type[Metric]:
    """Make a metric of a function or class; see `postil.register_metric` for their forms.

    Args:
        given: The function or class.
        name: Name of the metric; by default that of the function or class.
        better: ``high`` if higher is better, else ``low``.
        low: The lowest score; by default there is none.
        high: The highest score; likewise.
        version: Version for signatures, in place of a hash of the source.
        batched: True if it takes many candidates in a call.
        batch_size: Largest number of candidates in a call, if ``batched``; by default `BATCH`.

    Raises:
        UsageError: It is no function or class of such a form, or specs cannot hold its name.

    >>> def longer(candidate, references, *, words: int = 0):
    ...     return float(len(candidate) > max(map(len, references)) + words)
    >>> print(define(longer, high=1)(words=2))
    longer(words=2)
    """
    check_arguments(define, locals())
    if isinstance(given, type) and issubclass(given, Metric):
        if (better, low, high, batched, batch_size) != ("high", None, None, False, None):
            problem = "better, low and high are attributes of the class; set them there"
            raise UsageError(f"metric {given.__name__}: {problem}")
        return _metric_class(given, name, version)
    if not callable(given):
        raise UsageError(f"register_metric: expected a function or a class, got {_named(given)}")
    name = _name(given, name)
    if better not in {"high", "low"}:
        raise UsageError(f"metric {name}: better: expected high or low, got {better}")
    if low is not None and high is not None and low >= high:
        raise UsageError(f"metric {name}: expected low below high, got {low:g} and {high:g}")
    if batch_size is not None and (batch_size < 1 or not batched):
        raise UsageError(f"metric {name}: batch_size: expected at least 1, and batched=True, got {batch_size}")
    weights, parameters = _read_signature(given, name, batched=batched)
    made: type[FunctionMetric] = dataclasses.make_dataclass(
        name,
        [(each, hint, dataclasses.field(default=default)) for each, hint, default in parameters],
        bases=(FunctionMetric,),
        namespace={
            "declaration": Declaration(name, given, weights, (batch_size or BATCH) if batched else None),
            "better": better,
            "low": -math.inf if low is None else float(low),
            "high": math.inf if high is None else float(high),
            "origin": _origin(given, version),
        },
        frozen=True,
        kw_only=True,
    )
    return made


def reads_weights(metric: type[Metric]) -> bool:
    """True if it is made of a function that takes weights.

    Args:
        metric: A metric from outside the package.
    """
    return issubclass(metric, FunctionMetric) and metric.declaration.weights != "none"


def _metric_class(given: type[Metric], name: str | None, version: str | None) -> type[Metric]:
    """Check a class that is a `Metric` already."""
    if "__dataclass_fields__" not in vars(given):
        raise UsageError(f"metric {given.__name__}: expected a dataclass: @dataclass(frozen=True, kw_only=True)")
    try:
        own = given().name
    except TypeError as error:
        problem = f"expected a class that can be made without arguments: {error}"
        raise UsageError(f"metric {given.__name__}: {problem}") from error
    if name not in {None, own}:
        raise UsageError(f"metric {name}: expected the name that the class has itself, '{own}'")
    _name(given, own)
    given.origin = _origin(given, version)
    return given


def _name(given: Given, name: str | None) -> str:
    """The name of a metric, if specs can hold it."""
    found = getattr(given, "__name__", None) if name is None else name
    if not isinstance(found, str) or not NAME.fullmatch(found):
        problem = "expected a name of letters, digits, _, -, . and +, a letter first, without w- in front"
        got = _named(given) if name is None else f"'{name}'"
        raise UsageError(f"metric {got}: {problem}; postil.register_metric(name=…) gives one")
    return found


def _read_signature(given: Given, name: str, *, batched: bool) -> tuple[Place, list[tuple[str, object, object]]]:
    """The place of the weights among the arguments, and the parameters for specs: name, type and default."""
    s = "s" if batched else ""
    expected = (
        f"metric {name}: expected a function of (candidate{s}, references) or (candidate{s}, references, weights), "
        "or a class whose objects are called so, with defaults for other parameters"
    )
    made_of: list[inspect.Parameter] = []
    try:
        if isinstance(given, type):
            called = given.__call__
            takes, made_of = _takes(called)[1:], _takes(given)
        else:
            called, takes = given, _takes(given)
    except (AttributeError, TypeError, ValueError):
        raise UsageError(f"{expected}; got {_named(given)}, whose parameters are not known") from None
    places = [each for each in takes if each.kind is not each.KEYWORD_ONLY]
    weights: Place = "none"
    if len(places) > 2 and (places[2].name == "weights" or places[2].default is EMPTY):
        weights = "third"
    elif any(each.name == "weights" for each in takes):
        weights = "keyword"
    read = {each.name for each in places[: 3 if weights == "third" else 2]} | {"weights"}
    others = [each for each in takes if each.name not in read]
    lacking = any(each.default is EMPTY for each in (*others, *made_of))
    if len(places) < 2 or lacking or inspect.iscoroutinefunction(called):
        raise UsageError(f"{expected}; got {name}{inspect.signature(called if others or not made_of else given)}")
    hints = _hints(given.__init__ if isinstance(given, type) else given)  # type: ignore[misc]  # of a class as it is
    return weights, list(_parameters(name, made_of if isinstance(given, type) else others, hints))


def _takes(given: Given) -> list[inspect.Parameter]:
    """Parameters of a function, without those of any number."""
    variable = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return [each for each in inspect.signature(given).parameters.values() if each.kind not in variable]


def _hints(given: Given) -> dict[str, object]:
    try:
        return get_type_hints(given)
    except (NameError, TypeError):  # names that are imported for type checkers alone, or no function
        return {}


def _parameters(
    name: str, parameters: list[inspect.Parameter], hints: dict[str, object]
) -> Iterator[tuple[str, object, object]]:
    """Parameters that specs can have; others keep their defaults."""
    for each in parameters:
        hint = _plain_type(hints.get(each.name), each.default)
        if hint is None:
            continue
        if hasattr(FunctionMetric, each.name) or each.name == "declaration":
            raise UsageError(f"metric {name}: every metric has a '{each.name}' of its own; rename the parameter")
        yield each.name, hint, each.default


def _plain_type(hint: object, default: object) -> object:
    """Type of a parameter in specs, of its annotation or its default; None if neither is plain."""
    if get_origin(hint) in {Union, UnionType}:
        hint = next((each for each in get_args(hint) if each is not NoneType), None)
    if hint in PLAIN or (get_origin(hint) is Literal and all(isinstance(each, str) for each in get_args(hint))):
        return hint
    return type(default) if type(default) in PLAIN else None


def _origin(given: Given, version: str | None) -> str:
    """Part of signatures: the version, else a hash of the source of the function or class alone."""
    if version is not None:
        if not re.fullmatch(r"[^\s|]+", version):
            raise UsageError(f"version: expected text without blanks and |, got '{version}'")
        return f"version:{version}"
    try:
        source = inspect.getsource(given)
    except (OSError, TypeError):  # typed into an interpreter, or no function
        return "source:unknown"
    return f"source:{hashlib.sha256(source.encode()).hexdigest()[:DIGITS]}"


def _named(given: object) -> str:
    return str(getattr(given, "__name__", None) or type(given).__name__)
