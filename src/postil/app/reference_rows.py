"""References as rows: texts by item, with weights where they can be had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UnknownName, UsageError
from postil.metrics.consensus import NAME, similarity_of
from postil.metrics.evaluation import ReferenceTexts, weighting_signature
from postil.metrics.metric_set import lowest_weight
from postil.records.explain import out_of_range
from postil.records.weights import DEFAULT, METHODS, default_method, weigh

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.app.progress import OnMessage
    from postil.errors import InvalidInput
    from postil.metrics.base import Metric
    from postil.records.row_locations import RowLocations, Source
    from postil.records.rows import Reference
    from postil.records.scale import Scale

__all__ = ["SCALE_MISSING", "ReferenceRows", "read_references", "weigh_rows"]

SCALE_MISSING: Final = "the references have grades: with --scale HIGH or --scale LOW:HIGH the w- metrics are shown too"
"""Remark where no metric is named and all references have grades."""


@dataclass(frozen=True, eq=False, slots=True)
class ReferenceRows:
    """References of k items, in the order of the items' first lines.

    Args:
        items: Index of each item.
        references: m texts, one set per item.
        refuse: Error for a text by its index, which says where it stands.
    """

    items: dict[str, int]
    references: ReferenceTexts
    refuse: Callable[[int, str], InvalidInput]

    @property
    def weighted(self) -> bool:
        """True if there are weights, by any method."""
        return bool(self.references.weighting)


def read_references(
    references: Source[Reference],
    method: str | None,
    scale: Scale | None,
    asked: Mapping[str, Metric] | None,
    on_message: OnMessage,
) -> ReferenceRows:
    """Read references, group them by item and weight them where weights are needed or can be had.

    Args:
        references: Reference rows.
        method: Name of a weights method; consensus weights are made later, as they need tokens.
        scale: Scale of the grades.
        asked: The metrics that were named; None for the default ones.
        on_message: Callback for status messages.

    Raises:
        UsageError: There is no such weights method, or the grades need a scale.
        InvalidInput: Something in the rows is wrong; says where.
    """
    rows, places = list(references), references.places
    items: dict[str, int] = {}
    number = np.fromiter((items.setdefault(row.item, len(items)) for row in rows), dtype=np.int64, count=len(rows))
    weighted = [metric for metric in asked.values() if metric.needs_weights] if asked else []
    weights, weighting = None, ""
    similarity = similarity_of(method)
    if method is not None and similarity is not None:
        weighting = weighting_signature(method, scale)
    elif weighted or method or scale or all(row.weight is not None for row in rows):
        name = method or (DEFAULT if scale else default_method(rows))
        weights = weigh_rows(
            rows, number, name, scale, lowest=lowest_weight(asked or {}, -1.0 if asked else 0.0), places=places
        )
        weighting = weighting_signature(name, scale)
    elif not asked and all(row.mean_grade is not None for row in rows):
        on_message(SCALE_MISSING)
    order = np.argsort(number, kind="stable")
    return ReferenceRows(
        items=items,
        references=ReferenceTexts(
            texts=[rows[i].text for i in order.tolist()],
            offsets=np.concatenate([[0], np.cumsum(np.bincount(number, minlength=len(items)))]).astype(np.int64),
            weights=None if weights is None else weights[order],
            weighting=weighting,
            similarity=similarity,
        ),
        refuse=lambda i, problem: places.error(int(order[i]), "text", problem),
    )


def weigh_rows(
    rows: Sequence[Reference],
    items: NDArray[np.int64],
    name: str,
    scale: Scale | None,
    *,
    lowest: float,
    places: RowLocations,
) -> NDArray[np.float64]:
    """Weights of references.

    Args:
        rows: m references.
        items: int64[m], index of the item of each.
        name: Name of a weights method.
        scale: Scale of the grades.
        lowest: The lowest weight that all metrics take.
        places: Locations of the rows.

    Returns:
        Their weights, float64[m].

    Raises:
        UnknownName: There is no such weights method.
        UsageError: The grades need a scale.
        InvalidInput: A row has not what the method needs, or a weight that the metrics do not take.
    """
    if name not in METHODS:
        raise UnknownName("weights method", name, [*METHODS, NAME])
    method = METHODS[name]
    if method.needs_scale and scale is None:
        if any(row.mean_grade is not None for row in rows):
            raise UsageError(f"{places.where}: the grades need a scale (weights '{name}'): --scale HIGH or LOW:HIGH")
        there = ", ".join(places.fields(0) or ())
        problem = "missing; a w- metric needs a grade, ratings or a weight on every reference"
        raise places.error(0, method.field, f"{problem} (is the field misspelt? this row has: {there})")
    if method.field == "weight":
        for i, row in enumerate(rows):
            if row.weight is not None and not lowest <= row.weight <= 1.0:
                raise places.error(i, "weight", out_of_range(row.weight, lowest, 1.0))
    weights = weigh(rows, items, method=name, scale=scale, places=places)
    for i in np.flatnonzero(weights < lowest).tolist():
        problem = f"the method '{name}' makes the weight {weights[i]:g} of it; only delta-bleu takes weights below 0"
        raise places.error(i, method.field, problem)
    return weights
