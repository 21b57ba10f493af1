"""Fonts of a PDF: characters and widths of the codes in its strings, and characters that fonts do not name.

Codes become characters as pypdf knows them (``Font``, which its own extraction of text uses and its documentation does
not list, so the extra names one major version of pypdf).
"""

from __future__ import annotations

import re
import unicodedata
from math import isfinite
from typing import TYPE_CHECKING, Final

from pypdf._codecs.adobe_glyphs import adobe_glyphs
from pypdf.errors import LimitReachedError
from pypdf.generic import DictionaryObject, PdfObject, StreamObject
from pypdf.generic._font import Font

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ACCENTS", "UNREADABLE", "PdfFont", "accented", "read_font"]

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
SIGNS: Final = {
    0xA0: " ",
    0x2002: " ",
    0x2003: " ",
    0x2009: " ",
    0x202F: " ",
    0x200B: "",
    0xFEFF: "",
    0x2010: "-",
    0x2011: "-",
    0x88: "•",
    **dict.fromkeys((*range(9), *range(11, 13), *range(14, 32), 0x7F), ""),
    **dict.fromkeys((9, 10, 13), " "),
    **dict(zip(range(0xFB00, 0xFB07), ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)),
}
"""Ligatures and other characters that are written as others in plain text."""
ACCENTS: Final = dict(
    zip("`´ˆ˜¯˘˙¨˚˝ˇ¸˛", "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328", strict=True)
)
"""Accents that stand for themselves, and those of letters."""
_SPACING: Final = {f" {mark}": sign for sign, mark in ACCENTS.items()}
_DOTLESS: Final = {"ı": "i", "ȷ": "j"}

_PUT: Final = re.compile(rb"dup\s{1,9}(\d{1,3})\s{0,9}/([A-Za-z][A-Za-z0-9.]{0,40})\s{1,9}put")
_NUMBERED: Final = re.compile(r"/a(\d{1,3})")
_PROGRAM: Final = 1 << 15
"""Number of bytes of a font's program in which its encoding is looked for."""
_OT1: Final = {
    **dict(zip(range(11, 16), ("ff", "fi", "fl", "ffi", "ffl"), strict=True)),
    **dict(zip(range(16, 32), "ıȷ`´ˇ˘¯˚¸ßæœøÆŒØ", strict=True)),
    34: "”",
    39: "’",
    92: "“",
    96: "‘",
    123: "–",
    124: "—",
    125: "˝",
    126: "˜",
    127: "¨",
}
_T1: Final = {
    **dict(zip(range(16, 24), ("“", "”", "„", "«", "»", "–", "—", ""), strict=True)),
    **dict(zip(range(25, 32), ("ı", "ȷ", "ff", "fi", "fl", "ffi", "ffl"), strict=True)),
    39: "’",
    96: "‘",
    127: "-",
}
"""The encodings of TeX's fonts, where they differ from ASCII and Latin-1."""


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


def spacing_accent(sign: str) -> str:
    """An accent without a letter as the character that stands for itself; other characters as they are.

    Args:
        sign: A character, or what a font writes for one.
    """
    return _SPACING.get(sign, sign)


def accented(text: str, letters: str) -> str:
    """The characters of two strings that are drawn over each other: an accent at the end of one, and letters.

    Args:
        text: The first string; it ends in an accent.
        letters: The second.

    >>> accented("Torbj¨", "orn")
    'Torbjörn'
    """
    base = _DOTLESS.get(letters[0], letters[0])
    return text[:-1] + unicodedata.normalize("NFC", base + ACCENTS[text[-1]]) + letters[1:]


def tex_signs(names: Sequence[str]) -> dict[int, str]:
    """The characters of a font of drawings that names them by their numbers alone, as TeX's are.

    Args:
        names: Its names.
    """
    codes = {int(found[1]) for name in names if (found := _NUMBERED.fullmatch(name))}
    if len(codes) < len(set(names) - {"/.notdef"}):
        return {}
    newer = codes & {16, 17, 21, 22, 27, 28, 29, 30, 31} and not codes & {11, 12, 13, 14, 15, 123, 124}
    return {code: sign for code, sign in (_T1 if newer else _OT1).items() if code in codes}


def type1_signs(program: bytes) -> dict[int, str]:
    """The characters of the codes that the program of a Type 1 font names.

    Args:
        program: The program, whose beginning is in clear.
    """
    found = ((int(code), name.decode("ascii")) for code, name in _PUT.findall(program[:_PROGRAM]))
    return {code: adobe_glyphs[f"/{name}"] for code, name in found if f"/{name}" in adobe_glyphs}
