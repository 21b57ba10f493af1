"""Views and pictures of suggestions, of commenters against readers, of rankings, of trainings and of updates."""

from __future__ import annotations

from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.comments.result import (
    CommenterResult,
    GridPoint,
    GridSearch,
    RankingMeasure,
    RankingResult,
    SuggestionsResult,
    TrainingResult,
    UpdateResult,
    value_text,
)
from postil.data.explain import counted
from postil.data.fields import plain_id
from postil.data.suggestions import Selecting
from postil.messages import Blank, Command, Listed, Message, Setting
from postil.metrics.result import SystemScore
from postil.results.formats import excerpt, value_with_interval
from postil.results.numbers import DASH
from postil.results.page.blocks import Picture
from postil.results.page.chapters import forests
from postil.results.plots.figure import save
from postil.results.plots.forest import IntervalRow
from postil.results.plots.lines import Curve, curves
from postil.results.table import Column, Count, Figure, Interval, Name, Number, Table, Text, crossed
from postil.results.views import View, best
from postil.scoring.view import score_table, scores_summary, scores_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from postil.data.suggestions import Source, Suggestion
    from postil.results import plots

__all__ = [
    "commenter_pictures",
    "commenters",
    "draw_losses",
    "loss_curves",
    "measures_forest",
    "measures_summary",
    "ranking",
    "ranking_pictures",
    "search_tables",
    "suggestions",
    "training",
    "training_pictures",
    "update",
]

REASONS: Final = Setting("format", "jsonl", instead="result.suggestions")
FIELDS: Final = (
    *("article", "article_title", "rank", "score", "text", "label", "sources"),
    *("source_title", "source_url", "source_date", "source_upvotes", "probability"),
)

ORIGIN: Final = 40
"""Largest number of characters of a title in a table."""


def _origin(one: Suggestion) -> str:
    """The title or the ids of the comment that it is, or the model behind an endpoint."""
    for source in one.provenance.sources:
        return source.title or f"{source.article}/{source.comment}"
    return one.provenance.model * (one.provenance.method == "llm")


def _likely(one: Suggestion) -> str | None:
    return None if one.probability is None else f"probability {value_with_interval(one.probability, None, None)}"


def _voted(source: Source) -> str | None:
    return None if source.upvotes is None else counted(source.upvotes, "vote")


_ARTICLE, _SUGGESTION, _SOURCE = map(itemgetter, range(3))
"""Parts of a line: the article, a suggestion for it, and the first source of that, if it has one."""

ARTICLE: Final = Text("article", _ARTICLE)
RANK: Final = Count("rank", "rank", at=_SUGGESTION, separated=False)
SCORE: Final = Number("score", "score", at=_SUGGESTION, digits=4, zero=True)
PROBABILITY: Final = Number("probability", "probability", at=_SUGGESTION, none="", dash="")
DATE: Final = Text("date", lambda source: (source.date or "")[:10], at=_SOURCE, none="", dash="")
VOTES: Final = Count("votes", "upvotes", at=_SOURCE, none="", dash="")

CUT: Final[tuple[Column, ...]] = (
    *(Name("suggestion", lambda one: excerpt(one.text), at=_SUGGESTION), ARTICLE, RANK, SCORE, PROBABILITY),
    *(Text("from", lambda one: excerpt(_origin(one), ORIGIN), at=_SUGGESTION), DATE, VOTES),
)
"""Columns of a terminal."""

WHOLE: Final[tuple[Column, ...]] = (
    Name("suggestion", "text", at=_SUGGESTION),
    Text("label", lambda one: one.provenance.label, at=_SUGGESTION),
    *(ARTICLE, RANK, Text("from", _origin, at=_SUGGESTION), DATE, VOTES),
)
"""Columns of all else."""

ABOUT: Final[tuple[Column, ...]] = (
    *(ARTICLE, SCORE, Text("probability", _likely, at=_SUGGESTION, none="")),
    *(Text("from", _origin, at=_SUGGESTION), DATE, Text("votes", _voted, at=_SOURCE, none="")),
)
"""Columns that a narrow terminal shows below a text."""


UNTAUGHT: Final = Message(
    "labels teach a model to leave out what does not fit: {label}",
    label=Command("label", (Blank("ARTICLES"),), (Setting("model", Blank("MODEL")), Setting("out", "labels.jsonl"))),
)
"""Sentence below suggestions of a retriever that no labels have taught."""


def suggestions(result: SuggestionsResult) -> View:
    """Make the view of suggestions; only JSON and JSON Lines have the comments that were filtered out.

    On a terminal texts are cut and the label stands below; where they may end up on a page each has its label.

    Args:
        result: The suggestions.
    """
    titles = {row.article: row.title if isinstance(row.title, str) else None for row in result.suggestions}
    lines = [
        (row.article, one, next(iter(one.provenance.sources), None))
        for row in result.suggestions
        for one in row.suggestions
    ]
    unknown = [each for each in (PROBABILITY, DATE, VOTES) if not any(each.cell(line).plain for line in lines)]
    labels = "; ".join(dict.fromkeys(one.provenance.label for _, one, _ in lines))
    remarks: list[str] = [labels] if labels else []
    remarks += _left_out(result, nothing=not lines)
    found = [one for _, one, _ in lines if one.provenance.method == "retrieved"]
    if found and all(one.probability is None and not isinstance(one.provenance.selecting, Selecting) for one in found):
        remarks.append(UNTAUGHT)
    choices = [[one.provenance.selecting for one in row.suggestions] for row in result.suggestions]
    if usual := sum(any(isinstance(one, Selecting) and one.problem for one in each) for each in choices):
        remarks.append(f"{counted(usual, 'article')} in the usual order, without a choice of the language model")
    sizes = (sum(len(row.suggestions) for row in result.suggestions), len(result.suggestions))
    return View(
        line=", ".join(map(counted, sizes, ("suggestion", "article"))),
        rows=[
            {
                "article": article,
                "article_title": titles[article],  # and no title, which would take the place of a label's article
                "rank": one.rank,
                "score": one.score,
                "text": one.text,
                "label": one.provenance.label,
                "sources": " ".join(f"{each.article}/{each.comment}" for each in one.provenance.sources),
                **{f"source_{name}": getattr(source, name, None) for name in ("title", "url", "date", "upvotes")},
                "probability": one.probability,
            }
            for article, one, source in lines
        ],
        fields=FIELDS,
        nested=[msgspec.to_builtins(row, enc_hook=plain_id) for row in result.suggestions],
        grids=[Table(key="suggestions", rows=lines, columns=[each for each in CUT if each not in unknown])]
        * bool(lines),
        documents=[Table(key="suggestions", rows=lines, columns=WHOLE)],
        remarks=remarks,
        cards=[
            (f"{line[1].rank}. {line[1].text}", " · ".join(filter(None, (each.cell(line).plain for each in ABOUT))))
            for line in lines
        ],
    )


def _left_out(result: SuggestionsResult, *, nothing: bool) -> Iterator[str]:
    """Remarks on articles without a suggestion, and on what was filtered out.

    A reason that all of these articles have stands there itself.

    Args:
        result: The suggestions.
        nothing: True if there are none.
    """
    reasons = [row.reason for row in result.suggestions if row.reason is not None]
    same = reasons[0] if len({*reasons}) == 1 else ""
    of_all = bool(same) and len(reasons) == len(result.suggestions)
    if nothing:
        yield f"no suggestions: {same}" if of_all else "no suggestions"
    parts = []
    if reasons and not (nothing and of_all):
        articles = f"nothing for {counted(len(reasons), 'article')}"
        if same:
            yield f"{articles}: {same}"
        else:
            parts.append(articles)
    if filtered := sum(len(row.filtered) for row in result.suggestions):
        parts.append(f"{filtered:,} filtered out")
    if parts:
        yield Message("{parts}; {reasons} gives the reasons", parts=Listed(parts, last=", "), reasons=REASONS)


def ranking(result: RankingResult) -> View:
    """Make the view of a ranking evaluation.

    Args:
        result: The evaluation.
    """
    measures = crossed(
        result.rows, Name("ranked by", "scorer"), "measure", Interval("", "value", zero=True), key="measures"
    )
    return View(
        line=measures_summary(result.rows, "scorer", "article"),
        rows=result.rows,
        grids=[measures, *search_tables(result.grid)],
        remarks=[f"{row.scorer}: {row.reason}" for row in result.absent],
    )


def search_tables(search: GridSearch | None) -> list[Table]:
    """The table of a choice of hyperparameters, one row per combination; none without a choice.

    Args:
        search: The choice.
    """
    if search is None:
        return []
    first, *others = search.points[0].values
    columns = (
        Name(first, partial(_setting, first)),
        *(Figure(name, partial(_setting, name)) for name in others),
        Number(f"dev {search.measure}", "dev", zero=True),
        Count("steps", "steps"),
        Text("", lambda point: "chosen" if point.chosen else ""),
    )
    return [Table(key="search", rows=search.points, columns=columns)]


def _setting(name: str, point: GridPoint) -> str:
    return value_text(point.values[name])


def measures_summary(rows: Sequence[RankingMeasure], scorer: str, unit: str) -> str:
    """Numbers of scorers and of what they rank, and the best value of each measure.

    Args:
        rows: Values by scorer and measure.
        scorer: Name of a scorer.
        unit: Name of what a scorer ranks.
    """
    scorers = counted(len({row.scorer for row in rows}), scorer)
    units = counted(max((row.n for row in rows), default=0), unit)
    return f"{scorers}, {units}; {best((row.measure, row.scorer, row.value) for row in rows)}"


def commenters(result: CommenterResult) -> View:
    """See `postil.results.views`.

    Args:
        result: Scores of commenters.
    """
    return View(
        line=scores_summary("commenter", result.scores, counted(result.articles, "article")),
        rows=result.scores,
        fields=SystemScore.__struct_fields__,
        grids=[scores_table("commenter", result.scores, n=False), _suggestions(result), *_periods(result)],
        remarks=result.remarks,
        systems=score_table("commenter", result.scores, "article"),
    )


def _suggestions(result: CommenterResult) -> Table:
    ages = (
        Number("mean age in days", "age", digits=0, zero=True, none=DASH),
        Count("later", lambda one: one.later if one.dated else None, none=DASH),
    )
    return Table(
        rows=result.suggestions,
        columns=(
            Name("commenter", "system"),
            Count("suggestions", lambda one: result.articles - one.nothing),
            Number("mean words", "words", digits=1, zero=True, none=DASH),
            Number("distinct-1", "distinct_1", zero=True, none=DASH),
            Number("distinct-2", "distinct_2", zero=True, none=DASH),
            *(ages if any(one.dated for one in result.suggestions) else ()),
        ),
    )


def _periods(result: CommenterResult) -> list[Table]:
    """Scores by period, if there are any: one row per system and period."""
    scores = (
        Number(name, itemgetter(name), at=attrgetter("scores"), digits=4, zero=True)
        for row in result.periods[:1]
        for name in row.scores
    )
    columns = (
        Name("commenter", "system"),
        Text("period", "period"),
        Count("articles", "articles"),
        Number("days", "days", digits=0, zero=True, none=DASH),
        *scores,
    )
    return [Table(rows=result.periods, columns=columns)] if result.periods else []


def training(result: TrainingResult) -> View:
    """Show one row per dev evaluation; the best one, which became the model, is marked.

    Args:
        result: The training.
    """
    table = Table(
        key="training",
        rows=result.rows,
        columns=(
            Name("step", lambda row: f"{row.step:,}"),
            Count("epoch", lambda row: row.epoch + 1, separated=False),
            Number("loss", "loss", zero=True),
            Number("dev", "dev", zero=True),
            Figure("perplexity", lambda row: f"{row.perplexity:,.1f}"),
            Text("", lambda row: "best" if row.best else ""),
        ),
    )
    size = counted(len(result.rows), "dev evaluation")
    best = [f"; best perplexity {row.perplexity:,.1f} at step {row.step:,}" for row in result.rows if row.best]
    return View(line=size + "".join(best), rows=result.rows, grids=[table, *search_tables(result.grid)])


def loss_curves(trainings: Mapping[str, TrainingResult]) -> plots.Figure:
    """Draw the dev loss of one or several models; for a single one the training loss too.

    Args:
        trainings: Trainings by name.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    series = []
    for name, result in trainings.items():
        steps = np.array([row.step for row in result.rows], dtype=np.float64)
        series.append(Curve(f"{name}, dev", steps, np.array([row.dev for row in result.rows])))
        if len(trainings) == 1:
            series.append(Curve(f"{name}, training", steps, np.array([row.loss for row in result.rows])))
    return curves(series, xlabel="steps", ylabel="nats per token")


def draw_losses(path: Path, trainings: Mapping[str, TrainingResult]) -> None:
    """Write the picture of `loss_curves`.

    Args:
        path: The picture: ``.svg``, ``.png`` or ``.pdf``.
        trainings: Trainings by name.

    Raises:
        MissingExtra: matplotlib is not installed.
        UsageError: The file is of another kind.
    """
    save(loss_curves(trainings), path, "Cross-entropy by steps of training")


def update(result: UpdateResult) -> View:
    """Make the view of an update.

    Args:
        result: The result of an update.
    """
    sizes = [
        ("articles", result.articles, result.total_articles),
        ("comments", result.comments, result.total_comments),
    ]
    columns = (Name("", itemgetter(0)), Count("added", itemgetter(1)), Count("in the model", itemgetter(2)))
    remarks: list[str] = [f"ranker {result.ranker} kept: trained on {counted(result.ranker_articles, 'article')}"]
    if result.updated:
        remarks.append(f"{counted(result.updated, 'comment')} replaced by one with the same id")
    if result.kept_out:
        remarks.append(f"{counted(result.kept_out, 'comment')} left out: forgotten earlier")
    if result.held_out:
        comments = counted(result.held_out, "held-out comment")
        test = Setting("test", 0)
        remarks.append(
            Message("{comments} of test left out; build with {test} to add them", comments=comments, test=test)
        )
    return View(
        line=f"{counted(result.articles, 'article')} and {counted(result.comments, 'comment')} added",
        rows=[result],
        grids=[Table(key="update", rows=sizes, columns=columns)],
        remarks=remarks,
    )


def commenter_pictures(result: CommenterResult) -> Iterator[Picture]:
    """The scores of commenters by all metrics together, and by each.

    Args:
        result: The result.
    """
    return forests("Corpus scores", [IntervalRow(row.system, row.score, group=row.metric) for row in result.scores])


def ranking_pictures(result: RankingResult) -> Iterator[Picture]:
    """The means of rankers over articles by all measures together, and by each.

    Args:
        result: The result.
    """
    return forests("Means over articles", measures_forest(result.rows))


def measures_forest(rows: Iterable[RankingMeasure]) -> list[IntervalRow]:
    """The measures of rankers as rows of a forest plot.

    Args:
        rows: The measures.
    """
    return [IntervalRow(row.scorer, row.value, row.low, row.high, row.measure) for row in rows]


def training_pictures(result: TrainingResult) -> Iterator[Picture]:
    """The losses of a training.

    Args:
        result: The result.
    """
    if result.rows:
        title = "Cross-entropy by steps of training"
        yield Picture("losses", title, title, title, partial(loss_curves, {result.name or "model": result}))
