"""Row files: reading and writing rows; the ending of a file's name determines its format."""

from __future__ import annotations

import io
import os
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import starmap
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, TYPE_CHECKING, Final, Generic, Literal, Protocol, Self, TypeAlias, TypeVar, cast

import msgspec

from postil.data import jsonl, parquet
from postil.data.advice import advised
from postil.data.atomic_file import AtomicFile, write_error, writing
from postil.data.columns import Batch, CellTable, ValueTable, in_columns, of_records
from postil.data.delimited import CsvSink, Delimited
from postil.data.explain import file_setting, shown
from postil.data.folders import files_of_split
from postil.data.jsonl import json_lines, json_records
from postil.data.reading import Reading
from postil.data.recognition import recognized
from postil.data.row_locations import FileLocations, LocatedRows, RowLocations
from postil.data.rows import Candidate, Reference, Row
from postil.data.streams import BOM, DAMAGE, LONGEST_LINE, FilePath, KeptInput, compressed, damaged, opened
from postil.data.synonyms import ROW, needed
from postil.data.tables import TextCounts, is_nested, rows_of, tell_parts
from postil.data.text_lines import TextLines, holds_texts
from postil.errors import InvalidInput, PostilError, UsageError
from postil.messages import Blank, Hint, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "CELLS",
    "ENDINGS",
    "FORMATS",
    "Kind",
    "Sink",
    "Writer",
    "check_standard_input",
    "fields_of",
    "format_of",
    "kind_of",
    "open_bytes",
    "open_sink",
    "read",
    "say_once",
    "write",
]

T = TypeVar("T", bound=Row)
PLAIN: Final = Reading()
Kind: TypeAlias = Literal["jsonl", "csv", "xlsx", "parquet"]
ENDINGS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        **dict.fromkeys((".jsonl", ".jsonl.gz", ".jsonl.zst"), "jsonl"),
        ".parquet": "parquet",
        **dict.fromkeys((".csv", ".csv.gz", ".csv.zst"), "csv"),
        ".xlsx": "xlsx",
    }
)
"""Format of what is written, by the ending of a file's name."""
FORMATS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
        ".json": "json",
        ".csv": "csv",
        **dict.fromkeys((".tsv", ".tab", ".txt"), "tsv"),
        **dict.fromkeys((".xlsx", ".xlsm"), "xlsx"),
        ".ods": "ods",
        ".parquet": "parquet",
        **dict.fromkeys((".arrow", ".feather"), "arrow"),
    }
)
"""Format of what is read, by the ending of a file's name, less `.gz` or `.zst`."""
CELLS: Final = ("csv", "tsv", "lines", "xlsx", "ods")
"""Formats of tables of cells, which are no lists."""
TEXTS: Final = ("jsonl", "json", "csv", "tsv", "lines")
"""Formats that may be compressed."""


class Sink(Protocol):
    """A writer of rows in one format."""

    def write(self, row: object) -> None:
        """Write a row."""

    def close(self) -> None:
        """Write the rows that are buffered."""


def check_standard_input(*paths: str | None) -> None:
    """Raise a `UsageError` where more than one of some files is standard input."""
    if paths.count("-") > 1:
        raise UsageError("only one of the files can be standard input")


def kind_of(path: FilePath) -> Kind:
    """Format of a file that is written.

    Args:
        path: Its name, or `-` for standard output, which is JSON Lines.

    Raises:
        UsageError: The name ends in none of the known endings.

    >>> kind_of("scores.csv.gz"), kind_of("-")
    ('csv', 'jsonl')
    """
    name = os.fspath(path)
    for ending, kind in ENDINGS.items():
        if name.lower().endswith(ending):
            return kind
    if name == "-":
        return "jsonl"
    raise UsageError(f"{name}: unknown kind of file; known endings: {', '.join(ENDINGS)}, or - for standard output")


def format_of(path: FilePath, reading: Reading = PLAIN) -> str:
    """Format of a file that is read.

    Args:
        path: Its name, or `-` for standard input.
        reading: Format where the name tells none.

    Raises:
        UsageError: Neither tells.

    >>> format_of("refs.jsonl.gz"), format_of("refs.XLSX"), format_of("-", Reading(format="csv"))
    ('jsonl', 'xlsx', 'csv')
    """
    name = os.fspath(path)
    if reading.format is not None and (reading.always or name == "-"):
        return reading.format
    if name == "-":
        return "jsonl"
    lower, bare = name.lower(), _bare(name)
    for ending, form in FORMATS.items():
        if bare.endswith(ending) and (bare == lower or form in TEXTS):
            return form
    if name and Path(name).is_dir():
        return "dataset"
    if reading.format is not None:
        return reading.format
    problem = Message(
        "{name}: unknown kind of file; known endings: {known} (text also .gz, .zst), a dataset folder, or - for "
        "standard input{advice}{old}",
        name=name,
        known=", ".join(FORMATS),
        advice=Hint("; name the format with {setting}", setting=file_setting("input_format", python="format=NAME")),
        old=Message("; save an old workbook as .xlsx") if lower.endswith(".xls") else "",
    )
    raise UsageError(problem)


def _bare(name: str) -> str:
    """Name of a file in lower case, without the ending that says that it is compressed."""
    return name.lower().removesuffix(".gz").removesuffix(".zst")


def _form_of(name: str, row_type: type[Row], reading: Reading) -> str:
    """Format of a file that is read for some rows: text without the names of columns has a text per line."""
    form = format_of(name, reading)
    texts = form == "tsv" and issubclass(row_type, Candidate | Reference) and not reading.always
    return "lines" if texts and _bare(name).endswith(".txt") and holds_texts(name, row_type, reading) else form


@contextmanager
def open_bytes(path: FilePath) -> Iterator[IO[bytes]]:
    """Open a JSON Lines file or standard input for bytes, decompressed as its name says.

    Args:
        path: The file, or `-`.

    Yields:
        The bytes.

    Raises:
        InvalidInput: There is no such file, or it cannot be read.
    """
    with opened(path, by_name=True) as stream:
        yield stream


def fields_of(path: FilePath, row_type: type[Row], reading: Reading = PLAIN, *, every: bool = False) -> tuple[str, ...]:
    """Names of the fields of the first row of a file, before it is read.

    Args:
        path: The file, or a folder.
        row_type: Class of the rows.
        reading: Format, mapping of columns and more.
        every: True for those of all rows, where rows need not have the same fields.

    Returns:
        The names; none of standard input that is not kept, and of what cannot be read, which reading it will report.
    """
    name, silent = os.fspath(path), replace(reading, say=lambda _: None, split=None)
    found: dict[str, None] = {}
    with suppress(PostilError, OSError):
        form = _form_of(name, row_type, reading)
        if form == "dataset":
            files = files_of_split(Path(name), reading.split, reading.role)
            for file in files if every else files[:1]:
                found |= dict.fromkeys(fields_of(file, row_type, silent, every=every))
            return tuple(found)
        if form == "lines":
            return ("text",)
        if every and form in {"json", "jsonl"} and not _is_spent(name):
            with opened(name, by_name=form == "jsonl") as stream:
                records = json_lines(stream, name) if form == "jsonl" else json_records(stream, name, silent)
                found |= dict.fromkeys(field for _, rows in records for row in rows for field in row)
            return tuple(found)
        if not _is_spent(name) and form == "json":  # of the first rows together
            with _TABLES[form](name, name, row_type, silent) as table:
                return tuple(table.names)
        return _fields_at(name, form, row_type, silent, 1) or ()
    return tuple(found)


def _is_spent(name: str) -> bool:
    """True for standard input that can be read once alone."""
    return name == "-" and not isinstance(name, KeptInput)


def _fields_at(name: str, form: str, row_type: type[Row], reading: Reading, line: int) -> tuple[str, ...] | None:
    """Names of the fields in a line of a file that was read."""
    if _is_spent(name) or not (isinstance(name, KeptInput) or Path(name).is_file()):
        return None
    with suppress(InvalidInput):  # the file is gone by now
        if form == "jsonl":
            with open_bytes(name) as stream:
                return jsonl.keys_at(stream, line)
        if form == "json":  # whose rows need not have the same fields
            with opened(name) as stream:
                batches = json_records(stream, name, replace(reading, say=lambda _: None))
                rows = (each for lines, rows in batches for each in zip(lines, rows, strict=True))
                return next((tuple(row) for number, row in rows if number == line), None)
        with _TABLES[form](name, name, row_type, reading) as table:
            return tuple(table.names)
    return None


def _is_recognized(
    row_type: type[Row], reading: Reading, names: Sequence[str], where: str, line: int | None = None
) -> bool:
    """True if columns of a file have other names there, or none, so that its rows are not read as they are."""
    silent = replace(reading, say=lambda _: None)
    return recognized(row_type, silent, names, where, line, lists=True) is not silent


def _read_folder(name: str, row_type: type[T], reading: Reading, files: FileLocations) -> Iterator[T]:
    paths = map(str, files_of_split(Path(name), reading.split, reading.role))
    reading = replace(reading, split=None, folder=name, say=partial(say_once, reading.say, set()))
    yield from files.rows(read(path, row_type, reading) for path in paths)


def say_once(say: Callable[[str], None], heard: set[str], message: str) -> None:
    """Report once what files of a folder, or parts of a file, have in common.

    Args:
        say: Callback for what is said.
        heard: Messages that were reported.
        message: The message.
    """
    if message not in heard:
        heard.add(message)
        say(message)


def _read_jsonl(name: str, row_type: type[T], reading: Reading, places: RowLocations) -> Iterator[T]:
    with open_bytes(name) as stream:
        guesses = name == "-" and reading.format is None
        first, source = _peeked(stream, places.where) if guesses or not reading.columns else (b"", stream)
        if guesses and first and not first.lstrip().startswith(b"{"):
            got = shown(first.decode("utf-8", "replace").strip())
            problem = Message(
                "expected JSON Lines, one object in braces per line, got {got}; if it is CSV: {csv}",
                got=got,
                csv=file_setting("input_format", "csv", python='format="csv"'),
            )
            raise InvalidInput(problem, where=places.where, line=1)
        fields = list(_object(first))
        as_table = reading.columns or reading.missing or is_nested(row_type, reading, fields)
        # Rows that lack a field have what to do in their error, or a system that is called as the file.
        lacks = fields and not set(needed(row_type)) <= set(fields)
        if as_table or lacks or _is_recognized(row_type, reading, fields, places.where, 1):
            batches = starmap(of_records, json_lines(source, places.where))
            yield from rows_of(ValueTable.of(batches, places.where), row_type, reading, places)
        else:
            counts = TextCounts(row_type)
            try:
                yield from jsonl.read(source, row_type, places, counts.see_rows, counts.leave_out)
            except InvalidInput as error:
                said = advised(error.problem, error.field, error.field, row_type, reading)
                raise InvalidInput(said, where=error.where, line=error.line, field=error.field) from None
            tell_parts(reading, places.where, counts.remarks())


def _peeked(stream: IO[bytes], where: str) -> tuple[bytes, IO[bytes]]:
    """The first line of a JSON Lines file that is not blank, and the file from its beginning."""
    lines = b""
    try:
        while (line := stream.readline(LONGEST_LINE)) and not line.strip():
            lines += line
    except DAMAGE as error:
        raise damaged(error, where, 0) from error
    return line.removeprefix(BOM), cast("IO[bytes]", _Rest(lines + line, stream))


def _object(line: bytes) -> dict[str, object]:
    """The object in a line, empty where it is none."""
    try:
        found = msgspec.json.decode(line)
    except jsonl.FAILURES:
        return {}
    return found if isinstance(found, dict) else {}


class _Rest(io.BufferedIOBase):
    """A stream of which something was read already."""

    def __init__(self, first: bytes, stream: IO[bytes]) -> None:
        self._first, self._stream = first, cast("io.BufferedReader", stream)

    def read1(self, size: int = -1, /) -> bytes:
        first, self._first = self._first, b""
        return first or self._stream.read1(size)


@contextmanager
def _text_table(name: str, where: str, row_type: type[Row], reading: Reading, usual: str = ",") -> Iterator[CellTable]:
    with opened(name) as stream:
        yield Delimited(
            stream,
            where,
            reading.wanted(row_type),
            encoding=reading.encoding,
            delimiter=reading.delimiter,
            usual=usual,
            quotes=reading.quotes,
        )


@contextmanager
def _lines(name: str, where: str, _row_type: type[Row], reading: Reading) -> Iterator[CellTable]:
    with opened(name) as stream:
        yield TextLines(stream, where, reading.encoding)


@contextmanager
def _sheet(name: str, where: str, row_type: type[Row], reading: Reading) -> Iterator[CellTable]:
    from postil.data.workbooks import Sheet  # noqa: PLC0415 - only workbooks need it

    with opened(name) as stream:
        yield Sheet(stream, where, reading.wanted(row_type), reading)


@contextmanager
def _json(name: str, where: str, _row_type: type[Row], reading: Reading) -> Iterator[ValueTable]:
    with opened(name) as stream:
        yield ValueTable.of(starmap(of_records, json_records(stream, where, reading)), where)


@contextmanager
def _parquet(name: str, where: str, row_type: type[Row], reading: Reading) -> Iterator[ValueTable]:
    names = parquet.columns(name)
    mapped = reading.columns or reading.missing or is_nested(row_type, reading, names)
    kind = "columns" if mapped or _is_recognized(row_type, reading, names, where) else ""

    def first(column: str) -> Sequence[object]:
        batch = next(_numbered(parquet.read_columns(name, [column])), None)
        return () if batch is None else batch.column(column)

    yield ValueTable(where, names, lambda read: _numbered(parquet.read_columns(name, read)), kind, first=first)


@contextmanager
def _arrow(name: str, where: str, _row_type: type[Row], _reading: Reading) -> Iterator[ValueTable]:
    yield ValueTable.of(_numbered(parquet.read_arrow(name)), where)


def _numbered(batches: Iterable[Mapping[str, Sequence[object]]]) -> Iterator[Batch]:
    """Batches of columns, with the numbers of their rows, counted from 1."""
    done = 0
    for columns in batches:
        n = len(next(iter(columns.values()), ()))
        yield in_columns(range(done + 1, done + 1 + n), columns, columns.__getitem__)
        done += n


class _Opener(Protocol):
    """Opens a table of a format."""

    def __call__(
        self, name: str, where: str, row_type: type[Row], reading: Reading, /
    ) -> AbstractContextManager[CellTable | ValueTable]: ...


_TABLES: Final[Mapping[str, _Opener]] = {
    "csv": _text_table,
    "tsv": partial(_text_table, usual="\t"),
    "lines": _lines,
    "xlsx": _sheet,
    "ods": _sheet,
    "json": _json,
    "parquet": _parquet,
    "arrow": _arrow,
}


def _read_table(name: str, form: str, row_type: type[T], reading: Reading, places: RowLocations) -> Iterator[T]:
    with _TABLES[form](name, places.where, row_type, reading) as table:
        yield from rows_of(table, row_type, reading, places)


def read(path: FilePath, row_type: type[T], reading: Reading = PLAIN) -> LocatedRows[T]:
    r"""Read the rows of a file.

    Text is read in bounded memory; workbooks and JSON documents as a whole.

    Args:
        path: A file whose name ends in one of `FORMATS`, a folder of such files, or `-` for standard input.
        row_type: Class of the rows. Unknown fields are ignored.
        reading: Format, mapping of columns and more.

    Returns:
        An iterator over the rows, with their locations in `places`.

    Raises:
        UsageError: The file is of an unknown kind.
        InvalidInput: The file is missing or, on the way, something in it is wrong; says where.
        MissingExtra: The format needs a package that is not installed.

    >>> import pathlib, tempfile
    >>> from postil.data.rows import Candidate
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "echo.csv")).write_text("id;prediction\na1;Rain tomorrow\n")
    ...     list(read(path, Candidate, Reading(columns={"item": "id", "text": "prediction"})))
    [Candidate(item='a1', system='echo', text='Rain tomorrow')]
    """
    name = os.fspath(path)
    form = _form_of(name, row_type, reading)
    if form == "dataset":
        files = FileLocations(name)
        return LocatedRows(_read_folder(name, row_type, reading, files), files)
    if reading.split is not None:
        raise UsageError(
            "{name}: the split {split} needs a dataset folder, and this is a file; "
            "leave {setting} out, or name the folder: {of_folder}",
            name=name,
            split=shown(reading.split),
            setting=Setting("split"),
            of_folder=file_setting("split", Blank(f"ROLE={reading.split}"), python=f"split={reading.split!r}"),
        )
    if name == "-" and form in {"parquet", "arrow"}:
        raise UsageError(f"a file of format '{form}' is not read from standard input; give its name")
    if name != "-":
        _check_is_file(name)
    if form == "tsv" and _bare(name).endswith(".txt") and not reading.advice:
        lines = file_setting("input_format", f"{reading.role or 'candidates'}=lines", python='format="lines"')
        reading = replace(reading, advice=Message("where each line is a text: {lines}", lines=lines))
    if form == "lines":
        reading = replace(reading, columns=MappingProxyType({"item": ROW, **reading.columns}))
    where = "stdin" if name == "-" else name
    places = RowLocations(where, partial(_fields_at, name, form, row_type, reading), reading.names)
    if form == "jsonl":
        return LocatedRows(_read_jsonl(name, row_type, reading, places), places)
    return LocatedRows(_read_table(name, form, row_type, reading, places), places)


class Writer(Generic[T]):
    """A writer of rows to a file, as they come.

    The file is written atomically when the block ends; after an error or an interrupt, not at all. The same rows
    give the same bytes.

    Args:
        path: A file whose name ends in one of `ENDINGS`, or `-` for JSON Lines on standard output.
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
        fields = [field.encode_name for field in msgspec.structs.fields(self._row_type)]
        self._sink = self._stack.enter_context(open_sink(self.path, schema, undated, fields))
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
        path: A file whose name ends in one of `ENDINGS`, or `-` for JSON Lines on standard output.
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
def open_sink(
    path: FilePath, schema: parquet.Arrow, undated: parquet.Arrow = None, fields: Sequence[str] = ()
) -> Iterator[Sink]:
    """Open a writer; the file is written atomically when the block ends well.

    Args:
        path: The file, or `-`.
        schema: The Arrow schema for a Parquet file; None for JSON Lines.
        undated: The schema as long as no row has a date or statistics; by default the same.
        fields: Fields of the rows, for CSV and workbooks.

    Yields:
        The sink.

    Raises:
        UsageError: The file cannot be made at this path.
        PostilError: The operating system reports an error.
    """
    kind = kind_of(path)
    with AtomicFile(os.fspath(path)) as stream:
        sink: Sink
        packed = compressed(stream, os.fspath(path))
        if kind == "parquet":
            sink = parquet.ParquetSink(stream, schema, undated)
        elif kind == "xlsx":
            from postil.data.workbooks import SheetSink  # noqa: PLC0415 - only workbooks need it

            sink = SheetSink(stream, os.fspath(path), fields)
        else:
            sink = jsonl.JsonlSink(packed) if kind == "jsonl" else CsvSink(packed, fields)
        try:
            yield sink
        except BaseException:
            with suppress(Exception):  # an unclosed compressor would complain later, when its file is gone
                sink.close()
                _close(packed, stream)
            raise
        with writing(os.fspath(path)):
            sink.close()
            _close(packed, stream)


def _close(packed: IO[bytes], stream: IO[bytes]) -> None:
    """Write the end of what is compressed; the file itself is its owner's to close."""
    if packed is not stream:
        packed.close()


def _check_is_file(name: str) -> None:
    if not Path(name).exists():
        raise InvalidInput("no such file", where=name)
    if Path(name).is_dir():
        raise InvalidInput("a folder, not a file", where=name)
