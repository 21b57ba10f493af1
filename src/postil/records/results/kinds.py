"""Modules and structs of the kinds of results, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import msgspec

__all__ = ["KINDS", "MODULES", "Kinds"]

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "score": "score:ScoreResult",
        "correlate": "correlation:CorrelationResult",
        "estimate": "estimate:EstimateResult",
        "judge": "judge:JudgeResult",
        "budget": "budget:BudgetResult",
        "combine": "combination:CombinationResult",
        "wmt": "wmt:MetricsTaskResult",
        "compare": "comparison:Comparison",
        "interleaving": "interleaving:InterleavingResult",
        "preferences": "preferences:PreferencesResult",
        "passages": "passages:NcgResult",
        "summaries": "passages:SummaryResult",
        "interesting": "interest:InterestingResult",
        "interesting-pages": "interest:InterestingPagesResult",
        "interest-training": "interest:InterestTrainingResult",
        "agreement": "agreement:AgreementResult",
        "quality": "quality:QualityResult",
        "plan": "plan:PlanResult",
        "dry-run": "judge:DryRunResult",
        "weights-plan": "weights_plan:WeightsPlanResult",
        "commenters": "commenters:CommenterResult",
        "suggestions": "commenters:SuggestionsResult",
        "calibration": "calibration:CalibrationResult",
        "ranked-comments": "commenters:RankedCommentsResult",
        "evaluation": "commenters:RankingResult",
        "thread-orders": "threads:ThreadOrdersResult",
        "training": "training:TrainingResult",
        "corpus": "corpus:CorpusMetadata",
        "update": "training:UpdateResult",
        "forget": "forget:ForgetResult",
        "statistics": "corpus:StatisticsResult",
        "vectors": "vectors:VectorsResult",
        "audit-log": "service:AuditLogResult",
        "tokens": "service:TokensResult",
        "study": "study:StudyResult",
    }
)
"""Module and class of each kind."""

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
        "parts": "AnnotatorBias Estimate Excluded NAMED OptionalPart Part SEVERITY_LEVEL Severity check_interval",
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


class Kinds(Mapping[str, "type[msgspec.Struct]"]):
    """The class of each kind of result, loaded when it is asked for."""

    def __getitem__(self, kind: str) -> type[msgspec.Struct]:
        module, _, name = KINDS[kind].partition(":")
        found: type[msgspec.Struct] = getattr(import_module(f"postil.records.results.{module}"), name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(KINDS)

    def __len__(self) -> int:
        return len(KINDS)
