"""`postil corpus stats`: the statistics of a corpus, and their pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from postil.app.progress import progress
from postil.corpus.statistics import ALL, statistics
from postil.corpus.store import Corpus
from postil.engine import open_engine
from postil.errors import UsageError
from postil.render.statistics import draw

if TYPE_CHECKING:
    from postil.app.progress import Say
    from postil.corpus.statistics import Statistics
    from postil.records.results import StatisticsResult
    from postil.records.row_files import FilePath
    from postil.records.scale import Scale

__all__ = ["count_corpus"]


def count_corpus(
    folder: FilePath,
    *,
    scale: Scale | None = None,
    figures: FilePath | None = None,
    engine: str = "local",
    jobs: int = 1,
    address: str | None = None,
    say: Say = lambda _: None,
) -> StatisticsResult:
    """Compute the statistics of a corpus.

    Args:
        folder: The corpus.
        scale: The scale of the grades, if it is known.
        figures: A folder for pictures as SVG, made where it is missing; None for no pictures.
        engine: ``local`` or ``ray``.
        jobs: Number of processes; no number depends on it.
        address: Address of a Ray cluster.
        say: Callback for status messages.

    Raises:
        InvalidInput: There is no corpus, or it is damaged, or a grade is not on the scale.
        UsageError: The request makes no sense, or `figures` is a file.
        MissingExtra: pyarrow, Ray or matplotlib is not installed.
    """
    corpus = Corpus.open(folder)
    with open_engine(engine, jobs=jobs, address=address, say=say) as running:
        found = statistics(corpus, running, scale=scale, watch=progress)
    result = found.result()
    if figures is not None:
        _draw(Path(figures), found, result, say)
    return result


def _draw(folder: Path, found: Statistics, result: StatisticsResult, say: Say) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: not a folder; choose another one for the pictures")
    every = found.all
    splits = {name: summary for name, summary in found.splits.items() if name != ALL}
    drawn = draw(
        folder,
        result,
        lengths={"title": every.title_words, "content": every.content_words, "comment": every.comment_words},
        comments={name: summary.comments_per_article for name, summary in splits.items()},
        upvotes={name: summary.upvotes for name, summary in splits.items()},
    )
    for path in drawn:
        say(f"written: {path}")
