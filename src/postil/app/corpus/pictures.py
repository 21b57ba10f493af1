"""The pictures of a corpus: categories, lengths, upvotes, comments an article."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from postil.app.corpus.stats import TOP, category_counts
from postil.corpus.statistics import ALL
from postil.errors import UsageError
from postil.plots import Curve, SpreadPanel, amounts, curves, save, spreads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from postil.corpus.histogram import Histogram
    from postil.corpus.statistics import Statistics

__all__ = ["corpus_pictures", "draw_corpus"]

POINTS: Final = 400
"""Of each of so many pieces of a curve, by equal factors, the ends are drawn."""


def draw_corpus(folder: Path, found: Statistics) -> Iterator[Path]:
    """Draw the pictures, as SVG.

    Args:
        folder: Where they go; made where it is missing.
        found: The statistics.

    Yields:
        The pictures that were written.

    Raises:
        UsageError: There is something else of that name.
        MissingExtra: matplotlib is not installed.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: not a folder; name one for the pictures")
    folder.mkdir(parents=True, exist_ok=True)
    for name, (label, figure) in corpus_pictures(found).items():
        path = folder / f"{name}.svg"
        save(figure, path, label)
        yield path


def corpus_pictures(found: Statistics) -> dict[str, tuple[str, Any]]:
    """The pictures of a corpus; those for which it has no data are left out.

    Args:
        found: The statistics.

    Returns:
        Name -> what it shows, and the picture: ``categories``, ``lengths`` in words, ``comments`` an article, and
        ``upvotes``, what part of comments has at least so many, on logarithmic axes.
    """
    of = found.all
    splits = {name: summary for name, summary in found.splits.items() if name != ALL}
    pictures: dict[str, tuple[str, Any]] = {}
    if of.categories:
        names, counts = zip(*((name, numbers[-1]) for name, numbers in category_counts(found)), strict=True)
        aside = len(names) - min(len(of.categories), TOP)
        pictures["categories"] = "Articles by category", amounts(names, counts, aside=aside)
    lengths = {"title": of.title_words, "content": of.content_words, "comment": of.comment_words}
    pictures["lengths"] = (
        "Lengths of titles, contents and comments",
        spreads(_panels(lengths), xlabel="words", ylabel="% of texts"),
    )
    comments = {name: summary.comments_an_article for name, summary in splits.items()}
    pictures["comments"] = (
        "Comments an article",
        spreads(_panels(comments), xlabel="comments", ylabel="% of articles", together=True),
    )
    upvotes = {name: summary.upvotes for name, summary in splits.items()}
    tails = [_tail(name, votes) for name, votes in upvotes.items() if votes.n and votes.values[-1] > 0]
    if tails:
        pictures["upvotes"] = (
            "What part of comments has at least so many upvotes",
            curves(tails, xlabel="upvotes, at least", ylabel="% of comments", log=True, log_y=True),
        )
    return pictures


def _panels(named: Mapping[str, Histogram]) -> list[SpreadPanel]:
    return [
        SpreadPanel(
            name, of.values, of.counts, f"mean {of.mean:,.1f}, median {of.quantile(0.5):,g}, up to {of.values[-1]:,}"
        )
        for name, of in named.items()
        if of.n
    ]


def _tail(name: str, of: Histogram) -> Curve:
    """What percentage is at least 1, 2, …."""
    positive = of.values[of.values > 0].astype(np.float64)
    x = np.unique(np.concatenate([[1], positive, positive[:-1] + 1]))  # between them nothing changes
    y = 100 * of.at_least()[np.searchsorted(of.values, x)]
    steps = np.floor(POINTS * np.log(x) / np.log(max(x[-1], 2)))
    first, last = np.diff(steps, prepend=-1) > 0, np.diff(steps, append=np.inf) > 0
    kept = first | last
    return Curve(name, x[kept], y[kept])
