"""Requests to a chat endpoint, and its answers."""

from __future__ import annotations

import hashlib
import math
import re
from typing import TYPE_CHECKING, Final, Literal, TypeVar

import msgspec

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Answer", "Failed", "Message", "Request", "read_answer", "read_error", "read_token_count"]

T = TypeVar("T")

CHARACTERS_PER_TOKEN: Final = 3.5
MOST_TOKENS: Final = 10**9
"""Largest number of tokens that is believed."""
LONGEST_NAME: Final = 200
"""Largest number of characters of a model's name in an answer."""
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""Errors of decoding; nested deeply enough, JSON ends in the last."""
_NULL: Final = msgspec.Raw(b"null")
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f|]")


class Message(msgspec.Struct, frozen=True):
    """A message of a chat.

    Args:
        role: Its author.
        content: Its text.
    """

    role: Literal["system", "user", "assistant"]
    content: str


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request for one answer.

    Args:
        model: The endpoint's name of the model.
        messages: The chat so far.
        max_tokens: Maximum number of tokens of the answer.
        temperature: Sampling temperature; 0 takes the most probable token.
        seed: Seed of sampling; None leaves it to the endpoint.
        top_logprobs: Number of most probable first tokens to ask for; 0 asks for none.
        sample: Number of the sample, to ask for several answers to equal requests; it is not sent.

    >>> first = Request(model="m", messages=(Message("user", "Grade it."),), max_tokens=1)
    >>> first.body()
    b'{"max_tokens":1,"messages":[{"content":"Grade it.","role":"user"}],"model":"m","temperature":0.0}'
    >>> first.key() == msgspec.structs.replace(first, sample=1).key()
    False
    """

    model: str
    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    top_logprobs: int = 0
    sample: int = 0

    def body(self) -> bytes:
        """Body of the request: JSON with sorted keys."""
        fields: dict[str, object] = {
            "model": self.model,
            "messages": self.messages,
            "max_tokens": self.max_tokens,
            "temperature": float(self.temperature),
        }
        if self.seed is not None:
            fields["seed"] = self.seed
        if self.top_logprobs:
            fields |= {"logprobs": True, "top_logprobs": self.top_logprobs}
        return msgspec.json.encode(fields, order="sorted")

    def key(self) -> str:
        """SHA-256 of model, body and number of the sample, in hexadecimal digits.

        Raises:
            InvalidInput: The model's name or a text cannot be encoded.
        """
        try:
            head = msgspec.json.encode([self.model, self.sample])
            return hashlib.sha256(head + b"\n" + self.body()).hexdigest()
        except UnicodeEncodeError as error:
            problem = "cannot be sent: expected Unicode, got half a character"
            raise InvalidInput(f"'{error.object[:60]}' {problem}") from None

    def estimated_tokens(self, count: Callable[[str], int] | None = None) -> int:
        """Number of tokens of the messages, without those that stand around each.

        Args:
            count: Function that counts the tokens of a text; by default they are estimated as characters / 3.5.
        """
        if count is not None:
            return sum(count(message.content) for message in self.messages)
        return math.ceil(sum(len(message.content) for message in self.messages) / CHARACTERS_PER_TOKEN)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer of the endpoint.

    Args:
        text: The text.
        finish_reason: Reason why it ends: ``stop``, or ``length`` if it was cut off; empty if not said.
        top_logprobs: The most probable first tokens with the logarithms of their probabilities, if asked for and
            offered.
        model: Name of the model that answered, as the endpoint says; empty if it does not.
        prompt_tokens: Number of tokens of the request; None if not said.
        completion_tokens: Number of tokens of the answer; None if not said.
    """

    text: str
    finish_reason: str = ""
    top_logprobs: tuple[tuple[str, float], ...] = ()
    model: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Failed(msgspec.Struct, frozen=True):
    """A request without an answer, after all retries.

    Args:
        reason: The reason, in words.
    """

    reason: str


class _Token(msgspec.Struct):
    token: str
    logprob: float


class _Position(msgspec.Struct):
    top_logprobs: list[_Token] | None = None


class _Logprobs(msgspec.Struct):
    content: list[_Position] | None = None


class _Content(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Content
    finish_reason: msgspec.Raw = _NULL
    logprobs: msgspec.Raw = _NULL


class _TokenCounts(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice] | None = None
    model: msgspec.Raw = _NULL
    usage: msgspec.Raw = _NULL
    error: msgspec.Raw = _NULL


def read_answer(data: bytes) -> Answer:
    """Read the body of a response.

    Args:
        data: The body; whatever the response says its type is.

    Returns:
        The first choice. What is paid for its text is not lost by an odd part beside it: a name, a reason, numbers of
        tokens or probabilities of another form count as not said.

    Raises:
        ValueError: It is no completion; the message says in what.

    >>> read_answer(b'{"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]}').text
    '4'
    """
    try:
        found = msgspec.json.decode(data, type=_Completion)
    except _UNREADABLE as error:
        raise ValueError(f"the answer is no chat completion: {error}") from error
    if not found.choices:
        if found.error != _NULL:
            raise ValueError(f"the answer is an error: {read_error(data)[0]}")
        raise ValueError("the answer is no chat completion: it has no choices")
    choice, used = found.choices[0], _part(found.usage, _TokenCounts, _TokenCounts())
    logprobs = _part(choice.logprobs, _Logprobs, _Logprobs())
    first = next(iter(logprobs.content or ()), _Position())
    return Answer(
        text=choice.message.content or "",
        finish_reason=_part(choice.finish_reason, str, ""),
        top_logprobs=tuple((each.token, each.logprob) for each in first.top_logprobs or ()),
        model=_UNSEEN.sub("_", _part(found.model, str, "")[:LONGEST_NAME]),
        prompt_tokens=_believed(used.prompt_tokens),
        completion_tokens=_believed(used.completion_tokens),
    )


def _believed(tokens: int | None) -> int | None:
    return tokens if tokens is not None and 0 <= tokens <= MOST_TOKENS else None


def _part(value: msgspec.Raw, kind: type[T], default: T) -> T:
    """A part of an answer that can be missing; the default as well where it has another form."""
    try:
        return msgspec.json.decode(value, type=kind)
    except _UNREADABLE:
        return default


class _Problem(msgspec.Struct):
    message: str = ""
    n_prompt_tokens: int | None = None


class _Tokenized(msgspec.Struct):
    tokens: list[msgspec.Raw] | None = None
    count: int | None = None


def read_token_count(data: bytes) -> int | None:
    """Read the number of tokens from the body of a response of ``/tokenize``; None where there is none.

    Args:
        data: The body.

    >>> read_token_count(b'{"tokens": [1, 2]}'), read_token_count(b'{"count": 3}'), read_token_count(b'[]')
    (2, 3, None)
    """
    try:
        found = msgspec.json.decode(data, type=_Tokenized)
    except _UNREADABLE:
        return None
    return _believed(found.count) if found.tokens is None else len(found.tokens)


def read_error(data: bytes) -> tuple[str, int | None]:
    """Read the body of a response that reports an error.

    Args:
        data: The body: ``{"error": {"message": …}}`` or the like, or text.

    Returns:
        The message on one line, at most 300 characters, and the number of tokens of the request where it is said.

    >>> read_error(b'{"error": {"message": "no such model", "code": 404}}')
    ('no such model', None)
    >>> read_error(b"Bad gateway")
    ('Bad gateway', None)
    """
    problem = _Problem()
    try:
        found = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except _UNREADABLE:
        problem.message = data[:2000].decode("utf-8", "replace")
    else:
        for name in ("error", "detail", "message"):
            if name in found:
                problem = _read_problem(found[name])
                break
    text = " ".join(problem.message.split())
    return (text if len(text) <= 300 else f"{text[:299]}…"), problem.n_prompt_tokens


def _read_problem(value: msgspec.Raw) -> _Problem:
    try:
        found = msgspec.json.decode(value, type=_Problem | str)
    except _UNREADABLE:
        found = bytes(value)[:2000].decode("utf-8", "replace")
    return _Problem(found) if isinstance(found, str) else found
