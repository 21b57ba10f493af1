"""Reference-based evaluation with quality-weighted references, and meta-evaluation against human ratings.

>>> import postil
>>> result = postil.score(
...     ["the cat sat on the mat", "a dog"],
...     [["the cat sat on a mat", "the cat lay there"], ["a dog barked", "dogs bark"]],
...     weights=[[1.0, 0.5], [0.75, 0.25]],
...     metrics=["rouge-l", "w-rouge-l"],
... )
>>> {spec: round(score, 4) for spec, score in result.corpus.items()}
{'rouge-l': 0.8027, 'w-rouge-l': 0.7062}

Names are loaded when they are first used, so that ``import postil`` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

from postil.version import VERSION as __version__  # noqa: N811 - the name that Python gives it

if TYPE_CHECKING:
    from postil.app.agreement import agreement
    from postil.app.annotate_agreement import AgreementOptions
    from postil.app.budget import BudgetOptions, budget
    from postil.app.calibrate import CalibrateOptions, calibrate
    from postil.app.combine import ApplyOptions, CombineOptions
    from postil.app.combine_columns import apply_combination, fit_combination
    from postil.app.compare import CompareOptions, compare
    from postil.app.compare_choices import compare_interleaved, compare_preferences
    from postil.app.corpus.building import build_corpus
    from postil.app.correlate_columns import correlate
    from postil.app.correlate_options import CorrelateOptions
    from postil.app.estimate import EstimateOptions, estimate
    from postil.app.evaluate import evaluate_commenters
    from postil.app.forget import ForgetOptions, forget
    from postil.app.interesting import interesting
    from postil.app.interesting_options import InterestingOptions
    from postil.app.interesting_pages import highlight
    from postil.app.judge import judge
    from postil.app.judge_options import JudgeOptions
    from postil.app.rank_passages import rank_passages
    from postil.app.report import report
    from postil.app.score import consensus_weights, score
    from postil.app.training.update import update_model
    from postil.commenters.decoding_options import DecodingOptions
    from postil.commenters.loading import load_commenter
    from postil.corpus.options import BuildOptions
    from postil.corpus.store import Corpus
    from postil.errors import InvalidInput, PostilError, Undefined, UsageError
    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.controls import ControlOptions
    from postil.metrics.spec import parse_metric, register_metric
    from postil.records.result_files import read_result
    from postil.records.results.base import Result
    from postil.records.results.correlation import CorrelationResult
    from postil.records.results.interest import RankedPassage
    from postil.records.results.score import ScoreResult
    from postil.records.rows import Article, Comment
    from postil.records.scale import Scale
    from postil.text.tokenizers import tokenizer

__all__ = [
    "AgreementOptions",
    "ApplyOptions",
    "Article",
    "BudgetOptions",
    "BuildOptions",
    "CalibrateOptions",
    "CombineOptions",
    "Comment",
    "CompareOptions",
    "ControlOptions",
    "Corpus",
    "CorrelateOptions",
    "CorrelationResult",
    "DecodingOptions",
    "DocumentFrequencies",
    "EstimateOptions",
    "ForgetOptions",
    "InterestingOptions",
    "InvalidInput",
    "JudgeOptions",
    "PostilError",
    "RankedPassage",
    "Result",
    "Scale",
    "ScoreResult",
    "Undefined",
    "UsageError",
    "__version__",
    "agreement",
    "apply_combination",
    "budget",
    "build_corpus",
    "calibrate",
    "compare",
    "compare_interleaved",
    "compare_preferences",
    "consensus_weights",
    "correlate",
    "estimate",
    "evaluate_commenters",
    "fit_combination",
    "forget",
    "highlight",
    "interesting",
    "judge",
    "load_commenter",
    "parse_metric",
    "rank_passages",
    "read_result",
    "register_metric",
    "report",
    "score",
    "tokenizer",
    "update_model",
]

_HOMES: Final = {
    "AgreementOptions": ("postil.app.annotate_agreement", "AgreementOptions"),
    "ApplyOptions": ("postil.app.combine", "ApplyOptions"),
    "Article": ("postil.records.rows", "Article"),
    "DocumentFrequencies": ("postil.metrics.background", "DocumentFrequencies"),
    "BuildOptions": ("postil.corpus.options", "BuildOptions"),
    "Comment": ("postil.records.rows", "Comment"),
    "BudgetOptions": ("postil.app.budget", "BudgetOptions"),
    "CalibrateOptions": ("postil.app.calibrate", "CalibrateOptions"),
    "CombineOptions": ("postil.app.combine", "CombineOptions"),
    "CompareOptions": ("postil.app.compare", "CompareOptions"),
    "ControlOptions": ("postil.metrics.controls", "ControlOptions"),
    "Corpus": ("postil.corpus.store", "Corpus"),
    "CorrelateOptions": ("postil.app.correlate_options", "CorrelateOptions"),
    "DecodingOptions": ("postil.commenters.decoding_options", "DecodingOptions"),
    "CorrelationResult": ("postil.records.results", "CorrelationResult"),
    "EstimateOptions": ("postil.app.estimate", "EstimateOptions"),
    "ForgetOptions": ("postil.app.forget", "ForgetOptions"),
    "InterestingOptions": ("postil.app.interesting_options", "InterestingOptions"),
    "InvalidInput": ("postil.errors", "InvalidInput"),
    "JudgeOptions": ("postil.app.judge_options", "JudgeOptions"),
    "PostilError": ("postil.errors", "PostilError"),
    "RankedPassage": ("postil.records.results", "RankedPassage"),
    "Result": ("postil.records.results", "Result"),
    "Scale": ("postil.records.scale", "Scale"),
    "ScoreResult": ("postil.records.results", "ScoreResult"),
    "Undefined": ("postil.errors", "Undefined"),
    "UsageError": ("postil.errors", "UsageError"),
    "agreement": ("postil.app.agreement", "agreement"),
    "apply_combination": ("postil.app.combine_columns", "apply_combination"),
    "budget": ("postil.app.budget", "budget"),
    "build_corpus": ("postil.app.corpus.building", "build_corpus"),
    "calibrate": ("postil.app.calibrate", "calibrate"),
    "compare": ("postil.app.compare", "compare"),
    "compare_interleaved": ("postil.app.compare_choices", "compare_interleaved"),
    "compare_preferences": ("postil.app.compare_choices", "compare_preferences"),
    "consensus_weights": ("postil.app.score", "consensus_weights"),
    "correlate": ("postil.app.correlate_columns", "correlate"),
    "estimate": ("postil.app.estimate", "estimate"),
    "evaluate_commenters": ("postil.app.evaluate", "evaluate_commenters"),
    "fit_combination": ("postil.app.combine_columns", "fit_combination"),
    "forget": ("postil.app.forget", "forget"),
    "highlight": ("postil.app.interesting_pages", "highlight"),
    "interesting": ("postil.app.interesting", "interesting"),
    "judge": ("postil.app.judge", "judge"),
    "load_commenter": ("postil.commenters.loading", "load_commenter"),
    "parse_metric": ("postil.metrics.spec", "parse_metric"),
    "register_metric": ("postil.metrics.spec", "register_metric"),
    "rank_passages": ("postil.app.rank_passages", "rank_passages"),
    "read_result": ("postil.records.result_files", "read_result"),
    "report": ("postil.app.report", "report"),
    "score": ("postil.app.score", "score"),
    "tokenizer": ("postil.text.tokenizers", "tokenizer"),
    "update_model": ("postil.app.training.update", "update_model"),
}


VIEWS: Final = "postil.render.views"
"""Module that shows results: loaded by name when one is asked for rows or HTML, since it is above them."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'postil' has no attribute '{name}'")
    module, attribute = _HOMES[name]
    value = getattr(importlib.import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
