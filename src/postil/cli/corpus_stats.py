"""`postil corpus stats`: its flags."""

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
        typer.Option(metavar="FOLDER", help="Draw categories, lengths, upvotes and comments per article into FOLDER."),
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
    """Print corpus statistics by split: comments per article, upvotes, lengths, words, categories, grades.

    Example: postil corpus stats corpus --figures pictures
    """
    from postil.app.corpus.stats import count_corpus  # noqa: PLC0415
    from postil.records.scale import Scale  # noqa: PLC0415
    from postil.render.views import show  # noqa: PLC0415

    grades = None if scale is None else Scale.parse(scale)
    result = count_corpus(corpus, scale=grades, figures=figures, engine=engine, jobs=jobs, address=address, say=say)
    emit(show(format, result), format)
