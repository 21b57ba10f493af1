from __future__ import annotations

import gzip
import io
import resource
import struct
import zipfile
import zlib
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest

from limited_child import unfinished
from postil.campaigns.add import MEMORY, limit_memory
from postil.data import streams
from postil.data.row_files import read
from postil.data.rows import Candidate
from postil.data.workbooks import LARGEST_ARCHIVE as LARGEST
from postil.data.workbooks import SMALL, check_sizes
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ZEROS = "0" * (SMALL + 1)


def archive_of(members: Mapping[str, str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return file.getvalue()


def understated(data: bytes, size: int, text: str) -> bytes:
    """An archive of one member that says that the member has fewer bytes, whose checksum fits those."""
    crc = zlib.crc32(text[:size].encode())
    local, central = data.index(b"PK\x03\x04"), data.index(b"PK\x01\x02")
    changed = bytearray(data)
    struct.pack_into("<I", changed, local + 14, crc)
    struct.pack_into("<I", changed, local + 22, size)
    struct.pack_into("<I", changed, central + 16, crc)
    struct.pack_into("<I", changed, central + 24, size)
    return bytes(changed)


def check(data: bytes) -> None:
    check_sizes(data, "a.xlsx")


def test_members_that_inflate_to_far_more_than_the_file() -> None:
    data = archive_of({"xl/sheet.xml": ZEROS})
    with pytest.raises(InvalidInput, match=f"a.xlsx: expected at most {SMALL:,} bytes inflated, .* got {SMALL + 1:,};"):
        check(data)
    halves = archive_of(dict.fromkeys("ab", ZEROS[: SMALL // 2 + 1]))
    with pytest.raises(InvalidInput, match=f"got {SMALL + 2:,}"):
        check(halves)


def test_a_member_larger_than_it_says() -> None:
    data = understated(archive_of({"xl/sheet.xml": ZEROS}), 100, ZEROS)
    assert zipfile.ZipFile(io.BytesIO(data)).read("xl/sheet.xml") == b"0" * 100  # Python believes it
    with pytest.raises(InvalidInput, match=r"expected 100 bytes of its part 'xl/sheet.xml', as it says, got more"):
        check(data)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_that_no_workbook_has(method: int) -> None:
    with pytest.raises(InvalidInput, match="in a way that workbooks are not"):
        check(archive_of({"a": "a" * 100}, method))


READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (1 << 29, 1 << 29))
from postil.errors import InvalidInput
from postil.data.row_files import read
from postil.data.rows import Candidate
try:
    list(read(sys.argv[1], Candidate))
except InvalidInput as error:
    raise SystemExit(0 if "bytes inflated" in str(error) else str(error))
raise SystemExit("it was read")
"""


@pytest.mark.parametrize("name", ["bomb.xlsx", "bomb.ods"])
def test_a_workbook_with_an_enormous_cell_takes_no_memory(tmp_path: Path, name: str) -> None:
    path, block = tmp_path / name, b"0" * (1 << 24)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("content.xml", "w") as member:
        for _ in range(2 * LARGEST // len(block)):
            member.write(block)
    assert unfinished(READ, str(path)) == ""


def test_a_file_that_is_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'[{"id": "' + b"a" * 1000 + b'", "text": "Rain."}]'))
    monkeypatch.setattr(streams, "LARGEST", 1000)
    with pytest.raises(InvalidInput, match=r"a.json.gz: expected at most 1,000 bytes decompressed, got more"):
        list(read(path, Candidate))


def test_the_process_that_reads_uploads_has_little_memory() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=limit_memory) as apart:
        assert apart.submit(resource.getrlimit, resource.RLIMIT_DATA).result()[0] == MEMORY
