"""Clients take turns, whatever each of them sends."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.web.turns import FairLine, FairQueue, NoTurn


@given(st.lists(st.sampled_from("abc"), max_size=40))
def test_everybody_is_served_before_anybody_is_served_twice(clients: list[str]) -> None:
    line = FairLine[int]()
    for number, client in enumerate(clients):
        line.add(client, number)
    taken = []
    while (found := line.take()) is not None:
        taken.append(found)
    assert sorted(number for _, number in taken) == list(range(len(clients)))
    for client in set(clients):
        own = [number for one, number in taken if one == client]
        assert own == sorted(own), "each in its own order"
        between = [one for one, _ in taken]
        places = [at for at, one in enumerate(between) if one == client]
        for first, second in pairwise(places):
            assert len(between[first + 1 : second]) == len(set(between[first + 1 : second]))


def test_the_longest_line_loses_its_last() -> None:
    line = FairLine[int]()
    for client, number in (("a", 1), ("a", 2), ("b", 3), ("b", 4), ("a", 5), ("c", 6)):
        line.add(client, number)
    assert [line.shed(), line.shed(), line.shed()] == [5, 4, 2]
    line.discard("a", 1)
    line.discard("a", 9)
    assert (line.clear(), len(line), line.take()) == ([3, 6], 0, None)


def test_what_was_begun_before_is_next() -> None:
    line = FairLine[int]()
    for client, number in (("a", 1), ("b", 2)):
        line.add(client, number)
    line.add("b", 3, first=True)
    assert [line.take(), line.take(), line.take()] == [("b", 3), ("a", 1), ("b", 2)]


async def test_a_request_waits_no_longer_than_the_patience() -> None:
    queue = FairQueue(1, each=1, line=2, patience=0.01)
    async with queue.turn("a"):
        with pytest.raises(NoTurn, match="busy") as refused:
            async with queue.turn("b"):
                raise AssertionError
    assert refused.value.status == 503
    async with queue.turn("b"):
        pass


async def test_a_client_rests_as_long_as_its_request_took_and_others_go_on() -> None:
    queue, order = FairQueue(1, each=1, line=9, patience=60.0, rest=2.0), list[str]()

    async def ask(client: str) -> None:
        async with queue.turn(client):
            order.append(client)
            await asyncio.sleep(0.1)

    first = [asyncio.create_task(ask("a")), asyncio.create_task(ask("a"))]
    await asyncio.sleep(0)
    await first[0]
    await ask("b")
    await first[1]
    assert order == ["a", "b", "a"]


async def test_who_gives_up_keeps_no_turn() -> None:
    queue, order = FairQueue(1, each=1, line=9, patience=9.0), list[str]()

    async def ask(client: str) -> None:
        async with queue.turn(client):
            order.append(client)
            await asyncio.sleep(0)

    async with queue.turn("a"):
        tasks = [asyncio.create_task(ask(client)) for client in ("a", "b", "b", "c")]
        await asyncio.sleep(0)
        tasks[0].cancel()
    tasks[1].cancel()  # it was given the turn just now
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == ["c", "b"]
