"""Plans: who gets which texts in which order, and what becomes of a plan that grows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, groupby, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.campaigns.item_assignment import block_design, distribute_items
from postil.campaigns.plan import Plan, further_items, plan
from postil.errors import UnknownName, UsageError
from postil.results import base
from postil.results.views import view_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from postil.campaigns.models import Presentation
    from postil.campaigns.result import PlanResult


def keys(articles: int, systems: int) -> list[tuple[str, str]]:
    return [(f"a{article}", f"s{system}") for article in range(articles) for system in range(systems)]


def on(made: Plan) -> list[list[str]]:
    """Annotators who have each text for the first time."""
    found: list[list[str]] = [[] for _ in range(made.items)]
    for name, order in zip(made.annotators, made.orders, strict=True):
        for item, again in order:
            if again == 1:
                found[item].append(name)
    return found


def loads(found: PlanResult) -> dict[str, int]:
    return {one.annotator: one.texts for one in found.annotators}


def overlaps(found: PlanResult) -> dict[tuple[str, str], int]:
    return {(one.first, one.second): one.texts for one in found.pairs}


def spread(counts: object) -> int:
    values = list(counts)  # type: ignore[call-overload]
    return max(values) - min(values)


PLANS = st.tuples(st.integers(1, 30), st.integers(1, 4), st.integers(2, 9), st.integers(0, 999))


@given(PLANS, st.data())
@examples(60)
def test_exactly_k_of_n(sizes: tuple[int, int, int, int], data: st.DataObject) -> None:
    articles, systems, annotators, seed = sizes
    each = data.draw(st.integers(1, min(2, annotators)))
    made = plan(keys(articles, systems), annotators, each, seed=seed)
    assert all(len(set(names)) == len(names) == each for names in on(made))
    found = made.statistics()
    assert spread(loads(found).values()) <= 1
    assert sum(loads(found).values()) == each * articles * systems
    if each == 2:
        assert spread(overlaps(found).values()) <= 1
        assert sum(overlaps(found).values()) == articles * systems
    assert made.short == 0


@pytest.mark.parametrize("balance", ["system", "article"])
def test_of_each_system_or_article_everyone_has_about_as_many(balance: str) -> None:
    made = plan(keys(40, 40), 5, 2, balance=balance)  # type: ignore[arg-type]
    has = on(made)
    for part in range(40):
        mine = [item for item in range(1600) if (item % 40 if balance == "system" else item // 40) == part]
        counted = Counter(name for item in mine for name in has[item])
        assert spread(counted.values()) <= 2  # of 16 each


def test_orders_are_random_and_independent() -> None:
    """Over 400 seeds: uniform places (chi-squared of 8 bins), and no correlation between two annotators' places."""
    first, second = [], []
    for seed in range(400):
        made = plan(keys(4, 4), 2, 2, seed=seed)
        places = [{item: place for place, (item, _) in enumerate(order)} for order in made.orders]
        first.append(places[0][5])
        second.append(places[1][5])
    for places_of_one in (first, second):
        counted = np.bincount(places_of_one, minlength=16).reshape(8, 2).sum(axis=1)
        assert ((counted - 50) ** 2 / 50).sum() < 24.3  # passed once in a thousand, 7 degrees of freedom
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.165  # 3.3 standard errors


def test_the_texts_of_an_article_are_spread() -> None:
    made = plan(keys(50, 4), 2, 2)
    assert made.statistics().median_gap == pytest.approx(50, abs=5)
    for order in made.orders:
        last: dict[int, int] = {}
        for place, (item, _) in enumerate(order):
            assert place - last.get(item // 4, -1_000) > 30
            last[item // 4] = place


def test_or_kept_together() -> None:
    made = plan(keys(50, 4), 3, 2, together=True)
    orders = []
    for order in made.orders:
        runs = [article for article, _ in groupby(item // 4 for item, _ in order)]
        assert len(runs) == len(set(runs))
        orders.append(runs)
    assert orders[0] != sorted(orders[0])
    assert orders[0] != orders[1]


def test_everyone_has_gold() -> None:
    made = plan(keys(10, 2), 4, 2, gold=[3, 17])
    assert on(made)[3] == on(made)[17] == ["A1", "A2", "A3", "A4"]
    assert all(len(names) == 2 for item, names in enumerate(on(made)) if item not in {3, 17})
    assert made.statistics().gold == 2
    assert sum(loads(made.statistics()).values()) == 36


def test_repeats_come_half_of_the_way_later() -> None:
    made = plan(keys(100, 2), 4, 2, repeat_rate=0.1, gold=[0])
    for order in made.orders:
        first = {item: place for place, (item, again) in enumerate(order) if again == 1}
        gaps = [place - first[item] for place, (item, again) in enumerate(order) if again == 2]
        assert len(gaps) == 10
        assert min(gaps) > 35
        assert (0, 2) not in order


def test_the_seed_decides() -> None:
    assert plan(keys(9, 2), 3, 2) == plan(keys(9, 2), 3, 2) != plan(keys(9, 2), 3, 2, seed=1)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"items": []}, "no items"),
        ({"annotators": 0}, "annotators: expected a number from 1 to"),
        ({"annotators": ["Ann", "Ann"]}, "distinct, non-empty names"),
        ({"annotators_per_item": 0}, "annotators per item: expected a number from 1 to 3"),
        ({"annotators_per_item": 4}, "annotators per item: expected a number from 1 to 3"),
        ({"repeat_rate": 0.6}, "repeat rate: expected a share"),
        ({"gold": [99]}, "no item 99"),
        ({"overlap": 1.1}, "overlap: expected a share from 0 to 1, got 1.1"),
        ({"overlap": 0.1, "annotators_per_item": 3}, "one annotator more than 3 need 4 annotators, and there are 3"),
    ],
)
def test_refuses_what_makes_no_plan(change: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        plan(**{"items": keys(3, 2), "annotators": 3, "annotators_per_item": 2, **change})  # type: ignore[arg-type]


@given(PLANS, st.floats(0, 1), st.data())
@examples(30)
def test_an_overlap_has_one_more(sizes: tuple[int, int, int, int], share: float, data: st.DataObject) -> None:
    articles, systems, annotators, seed = sizes
    each = data.draw(st.integers(1, min(2, annotators - 1)))
    texts = articles * systems
    gold = data.draw(st.sets(st.integers(0, texts - 1), max_size=min(2, texts - 1)))
    made = plan(keys(articles, systems), annotators, each, seed=seed, overlap=share, gold=gold, repeat_rate=0.2)
    assert len(made.overlapping) == round(share * (texts - len(gold)))
    for item, names in enumerate(on(made)):
        wanted = annotators if item in gold else each + (item in made.overlapping)
        assert len(set(names)) == len(names) == wanted
    assert not made.overlapping & gold
    of_systems = Counter(item % systems for item in range(texts) if item not in gold)
    more = Counter(item % systems for item in made.overlapping)
    assert all(abs(more[system] - len(made.overlapping) * of_systems[system] / texts) < 2 for system in of_systems)
    found = made.statistics()
    assert (found.overlapping, made.short, found.by_item) == (len(made.overlapping), 0, False)
    assert spread(loads(found).values()) <= 1
    if each == 1 or not made.overlapping:
        assert spread(overlaps(found).values()) <= 1


def test_an_overlap_is_spread_over_annotators_of_each_system() -> None:
    made = plan(keys(100, 8), 4, 1, overlap=0.25)
    has = on(made)
    for system in range(8):
        twice = Counter(name for item in made.overlapping if item % 8 == system for name in has[item])
        once = Counter(name for item, names in enumerate(has) if item % 8 == system for name in names)
        assert spread(twice.values()) <= 2
        assert spread(once.values()) <= 3
    assert spread(Counter(item % 8 for item in made.overlapping).values()) == 0


def test_which_texts_have_one_more_is_random() -> None:
    """Over 400 seeds each of ten texts is in a fifth (3.3 standard errors)."""
    drawn = Counter(item for seed in range(400) for item in plan(keys(10, 1), 3, 1, seed=seed, overlap=0.2).overlapping)
    assert all(abs(drawn[item] - 80) < 3.3 * 8 for item in range(10))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30), st.integers(2, 8), st.floats(0, 1), st.data())
@examples(30)
def test_by_item_an_article_stays_together(
    lengths: list[int], annotators: int, share: float, data: st.DataObject
) -> None:
    texts = [(f"a{article}", f"s{number}") for article, length in enumerate(lengths) for number in range(length)]
    each, seed = data.draw(st.integers(1, min(2, annotators - 1))), data.draw(st.integers(0, 99))
    made = plan(texts, annotators, each, by_item=True, overlap=share, seed=seed)
    people: dict[str, set[str]] = {}
    for (article, _), names in zip(texts, on(made), strict=True):
        assert people.setdefault(article, set(names)) == set(names)
        assert len(names) == len(people[article])
    more = {article for article, names in people.items() if len(names) == each + 1}
    assert len(more) == round(share * len(lengths))
    assert made.overlapping == {item for item, (article, _) in enumerate(texts) if article in more}
    articles = Counter(name for names in people.values() for name in names)
    assert spread(articles[name] for name in made.annotators) <= 1
    if not more or (each == 1 and len(more) == len(people)):  # one design, of blocks up to two
        assert spread(loads(made.statistics()).values()) <= max(lengths)
    elif each == 1:
        assert spread(loads(made.statistics()).values()) <= 2 * max(lengths)
    assert made.statistics().by_item


def test_gold_goes_to_everyone_by_item_as_well() -> None:
    made = plan(keys(6, 2), 3, 1, by_item=True, gold=[0, 4, 5])
    assert [len(names) for names in on(made)] == [3, 1, 1, 1, 3, 3, *[1] * 6]
    assert spread(loads(made.statistics()).values()) <= 2


def answered(made: Plan, data: st.DataObject) -> dict[str, set[Presentation]]:
    """A beginning of each annotator's order."""
    return {
        name: set(order[: data.draw(st.integers(0, len(order)))])
        for name, order in zip(made.annotators, made.orders, strict=True)
    }


class TestReassigning:
    @given(st.integers(2, 25), st.integers(3, 8), st.integers(0, 99), st.data())
    @examples(40)
    def test_moves_undone_work_and_nothing_else(
        self, articles: int, annotators: int, seed: int, data: st.DataObject
    ) -> None:
        each = data.draw(st.integers(1, min(3, annotators - 1)))
        old = plan(keys(articles, 2), annotators, each, seed=seed, repeat_rate=0.1)
        far = answered(old, data)
        new = old.reassign("A2", far)
        assert all(len(set(names)) == len(names) == each for names in on(new))
        assert set(new.orders[1]) == far["A2"]
        for number, name in enumerate(old.annotators):
            if name != "A2":
                head = len(far[name]) + (len(far[name]) < len(old.orders[number]))
                assert new.orders[number][:head] == old.orders[number][:head]
                kept = [turn for turn in new.orders[number] if turn in set(old.orders[number])]
                assert kept == list(old.orders[number])
        assert new == old.reassign("A2", far)

    def test_keeps_the_balance(self) -> None:
        old = plan(keys(105, 2), 6, 2)
        far: dict[str, set[Presentation]] = {
            name: set(order[:20]) for name, order in zip(old.annotators, old.orders, strict=True)
        }
        new = old.reassign("A6", far)
        found = new.statistics()
        others = [n for name, n in loads(found).items() if name != "A6"]
        assert loads(found)["A6"] == 20
        assert spread(others) <= 1
        # How often one of the five meets the other four is settled by whose texts are open.
        # With such sums r, the evenest table is (r_i + r_j) / 3 - sum of r / 12.
        pairs = {pair: n for pair, n in overlaps(found).items() if "A6" not in pair}
        sums = {name: sum(n for pair, n in pairs.items() if name in pair) for name in old.annotators[:5]}
        for (first, second), n in pairs.items():
            assert abs(n - (sums[first] + sums[second]) / 3 + sum(sums.values()) / 12) <= 1

    @given(st.integers(0, 10**6))
    @examples(40)
    def test_loads_are_as_even_as_can_be(self, seed: int) -> None:
        """Against every way to share up to five texts out among three people who have some already."""
        random = np.random.default_rng(seed)
        on = [random.choice(4, random.integers(1, 4), replace=False).tolist() for _ in range(9)]
        orphans = list(range(int(random.integers(1, 6))))
        taken = distribute_items(orphans, [1, 2, 3], on, random)
        able = {item: [person for person in (1, 2, 3) if person not in on[item]] for item in orphans}
        assert set(taken) == {item for item in orphans if able[item]}
        before = Counter(person for team in on for person in team)

        def unevenness(takers: Iterable[int]) -> int:
            load = before + Counter(takers)
            return sum(load[person] ** 2 for person in (1, 2, 3))

        best = min(unevenness(takers) for takers in product(*(able[item] for item in taken)))
        assert unevenness(taken.values()) == best

    def test_says_which_texts_stay_short_and_gold_goes_to_nobody(self) -> None:
        assert plan(keys(5, 2), 3, 3).reassign("A1").short == 10
        old = plan(keys(5, 2), 3, 2, gold=[4])
        new = old.reassign("A1")
        assert sum(item == 4 for order in new.orders for item, _ in order) == 2
        assert new.short == 0

    @given(st.integers(1, 20), st.integers(3, 7), st.integers(0, 99), st.data())
    @examples(25)
    def test_by_item_articles_stay_together(
        self, articles: int, annotators: int, seed: int, data: st.DataObject
    ) -> None:
        each = data.draw(st.integers(1, min(2, annotators - 1)))
        share = data.draw(st.sampled_from([0.0, 0.3])) if each < annotators - 1 else 0.0
        old = plan(keys(articles, 3), annotators, each, seed=seed, by_item=True, overlap=share, together=True)
        far = answered(old, data)
        new = old.reassign("A2", far)
        has = on(new)
        assert [len(set(names)) for names in has] == [len(names) for names in has] == [*map(len, on(old))]
        assert new.short == 0
        takers: dict[int, set[str]] = {}
        for item, names in enumerate(has):
            if (item, 1) in old.orders[1] and (item, 1) not in far["A2"]:
                takers.setdefault(item // 3, set()).update(set(names) - set(on(old)[item]))
        assert all(len(names) == 1 for names in takers.values())
        counts = Counter(
            name for article in range(articles) for name in {n for item in range(3) for n in has[3 * article + item]}
        )
        if each == 1 and not share:
            assert spread(counts[name] for name in new.annotators if name != "A2") <= 1
        for number, order in enumerate(new.orders):
            if number != 1:
                runs = [article for article, _ in groupby(item // 3 for item, _ in order)]
                assert len(runs) == len(set(runs))
                assert [turn for turn in order if turn in set(old.orders[number])] == list(old.orders[number])

    def test_an_article_is_broken_up_where_nobody_can_take_all_of_it(self) -> None:
        old = plan(keys(1, 2), ["A", "B", "C"], 2, by_item=True)
        first, second, third = (old.orders[number] for number in range(3))
        without = [name for name, order in zip(old.annotators, old.orders, strict=True) if not order]
        assert sorted(map(len, (first, second, third))) == [0, 2, 2]
        gone = next(name for name in old.annotators if name not in without)
        new = old.reassign(gone)
        assert len(new.orders[old.annotators.index(without[0])]) == 2
        rest = next(name for name in old.annotators if name not in {gone, *without})
        assert new.reassign(rest, left=[gone]).short == 2

    def test_who_is_not_there_cannot_leave(self) -> None:
        with pytest.raises(UnknownName, match="annotator 'A9'"):
            plan(keys(5, 2), 3, 2).reassign("A9")

    def test_new_texts_come_in_random_places(self) -> None:
        """The first new text is not always the next one, nor always the last."""
        where = set()
        for seed in range(40):
            old = plan(keys(8, 1), 3, 1, seed=seed)
            new = old.reassign("A1")
            where |= {place for place, turn in enumerate(new.orders[1]) if turn not in old.orders[1]}
        assert where >= {1, 2, 3}
        assert 0 not in where


def made(people: int, size: int, count: int, seed: int = 1) -> list[tuple[int, ...]]:
    return block_design(people, size, count, np.random.default_rng(seed))


def times(found: list[tuple[int, ...]], people: int) -> list[int]:
    counted = Counter(person for team in found for person in team)
    return [counted[person] for person in range(people)]


def meetings(found: list[tuple[int, ...]], people: int) -> list[int]:
    counted = Counter(pair for team in found for pair in combinations(team, 2))
    return [counted[pair] for pair in combinations(range(people), 2)]


@given(st.integers(1, 12), st.data(), st.integers(0, 60), st.integers(0, 99))
@examples(60)
def test_everyone_is_in_equally_many_in_every_beginning(
    people: int, data: st.DataObject, count: int, seed: int
) -> None:
    size = data.draw(st.sampled_from([1, 2, people])) if people > 1 else 1
    found = made(people, size, count, seed)
    assert [len(set(team)) for team in found] == [size] * count
    assert all(spread(times(found[:stop], people)) <= 1 for stop in range(1, count + 1))


@given(st.integers(2, 15), st.integers(1, 230), st.integers(0, 99))
@examples(60)
def test_two_of_two_meet_equally_often_in_every_beginning(people: int, count: int, seed: int) -> None:
    found = made(people, 2, count, seed)
    met = Counter[tuple[int, ...]]()
    for team in found:
        met[team] += 1
        assert met[team] <= 1 + min(met[pair] for pair in combinations(range(people), 2))
    assert spread(times(found, people)) <= 1


@given(st.integers(4, 9), st.data(), st.integers(0, 99))
@examples(8)
def test_larger_teams_are_as_even_as_may_be(people: int, data: st.DataObject, seed: int) -> None:
    size = data.draw(st.integers(3, people - 1))
    found = made(people, size, data.draw(st.integers(1, 80)), seed)
    assert [len(set(team)) for team in found] == [size] * len(found)
    assert spread(times(found, people)) <= 1
    # How often one meets all others is settled by the number of their teams. With such sums r, the evenest table is
    # (r_i + r_j) / (n - 2) - sum of r / ((n - 1) (n - 2)); it need not be of whole numbers.
    sums = [(size - 1) * n for n in times(found, people)]
    for (first, second), n in zip(combinations(range(people), 2), meetings(found, people), strict=True):
        even = (sums[first] + sums[second]) / (people - 2) - sum(sums) / (people - 1) / (people - 2)
        assert abs(n - even) < 2


@pytest.mark.parametrize(
    ("people", "size", "count", "once"),
    [
        (7, 3, 7, 1),  # Fano's plane
        (9, 3, 12, 1),  # the affine plane of order 3
        (6, 3, 10, 2),
        (8, 4, 14, 3),  # extended Hamming code
        (13, 4, 13, 1),  # the projective plane of order 3
    ],
)
def test_finds_designs_where_they_exist(people: int, size: int, count: int, once: int) -> None:
    assert set(meetings(made(people, size, count), people)) == {once}


def test_finds_one_apart_where_numbers_are_large() -> None:
    found = made(8, 3, 386)  # 386 * 3 / 28 = 41.4 meetings
    assert (spread(times(found, 8)), spread(meetings(found, 8))) == (1, 1)


def test_every_pair_is_equally_likely_everywhere() -> None:
    """Chi-squared over 10 pairs: 27.9 is passed once in a thousand, and each place of the sequence is looked at."""
    sequences = [made(5, 2, 10, seed) for seed in range(600)]
    for place in range(10):
        counted = Counter(found[place] for found in sequences)
        assert sum((counted[pair] - 60) ** 2 / 60 for pair in combinations(range(5), 2)) < 27.9


def test_the_seed_decides_on_blocks() -> None:
    assert made(6, 3, 20, 4) == made(6, 3, 20, 4) != made(6, 3, 20, 5)


def loads_after(loads: list[int], each: int, items: int) -> list[int]:
    """Loads after so many more items, each for those who have least."""
    loads = list(loads)
    for _ in range(items):
        for person in sorted(range(len(loads)), key=loads.__getitem__)[:each]:
            loads[person] += 1
    return loads


@pytest.mark.parametrize("loads", [[4, 4, 4], [9, 3, 3], [9, 9, 0], [7, 0, 0, 5], [30, 1, 17, 4, 4]])
@pytest.mark.parametrize("each", [1, 2])
def test_further_items_are_the_fewest_that_even_loads_out(loads: list[int], each: int) -> None:
    needed = further_items(loads, each)
    assert needed is not None
    ranges = [max(after) - min(after) for after in (loads_after(loads, each, n) for n in range(needed + 1))]
    assert ranges[-1] <= 1
    assert all(apart > 1 for apart in ranges[:-1])


def test_no_number_of_items_evens_out_what_everybody_gets() -> None:
    assert further_items([5, 2], 2) is None
    assert further_items([5, 2], 3) is None


def test_a_new_plan_is_even() -> None:
    made = plan([(f"a{n}", "s") for n in range(12)], 4, 2)
    found = made.balance(frozenset())
    assert found is not None
    assert (found.missing, found.short) == (0, 0)
    assert found.most_items == found.fewest_items == 6
    assert view_of(base.replace(made.statistics(), balance=found)).remarks == view_of(made.statistics()).remarks


def test_what_is_not_even_is_said_with_what_would_even_it_out() -> None:
    made = plan([(f"a{n}", "s") for n in range(12)], 4, 2)
    orders = [*made.orders[:2], made.orders[2][:1], ()]
    found = replace(made, orders=tuple(orders)).balance(frozenset({"A4"}))
    assert found is not None
    assert (found.most_items, found.fewest, found.fewest_items) == (6, "A3", 1)
    remarks = view_of(base.replace(made.statistics(), balance=found)).remarks
    assert remarks[-3].startswith("loads differ by 5 items: A1 has 6, A3 1; an annotator has a text once at most")
    assert remarks[-3].endswith(f"so it takes {found.missing} more texts to even that out")
    assert remarks[-2].startswith(f"two annotators share 0 to {found.most_shared} items")
    assert "with fewer annotators than planned" in remarks[-1]
    assert made.balance(frozenset(made.annotators)) is None
