"""Names of several columns in one mapping: ``gpt|llama``, or all of a pattern, ``Answer *``."""

from __future__ import annotations

import re

__all__ = ["is_folded", "named_in", "parts_of", "pattern_of"]


def is_folded(source: str) -> bool:
    """True if a mapping names several columns: ``gpt|llama``, or ``Answer *``.

    Args:
        source: Text behind the ``=`` of ``--column``.

    >>> [is_folded(each) for each in ("gpt|llama", "Answer *", "answer", "=a|b")]
    [True, True, False, False]
    """
    return not source.startswith("=") and ("*" in source or "|" in source)


def named_in(source: str, name: str) -> bool:
    """True if a mapping names a column.

    Args:
        source: Text behind the ``=`` of ``--column``.
        name: The column.

    >>> [named_in(each, "Gold 1") for each in ("Gold 1", "Gold *", "Gold 1|Gold 2", "Gold")]
    [True, True, True, False]
    """
    return source == name or any(part == name or pattern_of(part).fullmatch(name) for part in parts_of(source))


def parts_of(source: str) -> list[str]:
    """Columns and patterns that a mapping names.

    Args:
        source: Text behind the ``=`` of ``--column``.

    >>> parts_of("gpt | Answer *")
    ['gpt', 'Answer *']
    """
    return [part.strip() for part in source.split("|")]


def pattern_of(part: str) -> re.Pattern[str]:
    """Regular expression of a column or pattern, whose group is what the star stands for.

    Args:
        part: One of the parts of a mapping.

    >>> pattern_of("Rater * (2024)").fullmatch("Rater Ann (2024)")[1]
    'Ann'
    """
    before, star, after = part.partition("*")
    return re.compile(f"{re.escape(before)}{'(.+)' if star else ''}{re.escape(after)}")
