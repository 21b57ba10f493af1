"""Texts that are added to a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy")

from postil.annotation.models import Item

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.annotation.store import Store

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
