"""Web and e-mail addresses, handles and telephone numbers in texts.

There are two lists of patterns: `MASKS` match an address from end to end and nothing else, as what they match is
replaced; `kinds_of_address` rather takes something for an address that is none.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["MASKS", "kinds_of_address", "without_addresses"]

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
"""Replacement and pattern of each kind of address that can be masked, in the order of masking.

``phones`` are runs of 7 to 15 digits, with spaces, full stops and hyphens between them, whatever they mean, but for
decimal numbers and for dates and spans of years such as 2018-07-15, 15.7.2018 and 2018-2019.
"""

_KINDS: Final = (
    ("a masked address", re.compile("|".join(re.escape(word) for word, _ in MASKS.values()))),
    ("an e-mail address", re.compile(r"[\w.+-]@[\w-]+\.\w")),
    ("a web address", re.compile(r"https?://|\bwww\.\w|\w\.[a-z]{2,}/\w|\w\.(?:com|net|org|cn)\b", re.ASCII)),
    ("a handle", re.compile(r"@\w|(?<![^\W_])/?u/\w")),
)


def kinds_of_address(text: str) -> Iterator[str]:
    """Kinds of address that a text may contain, in words; telephone numbers are none of them.

    Args:
        text: The text; case does not matter.

    >>> [list(kinds_of_address(text)) for text in ("Ask Ana@Web.org", "Ask [user]", "Ask me")]
    [['an e-mail address', 'a web address', 'a handle'], ['a masked address'], []]
    """
    lowered = text.lower()
    return (kind for kind, pattern in _KINDS if pattern.search(lowered))


def without_addresses(text: str) -> str:
    """A text with a space in place of each web and e-mail address, none of whose parts is a word then.

    Args:
        text: The text.

    >>> without_addresses("网址是https://a.org/new，去看")
    '网址是 ，去看'
    """
    for kind in ("urls", "emails"):
        text = MASKS[kind][1].sub(" ", text)
    return text
