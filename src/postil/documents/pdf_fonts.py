"""Fonts of a PDF: characters and widths of the codes in its strings.

Codes become characters as pypdf knows them (``Font``, which its own extraction of text uses and its documentation does
not list, so the extra names one major version of pypdf).
"""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Final

from pypdf.errors import LimitReachedError
from pypdf.generic import DictionaryObject, PdfObject, StreamObject
from pypdf.generic._font import Font

from postil.documents.pdf_signs import SIGNS, spacing_accent, tex_signs, type1_signs

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["UNREADABLE", "PdfFont", "read_font"]

UNREADABLE: Final = "\N{REPLACEMENT CHARACTER}"
"""Stands for a character that the file does not name."""
FIXED_PITCH: Final = 1
KEPT: Final = 20_000
"""Largest number of strings whose characters are kept."""
LEAST_GAP: Final = 0.1
WIDEST_GAP: Final = 0.14
"""Bounds of the least width of a space between words, as a share of the size; lines of narrow fonts can have .16."""

_BOLD: Final = re.compile(r"bold|black|heavy|(?<![a-z])cmbx|semibold|demi(?!sans)", re.IGNORECASE)
_MONO: Final = re.compile(r"mono|courier|consol|cmtt|typewriter|fixed|menlo|inconsolata", re.IGNORECASE)


class PdfFont:
    """A font.

    Args:
        font: Its encoding and widths as pypdf reads them; None if it cannot be read.
        unit: Width of a unit of its glyphs, for a font of size 1.
        signs: The characters of codes that its encoding does not name.
    """

    def __init__(self, font: Font | None, unit: float = 0.001, signs: Mapping[int, str] | None = None) -> None:
        self._font = font
        self._unit = unit
        self._signs = signs or {}
        self._known: dict[bytes, tuple[str, float, int, int]] = {}
        name = "" if font is None else font.name
        flags = 0 if font is None else _integer(font.font_descriptor.flags)
        self.bold = _BOLD.search(name) is not None
        self.mono = _MONO.search(name) is not None or bool(flags & FIXED_PITCH)
        if font is not None and not self.mono and isinstance(font.encoding, dict):
            widths = [width for code, width in font.character_widths.items() if code != "default" and width]
            self.mono = len(widths) > 9 and len(set(widths)) == 1
        self.space = _finite(250.0 if font is None else font.space_width) * self._unit
        """Width of its space, for a font of size 1."""
        self.gap = min(max(0.5 * self.space, LEAST_GAP), WIDEST_GAP)
        """Least width of a space between words, for a font of size 1."""

    def decode(self, string: bytes) -> tuple[str, float, int, int]:
        """The characters of a string, its width for a font of size 1, and the numbers of its codes and spaces.

        Args:
            string: The string.
        """
        if (known := self._known.get(string)) is not None:
            return known
        found = self._decoded(string)
        if len(self._known) < KEPT and len(string) < 256:
            self._known[string] = found
        return found

    def _decoded(self, string: bytes) -> tuple[str, float, int, int]:
        font = self._font
        if font is None or not font.interpretable:
            return UNREADABLE * len(string), 0.5 * len(string), len(string), 0
        if isinstance(font.encoding, str):
            codes = string.decode(font.encoding, "surrogatepass" if "utf-16" in font.encoding else "replace")
            characters = [font.character_map.get(code, code) for code in codes]
            if not font.character_map and font.encoding == "utf-16-be" and font.sub_type == "Type0":
                characters = [UNREADABLE] * len(codes)
        else:
            codes = string.decode("latin-1")
            named = font.encoding
            first = [named.get(code, chr(code)) for code in string]
            characters = [font.character_map.get(each, each) for each in first]
            if self._signs:
                characters = [self._signs.get(code, sign) for code, sign in zip(string, characters, strict=True)]
        widths, usual = font.character_widths, font.character_widths.get("default", 500)
        width = sum(_finite(widths.get(code, usual)) for code in codes) * self._unit
        text = "".join(map(str, characters))
        if not text.isascii():
            text = "".join(map(spacing_accent, map(str, characters)))
        return _joined(text.translate(SIGNS)), width, len(codes), string.count(b" ")


def read_font(resource: object) -> PdfFont:
    """Read a font.

    Args:
        resource: The object that the file describes it by; without one its characters are unreadable.

    Raises:
        LimitReachedError: It is larger than fonts are.
    """
    try:
        resource = resource.get_object() if isinstance(resource, PdfObject) else resource
        if not isinstance(resource, DictionaryObject):
            return PdfFont(None)
        return PdfFont(Font.from_font_resource(resource), _unit(resource), _unnamed(resource))
    except LimitReachedError:
        raise
    except Exception:  # of damaged fonts pypdf raises whatever its code meets
        return PdfFont(None)


def _unit(resource: DictionaryObject) -> float:
    """Width of a unit of a font's glyphs: fonts of drawings (Type 3) have their own."""
    matrix = _entry(resource, "/FontMatrix") if resource.get("/Subtype") == "/Type3" else None
    unit = float(matrix[0]) if isinstance(matrix, list) and matrix else 0.001
    return unit if 1e-6 < unit < 1 else 0.001


def _unnamed(resource: DictionaryObject) -> dict[int, str]:
    """The characters of codes that only the font's own program names, or nothing but the habits of TeX."""
    if "/ToUnicode" in resource:
        return {}
    if resource.get("/Subtype") == "/Type3":
        encoding = _entry(resource, "/Encoding")
        names = _entry(encoding, "/Differences")
        return tex_signs([name for name in names if isinstance(name, str)]) if isinstance(names, list) else {}
    program = _entry(_entry(resource, "/FontDescriptor"), "/FontFile")
    if "/Encoding" in resource or not isinstance(program, StreamObject):
        return {}
    return type1_signs(program.get_data())


def _entry(of: object, name: str) -> object:
    """An entry of a dictionary; None where there is none."""
    return of[name] if isinstance(of, DictionaryObject) and name in of else None


def _finite(width: object) -> float:
    """A width within bounds; 500 where the file gives none."""
    return max(-4000.0, min(4000.0, float(width))) if isinstance(width, int | float) and isfinite(width) else 500.0


def _integer(flags: object) -> int:
    return int(flags) if isinstance(flags, int | float) and isfinite(flags) else 0


def _joined(text: str) -> str:
    """Make halves of one character (surrogates) one; those without a partner are unreadable."""
    if text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
