"""Tables of Python become rows: odd columns, missing values, messages that name what the user wrote."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from postil.data.frames import BATCH, SYSTEM, ColumnNames, is_table, open_rows, plain_value
from postil.data.rows import Article, Candidate, Judgement, Passage, Rating, Reference, Row, Score
from postil.errors import InvalidInput
from refusals import refused


def opened(table: Any, row_type: type[Row], columns: dict[str, str] | None = None, *wide: str) -> list[Any]:
    names = ColumnNames({"table": row_type}, columns, wide={"table": wide})
    return list(open_rows(table, row_type, "table", names))


@pytest.mark.parametrize(
    ("table", "columns", "row"),
    [
        (pd.DataFrame([[1, "a"]]), {"item": "0", "text": "1"}, Reference("1", "a")),
        (pd.DataFrame({"item": [1], "text": ["a"], "grade": [3]}), {"grade": ""}, Reference("1", "a")),
        (pd.DataFrame({"item": [1.0], "text": ["a"], "upvotes": [2.0]}), {}, Reference("1", "a", upvotes=2)),
        (pd.DataFrame({"item": pd.Categorical(["a"]), "text": ["b"]}), {}, Reference("a", "b")),
        (pl.DataFrame({"item": [1], "text": ["a"], "grade": [Decimal("1.5")]}), {}, Reference("1", "a", grade=1.5)),
        (pl.DataFrame({"item": [1], "out": [{"text": "a"}]}), {"text": "out.text"}, Reference("1", "a")),
        (pl.DataFrame({"item": [1], "gold": [["a"]]}), {"text": "gold"}, Reference("1", "a")),
        (pl.DataFrame({"item": [1], "gold": [["a"]]}), {"references": "gold"}, Reference("1", "a")),
        ([{"item": 1, "text": "a", "weight": np.float64(0.5)}], {}, Reference("1", "a", weight=0.5)),
        (
            [{"item": 1, "text": "a", "ratings": [{"annotator": 2, "grade": 3}]}],
            {},
            Reference("1", "a", ratings=(Rating("2", 3),)),
        ),
    ],
)
def test_columns_of_all_kinds(table: Any, columns: dict[str, str], row: Reference) -> None:
    assert opened(table, Reference, columns) == [row]


@pytest.mark.parametrize(
    ("table", "row_type", "columns", "wide", "problem"),
    [
        (
            pd.DataFrame([[1]]),
            Reference,
            {},
            (),
            "table: no columns 'item', 'text'; the columns are: 0; name them: ",
        ),
        (
            pl.DataFrame({"item": [1], "gold": [["x", None]]}),
            Reference,
            {"text": "gold"},
            (),
            "table:1: gold[1]: expected a text or an object, got null; the value is missing",
        ),
        (pl.DataFrame({"item": [1], "gold": [None]}), Reference, {"references": "gold"}, (), "table:1: gold: missing"),
        (pd.DataFrame({"item": [1], "m": ["x"]}), Score, {}, ("m",), 'table:1: m: expected a number, got "x"'),
        (pd.DataFrame({"item": [1]}), Score, {}, ("bleu",), "table: no column 'bleu'; the columns are: item"),
        (pd.DataFrame({"item": [1], "grade": [np.inf]}), Judgement, {}, (), "table:1: grade: expected a number, got i"),
        (pd.DataFrame({"item": [1.5], "grade": [1]}), Judgement, {}, (), "table:1: item: expected text or an integer"),
    ],
)
def test_what_cannot_be_a_row(
    table: Any, row_type: type[Row], columns: dict[str, str], wide: tuple[str, ...], problem: str
) -> None:
    assert refused(InvalidInput, opened, table, row_type, columns, *wide).startswith(problem)


def test_rows_of_several_batches_have_their_places() -> None:
    n = 2 * BATCH + 3
    table = pl.DataFrame({"item": range(n), "text": ["a"] * n})
    rows = open_rows(table, Candidate, "table")
    found = list(rows)
    assert [found[0].item, found[-1].item, len(found)] == ["0", str(n - 1), n]
    assert str(rows.places.error(n - 1, "text", "x")) == f"table:{n}: text: x"
    broken = table.with_columns(item=pl.Series([*range(n - 2), None, n]))
    with pytest.raises(
        InvalidInput, match=rf"^table:{n - 1}: item: expected text or an integer, got null; the value is"
    ):
        list(open_rows(broken, Candidate, "table"))


def test_empty_cells_of_wide_tables_are_no_rows() -> None:
    table = pd.DataFrame({"item": [1, 2, 3], "ann": [1, None, 3], "bob": [None, 2, 1]})
    rows = open_rows(table, Judgement, "table", ColumnNames({"table": Judgement}, wide={"table": ("ann", "bob")}))
    with pytest.warns(UserWarning, match="^table: empty cells, taken as no grade: 1 in ann, 1 in bob$"):
        found = [(row.item, row.annotator) for row in rows]
    assert found == [("1", "ann"), ("2", "bob"), ("3", "ann"), ("3", "bob")]
    assert [rows.places.line(index) for index in range(4)] == [1, 2, 3, 3]
    assert str(rows.places.error(1, "grade", "x")) == "table:2: bob: x"


def test_names_of_columns_and_values_of_frames() -> None:
    names = ColumnNames({"table": Score}, wide={"table": "bleu"})
    assert list(open_rows([{"item": 1, "bleu": 0.5}], Score, "table", names)) == [Score("1", SYSTEM, "bleu", 0.5)]
    names = ColumnNames({"table": Passage}, constants={"topic": "page", "id": "passage"})
    assert list(open_rows([{"text": "a"}], Passage, "table", names)) == [Passage("page", "passage", "a")]
    table = pd.DataFrame({"id": [1], "title": ["t"], "date": pd.to_datetime(["2020-01-02"]), "comments": [[]]})
    assert opened(table, Article)[0].date == "2020-01-02T00:00:00Z"


@pytest.mark.parametrize(
    ("value", "plain"),
    [(np.nan, None), (pd.NA, None), (pd.NaT, None), (np.int64(3), 3), (np.array([1, np.nan]), [1.0, None])],
)
def test_plain_values(value: object, plain: object) -> None:
    assert plain_value(value) == plain


@pytest.mark.parametrize("value", [3, None, [], ["a"], {"item": [1]}, np.array([1]), pd.Series([1]), pl.Series([1])])
def test_what_is_no_table(value: object) -> None:
    assert not is_table(value)
