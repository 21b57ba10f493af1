"""`postil train`: one command per model, so that each has its own options and help."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import click

from postil.cli.command import Argument, FormatOption, Group, Option
from postil.cli.output import emit, refuse, say, terminal_width
from postil.comments.nn.distributed import is_main_process
from postil.comments.options import GeneratorTrainOptions, RetrieverTrainOptions
from postil.data.options import InputOptions, ThreadOptions
from postil.data.progress import progress
from postil.encoders.encoder_options import is_address
from postil.errors import UnknownName, UsageError
from postil.interest.training_options import InterestTrainOptions
from postil.messages import Blank, Command, Message, Setting
from postil.screening.options import ScreenTrainOptions
from postil.threads.options import QualityTrainOptions

if TYPE_CHECKING:
    from postil.data.rows import Article
    from postil.data.suggestions import Label
    from postil.results.formats import Format
    from postil.training.grid import Grid

__all__ = ["train"]

CorpusOption: TypeAlias = Annotated[str, Option(metavar="DIR", help="A corpus that postil corpus build made.")]
OutOption: TypeAlias = Annotated[str, Option(short="o", metavar="DIR", help="The model folder to write.")]
GridOption: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="OPTION=V1,V2,…",
        help="Choose a hyperparameter on dev: values of an option of the network or its training, by the name of its "
        "flag; may be repeated. All combinations are trained for a few epochs, and the best one to the end.",
        group="Grid",
    ),
]
GridEpochsOption: TypeAlias = Annotated[
    int | None,
    Option(
        metavar="N",
        min=1,
        help="With --grid: maximum number of epochs of each combination; by default 2.",
        group="Grid",
    ),
]


LabelsOption: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="FILE",
        help="Labels of what is worth showing (article, text, show), to calibrate the model by; repeatable. See postil "
        "calibrate.",
        first=True,
    ),
]


class _Models(Group):
    """Group that answers an unknown model with the nearest known name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See `click.Group`."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            refuse(UnknownName("commenter", args[0], known))
        return super().resolve_command(ctx, args)


train = _Models("train", "Train a commenter on a corpus, or a model of interest on ratings.")


@train.itself
def update(
    *,
    update: Annotated[
        str | None,
        Option(
            metavar="MODEL",
            help="Add the articles of --corpus to a model ir-t or ir-tc that is there, without training it again.",
        ),
    ] = None,
    corpus: Annotated[str | None, Option(metavar="DIR", help="With --update: a corpus of the articles to add.")] = None,
    out: Annotated[
        str | None,
        Option(short="o", metavar="DIR", help="With --update: the folder to write, in place of MODEL."),
    ] = None,
    labels: LabelsOption = None,
    encoder: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="With --update: address of the endpoint that the sentence encoder of MODEL is behind, if it was made "
            "with one.",
        ),
    ] = None,
    threads: ThreadOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Train a commenter on a corpus, or add articles to one."""
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        if update is not None or corpus is not None or out is not None or labels or encoder is not None:
            given = "--update, --corpus, --out, --labels and --encoder"
            raise UsageError(f"{given} before {context.invoked_subcommand}: write them after it")
        return
    if update is not None and corpus is None and not labels:
        raise UsageError(f"--update {update}: expected --corpus DIR, --labels FILE or both, got neither")
    if update is None:
        known = ", ".join(context.command.commands)  # type: ignore[attr-defined]  # it is a group
        raise UsageError(f"expected a commenter ({known}), or --update MODEL with --corpus DIR, --labels FILE or both")
    from postil.results.views import show  # noqa: PLC0415
    from postil.training.retrievers import update_model  # noqa: PLC0415

    fit = _Fit.of(labels, corpus, update)
    if corpus is not None:
        result = update_model(
            update, corpus, out, jobs=threads.jobs, encoder=encoder, on_message=say, on_progress=progress
        )
        emit(show(format, result), format)
        _tell(result.hash, out or update, encoder)
        update, out = out or update, None
    fit.calibrate(update, out, format, encoder)


@train.add("ir-tc", "Comments of articles with similar titles and contents.", "Choose among readers' comments")
@train.add("ir-t", "Comments of articles with similar titles.", "Choose among readers' comments")
def retriever(
    *,
    corpus: CorpusOption,
    out: OutOption,
    options: RetrieverTrainOptions,
    grid: GridOption = None,
    grid_epochs: GridEpochsOption = None,
    labels: LabelsOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Find similar articles (ir-t: by titles, ir-tc: by titles and contents) and rank their readers' comments.

    It ends with an evaluation on dev: ranking of articles' own comments. An interrupted training resumes from its last
    checkpoint.

    Example: postil train ir-tc --corpus corpus --out model
    """
    from postil.results.views import show  # noqa: PLC0415
    from postil.training.retrievers import train_retriever  # noqa: PLC0415

    name = str(click.get_current_context().info_name)
    asked, fit = _grid(grid, grid_epochs, options), _Fit.of(labels, corpus)
    result = train_retriever(name, corpus, out, options, grid=asked, on_message=say, on_progress=progress)
    if result is not None:
        emit(show(format, result), format)
    address = _address(options.encoder)
    _tell(name, out, address)
    fit.calibrate(out, None, format, address)


@train.add(
    "quality",
    "Quality of comments in their thread, from votes, grades or labels.",
    "Learn from votes, decisions and ratings",
)
def quality(
    *,
    corpus: CorpusOption,
    out: OutOption,
    options: QualityTrainOptions,
    labels: Annotated[
        list[str] | None,
        Option(
            metavar="FILE",
            help="With --from labels: which comments of the corpus to show (article, text, show); repeatable.",
        ),
    ] = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Learn which comments of a thread readers prefer, for postil rank-comments --quality.

    Comments are compared within threads, and the time of a comment is in the fit but not in the prediction. It ends
    with an evaluation: each thread ordered by a fit on others, beside length, age and a random order.

    Example: postil train quality --corpus corpus --out quality
    """
    from postil.results.views import show  # noqa: PLC0415
    from postil.threads.training import train_quality  # noqa: PLC0415

    rows, where = _labels(labels), ", ".join(labels or ["labels"])
    emit(show(format, train_quality(corpus, out, options, rows, where=where, on_progress=progress)), format)
    _go_on("quality", out, Command("rank-comments", (Blank("ARTICLES"),), (Setting("quality", out),)))


@train.add("screen", "What a site's moderators hold, from their decisions.", "Learn from votes, decisions and ratings")
def screen(
    decisions: Annotated[
        list[str] | None,
        Argument(
            metavar="DECISIONS...",
            help="Rows (text, decision keep or hold, reason, date, article, author, id), as postil corpus import "
            "--decisions writes them, or - for stdin.",
        ),
    ] = None,
    *,
    out: Annotated[
        str | None,
        Option(
            short="o",
            metavar="DIR",
            help="The folder to write; with --update by default the screen itself.",
            first=True,
        ),
    ] = None,
    options: ScreenTrainOptions,
    inputs: InputOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Learn what a site's moderators hold, for postil screen and postil serve --screen.

    Logistic regression on words and parts of words, of the decision and of each reason with 50 texts. It ends with an
    evaluation on texts that no fit has seen: precision against recall, the share of decisions that it could take over,
    and where it disagrees most. The folder holds hashed words and ids, and no text.

    Example: postil train screen decisions.jsonl --out screen
    """
    from postil.results.views import show  # noqa: PLC0415
    from postil.screening.calls import screening_command  # noqa: PLC0415
    from postil.screening.training import train_screen  # noqa: PLC0415

    result = train_screen(decisions or [], out, options, inputs, on_message=say, on_progress=progress)
    emit(show(format, result, width=terminal_width()), format)
    folder = str(out or options.update)
    _go_on("screen", folder, screening_command(folder, _address(options.encoder), inputs))


@train.add(
    "interesting", "Interesting passages of pages, from ratings of your own.", "Learn from votes, decisions and ratings"
)
def interesting(
    votes: Annotated[
        str,
        Argument(
            metavar="VOTES",
            help="Rows (topic, id, text, grade), or - for stdin; a topic is a page. Several rows of a passage are the "
            "ratings of several readers, and are averaged.",
        ),
    ],
    *,
    out: OutOption,
    options: InterestTrainOptions,
    inputs: InputOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Learn which passages of a page readers find interesting, for postil interesting --model.

    A linear model of words, pairs of words and features of sentences, in one table of weights. It ends with an
    evaluation: each page ranked by a fit on others, beside the shipped model, the untrained sum, length and a random
    order.
    Six to twelve rated pages suffice.

    Example: postil train interesting votes.csv --out interest
    """
    from postil.interest.training import train_interesting  # noqa: PLC0415
    from postil.results.views import show  # noqa: PLC0415

    emit(show(format, train_interesting(votes, out, options, inputs, on_message=say)), format)
    _go_on("model of interest", out, Command("interesting", (Blank("PAGE"),), (Setting("model", out),)))


@train.add("att-tc", "Comments generated from title and content, with attention.", "Generate comments")
@train.add("att", "Comments generated from titles, with attention.", "Generate comments")
@train.add("seq2seq", "Comments generated from titles, without attention.", "Generate comments")
def generator(
    *,
    corpus: CorpusOption,
    out: OutOption,
    options: GeneratorTrainOptions,
    grid: GridOption = None,
    grid_epochs: GridEpochsOption = None,
    figure: Annotated[
        Path | None, Option(metavar="FILE", help="Draw the losses: .svg, .png or .pdf; extra report.", first=True)
    ] = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Train a network that generates comments: an encoder and a decoder, with attention or without.

    It ends with the losses: in training, and on dev as cross-entropy over the full vocabulary, in nats per token, and
    perplexity. An interrupted training resumes from its last checkpoint. Several GPUs: torchrun --nproc-per-node N -m
    postil train …

    Example: postil train att --corpus corpus --out model --softmax sampled
    """
    from postil.results.views import show  # noqa: PLC0415
    from postil.training.generators import train_commenter  # noqa: PLC0415

    name = str(click.get_current_context().info_name)
    asked = _grid(grid, grid_epochs, options)
    result = train_commenter(name, corpus, out, options, grid=asked, on_message=say, on_progress=progress)
    if result is not None:
        emit(show(format, result), format)
        if figure is not None:
            from postil.comments.view import draw_losses  # noqa: PLC0415

            draw_losses(figure, {name: result})
            say(f"losses drawn in {figure}")
    _tell(name, out)


def _labels(files: list[str] | None) -> list[Label]:
    """The labels of files, read before anything is trained."""
    if not files:
        return []
    from postil.calibration.calls import read_labels  # noqa: PLC0415

    return read_labels(files, None, say)


@dataclass(frozen=True)
class _Fit:
    """Labels to calibrate a model by, matched before anything is trained or written.

    Args:
        labels: The labels; none for a model that is not calibrated.
        articles: Their articles by id, of labels without a title.
        where: Their files.
    """

    labels: list[Label]
    articles: dict[str, Article]
    where: str

    @classmethod
    def of(cls, files: list[str] | None, corpus: str | None, model: str | None = None) -> _Fit:
        """Read labels, and match them with a corpus and a model that is updated."""
        rows, where = _labels(files), ", ".join(files or [])
        if not rows:
            return cls(rows, {}, where)
        from postil.calibration.calls import match_labels  # noqa: PLC0415

        return cls(rows, match_labels(rows, corpus=corpus, model=model, where=where), where)

    def calibrate(self, model: str, out: str | None, form: Format, encoder: str | None) -> None:
        """Calibrate a model, if there are labels; its encoder may be behind an endpoint."""
        if not self.labels or not is_main_process():
            return
        from postil.calibration.calls import calibrate_model  # noqa: PLC0415
        from postil.calibration.options import CalibrateOptions  # noqa: PLC0415
        from postil.results.views import show  # noqa: PLC0415

        options = CalibrateOptions(out=out, encoder=encoder)
        result = calibrate_model(model, self.labels, self.articles, options, where=self.where, on_message=say)
        emit(show(form, result), form)


def _grid(
    texts: list[str] | None,
    epochs: int | None,
    options: GeneratorTrainOptions | RetrieverTrainOptions,
) -> Grid | None:
    """The grid of a command line; None without one."""
    from postil.training.grid import Grid  # noqa: PLC0415

    if not texts:
        if epochs is not None:
            raise UsageError("--grid-epochs: expected --grid as well, got none")
        return None
    grid = Grid.parse(texts, options) if epochs is None else Grid.parse(texts, options, epochs)
    context = click.get_current_context()
    for each in context.command.params:
        source = context.get_parameter_source(each.name or "")
        for name in grid.values if source is not None and source.name == "COMMANDLINE" else ():
            if f"--{name}" in each.opts:
                raise UsageError(
                    f"--grid {name}: expected the option either in the grid or as a flag, got --{name} too"
                )
    return grid


def _tell(name: str, out: str, encoder: str | None = None) -> None:
    """Say how to use a commenter, whose encoder may be behind an endpoint."""
    if is_main_process():
        named = (Setting("encoder", encoder),) if encoder is not None else ()
        _go_on(name, out, Command("comment", (Blank("ARTICLES"),), (Setting("model", out), *named)))


def _go_on(name: str, out: str, command: Command) -> None:
    say(Message("{name} in {out}; go on with: {command}", name=name, out=out, command=command))


def _address(encoder: str | None) -> str | None:
    """The address of the endpoint that an encoder is behind, which no model keeps; None for any other encoder."""
    return encoder if is_address(encoder or "") else None
