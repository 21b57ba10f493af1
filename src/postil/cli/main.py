"""The command line: each command is a module of this package, imported when it is asked for."""

from __future__ import annotations

import io
import os
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Final

import click

from postil.capabilities import capabilities
from postil.capabilities import command as found
from postil.cli.command import Argument, Commands, Group, Option, command, flag_of
from postil.cli.output import CALLED, say, unwound, visible_mistakes
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["app", "main", "report"]

HELP: Final = """\b
Quality-weighted metrics of texts, and their agreement with human ratings.
postil COMMAND --help explains a command; --help-all lists all; --version.
"""
VERSION_OPTION: Final = Option(help="Print the version.", prints=lambda: f"postil {VERSION}\n")


def _names() -> list[str]:
    return [name for capability in capabilities() for name in capability.commands]


def _command(name: str) -> click.Command:
    """A command of its name, which a capability may have as a function."""
    made = found(name)
    if not isinstance(made, click.Command):
        return command(made, name)
    made.name = name
    return made


class Root(Group):
    """The command above all others; it remembers how it was called."""

    def job_of(self, name: str) -> str:
        """See `ExplainedGroup`; this imports no command."""
        return next(each.job for each in capabilities() if name in each.commands)

    def line_of(self, name: str) -> str:
        """See `ExplainedGroup`; this imports no command."""
        return next(each.commands[name].help for each in capabilities() if name in each.commands)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands alone: the help says what else there is."""
        self.format_commands(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See `click.Group`."""
        ctx.meta[CALLED] = list(args)
        with visible_mistakes():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> None:
        """See `click.Group`."""
        with visible_mistakes():
            super().invoke(ctx)


app = Root("postil", HELP, Commands(_names, _command))
app.params.append(flag_of("version", bool, VERSION_OPTION, VERSION_OPTION.help, default=False))


@command
def report(
    results: Annotated[
        list[Path], Argument(metavar="RESULTS", help="Results that other commands printed with --format json.")
    ],
    *,
    out: Annotated[Path, Option(metavar="FILE", help="Output page.")] = Path("report.html"),
) -> None:
    """Write one page from the results of other commands.

    It opens from disk, and has CSV and LaTeX tables beside it.

    Example: postil correlate scores.jsonl --judgements judgements.jsonl --format json > c.json; postil report c.json
    """
    from postil.results.base import read_results  # noqa: PLC0415
    from postil.results.page.report import check_report, write_report  # noqa: PLC0415

    check_report(out, results)
    for path in write_report(read_results(results), out):
        say(f"written: {path}")


class _Unread(ModuleType):
    """A module that is imported when something of it is read.

    The lazy modules of the standard library would not do, since ``from … import`` loads them at once.
    """

    def __getattr__(self, name: str) -> object:
        del sys.modules[self.__name__]
        self.__dict__.update(vars(import_module(self.__name__)))
        return getattr(self, name)


def main() -> None:
    """The entry point of the ``postil`` command."""
    if {"--help", "--help-all", "-h"} & set(
        sys.argv
    ):  # which reads names and docstrings alone; numpy would take half of the time
        sys.modules.setdefault("numpy", _Unread("numpy"))
    with _streams(), unwound():
        try:
            app()
        except OSError as error:  # of a help text; commands end in `exits`
            say(f"postil: standard output: {error.strerror or error}")
            sys.exit(1)


@contextmanager
def _streams() -> Iterator[None]:
    """Streams that whoever started it may have closed: input has nothing, output cannot be written, words are lost."""
    closed = sys.stdout is None
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO())
    if closed:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(os.open(os.devnull, os.O_RDONLY), "w")))
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.BytesIO())
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # the same bytes wherever it runs
    try:
        yield
    finally:
        if closed:  # else Python would try once more to write what could not be written
            sys.stdout = None  # as it was
