"""Pseudonymization: user ids hashed with a secret key, addresses masked."""

from __future__ import annotations

import hashlib
import os
import secrets
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.errors import InvalidInput, PostilError, UsageError
from postil.text.addresses import MASKS

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Mapping

    from postil.data.streams import FilePath

__all__ = ["MASKS", "HashKey", "hash_user", "masking", "pseudonyms"]

KEY_BYTES: Final = 32
"""Length of a key that is created; keys of up to twice this length are accepted, as BLAKE2b does."""


def masking(names: Iterable[str]) -> Callable[[str], str]:
    """A function that masks addresses in a text.

    Args:
        names: Names in `MASKS`.

    >>> masking(["urls", "emails", "handles", "phones"])("Ask @ana (ana@web.org, 555-010-9999) or see http://web.org/a?b=1.")
    'Ask [user] ([email], [phone]) or see [url].'
    """
    return partial(_masked, [MASKS[name] for name in MASKS if name in set(names)])


def _masked(chosen: Iterable[tuple[str, re.Pattern[str]]], text: str) -> str:
    for word, pattern in chosen:
        text = pattern.sub(word, text)
    return text


@dataclass(frozen=True)
class HashKey:
    """The secret key of hashed user ids.

    Args:
        secret: The key, 1 to 64 bytes. With it, whoever guesses a name can test whether a hash is of this name.

    Raises:
        UsageError: The key is empty or too long.
    """

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not 0 < len(self.secret) <= 2 * KEY_BYTES:
            raise UsageError(f"hash key: expected 1 to {2 * KEY_BYTES} bytes, got {len(self.secret)}")

    @classmethod
    def parse(cls, path: FilePath) -> HashKey:
        """Read the key from a file; create it where there is none.

        Args:
            path: The file.

        Raises:
            InvalidInput: The file is empty or too long.
            PostilError: It can be neither read nor created.
        """
        where = os.fspath(path)
        try:
            if not Path(path).exists():
                with os.fdopen(os.open(where, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(secrets.token_hex(KEY_BYTES // 2).encode())
            secret = Path(path).read_bytes().strip()
        except OSError as error:
            raise PostilError(f"{where}: cannot be used as the hash key: {error.strerror}") from error
        try:
            return cls(secret)
        except UsageError as error:
            raise InvalidInput(error.message, where=where) from None


def hash_user(name: str, key: HashKey) -> str:
    """The keyed BLAKE2b hash of a user id, 16 hexadecimal digits.

    Args:
        name: Name or number of a person.
        key: The secret key.

    >>> one, other = (hash_user("ana", HashKey(key)) for key in (b"secret", b"other"))
    >>> len(one), one == other
    (16, False)
    """
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8, key=key.secret).hexdigest()


def pseudonyms(first: Mapping[str, tuple[int, int]]) -> dict[str, str]:
    """Pseudonyms of annotators, numbered by what each rated first.

    The numbers tell nothing of the names, and do not depend on the order of the articles.

    Args:
        first: By name, the sort key of a comment that the annotator rated, and the place of the rating among those of
            the comment; the smallest such pair.

    >>> pseudonyms({"ann": (7, 1), "zoe": (3, 0), "bob": (7, 0)})
    {'zoe': 'annotator-1', 'bob': 'annotator-2', 'ann': 'annotator-3'}
    """
    return {name: f"annotator-{number}" for number, name in enumerate(sorted(first, key=first.__getitem__), 1)}
