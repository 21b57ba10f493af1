"""Modules and structs of the kinds of results, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import msgspec

__all__ = ["MODULES", "MODULE_OF", "Kinds"]

_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "score": "ScoreResult",
        "correlate": "CorrelationResult",
        "estimate": "EstimateResult",
        "judge": "JudgeResult",
        "budget": "BudgetResult",
        "combine": "CombinationResult",
        "wmt": "MetricsTaskResult",
        "compare": "Comparison",
        "interleaving": "InterleavingResult",
        "preferences": "PreferencesResult",
        "passages": "NcgResult",
        "summaries": "SummaryResult",
        "interesting": "InterestingResult",
        "interesting-pages": "InterestingPagesResult",
        "interest-training": "InterestTrainingResult",
        "agreement": "AgreementResult",
        "quality": "QualityResult",
        "plan": "PlanResult",
        "dry-run": "DryRunResult",
        "weights-plan": "WeightsPlanResult",
        "commenters": "CommenterResult",
        "suggestions": "SuggestionsResult",
        "calibration": "CalibrationResult",
        "ranked-comments": "RankedCommentsResult",
        "evaluation": "RankingResult",
        "thread-orders": "ThreadOrdersResult",
        "training": "TrainingResult",
        "corpus": "CorpusMetadata",
        "update": "UpdateResult",
        "forget": "ForgetResult",
        "statistics": "StatisticsResult",
        "vectors": "VectorsResult",
        "audit-log": "AuditLogResult",
        "tokens": "TokensResult",
        "study": "StudyResult",
    }
)
"""Class of each kind."""

MODULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "raters.result": "AgreementResult",
        "meta.audit_parts": (
            "AltTest AltTestRow Audit AuditRanking Calibration CalibrationBin LengthBias LengthBiasRow "
            "LengthQuartile RaterCount RaterLevel RaterVariance SkippedAnnotator TestedAnnotator "
            "UndefinedLengthBias UndefinedMapping VarianceComponent"
        ),
        "budgeting.result": "BudgetComponents BudgetFacet BudgetResult BudgetRow BudgetSettings SpreadComponents",
        "calibration.result": "CalibrationResult CoveragePoint FilterComparison ShowColumn",
        "combination.result": (
            "CombinationColumn CombinationDifference CombinationFit CombinationResult CombinationSettings "
            "CombinationTexts"
        ),
        "comments.result": (
            "CommenterResult CommenterTexts EvaluationSettings PeriodScores RankedCommentsResult "
            "RankingDifference RankingMeasure RankingResult ReferenceCounts SuggestionsResult TrainingPeriod "
            "UndefinedScorer"
        ),
        "comparison.result": "Comparison ComparisonSettings SystemComparison",
        "corpus.result": (
            "CorpusInput CorpusMetadata CorpusStatistics DateStatistics ForgottenFolder SplitSize "
            "SplitStatistics Spread StatisticsResult StatisticsSettings"
        ),
        "correlation.result": "CorrelationResult",
        "meta.parts": (
            "Agreement AnnotatorCorrelation Correlation CorrelationData CorrelationSettings Difference "
            "DisagreementPair DisagreementText HumanAgreement PairAgreement Points Rater SystemMean "
            "UndefinedResult"
        ),
        "estimation.result": (
            "EstimateResult EstimateSettings IntervalWidths PredictingScore RelativeEfficiency "
            "SystemDifference SystemEstimate UndefinedInterval"
        ),
        "erasure.result": "ForgetResult",
        "interest.result": (
            "FailedPage Goal InterestSettings InterestTrainingResult InterestWeight InterestingPagesResult "
            "InterestingResult PageSummary RankedPassage UnitContribution"
        ),
        "comparison.interleaved_result": "InterleavedPair InterleavedRank InterleavingResult Preference",
        "judging.result": (
            "DryRunResult JudgeControl JudgeResult JudgeSettings JudgeUsage JudgedSystem LengthCorrelation "
            "SelfPreference WithoutGrade"
        ),
        "passages.length_parts": "GainByLength LengthThird ListCorrelation",
        "results.parts": "AnnotatorBias Estimate Excluded NAMED OptionalPart Part Ranged SEVERITY_LEVEL Severity",
        "passages.result": (
            "FLIPS Gain GainCurvePoints GainDifference NcgResult PassageData PassageSettings SummaryData "
            "SummaryResult SummaryScore SummarySettings smallest_p"
        ),
        "campaigns.plan_result": "PlanBalance PlanResult PlanRevision PlannedAnnotator PlannedPair",
        "comparison.preferences_result": "PreferenceSettings PreferencesResult PreferredPair PreferredSystem",
        "campaigns.quality_result": (
            "AnnotatorCompetence AnnotatorQuality CompetenceModel ConcernKind Consistency QualityConcern "
            "QualityResult RatingWindow"
        ),
        "scoring.result": "ScoreResult SystemScore",
        "web.result": "AuditLogFile AuditLogResult TokenInfo TokensResult",
        "studies.result": "StudyCell StudyPart StudyPicture StudyResult StudyRow StudyTable",
        "threads.result": "FeatureWeight ThreadOrdersResult ThreadSettings",
        "comments.training.result": (
            "GridPoint GridSearch GridValue TrainingResult TrainingStep UpdateResult value_text"
        ),
        "vectors.result": "NearWord VectorsResult",
        "weights.result": "WeightsPlanResult",
        "wmt.result": "MetricsTaskResult MetricsTaskSettings",
    }
)
"""Names of each module, with spaces between them."""

MODULE_OF: Final[Mapping[str, str]] = MappingProxyType(
    {name: f"postil.{module}" for module, names in MODULES.items() for name in names.split()}
)
"""Module of each name."""


class Kinds(Mapping[str, "type[msgspec.Struct]"]):
    """The class of each kind of result, loaded when it is asked for."""

    def __getitem__(self, kind: str) -> type[msgspec.Struct]:
        name = _KINDS[kind]
        found: type[msgspec.Struct] = getattr(import_module(MODULE_OF[name]), name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_KINDS)

    def __len__(self) -> int:
        return len(_KINDS)
