"""Files open for bytes, decompressed: gzip, bzip2 and Zstandard, by the ending of a name or by the first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import sys
import zlib
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from postil.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from _typeshed import WriteableBuffer

__all__ = ["DAMAGE", "compressed", "damaged", "decompressed", "opened", "whole"]

BLOCK: Final = 1 << 16
GZIP: Final = b"\x1f\x8b"
WIDEST: Final = 31
"""Largest window of a Zstandard file, as a power of two: that of `zstd --long=31`, which large dumps are made with."""
BZIP2: Final = b"BZh"
BZIP2_BLOCK: Final = b"1AY&SY"
"""Bytes that follow the level of a bzip2 file."""
ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"

DAMAGE: Final = (EOFError, OSError, zlib.error)
"""Exceptions of reading a truncated or damaged file."""
LARGEST: Final = 1 << 29
"""Largest number of bytes of a file, decompressed, that is taken into memory as a whole."""


def whole(stream: IO[bytes], where: str) -> bytes:
    """The contents of a file, which are taken into memory as a whole.

    Args:
        stream: The file, decompressed.
        where: Its name.

    Raises:
        InvalidInput: It has more than `LARGEST` bytes.
    """
    data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise InvalidInput(f"expected at most {LARGEST:,} bytes decompressed, got more; split the file", where=where)
    return data


def decompressed(stream: IO[bytes]) -> IO[bytes]:
    """Open a gzip file decompressed.

    Args:
        stream: The file; it stays the caller's to close.
    """
    return io.BufferedReader(_Inflated(gzip.GzipFile(fileobj=stream, mode="rb")), BLOCK)


class _Inflated(io.RawIOBase):
    """The contents of a compressed file, as far as it can be read.

    With a buffer in front this gives lines faster than GzipFile does, and all whole lines before damage.
    """

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        data = self._file.read1(len(view))
        view[: len(data)] = data
        return len(data)


class _FromZstandard(_Inflated):
    """The contents of a Zstandard file; damage is said in words, with the file."""

    def __init__(self, stream: IO[bytes], where: str) -> None:
        self._error = zstandard().ZstdError
        self._where = where
        widest = {zstandard().DecompressionParameter.window_log_max: WIDEST}
        super().__init__(zstandard().ZstdFile(stream, "rb", options=widest))

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        try:
            return super().readinto(buffer)
        except self._error as error:
            raise InvalidInput(f"the zstd file is damaged: {error}", where=self._where) from error
        except EOFError as error:
            raise InvalidInput("the zstd file ends early; is the download complete?", where=self._where) from error


class _FromBzip2(io.RawIOBase):
    """The contents of a bzip2 file, of one stream or several; damage is said in words, with the file."""

    def __init__(self, stream: IO[bytes], where: str) -> None:
        self._file = bz2.BZ2File(stream)
        self._where = where

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        try:
            return self._file.readinto(buffer)
        except EOFError as error:
            raise InvalidInput("the bzip2 file ends early; is the download complete?", where=self._where) from error
        except OSError as error:
            raise InvalidInput(f"the bzip2 file is damaged: {error}", where=self._where) from error


def zstandard() -> ModuleType:
    """Import Zstandard: Python's own, or before 3.14 its backport.

    Raises:
        MissingExtra: There is neither.
    """
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd  # noqa: PLC0415
        else:
            from backports import zstd  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("a .zst file", "tables") from error
    return zstd


def compressed(stream: IO[bytes], name: str) -> IO[bytes]:
    """Open a stream for writing, compressed where the name says so; the same bytes give the same file.

    Args:
        stream: The file; it stays the caller's to close.
        name: Its name.

    Raises:
        MissingExtra: Zstandard is asked for, and not installed.
    """
    if name.lower().endswith(".gz"):
        return cast("IO[bytes]", gzip.GzipFile("", "wb", 6, stream, mtime=0))
    if name.lower().endswith(".zst"):
        return cast("IO[bytes]", zstandard().ZstdFile(stream, "wb"))
    return stream


@contextmanager
def opened(path: str | os.PathLike[str], *, by_name: bool = False) -> Iterator[io.BufferedReader]:
    """Open a file, or standard input, for bytes, decompressed.

    Args:
        path: The file, or `-`.
        by_name: True if the ending of the name says that it is compressed; by default its first bytes do.

    Yields:
        The bytes.

    Raises:
        InvalidInput: There is no such file, or it cannot be read.
        MissingExtra: It is compressed with Zstandard, which is not installed.
    """
    name = os.fspath(path)
    with ExitStack() as stack:
        if name == "-":
            file: IO[bytes] = sys.stdin.buffer
        else:
            try:
                file = stack.enter_context(Path(name).open("rb"))
            except FileNotFoundError as error:
                raise InvalidInput("no such file", where=name) from error
            except IsADirectoryError as error:
                raise InvalidInput("a folder, not a file", where=name) from error
            except OSError as error:
                raise InvalidInput(f"cannot be read: {error.strerror}", where=name) from error
        if not hasattr(file, "peek"):
            file = io.BufferedReader(cast("io.RawIOBase", file))
        head = b"" if by_name else cast("io.BufferedReader", file).peek(10)
        if name.lower().endswith(".gz") if by_name else head.startswith(GZIP):
            file = decompressed(file)
        elif name.lower().endswith(".zst") if by_name else head.startswith(ZSTANDARD):
            file = io.BufferedReader(_FromZstandard(file, name), BLOCK)
        elif head.startswith(BZIP2) and head[4:10] == BZIP2_BLOCK:
            file = io.BufferedReader(_FromBzip2(file, name), BLOCK)
        yield cast("io.BufferedReader", file)


def damaged(error: Exception, path: str | os.PathLike[str], line: int) -> InvalidInput:
    """The problem with a file that cannot be read to its end.

    Args:
        error: An exception of `DAMAGE`.
        path: The file.
        line: The last line that could be read.
    """
    if isinstance(error, EOFError):
        problem = f"the gzip file ends early after line {line}; is the download complete?"
    elif isinstance(error, gzip.BadGzipFile | zlib.error):
        problem = f"the gzip file is damaged after line {line}; is the download complete?"
    else:
        problem = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    return InvalidInput(problem, where=os.fspath(path))
