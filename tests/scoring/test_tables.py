"""Tables of other programs, scored: what is read, what is said, and that the numbers are those of JSON Lines."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.data.row_files import read, write
from postil.data.rows import Candidate, Reference
from postil.scoring.calls import score

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conftest import Outcome, Postil

METRICS = ("--scale", "1:5", "-m", "w-meteor", "-m", "rouge-l", "--format", "jsonl")
NAMES = ("--column", "item=id", "--column", "text=prediction", "--column", "system=model")
OTHERS = ("--column", "references.item=id", "--column", "references.text=gold", "--column", "references.grade=stars")


def table(path: str, head: Iterable[str], rows: Iterable[Iterable[object]], delimiter: str = ",") -> None:
    with Path(path).open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, delimiter=delimiter)
        writer.writerow(head)
        writer.writerows(rows)


def grade(row: Reference) -> object:
    return "" if row.mean_grade is None else row.mean_grade


@pytest.fixture
def plain(postil: Postil) -> Outcome:
    """Scores of the rows as JSON Lines; the same rows stand in `c.csv` and `r.tsv` under other names."""
    candidates, references = list(read("c.jsonl", Candidate)), list(read("r.jsonl", Reference))
    table("c.csv", ("id", "model", "prediction", "n"), [(row.item, row.system, row.text, 1) for row in candidates], ";")
    table("r.tsv", ("id", "gold", "stars"), [(row.item, row.text, grade(row)) for row in references], "\t")
    return postil("score", "c.jsonl", "-r", "r.jsonl", *METRICS)


def test_csv_under_other_names(postil: Postil, plain: Outcome) -> None:
    found = postil("score", "c.csv", "-r", "r.tsv", *NAMES, *OTHERS, *METRICS)
    assert (found.out, found.code) == (plain.out, 0)
    assert found.err == "c.csv: read with ';' between columns; columns not read: n\n"


def test_standard_input(postil: Postil, plain: Outcome) -> None:
    given = Path("c.csv").read_bytes()
    found = postil("score", "-", "-r", "r.tsv", "--input-format", "csv", *NAMES, *OTHERS, *METRICS, stdin=given)
    assert (found.out, found.code) == (plain.out, 0)
    found = postil("score", "-", "-r", "r.tsv", "--input-format", "parquet", *NAMES, *OTHERS, *METRICS, stdin=given)
    assert (found.code, found.err) == (
        2,
        "postil: a file of format 'parquet' is not read from standard input; give its name\n",
    )


def test_json_with_all_references_of_an_item(postil: Postil, plain: Outcome) -> None:
    items: dict[str, list[object]] = {}
    for row in read("r.jsonl", Reference):
        items.setdefault(row.item, []).append({"gold": row.text, "stars": row.mean_grade})
    Path("r.json").write_text(json.dumps({"rows": [{"id": item, "all": each} for item, each in items.items()]}))
    names = (*OTHERS, "--column", "references.references=all")
    found = postil("score", "c.csv", "-r", "r.json", *NAMES, *names, *METRICS)
    assert (found.out, found.code) == (plain.out, 0)
    assert "r.json: rows taken from 'rows'\n" in found.err


def test_one_workbook_for_both(postil: Postil, plain: Outcome) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    for page, path, between in ((book.active, "c.csv", ";"), (book.create_sheet("Gold"), "r.tsv", "\t")):
        with Path(path).open(encoding="utf-8", newline="") as lines:
            for row in csv.reader(lines, delimiter=between):
                page.append(row)
    book.save("all.xlsx")
    sheets = ("--sheet", "Sheet", "--sheet", "references=Gold")
    found = postil("score", "all.xlsx", "-r", "all.xlsx", *sheets, *NAMES, *OTHERS, *METRICS)
    assert (found.out, found.code) == (plain.out, 0)
    assert found.err == (
        "all.xlsx, references: read from sheet 'Gold'\n"
        "all.xlsx, candidates: read from sheet 'Sheet'; columns not read: n\n"
    )
    found = postil("score", "all.xlsx", "-r", "r.tsv", *NAMES, *OTHERS, *METRICS)
    assert (found.out, found.code) == (plain.out, 0)
    assert "all.xlsx: read from sheet 'Sheet'; columns not read: n\n" in found.err
    found = postil("score", "all.xlsx", "-r", "r.tsv", *OTHERS, *METRICS)
    assert (found.code, found.err) == (
        2,
        "postil: all.xlsx: 2 sheets have rows: Sheet, Gold; choose one with --sheet NAME\n",
    )


def test_a_system_of_the_name_of_its_file(postil: Postil, plain: Outcome) -> None:
    del plain
    rows = [row for row in read("c.jsonl", Candidate) if row.system == "plain"]
    table("my-bot.csv", ("item", "text"), [(row.item, row.text) for row in rows])
    found = postil("score", "my-bot.csv", "-r", "r.jsonl", "-m", "rouge-l", "--format", "jsonl")
    assert {system for system, _ in found.scores} == {"my-bot"}
    assert "no column system; the system is called 'my-bot' (another name: --column system==NAME)" in found.err
    found = postil(
        "score", "my-bot.csv", "-r", "r.jsonl", "-m", "rouge-l", "--column", "system==x=y", "--format", "jsonl"
    )
    assert {system for system, _ in found.scores} == {"x=y"}


def test_item_scores_as_csv(postil: Postil, plain: Outcome) -> None:
    for name in ("s.csv", "s.csv.gz", "s.jsonl"):
        found = postil("score", "c.jsonl", "-r", "r.jsonl", *METRICS, "--items", name)
        assert (found.out, found.code) == (plain.out, 0)
    compared = [postil("compare", name, "--format", "jsonl") for name in ("s.jsonl", "s.csv", "s.csv.gz")]
    assert compared[0].code == 0
    assert compared[0].out == compared[1].out == compared[2].out


ASKED = [
    (("--column", "txt=prediction"), 2, "unknown field of candidates 'txt'; did you mean 'text'? Known: item, "),
    (("--column", "refs.text=a"), 2, "unknown file of this command 'refs'; did you mean 'references'? Known: "),
    (("--input-format", "xml"), 2, "unknown input format 'xml'; did you mean "),
    (("--encoding", "utf-9"), 2, "unknown encoding 'utf-9'; for example"),
    (("--delimiter", ";;"), 2, 'one character stands between columns, or the word tab; got ";;"'),
    ((), 3, "c.csv:1: item, text: no such columns; the file has: id, model, prediction, n; name the ones for them: "),
    (NAMES[:2], 3, "c.csv:1: text: no such column; the file has: id, model, prediction, n; name the one for it: "),
    (("--column", "item=idd", *NAMES[2:]), 3, "c.csv:1: idd: no such column; did you mean 'id'? The file has: "),
    (
        (*NAMES, "--delimiter", "candidates=,"),
        3,
        'c.csv:1: id: no such column; the file has: id;model;prediction;n; is ";" between the columns? --delimiter ";"',
    ),
]


@pytest.mark.parametrize(("words", "code", "said"), ASKED)
def test_what_is_asked_for_and_is_not_there(
    postil: Postil, plain: Outcome, words: tuple[str, ...], code: int, said: str
) -> None:
    del plain
    found = postil("score", "c.csv", "-r", "r.tsv", "-m", "rouge-l", *OTHERS, *words)
    assert (found.code, found.out) == (code, "")
    assert found.err.startswith(f"postil: {said}"), found.err
    assert found.err.count("\n") == 1


def test_the_error_names_the_column_of_the_file(postil: Postil, plain: Outcome) -> None:
    del plain
    given = Path("c.csv").read_bytes()
    Path("c.csv").write_bytes(given.replace(b"\r\n", b"\r\nnobody;plain;x;1\r\n", 1))
    found = postil("score", "c.csv", "-r", "r.tsv", *NAMES, *OTHERS, *METRICS)
    assert found.err == "postil: c.csv:2: id: expected an item that has references (a, b), got 'nobody'\n"
    assert found.code == 3


def test_what_is_one_file_by_mistake(postil: Postil) -> None:
    write("one.csv", [Candidate("a", "s", "x")])
    found = postil("score", "one.csv", "-r", "one.csv", "-m", "rouge-l")
    assert found.code == 2
    assert found.err == (
        "postil: one.csv: candidates and references are the same file; name the columns of each: "
        "--column text=COLUMN --column references.text=COLUMN\n"
    )


SURVEY = """\
Response,Model,Answer,Gold,Other gold
7,big,The bus is late,The night bus is late,A late bus
7,small,Bus,The night bus is late,A late bus
8,big,It rains,Rain,
8,small,Snow,Rain,
"""


def test_one_table_with_a_row_per_text(postil: Postil) -> None:
    """References need no column of the item of their own, and count once, however many systems repeat them."""
    Path("survey.csv").write_text(SURVEY, encoding="utf-8")
    names = ("--column", "item=Response", "--column", "system=Model", "--column", "text=Answer")
    found = postil(
        *("score", "survey.csv", "-r", "survey.csv", *names, "--column", "references.text=Gold|Other gold"),
        *("-m", "rouge-l", "--format", "json"),
    )
    assert found.code == 0, found.err
    assert "survey.csv, references: 3 references that several rows of an item repeat, taken once each\n" in found.err
    write(
        "c.jsonl",
        [
            Candidate("7", "big", "The bus is late"),
            Candidate("7", "small", "Bus"),
            Candidate("8", "big", "It rains"),
            Candidate("8", "small", "Snow"),
        ],
    )
    write("r.jsonl", [Reference("7", "The night bus is late"), Reference("7", "A late bus"), Reference("8", "Rain")])
    assert found.out == postil("score", "c.jsonl", "-r", "r.jsonl", "-m", "rouge-l", "--format", "json").out


def test_one_frame_with_a_row_per_text() -> None:
    table = [
        dict(zip(SURVEY.splitlines()[0].split(","), line.split(","), strict=True)) for line in SURVEY.splitlines()[1:]
    ]
    names = {"system": "Model", "text": "Answer", "references.text": "Gold|Other gold"}
    with pytest.warns(UserWarning, match="3 references that several rows of an item repeat, taken once each"):
        found = score(table, table, item="Response", columns=names, metrics=["rouge-l"])
    assert "|references:1-2|" in found.signatures["rouge-l"]
