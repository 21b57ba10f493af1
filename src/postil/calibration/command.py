"""`postil calibrate`: flags, and what is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from postil.calibration.calls import CalibrateOptions, calibrate_files
from postil.cli.command import FormatOption, command
from postil.cli.errors import emit, say
from postil.data.options import InputOptions
from postil.results.views import show

__all__ = ["calibrate"]


@command
def calibrate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model ir-t or ir-tc that postil train made.")],
    *,
    labels: Annotated[
        list[str],
        typer.Option(metavar="FILE", help="Labels (article, text, show): a table of any format, or -; repeatable."),
    ],
    options: CalibrateOptions,
    inputs: InputOptions,
    figure: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw precision against coverage: .svg, .png or .pdf; extra plot."),
    ] = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Learn from labels what is worth showing, and print precision against coverage.

    The filter is kept in the model; postil comment --precision or --coverage uses it. It is learned from the ranker's
    score and from features of the texts, and every number is of articles that the fit has not seen.

    Example: postil calibrate model --labels labels.jsonl
    """
    result = calibrate_files(model, labels, options, inputs=inputs, on_message=say)
    emit(show(format, result), format)
    if figure is not None and result.points:
        from postil.calibration.view import draw_precision  # noqa: PLC0415

        draw_precision(figure, result)
        say(f"precision against coverage drawn in {figure}")
