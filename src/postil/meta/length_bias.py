"""Length bias: the part that the length of the texts has in the correlation of a metric with human ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.data.ties import joined, tied
from postil.messages import Message, Setting
from postil.meta.audit_parts import LengthBias, LengthBiasRow, LengthQuartile, UndefinedLengthBias
from postil.meta.coefficient_kinds import KINDS, Correlated
from postil.meta.column_correlations import Texts, constant, partial_correlations
from postil.meta.resampling import DRAWS, estimate
from postil.results.names import LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.kernel.arrays import Floats, Int32s, Int64s
    from postil.meta.resampling import Draws
    from postil.meta.table import Table

__all__ = ["length_bias"]


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
        return _without(lengths, 0, 0, reason)
    length = table.scores[:, table.column(lengths)]
    kept = length > 0
    n, left_out = int(kept.sum()), int((~kept).sum())
    if not n:
        return _without(lengths, n, left_out, "no text has a length above 0")
    length = joined(length[kept])
    if n > 1 and constant(np.log(length)[:, None], np.zeros(1, np.int64)).all():
        return _without(lengths, n, left_out, f"every text has the length {length[0]:g}")
    item = np.unique(table.item[kept], return_inverse=True)[1].astype(np.int32)
    work = _Lengths(table.oriented[kept], table.grades[kept], length, item, _quarters(length))
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


def _without(lengths: str, n: int, left_out: int, reason: str) -> LengthBias:
    absent = (UndefinedLengthBias(metric=lengths, reason=reason),)
    return LengthBias(lengths=lengths, n=n, left_out=left_out, rows=(), absent=absent)


def _quarters(length: Floats) -> Int64s:
    """int64[n], quarter of each text by length, 0 to 3."""
    return np.searchsorted(np.quantile(length, (0.25, 0.5, 0.75)), length, side="left")


@dataclass(frozen=True, slots=True, eq=False)
class _Lengths:
    """The texts of positive length.

    Args:
        scores: float64[n, m], higher is better.
        grades: float64[n].
        length: float64[n], above 0.
        item: int32[n], ascending from 0 without a gap.
        quarter: int64[n], see `_quarters`.
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
        return _why_undefined(self.scores[:, column], self.grades)

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
            reason=_why_undefined(self.scores[rows, column], self.grades[rows]) if undefined else None,
        )


def _why_undefined(scores: Floats, grades: Floats) -> str:
    """Reason why scores have no correlation with grades, in words; empty if they have."""
    if len(grades) < 2:
        return "only one text" if len(grades) else "no text"
    for what, values in (("score", scores), ("grade", grades)):
        if constant(values[:, None], np.zeros(1, np.int64)).all():
            return f"every {what} is {values[0]:g}"
    return ""
