from __future__ import annotations

import gzip
import json
import math
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from contextlib import suppress
from threading import Event, Lock, Thread, current_thread
from typing import TYPE_CHECKING

import msgspec
import pytest

from endpoint_stub import Asked, Reply, StubServer, completion, error
from postil.endpoint.cache import AnswerCache
from postil.endpoint.chat import Answer, Failed, Message, Request, read_answer
from postil.endpoint.client import Client, Pace, Timing
from postil.endpoint.limits import Limits, Price, Rate
from postil.errors import InvalidInput, LimitReached, MissingExtra, PostilError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-test/0123456789+abcdef"


class FakeTime:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now, self.slept, self._lock = 0.0, list[float](), Lock()

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.now += seconds
            self.slept.append(seconds)

    @property
    def timing(self) -> Timing:
        return Timing(clock=lambda: self.now, sleep=self.sleep, jitter=lambda: 0.5)


def ask(text: str, *, max_tokens: int = 8, sample: int = 0, top_logprobs: int = 0) -> Request:
    return Request(
        model="m", messages=(Message("user", text),), max_tokens=max_tokens, sample=sample, top_logprobs=top_logprobs
    )


def texts(found: list[Answer | Failed]) -> list[str]:
    return [each.text if isinstance(each, Answer) else each.reason for each in found]


def upper(asked: Asked) -> Reply:
    return completion(asked.prompt.upper())


@pytest.fixture
def fake() -> FakeTime:
    return FakeTime()


def one_by_one(**more: int) -> Pace:
    return Pace(parallel=1, **more)


def test_answers_come_in_the_order_of_requests() -> None:
    first_may_end = Event()

    def slow_first(asked: Asked) -> Reply:
        if asked.prompt == "q0":
            return Reply(upper(asked).body, until=first_may_end)
        if asked.prompt == "q7":
            first_may_end.set()
        return upper(asked)

    with StubServer(slow_first) as stub, Client(stub.url) as client:
        assert texts(list(client.answers(ask(f"q{at}") for at in range(8)))) == [f"Q{at}" for at in range(8)]


def test_what_is_sent_and_what_comes_back() -> None:
    tokens = {"4": math.log(0.6), " 4": math.log(0.3)}
    with (
        StubServer(lambda _: completion("4", tokens=tokens, finish="length", usage=(7, 1), model="big-2")) as stub,
        Client(stub.url, api_key=KEY) as client,
    ):
        (found,) = client.answers([ask("grade", max_tokens=1, top_logprobs=20)])
        usage = client.usage
    assert found == Answer(
        text="4",
        finish_reason="length",
        top_logprobs=tuple(tokens.items()),
        model="big-2",
        prompt_tokens=7,
        completion_tokens=1,
    )
    assert stub.asked[0].body == {
        "model": "m",
        "messages": [{"role": "user", "content": "grade"}],
        "max_tokens": 1,
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 20,
    }
    assert stub.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cost) == (1, 7, 1, None)


def test_a_second_run_makes_no_calls_and_gives_the_same(tmp_path: Path) -> None:
    requests = [ask("a"), ask("b"), ask("a", sample=1), *[ask("a")] * 20]
    found, calls = [], list[int]()
    for _ in range(2):
        with (
            StubServer() as stub,
            AnswerCache(tmp_path / "cache") as cache,
            Client(stub.url, cache=cache) as client,
        ):
            found.append(list(client.answers(requests)))
            calls.append(len(stub.asked))
            assert client.usage.cached == len(requests) - calls[-1]
    assert found[0] == found[1]
    assert calls == [3, 0]
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["answers.sqlite"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (error(429, "slow down"), "127.0.0.1 answers 429: slow down"),
        (error(503, "busy"), "127.0.0.1 answers 503: busy"),
        (Reply(b"<html>Bad gateway</html>", 502), "127.0.0.1 answers 502: <html>Bad gateway</html>"),
        (Reply(b'{"choices": [', 200), "the answer is no chat completion"),
        (Reply(b"I think a four.", 200, {"Content-Type": "application/json"}), "the answer is no chat completion"),
        (Reply(b'{"choices": []}'), "the answer is no chat completion: it has no choices"),
        (error(200, "no credits"), "the answer is an error: no credits"),
        (Reply(b'{"choices": [{"message": {"content": 4}}]}'), "Expected `str | array | null`, got `int`"),
        (Reply(b"", cut=True), "the connection was cut"),
    ],
)
def test_a_failed_call_is_repeated_then_fails_alone(bad: Reply, reason: str, fake: FakeTime) -> None:
    """The second text fails always, the third but twice."""

    def answering(asked: Asked) -> Reply:
        if asked.prompt == "never" or (asked.prompt == "twice" and asked.before < 2):
            return bad
        return upper(asked)

    with (
        StubServer(answering) as stub,
        Client(stub.url, pace=one_by_one(retries=3), timing=fake.timing) as client,
    ):
        found = list(client.answers(map(ask, ("first", "never", "twice"))))
    assert [type(each) for each in found] == [Answer, Failed, Answer]
    assert texts(found)[::2] == ["FIRST", "TWICE"]
    assert reason in texts(found)[1]
    assert fake.slept == [1, 2, 4, 1, 2]
    assert [asked.before for asked in stub.asked] == [0, 0, 1, 2, 3, 0, 1, 2]


def test_an_answer_that_takes_too_long_is_asked_for_again(fake: FakeTime) -> None:
    def answering(asked: Asked) -> Reply:
        return Reply(upper(asked).body, delay=0.0 if asked.before else 0.5)

    with StubServer(answering) as stub, Client(stub.url, pace=Pace(timeout=0.1), timing=fake.timing) as client:
        assert texts(list(client.answers([ask("a")]))) == ["A"]
    assert len(stub.asked) == 2
    assert fake.slept == [1]


@pytest.mark.parametrize("part", ["head", "body"])
def test_an_answer_that_never_ends_takes_too_long(part: str, fake: FakeTime) -> None:
    """Each byte comes in time, all of them do not: the thread that sends them must see that nobody reads."""

    def answering(asked: Asked) -> Reply:
        return Reply(upper(asked).body, drip=part == "body", drip_head=part == "head")

    with (
        StubServer(answering) as stub,
        Client(stub.url, pace=Pace(timeout=0.2, retries=0), timing=fake.timing) as client,
    ):
        what = "complete answer" if part == "body" else "answer"
        assert list(client.answers([ask("a")])) == [Failed(f"no {what} within 0.2 s")]
        assert not stub.answered


def test_a_server_that_drips_is_not_waited_for_when_the_run_is_given_up() -> None:
    with StubServer(lambda asked: Reply(upper(asked).body, drip_head=True)) as stub:
        with Client(stub.url, pace=Pace(timeout=600)) as client:

            def read() -> None:
                with suppress(CancelledError):
                    list(client.answers([ask("a")]))

            reading = Thread(target=read, daemon=True)
            reading.start()
            while not stub.asked:
                time.sleep(0.01)
        reading.join(10)
        assert not reading.is_alive()
        assert not stub.answered


def test_a_name_that_is_looked_up_in_vain_holds_neither_the_call_nor_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    answers, threads = Event(), list[Thread]()

    def slow(*_: object, **__: object) -> list[object]:
        threads.append(current_thread())
        answers.wait(60)
        return []

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", slow)
        pace = Pace(timeout=0.05, retries=0)
        with pytest.raises(PostilError, match=r"no connection within 0\.05 s"), Client("http://a.b", pace=pace) as one:
            list(one.answers([ask("a")]))
    assert [(thread.daemon, thread.is_alive()) for thread in threads] == [(True, True)]
    answers.set()


def test_the_client_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(MissingExtra, match=r"an endpoint needs an optional package: pip install 'postil\[serve\]'"):
        Client("http://127.0.0.1:1/v1")


def test_the_server_says_how_long_to_wait(fake: FakeTime) -> None:
    said: list[str] = []

    def answering(asked: Asked) -> Reply:
        dates = {"Date": "Mon, 23 Nov 2026 13:00:00 GMT", "Retry-After": "Mon, 23 Nov 2026 13:00:20 GMT"}
        waits = [{"Retry-After": "7"}, dates]
        return error(429, "no", headers=waits[asked.before]) if asked.before < 2 else upper(asked)

    with StubServer(answering) as stub, Client(stub.url, timing=fake.timing, on_message=said.append) as client:
        assert texts(list(client.answers([ask("a")]))) == ["A"]
    assert fake.slept == [7, 20]
    assert said == ["127.0.0.1 answers 429: no; waiting 20 s"]


def test_a_wait_of_hours_ends_the_run(fake: FakeTime) -> None:
    reply = error(429, "daily quota", headers={"Retry-After": "7200"})
    with (
        StubServer(lambda _: reply) as stub,
        Client(stub.url, timing=fake.timing) as client,
        pytest.raises(PostilError, match="daily quota; it asks to wait 7,200 s: run the same command again later"),
    ):
        list(client.answers([ask("a")]))


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (error(401, "no key"), "127.0.0.1 answers 401: no key; put a key of access into POSTIL_API_KEY"),
        (error(404, "no model m"), "127.0.0.1 answers 404: no model m; check the model's name and the address"),
        (error(400, "top_logprobs?"), "127.0.0.1 answers 400: top_logprobs?"),
        (Reply(b"", 302, {"Location": "http://elsewhere.org/"}), "127.0.0.1 redirects to http://elsewhere.org/"),
        (
            error(400, "the request exceeds the available context size", n_prompt_tokens=5120, n_ctx=4096),
            r"too long for the model \(about 5,120 tokens\): the request exceeds .* size; take fewer words",
        ),
        (
            error(400, "This model's maximum context length is 4097 tokens, you asked for 5000"),
            r"too long for the model: This model's maximum .* 5000; take fewer words",
        ),
        (Reply(b"", 413), r"too long for the model \(about 1 tokens\): status 413; take fewer words"),
    ],
)
def test_a_refusal_ends_the_run(reply: Reply, message: str) -> None:
    with (
        StubServer(lambda _: reply) as stub,
        Client(stub.url, shorten="take fewer words", pace=one_by_one()) as client,
        pytest.raises(PostilError, match=message),
    ):
        list(client.answers(map(ask, "abc")))
    assert len(stub.asked) == 1


def test_calls_on_their_way_are_kept_when_another_is_refused(tmp_path: Path) -> None:
    refused = Event()

    def answering(asked: Asked) -> Reply:
        if asked.prompt == "bad":
            refused.set()
            return error(400, "no")
        return Reply(upper(asked).body, until=refused)

    with StubServer(answering) as stub, AnswerCache(tmp_path) as cache:
        with Client(stub.url, cache=cache, pace=Pace(parallel=2)) as client, pytest.raises(PostilError, match="400"):
            list(client.answers([ask("paid"), ask("bad"), *(ask(f"later {at}") for at in range(200))]))
        kept = cache.get(ask("paid").key())
        assert kept is not None
        assert kept.text == "PAID"
    assert len(stub.asked) < 100  # some may begin before the refusal has arrived


def test_an_endpoint_that_always_fails_is_given_up(fake: FakeTime) -> None:
    with (
        StubServer(lambda _: error(500, "broken")) as stub,
        Client(stub.url, pace=one_by_one(retries=1), timing=fake.timing) as client,
        pytest.raises(PostilError, match=r"10 requests in a row failed, the last one because .* 500: broken"),
    ):
        list(client.answers(ask(str(at)) for at in range(1000)))
    assert len(stub.asked) == 20


def test_nobody_listens(fake: FakeTime) -> None:
    with StubServer() as stub:
        url = stub.url
    said: list[str] = []
    with (
        Client(url, pace=one_by_one(retries=3), timing=fake.timing, on_message=said.append) as client,
        pytest.raises(PostilError, match=r"^127\.0\.0\.1 cannot be reached"),
    ):
        list(client.answers(ask(str(at)) for at in range(10)))
    assert fake.slept == [1, 2, 4]
    assert len(said) == 1
    assert said[0].endswith("trying again")


def test_an_endpoint_that_goes_away_fails_what_it_does_not_answer(fake: FakeTime) -> None:
    with StubServer(lambda _: Reply(completion("A").body, headers={"Connection": "close"})) as stub:
        client = Client(stub.url, pace=one_by_one(retries=1), timing=fake.timing)
        assert texts(list(client.answers([ask("a")]))) == ["A"]
    with client:
        found = texts(list(client.answers([ask("a"), ask("b")])))
    assert found[0] == "A"
    assert found[1].startswith("127.0.0.1 cannot be reached")


def compressed(data: bytes, **headers: str) -> Reply:
    return Reply(gzip.compress(data), headers={"Content-Encoding": "gzip", **headers})


@pytest.mark.parametrize("reply", [Reply(b" " * (9 << 20)), compressed(b" " * (9 << 20))])
def test_a_huge_answer_is_refused_without_a_retry(reply: Reply) -> None:
    with StubServer(lambda _: reply) as stub, Client(stub.url) as client:
        (found,) = client.answers([ask("a")])
    assert found == Failed("the answer of 127.0.0.1 is larger than 8 MiB")
    assert len(stub.asked) == 1


def test_a_compressed_answer_is_read_once_and_no_deeper() -> None:
    whole = completion("4").body
    for reply, expected in ((compressed(whole), "4"), (compressed(gzip.compress(whole)), "no chat completion")):
        with StubServer(lambda _, reply=reply: reply) as stub, Client(stub.url, pace=Pace(retries=0)) as client:
            (found,) = client.answers([ask("a")])
        assert expected in texts([found])[0]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("model", [5, ["m"], {}]),
        ("usage", [[1, 2], "10", {"prompt_tokens": "10"}, {"prompt_tokens": -5}, {"completion_tokens": 10**30}]),
        ("finish_reason", [3, ["stop"]]),
        ("logprobs", ["x", [], {"content": "4"}, {"content": [{"top_logprobs": [{"token": "4", "logprob": None}]}]}]),
    ],
)
def test_an_odd_part_beside_the_text_counts_as_not_said(name: str, values: list[object]) -> None:
    for value in values:
        whole = json.loads(completion("4").body)
        (whole["choices"][0] if name in {"finish_reason", "logprobs"} else whole)[name] = value
        found = read_answer(json.dumps(whole).encode())
        missing = Answer(text="4", finish_reason="stop", model="stub-1", prompt_tokens=10, completion_tokens=2)
        empty = {"usage": {"prompt_tokens": None, "completion_tokens": None}, "logprobs": {"top_logprobs": ()}}
        assert found == msgspec.structs.replace(missing, **empty.get(name, {name: ""}))


def test_the_name_of_a_model_cannot_forge_a_signature() -> None:
    named = read_answer(completion("4", model="m|seed:1\n\x1b[2J" + "x" * 1000).body).model
    assert named == "m_seed:1__[2J" + "x" * 187


@pytest.mark.parametrize("status", [200, 503])
def test_deep_answers_are_no_answers(status: int, fake: FakeTime) -> None:
    deep = b'{"error": {"a": ' + b"[" * 100_000
    with StubServer(lambda _: Reply(deep, status)) as stub, Client(stub.url, timing=fake.timing) as client:
        (found,) = client.answers([ask("a")])
    assert isinstance(found, Failed)


def test_half_characters_cannot_be_sent() -> None:
    with pytest.raises(InvalidInput, match="cannot be sent: expected Unicode"):
        ask("a \ud800").key()


def test_the_key_goes_nowhere_but_to_the_endpoint(tmp_path: Path, fake: FakeTime) -> None:
    def answering(asked: Asked) -> Reply:
        sent = asked.headers["Authorization"]
        if asked.prompt == "answer":
            return Reply(completion(f"your key is {sent}", model=sent).body.replace(b"/", rb"\/"))
        return error(500, f"your key is {sent}") if asked.prompt == "fail" else error(400, f"bad {sent}")

    with StubServer(answering) as stub, AnswerCache(tmp_path) as cache:
        client = Client(stub.url, cache=cache, api_key=KEY, pace=one_by_one(retries=1), timing=fake.timing)
        with client:
            stream = client.answers(map(ask, ("answer", "fail", "refuse")))
            found = [next(stream), next(stream)]
            with pytest.raises(PostilError, match=r"bad Bearer \*\*\*") as refused:
                next(stream)
        assert texts(found) == ["your key is Bearer ***", "127.0.0.1 answers 500: your key is Bearer ***"]
        assert KEY not in repr(client) + str(refused.value)
    assert KEY.encode() not in (tmp_path / "answers.sqlite").read_bytes()


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("localhost:8080/v1", "expected an http or https address"),
        ("ftp://a/v1", "expected an http or https address"),
        ("http://[::1/v1", "expected an http or https address"),
        ("http://a:b/v1", "expected an http or https address"),
        ("http://ana:secret@a/v1", "without user, password, query"),
        ("http://a/v1?key=secret", "without user, password, query"),
        ("http://\xfc..com/v1", "expected an http or https address"),
    ],
)
def test_addresses(url: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as raised:
        Client(url)
    assert "secret" not in str(raised.value)


def test_a_key_that_no_header_can_hold_is_not_repeated() -> None:
    with pytest.raises(UsageError, match="POSTIL_API_KEY: expected letters") as raised:
        Client("http://a/v1", api_key="secret\nX: 1")
    assert "secret" not in str(raised.value)


def test_the_rate_spaces_calls(fake: FakeTime) -> None:
    pace = Pace(rate=Rate.parse("30/min"), parallel=1)
    with StubServer() as stub, Client(stub.url, pace=pace, timing=fake.timing) as client:
        list(client.answers(map(ask, "abcd")))
        assert client.estimated_seconds(3) == 6
    assert fake.slept == [2, 2, 2]


@pytest.mark.parametrize("text", ["60", "60/day", "0/min", "x/min", "/min", "nan/s", "inf/s", "-1/s"])
def test_no_rate(text: str) -> None:
    with pytest.raises(UsageError, match="rate: expected calls per time, such as 60/min"):
        Rate.parse(text)


@pytest.mark.parametrize("text", ["1", "1:", "a:b", "-1:2", "1:2:3", "nan:1", "inf:1"])
def test_no_price(text: str) -> None:
    with pytest.raises(UsageError, match="price: expected IN:OUT per million tokens"):
        Price.parse(text)


def test_numbers_out_of_range() -> None:
    for make, message in (
        (lambda: Pace(parallel=0), "parallel: expected at least 1, got 0"),
        (lambda: Pace(retries=-1), "retries: expected at least 0, got -1"),
        (lambda: Pace(timeout=0), "timeout: expected more than 0 seconds, got 0"),
        (lambda: Limits(calls=-1), "limit_calls: expected at least 0, got -1"),
        (lambda: Limits(cost=math.nan, price=Price(1, 1)), "limit_cost: expected 0 or more, got nan"),
        (lambda: Limits(cost=1), "needs the price of tokens"),
    ):
        with pytest.raises(UsageError, match=message):
            make()


@pytest.mark.parametrize("parallel", [1, 4])
def test_the_limit_of_calls(parallel: int, tmp_path: Path) -> None:
    with StubServer(upper) as stub, AnswerCache(tmp_path) as cache:
        for calls in (3, 6, 7):
            found: list[Answer | Failed] = []
            message = ""
            with Client(stub.url, cache=cache, limits=Limits(calls=3), pace=Pace(parallel=parallel)) as client:
                try:
                    for answer in client.answers(map(ask, "abcdefg")):
                        found.append(answer)  # noqa: PERF402 - what came before the limit counts
                except LimitReached as error:
                    message = str(error)
            assert len(stub.asked) == calls
            assert "".join(texts(found)) == "ABCDEFG"[:calls]
            kept = "the limit of 3 calls is reached; answers so far are kept, and the same command goes on"
            assert message == ("" if calls == 7 else kept)


def test_the_limit_of_cost_counts_usage_not_estimates() -> None:
    """Estimated at 4 and used at 1: of 10, seven calls are made, since the eighth might cost 4."""
    limits = Limits(cost=10, price=Price(0, 1_000_000))
    with (
        StubServer(lambda _: completion("x", usage=(5, 1))) as stub,
        Client(stub.url, limits=limits) as client,
    ):
        estimate = client.estimate(ask(str(at), max_tokens=4) for at in range(9))
        with pytest.raises(LimitReached, match="the limit of cost, 10, allows no further call; 7 is spent"):
            list(client.answers(ask(str(at), max_tokens=4) for at in range(9)))
    assert (estimate.calls, estimate.completion_tokens, estimate.cost) == (9, 36, 36)
    assert len(stub.asked) == 7
    assert client.usage.cost == 7


@pytest.mark.parametrize("parallel", [1, 4])
def test_answers_dearer_than_estimated_end_the_run_at_the_limit(parallel: int) -> None:
    """Estimated at 1 and used at 10: of what waits when the first answers come, nothing begins beyond the limit."""
    limits = Limits(cost=60, price=Price(1_000_000, 0))
    with (
        StubServer(lambda _: completion("x", usage=(10, 1))) as stub,
        Client(stub.url, limits=limits, pace=Pace(parallel=parallel)) as client,
        pytest.raises(LimitReached, match="the limit of cost, 60, allows no further call"),
    ):
        list(client.answers(ask(str(at)) for at in range(99)))
    assert len(stub.asked) <= 6 + parallel - 1


def test_broken_answers_cost_what_was_estimated(fake: FakeTime) -> None:
    limits = Limits(cost=10, price=Price(0, 1_000_000))
    with (
        StubServer(lambda _: Reply(b"{")) as stub,
        Client(stub.url, limits=limits, timing=fake.timing) as client,
    ):
        (found,) = client.answers([ask("a", max_tokens=4)])
    assert isinstance(found, Failed)
    assert len(stub.asked) == 2
    assert client.usage.cost == 8


def test_an_estimate_makes_no_call_and_knows_the_cache() -> None:
    limits = Limits(price=Price(2, 10))
    with StubServer() as stub, Client(stub.url, limits=limits, pace=Pace(parallel=4)) as client:
        list(client.answers([ask("a")]))
        found = client.estimate([ask("a"), ask("b" * 35), ask("b" * 35), ask("c" * 36, max_tokens=2)])
    assert len(stub.asked) == 1
    assert (found.calls, found.cached, found.prompt_tokens, found.completion_tokens) == (2, 2, 10 + 11, 8 + 2)
    assert found.cost == pytest.approx((21 * 2 + 10 * 10) / 1e6)
    assert client.estimated_seconds(2) == 0.5


def test_tokens_are_counted_by_a_function_or_by_the_server() -> None:
    requests = [ask("one two three"), ask("four")]
    with StubServer(tokenizes=True) as stub:
        with Client(stub.url, count_tokens=len) as client:
            assert client.estimate(requests).prompt_tokens == 17
        with Client(stub.url, count_tokens="server") as client:
            assert client.estimate(requests).prompt_tokens == 4
            list(client.answers(requests))
    assert len(stub.asked) == 2


def test_a_server_that_does_not_count_tokens() -> None:
    with (
        StubServer() as stub,
        Client(stub.url, count_tokens="server") as client,
        pytest.raises(PostilError, match=r"127.0.0.1 does not count tokens: http.*/tokenize answers 404 without a num"),
    ):
        client.estimate([ask("a")])
    with (
        Client(stub.url, count_tokens="server") as client,
        pytest.raises(PostilError, match=r"127.0.0.1 does not count tokens: .*refused"),
    ):
        list(client.answers([ask("a")]))


def test_another_host_is_told_once_before_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of the machine stands for another host: it is resolved to loopback, which a name alone does not say."""
    with StubServer() as stub:
        look_up = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", lambda _, *more, **named: look_up("127.0.0.1", *more, **named))
        said: list[str] = []
        url = stub.url.replace("127.0.0.1", "judge.example")
        with Client(url, pace=Pace(rate=Rate(1000, "s")), on_message=said.append) as client:
            assert said == []
            assert not any(isinstance(each, Failed) for each in client.answers(map(ask, "abc")))
    assert said == ["texts are sent to judge.example, not encrypted"]


def test_stopping_early_sends_no_more() -> None:
    held = Event()
    with (
        StubServer(lambda asked: Reply(upper(asked).body, until=None if asked.prompt == "0" else held)) as stub,
        Client(stub.url, pace=Pace(parallel=2)) as client,
    ):
        stream = client.answers(ask(str(at)) for at in range(1000))
        next(stream)
        held.set()
        stream.close()
    assert len(stub.asked) < 8


CHILD = """
import sys
from postil.endpoint.cache import AnswerCache
from postil.endpoint.chat import Message, Request
from postil.endpoint.client import Client, Pace
url, folder, parallel = sys.argv[1:]
requests = [Request(model="m", messages=(Message("user", f"text {at}"),), max_tokens=8) for at in range(30)]
with AnswerCache(folder) as cache, Client(url, cache=cache, pace=Pace(parallel=int(parallel))) as client:
    for answer in client.answers(requests):
        print(answer.text, flush=True)
"""


@pytest.mark.parametrize(("parallel", "how"), [(1, signal.SIGKILL), (3, signal.SIGINT)])
def test_a_killed_run_asks_only_for_what_is_missing(parallel: int, how: signal.Signals, tmp_path: Path) -> None:
    killed = Event()

    def answering(asked: Asked) -> Reply:
        """The twelfth text and those after it are held until the first process has gone."""
        late = int(asked.prompt.split()[1]) >= 12
        return Reply(upper(asked).body, until=killed if late else None, cut=late and not killed.is_set())

    arguments = [sys.executable, "-c", CHILD]
    with StubServer(answering) as stub:
        arguments += [stub.url, str(tmp_path / "cache"), str(parallel)]
        child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603 - our own code
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(12)]
        end = time.monotonic() + 10
        while len(stub.asked) < 12 + parallel and time.monotonic() < end:
            time.sleep(0.01)
        child.send_signal(how)
        child.communicate()
        killed.set()
        again = subprocess.run(arguments, capture_output=True, check=True)  # noqa: S603 - our own code
        assert again.stdout.splitlines(keepends=True)[:12] == lines
        assert again.stdout.split() == [word for at in range(30) for word in (b"TEXT", str(at).encode())]
    assert len(stub.answered) == 30
    assert set(stub.answered.values()) == {1}


def test_known_answers_are_those_of_the_cache() -> None:
    with StubServer(upper) as stub, Client(stub.url) as client:
        (answer,) = client.answers([ask("a")])
        assert client.known(ask("a")) == answer
        assert client.known(ask("b")) is None
        assert len(stub.asked) == 1
