"""Texts that are added to a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy")

from postil.campaigns import additions
from postil.campaigns.models import Item
from postil.campaigns.store import Store
from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

NEW = [Item(item=f"n{n // 2}", system=f"s{n % 2}", text=f"new {n}") for n in range(9)]


def test_loads_stay_even_and_every_text_has_its_annotators(store: Store) -> None:
    added = store.add(NEW, seed=1)
    assert store.plan() == added.plan
    found = added.plan.statistics()
    loads = [one.texts for one in found.annotators]
    assert sum(loads) == 2 * 15
    assert max(loads) - min(loads) <= 1
    assert added.plan.short == 0
    assert [item.text for item in store.items()][6:] == [item.text for item in NEW]
    for person in store.people.everyone():
        assert store.grading.progress(person).total == loads[person.id - 1]


def test_a_dry_run_changes_nothing(store: Store) -> None:
    before = store.plan(), store.campaign(), store.items()
    assert store.add(NEW, seed=1, dry_run=True).plan != before[0]
    assert (store.plan(), store.campaign(), store.items()) == before


def test_ratings_know_their_revision_and_the_item_on_the_screen_stays(store: Store) -> None:
    ann = store.people.accept(store.people.invite("Ann", "annotator")).person
    first = store.grading.next(ann)
    assert first is not None
    store.grading.rate(ann, first.assignment, 3, idempotency_key="r")
    shown = store.grading.next(ann)
    version = store.version()
    store.add(NEW, seed=1)
    assert store.version() != version
    now = store.grading.next(ann)
    assert now is not None
    assert shown is not None
    assert (now.assignment, now.position) == (shown.assignment, shown.position)
    while (task := store.grading.next(ann)) is not None:
        store.grading.rate(ann, task.assignment, 3, idempotency_key=f"r{task.position}")
    revisions = {rating.number: rating.revision for rating in store.results.ratings()}
    assert revisions == {number: 1 + (number >= 6) for number in revisions}
    assert set(revisions.values()) == {1, 2}


def test_gold_items_go_to_everybody_who_is_there(make: Callable[..., Store]) -> None:
    store = make()
    store.people.remove(store.people.everyone()[0])
    added = store.add([Item(item="g", system="s", text="known", gold=3.0)], seed=1)
    assert [(6, 1) in order for order in added.plan.orders] == [False, True, True]


def test_a_changed_plan_is_planned_again(store: Store, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = additions.extended
    others = [Item(item="other", system="s", text="meanwhile")]

    def while_others_add(*given: object) -> list[list[int]]:
        monkeypatch.setattr(additions, "extended", chosen)
        with Store.open(url) as other:
            other.add(others, seed=2)
        return chosen(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(additions, "extended", while_others_add)
    added = store.add(NEW, seed=1)
    assert added.revision == 3
    assert [item.text for item in store.items()][6:] == [item.text for item in [*others, *NEW]]
    assert store.plan() == added.plan
    assert added.plan.short == 0


def test_a_plan_that_changes_again_and_again_is_left_as_it_is(
    store: Store, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, calls = additions.extended, list[int]()

    def while_others_add(*given: object) -> list[list[int]]:
        calls.append(len(calls))
        with Store.open(url) as other, monkeypatch.context() as patched:
            patched.setattr(additions, "extended", chosen)
            other.add([Item(item=f"other {calls[-1]}", system="s", text="meanwhile")], seed=2)
        return chosen(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(additions, "extended", while_others_add)
    with pytest.raises(UsageError, match="again and again at the same time; run the command again"):
        store.add(NEW, seed=1)
    assert len(store.items()) == 6 + len(calls)


def test_what_a_browser_holds_stays_where_it_is(make: Callable[..., Store]) -> None:
    many = [Item(item=f"a{n}", system="s", text=f"text {n}") for n in range(40)]
    store = make(texts=many)
    people = [store.people.accept(store.people.invite(f"P{n}", "annotator")).person for n in range(3)]
    for turn, person in enumerate(people):
        for n in range(turn):
            store.grading.rate(person, store.grading.task(person, n).assignment, 3, idempotency_key=f"r{n}")
    held = [[store.grading.task(person, turn + n).assignment for n in range(3)] for turn, person in enumerate(people)]
    new = [Item(item=f"n{n}", system="s", text=f"new {n}") for n in range(200)]
    plan = store.add(new, seed=1).plan
    for turn, (person, order) in enumerate(zip(people, plan.orders, strict=True)):
        assert [store.grading.task(person, turn + n).assignment for n in range(3)] == held[turn]
        total = store.grading.progress(person).total
        assert [store.grading.task(person, n).position for n in range(total)] == list(range(total))
        places = [place for place, (item, _) in enumerate(order) if item < 40]
        assert max(places) > len(order) // 2  # old and new ones are mixed


def test_the_log_of_changes_names_the_revision(store: Store) -> None:
    lead = store.people.accept(store.people.invite("Lee", "lead")).person
    store.add(NEW[:4], seed=1, known=2, lead=lead)
    with store._database.reading() as connection:
        rows = connection.exec_driver_sql("SELECT kind, person, detail FROM change").all()
    assert [tuple(row) for row in rows] == [("added", lead.id, '{"revision":2,"items":4,"known":2}')]
