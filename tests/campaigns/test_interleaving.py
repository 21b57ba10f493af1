"""New items that are moved among the open ones."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

from postil.campaigns.store import HELD, interleaved

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
