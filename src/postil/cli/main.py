"""The command line: every verb stands in a file of this folder, with its flags and nothing else."""

from __future__ import annotations

import io
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from postil.app.signals import unwound
from postil.cli.annotate import annotate
from postil.cli.comment import comment, evaluate, rank_comments
from postil.cli.compare import compare
from postil.cli.corpus import corpus
from postil.cli.correlate import correlate
from postil.cli.errors import Root, emit, exits, say
from postil.cli.interesting import interesting
from postil.cli.options import SETTINGS, JobsOption
from postil.cli.passages import passages
from postil.cli.report import report
from postil.cli.score import score
from postil.cli.study import study
from postil.cli.train_generators import train_app
from postil.cli.vectors import vectors
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["app", "main"]

app = typer.Typer(
    name="postil",
    cls=Root,
    help="Grade texts against graded references, and judge the grades against people.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=SETTINGS,
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it
    if wanted:
        emit(f"postil {VERSION}\n")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Grade texts against graded references, and judge the grades against people."""


app.add_typer(annotate)
app.add_typer(corpus)
app.add_typer(study)
app.add_typer(vectors)
for verb in (score, correlate, compare, report, passages, interesting):
    app.command()(verb)
app.add_typer(train_app)
app.command()(comment)
app.command("rank-comments")(rank_comments)
app.command()(evaluate)


@app.command()
@exits
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the sample's files, to go on with.")] = Path("demo"),
    jobs: JobsOption = 1,
) -> None:
    """Score the bundled sample and judge the metrics.

    Four commenters on 24 articles, with readers' comments, grades, and two annotators.
    """
    from postil.app.demo import run_demo  # noqa: PLC0415

    run_demo(out, jobs, lambda text: emit(f"{text}\n", "table"), say)


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
