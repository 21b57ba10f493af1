"""`postil calibrate` and `postil label`: flags, and what is printed."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from postil.calibration.options import CalibrateOptions, LabelOptions
from postil.cli.command import Argument, FormatOption, Option, command
from postil.cli.output import emit, say
from postil.data.explain import counted
from postil.data.options import InputOptions
from postil.data.progress import progress
from postil.endpoint.limits import Price
from postil.errors import UsageError, needs
from postil.messages import Command, Message, Setting

__all__ = ["calibrate", "label"]


@command
def calibrate(
    model: Annotated[str, Argument(metavar="MODEL", help="A model ir-t or ir-tc that postil train made.")],
    *,
    labels: Annotated[
        list[str],
        Option(metavar="FILE", help="Labels (article, text, show): a table of any format, or -; repeatable."),
    ],
    options: CalibrateOptions,
    inputs: InputOptions,
    figure: Annotated[
        Path | None,
        Option(
            metavar="FILE", help="Draw precision against coverage: .svg, .png or .pdf; extra report.", group="Output"
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        Option(
            help="Ask nothing of the endpoint of the encoder; print numbers of calls and tokens, and time.",
            group="Encoders",
        ),
    ] = False,
    price: Annotated[
        str | None,
        Option(
            metavar="IN:OUT",
            help="With --dry-run: price of a million tokens, of texts and of answers: 0.02:0.",
            group="Encoders",
        ),
    ] = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Learn from labels what is worth showing, and print precision against coverage.

    The filter is kept in the model; postil comment --precision or --coverage uses it. It is learned from the ranker's
    score and from features of the texts, and every number is of articles that the fit has not seen.

    Example: postil calibrate model --labels labels.jsonl
    """
    from postil.calibration.calls import calibrate_files, estimate_calibration  # noqa: PLC0415
    from postil.results.views import show  # noqa: PLC0415

    if dry_run:
        paid = Price.parse(price) if price is not None else None
        emit(show(format, estimate_calibration(model, labels, options, paid, inputs=inputs, on_message=say)), format)
        return
    if price is not None:
        raise UsageError("{price}: only with {dry_run}", price=Setting("price"), dry_run=Setting("dry_run"))
    result = calibrate_files(model, labels, options, inputs=inputs, on_message=say, on_progress=progress)
    emit(show(format, result), format)
    if figure is not None and result.points:
        from postil.calibration.view import draw_precision  # noqa: PLC0415

        draw_precision(figure, result)
        say(f"precision against coverage drawn in {figure}")


@command
def label(
    articles: Annotated[
        str,
        Argument(metavar="ARTICLES", help="Articles (id, title, [content]): a table of any format, or -."),
    ],
    *,
    model: Annotated[str, Option(short="m", metavar="DIR", help="A model that postil train made.")],
    options: LabelOptions,
    inputs: InputOptions,
) -> None:
    """Label suggestions in a browser: show or do not show, with a reason, one key each.

    The first suggestions for articles drawn at random are shown beside their articles, without source and score. Every
    answer is kept in the campaign; Ctrl+C writes the labels, and the same command goes on where it stopped.

    Example: postil label articles.jsonl --model model --out labels.jsonl
    """
    from postil.calibration import labels as app  # noqa: PLC0415
    from postil.calibration.rounds import Rounds  # noqa: PLC0415
    from postil.campaigns.options import ServeOptions  # noqa: PLC0415
    from postil.comments.retrieval import Retriever  # noqa: PLC0415

    with needs("postil label", "serve"):
        from postil.campaigns.pages.server import serve  # noqa: PLC0415
    made = app.plan_labels(articles, model, options, inputs=inputs, on_message=say)
    rounds = None
    if isinstance(made.commenter, Retriever):
        rounds = Rounds(made.commenter, made.articles, made.options, on_message=say)
    try:
        if options.serve:
            for line in app.invitation(options, say):
                say(line)
            with nullcontext() if rounds is None else rounds.watching():
                serve(app.campaign_of(options), ServeOptions(port=options.port), on_message=say)
        elif rounds is not None and not made.is_new:
            rounds.step()
    finally:  # Ctrl+C, above all
        written = app.write_labels(options)
        say(f"written: {options.out} ({counted(written, 'label')})" if written else "no labels yet")
        if written and rounds is not None:
            named = () if options.encoder is None else (Setting("encoder", options.encoder),)
            further = Command("calibrate", (model,), (Setting("labels", options.out), *named))
            say(Message("go on with: {command}", command=further))
