"""The tables of Automatic Article Commenting (Qin et al. 2018): numbers of a corpus and a study above the paper's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from postil.comments.ranking_evaluation import distinct
from postil.comments.result import HUMAN
from postil.corpus.result import CorpusStatistics, SplitStatistics, Spread, StatisticsResult
from postil.corpus.statistics import Histogram, spread
from postil.data.explain import counted
from postil.data.rows import Candidate, Judgement
from postil.errors import Undefined
from postil.meta.agreement import FEWEST, agreement
from postil.meta.resampling import Draws
from postil.results.base import replace
from postil.results.formats import listed
from postil.studies.comments.deviations import chosen_part, deviations_part
from postil.studies.comments.people import (
    agreement_part,
    base,
    disagreements_part,
    examples_part,
    people_part,
    printed_name,
    short,
    unjudged_part,
)
from postil.studies.options import FITTING
from postil.studies.papers import PRINTED, CommentsPaper, comments_paper, printed_row
from postil.studies.result import StudyCell, StudyPart, StudyPicture, StudyResult, StudyRow, StudyTable
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from postil.correlation.result import CorrelationResult
    from postil.data.grades import Scale
    from postil.data.model_folders import Model
    from postil.data.parts import Estimate
    from postil.meta.parts import Agreement
    from postil.metrics.result import ScoreResult
    from postil.studies.comments.study import CommentsStudy

__all__ = ["Made", "comments_study", "corpus_part", "source_of_weights"]

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


WEIGHTS: Final = "weights of references"
DRAWN: Final = "one comment per article, sampled with seed {seed} and held out from all references"
TIED: Final = "in {:,} of {:,} articles all references have equally many votes; all weigh 1 there"


@dataclass(frozen=True, kw_only=True)
class Made:
    """Results of the stages before the tables.

    Args:
        models: The commenters.
        statistics: Statistics of the corpus.
        scores: Scores of the systems.
        candidates: Texts of all systems.
        judged: Correlations with human ratings; None where there are no judgements.
        over_seeds: Means and intervals over seeds and articles by row of Table 7 and system; empty without a preset.
    """

    models: Mapping[str, Model]
    statistics: StatisticsResult
    scores: ScoreResult
    candidates: Sequence[Candidate]
    judged: CorrelationResult | None
    over_seeds: Mapping[str, Mapping[str, Estimate | float]] = field(default_factory=dict)


def source_of_weights(method: str, scale: Scale | None, *, chosen: bool = False) -> str:
    """Source of the weights of references, in words.

    Args:
        method: A weights method, or ``consensus``.
        scale: Scale of the ratings, if they are read.
        chosen: True if the user chose the method, though there may be ratings.

    >>> source_of_weights("votes", None)
    'readers’ votes, for want of human ratings'
    """
    why = "" if chosen else ", for want of human ratings"
    if scale is not None:
        return f"human ratings on the scale {scale} ({method})"
    if method == "votes":
        return f"readers’ votes{why}"
    if method.startswith("consensus"):
        why = f"{why} and votes" if why else ""
        return f"similarity to the article’s other references ({method}){why}"
    return method


def comments_study(study: CommentsStudy, made: Made) -> StudyResult:
    """The tables of a study.

    Args:
        study: The study.
        made: Results of the stages before.
    """
    printed, readers, options = comments_paper(), study.readers, study.options
    paper = options.preset == "paper"
    metadata = study.corpus.metadata
    others = [name for name, model in made.models.items() if not model.trained_on(metadata.origin)]
    source = source_of_weights(study.weights, study.scale, chosen=options.weights is not None)
    weights = f"{WEIGHTS}: {source}"
    settings = {
        "corpus": str(study.folder),
        "tokenizer": study.corpus.tokenizer,
        WEIGHTS: source,
        "votes": study.weights == "votes" and readers.tied() and TIED.format(readers.tied(), len(readers.articles)),
        "excluded": readers.left_out and f"articles without two comments that differ: {readers.left_out:,}",
        "ratings of references": options.references,
        "external systems": study.given and f"{listed(list(study.given))} ({options.candidates})",
        HUMAN: HUMAN not in study.given and DRAWN.format(seed=options.seed),
        "trained on another corpus": others and f"{listed(others)}; they may have seen the test articles",
        "the paper": printed.source,
    }
    given = [system for system in study.given if system != HUMAN]
    counts = ((len(study.models), "commenter"), (len(given), "given system"))
    systems = listed([*(counted(n, noun) for n, noun in counts if n), f"{HUMAN}, a comment of a reader"])
    return StudyResult(
        name=study.folder.name,
        title="Automatic article commenting, table by table",
        data=f"{counted(len(readers.articles), 'test article')}; {systems}; {weights}",
        weights=weights,
        conclusion=(
            *_highest(made, printed, readings=paper),
            f"Rows “{PRINTED}”: {printed.of}. On other corpora the order compares, not the numbers.",
        ),
        parts=(
            corpus_part(_with_grades(study, made.statistics), printed, metadata.options if paper else None),
            *([_commenters(made.models)] if made.models else []),
            _systems(study, made, printed, weights),
            people_part(made.judged, printed, weights, tested=paper) if made.judged else unjudged_part(printed),
            *(_of_paper(study, made, printed, source) if paper else ()),
        ),
        settings=tuple((name, str(value)) for name, value in settings.items() if value),
    )


def _with_grades(study: CommentsStudy, found: StatisticsResult) -> StatisticsResult:
    """Statistics of the corpus, with the grades of its references where they are of another file."""
    splits, scale = found.statistics.splits, study.options.scale
    if study.options.references is None or scale is None:
        return found
    comments = [one for article in study.readers.articles for one in article.comments]
    grades = {number: grade for number, one in enumerate(comments) if (grade := one.mean_grade) is not None}
    best = [max((each.grade for each in comments[number].ratings), default=grade) for number, grade in grades.items()]
    values = Histogram.of(list(grades.values()))
    alone = splits["all"].grades.n == splits["test"].grades.n
    graded = {
        name: replace(
            splits[name], grades=spread(values), top_grade_comments=sum(g >= scale.high for g in best) / len(best)
        )
        for name in ("test", *(["all"] if alone else []))
    }
    return replace(found, statistics=replace(found.statistics, splits={**splits, **graded}))


def _of_paper(study: CommentsStudy, made: Made, printed: CommentsPaper, source: str) -> Iterator[StudyPart]:
    """The sections that only ``--preset paper`` has."""
    articles = study.readers.articles
    if chosen := chosen_part(made.models):
        yield chosen
    if made.judged is not None and (found := disagreements_part(made.judged, articles)):
        yield found
    yield agreement_part(made.judged, _of_references(study), printed)
    yield examples_part(articles)
    yield deviations_part(study, made.models, source)


def _of_references(study: CommentsStudy) -> Agreement | None:
    """Agreement of the ratings of references; None where no reference has two."""
    ratings = [
        Judgement(article.id, comment.id, rating.annotator, rating.grade)
        for article in study.readers.articles
        for comment in article.comments
        for rating in comment.ratings
    ]
    with suppress(Undefined):
        options = study.options
        if ratings:
            return agreement(
                ratings, draws=Draws(resamples=options.resamples, seed=options.seed), numbered=True, fewest=FEWEST
            )
    return None


def _highest(made: Made, printed: CommentsPaper, *, readings: bool) -> Iterator[str]:
    """The commenter with the highest score by each metric of the paper's table, readers aside; by its first reading."""
    best: dict[str, list[str]] = {}
    named: set[str] = set()
    for metric in dict.fromkeys(row.metric for row in made.scores.scores):
        name = base(metric) if readings else metric
        if name in printed.systems and name not in named:
            named.add(name)
            rows = [row for row in made.scores.scores if row.metric == metric and row.system != HUMAN]
            of_seeds = made.over_seeds.get(metric, {})
            values = {row.system: _value(of_seeds.get(row.system, row.score)) for row in rows}
            best.setdefault(max(values, key=lambda name: values[name]), []).append(metric)
    if best and len({row.system for row in made.scores.scores}) > 2:
        said = (f"{system} by {listed(metrics)}" for system, metrics in best.items())
        yield (
            f"Of the commenters the highest score has {'; '.join(said)}. The comparison with {HUMAN} below says which "
            "differences are significant."
        )


def _value(value: Estimate | float) -> float:
    return value if isinstance(value, float) else value.value


def _commenters(models: Mapping[str, Model]) -> StudyPart:
    """The commenters, with their options and their dev evaluation."""
    rows = (
        StudyRow(name=name, cells=(model.kind, _made(model), _dev(model), model.hash)) for name, model in models.items()
    )
    table = StudyTable(
        key="commenters",
        caption="The commenters; dev by each model’s own measure",
        head=("commenter", "kind", "options", "dev", "hash"),
        rows=tuple(rows),
    )
    return StudyPart(key="commenters", title="The commenters", tables=(table,))


def _made(model: Model) -> str:
    options = model.metadata.get("options", {})
    network = options.get("network", {}) or options.get("relevance", {})
    said = [f"ranked by {options['ranker']}"] if "ranker" in options else []
    said += [f"{name} {value}" for name, value in {**network, **options.get("training", {})}.items()]
    return ", ".join(said) or "defaults"


def _dev(model: Model) -> str:
    dev = model.metadata.get("dev")
    if isinstance(dev, dict) and dev.get("loss") is not None:
        return f"perplexity {math.exp(dev['loss']):,.1f} per token"
    rows = dev if isinstance(dev, list) else []
    own = [row for row in rows if row["scorer"] == rows[0]["scorer"] and row["measure"] in {"recall@1", "mrr"}]
    return ", ".join(f"{row['measure']} {row['value']:.3f}" for row in own) or "none"


def _systems(study: CommentsStudy, made: Made, printed: CommentsPaper, weights: str) -> StudyPart:
    """Table 7: one row per metric, one column per system."""
    cells: dict[str, dict[str, StudyCell]] = {}
    for row in made.scores.scores:
        over_seeds = made.over_seeds.get(row.metric, {}).get(row.system)
        cells.setdefault(row.metric, {})[row.system] = row.score if over_seeds is None else _cell(over_seeds)
    systems = list(dict.fromkeys(row.system for row in made.scores.scores))
    rows: list[StudyRow] = []
    for metric, by_system in cells.items():
        rows.append(StudyRow(name=short(metric), cells=tuple(by_system.get(system) for system in systems)))
        name = printed_name(metric, readings=study.options.preset == "paper")
        rows += _printed_row(printed, name, systems)
    if made.judged is not None:
        means = {row.system: row for row in made.judged.systems}
        grades = (means[system].grade if system in means else None for system in systems)
        rows.append(StudyRow(name="mean human rating", cells=tuple(grades), kind="people"))
        rows += _printed_row(printed, "people", systems)
        n = (means[system].n if system in means else None for system in systems)
        rows.append(StudyRow(name="… number of texts", cells=tuple(n), kind="people"))
    for said in _of_texts(study.corpus.tokenizer, made.candidates, systems):
        of_seeds = made.over_seeds.get(said.name)
        rows.append(replace(said, cells=tuple(_cell(of_seeds[one]) for one in systems)) if of_seeds else said)
    caption = f"Table 7: the best suggestion of each system, over {len(study.readers.articles):,} articles; {weights}"
    if made.over_seeds:
        over = f"{study.options.seeds} seeds and " if study.options.seeds > 1 else ""
        caption += f"; 95 % confidence intervals over {over}test articles; distinct-1 and -2 without an interval"
        caption += "; number of suggestions and human ratings with the first seed" if study.options.seeds > 1 else ""
    table = StudyTable(
        key="table-7",
        caption=caption,
        head=("", *systems),
        rows=tuple(rows),
    )
    words = f"“The paper’s reading” is {FITTING}: with weights grade / 5 it fits the paper’s own tables best."
    return StudyPart(key="systems", title="The systems (Table 7)", words=(words,), tables=(table,))


def _cell(value: Estimate | float) -> StudyCell:
    return value if isinstance(value, float) else (value.value, value.low, value.high)


def _printed_row(printed: CommentsPaper, name: str, columns: Sequence[str]) -> list[StudyRow]:
    values = printed.systems.get(name, {})
    return [printed_row([values.get(column) for column in columns], 3)] if any(c in values for c in columns) else []


def _of_texts(tokenizer: str, candidates: Sequence[Candidate], systems: Sequence[str]) -> Iterator[StudyRow]:
    """Statistics of each system's texts, independent of references."""
    split = named_tokenizer(tokenizer)
    columns: list[list[StudyCell]] = []
    for system in systems:
        texts = [row.text for row in candidates if row.system == system]
        tokens = Vocabulary().encode(texts, split, allow_han=True)
        said = sum(map(bool, texts))
        columns.append([said, len(tokens.ids) / said if said else None])
        for n in (1, 2):
            columns[-1].append(None)
            with suppress(Undefined):
                columns[-1][-1] = distinct(tokens.ids, tokens.offsets, n)
    yield StudyRow(name="The texts, independent of references", kind="group")
    names = ("suggestions", "mean words", "distinct-1", "distinct-2")
    for name, cells in zip(names, zip(*columns, strict=True), strict=True):
        yield StudyRow(name=name, cells=cells, digits=1 if name == "mean words" else 3)
