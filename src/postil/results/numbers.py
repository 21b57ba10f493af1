"""Numbers: plain ones for terminals, and typeset ones, with minus signs and no 0 before the decimal point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.data.escaping import printed

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DASH", "estimate", "grade", "interval", "number", "p_value", "plain_numbers", "pointed", "signed"]

DASH: Final = "–"
"""Text of a cell without a number."""

WIDE: Final = 1e6
"""From here on numbers have an exponent."""


def plain_numbers(values: Sequence[float], digits: int = 3, *, zero: bool = False, plus: bool = False) -> list[str]:
    """The numbers of a cell as a terminal has them; all with exponents where one is a million or more.

    Args:
        values: The numbers.
        digits: Number of decimals.
        zero: True for a 0 before the point.
        plus: True for a plus sign before what is not below 0, if it has that 0.

    >>> plain_numbers([0.5227, -0.0001, 1.0]), plain_numbers([0.5, -0.02], 2, zero=True, plus=True)
    (['.523', '.000', '1.000'], ['+0.50', '-0.02'])
    >>> plain_numbers([2.5e8, -1e-17, 3e8])
    ['2.500e+08', '0', '3.000e+08']
    """
    if max(map(abs, values)) >= WIDE:
        return [f"{value:.{digits}e}" if zero or abs(value) >= 1e-3 else "0" for value in values]
    shown = [f"{value:{'+' if plus else ''}.{digits}f}" for value in values]
    return shown if zero else list(map(pointed, shown))


def pointed(text: str) -> str:
    """A printed number without a 0 before the point, nor a sign before 0.

    Args:
        text: The number.

    >>> pointed("0.523"), pointed("-0.000")
    ('.523', '.000')
    """
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    return ("" if float(digits) == 0 else sign) + (digits[1:] if digits.startswith("0.") else digits)


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
    return f"{number(value)} {interval(low, high)}".strip().replace(" ", "\xa0")


def p_value(p: float | None) -> str:
    """A p-value.

    >>> p_value(0.00071), p_value(0.00002), p_value(1.0), p_value(None)
    ('.0007', '<.0001', '1.0000', '–')
    """
    if p is None:
        return DASH
    return number(p, 4) if p >= 0.0001 else "<.0001"
