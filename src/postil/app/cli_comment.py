"""`postil train`, `comment` and `rank-comments`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.app.cli_options import FormatOption, JobsOption, SeedOption
from postil.app.exits import exits, say
from postil.errors import UnknownName

__all__ = ["comment", "rank_comments", "train"]


@exits
def train(
    name: Annotated[str, typer.Argument(metavar="NAME", help="ir-t (titles) or ir-tc (titles and contents).")],
    *,
    corpus: Annotated[str, typer.Option(metavar="DIR", help="A corpus that postil corpus build made.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="The model folder to make.")],
    ranker: Annotated[
        str, typer.Option(metavar="NAME", help="What ranks comments: relevance (a network; extra nn), tf-idf, or both.")
    ] = "relevance",
    similar: Annotated[
        int, typer.Option(min=1, metavar="N", help="Take comments of the N most similar articles.")
    ] = 20,
    weighting: Annotated[
        str, typer.Option(metavar="NAME", help="How similar articles are found: tf-idf (cosine) or bm25.")
    ] = "tf-idf",
    idf: Annotated[
        str, typer.Option(metavar="NAME", help="With tf-idf: plain, ln(N/df), or smooth, as in scikit-learn.")
    ] = "plain",
    vectors: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Word vectors to begin with, or none; without it they are trained first."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The network: towers (default), or interaction (slower to rank)."),
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(metavar="WHICH", help="Train on all comments of an article (default) or on one, drawn."),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The network goes through the corpus at most N times.")
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, metavar="N", help="… and takes at most N steps.")] = None,
    batch: Annotated[int | None, typer.Option(min=2, metavar="N", help="Size of its batches.")] = None,
    learning_rate: Annotated[float | None, typer.Option(metavar="X", help="Its learning rate.")] = None,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Where it is trained: auto (default), cpu or cuda.")
    ] = None,
    sampled: Annotated[
        int, typer.Option(min=1, metavar="N", help="Evaluate each dev comment among N of other articles.")
    ] = 100,
    seed: SeedOption = 20181,
    format: FormatOption = "table",  # noqa: A002
    jobs: JobsOption = 1,
) -> None:
    """Train a commenter on a corpus, and see how well it finds the comments of dev.

    A training that was interrupted goes on where it stopped.

    Example: postil train ir-tc --corpus corpus --out model
    """
    from postil.app.output import FORMATS  # noqa: PLC0415
    from postil.app.progress import progress  # noqa: PLC0415
    from postil.app.training import TrainOptions, train_retriever  # noqa: PLC0415
    from postil.app.training_output import evaluation_as  # noqa: PLC0415

    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    network = {"form": form, "pairs": pairs}
    training = {"epochs": epochs, "steps": steps, "batch": batch, "learning_rate": learning_rate, "device": device}
    options = TrainOptions(
        ranker=ranker,
        similar=similar,
        weighting=weighting,  # type: ignore[arg-type]  # checked inside
        idf=idf,  # type: ignore[arg-type]  # the same
        vectors=vectors,
        relevance={option: value for option, value in network.items() if value is not None},
        training={option: value for option, value in training.items() if value is not None},
        sampled=sampled,
        seed=seed,
        jobs=jobs,
    )
    trained = train_retriever(name, corpus, out, options, say=say, watch=progress)
    if trained.evaluation is not None:
        typer.echo(evaluation_as(format, trained.evaluation), nl=False)
    say(f"{name} in {trained.folder}; go on with: postil comment ARTICLES --model {trained.folder}")


@exits
def comment(
    articles: Annotated[
        str,
        typer.Argument(metavar="ARTICLES", help="Articles (id, title, [content]): .jsonl, .jsonl.gz, .parquet or -."),
    ],
    *,
    model: Annotated[str, typer.Option("--model", "-m", metavar="DIR", help="A model that postil train made.")],
    k: Annotated[int, typer.Option("-k", min=1, metavar="K", help="Suggest at most K comments an article.")] = 5,
    shortest: Annotated[int, typer.Option(min=0, metavar="N", help="Hold comments of fewer words.")] = 3,
    longest: Annotated[int | None, typer.Option(min=1, metavar="N", help="Hold comments of more words.")] = None,
    block: Annotated[
        str | None, typer.Option(metavar="FILE", help="Hold comments with any of these words or phrases, one a line.")
    ] = None,
    addresses: Annotated[
        bool, typer.Option("--addresses", help="Do not hold comments with web and e-mail addresses or handles.")
    ] = False,
    format: FormatOption = "table",  # noqa: A002
    jobs: JobsOption = 1,
) -> None:
    """Suggest comments for articles. Each says where it comes from; what is held back says why (jsonl).

    Example: postil comment articles.jsonl --model model -k 3 --format jsonl
    """
    from postil.app.commenting import CommentOptions, comment_files  # noqa: PLC0415
    from postil.app.commenting_output import suggestions_as  # noqa: PLC0415
    from postil.app.output import FORMATS  # noqa: PLC0415

    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    options = CommentOptions(k=k, shortest=shortest, longest=longest, block=block, addresses=addresses, jobs=jobs)
    found = comment_files(articles, model, options)
    if format == "jsonl":
        for row in found:  # as they come
            typer.echo(suggestions_as("jsonl", [row]), nl=False)
    else:
        typer.echo(suggestions_as(format, list(found)), nl=False)


@exits
def rank_comments(
    articles: Annotated[
        str, typer.Argument(metavar="ARTICLES", help="Articles with comments: .jsonl, .jsonl.gz, .parquet or -.")
    ],
    *,
    model: Annotated[str, typer.Option("--model", "-m", metavar="DIR", help="A model ir-t or ir-tc.")],
    format: FormatOption = "table",  # noqa: A002
    jobs: JobsOption = 1,
) -> None:
    """Sort the comments of each article by how relevant they are to it.

    Example: postil rank-comments threads.jsonl --model model --format jsonl
    """
    from postil.app.commenting import rank_files  # noqa: PLC0415
    from postil.app.commenting_output import ranked_as  # noqa: PLC0415
    from postil.app.output import FORMATS  # noqa: PLC0415

    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    typer.echo(ranked_as(format, rank_files(articles, model, jobs=jobs)), nl=False)
