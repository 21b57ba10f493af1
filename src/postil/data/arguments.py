"""Arguments of public functions and options: one check for each kind, by the annotation."""

from __future__ import annotations

import ast
import math
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

from postil.data.explain import LONGEST, shown
from postil.data.fields import is_integer, is_number
from postil.errors import UnknownName, UsageError, nearest
from postil.messages import Listed, Setting
from postil.options import Flag, split_hint

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["check_arguments", "check_bounds", "check_fields", "options_of", "parted"]

T = TypeVar("T")
Kind: TypeAlias = tuple[str, Callable[[object], bool]]  # what is expected, and whether a value is that

LEAST: Final = {"jobs": 1, "k": 0, "permutations": 1, "resamples": 1, "seed": 0, "worst": 0}
"""The least value of whole numbers, by the name that they have everywhere."""


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_metric(value: object) -> bool:
    return isinstance(value, str) or callable(value)


def _several(of: Callable[[object], bool]) -> Callable[[object], bool]:
    def fits(value: object) -> bool:
        return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping) and all(map(of, value))

    return fits


def _by_name(of: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, Mapping) and all(map(_is_text, value)) and all(map(of, value.values()))


_NAMES: Final[Kind] = ("a list of texts", _several(_is_text))
_KINDS: Final[Mapping[str, Kind]] = {
    "None": ("None", lambda value: value is None),
    "Backend": ("text", _is_text),
    "bool": ("True or False", lambda value: isinstance(value, bool)),
    "bytes": ("bytes", lambda value: isinstance(value, bytes)),
    "float": ("a number", is_number),
    "int": ("a whole number", is_integer),
    "str": ("text", _is_text),
    "FilePath": ("a path", _is_path),
    "Frame": ("a data frame", lambda _: False),  # functions that take files too convert one before they check
    "Sequence[Article]": ("a list of articles", lambda _: False),  # the same
    "OnMessage": ("a function", callable),
    "OnProgress": ("a function", callable),
    "Sequence[str]": ("a list of texts", lambda value: _is_text(value) or _NAMES[1](value)),
    "Metrics": ("a list of texts or functions", lambda value: _is_metric(value) or _several(_is_metric)(value)),
    "Sequence[FilePath]": ("a list of paths", _several(_is_path)),
    "Mapping[str, str]": ("texts by name", _by_name(_is_text)),
    "Mapping[str, Column]": ("columns by name", _by_name(lambda _: True)),
    "Mapping[str, Commenter]": ("commenters by name", _by_name(lambda value: hasattr(value, "comment"))),
    "os.PathLike[str]": ("a path", _is_path),
    "Sequence[Sequence[float]]": ("lists of numbers", _several(_several(lambda _: True))),
    "By": ("text", _is_text),
    "Rule": ("text", _is_text),
    "Goal": ("text", _is_text),
    "PassageSplit": ("text", _is_text),
    "tuple[int, ...]": ("a list of whole numbers", _several(is_integer)),
    "tuple[str, str]": ("two texts", lambda value: _NAMES[1](value) and len(value) == 2),  # type: ignore[arg-type]  # sized
}


def check_arguments(function: Callable[..., Any], given: Mapping[str, object]) -> None:
    """See that the arguments of a function are of the kinds that its annotations name.

    Columns and tables are not looked at: `postil.data.frames.as_list` and `postil.data.frames.open_rows` do that.

    Args:
        function: The function, in a module with ``from __future__ import annotations``.
        given: Its ``locals()``, before anything else was named.

    Raises:
        UsageError: One is of another kind.

    >>> def twice(text: str, jobs: int = 1) -> str:
    ...     check_arguments(twice, locals())
    ...     return text * 2
    >>> twice.__annotations__.update(text="str", jobs="int")
    >>> twice("a", jobs="2")
    Traceback (most recent call last):
    ...
    postil.errors.UsageError: jobs: expected a whole number from 1 up, got "2"
    """
    for name, annotation in function.__annotations__.items():
        if name != "return" and not annotation.startswith("Unpack["):  # those are checked as fields of the options
            _check(name, annotation, given[name])


def check_fields(options: DataclassInstance) -> None:
    """See that the fields of a fresh dataclass are of the kinds that its annotations name.

    Args:
        options: It, of a module with ``from __future__ import annotations``.

    Raises:
        UsageError: One is of another kind.
    """
    for name, field in options.__dataclass_fields__.items():
        _check(name, str(field.type), getattr(options, name))


def check_bounds(options: DataclassInstance) -> None:
    """See that the fields of options are among the choices and within the bounds that their flags have.

    The command line checks them itself.

    Args:
        options: An object of a class of options.

    Raises:
        UsageError: One is not.
    """
    for name, (known, flag) in _flags(type(options)).items():
        value = getattr(options, name)
        least, most = -math.inf if flag.min is None else flag.min, math.inf if flag.max is None else flag.max
        for one in value if isinstance(value, tuple | list) else (value,):
            expected: str | Listed = f"at least {flag.min}" if flag.max is None else f"a number from {least} to {most}"
            if known and one is not None:
                expected, wrong = Listed(known, last=" or "), one not in known
            else:
                wrong = isinstance(one, int | float) and not least <= one <= most
            if wrong:
                near = nearest(f"{one}", known)
                raise UsageError(
                    "{setting}: expected {expected}, got {got}{guess}",
                    setting=Setting(name),
                    expected=expected,
                    got=f"{one}",
                    guess="" if near is None else f"; did you mean '{near}'?",
                )


@cache
def _flags(cls: type) -> dict[str, tuple[tuple[str, ...], Flag]]:
    """Choices and flag of each field."""
    found = {name: split_hint(hint) for name, hint in get_type_hints(cls, include_extras=True).items()}
    return {name: (get_args(kind) if get_origin(kind) is Literal else (), flag) for name, (kind, flag) in found.items()}


def options_of(cls: type[T], options: T | None, keywords: Mapping[str, object]) -> T:
    """The options of a call, which has an options object or their fields as keywords.

    Args:
        cls: The class of the options.
        options: The object; None for the default ones or those of the keywords.
        keywords: Fields of the class by name.

    Raises:
        UsageError: Both are given, a required field is missing, or a keyword is no field.

    >>> from dataclasses import dataclass
    >>> @dataclass(kw_only=True)
    ... class Numbers:
    ...     count: int = 3
    >>> options_of(Numbers, None, {"count": 4}), options_of(Numbers, None, {})
    (Numbers(count=4), Numbers(count=3))
    >>> options_of(Numbers, None, {"cuont": 4})
    Traceback (most recent call last):
    ...
    postil.errors.UnknownName: unknown option 'cuont'; did you mean 'count'? Known: count
    """
    if options is not None:
        if keywords:
            raise UsageError(
                "{names}: options are given too; put it there",
                "{names}: options are given too; put them there",
                names=Listed([Setting(name) for name in keywords], last=", "),
                count=len(keywords),
            )
        return options
    of_class = {each.name: each for each in fields(cls)}  # type: ignore[arg-type]  # a dataclass
    for name in keywords:
        UnknownName.check("option", name, of_class)
    required = [name for name, each in of_class.items() if each.default is MISSING and each.default_factory is MISSING]
    if missing := [Setting(name) for name in required if name not in keywords]:
        raise UsageError("missing: {names}", names=Listed(missing, last=", "))
    return cls(**keywords)


def parted(keywords: Mapping[str, object], of: type[T]) -> tuple[T, dict[str, object]]:
    """Part the keywords of a call in those of a typed dictionary, which are checked, and the others.

    Args:
        keywords: The keywords.
        of: Class of the typed dictionary.

    Raises:
        UsageError: One of the first is of another kind.

    >>> from typing import TypedDict
    >>> class Names(TypedDict, total=False):
    ...     item: str
    >>> parted({"item": "id", "seed": 1}, Names)
    ({'item': 'id'}, {'seed': 1})
    """
    kinds = of.__annotations__
    given = {name: value for name, value in keywords.items() if name in kinds}
    for name, value in given.items():
        _check(name, kinds[name].__forward_arg__, value)
    return cast("T", given), {name: value for name, value in keywords.items() if name not in kinds}


def _check(name: str, annotation: str, value: object) -> None:
    kinds = _kinds(annotation)
    least = LEAST.get(name)
    if any(fits(value) for _, fits in kinds) and not (least is not None and is_integer(value) and value < least):
        return
    expected = " or ".join(
        f"{what} from {least} up" if least is not None and "whole" in what else what for what, _ in kinds
    )
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        expected += " of at most 64 bits"
    raise UsageError(f"{name}: expected {expected}, got {_got(value)}")


@cache
def _kinds(annotation: str) -> tuple[Kind, ...]:
    if annotation.startswith("Annotated["):
        body = ast.parse(annotation, mode="eval").body
        annotation = ast.unparse(body.slice.elts[0])  # type: ignore[attr-defined]  # a subscript of a tuple
    return tuple(map(_kind, annotation.split(" | ")))


def _kind(annotation: str) -> Kind:
    """Name of one alternative of an annotation; a class that is not in the table goes by its own name."""
    if annotation in _KINDS:
        return _KINDS[annotation]
    if annotation == "Column":
        return "a list or a column", lambda _: True
    if annotation in {"Table", "Scores", "Sequence[Table]"}:
        return "a table", lambda _: True
    if annotation.startswith("Literal["):
        return "text", _is_text
    if annotation.startswith("tuple[") and annotation.endswith(", ...]"):
        return _NAMES
    return f"a {annotation}", lambda value: any(kind.__name__ == annotation for kind in type(value).__mro__)


def _got(value: object) -> str:
    if isinstance(value, str) or (isinstance(value, float) and not math.isfinite(value)):
        return shown(value)
    text = repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
