"""The stages of `postil study comments`, from statistics and trainings to tables and the page."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from postil.comments.calls import CommentOptions, comment_articles
from postil.comments.readers import HUMAN
from postil.comments.result import SuggestionsResult
from postil.comments.store import Model
from postil.comments.training.generators import train_commenter
from postil.comments.training.options import RetrieverTrainOptions
from postil.comments.training.retrievers import train_retriever
from postil.comparison.calls import CompareOptions, compare_rows
from postil.comparison.result import Comparison
from postil.corpus.result import StatisticsResult
from postil.corpus.stats import StatisticsOptions, count_corpus
from postil.correlation.calls import correlate_files
from postil.correlation.options import CorrelateOptions
from postil.correlation.result import CorrelationResult
from postil.data.atomic_file import AtomicFile
from postil.data.progress import progress
from postil.data.row_files import read, write
from postil.data.rows import Candidate
from postil.data.suggestions import Suggestions
from postil.messages import Command
from postil.meta.rated import open_score_files
from postil.metrics.metric_set import parse_all
from postil.metrics.result import ScoreResult
from postil.metrics.ungraded import similarity_of
from postil.options import changed_settings
from postil.page.report import write_report
from postil.results.base import to_json
from postil.results.result_files import read_results
from postil.results.views import show
from postil.scoring.files import score_files
from postil.scoring.options import ScoreOptions
from postil.studies.comments_deviations import codebook
from postil.studies.comments_examples import pairs
from postil.studies.comments_seeds import scores_over_seeds
from postil.studies.comments_systems import plan, suggesting
from postil.studies.comments_tables import Made, comments_study
from postil.studies.result import StudyResult
from postil.studies.stages import Stage, as_line, read_result, settings_of, words_of, write_study, write_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.meta.coefficients import Measure
    from postil.studies.comments_data import CommentsStudy
    from postil.studies.comments_options import CommentsOptions

__all__ = [
    "candidates",
    "comparison",
    "correlations",
    "page",
    "references",
    "scores",
    "statistics",
    "suggestions",
    "tables",
    "training",
]

COEFFICIENTS: Final[tuple[Measure, ...]] = ("spearman", "pearson", "kendall-b")


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
        command=as_line(Command("corpus stats", (str(study.folder),), settings_of({"format": "json", "scale": scale}))),
        printed=True,
        work=work,
    )


def training(study: CommentsStudy, name: str) -> Stage:
    """Train a commenter."""
    target, made = study.models[name], plan(study, name)
    grid, device = made.grid, study.options.device
    work: Callable[..., object]
    if isinstance(made.options, RetrieverTrainOptions):
        work = partial(train_retriever, name, study.folder, target, made.options, grid=grid)
        device = None if made.options.ranker == "tf-idf" else device
    else:
        work = partial(train_commenter, name, study.folder, target, made.options, grid=grid)
    settings = settings_of({"corpus": study.folder, "out": target})
    settings += (*made.settings, *(grid.settings() if grid else ()))
    settings += settings_of({"device": device, "seed": study.seed})
    first = study.shared / "models" / name
    return Stage(
        name=study.stage(name),
        outputs=[target],
        inputs=[study.folder, *([] if study.is_first else [first])],
        request={"train": made.words, "seed": study.seed},
        command=as_line(Command(f"train {name}", settings=settings), type(made.options)),
        work=partial(work, on_message=study.on_message, on_progress=progress),
    )


def references(study: CommentsStudy) -> Stage:
    """Write the test articles without comments, their references, and one held-out comment of each."""
    articles, references, *humans = (
        study.shared / f"{name}.jsonl" for name in ("articles", "references", *study.drawn)
    )
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
        inputs=[study.folder, *([Path(study.options.references)] if study.options.references else [])],
        request={"seed": study.options.seed, "drawn": list(study.drawn)},
        command=study.command("references"),
        work=work,
    )


def suggestions(study: CommentsStudy, name: str) -> Stage:
    """Suggest a comment for each article, by one commenter."""
    target, articles, model = _suggested(study, name), study.shared / "articles.jsonl", study.models[name]
    asked = suggesting(study, name)
    own = changed_settings(asked)
    settings = (*settings_of({"model": model}), *own, *settings_of({"format": "jsonl"}))

    def work() -> None:
        with AtomicFile(str(target)) as stream:
            for row in comment_articles(str(articles), str(model), replace(asked, jobs=study.options.jobs)):
                stream.write(show("jsonl", SuggestionsResult(suggestions=(row,))).encode())

    return Stage(
        name=study.stage(f"suggestions-{name}"),
        outputs=[target],
        inputs=[articles, model],
        request={"flags": words_of(own, CommentOptions)},
        command=as_line(Command("comment", (str(articles),), settings), CommentOptions),
        printed=True,
        work=work,
    )


def candidates(study: CommentsStudy) -> Stage:
    """Merge the comments of all systems into one file; an empty text where a system has none."""
    target, humans = study.out / "candidates.jsonl", [study.shared / f"{name}.jsonl" for name in study.drawn]
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
        name=study.stage("candidates"),
        outputs=[target],
        inputs=[*sources.values(), *humans, *elsewhere],
        request={"systems": list(sources)},
        command=study.command(study.stage("candidates")),
        work=work,
    )


def _suggested(study: CommentsStudy, name: str) -> Path:
    return study.out / "suggestions" / f"{name}.jsonl"


def scores(study: CommentsStudy) -> Stage:
    """Score every system by every metric; with controls where there are judgements."""
    options, tokenizer, scale = study.options, study.corpus.tokenizer, study.scale
    items, totals = study.out / "scores.jsonl.gz", study.out / "scores.json"
    candidates, references = study.out / "candidates.jsonl", study.out / "references.jsonl"
    judged = options.judgements is not None
    similarity = similarity_of(study.weights)
    asked = ScoreOptions(
        metrics=options.specs,
        tokenizer=tokenizer,
        scale=scale,
        weights=study.weights,
        items=str(items),
        controls=judged,
        control_draws=options.draws,
        seed=options.seed,
        jobs=options.jobs,
        allow_han=True,
    )
    settings: dict[str, object] = {
        "references": references,
        "plugin": options.plugins,
        "metrics": options.specs,
        "tokenizer": tokenizer,
        "weights": study.weights,
        "scale": scale,
        "items": items,
    }
    settings |= {"controls": True, "control_draws": options.draws, "seed": options.seed} if judged else {}

    def work() -> None:
        write_text(totals, to_json(score_files(str(candidates), str(references), asked, study.on_message)))

    return Stage(
        name="scores",
        outputs=[totals, items],
        inputs=[candidates, references],
        request={
            "metrics": {spec: metric.signature for spec, metric in parse_all(options.specs).items()},
            "tokenizer": tokenizer,
            "weights": [study.weights, similarity and similarity.signature],
            "scale": str(scale),
            "controls": [options.draws, options.seed] if judged else None,
        },
        command=as_line(Command("score", (str(candidates),), settings_of({**settings, "format": "json"}))),
        printed=True,
        work=work,
    )


def comparison(study: CommentsStudy) -> Stage:
    """Compare every system with the readers' comments."""
    target, items, options = study.out / "comparison.json", study.out / "scores.jsonl.gz", study.options
    asked = CompareOptions(
        baseline=HUMAN,
        item_means=True,
        resamples=options.resamples,
        permutations=options.permutations,
        seed=options.seed,
    )
    settings = {"baseline": HUMAN, "item_means": True, **options.resampling, "format": "json"}
    command = as_line(Command("compare", (str(items),), settings_of(settings)))
    return Stage(
        name="comparison",
        outputs=[target],
        inputs=[items],
        request=options.resampling,
        command=command,
        printed=True,
        work=lambda: write_text(target, to_json(compare_rows(open_score_files([str(items)]), asked, command))),
    )


def correlations(study: CommentsStudy) -> Stage:
    """Correlate every metric and control with human ratings."""
    target, items, options = study.out / "correlations.json", study.out / "scores.jsonl.gz", study.options
    candidates, judgements = study.out / "candidates.jsonl", Path(str(options.judgements))
    scale, paper = options.judgement_scale or options.scale, options.preset == "paper"
    asked = CorrelateOptions(
        coefficients=COEFFICIENTS,
        aspect=options.aspect,
        scale=scale,
        human_as_given=paper,
        resamples=options.resamples,
        permutations=options.permutations,
        seed=options.seed,
        jobs=options.jobs,
    )
    settings: dict[str, object] = {
        "judgements": judgements,
        "candidates": candidates,
        "coefficients": COEFFICIENTS,
        "aspect": options.aspect,
        "scale": scale,
        **options.resampling,
        "human_as_given": paper or None,
        "format": "json",
    }
    command = as_line(Command("correlate", (str(items),), settings_of(settings)))

    def work() -> None:
        found = correlate_files(
            [str(items)],
            str(judgements),
            asked,
            str(candidates),
            pairs=pairs(options.specs if paper else ()),
            each_way=paper,
            command=command,
        )
        write_text(target, to_json(found))

    return Stage(
        name="correlations",
        outputs=[target],
        inputs=[items, candidates, judgements],
        request={"aspect": options.aspect, "scale": str(scale), **options.resampling, **_preset(options)},
        command=command,
        printed=True,
        work=work,
    )


def _preset(options: CommentsOptions) -> dict[str, object]:
    """The preset, for requests that had none before there were presets."""
    return {"preset": options.preset} if options.preset else {}


def tables(study: CommentsStudy) -> Stage:
    """Write the paper's tables: numbers of the study above those of the paper."""
    options = study.options
    names = ["statistics.json", "scores.json", "candidates.jsonl", "references.jsonl", "comparison.json"]
    names += ["correlations.json"] if options.judgements else []
    more = [each for each in study.by_seed if not each.is_first]
    spread = options.preset is not None
    books = {codebook(path) for path in (options.references, options.judgements) if path and spread}

    def work() -> None:
        made = comments_study(
            study,
            Made(
                models={name: Model.open(folder) for name, folder in study.models.items()},
                statistics=read_result(study.out / "statistics.json", StatisticsResult),
                scores=read_result(study.out / "scores.json", ScoreResult),
                candidates=list(read(study.out / "candidates.jsonl", Candidate)),
                judged=read_result(study.out / "correlations.json", CorrelationResult) if options.judgements else None,
                over_seeds=scores_over_seeds(study) if spread else {},
            ),
        )
        write_study(study.out, made)

    return Stage(
        name="tables",
        outputs=[study.out / "study.json", study.out / "study.md"],
        inputs=[
            *(study.out / name for name in names),
            *study.models.values(),
            *(each.out / "candidates.jsonl" for each in more),
            *sorted(path for path in books if path.is_file()),
        ],
        request={
            "weights": study.weights,
            "scale": str(options.scale),
            "chosen": options.weights is not None,
            "given": dict.fromkeys(study.given, options.candidates),
            **_preset(options),
            **({"resamples": [options.resamples, options.seed], "judgements": options.judgements} if spread else {}),
        },
        command=study.command("tables"),
        work=work,
    )


def page(study: CommentsStudy) -> Stage:
    """Write the page."""
    target = study.out / "report.html"
    names = ["study.json", *(["correlations.json"] if study.options.judgements else []), "comparison.json"]
    inputs = [study.out / name for name in names]

    def work() -> None:
        results = read_results(inputs)
        weights = next(each.weights for each in results if isinstance(each, StudyResult))
        weighted = [
            msgspec.structs.replace(each, weights=weights) if isinstance(each, CorrelationResult | Comparison) else each
            for each in results
        ]
        write_report(weighted, target)
        study.on_message(f"written: {target}")

    return Stage(
        name="report",
        outputs=[target],
        inputs=inputs,
        request={},
        command=as_line(Command("report", tuple(map(str, inputs)), settings_of({"out": target}))),
        work=work,
    )
