"""Metrics that a Python function of raw texts calculates; a problem in the function names the metric and the text."""

from __future__ import annotations

import dataclasses
import math
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

import numpy as np

from postil.data.explain import shown
from postil.errors import PostilError, UsageError
from postil.metrics.base import Metric, Scorer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.references import Matches, References

__all__ = ["Declaration", "FunctionMetric", "MetricFailed", "Place", "reporting"]

ROUNDING: Final = 1e-6
"""Share of a bound, or of 1, by which a score may exceed it: models calculate in single precision."""

Place: TypeAlias = Literal["third", "keyword", "none"]
"""Place of the references' weights among the arguments of a function."""


Function: TypeAlias = Callable[..., object]


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
        weights: Place of the references' weights among its arguments.
        batch: Largest number of candidates in a call; None for a function of one candidate.
    """

    name: str
    given: Function
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

    def __post_init__(self) -> None:
        if self.weighted and self.declaration.weights == "none":
            name = self.name
            raise UsageError(f"w-{name}: {name} reads no weights; give its function a third argument, weights")

    @property
    def name(self) -> str:
        """See `Specified.name`."""
        return self.declaration.name

    @property
    def aggregation(self) -> Literal["mean", "sums"]:
        """See `Metric.aggregation`."""
        return "mean"

    def function(self) -> Function:
        """The function with the parameters of this metric."""
        given = self.declaration.given
        names = [each.name for each in dataclasses.fields(self) if not each.metadata.get("hidden")]
        parameters = {name: getattr(self, name) for name in names}
        if isinstance(given, type):
            return _object(given, tuple(parameters.items()))
        return partial(given, **parameters) if parameters else given

    def bind(self, references: References, background: DocumentFrequencies | None) -> Scorer:  # noqa: ARG002
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
            if self._weighted:
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
            given: list[object] = [batch, [self._texts[begin:end] for begin, end in bounds]]
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
        """Convert scores to float64[n]; refuse what is no finite number within the metric's range."""
        low, high = self.metric.low, self.metric.high
        floats = set(map(type, found)) == {float}
        values = np.fromiter(found if floats else map(_number, found), np.float64, len(found))
        for row in np.flatnonzero(~np.isfinite(values))[:1].tolist():
            raise self._failed(f"returned {_got(found[row])}; expected a finite number", candidates, row)
        below = values < low - ROUNDING * max(1.0, abs(low))
        for row in np.flatnonzero(below | (values > high + ROUNDING * max(1.0, abs(high))))[:1].tolist():
            expected = f"expected a number from {low:g} to {high:g}, the range that it is registered with"
            raise self._failed(f"returned {values[row]:g}; {expected}", candidates, row)
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
