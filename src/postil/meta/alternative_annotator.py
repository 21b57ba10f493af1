"""The alternative annotator test: could a metric stand in for one of the annotators (Calderon, Reichart, Dror 2025)?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.counting import have
from postil.data.explain import shown
from postil.data.ties import difference, tied
from postil.errors import UsageError
from postil.meta.audit_parts import AltTest, AltTestRow, SkippedAnnotator, TestedAnnotator, UndefinedMapping
from postil.meta.column_correlations import ratio, rows_by, starts_of
from postil.meta.multiple_ratings import MultipleRatings
from postil.meta.resampled_rows import resampled_sums
from postil.meta.resampling import DRAWS, estimate
from postil.meta.williams import student_p

if TYPE_CHECKING:
    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s
    from postil.meta.grade_mapping import MappedGrades
    from postil.meta.resampling import Draws
    from postil.meta.table import Table

__all__ = ["EPSILON", "LEAST", "Q", "alternative_annotator_test", "benjamini_yekutieli"]


EPSILON: Final = 0.2
"""Default cost-benefit penalty: the advantage that an annotator gets for the cost of human work."""

Q: Final = 0.05
"""False discovery rate over the annotators."""

LEAST: Final = 30
"""Smallest number of texts that an annotator and somebody else rated for the annotator to be tested."""


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

    >>> from postil.meta.grade_mapping import map_to_grades
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
    p = np.stack([_p_values(metric[rows], human[rows], epsilon) for rows in tested])
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
    return AltTest(epsilon=epsilon, q=Q, rows=tuple(rows), absent=mapped.absent, notes=_notes(rated))


def benjamini_yekutieli(p: Floats, q: float = Q) -> Booleans:
    """Reject hypotheses at a false discovery rate, whatever their dependence (Benjamini and Yekutieli 2001).

    With m hypotheses and H = 1 + 1/2 + … + 1/m, the k smallest p-values are rejected, k the last with
    ``p_(k) <= k q / (m H)``.

    Args:
        p: float64[m].
        q: False discovery rate.

    Returns:
        bool[m].

    >>> benjamini_yekutieli(np.array([0.2, 0.001, 0.02, 0.03])).tolist()
    [False, True, False, False]
    >>> benjamini_yekutieli(np.array([0.004, 0.015, 0.02])).tolist()
    [True, True, True]
    """
    places = np.arange(1, len(p) + 1)
    order = np.argsort(p, kind="stable")
    below = np.flatnonzero(p[order] <= places * q / (len(p) * (1 / places).sum()))
    rejected = np.zeros(len(p), bool)
    rejected[order[: below[-1] + 1 if len(below) else 0]] = True
    return rejected


def _why_untested(names: tuple[str, ...], shared: Int64s) -> str:
    needs = f"the test needs an annotator with {LEAST} texts that somebody else rated too"
    if len(names) < 2:
        return f"{needs}, and {shown(names[0])} is the only annotator (0 such texts)"
    most = f" ({shown(names[shared.argmax()])})" if shared.any() else ""
    return f"{needs}, and the largest number is {shared.max()}{most}"


def _notes(rated: MultipleRatings) -> tuple[str, ...]:
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


def _p_values(metric: Booleans, human: Booleans, epsilon: float) -> Floats:
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
