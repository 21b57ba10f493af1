"""Balance of a plan that has grown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from postil.campaigns.plan import further_items, plan, plan_balance
from postil.results import base
from postil.results.views import view_of


def spread(loads: list[int], each: int, items: int) -> list[int]:
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
    ranges = [max(after) - min(after) for after in (spread(loads, each, n) for n in range(needed + 1))]
    assert ranges[-1] <= 1
    assert all(apart > 1 for apart in ranges[:-1])


def test_no_number_of_items_evens_out_what_everybody_gets() -> None:
    assert further_items([5, 2], 2) is None
    assert further_items([5, 2], 3) is None


def test_a_new_plan_is_even() -> None:
    made = plan([(f"a{n}", "s") for n in range(12)], 4, 2)
    found = plan_balance(made, frozenset())
    assert found is not None
    assert (found.missing, found.short) == (0, 0)
    assert found.most_items == found.fewest_items == 6
    assert view_of(base.replace(made.statistics(), balance=found)).remarks == view_of(made.statistics()).remarks


def test_what_is_not_even_is_said_with_what_would_even_it_out() -> None:
    made = plan([(f"a{n}", "s") for n in range(12)], 4, 2)
    orders = [*made.orders[:2], made.orders[2][:1], ()]
    found = plan_balance(replace(made, orders=tuple(orders)), frozenset({"A4"}))
    assert found is not None
    assert (found.most_items, found.fewest, found.fewest_items) == (6, "A3", 1)
    remarks = view_of(base.replace(made.statistics(), balance=found)).remarks
    assert remarks[-3].startswith("loads differ by 5 items: A1 has 6, A3 1; an annotator has a text once at most")
    assert remarks[-3].endswith(f"so it takes {found.missing} more texts to even that out")
    assert remarks[-2].startswith(f"two annotators share 0 to {found.most_shared} items")
    assert "with fewer annotators than planned" in remarks[-1]
    assert plan_balance(made, frozenset(made.annotators)) is None
