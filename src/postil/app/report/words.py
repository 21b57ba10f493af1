"""Numbers and sentences as people read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.app.report.results import LeftOut

__all__ = [
    "DASH",
    "LEVELS",
    "NAME",
    "capital",
    "clean",
    "estimate",
    "grade",
    "interval",
    "isolated",
    "left_out",
    "listed",
    "number",
    "p_value",
    "plain",
    "signed",
    "titled",
]

OPEN: Final = "\N{FIRST STRONG ISOLATE}"
CLOSE: Final = "\N{POP DIRECTIONAL ISOLATE}"
"""What stands around a name in a sentence, so that letters which run from right to left turn nothing else."""

NAME: Final = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
"""A name in a sentence."""

ISOLATES: Final = re.compile("[\u2066-\u2069]")

WIDE: Final = 1e6
"""From here on numbers are shown with an exponent."""

DASH: Final = "–"
"""Where there is no number."""

COEFFICIENTS: Final[Mapping[str, str]] = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall-b": "Kendall τ-b",
    "kendall-c": "Kendall τ-c",
}
LEVELS: Final[Mapping[str, str]] = {
    "pool": "over all texts together",
    "item": "within each item, then the mean over items",
    "system": "over the means of the systems",
}


def titled(coefficient: str) -> str:
    """A coefficient.

    >>> titled("kendall-b"), titled("mine")
    ('Kendall τ-b', 'mine')
    """
    return COEFFICIENTS.get(coefficient, coefficient)


def number(value: float, digits: int = 3) -> str:
    """A correlation or the like, without the 0 before the point; a number from a million up with an exponent.

    >>> number(0.5227), number(-0.02), number(1.0), number(10.25, 2), number(-0.0001), number(2.5e9)
    ('.523', '−.020', '1.000', '10.25', '.000', '2.5e+09')
    """
    text = f"{value:.{digits}f}" if abs(value) < WIDE else f"{value:.3g}"
    if float(text) == 0:
        text = text.lstrip("-")
    return re.sub(r"^(-?)0\.", r"\1.", text).replace("-", "−")


def signed(value: float, digits: int = 3) -> str:
    """A difference.

    >>> signed(0.031), signed(-0.2), signed(0.0)
    ('+.031', '−.200', '.000')
    """
    text = number(value, digits)
    return f"+{text}" if value > 0 and float(text) else text


def grade(value: float) -> str:
    """A grade, or what was brought to the scale of grades.

    >>> grade(0.0), grade(4.165), grade(-1)
    ('0.00', '4.17', '−1.00')
    """
    return (f"{value:.2f}" if abs(value) < WIDE else f"{value:.3g}").replace("-", "−")


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """An interval.

    >>> interval(-0.02, 0.562), interval(None, None)
    ('[−.020, .562]', '')
    """
    return "" if low is None or high is None else f"[{number(low, digits)}, {number(high, digits)}]"


def estimate(value: float, low: float | None, high: float | None) -> str:
    """A value with its interval, on one line.

    >>> estimate(0.5, None, None), estimate(0.5, 0.25, 0.75).split()
    ('.500', ['.500', '[.250,', '.750]'])
    """
    return f"{number(value)} {interval(low, high)}".strip().replace(" ", "\N{NO-BREAK SPACE}")


def p_value(p: float | None) -> str:
    """A p-value.

    >>> p_value(0.00071), p_value(0.00002), p_value(1.0), p_value(None)
    ('.0007', '<.0001', '1.0000', '–')
    """
    if p is None:
        return DASH
    return number(p, 4) if p >= 0.0001 else "<.0001"


def capital(text: str) -> str:
    """A sentence, which begins with a capital.

    >>> capital("no metric is best.")
    'No metric is best.'
    """
    return text[:1].upper() + text[1:]


def listed(names: Sequence[str], last: str = "and", most: int | None = None) -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a', 'a, b and 2 more')
    """
    if most is not None and len(names) > most + 1:
        return f"{', '.join(names[:most])} {last} {len(names) - most:,} more"
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def left_out(rows: Sequence[LeftOut]) -> Iterator[tuple[str, str]]:
    """What was left out, and what was changed, each with a few of it by name."""
    changed = [row for row in rows if "mean taken" in row.why]
    gone = [row for row in rows if row not in changed]
    yield from (("left out", _with_examples(row)) for row in gone)
    if not gone:
        yield "left out", "nothing"
    yield from (("changed", _with_examples(row)) for row in changed)


def _with_examples(row: LeftOut) -> str:
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
    r"""A text without what no page may hold: control characters other than tabs and line breaks, half characters.

    >>> clean("a\0b") == "a\N{REPLACEMENT CHARACTER}b"
    True
    """
    return re.sub(
        "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]", "\N{REPLACEMENT CHARACTER}", text
    )
