from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest

from postil.campaigns.imports.potato import read_potato
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path


def state(folder: Path, labels: object, spans: object = (), spent: object = ()) -> None:
    folder.mkdir(parents=True)
    found = {
        "user_id": folder.name,
        "instance_id_to_label_to_value": dict(labels),
        "instance_id_to_span_to_value": dict(spans),
        "instance_id_to_behavioral_data": dict(spent),
    }
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
        ("scale_4", "4", 4.0),
        ("4", "4", "4"),
        ("scale_10", "0", 10.0),
        ("10", "0", 10.0),
        ("number", "42", 42.0),
        ("slider", "2.5", 2.5),
        ("q", "7", 7.0),
        ("select-one", "good", "good"),
        ("good", "good", "good"),
        ("good", True, "good"),
        ("good", "1", "good: 1"),
        ("scale_4", "3", "scale_4: 3"),
        ("GPT_4", "4", "GPT_4: 4"),
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


def test_exported_json_lines(tmp_path: Path) -> None:
    row = {"instance_id": "i1", "user_id": "ann", "labels": {"tone": {"kind": "true"}}, "spans": {}}
    (tmp_path / "annotations.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (one,) = read_potato([str(tmp_path / "annotations.jsonl")]).submissions
    assert one.answers == {"tone": "kind"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[]", "expected an object in braces, got"),
        ("{", "cannot be read as JSON"),
        ("\xff", "cannot be read as JSON"),
    ],
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
