"""`postil comment` and `rank-comments`."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.app.comment import CommentOptions, comment_articles, rank_articles
from postil.app.options import InputOptions, ThreadOptions
from postil.cli.command import command
from postil.cli.errors import emit, say
from postil.cli.options import FormatOption
from postil.records.results import SuggestionsResult
from postil.render.views import show

__all__ = ["comment", "rank_comments"]


@command
def comment(
    articles: Annotated[
        str,
        typer.Argument(metavar="ARTICLES", help="Articles (id, title, [content]): a table of any format, or -."),
    ],
    *,
    model: Annotated[str, typer.Option("--model", "-m", metavar="DIR", help="A model that postil train made.")],
    options: CommentOptions,
    inputs: InputOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Suggest comments for articles, with their provenance; comments filtered out have a reason (jsonl).

    Example: postil comment articles.jsonl --model model -k 3 --format jsonl
    """
    found = comment_articles(articles, model, options, inputs=inputs, on_message=say)
    # JSON Lines are printed as they come, so that a long run shows its first articles early.
    for rows in ((row,) for row in found) if format == "jsonl" else (tuple(found),):
        emit(show(format, SuggestionsResult(suggestions=rows)), format)


@command
def rank_comments(
    articles: Annotated[
        str, typer.Argument(metavar="ARTICLES", help="Articles with comments: a table of any format, or -.")
    ],
    *,
    model: Annotated[str, typer.Option("--model", "-m", metavar="DIR", help="A model ir-t or ir-tc.")],
    options: ThreadOptions,
    inputs: InputOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Rank the comments of each article by relevance to it.

    Example: postil rank-comments threads.jsonl --model model --format jsonl
    """
    emit(show(format, rank_articles(articles, model, options, inputs=inputs, on_message=say)), format)
