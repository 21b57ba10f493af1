"""`postil corpus`: collections from other people's files, and corpora of articles with comments."""

from __future__ import annotations

from postil.cli.build import build
from postil.cli.corpus_stats import stats
from postil.cli.imports import imports
from postil.cli.options import group

__all__ = ["corpus"]

corpus = group("corpus", "Make collections out of other people's files, and corpora of articles with comments.")
corpus.add_typer(imports)
corpus.command()(build)
corpus.command()(stats)
