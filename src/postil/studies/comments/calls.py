"""`postil study comments`: a corpus in, the tables of Automatic Article Commenting (Qin et al. 2018) out.

Commenters are trained on the corpus or taken as they are, and comment on its test articles; a reader's comment is one
more system. Metrics, unweighted and weighted, score all systems and are correlated with human ratings where there are
some. Each stage writes files and prints the command that does the same. The published release is imported first.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.comments import neural_commenter, retrieval
from postil.comments.call_options import CommentOptions
from postil.comments.options import RetrieverTrainOptions
from postil.comments.ranking_evaluation import distinct
from postil.comments.result import HUMAN
from postil.comparison.calls import compare_rows
from postil.comparison.options import CompareOptions
from postil.comparison.result import Comparison
from postil.corpus.calls import build_corpus, count_corpus
from postil.corpus.importers.corpora import TencentOptions, import_tencent
from postil.corpus.options import BuildOptions, StatisticsOptions
from postil.corpus.result import StatisticsResult
from postil.corpus.store import Corpus
from postil.correlation.calls import correlate_files
from postil.correlation.options import CorrelateOptions
from postil.correlation.result import CorrelationResult
from postil.data.grades import Scale
from postil.data.groups import nested
from postil.data.model_folders import Model
from postil.data.progress import OnMessage, progress
from postil.data.row_files import read, write
from postil.data.rows import Article, Candidate, Reference
from postil.errors import InvalidInput
from postil.messages import Command
from postil.meta.rated import open_score_files
from postil.meta.resampling import Draws, crossed_estimate
from postil.metrics.evaluation import Batch, Evaluation, ScoredBatch
from postil.metrics.metric_set import parse_all
from postil.metrics.result import ScoreResult
from postil.metrics.ungraded import similarity_of
from postil.options import changed_settings
from postil.results.formats import listed
from postil.results.page.report import check_report
from postil.scoring.files import score_files
from postil.scoring.graded import Weighting, read_references
from postil.scoring.options import ScoreOptions
from postil.studies.comments.deviations import codebook
from postil.studies.comments.people import pairs
from postil.studies.comments.study import CommentsStudy, check, plan, suggest, suggested_texts, suggesting
from postil.studies.comments.tables import Made, comments_study
from postil.studies.options import SYSTEMS, CommentsOptions, Names
from postil.studies.result import StudyResult
from postil.studies.stages import (
    Stage,
    Stages,
    as_line,
    read_result,
    report_stage,
    settings_of,
    words_of,
    write_result,
    write_study,
)
from postil.training.generators import train_commenter
from postil.training.retrievers import train_retriever

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.data.parts import Estimate
    from postil.meta.coefficients import Measure
    from postil.results.base import Result

__all__ = [
    "study_comments",
    "study_tencent",
]


def study_comments(
    corpus: str, out: Path, options: CommentsOptions, on_message: OnMessage, stages: Stages | None = None
) -> Path:
    """Run the stages of the study that are not done yet.

    Args:
        corpus: A corpus with a test set.
        out: Output folder.
        options: Options of the study.
        on_message: Callback for status messages.
        stages: Stages that ran before these; None if there were none.

    Returns:
        The page.

    Raises:
        UsageError, UnknownName: The options contradict one another or the corpus.
        InvalidInput: The corpus, a model or a file is invalid.
        MissingExtra: An optional package is not installed.
        PostilError: The operating system reports an error, or a training fails.
    """
    opened = Corpus.open(corpus)
    stages = stages or Stages(out, on_message, options.stage)
    report = out / "report.html"
    check_report(report)  # before any stage runs
    study = CommentsStudy.of(opened, out, options, on_message)
    for name, folder in study.models.items():
        if name not in options.models and options.stage in {None, name} and not folder.exists():
            check(study, name)
    for each in study.by_seed:
        for name in ("models", "suggestions"):
            (each.out / name).mkdir(parents=True, exist_ok=True)
    stages.finish(_stages(study))
    return report


def _stages(study: CommentsStudy) -> Iterator[Stage]:
    yield _statistics(study)
    for each in study.by_seed:
        for name in study.models:
            if name not in study.options.models:
                yield _training(each, name)
        _check_models(each)
    yield _references(study)
    for each in study.by_seed:
        for name in study.models:
            yield _suggestions(each, name)
        yield _candidates(each)
    yield _scores(study)
    yield _comparison(study)
    if study.options.judgements:
        yield _correlations(study)
    yield _tables(study)
    names = ["study.json", *(["correlations.json"] if study.options.judgements else []), "comparison.json"]
    yield report_stage(study.out / "report.html", [study.out / name for name in names], study.on_message, _weighted)


def _check_models(study: CommentsStudy) -> None:
    """Check that the commenters' tokenizer is that of the corpus."""
    for name, folder in study.models.items():
        if (not folder.exists() and study.options.stage) or (not study.is_first and name in study.options.models):
            continue
        model = Model.open(folder, (*retrieval.KINDS, *neural_commenter.KINDS))
        model.check_tokenizer(study.corpus.tokenizer, study.corpus.path, f"{name}: ")
        if not model.trained_on(study.corpus.metadata.origin):
            study.on_message(f"{name}: trained on another corpus, which may contain the test articles")


COEFFICIENTS: Final[tuple[Measure, ...]] = ("spearman", "pearson", "kendall-b")


def _statistics(study: CommentsStudy) -> Stage:
    """Compute the statistics of the corpus."""
    target, scale = study.out / "statistics.json", study.scale
    asked = StatisticsOptions(scale=scale, jobs=study.options.jobs)
    return Stage(
        name="statistics",
        outputs=[target],
        inputs=[study.folder],
        request={"scale": str(scale)},
        command=as_line(Command("corpus stats", (str(study.folder),), settings_of({"format": "json", "scale": scale}))),
        printed=True,
        work=partial(write_result, target, lambda: count_corpus(study.folder, asked, study.on_message)),
    )


def _training(study: CommentsStudy, name: str) -> Stage:
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


def _references(study: CommentsStudy) -> Stage:
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


def _suggestions(study: CommentsStudy, name: str) -> Stage:
    """Suggest a comment for each article, by one commenter."""
    target, articles, model = _suggested(study, name), study.shared / "articles.jsonl", study.models[name]
    asked = suggesting(study, name)
    own = changed_settings(asked)
    settings = (*settings_of({"model": model}), *own, *settings_of({"format": "jsonl"}))

    return Stage(
        name=study.stage(f"suggestions-{name}"),
        outputs=[target],
        inputs=[articles, model],
        request={"flags": words_of(own, CommentOptions)},
        command=as_line(Command("comment", (str(articles),), settings), CommentOptions),
        printed=True,
        work=lambda: suggest(articles, model, replace(asked, jobs=study.options.jobs), target),
    )


def _candidates(study: CommentsStudy) -> Stage:
    """Merge the comments of all systems into one file; an empty text where a system has none."""
    target, humans = study.out / "candidates.jsonl", [study.shared / f"{name}.jsonl" for name in study.drawn]
    sources = {name: _suggested(study, name) for name in study.models}
    elsewhere = [Path(study.options.candidates)] if study.options.candidates else []

    def work() -> None:
        rows = list(suggested_texts(sources))
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


def _scores(study: CommentsStudy) -> Stage:
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
        work=partial(
            write_result, totals, lambda: score_files(str(candidates), str(references), asked, study.on_message)
        ),
    )


def _comparison(study: CommentsStudy) -> Stage:
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
        work=partial(write_result, target, lambda: compare_rows(open_score_files([str(items)]), asked, command)),
    )


def _correlations(study: CommentsStudy) -> Stage:
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

    def correlated() -> CorrelationResult:
        return correlate_files(
            [str(items)],
            str(judgements),
            asked,
            str(candidates),
            pairs=pairs(options.specs if paper else ()),
            each_way=paper,
            command=command,
        )

    return Stage(
        name="correlations",
        outputs=[target],
        inputs=[items, candidates, judgements],
        request={"aspect": options.aspect, "scale": str(scale), **options.resampling, **_preset(options)},
        command=command,
        printed=True,
        work=partial(write_result, target, correlated),
    )


def _preset(options: CommentsOptions) -> dict[str, object]:
    """The preset, for requests that had none before there were presets."""
    return {"preset": options.preset} if options.preset else {}


def _tables(study: CommentsStudy) -> Stage:
    """Write the paper's tables: numbers of the study above those of the paper."""
    options = study.options
    names = ["statistics.json", "scores.json", "candidates.jsonl", "references.jsonl", "comparison.json"]
    names += ["correlations.json"] if options.judgements else []
    more = [each for each in study.by_seed if not each.is_first]
    spread = options.preset is not None
    books = {codebook(path) for path in (options.references, options.judgements) if path and spread}

    def work() -> None:
        made = Made(
            models={name: Model.open(folder) for name, folder in study.models.items()},
            statistics=read_result(study.out / "statistics.json", StatisticsResult),
            scores=read_result(study.out / "scores.json", ScoreResult),
            candidates=list(read(study.out / "candidates.jsonl", Candidate)),
            judged=read_result(study.out / "correlations.json", CorrelationResult) if options.judgements else None,
            over_seeds=_scores_over_seeds(study) if spread else {},
        )
        write_study(study.out, comments_study(study, made))

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


def _weighted(results: list[Result]) -> list[Result]:
    """The results of the page, each of which names the weights of the study."""
    weights = next(each.weights for each in results if isinstance(each, StudyResult))
    return [
        msgspec.structs.replace(each, weights=weights) if isinstance(each, CorrelationResult | Comparison) else each
        for each in results
    ]


WORDS: Final = "mean words"
DISTINCT: Final = {"distinct-1": 1, "distinct-2": 2}
"""Statistics of texts by name; the mean over seeds alone, since a resample with repetitions has fewer distinct ones."""


def _scores_over_seeds(study: CommentsStudy) -> dict[str, dict[str, Estimate | float]]:
    """The mean corpus score of each system over the seeds, by metric and system.

    Args:
        study: The study of the first seed; its candidates and references are written.

    Returns:
        Values with their 95 % intervals over seeds and articles, and statistics of the texts by the same names as
        Table 7 has.
    """
    options = study.options
    metrics = parse_all(options.specs)
    references = read(study.shared / "references.jsonl", Reference)
    found = read_references(references, Weighting(study.weights, study.scale, metrics), study.on_message)
    evaluation = Evaluation(
        metrics, found.references, tokenizer=study.corpus.tokenizer, jobs=options.jobs, allow_han=True
    )
    texts = [_texts(each.out / "candidates.jsonl", found.items) for each in study.by_seed]
    systems = list(texts[0])
    sets = np.arange(len(found.items), dtype=np.int32)
    runs = evaluation.measure(Batch(of_seed[system], sets) for system in systems for of_seed in texts)
    draws = Draws(resamples=options.resamples, seed=options.seed)
    return nested(
        (name, system, value)
        for system in systems
        for name, value in _estimates(evaluation, [next(runs) for _ in texts], draws)
    )


def _texts(path: Path, items: Mapping[str, int]) -> dict[str, list[str]]:
    """The texts of each system in the order of the items; empty where there is none."""
    found: dict[str, list[str]] = {}
    for row in read(path, Candidate):
        found.setdefault(row.system, [""] * len(items))[items[row.item]] = row.text
    return found


def _estimates(
    evaluation: Evaluation, runs: Sequence[ScoredBatch], draws: Draws
) -> Iterator[tuple[str, Estimate | float]]:
    """Every number of a system, of its runs."""
    for spec in evaluation.metrics.metrics:
        stats = np.stack([run.stats[spec] for run in runs])
        score = evaluation.metrics.scorer(spec).score
        yield spec, crossed_estimate(stats, score, draws)
    lengths = np.stack([np.diff(run.tokens.offsets) for run in runs]).astype(np.float64)  # [runs, items]
    said = (lengths > 0).astype(np.float64)
    if said.sum(axis=1).all():
        of_said = crossed_estimate(
            np.stack([lengths, said], axis=2), lambda sums: sums[:, 0] / np.maximum(sums[:, 1], 1.0), draws
        )
        yield WORDS, of_said
        for name, n in DISTINCT.items():
            if all((np.diff(run.tokens.offsets) >= n).any() for run in runs):
                shares = [distinct(run.tokens.ids, run.tokens.offsets, n) for run in runs]
                yield name, float(np.mean(shares))


SPLITS: Final = ("train", "dev", "test")
CONTENTS: Final = ("contents.jsonl", "contents.jsonl.gz", "contents.tsv", "contents.tsv.gz")
SCALES: Final = (Scale(0, 1), Scale(1, 5))
"""The scale of the release, and that of the paper."""
WITHOUT_CONTENTS: Final = ("ir-t", "seq2seq", "att")
"""Commenters that read titles alone."""
SOURCE: Final = "Qin et al. 2018, Automatic Article Commenting"
LICENSE: Final = "research only"
TOKENIZER: Final = "rjieba"
COMMENTS: Final = 20


def study_tencent(release: Path, out: Path, options: CommentsOptions, on_message: OnMessage) -> Path:
    """Import the release, build its corpus, and run the study on it.

    Args:
        release: A folder with ``data.train.json``, ``data.dev.json`` and ``data.test.json``, and ``contents.jsonl`` or
            ``contents.tsv`` (url, content) where contents were fetched; each may be compressed (``.gz``). Without
            contents the systems are those that read titles.
        out: Output folder.
        options: Options of the study. The default scale of the references is 0 to 1 if all their grades are in that
            range, else 1 to 5; that of the judgements is 1 to 5.
        on_message: Callback for status messages.

    Returns:
        The page.

    Raises:
        InvalidInput: A file of the release is missing or invalid.
        UsageError, MissingExtra, PostilError: As `study_comments`.
    """
    files = _files(release)
    contents = [path for path in (release / name for name in CONTENTS) if path.is_file()]
    if not contents and options.systems is None and options.names == SYSTEMS:
        options = replace(options, systems=Names(WITHOUT_CONTENTS))
        on_message(f"no contents.jsonl in {release}: no commenter that reads contents is trained")
    stages = Stages(out, on_message, options.stage)
    rows = {split: out / f"{split}.jsonl.gz" for split in SPLITS}
    for split, path in files.items():
        stages.run(_imported(split, path, contents, rows[split], on_message))
    if options.stage not in stages.names:
        stages.run(_built(rows, out / "corpus", options, on_message, least=30 if contents else 0))
    if options.stage in stages.names:
        return out / "report.html"
    scale = options.scale or _scale(rows["test"])
    options = replace(options, scale=scale, judgement_scale=options.judgement_scale or options.scale or SCALES[1])
    return study_comments(str(out / "corpus"), out, options, on_message, stages)


def _files(release: Path) -> dict[str, Path]:
    """The file of each split."""
    plain = {split: release / f"data.{split}.json" for split in SPLITS}
    found = {split: path if path.is_file() else path.with_name(f"{path.name}.gz") for split, path in plain.items()}
    missing = [plain[split].name for split, path in found.items() if not path.is_file()]
    if missing:
        below = [path.parent for path in sorted(release.glob("*/data.train.json*"))]
        hint = f"; is it {below[0]}?" if below and len(missing) == len(SPLITS) else ""
        where, problem = str(release), f"{listed(missing)} missing; expected the folder of the Tencent release{hint}"
        raise InvalidInput(problem if release.is_dir() else "no such folder", where=where)
    return found


def _scale(test: Path) -> Scale:
    """The scale of the release's grades."""
    grades = [
        comment.grade for article in read(test, Article) for comment in article.comments if comment.grade is not None
    ]
    return SCALES[max(grades, default=0) > 1]


def _imported(split: str, path: Path, contents: list[Path], target: Path, on_message: OnMessage) -> Stage:
    settings = settings_of({"contents": tuple(contents), "out": target})
    return Stage(
        name=f"import-{split}",
        outputs=[target],
        inputs=[path, *contents],
        request={},
        command=as_line(Command("corpus import tencent", (str(path),), settings)),
        work=lambda: import_tencent(
            [path], str(target), TencentOptions(contents=tuple(str(each) for each in contents)), on_message
        ),
    )


def _built(
    rows: dict[str, Path], target: Path, options: CommentsOptions, on_message: OnMessage, *, least: int
) -> Stage:
    how = BuildOptions(
        source=SOURCE,
        license=LICENSE,
        tokenizer=TOKENIZER,
        min_content_words=least,
        min_comments=COMMENTS,
        seed=options.seed,
    )
    given = {"min_content_words": least, "min_comments": COMMENTS, "tokenizer": TOKENIZER}
    about = {"source": SOURCE, "license": LICENSE, "seed": options.seed, "out": target}
    settings = settings_of({"dev_from": rows["dev"], "test_from": rows["test"], **given, **about})
    return Stage(
        name="corpus",
        outputs=[target],
        inputs=list(rows.values()),
        request={**given, "seed": options.seed},
        command=as_line(Command("corpus build", (str(rows["train"]),), settings)),
        work=lambda: build_corpus(
            [rows["train"]], target, how, dev=rows["dev"], test=rows["test"], jobs=options.jobs, on_message=on_message
        ),
    )
