"""Names that columns have in other programs: those of postil in upper or lower case, common ones of texts, and id."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.rows import Candidate, Reference, Row

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

__all__ = ["ID", "LISTS", "ROW", "SYNONYMS", "needed", "other_names", "synonyms"]

ID: Final = "id"
"""Name of the column of the item, where no column is called after the item."""

ROW: Final = "#"
"""Column of an item that is the number of its row, counted from 1, in a table without a column of that name."""
LISTS: Final = "references"
"""Field of a row that has all references of an item."""
SYNONYMS: Final[Mapping[type[Row], Collection[str]]] = MappingProxyType(
    {
        Candidate: ("prediction", "predictions", "hypothesis", "hypotheses", "mt", "output", "outputs"),
        Reference: ("reference", "ref", "refs", "target", "targets", "gold"),
    }
)
"""Names of the column of the texts, in lower case."""


def other_names(row_type: type[Row], named: Collection[str] = ()) -> list[str]:
    """Names, in lower case, of columns that a row needs.

    Args:
        row_type: The row.
        named: Fields whose columns were named.

    >>> other_names(Reference)[:5]
    ['item', 'id', 'text', 'reference', 'ref']
    """
    found: list[str] = []
    for each in needed(row_type):
        if each not in named:
            found += [each, *(synonyms(row_type) if each == "text" else ()), *([ID] if each == "item" else [])]
    return found


def needed(row_type: type[Row]) -> list[str]:
    """Fields that a row needs.

    Args:
        row_type: The row.
    """
    return [each.encode_name for each in msgspec.structs.fields(row_type) if each.required]


def synonyms(row_type: type[Row]) -> Collection[str]:
    """Names of the column of the texts in other programs, in lower case.

    Args:
        row_type: The row.
    """
    return next((names for each, names in SYNONYMS.items() if issubclass(row_type, each)), ())
