"""The first stages of `postil study comments`: from the corpus to the comments of all systems on its test articles."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from postil.app.comment import CommentOptions, comment_articles
from postil.app.corpus.stats import StatisticsOptions, count_corpus
from postil.app.progress import progress
from postil.app.readers import HUMAN
from postil.app.study.stages import Stage, flags, write_text
from postil.app.training.generators import train_commenter
from postil.app.training.options import (
    GeneratorTraining,
    GeneratorTrainOptions,
    RelevanceTraining,
    RetrieverTrainOptions,
)
from postil.app.training.retrievers import train_retriever
from postil.commenters import retrieval
from postil.commenters.nn.options import GeneratorOptions, TrainingOptions
from postil.records.atomic_file import AtomicFile
from postil.records.results import SuggestionsResult, to_json
from postil.records.row_files import read, write
from postil.records.rows import Candidate
from postil.records.suggestions import Suggestions
from postil.render.views import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.app.study.comments_data import CommentsStudy
    from postil.app.study.comments_options import CommentsOptions

Training = TypeVar("Training", bound=TrainingOptions)

__all__ = ["candidates", "references", "statistics", "suggestions", "training"]


def statistics(study: CommentsStudy) -> Stage:
    """Compute the statistics of the corpus."""
    target, scale = study.out / "statistics.json", study.scale

    def work() -> None:
        found = count_corpus(study.folder, StatisticsOptions(scale=scale, jobs=study.options.jobs), study.on_message)
        write_text(target, to_json(found))

    return Stage(
        name="statistics",
        outputs=[target],
        inputs=[study.folder],
        request={"scale": str(scale)},
        command=["corpus", "stats", study.folder, "--format", "json", *flags({"scale": scale})],
        printed=True,
        work=work,
    )


def _training(default: Training, options: CommentsOptions) -> Training:
    """Options of a training with the epochs and the device of the study."""
    given = default if options.epochs is None else replace(default, epochs=options.epochs)
    return given if options.device is None else replace(given, device=options.device)


def training(study: CommentsStudy, name: str) -> Stage:
    """Train a commenter."""
    options, target = study.options, study.models[name]
    epochs = {"epochs": options.epochs} if options.epochs is not None else {}
    device = {"device": options.device} if options.device is not None else {}
    work: Callable[[], object]
    if name in retrieval.KINDS:
        if options.ranker == "tf-idf":  # it has no network
            epochs, device = {}, {}
        words = flags({"ranker": options.ranker, **epochs})
        training = _training(RelevanceTraining(), options)
        if options.ranker == "tf-idf":
            training = RelevanceTraining()
        retriever = RetrieverTrainOptions(
            ranker=options.ranker, training=training, seed=options.seed, jobs=options.jobs
        )
        work = partial(
            train_retriever, name, study.folder, target, retriever, on_message=study.on_message, on_progress=progress
        )
    else:
        words = flags({"softmax": options.softmax, **epochs})
        network = GeneratorOptions(loss=options.softmax)  # type: ignore[arg-type]  # checked inside
        generator = GeneratorTrainOptions(
            network=network, training=_training(GeneratorTraining(), options), seed=options.seed
        )
        work = partial(
            train_commenter, name, study.folder, target, generator, on_message=study.on_message, on_progress=progress
        )
    return Stage(
        name=name,
        outputs=[target],
        inputs=[study.folder],
        request={"train": [str(word) for word in words], "seed": options.seed},
        command=[
            "train",
            name,
            "--corpus",
            study.folder,
            "--out",
            target,
            *words,
            *flags({**device, "seed": options.seed}),
        ],
        work=work,
    )


def references(study: CommentsStudy) -> Stage:
    """Write the test articles without comments, their references, and one held-out comment of each."""
    articles, references, *humans = (study.out / f"{name}.jsonl" for name in ("articles", "references", *study.drawn))
    readers = study.readers

    def work() -> None:
        write(articles, (msgspec.structs.replace(article, comments=()) for article in readers.articles))
        write(references, (row for article in readers.articles for row in article.references()))
        for target in humans:
            drawn = zip(readers.articles, readers.humans, strict=True)
            write(target, (Candidate(article.id, HUMAN, text) for article, text in drawn))

    return Stage(
        name="references",
        outputs=[articles, references, *humans],
        inputs=[study.folder],
        request={"seed": study.options.seed, "drawn": list(study.drawn)},
        command=study.command("references"),
        work=work,
    )


def suggestions(study: CommentsStudy, name: str) -> Stage:
    """Suggest a comment for each article, by one commenter."""
    target, articles, model = _suggested(study, name), study.out / "articles.jsonl", study.models[name]

    def work() -> None:
        with AtomicFile(str(target)) as stream:
            for row in comment_articles(str(articles), str(model), CommentOptions(k=1, jobs=study.options.jobs)):
                stream.write(show("jsonl", SuggestionsResult(suggestions=(row,))).encode())

    return Stage(
        name=f"suggestions-{name}",
        outputs=[target],
        inputs=[articles, model],
        request={},
        command=["comment", articles, "--model", model, "-k", 1, "--format", "jsonl"],
        printed=True,
        work=work,
    )


def candidates(study: CommentsStudy) -> Stage:
    """Merge the comments of all systems into one file; an empty text where a system has none."""
    target, humans = study.out / "candidates.jsonl", [study.out / f"{name}.jsonl" for name in study.drawn]
    sources = {name: _suggested(study, name) for name in study.models}
    elsewhere = [Path(study.options.candidates)] if study.options.candidates else []

    def work() -> None:
        rows = [
            Candidate(row.article, name, row.suggestions[0].text if row.suggestions else "")
            for name, source in sources.items()
            for row in read(source, Suggestions)
        ]
        rows += [one for said in study.given.values() for one in said]
        rows += [one for each in humans for one in read(each, Candidate)]
        rows.sort(key=lambda one: one.system == HUMAN)  # readers come last
        write(target, rows)

    return Stage(
        name="candidates",
        outputs=[target],
        inputs=[*sources.values(), *humans, *elsewhere],
        request={"systems": list(sources)},
        command=study.command("candidates"),
        work=work,
    )


def _suggested(study: CommentsStudy, name: str) -> Path:
    return study.out / "suggestions" / f"{name}.jsonl"
