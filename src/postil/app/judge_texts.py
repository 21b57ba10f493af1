"""Texts to judge, with all that a judge sees of each: its article and its anchors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.graded import Candidates
from postil.app.judge_anchors import Anchored, choose_anchors
from postil.errors import InvalidInput
from postil.judges import ArticleText, Case
from postil.records.row_locations import LocatedRows
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.app.judge_options import JudgeOptions
    from postil.records.row_locations import RowLocations, Source
    from postil.records.rows import ArticleContent, Candidate, Judgement, Reference

__all__ = ["JudgedTexts", "TextSources", "gather_texts"]

NAMED: Final = 3
"""Number of articles that a message names."""


@dataclass(frozen=True, slots=True)
class TextSources:
    """Rows of the texts to judge.

    Args:
        candidates: The texts.
        references: Graded references of their items; None without any.
        articles: Articles by item; None without any.
        judgements: Human ratings of the texts; None without any.
    """

    candidates: Source[Candidate]
    references: Source[Reference] | None = None
    articles: Source[ArticleContent] | None = None
    judgements: Source[Judgement] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class JudgedTexts:
    """n texts to judge.

    Args:
        rows: The texts.
        cases: All that the judge sees of each, anchors in rising order.
        words: float64[n], number of tokens of each.
        tokenizer: Signature of the tokenizer.
        anchors: Choice of the anchors, as signatures have it; empty without any.
        notes: Notes on the data.
    """

    rows: list[Candidate]
    cases: list[Case]
    words: NDArray[np.float64]
    tokenizer: str
    anchors: str
    notes: tuple[str, ...]


def gather_texts(sources: TextSources, options: JudgeOptions) -> JudgedTexts:
    """Gather the texts with their articles and anchors.

    Args:
        sources: Their rows.
        options: Options of the command.

    Raises:
        UsageError: The metric is no similarity, or there is no such tokenizer.
        InvalidInput: Something in the rows is wrong, or an item has no article; says where.
    """
    rows, places = list(sources.candidates), sources.candidates.places
    if not rows:
        raise InvalidInput("expected at least one candidate, got none", where=places.where)
    texts = LocatedRows(iter(rows), places)
    chosen = Anchored([()] * len(rows), "", ())
    if sources.references is not None and options.anchors != "none":
        chosen = choose_anchors(texts, sources.references, options)
    else:
        items = {item: index for index, item in enumerate(dict.fromkeys(row.item for row in rows))}
        for _ in Candidates(texts, items).batches(texts):
            pass  # it refuses a system that answers an item twice
    articles = None if sources.articles is None else _articles(sources.articles, options.article_words)
    tokenizer = named_tokenizer(options.tokenizer)
    tokens = Vocabulary().encode([row.text for row in rows], tokenizer, options.jobs, allow_han=True)
    article_of = [None] * len(rows) if articles is None else list(_article_of(rows, places, articles))
    return JudgedTexts(
        rows=rows,
        cases=[
            Case(row.text, article, each) for row, article, each in zip(rows, article_of, chosen.anchors, strict=True)
        ],
        words=np.diff(tokens.offsets).astype(np.float64),
        tokenizer=tokenizer.signature,
        anchors=chosen.signature,
        notes=chosen.notes,
    )


def _articles(articles: Source[ArticleContent], words: int) -> dict[str, ArticleText]:
    found: dict[str, ArticleText] = {}
    for index, row in enumerate(articles):
        if row.id in found:
            problem = f"expected an id that no other article has, got '{row.id}' again"
            raise articles.places.error(index, "id", problem)
        found[row.id] = ArticleText.cut(row.title, row.content or "", words)
    return found


def _article_of(
    rows: Sequence[Candidate], places: RowLocations, articles: Mapping[str, ArticleText]
) -> Iterator[ArticleText]:
    for index, row in enumerate(rows):
        if row.item not in articles:
            some = ", ".join(islice(articles, NAMED))
            more = f" and {len(articles) - NAMED:,} more" if len(articles) > NAMED else ""
            problem = f"expected an item that is the id of an article ({some}{more}), got '{row.item}'"
            raise places.error(index, "item", problem)
        yield articles[row.item]
