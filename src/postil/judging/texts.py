"""Texts to judge, with all that a judge sees of each: its article and its anchors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.data.explain import counted, have
from postil.data.paired_tables import unpaired
from postil.data.row_locations import LocatedRows, RowLocations, Source
from postil.data.rows import ArticleContent, Candidate, Judgement, PairPreference, Reference
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

__all__ = [
    "JudgedTexts",
    "TextSources",
    "anchors_of",
    "articles_of",
    "choose_anchors",
    "count_words",
    "gather_texts",
    "read_candidates",
]

NAMED: Final = 3
"""Number of articles that a message names."""

Anchored: TypeAlias = "tuple[list[tuple[Anchor, ...]], str, tuple[str, ...]]"
"""Anchors of each candidate in rising order of grades, their choice as signatures have it, and notes on both."""

Ranked: TypeAlias = "tuple[tuple[tuple[str, str], ...], slice, NDArray[np.float64]]"
"""Texts with their systems, the places of their references, and numbers by which these are ordered."""


@dataclass(frozen=True, slots=True)
class TextSources:
    """Rows of the texts to judge.

    Args:
        candidates: The texts.
        references: Graded references of their items; None without any.
        articles: Articles by item; None without any.
        judgements: Human ratings of the texts; None without any.
        preferences: Preferences of people for texts in pairs; None without any.
    """

    candidates: Source[Candidate]
    references: Source[Reference] | None = None
    articles: Source[ArticleContent] | None = None
    judgements: Source[Judgement] | None = None
    preferences: Source[PairPreference] | None = None


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
    rows = read_candidates(sources.candidates)
    anchors, signature, notes = anchors_of(rows, sources, options)
    articles = articles_of(rows, sources, options)
    tokenizer = named_tokenizer(options.tokenizer)
    return JudgedTexts(
        rows=rows,
        cases=[Case(row.text, article, each) for row, article, each in zip(rows, articles, anchors, strict=True)],
        words=count_words(rows, options),
        tokenizer=tokenizer.signature,
        anchors=signature,
        notes=notes,
    )


def read_candidates(candidates: Source[Candidate]) -> list[Candidate]:
    """Read the texts.

    Args:
        candidates: Their rows.

    Raises:
        InvalidInput: There is none, or something in the rows is wrong; says where.
    """
    rows = list(candidates)
    if not rows:
        raise InvalidInput("expected at least one candidate, got none", where=candidates.places.where)
    return rows


def count_words(rows: Sequence[Candidate], options: JudgeOptions) -> NDArray[np.float64]:
    """Count the tokens of texts, float64[n].

    Args:
        rows: The texts.
        options: Options of the command.

    Raises:
        UsageError: There is no such tokenizer.
    """
    tokenizer = named_tokenizer(options.tokenizer)
    tokens = Vocabulary().encode([row.text for row in rows], tokenizer, options.jobs, allow_han=True)
    return np.diff(tokens.offsets).astype(np.float64)


def anchors_of(
    rows: Sequence[Candidate],
    sources: TextSources,
    options: JudgeOptions,
    pairs: Sequence[tuple[int, int]] | None = None,
) -> Anchored:
    """Choose the anchors of texts or of pairs of them, if there are any; see `choose_anchors`.

    Args:
        rows: The texts.
        sources: All rows.
        options: Options of the command.
        pairs: Places of the two texts of each pair; None for single texts.

    Raises:
        UsageError: The metric is no similarity, or there is no such tokenizer.
        InvalidInput: Something in the rows is wrong, or a system answers an item twice; says where.
    """
    texts = LocatedRows(iter(rows), sources.candidates.places)
    if sources.references is not None and options.anchors != "none":
        return choose_anchors(texts, sources.references, options, pairs)
    items = {item: index for index, item in enumerate(dict.fromkeys(row.item for row in rows))}
    for _ in Candidates(texts, items).batches(texts):
        pass  # it refuses a system that answers an item twice
    return [()] * len(rows if pairs is None else pairs), "", ()


def articles_of(
    rows: Sequence[Candidate], sources: TextSources, options: JudgeOptions
) -> list[ArticleText] | list[None]:
    """The articles of texts, None where there are no articles.

    Args:
        rows: The texts.
        sources: All rows.
        options: Options of the command.

    Raises:
        InvalidInput: An item has no article, or an article is there twice; says where.
    """
    if sources.articles is None:
        return [None] * len(rows)
    return list(_article_of(rows, sources.candidates.places, _articles(sources.articles, options.article_words)))


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
            problem = f"expected an item that is the id of an article ({some}{more}), got '{row.item}'"
            raise unpaired(places, index, problem, "articles", "id")
        yield articles[row.item]


def choose_anchors(
    candidates: Source[Candidate],
    references: Source[Reference],
    options: JudgeOptions,
    pairs: Sequence[tuple[int, int]] | None = None,
) -> Anchored:
    """Choose graded references of its item for each candidate: for each grade that they have, rounded half up, some.

    Left out are references without a grade, those by the candidate's own system, and those that are the candidate but
    for case, character width and white space. Of equally similar or long ones the first rows are chosen. The anchors of
    a pair are those most similar to either text, without what is left out of one of them.

    Args:
        candidates: The candidates.
        references: The references.
        options: Options of the command.
        pairs: Places of the two candidates of each pair; None for one choice per candidate.

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
        if grade is not None and (problem := options.needed_scale().check(grade)):
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
    given = Candidates(candidates, found.items, numbered=found.numbered)
    pool = np.argsort([found.items[row.item] for row in rows], kind="stable").tolist()
    ranked = _ranked(evaluation, given, candidates, options)
    if pairs is not None:
        each = list(ranked)
        ranked = (_ranked_pair(each[one], each[other]) for one, other in pairs)
    anchors = [
        _chosen(texts, [(rows[row], row, rank) for row, rank in zip(pool[place], ranks.tolist(), strict=True)], options)
        for texts, place, ranks in ranked
    ]
    notes += evaluation.remarks
    if without := sum(not each for each in anchors):
        what = counted(without, "text" if pairs is None else "pair")
        notes.append(f"{what} without an anchor, as no other graded reference of the item is left")
    if ungraded := sum(grade is None for grade in grades):
        notes.append(
            f"{ungraded:,} of {len(grades):,} references {have(ungraded)} no grade: no anchor{'s' * (ungraded != 1)}"
        )
    said = f"|anchor-metric:{metric.signature}" if options.anchors == "nearest" else ""
    signature = f"anchors-per-grade:{options.anchors_per_grade}{said}|tokenizer:{evaluation.tokenizer.signature}"
    return anchors, signature, tuple(notes)


def _ranked(
    evaluation: Evaluation, given: Candidates, candidates: Iterable[Candidate], options: JudgeOptions
) -> Iterator[Ranked]:
    """Candidates with their references, and numbers by which these are ordered."""
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
            yield ((str(text), system),), place, ranks


def _ranked_pair(one: Ranked, other: Ranked) -> Ranked:
    """Pair of candidates of an item; a reference is as near as to the nearer one."""
    return one[0] + other[0], one[1], np.minimum(one[2], other[2])


def _chosen(
    texts: tuple[tuple[str, str], ...], pool: Iterable[tuple[Reference, int, float]], options: JudgeOptions
) -> tuple[Anchor, ...]:
    """Anchors of one or two texts with their systems, among references with their row and rank."""
    by_grade: dict[float, list[tuple[float, int, str]]] = {}
    plain, systems = {_plain(text) for text, _ in texts}, {system for _, system in texts}
    highest = math.floor(options.needed_scale().high)
    for reference, row, rank in pool:
        own = reference.system is not None and reference.system in systems
        grade = reference.mean_grade
        if grade is None or own or _plain(reference.text) in plain:
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
