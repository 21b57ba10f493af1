"""`postil corpus stats`: the statistics of a corpus, and their pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from postil.corpus.statistics import ALL, statistics
from postil.corpus.statistics_view import draw
from postil.corpus.store import Corpus
from postil.data.options import EngineOptions
from postil.data.progress import progress
from postil.data.scale import Scale
from postil.engine import open_engine
from postil.errors import UsageError
from postil.options import Flag, options

if TYPE_CHECKING:
    from postil.corpus.result import StatisticsResult
    from postil.corpus.statistics import Statistics
    from postil.data.progress import OnMessage
    from postil.data.row_files import FilePath

__all__ = ["StatisticsOptions", "count_corpus"]


@options
class StatisticsOptions(EngineOptions):
    """Options of `postil corpus stats`.

    Args:
        figures: Draw categories, lengths, upvotes and comments per article into FOLDER.
        scale: Scale of the grades, HIGH (from 0) or LOW:HIGH; by default the top grade is the highest that occurs.
        jobs: Number of processes; the numbers do not depend on it.
    """

    figures: Annotated[str | None, Flag(metavar="FOLDER")] = None
    scale: Annotated[Scale | None, Flag(metavar="SCALE")] = None


DEFAULTS: Final = StatisticsOptions()


def count_corpus(
    folder: FilePath, options: StatisticsOptions = DEFAULTS, on_message: OnMessage = lambda _: None
) -> StatisticsResult:
    """Compute the statistics of a corpus.

    Args:
        folder: The corpus.
        options: Scale, pictures, engine.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: There is no corpus, or it is damaged, or a grade is not on the scale.
        UsageError: The request makes no sense, or the folder of the pictures is a file.
        MissingExtra: pyarrow, Ray or matplotlib is not installed.
    """
    corpus = Corpus.open(folder)
    with open_engine(options.engine, jobs=options.jobs, address=options.address, on_message=on_message) as running:
        found = statistics(corpus, running, scale=options.scale, on_progress=progress)
    result = found.result()
    if options.figures:
        _draw(Path(options.figures), found, result, on_message)
    return result


def _draw(folder: Path, found: Statistics, result: StatisticsResult, on_message: OnMessage) -> None:
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
        on_message(f"written: {path}")
