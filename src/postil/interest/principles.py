"""Principles of interestingness, and the measures that satisfy them; tests/law/test_principles.py checks each cell.

The first three are those of section 2.3 of "Extending Text Informativeness Measures to Passage Interestingness
Evaluation", the others those of Hilderman and Hamilton, "Measuring the Interestingness of Discovered Knowledge: A
Principled Approach" (2003), which are about the counts of one summary. docs/measures.md has the definitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

__all__ = ["HILDERMAN", "PRINCIPLES", "Found", "of_paper"]

Found: TypeAlias = Literal["yes", "weakly", "no"]
"""Always so; never the other way round, but it can make no difference; it can be the other way round."""

Table: TypeAlias = Mapping[str, Mapping[str, Found]]


def _table(names: str, rows: Mapping[str, str]) -> Table:
    cells: dict[str, Found] = {"y": "yes", "w": "weakly", "n": "no"}
    return MappingProxyType(
        {
            family: MappingProxyType({name: cells[cell] for name, cell in zip(names.split(), row, strict=True)})
            for family, row in rows.items()
        }
    )


PRINCIPLES: Final = _table(
    "permutation concentration dispersion transfer weight padding",
    {
        "f1": "yyynwy",
        "w-f1": "yynnwy",
        "kl": "ynynny",
        "js": "yyywyy",
        "logsim": "yyyyyn",
        "rouge": "yyywyw",
        "tf-idf": "yynnny",
        "cosine": "ynnnnn",
        "length": "ynwywy",
        "random": "ywwwww",
    },
)
"""By family of measures: the paper's principles and two more. Weighted forms that are not named go with these."""

HILDERMAN: Final = _table(
    "minimum maximum skewness permutation transfer",
    {
        "f1": "nwnyw",
        "w-f1": "nwnyw",
        "kl": "nnnnn",
        "js": "nnnyn",
        "logsim": "nnnyn",
        "rouge": "nwnyw",
        "tf-idf": "nnnnn",
        "cosine": "nnnnn",
        "length": "wwwyw",
        "random": "wwwyw",
    },
)
"""By family of measures: the principles of Hilderman and Hamilton, of the counts of a passage."""


def of_paper() -> tuple[str, ...]:
    """The families that have permutation invariance, diversity (both forms) and transfer.

    >>> of_paper()
    ('logsim',)
    """
    three = ("permutation", "concentration", "dispersion", "transfer")
    return tuple(family for family, row in PRINCIPLES.items() if all(row[name] == "yes" for name in three))
