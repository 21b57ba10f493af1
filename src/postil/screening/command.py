"""`postil screen`: flags, and what is printed."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import Argument, FormatOption, command
from postil.cli.output import print_result, say
from postil.data.options import InputOptions
from postil.screening.options import ScreenOptions

__all__ = ["screen"]


@command
def screen(
    texts: Annotated[
        str,
        Argument(
            metavar="TEXTS",
            help="Rows with a text, and id, article, author and date where there are any: a table of any format, or - "
            "for stdin.",
        ),
    ],
    *,
    options: ScreenOptions,
    inputs: InputOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Tell which texts the moderators of a site would hold, with a probability and their reasons.

    Example: postil screen comments.csv --model screen
    """
    from postil.screening.calls import screen_file  # noqa: PLC0415 - NumPy is behind it

    print_result(screen_file(texts, options, inputs, on_message=say), format)
