"""Words and sentences of pages, and what a difference allows to say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol, Self, TypeVar

from postil.messages import spoken

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.data.parts import Excluded

__all__ = [
    "ABOVE",
    "ALPHA",
    "BELOW",
    "NAME",
    "SIGNIFICANTLY",
    "UNCLEAR",
    "VERDICTS",
    "capital",
    "clean",
    "finding",
    "first_minus_second",
    "is_clear",
    "isolated",
    "left_out",
    "plain",
    "verdict",
]

OPEN: Final = "\N{FIRST STRONG ISOLATE}"
CLOSE: Final = "\N{POP DIRECTIONAL ISOLATE}"
"""Isolates around a name in a sentence, so that right-to-left letters do not reorder the rest."""

NAME: Final = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
"""A name in a sentence."""

ISOLATES: Final = re.compile("[\u2066-\u2069]")

ABOVE: Final = "significantly higher than"

BELOW: Final = "significantly lower than"

UNCLEAR: Final = "not significantly different from"

VERDICTS: Final = (ABOVE, BELOW, UNCLEAR)

ALPHA: Final = 0.05

SIGNIFICANTLY: Final = (
    "“Significantly” means that the 95 % confidence interval of the difference excludes 0 and that the Holm-adjusted "
    "p, where there is a test, is below .05."
)
"""Definition of the word, once per chapter."""


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


class Tested(Protocol):
    """A difference of two numbers with its interval and its test."""

    @property
    def value(self) -> float:
        """The first minus the second."""

    @property
    def low(self) -> float | None:
        """Lower end of the 95 % confidence interval."""

    @property
    def high(self) -> float | None:
        """Upper end."""

    @property
    def p_holm(self) -> float | None:
        """Holm-adjusted p; None where there is no test."""

    def reversed(self) -> Self:
        """The second minus the first."""


At = TypeVar("At", str, int)
AnyDifference = TypeVar("AnyDifference", bound=Tested)


def is_clear(row: Tested) -> bool:
    """True if the confidence interval excludes 0 and the Holm-adjusted p, where there is one, is below .05."""
    return finding(row.value, row.low, row.high, row.p_holm) != UNCLEAR


def verdict(row: Tested) -> str:
    """The finding of a difference about its first side, one of `VERDICTS`."""
    return finding(row.value, row.low, row.high, row.p_holm)


def finding(value: float, low: float | None, high: float | None, p_holm: float | None) -> str:
    """One of `VERDICTS`.

    Args:
        value: The difference.
        low: Lower end of its 95 % confidence interval.
        high: Upper end.
        p_holm: Holm-adjusted p; None where there is no test.
    """
    if low is None or high is None or low <= 0 <= high or (p_holm is not None and p_holm >= ALPHA):
        return UNCLEAR
    return ABOVE if value > 0 else BELOW


def first_minus_second(
    rows: Mapping[tuple[str, str, At], AnyDifference], first: str, second: str, at: At
) -> AnyDifference | None:
    """The difference of two names at a coefficient or rank cutoff, reversed where it is stored the other way.

    Args:
        rows: The differences.
        first: A name.
        second: Another.
        at: The coefficient or rank cutoff.
    """
    if found := rows.get((first, second, at)):
        return found
    turned = rows.get((second, first, at))
    if turned is None or turned.low is None or turned.high is None:
        return None
    return turned.reversed()
