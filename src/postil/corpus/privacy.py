"""Who wrote and what they gave away: names hashed, addresses masked."""

from __future__ import annotations

import hashlib
import re
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["MASKS", "hashed", "masking"]

_IN_URL: Final = r"""[^\s<>"'，。！？、；）】》]"""
_YEAR: Final = r"(?:19|20)\d\d"
_DATE: Final = rf"(?:{_YEAR}[ -]{_YEAR}|{_YEAR}([.-])\d\d?\1\d\d?|\d\d?([.-])\d\d?\2{_YEAR})(?![\d-]|\.\d)"
MASKS: Final[Mapping[str, tuple[str, re.Pattern[str]]]] = MappingProxyType(
    {
        "urls": (
            "[url]",
            re.compile(rf"(?:https?://|\bwww\.){_IN_URL}*(?![.,;:!?)]){_IN_URL}", re.IGNORECASE | re.ASCII),
        ),
        "emails": ("[email]", re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)),
        # After emails, so that what is left of an @ is no address.
        "handles": ("[user]", re.compile(r"(?<![A-Za-z0-9_@])(?:@[\w.-]*\w|/?(?<![A-Za-z0-9_])u/[A-Za-z0-9_-]+)")),
        "phones": (
            "[phone]",
            re.compile(
                rf"(?<![\w.-])(?!{_DATE}|\d+\.\d+(?![\d.-]))"
                r"\+?(?:\(\d{1,4}\)[ -]?)?\d(?:[ .-]?\d){6,14}(?![\w-]|\.\d)",
                re.ASCII,
            ),
        ),
    }
)
"""What can be masked: name to what stands for it and what is looked for, in the order in which they are masked.

``phones`` are runs of 7 to 15 digits, with spaces, full stops and hyphens between them, whatever they mean, but for
decimal numbers and for dates and spans of years such as 2018-07-15, 15.7.2018 and 2018-2019.
"""


def masking(names: Iterable[str]) -> Callable[[str], str]:
    """A function that masks texts.

    Args:
        names: Names in `MASKS`.

    Returns:
        Text to masked text.

    >>> masking(["urls", "emails", "handles", "phones"])("Ask @ana (ana@web.org, 555-010-9999) or see http://web.org/a?b=1.")
    'Ask [user] ([email], [phone]) or see [url].'
    """
    chosen = [MASKS[name] for name in MASKS if name in set(names)]

    return partial(_masked, chosen)


def _masked(chosen: Iterable[tuple[str, re.Pattern[str]]], text: str) -> str:
    for word, pattern in chosen:
        text = pattern.sub(word, text)
    return text


def hashed(name: str, salt: bytes) -> str:
    """A name that stands for a person and does not tell who it is, as long as the salt is a secret.

    Args:
        name: The person's name or number.
        salt: The secret, at most 64 bytes.

    >>> len(hashed("ana", b"secret")), hashed("ana", b"secret") == hashed("ana", b"other")
    (16, False)
    """
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8, key=salt).hexdigest()
