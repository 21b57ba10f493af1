"""Deviations of ``--preset paper`` from Automatic Article Commenting (Qin et al. 2018), and values chosen on dev."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

import msgspec

from postil.app.study.papers import comments_paper, deviations
from postil.records.results import GridSearch, StudyPart, StudyRow, StudyTable
from postil.render.formats import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.app.study.comments_data import CommentsStudy
    from postil.app.study.papers import Deviation
    from postil.commenters.store import Model
    from postil.records.results import GridValue

    Row = tuple[str, str, str, str]

__all__ = ["chosen_part", "deviations_part"]

LONG_COMMENTS: Final = {
    "drop": "dropped in all splits, as in section 5",
    "truncate": "truncated to their first {words} words for the networks in all splits, as in C.1; texts stay whole",
    "truncate-train": "train, dev: truncated to {words} words for the networks (C.1); test: dropped (section 5)",
    "keep": "kept; the networks read {words} words, as in C.1",
}


def deviations_part(study: CommentsStudy, models: Mapping[str, Model], weights: str) -> StudyPart:
    """The table of deviations.

    Args:
        study: The study.
        models: Its commenters.
        weights: Source of the references' weights, in words.
    """
    static = comments_paper().deviations
    metrics = (each.row for each in static["metrics"])
    return deviations(chain(_of_corpus(study, weights), _of_systems(study, models, static["systems"]), metrics))


def _of_corpus(study: CommentsStudy, weights: str) -> Iterator[Row]:
    made, readers = study.corpus.metadata.options, study.readers
    yield "corpus", "Tencent News, April to August 2017, 198,112 articles", f"{study.folder.name}", "section 3"
    yield "words", "Jieba", study.corpus.tokenizer, "section 3"
    least = f"{made['min_content_words']} words of content, {made['min_comments']} comments"
    yield "articles at least", "30 words of content, 20 comments", least, "section 3"
    chosen = (
        f"{made['test_min_comments']} comments of at least {made['test_min_words']} words, "
        f"{made['test_min_upvotes']} upvotes"
    )
    yield (
        "test articles at least",
        "30 comments of more than 5 words, more than 200 upvotes in all",
        chosen,
        "section 3",
    )
    drawn = made["references_per_article"]
    yield "references per article", "27, sampled", f"{drawn}, sampled" if drawn else "all comments", "section 3"
    long = LONG_COMMENTS[str(made["long_comments"])].format(words=made["max_comment_words"])
    yield "comments of more than 50 words", "discarded (section 5); truncated to 50 words (C.1)", long, "section 5, C.1"
    yield "vocabulary", "30,000 words", "30,000 words, special tokens included", "section 5, C.1"
    yield "weights of references", "grades of two annotators each, in [0, 1]; how is not said", weights, "B"
    said = "a real comment that is no reference"
    yield "human", f"{said}, drawn at random", f"{said}, one of {len(readers.articles):,} draws", "section 5"
    judged = study.options.judgements or "none"
    yield "ratings of the suggestions", "two of five annotators each", judged, "section 5"


def _of_systems(study: CommentsStudy, models: Mapping[str, Model], rows: Sequence[Deviation]) -> Iterator[Row]:
    trained = {name: model.metadata for name, model in models.items() if name not in study.options.models}
    if not trained:
        return
    grids = [name for name, metadata in trained.items() if "grid" in metadata]
    values = {
        "softmax": "estimated from 2,000 sampled words in training, full on dev and in decoding"
        if study.options.softmax in (None, "sampled")
        else "full",
        "grid": f"chosen on dev from a grid; see the table of {listed(grids)}" if grids else "no grid",
        "batch": "64 pairs (generators), 256 (relevance)",
        "epochs": listed(list(dict.fromkeys(str(each["options"]["training"]["epochs"]) for each in trained.values()))),
    }
    ranker = study.options.ranker or "relevance"
    yield "ranking of the candidates", "the relevance network alone", ranker, "section 5, C.1"
    for each in rows:
        yield each.choice, each.paper, each.here.format_map(values), each.source
    seeds = study.options.seeds
    yield "seeds", "not said", f"{seeds}; means and intervals over seeds and test articles" if seeds > 1 else "1", ""


def chosen_part(models: Mapping[str, Model]) -> StudyPart | None:
    """The combinations that were tried on dev; None where there was no grid.

    Args:
        models: The commenters.
    """
    searches = {
        name: msgspec.convert(model.metadata["grid"], GridSearch)
        for name, model in models.items()
        if "grid" in model.metadata
    }
    if not searches:
        return None
    options = list(dict.fromkeys(name for search in searches.values() for name in search.points[0].values))
    rows = [
        StudyRow(
            name=name,
            cells=(
                *(_value(point.values.get(option)) for option in options),
                point.steps,
                point.dev if search.measure == "loss" else None,
                point.dev if search.measure == "mrr" else None,
                "chosen" if point.chosen else None,
            ),
        )
        for name, search in searches.items()
        for point in search.points
    ]
    table = StudyTable(
        key="grid",
        caption="Combinations tried on dev: generators by loss in nats per token (lower is better), retrievers by mean "
        "reciprocal rank (higher is better)",
        head=("commenter", *options, "steps", "dev loss", "dev MRR", ""),
        rows=tuple(rows),
    )
    return StudyPart(key="grid", title="Values chosen on dev", tables=(table,))


def _value(value: GridValue | None) -> str | None:
    return None if value is None else f"{value:g}" if isinstance(value, float) else str(value)
