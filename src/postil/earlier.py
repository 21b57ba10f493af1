"""Names of version 0.2 where it had them: ``from postil.records import Passage`` still works, with a warning.

What was public below `postil` is found by its name, whichever module of that time is asked for it. Modules in their
places would be 55 files.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final
from warnings import warn

__all__ = ["find", "spec"]

MODULES: Final = {
    "postil": "annotation app arrays commenters judges metaeval records render",
    "postil.app": "columns evaluate passages score study summaries",
    "postil.app.study": "passages",
    "postil.commenters": "base filtering interleaving loading prompted_commenter ranking_evaluation retrieval store",
    "postil.corpus": "formats",
    "postil.corpus.formats": "fields forum import_report inex trec",
    "postil.metaeval": (
        "agreement coefficient_kinds coefficients correlation cumulative_gain gain permutation resampling "
        "significance systems table"
    ),
    "postil.metrics": "measures passage_collection pool",
    "postil.records": "coefficients documents explain labels names results row_locations rows suggestions weights",
    "postil.render": "formats",
    "postil.text": "word2vec_training",
}
"""Modules and packages that there are no more, by the package that had them."""

PACKAGES: Final = ("postil.corpus", "postil.endpoint", "postil.metrics", "postil.text")
"""Packages that had names of their modules."""

NAMES: Final = {
    "postil.budgeting.result": "BudgetResult BudgetRow",
    "postil.calibration.result": "CalibrationResult CoveragePoint ShowColumn",
    "postil.combination.result": (
        "CombinationColumn CombinationDifference CombinationFit CombinationResult CombinationTexts"
    ),
    "postil.comments.commenter": "Commenter load_commenter team_draft",
    "postil.comments.evaluation": "CommenterEvaluation EvaluateOptions",
    "postil.comments.prompted_commenter": "Prompt PromptedCommenter",
    "postil.comments.ranking_evaluation": "evaluate sample_negatives",
    "postil.comments.result": "CommenterResult UpdateResult",
    "postil.comments.retrieval": "Retriever",
    "postil.data.model_folders": "Model",
    "postil.comparison.result": (
        "Comparison InterleavedPair InterleavedRank InterleavingResult Preference PreferencesResult "
        "PreferredPair PreferredSystem SystemComparison"
    ),
    "postil.corpus.duplicates": "merge_duplicates",
    "postil.corpus.importers.article_builder": "Fields",
    "postil.corpus.importers.fields": "read_forum",
    "postil.corpus.importers.import_report": "ImportReport",
    "postil.corpus.importers.trec": "run_lines",
    "postil.corpus.options": "Share",
    "postil.corpus.store": "Corpus",
    "postil.correlation.result": "CorrelationData CorrelationResult DisagreementText",
    "postil.data.arrays": "open_array",
    "postil.data.conversion": "convert",
    "postil.data.explain": "shown",
    "postil.data.frames": "Column",
    "postil.data.grades": "METHODS Scale weigh",
    "postil.data.parts": "Estimate Excluded",
    "postil.data.ranking": "Ranking best_first",
    "postil.data.reading": "Reading",
    "postil.data.row_files": "read write",
    "postil.data.row_locations": "RowLocations located",
    "postil.data.rows": ("Article Candidate Comment Judgement Passage Rating Reference Row Score TopicArticle"),
    "postil.data.suggestions": "Filtered Label Prompting Provenance Suggestion Suggestions",
    "postil.documents.document": "Block Document",
    "postil.endpoint.cache": "AnswerCache",
    "postil.endpoint.client": "Client",
    "postil.erasure.result": "ForgetResult",
    "postil.estimation.result": (
        "BudgetComponents EstimateResult IntervalWidths PredictingScore RelativeEfficiency SystemDifference "
        "SystemEstimate UndefinedInterval"
    ),
    "postil.interest.result": "InterestingResult",
    "postil.judging.result": ("JudgeControl JudgeResult JudgeUsage JudgedSystem LengthCorrelation SelfPreference"),
    "postil.kernel.python.interning": "is_han_text",
    "postil.meta.coefficient_kinds": "kind_of",
    "postil.meta.coefficients": "By Measure",
    "postil.meta.column_correlations": "Texts rank_coefficient",
    "postil.meta.correlation": "Correlations Differences SystemMeans correlations",
    "postil.meta.parts": (
        "Agreement Correlation Difference HumanAgreement PairAgreement Points Rater SystemMean UndefinedResult"
    ),
    "postil.meta.permutation": "permutation_p",
    "postil.meta.resampling": "Draws bootstrap_counts interval",
    "postil.meta.significance": "holm",
    "postil.meta.table": "Table",
    "postil.metrics.base": "Metric Scorer",
    "postil.metrics.bleu": "Bleu DeltaBleu",
    "postil.metrics.chrf": "Chrf",
    "postil.metrics.cider": "Cider CiderD",
    "postil.metrics.folds": "folds_of",
    "postil.metrics.meteor": "Meteor",
    "postil.metrics.own": "Metrics",
    "postil.metrics.passage_measures": "measure_passages",
    "postil.metrics.passage_pools": "PassageCollection Pools informativeness interestingness",
    "postil.metrics.preprocessing": "Preprocessing",
    "postil.metrics.references": "References",
    "postil.metrics.result": "ScoreResult",
    "postil.metrics.rouge": "RougeL RougeLsum RougeN",
    "postil.metrics.spec": "METRICS parse_metric",
    "postil.metrics.ungraded": "mean_similarities plan_references",
    "postil.passages.gain": "Ranked Ties gain_curve normalized_gains share_of_best",
    "postil.passages.result": "RankedPassage UnitContribution",
    "postil.passages.summaries": "score_summaries",
    "postil.raters.result": "AgreementResult",
    "postil.results.base": "Result",
    "postil.results.formats": "value_with_interval",
    "postil.results.names": "LENGTH",
    "postil.scoring.calls": "score",
    "postil.screening.filtering": "CandidateFilter",
    "postil.studies.passages.calls": "study_passages",
    "postil.studies.passages.options": "PassagesStudyOptions",
    "postil.text.stems": "stems",
    "postil.text.stop_words": "stop_words",
    "postil.text.tokenizers": "Tokenizer tokenizer",
    "postil.text.tokens": "Vocabulary ngram_units",
    "postil.vectors.training": "train",
}
"""Public names, by the module that has them now."""


def find(name: str) -> object:
    """Find a public name of version 0.2.

    Args:
        name: The name.

    Raises:
        AttributeError: There was no such name.
    """
    for module, names in NAMES.items():
        if name in names.split():
            warn(f"{name} is in {module} now", DeprecationWarning, stacklevel=3)
            return getattr(import_module(module), name)
    raise AttributeError(f"no {name} here; docs/migrating.md has the names that moved")


def spec(name: str) -> ModuleSpec | None:
    """The specification of a module of version 0.2, or of a name that a package had; None for any other.

    Args:
        name: Name of a module that nothing else finds.
    """
    package, _, leaf = name.rpartition(".")
    if leaf in MODULES.get(package, "").split():
        return ModuleSpec(name, _Loader(), is_package=True)
    if package in PACKAGES and any(leaf in names.split() for names in NAMES.values()):
        return ModuleSpec(name, _NameLoader())
    return None


class _Module(ModuleType):
    """A module of version 0.2."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return find(name)


class _Loader(Loader):
    """Loader of these modules, which have nothing of their own."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


class _NameLoader(_Loader):
    """Loader of a name of a package: ``from package import name`` gets what stands in `sys.modules` afterwards."""

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = find(module.__name__.rpartition(".")[2])  # type: ignore[assignment]
