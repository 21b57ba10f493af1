"""Endpoints that refuse options, filter requests, or have no quota left: as OpenAI, Azure, vLLM and others say it."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from endpoint_stub import Reply, StubServer, completion, error
from postil.endpoint.cache import AnswerCache
from postil.endpoint.chat import (
    SPARED,
    Answer,
    Message,
    Request,
    read_answer,
    read_error,
    read_extra,
    read_token_count,
    without_thoughts,
)
from postil.endpoint.client import Client, Pace, Timing
from postil.errors import PostilError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from endpoint_stub import Answering, Asked


ALL = frozenset(SPARED)


def body(status: int, whole: object) -> Reply:
    return Reply(json.dumps(whole).encode(), status)


def refuses(message: str, param: str | None = None, code: object = None, kind: str = "invalid_request_error") -> Reply:
    return body(400, {"error": {"message": message, "type": kind, "param": param, "code": code}})


def openai(name: str, why: str = "is not supported with this model.") -> Reply:
    return refuses(f"Unsupported parameter: '{name}' {why}", name, "unsupported_parameter")


TOKENS = openai("max_tokens", "is not supported with this model. Use 'max_completion_tokens' instead.")
ONLY_ONE = refuses(
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
    "temperature",
    "unsupported_value",
)
EXTRA = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 20181}
REFUSALS = [
    ("max_tokens", TOKENS),
    ("max_tokens", body(400, {"error": {"message": read_error(TOKENS.body).message, "code": "invalid_request_body"}})),
    ("temperature", ONLY_ONE),
    ("temperature", openai("temperature")),
    ("temperature", refuses("`temperature` may only be set to 1 when thinking is enabled. Please consult our docs")),
    ("temperature", refuses("invalid temperature: only 1 is allowed for this model")),
    ("temperature", refuses("`temperature` is deprecated for this model.")),
    ("logprobs", openai("logprobs")),
    ("logprobs", body(403, {"error": {"message": "You are not allowed to request logprobs from this model."}})),
    ("logprobs", refuses("`logprobs` is not supported with this model")),
    ("logprobs", body(400, [{"error": {"code": 400, "message": "Logprobs is not enabled for models/gemini-2.5-pro"}}])),
    ("logprobs", body(400, {"object": "error", "message": "Cannot request more than 5 logprobs.", "code": 400})),
    ("logprobs", refuses("5 is greater than the maximum of 1 - 'logprobs'", "logprobs")),
    ("logprobs", refuses("Invalid value: must be at most 5, got 20", "top_logprobs", "integer_above_max_value")),
    ("logprobs", body(400, {"detail": "Invalid top_logprobs and logprobs value"})),
    ("logprobs", refuses("Gaudi doesn't support logprobs. Please remove 'logprobs'/'top_logprobs' from your request")),
    ("seed", body(422, {"object": "error", "message": {"detail": [EXTRA]}, "type": "invalid_request_error"})),
    ("seed", body(422, {"detail": [EXTRA]})),
    ("seed", body(400, {"object": "error", "message": str([EXTRA]), "type": "BadRequestError", "code": 400})),
    ("seed", refuses('Invalid JSON payload received. Unknown name "seed": Cannot find field.')),
    (
        "temperature",
        refuses("UnsupportedParamsError: it doesn't take temperature=0.0. Only temperature=1 is supported."),
    ),
    ("temperature", refuses("gpt-5 models don't support temperature=0.0.")),
    ("temperature", refuses("The temperature parameter cannot be set for this model")),
    ("temperature", refuses("temperature must be 1 for this model")),
    ("temperature", refuses("模型不支持 temperature 参数")),
    ("seed", body(400, {"message": "invalid request: unknown field 'seed'"})),
    ("seed", body(422, {"message": "parameter 'seed' is not a valid field"})),
    ("seed", refuses("Unknown parameter: 'seed'.")),
    (
        "temperature",
        body(400, {"error": {"message": "Provider returned error", "metadata": {"raw": ONLY_ONE.body.decode()}}}),
    ),
]
NONE_OF_THESE = [
    refuses("max_tokens is too large: 8000. This model supports at most 4096 completion tokens", "max_tokens"),
    refuses("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"),
    refuses("Range of temperature should be [0.0, 2.0)", "temperature"),
    refuses("temperature: Input should be less than or equal to 1"),
    refuses("temperature must be 1 or less"),
    refuses("seed must be 1 or more"),
    refuses("The model `m` does not exist", None, "model_not_found"),
    refuses("messages with role 'system' are not supported", "messages[0].role", "unsupported_value"),
    body(
        400, {"detail": [{"type": "missing", "loc": ["body", "user"], "msg": "Field required", "input": {"seed": 1}}]}
    ),
    Reply(b"Bad Request", 400),
]


def request(*, top_logprobs: int = 0, extra: str = "", sample: int = 0) -> Request:
    messages = (Message("user", "Grade it."),)
    return Request(
        model="m", messages=messages, max_tokens=8, seed=1, top_logprobs=top_logprobs, extra=extra, sample=sample
    )


@pytest.mark.parametrize(("option", "reply"), REFUSALS)
def test_the_option_that_a_server_refuses(option: str, reply: Reply) -> None:
    said = read_error(reply.body)
    assert said.refused(ALL) == option
    assert said.refused(ALL - {option}) is None
    assert said.message


@pytest.mark.parametrize("reply", NONE_OF_THESE)
def test_values_out_of_range_are_no_refusals(reply: Reply) -> None:
    assert read_error(reply.body).refused(ALL) is None


def strict(asked: Asked) -> Reply:
    """A model that thinks, at OpenAI: one complaint at a time."""
    for name, reply in (("max_tokens", TOKENS), ("temperature", ONLY_ONE), ("logprobs", openai("logprobs"))):
        if name in asked.body:
            return reply
    return completion("4")


def run(url: str, cache: AnswerCache | None, *requests: Request, said: list[str] | None = None) -> list[object]:
    messages: list[str] = [] if said is None else said
    with Client(url, cache=cache, pace=Pace(parallel=1), on_message=messages.append) as client:
        return list(client.answers(requests))


def test_what_is_refused_is_left_out_and_remembered() -> None:
    said: list[str] = []
    with StubServer(strict) as stub:
        found = run(stub.url, None, request(top_logprobs=20), *(request(sample=at) for at in range(1, 6)), said=said)
    assert [each.text for each in found if isinstance(each, Answer)] == ["4"] * 6
    assert found[0].not_sent == ("logprobs", "max_tokens", "temperature")  # type: ignore[attr-defined]
    assert found[1].not_sent == ("max_tokens", "temperature")  # type: ignore[attr-defined]
    assert len(stub.asked) == 3 + 6
    assert stub.asked[-1].body.keys() == {"model", "messages", "max_completion_tokens", "seed"}
    (told,) = said
    assert told == (
        "127.0.0.1 refuses logprobs, max_tokens, temperature: "
        "requests have max_completion_tokens instead, and no logprobs and no temperature"
    )


def test_answers_are_kept_by_what_was_sent(tmp_path: Path) -> None:
    requests = [request(top_logprobs=20), request(sample=1), request(sample=2)]
    with StubServer(strict) as stub, AnswerCache(tmp_path) as cache:
        first = run(stub.url, cache, *requests)
        asked = len(stub.asked)
        said: list[str] = []
        assert run(stub.url, cache, *requests, said=said) == first
        assert len(stub.asked) == asked
        assert "refuses logprobs, max_tokens, temperature" in said[0]
        assert cache.get(requests[1].key()) is None
        assert cache.get(requests[1].key({"max_tokens", "temperature"})) == first[1]
    with StubServer() as plain, AnswerCache(tmp_path / "other") as cache:
        run(plain.url, cache, *requests)
        assert cache.get(requests[1].key()) is not None


def test_an_answer_of_an_earlier_run_is_found_when_a_late_refusal_tells(tmp_path: Path) -> None:
    """The refusal comes behind so many answers that no other form was looked up."""

    def late(asked: Asked) -> Reply:
        return completion("4") if asked.body.get("temperature", 0.0) == 0.0 else ONLY_ONE

    sampled = replace(request(), temperature=0.7)
    with StubServer(late) as stub, AnswerCache(tmp_path) as cache:
        (first,) = run(stub.url, cache, sampled)
        asked = len(stub.asked)
        assert run(stub.url, cache, *(request(sample=at) for at in range(1, 20)), sampled)[-1] == first
        assert len(stub.asked) == asked + 19 + 1


def test_a_refusal_that_does_not_help_ends_the_run_and_is_forgotten() -> None:
    with StubServer(lambda _: ONLY_ONE) as stub, pytest.raises(PostilError, match="does not support 0 with this model"):
        run(stub.url, None, request())
    assert ["temperature" in asked.body for asked in stub.asked] == [True, False]


def test_no_fewer_tokens_are_asked_for_than_the_endpoint_takes(tmp_path: Path) -> None:
    """As services that answer by another interface have it."""

    def answering(asked: Asked) -> Reply:
        said = "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got {} instead."
        size = asked.body["max_tokens"]
        assert isinstance(size, int)
        few = refuses(said.format(size), "max_output_tokens", "integer_below_min_value")
        return few if size < 16 else completion("4", tokens={"4": -0.1})

    requests = [replace(request(top_logprobs=20, sample=at), max_tokens=1) for at in range(5)]
    with StubServer(answering) as stub, AnswerCache(tmp_path) as cache:
        found = run(stub.url, cache, *requests)
        assert [each.text for each in found if isinstance(each, Answer)] == ["4"] * 5
        assert [asked.body["max_tokens"] for asked in stub.asked] == [1, *[16] * 5]
        assert cache.get(replace(requests[0], max_tokens=16).key()) == found[0]
        assert run(stub.url, cache, *requests) == found
        assert len(stub.asked) == 7


def test_own_fields_are_sent_and_are_not_taken_back() -> None:
    extra = '{"temperature": 0.3, "reasoning_effort": "low", "max_completion_tokens": 900}'
    with StubServer(strict) as stub, pytest.raises(PostilError, match="'temperature' does not support 0"):
        run(stub.url, None, request(extra=extra))
    (asked,) = stub.asked
    assert asked.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Grade it."}],
        "seed": 1,
        "temperature": 0.3,
        "reasoning_effort": "low",
        "max_completion_tokens": 900,
    }
    spelled = json.dumps(json.loads(extra), indent=2)
    assert request(extra=spelled).key() == request(extra=extra).key() != request().key()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "expected a JSON object"),
        ("{", "expected a JSON object"),
        ("{'a': 1}", "expected a JSON object"),
        ('{"a": NaN}', "expected a JSON object"),
        ("[" * 100_000, "expected a JSON object"),
        ('{"a": "\ud800"}', "expected a JSON object"),
        ('{"model": "other"}', "model cannot be changed"),
        ('{"stream": false, "messages": []}', "messages, stream cannot be changed"),
    ],
)
def test_own_fields_that_make_no_sense(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=f"extra_body: {problem}"):
        read_extra(text)


FILTERED = {
    "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    "type": None,
    "param": "prompt",
    "code": "content_filter",
    "status": 400,
    "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {"filtered": True}}},
}
USED_UP = "Could not finish the message because max_tokens or model output limit was reached. Please try again."


@pytest.mark.parametrize(
    ("reply", "reason"), [(body(400, {"error": FILTERED}), "content_filter"), (refuses(USED_UP), "length")]
)
def test_what_concerns_one_request_does_not_end_the_run(reply: Reply, reason: str, tmp_path: Path) -> None:
    answering: Answering = lambda _: reply if len(stub.asked) == 1 else completion("4")  # noqa: E731
    with StubServer(answering) as stub, AnswerCache(tmp_path) as cache:
        first, second = run(stub.url, cache, request(), request(sample=1))
        assert (first.text, first.finish_reason) == ("", reason)  # type: ignore[attr-defined]
        assert second.text == "4"  # type: ignore[attr-defined]
        assert run(stub.url, cache, request()) == [first]


QUOTA = "You exceeded your current quota, please check your plan and billing details."
EXHAUSTED = [
    ({"message": QUOTA, "type": "insufficient_quota", "param": None, "code": "insufficient_quota"}, QUOTA),
    ({"message": "No.", "type": "insufficient_quota", "code": "credit_balance_exhausted"}, "No"),
    ({"message": "Your account is suspended", "type": "exceeded_current_quota_error"}, "suspended"),
    ({"message": "Billing hard limit has been reached", "code": "billing_hard_limit_reached"}, "hard limit"),
    ({"message": "You have run out of credits"}, "run out"),
    ({"code": "1113", "message": "余额不足或无可用资源包,请充值。"}, "余额不足"),
]
LATER = [
    {"message": "Rate limit reached for requests", "type": "requests", "code": "rate_limit_exceeded"},
    {
        "message": "Rate limit reached on tokens per minute (TPM): Limit 6000. Please try again in 14.5s. Need more "
        "tokens? Upgrade at https://console.groq.com/settings/billing",
        "type": "tokens",
        "code": "rate_limit_exceeded",
    },
    {"message": f"{QUOTA} Please retry in 21.1s.", "code": 429, "status": "RESOURCE_EXHAUSTED"},
    {
        "message": "Requests have exceeded token rate limit of your pricing tier. Please retry after 6 seconds.",
        "code": "429",
    },
]


@pytest.mark.parametrize(("said", "shown"), EXHAUSTED)
def test_an_exhausted_quota_is_final(said: dict[str, object], shown: str) -> None:
    with StubServer(lambda _: body(429, {"error": said})) as stub, pytest.raises(PostilError, match=shown) as raised:
        run(stub.url, None, request(), request(sample=1))
    assert len(stub.asked) == 1
    assert "nothing left" in str(raised.value)


@pytest.mark.parametrize("said", LATER)
def test_a_limit_of_rate_is_waited_for(said: dict[str, object]) -> None:
    slept: list[float] = []
    timing = Timing(clock=lambda: sum(slept), sleep=slept.append, jitter=lambda: 0.5)
    reply = Reply(json.dumps({"error": said}).encode(), 429, {"Retry-After": "3"})
    answering: Answering = lambda asked: completion("4") if asked.before else reply  # noqa: E731
    with StubServer(answering) as stub, Client(stub.url, timing=timing) as client:
        (found,) = client.answers([request()])
    assert isinstance(found, Answer)
    assert slept == [3]


def test_a_server_that_repeats_the_texts_does_not_decide_by_them() -> None:
    said = {"type": "value_error", "loc": ["body", "messages"], "msg": "Bad", "input": "temperature is not supported"}
    assert read_error(json.dumps({"detail": [said]}).encode()).refused(ALL) is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (completion("4"), Answer(text="4", finish_reason="stop")),
        (
            completion(None, finish="length", reasoning_content="Well"),
            Answer(text="", finish_reason="length", thinks=True),
        ),
        (completion("", finish="length", reasoning="Well"), Answer(text="", finish_reason="length", thinks=True)),
        (completion(None, refusal="I can't."), Answer(text="", finish_reason="stop", refusal="I can't.")),
        (
            completion(
                [{"type": "thinking", "thinking": [{"type": "text", "text": "3?"}]}, {"type": "text", "text": "4"}]
            ),
            Answer(text="4", finish_reason="stop", thinks=True),
        ),
        (
            completion([{"type": "refusal", "refusal": "No."}]),
            Answer(text="", finish_reason="stop", refusal="No."),
        ),
        (completion("4", finish="MAX_TOKENS"), Answer(text="4", finish_reason="length")),
        (completion("", finish="SAFETY"), Answer(text="", finish_reason="content_filter")),
    ],
)
def test_texts_thoughts_and_reasons_are_told_apart(reply: Reply, expected: Answer) -> None:
    found = read_answer(reply.body)
    assert (found.text, found.finish_reason, found.refusal, found.thinks) == (
        expected.text,
        expected.finish_reason,
        expected.refusal,
        expected.thinks,
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>\nIt says 3.\n</think>\n\n4", "4"),
        ("It says 3.</think>4", "4"),
        ("<thought>It says 3.</thought>4", "4"),
        ("<think>3", ""),
        ("<think>a</think><think>b</think>4", "4"),
        ("<think>a</think><think>b", ""),
        ("<thinking>3</thinking> 4", "4"),
        ("[THINK]3[/THINK]4", "4"),
        ("◁think▷3◁/think▷4", "4"),
        ("<|channel|>analysis<|message|>3<|end|><|start|>assistant<|channel|>final<|message|>4", "4"),
        ("<|channel|>analysis<|message|>3", ""),
        ("4", "4"),
        ("I think <b>4</b>", "I think <b>4</b>"),
    ],
)
def test_thoughts_before_a_text_are_left_out(text: str, left: str) -> None:
    assert without_thoughts(text) == left


def test_stub_errors_have_a_type_that_is_no_code_of_ours() -> None:
    assert not read_error(error(429, "no").body).exhausted


NAMES = ("choices", "message", "content", "error", "logprobs", "top_logprobs", "token", "logprob", "usage")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
)


@given(VALUES.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60))
def test_whatever_comes_is_read_or_refused(data: bytes) -> None:
    with suppress(ValueError):
        assert isinstance(read_answer(data), Answer)
    said = read_error(data)
    message, tokens = said.message, said.tokens
    assert len(message) <= 300
    assert "\n" not in message
    assert tokens is None or isinstance(tokens, int)
    count = read_token_count(data)
    assert count is None or count >= 0


@pytest.mark.parametrize("head", [b"[", b'{"a":', b'{"error":', b'{"choices":', b'{"tokens":'])
def test_deep_nesting_is_no_answer(head: bytes) -> None:
    data = head + b"[" * 100_000
    with pytest.raises(ValueError, match="the answer is no chat completion"):
        read_answer(data)
    assert len(read_error(data).message) <= 300
    assert read_token_count(data) is None


@pytest.mark.parametrize("tokens", [-1, 10**30])
def test_numbers_of_tokens_that_cannot_be_are_not_said(tokens: int) -> None:
    body = {"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": tokens, "completion_tokens": 3}}
    found = read_answer(json.dumps(body).encode())
    assert (found.prompt_tokens, found.completion_tokens) == (None, 3)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"error": {"message": "a\\nb", "n_prompt_tokens": 9}}', ("a b", 9)),
        ('{"error": "text"}', ("text", None)),
        ('{"detail": [{"loc": ["body"]}]}', ('[{"loc": ["body"]}]', None)),
        ('{"message": "x"}', ("x", None)),
        ('{"other": 1}', ("", None)),
        ("", ("", None)),
        ("x" * 999, ("x" * 299 + "…", None)),
    ],
)
def test_messages_of_servers(body: str, message: tuple[str, int | None]) -> None:
    found = read_error(body.encode())
    assert (found.message, found.tokens) == message
