"""Files open for bytes, decompressed; their lines, and the encodings of texts that are not UTF-8."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import os
import re
import sys
import zlib
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import IO, TYPE_CHECKING, Final, NoReturn, Self, TypeAlias, cast

from postil.errors import InvalidInput, MissingExtra, needs
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from _typeshed import WriteableBuffer
    from charset_normalizer import CharsetMatch

__all__ = [
    "BOM",
    "DAMAGE",
    "LONGEST_LINE",
    "SAMPLE",
    "FilePath",
    "KeptInput",
    "check_length",
    "compressed",
    "damaged",
    "decoded",
    "decompressed",
    "detected_encoding",
    "file_bytes",
    "line_blocks",
    "lines_in",
    "numbered_lines",
    "opened",
    "raised",
    "shown_encoding",
    "text_lines",
    "told_encoding",
    "whole",
    "whole_lines",
]

FilePath: TypeAlias = str | os.PathLike[str]
"""A path as Python takes it."""

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
BOM: Final = b"\xef\xbb\xbf"
LINES: Final = 1 << 16
"""Approximate number of bytes of lines that are read at a time."""
LONGEST_LINE: Final = 1 << 27
"""Largest line in bytes; a file without line ends must not fill the memory."""


def file_bytes(path: str | os.PathLike[str]) -> bytes:
    """The contents of a file as they are.

    Args:
        path: The file.

    Raises:
        InvalidInput: It cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror or error}", where=str(path)) from error


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

    def __init__(self, file: gzip.GzipFile | bz2.BZ2File) -> None:
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


class _Checked(_Inflated):
    """The same of a Zstandard or bzip2 file, of one stream or several; damage is said in words, with the file.

    Args:
        file: The file, which decompresses what is read.
        kind: The kind of file, for messages.
        where: Its name.
        damage: Class of the errors of a damaged file.
    """

    def __init__(self, file: bz2.BZ2File, kind: str, where: str, damage: type[Exception] = OSError) -> None:
        super().__init__(file)
        self._kind, self._where, self._damage = kind, where, damage

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        try:
            return super().readinto(buffer)
        except EOFError as error:
            problem = f"the {self._kind} file ends early; is the download complete?"
            raise InvalidInput(problem, where=self._where) from error
        except self._damage as error:
            raise InvalidInput(f"the {self._kind} file is damaged: {error}", where=self._where) from error


def zstandard() -> ModuleType:
    """Import Zstandard: Python's own, or before 3.14 its backport.

    Raises:
        MissingExtra: There is neither.
    """
    with needs("a .zst file", "tables"):
        if sys.version_info >= (3, 14):
            from compression import zstd  # noqa: PLC0415
        else:
            from backports import zstd  # noqa: PLC0415
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


class KeptInput(str):
    """Standard input that was read into memory, and can be opened several times; ``-`` in messages and comparisons.

    Args:
        data: Its bytes; by default read now.
    """

    __slots__ = ("data",)
    data: bytes

    def __new__(cls, data: bytes | None = None) -> Self:
        """Read it."""
        made = super().__new__(cls, "-")
        made.data = sys.stdin.buffer.read() if data is None else data
        return made


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
            file: IO[bytes] = io.BytesIO(name.data) if isinstance(name, KeptInput) else sys.stdin.buffer
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
            zstd = zstandard()
            widest = {zstd.DecompressionParameter.window_log_max: WIDEST}
            inflated = _Checked(zstd.ZstdFile(file, "rb", options=widest), "zstd", name, zstd.ZstdError)
            file = io.BufferedReader(inflated, BLOCK)
        elif head.startswith(BZIP2) and head[4:10] == BZIP2_BLOCK:
            file = io.BufferedReader(_Checked(bz2.BZ2File(file), "bzip2", name), BLOCK)
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
    elif isinstance(error, gzip.BadGzipFile) and str(error).startswith("Not a gzipped file") and line == 0:
        problem = "not a gzip file; if it is not compressed, name it .jsonl"  # as only those are opened by name
    elif isinstance(error, gzip.BadGzipFile | zlib.error):
        problem = f"the gzip file is damaged after line {line}; is the download complete?"
    else:
        problem = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    return InvalidInput(problem, where=os.fspath(path))


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

EAST: Final = ("cp949", "euc_jp", "cp932", "gb18030", "big5")
LONE: Final = re.compile(
    r"(?<![^\0-\x7f])(?:[À-ÏÑ-ÖØ-Üß-ïñ-öø-üŒœŠšŽžŸ\xa0§©®°º´·™€»’‚”…–—]|(?<![A-Za-z])[¡¿«“„‘]"
    r"|(?<![A-Za-z])[±£¼½¾×÷](?![A-Za-z]))(?![^\0-\x7f])"
)
"""A character of Western Europe between two of ASCII, where it is written so. Elsewhere its byte is a letter in a word,
or half of a character that stands beside others."""

NO_WORD: Final = re.compile(r"(?<![^\W\d_])[À-ÖØ-öø-ÿ]{2,}(?![^\W\d_])")
"""A word that has no letter of ASCII, as words of Western Europe of two letters and more do."""

SMALL_LETTERS: Final = re.compile("[ÄÖÜß-öø-ÿ]+")
"""Letters whose bytes are capitals and symbols in the encoding of old Macintoshes, which no text consists of."""


_ROWS: Final = MappingProxyType(
    {
        "cp949": (range(0xB0, 0xC9), range(0xA1, 0xFF)),
        "gb18030": (range(0xB0, 0xD8), range(0xA1, 0xFF)),
        "big5": (range(0xA4, 0xC7), (*range(0x40, 0x7F), *range(0xA1, 0xFF))),
    }
)
"""First and second bytes of the usual letters: Hangul of KS X 1001, and the first part of those of GB 2312 and Big5."""
_USUAL: Final = 0.9
_KANA: Final = 0.2
"""Smallest shares of letters that are usual ones, and of letters of Japanese that are kana."""


def whole_lines(read: Callable[[int], bytes], where: str, size: int = LINES) -> Iterator[bytes]:
    r"""Read a file in pieces that end where a line does, in bounded memory.

    Args:
        read: Function that reads at most a given number of bytes; none at the end of the file.
        where: The file.
        size: Approximate number of bytes per piece.

    Yields:
        The pieces; the last one may end without a line end.

    Raises:
        InvalidInput: A line has more than `LONGEST_LINE` bytes.

    >>> import io
    >>> list(whole_lines(io.BytesIO(b"one\ntwo\nthree").read, "file", 5))
    [b'one\n', b'two\n', b'three']
    """
    rest: list[bytes] = []
    held = lines = 0
    while data := read(size):
        cut = data.rfind(b"\n") + 1
        if not cut:
            rest.append(data)
            held += len(data)
            check_length(held, where, lines + 1)
            continue
        piece = b"".join((*rest, data[:cut]))
        yield piece
        lines += piece.count(b"\n")
        rest = [data[cut:]]
        held = len(rest[0])
    if last := b"".join(rest):
        yield last


def check_length(size: int, where: str, line: int) -> None:
    """Refuse a line that is too long to be one.

    Args:
        size: Number of bytes read of it.
        where: The file.
        line: Its number, counted from 1.

    Raises:
        InvalidInput: It has more than `LONGEST_LINE` bytes.
    """
    if size > LONGEST_LINE:
        problem = f"expected a line of at most {LONGEST_LINE:,} bytes, got a longer one; does the file have line ends?"
        raise InvalidInput(problem, where=where, line=line)


def lines_in(stream: IO[bytes], where: str) -> Iterator[list[bytes]]:
    """Read the lines of a file, many at a time, which is faster than one by one.

    Args:
        stream: The file, open for bytes; as much is read at a time as is there.
        where: Its name, for messages.

    Yields:
        Lines without their line feeds.

    Raises:
        InvalidInput: A line has more than `LONGEST_LINE` bytes.
    """
    for piece in line_blocks(stream, where):
        lines = piece.split(b"\n")
        if not lines[-1]:
            lines.pop()
        yield lines


def line_blocks(stream: IO[bytes], where: str) -> Iterator[bytes]:
    """Read whole lines, as many at a time as are available.

    Args:
        stream: The file, open for bytes.
        where: Its name, for messages.

    Yields:
        Pieces of the file; see `whole_lines`.

    Raises:
        InvalidInput: A line has more than `LONGEST_LINE` bytes.
    """
    some: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
    return whole_lines(some, where, LINES >> 1)


def raised(problem: InvalidInput) -> NoReturn:
    """Raise a problem: what becomes of broken input where a callback says nothing else."""
    raise problem


def numbered_lines(
    stream: IO[bytes], where: str, refuse: Callable[[InvalidInput], None] = raised
) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not blank.

    Args:
        stream: The file, open for bytes.
        where: Its name.
        refuse: Callback for the problem of an empty or damaged file, of which the lines before the damage are yielded.

    Yields:
        The number of the line, counted from 1, and the line.
    """
    number, found = 0, False
    try:
        for lines in lines_in(stream, where):
            for line in lines:
                number += 1
                if line and not line.isspace():
                    found = True
                    yield number, line
    except DAMAGE as error:
        refuse(damaged(error, where, number))
    except InvalidInput as problem:  # damage of a Zstandard file, or a line too long to be one
        refuse(problem)
    else:
        if not found:
            refuse(_no_lines(where))


def _no_lines(where: str) -> InvalidInput:
    return InvalidInput("the file holds no lines", where=where)


def text_lines(path: FilePath) -> Iterator[tuple[int, str]]:
    r"""The lines of a UTF-8 file that are not blank.

    Args:
        path: The file; it may be compressed with gzip.

    Yields:
        The number of the line, counted from 1, and the line without what ends it. A byte order mark is ignored.

    Raises:
        InvalidInput: The file is missing, damaged, not UTF-8 or has no lines, or a line is too long to be one.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "run.txt")).write_text("one\n\ntwo")
    ...     list(text_lines(path))
    [(1, 'one'), (3, 'two')]
    """
    where = os.fspath(path)
    found = False
    with opened(path) as stream:
        for number, line in numbered_lines(stream, where):
            text = decoded(line, number, where).rstrip("\r\n")
            if text.strip():
                found = True
                yield number, text
    if not found:
        raise _no_lines(where)


def decoded(line: bytes, number: int, where: str) -> str:
    """A line as text, without the byte order mark of a first one.

    Args:
        line: The line.
        number: Its number, counted from 1.
        where: Its file.

    Raises:
        InvalidInput: It is not UTF-8.
    """
    try:
        return (line.removeprefix(BOM) if number == 1 else line).decode()
    except UnicodeDecodeError as error:
        problem = f"byte 0x{line[error.start]:02x} at offset {error.start} of the line is not UTF-8; save it as UTF-8"
        raise InvalidInput(problem, where=where, line=number) from None


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
    with needs(Message("{where} is not UTF-8: {otherwise}", where=where, otherwise=otherwise), "tables"):
        from charset_normalizer import from_bytes  # noqa: PLC0415 - an extra
    sample = _sample(lines)
    if _has_lone(sample):
        return "cp1252"
    if (east := _east_asian(sample)) is not None:
        return east
    found = list(from_bytes(sample, cp_isolation=list(ENCODINGS)))
    best = found[0] if found else None
    western = best is not None and _is_western(best, found, sample)
    encoding = "cp1252" if western else best.encoding if best is not None else "latin-1"
    beyond = _beyond(sample, encoding)
    words = western and WESTERN.fullmatch(beyond) and not NO_WORD.search(sample.decode("cp1252", "replace"))
    if len(beyond) < EVIDENCE and not words:
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


def _has_lone(sample: bytes) -> bool:
    """True where a text has a few characters beyond ASCII, each as Western Europe writes it."""
    text = sample.decode("cp1252", "replace")
    number = len(text) - len(text.encode("ascii", "ignore"))
    return number < EVIDENCE and len(LONE.findall(text)) == number


def _east_asian(sample: bytes) -> str | None:
    """The East Asian encoding in which the letters of a text are those of its language; None if there is none.

    Most of these encodings are valid for the text of others, which a detector by frequencies takes for one another.
    """
    for encoding in EAST:
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(sample)
        except UnicodeDecodeError:
            continue
        beyond = [sign for sign in text if not sign.isascii()]
        letters = list(filter(str.isalpha, beyond))
        usual = _usual(encoding)
        number = sum(letter in usual for letter in letters)
        if len(beyond) >= EVIDENCE and number >= (_USUAL if encoding in _ROWS else _KANA) * len(letters) > 0:
            return encoding
    return None


@cache
def _usual(encoding: str) -> frozenset[str]:
    """The usual letters of the language of an East Asian encoding; of Japanese, kana."""
    if encoding not in _ROWS:
        return frozenset(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB), 0x30FC)))
    first, second = _ROWS[encoding]
    return frozenset("".join(bytes((one, two)).decode(encoding, "ignore") for one in first for two in second))


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
