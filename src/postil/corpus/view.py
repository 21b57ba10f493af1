"""A corpus as tables, pictures and a dataset card: its metadata, one row per split, and its statistics.

The first table of the statistics is Table 2 of the paper on automatic article commenting (ACL 2018), with the numbers
of its section 3. The card is Markdown for people, with a YAML header for tools.
"""

from __future__ import annotations

import json
from functools import partial
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import asdict

from postil.corpus.result import (
    CorpusMetadata,
    CorpusStatistics,
    DateStatistics,
    SplitSize,
    SplitStatistics,
    Spread,
    StatisticsResult,
)
from postil.data.escaping import markdown_cell, one_line
from postil.data.explain import counted
from postil.messages import Message, Setting
from postil.results.formats import grid_as
from postil.results.numbers import DASH
from postil.results.page.blocks import Picture
from postil.results.plots.bars import SpreadPanel, amounts, spreads
from postil.results.plots.figure import save_vector
from postil.results.plots.lines import Curve, curves
from postil.results.table import Count, Figure, Name, Table
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from postil.corpus.statistics import Histogram
    from postil.results import plots

__all__ = ["card", "corpus", "draw", "excluded_lines", "percent", "pictures", "statistics", "table_2"]


def corpus(result: CorpusMetadata) -> View:
    """Make the view of the metadata of a corpus.

    Args:
        result: The metadata.
    """
    rows = [{"split": name, **asdict(size)} for name, size in result.splits.items()]
    sizes = SplitSize.__struct_fields__
    columns = (Name("split", itemgetter("split")), *(Count(name, itemgetter(name)) for name in sizes))
    line = _line(result)
    return View(
        line=line,
        rows=rows,
        fields=("split", *sizes),
        grids=[Table(rows=rows, columns=columns)],
        head=line,
        remarks=[
            *excluded_lines(result),
            *(f"input: {each.name}" for each in result.inputs),
            f"words: {result.tokenizer}",
        ],
    )


_LIMITS: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        "articles: fewer comments": ("articles: fewer than", "comments", "min_comments"),
        "articles: content too short": ("articles: content of fewer than", "words", "min_content_words"),
        "articles: only long comments": ("articles: only comments longer than", "words", "max_comment_words"),
        "comments: too long": ("comments: longer than", "words", "max_comment_words"),
        "comments: too long for the test set": ("comments of test: longer than", "words", "max_comment_words"),
    }
)
"""For each reason that a threshold decides words before and after it, and its option."""


def excluded_lines(metadata: CorpusMetadata) -> Iterator[str]:
    """Lines on what was excluded or changed, with the thresholds that decided it.

    Args:
        metadata: The outcome of a build.
    """
    for why, n in metadata.seen.items():
        before, unit, name = _LIMITS.get(why, ("", "", ""))
        if isinstance(limit := metadata.options.get(name), int):
            yield Message(
                "{before} {limit:,} {unit} ({setting}): {n:,}",
                before=before,
                limit=limit,
                unit=unit,
                setting=Setting(name),
                n=n,
            )
        else:
            yield f"{why}: {n:,}"


def _line(result: CorpusMetadata) -> str:
    sizes = result.splits.values()
    numbers = (sum(size.articles for size in sizes), sum(size.comments for size in sizes), result.words)
    return ", ".join(map(counted, numbers, ("article", "comment", "distinct word")))


TOP: Final = 15
"""Number of categories that are named, as in the paper's figure."""

SPREADS: Final = {
    "comments_per_article": "comments per article",
    "upvotes": "upvotes per comment",
    "title_words": "words per title",
    "content_words": "words per content",
    "comment_words": "words per comment",
    "title_characters": "characters per title",
    "content_characters": "characters per content",
    "comment_characters": "characters per comment",
    "grades": "grade per comment",
    "ratings": "ratings per rated comment",
}
"""Labels of the distributions."""

LENGTHS: Final = ("_words", "_characters")
"""Ends of the names of those that are lengths of texts."""

_TITLES: Final = {"p25": "25 %", "p75": "75 %", "p90": "90 %", "p99": "99 %", "p999": "99.9 %"}


def statistics(result: StatisticsResult) -> View:
    """The view of corpus statistics: one row per split and number; means, distributions and the largest categories.

    Args:
        result: The statistics.
    """
    found = result.statistics
    tables = [table_2(result), _distributions(found), *([_categories(found)] if found.all.categories else [])]
    numbers = (found.all.articles, found.all.comments, found.all.words)
    sizes = ", ".join(map(counted, numbers, ("article", "comment", "word")))
    return View(
        line=f"{sizes}; splits: {', '.join(name for name in found.splits if name != CorpusStatistics.ALL)}",
        rows=list(_rows(found)),
        grids=tables,
        remarks=[f"words: {result.settings.tokenizer}"],
    )


def _rows(found: CorpusStatistics) -> Iterator[dict[str, object]]:
    for split, of in found.splits.items():
        for name, value in msgspec.to_builtins(of).items():
            for part, number in value.items() if isinstance(value, dict) else [(None, value)]:
                yield {"split": split, "statistic": name, "part": part, "value": number}


def table_2(result: StatisticsResult) -> Table:
    """The numbers of the paper's Table 2 and of its text, one column per split.

    Args:
        result: The statistics.
    """
    splits = result.statistics.splits
    names = [name for name in splits if name != CorpusStatistics.ALL or len(splits) > 2]
    cells = [_cells(result, splits[name]) for name in names]
    rows = [(label, [each[label] for each in cells]) for label in cells[0]]
    return Table(
        key="splits",
        rows=[(label, values) for label, values in rows if set(values) != {None}],
        columns=(
            Name("", itemgetter(0)),
            *(Figure(name, itemgetter(place), at=itemgetter(1), none=DASH) for place, name in enumerate(names)),
        ),
    )


def _cells(result: StatisticsResult, of: SplitStatistics) -> dict[str, str | None]:
    """Cells of a column by label; those of numbers that no split has are None."""
    every, votes, top = result.statistics.all, of.upvotes, result.statistics.top_grade
    some = of.comments and 0 < every.upvotes.n < every.comments
    label = "top grade" if top is None else f"grade of {top:g}"
    return {
        "articles": f"{of.articles:,}",
        "comments": f"{of.comments:,}",
        "held-out comments": f"{of.held_out:,}" if every.held_out else None,
        "comments per article": _number(of.comments_per_article.mean),
        "… median": _number(of.comments_per_article.median),
        "upvotes per comment": _number(votes.mean),
        "… 0": percent(of.upvotes_zero),
        "… below 0": percent(of.upvotes_negative) if every.upvotes_negative else None,
        "… not given": percent(1 - votes.n / of.comments) if some else None,
        **{said: _number(_spread(of, name).mean) for name, said in SPREADS.items() if name.endswith(LENGTHS)},
        "articles without content": f"{of.without_content:,}" if every.without_content else None,
        **(_dates(of.dates) if every.dates else {}),
        "words in all": f"{of.words:,}",
        "distinct words": f"{of.distinct_words:,}",
        f"covered by {result.settings.vocabulary:,} words": percent(of.known_share),
        "categories": f"{len(of.categories):,}" if every.categories else None,
        "graded comments": f"{of.grades.n:,}" if every.grades.n else None,
        "mean grade": _number(of.grades.mean, 2),
        "standard deviation of grades": _number(of.grades.sd, 2),
        SPREADS["ratings"]: _number(of.ratings.mean),
        f"comments with a {label}": percent(of.top_grade_comments),
        f"articles with a {label}": percent(of.top_grade_articles),
    }


def _dates(of: DateStatistics | None) -> dict[str, str | None]:
    """Cells of the dates of a split, where it has some."""
    cells: dict[str, str | None] = {}
    for kind in ("article", "comment"):
        cells[f"{kind}s with a date"] = percent(getattr(of, f"{kind}s")) if of else None
        for end in ("first", "last"):
            date: str | None = getattr(of, f"{end}_{kind}", None)
            cells[f"… {end} {kind}"] = date[:10] if date else None
    return cells


def _spread(of: SplitStatistics, name: str) -> Spread:
    spread: Spread = getattr(of, name)
    return spread


def _number(value: float | None, digits: int = 1) -> str | None:
    return None if value is None else f"{value:,.{digits}f}"


def percent(share: float | None) -> str | None:
    """A share as a percentage.

    Args:
        share: A share from 0 to 1, or None.

    >>> percent(0.123), percent(0.0001)
    ('12.3 %', '<0.1 %')
    """
    if share is None:
        return None
    return "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def _distributions(found: CorpusStatistics) -> Table:
    """The distributions over all splits, one row each."""
    spreads = ((name, _spread(found.all, name)) for name in SPREADS)
    return Table(
        key="distributions",
        rows=[(name, spread) for name, spread in spreads if spread.n],
        columns=(
            Name(f"distribution, {CorpusStatistics.ALL} splits", lambda row: SPREADS[row[0]]),
            *(Figure(_TITLES.get(part, part), partial(_part, part), none=DASH) for part in Spread.__struct_fields__),
        ),
    )


def _part(part: str, row: tuple[str, Spread]) -> str | None:
    value: float | None = getattr(row[1], part)
    whole = part not in {"mean", "sd"} and value is not None and float(value).is_integer()
    return _number(value, 0 if whole else 2 if row[0] == "grades" else 1)


def _categories(found: CorpusStatistics) -> Table:
    every = max(found.all.articles, 1)
    return Table(
        key="categories",
        rows=_category_counts(found),
        columns=(
            Name("articles by category", itemgetter(0)),
            *(Count(name, itemgetter(place), at=itemgetter(1)) for place, name in enumerate(found.splits)),
            Figure("share", lambda row: percent(row[1][-1] / every)),
        ),
    )


def _category_counts(found: CorpusStatistics) -> list[tuple[str, list[int]]]:
    """Number of articles per split, for the largest categories, all others together, and no category; none is empty."""
    order = list(found.all.categories)
    groups = [(name, [name]) for name in order[:TOP]]
    rest = order[TOP:]
    groups.append((f"{len(rest)} other{'s' * (len(rest) > 1)}", rest))
    splits = found.splits.values()
    counts = [(label, [sum(of.categories.get(name, 0) for name in names) for of in splits]) for label, names in groups]
    counts.append(("no category", [of.without_category for of in splits]))
    return [(label, numbers) for label, numbers in counts if numbers[-1]]


def _draw_categories(result: StatisticsResult) -> plots.Figure:
    """Draw the largest categories.

    Args:
        result: The statistics of a corpus with categories.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    names, counts = zip(*((name, each[-1]) for name, each in _category_counts(result.statistics)), strict=True)
    return amounts(names, counts, aside=len(names) - min(len(result.statistics.all.categories), TOP))


def draw(
    folder: Path,
    result: StatisticsResult,
    *,
    lengths: Mapping[str, Histogram],
    comments: Mapping[str, Histogram],
    upvotes: Mapping[str, Histogram],
) -> Iterator[Path]:
    """Draw the pictures of a corpus as SVG and PDF: ``categories``, ``lengths``, ``comments`` and ``upvotes``.

    Those for which there are no data are left out. The picture of upvotes shows the share of comments with at least
    that many, on logarithmic axes.

    Args:
        folder: The folder of the pictures; made where it is missing.
        result: The statistics.
        lengths: Number of tokens per title, content and comment, in all splits.
        comments: Number of comments per article, by split.
        upvotes: Upvotes per comment, by split.

    Yields:
        The files.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    title = "Lengths of titles, contents and comments"
    drawn = [("lengths", title, spreads(_panels(lengths), xlabel="words", ylabel="% of texts"))]
    figure = spreads(_panels(comments), xlabel="comments", ylabel="% of articles", together=True)
    drawn.append(("comments", "Comments per article", figure))
    if result.statistics.all.categories:
        drawn.insert(0, ("categories", "Articles by category", _draw_categories(result)))
    tails = [Curve(name, x, 100 * y) for name, (x, y) in ((name, of.tail()) for name, of in upvotes.items()) if len(x)]
    if tails:
        figure = curves(tails, xlabel="upvotes, at least", ylabel="% of comments", log=True, log_y=True)
        drawn.append(("upvotes", "Share of comments with at least that many upvotes", figure))
    folder.mkdir(parents=True, exist_ok=True)
    for name, title, figure in drawn:
        yield from save_vector(figure, folder / name, title)


def _panels(named: Mapping[str, Histogram]) -> list[SpreadPanel]:
    return [
        SpreadPanel(
            name, of.values, of.counts, f"mean {of.mean:,.1f}, median {of.quantile(0.5):,g}, up to {of.values[-1]:,}"
        )
        for name, of in named.items()
        if of.n
    ]


def pictures(result: StatisticsResult) -> Iterator[Picture]:
    """The picture of the categories, if there is something to draw.

    Args:
        result: The statistics.
    """
    if result.statistics.all.categories:
        title = "Articles by category"
        yield Picture("categories", title, title, title, partial(_draw_categories, result))


SIZES: Final = (
    ("n<1K", 1_000),
    ("1K<n<10K", 10_000),
    ("10K<n<100K", 100_000),
    ("100K<n<1M", 1_000_000),
    ("1M<n<10M", 10_000_000),
)
"""Size categories of the Hugging Face Hub, each with its upper bound."""

READING: Final = """
## How to read it
```python
import datasets, duckdb, polars, postil

datasets.load_dataset("FOLDER")
duckdb.sql("select title, len(comments) from 'FOLDER/data/train-*.parquet'")
polars.read_parquet("FOLDER/data/train-*.parquet")
postil.Corpus.open("FOLDER").tokens("train", "comments")
```
"""


def card(metadata: CorpusMetadata, statistics: StatisticsResult) -> str:
    """Write the dataset card of a corpus.

    Args:
        metadata: The outcome of its build.
        statistics: Its statistics.

    Returns:
        Markdown with a YAML header.
    """
    options = metadata.options
    body = [
        "# Articles with comments",
        f"- **Source:** {one_line(str(options['source']))}",
        f"- **Licence:** {one_line(str(options['license']))}",
        "",
        grid_as("markdown", table_2(statistics)),
        "## How it was made",
        f"By postil {metadata.postil}, words by `{metadata.tokenizer}`; {metadata.words:,} distinct words.",
        "",
        *_table("option", "value", rows=(
            (name.replace("_", " "), markdown_cell(str(list(value) if isinstance(value, tuple) else value)))
            for name, value in options.items()
            if name not in {"source", "license"}
        )),
        "",
        *_table("input", "split", "bytes", "BLAKE2b", rows=(
            (markdown_cell(file.name), file.split or "", f"{file.bytes:,}", f"`{file.blake2b}`")
            for file in metadata.inputs
        )),
        "",
        *_table("excluded or changed", "number", rows=((why, f"{n:,}") for why, n in metadata.seen.items())),
    ]  # fmt: skip
    return "\n".join([*_header(metadata), *body]) + "\n" + READING


def _header(metadata: CorpusMetadata) -> list[str]:
    splits = {name: size for name, size in metadata.splits.items() if size.articles}
    articles = sum(size.articles for size in splits.values())
    return [
        "---",
        "license: other",
        f"license_name: {json.dumps(metadata.options['license'], ensure_ascii=False)}",
        *(["language:", *(f"- {json.dumps(lang)}" for lang in metadata.langs)] if metadata.langs else []),
        "task_categories:",
        "- text-generation",
        "- text-retrieval",
        "tags:",
        "- article-commenting",
        "size_categories:",
        f"- {next((name for name, size in SIZES if articles < size), 'n>10M')}",
        "configs:",
        "- config_name: default",
        "  data_files:",
        *(line for split in splits for line in (f"  - split: {split}", f"    path: data/{split}-*.parquet")),
        "---",
    ]


def _table(*head: str, rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Lines of a table whose cells are Markdown."""
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows)]
