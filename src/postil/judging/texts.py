"""Texts to judge, with all that a judge sees of each: its article and its anchors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.data.explain import counted, have
from postil.data.row_locations import LocatedRows, RowLocations, Source
from postil.data.rows import ArticleContent, Candidate, Judgement, Reference
from postil.errors import InvalidInput
from postil.judging.judge import Anchor, ArticleText, Case
from postil.kernel.unicode_forms import normalized
from postil.messages import Message, Setting
from postil.metrics.evaluation import Evaluation
from postil.metrics.ungraded import similarity_metric
from postil.scoring.graded import Candidates, Weighting, read_references
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.judging.options import JudgeOptions

__all__ = ["JudgedTexts", "TextSources", "choose_anchors", "gather_texts"]

NAMED: Final = 3
"""Number of articles that a message names."""

Anchored: TypeAlias = "tuple[list[tuple[Anchor, ...]], str, tuple[str, ...]]"
"""Anchors of each candidate in rising order of grades, their choice as signatures have it, and notes on both."""


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
    chosen: Anchored = ([()] * len(rows), "", ())
    if sources.references is not None and options.anchors != "none":
        chosen = choose_anchors(texts, sources.references, options)
    else:
        items = {item: index for index, item in enumerate(dict.fromkeys(row.item for row in rows))}
        for _ in Candidates(texts, items).batches(texts):
            pass  # it refuses a system that answers an item twice
    anchors, signature, notes = chosen
    articles = None if sources.articles is None else _articles(sources.articles, options.article_words)
    tokenizer = named_tokenizer(options.tokenizer)
    tokens = Vocabulary().encode([row.text for row in rows], tokenizer, options.jobs, allow_han=True)
    article_of = [None] * len(rows) if articles is None else list(_article_of(rows, places, articles))
    return JudgedTexts(
        rows=rows,
        cases=[Case(row.text, article, each) for row, article, each in zip(rows, article_of, anchors, strict=True)],
        words=np.diff(tokens.offsets).astype(np.float64),
        tokenizer=tokenizer.signature,
        anchors=signature,
        notes=notes,
    )


def _articles(articles: Source[ArticleContent], words: int) -> dict[str, ArticleText]:
    found: dict[str, ArticleText] = {}
    for index, row in enumerate(articles):
        if row.id in found:
            raise articles.places.error(index, "id", f"expected an id that no other article has, got '{row.id}' again")
        found[row.id] = ArticleText.cut(row.title, row.content or "", words)
    return found


def _article_of(
    rows: Sequence[Candidate], places: RowLocations, articles: Mapping[str, ArticleText]
) -> Iterator[ArticleText]:
    for index, row in enumerate(rows):
        if row.item not in articles:
            some = ", ".join(islice(articles, NAMED))
            more = f" and {len(articles) - NAMED:,} more" if len(articles) > NAMED else ""
            raise places.error(
                index, "item", f"expected an item that is the id of an article ({some}{more}), got '{row.item}'"
            )
        yield articles[row.item]


def choose_anchors(candidates: Source[Candidate], references: Source[Reference], options: JudgeOptions) -> Anchored:
    """Choose graded references of its item for each candidate: for each grade that they have, rounded half up, some.

    Left out are references without a grade, those by the candidate's own system, and those that are the candidate but
    for case, character width and white space. Of equally similar or long ones the first rows are chosen.

    Args:
        candidates: The candidates.
        references: The references.
        options: Options of the command.

    Raises:
        UsageError: The metric is no similarity, or there is no such tokenizer.
        InvalidInput: Something in the rows is wrong, or no reference has a grade; says where.
    """
    metric = similarity_metric(options.anchor_metric, Setting("anchor_metric"))
    rows, asked = list(references), {options.anchor_metric: metric}
    notes = list[str]()
    texts = [Reference(row.item, row.text) for row in rows]
    found = read_references(LocatedRows(iter(texts), references.places), Weighting(metrics=asked), notes.append)
    grades = [row.mean_grade for row in rows]
    for index, grade in enumerate(grades):
        if grade is not None and (problem := options.scale.check(grade)):
            raise references.places.error(index, "grade", problem)
    if all(grade is None for grade in grades):
        raise references.places.error(
            0,
            "grade",
            Message("missing; anchors are references with a grade (or {anchors})", anchors=Setting("anchors", "none")),
        )
    evaluation = Evaluation(
        asked, found.references, tokenizer=options.tokenizer, jobs=options.jobs, split=True, refuse=found.refuse
    )
    given = Candidates(candidates, found.items)
    pool = np.argsort([found.items[row.item] for row in rows], kind="stable").tolist()
    anchors = [
        _chosen(said, system, [(rows[row], row, rank) for row, rank in zip(pool[place], ranks, strict=True)], options)
        for said, system, place, ranks in _ranked(evaluation, given, candidates, options)
    ]
    notes += evaluation.remarks
    if without := sum(not each for each in anchors):
        notes.append(f"{counted(without, 'text')} without an anchor, as no other graded reference of the item is left")
    if ungraded := sum(grade is None for grade in grades):
        notes.append(
            f"{ungraded:,} of {len(grades):,} references {have(ungraded)} no grade: no anchor{'s' * (ungraded != 1)}"
        )
    said = f"|anchor-metric:{metric.signature}" if options.anchors == "nearest" else ""
    signature = f"anchors-per-grade:{options.anchors_per_grade}{said}|tokenizer:{evaluation.tokenizer.signature}"
    return anchors, signature, tuple(notes)


def _ranked(
    evaluation: Evaluation, given: Candidates, candidates: Iterable[Candidate], options: JudgeOptions
) -> Iterator[tuple[str, str, slice, Sequence[float]]]:
    """Texts and systems of candidates, the places of their references, and numbers by which these are ordered."""
    offsets, lengths = evaluation.references.offsets, np.diff(evaluation.references.tokens.offsets)
    batches = given.batches(iter(candidates))
    near = options.anchors == "nearest"
    scored = evaluation.pair_scores(batches, given.refuse) if near else ((batch, {}) for batch in batches)
    for batch, scores in scored:
        pair = 0
        for text, system, item in zip(batch.texts, batch.systems, batch.sets.tolist(), strict=True):
            place = slice(*offsets[item : item + 2].tolist())
            before, pair = pair, pair + place.stop - place.start
            ranks = -scores[options.anchor_metric][before:pair] if near else lengths[place]
            yield str(text), system, place, ranks.tolist()


def _chosen(
    text: str, system: str, pool: Iterable[tuple[Reference, int, float]], options: JudgeOptions
) -> tuple[Anchor, ...]:
    """Anchors of a candidate among references with their row and rank."""
    by_grade: dict[float, list[tuple[float, int, str]]] = {}
    plain, highest = _plain(text), math.floor(options.scale.high)
    for reference, row, rank in pool:
        own = reference.system is not None and reference.system == system
        grade = reference.mean_grade
        if grade is None or own or _plain(reference.text) == plain:
            continue
        by_grade.setdefault(float(min(math.floor(grade + 0.5), highest)), []).append((rank, row, reference.text))
    anchors = list[Anchor]()
    for grade, several in sorted(by_grade.items()):
        several.sort()
        begin = max(0, (len(several) - options.anchors_per_grade) // 2) if options.anchors == "spread" else 0
        anchors += [Anchor(text, grade) for _, _, text in several[begin : begin + options.anchors_per_grade]]
    return tuple(anchors)


def _plain(text: str) -> str:
    """A text without what makes no difference to readers: case, character width, white space."""
    return " ".join(normalized("NFKC", text).casefold().split())
