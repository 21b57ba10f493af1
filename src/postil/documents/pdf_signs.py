"""Characters of PDFs that are written as others in plain text, that fonts do not name, or that are drawn from two."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from pypdf._codecs.adobe_glyphs import adobe_glyphs

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ACCENTS", "SIGNS", "accented", "spacing_accent", "tex_signs", "type1_signs"]

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
