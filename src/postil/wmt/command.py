"""`postil wmt`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import Argument, FiguresOption, FormatOption, Option, command
from postil.cli.output import check_figures, command_line, print_result, say, write_figures
from postil.data.options import ScoreInputOptions
from postil.results.table_options import TableOptions
from postil.wmt.options import WmtOptions

__all__ = ["wmt"]


@command
def wmt(
    folder: Annotated[str, Argument(metavar="FOLDER", help="Test set in the layout of mt-metrics-eval.")],
    *,
    options: WmtOptions,
    table: TableOptions,
    inputs: ScoreInputOptions,
    scores: Annotated[
        list[str] | None,
        Option(
            metavar="FILE", help="Scores of a further metric (item: the number of the segment); repeatable.", first=True
        ),
    ] = None,
    rows: Annotated[
        str | None,
        Option(metavar="FOLDER", help="Write candidates, references, judgements and scores as rows.", first=True),
    ] = None,
    figures: FiguresOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Correlate the metrics of a WMT test set with its human scores.

    The table of the metrics task: correlations by system and by segment, with the rank of each metric's significance
    cluster. References, people's translations and outliers are excluded as the task does.

    Example: postil wmt mt-metrics-eval-v2/wmt22 -l en-de
    """
    from postil.wmt.calls import metrics_task  # noqa: PLC0415

    check_figures(figures)
    table.check(format, intervals=True)
    said = command_line()
    result = metrics_task(
        folder,
        options,
        scores or (),
        rows=rows,
        command=said,
        inputs=inputs,
        on_message=say,
        on_metrics=table.check_names,
    )
    write_figures([result], figures, table.names)
    print_result(result, format, table=table)
