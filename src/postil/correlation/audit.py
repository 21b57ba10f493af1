"""Audit of metrics beside their correlations: the alternative annotator test, calibration, length bias."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from postil.correlation.result import (
    AltTest,
    AltTestRow,
    Audit,
    AuditRanking,
    Calibration,
    CalibrationBin,
    LengthBias,
    LengthBiasRow,
    LengthQuartile,
    SkippedAnnotator,
    TestedAnnotator,
    UndefinedLengthBias,
)
from postil.data.explain import have, shown
from postil.data.ranking import difference, joined, tied, without_noise
from postil.errors import UsageError
from postil.messages import Message, Setting
from postil.meta.coefficient_kinds import KINDS, Correlated, kind_of
from postil.meta.column_correlations import Texts, constant, partial_correlations, ratio, rows_by, starts_of
from postil.meta.correlation import Correlations, correlations, pair_row
from postil.meta.grade_fits import MappedGrades, map_to_grades, scale_of
from postil.meta.parts import UndefinedMapping
from postil.meta.reliability import MultipleRatings, rater_variance
from postil.meta.resampling import DRAWS, Counts, Draws, estimate, resampled_sums
from postil.meta.significance import NORMAL, Q, benjamini_yekutieli, student_p, student_quantile
from postil.results.names import LENGTH, is_control

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s
    from postil.meta.coefficients import By, Measure
    from postil.meta.table import Table

__all__ = [
    "AUDIT_STEPS",
    "BINS",
    "LEAST",
    "AbsoluteSum",
    "alternative_annotator_test",
    "audit",
    "calibrations",
    "length_bias",
]

AUDIT_STEPS = 6
"""Number of steps of an audit, for a progress bar."""

EPSILON: Final = 0.2
"""Default cost-benefit penalty: the advantage that an annotator gets for the cost of human work."""

LEAST: Final = 30
"""Smallest number of texts that an annotator and somebody else rated for the annotator to be tested."""

BINS: Final = 10
"""Number of bins of equal width over the scale."""

HALVINGS: Final = 40
"""Number of halvings of a range of the unknown."""


def audit(
    table: Table,
    found: Correlations,
    at: Callable[[str], None],
    draws: Draws,
    *,
    given: Table,
    folds: int,
    epsilon: float,
    lengths: str,
) -> Audit:
    """Audit the metrics of a table.

    Args:
        table: The joined table.
        found: The coefficients of the command, whose accuracies are not computed again.
        at: Callback for the name of each step.
        draws: Random draws.
        given: The same table with its ratings as they were given, where severities were removed from those of `table`.
        folds: Number of folds of grades that metrics predict.
        epsilon: Epsilon of the alternative annotator test.
        lengths: Name of the scores that are lengths.
    """
    at("scores on the scale of the ratings")
    mapped = map_to_grades(table, folds)
    calibrated = calibrations(table, mapped, draws)
    at("alternative annotator test")
    alt_test = alternative_annotator_test(table, mapped, epsilon, draws)
    at("length bias")
    length = length_bias(table, lengths, draws)
    at("variance components of raters")
    raters = rater_variance(given)
    rankings = []
    for of in ("texts", "systems"):
        at(f"ranking of {of}")
        rankings.append(audit_ranking(table, of, lengths, draws, known=found))
    return Audit(
        alt_test=alt_test,
        calibration=calibrated,
        length=length,
        raters=raters,
        rankings=tuple(rankings),
        uncalibrated=mapped.absent,
    )


def alternative_annotator_test(
    table: Table, mapped: MappedGrades, epsilon: float = EPSILON, draws: Draws = DRAWS
) -> AltTest:
    """Test against how many annotators a metric holds its ground as a predictor of the other annotators.

    Each annotator in turn is left out. On every text that somebody else rated too, whoever has the smaller root mean
    squared distance to these other ratings, metric or annotator, scores 1, and a tie is 1 for both. The metric wins
    against the annotator if a one-sided t-test at false discovery rate `Q` (Benjamini and Yekutieli) rejects that the
    annotator's share minus the metric's is epsilon or more. The interval of rho resamples the items that have texts
    with two ratings.

    Args:
        table: Scores and ratings of n texts.
        mapped: Predicted grades of the same texts.
        epsilon: Cost-benefit penalty, from 0 to 1.
        draws: Random draws.

    Returns:
        One row per column of the predictions; where no annotator can be tested, reasons instead.

    Raises:
        UsageError: Epsilon is not from 0 to 1.

    >>> from postil.meta.grade_fits import map_to_grades
    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> raters = {"ann": 0, "bob": 1, "cy": 3}
    >>> table = join(
    ...     [Score(str(i), "a", "judge", i % 5) for i in range(40)],
    ...     [Judgement(str(i), "a", who, (i + i // 5 * by) % 5) for i in range(40) for who, by in raters.items()],
    ... )
    >>> row = alternative_annotator_test(table, map_to_grades(table)).rows[0]
    >>> row.mapping, round(row.rho, 3), row.omega, [each.advantage for each in row.annotators]
    ('none', 0.825, 1.0, [1.0, 0.775, 0.7])
    """
    if not 0 <= epsilon <= 1:
        raise UsageError(f"epsilon: expected a number from 0 to 1, got {epsilon:g}")
    names, several = table.ratings.names, np.repeat(table.ratings.counts > 1, table.ratings.counts)
    shared = np.bincount(table.ratings.annotators[several], minlength=len(names))
    if shared.max() < LEAST or not mapped.names:
        reason = _why_untested(names, shared)
        absent = (UndefinedMapping(metric=metric, mapping=mapping, reason=reason) for metric, mapping in mapped.names)
        return AltTest(epsilon=epsilon, q=Q, rows=(), absent=(*mapped.absent, *absent), notes=())
    rated = MultipleRatings.of(table)
    metric, human = _closer(rated, mapped.grades[table.ratings.counts > 1])
    tested = [rows for rows in rows_by(rated.annotators) if len(rows) >= LEAST]
    p = np.stack([_t_tests(metric[rows], human[rows], epsilon) for rows in tested])
    rho = _average_advantages(metric, rated.item[rated.text], tested, draws)
    skipped = tuple(
        SkippedAnnotator(annotator=name, n=n) for name, n in zip(names, shared.tolist(), strict=True) if n < LEAST
    )
    rows = []
    for column, (name, mapping) in enumerate(mapped.names):
        wins = benjamini_yekutieli(p[:, column])
        average = estimate(rho[:, column], int(rated.item[-1]) + 1)
        rows.append(
            AltTestRow(
                metric=name,
                mapping=mapping,
                omega=float(wins.mean()),
                rho=average.value,
                low=average.low,
                high=average.high,
                passed=bool(wins.mean() >= 0.5),
                annotators=tuple(
                    TestedAnnotator(
                        annotator=names[rated.annotators[at[0]]],
                        n=len(at),
                        advantage=float(metric[at, column].mean()),
                        human=float(human[at, column].mean()),
                        p=float(p[number, column]),
                        wins=bool(wins[number]),
                    )
                    for number, at in enumerate(tested)
                ),
                skipped=skipped,
            )
        )
    return AltTest(epsilon=epsilon, q=Q, rows=tuple(rows), absent=mapped.absent, notes=_on_dependence(rated))


def _why_untested(names: tuple[str, ...], shared: Int64s) -> str:
    needs = f"the test needs an annotator with {LEAST} texts that somebody else rated too"
    if len(names) < 2:
        return f"{needs}, and {shown(names[0])} is the only annotator (0 such texts)"
    most = f" ({shown(names[shared.argmax()])})" if shared.any() else ""
    return f"{needs}, and the largest number is {shared.max()}{most}"


def _on_dependence(rated: MultipleRatings) -> tuple[str, ...]:
    several = int(np.count_nonzero(np.bincount(rated.item) > 1))
    if not several:
        return ()
    how_many = f"{several:,} of {int(rated.item[-1]) + 1:,} items {have(several)} several"
    return (f"the t-test takes texts as independent; {how_many}, and where these are alike its p-values are too small",)


def _closer(rated: MultipleRatings, predicted: Floats) -> tuple[Booleans, Booleans]:
    """Compare the distances of predictions and of each rating to the other ratings of its text.

    Args:
        rated: t texts with two ratings or more, and their r ratings.
        predicted: float64[t, p].

    Returns:
        True where the prediction is at least as close, and where the rating is, bool[r, p] both.
    """
    metric, human = np.empty((2, len(rated.grades), predicted.shape[1]), bool)
    for size in np.unique(rated.sizes).tolist():
        texts = np.flatnonzero(rated.sizes == size)
        places = rated.starts[texts][:, None] + np.arange(size)
        grades = rated.grades[places]
        of_human = np.stack([(difference(grades, grades[:, [j]]) ** 2).sum(axis=1) for j in range(size)], axis=1)
        others = np.ones((size, size)) - np.eye(size)
        for column in range(predicted.shape[1]):
            of_metric = difference(predicted[texts, column, None], grades) ** 2 @ others
            alike = tied(of_metric, of_human)
            metric[places, column] = (of_metric < of_human) | alike
            human[places, column] = (of_human < of_metric) | alike
    return metric, human


def _t_tests(metric: Booleans, human: Booleans, epsilon: float) -> Floats:
    """One-sided p-values of a mean of human - metric of epsilon or more, by a t-test; float64[p] from bool[n, p]."""
    n = len(metric)
    away = human.astype(np.int64) - metric
    total, squares = away.sum(axis=0), (away**2).sum(axis=0)
    variance = (n * squares - total**2) / (n * (n - 1))  # its numerator is exact, so that 0 is 0
    excess = total / n - epsilon
    t = excess / np.sqrt(np.where(variance > 0, variance, 1.0) / n)
    tail = student_p(t, n - 1) / 2
    return np.where(variance > 0, np.where(t < 0, tail, 1 - tail), np.where(excess < 0, 0.0, 1.0))


def _average_advantages(metric: Booleans, item: Int32s, tested: list[Int64s], draws: Draws) -> Floats:
    """Mean over the tested annotators of the share of texts on which the prediction is at least as close.

    Args:
        metric: bool[r, p], by rating.
        item: int32[r], item of each rating, ascending from 0 without a gap.
        tested: Ratings of each tested annotator, ascending.
        draws: Random draws.

    Returns:
        float64[1 + R, p], on all items and on each resample; NaN where it has no text of theirs.
    """
    counts = draws.counts(int(item[-1]) + 1)
    total, annotators = np.zeros((1 + len(counts), metric.shape[1])), np.zeros((1 + len(counts), 1))
    for rows in tested:
        starts = starts_of(item[rows])
        closer = np.column_stack([metric[rows], np.ones(len(rows), bool)])
        sums = np.add.reduceat(closer.astype(np.float64), starts)
        found = np.vstack([sums.sum(axis=0), resampled_sums(counts[:, item[rows][starts]], sums)])
        total += np.nan_to_num(ratio(found[:, :-1], found[:, -1:]))
        annotators += found[:, -1:] > 0
    return ratio(total, annotators)


def calibrations(table: Table, mapped: MappedGrades, draws: Draws = DRAWS) -> tuple[Calibration, ...]:
    """Errors of predicted grades, and the expected calibration error (ECE) with its bins.

    The ECE is the mean over the texts of |mean prediction - mean grade| of the text's bin; bins have equal width over
    the scale and are by prediction. By itself it is too high, most where predictions are calibrated; `AbsoluteSum`
    corrects that. Intervals resample the items and keep the fits.

    Args:
        table: Scores and ratings of n texts.
        mapped: Predicted grades of the same texts.
        draws: Random draws.

    Returns:
        One row per column of the predictions.

    >>> from postil.meta.grade_fits import map_to_grades
    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> from postil.data.grades import Scale
    >>> texts = [("1", 1, 2), ("2", 3, 3), ("3", 5, 4)]
    >>> table = join(
    ...     [Score(item, "a", "judge", score) for item, score, _ in texts],
    ...     [Judgement(item, "a", "ann", grade) for item, _, grade in texts],
    ...     scale=Scale(1, 5),
    ... )
    >>> row = calibrations(table, map_to_grades(table))[0]
    >>> row.mapping, round(row.mae, 3), row.bias, round(row.ece_plain, 3), len(row.bins)
    ('none', 0.667, 0.0, 0.667, 3)
    """
    low, high = scale_of(table)
    places = BINS * (mapped.grades - low) / ((high - low) or 1.0)
    bins = np.floor(places.round(9)).clip(0, BINS - 1).astype(np.int64)
    errors = difference(mapped.grades, table.grades[:, None])
    counts = draws.counts(len(table.starts))
    rows = []
    for j, (metric, mapping) in enumerate(mapped.names):
        sums = _resampled_errors(errors[:, j], bins[:, j], table.starts, counts)
        sums = without_noise(sums, max(abs(low), abs(high)))
        mae = estimate(sums[:, 0], len(table.starts))
        ece = AbsoluteSum.of(sums[0, 1:], sums[1:, 1:], len(table.starts))
        rows.append(
            Calibration(
                metric=metric,
                mapping=mapping,
                mae=mae.value,
                rmse=float(np.sqrt((errors[:, j] ** 2).mean())),
                bias=float(without_noise(errors[:, j].mean(), np.abs(errors[:, j]).mean())),
                ece=ece.value,
                ece_plain=ece.plain,
                n=len(table),
                bins=_reliability_curve(mapped.grades[:, j], table.grades, bins[:, j]),
                mae_low=mae.low,
                mae_high=mae.high,
                ece_low=ece.low,
                ece_high=ece.high,
            )
        )
    return tuple(rows)


def _reliability_curve(predicted: Floats, grades: Floats, bins: Int64s) -> tuple[CalibrationBin, ...]:
    """The bins that are not empty, ascending."""
    n = np.bincount(bins)
    sums = np.bincount(bins, predicted), np.bincount(bins, grades)
    return tuple(
        CalibrationBin(n=int(n[b]), predicted=float(sums[0][b] / n[b]), grade=float(sums[1][b] / n[b]))
        for b in np.flatnonzero(n)
    )


def _resampled_errors(errors: Floats, bins: Int64s, starts: Int64s, counts: Counts) -> Floats:
    """Mean absolute error, and the bins' parts of the mean error, on all items and on resamples, float64[1 + R, 11].

    Args:
        errors: float64[n].
        bins: int64[n].
        starts: int64[items], first row of each item.
        counts: int32 or uint8[R, items], resample multiplicities.
    """
    parts = np.zeros((len(errors), 2 + BINS))
    parts[:, 0], parts[:, 1] = 1, np.abs(errors)
    parts[np.arange(len(errors)), 2 + bins] = errors
    of_item = np.add.reduceat(parts, starts)
    sums = np.vstack([of_item.sum(axis=0), resampled_sums(counts, of_item)])
    return np.asarray(sums[:, 1:] / sums[:, :1], np.float64)


@dataclass(frozen=True, slots=True)
class AbsoluteSum:
    """A sum of absolute means, corrected for its bias upward, with an interval that holds near 0.

    Where all true means are 0, the sum of their absolute estimates is above 0 all the same, and a resample of the items
    adds noise to noise, so that the percentiles of resamples lie above the estimate and above the truth. The interval
    inverts tests along the means nearest to those observed, with the deviations of resamples as noise. In 400 samples
    of 20, 60 and 250 items with four texts it covers .98 to .99 where predictions are calibrated and .92 to .98
    elsewhere, and .88 to .98 of cross-fitted predictions, whose fits depend on the errors (percentiles .16 to .72).

    Args:
        plain: The sum of the absolute estimates.
        value: The sum that would give `plain` or more in half of the samples, at most `plain`; 0 where even 0 would.
        low: Lower end of the 95 % confidence interval; None where there is one item.
        high: Upper end.
    """

    plain: float
    value: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, means: Floats, resampled: Floats, items: int) -> AbsoluteSum:
        """Correct a sum, by inverting tests.

        A total t is in the interval where `plain` is between the 2.5th and 97.5th percentile of sums of |mu_b + d_b|:
        d are the deviations of resamples from the estimates, and mu are the means nearest to the estimates, in units of
        their variances, whose absolute values add up to t. The upper end is at least that of the sum with its signs
        held fixed, since fits can make estimates smaller than chance does.

        Args:
            means: float64[k], the estimates.
            resampled: float64[R, k], the same on resamples of the items.
            items: Number of the items.

        >>> noise = np.random.default_rng(1).normal(size=(1000, 4))
        >>> near = AbsoluteSum.of(np.array([0.5, -1.0, 0.25, 0.0]), np.array([0.5, -1.0, 0.25, 0.0]) + noise, 1000)
        >>> near.plain, near.value, near.low
        (1.75, 0.0, 0.0)
        >>> far = AbsoluteSum.of(np.array([50.0, -100.0]), np.array([50.0, -100.0]) + noise[:, :2], 1000)
        >>> round(far.value), round(far.low, 1), round(far.high, 1)
        (150, 147.2, 152.6)
        """
        plain = float(np.abs(means).sum())
        if items < 2:
            return cls(plain, plain, None, None)
        wider = math.sqrt(items / (items - 1)) * student_quantile(0.975, items - 1) / NORMAL
        deviations = (resampled - means) * wider
        variances = deviations.var(axis=0)
        if not variances.any():
            return cls(plain, plain, plain, plain)
        path = _ErrorPath(means, deviations, variances)
        low, value, high = (path.total(share, plain) for share in (0.975, 0.5, 0.025))
        signed = NORMAL * float((deviations @ path.signs).std())
        value = min(value, plain)  # above it only by the chance of few resamples
        return cls(plain, value, min(low, value), max(high, value, signed))


@dataclass(frozen=True, slots=True)
class _ErrorPath:
    """The means nearest to some estimates with every sum of absolute values.

    Args:
        means: float64[k], the estimates.
        deviations: float64[R, k], of resamples.
        variances: float64[k].
    """

    means: Floats
    deviations: Floats
    variances: Floats

    @property
    def signs(self) -> Floats:
        return np.where(self.means >= 0, 1.0, -1.0)

    def at(self, step: float) -> Floats:
        """Means moved away from 0, or towards it for steps below 0, by step times variance."""
        return self.signs * np.maximum(np.abs(self.means) + step * self.variances, 0.0)

    def total(self, share: float, plain: float) -> float:
        """The sum of absolute means where a share of the resampled sums is below `plain`."""

        def above(step: float) -> bool:
            sums = np.abs(self.at(step) + self.deviations).sum(axis=1)
            return bool(np.quantile(sums, share) >= plain)

        moves = self.variances > 0
        least = -float((np.abs(self.means[moves]) / self.variances[moves]).max())
        if above(least):
            return float(np.abs(self.at(least)).sum())
        most = 1 / math.sqrt(float(self.variances.sum()))
        while not above(most):
            most *= 2
        for _ in range(HALVINGS):
            middle = (least + most) / 2
            least, most = (least, middle) if above(middle) else (middle, most)
        return float(np.abs(self.at(most)).sum())


def length_bias(table: Table, lengths: str = LENGTH, draws: Draws = DRAWS) -> LengthBias:
    """Correlate metrics with the mean ratings, with and without the length of the texts.

    ``partial = (r_mg - r_ml r_gl) / sqrt((1 - r_ml^2) (1 - r_gl^2))`` of metric, grade and natural logarithm of length,
    over all texts together. Its 95 % percentile bootstrap confidence interval resamples items; ranks are those within
    each resample. Quarters of the texts are cut at the linearly interpolated quantiles of length, a text equal to a cut
    being below it.

    Args:
        table: Scores and ratings of n texts; random controls have no row.
        lengths: Name of the scores that are lengths. Texts whose length is not above 0 are left out and counted.
        draws: Random draws.

    Returns:
        For each coefficient the metrics in their order. Metrics that are constant, or equal to the lengths, have a
        reason in place of rows; where there are no lengths, or they are constant, the one reason has their name.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> scores = {"m": [1, 3, 2, 4], "control:length": [1, 2, 8, 4]}
    >>> rows = [Score(i, "a", name, score, "") for name, each in scores.items() for i, score in enumerate(each)]
    >>> table = join(rows, [Judgement(i, "a", "ann", grade) for i, grade in enumerate([1, 2, 3, 4])])
    >>> _, row = length_bias(table).rows
    >>> row.coefficient, row.plain, row.with_length, row.grades_with_length, round(row.partial, 4)
    ('spearman', 0.8, 0.4, 0.8, 0.8729)
    """
    if lengths not in table.metrics:
        reason = Message(
            "no scores are named {name}: score with {controls}, keep them with {metrics}, or name other scores with "
            "{lengths}",
            name=lengths,
            controls=Setting("controls"),
            metrics=Setting("metrics"),
            lengths=Setting("lengths"),
        )
        return _no_length_bias(lengths, 0, 0, reason)
    length = table.scores[:, table.column(lengths)]
    kept = length > 0
    n, left_out = int(kept.sum()), int((~kept).sum())
    if not n:
        return _no_length_bias(lengths, n, left_out, "no text has a length above 0")
    length = joined(length[kept])
    if n > 1 and constant(np.log(length)[:, None], np.zeros(1, np.int64)).all():
        return _no_length_bias(lengths, n, left_out, f"every text has the length {length[0]:g}")
    item = np.unique(table.item[kept], return_inverse=True)[1].astype(np.int32)
    quarter = np.searchsorted(np.quantile(length, (0.25, 0.5, 0.75)), length, side="left")
    work = _Lengths(table.oriented[kept], table.grades[kept], length, item, quarter)
    reasons = [work.why_absent(column) for column in range(len(table.metrics))]
    present = [column for column, reason in enumerate(reasons) if not reason]
    tested = [each for each in KINDS.values() if isinstance(each, Correlated) and not each.facts.untested]
    return LengthBias(
        lengths=lengths,
        n=n,
        left_out=left_out,
        rows=tuple(row for kind in tested for row in work.rows(table.metrics, present, kind, draws)),
        absent=tuple(
            UndefinedLengthBias(metric=metric, reason=reason)
            for metric, reason in zip(table.metrics, reasons, strict=True)
            if reason
        ),
    )


def _no_length_bias(lengths: str, n: int, left_out: int, reason: str) -> LengthBias:
    absent = (UndefinedLengthBias(metric=lengths, reason=reason),)
    return LengthBias(lengths=lengths, n=n, left_out=left_out, rows=(), absent=absent)


@dataclass(frozen=True, slots=True, eq=False)
class _Lengths:
    """The texts of positive length.

    Args:
        scores: float64[n, m], higher is better.
        grades: float64[n].
        length: float64[n], above 0.
        item: int32[n], ascending from 0 without a gap.
        quarter: int64[n], quarter of each text by length, 0 to 3.
    """

    scores: Floats
    grades: Floats
    length: Floats
    item: Int32s
    quarter: Int64s

    def why_absent(self, column: int) -> str:
        """Reason why a metric has no rows, in words; empty if it has."""
        if any(tied(sign * self.scores[:, column], self.length).all() for sign in (1, -1)):
            return "its scores are the lengths"
        return _why_no_bias(self.scores[:, column], self.grades)

    def rows(
        self, metrics: tuple[str, ...], present: list[int], kind: Correlated, draws: Draws
    ) -> Iterator[LengthBiasRow]:
        """Yield the rows of some columns by one coefficient."""
        scores, logarithm = self.scores[:, present], np.log(self.length)
        counts = draws.counts(int(self.item[-1]) + 1)

        def of(columns: Floats, other: Floats) -> Floats:
            texts = Texts(columns, other, self.item, np.zeros_like(self.item))
            found = kind.resampled(texts, counts, "pool", draws)
            return np.vstack([found.values, found.samples])

        with_grades = of(np.column_stack([scores, logarithm]), self.grades)
        plain, grades_with_length = with_grades[:, :-1], with_grades[:, -1:]
        with_length = of(scores, logarithm)
        partial = partial_correlations(plain, with_length, grades_with_length)
        order = np.argsort(self.quarter, kind="stable")
        quarters, starts = np.unique(self.quarter[order], return_index=True)
        within = np.full((4, len(present)), np.nan)
        within[quarters] = kind.on(scores[order], self.grades[order], starts)
        for j, column in enumerate(present):
            around = estimate(partial[:, j], counts.shape[1])
            undefined = bool(np.isnan(around.value))
            yield LengthBiasRow(
                metric=metrics[column],
                coefficient=kind.name,
                plain=float(plain[0, j]),
                with_length=float(with_length[0, j]),
                grades_with_length=float(grades_with_length[0, 0]),
                partial=None if undefined else around.value,
                low=None if undefined else around.low,
                high=None if undefined else around.high,
                quartiles=tuple(self._quartile(column, q, float(within[q, j])) for q in range(4)),
            )

    def _quartile(self, column: int, quarter: int, value: float) -> LengthQuartile:
        rows = self.quarter == quarter
        length = self.length[rows]
        undefined = bool(np.isnan(value))
        return LengthQuartile(
            n=len(length),
            start=float(length.min()) if len(length) else None,
            to=float(length.max()) if len(length) else None,
            value=None if undefined else value,
            reason=_why_no_bias(self.scores[rows, column], self.grades[rows]) if undefined else None,
        )


def _why_no_bias(scores: Floats, grades: Floats) -> str:
    """Reason why scores have no correlation with grades, in words; empty if they have."""
    if len(grades) < 2:
        return "only one text" if len(grades) else "no text"
    for what, values in (("score", scores), ("grade", grades)):
        if constant(values[:, None], np.zeros(1, np.int64)).all():
            return f"every {what} is {values[0]:g}"
    return ""


def audit_ranking(
    table: Table,
    of: Literal["texts", "systems"],
    lengths: str,
    draws: Draws = DRAWS,
    *,
    known: Correlations | None = None,
) -> AuditRanking:
    """Rank texts or systems by every metric, and compare the best with the others and its controls, all with lengths.

    Texts are ranked by ``acc-eq`` within items (over all texts where every item has one), systems by ``spa``. Random
    controls are left out. The margins have bootstrap intervals alone, over the resamples of the accuracies.

    Args:
        table: Scores and ratings.
        of: ``texts`` or ``systems``.
        lengths: Name of the scores that are lengths.
        draws: Random draws.
        known: Coefficients of the table that were computed with the same options; the accuracies are taken from them
            where they are there.
    """
    table = table.only(table.metrics)
    measure: Measure = "acc-eq" if of == "texts" else "spa"
    by: By = "system" if of == "systems" else "item" if len(table.starts) < len(table) else "pool"
    found = known.only(measure, by, table.metrics) if known else None
    found = found or correlations(table, [measure], by, draws)
    values = found.replicates[measure]
    defined = [row.metric for row in found.rows]
    metrics = [name for name in defined if not is_control(name) and name != lengths]
    best = max(metrics, key=lambda name: values.values[table.column(name)], default="")
    pairs = [(best, other) for other in metrics if other != best]
    pairs += [(best, other) for other in defined if best and is_control(other) and other != lengths]
    pairs += [(name, lengths) for name in metrics if lengths in defined]
    margins = [pair_row(kind_of(measure), by, table, values, [table.column(name) for name in pair]) for pair in pairs]
    return AuditRanking(
        of=of,
        coefficient=measure,
        by=by,
        rows=found.rows,
        absent=found.absent,
        margins=tuple(row for row in margins if row.low is not None),
    )
