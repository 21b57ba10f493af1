"""The journey of `postil corpus stats`: a corpus in, its statistics out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.app.progress import progress
from postil.corpus.statistics import ALL, statistics
from postil.corpus.statistics_table import NONE, grid, percent
from postil.corpus.store import Corpus
from postil.engine import open_engine
from postil.records.results import SCHEMA, to_json
from postil.render.formats import Format, grid_as, rows_as_csv, rows_as_jsonl
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from postil.app.progress import Say
    from postil.corpus.histogram import Histogram
    from postil.corpus.statistics import Statistics
    from postil.corpus.summary import Summary
    from postil.records.row_files import FilePath
    from postil.records.scale import Scale
    from postil.render.formats import Grid

__all__ = ["TOP", "as_json", "category_counts", "count_corpus", "statistics_as"]

TOP: Final = 15
"""How many categories are named; the paper's figure shows as many."""

QUANTILES: Final = {"p25": 0.25, "median": 0.5, "p75": 0.75, "p90": 0.9, "p99": 0.99, "p999": 0.999}

SPREADS: Final = {
    "comments_an_article": "comments an article",
    "upvotes": "upvotes a comment",
    "title_words": "words a title",
    "content_words": "words a content",
    "comment_words": "words a comment",
    "title_characters": "characters a title",
    "content_characters": "characters a content",
    "comment_characters": "characters a comment",
    "grades": "grade of a comment",
    "ratings": "ratings a rated comment",
}
"""The distributions of `postil.corpus.summary.Summary`, and what they are called."""


def count_corpus(
    folder: FilePath,
    *,
    scale: Scale | None = None,
    engine: str = "local",
    jobs: int = 1,
    address: str | None = None,
    say: Say = lambda _: None,
) -> Statistics:
    """Count what a corpus holds.

    Args:
        folder: The corpus.
        scale: The scale of the grades, if it is known.
        engine: ``local`` or ``ray``.
        jobs: Processes; no number depends on it.
        address: Of a Ray cluster.
        say: Takes words for people.

    Raises:
        InvalidInput: There is no corpus, or it is damaged, or a grade is not on the scale.
        UsageError: The request makes no sense.
        MissingExtra: pyarrow or Ray is not installed.
    """
    corpus = Corpus.open(folder)
    with open_engine(engine, jobs=jobs, address=address, say=say) as running:
        return statistics(corpus, running, scale=scale, watch=progress)


def statistics_as(form: Format, found: Statistics) -> str:
    """Lay statistics out.

    Args:
        form: ``json`` has everything; ``jsonl`` and ``csv`` have a row a split and number; ``table``, ``markdown`` and
            ``latex`` have means and shares, how values are distributed over all splits, and the largest categories.
        found: The statistics.
    """
    if form == "json":
        return to_json(as_json(found))
    if form == "jsonl":
        return rows_as_jsonl(list(_rows(found)))
    if form == "csv":
        return rows_as_csv(list(_rows(found)))
    grids = [grid(found), _spreads(found), *([_categories(found)] if found.all.categories else [])]
    text = "\n".join(grid_as(form, each) for each in grids)
    return f"{text}\nwords: {found.tokenizer}\n" if form == "table" else text


def as_json(found: Statistics) -> dict[str, object]:
    """Everything, as it goes into JSON; a number that does not exist is None.

    Args:
        found: The statistics.
    """
    splits = {name: _numbers(found, summary) for name, summary in found.splits.items()}
    settings = {"tokenizer": found.tokenizer, "vocabulary": found.vocabulary, "postil": VERSION}
    return {
        "schema": SCHEMA,
        "kind": "statistics",
        "statistics": {"splits": splits, "top_grade": found.top_grade},
        "settings": settings,
    }


def category_counts(found: Statistics) -> list[tuple[str, list[int]]]:
    """Articles by category: the largest ones over all splits, the others together, and those without.

    Args:
        found: The statistics.

    Returns:
        Names, each with a number for each split and one for all; those with 0 in all are left out.
    """
    order = [name for name, _ in _by_size(found.all)]
    groups = [(name, [name]) for name in order[:TOP]]
    rest = order[TOP:]
    groups.append((f"{len(rest)} other{'s' * (len(rest) > 1)}", rest))
    counts = [
        (label, [sum(of.categories[name] for name in names) for of in found.splits.values()]) for label, names in groups
    ]
    counts.append(("no category", [of.articles - of.categories.total() for of in found.splits.values()]))
    return [(label, numbers) for label, numbers in counts if numbers[-1]]


def _by_size(summary: Summary) -> list[tuple[str, int]]:
    return sorted(summary.categories.items(), key=lambda pair: (-pair[1], pair[0]))


def _numbers(found: Statistics, of: Summary) -> dict[str, object]:
    votes = of.upvotes
    return {
        "articles": of.articles,
        "comments": of.comments,
        "held_out": of.held_out,
        "words": of.tokens,
        "distinct_words": of.distinct_words,
        "known_share": of.known_share,
        "without_content": of.articles - of.content_words.n,
        "without_category": of.articles - of.categories.total(),
        "without_upvotes": of.comments - votes.n,
        "upvotes_zero": votes.share(votes.values == 0),
        "upvotes_negative": votes.share(votes.values < 0),
        "top_grade_comments": found.top_share(of.best),
        "top_grade_articles": found.top_share(of.best_of_article),
        **{name: _spread(getattr(of, name)) for name in SPREADS},
        "categories": dict(_by_size(of)),
    }


def _spread(of: Histogram) -> dict[str, float | None]:
    parts = {name: of.quantile(part) for name, part in QUANTILES.items()}
    return {"n": of.n, "mean": of.mean, "sd": of.sd, "min": of.quantile(0), **parts, "max": of.quantile(1)}


def _rows(found: Statistics) -> Iterator[dict[str, object]]:
    for split, of in found.splits.items():
        for name, value in _numbers(found, of).items():
            pairs = value.items() if isinstance(value, dict) else [(None, value)]
            for part, number in pairs:
                yield {"split": split, "statistic": name, "part": part, "value": number}


def _spreads(found: Statistics) -> Grid:
    """How values are distributed over all splits."""
    rows = []
    for name, what in SPREADS.items():
        spread = _spread(getattr(found.all, name))
        if spread["n"]:
            digits = 2 if name == "grades" else 1
            rows.append([what, *(_cell(part, value, digits) for part, value in spread.items())])
    return [[f"distribution, {ALL} splits", *(_TITLES.get(part, part) for part in _spread(found.all.grades))], *rows]


_TITLES: Final[Mapping[str, str]] = {
    "p25": "25 %",
    "p75": "75 %",
    "p90": "90 %",
    "p99": "99 %",
    "p999": "99.9 %",
}


def _cell(part: str, value: float | None, digits: int) -> str:
    if value is None:
        return NONE
    return f"{value:,.{digits}f}" if part in {"mean", "sd"} or not float(value).is_integer() else f"{value:,.0f}"


def _categories(found: Statistics) -> Grid:
    rows = [
        [name, *(f"{number:,}" for number in numbers), percent(numbers[-1] / found.all.articles)]
        for name, numbers in category_counts(found)
    ]
    return [["articles by category", *found.splits, "share"], *rows]
