"""Deviations of ``--preset paper`` from Automatic Article Commenting (Qin et al. 2018), and values chosen on dev."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import msgspec

from postil.app.readers import HUMAN
from postil.app.study.comments_people import base
from postil.app.study.papers import comments_paper, deviations
from postil.records.results import GridSearch, StudyPart, StudyRow, StudyTable, value_text
from postil.render.formats import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.app.study.comments_data import CommentsStudy
    from postil.app.study.papers import Deviation
    from postil.commenters.store import Model
    from postil.records.results import GridValue

    Row = tuple[str, str, str, str]
    Options = Mapping[str, Any]

__all__ = ["chosen_part", "deviations_part"]

LONG_COMMENTS: Final = {
    "drop": "of more than {words} words: dropped in all splits (section 5)",
    "truncate": "all splits: the first {words} words are used (C.1); texts stay whole",
    "truncate-train": "train, dev: the first {words} words are used (C.1); test: dropped (section 5)",
    "keep": "kept",
}

RANKING: Final = {
    "relevance": "the relevance network alone",
    "tf-idf": "the cosine of TF-IDF vectors",
    "both": "the sum of relevance network and TF-IDF cosine",
}
SOFTMAX: Final = {
    "sampled": "in training estimated from 2,000 sampled words where the vocabulary has more; full on dev",
    "full": "full",
}


def deviations_part(study: CommentsStudy, models: Mapping[str, Model], weights: str) -> StudyPart:
    """The table of deviations: of the choices that concern the systems and metrics of this study.

    Args:
        study: The study.
        models: Its commenters.
        weights: Source of the references' weights, in words.
    """
    trained = {
        name: model.metadata.get("options", {}) for name, model in models.items() if name not in study.options.models
    }
    concerned = {*trained, *map(base, study.options.specs)}
    concerned |= {"relevance" for options in trained.values() if options.get("ranker", "tf-idf") != "tf-idf"}
    concerned |= {"judgements"} if study.options.judgements else set()
    static = comments_paper().deviations
    rows = {key: [each for each in static[key] if not each.of or concerned.intersection(each.of)] for key in static}
    systems = _of_systems(study, models, trained, rows["systems"]) if trained else ()
    return deviations(chain(_of_corpus(study, weights), systems, (each.row for each in rows["metrics"])))


def _of_corpus(study: CommentsStudy, weights: str) -> Iterator[Row]:
    metadata, readers = study.corpus.metadata, study.readers
    made, splits = metadata.options, {each.split for each in metadata.inputs}
    given = [split for split in ("dev", "test") if split in splits]
    yield "corpus", "Tencent News, April to August 2017, 198,112 articles", study.folder.name, "section 3"
    yield "words", "Jieba", study.corpus.tokenizer, "section 3"
    whole = f"; {listed(given)} as given" if given else ""
    least = f"{made['min_content_words']} words of content, {made['min_comments']} comments{whole}"
    yield "articles at least", "30 words of content, 20 comments", least, "section 3"
    said = "30 comments of more than 5 words, more than 200 upvotes in all"
    chosen = (
        f"{made['test_min_comments']} comments of at least {made['test_min_words']} words, "
        f"{made['test_min_upvotes']} upvotes in all"
    )
    yield "test articles at least", said, "as given" if "test" in given else chosen, "section 3"
    sampled = made["references_per_article"] and "test" not in given
    references = f"{made['references_per_article']}, sampled" if sampled else "all comments"
    yield "references per article", "27, sampled", references, "section 3"
    long = LONG_COMMENTS[str(made["long_comments"])].format(words=made["max_comment_words"])
    long += f"{whole}; the networks read 50 words"
    yield "comments of more than 50 words", "discarded (section 5); truncated to 50 words (C.1)", long, "section 5, C.1"
    words = f"{metadata.words:,} words of the corpus; of the networks at most 30,000, special tokens included"
    yield "vocabulary", "30,000 words", words, "section 5, C.1"
    yield (
        "weights of references",
        "grades of two annotators each, in [0, 1]; how is not said",
        weights.partition(": ")[2],
        "B",
    )
    said = "a real comment that is no reference"
    human = study.options.candidates if HUMAN in study.given else f"{said}, one of {len(readers.articles):,} draws"
    yield HUMAN, f"{said}, drawn at random", str(human), "section 5"
    judged = study.options.judgements or "none"
    yield "ratings of the suggestions", "two of five annotators each", judged, "section 5"


def _of_systems(
    study: CommentsStudy, models: Mapping[str, Model], trained: Mapping[str, Options], rows: Sequence[Deviation]
) -> Iterator[Row]:
    grids = [name for name in trained if "grid" in models[name].metadata]
    networks = {name: each["network"] | each["training"] for name, each in trained.items() if "network" in each}
    losses = {name: SOFTMAX[loss] for name, each in networks.items() if (loss := each["loss"]) in SOFTMAX}
    values = {
        "softmax": _by_value(losses),
        "grid": f"chosen on dev from a grid; see the table of {listed(grids)}" if grids else "no grid",
    }
    for key in ("batch", "dropout", "epochs"):
        values[key] = _by_value({name: str(each[key]) for name, each in networks.items()})
    rankers = {name: RANKING[options["ranker"]] for name, options in trained.items() if "ranker" in options}
    if rankers:
        yield "ranking of the candidates", RANKING["relevance"], _by_value(rankers), "section 5, C.1"
    for each in rows:
        yield each.choice, each.paper, each.here.format_map(values), each.source
    seeds = study.options.seeds
    yield "seeds", "not said", f"{seeds}; means and intervals over seeds and test articles" if seeds > 1 else "1", ""


def _by_value(values: Mapping[str, str]) -> str:
    """The value of all commenters, or each value with the names of its commenters."""
    names: dict[str, list[str]] = {}
    for name, value in values.items():
        names.setdefault(value, []).append(name)
    return next(iter(names), "") if len(names) < 2 else "; ".join(f"{one} ({listed(of)})" for one, of in names.items())


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
    return None if value is None else f"{value:g}" if isinstance(value, float) else value_text(value)
