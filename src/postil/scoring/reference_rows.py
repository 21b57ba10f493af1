"""References as rows: texts by item, with weights where they can be had."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.counting import have
from postil.data.explain import out_of_range
from postil.data.row_locations import SelectedRows
from postil.data.scale import SCALE_SETTING
from postil.data.weights import DEFAULT, METHODS, NEEDED, default_method, weigh
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Command, Message, Setting
from postil.metrics.evaluation import ReferenceTexts, weighting_signature
from postil.metrics.metric_set import lowest_weight
from postil.metrics.ungraded import NAME, similarity_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.progress import OnMessage
    from postil.data.row_locations import RowLocations, Source
    from postil.data.rows import Reference
    from postil.data.scale import Scale
    from postil.data.weights import Method
    from postil.metrics.base import Metric

__all__ = ["SCALE_MISSING", "ReferenceRows", "Weighting", "read_references"]

SCALE_MISSING: Final = Message(
    "the references have grades: with {scale} the w- metrics are shown too", scale=SCALE_SETTING
)
"""Remark where no metric is named and all references have grades."""

DROP: Final = Setting("ungraded", "drop")
"""The setting that excludes references without a weight."""


@dataclass(frozen=True, eq=False, slots=True)
class ReferenceRows:
    """References of k items, in the order of the items' first lines.

    Args:
        items: Index of each item.
        references: m texts, one set per item.
        refuse: Error for a text by its index, which says where it stands.
        ungraded_items: Items that are excluded, as none of their references has a grade.
    """

    items: dict[str, int]
    references: ReferenceTexts
    refuse: Callable[[int, str], InvalidInput]
    ungraded_items: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Weighting:
    """Choice of the references that have a weight, and of how it is made.

    Args:
        method: Name of a weights method; consensus weights are made later, as they need tokens.
        scale: Scale of the grades.
        metrics: The metrics that were named; None for the default ones.
    """

    method: str | None = None
    scale: Scale | None = None
    metrics: Mapping[str, Metric] | None = None

    @property
    def similarity(self) -> Metric | None:
        """The metric of consensus weights; None for weights that rows have."""
        return similarity_of(self.method)

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields of references that their weights are made of; none where no weights are asked for.

        >>> Weighting("votes").fields, Weighting().fields
        (('upvotes',), ())
        """
        if self.method is not None:
            fields = (METHODS[self.method].field,) if self.method in METHODS else ()
            return ("grade", "ratings") if fields == ("grade",) else fields
        return ("grade", "ratings", "weight") if self.scale is not None or self._needed else ()

    @property
    def _needed(self) -> bool:
        return any(metric.needs_weights for metric in (self.metrics or {}).values())

    def of(self, rows: Sequence[Reference]) -> str | None:
        """The method that weights references: where none is named, weights are made if needed or if all rows have one.

        Args:
            rows: The references.
        """
        if self.method or not (self.scale or self._needed or all(row.weight is not None for row in rows)):
            return self.method or None
        return DEFAULT if self.scale else default_method(rows)

    def graded(self, references: Source[Reference], sizes: Counter[str]) -> Source[Reference]:
        """Select the references that have what the method reads.

        Args:
            references: The references.
            sizes: Count of the references of each item, which grows as they come.

        Raises:
            UsageError: There is no such weights method, or it reads no grades.
        """
        if self.similarity is not None:
            raise UsageError(
                "{ungraded}: the weights method '{method}' reads no grades", ungraded=DROP, method=str(self.method)
            )
        name = self.method or (DEFAULT if self.scale else None)
        fields = ("grade", "weight") if name is None else (_method(name).field,)

        def is_graded(row: Reference) -> bool:
            sizes[row.item] += 1
            return any(_value(row, field) is not None for field in fields)

        return SelectedRows(references, references.places, is_graded)

    def texts(
        self, rows: Sequence[Reference], items: NDArray[np.int64], name: str | None, places: RowLocations
    ) -> ReferenceTexts:
        """Group references by item, and weight them.

        Args:
            rows: m references.
            items: int64[m], index of the item of each; every item has one.
            name: Name of the method; None for no weights.
            places: Locations of the rows.

        Raises:
            UsageError: There is no such weights method, or the grades need a scale.
            InvalidInput: A row has not what the method needs, or a weight that the metrics do not take.
        """
        weights = None if name is None or self.similarity else self._weights(rows, items, name, places)
        order = np.argsort(items, kind="stable")
        return ReferenceTexts(
            texts=[rows[i].text for i in order.tolist()],
            offsets=np.concatenate([[0], np.cumsum(np.bincount(items))]).astype(np.int64),
            weights=None if weights is None else weights[order],
            weighting="" if name is None else weighting_signature(name, self.scale),
            similarity=self.similarity,
        )

    def _weights(
        self, rows: Sequence[Reference], items: NDArray[np.int64], name: str, places: RowLocations
    ) -> NDArray[np.float64]:
        method, lowest = _method(name), lowest_weight(self.metrics or {}, -1.0 if self.metrics else 0.0)
        if method.needs_scale and self.scale is None:
            if any(row.mean_grade is not None for row in rows):
                raise UsageError(
                    "{where}: the grades need a scale (weights '{name}'): {scale}",
                    where=places.where,
                    name=name,
                    scale=SCALE_SETTING,
                )
            there = ", ".join(places.fields(0) or ())
            problem = "missing; a w- metric needs a grade, ratings or a weight on every reference"
            raise places.error(0, method.field, f"{problem} (is the field misspelt? this row has: {there})")
        missing = [i for i, row in enumerate(rows) if _value(row, method.field) is None]
        if 0 < len(missing) < len(rows):
            problem = Message(
                "missing; {needed}, and {count:,} of {all:,} have none; {ungraded} excludes those, and {plan} chooses "
                "which to grade",
                needed=NEEDED[method.field],
                count=len(missing),
                all=len(rows),
                ungraded=DROP,
                plan=Command("weights plan"),
            )
            raise places.error(missing[0], method.field, problem)
        if method.field == "weight":
            for i, row in enumerate(rows):
                if row.weight is not None and not lowest <= row.weight <= 1.0:
                    raise places.error(i, "weight", out_of_range(row.weight, lowest, 1.0))
        weights = weigh(rows, items, method=name, scale=self.scale, places=places)
        for i in np.flatnonzero(weights < lowest).tolist():
            problem = (
                f"the method '{name}' makes the weight {weights[i]:g} of it; only delta-bleu takes weights below 0"
            )
            raise places.error(i, method.field, problem)
        return weights


def read_references(
    references: Source[Reference], weighting: Weighting, on_message: OnMessage, *, drop: bool = False
) -> ReferenceRows:
    """Read references, group them by item and weight them where weights are needed or can be had.

    Args:
        references: Reference rows.
        weighting: Their weights.
        on_message: Callback for status messages.
        drop: True to exclude references without what the weights method reads, and items that have no others.

    Raises:
        UsageError: There is no such weights method, the grades need a scale, or consensus weights, which read no
            grades, with ``drop``.
        InvalidInput: Something in the rows is wrong, or ``drop`` leaves none; says where.
    """
    sizes = Counter[str]()
    if drop:
        references = weighting.graded(references, sizes)
    rows, places = list(references), references.places
    if drop and not rows:
        raise InvalidInput("no reference has a grade, so none is left", where=places.where)
    if drop and (excluded := sizes.total() - len(rows)):
        on_message(f"{excluded:,} of {sizes.total():,} references {have(excluded)} no grade: excluded")
    items: dict[str, int] = {}
    number = np.fromiter((items.setdefault(row.item, len(items)) for row in rows), dtype=np.int64, count=len(rows))
    texts = weighting.texts(rows, number, method := weighting.of(rows), places)
    if method is None and not weighting.metrics and all(row.mean_grade is not None for row in rows):
        on_message(SCALE_MISSING)
    return ReferenceRows(
        items=items,
        references=replace(texts, whole=(min(map(sizes.__getitem__, items)), max(map(sizes.__getitem__, items))))
        if drop
        else texts,
        refuse=lambda i, problem: places.error(int(np.argsort(number, kind="stable")[i]), "text", problem),
        ungraded_items=sizes.keys() - items.keys(),
    )


def _method(name: str) -> Method:
    if name not in METHODS:
        raise UnknownName("weights method", name, [*METHODS, NAME])
    return METHODS[name]


def _value(row: Reference, field: str) -> float | None:
    """Value that a weights method reads; the mean of the ratings stands in for a missing grade."""
    value: float | None = getattr(row, "mean_grade" if field == "grade" else field)
    return value
