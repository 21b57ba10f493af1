"""`postil estimate`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import Argument, FiguresOption, FormatOption, Option, ReportOption, command
from postil.cli.output import check_figures, check_page, command_line, print_result, say, write_figures
from postil.data.options import JudgedInputOptions
from postil.estimation.options import EstimateOptions

__all__ = ["estimate"]


@command
def estimate(
    scores: Annotated[
        list[str] | None,
        Argument(
            metavar="SCORES",
            help="Item scores of all outputs (item, system, metric, score), as from score --items; none for the "
            "ratings alone.",
        ),
    ] = None,
    *,
    judgements: Annotated[
        str,
        Option(metavar="FILE", once=True, help="Judgements of some (item, system, annotator, grade)."),
    ],
    options: EstimateOptions,
    inputs: JudgedInputOptions,
    report: ReportOption = None,
    figures: FiguresOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Estimate mean human grades of systems from few ratings and many scores.

    People rated the outputs of some items, drawn at random; metrics or judges scored the outputs of all. The result is
    each system's mean grade and every difference with confidence intervals, and groups of systems that cannot be told
    apart. Scores only remove variance: whatever they are worth, the estimand is about people's grades.

    Scores and judgements are joined on item and system; what is excluded is counted and named. Nothing is random.

    Example: postil estimate scores.jsonl --judgements judgements.jsonl --report report.html
    """
    from postil.estimation.calls import estimate_rated  # noqa: PLC0415
    from postil.meta.rated import Rated  # noqa: PLC0415

    files = scores or []
    check_figures(figures)
    check_page(report, [*files, judgements, inputs.maxima])
    result = estimate_rated(
        Rated.files(files, judgements, inputs, say, aspects=[options.aspect]), options, command_line()
    )
    write_figures([result], figures)
    print_result(result, format, report)
