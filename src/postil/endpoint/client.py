"""Client of an endpoint: requests in, answers in their order, each asked once.

A request is answered from the cache, shares the answer of an equal one on its way, or has its cost reserved and goes to
a thread. A limit ends a run only when nothing on its way can free what it reserved. After a refusal that concerns all
requests, the calls on their way are still waited for and kept, as they are paid.
"""

from __future__ import annotations

import random
import time
from collections import deque
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import combinations
from threading import Event, Lock
from typing import TYPE_CHECKING, Final, Generic, Literal

import msgspec
from msgspec.structs import replace

from postil.data.hosts import is_loopback
from postil.endpoint.cache import AnswerCache
from postil.endpoint.chat import Failed, refusal_words
from postil.endpoint.limits import Budget, Limits, Rate, RateLimiter
from postil.endpoint.requests import A, Asking
from postil.endpoint.transport import Refused, Rejected, TransientError, Transport
from postil.engine.base import Closing
from postil.errors import LimitReached, PostilError, UsageError, check_least

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

__all__ = ["Client", "Pace", "Timing", "Usage"]

DEFAULT_RATE: Final = Rate(60, "min")
AHEAD: Final = 16
"""Number of requests per thread that are taken from the caller before the first of them is answered."""
LONGEST_WAIT: Final = 300.0
"""Longest time, in seconds, that a server can ask to wait."""
TELL: Final = 10.0
"""Seconds of waiting from which on it is said."""
GRACE: Final = 1.0
"""Seconds that an interrupted run waits for answers on their way."""
IN_A_ROW: Final = 10
"""Number of failed requests without an answer in between after which the endpoint is given up."""
LOOKS: Final = 64
"""Number of requests that are looked for among earlier answers in every form that an endpoint may have taken."""
SECONDS_PER_CALL: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Speed and patience of a client.

    Args:
        rate: Maximum rate of calls; by default the usual one, and no limit on a loopback address.
        usual: Maximum rate of calls to another machine where none is given.
        parallel: Number of calls at the same time.
        retries: Number of times that a failed call is repeated.
        timeout: Seconds until an answer must be there.

    Raises:
        UsageError: A number is out of range.
    """

    rate: Rate | None = None
    usual: Rate = DEFAULT_RATE
    parallel: int = 4
    retries: int = 5
    timeout: float = 60.0

    def __post_init__(self) -> None:
        check_least(1, parallel=self.parallel)
        check_least(0, retries=self.retries)
        if not 0 < self.timeout < float("inf"):
            raise UsageError(f"timeout: expected more than 0 seconds, got {self.timeout:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Time and chance of a client, which tests replace.

    Args:
        clock: Time in seconds.
        sleep: Function that waits for some seconds; by default one that an interrupted run ends.
        jitter: Function that draws from [0, 1).
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] | None = None
    jitter: Callable[[], float] = random.random


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Work of a client, done or estimated.

    Args:
        calls: Number of answers of the endpoint.
        cached: Number of requests that the cache answered, or that were equal to one on its way.
        failed: Number of requests that failed after all retries.
        prompt_tokens: Number of tokens of the requests, as the endpoint counts them; estimated where it does not.
        completion_tokens: The same of the answers.
        cost: Cost of the calls; None without a price.
    """

    calls: int = 0
    cached: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None


@dataclass(eq=False, slots=True)
class _Call(Generic[A]):
    """A request on its way."""

    request: Asking[A]
    tokens: int
    cost: float


@dataclass(eq=False, slots=True)
class _Run(Generic[A]):
    """The calls of one `Client.answers`.

    Args:
        threads: Threads that make the calls.
        results: Results that were not yielded yet, with the keys of their requests.
        stop: Event that ends the run.
        problem: Reason of its end.
    """

    threads: ThreadPoolExecutor
    results: deque[tuple[str, Future[A | Failed]]] = field(default_factory=deque)
    stop: Event = field(default_factory=Event)
    problem: BaseException | None = None


class Client(Closing):
    """A client of an OpenAI-compatible endpoint. Leaving ``with`` closes its connections.

    Args:
        url: Address of the endpoint, such as ``http://127.0.0.1:8080/v1``.
        cache: Answers that are known; by default in memory.
        api_key: Key of access; it is sent to the endpoint and goes nowhere else.
        pace: Speed and patience.
        limits: Limits of calls and cost.
        shorten: Advice for requests that are too long for the model, such as an option.
        count_tokens: Function that counts the tokens of a text, for estimates; ``server`` asks the endpoint's
            ``/tokenize``; by default see `Request.estimated_tokens`.
        on_message: Callback for messages: the host before the first call if it is not this machine, and long waits.
        timing: Time and chance.
        setting: Name of the setting that the address is of, for errors.

    Raises:
        UsageError: The address or the key is none.
        MissingExtra: httpx2 is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        cache: AnswerCache | None = None,
        api_key: str | None = None,
        pace: Pace | None = None,
        limits: Limits | None = None,
        shorten: str = "",
        count_tokens: Callable[[str], int] | Literal["server"] | None = None,
        on_message: Callable[[str], None] = lambda _: None,
        timing: Timing | None = None,
        setting: str = "endpoint",
    ) -> None:
        self._pace, self._timing = pace or Pace(), timing or Timing()
        self._transport = Transport(url, api_key=api_key, timeout=self._pace.timeout, shorten=shorten, setting=setting)
        self._rate = self._pace.rate or (None if is_loopback(self._transport.host) else self._pace.usual)
        self._limiter = RateLimiter(self._rate, self._timing.clock)
        self._cache = cache or AnswerCache()
        self._budget = Budget(limits or Limits())
        self._count = self._transport.count_tokens if count_tokens == "server" else count_tokens
        self._on_message = on_message
        self._lock, self._told = Lock(), is_loopback(self._transport.host)
        self._usage, self._failed_in_a_row = Usage(), 0
        self._reached = self._told_unreached = False
        self._refused: frozenset[str] = frozenset()
        self._learned, self._looks_left, self._least = False, LOOKS, 0

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    @property
    def usage(self) -> Usage:
        """Work so far."""
        cost = self._budget.spent if self._budget.limits.price else None
        return replace(self._usage, cost=cost)

    def known(self, request: Asking[A]) -> A | None:
        """The answer to a request that the cache has; None if it has none.

        Args:
            request: The request.
        """
        request = request.at_least(self._least)
        for refused in self._forms(request):
            if (answer := request.recall(self._cache.get, refused)) is not None:
                self._learn(refused)
                return answer
        return None

    def _forms(self, request: Asking[A]) -> Iterator[frozenset[str]]:
        """Options that it refuses; in the beginning, before it has answered, all that it may have refused."""
        yield self._refused
        if self._cache.on_disk and not self._learned and self._looks_left > 0:
            self._looks_left -= 1
            options = sorted(request.options())
            for count in range(len(options) + 1):
                yield from map(frozenset, combinations(options, count))

    def _learn(self, refused: frozenset[str]) -> None:
        """Remember for the run what the endpoint refuses, and say it once."""
        with self._lock:
            new, self._refused = sorted(refused - self._refused), self._refused | refused
        if new:
            self._on_message(f"{self._transport.host} {refusal_words(new)}")

    def estimate(self, requests: Iterable[Asking[A]]) -> Usage:
        """Estimate the work of requests without a call.

        Args:
            requests: The requests; equal ones are asked once.

        Returns:
            The work, with the maximum number of tokens of the answers, and the cost of these.
        """
        asked: dict[str, Asking[A]] = {}
        cached = 0
        for request in requests:
            key = request.key()
            if key in asked or self.known(request) is not None:
                cached += 1
            else:
                asked[key] = request
        if self._count == self._transport.count_tokens:
            self._tell_host()
        prompt = sum(request.estimated_tokens(self._count) for request in asked.values())
        completion = sum(request.max_tokens for request in asked.values())
        return Usage(
            calls=len(asked),
            cached=cached,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost=self._budget.estimate(prompt, completion) if self._budget.limits.price else None,
        )

    def estimated_seconds(self, calls: int) -> float:
        """Estimate the time of calls: at the maximum rate or at one second per call, whichever takes longer.

        Args:
            calls: Number of calls.
        """
        return calls * max(self._rate.interval if self._rate else 0.0, SECONDS_PER_CALL / self._pace.parallel)

    def answers(self, requests: Iterable[Asking[A]]) -> Generator[A | Failed, None, None]:
        """Answer requests: from the cache, else by a call each.

        Args:
            requests: The requests; they are taken some time before their answers are there.

        Yields:
            For each request its answer, or the reason why there is none, in the order of the requests.

        Raises:
            LimitReached: A limit allows no further call; all answers before have been yielded.
            PostilError: The endpoint refuses calls for a reason that concerns all of them.
        """
        run = _Run[A](ThreadPoolExecutor(self._pace.parallel))
        try:
            yield from self._in_order(requests, run)
        except CancelledError:
            raise run.problem or PostilError("interrupted") from None
        finally:
            # After a refusal the calls on their way are waited for, since they are paid; after an interrupt hardly.
            run.stop.set()
            wait([result for _, result in run.results], self._pace.timeout if run.problem else GRACE)
            run.threads.shutdown(wait=False)  # closing the transport ends the calls that are left

    def _in_order(self, requests: Iterable[Asking[A]], run: _Run[A]) -> Iterator[A | Failed]:
        waiting = iter(requests)
        todo: Asking[A] | None = None
        pending: dict[str, Future[A | Failed]] = {}
        while True:
            while len(run.results) < AHEAD * self._pace.parallel:
                todo = todo or next(waiting, None)
                if todo is None:
                    break
                key = todo.key()
                if (result := self._begin(todo, pending.get(key), run)) is None:
                    break
                pending[key], todo = result, None
                run.results.append((key, result))
            if not run.results:
                break
            key, result = run.results[0]
            answer = result.result()
            run.results.popleft()
            yield answer
            pending.pop(key, None)
        if todo is not None:
            raise self._limit_reached()

    def _limit_reached(self) -> LimitReached:
        kept = "; answers so far are kept, and the same command goes on" if self._cache.on_disk else ""
        return LimitReached(f"{self._budget.reached()}{kept}")

    def _begin(self, request: Asking[A], asked: Future[A | Failed] | None, run: _Run[A]) -> Future[A | Failed] | None:
        """The answer to a request, or the promise of one; None if a limit does not allow it."""
        known = None if asked else self.known(request)
        if asked or known:
            self._count_cached()
        if asked:
            return asked
        if known:
            result: Future[A | Failed] = Future()
            result.set_result(known)
            return result
        if self._count == self._transport.count_tokens:
            self._tell_host()
        tokens = request.estimated_tokens(self._count)
        cost = self._budget.estimate(tokens, request.max_tokens)
        if run.stop.is_set() or not self._budget.reserve(cost):
            return None
        return run.threads.submit(self._work, _Call(request, tokens, cost), run)

    def _count_cached(self) -> None:
        with self._lock:
            self._usage = replace(self._usage, cached=self._usage.cached + 1)

    def _work(self, call: _Call[A], run: _Run[A]) -> A | Failed:
        """Make a call; in a thread."""
        try:
            return self._ask(call, run)
        except BaseException as error:
            run.problem = run.problem or error
            run.stop.set()
            raise CancelledError from None

    def _ask(self, call: _Call[A], run: _Run[A]) -> A | Failed:
        if run.stop.is_set() or not self._budget.begin(call.cost):
            self._budget.cancel(call.cost)
            raise CancelledError if run.stop.is_set() else self._limit_reached()
        attempt, refused = 0, self._refused
        while True:
            self._wait(self._limiter.turn(), run)
            try:
                return self._call(call, refused)
            except Rejected as error:
                self._reached = True
                least = max(self._least, error.body.least_tokens)
                if call.request.at_least(least) != call.request.at_least(self._least):
                    self._least = least
                elif option := error.body.refused(call.request.options() - refused):
                    refused |= {option}
                else:
                    raise
            except TransientError as error:
                self._reached |= error.reached
                self._budget.settle(call.cost, call.cost if error.served else 0.0)
                if attempt == self._pace.retries or not self._budget.begin(call.cost, again=True):
                    return self._fail(error.reason)
                self._back_off(error, attempt, run)
                attempt += 1
            except Refused as error:
                self._reached = True
                self._budget.settle(call.cost, call.cost)
                return self._fail(str(error))

    def _call(self, call: _Call[A], refused: frozenset[str]) -> A:
        request = call.request.at_least(self._least)
        if (refused or request != call.request) and (known := request.recall(self._cache.get, refused)) is not None:
            self._budget.settle(call.cost, 0.0)  # an earlier run learned the same
            self._learn(refused)
            self._count_cached()
            return known
        self._tell_host()
        try:
            answer = self._posted(request, refused, call.tokens)
        except ValueError as error:
            raise TransientError(str(error), served=True) from error
        self._reached = self._learned = True
        self._learn(refused)
        answer = request.keep(self._cache.put, answer, refused)
        prompt = call.tokens if answer.prompt_tokens is None else answer.prompt_tokens
        completion = request.max_tokens if answer.completion_tokens is None else answer.completion_tokens
        self._budget.settle(call.cost, self._budget.estimate(prompt, completion))
        with self._lock:
            used, self._failed_in_a_row = self._usage, 0
            self._usage = replace(
                used,
                calls=used.calls + 1,
                prompt_tokens=used.prompt_tokens + prompt,
                completion_tokens=used.completion_tokens + completion,
            )
        return answer

    def _posted(self, request: Asking[A], refused: frozenset[str], tokens: int) -> A:
        """The answer to a request; a refusal may amount to one."""
        try:
            return request.read(self._transport.post(request.path, request.body(refused), tokens), refused)
        except Rejected as error:
            if (answer := request.rejected(error.body, refused)) is None:
                raise
            return answer

    def _back_off(self, error: TransientError, attempt: int, run: _Run[A]) -> None:
        wait = error.after
        if wait is None:
            self._tell_unreached(error)
            return self._wait(2**attempt * (0.5 + self._timing.jitter()), run)
        if wait > LONGEST_WAIT:
            raise PostilError(f"{error.reason}; it asks to wait {wait:,.6g} s: run the same command again later")
        self._limiter.pause(wait)  # for all threads: the server would refuse them as well
        if wait >= TELL:
            self._on_message(f"{error.reason}; waiting {wait:g} s")
        return self._wait(wait, run)

    def _fail(self, reason: str) -> Failed:
        with self._lock:
            self._usage = replace(self._usage, failed=self._usage.failed + 1)
            self._failed_in_a_row += 1
        if self._failed_in_a_row >= IN_A_ROW:
            raise PostilError(f"{IN_A_ROW} requests in a row failed, the last one because {reason}")
        if not self._reached:  # nobody listens there
            raise PostilError(reason)
        return Failed(reason)

    def _wait(self, seconds: float, run: _Run[A]) -> None:
        if seconds > 0:
            (self._timing.sleep or run.stop.wait)(seconds)
        if run.stop.is_set():
            raise CancelledError

    def _tell_unreached(self, error: TransientError) -> None:
        with self._lock:
            told, self._told_unreached = self._told_unreached or self._reached, True
        if not told:
            self._on_message(f"{error.reason}; trying again")

    def _tell_host(self) -> None:
        with self._lock:
            told, self._told = self._told, True
        if not told:
            clear = "" if self._transport.encrypted else ", not encrypted"
            self._on_message(f"texts are sent to {self._transport.host}{clear}")
