"""Requests to a chat endpoint, and its answers."""

from __future__ import annotations

import hashlib
import math
import re
from typing import TYPE_CHECKING, Final, Literal, TypeVar

import msgspec

from postil.endpoint.error_bodies import SPARED, UNREADABLE, read_error
from postil.errors import InvalidInput, PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = [
    "AllCut",
    "Answer",
    "CutWatch",
    "Failed",
    "Message",
    "Request",
    "read_answer",
    "read_extra",
    "read_token_count",
    "without_thoughts",
]

T = TypeVar("T")

CHARACTERS_PER_TOKEN: Final = 3.5
MOST_TOKENS: Final = 10**9
"""Largest number of tokens that is believed."""
LONGEST_NAME: Final = 200
"""Largest number of characters of a model's name in an answer."""
OWN: Final = ("model", "messages", "stream", "n")
"""Fields of a request that nobody else sets: one answer to these messages, in one piece."""
_LENGTHS: Final = ("max_tokens", "max_completion_tokens")
_REASONS: Final = {
    **dict.fromkeys(("max_tokens", "max_output_tokens", "model_length", "length"), "length"),
    **dict.fromkeys(("content_filter", "safety", "prohibited_content", "blocklist", "sensitive"), "content_filter"),
}
"""Reasons of the end of an answer by what servers say, in lower case."""
_THOUGHT: Final = re.compile(
    r"</?(?:seed:)?think(?:ing)?>|</?thought>|\[/?THINK\]|◁/?think▷"
    r"|<\|channel\|>(?:(?P<final>final)|analysis)<\|message\|>",
    re.IGNORECASE,
)
"""Marks around what a model thinks, where the server leaves them in the text."""
_NULL: Final = msgspec.Raw(b"null")
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f|]")
FEW: Final = 6
"""Number of answers, all cut off and of no use, after which a run ends: more than the samples of one text."""


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
        extra: Further fields of the body, JSON of an object; they come before those above, but for model and messages.

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
    extra: str = ""

    def body(self, refused: Collection[str] = ()) -> bytes:
        """Body of the request: JSON with sorted keys.

        Args:
            refused: Options that the endpoint refuses, of `postil.endpoint.error_bodies.SPARED`.
        """
        tokens = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
        fields: dict[str, object] = {tokens: self.max_tokens, "temperature": float(self.temperature)}
        if self.seed is not None:
            fields["seed"] = self.seed
        if self.top_logprobs:
            fields |= {"logprobs": True, "top_logprobs": self.top_logprobs}
        for option in refused:
            for name in SPARED[option] if option != "max_tokens" else ():
                fields.pop(name, None)
        own = read_extra(self.extra) if self.extra else {}
        if not own.keys().isdisjoint(_LENGTHS):
            fields.pop(tokens)
        fields |= {**own, "model": self.model, "messages": self.messages}
        return msgspec.json.encode(fields, order="sorted")

    def options(self) -> frozenset[str]:
        """Options that an endpoint may refuse, and that the request can do without."""
        own = read_extra(self.extra) if self.extra else {}
        sent = {
            "max_tokens": own.keys().isdisjoint(_LENGTHS),
            "temperature": "temperature" not in own,
            "seed": self.seed is not None and "seed" not in own,
            "logprobs": self.top_logprobs > 0 and own.keys().isdisjoint(SPARED["logprobs"]),
        }
        return frozenset(name for name, is_sent in sent.items() if is_sent)

    def key(self, refused: Collection[str] = ()) -> str:
        """SHA-256 of model, number of the sample, and the body as it is sent, in hexadecimal digits.

        Args:
            refused: Options that the endpoint refuses.

        Raises:
            InvalidInput: The model's name or a text cannot be encoded.
        """
        try:
            head = msgspec.json.encode([self.model, self.sample])
            return hashlib.sha256(head + b"\n" + self.body(refused)).hexdigest()
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
        finish_reason: Reason why it ends: ``stop``, ``length`` if it was cut off, ``content_filter`` if a filter
            stopped it; empty if not said.
        top_logprobs: The most probable first tokens with the logarithms of their probabilities, if asked for and
            offered.
        model: Name of the model that answered, as the endpoint says; empty if it does not.
        prompt_tokens: Number of tokens of the request; None if not said.
        completion_tokens: Number of tokens of the answer; None if not said.
        refusal: Words with which the model declines, where the endpoint tells them apart; else empty.
        thinks: True if the endpoint says that the model thought before the text, or in its place.
        not_sent: Options of the request that the endpoint refuses, so that they were not sent as they are.
    """

    text: str
    finish_reason: str = ""
    top_logprobs: tuple[tuple[str, float], ...] = ()
    model: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    refusal: str = ""
    thinks: bool = False
    not_sent: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """The text without what the model thought before it."""
        return without_thoughts(self.text).strip()

    @property
    def thought(self) -> bool:
        """True if the model was seen to think."""
        return self.thinks or self.said != self.text.strip()

    @property
    def cut(self) -> bool:
        """True if it ends at the largest number of tokens."""
        return self.finish_reason == "length"

    @property
    def filtered(self) -> bool:
        """True if a filter of contents stopped it."""
        return self.finish_reason == "content_filter"


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


class _ContentPart(msgspec.Struct):
    type: str = "text"
    text: str = ""
    refusal: str = ""


class _Content(msgspec.Struct):
    content: str | list[_ContentPart] | None = None
    refusal: msgspec.Raw = _NULL
    reasoning: msgspec.Raw = _NULL
    reasoning_content: msgspec.Raw = _NULL


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
    except UNREADABLE as error:
        raise ValueError(f"the answer is no chat completion: {error}") from error
    if not found.choices:
        if found.error != _NULL:
            raise ValueError(f"the answer is an error: {read_error(data).message}")
        raise ValueError("the answer is no chat completion: it has no choices")
    choice, used = found.choices[0], _part(found.usage, _TokenCounts, _TokenCounts())
    logprobs = _part(choice.logprobs, _Logprobs, _Logprobs())
    first = next(iter(logprobs.content or ()), _Position())
    said, content = choice.message, choice.message.content
    parts = [_ContentPart(text=content or "")] if not isinstance(content, list) else content
    refused = _part(said.refusal, str, "") or "".join(part.refusal for part in parts)
    apart = any(_part(raw, str, "") for raw in (said.reasoning, said.reasoning_content))
    reason = _part(choice.finish_reason, str, "")
    return Answer(
        text="".join(part.text for part in parts if part.type == "text"),
        finish_reason=_REASONS.get(reason.lower(), reason),
        top_logprobs=tuple((each.token, each.logprob) for each in first.top_logprobs or ()),
        model=_UNSEEN.sub("_", _part(found.model, str, "")[:LONGEST_NAME]),
        prompt_tokens=_believed(used.prompt_tokens),
        completion_tokens=_believed(used.completion_tokens),
        refusal=refused,
        thinks=apart or any(part.type == "thinking" for part in parts),
    )


def without_thoughts(text: str) -> str:
    """A text without what a model thought before it; a server may have taken one of the marks around it away.

    Args:
        text: The text.

    >>> [without_thoughts(text) for text in ("<think>Is it 3?</think>4", "Is it 3?</think> 4", "<think>Is it 3", "4")]
    ['4', '4', '', '4']
    """
    marks = list(_THOUGHT.finditer(text))
    ends = [mark.end() for mark in marks if "/" in mark[0] or mark["final"]]
    rest = text[ends[-1] :].lstrip() if ends else text
    return "" if (mark := _THOUGHT.match(rest.lstrip())) and not mark["final"] else rest


def read_extra(text: str) -> dict[str, object]:
    """Read further fields of a request, and refuse those that are not to be changed.

    Args:
        text: JSON of an object.

    Raises:
        UsageError: It is none, or has a field of `OWN`.

    >>> sorted(read_extra('{"reasoning_effort": "low", "top_k": 1}'))
    ['reasoning_effort', 'top_k']
    """
    try:
        found = msgspec.json.decode(text, type=dict[str, object])
    except (*UNREADABLE, UnicodeEncodeError) as error:
        example = '{"reasoning_effort": "low"}'
        raise UsageError(f"extra_body: expected a JSON object, such as {example}: {error}") from None
    if taken := [name for name in OWN if name in found]:
        raise UsageError(f"extra_body: {', '.join(taken)} cannot be changed")
    return found


def _believed(tokens: int | None) -> int | None:
    return tokens if tokens is not None and 0 <= tokens <= MOST_TOKENS else None


def _part(value: msgspec.Raw, kind: type[T], default: T) -> T:
    """A part of an answer that can be missing; the default as well where it has another form."""
    try:
        return msgspec.json.decode(value, type=kind)
    except UNREADABLE:
        return default


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
    except UNREADABLE:
        return None
    return _believed(found.count) if found.tokens is None else len(found.tokens)


class AllCut(PostilError):  # noqa: N818 - says what has happened
    """All answers so far are cut off.

    Args:
        answers: Number of them.
        tokens: Maximum number of tokens of each.
        thinks: True if the model was seen to think.
    """

    def __init__(self, answers: int, tokens: int, *, thinks: bool) -> None:
        thought = " in the model's thoughts" if thinks else ""
        super().__init__(f"the first {answers} answers are all cut off at {tokens:,} tokens{thought}")


class CutWatch:
    """Watch over the first answers of a run.

    Args:
        tokens: Maximum number of tokens of each.

    >>> from postil.endpoint.chat import Answer
    >>> watch = CutWatch(16)
    >>> for _ in range(6):
    ...     watch.see(Answer(text="<think>Is it", finish_reason="length"), useful=False)
    Traceback (most recent call last):
    ...
    postil.endpoint.chat.AllCut: the first 6 answers are all cut off at 16 tokens in the model's thoughts
    """

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens
        self._cut: int | None = 0

    @property
    def watches(self) -> bool:
        """True as long as no answer was of use, or came to its end."""
        return self._cut is not None

    def see(self, answer: Answer, *, useful: bool) -> None:
        """Take an answer into account.

        Args:
            answer: The answer.
            useful: True if it was of use all the same.

        Raises:
            AllCut: It is one too many.
        """
        if self._cut is None:
            return
        if useful or not answer.cut:
            self._cut = None
            return
        self._cut += 1
        if self._cut == FEW:
            raise AllCut(self._cut, self._tokens, thinks=answer.thought)

    def rest(self) -> None:
        """Watch no more, as something of use was seen elsewhere."""
        self._cut = None
