"""`postil rank-comments`: articles with comments in, ranked threads out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from postil.comments.articles import MissingInput, checked_articles, open_articles
from postil.comments.retrieval import Retriever
from postil.data.progress import OnMessage, progress
from postil.errors import InvalidInput, Undefined
from postil.messages import Message, Setting
from postil.screening.model import Screen
from postil.threads.orders import ranked_thread, screened_thread
from postil.threads.quality import Quality
from postil.threads.result import RankedCommentsResult
from postil.threads.thread import Thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from postil.data.options import InputOptions
    from postil.data.rows import Article
    from postil.data.suggestions import RankedComment
    from postil.threads.options import RankOptions

__all__ = ["rank_articles"]

BATCH: Final = 64
"""Number of articles that are ranked together."""
NAMED: Final = 5
"""Maximum number of articles that a note names."""
_EMPTY: Final = "no comments"


def rank_articles(
    articles: str,
    folder: str | None,
    options: RankOptions,
    *,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> RankedCommentsResult:
    """Rank the comments of each article.

    Args:
        articles: A file of article rows with comments; ``-`` for standard input.
        folder: The model for relevance; None without that order.
        options: Options of the ranking.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Returns:
        The comments, article by article, best first; those of articles without an order are left out.

    Raises:
        UsageError: The orders are not clear.
        InvalidInput: The file or the model is invalid, or no article has an order.
    """
    if "relevance" not in options.weights(model=folder is not None) and folder is not None:
        on_message(
            Message(
                "ordered by quality alone, and {model} is not read; {quality} and {relevance} mix both",
                model=folder,
                quality=Setting("by", "quality"),
                relevance=Setting("by", "relevance"),
            )
        )
        folder = None
    retriever = None if folder is None else Retriever.open(folder, jobs=options.jobs)
    quality = None if options.quality is None else Quality.open(options.quality)
    judge = None if options.screen is None else partial(Screen.open(options.screen).judge, jobs=options.jobs)
    tokenizer = retriever.model.setting("tokenizer", str) if retriever else quality.tokenizer if quality else None
    rows, skipped = open_articles(articles, inputs, on_message, comments=True), _Skipped()
    missing = None if retriever is None else MissingInput(retriever)
    ranked: list[RankedComment] = []
    with progress("articles", checked_articles(rows, comments=True, on_message=on_message)) as stream:
        while batch := list(islice(stream, BATCH)):
            for article, relevance in zip(batch, _relevance(retriever, batch), strict=True):
                if missing is None or missing.has_input(article):
                    thread = Thread.of(article, tokenizer)
                    found = _ranked(thread, relevance, quality, options, skipped)
                    ranked += found if judge is None else screened_thread(found, judge)
    if missing is not None:
        missing.tell(rows.places.where, "no ranks in", on_message)
    skipped.tell(rows.places.where, on_message)
    return RankedCommentsResult(comments=tuple(ranked))


def _relevance(retriever: Retriever | None, articles: Sequence[Article]) -> Sequence[NDArray[np.float64] | None]:
    return [None] * len(articles) if retriever is None else retriever.rank(articles)


def _ranked(
    thread: Thread,
    relevance: NDArray[np.float64] | None,
    quality: Quality | None,
    options: RankOptions,
    skipped: _Skipped,
) -> list[RankedComment]:
    if not thread.article.comments:
        skipped.add(thread.article, _EMPTY)
        return []
    weights = options.weights(model=relevance is not None)
    try:
        found = ranked_thread(thread, weights, relevance=relevance, quality=quality, diversity=options.diversity)
    except Undefined as error:
        skipped.add(thread.article, error.message)
        return []
    skipped.ranked += 1
    return found


@dataclass
class _Skipped:
    """Articles without an order.

    Args:
        ranked: Number of articles with one.
        ids: Ids of the others, by reason.
    """

    ranked: int = 0
    ids: dict[str, list[str]] = field(default_factory=dict)

    def add(self, article: Article, reason: str) -> None:
        """Record an article."""
        self.ids.setdefault(reason, []).append(article.id)

    def tell(self, file: str, on_message: OnMessage) -> None:
        """Report them; an error if there is no other article."""
        total = self.ranked + sum(map(len, self.ids.values()))
        for reason, ids in self.ids.items():
            more = f" and {len(ids) - NAMED:,} more" if len(ids) > NAMED else ""
            note = f"no ranks in {len(ids):,} of {total:,} articles ({', '.join(ids[:NAMED])}{more}): {reason}"
            if not self.ranked:
                other = Message("{note}; choose another {by}", note=note, by=Setting("by"))
                raise InvalidInput(note if reason == _EMPTY else other, where=file)
            on_message(f"{file}: {note}")
