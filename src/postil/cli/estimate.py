"""`postil estimate`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.app.estimate import EstimateOptions, estimate_files
from postil.app.options import JudgedInputOptions
from postil.cli.command import command
from postil.cli.errors import command_line, emit, say, tell
from postil.cli.options import FormatOption, ReportOption
from postil.render.estimate import view
from postil.render.views import show

__all__ = ["estimate"]


@command
def estimate(
    scores: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCORES",
            help="Item scores of all outputs (item, system, metric, score), as from score --items; none for the "
            "ratings alone.",
        ),
    ] = None,
    *,
    judgements: Annotated[
        str,
        typer.Option("--judgements", metavar="FILE", help="Judgements of some (item, system, annotator, grade)."),
    ],
    options: EstimateOptions,
    inputs: JudgedInputOptions,
    context: typer.Context,
    report: ReportOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Estimate mean human grades of systems from few ratings and many scores.

    People rated the outputs of some items, drawn at random; metrics or judges scored the outputs of all. The result is
    each system's mean grade and every difference with confidence intervals, and groups of systems that cannot be told
    apart. Scores only remove variance: whatever they are worth, the estimand is about people's grades.

    Scores and judgements are joined on item and system; what is excluded is counted and named. Nothing is random.

    Example: postil estimate scores.jsonl --judgements judgements.jsonl --report report.html
    """
    scores = scores or []
    if report:
        from postil.app.report import check_report, write_report  # noqa: PLC0415  # matplotlib is behind it

        check_report(report, [*scores, judgements])  # before the work is done
    result = estimate_files(scores, judgements, options, command=command_line(context), inputs=inputs, on_message=say)
    if report:
        for path in write_report([result], report):
            say(f"written: {path}")
    shown = view(result)
    emit(show(format, result, shown), format)
    tell(format, shown.remarks)
