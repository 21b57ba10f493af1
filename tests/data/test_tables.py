"""Tables of every format become rows: columns, encodings, delimiters, cells, and what is wrong with them."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import gzip
import io
import json
import re
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.delimited import Delimited
from postil.data.reading import Reading, readings
from postil.data.row_files import read, write
from postil.data.rows import Article, Candidate, Decision, Judgement, PairPreference, Passage, Rating, Reference, Score
from postil.data.suggestions import Impression, Label
from postil.errors import InvalidInput, MissingExtra, PostilError, UnknownName, UsageError
from postil.messages import COMMAND_LINE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from postil.data.rows import Row

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")

PAIR = [Candidate("a1", "echo", "Rain, tomorrow"), Candidate("a2", "echo", "Größe; 5 |")]
HEAD = "item,system,text\n"


def found(
    path: Path, data: str | bytes, row_type: type[Row] = Candidate, **options: Any
) -> tuple[list[Row], list[str]]:
    """The rows of a file with some contents, and what is said about it."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return rows(path, row_type, **options)


def rows(path: Path, row_type: type[Row] = Candidate, **options: Any) -> tuple[list[Row], list[str]]:
    said: list[str] = []
    got = list(read(path, row_type, Reading(say=said.append, **options)))
    return got, [COMMAND_LINE.words(line).removeprefix(f"{path}: ") for line in said]


def refusal(path: Path, data: str | bytes, row_type: type[Row] = Candidate, **options: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        found(path, data, row_type, **options)
    return caught.value.words(COMMAND_LINE).removeprefix(f"{path}")


def workbook(path: Path, *sheets: Sequence[Sequence[object]], merged: str = "") -> Path:
    book = openpyxl.Workbook()
    for number, sheet in enumerate(sheets):
        page = book.active if not number else book.create_sheet(f"Sheet{number}")
        for row in sheet:
            page.append(list(row))
        if merged:
            page.merge_cells(merged)
    book.save(path)
    return path


def table_of(path: Path, records: list[dict[str, Any]]) -> Path:
    """A file of some records, in the format of its ending."""
    head = list(records[0])
    cells = [head, *([each[name] for name in head] for each in records)]
    if path.suffix == ".xlsx":
        return workbook(path, cells)
    if path.suffix == ".ods":
        return ods(path, cells)
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(cells)
    elif path.suffix in {".json", ".jsonl"}:
        lines = list(map(json.dumps, records))
        path.write_text(f"[{','.join(lines)}]" if path.suffix == ".json" else "\n".join(lines), encoding="utf-8")
    else:
        pa, feather = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
        write_table = (
            feather.write_feather if path.suffix == ".arrow" else pytest.importorskip("pyarrow.parquet").write_table
        )
        write_table(pa.Table.from_pylist(records), str(path))
    return path


def ods(path: Path, table: Sequence[Sequence[object]], **cell_of: dict[str, str]) -> Path:
    odf = pytest.importorskip("odf.opendocument")
    table_of, text = pytest.importorskip("odf.table"), pytest.importorskip("odf.text")
    book, page = odf.OpenDocumentSpreadsheet(), table_of.Table(name="One")
    for row in table:
        line = table_of.TableRow()
        for value in row:
            number = isinstance(value, int | float)
            options = cell_of.get(str(value)) or (
                {"valuetype": "float", "value": str(value)} if number else {"valuetype": "string"}
            )
            cell = table_of.TableCell(**options)
            cell.addElement(text.P(text=str(value)))
            line.addElement(cell)
        page.addElement(line)
    book.spreadsheet.addElement(page)
    book.save(path)
    return path


# Ways to write the XML of a workbook, all of them right.
ATTRIBUTE = re.compile(r'(\s[\w:.-]+)="([^"]*)"')


def tags(xml: str, change: Callable[[str], str]) -> str:
    return re.sub(r"<[\w/][^<>]*>", lambda found: change(found[0]), xml)


def single(xml: str) -> str:
    return tags(xml, lambda tag: ATTRIBUTE.sub(lambda each: f"{each[1]}='{each[2].replace(chr(39), '&apos;')}'", tag))


def _other(name: re.Match[str]) -> str:
    return name[0].replace("table", "t")


def prefixed(xml: str) -> str:
    """Another prefix for the names of sheets, or of the tables of OpenDocument."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    if f'xmlns="{main}"' in xml:
        xml = xml.replace(f'xmlns="{main}"', f'xmlns:x-1.a="{main}"')
        return tags(xml, lambda tag: re.sub(r"^<(/?)(?=\w+[\s/>])", r"<\1x-1.a:", tag))
    return tags(
        xml,
        lambda tag: re.sub(r"(?<=[</ ])table:|(?<=xmlns:)table(?==)", lambda each: each[0].replace("table", "t"), tag),
    )


WRITTEN: dict[str, Callable[[str], str | bytes]] = {
    "single quotes": single,
    "space": lambda xml: tags(xml, lambda tag: ATTRIBUTE.sub(r'\1 = "\2"', tag)),
    "lines": lambda xml: tags(single(xml), lambda tag: re.sub(r"/?>$", r"\n\g<0>", tag.replace("='", "\n=\t'"))),
    "prefixes": prefixed,
    "both": lambda xml: single(prefixed(xml)),
    "utf-16": lambda xml: re.sub(r"^<\?xml[^>]*>", "<?xml version='1.0' encoding='UTF-16'?>", xml).encode("utf-16"),
}


def rewritten(path: Path, change: Callable[[str], str | bytes], rename: Callable[[str], str] = str) -> Path:
    made = path.with_stem("rewritten")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w") as new:
        for part in old.namelist():
            data: str | bytes = old.read(part)
            if part.endswith((".xml", ".rels")):
                data = change(old.read(part).decode())
            new.writestr(rename(part), data)
    return made


# What people have: how the file begins, its encoding, and what is said of it.
TEXTS = {
    "plain": ("item,system,text\n", ",", "utf-8", ".csv", []),
    "german excel": ("item;system;text\n", ";", "cp1252", ".csv", ["read as cp1252 with ';' between columns"]),
    "byte order mark": ("\ufeffitem;system;text\n", ";", "utf-8", ".csv", ["read with ';' between columns"]),
    "unicode text": ("\ufeffitem\tsystem\ttext\n", "\t", "utf-16-le", ".txt", ["read as UTF-16"]),
    "tabs": ("item\tsystem\ttext\n", "\t", "utf-8", ".txt", []),
    "tabs in csv": ("item\tsystem\ttext\n", "\t", "utf-8", ".csv", ["read with tabs between columns"]),
    "pipes": ("item|system|text\n", "|", "utf-8", ".csv", ["read with '|' between columns"]),
    "sep": ("sep=;\nitem;system;text\n", ";", "utf-8", ".csv", []),
    "old mac": ("item,system,text\r", ",", "mac_roman", ".csv", None),
    "windows": ("item,system,text\r\n", ",", "utf-8", ".csv", []),
    "commas in tsv": ("item,system,text\n", ",", "utf-8", ".tsv", ["read with ',' between columns"]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_tables(tmp_path: Path, name: str) -> None:
    head, between, encoding, ending, expected = TEXTS[name]
    end = head[len(head.rstrip("\r\n")) :]
    lines = [f'{row.item}{between}{row.system}{between}"{row.text}"{end}' for row in PAIR]
    got, said = found(tmp_path / f"t{ending}", (head + "".join(lines)).encode(encoding))
    assert got == PAIR or expected is None
    assert said == expected or expected is None


WORDS = {
    "cp1252": "L'été à la plage, c'est très agréable. Où êtes-vous, garçon ?",
    "cp1250": "Zażółć gęślą jaźń. Święty spokój i źdźbło trawy. Łódź.",
    "cp1251": "Съешь же ещё этих мягких французских булок",
    "cp1253": "Το νυχτερινό λεωφορείο ήταν ο μόνος τρόπος",
    "gb18030": "明天有雨，好的。夜班公交是唯一的回家方式",
    "big5": "明天有雨。夜間巴士是唯一的回家方式",
    "cp932": "明日は雨が降るでしょう。夜行バスが唯一の帰り道でした",
    "cp949": "내일은 비가 올 것입니다. 야간 버스가 유일한 방법이었습니다",
}


@pytest.mark.parametrize("encoding", WORDS)
def test_encodings_are_detected(tmp_path: Path, encoding: str) -> None:
    data = (HEAD + "".join(f"a{i},s,plain\n" for i in range(20_000)) + f'b,s,"{WORDS[encoding]}"\n').encode(encoding)
    got, said = found(tmp_path / "t.csv", data)
    assert got[-1] == Candidate("b", "s", WORDS[encoding])
    assert said == [f"read as {encoding}"]
    got, said = found(tmp_path / "t.csv", data, encoding=encoding)
    assert got[-1] == Candidate("b", "s", WORDS[encoding])
    assert said == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"item,system,text\na,s,Rain\nb,s,Bring a coat\xff today\n", ":3: byte 0xff is not utf-8; name the encoding"),
        (b"item,system,text\na,s,Bring a coat \xc4\xe3 now\n", ":2: byte 0xc4 is not utf-8; name the encoding"),
        (b"item,system,text\na,s,Bring\x81 a coat\n", ":2: byte 0x81 is not utf-8; name the encoding"),
        ("item,system,text\na,s,你好\n".encode("gb18030"), ":2: byte 0xc4 is not utf-8; name the encoding"),
        ("item,system,text,备注\na,s,x,y\n".encode("gb18030"), ":1: byte 0xb1 is not utf-8; name the encoding"),
    ],
)
def test_a_few_odd_bytes_tell_no_encoding(tmp_path: Path, data: bytes, message: str) -> None:
    assert refusal(tmp_path / "t.csv", data, Candidate).startswith(message)


@pytest.mark.parametrize("text", ["Meet at the café.", "Don’t – it costs 5 €…", "“Ça va?”", "El niño juega aquí."])
def test_a_few_bytes_of_western_europe_are_read_and_told(tmp_path: Path, text: str) -> None:
    got, said = found(tmp_path / "t.csv", (HEAD + f"a,s,{text}\nb,s,Rain\n").encode("cp1252"))
    assert got[0] == Candidate("a", "s", text)
    assert said == ["read as cp1252"]


def test_an_encoding_that_is_not_utf_8_needs_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    with pytest.raises(MissingExtra) as caught:
        found(tmp_path / "t.csv", (HEAD + "a,s,é\n").encode("cp1252"))
    said = caught.value.words(COMMAND_LINE)
    assert re.search(r"Excel in Western Europe .* with --encoding cp1252; detecting another needs", said)
    read = 'with list(postil.data.row_files.read(PATH, ROW, Reading(encoding="cp1252"))); detecting'
    assert read in str(caught.value)


def test_other_names_constants_and_what_is_not_read(tmp_path: Path) -> None:
    data = "id,prediction,note,url\n7,Rain,x,y\n"
    got, said = found(tmp_path / "t.csv", data, columns={"item": "id", "text": "prediction", "system": "=mine"})
    assert got == [Candidate("7", "mine", "Rain")]
    assert said == ["columns not read: note, url"]
    got, said = found(
        tmp_path / "sys.b.csv.gz", gzip.compress(data.encode()), columns={"item": "id", "text": "prediction"}
    )
    assert got == [Candidate("7", "sys.b", "Rain")]
    assert said[0] == "no column system; the system is called 'sys.b' (another name: --column system==NAME)"


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("grade", "=x", '--column references.grade==x: expected a number, got "x"'),
        ("references", "=x", "--column references.references==x: references cannot be the same in all rows"),
    ],
)
def test_constants_that_do_not_fit_are_refused_by_their_flag(
    tmp_path: Path, name: str, field: str, value: str, message: str
) -> None:
    data = "item,text\na,b\n" if name == "t.csv" else '{"item": "a", "text": "b"}\n'
    (tmp_path / name).write_text(data)
    with pytest.raises(UsageError) as caught:
        list(read(tmp_path / name, Reference, Reading(columns={field: value}, role="references")))
    assert caught.value.words(COMMAND_LINE) == message
    assert str(caught.value).startswith(f"columns={{'references.{field}': '{value}'}}: ")


def test_a_field_that_is_needed_has_a_column() -> None:
    roles = {"candidates": Candidate, "references": Reference}
    with pytest.raises(UsageError) as caught:
        readings(roles, print, column=["text="])
    assert caught.value.words(COMMAND_LINE) == "--column text=: every candidate needs text, so name its column"
    assert readings(roles, print, column=["references.text=", "references.grade="])["references"].columns["text"] == ""


def test_cells_become_what_the_field_holds(tmp_path: Path) -> None:
    data = (
        "item;text;grade;upvotes;ratings\n"
        'a;"two\nlines";3,5;12;"[{""annotator"": 1, ""grade"": 4}]"\n'
        "\n"
        "b;'=1+1;;;\n"
        "c;'tis;4.25;-3.0;\"[{'annotator': 'ann', 'grade': 2}]\"\n"
        "d;;1.234,0;1;\n"
    )
    assert refusal(tmp_path / "t.csv", data, Reference) == (
        ':7: grade: expected a number, got "1.234,0"; write it with a decimal point and without separators of thousands'
    )
    got, said = found(tmp_path / "t.csv", data.replace("1.234,0", "1,234"), Reference)
    assert got == [
        Reference("a", "two\nlines", 3.5, None, (Rating("1", 4),), 12),
        Reference("b", "=1+1"),
        Reference("c", "'tis", 4.25, None, (Rating("ann", 2),), -3),
        Reference("d", "", 1.234, None, (), 1),
    ]
    assert said == [
        "read with ';' between columns",
        "1 empty cell in text, taken as empty texts; decimal commas in grade",
    ]


def test_the_lines_of_rows(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('item,system,text\n\na,s,"1\n2\n3"\n\n\nb,s,x\nc,s,y\nd,s,"1\r2"\ne,s,z')
    rows = read(tmp_path / "t.csv", Candidate, Reading(columns={"text": "text"}))
    assert [row.item for row in rows] == list("abcde")
    assert [rows.places.line(index) for index in range(5)] == [3, 8, 9, 10, 12]
    assert str(rows.places.error(4, "text", "wrong")) == f"{tmp_path / 't.csv'}:12: text: wrong"
    assert rows.places.fields(0) == ("item", "system", "text")
    data = 'item\tsystem\ttext\na\ts\t"Oh\nb\ts\t5" of it\n'
    assert [row.text for row in found(tmp_path / "t.tsv", data, quotes=False)[0]] == ['"Oh', '5" of it']


SEP = ':1: item, text: no such columns; the file has: item;system;text; is ";" between the columns? --delimiter ";"'
OTHER = ":1: item, text: no such columns; the file has: nr, answer; name the ones for them: --column item=COLUMN "
QUOTE = ":3: unexpected end of data; a quote that is not closed or not doubled? A table without quoting: --no-quotes"
REFUSALS: list[tuple[str | bytes, dict[str, Any], str]] = [
    ("item;system;text\na;s;x\n", {"delimiter": ","}, SEP),
    ("nr,answer\n1,x\n", {}, OTHER),
    ("item,Text\n1,x\n", {"columns": {"text": "text"}}, ":1: text: no such column; did you mean 'Text'? The file has:"),
    ("item,text,text\na,b,c\n", {}, ":1: text: the column stands twice; give one another name"),
    (HEAD + "a,s,x\n\nb,s\n", {}, ":4: expected 3 columns, got 2"),
    (HEAD + 'a,s,x\nb,s,"no end\nc,s,y\n', {}, QUOTE),
    ("", {}, ": the table is empty"),
    (HEAD, {}, ": the file holds no rows, only the names of its columns"),
    (HEAD + "a,s,x\n,s,y\n", {}, ":3: item: expected text or an integer, got an empty cell"),
    (b"PK\x03\x04...", {}, ": this is a workbook or another zip file; if it is Excel's, name it .xlsx"),
    (b"\xd0\xcf\x11\xe0", {}, ": this is an old Excel workbook (.xls); save it as .xlsx or CSV"),
    (b"PAR1xx", {}, ": this is a Parquet file; name it .parquet"),
    ('{"item": 1}', {}, ": expected a table with the names of its columns in the first row, got JSON; name"),
    ("<!DOCTYPE html><html>", {}, ": this is a web page or XML; was the table behind a login?"),
    (bytes(range(256)) * 9, {}, ": expected a table of text, got binary data; if it is text in UTF-16"),
    (f"\ufeff{HEAD}a,s,x\n".encode("utf-16-le")[:-1], {}, ":2: not utf-16: 'utf-16-le' codec can't decode"),
    ((HEAD + "a,s,é\nb,s,").encode() + b"\xe9\n", {}, ":3: byte 0xe9 is not utf-8; name the encoding with --encoding"),
]


@pytest.mark.parametrize(("data", "options", "problem"), REFUSALS, ids=[problem for *_, problem in REFUSALS])
def test_what_is_wrong_with_text_tables(
    tmp_path: Path, data: str | bytes, options: dict[str, Any], problem: str
) -> None:
    assert refusal(tmp_path / "t.csv", data, **options).startswith(problem)


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        *(
            (each, f'; leave the row out where there is no number, or name what stands there: --missing "{each}"')
            for each in (
                "NaN",
                "-inf",
                "NA",
                "#DIV/0!",
                "#N/A",
                "many",
                "k. A.",
                "4?",
                "3 (of 5)",
                "2024-05-01",
                "1_000",
            )
        ),
        ("x" * 50, "; leave the row out where there is no number"),
        ('"1,234"', "; write it with a decimal point and without separators of thousands"),
        ("1 234", "; write it with a decimal point and without separators of thousands"),
    ],
)
def test_what_is_no_number(tmp_path: Path, cell: str, advice: str) -> None:
    data = f"item,system,annotator,mark\na,s,x,3\nb,s,x,{cell}\n"
    shown = f"{cell[:40]}…" if len(cell) > 40 else cell.strip('"')
    assert refusal(tmp_path / "t.csv", data, Judgement, columns={"grade": "mark"}) == (
        f':3: mark: expected a number, got "{shown}"{advice}'
    )


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet", "arrow", "xlsx", "ods"])
def test_texts_that_may_be_none_are_said(tmp_path: Path, form: str) -> None:
    """Empty texts, and words for none, in the same words whatever the format; a word within a text is none."""
    texts = ["Rain", "", "n/a", "-", "n/a", "NaN ", "no n/a"]
    path = table_of(tmp_path / f"t.{form}", [{"item": f"i{n}", "text": text} for n, text in enumerate(texts)])
    got, said = rows(path, Reference)
    assert [row.text for row in got] == texts
    words = "4 cells in text are 'n/a', '-' or 'NaN', taken as texts; --missing n/a --missing - --missing NaN takes"
    assert said == [f"1 empty cell in text, taken as empty texts; {words} them as empty"]
    named = {"missing": frozenset({"n/a", "-", "NaN"})}
    got, said = rows(path, Reference, **named)
    assert [row.text for row in got] == ["Rain", *[""] * 5, "no n/a"]
    assert said == ["4 cells that --missing names, taken as empty; 5 empty cells in text, taken as empty texts"]


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet", "arrow", "xlsx", "ods"])
def test_numbers_that_are_none(tmp_path: Path, form: str) -> None:
    records = [{"item": n, "system": "s", "annotator": "x", "grade": grade} for n, grade in enumerate(["4?", "-"])]
    path = table_of(tmp_path / f"t.{form}", records)
    with pytest.raises(InvalidInput) as caught:
        rows(path, Judgement)
    leave = '; leave the row out where there is no number, or name what stands there: --missing "4?"'
    assert caught.value.words(COMMAND_LINE).endswith(f': grade: expected a number, got "4?"{leave}')
    got, said = rows(path, Judgement, missing=frozenset({"4?", "-"}))
    assert (got, said) == ([], ["2 cells that --missing names, taken as empty; 2 rows without a number, left out"])


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_row_whose_number_has_no_key_is_none_where_a_text_for_none_is_named(tmp_path: Path, form: str) -> None:
    records = [{"item": "i1", "system": "s", "annotator": "x"}, {"item": "i2", "system": "s", "annotator": "x"}]
    path = tmp_path / f"t.{form}"
    for field, columns in (("grade", {}), ("stars", {"grade": "stars"})):
        several = [*records, {**records[1], field: 2}]
        path.write_text(json.dumps(several) if form == "json" else "\n".join(map(json.dumps, several)))
        got, said = rows(path, Judgement, missing=frozenset({"-"}), columns=columns)
        assert (got, said) == ([Judgement("i2", "s", "x", 2.0)], ["2 rows without a number, left out"])
        path.write_text(json.dumps(records) if form == "json" else "\n".join(map(json.dumps, records)))
        with pytest.raises(InvalidInput, match=f"{field}: no such column"):
            rows(path, Judgement, missing=frozenset({"-"}), columns=columns)


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet", "arrow", "xlsx", "ods"])
def test_an_aspect_that_may_be_none_is_said(tmp_path: Path, form: str) -> None:
    records = [
        {"item": "i1", "system": "s", "annotator": "x", "grade": 2, "aspect": aspect} for aspect in ("fluency", "n/a")
    ]
    got, said = rows(table_of(tmp_path / f"t.{form}", records), Judgement)
    assert [row.aspect for row in got] == ["fluency", "n/a"]
    assert said == ["1 cell in aspect is 'n/a', taken as a text; --missing n/a takes it as empty"]


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet", "arrow", "xlsx", "ods"])
def test_cells_without_a_value_are_counted_where_they_are_read(tmp_path: Path, form: str) -> None:
    records = [{"item": f"i{n}", "text": text, "id": "-", "note": "-"} for n, text in enumerate(["-", "Rain", "-"])]
    path = table_of(tmp_path / f"t.{form}", records)
    got, said = rows(path, Reference, missing=frozenset({"-"}))
    assert [(row.text, row.id) for row in got] == [("", None), ("Rain", None), ("", None)]
    assert said[-1].startswith("5 cells that --missing names, taken as empty; ")


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet", "arrow", "xlsx", "ods"])
@pytest.mark.parametrize("column", ["show", "show it?"])
def test_labels_that_nobody_gave_yet_are_left_out_and_counted(tmp_path: Path, form: str, column: str) -> None:
    """Their other cells are not checked; an answer that is none is an error, with its line."""
    answers = ["yes", "", " ", "hide"]
    records = [{"article": f"a{n}", "text": f"Rain {n}.", column: answer} for n, answer in enumerate(answers)]
    records[1]["text"] = ""
    columns = {"columns": {"show": column}} if column != "show" else {}
    path = table_of(tmp_path / f"t.{form}", records)
    got, said = rows(path, Label, **columns)
    assert got == [Label("a0", "Rain 0.", True), Label("a3", "Rain 3.", False)]
    assert said == ["2 rows without an answer, left out"]
    kept = read(path, Label, Reading(**columns))
    assert len([*kept]) == 2
    assert kept.places.line(1) == kept.places.line(0) + 3
    records[3][column] = "maybe"
    path = table_of(tmp_path / f"t.{form}", records)
    line = 5 if form in {"csv", "xlsx", "ods"} else 4
    with pytest.raises(InvalidInput) as caught:
        rows(path, Label, **columns)
    problem = 'expected true or false, show or hide, 1 or 0; got "maybe"'
    assert str(caught.value) == f"{path}:{line}: {column}: {problem}"
    assert rows(path, Label, **columns, missing=frozenset({"maybe"}))[0] == [Label("a0", "Rain 0.", True)]


def test_labels_of_objects_without_a_value(tmp_path: Path) -> None:
    rest = '"article": "a1", "text": "Rain."'
    lines = [f'{{{rest}, "show": null}}', f'{{{rest}, "show": ""}}', f'{{{rest}, "show": 1}}', f"{{{rest}}}"]
    label = Label("a1", "Rain.", True)
    assert found(tmp_path / "t.jsonl", "\n".join(lines[:3]), Label) == ([label], ["2 rows without an answer, left out"])
    assert found(tmp_path / "n.jsonl", lines[0], Label) == ([], ["1 row without an answer, left out"])
    assert refusal(tmp_path / "t.jsonl", "\n".join(lines), Label).startswith(":4: show: missing; a label needs")


@pytest.mark.parametrize(
    ("row_type", "head", "expected"),
    [
        (Decision, "text,decision\nRain,", "keep or hold"),
        (PairPreference, "item,system_a,system_b,annotator,preference\n1,x,y,ann,", "a, tie or b"),
        (Judgement, "item,system,annotator,grade\n1,x,ann,", "a number"),
        (Score, "item,system,metric,score\n1,x,bleu,", "a number"),
    ],
)
def test_an_empty_cell_where_a_value_is_needed(tmp_path: Path, row_type: type[Row], head: str, expected: str) -> None:
    said = refusal(tmp_path / "t.csv", head + '""', row_type)
    name = head.partition("\n")[0].rpartition(",")[2]
    assert said == f":2: {name}: expected {expected}, got an empty cell; leave the row out where there is none"


def test_a_date_in_place_of_an_answer(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [["article", "text", "show"], ["a1", "Rain.", dt.date(2024, 5, 1)]])
    said = "expected true or false, show or hide, 1 or 0, got the date 2024-05-01; format the column as text and write"
    with pytest.raises(InvalidInput, match=f":2: show: {said}"):
        rows(path, Label)
    data = 'impression,article,models,teams,clicked,shown\n1,a,"[""x"",""y""]",[0],[1],maybe\n'
    problem = 'shown: expected true or false, got "maybe"; write TRUE or FALSE, or 1 or 0'
    assert refusal(tmp_path / "t.csv", data, Impression) == f":2: {problem}"


def test_what_is_no_list(tmp_path: Path) -> None:
    head = "topic,id,text,anchors\n1,1,t,"
    for cell, problem in (
        ('"[""a"", 2]"', "anchors[1]: expected text, got 2"),
        ("a; b", 'anchors: expected an array, got "a; b"'),
        ('"[""a"""', 'anchors: expected a list in JSON, got "[\\"a\\"" ('),
    ):
        assert refusal(tmp_path / "t.csv", head + cell, Passage).startswith(f":2: {problem}")
    assert found(tmp_path / "t.csv", head + '"[""a"", ""b""]"', Passage)[0] == [Passage("1", "1", "t", ("a", "b"))]


MARKS = st.lists(st.sampled_from(["x", ",", '"', '""', "\n", "\r\n", "\r", "'", "é", ";"]), max_size=40)


@given(cells=MARKS)
def test_law_text_tables_are_read_as_python_reads_them(cells: list[str]) -> None:
    text = "a,b,c\n" + "".join(cells)
    problem = False
    try:
        rows_of_text = csv.reader(io.StringIO(text, newline=""), strict=True)
        expected = [row for row in rows_of_text if row and row != [""] * 3]
    except csv.Error:
        expected, problem = [], True
    try:
        read_by_us = Delimited(io.BufferedReader(io.BytesIO(text.encode())), "t.csv", delimiter=",")  # type: ignore[arg-type]
        got = [read_by_us.names, *(row for _, part in read_by_us.rows() for row in part)]
    except InvalidInput:
        assert problem or any(len(row) != 3 for row in expected)
    else:
        assert (got, problem) == (expected, False)


@given(place=st.integers(0, 10_000), byte=st.integers(0, 255), cut=st.integers(0, 10_000), data=st.data())
def test_law_damage_is_said_in_words(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, cut: int, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    if not folder.exists():
        folder.mkdir()
        workbook(folder / "r.xlsx", [["item", "text", "grade"], [1, "Rain", "=1/0"], [2, "Snow", 3]], merged="A2:B2")
        ods(folder / "r.ods", [["item", "text"], [1, "Rain"]])
        for ending in ("csv", "csv.gz", "csv.zst", "jsonl.zst"):
            write(folder / f"r.{ending}", [Reference("1", "Größe", 3.0, None, (Rating("a", 2),)), Reference("2", '"')])
        (folder / "r.json").write_text('{"d": [{"item": 1, "references": ["a", {"text": "b"}]}]}')
        (folder / "r.txt").write_bytes("\ufeffitem\ttext\n1\tRain\n".encode("utf-16"))
    path = data.draw(st.sampled_from(sorted(folder.glob("r.*"))))
    changed = bytearray(path.read_bytes())
    changed[place % len(changed)] = byte
    (folder / f"damaged{path.name[1:]}").write_bytes(changed[: -(cut % len(changed)) or None])
    with contextlib.suppress(PostilError):
        list(read(folder / f"damaged{path.name[1:]}", Reference))


def test_excel(tmp_path: Path) -> None:
    head = ["item", "text", "grade", "note"]
    path = workbook(tmp_path / "r.xlsx", [[], head, [1, "Rain", 3.5, None], [], [2.0, 2024, "4", "x"], [3, 1.5, None]])
    got, said = rows(path, Reference)
    assert got == [Reference("1", "Rain", 3.5), Reference("2", "2024", 4.0), Reference("3", "1.5")]
    assert said == ["columns not read: note"]
    places = read(path, Reference).places
    assert places.fields(0) == ("item", "text", "grade", "note")


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        (dt.date(2024, 5, 1), "the date 2024-05-01; format the column as numbers and write the value again"),
        ("#DIV/0!", "the error #DIV/0! in cell C3; correct the formula, or write the value in its place"),
        ("=A2/0", "a formula without a stored value in cell C3; open the workbook in a spreadsheet and save it"),
        (True, "true"),
        ("n/a", '"n/a"; leave the cell empty where there is no number, or name what stands there: --missing "n/a"'),
    ],
)
def test_cells_that_are_no_number(tmp_path: Path, cell: object, problem: str) -> None:
    path = workbook(tmp_path / "r.xlsx", [["item", "text", "grade"], [1, "Rain", 3], [2, "Snow", cell]])
    with pytest.raises(InvalidInput) as caught:
        rows(path, Reference)
    said = caught.value.words(COMMAND_LINE)
    assert said.startswith(f"{path}:3: grade: expected a")
    assert said.endswith(f"got {problem}")
    assert len(rows(path, Reference, columns={"grade": ""})[0]) == 2  # it is not read
    path = workbook(tmp_path / "r.xlsx", [["item", "text"], [dt.date(2024, 1, 2), "Rain"]])
    with pytest.raises(InvalidInput, match=r"got the date 2024-01-02; format the column as text and write"):
        rows(path, Reference)


def test_merged_cells(tmp_path: Path) -> None:
    """An id counts for each of the rows; a text or number that several rows share, and cells side by side, do not."""
    sheet = [["item", "text", "grade"], [1, "Rain", 2], [None, "Snow", None]]
    path = workbook(tmp_path / "r.xlsx", sheet, merged="A2:A3")
    got, said = rows(path, Reference)
    assert got == [Reference("1", "Rain", 2.0), Reference("1", "Snow")]
    assert said == ["merged cells in item, whose value counts for each row"]
    for area, field in (("B2:B3", "text"), ("C2:C3", "grade"), ("A2:B2", "item")):
        path = workbook(tmp_path / "r.xlsx", sheet, merged=area)
        with pytest.raises(InvalidInput) as caught:
            rows(path, Reference, fill_down=True)
        problem = f"expected a value in each cell, got merged cells ({area}); unmerge them, and fill in every cell"
        assert str(caught.value) == f"{path}:2: {field}: {problem}"


def test_cells_that_hold_no_value(tmp_path: Path) -> None:
    data = "item,text,grade\n1,Rain,n/a\n2,Snow, -\n3,Fog,2\n"
    got, said = found(tmp_path / "t.csv", data, Reference, missing=frozenset({"n/a", "-"}))
    assert got == [Reference("1", "Rain"), Reference("2", "Snow"), Reference("3", "Fog", 2.0)]
    assert said == ["2 cells that --missing names, taken as empty"]


def test_empty_ids_below_one_that_was_merged(tmp_path: Path) -> None:
    data = "item;system;text\n1;a;Rain\n;b;Snow\n2;a;Fog\n ;;Ice\n"
    message = refusal(tmp_path / "t.csv", data)
    assert message.endswith(
        ":3: item: expected text or an integer, got an empty cell; where it stands for the cell "
        "above, as merged cells do: --fill-down"
    )
    got, said = found(tmp_path / "t.csv", data, fill_down=True)
    assert [(row.item, row.system) for row in got if isinstance(row, Candidate)] == [
        ("1", "a"),
        ("1", "b"),
        ("2", "a"),
        ("2", "a"),
    ]
    assert said[1] == (
        "2 empty cells in item, taken as the cell above; 1 empty cell in system, taken as the cell above"
    )
    message = refusal(tmp_path / "t.csv", "item,system,text\n,a,Rain\n1,a,Snow\n", fill_down=True)
    assert message == ":2: item: expected text or an integer, got an empty cell"


TITLED = [["Results of May", "", ""], ["", "", ""], ["item", "text", "grade"], ["1", "Rain", 2], ["2", "Snow", 3]]


def test_a_title_above_the_names_of_the_columns(tmp_path: Path) -> None:
    """Merged across the table in a workbook; in CSV a row of delimiters is what is left of an empty one."""
    expected = [Reference("1", "Rain", 2.0), Reference("2", "Snow", 3.0)]
    path = workbook(tmp_path / "r.xlsx", TITLED, merged="A1:C1")
    assert rows(path, Reference) == (expected, ["read with the columns' names in row 3"])
    path = ods(tmp_path / "r.ods", TITLED, **{"Results of May": {"numbercolumnsspanned": "3", "valuetype": "string"}})
    assert rows(path, Reference) == (expected, ["read with the columns' names in row 3"])
    text = "".join(";".join(map(str, row)) + "\r\n" for row in [*TITLED[:4], ["", "", ""], TITLED[4]])
    got, said = found(tmp_path / "r.csv", text, Reference)
    assert got == expected
    assert said == ["read with ';' between columns with the columns' names in line 3"]
    assert refusal(tmp_path / "r.csv", text + "3;Fog;x\r\n", Reference).startswith(":7: grade: expected a number, got")
    assert found(tmp_path / "s.csv", text, Reference, delimiter=";")[0] == expected
    missing = refusal(tmp_path / "s.csv", text, Reference, columns={"item": "id", "text": "reply"})
    assert missing == ":1: id: no such column; the file has: Results of May"


def test_several_sheets(tmp_path: Path) -> None:
    sheet = [["item", "text"], [1, "Rain"]]
    assert rows(workbook(tmp_path / "r.xlsx", sheet, []), Reference)[1] == ["read from sheet 'Sheet'"]
    path = workbook(tmp_path / "r.xlsx", sheet, [["item", "text"], [2, "Snow"]])
    with pytest.raises(UsageError) as caught:
        rows(path, Reference, role="references")
    said = caught.value.words(COMMAND_LINE)
    assert re.search(r"rows: Sheet, Sheet1; choose .* --sheet NAME, or .* --sheet references=NAME$", said)
    assert rows(path, Reference, sheet="Sheet1")[0] == [Reference("2", "Snow")]
    path = workbook(tmp_path / "r.xlsx", [["who"], ["Ann"]], sheet)  # one of them has columns that are wanted
    assert rows(path, Reference) == ([Reference("1", "Rain")], ["read from sheet 'Sheet1'"])
    path = workbook(tmp_path / "r.xlsx", [["item", "answer"], [1, "Rain"]], [["item", "text"], [1, "Snow"]])
    assert rows(path, Reference) == ([Reference("1", "Snow")], ["read from sheet 'Sheet1'"])
    with pytest.raises(UnknownName, match=r"unknown sheet of .*; did you mean 'Sheet1'\?"):
        rows(path, Reference, sheet="sheet1")


def test_stored_values_of_formulas(tmp_path: Path) -> None:
    """As a spreadsheet writes them; openpyxl stores none."""
    path = workbook(tmp_path / "r.xlsx", [["item", "text", "grade"], [1, "Rain", "=1+2"]])
    got, said = rows(rewritten(path, lambda xml: xml.replace("<f>1+2</f><v></v>", "<f>1+2</f><v>3</v>")), Reference)
    assert got == [Reference("1", "Rain", 3.0)]
    assert said == ["read with the stored values of 1 formula"]


def test_a_zip_file_of_another_version(tmp_path: Path) -> None:
    path = ods(tmp_path / "r.ods", [["item", "text"], [1, "Rain"]])
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 6] = 251  # the version that is needed to extract the first file
    path.write_bytes(data)
    with pytest.raises(InvalidInput, match=r": a damaged workbook, or none: zip file version 25\.1; is the download"):
        rows(path, Reference)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('r="B2"', 'r="XFD1048576"', ": the sheet 'Sheet' reaches to cell XFD1048576, but is nearly empty; delete"),
        ('r="B2"', 'r="B99999999"', ": the sheet 'Sheet' reaches to cell B99999999, but is nearly empty; delete"),
        ('r="C2"', 'r="C"', ": a damaged workbook, or none: "),
        ("<sheet ", "<shoot ", ": the workbook has no sheets"),
    ],
)
def test_damaged_sheets(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = workbook(tmp_path / "r.xlsx", [["item", "text", "grade"], [1, "Rain", "=1+2"]])
    path = rewritten(path, lambda xml: xml.replace(old, new))
    assert refusal(path, path.read_bytes()).startswith(message)


@pytest.mark.parametrize("data", [b"PK\x03\x04no", b"item,text\n"])
def test_what_is_no_workbook(tmp_path: Path, data: bytes) -> None:
    assert refusal(tmp_path / "r.xlsx", data).startswith(
        (": a damaged workbook, or none: ", ": not a workbook of Excel")
    )


def test_open_document(tmp_path: Path) -> None:
    path = ods(tmp_path / "r.ods", [["item", "text", "grade"], [1, "Rain", 2.5], [2, "Snow", 3]])
    assert rows(path, Reference) == ([Reference("1", "Rain", 2.5), Reference("2", "Snow", 3.0)], [])
    broken = {"formula": "of:=1/0"}
    path = ods(tmp_path / "s.ods", [["item", "text", "grade"], [1, "Rain", 2.5], [2, "Snow", 9]], **{"9": broken})
    with pytest.raises(InvalidInput, match=r":3: grade: expected a value, got a formula without a stored value in"):
        rows(path, Reference)
    path = ods(tmp_path / "s.ods", [["item", "text"], [1, "Rain"], [2, "Snow"]], Rain={"numberrowsspanned": "2"})
    with pytest.raises(InvalidInput, match=r":2: text: expected a value in each cell, got merged cells \(B2:B3\)"):
        rows(path, Reference)


def test_json_documents(tmp_path: Path) -> None:
    records = [{"id": 1, "answer": {"body": "Rain"}}, {"id": 2, "answer": {"body": "Snow"}}]
    columns = {"item": "id", "text": "answer.body", "system": "=s"}
    expected = [Candidate("1", "s", "Rain"), Candidate("2", "s", "Snow")]
    documents: list[tuple[object, list[str]]] = [
        (records, []),
        ({"id": [1, 2], "answer": [each["answer"] for each in records]}, []),
        ({"id": {"0": 1, "1": 2}, "answer": {"0": records[0]["answer"], "1": records[1]["answer"]}}, []),
        ({"meta": {"n": 2}, "data": {"rows": records}}, ["rows taken from 'data.rows'"]),
    ]
    for document, said in documents:
        assert found(tmp_path / "r.json", json.dumps(document), columns=columns) == (expected, said)
    lines = "\n".join(map(json.dumps, records))
    assert found(tmp_path / "r.json", lines, columns=columns) == (expected, ["read as JSON Lines"])
    assert found(tmp_path / "r.jsonl", lines, columns=columns) == (expected, [])
    document = '{"a": [{"item": 1, "text": "x"}], "b": [{"item": 2, "text": "y"}]}'
    assert found(tmp_path / "r.json", document, Reference, sheet="b")[0] == [Reference("2", "y")]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ('[{"item": 1}, 2]', ":2: expected an object in braces, got 2"),
        ('[{"item": 1, "text": 5}]', ":1: text: expected text, got 5"),
        ('[{"item": 1}]', ":1: text: missing; a reference needs item, text; this row has: item; for another name: "),
        ('{"a": [{"item": 1}], "b": [{"item": 2}]}', ": expected one array of objects, got several: a, b; choose one"),
        ('{"a": 1}', ": expected an array of objects, an object of arrays, or an object with one array of objects"),
        ("[{", ": not JSON in line 1, character 3: "),
        ('[{"item": NaN}]', ": NaN is not JSON; write null, or leave the field out"),
        ('[{"item": 1, "item": 2}]', ": item: expected every key once in its object"),
        ("[]", ": the file holds no rows"),
    ],
)
def test_json_documents_that_are_no_table(tmp_path: Path, document: str, problem: str) -> None:
    assert refusal(tmp_path / "r.json", document, Reference).startswith(problem)


NESTED = [
    ({"item": 1, "references": ["Rain", "Snow"]}, {}),
    ({"item": 1, "references": [{"text": "Rain"}, {"text": "Snow"}]}, {}),
    ({"item": 1, "gold": ["Rain", "Snow"]}, {"references": "gold"}),
    ({"id": 1, "answers": {"text": ["Rain", "Snow"], "start": [3, 4]}}, {"item": "id", "references": "answers.text"}),
    ({"item": 1, "answers": [{"body": "Rain"}, {"body": "Snow"}]}, {"references": "answers", "text": "body"}),
    ({"item": 1, "answers": [{"body": "Rain"}, {"body": "Snow"}]}, {"references": "answers.body"}),
]


@pytest.mark.parametrize(("record", "columns"), NESTED)
@pytest.mark.parametrize("ending", [".json", ".jsonl", ".csv", ".parquet"])
def test_all_references_of_an_item_in_a_row(
    tmp_path: Path, ending: str, record: dict[str, Any], columns: dict[str, str]
) -> None:
    path = tmp_path / f"r{ending}"
    if ending == ".parquet":
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet")
        pa.parquet.write_table(pa.Table.from_pylist([record, record]), path)
    elif ending == ".csv":
        cells = [json.dumps(value).replace('"', '""') for value in record.values()]
        line = ",".join(f'"{cell}"' for cell in cells)
        path.write_text(f"{','.join(record)}\n{line}\n{line}\n")
    else:
        text = json.dumps(record)
        path.write_text(f"[{text}, {text}]" if ending == ".json" else f"{text}\n{text}\n")
    source = read(path, Reference, Reading(columns=columns))
    expected = [Reference("1", "Rain"), Reference("1", "Snow")] * 2
    assert [Reference(row.item, row.text) for row in source] == expected
    first = 2 if ending == ".csv" else 1
    assert [source.places.line(index) for index in range(4)] == [first, first, first + 1, first + 1]


def test_grades_beside_references(tmp_path: Path) -> None:
    record = {"item": 1, "references": ["Rain", "Snow"], "marks": [4, 2]}
    got, _ = found(tmp_path / "r.json", json.dumps([record]), Reference, columns={"grade": "marks"})
    assert got == [Reference("1", "Rain", 4.0), Reference("1", "Snow", 2.0)]
    record["marks"] = [4]
    assert refusal(tmp_path / "r.json", json.dumps([record]), Reference, columns={"grade": "marks"}) == (
        ":1: marks: expected 2 values, one per reference, got 1"
    )
    record = {"item": 1, "references": ["Rain", 5]}
    assert refusal(tmp_path / "r.json", json.dumps([record]), Reference) == (
        ":1: references[1]: expected a text or an object, got 5"
    )


def test_columns_of_other_names_in_parquet_and_arrow(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    table = pa.table({"id": [1, 2], "out": ["Rain", "Snow"], "more": [0, 0]})
    columns = {"item": "id", "text": "out"}
    expected = [Candidate("1", "t", "Rain"), Candidate("2", "t", "Snow")]
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    assert rows(tmp_path / "t.parquet", columns=columns)[0] == expected
    with pytest.raises(InvalidInput, match=r"outs: no such column; did you mean 'out'\? The file has: id, out, more"):
        rows(tmp_path / "t.parquet", columns={"item": "id", "text": "outs"})
    for ending, writer in (("arrow", pa.ipc.new_stream), ("feather", pa.ipc.new_file)):
        with writer(tmp_path / f"t.{ending}", table.schema) as out:
            out.write_table(table)
        assert rows(tmp_path / f"t.{ending}", columns=columns)[0] == expected
    (tmp_path / "t.arrow").write_bytes(b"item,text")
    with pytest.raises(InvalidInput, match="not an Arrow file, or a damaged one"):
        rows(tmp_path / "t.arrow")


def test_a_folder_with_splits(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name, item in (("train-00000-of-00002", 1), ("train-00001-of-00002", 2), ("test-00000-of-00001", 3)):
        (tmp_path / f"data/{name}.csv").write_text(f"item,text\n{item},x\n")
    with pytest.raises(UsageError) as caught:
        rows(tmp_path, Reference)
    assert caught.value.words(COMMAND_LINE).endswith("has the splits test, train; choose one with --split NAME")
    source = read(tmp_path, Reference, Reading(split="train"))
    assert [row.item for row in source] == ["1", "2"]
    assert str(source.places.error(1, "text", "wrong")) == f"{tmp_path}/data/train-00001-of-00002.csv:2: text: wrong"
    with pytest.raises(UnknownName, match=r"unknown split of .* 'tst'; did you mean 'test'\? Known: test, train"):
        rows(tmp_path, Reference, split="tst")
    said = r"train-0.*\.csv: the split \"train\" needs a dataset folder, and this is a file; leave split out"
    with pytest.raises(UsageError, match=said):
        rows(tmp_path / "data/train-00000-of-00002.csv", Reference, split="train")


README = """---
license: mit
configs:
- config_name: default
  data_files:
  - split: validation
    path: "some/*.jsonl"
  - split: test
    path: [other.csv]
---
# A dataset
"""


def test_a_folder_that_says_what_is_in_it(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    (tmp_path / "some").mkdir()
    (tmp_path / "some/one.jsonl").write_text('{"item": 1, "text": "x"}\n')
    (tmp_path / "other.csv").write_text("item,text\n2,y\n")
    (tmp_path / "README.md").write_text(README)
    assert rows(tmp_path, Reference, split="validation")[0] == [Reference("1", "x")]
    assert rows(tmp_path, Reference, split="test")[0] == [Reference("2", "y")]
    (tmp_path / "README.md").write_text(README.replace("other.csv", "../other.csv"))
    with pytest.raises(InvalidInput, match=r'README.md: expected a path within the folder, got "\.\./other\.csv"'):
        rows(tmp_path, Reference, split="test")
    (tmp_path / "README.md").write_text(README.replace("other.csv", "none.csv"))
    with pytest.raises(InvalidInput, match=r'README.md: data_files: expected the names of files, got "none\.csv"'):
        rows(tmp_path, Reference, split="test")


@pytest.mark.parametrize("pattern", ['""', '"**x"', "5", "{}"])
def test_a_folder_that_names_no_files(tmp_path: Path, pattern: str) -> None:
    pytest.importorskip("yaml")
    (tmp_path / "README.md").write_text(f"---\nconfigs:\n- data_files: [{pattern}]\n---\n")
    with pytest.raises(InvalidInput, match=r"README.md: data_files: expected the names of files, got"):
        rows(tmp_path, Reference)


def test_a_folder_of_save_to_disk(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"item": [1], "text": ["x"]})
    for split in ("train", "test"):
        (tmp_path / split).mkdir()
        with pa.ipc.new_stream(tmp_path / split / "data-00000-of-00001.arrow", table.schema) as out:
            out.write_table(table)
        state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
        (tmp_path / split / "state.json").write_text(json.dumps(state))
        (tmp_path / split / "dataset_info.json").write_text("{}")
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert rows(tmp_path, Reference, split="test")[0] == [Reference("1", "x")]
    assert rows(tmp_path / "test", Reference)[0] == [Reference("1", "x")]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.zst", ".jsonl.zst"])
def test_rows_that_are_written_are_read(tmp_path: Path, ending: str) -> None:
    several: list[list[Row]] = [
        [Score("a", "s=1", "=m", 0.1, "x|y"), Score(None, "-s", "m", 1e-300, "x\n")],
        [Reference("a", '"q", \'=x', 2.5, None, (Rating("1", 4), Rating("2", 1e9))), Reference("b", "\u2028\x0b é")],
        [Passage("1", "2", "t", ("a", "b")), Passage("1", "3", "\t=")],
        [Article("1", "t", ()), Article("2", "u", (), "c", date="2020-03-21")],
    ]
    for rows_of_one in several:
        write(tmp_path / f"r{ending}", rows_of_one)
        assert list(read(tmp_path / f"r{ending}", type(rows_of_one[0]))) == rows_of_one
    write(tmp_path / "c.csv", [Candidate("=1", "@s", "two\nlines, and +1")])  # safe in a spreadsheet
    assert (tmp_path / "c.csv").read_bytes() == b"item,system,text\n'=1,'@s,\"two\nlines, and +1\"\n"


ROLES: dict[str, type[Row]] = {"candidates": Candidate, "references": Reference}


def test_options_by_role() -> None:
    got = readings(
        ROLES,
        print,
        column=["text=out", "candidates.item=id", "references.references=gold"],
        encoding=["cp1252"],
        sheet=["One", "references=Two"],
        input_format=["csv", "references=json"],
        delimiter=["="],
    )
    one, two = got["candidates"], got["references"]
    assert (dict(one.columns), dict(two.columns)) == ({"text": "out", "item": "id"}, {"references": "gold"})
    assert (one.encoding, one.sheet, one.format, one.always, one.delimiter) == ("cp1252", "One", "csv", False, "=")
    assert (two.encoding, two.sheet, two.format, two.always, two.delimiter) == ("cp1252", "Two", "json", True, "=")
    spelled = [COMMAND_LINE.setting(each.column_setting("text")) for each in (one, two)]
    assert spelled == ["--column text=COLUMN", "--column references.text=COLUMN"]


def test_what_holds_no_value_by_role() -> None:
    """A text for all files is one of each besides its own, and one with an equals sign after no role is a text."""
    got = readings(ROLES, print, missing=["n/a", "references=-", "references=x=y", "grade=none"])
    assert got["candidates"].missing == {"n/a", "grade=none"}
    assert got["references"].missing == {"n/a", "grade=none", "-", "x=y"}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"column": ["text"]}, "--column takes FIELD=COLUMN, such as text=prediction; got 'text'"),
        ({"column": ["txt=a"]}, "unknown field of candidates 'txt'; did you mean 'text'? Known: item, system, text"),
        ({"column": ["reference.text=a"]}, "unknown file of this command 'reference'; did you mean 'references'?"),
        ({"column": ["text=a", "candidates.text=b"]}, "--column names a field twice; got 'candidates.text=b'"),
        ({"input_format": ["cvs"]}, "unknown input format 'cvs'; did you mean 'csv'? Known: csv, tsv"),
        ({"sheet": ["a", "b"]}, "--sheet takes one value, or ROLE=VALUE for each file; got 'b'"),
        ({"sheet": ["references=a", "references=b"]}, "--sheet names references twice; got 'references=b'"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, list[str]], problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        readings(ROLES, print, **options)  # type: ignore[arg-type]  # of lists
    assert caught.value.words(COMMAND_LINE).startswith(problem)


@pytest.mark.parametrize("ending", [".parquet", ".jsonl", ".arrow", ".json"])
def test_fields_that_are_not_read_are_said(tmp_path: Path, ending: str) -> None:
    records = [
        {"id": 1, "out": {"text": "Rain"}, "gold": ["Wet", "Damp"]},
        {"id": 2, "out": {"text": "Snow"}, "gold": ["Cold"]},
    ]
    path = tmp_path / f"t{ending}"
    if ending in {".parquet", ".arrow"}:
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet")
        table = pa.Table.from_pylist(records)
        if ending == ".parquet":
            pa.parquet.write_table(table, path)
        else:
            with pa.OSFile(str(path), "wb") as out, pa.ipc.new_stream(out, table.schema) as stream:
                stream.write_table(table)
    else:
        path.write_text("\n".join(map(json.dumps, records)) if ending == ".jsonl" else json.dumps(records))
    got, said = rows(path, columns={"item": "id", "text": "out.text", "system": "=s"})
    assert got == [Candidate("1", "s", "Rain"), Candidate("2", "s", "Snow")]
    assert said == [f"{'columns' if ending == '.parquet' else 'fields'} not read: gold"]


@pytest.mark.parametrize("way", WRITTEN)
def test_workbooks_of_writers_with_other_habits(tmp_path: Path, way: str) -> None:
    plain = [["item", "text", "grade"], [1, "Rain & 'it' \"x\" < y", 3], [2, "Snow and ice", 2.5]]
    for usual in (workbook(tmp_path / "r.xlsx", plain, [["who's"], ["Ann"]]), ods(tmp_path / "r.ods", plain)):
        assert rows(rewritten(usual, WRITTEN[way]), Reference) == rows(usual, Reference)
    head = ["item", "text", "grade"]
    down = {"numberrowsspanned": "2", "valuetype": "string"}
    for bad, problem in (
        (workbook(tmp_path / "s.xlsx", [head, [1, "Rain", 3], [2, "Snow", "=1+2"]]), "cell C3"),
        (workbook(tmp_path / "t.xlsx", [head, [1, "Rain", 3], [2, "Snow", "#N/A"]]), "the error #N/A in cell C3"),
        (workbook(tmp_path / "u.xlsx", [head, [1, "Rain", 3]], merged="A2:B2"), "merged cells (A2:B2)"),
        (ods(tmp_path / "s.ods", [head, [1, "Rain", 3], [2, "Snow", 4]], Rain=down), "merged cells (B2:B3)"),
    ):
        made = rewritten(bad, WRITTEN[way])
        assert problem in refusal(made, made.read_bytes(), Reference)


@pytest.mark.parametrize(
    "rename",
    [
        lambda name: name.replace("xl/workbook.xml", "xl/Workbook.xml"),
        lambda name: name.replace("worksheets/sheet", "worksheets/Sheet"),
        lambda name: name.replace("/", "\\"),
    ],
    ids=["workbook", "sheet", "backslashes"],
)
def test_parts_of_workbooks_under_other_names(tmp_path: Path, rename: Callable[[str], str]) -> None:
    usual = workbook(tmp_path / "r.xlsx", [["item", "text"], [1, "Rain"]])
    assert rows(rewritten(usual, str, rename), Reference) == rows(usual, Reference)


def test_workbooks_are_rewritten_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = workbook(tmp_path / "r.xlsx", [["item", "text"], [1, "Rain"]])
    laughs = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    entities = rewritten(usual, lambda xml: single(xml).replace("<worksheet", f"{laughs}<worksheet"))
    with pytest.raises(InvalidInput, match="a damaged workbook, or none"):
        rows(entities, Reference)
    monkeypatch.setattr("postil.data.workbooks.LARGEST_PART", 100)
    with pytest.raises(InvalidInput, match="a damaged workbook, or none"):
        rows(rewritten(usual, single), Reference)
