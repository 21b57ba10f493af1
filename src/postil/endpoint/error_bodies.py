"""Bodies of responses that report an error, as OpenAI, Azure, vLLM, llama.cpp, Mistral and others write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["SPARED", "UNREADABLE", "ErrorBody", "read_error", "refusal_words"]

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

        A value out of range, such as a temperature of 3 or more tokens than the model has, is no refusal.

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
            problem = _read_problem(whole[name])
            parts.gather("message", _decoded(whole[name]))
            break
    for name in ("code", "type", "param"):
        if name in whole:
            parts.gather(name, _decoded(whole[name]))
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


def _read_problem(value: msgspec.Raw) -> _Problem:
    try:
        found = msgspec.json.decode(value, type=_Problem | str)
    except UNREADABLE:
        found = bytes(value)[:READ].decode("utf-8", "replace")
    return _Problem(found) if isinstance(found, str) else found


def _decoded(value: bytes | str) -> object:
    try:
        return msgspec.json.decode(value)
    except UNREADABLE:
        return None


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
            inner = _decoded(text) if text.lstrip()[:1] in {"{", "["} else None
            if inner is None:
                self.texts.append(text[:READ])
            else:
                self.gather(name, inner, depth + 1)
