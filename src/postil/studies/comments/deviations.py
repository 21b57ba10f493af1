"""Deviations of ``--preset paper`` from Automatic Article Commenting (Qin et al. 2018), and values chosen on dev.

The list is made from what was run: the options that the corpus records, all that its build left out, the options of
each model, of the suggestions and of the study, and the parameters of each metric. An option that no row is about has
one by itself, so that a new one cannot be missing.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from postil.campaigns.rubric import Rubric
from postil.comments.result import HUMAN, GridSearch, GridValue, value_text
from postil.data.explain import counted
from postil.data.groups import grouped
from postil.errors import PostilError
from postil.messages import Blank, Message, Setting
from postil.metrics.metric_set import parse_all
from postil.options import changed_settings
from postil.results.formats import listed
from postil.studies.comments.people import base
from postil.studies.comments.study import CommentsStudy, suggesting
from postil.studies.options import CommentsOptions
from postil.studies.papers import Deviation, comments_paper, deviations
from postil.studies.result import StudyPart, StudyRow, StudyTable
from postil.studies.stages import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from postil.corpus.result import CorpusMetadata
    from postil.data.model_folders import Model
    from postil.data.rows import Comment

    Row = tuple[str, str, str, str]
    Options = Mapping[str, Any]

__all__ = ["chosen_part", "codebook", "corpus_rows", "deviations_part", "rating_counts"]

LONG_COMMENTS: Final = {
    "drop": "of more than {words} words: dropped in all splits (section 5)",
    "truncate": "all splits: the first {words} words are used (C.1); texts stay whole",
    "truncate-train": "train, dev: the first {words} words are used (C.1); test: dropped (section 5)",
    "keep": "kept",
}

HTML: Final = {"clean": "cleaned: texts without tags and entities", "keep": "kept"}
USER_IDS: Final = {
    "drop": "dropped; annotators have pseudonyms",
    "hash": "hashed",
    "keep": "kept",
}
SHOWN: Final = frozenset(
    {
        *("source", "license", "tokenizer", "dates", "min_content_words", "min_comments", "max_comment_words"),
        *("long_comments", "dev", "test", "split_by", "test_min_comments", "test_min_words", "test_min_upvotes"),
        *("references_per_article", "sample_references_from", "dedup_threshold", "vocab_size", "html", "user_ids"),
        *("mask", "seed"),
    }
)
"""Options of a corpus that rows of their own show; source and license say nothing of the experiment."""
PLACES: Final = frozenset({"jobs", "engine", "address", "device", "tensorboard"})
"""Options that say where something is computed, and change no number."""
BEAM: Final = "most matches, then fewest chunks, by the beam search of METEOR 1.5"

ALL: Final = Message("all that the data have; corpus build {dates} chooses", dates=Setting("dates", Blank("FROM..TO")))
"""The dates of a corpus that are not limited."""

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
    return deviations(
        chain(
            corpus_rows(study.folder.name, study.corpus.metadata, networks=any(map(_has_network, models.values()))),
            _of_people(study, weights),
            _of_systems(study, models, trained, rows["systems"]) if trained else (),
            _of_models(study, models),
            _of_metrics(study, rows["metrics"]),
            _of_study(study),
        )
    )


def _has_network(model: Model) -> bool:
    """True if a commenter is a network, or ranks by one."""
    options = model.metadata.get("options", {})
    return "network" in options or options.get("ranker", "tf-idf") != "tf-idf"


def corpus_rows(name: str, metadata: CorpusMetadata, *, networks: bool) -> Iterator[Row]:
    """The rows about a corpus: every option of its build, and all that the build left out or changed.

    Args:
        name: Name of the corpus.
        metadata: Its metadata.
        networks: True if a commenter has a network.
    """
    made, splits = metadata.options, {each.split for each in metadata.inputs}
    given = [split for split in ("dev", "test") if split in splits]
    yield "corpus", "Tencent News, 198,112 articles", name, "section 3"
    yield "dates of the articles", "April to August 2017", str(made["dates"]) if "dates" in made else ALL, "section 3"
    yield "words", "Jieba", str(made["tokenizer"]), "section 3"
    whole = f"; {listed(given)} as given" if given else ""
    yield (
        "articles at least",
        "30 words of content, 20 comments",
        f"{made['min_content_words']} words of content, {made['min_comments']} comments{whole}",
        "section 3",
    )
    chosen = (
        f"{made['test_min_comments']} comments of at least {made['test_min_words']} words, "
        f"{made['test_min_upvotes']} upvotes in all"
    )
    yield (
        "test articles at least",
        "30 comments of more than 5 words, more than 200 upvotes in all",
        "as given" if "test" in given else chosen,
        "section 3",
    )
    yield (
        "sizes of dev and test",
        "5,000 and 1,610 articles; test at random, of dev nothing is said",
        (
            f"dev {made['dev']}, test {made['test']}; split by {made.get('split_by', 'random')}, seed {made['seed']}"
            f"{whole}"
        ),
        "section 3",
    )
    sampled = made["references_per_article"] and "test" not in given
    pool = "" if made["sample_references_from"] == "all" else f" from the {made['sample_references_from']} ones"
    references = f"{made['references_per_article']}, sampled{pool}" if sampled else "all comments"
    yield "references per article", "27, sampled", references, "section 3"
    long = LONG_COMMENTS[str(made["long_comments"])].format(words=made["max_comment_words"])
    long += f"{whole}; the networks read 50 words" if networks else whole
    yield "comments of more than 50 words", "discarded (section 5); truncated to 50 words (C.1)", long, "section 5, C.1"
    words = f"{metadata.words:,} words of the corpus"
    if networks:
        words += f"; of the networks at most {made['vocab_size']:,}, special tokens included"
    yield "vocabulary", "30,000 words", words, "section 5, C.1"
    similar = made["dedup_threshold"]
    near = (
        f"of articles whose title and content have a Jaccard similarity of {similar} or more none are in two splits, "
        "and those like a test article are left out"
    )
    yield "near duplicates", "not said", near if similar else "not looked for", "docs/corpus.md"
    yield "HTML in the texts", "not said", HTML.get(str(made.get("html")), "not recorded"), "docs/corpus.md"
    mask = made.get("mask", ())
    masked = f"; masked in the texts: {listed(mask)}" if isinstance(mask, tuple | list) and mask else ""
    yield "names of people", "not said", f"{USER_IDS[str(made['user_ids'])]}{masked}", "docs/corpus.md"
    seen = "; ".join(f"{what} {number:,}" for what, number in metadata.seen.items())
    yield (
        "left out or changed by the build",
        "short articles, articles of few comments, comments of more than 50 words",
        seen or "nothing",
        "metadata.json",
    )
    for option, value in made.items():
        if option not in SHOWN:
            yield Message("corpus build {option}", option=Setting(option)), "not said", str(value), "metadata.json"


def _of_people(study: CommentsStudy, weights: str) -> Iterator[Row]:
    readers, options = study.readers, study.options
    yield (
        "weights of references",
        "grades of two annotators each, in [0, 1]; how is not said",
        weights,
        "B",
    )
    said = "a real comment that is no reference"
    human = study.options.candidates if HUMAN in study.given else f"{said}, one of {len(readers.articles):,} draws"
    yield HUMAN, f"{said}, drawn at random", str(human), "section 5"
    yield "ratings of the suggestions", "two of five annotators each", options.judgements or "none", "section 5"
    counts = rating_counts([one for article in readers.articles for one in article.comments])
    if counts or options.judgements:
        here = f"{counts}; {options.references or 'those of the corpus'}" if counts else "none"
        yield "ratings of the references", "two of five annotators each", here, "section 3"
        yield "rubric of the ratings", *_rubrics(study, rated=bool(counts)), "section 3, A.1"


def rating_counts(comments: Sequence[Comment]) -> str:
    """The numbers of ratings, and of grades without ratings, in words; empty without any.

    Args:
        comments: The references of all articles.
    """
    ratings = [len(one.ratings) for one in comments if one.ratings]
    alone = sum(not one.ratings and one.grade is not None for one in comments)
    said = [f"{counted(sum(ratings), 'rating')} of {counted(len(ratings), 'reference')}"] if ratings else []
    return listed(said + [f"{counted(alone, 'reference')} with a grade alone"] * (alone > 0))


def _rubrics(study: CommentsStudy, *, rated: bool) -> tuple[str, str]:
    """The rubric of the paper, and those of the files of ratings."""
    files = {"references": study.options.references if rated else None, "suggestions": study.options.judgements}
    found = {what: _rubric(file) for what, file in files.items() if file}
    if rated and not study.options.references:
        found["references"] = "not known, as the ratings are in the corpus"
    return "criteria of grades from 1 to 5 with examples of each, in Chinese", _by_value(found)


def codebook(ratings: str) -> Path:
    """The codebook that `postil annotate export` writes beside ratings.

    Args:
        ratings: A file of ratings.
    """
    return Path(ratings).parent / "codebook.json"


def _rubric(ratings: str) -> str:
    """The rubric that ratings were given by, in words."""
    file = codebook(ratings)
    try:
        rubric = msgspec.convert(msgspec.json.decode(file.read_bytes())["rubric"], Rubric)
        bundled = rubric == Rubric.default(rubric.lang)
    except (OSError, ValueError, LookupError, TypeError, PostilError):
        return f"not known: {file} is no codebook of postil annotate export"
    if bundled:
        return f"that of postil annotate ({rubric.lang}), which paraphrases the paper’s criteria"
    return f"“{rubric.name}” ({rubric.lang}), grades from {rubric.low} to {rubric.high}"


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


def _of_models(study: CommentsStudy, models: Mapping[str, Model]) -> Iterator[Row]:
    """Every option of each model and of its suggestions."""
    if models:
        found = {
            name: _in_words(_leaves(model.metadata.get("options", {}))) or "none" for name, model in models.items()
        }
        yield "all options of the commenters", "hidden size 256, Adam; most are not said", _by_value(found), "C.1"
        asked = {name: _in_words(_leaves(asdict(suggesting(study, name)))) for name in models}
        yield "all options of the suggestions", "not said", _by_value(asked), "docs/comment.md"
    if study.options.models:
        given = "; ".join(f"{name}: {folder}" for name, folder in study.options.models.items())
        yield "commenters that were trained elsewhere", "none", given, Message("{model}", model=Setting("models"))


def _leaves(options: Options, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Names and values of options, those of groups with the name of the group before."""
    for name, value in options.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}.")
        elif name not in PLACES:
            yield f"{prefix}{name}", value


def _in_words(options: Iterable[tuple[str, object]]) -> str:
    return ", ".join(f"{name} {_option(value)}" for name, value in options)


def _option(value: object) -> str:
    if value in (None, (), []):
        return "none"
    return listed([str(one) for one in value]) if isinstance(value, list | tuple) else str(value)


def _of_metrics(study: CommentsStudy, rows: Sequence[Deviation]) -> Iterator[Row]:
    """Choices of the metrics, and every parameter of each reading."""
    metrics = parse_all(study.options.specs)
    fewest = [spec for spec, metric in metrics.items() if "alignment=2005" in metric.signature]
    others = [spec for spec in metrics if base(spec).endswith("meteor") and spec not in fewest]
    said = [f"{listed(fewest)}: of the alignments with most matches one with the fewest crossings"] if fewest else []
    said += [f"{'others' if fewest else 'all'}: {BEAM}"] if others else []
    values = {"METEOR: alignment": "; ".join(said)}
    for each in rows:
        yield each.choice, each.paper, values.get(each.choice, each.here), each.source
    for name, signatures in grouped((base(spec), metric.signature) for spec, metric in metrics.items()).items():
        yield f"all parameters of {name}", "see above; others are not said", "; ".join(signatures), "docs/metrics.md"


def _of_study(study: CommentsStudy) -> Iterator[Row]:
    """Options of tests and intervals, and all that the command was given."""
    options = study.options
    yield (
        "intervals and tests",
        "all p < .01; none is named",
        (
            f"{options.resamples:,} resamples, {options.permutations:,} permutations, seed {options.seed}, "
            f"{options.draws:,} draws of controls"
        ),
        "Table 3",
    )
    command = " ".join(words_of(changed_settings(replace(options, stage=None)), CommentsOptions))
    yield "options given to the study", "", command, "this command"


def _by_value(values: Mapping[str, str]) -> str:
    """The value of all commenters, or each value with the names of its commenters."""
    names = grouped((value, name) for name, value in values.items())
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
