"""`postil corpus`: collections from other people's files, and corpora of articles with comments."""

from __future__ import annotations

import typer

from postil.app.cli.build import build
from postil.app.cli.corpus_stats import stats
from postil.app.cli.imports import SETTINGS, imports

__all__ = ["corpus"]

corpus = typer.Typer(
    name="corpus",
    help="Make collections out of other people's files, and corpora of articles with comments.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=SETTINGS,
)
corpus.add_typer(imports)
corpus.command()(build)
corpus.command()(stats)
