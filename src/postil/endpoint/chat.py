"""Requests to a chat endpoint, its answers, and the bodies of responses that report an error.

OpenAI, Azure, vLLM, llama.cpp, Mistral and others write errors in forms of their own.
"""

from __future__ import annotations

import hashlib
import math
import re
from typing import TYPE_CHECKING, Final, Literal, TypeVar

import msgspec

from postil.errors import InvalidInput, PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = [
    "CHARACTERS_PER_TOKEN",
    "SPARED",
    "UNREADABLE",
    "AllCut",
    "Answer",
    "CutWatch",
    "ErrorBody",
    "Failed",
    "Message",
    "Request",
    "prompt_tokens",
    "read_answer",
    "read_error",
    "read_extra",
    "read_token_count",
    "refusal_words",
    "without_thoughts",
]

SHOWN: Final = 300
"""Largest number of characters of a message that is shown."""
READ: Final = 4000
"""Largest number of characters of a message that is looked at."""
DEEPEST: Final = 8
"""Largest depth of an error that is looked at."""
LONGEST: Final = 16
"""Largest number of parts of a list that are looked at."""
UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""Errors of decoding; nested deeply enough, JSON ends in the last."""

SPARED: Final = {
    "max_tokens": ("max_tokens",),
    "temperature": ("temperature",),
    "seed": ("seed",),
    "logprobs": ("logprobs", "top_logprobs"),
}
"""Options that a request can do without, with their fields; that of ``max_tokens`` has another name besides."""

_NAMES: Final = {
    "max_tokens": re.compile(r"(?<!\w)max_tokens(?!\w)"),
    "temperature": re.compile(r"(?<!\w)temperature(?!\w)", re.IGNORECASE),
    "seed": re.compile(r"(?<!\w)seed(?!\w)", re.IGNORECASE),
    "logprobs": re.compile(r"log[_ -]?prob(?:s|abilit)", re.IGNORECASE),
}
_NOT_TAKEN: Final = re.compile(
    r"unsupported|unrecognized|deprecated"
    r"|(?:not|n['’]t)[ _](?:support(?:ed)?|accept(?:ed)?|allowed|permitted|enabled|available)"
    r"|(?:unknown|unexpected|not a valid) (?:name|keyword|field|parameter|argument|option|property|key)"
    r"|cannot (?:find field|be (?:set|used|specified))|extra_forbidden|please remove|may only be"
    r"|only the default|only [\d.]{1,8} is allowed|must be (?:set to )?1(?:\.0)?(?: (?:for|when|with)|[.\s]{0,3}$)"
    r"|不支持|不允许",
    re.IGNORECASE,
)
_TOLD_BY: Final = {
    "max_tokens": re.compile("max_completion_tokens"),
    "temperature": _NOT_TAKEN,
    "seed": _NOT_TAKEN,
    "logprobs": re.compile(""),  # whatever is wrong with them, the rest of the request is not
}
"""Words beside its name that tell that an option is refused, and not its value alone."""

_UNKNOWN: Final = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter", "extra_forbidden"})
_ENDED: Final = re.compile(r"max_tokens or model output limit was reached", re.IGNORECASE)
_LEAST: Final = re.compile(r"max_(?:output_|completion_)?tokens.{0,120}?(?:>=|at least|minimum of) ?(\d{1,3})(?!\d)")
_FILTERS: Final = frozenset(
    ("content_filter", "responsibleaipolicyviolation", "content_policy_violation", "data_inspection_failed")
)
_EXHAUSTED: Final = frozenset(
    (
        *("insufficient_quota", "exceeded_current_quota_error", "insufficient_credits", "insufficient_balance"),
        *("billing_hard_limit_reached", "billing_not_active", "access_terminated"),
        *("credit_balance_exhausted", "credit_balance_too_low"),
    )
)
_NOTHING_LEFT: Final = re.compile(
    r"exceeded your current quota|insufficient (?:quota|balance|credits?|funds)|billing hard limit"
    r"|credit balance is too low|no credits (?:remaining|left)"
    r"|run out of (?:credits|funds|quota)|余额不足|额度不足|额度已用|欠费",
    re.IGNORECASE,
)
_LATER: Final = re.compile(
    r"(?:retry|try again) (?:in|after)|per (?:minute|second|hour|day)|rate.?limit", re.IGNORECASE
)


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of a response that reports an error.

    Args:
        message: The message on one line, at most `SHOWN` characters.
        tokens: Number of tokens of the request; None if not said.
        said: All that it says of the reason, at most `READ` characters.
        codes: Codes and types of the error, in lower case.
        fields: Names of the fields of the request that it is about.
    """

    message: str
    tokens: int | None = None
    said: str = ""
    codes: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()

    @property
    def exhausted(self) -> bool:
        """True if the account has nothing left to pay with, so that no later request can succeed."""
        if self.codes & _EXHAUSTED:
            return True
        return _NOTHING_LEFT.search(self.said) is not None and _LATER.search(self.said) is None

    @property
    def filtered(self) -> bool:
        """True if a filter of contents stopped this request, and not its form."""
        return bool(self.codes & _FILTERS)

    @property
    def cut(self) -> bool:
        """True if all tokens of the answer were used up before it began, as some servers say of models that think."""
        return _ENDED.search(self.said) is not None

    @property
    def least_tokens(self) -> int:
        """Smallest maximum number of tokens that the server takes; 0 where it says nothing of the kind."""
        found = _LEAST.search(self.said)
        return int(found[1]) if found else 0

    def refused(self, sent: Collection[str]) -> str | None:
        """The option of `SPARED` that the server refuses; None where it says nothing of the kind.

        It is read from what the server says and not known by names of models, which change by the week, while servers
        in between (LiteLLM, OpenRouter, Azure) pass on the words of others. A value out of range, such as a temperature
        of 3 or more tokens than the model has, is no refusal.

        Args:
            sent: Options of the request.
        """
        for option in sorted(set(SPARED).intersection(sent), key=self._place):
            told = _NAMES[option].search(self.said) and _TOLD_BY[option].search(self.said)
            if told or (self._is_about(option) and (option == "logprobs" or self.codes & _UNKNOWN)):
                return option
        return None

    def _place(self, option: str) -> tuple[bool, int, str]:
        """Order of the options: those that it is about, then by their first mention."""
        found = _NAMES[option].search(self.said)
        return not self._is_about(option), found.start() if found else READ, option

    def _is_about(self, option: str) -> bool:
        return not self.fields.isdisjoint(SPARED[option])


class _Problem(msgspec.Struct):
    message: str = ""
    n_prompt_tokens: int | None = None


def read_error(data: bytes) -> ErrorBody:
    """Read the body of a response that reports an error.

    Args:
        data: The body: ``{"error": {"message": …}}`` or the like, or text.

    >>> read_error(b'{"error": {"message": "no such model", "code": 404}}').message
    'no such model'
    >>> read_error(b"Bad gateway").message
    'Bad gateway'
    """
    try:
        whole = msgspec.json.decode(data, type=list[msgspec.Raw] | dict[str, msgspec.Raw])
        if isinstance(whole, list):  # as Gemini has it
            whole = msgspec.json.decode(whole[0] if whole else b"{}", type=dict[str, msgspec.Raw])
    except UNREADABLE:
        text = _line(data[:READ].decode("utf-8", "replace"))
        return ErrorBody(_short(text), said=text)
    problem, parts = _Problem(), _Parts()
    for name in ("error", "detail", "message"):
        if name in whole:
            text = _part(whole[name], str, bytes(whole[name])[:READ].decode("utf-8", "replace"))
            problem = _part(whole[name], _Problem, _Problem(text))
            parts.gather("message", _part(whole[name], object, None))
            break
    for name in ("code", "type", "param"):
        if name in whole:
            parts.gather(name, _part(whole[name], object, None))
    message = _line("; ".join(parts.texts) or problem.message)
    unnamed = sorted(name for name in parts.fields if name and name not in message)
    return ErrorBody(
        message=_short(f"{message} ({', '.join(unnamed)})" if message and unnamed else message),
        tokens=problem.n_prompt_tokens,
        said=_line(" ".join(parts.texts))[:READ],
        codes=frozenset(parts.codes),
        fields=frozenset(parts.fields),
    )


def refusal_words(options: Collection[str]) -> str:
    """Words for refused options, and for what is sent in their place, behind the name of an endpoint.

    Args:
        options: Options of `SPARED`.

    >>> refusal_words(["max_tokens", "temperature"])
    'refuses max_tokens, temperature: requests have max_completion_tokens instead, and no temperature'
    """
    left = [name for name in options if name != "max_tokens"]
    instead = ["max_completion_tokens instead"] if "max_tokens" in options else []
    without = [f"no {' and no '.join(left)}"] if left else []
    return f"refuses {', '.join(options)}: requests have {', and '.join([*instead, *without])}"


def _line(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


class _Parts:
    """Texts, codes and names of fields of an error, however deep they lie.

    Servers pass on what another one said, as text within their own, and some repeat the request: `input` is not read.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.codes: set[str] = set()
        self.fields: set[str] = set()

    def gather(self, name: str, value: object, depth: int = 0) -> None:
        """Take up a value by the name that it has."""
        if depth > DEEPEST:
            return
        if isinstance(value, dict):
            for inner, of in value.items():
                if inner not in {"input", "ctx", "url"}:
                    self.gather(str(inner), of, depth + 1)
        elif isinstance(value, list):
            if name == "loc":
                self.fields |= {str(part) for part in value[-1:]}
            else:
                for each in value[:LONGEST]:
                    self.gather(name, each, depth + 1)
        elif isinstance(value, str):
            self._take(name, value, depth)

    def _take(self, name: str, text: str, depth: int) -> None:
        if name in {"code", "type", "status"}:
            self.codes.add(text.lower())
        elif name == "param":
            self.fields.add(text)
        elif name in {"message", "msg", "error", "detail", "raw"}:
            inner = _part(text, object, None) if text.lstrip()[:1] in {"{", "["} else None
            if inner is None:
                self.texts.append(text[:READ])
            else:
                self.gather(name, inner, depth + 1)


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

    @property
    def path(self) -> str:
        """Path below the address of the endpoint."""
        return "chat/completions"

    def at_least(self, tokens: int) -> Request:
        """Make the request for no fewer tokens.

        Args:
            tokens: Number of tokens.
        """
        return self if self.max_tokens >= tokens else msgspec.structs.replace(self, max_tokens=tokens)

    def body(self, refused: Collection[str] = ()) -> bytes:
        """Body of the request: JSON with sorted keys.

        Args:
            refused: Options that the endpoint refuses, of `postil.endpoint.chat.SPARED`.
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

    def read(self, data: bytes, refused: Collection[str]) -> Answer:
        """See `read_answer`.

        Args:
            data: The body of the response.
            refused: Options that were not sent.
        """
        return self._with_unsent(read_answer(data), refused)

    def rejected(self, body: ErrorBody, refused: Collection[str]) -> Answer | None:
        """An answer without text where the server says that it filters it, or has no token left.

        Args:
            body: The body of the response.
            refused: Options that were not sent.
        """
        if body.filtered:
            answer = Answer(text="", finish_reason="content_filter", prompt_tokens=0, completion_tokens=0)
        elif body.cut:
            answer = Answer(text="", finish_reason="length", thinks=True)
        else:
            return None
        return self._with_unsent(answer, refused)

    def _with_unsent(self, answer: Answer, refused: Collection[str]) -> Answer:
        return msgspec.structs.replace(answer, not_sent=tuple(sorted(self.options().intersection(refused))))

    def recall(self, get: Callable[[str], Answer | None], refused: Collection[str] = ()) -> Answer | None:
        """See `postil.endpoint.requests.Asking.recall`.

        Args:
            get: Function that finds an answer by its key.
            refused: Options that the endpoint refuses.
        """
        return get(self.key(refused))

    def keep(self, put: Callable[[str, Answer], Answer], answer: Answer, refused: Collection[str]) -> Answer:
        """See `postil.endpoint.requests.Asking.keep`.

        Args:
            put: Function that stores an answer under its key.
            answer: The answer.
            refused: Options that the endpoint refuses.
        """
        return put(self.key(refused), answer)


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


def prompt_tokens(usage: bytes) -> int | None:
    """Number of tokens of a request, as the endpoint says; None if it does not, or says something odd.

    Args:
        usage: The field ``usage`` of the response, JSON.

    >>> prompt_tokens(b'{"prompt_tokens": 7}'), prompt_tokens(b'"many"')
    (7, None)
    """
    return _believed(_part(usage, _TokenCounts, _TokenCounts()).prompt_tokens)


def _believed(tokens: int | None) -> int | None:
    return tokens if tokens is not None and 0 <= tokens <= MOST_TOKENS else None


def _part(value: bytes | str, kind: type[T], default: T) -> T:
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
    found = _part(data, _Tokenized, _Tokenized())
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
