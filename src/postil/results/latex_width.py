"""Widths of tables in LaTeX, estimated without LaTeX: which of them fit a column or a page, and how the others do.

Widths are those of Computer Modern at 10 pt (cmr10), in points. The page is the narrowest that papers have in two
columns: that of the class ``article`` with ``twocolumn``, 410 pt with columns of 200 pt. Pages of ACL, NeurIPS and IEEE
are wider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["BOLD", "COLUMN", "PAGE", "SCRIPT", "Fit", "fit", "table_width", "text_width"]

COLUMN: Final = 200.0
PAGE: Final = 410.0
"""Widths of a column and of a page, in points."""

BOLD: Final = 1.16
"""Width of bold digits and letters as a multiple of others, at most (``cmbx10`` and ``cmr10``)."""
SCRIPT: Final = 0.8
"""Width of text of the size ``scriptsize`` as a multiple of that at 10 pt (``cmr7``)."""

GAP: Final = 6.0
"""Half of the space between columns, ``tabcolsep``."""

_WIDTHS: Final = {
    character: width / 100
    for width, characters in {
        278: "!',.:;[]il",
        306: "fj",
        333: "-",
        361: "I",
        389: "()t",
        392: "r",
        395: "s",
        445: "cez",
        473: "?",
        500: '"0123456789$*/^ago`',
        514: "J",
        528: "kqvxy",
        556: "Sbdhnpu",
        612: "Z",
        625: "L",
        653: "F",
        681: "EP",
        708: "B",
        722: "CTw",
        736: "R",
        750: "AHNUVXY",
        764: "D",
        778: "&+=@KOQ<>",
        785: "G",
        834: "#%m",
        917: "M",
        1028: "W",
    }.items()
    for character in characters
} | {" ": 3.34}
_OTHER: Final = 8.34
"""Width of Latin and Greek letters and signs that are not listed."""


class Fit(NamedTuple):
    """A way to set a table.

    Args:
        size: Command of the size of the text; empty for that of the text around.
        gap: ``tabcolsep`` in points.
        scaled: True if even the smallest size does not fit, so that the table has to be scaled.
    """

    size: str = ""
    gap: float = GAP
    scaled: bool = False


SIZES: Final = ((1.0, Fit()), (0.925, Fit("small", 4)), (0.855, Fit("footnotesize", 3)), (0.8, Fit("scriptsize", 2)))
"""Sizes of text with the width of their letters as multiples of those at 10 pt: small fonts are wide for their size."""


def text_width(text: str) -> float:
    """Estimate the width of a text of one line at 10 pt.

    Args:
        text: The text, without commands.

    >>> round(text_width("0.1234"), 2), round(text_width("ROUGE-L"), 2)
    (27.78, 46.88)
    """
    return sum(_width(character) for character in text)


def _width(character: str) -> float:
    if combining(character):
        return 0.0
    return _WIDTHS.get(character, 10.0 if east_asian_width(character) in "WF" else _OTHER)


def table_width(columns: Sequence[float], gap: float = GAP) -> float:
    """The width of a table.

    Args:
        columns: Width of the widest cell of each column.
        gap: Half of the space between columns.

    >>> table_width([50, 30])
    104.0
    """
    return sum(columns) + 2 * gap * len(columns)


def fit(columns: Callable[[float], Sequence[float]], room: float = PAGE) -> Fit:
    """The largest size of text in which a table fits.

    Args:
        columns: Function from the width of letters, as a multiple of that at 10 pt, to the width of the widest cell of
            each column.
        room: Width of the page.

    >>> fit(lambda size: [50 * size] * 5), fit(lambda size: [50 * size] * 7).size, fit(lambda size: [99.0] * 8).scaled
    (Fit(size='', gap=6.0, scaled=False), 'small', True)
    """
    fitting = (found for size, found in SIZES if table_width(columns(size), found.gap) <= room)
    return next(fitting, SIZES[-1][1]._replace(scaled=True))
