"""Tables of scores and ratings, written down by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from postil.data.rows import Judgement, Score
from postil.meta.table import join

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from postil.meta.table import Table

__all__ = ["rated_table"]


def rated_table(
    scores: Mapping[str, Iterable[Any]],
    grades: Iterable[Any],
    *,
    items: Iterable[object] | None = None,
    systems: Iterable[object] | None = None,
    **more: Any,
) -> Table:
    """A table of n texts.

    Args:
        scores: n scores by metric.
        grades: A grade of each text, or its grades by annotator; None for no grade.
        items: The item of each text; by default each is one by itself.
        systems: The system of each text; by default one.
        more: Keywords of `postil.meta.table.join`.
    """
    several = [each if isinstance(each, dict) else {"ann": each} for each in grades]
    named = range(len(several)) if items is None else items, ["a"] * len(several) if systems is None else systems
    keys = [(str(item), str(system)) for item, system in zip(*named, strict=True)]
    return join(
        [Score(*key, name, float(x), "") for name, each in scores.items() for key, x in zip(keys, each, strict=True)],
        [
            Judgement(*key, who, float(grade))
            for key, each in zip(keys, several, strict=True)
            for who, grade in each.items()
            if grade is not None
        ],
        **more,
    )
