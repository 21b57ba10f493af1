"""The section on the audit: could a metric stand in for a person?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.correlation.audit_view import (
    MAPPINGS,
    accuracy_table,
    annotator_table,
    audit_notes,
    audit_tables,
    row_label,
)
from postil.page.blocks import Facts, Heading, Paragraph, Picture, collapsed, first_open
from postil.page.words import capital, isolated
from postil.plots.forest import IntervalRow, intervals
from postil.plots.lines import Curve, curves
from postil.results.names import is_control

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.correlation.result import CorrelationResult
    from postil.meta.audit_parts import AltTest, Audit, Calibration, RaterVariance
    from postil.page.blocks import Block

__all__ = ["audit_blocks", "audit_pictures"]

DRAWN: Final = 60
"""Number of rows of the alternative annotator test that are drawn."""

CURVES: Final = 12
"""Number of metrics with a reliability curve."""

MEANINGS: Final[Mapping[str, str]] = {
    "none": "none (scores as they are)",
    "rounded": "rounded (to a rating)",
}

HEADINGS: Final[Mapping[str, str]] = {
    "accuracies": "Ranking texts and systems",
    "alt-test": "Alternative annotator test",
    "calibration": "On the scale of the ratings",
    "length": "Length of the text",
    "raters": "The raters",
}
"""Headings above the tables that begin a part."""

WORDS: Final[Mapping[str, str]] = {
    "accuracies": "Each pair of texts, or of systems, is ranked by people and by a metric. A metric is worth something "
    "where it is above chance, and above what length and a constant get.",
    "alt-test": "A metric wins against an annotator where it is as close to the ratings of the others as the annotator "
    "is, but for an advantage epsilon; it may replace an annotator where it wins against half of them or more. Real "
    "numbers cannot tie with an annotator, and ratings can: compare rows of one mapping, and first with the constant, "
    "which knows nothing about single texts.",
    "calibration": "Scores are mapped to the scale of the ratings by a fit on other items. A metric is calibrated "
    "where the texts to which it gives a rating have that rating on average.",
    "length": "A correlation that falls where length is held fixed is in part a correlation with length.",
    "raters": "The variance of single ratings by source, and how reliable their means are: the ceiling is what "
    "anything that sees the same texts can be expected to correlate with the mean rating.",
}
"""Sentences below these headings."""


def audit_blocks(result: CorrelationResult) -> Iterator[Block]:
    """The parts of an audit, each with words, pictures and tables, then the notes.

    Args:
        result: The result.
    """
    audit = result.audit
    if audit is None:
        return
    drawn = {
        "alt-test": list(_alt_test(audit.alt_test)),
        "calibration": list(_reliability(audit.calibration)),
        "ceilings": list(_raters(audit.raters)),
    }
    for table in (*filter(None, [accuracy_table(result)]), *audit_tables(audit)):
        if table.key in HEADINGS:
            yield Heading(HEADINGS[table.key])
            yield Paragraph(WORDS[table.key])
        yield from first_open(drawn.get(table.key, ()))
        yield table
        if table.key == "alt-test":
            yield from collapsed(annotator_table(audit.alt_test))
    if notes := list(audit_notes(audit, isolated)):
        yield Facts(tuple(("note", f"{capital(note)}.") for note in notes))


def audit_pictures(audit: Audit) -> Iterator[Picture]:
    """The pictures of an audit that there are.

    Args:
        audit: The audit.
    """
    yield from _alt_test(audit.alt_test)
    yield from _reliability(audit.calibration)
    yield from _raters(audit.raters)


def _alt_test(test: AltTest) -> Iterator[Picture]:
    """The average advantage probability of each metric and control, by mapping."""
    rows = [
        IntervalRow(
            f"{row_label(row.metric)}, passed" if row.passed else row_label(row.metric),
            row.rho,
            row.low,
            row.high,
            MEANINGS.get(mapping, mapping),
            is_control(row.metric),
        )
        for mapping in MAPPINGS
        for row in test.rows
        if row.mapping == mapping
    ]
    if not rows:
        return
    few = f", the first {DRAWN} of {len(rows):,}" if len(rows) > DRAWN else ""
    caption = (
        "Average advantage probability rho: share of texts on which a metric is at least as close to the other "
        f"annotators as an annotator is; 95 % confidence intervals{few}; controls in gray"
    )
    label = f"{caption}; the numbers are in the table below"
    draw = partial(intervals, rows[:DRAWN], xlabel="average advantage probability rho")
    yield Picture("alt-test", "Alternative annotator test", caption, label, draw)


def _reliability(found: Sequence[Calibration]) -> Iterator[Picture]:
    """Reliability curves of the metrics, one picture per mapping."""
    for mapping in ("isotonic", "none", "linear", "rounded"):
        rows = [row for row in found if row.mapping == mapping and row.bins and not is_control(row.metric)]
        if not rows:
            continue
        title = MEANINGS.get(mapping, mapping)
        few = f", the first {CURVES} of {len(rows):,} metrics" if len(rows) > CURVES else ""
        lines = [
            Curve(
                row.metric,
                np.array([each.predicted for each in row.bins]),
                np.array([each.grade for each in row.bins]),
                sizes=np.array([each.n for each in row.bins], np.float64),
            )
            for row in rows[:CURVES]
        ]
        caption = (
            f"Mean rating of the texts to which a metric gives a rating, mapping {title}; on the dotted "
            f"line it is calibrated, and the area of a point is the number of texts{few}"
        )
        draw = partial(curves, lines, xlabel="predicted rating", ylabel="mean rating", diagonal=True)
        key = "reliability" if mapping == "isotonic" else f"reliability-{mapping}"
        yield Picture(key, title, caption, f"Reliability curves, mapping {mapping}", draw)


def _raters(found: RaterVariance) -> Iterator[Picture]:
    """The ceiling and the dependability with more raters."""
    lines = []
    for level in found.levels:
        for name in ("ceiling", "phi"):
            points = [(each.k, value) for each in level.growth if (value := getattr(each, name)) is not None]
            if points:
                k, values = np.array(points).T
                lines.append(Curve(f"{name} by {level.by}", k, values))
    if lines:
        title = "Gain from more raters"
        caption = f"{title}: ceiling of Pearson’s coefficient, and dependability phi of the mean rating"
        draw = partial(curves, lines, log=True, xlabel="raters per text", ylabel="reliability")
        yield Picture("raters", title, caption, f"{caption}; the numbers are in the table below", draw)
