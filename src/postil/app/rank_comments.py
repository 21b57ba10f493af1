"""`postil rank-comments`: articles with comments in, ranked threads out."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from postil.app.article_files import checked_articles, open_articles
from postil.app.options import ThreadOptions
from postil.app.progress import progress
from postil.commenters.missing_input import MissingInput
from postil.commenters.retrieval import Retriever, rank_thread
from postil.options import options
from postil.records.results import RankedCommentsResult

if TYPE_CHECKING:
    from postil.app.options import InputOptions
    from postil.app.progress import OnMessage
    from postil.records.suggestions import RankedComment

__all__ = ["RankOptions", "rank_articles"]

BATCH: Final = 64
"""Number of articles that are ranked together."""


@options
class RankOptions(ThreadOptions):
    """Options of `postil rank-comments`."""


def rank_articles(
    articles: str,
    folder: str,
    options: RankOptions,
    *,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> RankedCommentsResult:
    """Rank the comments of each article by relevance.

    Args:
        articles: A file of article rows with comments; ``-`` for standard input.
        folder: The model.
        options: Options of the ranking.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Returns:
        The comments, article by article, most relevant first; those of articles without input are left out.

    Raises:
        InvalidInput: The file or the model is invalid, or no article has input.
    """
    retriever = Retriever.open(folder, jobs=options.jobs)
    rows, missing = open_articles(articles, inputs, on_message), MissingInput(retriever)
    ranked: list[RankedComment] = []
    with progress("articles", checked_articles(rows, comments=True, on_message=on_message)) as stream:
        while batch := list(islice(stream, BATCH)):
            for article, scores in zip(batch, retriever.rank(batch), strict=True):
                if missing.has_input(article):
                    ranked += rank_thread(article, scores)
    missing.tell(rows.places.where, "no ranks in", on_message)
    return RankedCommentsResult(comments=tuple(ranked))
