"""Points and commas in the numbers of tables: what they mean, and when nothing says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import openpyxl
import pytest

from postil.data.reading import Reading, readings
from postil.data.row_files import read
from postil.data.rows import Judgement, Reference, Score
from postil.data.wide import widened
from postil.errors import InvalidInput, UsageError
from postil.messages import COMMAND_LINE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DOUBT = "expected numbers with one decimal mark, got "


def table(path: Path, cells: Sequence[str], between: str = ";") -> Path:
    quoted = [f'"{cell}"' if between in cell else cell for cell in cells]
    rows = [f"{number}{between}x{between}{cell}\n" for number, cell in enumerate(quoted)]
    path.write_text(f"item{between}text{between}grade\n{''.join(rows)}", encoding="utf-8")
    return path


def grades(path: Path, **options: str) -> list[float | None]:
    return [row.grade for row in read(path, Reference, Reading(**options))]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cells", "seen", "line"),
    [
        (["1.000", "999"], '"1.000", beside "999" in line 3', 2),
        (["999", "1.000"], '"1.000", beside "999" in line 2', 3),
        (["1.234", "2,5"], '"1.234", beside "2,5" in line 3', 2),
        (["-1.234", "12.000", "100"], '"-1.234", beside "100" in line 4', 2),
        (["1.234", "-250"], '"1.234", beside "-250" in line 3', 2),
        (["1.234.567"], '"1.234.567", so that', 2),
        (["7", "1.234,5"], '"1.234,5", so that', 3),
        (["1.234", "1.234.567"], '"1.234", beside "1.234.567" in line 3', 2),
        (["1.234", "1e3"], '"1.234", beside "1e3" in line 3', 2),
        (["1,234", "2.5"], '"1,234", beside "2.5" in line 3', 2),
        (["1,000", "999"], '"1,000", beside "999" in line 3', 2),
        (["-250", "1,000"], '"1,000", beside "-250" in line 2', 3),
        (["1,234", "1,234,567"], '"1,234", beside "1,234,567" in line 3', 2),
        (["1,234,567"], '"1,234,567", so that', 2),
    ],
)
def test_a_column_in_doubt_is_refused(tmp_path: Path, cells: list[str], seen: str, line: int) -> None:
    path = table(tmp_path / "t.csv", cells)
    with pytest.raises(InvalidInput) as caught:
        grades(path)
    assert str(caught.value).startswith(f"{path}:{line}: grade: {DOUBT}{seen}")
    assert caught.value.words(COMMAND_LINE).endswith("say which is: --decimal . or --decimal ,")


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["4.125", "3.875"], [4.125, 3.875]),
        (["4.125", "3.875", "5"], [4.125, 3.875, 5]),
        (["4.125", "99"], [4.125, 99]),
        (["1.234", "0.500", "999"], [1.234, 0.5, 999]),
        (["1.234", ".500", "999"], [1.234, 0.5, 999]),
        (["1.234", "2.5", "999"], [1.234, 2.5, 999]),
        (["1.234", "2.5", "2,5"], [1.234, 2.5, 2.5]),
        (["1,234", "2,5", "2.5"], [1.234, 2.5, 2.5]),
        (["1,234", "99"], [1.234, 99]),
        (["1,234", "0,500", "999"], [1.234, 0.5, 999]),
        (["1,234", "2,5", "999"], [1.234, 2.5, 999]),
        (["4,125", "3,875"], [4.125, 3.875]),
        (["100", "250,5"], [100, 250.5]),
    ],
)
def test_columns_that_say_what_their_marks_are(tmp_path: Path, cells: list[str], values: list[float]) -> None:
    assert grades(table(tmp_path / "t.csv", cells)) == values


@pytest.mark.parametrize(
    ("cells", "decimal", "values"),
    [
        (["1.000", "999"], ".", [1, 999]),
        (["1.000", "999"], ",", [1000, 999]),
        (["1.234", "2,5"], ",", [1234, 2.5]),
        (["1.234.567,25", "-1.000", "7", ""], ",", [1234567.25, -1000, 7, None]),
        (["1,234.5", "1,000"], ".", [1234.5, 1000]),
    ],
)
@pytest.mark.parametrize("between", [";", ",", "\t"])
def test_the_mark_that_is_named_decides(
    tmp_path: Path, cells: list[str], decimal: str, values: list[float | None], between: str
) -> None:
    path = table(tmp_path / f"t.{'tsv' if between == chr(9) else 'csv'}", cells, between)
    assert grades(path, decimal=decimal) == values


@pytest.mark.parametrize(
    ("cell", "decimal"), [("2,5", "."), ("2.5", ","), ("1.2345", ","), ("1.23.456", ","), ("1,2,3", ",")]
)
def test_a_number_by_the_other_mark_is_refused(tmp_path: Path, cell: str, decimal: str) -> None:
    path = table(tmp_path / "t.csv", ["3", cell])
    with pytest.raises(InvalidInput) as caught:
        grades(path, decimal=decimal)
    advice = f"--decimal says that '{decimal}' stands before the decimals"
    assert caught.value.words(COMMAND_LINE) == f'{path}:3: grade: expected a number, got "{cell}"; {advice}'


@pytest.mark.parametrize(("between", "name"), [(",", "t.csv"), ("\t", "t.tsv"), ("|", "t.txt")])
def test_other_tables_are_in_doubt_where_both_marks_stand_in_a_column(tmp_path: Path, between: str, name: str) -> None:
    assert grades(table(tmp_path / name, ["1.000", "999"], between)) == [1, 999]
    for cells in (["1.234", "2,5"], ["1.234", "1.234.567"]):
        with pytest.raises(InvalidInput, match=f'grade: {DOUBT}"1.234", beside'):
            grades(table(tmp_path / name, cells, between))


def test_numbers_that_are_text_in_a_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["item", "text", "grade"], ["1", "x", "1.234"], ["2", "y", "2,5"], ["3", "z", 250.5]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(InvalidInput, match=f't.xlsx:2: grade: {DOUBT}"1.234", beside "2,5" in line 3'):
        grades(tmp_path / "t.xlsx")
    assert grades(tmp_path / "t.xlsx", decimal=",") == [1234, 2.5, 250.5]


def test_each_of_several_columns_is_looked_at_alone(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item;system;Rater A;Rater B\na;s;1.000;2.5\nb;s;999;1.5\n", encoding="utf-8")
    for names in (["Rater A", "Rater B"], ["Rater *"]):
        with pytest.raises(InvalidInput, match=f':2: Rater A: {DOUBT}"1.000", beside "999" in line 3'):
            list(read(tmp_path / "t.csv", Judgement, widened(Judgement, names, Reading())))
        found = list(read(tmp_path / "t.csv", Judgement, widened(Judgement, names, Reading(decimal="."))))
        assert [row.grade for row in found] == [1, 2.5, 999, 1.5]
    (tmp_path / "s.csv").write_text("item;system;metric;score\na;s;m;1.000\nc;s;m;250\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"s.csv:2: score: expected numbers"):
        list(read(tmp_path / "s.csv", Score))


def test_what_says_nothing_of_marks_and_what_says_it_far_below(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", ["4.125", "999", "3.875"])
    assert [row.grade for row in read(path, Reference, Reading(missing=frozenset({"999"})))] == [4.125, None, 3.875]
    with pytest.raises(InvalidInput, match=r'"1.000", beside "999" in line 9002'):
        grades(table(path, ["1.000"] * 9000 + ["999"]))


def test_votes_are_numbers_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item;text;upvotes\na;x;1.000\nb;y;1.500,0\nc;z;120\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r":2: upvotes: expected numbers"):
        list(read(tmp_path / "t.csv", Reference))
    assert [row.upvotes for row in read(tmp_path / "t.csv", Reference, Reading(decimal=","))] == [1000, 1500, 120]


def test_the_flag() -> None:
    roles = {"candidates": Reference, "references": Reference}
    assert [each.decimal for each in readings(roles, print, decimal=[","]).values()] == [",", ","]
    assert [each.decimal for each in readings(roles, print, decimal=["references=,"]).values()] == [None, ","]
    with pytest.raises(UsageError, match=r'^decimal: expected \. or , for the mark before the decimals, got ";"$'):
        readings(roles, print, decimal=[";"])
