"""The corpus of a study of comments, beside that of the paper: Table 2, Figure 2 and what the text says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from postil.corpus.result import Spread
from postil.studies.papers import PRINTED, printed_row
from postil.studies.result import StudyPart, StudyPicture, StudyRow, StudyTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from postil.corpus.result import CorpusStatistics, SplitStatistics, StatisticsResult
    from postil.studies.papers import CommentsPaper

__all__ = ["corpus_part"]

SPLITS: Final = ("train", "dev", "test", "all")
CATEGORIES: Final = 15
"""Number of categories in the paper's Figure 2."""

STATISTICS: Final = {
    "articles": ("articles", 0),
    "comments_per_article": ("comments per article", 1),
    "upvotes": ("upvotes per comment", 1),
    "title_words": ("words per title", 1),
    "content_words": ("words per content", 1),
    "comment_words": ("words per comment", 1),
    "distinct_words": ("distinct words", 0),
    "categories": ("categories", 0),
    "grades": ("grade per comment", 2),
    "grades_sd": ("… standard deviation", 2),
    "top_grade_comments": ("share of comments with the top grade", 3),
}

Options = Mapping[str, str | int | float | tuple[str, ...]]

THRESHOLDS: Final = {
    "minimum words of a content": "min_content_words",
    "minimum comments of an article": "min_comments",
    "minimum comments of a test article": "test_min_comments",
    "minimum words of each of these": "test_min_words",
    "minimum upvotes of a test article": "test_min_upvotes",
}
"""Options of the corpus build, by what the paper says in its text."""


def corpus_part(result: StatisticsResult, printed: CommentsPaper, options: Options | None) -> StudyPart:
    """Table 2, and the categories of Figure 2.

    Args:
        result: Statistics of the corpus.
        printed: The paper.
        options: Options that the corpus was built with, for shares, and for all that the paper says of its data;
            None for Table 2 with the rows of this corpus alone.
    """
    found = result.statistics
    tables = [_table_2(found, printed, whole=options is not None)]
    if options is not None:
        tables += [_said(result, printed, options), *_shares_of_categories(found.all)]
    return StudyPart(
        key="corpus", title="The corpus (Table 2)", tables=tuple(tables), pictures=(*_figure_2(found.all.categories),)
    )


def _table_2(found: CorpusStatistics, printed: CommentsPaper, *, whole: bool) -> StudyTable:
    """Table 2; whole with shares, and with what the paper has and this corpus lacks."""
    columns = [name for name in SPLITS if whole or name in found.splits]
    rows: list[StudyRow] = []
    for key, (name, digits) in STATISTICS.items():
        ours = [_statistic(found.splits[column], key) if column in found.splits else None for column in columns]
        if whole or any(value is not None for value in ours):
            theirs = [printed.statistics[key].get(column) for column in columns]
            rows += [StudyRow(name=name, cells=tuple(ours), digits=digits), printed_row(theirs, digits)]
        if key == "articles" and whole:
            rows += _shares(found, printed)
    return StudyTable(key="table-2", caption="Table 2: the corpus", head=("", *columns), rows=tuple(rows))


def _statistic(split: SplitStatistics, key: str) -> float | int | None:
    if key == "grades_sd":
        return split.grades.sd
    if key == "categories":
        return len(split.categories) or None
    found: Spread | float | int | None = getattr(split, key)
    return found.mean if isinstance(found, Spread) else found


def _shares(found: CorpusStatistics, printed: CommentsPaper) -> Iterator[StudyRow]:
    """Each split’s share of the articles and of the comments; that of the paper by its numbers of articles."""
    articles = [found.splits[column].articles if column in found.splits else None for column in SPLITS]
    comments = [found.splits[column].comments if column in found.splits else None for column in SPLITS]
    theirs = printed.statistics["articles"]
    printed_total = sum(theirs.values())
    yield StudyRow(name="share of all articles", cells=_divided(articles, found.all.articles))
    yield printed_row(_divided([theirs.get(column) for column in SPLITS], printed_total), 3)
    yield StudyRow(name="comments", cells=tuple(comments))
    if found.all.comments:
        yield StudyRow(name="share of all comments", cells=_divided(comments, found.all.comments))


def _divided(counts: Iterable[float | None], total: float) -> tuple[float | None, ...]:
    return tuple(None if count is None else count / total for count in counts)


def _said(result: StatisticsResult, printed: CommentsPaper, options: Options) -> StudyTable:
    """All that the paper’s text says of its data, beside the same of this corpus."""
    found, most = result.statistics, result.statistics.all.upvotes.max
    ours: dict[str, float | int | None] = {
        "articles": found.all.articles,
        "comments": found.all.comments,
        "graded comments": found.all.grades.n,
        "comments per article": found.all.comments_per_article.mean,
        "references per test article": found.splits["test"].comments_per_article.mean,
        "maximum upvotes of a comment": None if most is None else int(most),
        "vocabulary of the models": result.settings.vocabulary,
    }
    for name, option in THRESHOLDS.items():
        value = options.get(option)
        ours[name] = value if isinstance(value, int) else None
    rows = (
        StudyRow(name=each.statistic, cells=(each.said, ours.get(each.statistic), each.where), digits=1)
        for each in printed.text
    )
    return StudyTable(
        key="table-2-text",
        caption="What the paper’s text says of its corpus; minima are thresholds of the corpus build",
        head=("", PRINTED, "here", "place"),
        rows=tuple(rows),
    )


def _top(categories: Mapping[str, int]) -> tuple[list[str], list[int]]:
    """The most frequent categories, and all others together."""
    names, counts = list(categories)[:CATEGORIES], list(categories.values())
    others = counts[CATEGORIES:]
    more = ([f"{len(others)} others"], [sum(others)]) if others else ([], [])
    return names + more[0], counts[:CATEGORIES] + more[1]


def _figure_2(categories: Mapping[str, int]) -> Iterator[StudyPicture]:
    if any(categories.values()):
        names, counts = _top(categories)
        yield StudyPicture(
            title="Articles by category",
            caption="Figure 2: articles by category, all splits together",
            names=tuple(names),
            counts=tuple(counts),
            aside=int(len(categories) > CATEGORIES),
        )


def _shares_of_categories(split: SplitStatistics) -> Iterator[StudyTable]:
    total = sum(split.categories.values())
    if total:
        rows = (
            StudyRow(name=name, cells=(count, count / total))
            for name, count in zip(*_top(split.categories), strict=True)
        )
        yield StudyTable(
            key="figure-2",
            caption=f"Figure 2 in numbers: the {CATEGORIES} most frequent categories",
            head=("category", "articles", "share"),
            rows=tuple(rows),
        )
