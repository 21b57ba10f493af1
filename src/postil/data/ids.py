"""Ids of items, systems and annotators: one in two Unicode forms is one id, and is written as it was given."""

from __future__ import annotations

import hashlib

from postil.kernel.unicode_forms import is_composed, normalized
from postil.messages import Message, spoken

__all__ = ["DecomposedId", "as_id", "draw_key", "plain_id"]


class DecomposedId(str):
    """An id that is not in the Unicode form NFC: equal to every id of its NFC form, in dictionaries as well.

    File names of macOS and texts of some keyboards are decomposed. Ids in NFC, which all of ASCII are, stay plain text.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(normalized("NFC", self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and normalized("NFC", self) == normalized("NFC", other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: str) -> bool:
        return normalized("NFC", self) < normalized("NFC", other)

    def __le__(self, other: str) -> bool:
        return normalized("NFC", self) <= normalized("NFC", other)

    def __gt__(self, other: str) -> bool:
        return normalized("NFC", self) > normalized("NFC", other)

    def __ge__(self, other: str) -> bool:
        return normalized("NFC", self) >= normalized("NFC", other)


def as_id(text: str) -> str:
    r"""Make a text an id.

    Args:
        text: The id as it was given.

    >>> as_id("caf\u00e9") == as_id("cafe\u0301"), {as_id("cafe\u0301"): 1}["caf\u00e9"], len(as_id("cafe\u0301"))
    (True, 1, 5)
    """
    return text if is_composed(text) else DecomposedId(text)


def plain_id(value: object) -> str:
    """Encode what msgspec asks for: an id as it was given, a message in the words of the face in use.

    Args:
        value: The id or the message.

    Raises:
        TypeError: It is something else.
    """
    if isinstance(value, DecomposedId):
        return str(value)
    if isinstance(value, Message):
        return spoken(value)
    raise TypeError(f"expected what JSON has, got {type(value).__name__}")


def draw_key(seed: int, *names: str) -> int:
    """A 64-bit sort key for sampling in a seeded order.

    Args:
        seed: The seed.
        names: Ids that name the sampled thing.

    >>> draw_key(1, "a") == draw_key(1, "a"), draw_key(1, "a") == draw_key(2, "a")
    (True, False)
    """
    text = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
