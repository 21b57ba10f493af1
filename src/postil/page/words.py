"""Words and sentences of pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from postil.messages import spoken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.results.parts import Excluded

__all__ = [
    "NAME",
    "capital",
    "clean",
    "isolated",
    "left_out",
    "plain",
]

OPEN: Final = "\N{FIRST STRONG ISOLATE}"
CLOSE: Final = "\N{POP DIRECTIONAL ISOLATE}"
"""Isolates around a name in a sentence, so that right-to-left letters do not reorder the rest."""

NAME: Final = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
"""A name in a sentence."""

ISOLATES: Final = re.compile("[\u2066-\u2069]")


def capital(text: str) -> str:
    """A sentence with a capital first letter.

    >>> capital("no metric is best.")
    'No metric is best.'
    """
    said = spoken(text)
    return said[:1].upper() + said[1:]


def left_out(rows: Sequence[Excluded]) -> Iterator[tuple[str, str]]:
    """The excluded and the changed rows, with a few examples each."""
    changed = [row for row in rows if row.kept]
    gone = [row for row in rows if not row.kept]
    yield from (("excluded", _with_examples(row)) for row in gone)
    if not gone:
        yield "excluded", "nothing"
    yield from (("changed", _with_examples(row)) for row in changed)


def _with_examples(row: Excluded) -> str:
    examples = list(map(isolated, row.examples))
    more = f" and {row.n - len(row.examples):,} more" if row.n > len(row.examples) else ""
    return f"{row.why}: {row.n:,}" + (f" ({', '.join(examples)}{more})" if row.examples else "")


def isolated(text: str) -> str:
    """A name that users gave, for a sentence; see `OPEN`."""
    return f"{OPEN}{ISOLATES.sub('', text)}{CLOSE}"


def plain(text: str) -> str:
    """A sentence without the marks around its names.

    >>> plain(isolated("meteor") + " is best")
    'meteor is best'
    """
    return ISOLATES.sub("", text)


def clean(text: str) -> str:
    r"""A text without control characters other than tabs and line breaks, surrogates and noncharacters.

    >>> clean("a\0b") == "a\N{REPLACEMENT CHARACTER}b"
    True
    """
    return re.sub(
        "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]", "\N{REPLACEMENT CHARACTER}", text
    )
