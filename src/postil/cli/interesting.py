"""`postil interesting`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.app.interesting import InterestingOptions, rank_page
from postil.app.options import TableInputOptions
from postil.cli.command import command
from postil.cli.errors import emit, say
from postil.cli.options import FormatOption
from postil.render.views import show

__all__ = ["interesting"]


@command
def interesting(
    page: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A text, or a table of passage rows, or - for stdin."),
    ],
    options: InterestingOptions,
    inputs: TableInputOptions,
    *,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Print the most interesting passages of a page, with the units that make their scores.

    Best with --stop, and with passages of other pages that readers found interesting as --reference.

    Example: postil interesting page.txt -k 3 --split sentences --stop en
    """
    result, warnings = rank_page(page, options, inputs, say)
    emit(show(format, result), format)
    for warning in warnings:
        say(warning)
