"""postil annotate import: from exports of other tools to what the other commands read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy")

from postil.annotation.store import Store

if TYPE_CHECKING:
    from conftest import Postil


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


def test_judgements(postil: Postil) -> None:
    export("x.json")
    done = postil("annotate", "import", "label-studio", "x.json", "--out", "j.jsonl")
    assert done.code == 0, done.err
    assert "written: j.jsonl (12 rows)" in done.err
    assert "12 ratings of 4 tasks by 3 annotators, of quality" in done.err
    rows = [json.loads(line) for line in Path("j.jsonl").read_text().splitlines()]
    assert rows[0] == {"item": "a0", "system": "A", "annotator": "A1", "grade": 1.0}
    named = postil("annotate", "import", "label-studio", "x.json", "--out", "j.jsonl", "--names")
    assert named.code == 0
    assert {json.loads(line)["annotator"] for line in Path("j.jsonl").read_text().splitlines()} == {"1", "2", "3"}


def test_a_campaign_goes_on_with_its_ratings(postil: Postil) -> None:
    export("x.json")
    done = postil(
        "annotate", "import", "label-studio", "x.json", "--campaign", "c.db", "--content", "body", "--scale", "1:5"
    )
    assert done.code == 0, done.err
    assert "written: c.db (4 texts, 3 annotators, 12 ratings)" in done.err
    with Store.open("c.db") as store:
        ratings = store.results.ratings()
        assert len(ratings) == 12
        assert ratings[0].seconds == 2.5
        assert store.rubric().grades == (1, 2, 3, 4, 5)
        assert {item.content for item in store.items()} == {"Long."}
        ann = store.people.accept(store.people.invite("1", "annotator")).person
        task = store.grading.undo(ann, idempotency_key="back")
        assert task is not None
        assert task.text == "Text 3 about it."
    assert postil("annotate", "agreement", "c.db").code == 0
    out = postil("annotate", "export", "c.db", "--out", "grades", "--timestamps")
    assert out.code == 0
    assert "2024-03-01T10:00:00Z,2.5" in Path("grades/ratings.csv").read_text()


def test_spans_become_a_campaign_of_passages(postil: Postil) -> None:
    export("x.json", spans=True)
    assert postil("annotate", "import", "label-studio", "x.json", "--campaign", "c.db").code == 0
    with Store.open("c.db") as store:
        assert {one.spans for one in store.results.ratings()} == {((0, 3),), ((0, 4),), ((0, 5),)}
    no = postil("annotate", "import", "label-studio", "x.json", "--out", "j.jsonl")
    assert (no.code, Path("j.jsonl").exists()) == (2, False)
    assert "a campaign takes spans: --campaign NEW.db" in no.err


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ((), "nothing to write: give --out FILE for judgements"),
        (
            ("--out", "j.jsonl", "--item", "nope"),
            "x.json:1: nope: no such field; the task has: text, item, system, body",
        ),
        (("--out", "j.jsonl", "--system", "body"), "x.json:2: tasks 0 and 1 are both of item a0 and system Long."),
        (("--out", "j.jsonl", "--grade", "4=x"), "--grade: expected LABEL=NUMBER, got 'x' for the number"),
        (("--campaign", "c.db", "--scale", "2:5"), "--scale 2:5: there are grades from 1 to 4"),
        (("--campaign", "c.db", "--scale", "5"), "--scale: expected LOW:HIGH such as 1:5, got '5'"),
        (("--campaign", "c.db", "--grade", "4=50"), "a campaign has whole grades from 0 to 9, and one is 50"),
        (("--campaign", "c.db", "--text", "words"), "x.json:1: words: no such field"),
        (("--out", "x.json"), "x.json"),
    ],
)
def test_what_cannot_be_done(postil: Postil, flags: tuple[str, ...], told: str) -> None:
    export("x.json")
    before = Path("x.json").read_bytes()
    done = postil("annotate", "import", "label-studio", "x.json", *flags)
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
    assert "tone: the label 'rude' has no grade; give each label one, such as --grade 'rude=1'" in unnamed.err
    grades = ("--grade", "rude=1", "--grade", "kind=2")
    no_texts = postil("annotate", "import", "potato", "out", "--campaign", "c.db", *grades)
    assert "text: no such field; the task has: none; give the project's data files with --data" in no_texts.err
    done = postil("annotate", "import", "potato", "out", "--data", "texts.jsonl", "--campaign", "c.db", *grades)
    assert done.code == 0, done.err
    assert "without a time: 4 ratings, taken as given now" in done.err
    with Store.open("c.db") as store:
        assert sorted((one.item, one.grade) for one in store.results.ratings()) == [("i0", 1)] * 2 + [("i1", 2)] * 2
