"""Columns of any make are taken; what is none is refused with its name."""

from __future__ import annotations

from itertools import repeat

import numpy as np
import pytest

from postil.data.columns import as_list
from postil.errors import InvalidInput


class Frame:
    """A column as Polars and pandas have it."""

    def to_list(self) -> list[object]:
        return ["a", "b"]


@pytest.mark.parametrize("column", [["a", "b"], ("a", "b"), np.array(["a", "b"]), Frame()])
def test_columns(column: object) -> None:
    assert as_list(column, "candidates") == ["a", "b"]


def test_arrow() -> None:
    pa = pytest.importorskip("pyarrow")
    assert as_list(pa.array(["a", "b"]), "candidates") == ["a", "b"]
    assert as_list(pa.chunked_array([["a"], ["b"]]), "candidates") == ["a", "b"]


@pytest.mark.parametrize("column", ["ab", b"ab", 3, None, {"a": 1}, repeat("a"), np.array(3)])
def test_what_is_no_column(column: object) -> None:
    with pytest.raises(InvalidInput, match=r"^candidates: expected a list or a column, got "):
        as_list(column, "candidates")
