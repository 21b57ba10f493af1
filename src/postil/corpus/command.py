"""`postil corpus`: imports of external formats, and corpora of articles with comments."""

from __future__ import annotations

from postil.cli.command import group
from postil.corpus.build_command import build
from postil.corpus.importers.command import imports
from postil.corpus.stats_command import stats

__all__ = ["corpus"]

corpus = group("corpus", "Import external formats, build corpora of articles with comments, and count what they hold.")
corpus.add_typer(imports)
corpus.command()(build)
corpus.command()(stats)
