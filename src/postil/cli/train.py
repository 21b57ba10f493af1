"""`postil train`: flags, nothing else. A command a model, so that each has its own options and help."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import typer
from typer.core import TyperGroup

from postil.cli.errors import emit, exits, refuse, say
from postil.cli.options import FormatOption, JobsOption, SeedOption, group
from postil.errors import UnknownName
from postil.render.views import show

__all__ = [
    "BatchOption",
    "CommentsOption",
    "CorpusOption",
    "DeviceOption",
    "EpochsOption",
    "LearningRateOption",
    "OutOption",
    "StepsOption",
    "train_app",
]

CorpusOption: TypeAlias = Annotated[str, typer.Option(metavar="DIR", help="A corpus that postil corpus build made.")]
OutOption: TypeAlias = Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="The model folder to make.")]
EmbeddingsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", help="Word vectors to begin with, or none; without it they are trained first."),
]
CommentsOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="WHICH", help="Train on all comments of an article (default) or on one, drawn.")
]
EpochsOption: TypeAlias = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="The network goes through the corpus at most N times.")
]
StepsOption: TypeAlias = Annotated[int | None, typer.Option(min=1, metavar="N", help="… and takes at most N steps.")]
BatchOption: TypeAlias = Annotated[int | None, typer.Option(min=2, metavar="N", help="Size of its batches.")]
LearningRateOption: TypeAlias = Annotated[float | None, typer.Option(metavar="X", help="Its learning rate.")]
DeviceOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="Where it is trained: auto (default), cpu or cuda.")
]


class _Models(TyperGroup):
    """Answers the name of no model with the nearest that is."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """See `typer.core.TyperGroup`."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            refuse(UnknownName("commenter", args[0], known))
        return super().resolve_command(ctx, args)


train_app = group("train", "Train a commenter on a corpus.", _Models)


@train_app.command("ir-tc", short_help="Comments of articles with similar titles and contents.")
@train_app.command("ir-t", short_help="Comments of articles with similar titles.")
@exits
def retriever(
    context: typer.Context,
    *,
    corpus: CorpusOption,
    out: OutOption,
    ranker: Annotated[
        str, typer.Option(metavar="NAME", help="What ranks comments: both, relevance (a network; extra nn) or tf-idf.")
    ] = "both",
    neighbors: Annotated[
        int, typer.Option(min=1, metavar="N", help="Take comments of the N most similar articles.")
    ] = 20,
    retrieval: Annotated[
        str, typer.Option(metavar="NAME", help="How similar articles are found: tf-idf (cosine) or bm25.")
    ] = "tf-idf",
    idf: Annotated[
        str, typer.Option(metavar="NAME", help="With tf-idf: plain, ln(N/df), or smooth, as in scikit-learn.")
    ] = "plain",
    embeddings: EmbeddingsOption = None,
    architecture: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The network: two-tower (default), or interaction (slower to rank)."),
    ] = None,
    comments_per_article: CommentsOption = None,
    epochs: EpochsOption = None,
    steps: StepsOption = None,
    batch: BatchOption = None,
    learning_rate: LearningRateOption = None,
    device: DeviceOption = None,
    eval_negatives: Annotated[
        int, typer.Option(min=1, metavar="N", help="Evaluate each dev comment among N of other articles.")
    ] = 100,
    seed: SeedOption = 20181,
    format: FormatOption = "table",  # noqa: A002
    jobs: JobsOption = 1,
) -> None:
    """Find similar articles (ir-t: by titles, ir-tc: by titles and contents) and rank their readers' comments.

    It ends with how well the comments of dev are found. A training that was interrupted goes on where it stopped.

    Example: postil train ir-tc --corpus corpus --out model
    """
    from postil.app.progress import progress  # noqa: PLC0415
    from postil.app.training.retrievers import TrainOptions, train_retriever  # noqa: PLC0415

    name = str(context.info_name)
    network = {"architecture": architecture, "comments_per_article": comments_per_article}
    training = {"epochs": epochs, "steps": steps, "batch": batch, "learning_rate": learning_rate, "device": device}
    options = TrainOptions(
        ranker=ranker,
        neighbors=neighbors,
        retrieval=retrieval,  # type: ignore[arg-type]  # checked inside
        idf=idf,  # type: ignore[arg-type]  # the same
        embeddings=embeddings,
        relevance={option: value for option, value in network.items() if value is not None},
        training={option: value for option, value in training.items() if value is not None},
        eval_negatives=eval_negatives,
        seed=seed,
        jobs=jobs,
    )
    trained = train_retriever(name, corpus, out, options, say=say, watch=progress)
    if trained is None:  # in a process that is not the first
        return
    if trained.evaluation is not None:
        emit(show(format, trained.evaluation), format)
    say(f"{name} in {trained.folder}; go on with: postil comment ARTICLES --model {trained.folder}")
