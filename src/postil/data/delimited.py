"""Text tables: CSV and its relatives, whatever stands between the columns and however the text is encoded."""

from __future__ import annotations

import codecs
import csv
import io
import re
from contextlib import suppress
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Final, Literal, NamedTuple, cast

import msgspec

from postil.data.escaping import apostrophed, csv_writer, one_line
from postil.data.explain import file_setting, shown
from postil.data.fields import plain_id
from postil.data.streams import DAMAGE, SAMPLE, damaged, detected_encoding, raised, shown_encoding, whole_lines
from postil.errors import InvalidInput, UsageError
from postil.messages import Message

if TYPE_CHECKING:
    import _csv
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

__all__ = ["LONGEST", "MOST_ROWS", "CsvSink", "Delimited", "codec_of", "column_names", "head_of", "wanted_in"]

LONGEST: Final = 1 << 24
"""Largest number of characters per cell; beyond that a quote was not closed."""
MOST_NAMES: Final = 200
"""Largest number of characters of column names in a message."""
BATCH: Final = 512
BLOCK: Final = 1 << 15  # larger ones cost a third more, as garbage is collected among more lists
MOST_ROWS: Final = 20
"""Largest number of rows among which the one with the names of the columns is looked for."""
DELIMITERS: Final = {",": "','", ";": "';'", "\t": "tabs", "|": "'|'"}
"""Characters that are looked for between columns, and their names in messages."""
WIDE: Final = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
NAME_IT: Final = Message(
    "name the encoding, which Excel in Western Europe and America calls ANSI, with {encoding}; detecting another",
    encoding=file_setting("encoding", "cp1252"),
)
ENCODING: Final = file_setting("encoding", python="encoding=NAME")
BROKEN: Final = re.compile("[\udc80-\udcff]")  # how Python writes down bytes that it could not decode
# First bytes of what is no text table, with advice.
MAGIC: Final = {
    b"PK\x03\x04": "this is a workbook or another zip file; if it is Excel's, name it .xlsx, or LibreOffice's, .ods",
    b"\xd0\xcf\x11\xe0": "this is an old Excel workbook (.xls); save it as .xlsx or CSV",
    b"PAR1": "this is a Parquet file; name it .parquet",
    b"ARROW1": "this is an Arrow file; name it .arrow",
    b"SQLite": "this is an SQLite database; export the table as CSV",
    b"%PDF": "this is a PDF file; save the table as CSV",
}


class _Part(NamedTuple):
    """A part of a table.

    Args:
        rows: Its rows; a blank line is an empty one.
        lines: Number of its lines.
        problem: The problem with what comes after the rows.
    """

    rows: list[list[str]]
    lines: int
    problem: str = ""


class Delimited:
    """A text table whose first row names its columns.

    Args:
        stream: The file, open for bytes.
        where: Its name.
        wanted: Columns that it should have, by which the delimiter is recognized.
        encoding: Its encoding; by default UTF-8, and if it is not, detected.
        delimiter: Character between columns; by default detected.
        usual: The delimiter where nothing tells.
        quotes: True if cells may be quoted with double quotes.
        refuse: Callback for what is broken; by default it is raised, and if the callback returns, reading continues.

    Raises:
        UsageError: The encoding or the delimiter is none.
        InvalidInput: The file is empty or no text table, or a column stands twice.
    """

    texts = True
    decimal_commas: bool
    """True if any comma in a number is its decimal sign, as Excel writes it where semicolons stand between columns."""
    apostrophes = True
    """True if a cell of the last batch may begin with an apostrophe."""
    names: list[str]
    """The columns."""
    line: int
    """Line of the columns' names."""

    def __init__(
        self,
        stream: io.BufferedReader,
        where: str,
        wanted: Collection[str] = (),
        *,
        encoding: str | None = None,
        delimiter: str | None = None,
        usual: str = ",",
        quotes: bool = True,
        refuse: Callable[[InvalidInput], None] = raised,
    ) -> None:
        self.where, self._stream, self._refuse = where, stream, refuse
        self.encoding = codec_of(encoding) if encoding else "utf-8-sig"
        self.detected = ""
        """Guesses, in words that go on after "read"."""
        self._given = encoding
        self._suspect = False  # there were bytes that could not be decoded
        self._quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
        texts = self._decoded(stream)
        first = self._first(texts)
        between = _checked_delimiter(delimiter) if delimiter is not None else None
        marked = re.match("sep=(.)\r?\n", first)  # Excel's own way to say it
        if marked:
            between = between or marked[1]
            first = first[marked.end() :]
        self.between, self._above = self._delimiter(first, wanted, (between,) if between else (usual, *DELIMITERS))
        self.decimal_commas = self.between == ";"
        self._line = 2 if marked else 1  # where the next row begins
        self._parts = self._read(chain([first], texts))
        self._held: _Part | None = None
        self._read_names()

    def _parsed(self, lines: Iterable[str], between: str = "") -> _csv.Reader:
        return csv.reader(lines, delimiter=between or self.between, strict=True, quoting=self._quoting)

    def _read_names(self) -> None:
        self.names = []
        above = self._above
        while not self.names and (part := self._next()):
            for index, row in enumerate(part.rows):
                self.line, self._line = self._line, self._line + _height(row)
                above -= bool(row)
                if above < 0:
                    self.names = [name.strip() for name in row]
                    used = sum(map(_height, part.rows[: index + 1]))
                    self._held = _Part(part.rows[index + 1 :], part.lines - used, part.problem)
                    break
            else:
                self._refuse_part(part)
        if problem := self._undecoded(self.names):
            raise InvalidInput(problem, where=self.where, line=self.line)
        if not any(self.names):
            raise InvalidInput("the table is empty", where=self.where)
        self._nothing = [""] * len(self.names) if len(self.names) > 1 else []
        self.detected += f" with the columns' names in line {self.line}" if self._above else ""
        twice = next((name for name in sorted(set(self.names)) if name and self.names.count(name) > 1), None)
        if twice is not None:
            problem = "the column stands twice; give one another name"
            raise InvalidInput(problem, where=self.where, line=self.line, field=twice)

    def rows(self) -> Iterator[tuple[Sequence[int], list[list[str]]]]:
        """Read the rows in batches.

        Yields:
            The line where each row begins, counted from 1, and the rows, which are lists of cells.
        """
        while part := self._next():
            after = self._line + part.lines
            yield from self._placed(part)
            self._refuse_part(part)
            self._line = after

    def _next(self) -> _Part | None:
        """The next part of the table; what ends it early is refused."""
        held, self._held = self._held, None
        try:
            return held or next(self._parts, None)
        except UnicodeError as error:
            self._refuse(InvalidInput(self._not_encoded(error), where=self.where, line=self._line))
        except InvalidInput as error:
            self._refuse(InvalidInput(error.problem, where=self.where, line=self._line))
        except DAMAGE as error:
            self._refuse(damaged(error, self.where, self._line - 1))
        return None

    def _refuse_part(self, part: _Part) -> None:
        if part.problem:
            self._refuse(InvalidInput(part.problem, where=self.where, line=self._line))

    def _read(self, texts: Iterator[str]) -> Iterator[_Part]:
        """Yield the parts of a table of the pieces of its text."""
        marks = ("\n'", "\r'", "\"'", f"{self.between}'")
        for text in texts:
            if text and not text.strip("\n"):  # blank lines, which need no lists
                yield _Part([], len(text))
                continue
            rows = self._split(text)
            if rows is None:
                yield from self._parse(chain([text], texts))
                return
            self.apostrophes = "'" in text and (text[0] == "'" or any(mark in text for mark in marks))
            yield _Part(rows, len(rows))

    def _split(self, text: str) -> list[list[str]] | None:
        """Rows of a piece of text that has one per line, which is faster than to parse all of them; else None."""
        if "\r" in text:
            if text.count("\r") != text.count("\r\n"):
                return None
            text = text.replace("\r\n", "\n")
        lines = text.removesuffix("\n").split("\n")
        between = self.between
        if self._quoting == csv.QUOTE_NONE or '"' not in text:
            return [line.split(between) if line else [] for line in lines]
        quoted = [line for line in lines if '"' in line]
        try:
            parsed = list(self._parsed(quoted))
        except csv.Error:
            return None
        if len(parsed) != len(quoted):  # a cell of several lines
            return None
        rest = iter(parsed)
        return [next(rest) if '"' in line else line.split(between) if line else [] for line in lines]

    def _parse(self, texts: Iterator[str]) -> Iterator[_Part]:
        """Yield the parts of a table of text that may have cells of several lines."""
        self.apostrophes = True
        reader = self._parsed(chain.from_iterable(io.StringIO(text, newline="") for text in texts))
        ended = False
        while not ended:
            rows: list[list[str]] = []
            before = reader.line_num
            problem: str = ""
            try:
                rows.extend(islice(reader, BATCH))  # an error leaves the rows before it in the list
                ended = len(rows) < BATCH
            except csv.Error as error:
                problem = Message(
                    "{error}; a quote that is not closed or not doubled? A table without quoting: {quotes}",
                    error=str(error),
                    quotes=file_setting("quotes", on=False),
                )
            except (UnicodeError, InvalidInput, *DAMAGE):
                yield _Part(rows, reader.line_num - before)
                raise
            yield _Part(rows, reader.line_num - before, problem)

    def _placed(self, part: _Part) -> Iterator[tuple[Sequence[int], list[list[str]]]]:
        """Yield the rows that are whole; what is broken is refused in its turn."""
        rows = part.rows
        if self._nothing in rows:  # as spreadsheets write an empty row
            rows = [[] if row == self._nothing else row for row in rows]
        if part.lines == len(rows) and not self._suspect and all(rows) and set(map(len, rows)) <= {len(self.names)}:
            begin, self._line = self._line, self._line + len(rows)
            if rows:
                yield range(begin, self._line), rows
            return
        lines: list[int] = []
        whole: list[list[str]] = []
        for row in rows:
            here, self._line = self._line, self._line + _height(row)
            problem = self._problem(row) if row else ""
            if row and not problem:
                lines.append(here)
                whole.append(row)
            elif problem:
                if whole:
                    yield lines, whole
                lines, whole = [], []
                self._refuse(InvalidInput(problem, where=self.where, line=here))
        if whole:
            yield lines, whole

    def _problem(self, cells: list[str]) -> str:
        if len(cells) != len(self.names):
            return Message("expected {n} columns, got {got}", n=len(self.names), got=len(cells))
        return self._undecoded(cells)

    def _undecoded(self, cells: list[str]) -> str:
        """The problem with the first byte that is not of the encoding; empty if all are."""
        for cell in cells if self._suspect else ():
            if not cell.isascii() and (bad := BROKEN.search(cell)):
                return Message(
                    "byte 0x{byte:02x} is not {encoding}; name the encoding with {setting}",
                    byte=ord(bad[0]) - 0xDC00,
                    encoding=self._given or "utf-8",
                    setting=ENCODING,
                )
        return ""

    def _not_encoded(self, error: UnicodeError) -> Message:
        return Message(
            "not {encoding}: {error}; name the encoding with {setting}",
            encoding=self._given or self.encoding,
            error=str(error),
            setting=ENCODING,
        )

    def _first(self, texts: Iterator[str]) -> str:
        try:
            return next(texts, "")
        except UnicodeError as error:
            self._refuse(InvalidInput(self._not_encoded(error), where=self.where, line=1))
        except DAMAGE as error:
            self._refuse(damaged(error, self.where, 0))
        return ""

    def _decoded(self, stream: io.BufferedReader) -> Iterator[str]:
        """Yield the text in pieces that end where a line does."""
        head = stream.peek(8)[:8]
        read: Callable[[int], bytes] = stream.read1
        unsettled = self._given is None
        if self._given is None:
            self._check_magic(head)
            if wide := next((name for mark, name in WIDE.items() if head.startswith(mark)), None):
                self.encoding, unsettled = wide, False
                self.detected = f" as {wide.upper()}"
        codec = self.encoding
        if "\n".encode(codec).removeprefix(codecs.BOM_UTF8) != b"\n":  # a line end is no single byte
            read, codec = _in_utf_8(stream.read1, codec), "utf-8"
        for number, block in enumerate(whole_lines(read, self.where, BLOCK)):
            if not number and b"\0" in block:
                problem = Message(
                    "expected a table of text, got binary data; if it is text in UTF-16: {encoding}",
                    encoding=file_setting("encoding", "utf-16-le"),
                )
                raise InvalidInput(problem, where=self.where)
            if unsettled and not block.isascii():
                self._settle(block)
                codec, unsettled = self.encoding, False
            try:
                yield block.decode(codec)
            except UnicodeDecodeError:
                self._suspect = True
                yield block.decode(codec, "surrogateescape")
            codec = codec.removesuffix("-sig")  # a mark is one at the beginning alone

    def _check_magic(self, head: bytes) -> None:
        for mark, problem in MAGIC.items():
            if head.startswith(mark):
                raise InvalidInput(problem, where=self.where)
        if re.match(rb"\s*(\{|\[)\s*[\[{\"]", head):
            problem = "expected a table with the names of its columns in the first row, got JSON"
            raise InvalidInput(f"{problem}; name it .json or .jsonl", where=self.where)
        if re.match(rb"\s*<(!doc|html|\?xml)", head, re.IGNORECASE):
            raise InvalidInput("this is a web page or XML; was the table behind a login?", where=self.where)

    def _settle(self, block: bytes) -> None:
        """Detect the encoding by the first lines that are not ASCII, unless most of them are UTF-8."""
        with suppress(UnicodeDecodeError):
            block.decode()
            return
        if encoding := detected_encoding(block, self.where, "a table of text", NAME_IT):
            self.encoding = encoding
            self.detected = f" as {shown_encoding(encoding)}"

    def _delimiter(self, sample: str, wanted: Collection[str], choices: Sequence[str]) -> tuple[str, int]:
        """Choose the delimiter under which a row has most of the columns that are wanted, and count the rows above."""
        heads: dict[str, list[list[str]]] = {}
        for each in choices:
            heads[each] = []
            with suppress(csv.Error):
                heads[each].extend(islice(filter(None, self._parsed(io.StringIO(sample, newline=""), each)), MOST_ROWS))
        rows = {each: head_of(several, wanted) for each, several in heads.items()}
        points = {each: wanted_in(next(iter(heads[each][row:]), ()), wanted) for each, row in rows.items()}
        usual = choices[0]
        best = max(points, key=points.__getitem__)
        if not points[best]:
            best = usual
            if len(choices) > 1 and len(next(iter(heads[usual]), ())) < 2:
                with suppress(csv.Error):
                    best = csv.Sniffer().sniff(sample[:SAMPLE], "".join(DELIMITERS)).delimiter
        if best != usual:
            self.detected += f" with {DELIMITERS[best]} between columns"
        return best, rows[best]


def _in_utf_8(read: Callable[[int], bytes], encoding: str) -> Callable[[int], bytes]:
    """Function that reads as another one does, in UTF-8."""
    decode = codecs.getincrementaldecoder(encoding)().decode

    def read_some(size: int) -> bytes:
        while data := read(size):
            if text := decode(data):
                return text.encode()
        return decode(b"", final=True).encode()

    return read_some


def _height(cells: Sequence[str]) -> int:
    """Number of lines of a row."""
    return 1 + sum(cell.count("\n") + cell.count("\r") - cell.count("\r\n") for cell in cells)


class CsvSink:
    """A writer of rows as CSV with a head; lists and objects are written as JSON.

    A text that a spreadsheet would run has an apostrophe before it, which reading takes away again.

    Args:
        stream: The file, open for bytes; it stays the caller's to close.
        fields: The columns; by default those of the first row.
    """

    def __init__(self, stream: IO[bytes], fields: Sequence[str] = ()) -> None:
        self._stream, self._fields = stream, list(fields)
        self._text = io.StringIO(newline="")
        self._writer = csv_writer(self._text)
        self._headed = False

    def write(self, row: object) -> None:
        """Write a row.

        Args:
            row: A row, or a dictionary.
        """
        values = row if isinstance(row, dict) else msgspec.structs.asdict(cast("msgspec.Struct", row))
        if not self._headed:
            self._fields = self._fields or list(values)
            self._writer.writerow(self._fields)
            self._headed = True
        self._writer.writerow([_written(values.get(name)) for name in self._fields])
        if self._text.tell() >= BLOCK:
            self._flush()

    def close(self) -> None:
        """Write the rows that are buffered."""
        self._flush()

    def _flush(self) -> None:
        self._stream.write(self._text.getvalue().encode())
        self._text.seek(0)
        self._text.truncate()


def _written(value: object) -> object:
    if isinstance(value, str):
        return apostrophed(value)
    if isinstance(value, list | tuple | dict | msgspec.Struct):
        return msgspec.json.encode(value, enc_hook=plain_id).decode() if value else ""
    return value


def head_of(rows: Sequence[Sequence[object]], wanted: Collection[str]) -> int:
    """Row that names the columns: the first one, unless it is a title above a row with columns that are wanted.

    Args:
        rows: The first rows.
        wanted: Columns that the table should have.

    >>> head_of([["Results of May", ""], ["item", "text"], ["a", "Rain"]], ["item", "text"])
    1
    """
    points = [wanted_in(row, wanted) for row in rows[:MOST_ROWS]]
    return 0 if not points or points[0] else points.index(max(points))


def wanted_in(row: Sequence[object], wanted: Collection[str]) -> int:
    """Number of columns that are wanted among the cells of a row.

    Args:
        row: The row.
        wanted: Columns that the table should have; `Answer *` is any of that pattern.

    >>> wanted_in(["id", "Answer A"], ["id", "text", "Answer *"])
    2
    """
    cells = {str(cell).strip() for cell in row}
    ends = [name.partition("*")[::2] for name in wanted if "*" in name]
    patterns = sum(any(cell.startswith(before) and cell.endswith(after) for cell in cells) for before, after in ends)
    return len(cells.intersection(wanted)) + patterns


def column_names(names: Sequence[str]) -> str:
    """Format the columns of a file for a message; what is no table may have a line of any length.

    Args:
        names: The columns.

    >>> column_names(["item", "text"])
    'item, text'
    """
    text = ", ".join(filter(None, names))
    return one_line(text if len(text) <= MOST_NAMES else f"{text[:MOST_NAMES]}…")


def _checked_delimiter(given: str) -> str:
    between = {"tab": "\t", "\\t": "\t"}.get(given, given)
    if len(between) != 1 or between in '"\r\n':
        raise UsageError(f"one character stands between columns, or the word tab; got {shown(given)}")
    return between


def codec_of(encoding: str) -> str:
    """Python's name of an encoding; that of UTF-8 passes over a byte order mark.

    Args:
        encoding: Its name.

    Raises:
        UsageError: There is no such encoding of text.

    >>> codec_of("UTF8"), codec_of("latin-1")
    ('utf-8-sig', 'iso8859-1')
    """
    try:
        name = codecs.lookup(encoding).name
        with suppress(UnicodeDecodeError):
            b"a".decode(name, "surrogateescape")
    except (LookupError, ValueError):  # no encoding, or one of something else than text
        raise UsageError(f"unknown encoding '{encoding}'; for example utf-8, gb18030, latin-1, utf-16") from None
    return "utf-8-sig" if name == "utf-8" else name
