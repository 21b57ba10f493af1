"""`postil study`: flags, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from postil.cli.errors import emit, exits, say
from postil.cli.options import JobsOption, SeedOption, group
from postil.errors import UsageError

__all__ = ["study"]

study = group("study", "Run the studies of two papers from end to end, on your data.")

StageOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Run this stage alone; without it all that are not done yet.")
]
ResamplesOption = Annotated[int, typer.Option(min=1, metavar="N", help="Resamples, for intervals.")]


@study.command()
@exits
def comments(
    *,
    corpus: Annotated[
        str | None, typer.Option(metavar="DIR", help="A corpus with a test set, from postil corpus build.")
    ] = None,
    tencent: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="In place of a corpus: the Tencent release, with contents.jsonl (url, content) where you have it.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where everything goes.")] = Path("study"),
    systems: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Those to train, with commas; by default ir-t,ir-tc,seq2seq,att,att-tc."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=DIR", help="A trained model to take; may be repeated; without --systems only these."
        ),
    ] = None,
    ranker: Annotated[
        str, typer.Option(metavar="NAME", help="Of ir-t and ir-tc: both, relevance (as in the paper) or tf-idf.")
    ] = "both",
    softmax: Annotated[
        str, typer.Option(metavar="NAME", help="Of those that write: full, or sampled, several times faster.")
    ] = "full",
    epochs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Networks go through the corpus at most N times.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Where they are trained: auto, cpu or cuda.")
    ] = None,
    candidates: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="What other systems say of the test articles (item, system, text); without --systems only they and "
            "--model.",
        ),
    ] = None,
    judgements: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="People's grades of the suggestions (item, system, annotator, grade)."),
    ] = None,
    aspect: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which question, where judgements answer more than one.")
    ] = None,
    scale: Annotated[
        str | None, typer.Option(metavar="SCALE", help="Scale of all grades: HIGH (from 0) or LOW:HIGH.")
    ] = None,
    judged_scale: Annotated[
        str | None, typer.Option(metavar="SCALE", help="Scale of the judgements, where it is another than --scale.")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="Where the references' weights come from, as for postil evaluate; by default grades, else votes, else "
            "consensus.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", metavar="SPEC", help="A metric; may be repeated; by default those of the paper."
        ),
    ] = None,
    draws: Annotated[int, typer.Option(min=1, metavar="N", help="How often controls shuffle the weights.")] = 100,
    resamples: ResamplesOption = 1000,
    permutations: Annotated[int, typer.Option(min=1, metavar="N", help="Permutations, for tests.")] = 10_000,
    stage: StageOption = None,
    seed: SeedOption = 20181,
    jobs: JobsOption = 1,
) -> None:
    """Article commenting: train the commenters, score them beside readers, hold the metrics against people.

    Leaves tables and one page in --out. Each stage prints the command that does the same; the same command again does
    only what is not done, or what something has changed for.

    Example: postil study comments --corpus corpus --out study --softmax sampled
    """
    from postil.app.study.comments import study_comments  # noqa: PLC0415
    from postil.app.study.comments_options import METRICS, SYSTEMS, CommentsOptions  # noqa: PLC0415
    from postil.app.study.tencent import study_tencent  # noqa: PLC0415
    from postil.records.scale import Scale  # noqa: PLC0415

    if (corpus is None) == (tencent is None):
        raise UsageError("expected --corpus DIR, or --tencent DIR")
    models = _folders("--model", "NAME=DIR", model)
    usual = () if models or candidates else SYSTEMS
    options = CommentsOptions(
        systems=usual if systems is None else tuple(filter(None, systems.split(","))),
        models=models,
        ranker=ranker,
        softmax=softmax,
        epochs=epochs,
        device=device,
        candidates=candidates,
        judgements=judgements,
        aspect=aspect,
        scale=Scale.parse(scale) if scale else None,
        judged_scale=Scale.parse(judged_scale) if judged_scale else None,
        weights=weights,
        metrics=tuple(metric or METRICS),
        draws=draws,
        resamples=resamples,
        permutations=permutations,
        seed=seed,
        jobs=jobs,
        stage=stage,
    )
    if tencent is not None:
        page = study_tencent(Path(tencent), out, options, say, given=systems is not None)
    else:
        page = study_comments(str(corpus), out, options, say)
    if stage is None:
        emit(f"{page}\n")


@study.command()
@exits
def passages(
    *,
    collection: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="A folder with passages.jsonl, .jsonl.gz or .parquet (see corpus import), or such a file.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where everything goes.")] = Path("study"),
    vectors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FOLDER", help="Word vectors besides those trained on the collection; may be repeated."
        ),
    ] = None,
    train: Annotated[
        bool, typer.Option("--train/--no-train", help="Train vectors of words and pairs of words on the collection.")
    ] = True,
    pool: Annotated[
        str, typer.Option(metavar="HOW", help="all: one list, as in the paper; topic: a list a topic, and the mean.")
    ] = "all",
    k: Annotated[list[int] | None, typer.Option("--k", "-k", min=1, help="A cut; may be repeated.")] = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Folds of topics, for interestingness.")] = 12,
    tokenizer: Annotated[str, typer.Option(metavar="NAME", help="How text is split.")] = "words",
    stem: Annotated[str, typer.Option(metavar="NAME", help="none, or a stemmer.")] = "porter",
    stop: Annotated[str, typer.Option(metavar="LANG", help="none, or a list of stop words.")] = "en",
    scale: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH", help="Scale of the grades; by default 0 to the highest.")
    ] = None,
    resamples: ResamplesOption = 1000,
    stage: StageOption = None,
    seed: SeedOption = 20181,
    jobs: JobsOption = 1,
) -> None:
    """Interestingness of passages: which measure finds what people found informative, for their topic and for others.

    Leaves the paper's six figures with their numbers and one page in --out. Each stage prints the command that does the
    same; the same command again does only what is not done, or what something has changed for.

    Example: postil study passages --collection inex --out study
    """
    from postil.app.study.passages import PassagesStudyOptions, study_passages  # noqa: PLC0415
    from postil.records.scale import Scale  # noqa: PLC0415

    options = PassagesStudyOptions(
        vectors=_folders("--vectors", "NAME=FOLDER", vectors),
        train=train,
        pool=pool,
        ks=tuple(k or ()),
        folds=folds,
        tokenizer=tokenizer,
        stem=stem,
        stop=stop,
        scale=Scale.parse(scale) if scale else None,
        resamples=resamples,
        seed=seed,
        jobs=jobs,
        stage=stage,
    )
    page = study_passages(collection, out, options, say)
    if stage is None:
        emit(f"{page}\n")


def _folders(flag: str, form: str, given: list[str] | None) -> dict[str, str]:
    """What flags like ``--model att=models/att`` name."""
    folders: dict[str, str] = {}
    for each in given or ():
        name, _, folder = each.partition("=")
        if not name or not folder or name in folders:
            raise UsageError(f"{flag} takes {form}, each name once; got '{each}'")
        folders[name] = folder
    return folders
