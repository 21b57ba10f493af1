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
    from postil.budgeting.calls import BudgetOptions, budget
    from postil.calibration.calls import CalibrateOptions, calibrate
    from postil.campaigns.agreement import AgreementOptions
    from postil.combination.calls import apply_combination, fit_combination
    from postil.combination.rows import ApplyOptions, CombineOptions
    from postil.comments.decoding_options import DecodingOptions
    from postil.comments.evaluation import evaluate_commenters
    from postil.comments.loading import load_commenter
    from postil.comments.training.update import update_model
    from postil.comparison.calls import CompareOptions, compare
    from postil.comparison.choices import compare_interleaved, compare_preferences
    from postil.corpus.calls import build_corpus
    from postil.corpus.options import BuildOptions
    from postil.corpus.store import Corpus
    from postil.correlation.calls import correlate
    from postil.correlation.options import CorrelateOptions
    from postil.correlation.result import CorrelationResult
    from postil.data.rows import Article, Comment
    from postil.data.scale import Scale
    from postil.erasure.calls import ForgetOptions, forget
    from postil.errors import InvalidInput, PostilError, Undefined, UsageError
    from postil.estimation.calls import EstimateOptions, estimate
    from postil.interest.calls import interesting
    from postil.interest.options import InterestingOptions
    from postil.interest.pages import highlight
    from postil.interest.result import RankedPassage
    from postil.judging.calls import judge
    from postil.judging.options import JudgeOptions
    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.controls import ControlOptions
    from postil.metrics.spec import parse_metric, register_metric
    from postil.page.report import report
    from postil.passages.similarity import rank_passages
    from postil.raters.calls import agreement
    from postil.results.base import Result
    from postil.results.result_files import read_result
    from postil.scoring.calls import consensus_weights, score
    from postil.scoring.result import ScoreResult
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
    "AgreementOptions": ("postil.campaigns.agreement", "AgreementOptions"),
    "ApplyOptions": ("postil.combination.rows", "ApplyOptions"),
    "Article": ("postil.data.rows", "Article"),
    "DocumentFrequencies": ("postil.metrics.background", "DocumentFrequencies"),
    "BuildOptions": ("postil.corpus.options", "BuildOptions"),
    "Comment": ("postil.data.rows", "Comment"),
    "BudgetOptions": ("postil.budgeting.calls", "BudgetOptions"),
    "CalibrateOptions": ("postil.calibration.calls", "CalibrateOptions"),
    "CombineOptions": ("postil.combination.rows", "CombineOptions"),
    "CompareOptions": ("postil.comparison.calls", "CompareOptions"),
    "ControlOptions": ("postil.metrics.controls", "ControlOptions"),
    "Corpus": ("postil.corpus.store", "Corpus"),
    "CorrelateOptions": ("postil.correlation.options", "CorrelateOptions"),
    "DecodingOptions": ("postil.comments.decoding_options", "DecodingOptions"),
    "CorrelationResult": ("postil.correlation.result", "CorrelationResult"),
    "EstimateOptions": ("postil.estimation.calls", "EstimateOptions"),
    "ForgetOptions": ("postil.erasure.calls", "ForgetOptions"),
    "InterestingOptions": ("postil.interest.options", "InterestingOptions"),
    "InvalidInput": ("postil.errors", "InvalidInput"),
    "JudgeOptions": ("postil.judging.options", "JudgeOptions"),
    "PostilError": ("postil.errors", "PostilError"),
    "RankedPassage": ("postil.interest.result", "RankedPassage"),
    "Result": ("postil.results.base", "Result"),
    "Scale": ("postil.data.scale", "Scale"),
    "ScoreResult": ("postil.scoring.result", "ScoreResult"),
    "Undefined": ("postil.errors", "Undefined"),
    "UsageError": ("postil.errors", "UsageError"),
    "agreement": ("postil.raters.calls", "agreement"),
    "apply_combination": ("postil.combination.calls", "apply_combination"),
    "budget": ("postil.budgeting.calls", "budget"),
    "build_corpus": ("postil.corpus.calls", "build_corpus"),
    "calibrate": ("postil.calibration.calls", "calibrate"),
    "compare": ("postil.comparison.calls", "compare"),
    "compare_interleaved": ("postil.comparison.choices", "compare_interleaved"),
    "compare_preferences": ("postil.comparison.choices", "compare_preferences"),
    "consensus_weights": ("postil.scoring.calls", "consensus_weights"),
    "correlate": ("postil.correlation.calls", "correlate"),
    "estimate": ("postil.estimation.calls", "estimate"),
    "evaluate_commenters": ("postil.comments.evaluation", "evaluate_commenters"),
    "fit_combination": ("postil.combination.calls", "fit_combination"),
    "forget": ("postil.erasure.calls", "forget"),
    "highlight": ("postil.interest.pages", "highlight"),
    "interesting": ("postil.interest.calls", "interesting"),
    "judge": ("postil.judging.calls", "judge"),
    "load_commenter": ("postil.comments.loading", "load_commenter"),
    "parse_metric": ("postil.metrics.spec", "parse_metric"),
    "register_metric": ("postil.metrics.spec", "register_metric"),
    "rank_passages": ("postil.passages.similarity", "rank_passages"),
    "read_result": ("postil.results.result_files", "read_result"),
    "report": ("postil.page.report", "report"),
    "score": ("postil.scoring.calls", "score"),
    "tokenizer": ("postil.text.tokenizers", "tokenizer"),
    "update_model": ("postil.comments.training.update", "update_model"),
}


VIEWS: Final = "postil.results.views"
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
