"""`postil interesting`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.errors import emit, exits, say
from postil.cli.options import FormatOption, StemOption, StopOption
from postil.errors import UsageError

__all__ = ["interesting"]


@exits
def interesting(
    page: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A text, or passage rows (.jsonl, .parquet), or - for stdin."),
    ],
    *,
    k: Annotated[int, typer.Option("--k", "-k", min=1, metavar="N", help="How many passages.")] = 5,
    reference: Annotated[
        str | None,
        typer.Option("--reference", "-r", metavar="FILE", help="Interesting passages; else the rest of the page."),
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", "-m", metavar="SPEC", help="Such as logsim-1, f1-2 or tf-idf-1.")
    ] = "logsim-1",
    split: Annotated[
        str, typer.Option(metavar="WHAT", help="What a passage of a text is: paragraphs, sentences or lines.")
    ] = "paragraphs",
    tokenizer: Annotated[str, typer.Option(metavar="NAME", help="How text is split into words.")] = "words",
    stem: StemOption = "none",
    stop: StopOption = "none",
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Show the most interesting passages of a page, and why.

    Best with --stop, and with passages of other pages that readers found interesting as --reference.

    Example: postil interesting page.txt -k 3 --split sentences --stop en
    """
    from postil.app.passages.interesting import doubts, rank_passages, ranked_as  # noqa: PLC0415
    from postil.app.passages.page import passages_of, references_of  # noqa: PLC0415

    if page == reference == "-":
        raise UsageError("only one of the files can be standard input")
    known, weights = references_of(reference, split) if reference is not None else (None, None)  # type: ignore[arg-type]
    found = rank_passages(
        passages_of(page, split),  # type: ignore[arg-type]  # checked inside
        known,
        weights=weights,
        k=k,
        measure=measure,
        tokenizer=tokenizer,
        stem=stem,
        stop=stop,
    )
    emit(ranked_as(format, found, measure), format)
    for doubt in doubts(found, measure, referenced=reference is not None, tokenizer=tokenizer):
        say(doubt)
