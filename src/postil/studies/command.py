"""`postil study`: flags, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from postil.cli.command import Group, Option
from postil.cli.output import emit, say
from postil.errors import UsageError
from postil.studies.options import CommentsOptions, UsesOptions
from postil.studies.passages.options import PassagesStudyOptions

__all__ = ["study"]

study = Group("study", "Run the studies of two papers from end to end, on your data.")

OutOption = Annotated[Path, Option(short="o", metavar="DIR", help="Output folder.", first=True)]


@study.add()
def comments(
    *,
    corpus: Annotated[
        str | None, Option(metavar="DIR", help="A corpus with a test set, from postil corpus build.", first=True)
    ] = None,
    tencent: Annotated[
        str | None,
        Option(
            metavar="DIR",
            help="In place of a corpus: the Tencent release, with contents.jsonl (url, content) where you have it.",
            first=True,
        ),
    ] = None,
    out: OutOption = Path("study"),
    options: CommentsOptions,
) -> None:
    """Article commenting: train commenters, score them beside readers, correlate metrics with human ratings.

    Leaves tables and one page in --out. Each stage prints the command that does the same; the same command again runs
    only the stages that are not done, or whose inputs have changed.

    Example: postil study comments --corpus corpus --out study --softmax sampled
    """
    if (corpus is None) == (tencent is None):
        raise UsageError("expected --corpus DIR, or --tencent DIR")
    if tencent is not None:
        from postil.studies.comments.calls import study_tencent  # noqa: PLC0415

        page = study_tencent(Path(tencent), out, options, say)
    else:
        from postil.studies.comments.calls import study_comments  # noqa: PLC0415

        page = study_comments(str(corpus), out, options, say)
    if options.stage is None:
        emit(f"{page}\n")


@study.add()
def passages(
    *,
    collection: Annotated[
        Path,
        Option(
            metavar="DIR",
            help="A folder with passages.jsonl, .jsonl.gz or .parquet (see corpus import), or such a file.",
        ),
    ],
    out: OutOption = Path("study"),
    options: PassagesStudyOptions,
) -> None:
    """Interestingness of passages: the measures that find what people found informative, for their topic and others.

    Leaves the paper's six figures with their numbers and one page in --out. Each stage prints the command that does the
    same; the same command again runs only the stages that are not done, or whose inputs have changed.

    Example: postil study passages --collection inex --out study
    """
    from postil.studies.passages.calls import study_passages  # noqa: PLC0415

    page = study_passages(collection, out, options, say)
    if options.stage is None:
        emit(f"{page}\n")


@study.add()
def uses(
    *,
    corpus: Annotated[str, Option(metavar="DIR", help="A corpus with a test set and votes, from postil corpus build.")],
    out: OutOption = Path("study"),
    options: UsesOptions,
) -> None:
    """Other uses of a corpus: comment ranking, upvote prediction, headlines, each beside its trivial baselines.

    Leaves tables and one page in --out. Each stage prints the command that does the same; the same command again runs
    only the stages that are not done, or whose inputs have changed.

    Example: postil study uses --corpus corpus --out study
    """
    from postil.studies.uses.calls import study_uses  # noqa: PLC0415

    page = study_uses(corpus, out, options, say)
    if options.stage is None:
        emit(f"{page}\n")
