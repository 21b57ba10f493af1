"""State of the text of a PDF while its operations are carried out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.documents.pdf_fonts import PdfFont
    from postil.documents.pdf_operations import Operand

__all__ = ["IDENTITY", "Matrix", "State", "matrix_of", "number_of", "times", "turned"]

Matrix: TypeAlias = tuple[float, float, float, float, float, float]
IDENTITY: Final[Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class State:
    """The state that ``q`` saves and ``Q`` restores.

    Args:
        matrix: From the units at hand to points of the page.
        font: The font.
        size: Its size.
        spacing: Extra width of each character.
        word_spacing: Extra width of each space.
        scale: Horizontal scale.
        leading: Distance of the next line.
        rise: Height above the baseline.
    """

    matrix: Matrix = IDENTITY
    font: PdfFont | None = None
    size: float = 0.0
    spacing: float = 0.0
    word_spacing: float = 0.0
    scale: float = 1.0
    leading: float = 0.0
    rise: float = 0.0


def number_of(operands: Sequence[Operand], at: int = -1) -> float:
    """An operand that is a number.

    Args:
        operands: The operands.
        at: Its place.

    Raises:
        TypeError: It is none.
        IndexError: There are fewer.
    """
    value = operands[at]
    if not isinstance(value, float):
        raise TypeError("expected a number")
    return value


def matrix_of(operands: Sequence[Operand]) -> Matrix:
    """The last six operands as a matrix.

    Args:
        operands: The operands.

    Raises:
        TypeError: They are no numbers.
        IndexError: They are fewer.
    """
    a, b, c, d, e, f = (number_of(operands, at) for at in range(-6, 0))
    return a, b, c, d, e, f


def times(m: Matrix, n: Matrix) -> Matrix:
    """The product of two matrices: first `m`, then `n`.

    Args:
        m: The first.
        n: The second.
    """
    a, b, c, d, e, f = m
    p, q, r, s, t, u = n
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def turned(a: float, b: float) -> int:
    """Quarter turns of a baseline, counterclockwise.

    Args:
        a: Its direction to the right.
        b: Its direction upwards.
    """
    if abs(a) >= abs(b):
        return 0 if a >= 0 else 2
    return 1 if b > 0 else 3
