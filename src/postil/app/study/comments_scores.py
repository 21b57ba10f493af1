"""The last stages of `postil study comments`: scores, comparison, correlation with human ratings, tables, page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from postil.app.compare import CompareOptions, compare_files
from postil.app.correlate import CorrelateOptions, correlate_files
from postil.app.readers import HUMAN
from postil.app.report import write_report
from postil.app.score_files import score_files
from postil.app.score_options import ScoreOptions
from postil.app.study.comments_tables import Made, comments_study
from postil.app.study.stages import Stage, as_line, flags, read_result, write_text
from postil.commenters.store import Model
from postil.metrics.consensus import similarity_of
from postil.metrics.metric_set import parse_all
from postil.records.result_files import read_results
from postil.records.results import Comparison, CorrelationResult, ScoreResult, StatisticsResult, StudyResult, to_json
from postil.records.row_files import read
from postil.records.rows import Candidate
from postil.render.study import study_text

if TYPE_CHECKING:
    from postil.app.study.comments_data import CommentsStudy
    from postil.metaeval.coefficients import Coefficient

__all__ = ["comparison", "correlations", "page", "scores", "tables"]

COEFFICIENTS: Final[tuple[Coefficient, ...]] = ("spearman", "pearson", "kendall-b")

PAIRS: Final = (("meteor", "bleu-1"), ("w-meteor", "meteor"))
"""Pairs of metrics whose disagreements Tables 5 and 6 show."""


def scores(study: CommentsStudy) -> Stage:
    """Score every system by every metric; with controls where there are judgements."""
    options, tokenizer, scale = study.options, study.corpus.tokenizer, study.scale
    items, totals = study.out / "scores.jsonl.gz", study.out / "scores.json"
    candidates, references = study.out / "candidates.jsonl", study.out / "references.jsonl"
    judged = options.judgements is not None
    similarity = similarity_of(study.weights)
    asked = ScoreOptions(
        metrics=options.metrics,
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
    words: list[object] = [word for spec in options.metrics for word in ("-m", spec)]
    words += flags({"tokenizer": tokenizer, "weights": study.weights, "scale": scale, "items": items})
    words += ["--controls", *flags({"control-draws": options.draws, "seed": options.seed})] if judged else []

    def work() -> None:
        write_text(totals, to_json(score_files(str(candidates), str(references), asked, study.on_message)))

    return Stage(
        name="scores",
        outputs=[totals, items],
        inputs=[candidates, references],
        request={
            "metrics": {spec: metric.signature for spec, metric in parse_all(options.metrics).items()},
            "tokenizer": tokenizer,
            "weights": [study.weights, similarity and similarity.signature],
            "scale": str(scale),
            "controls": [options.draws, options.seed] if judged else None,
        },
        command=["score", candidates, "--references", references, *words, "--format", "json"],
        printed=True,
        work=work,
    )


def comparison(study: CommentsStudy) -> Stage:
    """Compare every system with the readers' comments."""
    target, items, options = study.out / "comparison.json", study.out / "scores.jsonl.gz", study.options
    asked = CompareOptions(
        baseline=HUMAN, resamples=options.resamples, permutations=options.permutations, seed=options.seed
    )
    command = ["compare", items, "--baseline", HUMAN, *flags(options.resampling), "--format", "json"]
    return Stage(
        name="comparison",
        outputs=[target],
        inputs=[items],
        request=options.resampling,
        command=command,
        printed=True,
        work=lambda: write_text(target, to_json(compare_files([str(items)], asked, as_line(command)))),
    )


def correlations(study: CommentsStudy) -> Stage:
    """Correlate every metric and control with human ratings."""
    target, items, options = study.out / "correlations.json", study.out / "scores.jsonl.gz", study.options
    candidates, judgements = study.out / "candidates.jsonl", Path(str(options.judgements))
    scale = options.judgement_scale or options.scale
    asked = CorrelateOptions(
        coefficients=COEFFICIENTS,
        aspect=options.aspect,
        scale=scale,
        resamples=options.resamples,
        permutations=options.permutations,
        seed=options.seed,
        jobs=options.jobs,
    )
    words: list[object] = ["--judgements", judgements, "--candidates", candidates]
    words += [word for name in COEFFICIENTS for word in ("-c", name)]
    words += flags({"aspect": options.aspect, "scale": scale, **options.resampling})
    command = ["correlate", items, *words, "--format", "json"]

    def work() -> None:
        found = correlate_files(
            [str(items)], str(judgements), asked, str(candidates), pairs=PAIRS, command=as_line(command)
        )
        write_text(target, to_json(found))

    return Stage(
        name="correlations",
        outputs=[target],
        inputs=[items, candidates, judgements],
        request={"aspect": options.aspect, "scale": str(scale), **options.resampling},
        command=command,
        printed=True,
        work=work,
    )


def tables(study: CommentsStudy) -> Stage:
    """Write the paper's tables: numbers of the study above those of the paper."""
    target, text, options = study.out / "study.json", study.out / "study.md", study.options
    names = ["statistics.json", "scores.json", "candidates.jsonl", "references.jsonl", "comparison.json"]
    names += ["correlations.json"] if options.judgements else []

    def work() -> None:
        made = comments_study(
            study,
            Made(
                models={name: Model.open(folder) for name, folder in study.models.items()},
                statistics=read_result(study.out / "statistics.json", StatisticsResult),
                scores=read_result(study.out / "scores.json", ScoreResult),
                candidates=list(read(study.out / "candidates.jsonl", Candidate)),
                judged=read_result(study.out / "correlations.json", CorrelationResult) if options.judgements else None,
            ),
        )
        write_text(target, to_json(made))
        write_text(text, study_text("markdown", made))

    return Stage(
        name="tables",
        outputs=[target, text],
        inputs=[*(study.out / name for name in names), *study.models.values()],
        request={
            "weights": study.weights,
            "scale": str(options.scale),
            "chosen": options.weights is not None,
            "given": dict.fromkeys(study.given, options.candidates),
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
        command=["report", *inputs, "--out", target],
        work=work,
    )
