"""`postil corpus stats`: its flags."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.command import FormatOption, command
from postil.cli.errors import emit, say
from postil.corpus.stats import StatisticsOptions, count_corpus
from postil.results.views import show

__all__ = ["stats"]


@command
def stats(
    corpus: Annotated[str, typer.Argument(metavar="DIR", help="A corpus that postil corpus build made.")],
    *,
    options: StatisticsOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Print corpus statistics by split: comments per article, upvotes, lengths, words, categories, grades.

    Example: postil corpus stats corpus --figures pictures
    """
    emit(show(format, count_corpus(corpus, options, say)), format)
