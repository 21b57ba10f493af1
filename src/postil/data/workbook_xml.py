"""Workbooks whose XML is right and written in another way than readers expect, rewritten in the usual one."""

from __future__ import annotations

import io
import re
import zipfile
from html import escape
from types import MappingProxyType
from typing import Final
from xml.parsers import expat

__all__ = ["UnusualXmlError", "check_usual", "in_usual_xml"]

LARGEST: Final = 1 << 28
"""Largest size in bytes of the parts of a workbook that is rewritten."""
HEAD: Final = 1 << 14
"""Number of bytes of a part that tell how it is written."""
PARTS: Final = (".xml", ".rels", "mimetype")

_UNUSUAL: Final = re.compile(rb"<(?![?!])(?:[^<>\"']|\"[^\"<]*\")*?(?:'|\s=|=\s)|<(?![?!])/?\w+[.-]")
"""Attributes in single quotes or with space beside the equals sign, and prefixes with a point or hyphen."""
_PREFIXES: Final = MappingProxyType(
    {
        "http://schemas.openxmlformats.org/spreadsheetml/2006/main": "",
        "http://purl.oclc.org/ooxml/spreadsheetml/main": "",
        "http://schemas.openxmlformats.org/package/2006/relationships": "",
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships": "r:",
        "http://purl.oclc.org/ooxml/officeDocument/relationships": "r:",
        "http://www.w3.org/XML/1998/namespace": "xml:",
        "urn:oasis:names:tc:opendocument:xmlns:office:1.0": "office:",
        "urn:oasis:names:tc:opendocument:xmlns:table:1.0": "table:",
        "urn:oasis:names:tc:opendocument:xmlns:text:1.0": "text:",
        "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0": "calcext:",
    }
)
"""Prefixes that readers expect."""
_NO_WORD: Final = re.compile(r"\W")
_IN_ATTRIBUTES: Final = str.maketrans({"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})


class UnusualXmlError(ValueError):
    """A part of a workbook is written in another way than readers expect."""


def check_usual(data: bytes) -> bytes:
    """Check that a part of a workbook is written as readers expect.

    Args:
        data: The part.

    Returns:
        The part.

    Raises:
        UnusualXmlError: It is not.

    >>> check_usual(b'<c r="A1" t="s"><f>B1 = 2</f></c>')
    b'<c r="A1" t="s"><f>B1 = 2</f></c>'
    """
    if _UNUSUAL.search(data[:HEAD]) is not None:
        raise UnusualXmlError("written in another way than readers expect")
    return data


def in_usual_xml(data: bytes) -> bytes | None:
    """Rewrite a workbook: attributes in double quotes, in UTF-8, with the usual prefixes and names of parts.

    Args:
        data: The workbook, a zip file.

    Returns:
        The workbook, not compressed; None where that is too large, or a part is no XML or declares entities.
    """
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        parts = {_usual_part(part.filename): part for part in old.infolist()}
        parts = {name: part for name, part in parts.items() if name.endswith(PARTS)}
        if sum(part.file_size for part in parts.values()) > LARGEST:
            return None
        try:
            for name, part in parts.items():
                data = old.read(part)
                new.writestr(name, data if name == "mimetype" else _Writer().written(data))
        except expat.ExpatError:
            return None
    return made.getvalue()


def _usual_part(name: str) -> str:
    """Name of a part: with slashes, and of .xlsx in lower case."""
    name = name.replace("\\", "/")
    return name.lower() if name.lower().startswith("xl/") else name


class _Writer:
    """Receiver of tags and text that writes them again."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._parser = expat.ParserCreate(namespace_separator="\n")
        self._parser.namespace_prefixes = True
        self._parser.buffer_text = True
        self._parser.ordered_attributes = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity

    def written(self, data: bytes) -> str:
        self._parser.Parse(data, True)  # noqa: FBT003 - positional in expat
        return "".join(self._pieces)

    def _start(self, name: str, attributes: list[str]) -> None:
        name = _usual_name(name)
        pairs = zip(attributes[::2], attributes[1::2], strict=True)
        self._pieces.append(f"<{name}{''.join(_attribute(name, *pair) for pair in pairs)}>")

    def _end(self, name: str) -> None:
        self._pieces.append(f"</{_usual_name(name)}>")

    def _text(self, text: str) -> None:
        self._pieces.append(escape(text, quote=False).replace("\r", "&#13;"))

    def _entity(self, *_: object) -> None:
        raise expat.ExpatError("entities are declared")


def _usual_name(name: str) -> str:
    """A name with the prefix that readers expect; expat gives the address of its namespace, the name and a prefix."""
    space, local, prefix = (*name.split("\n"), "")[:3] if "\n" in name else ("", name, "")
    return _PREFIXES.get(space, f"{_NO_WORD.sub('', prefix)}:" if prefix else "") + local


def _attribute(element: str, name: str, value: str) -> str:
    name = _usual_name(name)
    if element == "Relationship" and name == "Target":
        value = value.lower()
    return f' {name}="{escape(value).translate(_IN_ATTRIBUTES)}"'
