"""`postil budget`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

from postil.budgeting.options import BudgetOptions
from postil.cli.command import Argument, FiguresOption, FormatOption, Option, ReportOption, command
from postil.cli.output import check_figures, check_page, command_line, print_result, say, write_figures
from postil.data.options import JudgedInputOptions

__all__ = ["budget"]


@command
def budget(
    scores: Annotated[
        list[str] | None,
        Argument(
            metavar="SCORES",
            help="Item scores of all outputs (item, system, metric, score), if any.",
        ),
    ] = None,
    *,
    judgements: Annotated[
        str | None,
        Option(metavar="FILE", once=True, help="Judgements of a pilot; without, give assumptions.", first=True),
    ] = None,
    options: BudgetOptions,
    inputs: JudgedInputOptions,
    report: ReportOption = None,
    figures: FiguresOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Plan a rating campaign: how many items and raters tell systems apart.

    From a pilot, or from assumptions: expected widths of confidence intervals, the power to find a difference, and the
    hours that it takes, for numbers of graded items and of raters; and the cheapest plan that is enough. A pilot also
    tells whether the raters of an item should rate all its systems. Resamples of its items give the intervals of
    variance components; nothing else is random.

    Example: postil budget scores.jsonl --judgements pilot.jsonl --difference 0.3
    """
    from postil.budgeting.calls import budget_files  # noqa: PLC0415

    scores = scores or []
    check_figures(figures)
    check_page(report, [*scores, judgements, inputs.maxima])
    result = budget_files(scores, judgements, options, command=command_line(), inputs=inputs, on_message=say)
    write_figures([result], figures)
    print_result(result, format, report)
