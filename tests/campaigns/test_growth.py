"""Growth of a running campaign: texts that are added, and annotators who come late."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

from campaign_work import join, rate, rate_all
from postil.campaigns import store as additions
from postil.campaigns.models import Campaign, Item, Refused
from postil.campaigns.people import SPARED, fair_share
from postil.campaigns.plan import plan
from postil.campaigns.rubric import Rubric
from postil.campaigns.store import HELD, Store, interleaved
from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from postil.campaigns.models import Person, Presentation


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


def test_ratings_know_their_revision_and_the_item_on_the_screen_stays(store: Store) -> None:
    ann = join(store, "Ann")
    rate(store, ann, 0, 3)
    shown, version = store.grading.task(ann, 1), store.version()
    store.add(NEW, seed=1)
    assert store.version() != version
    now = store.grading.next(ann)
    assert now is not None
    assert (now.assignment, now.position) == (shown.assignment, shown.position)
    rate_all(store, ann, 3)
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
    people = started(store, 0, 1, 2)
    held = [[store.grading.task(person, turn + n).assignment for n in range(3)] for turn, person in enumerate(people)]
    new = [Item(item=f"n{n}", system="s", text=f"new {n}") for n in range(200)]
    plan = store.add(new, seed=1).plan
    for turn, (person, order) in enumerate(zip(people, plan.orders, strict=True)):
        assert [store.grading.task(person, turn + n).assignment for n in range(3)] == held[turn]
        total = store.grading.progress(person).total
        assert [store.grading.task(person, n).position for n in range(total)] == list(range(total))
        places = [place for place, (item, _) in enumerate(order) if item < 40]
        assert max(places) > len(order) // 2  # old and new ones are mixed


TEXTS = [Item(item=f"a{n // 2}", system=f"s{n % 2}", text=f"text {n}") for n in range(60)]


def started(store: Store, *done: int) -> list[Person]:
    """Annotators who have rated so many of their items."""
    people = []
    for number, count in enumerate(done):
        people.append(join(store, f"person {number}"))
        for place in range(count):
            rate(store, people[-1], place, 3)
    return people


def orders(store: Store) -> dict[str, tuple[Presentation, ...]]:
    made = store.plan()
    return dict(zip(made.annotators, made.orders, strict=True))


def texts_from(store: Store, person: Person, position: int) -> list[tuple[int, int]]:
    """Assignments and positions of the next texts of an annotator."""
    tasks = [store.grading.task(person, place) for place in range(position, position + SPARED)]
    return [(task.assignment, task.position) for task in tasks]


def assigned(store: Store) -> Counter[int]:
    return Counter(item for order in store.plan().orders for item, again in order if again == 1)


def test_a_late_annotator_gets_a_fair_share_of_what_is_open(make: Callable[..., Store]) -> None:
    store = make(texts=TEXTS)
    people = started(store, 0, 10, 20)
    before, held = assigned(store), orders(store)
    screens = [texts_from(store, person, done) for person, done in zip(people, (0, 10, 20), strict=True)]
    token, share = store.people.invite_late("Eve")
    eve = store.people.accept(token).person
    assert eve.pseudonym == "A4"
    assert assigned(store) == before  # every item has as many annotators as before
    assert store.plan().short == 0
    open_now = [*share.open, share.items]
    assert sum(open_now) == 120 - 30
    assert max(open_now) - min(open_now) <= 2 or min(open_now) == 20  # who has rated most keeps the rest
    assert share.items in {23, 24}
    assert store.grading.progress(eve).total == share.items
    for person, done, screen in zip(people, (0, 10, 20), screens, strict=True):
        assert texts_from(store, person, done) == screen  # what a browser may hold stays where it is
        now = orders(store)[person.pseudonym]
        kept = [one for one in held[person.pseudonym] if one in now]
        assert list(now) == kept  # in the order that they had, without gaps
        rate_all(store, person, 3)
    rate_all(store, eve, 3)
    assert len(store.results.ratings()) == 120
    (change,) = store.state.changes()
    assert (change.kind, dict(change.detail)) == ("joined", {"annotator": "A4", "items": share.items})


def test_overlaps_with_the_others_are_even(make: Callable[..., Store]) -> None:
    store = make(texts=TEXTS, annotators=5)
    started(store, 0, 0, 0, 0, 0)
    store.people.invite_late("Eve")
    eve = store.plan().statistics().annotators[-1]
    assert eve.texts == 20
    assert eve.most_shared - eve.least_shared <= 2


def test_gold_items_are_for_late_annotators_too_and_repeated_ones_stay(tmp_path: Path) -> None:
    known = [Item(item="g", system=f"s{n}", text="known", gold=3.0, purpose="training" if n else "") for n in range(3)]
    texts = [*TEXTS, *known]
    made = plan([(text.item, text.system) for text in texts], 2, 2, gold=[60, 61, 62], repeat_rate=0.3)
    path = str(tmp_path / "repeated.db")
    with Store.open(path, make=True) as store:
        settings = Campaign(name="n", item_type="comments", annotators_per_item=2, seed=1)
        store.create(settings, texts, made, Rubric.default())
        people = started(store, 3, 0)
        twice = {person.pseudonym: [one for one in orders(store)[person.pseudonym] if one[1] == 2] for person in people}
        store.people.invite_late("Eve")
        now = orders(store)
        assert (60, 1) in now["A3"]
        assert set(now["A3"][:2]) == {(61, 1), (62, 1)}  # to learn from, so they come first
        assert all(again == 1 for _, again in now["A3"])
        for name, repeated in twice.items():
            assert set(repeated) <= set(now[name])
            assert {(item, 1) for item, _ in repeated} <= set(now[name])


def test_whole_articles_move_where_they_are_assigned_whole(tmp_path: Path) -> None:
    made = plan([(text.item, text.system) for text in TEXTS], 3, 1, by_item=True)
    with Store.open(str(tmp_path / "whole.db"), make=True) as store:
        campaign = Campaign(name="n", item_type="comments", annotators_per_item=1, seed=1, by_item=True)
        store.create(campaign, TEXTS, made, Rubric.default())
        started(store, 1, 0, 0)
        _, share = store.people.invite_late("Eve")
        assert share.items in {14, 16}
        whose = {}
        for name, order in orders(store).items():
            for item, _ in order:
                assert whose.setdefault(TEXTS[item].item, name) == name
        places = [TEXTS[item].item for item, _ in orders(store)["A4"]]
        assert places[::2] == places[1::2]  # in a row


def test_what_nobody_could_take_comes_first(make: Callable[..., Store]) -> None:
    store = make(texts=TEXTS[:10], annotators=2)
    people = started(store, 0, 0)
    store.people.remove(people[0])
    assert store.plan().short == 10
    _, share = store.people.invite_late("Eve")
    assert (share.items, share.nobody, store.plan().short) == (10, 10, 0)
    assert [one.kind for one in store.state.changes()] == ["removed", "joined"]


def test_who_cannot_join_late(make: Callable[..., Store]) -> None:
    store = make(texts=TEXTS[:SPARED], annotators=2)
    store.people.invite("Ann", "annotator")
    for name, problem in (("Ann", "in the campaign already"), ("Bob", "has a free slot, A"), (" ", "at least one")):
        with pytest.raises(Refused, match=problem):
            store.people.invite_late(name)
    store.people.invite("Bob", "annotator")
    before = store.plan(), store.people.everyone()
    with pytest.raises(Refused, match="there is no open item to give"):  # all are on screens, or in browsers
        store.people.invite_late("Eve")
    assert (store.plan(), store.people.everyone()) == before


@pytest.mark.parametrize("seed", range(5))
def test_shares_are_as_even_as_they_can_be(seed: int) -> None:
    """An augmenting path: an annotator gives another text in place of one that somebody else gives now."""
    random = np.random.default_rng(seed)
    movable = {0: [(n,) for n in range(4)], 1: [(n,) for n in range(8)], 2: [(n,) for n in range(4, 12)]}
    taken = fair_share(movable, {0: 8, 1: 8, 2: 8}, {n: [0, 1, 2] for n in range(12)}, 0, random)
    assert sorted(Counter(taken.values()).values()) == [2, 2, 2]
    narrow = {0: [(0,), (1,)], 1: [(0,), (1,), (2,), (3,)]}
    taken = fair_share(narrow, {0: 4, 1: 4}, {n: [0, 1] for n in range(4)}, -1, random)
    assert len(taken) == 3
    assert fair_share({0: [(0,), (1,)]}, {0: 2}, {0: [0], 1: [0]}, 1, random) == {}


OLD = [(n, 1) for n in range(20)]


def test_every_order_of_old_and_new_ones_is_as_likely() -> None:
    order = [*OLD[:5], (10, 1), (11, 1)]
    random = np.random.default_rng(5)
    found = Counter(interleaved(order, {(0, 1)}, 10, random) for _ in range(600))
    assert {after[:4] for after in found} == {tuple(OLD[:4])}
    assert len(found) == 6
    assert min(found.values()) > 60


def test_places_of_new_ones_are_uniform() -> None:
    random = np.random.default_rng(5)
    places = Counter(
        place
        for _ in range(400)
        for place, (item, _) in enumerate(interleaved([*OLD, (30, 1), (31, 1)], {(0, 1), (1, 1)}, 30, random))
        if item >= 30
    )
    first = 3 + HELD
    assert set(places) == set(range(first, 22))
    assert max(places.values()) < 2 * min(places.values()) + 20


def test_items_that_are_repeated_stay_where_they_are() -> None:
    order = [*OLD[:12], (5, 2), (6, 2), *[(n, 1) for n in range(30, 90)]]
    after = interleaved(order, set(), 30, np.random.default_rng(2))
    assert sorted(after) == sorted(order)
    for shown in ((5, 1), (6, 1), (5, 2), (6, 2)):
        assert after.index(shown) == order.index(shown)


def test_articles_stay_in_a_row() -> None:
    articles = [f"a{n // 4}" for n in range(32)]
    order = [*OLD, *[(n, 1) for n in range(20, 32)]]
    after = interleaved(order, {(0, 1)}, 20, np.random.default_rng(2), articles)
    assert sorted(after) == sorted(order)
    shown = [articles[item] for item, _ in after]
    assert sum(one != other for one, other in pairwise(shown)) == 7
    assert after[:4] == tuple(OLD[:4])
    assert after != tuple(order)


def test_somebody_who_is_at_the_end_gets_the_new_ones_there() -> None:
    order = (*OLD, (30, 1))
    assert interleaved(order, set(OLD), 30, np.random.default_rng(1)) == order
