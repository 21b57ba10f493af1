"""A figure as SVG text for a page, or as a file; the same figure gives the same bytes."""

from __future__ import annotations

import io
import logging
import re
import warnings
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from postil.errors import PostilError, UsageError
from postil.results.plots.figure import INK, readable, style

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from matplotlib.figure import Figure

__all__ = ["save", "svg"]

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
