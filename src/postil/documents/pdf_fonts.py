"""Fonts of a PDF: characters and widths of the codes in its strings.

Codes become characters as pypdf knows them (``Font``, which its own extraction of text uses and its documentation does
not list, so the extra names one major version of pypdf).
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Final

from pypdf.errors import LimitReachedError
from pypdf.generic import DictionaryObject, PdfObject
from pypdf.generic._font import Font

__all__ = ["UNREADABLE", "PdfFont", "read_font"]

UNREADABLE: Final = "\N{REPLACEMENT CHARACTER}"
"""Stands for a character that the file does not name."""
FIXED_PITCH: Final = 1
KEPT: Final = 20_000
"""Largest number of strings whose characters are kept."""

_BOLD: Final = re.compile(r"bold|black|heavy|(?<![a-z])cmbx|semibold|demi(?!sans)", re.IGNORECASE)
_MONO: Final = re.compile(r"mono|courier|consol|cmtt|typewriter|fixed|menlo|inconsolata", re.IGNORECASE)
_SIGNS: Final = {
    0xA0: " ",
    0x2002: " ",
    0x2003: " ",
    0x2009: " ",
    0x202F: " ",
    0x200B: "",
    0xFEFF: "",
    0x2010: "-",
    0x2011: "-",
    **dict.fromkeys((*range(9), *range(11, 13), *range(14, 32), 0x7F), ""),
    **dict.fromkeys((9, 10, 13), " "),
    **dict(zip(range(0xFB00, 0xFB07), ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)),
}
"""Ligatures and other characters that are written as others in plain text."""


class PdfFont:
    """A font.

    Args:
        font: Its encoding and widths as pypdf reads them; None if it cannot be read.
    """

    def __init__(self, font: Font | None) -> None:
        self._font = font
        self._known: dict[bytes, tuple[str, float, int, int]] = {}
        name = "" if font is None else font.name
        flags = 0 if font is None else _integer(font.font_descriptor.flags)
        self.bold = _BOLD.search(name) is not None
        self.mono = _MONO.search(name) is not None or bool(flags & FIXED_PITCH)
        if font is not None and not self.mono and isinstance(font.encoding, dict):
            widths = [width for code, width in font.character_widths.items() if code != "default" and width]
            self.mono = len(widths) > 9 and len(set(widths)) == 1
        space = _finite(250.0 if font is None else font.space_width)
        self.gap = min(max(0.5 * space / 1000, 0.1), 0.22)
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
        widths, usual = font.character_widths, font.character_widths.get("default", 500)
        width = sum(_finite(widths.get(code, usual)) for code in codes) / 1000
        text = "".join(map(str, characters)).translate(_SIGNS)
        return _joined(text), width, len(codes), string.count(b" ")


def read_font(resource: object) -> PdfFont:
    """Read a font.

    Args:
        resource: The object that the file describes it by; without one its characters are unreadable.

    Raises:
        LimitReachedError: It is larger than fonts are.
    """
    try:
        resource = resource.get_object() if isinstance(resource, PdfObject) else resource
        return PdfFont(Font.from_font_resource(resource) if isinstance(resource, DictionaryObject) else None)
    except LimitReachedError:
        raise
    except Exception:  # of damaged fonts pypdf raises whatever its code meets
        return PdfFont(None)


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
