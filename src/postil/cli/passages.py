"""`postil passages`: flags, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from postil.app.passage_files import check_scores, write_runs, write_scores
from postil.app.passages import PassagesOptions, gains_of_file
from postil.cli.command import command
from postil.cli.errors import command_line, emit, say, tell
from postil.cli.options import FormatOption, ReportOption
from postil.render.passages import draw_figures, view
from postil.render.views import show

__all__ = ["passages"]


@command
def passages(
    context: typer.Context,
    passages: Annotated[
        str, typer.Argument(metavar="PASSAGES", help="Rows (topic, id, text, [anchors], grade), or - for stdin.")
    ],
    options: PassagesOptions,
    *,
    scores: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the scores of every passage (item: topic, system: id).")
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write every ranking but random as a TREC run, one list per topic."),
    ] = None,
    figures: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Draw the curves of nCG over k.")] = None,
    report: ReportOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Rank graded passages by measures and compare the rankings by nCG.

    Informativeness or interestingness: normalized cumulative gain at rank cutoffs, with confidence intervals and tests.

    Example: postil passages passages.jsonl --stop en --stem porter --leave-one-out --pool topic -k 10 -k 50
    """
    if report:
        from postil.app.report import check_report, write_report  # noqa: PLC0415 - it loads what draws

        check_report(report, [passages])  # before the work is done
    if scores is not None:
        check_scores(scores, passages)
    lines = format == "json" or bool(figures or report)
    result, scored = gains_of_file(passages, options, command=command_line(context), lines=lines)
    if scores is not None:
        write_scores(scores, scored)
    if runs:
        write_runs(runs, result, scored, say)
    for path in draw_figures(figures, result) if figures else ():
        say(f"written: {path}")
    for path in write_report([result], report) if report else ():
        say(f"written: {path}")
    shown = view(result)
    emit(show(format, result, shown), format)
    tell(format, shown.remarks)
