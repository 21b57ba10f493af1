"""Sizes of zip archives before anything of them is opened: what they say, and what their members really inflate to."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Final

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LARGEST", "RATIO", "check_sizes"]

LARGEST: Final = 1 << 29
"""Largest number of bytes of all members of an archive together."""
RATIO: Final = 200
"""Largest ratio of what is inflated to the archive, where it is more than `SMALL`; sheets of many rows reach 60."""
SMALL: Final = 1 << 24
"""Number of bytes of members that any archive may have."""
_BLOCK: Final = 1 << 16
_HEAD: Final = struct.Struct("<26xHH")
"""Head of a member: the lengths of its name and of what stands after that."""


def check_sizes(data: bytes, where: str) -> None:
    """Raise if the members of a workbook are larger than anybody's tables, or than the archive says.

    Members are inflated block by block and dropped, so that this takes no memory.

    Args:
        data: The workbook.
        where: Its name.

    Raises:
        InvalidInput: They are, or it is damaged.
    """
    try:
        problem = _problem(zipfile.ZipFile(io.BytesIO(data)).infolist(), data)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, OSError, EOFError) as error:
        problem = f"a damaged workbook, or none: {error}; is the download complete?"
    if problem:
        raise InvalidInput(problem, where=where)


def _problem(members: Sequence[zipfile.ZipInfo], data: bytes) -> str:
    """The problem of the sizes of members; empty if there is none."""
    most = min(LARGEST, max(SMALL, RATIO * len(data)))
    said = sum(member.file_size for member in members)
    if said > most:
        return f"expected at most {most:,} bytes inflated, for a file of {len(data):,}, got {said:,}; save it as CSV"
    for member in members:
        if _inflates_to_more(member, data):
            named = f"its part '{member.filename}'"
            return f"expected {member.file_size:,} bytes of {named}, as it says, got more; save it as CSV"
    return ""


def _inflates_to_more(member: zipfile.ZipInfo, data: bytes) -> bool:
    """True if a member is larger than its archive says."""
    if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise zipfile.BadZipFile(f"part '{member.filename}' is compressed in a way that workbooks are not")
    if len(data) < member.header_offset + _HEAD.size:
        raise zipfile.BadZipFile(f"part '{member.filename}' is cut off")
    begin = member.header_offset + _HEAD.size + sum(_HEAD.unpack_from(data, member.header_offset))
    if member.compress_type == zipfile.ZIP_STORED:
        return member.compress_size > member.file_size
    stream, size = zlib.decompressobj(-zlib.MAX_WBITS), 0
    for at in range(begin, min(begin + member.compress_size, len(data)), _BLOCK):
        part = data[at : min(at + _BLOCK, begin + member.compress_size)]
        while part and not stream.eof:
            size += len(stream.decompress(part, 1 << 20))
            part = stream.unconsumed_tail
            if size > member.file_size:
                return True
    return False
