"""Exports of Label Studio and Potato, and grades of labels."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest

from postil.campaigns.importing import given_grades, grade_in, grades_of
from postil.campaigns.submissions import only_last, questions
from postil.campaigns.tools import read_label_studio, read_potato
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import COMMAND_LINE

if TYPE_CHECKING:
    from pathlib import Path


def region(name: str, kind: str, value: object) -> dict[str, object]:
    return {"id": "r", "from_name": name, "to_name": "text", "type": kind, "value": value}


def write(path: Path, document: object) -> str:
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def task(*annotations: dict[str, object], number: int = 1) -> dict[str, object]:
    return {"id": number, "data": {"text": "The river froze."}, "annotations": list(annotations)}


def test_kinds_of_answers(tmp_path: Path) -> None:
    given = [
        region("stars", "rating", {"rating": 4}),
        region("share", "number", {"number": 2.5}),
        region("tone", "choices", {"choices": ["kind"]}),
        region("topics", "choices", {"choices": ["a", "b"]}),
        region("note", "textarea", {"text": ["Nice."]}),
        {"type": "relation", "from_id": "r", "to_id": "s"},
    ]
    one = {"completed_by": {"id": 3, "email": "ann@example.org"}, "result": given, "lead_time": 7.25}
    one |= {"created_at": "2024-03-01T10:00:00.5Z", "was_cancelled": False}
    export = read_label_studio([write(tmp_path / "x.json", [task(one, {"was_cancelled": True, "result": []})])])
    (found,) = export.submissions
    assert found.answers == {"stars": 4.0, "share": 2.5, "tone": "kind"}
    assert (found.annotator, found.seconds, found.time) == ("ann@example.org", 7.25, 1709287200.0)
    assert export.left_out == {
        "answers with several choices": 1,
        "answers of the kind 'text'": 1,
        "relations between regions": 1,
        "cancelled annotations": 1,
    }


def test_spans_and_an_annotation_that_marks_nothing(tmp_path: Path) -> None:
    marks = [
        region("parts", "labels", {"start": 4, "end": 9, "text": "river", "labels": ["noun"]}),
        region("parts", "hypertextlabels", {"globalOffsets": {"start": 0, "end": 3}, "hypertextlabels": ["the"]}),
    ]
    document = [task({"completed_by": 1, "result": marks}, {"completed_by": 2, "result": []})]
    export = read_label_studio([write(tmp_path / "x.json", document)])
    assert [one.answers for one in export.submissions] == [{"parts": ((0, 3), (4, 9))}, {"parts": ()}]
    assert questions(export, (), "x") == ([], ["parts"])


def test_the_flat_formats_say_the_same(tmp_path: Path) -> None:
    row = {"text": "One", "id": 5, "stars": [{"rating": 4}], "tone": "kind", "annotator": 2, "annotation_id": 8}
    row |= {"created_at": "2024-03-01T10:00:00Z", "updated_at": "", "lead_time": 3.5}
    flat = write(tmp_path / "min.json", [row])
    for name, mark in (("x.csv", ","), ("x.tsv", "\t")):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            cells = [json.dumps(value) if isinstance(value, list) else value for value in row.values()]
            csv.writer(file, delimiter=mark).writerows([list(row), cells])
    exports = [read_label_studio([path]) for path in (flat, str(tmp_path / "x.csv"), str(tmp_path / "x.tsv"))]
    for export in exports:
        assert export.submissions == exports[0].submissions
        assert export.tasks["5"].fields == {"text": "One"}
    assert exports[0].submissions[0].answers == {"stars": 4.0, "tone": "kind"}


def test_the_last_annotation_of_an_annotator_counts(tmp_path: Path) -> None:
    stars = [[region("stars", "rating", {"rating": grade})] for grade in (1, 5)]
    late = {"completed_by": 1, "result": stars[0], "created_at": "2024-03-02T00:00:00Z"}
    early = {"completed_by": 1, "result": stars[1], "created_at": "2024-03-01T00:00:00Z"}
    export = read_label_studio([write(tmp_path / "x.json", [task(late, early)])])
    assert [one.answers["stars"] for one in only_last(export)] == [1.0]
    assert export.left_out["earlier annotations of a task by the same annotator"] == 1


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ([{"id": 1, "annotations": []}], ":1: data: expected an object"),
        ([{"id": 1, "data": {}, "annotations": [{}]}], ":1: annotations: expected annotations with a result"),
        ([{"text": "x"}], ":1: expected a task with annotations, or a row with annotator and annotation_id"),
        ([{"text": "x", "annotator": 1, "annotation_id": 2}], ":1: expected controls between the columns id and annot"),
    ],
)
def test_other_files(tmp_path: Path, document: object, told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_label_studio([write(tmp_path / "x.json", document)])
    assert str(caught.value).startswith(f"{tmp_path / 'x.json'}{told}")


def test_questions_that_are_not_there(tmp_path: Path) -> None:
    export = read_label_studio([write(tmp_path / "x.json", [task()])])
    with pytest.raises(InvalidInput, match="expected answers that are numbers, choices or spans, found none"):
        questions(export, (), "x")
    stars = {"completed_by": 1, "result": [region("stars", "rating", {"rating": 1})]}
    export = read_label_studio([write(tmp_path / "y.json", [task(stars)])])
    with pytest.raises(UnknownName, match="unknown question 'star'"):
        questions(export, ["star"], "x")


ABOUT = {"annotator": 1, "annotation_id": 9, "created_at": "", "updated_at": "", "lead_time": 3.5}
ANSWERED = {"item": "q1", "text": "One.", "id": 1, "quality": 4, **ABOUT}


def answers(path: str, *controls: str) -> list[object]:
    return [one.answers for one in read_label_studio([path], controls).submissions]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("form", ["json", "csv"])
def test_columns_in_another_order_take_no_field_of_a_task_for_an_answer(
    tmp_path: Path, form: str, *, reverse: bool
) -> None:
    def wrote(row: dict[str, object]) -> str:
        row = {name: row[name] for name in sorted(row, reverse=reverse)}
        if form == "json":
            return write(tmp_path / "x.json", [row])
        with (tmp_path / "x.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([list(row), row.values()])
        return str(tmp_path / "x.csv")

    assert answers(wrote(ANSWERED)) == [{"quality": 4.0}]  # all others are known
    path = wrote(ANSWERED | {"year": 1999})
    assert answers(path, "quality") == [{"quality": 4.0}]
    with pytest.raises(UnknownName, match=r"unknown question 'qality'; did you mean 'quality'\? Known: quality, year"):
        answers(path, "qality")
    with pytest.raises(InvalidInput) as caught:
        answers(path)
    problem = "expected controls between the columns id and annotator; name them with question of quality, year"
    assert problem in str(caught.value)


def test_rows_without_an_answer_say_nothing_about_the_others(tmp_path: Path) -> None:
    skipped = {name: value for name, value in ANSWERED.items() if name != "quality"}
    later = ANSWERED | {"item": "q2", "id": 2, "tone": 3}
    later = {name: later[name] for name in ("item", "text", "id", "quality", "tone", *ABOUT)}
    for first in (skipped, skipped | {"quality": None}, ANSWERED | {"was_cancelled": True}):
        path = write(tmp_path / "x.json", [first, later])
        assert answers(path)[-1] == {"quality": 4.0, "tone": 3.0}
        assert {} in answers(path) or len(answers(path)) == 1


def test_a_table_whose_first_row_lacks_an_answer_has_its_column_at_the_end(tmp_path: Path) -> None:
    """As pandas collects the columns of rows."""
    path, about = tmp_path / "x.csv", ",".join(ABOUT)
    path.write_text(f"text,id,{about},quality\nOne.,1,ann,8,,,1.5,\nTwo.,2,ann,9,,,1.5,4\n", encoding="utf-8")
    assert answers(str(path)) == [{}, {"quality": 4.0}]
    path.write_text(f"text,id,tone,{about},quality\nOne.,1,3,ann,8,,,1.5,\nTwo.,2,3,ann,9,,,1.5,4\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"name them with question of quality, tone$"):
        answers(str(path))
    assert answers(str(path), "tone", "quality") == [{"tone": 3.0}, {"tone": 3.0, "quality": 4.0}]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"annotator": None}, ":1: annotator: missing; expected text or an integer, got null"),
        ({"annotator": {"email": ""}}, ":1: annotator: missing; expected text or an integer, got null"),
        ({"id": None}, ":1: id: missing; expected text or an integer, got null"),
        ({"id": [1]}, ":1: id: expected text or an integer, got an array"),
    ],
)
def test_ids_that_are_missing(tmp_path: Path, change: dict[str, object], told: str) -> None:
    by = {"completed_by": change.get("annotator", 1), "result": []}
    full = {"data": {"text": "One."}, "annotations": [by], "id": change.get("id", 1)}
    for name, document in (("x.json", ANSWERED | change), ("y.json", full)):
        with pytest.raises(InvalidInput) as caught:
            read_label_studio([write(tmp_path / name, [document])])
        assert str(caught.value).replace("completed_by", "annotator") == f"{tmp_path / name}{told}"


def state(folder: Path, labels: object, spans: object = (), spent: object = ()) -> None:
    folder.mkdir(parents=True)
    found = {f"instance_id_to_{name}_to_value": dict(values) for name, values in (("label", labels), ("span", spans))}
    found |= {"user_id": folder.name, "instance_id_to_behavioral_data": dict(spent)}
    (folder / "user_state.json").write_text(json.dumps(found), encoding="utf-8")


def test_the_state_of_an_annotator(tmp_path: Path) -> None:
    pairs = [
        [{"schema": "fluency", "name": "scale_4"}, "4"],
        [{"schema": "tone", "name": "kind"}, True],
        [{"schema": "tone", "name": "rude"}, False],
        [{"schema": "why", "name": "text_box"}, "because"],
    ]
    marks = [[{"schema": "parts", "name": "x", "start": 4, "end": 9}, "true"]]
    spent = {"i1": {"total_time_ms": 4200, "session_end": 1_700_000_000.5}}
    state(tmp_path / "out" / "ann", {"i1": pairs}, {"i1": marks}, spent)
    state(tmp_path / "out" / "bob", {"i1": {"fluency": {"labels": {"5 good": True}}}})
    data = tmp_path / "data.jsonl"
    data.write_text('{"id": "i1", "text": "The river froze."}\n', encoding="utf-8")
    export = read_potato([str(tmp_path / "out")], [str(data)])
    ann, bob = export.submissions
    assert ann.answers == {"fluency": 4.0, "tone": "kind", "parts": ((4, 9),)}
    assert (ann.annotator, ann.seconds, ann.time) == ("ann", 4.2, 1_700_000_000.5)
    assert bob.answers == {"fluency": "5 good", "parts": ()}
    assert export.tasks["i1"].fields["text"] == "The river froze."
    assert export.left_out == {"answers in free text, and of other kinds": 1}


@pytest.mark.parametrize(
    ("name", "value", "answer"),
    [
        *(("scale_4", "4", 4.0), ("scale_10", "0", 10.0), ("10", "0", 10.0)),
        *(("number", "42", 42.0), ("slider", "2.5", 2.5), ("q", "7", 7.0), ("4", "4", "4")),
        *(("select-one", "good", "good"), ("good", "good", "good"), ("good", True, "good")),
        *(("good", "1", "good: 1"), ("scale_4", "3", "scale_4: 3"), ("GPT_4", "4", "GPT_4: 4")),
    ],
)
def test_keys_of_choices_are_no_grades(tmp_path: Path, name: str, value: object, answer: object) -> None:
    state(tmp_path / "ann", {"i1": [[{"schema": "q", "name": name}, value]]})
    (one,) = read_potato([str(tmp_path)]).submissions
    assert one.answers == {"q": answer}


def test_a_text_that_cannot_be_rated_has_no_grade(tmp_path: Path) -> None:
    state(tmp_path / "ann", {"i1": [[{"schema": "q", "name": "bad_text"}, "0"]]})
    export = read_potato([str(tmp_path)])
    assert [one.answers for one in export.submissions] == [{}]
    assert export.left_out == {"answers that a text cannot be rated": 1}


def test_the_first_version(tmp_path: Path) -> None:
    folder = tmp_path / "annotation_output" / "zoe"
    folder.mkdir(parents=True)
    row = {"id": "1", "displayed_text": "Hello.", "label_annotations": {"tone": {"neutral": "true"}}}
    row |= {"span_annotations": {}, "behavioral_data": {"time_string": "Time spent: 0d 0h 1m 4s "}}
    (folder / "annotated_instances.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    for path in (tmp_path, folder / "annotated_instances.jsonl"):
        export = read_potato([str(path)])
        (one,) = export.submissions
        assert (one.annotator, one.answers, one.seconds) == ("zoe", {"tone": "neutral"}, 64.0)
        assert export.tasks["1"].fields["text"] == "Hello."


@pytest.mark.parametrize(("between", "form"), [(".", "csv"), (":::", "tsv")])
def test_exported_tables(tmp_path: Path, between: str, form: str) -> None:
    names = ["instance_id", "user_id", f"fluency{between}scale_4", f"fluency{between}scale_1", "parts._spans"]
    cells = [["i1", "ann", "4", "", '[{"start": 0, "end": 3}]'], ["i1", "bob", "", "1", "[]"]]
    file = tmp_path / f"x.{form}"
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter="," if form == "csv" else "\t").writerows([names, *cells])
    export = read_potato([str(file)])
    assert [(one.annotator, one.answers) for one in export.submissions] == [
        ("ann", {"fluency": 4.0, "parts": ((0, 3),)}),
        ("bob", {"fluency": 1.0, "parts": ()}),
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [("[]", "expected an object in braces, got"), ("{", "cannot be read as JSON"), ("\xff", "cannot be read as JSON")],
)
def test_broken_states(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "user_state.json").write_text(content, encoding="latin-1")
    with pytest.raises(InvalidInput, match=r"user_state\.json") as caught:
        read_potato([str(tmp_path)])
    assert told in str(caught.value)


def test_folders_and_tables_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="expected a folder of annotators"):
        read_potato([str(tmp_path)])
    (tmp_path / "x.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"x.csv:2: expected the columns instance_id and user_id"):
        read_potato([str(tmp_path / "x.csv")])
    for row, told in (
        ('{"instance_id": null, "user_id": "ann"}', "instance_id: missing; expected text or an integer, got null"),
        ('{"instance_id": "i1", "user_id": ""}', "user_id: missing; expected text or an integer, got an empty text"),
        ('{"instance_id": "i1", "user_id": 1.5}', "user_id: expected text or an integer, got 1.5"),
    ):
        (tmp_path / "r.jsonl").write_text(row, encoding="utf-8")
        with pytest.raises(InvalidInput, match=f"r.jsonl:1: {told}"):
            read_potato([str(tmp_path / "r.jsonl")])
    (tmp_path / "d.jsonl").write_text('{"text": "x"}\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"d.jsonl:1: id: expected the id of the instance"):
        read_potato([], [str(tmp_path / "d.jsonl")])


@pytest.mark.parametrize(
    ("label", "grade"),
    [
        *(("4", 4), (" -1 ", -1), ("−1", -1), ("4.5", 4.5), ("(4)", 4)),
        *(("4. good", 4), ("4.good", 4), ("4) good", 4), ("4: (very) good", 4), ("2.5: fair", 2.5), ("4：好", 4)),
        *(("1. Strongly agree (1)", 1), ("Agree (5)", 5), ("Agree [ 5 ]", 5), ("很好（5）", 5)),
    ],
)
def test_numbers_that_labels_give(label: str, grade: float) -> None:
    assert grade_in(label) == grade
    assert grades_of("q", [label], {label: 2.5}, None) in ({label: 2.5}, {label: grade})
    assert grades_of("q", [label], given_grades([f"{label}=2.5"]), None) == {label: 2.5}


@pytest.mark.parametrize(
    "label",
    [
        *(
            "GPT-4",
            "GPT 4",
            "4,5",
            "1,000",
            "1_000",
            "26-50%",
            "50%",
            "4-5",
            "4 - good",
            "4 stars",
            "-1 bad",
            "level 4",
        ),
        *("scale_4", "(4) good", "4 (5)", "4. Agree (5)", "4:", "12:30", "3.14 is pi", "1. 0-25%", "2) 3 of 4"),
        *("good (4 of 5)", "v2.1", "1.2.3", "2024-05-01", "nan", "½", ""),
        pytest.param(f"{'9' * 400}. good", id="a number that leads beyond all floats"),
        pytest.param(f"good ({'9' * 400})", id="a number in brackets beyond all floats"),
    ],
)
def test_labels_that_give_none(label: str) -> None:
    assert grade_in(label, (1, 5)) is None
    with pytest.raises(UsageError, match="has no grade; give it one: grade="):
        grades_of("q", [label], {}, (1, 5))
    assert grades_of("q", [label], {label.strip(): 2.5}, None) == {label: 2.5}


@pytest.mark.parametrize(
    ("label", "scale", "grade"),
    [
        *(("1 of 5", None, None), ("1 of 5", (1, 5), 1), ("1 of 5", (1, 7), None), ("0 of 5", (1, 5), None)),
        *(("3/5", (0, 5), 3), ("3 / 5", (0, 5), 3), ("2 Out of 5", (1, 5), 2), ("6/5", (1, 5), None)),
        ("1 of the 5", (1, 5), None),
    ],
)
def test_shares_of_a_scale(label: str, scale: tuple[float, float] | None, grade: float | None) -> None:
    assert grade_in(label, scale) == grade


def test_all_labels_without_a_grade_are_named() -> None:
    with pytest.raises(UsageError) as caught:
        grades_of("q", ["GPT-4", "so-so", "it's", "GPT-4", "2/7", 3.0], {"so-so": 2.0}, None)
    assert caught.value.words(COMMAND_LINE) == (
        "q: the labels '2/7', 'GPT-4', 'it's' have no grade; give each one: --grade '2/7=N' --grade 'GPT-4=N' "
        "--grade 'it'\\''s=N', or for N/M the scale whose top is M: --scale LOW:HIGH, "
        "or choose questions: --question NAME"
    )
    python = "grade=('GPT-4=N',) grade=(\"it's=N\",), or for N/M the scale whose top is M: scale=LOW:HIGH"
    assert python in str(caught.value)
    with pytest.raises(UsageError) as caught:
        grades_of("q", [f"label {number}" for number in range(100)], {}, None)
    assert "'label 26' and 80 more have no grade" in str(caught.value)


@pytest.mark.parametrize("size", [10_000, 100_000])
def test_long_labels_take_linear_time(size: int) -> None:
    for part in ("1", "(", "(1", "1 ", "1.", "1 of "):
        assert grade_in(part * size + "x", (1, 5)) is None


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ("good", "grade: expected LABEL=NUMBER, got 'good'"),
        ("good=3,5", "grade: expected LABEL=NUMBER, got '3,5' for the number"),
        ("4=1", "grade: the label '4' has two grades; give it one"),
    ],
)
def test_grades_that_are_none(pair: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        given_grades(["4.0=2", pair])
    assert str(caught.value) == told
