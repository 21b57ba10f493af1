"""Numbers of things in sentences, and their verbs."""

from __future__ import annotations

__all__ = ["are", "counted", "have"]


def are(n: int) -> str:
    """The verb of n things that are something.

    Args:
        n: The number.

    >>> f"1 of 3 texts {are(1)} empty", f"2 of 3 texts {are(2)} empty"
    ('1 of 3 texts is empty', '2 of 3 texts are empty')
    """
    return "is" if n == 1 else "are"


def counted(n: int, what: str) -> str:
    """A number of things.

    Args:
        n: The number.
        what: One of them.

    >>> counted(1, "item"), counted(1200, "item")
    ('1 item', '1,200 items')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def have(n: int) -> str:
    """The verb of n things that have something.

    Args:
        n: The number.

    >>> f"1 of 3 texts {have(1)} no words"
    '1 of 3 texts has no words'
    """
    return "has" if n == 1 else "have"
