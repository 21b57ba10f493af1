"""`postil corpus`: collections from other people's files, and corpora of articles with comments."""

from __future__ import annotations

from postil.app.cli.build import build
from postil.app.cli.corpus_stats import stats
from postil.app.cli.imports import imports
from postil.app.cli.options import group

__all__ = ["corpus"]

corpus = group("corpus", "Make collections out of other people's files, and corpora of articles with comments.")
corpus.add_typer(imports)
corpus.command()(build)
corpus.command()(stats)
