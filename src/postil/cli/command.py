"""Commands from functions: an options class becomes flags, one per field; parameters that several commands share."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from pathlib import Path, PurePath
from typing import Annotated, Any, Final, TypeAlias, cast, get_args, get_origin, get_type_hints

import click

from postil.cli.help import ExplainedCommand, ExplainedGroup, FlagOption
from postil.cli.output import emit, exits, print_into, refuse
from postil.errors import UnknownName, UsageError
from postil.messages import INTERFACE, CommandLine
from postil.options import Flag, descriptions, flag_name, flags_of, group_of, is_options, split_hint
from postil.results.formats import FILES, FORMATS, Format

__all__ = [
    "ONE_FILE",
    "Argument",
    "CampaignArgument",
    "Commands",
    "FiguresOption",
    "FormatOption",
    "Group",
    "Option",
    "ReportOption",
    "ScoresArgument",
    "command",
    "flag_of",
]

Values: TypeAlias = dict[str, object]
Function: TypeAlias = Callable[..., None]

_METAVARS: Final[Mapping[object, str]] = {int: "N", float: "X", Path: "FILE"}

WIDTH: Final = 100
"""Largest number of columns of a help."""

SETTINGS: Final[Mapping[str, list[str] | int]] = {"help_option_names": ["-h", "--help"], "max_content_width": WIDTH}


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """A parameter that is given by its place; metadata in ``Annotated``. A list takes one or more, or any number.

    Args:
        metavar: Its name in the help.
        help: Its meaning.
        extra: Advice for the message that they are more than the command takes.
    """

    metavar: str
    help: str
    extra: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option(Flag):
    """The flag of a parameter of one command; metadata in ``Annotated``.

    Args:
        help: Its meaning.
        parse: Function that makes the value of the text.
        prints: Function whose text is printed in place of running the command.
    """

    help: str
    parse: Callable[[str], object] | None = None
    prints: Callable[[], str] | None = None


class _Argument(click.Argument):
    """An argument that the help describes."""

    def __init__(self, name: str, hint: object, said: Argument, *, required: bool) -> None:
        super().__init__(
            [name],
            required=required,
            type=_single(hint),
            nargs=-1 if _several(hint) else 1,
            callback=_read,
            metavar=said.metavar,
        )
        self.help, self.extra = said.help, said.extra

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:  # noqa: ARG002 - see `click.Argument`
        """See `click.Parameter`."""
        return self.human_readable_name, self.help or ""

    def make_metavar(self, ctx: click.Context) -> str:  # noqa: ARG002 - see `click.Argument`
        """See `click.Argument`."""
        name = self.human_readable_name
        dots = "..." if self.nargs != 1 and not name.endswith("...") else ""
        return f"{name}{dots}" if self.required else f"[{name}]{dots}"


class Commands(MutableMapping[str, click.Command]):
    """Commands by name, each made when it is asked for, so that starting one does not load the others.

    Args:
        names: Function that lists the names.
        make: Function that makes a command of its name; it raises KeyError for one that is not there.
    """

    def __init__(self, names: Callable[[], Iterable[str]], make: Callable[[str], click.Command]) -> None:
        self._names, self._make = names, make
        self._made: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._names(), *self._made)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Group(ExplainedGroup):
    """A command that has others below it.

    Args:
        name: Its name.
        help: Its help.
        commands: The commands; by default those that are added.
        job: Its heading in the help of the group above it.
    """

    def __init__(
        self,
        name: str,
        help: str,  # noqa: A002
        commands: Commands | None = None,
        job: str = "",
    ) -> None:
        self._functions: dict[str, tuple[Function, str | None, str]] = {}
        commands = Commands(lambda: self._functions, self._make) if commands is None else commands
        super().__init__(name, commands, help=help, no_args_is_help=True, context_settings=dict(SETTINGS))
        self.job = job

    def _make(self, name: str) -> click.Command:
        function, short_help, job = self._functions[name]
        made = command(function, name, short_help)
        made.job = job
        return made

    def add(self, name: str = "", short_help: str | None = None, job: str = "") -> Callable[[Function], Function]:
        """Add a function as a command; it stays what it is, so that it can be several commands.

        Args:
            name: Name of the command; by default that of the function.
            short_help: Its line in the help of the group; by default the first sentence of its docstring.
            job: Its heading there: what people do with it.
        """

        def added(function: Function) -> Function:
            self._functions[name or function.__name__] = function, short_help, job
            return function

        return added

    def itself(self, function: Function) -> Function:
        """Make a function what the group does by itself, before a command below it or without one.

        Args:
            function: The function.
        """
        self.params, self.callback = _parameters(function)
        self.invoke_without_command = True
        return function


def command(function: Function, name: str | None = None, short_help: str | None = None) -> ExplainedCommand:
    """Make a command: every parameter whose class is an options class is replaced by its flags.

    Args:
        function: The function; its annotations must be importable at run time.
        name: Name of the command; by default that of the function.
        short_help: Its line in the help of a group; by default the first sentence of the docstring.
    """
    parameters, run = _parameters(function)
    name = name or function.__name__
    help = inspect.cleandoc(function.__doc__ or "")  # noqa: A001
    made = ExplainedCommand(name, dict(SETTINGS), run, parameters, help, short_help=short_help)
    made.extra = next((each.extra for each in parameters if isinstance(each, _Argument)), "")
    return made


def _parameters(function: Function) -> tuple[list[click.Parameter], Function]:
    """The parameters of a command, and what it calls with their values."""
    hints = get_type_hints(function, include_extras=True)
    parameters: list[click.Parameter] = []
    makers: dict[str, type] = {}
    own = inspect.signature(function).parameters
    for parameter in own.values():
        hint = hints[parameter.name]
        if is_options(hint):
            makers[parameter.name] = cast("type", hint)
            parameters += _flags(cast("type", hint), own)
        else:
            parameters.append(_parameter(parameter, hint))

    @exits
    def run(given: Values) -> None:
        made = {name: _made(cls, given, own) for name, cls in makers.items()}
        function(**given, **made)

    def ends(**given: object) -> None:
        flags = {name: flag for cls in makers.values() for name, flag in flags_of(cls).items()}
        spoken_before = INTERFACE.set(CommandLine(flags))
        try:
            run(given)
        finally:
            INTERFACE.reset(spoken_before)

    return parameters, ends


def _parameter(parameter: inspect.Parameter, hint: object) -> click.Parameter:
    """A parameter of a function that an argument or an option gives."""
    inner, _ = split_hint(hint)
    (said,) = (each for each in get_args(hint)[1:] if isinstance(each, Argument | Option))
    required = parameter.default is inspect.Parameter.empty
    if isinstance(said, Argument):
        return _Argument(parameter.name, inner, said, required=required)
    return flag_of(parameter.name, inner, said, said.help, MISSING if required else parameter.default)


def _made(cls: type, given: Values, own: Collection[str]) -> object:
    """An options object, of flags' values that it takes out of those given, but for those of the function's own."""
    hints = get_type_hints(cls, include_extras=True)
    values: Values = {}
    for each in fields(cls):
        inner, flag = split_hint(hints[each.name])
        if is_options(inner):
            values[each.name] = _made(cast("type", inner), given, own)
        elif each.name in own:
            if several := given[each.name]:  # checked with the first of them; the function goes through all
                values[each.name] = cast("list[object]", several)[0]
        elif not flag.hidden:
            value = given.pop(each.name)
            if value is not None and value != ():
                values[each.name] = _value(inner, value, f"--{flag_name(each.name, flag)}")
    return cls(**values)


def _flags(cls: type, own: Collection[str]) -> list[click.Parameter]:
    """The flags of an options class, one per field: its own, then those that it shares with other commands.

    A field that the function has as a parameter of its own, such as one that the command takes several times, has none.
    """
    hints, texts = get_type_hints(cls, include_extras=True), descriptions(cls)
    made: list[click.Parameter] = []
    for each in sorted(fields(cls), key=lambda each: each.name not in cls.__annotations__):
        inner, flag = split_hint(hints[each.name])
        if is_options(inner):
            made += _flags(cast("type", inner), own)
        elif not flag.hidden and each.name not in own:
            flag = replace(flag, group=flag.group or group_of(cls, each.name))
            made.append(flag_of(each.name, inner, flag, texts[each.name], _default(each, inner)))
    return made


def flag_of(name: str, inner: object, flag: Flag, help: str, default: object) -> click.Option:  # noqa: A002
    """An option of click.

    Args:
        name: Name of the parameter or field.
        inner: Its type.
        flag: Its flag.
        help: Its help.
        default: Its default, which the help shows; None for none, and MISSING for one that must be given.
    """
    required = default is MISSING
    prints = isinstance(flag, Option) and flag.prints is not None
    given: dict[str, Any] = {} if required else {"default": default}
    made = FlagOption(
        [name, *_names(name, flag, on=default is True)],
        type=None if inner is bool else _type(_single(inner), flag),
        is_flag=True if inner is bool else None,  # False would let an option that must be given do without its value
        multiple=_several(inner),
        required=required,
        metavar=None if inner is bool else flag.metavar or _METAVARS.get(_single(inner)),
        help=help,
        show_default=default != "",
        callback=_callback(flag) if isinstance(flag, Option) else None,
        is_eager=prints,
        expose_value=not prints,
        **given,
    )
    made.first, made.group, made.once = flag.first or required, flag.group, flag.once
    return made


def _names(name: str, flag: Flag, *, on: bool) -> list[str]:
    """All names of a flag; a switch that is on by default has one that turns it off."""
    name = flag_name(name, flag)
    names = [f"--{name}/--no-{name}" if on else f"--{name}"]
    return names + [f"-{flag.short}"] * bool(flag.short) + [f"--{flag.other}"] * bool(flag.other)


def _callback(option: Option) -> Callable[[click.Context, click.Parameter, Any], object]:
    """The callback that click calls with the value of an option."""

    def read(context: click.Context, of: click.Parameter, value: Any) -> object:
        if option.prints is not None and value:
            emit(option.prints())
            context.exit()
        return _read(context, of, value) if option.parse is None else option.parse(value)

    return read


def _read(_context: click.Context, _of: click.Parameter, value: Any) -> object:
    """A value as functions take it: a list of several, None for none of them."""
    return list(value) or None if isinstance(value, tuple) else value


def _several(inner: object) -> bool:
    """True if a parameter may be repeated: it is a list or a tuple of any length, or names values."""
    origin = get_origin(inner)
    return (origin is tuple and get_args(inner)[-1] is Ellipsis) or origin in {list, Mapping}


def _single(inner: object) -> Any:
    """The type that click reads: of one value of a repeated parameter, or of the value."""
    if get_origin(inner) is not Mapping and _several(inner):
        inner = get_args(inner)[0]
    if get_origin(inner) is tuple:
        return get_args(inner)
    return inner if inner in {bool, int, float, str, Path} else str


def _type(single: Any, flag: Flag) -> Any:
    """The type of a value for click: numbers are within limits, if there are some."""
    if flag.min is None and flag.max is None:
        return single
    limits: Any = flag.min, flag.max
    made = click.IntRange(*limits) if single is int else _NumberRange(*limits)
    made.name = "integer" if single is int else "float"  # as messages have it where no limits are
    return made


class _NumberRange(click.FloatRange):
    """Numbers within limits, among which NaN is not, though no comparison finds it outside."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """See `click.ParamType.convert`."""
        found: float = super().convert(cast("float", value), param, ctx)  # it reads words too
        if math.isnan(found):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        return found


def _default(of: Field[object], inner: object) -> object:
    """The default that the help shows; a repeated flag has none, since its values would add up."""
    if of.default is MISSING and of.default_factory is MISSING:
        return MISSING
    if _several(inner) or of.default is MISSING:
        return None
    return of.default if isinstance(of.default, bool | int | float | str | tuple | None) else str(of.default)


def _value(inner: object, value: object, flag: str) -> object:
    """The value of a field, of what click read."""
    if get_origin(inner) is Mapping:
        return _by_name(cast("tuple[str, ...]", value), flag)
    if _several(inner):
        one = get_args(inner)[0]
        return tuple(_value(one, each, flag) for each in cast("tuple[object, ...]", value))
    if isinstance(value, str) and hasattr(inner, "parse"):
        return cast("Any", inner).parse(value)
    return value


def _by_name(given: tuple[str, ...], flag: str) -> dict[str, str]:
    """Parse repeated flags like ``--model att=models/att``, or ``--name rougeL(stem=true)=ROUGE-L``."""
    found: dict[str, str] = {}
    for each in given:
        name, value = _name_and_value(each)
        if not name or not value or name in found:
            raise UsageError(f"{flag} takes NAME=VALUE, each name once; got '{each}'")
        found[name] = value
    return found


def _name_and_value(given: str) -> tuple[str, str]:
    """Split at the first equals sign outside of parentheses, within which are those of the parameters of a metric."""
    depth = 0
    for place, character in enumerate(given):
        if character == "=" and not depth:
            return given[:place], given[place + 1 :]
        depth = max(depth + (character == "(") - (character == ")"), 0)
    if not depth:
        return given, ""
    name, _, value = given.rpartition("=")  # a parenthesis that does not end is a letter of the name
    return name, value


def _format(name: str) -> Format:
    """The format of a name, or of a file, which results are then printed into."""
    if name in FORMATS:
        return name
    ending = PurePath(name).suffix.lower()
    if ending not in FILES:
        if f".{name.lower()}" in FILES:
            refuse(UsageError(f"{name} is of a file, so name it, as in --format table.{name.lower()}"))
        refuse(UnknownName("format", name, [*FORMATS, *(f"FILE{ending}" for ending in FILES)]))
    try:
        print_into(name)
    except UsageError as error:
        refuse(error)
    return FILES[ending]


OUTPUT: Final = "Output"
"""Group of the options of what is printed and written."""

ONE_FILE: Final = (
    "this command takes one file of candidates: put the texts of all systems into one, with a column system; "
    "references go behind --references"
)
"""Advice where several files of candidates are given and a command takes one."""

CampaignArgument: TypeAlias = Annotated[
    str, Argument(metavar="CAMPAIGN", help="The campaign: an SQLite file, sqlite:///FILE or postgresql://…")
]
FormatOption: TypeAlias = Annotated[
    Format,
    Option(
        parse=_format,
        metavar="FORMAT",
        first=True,
        group=OUTPUT,
        help=f"{', '.join(FORMATS)}, or a file: table.xlsx.",
    ),
]
ReportOption: TypeAlias = Annotated[
    Path | None,
    Option(
        metavar="FILE",
        help="HTML report to write; CSV and LaTeX tables are written beside it.",
        first=True,
        group=OUTPUT,
    ),
]
FiguresOption: TypeAlias = Annotated[
    Path | None,
    Option(metavar="FOLDER", help="Folder to write the figures into, each as SVG and PDF.", group=OUTPUT),
]
ScoresArgument: TypeAlias = Annotated[
    list[str],
    Argument(
        metavar="SCORES",
        help="Item scores (item, system, metric, score, and signature if there is one), as from score --items.",
    ),
]
