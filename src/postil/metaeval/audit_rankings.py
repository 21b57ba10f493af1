"""Measure of metrics in ranking texts and systems, and their margins: what the verdict of an audit goes by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from postil.metaeval.coefficient_kinds import kind_of
from postil.metaeval.correlation import correlations
from postil.metaeval.resampling import DRAWS
from postil.metaeval.significance import pair_row
from postil.records.names import is_control
from postil.records.results import AuditRanking

if TYPE_CHECKING:
    from postil.metaeval.correlation import Correlations
    from postil.metaeval.resampling import Draws
    from postil.metaeval.table import Table
    from postil.records.coefficients import By, Measure

__all__ = ["audit_ranking"]


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
    kind = kind_of(measure)
    margins = [pair_row(kind, by, table, values, [table.column(name) for name in pair]) for pair in pairs]
    return AuditRanking(
        of=of,
        coefficient=measure,
        by=by,
        rows=found.rows,
        absent=found.absent,
        margins=tuple(row for row in margins if row.low is not None),
    )
