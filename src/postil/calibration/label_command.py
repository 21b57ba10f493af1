"""`postil label`: flags, and what is printed."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.calibration import labels as app
from postil.calibration.labels import LabelOptions
from postil.campaigns.calls import ServeOptions
from postil.cli.command import command
from postil.cli.errors import say
from postil.data.options import InputOptions
from postil.errors import MissingExtra
from postil.results.formats import counted

__all__ = ["label"]


@command
def label(
    articles: Annotated[
        str,
        typer.Argument(metavar="ARTICLES", help="Articles (id, title, [content]): a table of any format, or -."),
    ],
    *,
    model: Annotated[str, typer.Option("--model", "-m", metavar="DIR", help="A model that postil train made.")],
    options: LabelOptions,
    inputs: InputOptions,
) -> None:
    """Label suggestions in a browser: show or do not show, with a reason, one key each.

    The first suggestions for articles drawn at random are shown beside their articles, without source and score. Every
    answer is kept in the campaign; Ctrl+C writes the labels, and the same command goes on where it stopped.

    Example: postil label articles.jsonl --model model --out labels.jsonl
    """
    try:
        from postil.campaigns.pages.server import serve  # noqa: PLC0415 - help does without it
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "postil":
            raise
        raise MissingExtra("postil label", "web") from error
    app.plan_labels(articles, model, options, inputs=inputs, on_message=say)
    try:
        if options.serve:
            say(app.invitation(options))
            serve(app.campaign_of(options), ServeOptions(port=options.port), on_message=say)
    finally:  # Ctrl+C, above all
        written = app.write_labels(options)
        say(f"written: {options.out} ({counted(written, 'label')})" if written else "no labels yet")
