"""The command line: each command is a module of this package, imported when it is asked for."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer
import typer.main
from typer.core import TyperGroup

from postil.cli.errors import CALLED, emit, say, visible_mistakes
from postil.cli.options import SETTINGS
from postil.cli.signals import unwound
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["COMMANDS", "app", "main"]

Click: TypeAlias = Any  # a command, context or formatter: of click, or of the copy that typer has

HELP: Final = "Reference-based evaluation with quality-weighted references, and meta-evaluation against human ratings."

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "score": ("postil.scoring.command:score", "Score systems against weighted references."),
    "correlate": ("postil.correlation.command:correlate", "Correlate metric scores with human ratings."),
    "judge": ("postil.judging.command:judge", "Grade texts by a language model, with graded references as examples."),
    "estimate": (
        "postil.estimation.command:estimate",
        "Estimate mean human grades of systems from few ratings and many scores.",
    ),
    "budget": ("postil.budgeting.command:budget", "Plan a rating campaign: items, raters, hours and power."),
    "combine": (
        "postil.combination.command:combine",
        "Learn human grades from several metrics, and grade texts by them.",
    ),
    "wmt": ("postil.wmt.command:wmt", "Correlate the metrics of a WMT test set with its human scores."),
    "compare": ("postil.comparison.command:compare", "Compare systems with a baseline on each metric."),
    "report": ("postil.page.command:report", "Write one page from the JSON of other commands."),
    "passages": (
        "postil.passages.command:passages",
        "Rank graded passages by measures and compare the rankings by nCG.",
    ),
    "interesting": ("postil.interest.command:interesting", "Print the most interesting passages of a page."),
    "train": (
        "postil.training.command:train",
        "Train a commenter on a corpus, or a model of interest on ratings.",
    ),
    "comment": ("postil.comments.command:comment", "Suggest comments for articles, each with its source."),
    "rank-comments": ("postil.threads.command:rank_comments", "Rank the comments of threads, with reasons."),
    "serve": ("postil.service.command:serve", "Serve models by HTTP: suggestions as JSON."),
    "label": ("postil.calibration.label_command:label", "Label suggestions in a browser: show or do not show."),
    "calibrate": ("postil.calibration.command:calibrate", "Learn from labels what is worth showing."),
    "forget": ("postil.erasure.command:forget_comments", "Erase comments from models, corpora and answers, for good."),
    "evaluate": ("postil.threads.evaluate_command:evaluate", "Score commenters against readers' comments."),
    "demo": (
        "postil.studies.demo.command:demo",
        "Score the bundled sample and correlate the metrics with its ratings.",
    ),
    "annotate": ("postil.campaigns.command:annotate", "Collect human ratings: plan, serve, agreement, export."),
    "corpus": (
        "postil.corpus.command:corpus",
        "Import external formats; build corpora of articles with comments.",
    ),
    "study": ("postil.studies.command:study", "Run the studies of two papers from end to end, on your data."),
    "check-audit": (
        "postil.service.audit_command:check",
        "Verify that no line of an audit log was changed or removed.",
    ),
    "tokens": ("postil.service.tokens_command:tokens", "Make and revoke the tokens of clients of the service."),
    "vectors": ("postil.vectors.command:vectors", "Train, convert, import and inspect vectors of words and subwords."),
    "weights": ("postil.weights.command:weights", "Plan which references to grade for weighted metrics."),
}
"""Module and line of help of each command; a command is imported when it is asked for."""


class _Commands(MutableMapping[str, Click]):
    """The commands, each made at the first request, so that starting one does not load the others."""

    def __init__(self) -> None:
        self._made: dict[str, Click] = {}

    def __getitem__(self, name: str) -> Click:
        if name not in self._made:
            module, _, attribute = COMMANDS[name][0].partition(":")
            self._made[name] = _command(name, getattr(importlib.import_module(module), attribute))
        return self._made[name]

    def __setitem__(self, name: str, command: Click) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


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
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

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
    """Run a command; see `COMMANDS`."""


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
