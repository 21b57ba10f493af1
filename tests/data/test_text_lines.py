"""Files of one text per line, and columns by the names that other programs give them."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from postil.data.reading import Reading
from postil.data.row_files import fields_of, read
from postil.data.rows import Candidate, Judgement, Reference, Score
from postil.errors import InvalidInput
from postil.messages import COMMAND_LINE

if TYPE_CHECKING:
    from pathlib import Path

    from postil.data.rows import Row


def rows_of(path: Path, row_type: type[Row], text: str | bytes, **reading: object) -> tuple[list[Row], list[str]]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    said: list[str] = []
    return list(read(path, row_type, Reading(say=said.append, **reading))), said  # type: ignore[arg-type]  # of a table


def test_lines_are_texts_and_their_numbers_items(tmp_path: Path) -> None:
    found, said = rows_of(tmp_path / "out.txt", Candidate, "\ufeffRain, all day.\r\n\r\n'=1+1 \"quoted\n  last  ")
    assert found == [
        Candidate("1", "out", "Rain, all day."),
        Candidate("2", "out", ""),
        Candidate("3", "out", "'=1+1 \"quoted"),
        Candidate("4", "out", "  last  "),
    ]
    where = tmp_path / "out.txt"
    assert f"{where}: read as one text per line" in said
    assert f"{where}: 1 empty cell in text, taken as empty texts" in said


def test_a_line_break_at_the_end_ends_the_last_line(tmp_path: Path) -> None:
    for text, number in (("a b\n", 1), ("a b", 1), ("a b\n\n", 2), ("\n", 1), ("\n\n\na\n", 4)):
        found, _ = rows_of(tmp_path / "r.txt", Reference, text)
        assert [row.item for row in found] == [str(each) for each in range(1, number + 1)], text  # type: ignore[attr-defined]  # references


def test_many_lines_compressed_and_in_another_encoding(tmp_path: Path) -> None:
    texts = [f"Zeile {number} über Züge" * (number % 3) for number in range(30_000)]
    data = gzip.compress("\n".join(texts).encode("cp1252"))
    found, said = rows_of(tmp_path / "out.txt.gz", Candidate, data, encoding="cp1252")
    assert [row.text for row in found] == texts  # type: ignore[attr-defined]  # candidates
    assert [row.item for row in found[-2:]] == ["29999", "30000"]  # type: ignore[attr-defined]  # candidates
    assert any("10,000 empty cells" in each for each in said)
    with pytest.raises(InvalidInput) as caught:
        rows_of(tmp_path / "out.txt", Candidate, b"fine\n\xff\xfe bad \xc3\xa9\n", encoding="utf-8")
    assert caught.value.words(COMMAND_LINE) == (
        f"{tmp_path / 'out.txt'}:2: byte 0xff is not utf-8; name the encoding with --encoding"
    )


@pytest.mark.parametrize(
    ("text", "is_table"),
    [
        ("item\ttext\n1\ta\n", True),
        ("id\tanswer\n1\ta\n", True),
        ("Results of May\n\nitem,text\n1,a\n", True),
        ("reference\na b\n", True),
        ("Item;TEXT\n1;a\n", True),
        ("The item, the text, and all\nb\n", False),
        ("Text, he said, is all\nb\n", False),
        ("a, a, a\nb\n", False),
        ('"not closed\nb\n', False),
        ("one\ntwo\n", False),
    ],
)
def test_text_with_the_names_of_columns_is_a_table(tmp_path: Path, text: str, is_table: bool) -> None:
    (tmp_path / "t.txt").write_text(text)
    names = fields_of(tmp_path / "t.txt", Reference)
    first = text.partition("\n")[0]
    assert (names == ("text",)) is not is_table, names
    if is_table:
        assert "text" not in first or "text" in names
    with pytest.raises(InvalidInput):  # other rows are in tables alone
        list(read(tmp_path / "t.txt", Judgement))


def test_lines_are_asked_for_whatever_the_name(tmp_path: Path) -> None:
    for name in ("out.en", "out.txt", "out.csv"):
        found, _ = rows_of(tmp_path / name, Reference, "text\tb\nc", format="lines", always=True)
        assert found == [Reference("1", "text\tb"), Reference("2", "c")]
    with pytest.raises(InvalidInput) as caught:
        rows_of(tmp_path / "out.txt", Reference, "text\tb\nc", role="references")
    assert "or, where each line is a text: --input-format references=lines" in caught.value.words(COMMAND_LINE)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".json", ".parquet", ".xlsx"])
def test_columns_in_any_case_and_by_common_names(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    record = {"Item": "q1", "SYSTEM": "a", "Hypothesis": "Rain", "other": "x"}
    if ending == ".csv":
        path.write_text("Results\nItem,SYSTEM,Hypothesis,other\nq1,a,Rain,x\n")
    elif ending == ".parquet":
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.Table.from_pylist([record]), path)
    elif ending == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        pytest.importorskip("python_calamine")
        book = openpyxl.Workbook()
        for row in (["Results"], list(record), list(record.values())):
            book.active.append(row)
        book.save(path)
    else:
        path.write_text(json.dumps([record] if ending == ".json" else record))
    said: list[str] = []
    assert list(read(path, Candidate, Reading(say=said.append))) == [Candidate("q1", "a", "Rain")]
    told = [each for each in said if "other names" in each]
    names = "Item as item, SYSTEM as system, Hypothesis as text"
    assert told == [f"{path}: columns read by other names: {names} (others: columns={{'item': COLUMN}})"]


def test_exact_names_are_taken_first(tmp_path: Path) -> None:
    found, said = rows_of(tmp_path / "t.csv", Reference, "item,text,Grade,gold\n1,a,5,b\n")
    assert found == [Reference("1", "a")], "nothing is missing, so all is read as it is called"
    assert said == [f"{tmp_path / 't.csv'}: columns not read: Grade, gold"]
    found, _ = rows_of(tmp_path / "t.csv", Reference, "Item,Text,Grade\n1,a,5\n")
    assert found == [Reference("1", "a", grade=5.0)]
    found, _ = rows_of(tmp_path / "t.csv", Score, "Item,System,metric,SCORE\n1,a,m,.5\n")
    assert found == [Score("1", "a", "m", 0.5)]


def test_two_columns_that_could_be_the_text_are_refused(tmp_path: Path) -> None:
    for head, columns in (("item,mt,output", '"mt" and "output"'), ("item,Text,TEXT", '"Text" and "TEXT"')):
        with pytest.raises(InvalidInput) as caught:
            rows_of(tmp_path / "t.csv", Candidate, f"{head}\n1,a,b\n")
        assert caught.value.words(COMMAND_LINE) == (
            f"{tmp_path / 't.csv'}:1: expected one column of the text, got several that could be it: {columns}; "
            "name yours: --column text=COLUMN"
        )
    found, _ = rows_of(tmp_path / "t.csv", Candidate, "item,mt,output\n1,a,b\n", columns={"text": "output"})
    assert found == [Candidate("1", "t", "b")]


def test_an_error_names_the_column_as_it_is_called(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"t\.csv:2: Score: expected a number"):
        rows_of(tmp_path / "t.csv", Score, "Item,System,Metric,Score\n1,a,m,many\n")


def test_references_in_lists_by_another_name(tmp_path: Path) -> None:
    text = '{"item": 1, "gold": ["a", "b"]}\n{"item": 2, "gold": "c"}\n'
    found, _ = rows_of(tmp_path / "t.jsonl", Reference, text)
    assert found == [Reference("1", "a"), Reference("1", "b"), Reference("2", "c")]


def test_numbers_of_rows_as_items(tmp_path: Path) -> None:
    number = {"columns": {"item": "#"}}
    found, _ = rows_of(tmp_path / "t.csv", Reference, "text\na\n\nb\n", **number)
    assert found == [Reference("1", "a"), Reference("2", "b")]
    found, _ = rows_of(tmp_path / "t.json", Reference, '[{"text": "a"}, {"text": "b"}]', **number)
    assert found == [Reference("1", "a"), Reference("2", "b")]
    found, _ = rows_of(tmp_path / "u.csv", Reference, "#,text\nx,a\n", **number)
    assert found == [Reference("x", "a")], "a column of that name is read"
