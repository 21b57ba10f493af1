"""Limits of what an endpoint is asked: rate, number of calls, and cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final

from postil.errors import UsageError, check_least
from postil.messages import Blank, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Budget", "Limits", "Price", "Rate", "RateLimiter"]

SECONDS: Final = {"s": 1, "min": 60, "h": 3600}
MILLION: Final = 1_000_000
ROUNDING: Final = 1e-9
"""Share of a limit of cost that sums of floats may exceed it by."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A maximum rate of calls.

    Args:
        calls: Number of calls, above 0.
        unit: Time that they take: ``s``, ``min`` or ``h``.

    Raises:
        UsageError: The number is out of range, or the unit another.

    >>> str(Rate.parse("60/min")), Rate.parse("60/min").interval
    ('60/min', 1.0)
    """

    calls: float
    unit: str = "min"

    def __post_init__(self) -> None:
        if not 0 < self.calls < math.inf or self.unit not in SECONDS:
            raise UsageError(f"rate: expected calls per time, such as 60/min, 5/s or 1000/h, got '{self}'")

    @classmethod
    def parse(cls, text: str) -> Rate:
        """Parse a rate as written on the command line.

        Args:
            text: Like ``60/min``.

        Raises:
            UsageError: The text is no rate.
        """
        calls, _, unit = text.partition("/")
        try:
            return cls(float(calls), unit)
        except ValueError:
            raise UsageError(f"rate: expected calls per time, such as 60/min, 5/s or 1000/h, got '{text}'") from None

    def __str__(self) -> str:
        return f"{self.calls:g}/{self.unit}"

    @property
    def interval(self) -> float:
        """Seconds between two calls."""
        return SECONDS[self.unit] / self.calls


@dataclass(frozen=True, slots=True)
class Price:
    """The price of tokens, in any currency.

    Args:
        prompt: Price of a million tokens of requests.
        completion: Price of a million tokens of answers.

    Raises:
        UsageError: A number is out of range.

    >>> Price.parse("0.5:2").cost(1_000_000, 500_000)
    1.5
    """

    prompt: float
    completion: float

    def __post_init__(self) -> None:
        if not (0 <= self.prompt < math.inf and 0 <= self.completion < math.inf):
            raise UsageError(f"price: expected IN:OUT per million tokens, such as 0.15:0.60, got '{self}'")

    @classmethod
    def parse(cls, text: str) -> Price:
        """Parse a price as written on the command line.

        Args:
            text: ``IN:OUT``.

        Raises:
            UsageError: The text is no price.
        """
        prompt, _, completion = text.partition(":")
        try:
            return cls(float(prompt), float(completion))
        except ValueError:
            problem = f"price: expected IN:OUT per million tokens, such as 0.15:0.60, got '{text}'"
            raise UsageError(problem) from None

    def __str__(self) -> str:
        return f"{self.prompt:g}:{self.completion:g}"

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Cost of a call.

        Args:
            prompt_tokens: Number of tokens of the request.
            completion_tokens: Number of tokens of the answer.
        """
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / MILLION


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run.

    Args:
        calls: Maximum number of calls; retries of a call are not counted.
        cost: Maximum cost; needs `price`.
        price: Price of tokens.

    Raises:
        UsageError: A number is out of range, or there is a maximum cost without a price.
    """

    calls: int | None = None
    cost: float | None = None
    price: Price | None = None

    def __post_init__(self) -> None:
        check_least(0, limit_calls=self.calls)
        if self.cost is not None and not 0 <= self.cost < math.inf:
            raise UsageError(f"limit_cost: expected 0 or more, got {self.cost}")
        if self.cost is not None and self.price is None:
            price = Setting("price", Blank("IN:OUT"), python="postil.endpoint.limits.Price(IN, OUT)")
            raise UsageError("a limit of cost needs the price of tokens: {price}, per million", price=price)


class Budget:
    """Calls and cost so far, kept below the limits; for several threads.

    A call's cost is reserved by its estimate and settled by its usage. Where answers are dearer than estimated, as for
    scripts of more tokens per character, calls that were reserved may not begin.

    Args:
        limits: The limits.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._lock = Lock()
        self._calls = 0
        self._spent = self._reserved = self._begun = 0.0

    @property
    def spent(self) -> float:
        """Cost of the answers so far."""
        return self._spent

    def estimate(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Cost of a call; 0 without a price.

        Args:
            prompt_tokens: Number of tokens of the request.
            completion_tokens: Number of tokens of the answer.
        """
        return self.limits.price.cost(prompt_tokens, completion_tokens) if self.limits.price else 0.0

    def reserve(self, cost: float) -> bool:
        """Reserve the cost of a call; False if a limit does not allow it.

        Args:
            cost: The estimate.
        """
        with self._lock:
            if self.limits.calls is not None and self._calls >= self.limits.calls:
                return False
            if not self._allows(self._reserved + cost):
                return False
            self._calls += 1
            self._reserved += cost
            return True

    def begin(self, cost: float, *, again: bool = False) -> bool:
        """Begin a call; False if the limit of cost does not allow it any more.

        Args:
            cost: The cost that `reserve` was given.
            again: True for a retry, whose cost is not reserved.
        """
        with self._lock:
            if not self._allows(self._begun + cost):
                return False
            self._begun += cost
            self._reserved += cost * again
            return True

    def settle(self, reserved: float, cost: float) -> None:
        """Replace the reserved cost of a call that was begun by the one that was charged.

        Args:
            reserved: The cost that it began with.
            cost: The cost.
        """
        with self._lock:
            self._begun -= reserved
            self._reserved -= reserved
            self._spent += cost

    def cancel(self, reserved: float) -> None:
        """Give the reserved cost of a call back that does not begin.

        Args:
            reserved: The cost that `reserve` was given.
        """
        with self._lock:
            self._calls -= 1
            self._reserved -= reserved

    def _allows(self, cost: float) -> bool:
        return self.limits.cost is None or self._spent + cost <= self.limits.cost * (1 + ROUNDING)

    def reached(self) -> str:
        """The limit that allows no further call, in words."""
        limits = self.limits
        if limits.calls is not None and self._calls >= limits.calls:
            return f"the limit of {limits.calls:,} {'call' if limits.calls == 1 else 'calls'} is reached"
        return f"the limit of cost, {limits.cost:g}, allows no further call; {self._spent:.6g} is spent"


class RateLimiter:
    """Turns of calls at a maximum rate: a token bucket of one token; for several threads.

    Args:
        rate: The rate; None is unlimited.
        clock: Time in seconds.
    """

    def __init__(self, rate: Rate | None, clock: Callable[[], float]) -> None:
        self._interval = rate.interval if rate else 0.0
        self._clock = clock
        self._lock = Lock()
        self._next = -math.inf

    def turn(self) -> float:
        """Take the next turn; seconds until then."""
        with self._lock:
            now = self._clock()
            begin = max(now, self._next)
            self._next = begin + self._interval
            return begin - now

    def pause(self, seconds: float) -> None:
        """Allow no further turn for a time.

        Args:
            seconds: The time.
        """
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)
