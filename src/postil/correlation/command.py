"""`postil correlate`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import FormatOption, Option, ReportOption, ScoresArgument, command
from postil.cli.output import check_page, command_line, print_result, say, write_page
from postil.correlation.calls import CorrelateOptions, correlate_files
from postil.correlation.view import view
from postil.data.options import JudgedInputOptions
from postil.results.base import replace

__all__ = ["correlate"]


@command
def correlate(
    scores: ScoresArgument,
    *,
    judgements: Annotated[str, Option(metavar="FILE", help="Judgements (item, system, annotator, grade).")],
    candidates: Annotated[
        str | None, Option(metavar="FILE", help="Candidates, for the texts of the largest disagreements.")
    ] = None,
    options: CorrelateOptions,
    inputs: JudgedInputOptions,
    report: ReportOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Correlate metric scores with human ratings.

    Correlations with confidence intervals, human agreement and its ceiling, and significance tests of differences.

    Scores and judgements are joined on item and system; what is excluded is counted and named. Controls that score
    --controls wrote stand beside their metrics.

    Example: postil correlate scores.jsonl --judgements judgements.jsonl --report report.html
    """
    check_page(report, [*scores, judgements, candidates])
    result = correlate_files(
        scores, judgements, options, candidates, command=command_line(), inputs=inputs, on_message=say
    )
    write_page(result, report)
    result = replace(result, points=None)
    print_result(result, format, view=view(result, disagreements=options.disagree is not None))
    for line in result.warnings:  # whatever the format: in a table it would stand far below the numbers
        say(line)
