"""Gold items with feedback: training first, the label after the rating, and the first answer that counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="needs the web extra")
pytest.importorskip("httpx2", reason="needs httpx2")

from starlette.testclient import TestClient

from campaign_pages import Visitor
from campaign_work import join, rate_all
from postil.campaigns.options import PlanOptions
from postil.campaigns.pages.server import WebOptions, make_app
from postil.campaigns.planning import plan
from postil.campaigns.store import Store
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GOLD = [{"item": f"a{n}", "system": "s0", "grade": 1 + n % 5} for n in range(6)]
CHECK = {"item": "a9", "system": "check", "grade": 2, "attention": True, "text": "Please choose the grade 2."}


def planned(folder: Path, gold: list[dict[str, object]], **more: Any) -> Store:
    """A campaign of ten articles with two comments each."""
    articles = [
        {"id": f"a{n}", "title": f"t {n}", "comments": [{"id": f"s{k}", "text": f"text {n}.{k}"} for k in range(2)]}
        for n in range(10)
    ]
    for name, rows in (("articles", articles), ("gold", gold)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options = PlanOptions(annotators=2, annotators_per_item=2, gold=str(folder / "gold.jsonl"), rubric="en", **more)
    plan(str(folder / "articles.jsonl"), str(folder / "c.db"), options)
    return Store.open(str(folder / "c.db"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with planned(tmp_path, [*GOLD, CHECK], training=2, feedback=True) as opened:
        yield opened


def known(store: Store) -> dict[str, tuple[float | None, str]]:
    return {item.text: (item.gold, item.purpose) for item in store.items()}


def test_training_comes_first_and_attention_checks_are_items_of_their_own(store: Store) -> None:
    items = store.items()
    purposes = [item.purpose for item in items]
    assert (len(purposes), purposes.count("training"), purposes.count("attention")) == (21, 2, 1)
    for order in store.plan().orders:
        assert [items[number].purpose for number, _ in order[:2]] == ["training"] * 2
        assert not any(items[number].purpose == "training" for number, _ in order[2:])
    assert known(store)["Please choose the grade 2."] == (2, "attention")
    shown = next(item for item in items if item.purpose == "attention")
    assert (shown.item, shown.title) == ("a9", "t 9")


@pytest.fixture
def ann(store: Store) -> Iterator[Visitor]:
    app = make_app(store, WebOptions())
    with TestClient(app, base_url="http://localhost", follow_redirects=False) as client:
        visitor = Visitor(client)
        visitor.join(store.people.invite("Ann", "annotator"))
        yield visitor


def test_the_label_is_shown_after_the_rating_of_gold_items_alone(store: Store, ann: Visitor) -> None:
    gold, person, seen = known(store), store.people.named("Ann"), set()
    while (task := store.grading.next(person)) is not None:
        label, purpose = gold[task.text]
        fields = {"assignment": task.assignment, "revision": 0, "idempotency_key": f"k{task.position}"}
        shown = ann.ask("/rate", **fields, grade=1).json().get("label", "")
        assert bool(shown) == (label is not None and purpose != "attention"), task.text
        if shown:
            assert task.text in shown
            assert f"Your rating {'agrees with' if label == 1 else 'differs from'} the label." in shown
            assert f"<kbd>{label:g}</kbd>" in shown
            seen.add(label == 1)
    assert seen == {True, False}


def test_without_scripts_the_label_is_a_page_and_other_items_have_none(store: Store, ann: Visitor) -> None:
    fields = ann.form()
    to = ann.client.post("/rate", data={"grade": "3", **fields}).headers["location"]
    assert to == f"/label?assignment={fields['assignment']}"
    page = ann.get(to).text
    assert "This text has a known grade" in page
    assert 'href="/grade"' in page
    unrated = store.grading.next(store.people.named("Ann"))
    assert unrated is not None
    for other in (unrated.assignment, 10**9, "x", ""):
        assert ann.get(f"/label?assignment={other}").headers["location"] == "/grade"


def test_a_rating_that_is_changed_after_the_label_does_not_count(store: Store) -> None:
    person = join(store, "Ann")
    task = store.grading.next(person)
    assert task is not None
    label = known(store)[task.text][0]
    assert label is not None
    store.grading.rate(person, task.assignment, label % 5 + 1, idempotency_key="a")
    store.grading.undo(person, idempotency_key="b")
    assert store.results.ratings() == []
    store.grading.rate(person, task.assignment, label, idempotency_key="c")
    (rating,) = store.results.ratings()
    assert (rating.grade, rating.gold, rating.purpose) == (label % 5 + 1, label, "training")


def test_training_alone_shows_no_other_label(tmp_path: Path) -> None:
    with planned(tmp_path, GOLD, training=2) as store:
        person = join(store, "Ann")
        gold, labels = known(store), []
        rate_all(store, person, 3)
        for place in range(len(gold)):
            task = store.grading.task(person, place)
            labels += [gold[task.text][1]] if store.grading.label(person, task.assignment, "training") else []
        assert labels == ["training"] * 2


@pytest.mark.parametrize(
    ("gold", "more", "problem"),
    [
        (GOLD, {"training": 7}, "training: expected at most 6, the number of gold items that are no"),
        ([CHECK], {"feedback": True}, "feedback shows the labels of gold items, and there are none"),
        ([{**CHECK, "item": "b"}], {}, "there is no item of b, so nothing to show beside this text"),
        ([{**CHECK, "text": " "}], {}, "expected a text without NUL characters"),
        ([{**GOLD[0], "text": "other"}], {}, "s0 of a0 has another text in the file of items"),
        ([{**CHECK, "attention": "yes"}], {}, "attention"),
        ([GOLD[0], {**GOLD[0], "grade": 4}], {}, ":2: grade: another row has the label 1 for s0 of a0; leave one out"),
        ([{**GOLD[0], "system": "s9"}], {}, ":1: item: there is no item s9 of a0; correct the names, or leave"),
    ],
)
def test_what_a_plan_refuses(tmp_path: Path, gold: list[dict[str, object]], more: dict[str, Any], problem: str) -> None:
    with pytest.raises((InvalidInput, UsageError), match=problem):
        planned(tmp_path, gold, **more).close()
    assert not (tmp_path / "c.db").exists()
