"""The command line: each command is a module of this package, imported when it is asked for."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer
import typer.main
from typer.core import TyperGroup

from postil.capabilities import capabilities, command
from postil.cli.command import SETTINGS
from postil.cli.output import CALLED, emit, say, unwound, visible_mistakes
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["app", "main"]

Click: TypeAlias = Any  # a command, context or formatter: of click, or of the copy that typer has

HELP: Final = "Reference-based evaluation with quality-weighted references, and meta-evaluation against human ratings."


class _Commands(MutableMapping[str, Click]):
    """The commands, each made at the first request, so that starting one does not load the others."""

    def __init__(self) -> None:
        self._made: dict[str, Click] = {}

    def __getitem__(self, name: str) -> Click:
        if name not in self._made:
            self._made[name] = _command(name, command(name))
        return self._made[name]

    def __setitem__(self, name: str, command: Click) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return (name for capability in capabilities() for name in capability.commands)

    def __len__(self) -> int:
        return sum(len(capability.commands) for capability in capabilities())


def _command(name: str, made: object) -> Click:
    """A command of typer's, of a group or of a function."""
    if not isinstance(made, typer.Typer):
        alone = typer.Typer(
            rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False, context_settings=SETTINGS
        )
        alone.command(name)(made)  # type: ignore[type-var]  # a function
        made = alone
    command = typer.main.get_command(made)
    command.name = name
    return command


class Root(TyperGroup):
    """The command above all others; it remembers how it was called."""

    def __init__(self, *args: Click, **attributes: Click) -> None:
        super().__init__(*args, **attributes)
        self.commands = _Commands()

    def format_commands(self, ctx: Click, formatter: Click) -> None:  # noqa: ARG002 - see `typer.core.TyperGroup`
        """List the commands under what they are for, without importing them."""
        jobs: dict[str, list[tuple[str, str]]] = {}
        for capability in capabilities():
            for name, (_, text) in capability.commands.items():
                jobs.setdefault(capability.job, []).append((name, text))
        for job, rows in jobs.items():
            with formatter.section(job):
                formatter.write_dl(rows)

    def parse_args(self, ctx: Click, args: list[str]) -> list[str]:
        """See `typer.core.TyperGroup`."""
        ctx.meta[CALLED] = list(args)
        with visible_mistakes():
            return list(super().parse_args(ctx, args))

    def invoke(self, ctx: Click) -> Click:
        """See `typer.core.TyperGroup`."""
        with visible_mistakes():
            return super().invoke(ctx)


app = typer.Typer(
    name="postil",
    cls=Root,
    help=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=SETTINGS,
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it
    if wanted:
        emit(f"postil {VERSION}\n")
        raise typer.Exit


@app.callback(help=HELP)
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Run a command of a capability."""


def main() -> None:
    """The entry point of the ``postil`` command."""
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
