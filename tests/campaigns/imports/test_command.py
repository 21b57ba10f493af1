"""postil annotate import: from exports of other tools to what the other commands read."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy")

from campaign_work import join
from postil.campaigns.store import Store

if TYPE_CHECKING:
    from conftest import Postil


@pytest.fixture
def label_studio(postil: Postil) -> Postil:
    """Imports exports of Label Studio."""
    return partial(postil, "annotate", "import", "label-studio")


def rows(path: str = "j.jsonl") -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def export(path: str, *, spans: bool = False) -> None:
    """Three annotators rate four outputs, of two articles and two systems."""
    tasks = []
    for number in range(4):
        annotations = []
        for who in range(3):
            value: dict[str, object] = {"rating": 1 + (number + who) % 4}
            if spans:
                value = {"start": 0, "end": 3 + who, "labels": ["good"]}
            result = [{"from_name": "quality", "to_name": "text", "type": "any", "value": value}]
            about = {"created_at": f"2024-03-0{who + 1}T10:00:{number:02}Z", "lead_time": 2.5 + who}
            annotations.append({"completed_by": who + 1, "result": result, **about})
        data = {
            "text": f"Text {number} about it.",
            "item": f"a{number // 2}",
            "system": "AB"[number % 2],
            "body": "Long.",
        }
        tasks.append({"id": number, "data": data, "annotations": annotations})
    Path(path).write_text(json.dumps(tasks), encoding="utf-8")


def test_judgements(label_studio: Postil) -> None:
    export("x.json")
    done = label_studio("x.json", "--out", "j.jsonl")
    assert done.code == 0, done.err
    assert "written: j.jsonl (12 rows)" in done.err
    assert "12 ratings of 4 tasks by 3 annotators, of quality" in done.err
    assert rows()[0] == {"item": "a0", "system": "A", "annotator": "A1", "grade": 1.0}
    named = label_studio("x.json", "--out", "j.jsonl", "--names")
    assert named.code == 0
    assert {row["annotator"] for row in rows()} == {"1", "2", "3"}


def test_a_campaign_goes_on_with_its_ratings(postil: Postil, label_studio: Postil) -> None:
    export("x.json")
    done = label_studio("x.json", "--campaign", "c.db", "--content", "body", "--scale", "1:5")
    assert done.code == 0, done.err
    assert "written: c.db (4 texts, 3 annotators, 12 ratings)" in done.err
    with Store.open("c.db") as store:
        ratings = store.results.ratings()
        assert len(ratings) == 12
        assert ratings[0].seconds == 2.5
        assert store.rubric().grades == (1, 2, 3, 4, 5)
        assert {item.content for item in store.items()} == {"Long."}
        ann = join(store, "1")
        task = store.grading.undo(ann, idempotency_key="back")
        assert task is not None
        assert task.text == "Text 3 about it."
    assert postil("annotate", "agreement", "c.db").code == 0
    out = postil("annotate", "export", "c.db", "--out", "grades", "--timestamps")
    assert out.code == 0
    assert "2024-03-01T10:00:00Z,2.5" in Path("grades/ratings.csv").read_text()


def test_spans_become_a_campaign_of_passages(label_studio: Postil) -> None:
    export("x.json", spans=True)
    assert label_studio("x.json", "--campaign", "c.db").code == 0
    with Store.open("c.db") as store:
        assert {one.spans for one in store.results.ratings()} == {((0, 3),), ((0, 4),), ((0, 5),)}
    no = label_studio("x.json", "--out", "j.jsonl")
    assert (no.code, Path("j.jsonl").exists()) == (2, False)
    assert "a campaign takes spans: --campaign NEW.db" in no.err


def test_systems_outputs_become_a_campaign_of_texts_that_can_grow(postil: Postil, label_studio: Postil) -> None:
    export("x.json")
    assert label_studio("x.json", "--campaign", "c.db").code == 0
    out = postil("annotate", "export", "c.db", "--out", "grades")
    assert "judgements.jsonl (12 rows)" in out.err
    assert not Path("grades", "references.jsonl").exists()  # texts of systems are no references
    Path("more.jsonl").write_text('{"item": "a9", "system": "A", "text": "New."}\n', encoding="utf-8")
    added = postil("annotate", "add", "c.db", "more.jsonl")
    assert added.code == 0, added.err
    answers = ("--campaign", "d.db", "--content", "body", "--item-type", "answer")
    assert label_studio("x.json", *answers).code == 0
    with Store.open("c.db") as store, Store.open("d.db") as other:
        found = [(one.campaign().item_type, one.campaign().context) for one in (store, other)]
    assert found == [("text", ()), ("answer", ("article",))]


def test_several_questions_become_aspects(postil: Postil, label_studio: Postil) -> None:
    export("x.json")
    tasks = json.loads(Path("x.json").read_text())
    for task in tasks:
        for each in task["annotations"]:
            each["result"].append({"from_name": "tone", "type": "choices", "value": {"choices": ["kind (2)"]}})
    tasks[0]["annotations"][0]["result"].pop(0)
    Path("x.json").write_text(json.dumps(tasks), encoding="utf-8")
    done = label_studio("x.json", "--campaign", "c.db")
    assert done.code == 0, done.err
    assert "written: c.db (4 texts, 3 annotators, 11 ratings)" in done.err
    assert "scale of tone 2 to 3; another one: --scale LOW:HIGH" in done.err
    assert "left out: 1 annotations without an answer to each of tone, quality" in done.err
    assert postil("annotate", "agreement", "c.db", "--aspect", "quality").code == 0
    with Store.open("c.db") as store:
        assert {one.name: one.grades for one in store.rubric().aspects} == {"tone": (2, 3), "quality": (1, 2, 3, 4)}
        assert {one.grades[0] for one in store.results.ratings()} == {2}
    tasks[1]["annotations"][0]["result"].append({"from_name": "part", "value": {"start": 0, "end": 2, "labels": ["x"]}})
    Path("x.json").write_text(json.dumps(tasks), encoding="utf-8")
    mixed = label_studio("x.json", "--campaign", "d.db")
    assert "grades, or one with spans, and these files have tone, quality, part" in mixed.err
    assert "choose: --question NAME" in mixed.err


def test_files_of_two_projects_are_told_apart(postil: Postil, label_studio: Postil) -> None:
    export("x.json")
    Path("y.json").write_text(Path("x.json").read_text().replace("about it", "of another project"), encoding="utf-8")
    twice = label_studio("x.json", "x.json", "--out", "j.jsonl")
    assert (twice.code, len(rows())) == (0, 12)
    mixed = label_studio("x.json", "y.json", "--out", "k.jsonl")
    assert "y.json:1: 0 is another task than in x.json:1; import projects one by one" in mixed.err
    assert not Path("k.jsonl").exists()
    head = "text,id,quality,tone,annotator,annotation_id\n"
    Path("r.csv").write_text(head + "One.,1,4,2,ann,1\nOne.,1,5,1,bob,2\n", encoding="utf-8")
    Path("s.csv").write_text(head + "Two.,1,4,2,ann,1\n", encoding="utf-8")
    one = label_studio("r.csv", "--out", "k.jsonl", "--question", "quality")
    assert "2 ratings of 1 task by 2 annotators, of quality" in one.err
    both = label_studio("r.csv", "s.csv", "--out", "k.jsonl")
    assert "s.csv:2: 1 is another task than in r.csv:2" in both.err
    for project in "pq":
        Path(project, "ann").mkdir(parents=True)
        row = {"id": "1", "displayed_text": f"Text of {project}.", "label_annotations": {"q": {"scale_4": "4"}}}
        Path(project, "ann", "annotated_instances.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    potato = postil("annotate", "import", "potato", "p", "q", "--out", "k.jsonl")
    assert "1 is another task than in p/ann/annotated_instances.jsonl:1" in potato.err


@pytest.mark.parametrize("tool", ["label-studio", "potato"])
def test_paths_that_are_not_there_or_of_another_kind(postil: Postil, tool: str) -> None:
    Path("export.zip").write_text("x", encoding="utf-8")
    there_is_none = postil("annotate", "import", tool, "nowhere", "--out", "j.jsonl")
    assert there_is_none.err == "postil: nowhere: no such file or folder\n"
    other = postil("annotate", "import", tool, "export.zip", "--out", "j.jsonl")
    assert other.err == "postil: export.zip: expected a .json, .jsonl, .csv or .tsv file\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "x.json: expected answers that are numbers, choices or spans, found none: export the project when"),
        (
            '[{"id": 1, "data": {}, "annotations": [{"result": [{"from_name": "p", "value": {"selected": "left"}}]}]}]',
            "x.json: expected answers that are numbers, choices or spans, found none but answers of the kind 'sel",
        ),
        ('[{"id": 1, "data": {"text": "x"}}]', "x.json:1: expected a task with annotations, or a row with annotator"),
        ("[1]", "x.json:1: expected an object in braces, got 1"),
        ("{bad", "x.json: not JSON in line 1, character 2"),
        ("", "x.json: not JSON in line 1, character 1"),
        (
            '[{"id": 1, "data": {}, "annotations": [{"result": [{"from_name": "q", "value": {"choices": ["ok"]}}]}]}]',
            "q: the label 'ok' has no grade; give it one: --grade 'ok=N', or choose questions: --question NAME",
        ),
    ],
)
def test_files_that_are_no_export(label_studio: Postil, text: str, told: str) -> None:
    Path("x.json").write_text(text, encoding="utf-8")
    done = label_studio("x.json", "--out", "j.jsonl")
    assert done.code in {2, 3}
    assert told in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ((), "nothing to write: give --out FILE for judgements"),
        (("-o", "j.jsonl", "--item", "nope"), "x.json:1: nope: no such field; the task has: text, item, system, body"),
        (("--out", "j.jsonl", "--system", "body"), "x.json:2: tasks 0 and 1 are both of item a0 and system Long."),
        (("--out", "j.jsonl", "--grade", "4=x"), "--grade: expected LABEL=NUMBER, got 'x' for the number"),
        (("--campaign", "c.db", "--scale", "2:5"), "--scale 2:5: quality has grades from 1 to 4"),
        (("--campaign", "c.db", "--scale", "5"), "--scale: expected LOW:HIGH such as 1:5, got '5'"),
        (("--campaign", "c.db", "--grade", "4=50"), "a campaign has whole grades from 0 to 9, and one is 50"),
        (("--out", "j.jsonl", "--scale", "1:3"), "--scale 1:3: quality has grades from 1 to 4"),
        (("-o", "j.jsonl", "--decimal", ";"), '--decimal: expected . or , for the mark before the decimals, got ";"'),
        (("--campaign", "c.db", "--text", "words"), "x.json:1: words: no such field"),
        (("--out", "x.json"), "x.json"),
    ],
)
def test_what_cannot_be_done(label_studio: Postil, flags: tuple[str, ...], told: str) -> None:
    export("x.json")
    before = Path("x.json").read_bytes()
    done = label_studio("x.json", *flags)
    assert done.code in {2, 3}
    assert told in done.err
    assert not Path("j.jsonl").exists()
    assert not Path("c.db").exists()
    assert Path("x.json").read_bytes() == before


def test_potato(postil: Postil) -> None:
    for who in ("ann", "bob"):
        Path("out", who).mkdir(parents=True)
        labels = {f"i{number}": {"tone": {"kind" if number else "rude": "true"}} for number in range(2)}
        state = {"user_id": who, "instance_id_to_label_to_value": labels}
        Path("out", who, "user_state.json").write_text(json.dumps(state), encoding="utf-8")
    Path("texts.jsonl").write_text('{"id": "i0", "text": "No."}\n{"id": "i1", "text": "Yes."}\n', encoding="utf-8")
    unnamed = postil("annotate", "import", "potato", "out", "--out", "j.jsonl")
    assert "the labels 'kind', 'rude' have no grade; give each one: --grade 'kind=N' --grade 'rude=N'" in unnamed.err
    grades = ("--grade", "rude=1", "--grade", "kind=2")
    no_texts = postil("annotate", "import", "potato", "out", "--campaign", "c.db", *grades)
    assert "text: no such field; the task has: none; give the project's data files with --data" in no_texts.err
    done = postil("annotate", "import", "potato", "out", "--data", "texts.jsonl", "--campaign", "c.db", *grades)
    assert done.code == 0, done.err
    assert "without a time: 4 ratings, taken as given now" in done.err
    with Store.open("c.db") as store:
        assert sorted((one.item, one.grade) for one in store.results.ratings()) == [("i0", 1)] * 2 + [("i1", 2)] * 2


def labels(path: str, given: list[str]) -> None:
    """One annotator chooses a label for each of some texts."""
    tasks = []
    for number, label in enumerate(given):
        result = [{"from_name": "better", "value": {"choices": [label]}}]
        data = {"item": f"q{number}", "system": "s", "text": "t"}
        tasks.append({"id": number, "data": data, "annotations": [{"completed_by": 1, "result": result}]})
    Path(path).write_text(json.dumps(tasks), encoding="utf-8")


def test_only_grades_that_labels_say_are_taken_and_printed(label_studio: Postil) -> None:
    labels("x.json", ["GPT-4", "26-50%", "1 of 5", "4. good", "Agree (5)", "3"])
    flags = ("--scale", "1:5", "--grade", "GPT-4=1", "--grade", "26-50%=2")
    refused = label_studio("x.json", "--out", "j.jsonl")
    assert (refused.code, Path("j.jsonl").exists()) == (2, False)
    assert "labels '1 of 5', '26-50%', 'GPT-4' have no grade; give each one: --grade '1 of 5=N'" in refused.err
    done = label_studio("x.json", "--out", "j.jsonl", *flags)
    assert done.code == 0, done.err
    said = "better: grades of labels: '1 of 5' = 1, 'GPT-4' = 1, '26-50%' = 2, '4. good' = 4, 'Agree (5)' = 5\n"
    assert said in done.err
    assert [row["grade"] for row in rows()] == [1, 2, 1, 4, 5, 3]
    labels("x.json", ["3", "4"])
    plain = label_studio("x.json", "--out", "j.jsonl")
    assert "grades of labels" not in plain.err
    other = label_studio("x.json", "--out", "j.jsonl", "--grade", "4=5")
    assert "better: grades of labels: '4' = 5\n" in other.err


@pytest.mark.parametrize("field", ["item", "system", "source"])
@pytest.mark.parametrize(("value", "got"), [(None, "null"), ("", "an empty text"), (" ", "an empty text")])
def test_a_missing_id_names_nothing(label_studio: Postil, field: str, value: str | None, got: str) -> None:
    export("x.json")
    tasks = json.loads(Path("x.json").read_text())
    tasks[2]["data"][field] = value
    flags = ("--item", "source") if field == "source" else ()
    for task in tasks:
        task["data"].setdefault("source", f"a{task['id']}")
    Path("x.json").write_text(json.dumps(tasks), encoding="utf-8")
    done = label_studio("x.json", "--out", "j.jsonl", *flags)
    assert (done.code, Path("j.jsonl").exists()) == (3, False)
    assert f"x.json:3: {field}: missing; expected text or an integer, got {got}; fill it in" in done.err


def test_points_that_may_separate_thousands(postil: Postil, label_studio: Postil) -> None:
    head = "text;id;quality;annotator;annotation_id;lead_time\n"
    Path("x.csv").write_text(f"{head}One.;1;1.000;ann;8;12.345\nTwo.;2;999;ann;9;250\n", encoding="utf-8")
    refused = label_studio("x.csv", "--out", "j.jsonl")
    assert (refused.code, Path("j.jsonl").exists()) == (3, False)
    assert 'x.csv:2: quality: expected numbers with one decimal mark, got "1.000", beside "999"' in refused.err
    assert refused.err.endswith("--decimal . or --decimal ,\n")
    for mark, grade in ((".", 1.0), (",", 1000.0)):
        done = label_studio("x.csv", "--out", "j.jsonl", "--decimal", mark)
        assert done.code == 0, done.err
        assert [row["grade"] for row in rows()] == [grade, 999.0]
    Path("p.csv").write_text("instance_id;user_id;q.slider\ni1;ann;2,5\ni2;ann;1.250\n", encoding="utf-8")
    mixed = postil("annotate", "import", "potato", "p.csv", "-o", "j.jsonl")
    assert "p.csv:3: q.slider: expected numbers with one" in mixed.err
    wrong = postil("annotate", "import", "potato", "p.csv", "--out", "j.jsonl", "--decimal", ".")
    assert "p.csv:2: q.slider: expected a number with '.' before its decimals" in wrong.err
    assert postil("annotate", "import", "potato", "p.csv", "--out", "j.jsonl", "--decimal", ",").code == 0
    assert [row["grade"] for row in rows()] == [2.5, 1250.0]
