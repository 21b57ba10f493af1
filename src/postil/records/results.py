"""The outcome of every command: one tagged struct each, which is what Python gets and what JSON holds.

Encoding a result is its ``--format json``; reading decodes by ``kind``. A field that every result of a kind has is
required; a field with a default is left out of the JSON where it has that default. The order of fields is the order in
the JSON.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Self, TypeAlias, Unpack

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray  # noqa: TC002 - msgspec reads annotations

from postil.errors import UsageError
from postil.records.arguments import check_arguments
from postil.records.atomic_file import AtomicFile
from postil.records.audit_parts import (
    AltTest,
    AltTestRow,
    Audit,
    AuditRanking,
    Calibration,
    CalibrationBin,
    LengthBias,
    LengthBiasRow,
    LengthQuartile,
    RaterCount,
    RaterLevel,
    RaterVariance,
    SkippedAnnotator,
    TestedAnnotator,
    UndefinedLengthBias,
    UndefinedMapping,
    VarianceComponent,
)
from postil.records.budget_parts import BudgetComponents, BudgetFacet, BudgetRow, BudgetSettings, SpreadComponents
from postil.records.calibration_parts import CoveragePoint, FilterComparison, ShowColumn
from postil.records.combination_parts import (
    CombinationColumn,
    CombinationDifference,
    CombinationFit,
    CombinationSettings,
    CombinationTexts,
)
from postil.records.commenter_parts import (
    CommenterTexts,
    EvaluationSettings,
    PeriodScores,
    RankingDifference,
    RankingMeasure,
    ReferenceCounts,
    TrainingPeriod,
    UndefinedScorer,
)
from postil.records.comparison_parts import ComparisonSettings, SystemComparison
from postil.records.corpus_parts import (
    CorpusInput,
    CorpusStatistics,
    DateStatistics,
    ForgottenFolder,
    SplitSize,
    SplitStatistics,
    Spread,
    StatisticsSettings,
)
from postil.records.correlation_parts import (
    Agreement,
    AnnotatorCorrelation,
    Correlation,
    CorrelationData,
    CorrelationSettings,
    Difference,
    DisagreementPair,
    DisagreementText,
    HumanAgreement,
    PairAgreement,
    Points,
    Rater,
    SystemMean,
    UndefinedResult,
)
from postil.records.documents import Document  # noqa: TC001 - msgspec reads it
from postil.records.estimate_parts import (
    EstimateSettings,
    IntervalWidths,
    PredictingScore,
    RelativeEfficiency,
    SystemDifference,
    SystemEstimate,
    UndefinedInterval,
)
from postil.records.forgotten import Erasure  # noqa: TC001 - msgspec reads it
from postil.records.ids import plain_id
from postil.records.interest_parts import (
    FailedPage,
    Goal,
    InterestSettings,
    InterestWeight,
    PageSummary,
    RankedPassage,
    UnitContribution,
)
from postil.records.interleaving_parts import InterleavedPair, InterleavedRank, Preference
from postil.records.judge_parts import (
    JudgeControl,
    JudgedSystem,
    JudgeSettings,
    JudgeUsage,
    LengthCorrelation,
    SelfPreference,
    WithoutGrade,
)
from postil.records.length_parts import GainByLength, LengthThird, ListCorrelation
from postil.records.parts import AnnotatorBias, Estimate, Excluded, OptionalPart, Part, Severity
from postil.records.passage_parts import (
    FLIPS,
    Gain,
    GainCurvePoints,
    GainDifference,
    PassageData,
    PassageSettings,
    SummaryData,
    SummaryScore,
    SummarySettings,
    smallest_p,
)
from postil.records.plan_parts import PlanBalance, PlannedAnnotator, PlannedPair, PlanRevision
from postil.records.preference_parts import PreferenceSettings, PreferredPair, PreferredSystem
from postil.records.quality_parts import (
    AnnotatorCompetence,
    AnnotatorQuality,
    CompetenceModel,
    Consistency,
    QualityConcern,
    RatingWindow,
)
from postil.records.result_json import SCHEMA, decoded, parsed
from postil.records.rows import JudgeScore, PlannedReference, Score
from postil.records.service_parts import AuditLogFile, TokenInfo
from postil.records.study_parts import StudyCell, StudyPart, StudyPicture, StudyRow, StudyTable
from postil.records.suggestions import RankedComment, Suggestions  # noqa: TC001 - the same
from postil.records.table_options import TableFields, TableOptions
from postil.records.thread_parts import FeatureWeight, ThreadSettings
from postil.records.training_parts import GridPoint, GridSearch, GridValue, TrainingStep, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.records.row_files import FilePath

__all__ = [
    "FLIPS",
    "SCHEMA",
    "Agreement",
    "AgreementResult",
    "AltTest",
    "AltTestRow",
    "AnnotatorBias",
    "AnnotatorCompetence",
    "AnnotatorCorrelation",
    "AnnotatorQuality",
    "Audit",
    "AuditLogFile",
    "AuditLogResult",
    "AuditRanking",
    "Backend",
    "BudgetComponents",
    "BudgetFacet",
    "BudgetResult",
    "BudgetRow",
    "BudgetSettings",
    "Calibration",
    "CalibrationBin",
    "CalibrationResult",
    "CombinationColumn",
    "CombinationDifference",
    "CombinationFit",
    "CombinationResult",
    "CombinationSettings",
    "CombinationTexts",
    "CommenterResult",
    "CommenterTexts",
    "Comparison",
    "ComparisonSettings",
    "Consistency",
    "CorpusInput",
    "CorpusMetadata",
    "CorpusStatistics",
    "Correlation",
    "CorrelationData",
    "CorrelationResult",
    "CorrelationSettings",
    "CoveragePoint",
    "DateStatistics",
    "Difference",
    "DisagreementPair",
    "DisagreementText",
    "DryRunResult",
    "Estimate",
    "EstimateResult",
    "EstimateSettings",
    "EvaluationSettings",
    "Excluded",
    "FailedPage",
    "FeatureWeight",
    "FilterComparison",
    "ForgetResult",
    "ForgottenFolder",
    "Gain",
    "GainByLength",
    "GainCurvePoints",
    "GainDifference",
    "Goal",
    "GridPoint",
    "GridSearch",
    "GridValue",
    "HumanAgreement",
    "InterestSettings",
    "InterestTrainingResult",
    "InterestWeight",
    "InterestingPagesResult",
    "InterestingResult",
    "InterleavedPair",
    "InterleavedRank",
    "InterleavingResult",
    "IntervalWidths",
    "JudgeControl",
    "JudgeResult",
    "JudgeSettings",
    "JudgeUsage",
    "JudgedSystem",
    "LengthBias",
    "LengthBiasRow",
    "LengthCorrelation",
    "LengthQuartile",
    "LengthThird",
    "ListCorrelation",
    "MetricsTaskResult",
    "MetricsTaskSettings",
    "NcgResult",
    "NearWord",
    "PageSummary",
    "PairAgreement",
    "PassageData",
    "PassageSettings",
    "PeriodScores",
    "PlanBalance",
    "PlanResult",
    "PlanRevision",
    "PlannedAnnotator",
    "PlannedPair",
    "PlannedReference",
    "Points",
    "PredictingScore",
    "Preference",
    "PreferenceSettings",
    "PreferencesResult",
    "PreferredPair",
    "PreferredSystem",
    "QualityConcern",
    "QualityResult",
    "RankedCommentsResult",
    "RankedPassage",
    "RankingDifference",
    "RankingMeasure",
    "RankingResult",
    "Rater",
    "RaterCount",
    "RaterLevel",
    "RaterVariance",
    "RatingWindow",
    "ReferenceCounts",
    "RelativeEfficiency",
    "Result",
    "ScoreResult",
    "SelfPreference",
    "Severity",
    "ShowColumn",
    "SkippedAnnotator",
    "SplitSize",
    "SplitStatistics",
    "Spread",
    "SpreadComponents",
    "StatisticsResult",
    "StatisticsSettings",
    "StudyCell",
    "StudyPart",
    "StudyPicture",
    "StudyResult",
    "StudyRow",
    "StudyTable",
    "SuggestionsResult",
    "SummaryData",
    "SummaryResult",
    "SummaryScore",
    "SummarySettings",
    "SystemComparison",
    "SystemDifference",
    "SystemEstimate",
    "SystemMean",
    "SystemScore",
    "TestedAnnotator",
    "ThreadOrdersResult",
    "ThreadSettings",
    "TokenInfo",
    "TokensResult",
    "TrainingPeriod",
    "TrainingResult",
    "TrainingStep",
    "UndefinedInterval",
    "UndefinedLengthBias",
    "UndefinedMapping",
    "UndefinedResult",
    "UndefinedScorer",
    "UnitContribution",
    "UpdateResult",
    "VarianceComponent",
    "VectorsResult",
    "Views",
    "WeightsPlanResult",
    "WithoutGrade",
    "register_views",
    "replace",
    "smallest_p",
    "to_json",
    "value_text",
]


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Base of all results.

    Args:
        name: Name of the data, for the titles of a page; empty where nobody named it.
    """

    name: str = ""

    def __repr__(self) -> str:
        """One line of at most 120 characters: the class, and the numbers that matter most."""
        return _views().summary(self)

    def _repr_html_(self) -> str:
        """The first table of the result and its picture, in a notebook."""
        return _views().notebook(self)

    def to_dict(self) -> dict[str, object]:
        """All of the result, as ``--format json`` prints it."""
        return {"schema": SCHEMA, **msgspec.to_builtins(self, enc_hook=_plain)}

    @classmethod
    def from_dict(cls, value: object, where: str = "result") -> Self:
        """Undo `to_dict`; of `Result` for every kind, of a subclass for its own.

        Args:
            value: The JSON of a result, parsed.
            where: Name of its source in messages.

        Raises:
            InvalidInput: It is no result, or one of another kind; says where.
        """
        kinds = {str(kind.__struct_config__.tag): kind for kind in Result.__subclasses__() if issubclass(kind, cls)}
        return decoded(value, kinds, where)

    def to_json(self) -> str:
        """The text that ``--format json`` prints.

        Raises:
            ValueError: A number is not finite.

        >>> import postil
        >>> result = postil.score(["a b"], [["a b c"]], metrics=["rouge-l"])
        >>> result.from_json(result.to_json()) == result
        True
        """
        return to_json(self)

    @classmethod
    def from_json(cls, text: str | bytes, where: str = "result") -> Self:
        """Undo `to_json`; of `Result` for every kind, of a subclass for its own.

        Args:
            text: The JSON of a result.
            where: Name of its source in messages.

        Raises:
            InvalidInput: It is no JSON, no result, or one of another kind; says where.
        """
        check_arguments(Result.from_json, locals())
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        return cls.from_dict(parsed(data, where), where)

    def save(self, path: FilePath) -> None:
        """Write the result as JSON, atomically, for `postil.read_result` and `postil report`.

        Args:
            path: The file; one that is there is replaced.

        Raises:
            PostilError: The operating system reports an error.
            ValueError: A number is not finite.
        """
        check_arguments(Result.save, locals())
        data = to_json(self).encode()
        with AtomicFile(str(path)) as stream:
            stream.write(data)

    def to_rows(self) -> list[dict[str, object]]:
        """The rows of ``--format csv``, one dictionary per number."""
        return _views().rows(self)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """The rows of `to_rows` as a data frame.

        A column of numbers and texts becomes one of texts; a missing value is what the library has for it.

        Args:
            backend: ``pandas``, ``polars`` or ``pyarrow``; by default the first of them that is installed.

        Returns:
            A `pandas.DataFrame`, `polars.DataFrame` or `pyarrow.Table`.

        Raises:
            UnknownName: There is no such backend.
            UsageError: It is not installed, or none of them is.

        >>> import postil
        >>> result = postil.score(["a b"], [["a b c"]], metrics=["rouge-l"])
        >>> result.to_frame("pyarrow").column_names
        ['system', 'metric', 'score', 'n', 'signature']
        """
        check_arguments(Result.to_frame, locals())
        return _views().frame(self, backend)

    def to_csv(self, **table: Unpack[TableFields]) -> str:
        """The text that ``--format csv`` prints; safe to open in a spreadsheet.

        Args:
            table: See `to_latex`.
        """
        return _views().text(self, "csv", TableOptions(**table))

    def to_markdown(self, **table: Unpack[TableFields]) -> str:
        """The tables that ``--format markdown`` prints.

        Args:
            table: See `to_latex`.
        """
        return _views().text(self, "markdown", TableOptions(**table))

    def to_latex(self, **table: Unpack[TableFields]) -> str:
        r"""The tables that ``--format latex`` prints, for the package booktabs.

        Args:
            table: Options of tables: the fields of `postil.records.table_options.TableOptions`, such as
                ``layout="systems", percent=True, digits=1``.

        Raises:
            UsageError: The result has no such layout, or an option does not go with it.

        >>> import postil
        >>> result = postil.score(["a b"] * 2, [["a b c"]] * 2, systems=["x", "y"], metrics=["rouge-l"])
        >>> r"x & \textbf{77.2}" in result.to_latex(layout="systems", percent=True, digits=1)
        True
        """
        return _views().text(self, "latex", TableOptions(**table))

    def to_html(self, **table: Unpack[TableFields]) -> str:
        """The tables that ``--format html`` prints, whole and without a picture.

        Args:
            table: See `to_latex`.
        """
        return _views().text(self, "html", TableOptions(**table))

    def plot(self, name: str | None = None) -> Any:
        """Draw a picture of the result, as a report has it.

        Args:
            name: Name of the picture where there are several, such as a metric or a coefficient; by default the first.

        Returns:
            A `matplotlib.figure.Figure`; its ``savefig`` writes it.

        Raises:
            UsageError: Such a result has no picture, this one has nothing to draw, or no picture of that name.
            MissingExtra: matplotlib is not installed.
        """
        check_arguments(Result.plot, locals())
        return _views().figure(self, name)


Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
"""Library of a data frame."""


class Views(Protocol):
    """The ways in which a higher layer shows a result; see the methods of `Result`."""

    def summary(self, result: Result) -> str:
        """One line of at most 120 characters."""

    def notebook(self, result: Result) -> str:
        """HTML for a notebook."""

    def rows(self, result: Result) -> list[dict[str, object]]:
        """The rows of CSV."""

    def frame(self, result: Result, backend: Backend | None) -> Any:
        """The rows as a data frame."""

    def text(self, result: Result, form: Literal["csv", "markdown", "latex", "html"], table: TableOptions) -> str:
        """The text of a format."""

    def figure(self, result: Result, name: str | None) -> Any:
        """A picture."""


_REGISTERED: Final[list[Views]] = []


def register_views(views: Views) -> None:
    """Make the methods of results show them in these ways.

    Args:
        views: The ways.
    """
    _REGISTERED[:] = [views]


def _views() -> Views:
    if not _REGISTERED:
        import_module(import_module("postil").VIEWS)  # it registers itself
    return _REGISTERED[0]


def to_json(value: object) -> str:
    """Indented JSON with a line break at its end.

    Args:
        value: A result, or lists, dicts, texts and numbers.

    Raises:
        ValueError: A number is not finite.
    """
    plain = value.to_dict() if isinstance(value, Result) else value
    return json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _some(rows: list[dict[str, object]], field: str) -> bool:
    """True if a row has a value of a field."""
    return any(row[field] is not None for row in rows)


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return plain_id(value)


# ---- score ----


class SystemScore(Part, frozen=True, kw_only=True):
    """The corpus score of one system by one metric.

    Args:
        system: The system.
        metric: The metric, as it was asked for.
        score: The corpus score.
        n: Number of candidates.
        signature: All that the number depends on.
    """

    system: str
    metric: str
    score: float
    n: int
    signature: str


class ScoreResult(Result, frozen=True, kw_only=True, eq=False, tag="score"):
    """The scores of systems against graded references.

    Args:
        scores: One row per system and metric.
        aggregation: Aggregation of item scores: ``corpus``, the metric's own corpus score.
        items: Item scores by metric, float64[n] in the order of the candidates, controls among them; empty where they
            went to a file.
        item_signatures: Signatures of the controls in `items`, by name.
        item_names: Item of each candidate in `items`; empty where none was given.
        system_names: System of each candidate in `items`; empty where none was given.
        statistics: Item statistics by metric, float64[n, k], of metrics whose corpus score is not the mean of the item
            scores. They are in memory alone, never in the JSON.
        equal_references: Number of references of its item that are the same text, for each candidate in `items`; empty
            where no candidate has any.
    """

    scores: tuple[SystemScore, ...]
    aggregation: Literal["corpus"]
    items: dict[str, NDArray[np.float64]] = {}
    item_signatures: dict[str, str] = {}
    item_names: tuple[str, ...] = ()
    system_names: tuple[str, ...] = ()
    statistics: dict[str, NDArray[np.float64]] = {}
    equal_references: tuple[int, ...] = ()

    def __eq__(self, other: object) -> bool:
        """Compare all numbers; arrays have no truth value of their own."""
        return isinstance(other, ScoreResult) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.scores)

    def to_dict(self) -> dict[str, object]:
        """See `Result.to_dict`."""
        return Result.to_dict(replace(self, statistics={}) if self.statistics else self)

    @property
    def corpus(self) -> dict[str, float]:
        """The corpus score by metric, of the only system.

        Raises:
            UsageError: There are several systems.
        """
        systems = self.by_system
        if len(systems) > 1:
            raise UsageError(f"corpus is of one system, and these are {len(systems)}: take by_system or scores")
        return next(iter(systems.values()), {})

    @property
    def by_system(self) -> dict[str, dict[str, float]]:
        """The corpus scores of each system, by metric."""
        found: dict[str, dict[str, float]] = {}
        for row in self.scores:
            found.setdefault(row.system, {})[row.metric] = row.score
        return found

    def score_rows(self) -> Iterator[Score]:
        """The item scores as rows, as ``--items`` writes them; candidates without a name are numbered from 0.

        Raises:
            UsageError: The result has no item scores, as they went to a file, or columns of several lengths.
        """
        if not self.items:
            raise UsageError("the result has no item scores; give the file that --items wrote, or score in Python")
        n, system = len(next(iter(self.items.values()))), self.scores[0].system
        items = self.item_names or tuple(map(str, range(n)))
        systems = self.system_names or (system,) * n
        equal = self.equal_references or (0,) * n
        if {n} != {len(each) for each in (items, systems, equal, *self.items.values())}:
            raise UsageError(
                "items, item_names, system_names and equal_references are of several lengths; score the texts again"
            )
        signatures = self.signatures
        none: list[tuple[float, ...]] = [()] * n
        statistics = {name: list(map(tuple, rows.tolist())) for name, rows in self.statistics.items()}
        values = {name: (scores.tolist(), statistics.get(name, none)) for name, scores in self.items.items()}
        for row, (item, of) in enumerate(zip(items, systems, strict=True)):
            for name, (scores, of_text) in values.items():
                about = signatures.get(name, "external"), of_text[row], equal[row] or None
                yield Score(item, of, name, scores[row], *about)

    @property
    def signatures(self) -> dict[str, str]:
        """The signature of each metric and control."""
        return {row.metric: row.signature for row in self.scores} | self.item_signatures


# ---- correlate ----


class CorrelationResult(Result, frozen=True, kw_only=True, tag="correlate"):
    """Metrics against people: correlations, human reference points, tests of differences.

    Args:
        correlations: One row per metric or control and coefficient.
        absent: Coefficients that do not exist, and why.
        human: Human reference points.
        differences: One row per pair of metrics and coefficient.
        notes: Notes on the numbers.
        agreement: Inter-annotator agreement; None where no text has two ratings.
        systems: Mean scores and ratings of each system.
        orders: By metric, Kendall's tau-b of the systems' means with their mean ratings.
        disagreements: The texts on which two opinions differ most.
        data: The table that all is over.
        signatures: All that the numbers of each metric depend on.
        settings: Options of the command.
        points: Every text's ratings and scores; `postil correlate --format json` has none.
        weights: Source of the references' weights, if known.
        absent_differences: Metrics that have no differences, and why, beyond those in `absent`.
        audit: The audit; None where none was asked for.
        severity: Severities of the annotators; None where no text has two ratings.
    """

    correlations: tuple[Correlation, ...]
    absent: tuple[UndefinedResult, ...]
    human: HumanAgreement
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    agreement: Agreement | None
    systems: tuple[SystemMean, ...]
    orders: dict[str, float | None]
    disagreements: tuple[DisagreementPair, ...]
    data: CorrelationData
    signatures: dict[str, str]
    settings: CorrelationSettings
    points: Points | None = None
    weights: str = ""
    absent_differences: tuple[UndefinedResult, ...] = ()
    audit: Audit | None = None
    severity: Severity | None = None

    def to_rows(self) -> list[dict[str, object]]:
        """One row per coefficient, for ``pandas.DataFrame(rows)`` or ``polars.DataFrame(rows)``.

        A field of `Correlation` with a default is a column where some row has it.
        """
        rows = [msgspec.structs.asdict(row) for row in (*self.correlations, *self.human.rows)]
        required = Correlation.__struct_fields__[: -len(Correlation.__struct_defaults__)]
        fields = [name for name in Correlation.__struct_fields__ if name in {*required, "sd"} or _some(rows, name)]
        return [{name: row[name] for name in fields} for row in rows]

    def to_dict(self) -> dict[str, object]:
        """See `Result.to_dict`; human reference points are either all there or a reason alone."""
        made = Result.to_dict(self)
        people: dict[str, object] = made["human"]  # type: ignore[assignment]  # a struct is a dict there
        reason = people.pop("reason")
        return made | {"human": {"reason": reason}} if reason else made


# ---- estimate ----


class EstimateResult(Result, frozen=True, kw_only=True, tag="estimate"):
    """Mean grades of systems, estimated from the ratings of some outputs and the scores of all.

    Args:
        target: Estimand: mean over the ``population`` of items, or over these ``items``.
        method: ``crossed`` (all scores and systems together), ``human`` (ratings alone) or ``ppi`` (PPI++).
        items: Number of items.
        graded: Number of graded items.
        annotators: Number of annotators.
        scores_used: True if scores are used; the numbers are those of the ratings alone otherwise.
        crossed: True if grades are predicted within items.
        systems: One row per system, the best first.
        differences: One row per pair of systems, the better one first.
        scores: The scores.
        common_slope: Slope of grades on weighted scores over all systems; None without predictions.
        item_slope: Slope of items' mean grades; None without predictions within items.
        r_squared: Share of the variance of the grades that leave-one-out predictions explain; None without any.
        rater_variance: Variance of ratings within outputs, without severities where they are removed; None without
            repeated ratings.
        relative_efficiency: Worth of the graded items with scores, in graded items without.
        curve: Expected widths of intervals by number of graded items.
        undefined: Means and differences without an interval, and why.
        excluded: Rows that are not in the numbers, or not as they came.
        notes: Notes on the numbers.
        signatures: All that the scores of each metric depend on.
        settings: Options of the command.
        severity: Severities of the annotators; None where no output has two ratings.
    """

    target: Literal["population", "items"]
    method: Literal["crossed", "human", "ppi"]
    items: int
    graded: int
    annotators: int
    scores_used: bool
    crossed: bool
    systems: tuple[SystemEstimate, ...]
    differences: tuple[SystemDifference, ...]
    scores: tuple[PredictingScore, ...]
    common_slope: float | None
    item_slope: float | None
    r_squared: float | None
    rater_variance: float | None
    relative_efficiency: RelativeEfficiency
    curve: tuple[IntervalWidths, ...]
    undefined: tuple[UndefinedInterval, ...]
    excluded: tuple[Excluded, ...]
    notes: tuple[str, ...]
    signatures: dict[str, str]
    settings: EstimateSettings
    severity: Severity | None = None


# ---- judge ----


class JudgeResult(Result, frozen=True, kw_only=True, tag="judge"):
    """Grades of texts by a judge, a language model.

    Args:
        metric: Name of the judge in score rows.
        systems: One row per system, in the order of their first texts.
        controls: One row per control; empty where none were asked for.
        length: Correlation with the length of the texts; None where no controls were asked for.
        self_preference: The judge's grades of its own texts; None where it wrote none, or none has human ratings.
        rows: Score rows of the texts that have a grade, and of their controls.
        absent: Texts without a grade, by reason.
        usage: Answers that the grades are made of.
        not_sent: Options of requests that the endpoint refuses: ``logprobs``, ``max_tokens`` (of which it takes
            ``max_completion_tokens``), ``seed`` or ``temperature``.
        notes: Notes on the grades.
        signatures: All that the scores of each metric depend on.
        settings: Settings of the judge.
    """

    metric: str
    systems: tuple[JudgedSystem, ...]
    controls: tuple[JudgeControl, ...]
    length: LengthCorrelation | None
    self_preference: SelfPreference | None
    rows: tuple[JudgeScore, ...]
    absent: tuple[WithoutGrade, ...]
    usage: JudgeUsage
    not_sent: tuple[str, ...] = ()
    notes: tuple[str, ...]
    signatures: dict[str, str]
    settings: JudgeSettings


# ---- budget ----


class BudgetResult(Result, frozen=True, kw_only=True, tag="budget"):
    """Plans of a rating campaign: what numbers of items and raters give, and the cheapest that is enough.

    Args:
        components: Variance components that the plans rest on.
        rows: One row per number of items and of raters.
        cheapest: The plan with the fewest hours that gives what is wanted; None where none does, or nothing is wanted.
        notes: Notes on the plans.
        settings: Options of the command.
        excluded: Rows of the pilot that are not in the numbers, or not as they came.
        severity: Severities of the annotators of the pilot; None without one in which an output has two ratings.
    """

    components: BudgetComponents
    rows: tuple[BudgetRow, ...]
    cheapest: BudgetRow | None
    notes: tuple[str, ...]
    settings: BudgetSettings
    excluded: tuple[Excluded, ...] = ()
    severity: Severity | None = None


# ---- combine ----


class CombinationResult(Result, frozen=True, kw_only=True, tag="combine"):
    """A learned combination of scores, with its agreement with human ratings on items that a fit has not seen.

    Args:
        metric: Name of its scores, ``combine(HASH)``: 12 hexadecimal digits of the model.
        signature: All that the out-of-fold grades depend on.
        items: Number of items.
        systems: Number of systems.
        combination: Agreement of its out-of-fold grades with the ratings.
        controls: That of a combination of the controls alone; None without any.
        difference: Difference of the two; None without controls.
        columns: The columns, sorted by name.
        texts: Out-of-fold grades.
        excluded: Texts that are not in the numbers, or not as they came.
        notes: Notes on the numbers.
        settings: Options of the command.
    """

    metric: str
    signature: str
    items: int
    systems: int
    combination: CombinationFit
    controls: CombinationFit | None
    difference: CombinationDifference | None
    columns: tuple[CombinationColumn, ...]
    texts: CombinationTexts
    excluded: tuple[Excluded, ...]
    notes: tuple[str, ...]
    settings: CombinationSettings

    def score_rows(self) -> Iterator[Score]:
        """The out-of-fold grades as rows, as ``--items`` writes them, with those of the controls alone as a control."""
        alone = f"control:controls-only({self.metric})"
        names = {self.metric: (self.signature, self.texts.grades)}
        if self.texts.controls:
            names[alone] = f"{self.signature}|control:controls-only", self.texts.controls
        for row, (item, system) in enumerate(zip(self.texts.items, self.texts.systems, strict=True)):
            for name, (signature, grades) in names.items():
                yield Score(item, system, name, grades[row], signature)


# ---- wmt ----


class MetricsTaskSettings(OptionalPart, frozen=True, kw_only=True):
    """Options of `postil wmt`.

    Args:
        coefficients: Names of the coefficients.
        lower_is_better: Metrics for which lower is better.
        resamples: Number of resamples of systems or segments.
        permutations: Number of permutations.
        seed: Seed of both.
        postil: The version that made the result.
        command: The command line, if there was one.
    """

    coefficients: tuple[str, ...]
    lower_is_better: tuple[str, ...]
    resamples: int
    permutations: int
    seed: int
    postil: str
    command: str = ""


class MetricsTaskResult(Result, frozen=True, kw_only=True, tag="wmt"):
    """Metrics against human scores of one language pair of a test set of WMT.

    Args:
        test_set: Name of the test set.
        language_pair: The language pair.
        references: References that the metrics may have used.
        human: Name of the human scores by level, ``system`` and ``segment``.
        systems: The systems that all is over.
        segments: Number of segments with human scores.
        correlations: One row per metric, level and coefficient. The level is ``system`` (one score per system),
            ``pool`` (all segments of all systems) or ``item`` (the systems' translations of a segment, then the mean).
        ranks: Rank of the significance cluster of each metric, by level and coefficient, such as ``system pearson``.
        absent: Coefficients that do not exist, and why.
        left_out: Systems, segments and metrics that were excluded.
        settings: Options of the command.
    """

    test_set: str
    language_pair: str
    references: tuple[str, ...]
    human: dict[str, str]
    systems: tuple[str, ...]
    segments: int
    correlations: tuple[Correlation, ...]
    ranks: dict[str, dict[str, int]]
    absent: tuple[UndefinedResult, ...]
    left_out: tuple[Excluded, ...]
    settings: MetricsTaskSettings

    def __post_init__(self) -> None:
        for row in self.correlations:
            if row.metric not in self.ranks.get(f"{row.by} {row.coefficient}", ()):
                raise ValueError(f"expected a rank of {row.metric} by {row.by} {row.coefficient}")


# ---- compare ----


class Comparison(Result, frozen=True, kw_only=True, tag="compare"):
    """Systems against a baseline.

    Args:
        aggregation: ``corpus``: the corpus scores of `summed` metrics, the mean of the item scores by all others.
            ``item mean``: the mean of the item scores by every metric.
        baseline: The system that the others are compared with.
        items: Number of items that all systems share.
        systems: One row per metric and system.
        lower_is_better: Metrics for which lower is better; differences keep their sign for them.
        left_out: Items that not every system covers.
        notes: Notes, in words.
        settings: Options of the command.
        weights: Source of the references' weights, if known.
        summed: Metrics whose corpus scores, of summed item statistics, are compared.
        signatures: Signature of each metric, if known.
    """

    aggregation: str
    baseline: str
    items: int
    systems: tuple[SystemComparison, ...]
    lower_is_better: tuple[str, ...]
    left_out: tuple[Excluded, ...]
    notes: tuple[str, ...]
    settings: ComparisonSettings
    weights: str = ""
    summed: tuple[str, ...] = ()
    signatures: dict[str, str] = {}


class InterleavingResult(Result, frozen=True, kw_only=True, tag="interleaving"):
    """Models compared by what readers did with their interleaved suggestions.

    Args:
        baseline: The model that the others are compared with.
        impressions: Number of impressions.
        pairs: Numbers of impressions of each pair of models.
        rows: Preferences, one row per pair and measure.
        ranks: Suggestions and events, one row per pair and rank.
        left_out: Impressions that are not compared.
        notes: Notes, in words.
        settings: Options of the command.
    """

    baseline: str
    impressions: int
    pairs: tuple[InterleavedPair, ...]
    rows: tuple[Preference, ...]
    ranks: tuple[InterleavedRank, ...]
    left_out: tuple[Excluded, ...]
    notes: tuple[str, ...]
    settings: PreferenceSettings


class PreferencesResult(Result, frozen=True, kw_only=True, tag="preferences"):
    """Systems compared by paired preferences, in the model of Bradley and Terry with the ties of Davidson.

    Args:
        preferences: Number of preferences.
        items: Number of items.
        annotators: Number of annotators.
        systems: The systems, the strongest first.
        pairs: All pairs of systems, the stronger one first.
        tie_parameter: nu of the model: the odds of a tie of two equal systems against either of them are nu to 1; None
            where there is no tie.
        left: Share of the preferences with a winner that are for the text on the left; None where no side is known.
        separated: True if the likelihood has no finite maximum, so that half a preference each way was added to each
            pair that was compared.
        baseline: The system whose strength is 0; None where the mean strength is 0.
        notes: Notes, in words.
        settings: Options of the command.
    """

    preferences: int
    items: int
    annotators: int
    systems: tuple[PreferredSystem, ...]
    pairs: tuple[PreferredPair, ...]
    tie_parameter: float | None
    left: Estimate | None
    separated: bool
    baseline: str | None
    notes: tuple[str, ...]
    settings: PreferenceSettings


# ---- passages ----


class NcgResult(Result, frozen=True, kw_only=True, tag="passages"):
    """Rankings of passages by measures, compared by normalized cumulative gain (nCG; no discount, so not nDCG).

    Args:
        gains: One row per ranking and rank cutoff.
        differences: One row per pair of rankings and rank cutoff.
        lines: The curves over rank cutoffs.
        data: The passages that all is over.
        notes: Notes on the numbers.
        settings: Options of the command.
        by_length: One row per ranking: nCG among passages of similar length, rank correlations with and given length.
    """

    gains: tuple[Gain, ...]
    differences: tuple[GainDifference, ...]
    lines: tuple[GainCurvePoints, ...]
    data: PassageData
    notes: tuple[str, ...]
    settings: PassageSettings
    by_length: tuple[GainByLength, ...] = ()


class SummaryResult(Result, frozen=True, kw_only=True, tag="summaries"):
    """Systems' summaries of topics, scored against pooled references.

    Args:
        scores: One row per reference, measure and system.
        agreement: By measure, the correlations over systems of the mean scores by passages and by articles; empty
            without articles.
        data: The summaries that all is over.
        notes: Notes on the numbers.
        settings: Options of the command.
    """

    scores: tuple[SummaryScore, ...]
    agreement: tuple[Correlation, ...] = ()
    data: SummaryData
    notes: tuple[str, ...]
    settings: SummarySettings


class InterestingResult(Result, frozen=True, kw_only=True, tag="interesting"):
    """The passages of a page, the most interesting first.

    Args:
        measure: Spec of the measure that ranks them.
        passages: The passages.
        goal: The goal of the ranking; None of a measure without one.
        lang: Language of the page, a BCP 47 tag; None where it is not known.
        signature: Signature of the ranking; empty without one.
        document: The document that the passages are of; None of rows of passages.
        notes: Notes on the ranking.
    """

    measure: str
    passages: tuple[RankedPassage, ...]
    goal: Goal | None = None
    lang: str | None = None
    signature: str = ""
    document: Document | None = None
    notes: tuple[str, ...] = ()


class InterestingPagesResult(Result, frozen=True, kw_only=True, tag="interesting-pages"):
    """The best passages of each page of a folder or a feed.

    Args:
        measure: Spec of the measure that ranks the passages of a page.
        pages: The pages, in the order of the folder or feed.
        failed: The pages that could not be read or ranked.
        goal: The goal of the ranking; None of a measure without one.
        signature: Signature of the ranking; empty without one.
        notes: Notes on all pages.
    """

    measure: str
    pages: tuple[PageSummary, ...]
    failed: tuple[FailedPage, ...] = ()
    goal: Goal | None = None
    signature: str = ""
    notes: tuple[str, ...] = ()


class InterestTrainingResult(Result, frozen=True, kw_only=True, tag="interest-training"):
    """A model of interest, trained on ratings, and rankings of its pages by fits that have not seen them.

    Args:
        model: Hash of the weights.
        gains: One row per ranking and rank cutoff, over pages.
        differences: The trained ranking minus each other one, one row per rank cutoff.
        weights: The weights of the features, and the largest and smallest ones of words and pairs.
        words: Number of words and pairs with a weight.
        data: The rated passages.
        settings: Options of the command.
        notes: Notes on the numbers.
        by_length: One row per ranking: nCG among passages of similar length, rank correlations with and given length.
    """

    model: str
    gains: tuple[Gain, ...]
    differences: tuple[GainDifference, ...]
    weights: tuple[InterestWeight, ...]
    words: int
    data: PassageData
    settings: InterestSettings
    notes: tuple[str, ...]
    by_length: tuple[GainByLength, ...] = ()


# ---- annotate ----


class AgreementResult(Result, frozen=True, kw_only=True, tag="agreement"):
    """Inter-annotator agreement of a campaign.

    Args:
        agreement: Over the first ratings of items that are not gold; None where there is none.
        reason: The reason where there is none; else empty.
        repeated: Intra-annotator agreement on repeated items.
        gold: Agreement of each annotator with the gold labels.
        revisions: Revisions of the plan; empty where no texts were added.
        competence: Competence of the annotators, as far as it is known.
        competence_model: Model of the competence.
    """

    agreement: Agreement | None
    reason: str
    repeated: tuple[Consistency, ...]
    gold: tuple[Consistency, ...]
    revisions: tuple[PlanRevision, ...] = ()
    competence: tuple[AnnotatorCompetence, ...] = ()
    competence_model: CompetenceModel = "mace"  # which had no name in results before


class QualityResult(Result, frozen=True, kw_only=True, tag="quality"):
    """The quality of the ratings of a campaign, by annotator.

    Args:
        annotators: One row per annotator with ratings, those with the gravest concerns first.
        ratings: Number of ratings.
        model: Model of the competence of annotators.
        undefined: The reason where there is no competence; else empty.
    """

    annotators: tuple[AnnotatorQuality, ...]
    ratings: int
    model: CompetenceModel
    undefined: str = ""


class PlanResult(Result, frozen=True, kw_only=True, tag="plan"):
    """An item assignment.

    Args:
        texts: Number of items.
        annotators_per_item: Number of annotators that an item is meant to have.
        gold: Number of items that everyone has.
        order_correlation: Correlation of an item's position for one annotator and for another, 0 for independent
            orders; None where no two annotators share two items.
        median_gap: Median number of steps from an item to the next of the same article; None where nobody has two.
        annotators: One row per annotator.
        pairs: One row per pair of annotators.
        overlapping: Number of items with one annotator more.
        by_item: True if all items of an article have the same annotators.
        sampled: Number of articles that were sampled at random; None where all were taken.
        sampled_from: Number of articles that there were to sample from.
        balance: Balance of a plan that has changed; None for a new one.
    """

    texts: int
    annotators_per_item: int
    gold: int
    order_correlation: float | None
    median_gap: float | None
    annotators: tuple[PlannedAnnotator, ...]
    pairs: tuple[PlannedPair, ...]
    overlapping: int = 0
    by_item: bool = False
    sampled: int | None = None
    sampled_from: int | None = None
    balance: PlanBalance | None = None


# ---- dry run ----


class DryRunResult(Result, frozen=True, kw_only=True, tag="dry-run"):
    """Work that a command would ask of a language model.

    Args:
        calls: Number of calls.
        cached: Number of requests that need no call, since the cache has their answer or an equal one is made.
        prompt_tokens: Number of tokens of the calls' requests, estimated.
        completion_tokens: Maximum number of tokens of their answers.
        cost: Cost of these tokens; None without a price.
        seconds: Time, estimated.
    """

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    seconds: float


# ---- weights plan ----


class WeightsPlanResult(Result, frozen=True, kw_only=True, tag="weights-plan"):
    """A plan of which references to grade; any beginning of its rows is a plan.

    Args:
        budget: Number of references to grade.
        rows: The references, in the order in which to grade them.
        covered: Value of the plan after each tenth of the budget, as a share of the value of all references.
        notes: Notes on the data and the numbers.
    """

    budget: int
    rows: tuple[PlannedReference, ...]
    covered: tuple[float, ...]
    notes: tuple[str, ...]


# ---- comment ----


class CommenterResult(Result, frozen=True, kw_only=True, tag="commenters"):
    """The scores of commenters against readers' comments.

    Args:
        scores: One row per system and metric.
        suggestions: One row per system.
        articles: Number of articles.
        left_out: Number of articles with one comment alone, or all the same.
        references: Number of references per article.
        settings: Options of the command.
        remarks: Notes on the numbers.
        training: Time of the training articles of each commenter, if these are known.
        periods: Scores by period, if asked for.
    """

    scores: tuple[SystemScore, ...]
    suggestions: tuple[CommenterTexts, ...]
    articles: int
    left_out: int
    references: ReferenceCounts
    settings: EvaluationSettings
    remarks: tuple[str, ...]
    training: tuple[TrainingPeriod, ...] = ()
    periods: tuple[PeriodScores, ...] = ()


class SuggestionsResult(Result, frozen=True, kw_only=True, tag="suggestions"):
    """The suggestions for articles, one row per article."""

    suggestions: tuple[Suggestions, ...]


class CalibrationResult(Result, frozen=True, kw_only=True, tag="calibration"):
    """A filter learned from labels, with what it gives on articles that the fit has not seen.

    Args:
        labels: Number of texts with an answer.
        articles: Number of their articles.
        shown: Number of the texts to show.
        labels_hash: Hash of the answers.
        excluded: Labels that are not in the numbers, or that are of other texts.
        resamples: Number of resamples of the articles.
        seed: Random seed.
        reason: The reason why there is no filter; empty where there is one.
        depth: Number of first suggestions of an article that the filter chooses from.
        filter: ``learned`` for the filter over all columns; ``score`` for the ranker's score, calibrated, where the
            learned filter is refused; empty where there is none.
        penalty: L2 penalty of the fit.
        base_rate: Share of the texts to show.
        first_rate: Share of the articles whose first suggestion is one to show, without a filter.
        auc: Area under the ROC curve of the probability.
        ranker_auc: That of the ranker's score.
        comparisons: The learned filter against the ranker's score.
        points: Precision against coverage, by rising coverage.
        columns: Weights of the columns, the largest first.
        notes: Notes on the numbers.
    """

    labels: int
    articles: int
    shown: int
    labels_hash: str
    excluded: tuple[Excluded, ...]
    resamples: int
    seed: int
    reason: str = ""
    depth: int = 0
    filter: str = ""
    penalty: float | None = None
    base_rate: Estimate | None = None
    first_rate: Estimate | None = None
    auc: Estimate | None = None
    ranker_auc: Estimate | None = None
    comparisons: tuple[FilterComparison, ...] = ()
    points: tuple[CoveragePoint, ...] = ()
    columns: tuple[ShowColumn, ...] = ()
    notes: tuple[str, ...] = ()


class RankedCommentsResult(Result, frozen=True, kw_only=True, tag="ranked-comments"):
    """The comments of threads, article by article, most relevant first."""

    comments: tuple[RankedComment, ...]


class RankingResult(Result, frozen=True, kw_only=True, tag="evaluation"):
    """Ranking of articles' own comments against sampled negatives.

    Args:
        rows: One row per scorer and measure.
        differences: The first scorer against each other one.
        absent: The scorers without a value.
        grid: Choice of the network's hyperparameters; None without one.
    """

    rows: tuple[RankingMeasure, ...]
    differences: tuple[RankingDifference, ...]
    absent: tuple[UndefinedScorer, ...]
    grid: GridSearch | None = None


class ThreadOrdersResult(Result, frozen=True, kw_only=True, tag="thread-orders"):
    """Orders of threads against readers' votes or people's grades.

    Args:
        rows: One row per order and measure.
        differences: Paired differences of the models' orders and others.
        excluded: Threads that are not in the numbers, by reason; and labels.
        weights: Weights of a model of quality that was trained.
        settings: Options of the command.
        remarks: Notes on the numbers.
    """

    rows: tuple[RankingMeasure, ...]
    differences: tuple[RankingDifference, ...]
    excluded: tuple[Excluded, ...]
    weights: tuple[FeatureWeight, ...] = ()
    settings: ThreadSettings
    remarks: tuple[str, ...]


class TrainingResult(Result, frozen=True, kw_only=True, tag="training"):
    """The training of a generator: one row per dev evaluation.

    Args:
        rows: The dev evaluations.
        grid: Choice of the hyperparameters; None without one.
    """

    rows: tuple[TrainingStep, ...]
    grid: GridSearch | None = None


# ---- corpus ----


class CorpusMetadata(Result, frozen=True, kw_only=True, tag="corpus"):
    """The outcome of building a corpus, which is its ``metadata.json``.

    Args:
        format: Version of the corpus folder.
        postil: Version of postil.
        options: The options by name, without secrets.
        tokenizer: Signature of the tokenizer.
        inputs: The input files.
        langs: Languages of the articles, in alphabetical order.
        seen: Number of articles and comments that were excluded or changed, by reason.
        splits: Size of each split; 0 for those without articles.
        words: Number of distinct tokens.
        chosen: Names of the options whose value was chosen from the data, as none was given.
        forgotten: Erasures of comments.
        ratings: File of ratings that took the place of those in the rows; None where there was none.
    """

    format: int
    postil: str
    options: dict[str, str | int | float | tuple[str, ...]]
    tokenizer: str
    inputs: tuple[CorpusInput, ...]
    langs: tuple[str, ...]
    seen: dict[str, int]
    splits: dict[str, SplitSize]
    words: int
    chosen: tuple[str, ...] = ()
    forgotten: tuple[Erasure, ...] = ()
    ratings: CorpusInput | None = None

    def __post_init__(self) -> None:
        for name, kind in (("tokenizer", str), ("vocab_size", int)):
            if not isinstance(self.options.get(name), kind):
                raise ValueError(f"Object missing required field `{name}` - at `$.options`")  # noqa: TRY004 - msgspec
        for split in ("train", "dev", "test"):
            if split not in self.splits:
                raise ValueError(f"Object missing required field `{split}` - at `$.splits`")

    @property
    def origin(self) -> dict[str, object]:
        """Inputs and options as JSON objects: all that tells one corpus from another."""
        found: dict[str, object] = msgspec.json.decode(msgspec.json.encode(self))
        return {name: found[name] for name in ("inputs", "options")}


# ---- update ----


class UpdateResult(Result, frozen=True, kw_only=True, tag="update"):
    """Articles and comments that were added to a retriever.

    Args:
        articles: Number of articles that were added.
        comments: Number of comments that were added.
        updated: Number of comments that took the place of one with the same id.
        kept_out: Number of comments that were left out since they were forgotten.
        held_out: Number of held-out comments of the corpus's test set, which are not added.
        words: Number of words that were added to the vocabulary.
        total_articles: Number of articles of the model now.
        total_comments: Number of comments of the model now.
        segments: Number of segments of its index.
        ranker: The ranker, which keeps its parameters.
        ranker_articles: Number of articles that the ranker was trained on.
        hash_before: Hash of the model before.
        hash: Hash of the model now.
    """

    articles: int
    comments: int
    updated: int
    kept_out: int
    held_out: int
    words: int
    total_articles: int
    total_comments: int
    segments: int
    ranker: str
    ranker_articles: int
    hash_before: str
    hash: str


# ---- forget ----


class ForgetResult(Result, frozen=True, kw_only=True, tag="forget"):
    """The outcome of erasing comments from models, corpora and answers.

    Args:
        folders: The outcome of each folder.
        comments: Number of comments that were asked for, with those of the same text if these were.
        articles: Number of articles that were asked for.
        dry_run: True if nothing was changed.
        serving: Models that a service serves now, of a dry run; else they are refused.
        missing: Folders in which services that have served the models stored labels, and that are not there any more.
    """

    folders: tuple[ForgottenFolder, ...]
    comments: int
    articles: int
    dry_run: bool
    serving: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class StatisticsResult(Result, frozen=True, kw_only=True, tag="statistics"):
    """The statistics of a corpus, and what they depend on."""

    statistics: CorpusStatistics
    settings: StatisticsSettings


# ---- vectors ----


class NearWord(Part, frozen=True, kw_only=True):
    """A near neighbor of a word by the cosine of their vectors."""

    word: str
    near: str
    cosine: float


class VectorsResult(Result, frozen=True, kw_only=True, tag="vectors"):
    """A folder of word vectors.

    Args:
        words: Number of words, or of bigrams.
        dimensions: Length of a vector.
        signature: Signature of the vectors, as scores have it.
        made: Metadata of the folder: spec, seed, hashes, versions.
        nearest: Near neighbors of the requested words, nearest first.
        first: The first words of the vocabulary.
    """

    words: int
    dimensions: int
    signature: str
    made: dict[str, object]
    nearest: tuple[NearWord, ...]
    first: tuple[str, ...] = ()


# ---- serve ----


class AuditLogResult(Result, frozen=True, kw_only=True, tag="audit-log"):
    """An audit log whose lines are as they were written.

    Args:
        files: Its files, the oldest first.
    """

    files: tuple[AuditLogFile, ...]


class TokensResult(Result, frozen=True, kw_only=True, tag="tokens"):
    """The tokens of a file.

    Args:
        tokens: The tokens, in the order of their making.
    """

    tokens: tuple[TokenInfo, ...]


# ---- study ----


class StudyResult(Result, frozen=True, kw_only=True, tag="study"):
    """A study: sections with tables and pictures.

    Args:
        title: Its title.
        data: The data, in words.
        weights: Source of the references' weights, if known.
        conclusion: Its conclusions, one paragraph each.
        parts: Its sections.
        settings: Names and values.
    """

    title: str
    data: str = ""
    weights: str = ""
    conclusion: tuple[str, ...] = ()
    parts: tuple[StudyPart, ...]
    settings: tuple[tuple[str, str], ...] = ()
