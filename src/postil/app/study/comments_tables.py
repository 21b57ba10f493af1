"""The tables of Automatic Article Commenting (Qin et al. 2018): the numbers of a study above those of the paper."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.app.readers import HUMAN
from postil.app.study.comments_options import FITTING, FITTING_PLAIN
from postil.app.study.papers import comments_paper
from postil.commenters.ranking_evaluation import distinct
from postil.errors import Undefined
from postil.records.names import HALVES, control, metric_of
from postil.records.results import Spread, StudyPart, StudyPicture, StudyResult, StudyRow, StudyTable
from postil.render.formats import counted, listed
from postil.render.numbers import number
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.app.study.comments_data import CommentsStudy
    from postil.app.study.papers import CommentsPaper
    from postil.commenters.store import Model
    from postil.records.results import (
        CorrelationResult,
        ScoreResult,
        SplitStatistics,
        StatisticsResult,
        StudyCell,
    )
    from postil.records.rows import Candidate
    from postil.records.scale import Scale

__all__ = ["Made", "comments_study", "weights_in_words"]

SPLITS: Final = ("train", "dev", "test", "all")
PRINTED: Final = "in the paper"
DRAWN: Final = "one comment per article, sampled with seed {seed} and held out from all references"
TIED: Final = "in {:,} of {:,} articles all references have equally many votes; all weigh 1 there"
KAPPAS: Final = {"kappa-unweighted-pairs": "unweighted", "kappa-quadratic-pairs": "with quadratic weights"}
"""The statistics of agreement that are shown: means over pairs of annotators."""
PEOPLE: Final = "Metrics against human ratings (Table 3)"
LENGTH: Final = "control:length"
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


@dataclass(frozen=True, kw_only=True)
class Made:
    """Results of the stages before the tables.

    Args:
        models: The commenters.
        statistics: Statistics of the corpus.
        scores: Scores of the systems.
        candidates: Texts of all systems.
        judged: Correlations with human ratings; None where there are no judgements.
    """

    models: Mapping[str, Model]
    statistics: StatisticsResult
    scores: ScoreResult
    candidates: Sequence[Candidate]
    judged: CorrelationResult | None


def weights_in_words(method: str, scale: Scale | None, *, chosen: bool = False) -> str:
    """Source of the weights of references, in words.

    Args:
        method: A weights method, or ``consensus``.
        scale: Scale of the ratings, if they are read.
        chosen: True if the user chose the method, though there may be ratings.

    >>> weights_in_words("votes", None)
    'weights of references: readers’ votes, for want of human ratings'
    """
    why = "" if chosen else ", for want of human ratings"
    if scale is not None:
        return f"weights of references: human ratings on the scale {scale} ({method})"
    if method == "votes":
        return f"weights of references: readers’ votes{why}"
    if method.startswith("consensus"):
        why = f"{why} and votes" if why else ""
        return f"weights of references: similarity to the article’s other references ({method}){why}"
    return f"weights of references: {method}"


def comments_study(study: CommentsStudy, made: Made) -> StudyResult:
    """The tables of a study.

    Args:
        study: The study.
        made: Results of the stages before.
    """
    printed, readers, options = comments_paper(), study.readers, study.options
    weights = weights_in_words(study.weights, study.scale, chosen=options.weights is not None)
    others = [name for name, model in made.models.items() if study.is_foreign(model)]
    kind, source = weights.split(": ", 1)
    settings = {
        "corpus": str(study.folder),
        "tokenizer": study.corpus.tokenizer,
        kind: source,
        "votes": study.weights == "votes" and readers.tied() and TIED.format(readers.tied(), len(readers.articles)),
        "excluded": readers.left_out and f"articles without two comments that differ: {readers.left_out:,}",
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
            *_highest(made.scores, printed),
            f"Rows “{PRINTED}”: {printed.of}. On other corpora the order compares, not the numbers.",
        ),
        parts=(
            _corpus(made.statistics, printed),
            *([_commenters(made.models)] if made.models else []),
            _systems(study, made, printed, weights),
            _people(made.judged, printed, weights) if made.judged else _unjudged(printed),
        ),
        settings=tuple((name, str(value)) for name, value in settings.items() if value),
    )


def _highest(scores: ScoreResult, printed: CommentsPaper) -> Iterator[str]:
    """The commenter with the highest score by each metric of the paper's table, readers aside."""
    best: dict[str, list[str]] = {}
    for metric in dict.fromkeys(row.metric for row in scores.scores if row.metric in printed.systems):
        rows = [row for row in scores.scores if row.metric == metric and row.system != HUMAN]
        best.setdefault(max(rows, key=lambda row: row.score).system, []).append(metric)
    if best and len({row.system for row in scores.scores}) > 2:
        said = (f"{system} by {listed(metrics)}" for system, metrics in best.items())
        yield (
            f"Of the commenters the highest score has {'; '.join(said)}. The comparison with {HUMAN} below says which "
            "differences are significant."
        )


def _corpus(result: StatisticsResult, printed: CommentsPaper) -> StudyPart:
    """Table 2, and the categories of Figure 2."""
    found = result.statistics
    columns = [name for name in SPLITS if name in found.splits]
    rows: list[StudyRow] = []
    for key, (name, digits) in STATISTICS.items():
        ours = [_statistic(found.splits[column], key) for column in columns]
        if any(value is not None for value in ours):
            theirs = [printed.statistics[key].get(column) for column in columns]
            rows += [StudyRow(name=name, cells=tuple(ours), digits=digits), _theirs(theirs, digits)]
    names, counts = list(found.all.categories), list(found.all.categories.values())
    others = counts[CATEGORIES:]
    picture = (
        StudyPicture(
            title="Articles by category",
            caption="Figure 2: articles by category, all splits together",
            names=(*names[:CATEGORIES], *([f"{len(others)} others"] if others else [])),
            counts=(*counts[:CATEGORIES], *([sum(others)] if others else [])),
            aside=int(bool(others)),
        )
        if any(counts)
        else None
    )
    table = StudyTable(key="table-2", caption="Table 2: the corpus", head=("", *columns), rows=tuple(rows))
    pictures = (picture,) if picture else ()
    return StudyPart(key="corpus", title="The corpus (Table 2)", tables=(table,), pictures=pictures)


def _statistic(split: SplitStatistics, key: str) -> float | int | None:
    if key == "grades_sd":
        return split.grades.sd
    if key == "categories":
        return len(split.categories) or None
    found: Spread | float | int | None = getattr(split, key)
    return found.mean if isinstance(found, Spread) else found


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
    cells: dict[str, dict[str, float]] = {}
    for row in made.scores.scores:
        cells.setdefault(row.metric, {})[row.system] = row.score
    systems = list(dict.fromkeys(row.system for row in made.scores.scores))
    rows: list[StudyRow] = []
    for metric, by_system in cells.items():
        rows.append(StudyRow(name=_short(metric), cells=tuple(by_system.get(system) for system in systems)))
        rows += _printed_row(printed, _named(metric), systems)
    if made.judged is not None:
        means = {row.system: row for row in made.judged.systems}
        grades = (means[system].grade if system in means else None for system in systems)
        rows.append(StudyRow(name="mean human rating", cells=tuple(grades), kind="people"))
        rows += _printed_row(printed, "people", systems)
        n = (means[system].n if system in means else None for system in systems)
        rows.append(StudyRow(name="… number of texts", cells=tuple(n), kind="people"))
    rows += _of_texts(study.corpus.tokenizer, made.candidates, systems)
    n_articles = len(study.readers.articles)
    table = StudyTable(
        key="table-7",
        caption=f"Table 7: the best suggestion of each system, over {n_articles:,} articles; {weights}",
        head=("", *systems),
        rows=tuple(rows),
    )
    words = f"“The paper’s reading” is {FITTING}: with weights grade / 5 it fits the paper’s own tables best."
    return StudyPart(key="systems", title="The systems (Table 7)", words=(words,), tables=(table,))


def _named(metric: str) -> str:
    """The paper's name of a metric."""
    return {FITTING: "w-meteor", FITTING_PLAIN: "meteor"}.get(metric, metric)


def _short(metric: str) -> str:
    """Label of a metric in a table."""
    named = _named(metric)
    return metric if named == metric else f"{named}, the paper’s reading"


def _printed_row(printed: CommentsPaper, name: str, columns: Sequence[str]) -> list[StudyRow]:
    values = printed.systems.get(name, {})
    return [_theirs([values.get(column) for column in columns], 3)] if any(c in values for c in columns) else []


def _theirs(cells: Sequence[StudyCell], digits: int) -> StudyRow:
    return StudyRow(name=PRINTED, cells=tuple(cells), kind="control", digits=digits)


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


def _unjudged(printed: CommentsPaper) -> StudyPart:
    """Table 3 of the paper alone."""
    words = (
        "These suggestions have no human ratings. Have candidates.jsonl rated (postil annotate) and run the same "
        "command with --judgements FILE; finished stages are not repeated. Below are the numbers of the paper."
    )
    rows = (
        StudyRow(name=name, cells=(of["spearman"], of["pearson"]), digits=4)
        for name, of in printed.correlations.items()
    )
    head = ("metric", "Spearman", "Pearson")
    table = StudyTable(key="table-3", caption=f"Table 3, {PRINTED}", head=head, rows=tuple(rows))
    return StudyPart(key="people", title=PEOPLE, words=(words,), tables=(table,))


def _people(judged: CorrelationResult, printed: CommentsPaper, weights: str) -> StudyPart:
    """Table 3: the correlation of each metric with human ratings, its controls below it."""
    found: dict[str, dict[str, StudyCell]] = {}
    for row in [*judged.correlations, *judged.human.rows]:
        found.setdefault(row.metric, {})[row.coefficient] = (row.value, row.low, row.high)
    rows = []
    for metric, ours in found.items():
        if metric.startswith(("control:", "human:")):
            continue
        theirs = printed.correlations.get(_named(metric), {})
        rows.append(StudyRow(name=_short(metric), cells=_beside(ours, theirs)))
        rows += [
            StudyRow(name=control(name), cells=_beside(of, {}), kind="control")
            for name, of in found.items()
            if metric_of(name) == metric
        ]
    if LENGTH in found:
        rows.append(StudyRow(name=control(LENGTH), cells=_beside(found[LENGTH], {})))
    if HALVES in found:
        cells = _beside(found[HALVES], printed.correlations["human"])
        rows.append(StudyRow(name="human: split-half correlation", cells=cells, kind="people"))
    table = StudyTable(
        key="table-3",
        caption="Table 3: correlation with human ratings, 95 % confidence intervals over articles; controls indented; "
        f"{weights}",
        head=("metric", "Spearman", f"{PRINTED}", "Pearson", f"{PRINTED} "),
        rows=tuple(rows),
    )
    return StudyPart(key="people", title=PEOPLE, words=tuple(_of_agreement(judged, printed)), tables=(table,))


def _beside(ours: Mapping[str, StudyCell], theirs: Mapping[str, float]) -> tuple[StudyCell, ...]:
    return tuple(cell for each in ("spearman", "pearson") for cell in (ours.get(each), theirs.get(each)))


def _of_agreement(judged: CorrelationResult, printed: CommentsPaper) -> Iterator[str]:
    estimates = judged.agreement.estimates if judged.agreement else {}
    kappas = [f"{number(estimates[name].value)} {said}" for name, said in KAPPAS.items() if name in estimates]
    if kappas:
        said = f"{PRINTED} {printed.agreement.kappa}, {printed.agreement.what}"
        yield f"Inter-annotator agreement, Cohen’s kappa: {listed(kappas)}; {said}."
    if judged.human.ceiling is not None:
        ceiling = number(judged.human.ceiling)
        yield f"The reliability ceiling, the expected upper bound of Pearson’s coefficient, is {ceiling} here."
    yield (
        "The chapter Metrics against human ratings has Figure 1 (scores against ratings), Tables 5 and 6 (the texts on "
        "which METEOR and BLEU-1, and W-METEOR and METEOR, differ most) and tests of all differences."
    )
