from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest

from postil.campaigns.imports.label_studio import read_label_studio
from postil.campaigns.imports.submissions import only_last, pseudonyms, questions
from postil.errors import InvalidInput, UnknownName

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
    assert "expected controls between the columns id and annotator; name them with question of quality, year" in str(
        caught.value
    )


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
    names = ["text", "id", *ABOUT]
    (tmp_path / "x.csv").write_text(
        f"{','.join(names)},quality\nOne.,1,ann,8,,,1.5,\nTwo.,2,ann,9,,,1.5,4\n", encoding="utf-8"
    )
    assert answers(str(tmp_path / "x.csv")) == [{}, {"quality": 4.0}]
    names[2:2] = ["tone"]
    (tmp_path / "x.csv").write_text(
        f"{','.join(names)},quality\nOne.,1,3,ann,8,,,1.5,\nTwo.,2,3,ann,9,,,1.5,4\n", encoding="utf-8"
    )
    with pytest.raises(InvalidInput, match=r"name them with question of quality, tone$"):
        answers(str(tmp_path / "x.csv"))
    assert answers(str(tmp_path / "x.csv"), "tone", "quality") == [{"tone": 3.0}, {"tone": 3.0, "quality": 4.0}]


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
    full = {"id": 1, "data": {"text": "One."}, "annotations": [{"completed_by": 1, "result": []}]}
    if "id" in change:
        full |= change
    else:
        full["annotations"] = [{"completed_by": change["annotator"], "result": []}]
    for name, document in (("x.json", ANSWERED | change), ("y.json", full)):
        with pytest.raises(InvalidInput) as caught:
            read_label_studio([write(tmp_path / name, [document])])
        assert str(caught.value).replace("completed_by", "annotator") == f"{tmp_path / name}{told}"


def test_pseudonyms_count_numbers_as_people_do() -> None:
    assert pseudonyms(["10", "9", "9"]) == {"9": "A1", "10": "A2"}
