"""Tables of `postil.score`: rows of candidates and references, scored as the command does."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from postil.app.paired_tables import PAIR, open_reference_table
from postil.app.reference_rows import Weighting
from postil.app.score_options import ScoreOptions
from postil.app.score_rows import RowEvaluation
from postil.metrics.evaluation import ItemScores
from postil.metrics.metric_set import parse_all
from postil.records.frames import ColumnNames, open_rows
from postil.records.row_locations import LocatedRows
from postil.records.rows import Candidate, Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.controls import ControlOptions
    from postil.metrics.own import Metrics
    from postil.records.frames import Table
    from postil.records.results import ScoreResult
    from postil.records.scale import Scale

__all__ = ["score_tables"]


def score_tables(
    candidates: Table,
    references: Table,
    columns: Mapping[str, str],
    *,
    item: str | None,
    weights: str | None,
    scale: Scale | None,
    as_grade: bool,
    metrics: Metrics | None,
    tokenizer: str,
    background: DocumentFrequencies | None,
    controls: ControlOptions | None,
    ungraded: str,
    jobs: int,
) -> ScoreResult:
    """Score a table of candidates against a table of references; see `postil.score`.

    Args:
        candidates: The candidates.
        references: The references.
        columns: Column by field.
        item: Column of the item, in both tables.
        weights: Method of the weights.
        scale: Scale of the grades.
        as_grade: True for scores with ``over=kernel`` as grades.
        metrics: Specs and functions; None for the default ones.
        tokenizer: Name of the tokenizer.
        background: Saved document frequencies.
        controls: Controls to add.
        ungraded: Handling of references without what their weights are made of: error or drop.
        jobs: Number of threads.
    """
    several = [metrics] if isinstance(metrics, str) or callable(metrics) else metrics
    weighted = weights is not None or scale is not None
    asked = None if several is None else parse_all(several, weighted=weighted)
    options = ScoreOptions(
        tokenizer=tokenizer, weights=weights, scale=scale, as_grade=as_grade, ungraded=ungraded, jobs=jobs
    )
    names = ColumnNames(PAIR, columns, everywhere={"item": item})
    rows = open_rows(candidates, Candidate, "candidates", names)
    opened = open_reference_table(candidates, references, names, Weighting(weights, scale, asked).fields)
    if several is not None and not weighted and any(map(callable, several)):
        opened, weighted = _with_weights(opened)
        asked = parse_all(several, weighted=weighted)
    scoring = RowEvaluation(rows, opened, options, asked, background=background, controls=controls)
    found, items, systems = ItemScores(scoring.evaluation), list[str](), list[str]()
    for scored in scoring.measure(rows):
        found.add(scored)
        items += [row.item for row in scored.batch.rows]
        systems += [row.system for row in scored.batch.rows]
    for remark in (*scoring.remarks, *scoring.missing()):
        warnings.warn(remark, stacklevel=3)
    return found.result(scoring.totals, items, systems)


def _with_weights(references: LocatedRows[Reference]) -> tuple[LocatedRows[Reference], bool]:
    """The references, and True if one has a weight, which a function that reads weights gets then."""
    rows = list(references)
    return LocatedRows(iter(rows), references.places), any(row.weight is not None for row in rows)
