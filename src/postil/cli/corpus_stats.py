"""`postil corpus stats`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.errors import emit, exits, say
from postil.cli.options import AddressOption, EngineOption, FormatOption

__all__ = ["stats"]


@exits
def stats(
    corpus: Annotated[str, typer.Argument(metavar="DIR", help="A corpus that postil corpus build made.")],
    *,
    figures: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Draw categories, lengths, upvotes and comments an article into FOLDER."),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            metavar="SCALE",
            help="Scale of the grades, HIGH (from 0) or LOW:HIGH; without it the top grade is the highest that occurs.",
        ),
    ] = None,
    format: FormatOption = "table",  # noqa: A002
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Processes; the numbers do not depend on it.")
    ] = 1,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Count what a corpus holds: comments an article, upvotes, lengths, words, categories, grades, by split.

    Example: postil corpus stats corpus --figures pictures
    """
    from pathlib import Path  # noqa: PLC0415

    from postil.app.corpus.pictures import draw_corpus  # noqa: PLC0415
    from postil.app.corpus.stats import count_corpus, statistics_as  # noqa: PLC0415
    from postil.records.scale import Scale  # noqa: PLC0415

    grades = None if scale is None else Scale.parse(scale)
    found = count_corpus(corpus, scale=grades, engine=engine, jobs=jobs, address=address, say=say)
    if figures:
        for path in draw_corpus(Path(figures), found):
            say(f"written: {path}")
    emit(statistics_as(format, found), format)
