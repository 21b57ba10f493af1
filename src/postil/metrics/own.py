"""Own metrics: a function or class that its user wrote becomes a metric with a name, whose problems are told.

A function becomes a class whose fields are the parameters of the function, so that specs, signatures and equality are
those of all metrics. It takes raw texts and not tokens, as models tokenize by themselves, and its own signature says
what it may do, so there is no base class to learn. Own metrics stay in one process: on another machine their code may
be another or missing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import inspect
import math
import re
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np

from postil.data.arguments import check_arguments
from postil.data.explain import shown
from postil.data.groups import grouped
from postil.errors import PostilError, UsageError
from postil.metrics.base import Metric, Scorer

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.references import Matches, References


__all__ = [
    "GROUP",
    "Declaration",
    "FunctionMetric",
    "MetricFailed",
    "Metrics",
    "Place",
    "Registry",
    "define",
    "reads_weights",
    "reporting",
]

ROUNDING: Final = 1e-6
"""Share of a bound, or of 1, by which a score may exceed it: models calculate in single precision."""

Function: TypeAlias = Callable[..., object]
"""A function or class that its user wrote."""

Place: TypeAlias = Literal["third", "keyword", "none"]
"""Place of the references' weights among the arguments of a function."""


class MetricFailed(PostilError):  # noqa: N818 - says what is wrong
    """A metric from outside the package raised an error, or returned what is no score.

    Args:
        problem: The problem, which names the metric.
        row: Index of the candidate among those that were scored together, where it is known.
    """

    def __init__(self, problem: str, row: int | None = None) -> None:
        self.row = row
        super().__init__(problem)


@contextmanager
def reporting(metric: Metric) -> Iterator[None]:
    """Report an error in the code of a metric from outside the package; other errors pass.

    Args:
        metric: The metric whose code runs.

    Raises:
        MetricFailed: The metric is registered, and raised something.
    """
    try:
        yield
    except PostilError:
        raise
    except (Exception, SystemExit) as error:
        if not metric.origin:
            raise
        raise MetricFailed(f"{metric.name} {_raised(error)}") from error


@dataclass(frozen=True, eq=False, slots=True)
class Declaration:
    """The function or class behind a metric.

    Args:
        name: Name of the metric.
        given: The function, or the class whose objects are called as functions.
        references: False if it takes candidates alone.
        weights: Place of the references' weights among its arguments.
        batch: Largest number of candidates in a call; None for a function of one candidate.
    """

    name: str
    given: Function
    references: bool
    weights: Place
    batch: int | None


@cache
def _object(given: Callable[..., Callable[..., object]], parameters: tuple[tuple[str, object], ...]) -> Function:
    """The object of a class; made once, since it may hold a model."""
    return given(**dict(parameters))


@dataclass(frozen=True, kw_only=True)
class FunctionMetric(Metric):
    """A metric that a function of texts calculates; its corpus score is the mean of the item scores.

    `postil.metrics.own.define` makes a class of each function; the fields of that class are the function's parameters.
    """

    declaration: ClassVar[Declaration]
    low: ClassVar[float] = -math.inf
    high: ClassVar[float] = math.inf
    reads_texts: ClassVar[bool] = True
    reads_tokens: ClassVar[bool] = False
    aggregation: ClassVar[Literal["mean", "sums"]] = "mean"

    def __post_init__(self) -> None:
        if self.weighted and self.declaration.weights == "none":
            name = self.name
            raise UsageError(f"w-{name}: {name} reads no weights; give its function a third argument, weights")

    @property
    def name(self) -> str:
        """See `Specified.name`."""
        return self.declaration.name

    @property
    def needs_references(self) -> bool:
        """See `Metric.needs_references`."""
        return self.declaration.references

    def function(self) -> Function:
        """The function with the parameters of this metric."""
        given = self.declaration.given
        names = [each.name for each in dataclasses.fields(self) if not each.metadata.get("hidden")]
        parameters = {name: getattr(self, name) for name in names}
        if isinstance(given, type):
            return _object(given, tuple(parameters.items()))
        return partial(given, **parameters) if parameters else given

    def bind(self, references: References, _background: DocumentFrequencies | None) -> Scorer:
        """See `Metric.bind`."""
        return FunctionScorer(self, references)


class FunctionScorer(Scorer):
    """A function of texts, bound to references.

    Args:
        metric: The metric.
        references: The references.

    Raises:
        MetricFailed: The metric is a class, and making its object raised an error.
    """

    metric: FunctionMetric

    def __init__(self, metric: FunctionMetric, references: References) -> None:
        super().__init__(metric, references)
        with reporting(metric):
            function = metric.function()
        self._weighted = metric.declaration.weights != "none"
        by_name = metric.declaration.weights == "keyword"
        self._function: Function = _with_third(function) if by_name else function
        self._texts = list(references.tokens.raw_texts())

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        """Statistics of n candidates, float64[n, 2]: the score, and 1."""
        candidates = matches.candidates.raw_texts()
        call = self._each if self.metric.declaration.batch is None else self._batches
        values = self._checked(call(candidates, matches.sets), candidates)
        return np.stack([values, np.ones(len(values))], axis=1)

    def _each(self, candidates: Sequence[str], sets: NDArray[np.int32]) -> list[object]:
        """Call the function with one candidate at a time."""
        function, texts, weights, found = self._function, self._texts, self.references.weights, list[object]()
        bounds = zip(self.references.offsets[sets].tolist(), self.references.offsets[sets + 1].tolist(), strict=True)
        try:
            if not self.metric.needs_references:
                found.extend(map(function, candidates))
            elif self._weighted:
                for text, (begin, end) in zip(candidates, bounds, strict=True):
                    found.append(function(text, texts[begin:end], weights[begin:end].tolist()))
            else:
                for text, (begin, end) in zip(candidates, bounds, strict=True):
                    found.append(function(text, texts[begin:end]))
        except (Exception, SystemExit) as error:
            raise self._failed(_raised(error), candidates, len(found)) from error
        return found

    def _batches(self, candidates: Sequence[str], sets: NDArray[np.int32]) -> list[object]:
        """Call the function with many candidates at a time."""
        size, found = self.metric.declaration.batch or 1, list[object]()
        begins, ends = self.references.offsets[sets], self.references.offsets[sets + 1]
        for first in range(0, len(candidates), size):
            batch = list(candidates[first : first + size])
            bounds = list(zip(begins[first : first + size].tolist(), ends[first : first + size].tolist(), strict=True))
            given: list[object] = [batch]
            if self.metric.needs_references:
                given.append([self._texts[begin:end] for begin, end in bounds])
            if self._weighted:
                given.append([self.references.weights[begin:end].tolist() for begin, end in bounds])
            try:
                scores = self._function(*given)
                values = _listed(scores)
            except (Exception, SystemExit) as error:
                raise self._failed(_raised(error), candidates, first, len(batch)) from error
            if values is None or len(values) != len(batch):
                got = _got(scores) if values is None else f"{len(values)} scores"
                raise self._failed(f"returned {got}; expected {len(batch)} numbers", candidates, first, len(batch))
            found += values
        return found

    def _checked(self, found: list[object], candidates: Sequence[str]) -> NDArray[np.float64]:
        """Convert scores to float64[n]; refuse what is no finite number within the metric's range.

        Nobody reads the warnings of a run of an hour, and a range that does not hold makes weights by consensus wrong.
        """
        low, high = self.metric.low, self.metric.high
        floats = set(map(type, found)) == {float}
        values = np.fromiter(found if floats else map(_number, found), np.float64, len(found))
        for row in np.flatnonzero(~np.isfinite(values))[:1].tolist():
            raise self._failed(f"returned {_got(found[row])}; expected a finite number", candidates, row)
        below = values < low - ROUNDING * max(1.0, abs(low))
        for row in np.flatnonzero(below | (values > high + ROUNDING * max(1.0, abs(high))))[:1].tolist():
            raise self._failed(
                f"returned {values[row]:g}; expected a number from {low:g} to {high:g}, the range that it is "
                "registered with",
                candidates,
                row,
            )
        return values

    def _failed(self, problem: str, candidates: Sequence[str], row: int, batch: int = 1) -> MetricFailed:
        text = shown(candidates[row])
        on = f"candidate {text}" if batch == 1 else f"{batch} candidates at once, the first of them {text}"
        return MetricFailed(f"{self.metric.name} {problem} ({on})", row)


def _with_third(function: Function) -> Function:
    """A function that takes weights by keyword as one that takes them third."""

    def called(candidate: object, references: object, weights: object) -> object:
        return function(candidate, references, weights=weights)

    return called


def _number(value: object) -> float:
    """A score as a float; NaN for what is no number. True and False are 1 and 0."""
    try:
        return float(value) if isinstance(value, float | int | np.floating | np.integer | np.bool_) else math.nan
    except OverflowError:
        return math.nan


def _listed(returned: object) -> list[object] | None:
    """The scores of a batch as a list; None where it is neither a sequence nor an array."""
    values = returned.tolist() if hasattr(returned, "tolist") else returned
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        return None
    return list(values)


def _raised(error: BaseException) -> str:
    """An error as one line, with the last line of the function's own file that led to it."""
    text = " ".join(str(error).split())
    frames = traceback.extract_tb(error.__traceback__)[1:]
    own = [each for each in frames if each.filename == frames[0].filename and not each.filename.startswith("<")]
    place = f", line {own[-1].lineno} of {Path(own[-1].filename).name}" if own else ""
    return f"raised {type(error).__name__}{text and f': {text}'}{place}"


def _got(value: object) -> str:
    """A value in messages as Python has it, with its type where that is not plain to see."""
    if value is None or isinstance(value, bool | int | float | str):
        return shown(value) if isinstance(value, str) else repr(value)
    return f"{type(value).__name__} {shown(' '.join(repr(value).split()))}"


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
            raise UsageError(
                f"metric {given.__name__}: better, low and high are attributes of the class; set them there"
            )
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
    references, weights, parameters = _read_signature(given, name, batched=batched)
    made: type[FunctionMetric] = dataclasses.make_dataclass(
        name,
        [(each, hint, dataclasses.field(default=default)) for each, hint, default in parameters],
        bases=(FunctionMetric,),
        namespace={
            "declaration": Declaration(name, given, references, weights, (batch_size or BATCH) if batched else None),
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

    Passed as it is, such a function goes by its own name and gets the weights of the call, since it asks for them; in
    specs ``name`` and ``w-name`` differ as they do for all metrics. The signature tells the two apart.

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
        raise UsageError(
            f"metric {given.__name__}: expected a class that can be made without arguments: {error}"
        ) from error
    if name not in {None, own}:
        raise UsageError(f"metric {name}: expected the name that the class has itself, '{own}'")
    _name(given, own)
    given.origin = _origin(given, version)
    return given


def _name(given: Function, name: str | None) -> str:
    """The name of a metric, if specs can hold it."""
    found = getattr(given, "__name__", None) if name is None else name
    if not isinstance(found, str) or not NAME.fullmatch(found):
        problem = "expected a name of letters, digits, _, -, . and +, a letter first, without w- in front"
        got = _named(given) if name is None else f"'{name}'"
        raise UsageError(f"metric {got}: {problem}; postil.register_metric(name=…) gives one")
    return found


def _read_signature(
    given: Function, name: str, *, batched: bool
) -> tuple[bool, Place, list[tuple[str, object, object]]]:
    """Read the arguments of a function, or of the objects of a class.

    Returns:
        True if it takes references, the place of their weights, and the parameters for specs: name, type and default.
    """
    s = "s" if batched else ""
    expected = (
        f"metric {name}: expected a function of (candidate{s}), (candidate{s}, references) or (candidate{s}, "
        "references, weights), or a class whose objects are called so, with defaults for other parameters"
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
    # No list of references has a plain default, so a second argument of another name with one is a parameter.
    references = len(places) > 1 and (places[1].name == "references" or type(places[1].default) not in PLAIN)
    weights: Place = "none"
    if references and len(places) > 2 and (places[2].name == "weights" or places[2].default is EMPTY):
        weights = "third"
    elif references and any(each.name == "weights" for each in takes):
        weights = "keyword"
    read = {each.name for each in places[: 3 if weights == "third" else 1 + references]}
    read |= {"weights"} if references else set()
    others = [each for each in takes if each.name not in read]
    lacking = any(each.default is EMPTY for each in (*others, *made_of))
    if not places or lacking or inspect.iscoroutinefunction(called):
        raise UsageError(f"{expected}; got {name}{inspect.signature(called if others or not made_of else given)}")
    hints = _hints(given.__init__ if isinstance(given, type) else given)  # type: ignore[misc]  # of a class as it is
    return references, weights, list(_parameters(name, made_of if isinstance(given, type) else others, hints))


def _takes(given: Function) -> list[inspect.Parameter]:
    """Parameters of a function, without those of any number."""
    variable = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return [each for each in inspect.signature(given).parameters.values() if each.kind not in variable]


def _hints(given: Function) -> dict[str, object]:
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


def _origin(given: Function, version: str | None) -> str:
    """Part of signatures: the version, else a hash of the source of the function or class alone.

    It does not see what the function calls or which file a model was read from, so a model has a version. Hashing all
    that a function reaches would look exact and not be.
    """
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


GROUP: Final = "postil.metrics"
"""Group of entry points whose names are those of metrics."""


class _PlugInLoader(SourceFileLoader):
    """Loader of a file without bytecode: Python would take that of an earlier text of the same second and size."""

    def path_stats(self, path: str) -> Mapping[str, float]:
        """Say that nothing is known of the file, so that Python neither reads nor writes bytecode."""
        raise OSError(path)


class Registry(Mapping[str, "type[Metric]"]):
    """Metrics from outside the package, by name.

    Looking up a name that is not registered looks among the functions of plug-ins, then among the entry points of
    installed packages, and loads the one of that name alone. Names in files of scores import nothing.

    Args:
        reserved: Names of the metrics of the package.
    """

    def __init__(self, reserved: Collection[str]) -> None:
        self._reserved = reserved
        self._made: dict[str, tuple[type[Metric], object]] = {}
        self._plugins: dict[str, ModuleType] = {}
        self._loaded: dict[str, bytes] = {}  # content of files, which are run again when they have changed

    def __getitem__(self, name: str) -> type[Metric]:
        if name not in self._made:
            given = dict(self._functions()).get(name) or self._installed(name)
            if given is None:
                raise KeyError(name)
            if name not in self._made:  # a decorator has not registered it under this name
                self.add(given, define(given, name=name))
        return self._made[name][0]

    def __iter__(self) -> Iterator[str]:
        listed = dict.fromkeys([*self._made, *(name for name, _ in self._functions()), *_installed()])
        return (name for name in listed if name not in self._reserved)

    def __len__(self) -> int:
        return len(list(iter(self)))

    @property
    def registered(self) -> dict[str, type[Metric]]:
        """The metrics that are registered by now."""
        return {name: made for name, (made, _) in self._made.items()}

    def of(self, given: Callable[..., object]) -> type[Metric]:
        """The metric of a function or class, registered or not.

        Args:
            given: It.

        Raises:
            UsageError: It is no metric, or its name is that of another.
        """
        for made, other in self._made.values():
            if other is given:
                return made
        made = define(given)
        self._check(made().name, given)
        return made

    def add(self, given: object, made: type[Metric]) -> None:
        """Register a metric.

        Args:
            given: The function or class that it is made of.
            made: The metric.

        Raises:
            UsageError: Another has its name.
        """
        name = made().name
        self._check(name, given)
        self._made[name] = (made, given)

    def load(self, plugin: str) -> None:
        """Import a plug-in, whose code may register metrics and whose functions are metrics if they are asked for.

        Args:
            plugin: A ``.py`` file, or the name of a module that Python finds.

        Raises:
            UsageError: There is no such file or module, or it registers what is no metric.
            PostilError: Its code raises an error.
        """
        path = Path(plugin)
        if path.suffix != ".py":
            try:
                self._plugins[plugin] = importlib.import_module(plugin)
            except BaseException as error:
                raise _import_failed(plugin, error) from error
            return
        if not path.is_file():
            raise UsageError(f"plugin {plugin}: there is no such file")
        place, content = str(path.resolve()), path.read_bytes()
        name = f"postil_plugin_{hashlib.sha256(place.encode()).hexdigest()[:8]}_{path.stem}"
        if self._loaded.get(name) == content:
            return
        self._made = {each: pair for each, pair in self._made.items() if getattr(pair[1], "__module__", "") != name}
        found = spec_from_file_location(name, path, loader=_PlugInLoader(name, str(path)))
        assert found is not None and found.loader is not None  # noqa: S101, PT018 - it ends in .py
        module = sys.modules[name] = module_from_spec(found)
        sys.path.insert(0, beside := str(path.resolve().parent))  # where Python would look if it ran the file
        try:
            found.loader.exec_module(module)
        except BaseException as error:
            del sys.modules[name]
            raise _import_failed(plugin, error) from error
        finally:
            with suppress(ValueError):  # its code may have removed it
                sys.path.remove(beside)
        self._plugins[name], self._loaded[name] = module, content

    def _check(self, name: str, given: object) -> None:
        if name in self._reserved:
            raise UsageError(f"metric {name}: the package has one of that name; register_metric(name=…) gives another")
        other = self._made[name][1] if name in self._made else given
        if other is not given and not _same_place(given, other):
            raise UsageError(
                f"metric {name}: two have this name, {_home(other)} and {_home(given)}; register_metric(name=…) gives "
                "another"
            )

    def _functions(self) -> Iterator[tuple[str, Callable[..., object]]]:
        """Public functions and classes of the plug-ins themselves, not those that they import."""
        registered = [given for _, given in self._made.values()]  # under the name that they want
        for module in self._plugins.values():
            for name, value in vars(module).items():
                own = callable(value) and getattr(value, "__module__", "") == module.__name__
                if own and not name.startswith("_") and not any(value is given for given in registered):
                    yield name, value

    @staticmethod
    def _installed(name: str) -> object:
        """Load the entry point of that name; None if there is none."""
        found = _installed().get(name, ())
        if len({point.value for point in found}) > 1:
            both = " and ".join(f"{point.value} of {point.dist.name if point.dist else '?'}" for point in found)
            raise UsageError(f"metric {name}: several packages have one: {both}; uninstall one of them")
        for point in found:
            try:
                return point.load()
            except BaseException as error:
                raise _import_failed(f"{point.value} (entry point of the metric {name})", error) from error
        return None


def _installed() -> dict[str, list[EntryPoint]]:
    """Entry points of all installed packages by name; no package is imported."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - it parses mail, and few names are unknown

    return grouped((point.name, point) for point in entry_points(group=GROUP))


def _home(given: object) -> str:
    """Module and name of a function or class."""
    return f"{getattr(given, '__module__', '?')}.{getattr(given, '__qualname__', type(given).__name__)}"


def _same_place(given: object, other: object) -> bool:
    """True of a module or cell that ran again, and of a module that was imported under two names."""
    return _home(given) == _home(other) or (
        _file(given) == _file(other) and getattr(given, "__qualname__", "") == getattr(other, "__qualname__", "")
    )


def _file(given: object) -> str:
    try:
        return inspect.getfile(given)  # type: ignore[arg-type]  # refused where it is neither function nor class
    except TypeError:
        return str(getattr(given, "__module__", ""))


def _import_failed(plugin: str, error: BaseException) -> PostilError:
    if isinstance(error, KeyboardInterrupt):
        raise error
    if isinstance(error, UsageError):
        return UsageError(f"plugin {plugin}: {error}")
    if isinstance(error, ModuleNotFoundError) and error.name and f"{plugin}.".startswith(f"{error.name}."):
        return UsageError(f"plugin {plugin}: Python finds no such module; a file is given with its ending, {plugin}.py")
    frames = [each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith("<")][1:]
    line = f", line {frames[-1].lineno} of {Path(frames[-1].filename).name}" if frames else ""
    return PostilError(f"plugin {plugin}: {type(error).__name__}: {' '.join(str(error).split())}{line}")
