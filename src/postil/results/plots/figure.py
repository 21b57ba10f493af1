"""Shared parts of all figures: colors, style, positions in points, texts that fit."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from postil.data.escaping import one_line, printed, visible
from postil.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.ft2font import FT2Font
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "BLUE",
    "COLORS",
    "DASHES",
    "GREY",
    "INK",
    "MUTED",
    "SIZE",
    "SMALL",
    "STRONGEST",
    "SWATCH",
    "VERMILION",
    "WIDTH",
    "Dash",
    "canvas",
    "fit",
    "grid",
    "numbers",
    "panel",
    "printed",
    "readable",
    "style",
    "swatch",
    "text_width",
    "ticks",
    "write",
]

INK: Final = "#1a1a1c"
"""Text and axes; in a web page it becomes the color of the text around the picture."""

BLUE: Final = "#1580c4"
VERMILION: Final = "#d55e00"
COLORS: Final = (BLUE, VERMILION, "#009e73", "#cc79a7")
"""After Okabe and Ito, for the color-blind; each has a contrast of 3:1 and more on white and on dark grey."""

GREY: Final = "#7f7f7f"
"""For what is there for comparison only."""

Dash: TypeAlias = Literal["solid"] | tuple[float, tuple[float, float]]

DASHES: Final[tuple[Dash, ...]] = ("solid", (0, (4, 1.6)), (0, (1, 1.4)))
"""Dash patterns that distinguish lines of one color."""

MUTED: Final = 0.68
"""Opacity of what stands back."""

STRONGEST: Final = 0.75
"""Opacity of the strongest cell of a matrix: text on it has a contrast of 4.5:1 in light and in dark pages."""

WIDTH: Final = 624.0
"""Width of a picture in points: 832 pixels."""

SIZE: Final = 9.0
SMALL: Final = 8.0
"""Sizes of text in points."""

SWATCH: Final = 8.0
"""Side of a square of color in a key."""

STYLE: Final[dict[str, Any]] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": SIZE,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "postil",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "xtick.labelsize": SMALL,
    "xtick.major.size": 3,
    "xtick.major.width": 0.6,
    "ytick.color": INK,
    "ytick.labelsize": SMALL,
    "ytick.major.size": 3,
    "ytick.major.width": 0.6,
}

NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_one_at_a_time = threading.RLock()


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib's own defaults with ours on top, whatever the user's settings; put back afterwards.

    The settings are the process's, so one thread draws at a time.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib import style as styles  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("a picture", "plot") from error
    with _one_at_a_time, styles.context(["default", STYLE]):
        yield


def canvas(width: float, height: float) -> Figure:
    """An empty picture of a size in points."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    return Figure(figsize=(width / 72, height / 72), dpi=72, facecolor="none")


def panel(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes at a place in points, counted from the upper left corner."""
    whole_width, whole_height = figure.get_size_inches() * 72
    place = (left / whole_width, 1 - (top + height) / whole_height, width / whole_width, height / whole_height)
    axes = figure.add_axes(place)
    axes.patch.set_visible(False)
    return axes


def write(
    figure: Figure,
    x: float,
    y: float,
    text: str,
    *,
    align: Literal["left", "center", "right"] = "left",
    size: float = SIZE,
    bold: bool = False,
    alpha: float = 1,
    rotation: float = 0,
) -> None:
    """Write at a place in points, counted from the upper left corner; ``y`` is the middle of the line."""
    width, height = figure.get_size_inches() * 72
    figure.text(
        x / width,
        1 - y / height,
        text,
        ha=align,
        va="center_baseline",
        fontsize=size,
        fontweight="bold" if bold else "normal",
        alpha=alpha,
        rotation=rotation,
        rotation_mode="anchor",
    )


def swatch(figure: Figure, x: float, y: float, color: str, alpha: float) -> None:
    """A square of color with its left side at ``x`` and its middle at ``y``, in points from the upper left corner."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    width, height = figure.get_size_inches() * 72
    place = x / width, 1 - (y + SWATCH / 2) / height
    box = Rectangle(place, SWATCH / width, SWATCH / height, facecolor=color, alpha=alpha, lw=0)
    box.set_transform(figure.transFigure)
    figure.add_artist(box)


@cache
def _font(*, bold: bool) -> tuple[FT2Font, frozenset[int]]:
    """The font that comes with matplotlib, and the characters that it has."""
    from matplotlib.font_manager import FontProperties, findfont, get_font  # noqa: PLC0415

    path = findfont(FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal"), fallback_to_default=True)
    return get_font(path), frozenset(get_font(path).get_charmap())


def text_width(text: str, size: float = SIZE, *, bold: bool = False) -> float:
    """The width of a line in points; characters that our font lacks, such as Chinese ones, count as wide as high."""
    font, known = _font(bold=bold)
    font.set_size(size, 72)
    font.set_text("".join(letter if ord(letter) in known else "\N{EM DASH}" for letter in text))
    return font.get_width_height()[0] / 64


def readable(text: str) -> str:
    """A text that XML can hold: control characters as escapes, and none of the others that it must not have."""
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", visible(text))


def fit(text: str, width: float, size: float = SIZE, *, bold: bool = False) -> str:
    """Shorten a text to one line of a maximum width in points, by leaving out its middle."""
    text = readable(" ".join(one_line(text).split()))

    def shown(kept: int) -> str:
        return f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"

    if len(text) < 2 or (len(text) <= 300 and text_width(text, size, bold=bold) <= width):
        return text
    least, most = 1, min(len(text) - 1, 300)
    while least < most:  # the more is kept, the wider
        kept = (least + most + 1) // 2
        if text_width(shown(kept), size, bold=bold) <= width:
            least = kept
        else:
            most = kept - 1
    return shown(most)


def tick(value: float, _place: object = None) -> str:
    """A number at an axis.

    >>> tick(0.25), tick(-1), tick(20000)
    ('0.25', '−1', '20,000')
    """
    whole = 1000 <= abs(value) < 1e12 and float(value).is_integer()
    text = f"{value:,.0f}" if whole else f"{value:g}"
    return text.replace("-", "\N{MINUS SIGN}")


def ticks(axis: Axis, most: int, *, integer: bool = False) -> None:
    """Round numbers along an axis, with an approximate maximum number of them."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator  # noqa: PLC0415

    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=integer))
    axis.set_major_formatter(FuncFormatter(tick))


def grid(axes: Axes, axis: Literal["both", "x", "y"] = "both") -> None:
    """Faint lines behind everything."""
    axes.grid(axis=axis, color=INK, alpha=0.12, linewidth=0.6)
    axes.set_axisbelow(True)


def numbers(name: str, values: ArrayLike, shape: Sequence[int | None], *, absent: bool = False) -> NDArray[np.float64]:
    """An array of the expected shape.

    Args:
        name: Name of the array in messages.
        values: The numbers.
        shape: The expected length of each dimension, None where any will do.
        absent: True if NaN may stand for a missing number.

    Raises:
        UsageError: Another shape, or numbers that are not finite.
    """
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name}: expected an array of numbers") from error
    if array.ndim != len(shape) or any(want not in {None, got} for want, got in zip(shape, array.shape, strict=True)):
        wanted = " x ".join("n" if want is None else str(want) for want in shape)
        raise UsageError(f"{name}: expected {wanted} numbers, got an array of shape {array.shape}")
    if not np.all(np.isfinite(array) | (np.isnan(array) & absent)):
        raise UsageError(f"{name}: expected finite numbers")
    return array
