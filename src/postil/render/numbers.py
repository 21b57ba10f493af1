"""Numbers of pages and studies: typographic minus signs, no 0 before the decimal point."""

from __future__ import annotations

from typing import Final

from postil.plots import printed

__all__ = ["DASH", "estimate", "grade", "interval", "number", "p_value", "signed"]

DASH: Final = "–"
"""Text of a cell without a number."""

WIDE: Final = 1e6
"""From here on numbers have an exponent."""


def number(value: float, digits: int = 3) -> str:
    """A number; from a million up with an exponent.

    >>> number(0.5227), number(-0.02), number(1.0), number(10.25, 2), number(-0.0001), number(2.5e9)
    ('.523', '−.020', '1.000', '10.25', '.000', '2.5e+09')
    """
    return printed(value, digits)


def signed(value: float, digits: int = 3) -> str:
    """A difference.

    >>> signed(0.031), signed(-0.2), signed(0.0)
    ('+.031', '−.200', '.000')
    """
    return printed(value, digits, sign=True)


def grade(value: float) -> str:
    """A rating, or a score rescaled to the ratings.

    >>> grade(0.0), grade(4.165), grade(-1)
    ('0.00', '4.17', '−1.00')
    """
    return (f"{value:.2f}" if abs(value) < WIDE else f"{value:.3g}").replace("-", "−")


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """An interval, empty where there is none.

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
