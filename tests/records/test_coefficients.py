"""The table of coefficients has what the types and the flags name."""

from __future__ import annotations

from postil.metaeval.coefficients import ACCURACIES, MEASURES, OF_SYSTEMS
from postil.records.coefficients import TABLE


def test_the_table_has_the_names_of_the_types() -> None:
    assert tuple(TABLE) == MEASURES
    assert tuple(name for name, each in TABLE.items() if each.accuracy) == ACCURACIES
    assert OF_SYSTEMS == ("pa", "spa")
