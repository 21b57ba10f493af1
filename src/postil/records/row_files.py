"""Row files: reading and writing rows; the ending of a file's name determines its format."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Final, Generic, Literal, Protocol, TypeAlias, TypeVar

from postil.errors import InvalidInput, UsageError
from postil.records import jsonl, parquet
from postil.records.atomic_file import AtomicFile, write_error
from postil.records.row_locations import RowLocations
from postil.records.rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType
    from typing import Self

__all__ = [
    "ENDINGS",
    "FilePath",
    "Kind",
    "Rows",
    "Sink",
    "Writer",
    "kind_of",
    "open_bytes",
    "open_sink",
    "read",
    "write",
]

T = TypeVar("T", bound=Row)
FilePath: TypeAlias = str | os.PathLike[str]
Kind: TypeAlias = Literal["jsonl", "jsonl.gz", "parquet"]
ENDINGS: Final[Mapping[str, Kind]] = MappingProxyType(
    {".jsonl": "jsonl", ".jsonl.gz": "jsonl.gz", ".parquet": "parquet"}
)
"""Format by the ending of a file's name."""


class Sink(Protocol):
    """A writer of rows in one format."""

    def write(self, row: object) -> None:
        """Write a row."""

    def close(self) -> None:
        """Write the rows that are buffered."""


def kind_of(path: FilePath) -> Kind:
    """Format of a file.

    Args:
        path: Its name, or `-` for standard input and output, which are JSON Lines.

    Raises:
        UsageError: The name ends in none of the known endings.

    >>> kind_of("refs.jsonl.gz"), kind_of("-")
    ('jsonl.gz', 'jsonl')
    """
    name = os.fspath(path)
    for ending, kind in ENDINGS.items():
        if name.lower().endswith(ending):
            return kind
    if name == "-":
        return "jsonl"
    array = "; a JSON array becomes JSON Lines with: jq -c '.[]'" if name.lower().endswith(".json") else ""
    known = ", ".join(ENDINGS)
    raise UsageError(f"{name}: unknown kind of file; known endings: {known}, or - for standard input and output{array}")


@contextmanager
def open_bytes(path: FilePath) -> Iterator[IO[bytes]]:
    """Open a JSON Lines file or standard input for bytes, decompressed.

    Args:
        path: The file, or `-`.

    Yields:
        The bytes.

    Raises:
        InvalidInput: There is no such file, or it cannot be read.
    """
    name = os.fspath(path)
    if name == "-":
        yield sys.stdin.buffer
        return
    _check_is_file(name)
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(name).open("rb"))
        except OSError as error:
            raise InvalidInput(f"cannot be read: {error.strerror}", where=name) from error
        yield jsonl.decompressed(file) if kind_of(name) == "jsonl.gz" else file


class Rows(Generic[T]):
    """Iterator over the rows of a file; made by `read`.

    Args:
        path: The file, or `-` for standard input.
        row_type: The row.
    """

    places: RowLocations
    """Locations of the rows, for messages about rows that were read."""

    def __init__(self, path: FilePath, row_type: type[T]) -> None:
        name = os.fspath(path)
        kind = kind_of(name)
        if name != "-":
            _check_is_file(name)
        if kind == "parquet":
            self.places = RowLocations(name, lambda _row: _columns(name))
            self._rows = parquet.read(name, row_type)
        else:
            self.places = RowLocations("stdin" if name == "-" else name, lambda line: _keys_at(name, line))
            self._rows = _read_jsonl(name, row_type, self.places)

    def __iter__(self) -> Iterator[T]:
        return self._rows

    def __next__(self) -> T:
        return next(self._rows)


def read(path: FilePath, row_type: type[T]) -> Rows[T]:
    """Read the rows of a file, in bounded memory.

    Args:
        path: A file whose name ends in `.jsonl`, `.jsonl.gz` or `.parquet`, or `-` for JSON Lines on standard input.
        row_type: Class of the rows. Unknown fields are ignored.

    Returns:
        An iterator over the rows, with their locations in `places`.

    Raises:
        UsageError: The file is of an unknown kind.
        InvalidInput: The file is missing or, on the way, something in it is wrong; says where.
        MissingExtra: A Parquet file, and pyarrow is not installed.

    >>> import tempfile
    >>> from postil.records.rows import Candidate
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(f"{folder}/c.jsonl", [Candidate("a1", "echo", "Rain tomorrow")])
    ...     list(read(f"{folder}/c.jsonl", Candidate))
    [Candidate(item='a1', system='echo', text='Rain tomorrow')]
    """
    return Rows(path, row_type)


class Writer(Generic[T]):
    """A writer of rows to a file, as they come.

    The file is written atomically when the block ends; after an error or an interrupt, not at all. The same rows
    give the same bytes.

    Args:
        path: A file whose name ends in `.jsonl`, `.jsonl.gz` or `.parquet`, or `-` for JSON Lines on standard output.
        row_type: Class of the rows.

    Raises:
        UsageError: The file is of an unknown kind or its folder is missing, or a row is of another type.
        MissingExtra: A Parquet file, and pyarrow is not installed.
        PostilError: The operating system reports an error.
    """

    def __init__(self, path: FilePath, row_type: type[T]) -> None:
        self.path = os.fspath(path)
        self._row_type = row_type
        self._kind = kind_of(path)
        self._stack = ExitStack()
        self._sink: Sink | None = None

    def __enter__(self) -> Self:
        schema = undated = None
        if self._kind == "parquet":
            schema, undated = (parquet.schema_of(self._row_type, dates=dates) for dates in (True, False))
        self._sink = self._stack.enter_context(open_sink(self.path, schema, undated))
        return self

    def write(self, row: T) -> None:
        """Write a row.

        Args:
            row: The row.
        """
        if self._sink is None:
            raise UsageError("a Writer writes inside its with block")
        if row.__class__ is not self._row_type:
            kinds = f"{self._row_type.__name__}, got {type(row).__name__}"
            raise UsageError(f"{self.path}: a file holds rows of one type; expected {kinds}")
        try:
            self._sink.write(row)
        except OSError as error:
            raise write_error(self.path, error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sink = None
        self._stack.__exit__(kind, error, trace)


def write(path: FilePath, rows: Iterable[Row]) -> None:
    """Write rows of one type to a file; see `Writer`.

    Args:
        path: A file whose name ends in `.jsonl`, `.jsonl.gz` or `.parquet`, or `-` for JSON Lines on standard output.
        rows: The rows, at least one.

    Raises:
        InvalidInput: There are no rows; no reader would take such a file.
        UsageError: The file is of an unknown kind or its folder is missing, or the rows are of several types.
        MissingExtra: A Parquet file, and pyarrow is not installed.
        PostilError: The operating system reports an error.
    """
    kind_of(path)
    several = iter(rows)
    first = next(several, None)
    if first is None:
        raise InvalidInput("there are no rows to write", where=os.fspath(path))
    with Writer(path, type(first)) as out:
        out.write(first)
        for row in several:
            out.write(row)


@contextmanager
def open_sink(path: FilePath, schema: parquet.Arrow, undated: parquet.Arrow = None) -> Iterator[Sink]:
    """Open a writer; the file is written atomically when the block ends well.

    Args:
        path: The file, or `-`.
        schema: The Arrow schema for a Parquet file; None for JSON Lines.
        undated: The schema as long as no row has a date or statistics; by default the same.

    Yields:
        The sink.

    Raises:
        UsageError: The file cannot be made at this path.
        PostilError: The operating system reports an error.
    """
    kind = kind_of(path)
    with AtomicFile(os.fspath(path)) as stream:
        sink: Sink
        if kind == "parquet":
            sink = parquet.ParquetSink(stream, schema, undated)
        else:
            sink = jsonl.JsonlSink(stream, compressed=kind == "jsonl.gz")
        try:
            yield sink
        except BaseException:
            with suppress(Exception):  # an unclosed compressor would complain later, when its file is gone
                sink.close()
            raise
        try:
            sink.close()
        except OSError as error:
            raise write_error(os.fspath(path), error) from error


def _check_is_file(name: str) -> None:
    if not Path(name).exists():
        raise InvalidInput("no such file", where=name)
    if Path(name).is_dir():
        raise InvalidInput("a folder, not a file", where=name)


def _read_jsonl(name: str, row_type: type[T], places: RowLocations) -> Iterator[T]:
    with open_bytes(name) as stream:
        yield from jsonl.read(stream, row_type, places)


def _columns(name: str) -> tuple[str, ...] | None:
    try:
        return parquet.columns(name)
    except InvalidInput:  # the file is gone by now
        return None


def _keys_at(name: str, line: int) -> tuple[str, ...] | None:
    if name == "-" or not Path(name).is_file():
        return None
    with open_bytes(name) as stream:
        return jsonl.keys_at(stream, line)
