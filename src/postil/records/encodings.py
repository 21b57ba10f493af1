"""Encodings of texts that are not UTF-8, told by the texts themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from postil.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Sequence

    from charset_normalizer import CharsetMatch

__all__ = ["SAMPLE", "detected_encoding", "shown_encoding", "told_encoding"]

SAMPLE: Final = 1 << 16
MOST_LINES: Final = 500
"""Largest numbers of bytes, and of lines, that a guess is based on."""
CODE_PAGES: Final = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257")
ENCODINGS: Final = (*CODE_PAGES, "gb18030", "big5", "cp932", "euc_jp", "cp949", "koi8_r", "mac_roman")
"""Encodings of text of before UTF-8; more choices would only make short texts ambiguous."""
EVIDENCE: Final = 16
"""Smallest number of characters beyond ASCII by which another encoding than Western Europe's is told: fewer ones are as
often text in one East Asian encoding as in the next, or a byte that was damaged."""
WESTERN: Final = re.compile("[\xa0¡¢£§©ª«®°´·º»¿À-ÖØ-Ýß-öø-ýŒœŠšŽžŸ‘-‚“-„•…–—€™]*")
"""Characters beyond ASCII that are common in text of Western Europe."""

SMALL_LETTERS: Final = re.compile("[ÄÖÜß-öø-ÿ]+")
"""Letters whose bytes are capitals and symbols in the encoding of old Macintoshes, which no text consists of."""


def detected_encoding(block: bytes, where: str, expected: str, otherwise: str) -> str | None:
    """The encoding of a text by its first lines beyond ASCII.

    Args:
        block: The text, or its beginning up to the end of a line; some of it is not UTF-8.
        where: Name of the file.
        expected: The kind of file, for messages.
        otherwise: The advice where charset-normalizer is missing, and the use that it is missing for.

    Returns:
        The name that Python has for it; None where these lines do not tell, or most of them are UTF-8.

    Raises:
        InvalidInput: They are in no encoding of texts.
        MissingExtra: charset-normalizer is not installed.

    >>> detected_encoding("The café was closed.".encode("latin-1"), "menu.txt", "text", "")
    'cp1252'
    """
    lines = [line for line in block.splitlines(keepends=True) if not line.isascii()]
    if 2 * sum(map(_is_utf_8, lines)) >= len(lines):
        return None
    try:
        from charset_normalizer import from_bytes  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra(f"{where} is not UTF-8: {otherwise}", "tables") from error
    sample = _sample(lines)
    found = list(from_bytes(sample, cp_isolation=list(ENCODINGS)))
    best = found[0] if found else None
    western = best is not None and _is_western(best, found, sample)
    encoding = "cp1252" if western else best.encoding if best is not None else "latin-1"
    beyond = _beyond(sample, encoding)
    if len(beyond) < EVIDENCE and not (western and WESTERN.fullmatch(beyond)):
        return None  # so that the first of these bytes is refused by its line
    if best is None:
        raise InvalidInput(f"expected {expected}, got binary data, or text in an unknown encoding", where=where)
    return encoding


def told_encoding(data: bytes) -> str | None:
    r"""The encoding of a page or a feed that nobody names; None where it cannot be told.

    Args:
        data: The page; some of it is not UTF-8.

    >>> told_encoding("<p>今天下雨了，我们没有去公园，只好在家里看书。".encode("gbk")), told_encoding(b"<p>\xff")
    ('gb18030', None)
    """
    try:
        return detected_encoding(data, "", "HTML", "")
    except (InvalidInput, MissingExtra):
        return None


def _is_western(best: CharsetMatch, found: Sequence[CharsetMatch], sample: bytes) -> bool:
    """True where the code page of Western Europe and America explains a text as well as the best of those found."""
    if best.encoding == "mac_roman" and SMALL_LETTERS.fullmatch(_beyond(sample, "cp1252")):
        return True
    return best.encoding in (*CODE_PAGES, "mac_roman") and any(
        "cp1252" in each.could_be_from_charset and each.coherence >= best.coherence and each.chaos <= best.chaos
        for each in found
    )


def _beyond(sample: bytes, encoding: str) -> str:
    """The characters beyond ASCII of a text."""
    return "".join(char for char in sample.decode(encoding, "replace") if not char.isascii())


def shown_encoding(name: str) -> str:
    """Name of an encoding for people.

    Args:
        name: The name that Python has for it.

    >>> shown_encoding("koi8_r")
    'koi8-r'
    """
    return name.replace("_", "-")


def _sample(lines: Sequence[bytes]) -> bytes:
    """The first lines, each of them whole: half a character, as where a text is cut off, would be in no encoding."""
    whole = lines[:-1] if len(lines) > 1 and not lines[-1].endswith((b"\n", b"\r")) else lines
    taken, size = list[bytes](), 0
    for line in whole[:MOST_LINES]:
        if taken and size + len(line) > SAMPLE:
            break
        taken.append(line)
        size += len(line)
    return b"".join(taken)


def _is_utf_8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
