"""Results of earlier versions, which said in sentences alone what later ones have in fields as well."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["with_facts"]

ROWS: Final = frozenset({"excluded", "left_out"})
"""Fields of excluded rows."""
KEPT: Final = re.compile(r", the mean taken\Z|, ranked last\Z")
"""End of the reason for rows that are in the numbers."""
WARNED: Final = re.compile(
    "; over=(near|kernel) (follows|loses)|references? of (its|their) own item|^few outliers rule"
)
"""Part of every note that warns, and of no other."""


def with_facts(value: object) -> object:
    """Add the fields that its sentences tell to a result that was written without them.

    Args:
        value: The JSON of a result, parsed; what is no object remains as it is.

    >>> row = {"why": "graded more than once by one annotator, the mean taken", "n": 1}
    >>> with_facts({"kind": "agreement", "excluded": [row]})["excluded"][0]["kept"]
    True
    >>> with_facts({"kind": "estimate", "notes": ["scores not used: 5 graded items (8 needed)"]})["unused"]
    'scores not used: 5 graded items (8 needed)'
    """
    if not isinstance(value, dict):
        return value
    notes = value.get("notes")
    told = [note for note in notes if isinstance(note, str)] if isinstance(notes, list) else []
    facts: dict[str, object] = {}
    if value.get("kind") == "correlate":
        facts["warnings"] = [note for note in told if WARNED.search(note)]
    elif value.get("kind") == "estimate":
        facts["unused"] = next((note for note in told if note.startswith("scores not used")), "")
    return facts | _kept(value)


def _kept(value: dict[str, object]) -> dict[str, object]:
    found = dict(value)
    for name, inner in value.items():
        if isinstance(inner, dict):
            found[name] = _kept(inner)
        elif name in ROWS and isinstance(inner, list):
            found[name] = [_marked(row) for row in inner]
    return found


def _marked(row: object) -> object:
    if isinstance(row, dict) and isinstance(why := row.get("why"), str) and KEPT.search(why):
        return {"kept": True} | row
    return row
