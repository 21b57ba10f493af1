"""The pictures of every kind of result, for reports, notebooks and Python."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from postil.budgeting.chapter import budget_pictures
from postil.budgeting.result import BudgetResult
from postil.calibration.result import CalibrationResult
from postil.calibration.view import precision_curve
from postil.combination.chapter import combine_pictures
from postil.combination.result import CombinationResult
from postil.comments.result import CommenterResult, RankingResult
from postil.comments.training.result import TrainingResult
from postil.comments.training.view import loss_curves
from postil.comparison.interleaved_result import InterleavingResult
from postil.comparison.preferences_result import PreferencesResult
from postil.comparison.result import Comparison
from postil.corpus.result import StatisticsResult
from postil.corpus.statistics_view import draw_categories
from postil.correlation.audit_chapter import audit_pictures
from postil.correlation.result import CorrelationResult
from postil.errors import UsageError
from postil.estimation.chapter import estimate_pictures
from postil.estimation.result import EstimateResult
from postil.judging.chapter import judge_pictures
from postil.judging.result import JudgeResult
from postil.page.blocks import Picture
from postil.page.lookup import Lookup
from postil.page.pictures import DRAWN, baseline_pictures, correlations, differences, matrices, scatters, strengths
from postil.page.words import isolated
from postil.passages.chapter import gain_pictures
from postil.passages.gains import Gains
from postil.passages.result import NcgResult, SummaryResult
from postil.passages.view import measures
from postil.plots.forest import IntervalRow, intervals
from postil.raters.chapter import agreement_pictures
from postil.raters.result import AgreementResult
from postil.results.numbers import number
from postil.scoring.result import ScoreResult
from postil.studies.chapter import study_picture
from postil.studies.result import StudyResult
from postil.weights.result import WeightsPlanResult
from postil.weights.view import coverage_curve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from postil.plots import Figure
    from postil.results.base import Result

__all__ = ["pictures_of"]

Drawn = TypeVar("Drawn")

SCORES: Final = "scores"
"""Key of the picture of all metrics together."""


def pictures_of(result: Result) -> Iterator[Picture]:
    """The pictures of a result, the most important one first; none where there is nothing to draw.

    Args:
        result: The result.

    Raises:
        UsageError: Results of its kind have no picture.
    """
    if type(result) not in PICTURES:
        names = sorted(kind.__name__ for kind in PICTURES)
        raise UsageError(f"{type(result).__name__} has no picture; these have: {', '.join(names)}")
    return iter(PICTURES[type(result)](result))


def _correlation(result: CorrelationResult) -> Iterator[Picture]:
    look = Lookup(result)
    yield from correlations(look)
    yield from differences(look)
    yield from matrices(look)
    yield from filter(None, scatters(look)[:1])
    if result.audit is not None:
        yield from audit_pictures(result.audit)


def _interleaving(result: InterleavingResult) -> Iterator[Picture]:
    title = "Preferences of readers, 95 % confidence intervals"
    rows = [
        IntervalRow(row.measure, row.preference, row.low, row.high, f"{row.model} over {row.baseline}")
        for row in result.rows
    ]
    said = "; ".join(f"{row.group} by {row.name} {number(row.value)}" for row in rows)
    draw = partial(intervals, rows, xlabel="preference")
    yield Picture("preferences", "preferences", title, f"{title}: {said}", draw)


def _study(result: StudyResult) -> Iterator[Picture]:
    return (study_picture(picture) for part in result.parts for picture in part.pictures)


def _scores(result: ScoreResult | CommenterResult) -> Iterator[Picture]:
    return _forests("Corpus scores", [IntervalRow(row.system, row.score, group=row.metric) for row in result.scores])


def _summaries(result: SummaryResult) -> Iterator[Picture]:
    rows = [
        IntervalRow(row.system, row.mean, row.low, row.high, measure)
        for measure, rows in measures(result).items()
        for row in rows
    ]
    return _forests("Mean scores", rows)


def _rankings(result: RankingResult) -> Iterator[Picture]:
    rows = [IntervalRow(row.scorer, row.value, row.low, row.high, row.measure) for row in result.rows]
    return _forests("Means over articles", rows)


def _alone(key: str, title: str, draw: Callable[[Drawn], Figure], drawn: Drawn, *, there: bool) -> Iterator[Picture]:
    """The only picture of a result, if there is something to draw."""
    if there:
        yield Picture(key, title, title, title, partial(draw, drawn))


PICTURES: Final[Mapping[type[Result], Callable[[Any], Iterable[Picture]]]] = {
    AgreementResult: lambda result: agreement_pictures(result.agreement) if result.agreement is not None else (),
    BudgetResult: budget_pictures,
    CalibrationResult: lambda result: _alone(
        "precision", "Precision by coverage", precision_curve, result, there=len(result.points) > 1
    ),
    CombinationResult: combine_pictures,
    CommenterResult: _scores,
    Comparison: baseline_pictures,
    CorrelationResult: _correlation,
    EstimateResult: estimate_pictures,
    InterleavingResult: _interleaving,
    JudgeResult: judge_pictures,
    NcgResult: lambda result: gain_pictures(Gains(result)),
    PreferencesResult: strengths,
    RankingResult: _rankings,
    ScoreResult: _scores,
    StatisticsResult: lambda result: _alone(
        "categories", "Articles by category", draw_categories, result, there=bool(result.statistics.all.categories)
    ),
    StudyResult: _study,
    SummaryResult: _summaries,
    TrainingResult: lambda result: _alone(
        "losses",
        "Cross-entropy by steps of training",
        loss_curves,
        {result.name or "model": result},
        there=bool(result.rows),
    ),
    WeightsPlanResult: lambda result: _alone(
        "coverage",
        "Share of the value of all references by references graded",
        coverage_curve,
        result,
        there=result.budget > 1 and bool(result.covered),
    ),
}
"""The pictures of each kind of result."""


def _forests(caption: str, rows: Sequence[IntervalRow]) -> Iterator[Picture]:
    """All metrics on one axis where it runs from 0 to 1 for each, then every metric by itself."""
    metrics: dict[str, list[IntervalRow]] = {}
    for row in rows:
        metrics.setdefault(row.group, []).append(row)
    if len(metrics) > 1 and len(rows) <= DRAWN and all(0 <= row.value <= 1 for row in rows):
        yield _forest(SCORES, caption, [row for of in metrics.values() for row in of])
    for metric, of in metrics.items():
        few = f", the first {DRAWN} of {len(of):,} systems" if len(of) > DRAWN else ""
        yield _forest(metric, f"{caption} by {isolated(metric)}{few}", of[:DRAWN])


def _forest(key: str, caption: str, rows: Sequence[IntervalRow]) -> Picture:
    if any(row.low is not None for row in rows):
        caption = f"{caption}, 95 % confidence intervals"
    said = "; ".join(f"{row.group} of {row.name} {number(row.value)}" for row in rows)
    return Picture(key, key, caption, f"{caption}: {said}", partial(intervals, rows))
