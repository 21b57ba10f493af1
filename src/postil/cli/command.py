"""Commands from functions: an options class becomes flags, one per field; parameters that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Protocol, TypeAlias, cast, get_args, get_origin, get_type_hints

import typer

from postil.cli.output import exits, refuse
from postil.errors import UnknownName, UsageError
from postil.messages import INTERFACE, CommandLine
from postil.options import descriptions, flag_name, flags_of, is_options, split_hint
from postil.results.formats import FORMATS, Format

if TYPE_CHECKING:
    from dataclasses import Field
    from typing import ParamSpec

    from typer.core import TyperGroup

    from postil.options import Flag

    P = ParamSpec("P")

__all__ = ["SETTINGS", "CampaignArgument", "FormatOption", "ReportOption", "ScoresArgument", "command", "group"]

Values: TypeAlias = dict[str, object]

_METAVARS: Final[Mapping[object, str]] = {int: "N", float: "X", Path: "FILE"}

SETTINGS: Final = {"help_option_names": ["-h", "--help"]}


def command(function: Callable[P, None]) -> Callable[P, None]:
    """Make a command: every parameter whose class is an options class is replaced by its flags.

    Args:
        function: The function; its annotations must be importable at run time.
    """
    hints = get_type_hints(function, include_extras=True)
    parameters: list[inspect.Parameter] = []
    makers: dict[str, type] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        if is_options(hint):
            makers[parameter.name] = cast("type", hint)
            parameters += _flags(cast("type", hint))
        else:
            parameters.append(parameter.replace(annotation=hint))

    def run(*args: object, **given: object) -> None:
        made = {name: _made(cls, given) for name, cls in makers.items()}
        cast("Callable[..., None]", function)(*args, **given, **made)

    ending = exits(run)

    def ends(*args: object, **given: object) -> None:
        flags = {name: flag for cls in makers.values() for name, flag in flags_of(cls).items()}
        spoken_before = INTERFACE.set(CommandLine(flags))
        try:
            ending(*args, **given)
        finally:
            INTERFACE.reset(spoken_before)

    ends.__name__, ends.__doc__, ends.__module__ = function.__name__, function.__doc__, function.__module__
    ends.__annotations__ = {each.name: each.annotation for each in parameters}
    required = [each for each in parameters if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    optional = [each for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY]
    ends.__signature__ = inspect.Signature([*required, *optional])  # type: ignore[attr-defined]  # inspect reads it
    return cast("Callable[P, None]", ends)


class _Parsed(Protocol):
    """A class whose values are written as text, such as `postil.data.grades.Scale`."""

    @classmethod
    def parse(cls, text: str) -> object: ...


def _made(cls: type, given: Values) -> object:
    """An options object, of flags' values that it takes out of those given."""
    hints = get_type_hints(cls, include_extras=True)
    values: Values = {}
    for each in fields(cls):
        inner, flag = split_hint(hints[each.name])
        if is_options(inner):
            values[each.name] = _made(cast("type", inner), given)
        elif not flag.hidden:
            value = given.pop(each.name)
            if value is not None and value != []:
                values[each.name] = _value(inner, value, f"--{flag_name(each.name, flag)}")
    return cls(**values)


def _flags(cls: type) -> list[inspect.Parameter]:
    """The flags of an options class, one per field: its own, then those that it shares with other commands."""
    hints, texts = get_type_hints(cls, include_extras=True), descriptions(cls)
    made: list[inspect.Parameter] = []
    for each in sorted(fields(cls), key=lambda each: each.name not in cls.__annotations__):
        inner, flag = split_hint(hints[each.name])
        if is_options(inner):
            made += _flags(cast("type", inner))
        elif not flag.hidden:
            option = typer.Option(
                *_names(each, flag),
                metavar=None if inner is bool else flag.metavar or _METAVARS.get(_single(inner)),
                help=texts[each.name],
                min=flag.min,
                max=flag.max,
            )
            made.append(
                inspect.Parameter(
                    each.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=_default(each, inner),
                    annotation=Annotated[_taken(inner, each), option],
                )
            )
    return made


def _names(of: Field[object], flag: Flag) -> list[str]:
    """All names of a flag; a switch that is on by default has one that turns it off."""
    name = flag_name(of.name, flag)
    names = [f"--{name}/--no-{name}" if of.default is True else f"--{name}"]
    return names + [f"-{flag.short}"] * bool(flag.short) + [f"--{flag.other}"] * bool(flag.other)


def _several(inner: object) -> bool:
    """True if a flag may be repeated: the field is a tuple of any length, or names values."""
    return (get_origin(inner) is tuple and get_args(inner)[-1] is Ellipsis) or get_origin(inner) is Mapping


def _single(inner: object) -> object:
    """The type that typer reads: of one value of a repeated flag, or of the value."""
    if get_origin(inner) is tuple and get_args(inner)[-1] is Ellipsis:
        inner = get_args(inner)[0]
    if get_origin(inner) is tuple:
        return inner
    return inner if inner in {bool, int, float, str, Path} else str


def _taken(inner: object, of: Field[object]) -> object:
    single = _single(inner)
    if _several(inner):
        return list[single] | None  # type: ignore[valid-type]  # made at run time
    required = of.default is MISSING and of.default_factory is MISSING
    return single if required or inner is bool else single | None  # type: ignore[operator]  # the same


def _default(of: Field[object], inner: object) -> object:
    """The default that the help shows; a repeated flag has none, since its values would add up."""
    if of.default is MISSING and of.default_factory is MISSING:
        return inspect.Parameter.empty
    if _several(inner) or of.default is MISSING or of.default is None:
        return None
    return of.default if isinstance(of.default, bool | int | float | str | tuple) else str(of.default)


def _value(inner: object, value: object, flag: str) -> object:
    """The value of a field, of what typer read."""
    if get_origin(inner) is Mapping:
        return _by_name(cast("list[str]", value), flag)
    if _several(inner):
        one = get_args(inner)[0]
        return tuple(_value(one, each, flag) for each in cast("list[object]", value))
    if isinstance(value, str) and hasattr(inner, "parse"):
        return cast("type[_Parsed]", inner).parse(value)
    return value


def _by_name(given: list[str], flag: str) -> dict[str, str]:
    """Parse repeated flags like ``--model att=models/att``."""
    found: dict[str, str] = {}
    for each in given:
        name, _, value = each.partition("=")
        if not name or not value or name in found:
            raise UsageError(f"{flag} takes NAME=VALUE, each name once; got '{each}'")
        found[name] = value
    return found


def group(name: str, text: str, cls: type[TyperGroup] | None = None) -> typer.Typer:
    """A command that has others below it.

    Args:
        name: Its name.
        text: Its help.
        cls: Class of the group, if not the usual one.
    """
    return typer.Typer(
        name=name,
        cls=cls,
        help=text,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        context_settings=SETTINGS,
    )


def _format(name: str) -> Format:
    if name not in FORMATS:
        refuse(UnknownName("format", name, FORMATS))
    return name


CampaignArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="CAMPAIGN", help="The campaign: an SQLite file, sqlite:///FILE or postgresql://…")
]
FormatOption: TypeAlias = Annotated[
    Format,
    typer.Option(parser=_format, metavar="FORMAT", help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}."),
]
ReportOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="HTML report to write; CSV and LaTeX tables are written beside it."),
]
ScoresArgument: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="SCORES",
        help="Item scores (item, system, metric, score, and signature if there is one), as from score --items.",
    ),
]
