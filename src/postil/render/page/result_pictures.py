"""The pictures of every kind of result, for reports, notebooks and Python."""

from __future__ import annotations

from functools import partial, singledispatch
from typing import TYPE_CHECKING, Final

from postil.errors import UsageError
from postil.plots import IntervalRow, intervals
from postil.records.results import (
    AgreementResult,
    BudgetResult,
    CalibrationResult,
    CombinationResult,
    CommenterResult,
    Comparison,
    CorrelationResult,
    EstimateResult,
    InterleavingResult,
    JudgeResult,
    NcgResult,
    PreferencesResult,
    RankingResult,
    Result,
    ScoreResult,
    StatisticsResult,
    StudyResult,
    SummaryResult,
    TrainingResult,
    WeightsPlanResult,
)
from postil.render.calibrate import precision_curve
from postil.render.interleaving import draw_preferences
from postil.render.numbers import number
from postil.render.page.agreement import agreement_pictures
from postil.render.page.audit import audit_pictures
from postil.render.page.blocks import Picture
from postil.render.page.budget_chapter import budget_pictures
from postil.render.page.combine_chapter import combine_pictures
from postil.render.page.estimate_chapter import estimate_pictures
from postil.render.page.gains import Gains
from postil.render.page.gains_chapter import gain_pictures
from postil.render.page.judge_chapter import judge_pictures
from postil.render.page.lookup import Lookup
from postil.render.page.pictures import (
    DRAWN,
    baseline_pictures,
    correlations,
    differences,
    matrices,
    scatters,
    strengths,
)
from postil.render.page.study import study_picture
from postil.render.page.words import isolated
from postil.render.statistics import draw_categories
from postil.render.summaries import measures
from postil.render.training import loss_curves
from postil.render.weights_plan import coverage_curve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.records.results import SystemScore

__all__ = ["pictures_of"]

SCORES: Final = "scores"
"""Key of the picture of all metrics together."""


@singledispatch
def pictures_of(result: Result) -> Iterator[Picture]:
    """The pictures of a result, the most important one first; none where there is nothing to draw.

    Args:
        result: The result.

    Raises:
        UsageError: Results of its kind have no picture.
    """
    names = sorted(kind.__name__ for kind in pictures_of.registry if kind is not object)
    raise UsageError(f"{type(result).__name__} has no picture; these have: {', '.join(names)}")


@pictures_of.register(CorrelationResult)
def _correlation(result: CorrelationResult) -> Iterator[Picture]:
    look = Lookup(result)
    yield from correlations(look)
    yield from differences(look)
    yield from matrices(look)
    yield from filter(None, scatters(look)[:1])
    if result.audit is not None:
        yield from audit_pictures(result.audit)


@pictures_of.register(Comparison)
def _comparison(result: Comparison) -> Iterator[Picture]:
    return baseline_pictures(result)


@pictures_of.register(InterleavingResult)
def _interleaving(result: InterleavingResult) -> Iterator[Picture]:
    title = "Preferences of readers, 95 % confidence intervals"
    said = "; ".join(
        f"{row.model} over {row.baseline} by {row.measure} {number(row.preference)}" for row in result.rows
    )
    yield Picture("preferences", "preferences", title, f"{title}: {said}", partial(draw_preferences, result))


@pictures_of.register(PreferencesResult)
def _preferences(result: PreferencesResult) -> Iterator[Picture]:
    return strengths(result)


@pictures_of.register(NcgResult)
def _gains(result: NcgResult) -> Iterator[Picture]:
    return gain_pictures(Gains(result))


@pictures_of.register(AgreementResult)
def _agreement(result: AgreementResult) -> Iterator[Picture]:
    if result.agreement is not None:
        yield from agreement_pictures(result.agreement)


@pictures_of.register(EstimateResult)
def _estimate(result: EstimateResult) -> Iterator[Picture]:
    yield from estimate_pictures(result)


@pictures_of.register(BudgetResult)
def _budget(result: BudgetResult) -> Iterator[Picture]:
    yield from budget_pictures(result)


@pictures_of.register(CombinationResult)
def _combination(result: CombinationResult) -> Iterator[Picture]:
    yield from combine_pictures(result)


@pictures_of.register(StudyResult)
def _study(result: StudyResult) -> Iterator[Picture]:
    return (study_picture(picture) for part in result.parts for picture in part.pictures)


@pictures_of.register(ScoreResult)
def _scores(result: ScoreResult) -> Iterator[Picture]:
    return _forests("Corpus scores", _by_metric(result.scores))


@pictures_of.register(CommenterResult)
def _commenters(result: CommenterResult) -> Iterator[Picture]:
    return _forests("Corpus scores", _by_metric(result.scores))


@pictures_of.register(SummaryResult)
def _summaries(result: SummaryResult) -> Iterator[Picture]:
    return _forests(
        "Mean scores",
        {
            measure: [IntervalRow(row.system, row.mean, row.low, row.high, measure) for row in rows]
            for measure, rows in measures(result).items()
        },
    )


@pictures_of.register(JudgeResult)
def _judge(result: JudgeResult) -> Iterator[Picture]:
    return judge_pictures(result)


@pictures_of.register(RankingResult)
def _rankings(result: RankingResult) -> Iterator[Picture]:
    measures: dict[str, list[IntervalRow]] = {}
    for row in result.rows:
        each = IntervalRow(row.scorer, row.value, row.low, row.high, row.measure)
        measures.setdefault(row.measure, []).append(each)
    return _forests("Means over articles", measures)


@pictures_of.register(TrainingResult)
def _training(result: TrainingResult) -> Iterator[Picture]:
    if result.rows:
        title = "Cross-entropy by steps of training"
        yield Picture("losses", title, title, title, partial(loss_curves, {result.name or "model": result}))


@pictures_of.register(StatisticsResult)
def _statistics(result: StatisticsResult) -> Iterator[Picture]:
    if result.statistics.all.categories:
        title = "Articles by category"
        yield Picture("categories", title, title, title, partial(draw_categories, result))


@pictures_of.register(CalibrationResult)
def _calibration(result: CalibrationResult) -> Iterator[Picture]:
    if len(result.points) > 1:
        title = "Precision by coverage"
        yield Picture("precision", title, title, title, partial(precision_curve, result))


@pictures_of.register(WeightsPlanResult)
def _weights_plan(result: WeightsPlanResult) -> Iterator[Picture]:
    if result.budget == 1 or not result.covered:
        return
    title = "Share of the value of all references by references graded"
    yield Picture("coverage", title, title, title, partial(coverage_curve, result))


def _by_metric(scores: Sequence[SystemScore]) -> dict[str, list[IntervalRow]]:
    metrics: dict[str, list[IntervalRow]] = {}
    for row in scores:
        metrics.setdefault(row.metric, []).append(IntervalRow(row.system, row.score, group=row.metric))
    return metrics


def _forests(caption: str, metrics: Mapping[str, Sequence[IntervalRow]]) -> Iterator[Picture]:
    """All metrics on one axis where it runs from 0 to 1 for each, then every metric by itself."""
    rows = [row for of in metrics.values() for row in of]
    if len(metrics) > 1 and len(rows) <= DRAWN and all(0 <= row.value <= 1 for row in rows):
        yield _forest(SCORES, caption, rows)
    for metric, of in metrics.items():
        few = f", the first {DRAWN} of {len(of):,} systems" if len(of) > DRAWN else ""
        yield _forest(metric, f"{caption} by {isolated(metric)}{few}", of[:DRAWN])


def _forest(key: str, caption: str, rows: Sequence[IntervalRow]) -> Picture:
    if any(row.low is not None for row in rows):
        caption = f"{caption}, 95 % confidence intervals"
    said = "; ".join(f"{row.group} of {row.name} {number(row.value)}" for row in rows)
    return Picture(key, key, caption, f"{caption}: {said}", partial(intervals, rows))
