"""`postil correlate`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import FiguresOption, FormatOption, Option, ReportOption, ScoresArgument, command
from postil.cli.output import (
    check_figures,
    check_page,
    command_line,
    emit,
    print_result,
    say,
    write_figures,
    write_pages,
)
from postil.correlation.options import CorrelateOptions
from postil.data.options import JudgedInputOptions
from postil.results.table_options import TableOptions

__all__ = ["correlate"]


@command
def correlate(
    scores: ScoresArgument,
    *,
    judgements: Annotated[
        list[str],
        Option(
            metavar="FILE",
            help="Judgements (item, system, annotator, grade); several files: an aspect each, called like the file.",
        ),
    ],
    candidates: Annotated[
        str | None,
        Option(
            metavar="FILE",
            once=True,
            help="Candidates, for the texts of the largest disagreements.",
            group="Disagreements",
        ),
    ] = None,
    aspect: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="Aspect to keep, where judgements have more than one: of the column aspect, or else a column or sheet "
            "of that name; repeatable: a result for each.",
            group="Ratings",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        Option(
            metavar="LEVEL",
            help="Aggregation level: pool (all texts, the default), item or within-system (means over items or "
            "systems), system (means of systems); repeatable: a result for each.",
            first=True,
        ),
    ] = None,
    options: CorrelateOptions,
    table: TableOptions,
    inputs: JudgedInputOptions,
    report: ReportOption = None,
    figures: FiguresOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Correlate metric scores with human ratings.

    Correlations with intervals, tests of differences, human agreement, ceiling.

    Scores and judgements are joined on item and system; what is excluded is counted and named. Controls of score
    --controls stand beside the metrics.

    Example: postil correlate scores.jsonl --judgements judgements.jsonl --report report.html
    """
    from postil.correlation.calls import correlate_each  # noqa: PLC0415
    from postil.correlation.several import show_several  # noqa: PLC0415
    from postil.correlation.view import view  # noqa: PLC0415
    from postil.results.base import replace  # noqa: PLC0415

    table.check(format, intervals=True)
    table.check_layout("correlate", ["metrics"])
    check_figures(figures)
    check_page(report, [*scores, *judgements, candidates, inputs.maxima])
    results = correlate_each(
        scores,
        judgements,
        options,
        candidates,
        aspects=aspect or (),
        levels=by or (),
        command=command_line(),
        inputs=inputs,
        on_message=say,
        on_metrics=table.check_names,
    )
    write_figures(results, figures, table.names)
    write_pages(results, report)
    if len(results) > 1:
        emit(show_several(format, results, table), format)
    else:
        result = replace(results[0], points=None)
        print_result(result, format, table=table, view=view(result, disagreements=options.disagree is not None))
    # whatever the format: in a table they would stand far below the numbers
    for line in dict.fromkeys(line for result in results for line in result.warnings):
        say(line)
