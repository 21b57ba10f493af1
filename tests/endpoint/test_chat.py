from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.endpoint.chat import Answer, read_answer, read_error, read_token_count

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
