"""Token buckets: a number of requests per minute, in bounded memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.web.security import RequestLimits, client_key


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_client_gets_its_requests_and_is_told_when_to_come_again() -> None:
    limits = RequestLimits(60, clock=(clock := Clock()))
    assert [limits.take("a") for _ in range(61)] == [0] * 60 + [1]
    clock.now = 2.0
    assert [limits.take("a") for _ in range(3)] == [0, 0, 1]
    clock.now = 1000.0
    assert [limits.take("a") for _ in range(61)] == [0] * 60 + [1], "no more than a minute's requests are saved up"


def test_waiting_as_long_as_told_is_enough() -> None:
    limits = RequestLimits(7, clock=(clock := Clock()))
    for _ in range(50):
        clock.now += (wait := limits.take("a"))
        assert wait == 0 or limits.take("a") == 0


def test_refused_requests_cost_nothing() -> None:
    limits = RequestLimits(1, clock=(clock := Clock()))
    assert [limits.take("a") for _ in range(100)] == [0] + [60] * 99
    clock.now = 60.0
    assert limits.take("a") == 0


def test_clients_do_not_share_a_bucket_and_may_have_limits_of_their_own() -> None:
    limits = RequestLimits(1, clock=Clock())
    assert [limits.take("a"), limits.take("b"), limits.take("a")] == [0, 0, 60]
    assert [limits.take("c", rate=2) for _ in range(3)] == [0, 0, 30]


def test_without_a_limit_nobody_waits_and_nobody_is_remembered() -> None:
    limits = RequestLimits(clock=Clock())
    assert {limits.take("a") for _ in range(1000)} == {0}
    assert len(limits) == 0
    assert [limits.take("a", rate=1), limits.take("a", rate=1)] == [0, 60]


def test_memory_is_bounded() -> None:
    limits = RequestLimits(60, clients=10, clock=(clock := Clock()))
    assert {limits.take(f"client {number}") for number in range(1000)} == {0}
    assert len(limits) == 10
    clock.now = 61.0
    limits.take("new")
    assert len(limits) == 1, "clients with a full bucket are forgotten"


def test_a_flood_of_others_does_not_free_a_busy_client() -> None:
    limits = RequestLimits(2, clients=10, clock=Clock())
    assert [limits.take("busy"), limits.take("busy")] == [0, 0]
    for number in range(9):
        limits.take(f"other {number}")
    assert limits.take("busy") == 30


@given(st.integers(1, 100_000), st.lists(st.floats(0, 90), max_size=60))
def test_no_minute_has_more_than_twice_the_limit(rate: int, pauses: list[float]) -> None:
    limits, times = RequestLimits(rate, clock=(clock := Clock())), list[float]()
    for pause in pauses:
        clock.now += pause
        times += [clock.now] * sum(limits.take("a") == 0 for _ in range(5))
    for start in times:
        assert sum(start <= each < start + 60 for each in times) <= 2 * rate


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("fe80::1%eth0", "fe80::1%eth0", True),
        ("", "", True),
    ],
)
def test_networks_of_ipv6_are_one_client(one: str, other: str, same: bool) -> None:
    assert (client_key(one) == client_key(other)) is same
