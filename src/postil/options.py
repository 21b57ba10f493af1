"""Options of commands: each is declared once, as a documented field of a frozen dataclass.

The command line makes flags and their help from the fields (`postil.cli.command`), Python takes the class or its fields
as keywords, and results record what they need of it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Final,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from postil.messages import Setting

__all__ = [
    "Flag",
    "changed_settings",
    "descriptions",
    "documented",
    "flag_name",
    "flags_of",
    "group_of",
    "is_options",
    "options",
    "split_hint",
]

T = TypeVar("T")

_CLASSES: Final[dict[type, str]] = {}
"""The classes of options, with the groups that their flags are in."""

_ENTRY: Final = re.compile(r"^ {4}(\w+): +(.*(?:\n {8,}.*)*)", re.MULTILINE)
_MARKS: Final = re.compile(r"``|`postil\.[\w.]*?(?=\w+`)|`")


@dataclass(frozen=True, slots=True)
class Flag:
    """The flag of a field of an options class; metadata in ``Annotated``.

    Args:
        name: Name of the flag; by default the field's name, with ``-`` for ``_``.
        short: A letter for it.
        other: Another name of it.
        metavar: Placeholder of the value in the help.
        min: Smallest allowed number.
        max: Largest allowed number.
        hidden: True if the field is set from Python alone.
        names: The names that it takes, in words, which follow the first part of its description.
        first: True if most people need it: the short help of a command explains it.
        group: Group of it in the help; by default that of the class that declares it.
        once: True if a second one is refused, such as a file of rows that would be taken for read; of other flags the
            last one counts, so that an alias may hold what is usual.
    """

    name: str = field(default="", kw_only=False)
    short: str = ""
    other: str = ""
    metavar: str | None = None
    min: float | None = None
    max: float | None = None
    hidden: bool = False
    names: str = ""
    first: bool = False
    group: str = ""
    once: bool = False


@overload
def options(cls: type[T]) -> type[T]: ...


@overload
def options(*, group: str) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, kw_only_default=True)
def options(cls: type[T] | None = None, *, group: str = "") -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class of options: a frozen dataclass with keywords only.

    Each field has an entry under ``Args`` in the docstring of the class that declares it; the entry is the help of its
    flag. Annotations must be importable at run time.

    Args:
        cls: The class; its annotations may carry a `Flag`.
        group: Group of its flags in the help, for classes that several commands share; by default they are the
            command's own.

    >>> @options
    ... class Numbers:
    ...     '''Options of an example.
    ...
    ...     Args:
    ...         count: Number of things; see `postil.options.Flag`.
    ...     '''
    ...
    ...     count: int = 3
    >>> Numbers(count=4), descriptions(Numbers)
    (Numbers(count=4), {'count': 'Number of things; see Flag.'})
    """

    def made(cls: type[T]) -> type[T]:
        done = dataclass(frozen=True, kw_only=True)(cls)
        _CLASSES[done] = group
        return done

    return made if cls is None else made(cls)


def is_options(cls: object) -> bool:
    """True if it is a class that `options` made.

    Args:
        cls: Anything.
    """
    return isinstance(cls, type) and cls in _CLASSES


def group_of(cls: type, name: str) -> str:
    """The group in the help of the class that declares a field last; empty for none.

    Args:
        cls: An options class.
        name: Name of the field.

    >>> @options(group="Sampling")
    ... class Seeded:
    ...     '''Options of what draws.
    ...
    ...     Args:
    ...         seed: Seed.
    ...     '''
    ...
    ...     seed: int = 0
    >>> group_of(Seeded, "seed")
    'Sampling'
    """
    return _CLASSES[next(base for base in cls.__mro__ if name in vars(base).get("__annotations__", {}))]


def documented(docstring: str) -> dict[str, str]:
    r"""The description of each argument in a docstring, in plain text.

    Args:
        docstring: The docstring.

    >>> documented("Numbers.\n\n    Args:\n        n: How many,\n            of ``kind``.")
    {'n': 'How many, of kind.'}
    """
    _, _, args = inspect.cleandoc(docstring).partition("Args:\n")
    return {name: _MARKS.sub("", " ".join(text.split())) for name, text in _ENTRY.findall(args)}


@cache
def descriptions(cls: type) -> Mapping[str, str]:
    """The description of each field, from the docstrings of a class and its bases.

    Args:
        cls: An options class.
    """
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        found |= documented(base.__doc__ or "")
    for name, hint in get_type_hints(cls, include_extras=True).items() if is_options(cls) else ():
        if names := split_hint(hint)[1].names:
            what, end, rest = found[name].partition(";" if ";" in found[name] else ".")
            found[name] = f"{what}: {names}{end}{rest}"
    return found


def flag_name(field: str, flag: Flag) -> str:
    """The name of a field's flag, without hyphens before it.

    Args:
        field: Name of the field.
        flag: Its flag.

    >>> flag_name("learning_rate", Flag()), flag_name("metrics", Flag("metric", short="m"))
    ('learning-rate', 'metric')
    """
    return flag.name or field.replace("_", "-")


def flags_of(cls: type) -> dict[str, str]:
    """The flags of an options class, and of those within it, by the name of the field.

    Args:
        cls: The class.

    >>> @options
    ... class Numbers:
    ...     '''Options of an example.
    ...
    ...     Args:
    ...         units: Units; repeatable.
    ...     '''
    ...
    ...     units: Annotated[tuple[str, ...], Flag("unit")] = ()
    >>> flags_of(Numbers)
    {'units': '--unit'}
    """
    hints, found = get_type_hints(cls, include_extras=True), dict[str, str]()
    for each in fields(cls):
        inner, flag = split_hint(hints[each.name])
        if isinstance(inner, type) and is_options(inner):
            found |= flags_of(inner)
        elif not flag.hidden:
            name = flag_name(each.name, flag)
            found[each.name] = f"-{name}" if name == flag.short else f"--{name}"
    return found


def split_hint(hint: object) -> tuple[object, Flag]:
    """The type of a field without None, and its flag.

    Args:
        hint: Annotation of the field, resolved; a union of several types is read as text.

    >>> inner, flag = split_hint(Annotated[int | None, Flag(min=1)])
    >>> inner, flag.min
    (<class 'int'>, 1)
    """
    flag = Flag()
    if get_origin(hint) is Annotated:
        hint, *more = get_args(hint)
        flag = next((each for each in more if isinstance(each, Flag)), flag)
    if get_origin(hint) in {Union, UnionType}:
        hint, *others = (each for each in get_args(hint) if each is not NoneType)
        if others:
            hint = str
    return hint, flag


def changed_settings(given: object) -> tuple[Setting, ...]:
    """The settings of options that differ from their defaults; a repeatable one has a setting for each of its values.

    Args:
        given: An options object whose fields all have defaults; options within it are included.

    Raises:
        ValueError: An option differs that is set from Python alone.

    >>> from postil.messages import COMMAND_LINE
    >>> @options
    ... class Numbers:
    ...     '''Options of an example.
    ...
    ...     Args:
    ...         count: Number of things.
    ...         sort: Sort them.
    ...         unit: Unit; repeatable.
    ...     '''
    ...
    ...     count: int = 3
    ...     sort: bool = True
    ...     unit: tuple[str, ...] = ()
    >>> [COMMAND_LINE.setting(each) for each in changed_settings(Numbers(count=4, sort=False, unit=("m", "s")))]
    ['--count 4', '--no-sort', '--unit m', '--unit s']
    """
    return tuple(_changed(given, type(given)()))


def _changed(given: object, default: object) -> Iterator[Setting]:
    hints = get_type_hints(type(given), include_extras=True)
    for each in fields(given):  # type: ignore[arg-type]  # a dataclass
        value, usual = getattr(given, each.name), getattr(default, each.name)
        if is_options(type(value)):
            yield from _changed(value, usual)
        elif value != usual:
            kind, flag = split_hint(hints[each.name])
            if flag.hidden:
                raise ValueError(f"{each.name}: it has no flag")
            for one in (value,) if isinstance(value, bool) else _texts(value, kind):
                yield Setting(each.name, one)


def _texts(value: object, kind: object) -> list[str]:
    """The values of a flag, one for each time that it is given."""
    if isinstance(value, Mapping):
        return [f"{name}={one}" for name, one in value.items()]
    if not isinstance(value, tuple):
        return [str(value)]
    repeated = get_origin(kind) is tuple  # else a class of names with commas between them
    return [str(one) for one in value] if repeated else [",".join(map(str, value))]
