"""`postil train seq2seq`, `att` and `att-tc`: flags, nothing else."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads it
from typing import Annotated

import typer

from postil.cli.errors import emit, exits, say
from postil.cli.options import FormatOption, SeedOption
from postil.cli.train import (
    BatchOption,
    CommentsOption,
    CorpusOption,
    DeviceOption,
    EpochsOption,
    LearningRateOption,
    OutOption,
    StepsOption,
    train_app,
)

__all__ = ["generator", "train_app"]


@train_app.command("att-tc", short_help="Comments written about title and content, with attention.")
@train_app.command("att", short_help="Comments written about titles, with attention.")
@train_app.command("seq2seq", short_help="Comments written about titles, without attention.")
@exits
def generator(
    context: typer.Context,
    *,
    corpus: CorpusOption,
    out: OutOption,
    source: Annotated[
        str | None,
        typer.Option(metavar="WHAT", help="What is read: title, content or both; by default as the model's name says."),
    ] = None,
    target: Annotated[
        str, typer.Option(metavar="WHAT", help="What is written: comments, or title (with --source content).")
    ] = "comments",
    embeddings: Annotated[
        str,
        typer.Option(metavar="FOLDER", help="Word vectors to begin with; corpus trains them first; none is random."),
    ] = "none",
    hidden_size: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="Length of a state (default 256).")
    ] = None,
    layers: Annotated[int | None, typer.Option(min=1, metavar="N", help="Recurrent layers (default 1).")] = None,
    vocab_size: Annotated[
        int | None, typer.Option(min=5, metavar="N", help="How many words it knows (default 30,000).")
    ] = None,
    cell: Annotated[str | None, typer.Option(metavar="NAME", help="gru (default) or lstm.")] = None,
    attention: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="general (default; Luong's general) or additive (Bahdanau's score)."),
    ] = None,
    dropout: Annotated[float | None, typer.Option(metavar="X", help="Share that is dropped (default .2).")] = None,
    softmax: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="full (default), or sampled: several times faster, and near it in the mean."),
    ] = None,
    comments_per_article: CommentsOption = None,
    epochs: EpochsOption = None,
    steps: StepsOption = None,
    batch: BatchOption = None,
    learning_rate: LearningRateOption = None,
    patience: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Stop after N looks at dev without a new best (default 3).")
    ] = None,
    eval_every: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Look at dev every N steps (default 500) and each epoch.")
    ] = None,
    device: DeviceOption = None,
    bf16: Annotated[
        bool, typer.Option("--bf16", help="Mixed precision (autocast to bfloat16), on a GPU that has it.")
    ] = False,
    tensorboard: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Write the losses for TensorBoard too; extra tensorboard.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the losses: .svg, .png or .pdf; extra plot.")
    ] = None,
    seed: SeedOption = 20181,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Train a network that writes comments: an encoder and a decoder, with attention or without.

    It ends with the losses: in training, and on dev as nats a word and perplexity, always by the full softmax. A
    training that was interrupted goes on where it stopped. Several GPUs: torchrun --nproc-per-node N -m postil train …

    Example: postil train att --corpus corpus --out model --softmax sampled
    """
    from postil.app.progress import progress  # noqa: PLC0415
    from postil.app.training.generators import GeneratorTrainOptions, train_commenter  # noqa: PLC0415
    from postil.app.training.losses import draw_losses, losses_as  # noqa: PLC0415

    name = str(context.info_name)
    network = {
        "hidden_size": hidden_size,
        "layers": layers,
        "vocab_size": vocab_size,
        "cell": cell,
        "attention": attention,
        "dropout": dropout,
        "loss": softmax,
        "comments_per_article": comments_per_article,
    }
    training = {
        "epochs": epochs,
        "steps": steps,
        "batch": batch,
        "learning_rate": learning_rate,
        "patience": patience,
        "eval_every": eval_every,
        "device": device,
        "bf16": bf16 or None,
        "tensorboard": tensorboard,
    }
    options = GeneratorTrainOptions(
        source=source,
        target=target,
        embeddings=None if embeddings == "corpus" else embeddings,
        network={option: value for option, value in network.items() if value is not None},
        training={option: value for option, value in training.items() if value is not None},
        seed=seed,
    )
    trained = train_commenter(name, corpus, out, options, say=say, watch=progress)
    if trained is None:  # in a process that is not the first
        return
    emit(losses_as(format, trained), format)
    if figure is not None:
        draw_losses(figure, {name: trained.history})
        say(f"losses drawn in {figure}")
    say(f"{name} in {trained.folder}; go on with: postil comment ARTICLES --model {trained.folder}")
