"""Help of commands: what most people need, then the names of the other options, which ``--help-all`` explains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import click

from postil.cli.output import emit
from postil.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["ExplainedCommand", "ExplainedGroup", "FlagOption", "option_groups"]

Rows: TypeAlias = "Iterable[tuple[str, str]]"

FEW: Final = 9
"""Number of options that are all explained, where a command has no more."""

SHOWN: Final = 5
"""Number of commands that a message names."""

OTHER: Final = "Other"
"""Group of options that name none."""

ALL: Final = "postil.help-all"
"""Key in the context of a command whose long help is asked for."""


class FlagOption(click.Option):
    """An option that knows its place in the help."""

    first: bool = False
    """True if the short help explains it."""

    group: str = ""
    """Its group in the help."""

    once: bool = False
    """True if it is refused a second time."""

    def process_value(self, ctx: click.Context, value: object) -> object:
        """See `click.Parameter`; refuse the name of an option, which click takes for a value that was forgotten."""
        names = {name for each in ctx.command.get_params(ctx) for name in (*each.opts, *each.secondary_opts)}
        if wrong := next((each for each in _texts(value) if each in names), None):
            ctx.fail(f"{max(self.opts, key=len)} takes {self.make_metavar(ctx)}, got the option {wrong}")
        return super().process_value(ctx, value)


def option_groups(command: click.Command) -> dict[str, list[click.Option]]:
    """The options of a command by group, in the order of its help; those that the short help explains are in ``""``.

    Args:
        command: The command.
    """
    options = [each for each in command.params if isinstance(each, FlagOption)]
    found: dict[str, list[click.Option]] = {"": [], OTHER: []}
    for each in options:
        first = len(options) <= FEW or each.first
        found.setdefault("" if first else each.group or OTHER, []).append(each)
    return {group: inside for group, inside in found.items() if inside}


class ExplainedCommand(click.Command):
    """A command whose help describes its arguments, and has a short and a long form."""

    job: str = ""
    """Its heading in the help of the group above it."""

    extra: str = ""
    """Advice for the message that there are more arguments than it takes."""

    _all_option: click.Option | None = None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """See `click.Command`."""
        if self._all_option is None:
            self._all_option = click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_explain_all,
                help=self.promise(),
            )
        return [*super().get_params(ctx), self._all_option]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See `click.Command`; for an option that is not there the nearest one or a command that has it is named."""
        given = list(args)
        takes_more, ctx.allow_extra_args = ctx.allow_extra_args, True
        try:
            rest = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            known = _all_names(self)
            near = _nearest(error.option_name, known, begun=True)
            others = "" if near else _of_others(error.option_name, ctx.find_root().command)
            near = near if near or others else _nearest(error.option_name, known)
            possible = None if near is None else [near]
            raise click.NoSuchOption(error.option_name, others or error.message, possible, error.ctx) from None
        ctx.allow_extra_args = takes_more
        if not ctx.resilient_parsing:
            self._refuse_repeated(ctx, given)
        if rest and not takes_more and not ctx.resilient_parsing:
            s, advice = "s" * (len(rest) > 1), f"; {self.extra}" if self.extra else ""
            ctx.fail(f"Got unexpected extra argument{s} ({' '.join(rest)}){advice}")
        return rest

    def _refuse_repeated(self, ctx: click.Context, args: list[str]) -> None:
        """Refuse a second value of an option that has one, where click would keep the last without a word."""
        _, _, order = self.make_parser(ctx).parse_args(args=args)
        for option, times in Counter(order).items():
            if times > 1 and isinstance(option, FlagOption) and option.once:
                ctx.fail(f"{max(option.opts, key=len)} takes one {option.metavar}, got {times}")

    def promise(self) -> str:
        """Help of ``--help-all``."""
        return f"Explain all {_count(self)} options."

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See `click.Command`."""
        _write(
            formatter, "Arguments", _records(ctx, (each for each in self.params if isinstance(each, click.Argument)))
        )
        groups = option_groups(self)
        short = len(groups) > 1 and ALL not in ctx.meta
        help_option = self.get_help_option(ctx) if not short else None
        _write(formatter, "Options", _records(ctx, [*groups.pop("", []), *filter(None, [help_option])]))
        if short:
            width = formatter.width - max(map(len, groups)) - 4
            rows = [(group, _names(inside, width)) for group, inside in groups.items()]
            _write(formatter, f"More options (--help-all explains all {_count(self)})", rows)
        else:
            for group, inside in groups.items():
                _write(formatter, group, _records(ctx, inside))

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Nothing: not every version of click knows that arguments have a help, and `format_options` shows it."""


class ExplainedGroup(ExplainedCommand, click.Group):
    """A command that has others below it, which its help lists by job."""

    def promise(self) -> str:
        """Help of ``--help-all``."""
        return "List the commands below these as well, and explain all options."

    def job_of(self, name: str) -> str:
        """Heading of a command in the help.

        Args:
            name: Its name.
        """
        command = self.commands[name]
        return command.job if isinstance(command, ExplainedCommand) else ""

    def line_of(self, name: str) -> str:
        """Line of a command in the help.

        Args:
            name: Its name.
        """
        return self.commands[name].get_short_help_str(limit=1000).removesuffix(".") + "."

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - see `click.Group`
        """The names of the commands, in the order in which they were added."""
        return list(self.commands)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See `click.Command`."""
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See `click.Group`."""
        jobs: dict[str, list[tuple[str, str]]] = {}
        for name in self.commands:
            lines = self.lines_below(name) if ALL in ctx.meta else [(name, self.line_of(name))]
            jobs.setdefault(self.job_of(name), []).extend(lines)
        width = max((len(name) for lines in jobs.values() for name, _ in lines), default=0)
        for job, lines in jobs.items():
            _write(formatter, job or "Commands", [(name.ljust(width), line) for name, line in lines])

    def lines_below(self, name: str) -> list[tuple[str, str]]:
        """A command, or the commands below it, with their lines.

        Args:
            name: Its name.
        """
        command = self.commands[name]
        if not isinstance(command, ExplainedGroup):
            return [(name, self.line_of(name))]
        return [(f"{name} {inner}", line) for each in command.commands for inner, line in command.lines_below(each)]


def _explain_all(ctx: click.Context, of: click.Parameter, value: bool) -> None:  # noqa: ARG001, FBT001 - see `click`
    """Print the long help."""
    if value and not ctx.resilient_parsing:
        ctx.meta[ALL] = True
        emit(ctx.get_help() + "\n")
        ctx.exit()


def _texts(value: object) -> Iterator[str]:
    """The texts in what was given for an option: one, several, or several of several."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts(each)


def _records(ctx: click.Context, parameters: Iterable[click.Parameter]) -> Rows:
    return [record for each in parameters if (record := each.get_help_record(ctx)) is not None]


def _nearest(name: str, known: Iterable[str], *, begun: bool = False) -> str | None:
    """The option that was probably meant: one that begins with the name or that the name begins with, else a near one.

    Args:
        name: The name.
        known: Options that there are.
        begun: True for none of those that are only near.

    >>> [_nearest(name, ["--out", "--layout", "--judgements", "-m"]) for name in ("--output", "--judge", "--x")]
    ['--out', '--judgements', None]
    """
    words = {each[2:]: each for each in known if each.startswith("--")}
    wanted = name.lstrip("-").replace("_", "-")
    found = [each for each in words if len(each) > 1 and (each.startswith(wanted) or wanted.startswith(each))]
    near = nearest(wanted, found or (() if begun else words))
    return None if near is None else words[near]


def _of_others(option: str, root: click.Command) -> str:
    """The message that some other commands have an option; empty if none has."""
    names = [name for name, command in _commands(root) if option.startswith("--") and option in _all_names(command)]
    have = "has" if len(names) == 1 else "have"
    return f"No such option '{option}'; {_some(names, min(len(names), SHOWN))} {have} it." if names else ""


def _commands(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands below a command, with their names."""
    yield name, command
    if isinstance(command, click.Group):
        for inner in command.commands:
            yield from _commands(command.commands[inner], f"{name} {inner}".lstrip())


def _all_names(command: click.Command) -> list[str]:
    return [name for each in command.params for name in (*each.opts, *each.secondary_opts)]


def _count(command: click.Command) -> int:
    return sum(map(len, option_groups(command).values()))


def _names(options: Iterable[click.Option], width: int) -> str:
    """The names of options, as many as a line has room for; a switch that is on has the name that turns it off."""
    names = [(each.secondary_opts or each.opts)[0] for each in options]
    shown = len(names)
    while len(line := _some(names, shown)) > width and shown > 1:
        shown -= 1
    return line


def _some(names: list[str], shown: int) -> str:
    rest = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {rest} more" if rest else "")


def _write(formatter: click.HelpFormatter, title: str, rows: Rows) -> None:
    """Write a section, if there is something in it."""
    if rows := list(rows):
        with formatter.section(title):
            formatter.write_dl(rows)
