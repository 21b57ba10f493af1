"""Catalogues of translations: ``.po`` files, read strictly, as the bytes of ``.mo`` files that `gettext` reads.

The build runs this file by itself, so it imports nothing but the standard library::

    python -I po_files.py postil.po postil.mo
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Final

__all__ = ["compiled"]

_WORDS: Final = ("msgctxt", "msgid", "msgid_plural", "msgstr")
_MAGIC: Final = 0x950412DE


def compiled(text: str) -> bytes:
    r"""Compile a catalogue; what has no translation yet is left out.

    Args:
        text: Content of a ``.po`` file.

    Raises:
        ValueError: A line is not what it should be, an entry is fuzzy or there twice, or a plural form is missing.

    >>> from gettext import GNUTranslations
    >>> from io import BytesIO
    >>> header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
    >>> GNUTranslations(BytesIO(compiled(header + 'msgid "Back"\nmsgstr "返回"\n'))).gettext("Back")
    '返回'
    """
    found: dict[bytes, bytes] = {}
    fields: dict[str, str] = {}
    at = ""
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        word, _, rest = ("", "", line) if line.startswith('"') else line.partition(" ")
        if not line:
            _add(found, fields, number)
            fields, at = {}, ""
        elif line.startswith("#"):
            if line.startswith("#,") and "fuzzy" in line:
                raise ValueError(f"line {number}: a fuzzy entry; check its translation and take the mark away")
        elif not (word or at) or (word and (word in fields or word.partition("[")[0] not in _WORDS)):
            raise ValueError(f"line {number}: expected one of {', '.join(_WORDS)}, got '{line}'")
        else:
            at = word or at
            fields[at] = fields.get(at, "") + _quoted(rest, number)
    return _written(found)


def _quoted(text: str, number: int) -> str:
    try:
        found = json.loads(text) if text.startswith('"') else None  # the escapes of .po files are among those of JSON
    except ValueError:
        found = None
    if found is None:
        raise ValueError(f"line {number}: expected a text in quotation marks, got '{text}'")
    return str(found)


def _add(found: dict[bytes, bytes], fields: dict[str, str], number: int) -> None:
    """Take up the entry that ends before a line."""
    if not fields:
        return
    context = f"{fields['msgctxt']}\4" if "msgctxt" in fields else ""
    keys = [fields.get("msgid", ""), *([fields["msgid_plural"]] if "msgid_plural" in fields else [])]
    places = ["msgstr"] if len(keys) == 1 else [f"msgstr[{n}]" for n in range(sum("[" in each for each in fields))]
    key = (context + "\0".join(keys)).encode()
    if "msgid" not in fields or not places or not all(each in fields for each in places) or key in found:
        raise ValueError(f"line {number}: the entry before it is not whole, or there twice: {keys[0]!r}")
    if all(fields[each] for each in places):
        found[key] = "\0".join(fields[each] for each in places).encode()


def _written(found: dict[bytes, bytes]) -> bytes:
    """The format of GNU gettext: places of all keys, in their order, and of all values, then the texts themselves."""
    keys = sorted(found)
    texts = [*keys, *(found[key] for key in keys)]
    at = begin = 28 + 8 * len(texts)
    places: list[int] = []
    for each in texts:
        places += [len(each), at]
        at += len(each) + 1
    header = (_MAGIC, 0, len(keys), 28, 28 + 8 * len(keys), 0, begin)
    return struct.pack(f"<7I{len(places)}I", *header, *places) + b"".join(each + b"\0" for each in texts)


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_bytes(compiled(source.read_text(encoding="utf-8")))
