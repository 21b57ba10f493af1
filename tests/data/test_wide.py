"""Columns that stand side by side, such as the answers of several systems, become one row each."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from postil.data.frames import ColumnNames, open_rows
from postil.data.reading import Reading, readings
from postil.data.row_files import read, write
from postil.data.rows import Candidate, Judgement, Reference, Score
from postil.data.wide import widened
from postil.errors import InvalidInput, UsageError
from postil.messages import COMMAND_LINE
from refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

    from postil.data.rows import Row


# As Excel writes it in Germany, with a row of which nothing is left.
EXAM = """\
\ufeffNr;Frage;Antwort A;Antwort B;Muster 1;Punkte 1;Muster 2;Punkte 2
01;Warum?;Darum;"Weil;
oder";Weil es regnet;4,5;Darum;1
02;Wozu?;;Dazu;Dazu, klar;5;;
;;;;;;;
"""
COLUMNS = ("Nr", "Antwort A", "Antwort B", "Muster 1", "Punkte 1", "Muster 2", "Punkte 2")
ANSWERS = (("01", "Darum", "Weil", "Ja", 4.5, "Nein", 1), ("02", "", "Dazu", "Doch", 5, None, None))
TABLE: list[dict[str, object]] = [dict(zip(COLUMNS, answers, strict=True)) for answers in ANSWERS]
REFERENCES = {"item": "Nr", "text": "Muster *", "grade": "Punkte *"}


def rows(path: Path, row_type: type[Row], **columns: str) -> tuple[list[Row], list[str]]:
    said: list[str] = []
    got = list(read(path, row_type, Reading(say=said.append, columns=columns)))
    return got, [line.removeprefix(f"{path}: ") for line in said]


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    (path := tmp_path / "exam.csv").write_text(EXAM, encoding="utf-8")
    return path


@pytest.mark.parametrize(("source", "names"), [("Antwort *", "AB"), ("Antwort A|Antwort B", "")])
def test_candidates(exam: Path, source: str, names: str) -> None:
    """The system is what the star stands for, or the name of the column; an empty answer is an answer."""
    first, second = names or ("Antwort A", "Antwort B")
    got, said = rows(exam, Candidate, item="Nr", text=source)
    assert got == [
        Candidate("01", first, "Darum"),
        Candidate("01", second, "Weil;\noder"),
        Candidate("02", first, ""),
        Candidate("02", second, "Dazu"),
    ]
    assert said == [
        "read with ';' between columns; columns not read: Frage, Muster 1, Punkte 1, Muster 2, Punkte 2",
        'each row read as 2: Antwort A (system "A"), Antwort B (system "B")'
        if names
        else "each row read as 2: Antwort A, Antwort B",
        f"1 empty cell in {source}, taken as empty texts",
    ]


def test_many_columns_are_named_in_short(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text(
        f"Pupil,{','.join(f'Answer {n}' for n in range(1, 9))},{','.join(f'Points {n}' for n in range(1, 9))}\n"
        f"Ada,{','.join('abcdefgh')},{','.join('12345678')}\n",
        encoding="utf-8",
    )
    _, said = rows(tmp_path / "class.csv", Candidate, item="*", text="Answer *", system="Pupil")
    assert said == [
        "columns not read: Points 1, Points 2, …, Points 8",
        'each row read as 8: Answer 1 (item "1"), Answer 2 (item "2"), …, Answer 8 (item "8")',
    ]


def test_references(exam: Path) -> None:
    """Each text has the grade with the same number; a place without text and grade is no reference."""
    got, said = rows(exam, Reference, **REFERENCES)
    graded = [("01", "Weil es regnet", 4.5), ("01", "Darum", 1.0), ("02", "Dazu, klar", 5.0)]
    assert got == [Reference(*each) for each in graded]
    assert said[1:] == [
        "each row read as 2: Muster 1 with Punkte 1, Muster 2 with Punkte 2",
        "decimal commas in Punkte *",
        "empty cells, taken as no reference: 1 in Muster 2",
    ]


def test_an_error_names_the_cell(exam: Path) -> None:
    exam.write_text(EXAM.replace("Darum;1", "Darum;gut"), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r':2: Punkte 2: expected a number, got "gut"'):
        rows(exam, Reference, **REFERENCES)


def test_the_line_of_a_row_that_was_made(exam: Path) -> None:
    source = read(exam, Reference, Reading(columns=REFERENCES))
    assert len(list(source)) == 3
    assert str(source.places.error(2, "grade", "too large")) == f"{exam}:4: Punkte 1: too large"


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.parquet", "frame", "list"])
def test_other_tables(tmp_path: Path, name: str) -> None:
    path, table = tmp_path / name, TABLE
    if name == "t.json":
        path.write_text(json.dumps(TABLE), encoding="utf-8")
    elif name == "t.jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in TABLE), encoding="utf-8")
    elif name == "t.parquet":
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.Table.from_pylist(TABLE), path)

    said: list[str] = []

    def found(row_type: type[Any], columns: dict[str, str]) -> list[Any]:
        reading = Reading(columns=columns, say=said.append)
        if name.startswith("t."):
            return list(read(path, row_type, reading))
        made = pytest.importorskip("pandas").DataFrame(table) if name == "frame" else table
        return list(open_rows(made, row_type, "rows", ColumnNames({"rows": row_type}, given={"rows": reading})))

    graded = [("01", "Ja", 4.5), ("01", "Nein", 1.0), ("02", "Doch", 5.0)]
    assert found(Reference, REFERENCES) == [Reference(*each) for each in graded]
    answers = [("01", "A", "Darum"), ("01", "B", "Weil"), ("02", "A", ""), ("02", "B", "Dazu")]
    assert found(Candidate, {"item": "Nr", "text": "Antwort *"}) == [Candidate(*each) for each in answers]
    assert said[-1].endswith(": 1 empty cell in Antwort *, taken as empty texts")


PUPILS: list[dict[str, object]] = [
    {"Name": "Anna", "Frage 1": "weil", "Frage 2a": "darum", "Punkte 1": 1, "Punkte 2a": 2},
    {"Name": "Bob", "Frage 1": "so", "Frage 2a": "", "Punkte 1": 3, "Punkte 2a": None},
]
BY_PUPIL = {"item": "*", "system": "Name"}


@pytest.mark.parametrize("name", ["t.csv", "t.json", "t.jsonl", "frame", "list"])
def test_each_column_is_an_item(tmp_path: Path, name: str) -> None:
    """The item is what the star stands for, where a row has all answers of a pupil, or their grades."""
    path, said = tmp_path / name, list[str]()
    if name == "t.csv":
        lines = [
            ",".join("" if each is None else str(each) for each in line)
            for line in [PUPILS[0], *map(dict.values, PUPILS)]
        ]
        path.write_text("\n".join(lines), encoding="utf-8")
    elif name.startswith("t."):
        lines = list(map(json.dumps, PUPILS))
        path.write_text(f"[{','.join(lines)}]" if name == "t.json" else "\n".join(lines), encoding="utf-8")

    def found(row_type: type[Any], **columns: str) -> list[Any]:
        said.clear()
        reading = Reading(columns={**BY_PUPIL, **columns}, say=said.append)
        if name.startswith("t."):
            return list(read(path, row_type, reading))
        made = pytest.importorskip("pandas").DataFrame(PUPILS) if name == "frame" else PUPILS
        return list(open_rows(made, row_type, "rows", ColumnNames({"rows": row_type}, given={"rows": reading})))

    answers = [("1", "Anna", "weil"), ("2a", "Anna", "darum"), ("1", "Bob", "so"), ("2a", "Bob", "")]
    assert found(Candidate, text="Frage *") == [Candidate(*each) for each in answers]
    told = 'each row read as 2: Frage 1 (item "1"), Frage 2a (item "2a")'
    assert any(told in line for line in said) == name.startswith("t.")
    assert said[-1].endswith(": 1 empty cell in Frage *, taken as empty texts")
    named = [Candidate(f"Frage {item}", *rest) for item, *rest in answers]
    assert found(Candidate, text="Frage 1|Frage 2a") == named
    assert found(Candidate, text="Frage *", item="=Q *") == [Candidate(f"Q {item}", *rest) for item, *rest in answers]
    assert any('Frage 1 (item "Q 1")' in line for line in said) == name.startswith("t.")
    grades = [("1", "Anna", "L", 1.0), ("2a", "Anna", "L", 2.0), ("1", "Bob", "L", 3.0)]
    assert found(Judgement, grade="Punkte *", annotator="=L") == [Judgement(*each) for each in grades]
    scores = [Score(item, system, "points", grade) for item, system, _, grade in grades]
    assert found(Score, score="Punkte *", metric="=points") == scores
    keys = [
        Reference(item, text, grade, system=of) for (item, of, text), (*_, grade) in zip(answers, grades, strict=False)
    ]
    assert found(Reference, text="Frage *", grade="Punkte *") == keys


def test_columns_of_grades_that_are_items_are_neither_systems_nor_annotators(tmp_path: Path) -> None:
    (path := tmp_path / "r.csv").write_text("pupil,who,Grade Q1,Grade Q2\na,ann,4,5\n", encoding="utf-8")
    by_item = {"grade": "Grade Q*", "item": "*", "system": "pupil"}
    expected = [Judgement("1", "a", "ann", 4.0), Judgement("2", "a", "ann", 5.0)]
    assert rows(path, Judgement, **by_item, annotator="who")[0] == expected
    with pytest.raises(InvalidInput) as caught:
        rows(path, Judgement, **by_item)
    assert caught.value.words(COMMAND_LINE).endswith(
        "name the one for it: --column annotator=COLUMN; or, where all is of one annotator: --column annotator==NAME"
    )
    assumed = Reading(columns=by_item, assumed={"annotator": "one"})
    assert [row.annotator for row in read(path, Judgement, assumed)] == ["one", "one"]
    with pytest.raises(
        UsageError, match=r"^columns=\{'item': '\*'\} says that each column is an item, and annotator_col"
    ):
        widened(Judgement, ["Grade *"], Reading(columns={"item": "*"}))
    with pytest.raises(
        UsageError, match=r"and none are named; name them, such as columns=\{'text': 'Question \*'\}, or "
    ):
        rows(path, Candidate, item="*", text="who", system="pupil")
    (starred := tmp_path / "s.csv").write_text("*,who,text\n1,ann,yes\n", encoding="utf-8")
    assert rows(starred, Candidate, item="*", system="who")[0] == [Candidate("1", "ann", "yes")]


def test_what_items_that_columns_are_leave_unread(tmp_path: Path) -> None:
    (path := tmp_path / "p.csv").write_text("Name,F 1,F 2,note,gold\na,x,y,z,g\n", encoding="utf-8")
    said: list[str] = []
    named = ("text=F *", "item=*", "system=Name", "references.text=gold", "references.item=Name")
    found = readings({"candidates": Candidate, "references": Reference}, said.append, column=named)
    of = replace(found["candidates"], also=("gold",))
    list(read(path, Reference, replace(found["references"], also=tuple(of.names.values()))))
    assert said == [f"{path}: columns not read: note"]


def test_ratings_and_scores_by_a_pattern(tmp_path: Path) -> None:
    (path := tmp_path / "r.csv").write_text("item,system,Rater Ann,Rater Bob\n1,a,4,\n2,a,3,5\n", encoding="utf-8")
    expected = [Judgement("1", "a", "Ann", 4.0), Judgement("2", "a", "Ann", 3.0), Judgement("2", "a", "Bob", 5.0)]
    assert list(read(path, Judgement, widened(Judgement, ["Rater *"], Reading()))) == expected
    assert rows(path, Judgement, grade="Rater *") == (
        expected,
        [
            'each row read as 2: Rater Ann (annotator "Ann"), Rater Bob (annotator "Bob")',
            "empty cells, taken as no judgement: 1 in Rater Bob",
        ],
    )
    metrics = [row.metric for row in read(path, Score, widened(Score, ["Rater *"], Reading()))]
    assert metrics == ["Ann", "Ann", "Bob"]
    table = [{"item": 1, "system": "a", "Rater Ann": 4, "Rater Bob": 2}]
    names = ColumnNames({"judgements": Judgement}, wide={"judgements": ["Rater *"]})
    assert [row.annotator for row in open_rows(table, Judgement, "judgements", names)] == ["Ann", "Bob"]
    with pytest.raises(UsageError, match="columns names the grade, and each of"):
        read(path, Judgement, widened(Judgement, ["Rater *"], Reading(columns={"grade": "x"})))


def test_a_column_of_that_very_name_is_one(tmp_path: Path) -> None:
    options = readings({"references": Reference}, print, column=["references=gold 1|gold 2"])
    assert options["references"].columns == {"text": "gold 1|gold 2"}
    path = tmp_path / "t.csv"
    write(path, [Candidate("1", "a", "Rain")])
    path.write_text(path.read_text(encoding="utf-8").replace("text", "text *"), encoding="utf-8")
    assert rows(path, Candidate, text="text *") == ([Candidate("1", "a", "Rain")], [])


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"text": "Antwrt *"}, "Antwrt *: no such column; the file has: Nr, Frage, "),
        ({"text": "Antwort A|Antwort C"}, "Antwort C: no such column; did you mean 'Antwort B'? The file has: Nr, "),
        ({"text": "Muster 1|Muster 2", "grade": "Punkte 1"}, "Punkte 1"),
        ({"text": "Antwort *", "grade": "Punkte *"}, "the columns do not pair: '1' is in Antwort * or Punkte * alone"),
        (
            {"text": "Muster *", "grade": "Punkte 1|Punkte 2|Nr"},
            "as many columns for each field; got Muster 1, Muster 2 for text, Punkte 1, Punkte 2, Nr for grade",
        ),
    ],
)
def test_columns_that_are_not_there_or_do_not_pair(exam: Path, columns: dict[str, str], problem: str) -> None:
    if problem == "Punkte 1":  # one grade for all references of a row
        got, _ = rows(exam, Reference, item="Nr", **columns)
        assert [row.grade for row in got if isinstance(row, Reference)] == [4.5, 4.5, 5.0]
        return
    said = refused(InvalidInput, rows, exam, Reference, item="Nr", **columns)
    assert problem in said
    assert said.startswith(f"{exam}:1: ")


METRICS = "doc,model,bleu,own metric\n1,a,0.5,\n2,a,,3\n2,b,0,-1e-3\n"
READING = Reading(columns={"item": "doc", "system": "model"})


def test_scores(tmp_path: Path) -> None:
    (path := tmp_path / "s.csv").write_text(METRICS, encoding="utf-8")
    said: list[str] = []
    reading = Reading(columns=READING.columns, say=said.append)
    rows = list(read(path, Score, widened(Score, ["own metric", "bleu"], reading)))
    assert [(row.item, row.system, row.metric, row.score, row.signature) for row in rows] == [
        ("1", "a", "bleu", 0.5, "external"),
        ("2", "a", "own metric", 3.0, "external"),
        ("2", "b", "own metric", -0.001, "external"),
        ("2", "b", "bleu", 0.0, "external"),
    ]
    assert said == [f"{path}: empty cells, taken as no score: 1 in own metric, 1 in bleu"]


def test_a_row_is_found_again_and_keeps_its_other_fields(tmp_path: Path) -> None:
    (path := tmp_path / "s.csv").write_text(METRICS, encoding="utf-8")
    source = read(path, Score, widened(Score, ["bleu", "own metric"], READING))
    rows = list(source)
    assert (rows[3].item, rows[3].system, rows[3].metric) == ("2", "b", "own metric")
    assert str(source.places.error(3, "score", "too large")) == f"{path}:4: own metric: too large"
    assert str(source.places.error(3, "system", "unknown")) == f"{path}:4: model: unknown"
    path.write_text('{"item": 1, "system": "a", "aspect": "tone", "Ann": 4, "Bob": null}\n', encoding="utf-8")
    lines = path.rename(tmp_path / "j.jsonl")
    found = list(read(lines, Judgement, widened(Judgement, ["Ann", "Bob"], Reading())))
    assert found == [Judgement("1", "a", "Ann", 4.0, "tone")]


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    (path := tmp_path / "s.csv").write_text(METRICS, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"s\.csv:1: blue: no such column; did you mean 'bleu'\?"):
        list(read(path, Score, widened(Score, ["blue"], READING)))
    path.write_text("doc,model,bleu\n1,a,\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="expected numbers in bleu, got empty cells alone"):
        list(read(path, Score, widened(Score, ["bleu"], READING)))


@pytest.mark.parametrize(
    ("names", "columns", "said"),
    [
        (["bleu", "bleu"], {}, "the column bleu stands twice"),
        (["item"], {}, "the column item is a field of its own"),
        (["bleu"], {"metric": "bleu"}, "columns names the metric, and each of bleu is a column of its own"),
    ],
)
def test_names_that_make_no_sense(tmp_path: Path, names: list[str], columns: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(tmp_path / "s.csv", Score, widened(Score, names, Reading(columns=columns)))
