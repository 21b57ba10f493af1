"""`postil budget`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.app.budget import BudgetOptions, budget_files
from postil.app.options import JudgedInputOptions
from postil.cli.command import command
from postil.cli.errors import command_line, emit, say, tell
from postil.cli.options import FormatOption, ReportOption
from postil.render.budget import view
from postil.render.views import show

__all__ = ["budget"]


@command
def budget(
    scores: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCORES",
            help="Item scores of all outputs (item, system, metric, score), where scores are to be used.",
        ),
    ] = None,
    *,
    judgements: Annotated[
        str | None,
        typer.Option("--judgements", metavar="FILE", help="Judgements of a pilot; without, give assumptions."),
    ] = None,
    options: BudgetOptions,
    inputs: JudgedInputOptions,
    context: typer.Context,
    report: ReportOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Plan a rating campaign: how many items and raters tell systems apart.

    From a pilot, or from assumptions: expected widths of confidence intervals, the power to find a difference, and the
    hours that it takes, for numbers of graded items and of raters; and the cheapest plan that is enough.

    Nothing is random.

    Example: postil budget scores.jsonl --judgements pilot.jsonl --difference 0.3
    """
    scores = scores or []
    if report:
        from postil.app.report import check_report, write_report  # noqa: PLC0415  # matplotlib is behind it

        check_report(report, [*scores, *filter(None, [judgements])])  # before the work is done
    result = budget_files(scores, judgements, options, command=command_line(context), inputs=inputs, on_message=say)
    if report:
        for path in write_report([result], report):
            say(f"written: {path}")
    shown = view(result)
    emit(show(format, result, shown), format)
    tell(format, shown.remarks)
