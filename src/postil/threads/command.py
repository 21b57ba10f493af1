"""`postil rank-comments`."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.command import FormatOption, command
from postil.cli.errors import emit, say
from postil.data.options import InputOptions
from postil.results.views import show
from postil.threads.calls import RankOptions, rank_articles

__all__ = ["rank_comments"]


@command
def rank_comments(
    articles: Annotated[
        str, typer.Argument(metavar="ARTICLES", help="Articles with comments: a table of any format, or -.")
    ],
    *,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="DIR", help="A model ir-t or ir-tc, for --by relevance.")
    ] = None,
    options: RankOptions,
    inputs: InputOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Rank the comments of each article by relevance, quality, votes, date or length, with reasons in words.

    Example: postil rank-comments threads.jsonl --model model --by relevance=2 --by votes --diversity 0.3
    """
    emit(show(format, rank_articles(articles, model, options, inputs=inputs, on_message=say)), format)
