"""`postil compare`: flags, nothing else."""

from __future__ import annotations

import typer

from postil.app.compare import CompareOptions, compare_files
from postil.app.options import ScoreInputOptions
from postil.cli.command import command
from postil.cli.errors import command_line, emit, say, tell
from postil.cli.options import FormatOption, ScoresArgument
from postil.records.table_options import TableOptions
from postil.render.compare import view
from postil.render.views import show

__all__ = ["compare"]


@command
def compare(
    scores: ScoresArgument,
    *,
    options: CompareOptions,
    table: TableOptions,
    inputs: ScoreInputOptions,
    context: typer.Context,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Compare systems with a baseline on each metric.

    Example: postil compare scores.jsonl --baseline seq2seq
    """
    table.check(format, intervals=True)
    result = compare_files(scores, options, command_line(context), inputs, say)
    shown = view(result)
    emit(show(format, result, shown, table=table), format)
    tell(format, shown.remarks)
