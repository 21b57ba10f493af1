"""`postil interesting`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import Argument, FormatOption, Option, command
from postil.cli.output import print_result, say
from postil.data.options import TableInputOptions
from postil.interest.options import InterestingOptions

__all__ = ["interesting"]


@command
def interesting(
    sources: Annotated[
        list[str],
        Argument(
            metavar="SOURCES...",
            help="Documents: HTML, PDF, Markdown, wikitext, text; - for stdin; an http or https address, which is "
            "fetched; folders and feeds of these; or a table of passage rows.",
        ),
    ],
    options: InterestingOptions,
    inputs: TableInputOptions,
    *,
    page: Annotated[
        str | None,
        Option(metavar="FILE", help="Write the document with its passages highlighted, as one HTML page.", first=True),
    ] = None,
    pages: Annotated[
        str | None,
        Option(
            metavar="DIR", help="Write such a page of each document, and index.html with the best of all.", first=True
        ),
    ] = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Find the passages of a page that readers should see first, with the reasons.

    Two goals: interest, what people find interesting (English), and topic, what the page is about.

    Example: postil interesting page.html -k 10 --page highlighted.html
    """
    from postil.interest.calls import rank_sources  # noqa: PLC0415 - metrics and documents are behind it

    result = rank_sources(sources, options, page=page, pages=pages, inputs=inputs, on_message=say)
    print_result(result, format)
