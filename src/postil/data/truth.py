"""Words for true and false, as tables have them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["truth"]

# Spreadsheets write their own words into CSV, in the language of the program.
_TRUE: Final = (
    *("true", "yes", "y", "t", "on", "1", "1.0"),
    *("wahr", "ja", "vrai", "oui", "verdadero", "sí", "si", "vero", "sì", "verdadeiro", "sim", "waar", "sant", "sann"),
    *("sand", "tosi", "prawda", "pravda", "igaz", "adevărat", "doğru", "истина", "да", "істина", "αληθης", "αληθής"),
    *("真", "是"),
)
_FALSE: Final = (
    *("false", "no", "n", "f", "off", "0", "0.0"),
    *("falsch", "nein", "faux", "non", "falso", "não", "nee", "onwaar", "falskt", "usann", "falsk", "epätosi", "fałsz"),
    *("nepravda", "hamis", "fals", "yanlış", "yanliş", "ложь", "нет", "хибність", "ψευδης", "ψευδής", "假", "否"),
)

WORDS: Final[Mapping[str, bool]] = MappingProxyType({**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)})
"""Meaning of each word, without case."""


def truth(value: object) -> bool | None:
    """Read a value as true or false; None if it is neither.

    Args:
        value: True, False, 1, 0, or text: one of `WORDS`, in any case.

    >>> [truth(value) for value in (True, "TRUE", "WAHR", 1.0, "faux", "0", 2, "maybe")]
    [True, True, True, True, False, False, None, None]
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in {0, 1} else None
    return WORDS.get(value.strip().casefold()) if isinstance(value, str) else None
