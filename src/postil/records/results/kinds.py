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
        "agreement": "AgreementResult",
        "audit": (
            "AltTest AltTestRow Audit AuditRanking Calibration CalibrationBin LengthBias LengthBiasRow "
            "LengthQuartile RaterCount RaterLevel RaterVariance SkippedAnnotator TestedAnnotator "
            "UndefinedLengthBias UndefinedMapping VarianceComponent"
        ),
        "budget": "BudgetComponents BudgetFacet BudgetResult BudgetRow BudgetSettings SpreadComponents",
        "calibration": "CalibrationResult CoveragePoint FilterComparison ShowColumn",
        "combination": (
            "CombinationColumn CombinationDifference CombinationFit CombinationResult CombinationSettings "
            "CombinationTexts"
        ),
        "commenters": (
            "CommenterResult CommenterTexts EvaluationSettings PeriodScores RankedCommentsResult "
            "RankingDifference RankingMeasure RankingResult ReferenceCounts SuggestionsResult TrainingPeriod "
            "UndefinedScorer"
        ),
        "comparison": "Comparison ComparisonSettings SystemComparison",
        "corpus": (
            "CorpusInput CorpusMetadata CorpusStatistics DateStatistics ForgottenFolder SplitSize "
            "SplitStatistics Spread StatisticsResult StatisticsSettings"
        ),
        "correlation": "CorrelationResult",
        "correlations": (
            "Agreement AnnotatorCorrelation Correlation CorrelationData CorrelationSettings Difference "
            "DisagreementPair DisagreementText HumanAgreement PairAgreement Points Rater SystemMean "
            "UndefinedResult"
        ),
        "estimate": (
            "EstimateResult EstimateSettings IntervalWidths PredictingScore RelativeEfficiency "
            "SystemDifference SystemEstimate UndefinedInterval"
        ),
        "forget": "ForgetResult",
        "interest": (
            "FailedPage Goal InterestSettings InterestTrainingResult InterestWeight InterestingPagesResult "
            "InterestingResult PageSummary RankedPassage UnitContribution"
        ),
        "interleaving": "InterleavedPair InterleavedRank InterleavingResult Preference",
        "judge": (
            "DryRunResult JudgeControl JudgeResult JudgeSettings JudgeUsage JudgedSystem LengthCorrelation "
            "SelfPreference WithoutGrade"
        ),
        "length": "GainByLength LengthThird ListCorrelation",
        "parts": "AnnotatorBias Estimate Excluded NAMED OptionalPart Part Ranged SEVERITY_LEVEL Severity",
        "passages": (
            "FLIPS Gain GainCurvePoints GainDifference NcgResult PassageData PassageSettings SummaryData "
            "SummaryResult SummaryScore SummarySettings smallest_p"
        ),
        "plan": "PlanBalance PlanResult PlanRevision PlannedAnnotator PlannedPair",
        "preferences": "PreferenceSettings PreferencesResult PreferredPair PreferredSystem",
        "quality": (
            "AnnotatorCompetence AnnotatorQuality CompetenceModel ConcernKind Consistency QualityConcern "
            "QualityResult RatingWindow"
        ),
        "score": "ScoreResult SystemScore",
        "service": "AuditLogFile AuditLogResult TokenInfo TokensResult",
        "study": "StudyCell StudyPart StudyPicture StudyResult StudyRow StudyTable",
        "threads": "FeatureWeight ThreadOrdersResult ThreadSettings",
        "training": "GridPoint GridSearch GridValue TrainingResult TrainingStep UpdateResult value_text",
        "vectors": "NearWord VectorsResult",
        "weights_plan": "WeightsPlanResult",
        "wmt": "MetricsTaskResult MetricsTaskSettings",
    }
)
"""Names of each module, with spaces between them."""

MODULE_OF: Final[Mapping[str, str]] = MappingProxyType(
    {name: f"postil.records.results.{module}" for module, names in MODULES.items() for name in names.split()}
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
