"""`postil evaluate`."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Annotated

import typer

from postil.app.evaluate import EvaluateOptions, evaluate_commenters, writing
from postil.app.progress import progress
from postil.cli.command import command
from postil.cli.errors import emit, tell
from postil.cli.options import FormatOption
from postil.records.table_options import TableOptions
from postil.render.views import show

__all__ = ["evaluate"]


@command
def evaluate(
    models: Annotated[list[str], typer.Argument(metavar="MODELS", help="Models that postil train made.")],
    *,
    corpus: Annotated[str, typer.Option(metavar="DIR", help="A corpus that postil corpus build made.")],
    options: EvaluateOptions,
    table: TableOptions,
    items: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the score of every suggestion here, for postil compare."),
    ] = None,
    candidates: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the suggestions here, as candidates.")
    ] = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Score the best suggestion of each model for each article, against the article's own comments.

    A comment that a reader wrote, and that is no reference, is scored beside them as human.

    Example: postil evaluate model-t model-tc --corpus corpus
    """
    table.check(format, intervals=False)
    with writing(items=items, candidates=candidates, inputs=[*models, corpus]) as write:
        with redirect_stdout(sys.stderr):  # where own metrics print, the result stays readable
            found = evaluate_commenters(models, corpus, options, on_progress=progress)
        write(found)
    emit(show(format, found.result, table=table), format)
    tell(format, found.result.remarks)
