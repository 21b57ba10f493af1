"""`postil corpus`: imports of external formats, and corpora of articles with comments."""

from __future__ import annotations

from postil.cli.build import build
from postil.cli.corpus_stats import stats
from postil.cli.imports import imports
from postil.cli.options import group

__all__ = ["corpus"]

corpus = group("corpus", "Import external formats, build corpora of articles with comments, and count what they hold.")
corpus.add_typer(imports)
corpus.command()(build)
corpus.command()(stats)
