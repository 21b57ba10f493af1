"""The table of coefficients has what the types name, and what is computed."""

from __future__ import annotations

from typing import get_args

from postil.meta.coefficient_kinds import KINDS
from postil.meta.coefficients import TABLE, Measure


def test_a_coefficient_is_known_by_one_name_everywhere() -> None:
    assert tuple(TABLE) == get_args(Measure) == tuple(KINDS)
    assert {name: kind.facts for name, kind in KINDS.items()} == TABLE
