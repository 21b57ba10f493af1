"""Shared parts of figures: colors, style, positions in points, texts that fit, and SVG text or a file in the end.

The same figure gives the same bytes.
"""

from __future__ import annotations

import io
import logging
import re
import threading
import warnings
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from postil.data.escaping import one_line, printed, visible
from postil.errors import PostilError, UsageError, needs
from postil.results.names import labelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
    "names_of_metrics",
    "numbers",
    "panel",
    "printed",
    "readable",
    "save",
    "save_vector",
    "style",
    "svg",
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

_names: ContextVar[Mapping[str, str]] = ContextVar("names", default=MappingProxyType({}))


@contextmanager
def names_of_metrics(names: Mapping[str, str]) -> Iterator[None]:
    """Let labels name metrics as a user chose.

    Args:
        names: Names by specs.
    """
    token = _names.set(names)
    try:
        yield
    finally:
        _names.reset(token)


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib's own defaults with ours on top, whatever the user's settings; put back afterwards.

    The settings are the process's, so one thread draws at a time.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    with needs("a picture", "report"):
        from matplotlib import style as styles  # noqa: PLC0415
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
    font.set_text("".join(letter if ord(letter) in known else "—" for letter in text))
    return font.get_width_height()[0] / 64


def readable(text: str) -> str:
    """A text that XML can hold: control characters as escapes, and none of the others that it must not have."""
    return NOT_XML.sub("\ufffd", visible(text))


def fit(text: str, width: float, size: float = SIZE, *, bold: bool = False) -> str:
    """Shorten a text to one line of a maximum width in points, by leaving out its middle."""
    text = readable(" ".join(one_line(labelled(text, _names.get())).split()))

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
    return text.replace("-", "−")


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


FONTS: Final = (
    "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'Noto Sans', 'PingFang SC', 'Microsoft YaHei', "
    "'Noto Sans CJK SC', 'Noto Sans SC', 'Source Han Sans SC', 'WenQuanYi Micro Hei', sans-serif"
)
"""None of the Latin ones is wider than the font that places are measured with."""

FALLBACK: Final = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "SimHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
)
"""Fonts with Chinese characters for PNG and PDF, where one of them is installed."""

SPACE: Final = "http://www.w3.org/2000/svg"
DPI: Final = 200
WITHOUT: Final[dict[str, dict[str, Any]]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def svg(figure: Figure, label: str) -> str:
    """The picture as an ``<svg>`` element to put into a page.

    It has no prologue, no style sheet and no ``style`` attributes, and its ids do not meet those of other pictures.
    Text and axes take the color of the text around it, so that it can be read on light and on dark pages. Text is
    text, in the reader's fonts.

    Args:
        figure: A figure of this package.
        label: Description of the picture, for those who cannot see it.

    Raises:
        MissingExtra: matplotlib is not installed.

    >>> from postil.results.plots.forest import IntervalRow, intervals
    >>> drawn = svg(intervals([IntervalRow("meteor", 0.42, 0.38, 0.46)]), "Correlations of metrics & people")
    >>> drawn.startswith("<svg "), "Correlations of metrics &amp; people" in drawn, "meteor</text>" in drawn
    (True, True, True)
    """
    return _tidy(_rendered(figure, "svg").decode(), label, ink="currentColor")


def save(figure: Figure, path: str | PathLike[str], label: str = "") -> None:
    """Write the picture, dark on white, to a file whose ending says how: ``.svg``, ``.png`` or ``.pdf``.

    PNG and PDF need an installed font with the characters of the labels. Where there is none a warning says so.

    Args:
        figure: A figure of this package.
        path: The file; one that is there is overwritten.
        label: Description of the picture, for those who cannot see it; SVG only.

    Raises:
        UsageError: The ending is another one.
        MissingExtra: matplotlib is not installed.
        PostilError: The operating system reports an error.
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind == "svg":
        data = _tidy(_rendered(figure, "svg").decode(), label, ink=INK, paper="#ffffff").encode()
    elif kind in WITHOUT:
        data = _rendered(figure, kind)
    else:
        raise UsageError(f"{path}: expected a name that ends in .svg, .png or .pdf")
    try:
        path.write_bytes(data)
    except OSError as error:
        raise PostilError(f"{path}: cannot be written: {error.strerror or error}") from error


def save_vector(figure: Figure, stem: str | PathLike[str], label: str = "") -> Iterator[Path]:
    """Write the picture as SVG, for pages, and as PDF, for papers; see `save`.

    Args:
        figure: A figure of this package.
        stem: The files without their endings.
        label: Description of the picture, for those who cannot see it; SVG only.

    Yields:
        The files.
    """
    for ending in (".svg", ".pdf"):
        path = Path(f"{fspath(stem)}{ending}")
        save(figure, path, label)
        yield path


def _rendered(figure: Figure, kind: str) -> bytes:
    """The figure in matplotlib's own SVG, or ready as PNG or PDF."""
    out = io.BytesIO()
    with style(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if kind == "svg":
            figure.savefig(out, format="svg", facecolor="none", metadata={"Date": None, "Creator": None})
            return out.getvalue()  # glyphs that are missing here are the browser's
        with _chinese(figure):
            figure.savefig(out, format=kind, dpi=DPI, facecolor="white", metadata=WITHOUT[kind])
    missing = {match[1] for each in caught if (match := re.match(r"Glyph (\d+) ", str(each.message)))}
    if missing:
        letters = " ".join(sorted(chr(int(code)) for code in missing)[:8])
        warnings.warn(
            f"no installed font has {letters}: install one that does, such as Noto Sans CJK, or save as .svg",
            stacklevel=3,
        )
    return out.getvalue()


@contextmanager
def _chinese(figure: Figure) -> Iterator[None]:
    """Let texts fall back on the fonts with Chinese characters that are installed.

    Only while a file of pixels or glyphs is written: where texts stand in SVG must not depend on the machine.
    """
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.font_manager import fontManager  # noqa: PLC0415
    from matplotlib.text import Text  # noqa: PLC0415

    def use(families: list[str]) -> None:
        mpl.rcParams["font.family"] = families
        for text in figure.findobj(Text):
            text.set_fontfamily(families)

    installed = {font.name for font in fontManager.ttflist}
    log = logging.getLogger("matplotlib.font_manager")  # it tells which of these fonts have no bold
    silent, log.disabled = log.disabled, True
    use(["DejaVu Sans", *(name for name in FALLBACK if name in installed)])
    try:
        yield
    finally:
        use(["sans-serif"])
        log.disabled = silent


def _tidy(text: str, label: str, *, ink: str, paper: str = "") -> str:
    """Matplotlib's SVG made fit for a page: see `svg`."""
    whole = ET.fromstring(text)  # noqa: S314 - our own
    for node in whole.iter():
        node.tag = node.tag.removeprefix(f"{{{SPACE}}}")
        _spell_out(node, ink)
    _prune(whole)
    _rename(whole)
    box = whole.attrib["viewBox"].split()
    whole.attrib = {
        "xmlns": SPACE,
        "viewBox": " ".join(box),
        "width": f"{float(box[2]) * 4 / 3:.0f}",
        "height": f"{float(box[3]) * 4 / 3:.0f}",
        "font-family": FONTS,
        "stroke-linejoin": "round",
    } | ({"role": "img", "aria-label": readable(label)} if label else {"aria-hidden": "true"})
    if paper:
        whole.insert(0, ET.Element("rect", {"width": box[2], "height": box[3], "fill": paper}))
    return ET.tostring(whole, encoding="unicode")


def _spell_out(node: ET.Element, ink: str) -> None:
    """Styles become attributes, which every content security policy allows; numbers become short."""
    node.text, node.tail = node.text if node.tag == "text" else None, None
    attributes: dict[str, str] = {}
    for name, value in node.attrib.items():
        if name == "style":
            attributes |= dict(part.split(": ", 1) for part in value.split("; ") if part)
        else:
            attributes[name.rpartition("}")[2]] = value
    attributes.pop("font-family", None)
    if attributes.get("text-anchor") == "start":
        del attributes["text-anchor"]
    attributes = {name: ink if value.lower() == INK else value for name, value in attributes.items()}
    if node.tag == "text":
        attributes.setdefault("fill", ink)
        if attributes.get("transform", "").startswith(("rotate(-0 ", "rotate(0 ")):
            del attributes["transform"]
    if "d" in attributes:
        attributes["d"] = _short(attributes["d"])
    for name in attributes.keys() & {"x", "y", "width", "height"} if node.tag != "svg" else ():
        attributes[name] = _number(attributes[name])
    node.attrib = attributes


def _number(text: str) -> str:
    """A number in hundredths."""
    text = f"{float(text):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _short(path: str) -> str:
    """Path data in hundredths, with H and V where they do.

    >>> _short("M 10 20.004 L 10.5 20 L 10.5 30 z")
    'M10 20H10.5V30z'
    """
    parts = []
    x = y = ""
    for command, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        values = [_number(value) for value in rest.split()]
        if command == "L" and values[1] == y:
            parts.append(f"H{values[0]}")
        elif command == "L" and values[0] == x:
            parts.append(f"V{values[1]}")
        else:
            parts.append(command + " ".join(values))
        if values:
            x, y = values[-2:]
    return "".join(parts)


def _prune(node: ET.Element) -> None:
    """Drop what shows nothing, such as metadata, invisible paths and empty groups; unwrap groups that say nothing."""
    children: list[ET.Element] = []
    for child in node:
        _prune(child)
        if child.tag in {"style", "metadata"}:
            continue
        if child.tag == "path" and child.get("fill") == "none" and "stroke" not in child.attrib:
            continue
        if child.tag in {"g", "defs"} and not len(child):
            continue
        if child.tag == "g" and not child.attrib.keys() - {"id"}:
            children.extend(child)
        else:
            children.append(child)
    node[:] = children


def _rename(whole: ET.Element) -> None:
    """Keep the ids that are referred to, and make them this picture's own."""
    stem = f"p{sha256(ET.tostring(whole)).hexdigest()[:8]}-"
    names: dict[str, str] = {}

    def renamed(name: str) -> str:
        return names.setdefault(name, f"{stem}{len(names)}")

    for node in whole.iter():
        for key, value in node.attrib.items():
            if key == "href" and value.startswith("#"):
                node.attrib[key] = f"#{renamed(value[1:])}"
            elif value.startswith("url(#"):
                node.attrib[key] = f"url(#{renamed(value[5:-1])})"
    for node in whole.iter():
        name = node.attrib.pop("id", None)
        if name in names:
            node.attrib["id"] = names[name]
