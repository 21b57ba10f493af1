"""Who wrote and what they gave away: names hashed, addresses masked."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING

from postil.text.addresses import MASKS

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable

__all__ = ["MASKS", "hashed", "masking"]


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
    """A keyed hash of a person's name (BLAKE2b), which does not tell who it is as long as the key is a secret.

    Args:
        name: The person's name or number.
        salt: The secret key, at most 64 bytes. It is no salt, which might be known: with it, whoever guesses a name can
            tell whether it is this one.

    >>> len(hashed("ana", b"secret")), hashed("ana", b"secret") == hashed("ana", b"other")
    (16, False)
    """
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8, key=salt).hexdigest()
