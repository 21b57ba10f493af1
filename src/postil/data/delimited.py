"""Text tables: CSV and its relatives, whatever stands between the columns and however the text is encoded."""

from __future__ import annotations

import csv
import io
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Final, Literal, NamedTuple, cast

import msgspec

from postil.data.decoding import DecodedText
from postil.data.escaping import apostrophed, csv_writer, one_line
from postil.data.explain import file_setting, shown
from postil.data.fields import plain_id
from postil.data.streams import DAMAGE, SAMPLE, damaged, raised
from postil.errors import InvalidInput, UsageError
from postil.messages import Message

if TYPE_CHECKING:
    import _csv
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

__all__ = [
    "LONGEST",
    "MOST_ROWS",
    "CsvSink",
    "Delimited",
    "Wanted",
    "column_names",
    "head_of",
    "names_in_short",
    "wanted_in",
]

LONGEST: Final = 1 << 24
"""Largest number of characters per cell; beyond that a quote was not closed."""
MOST_NAMES: Final = 200
"""Largest number of characters of column names in a message."""
FEW_NAMES: Final = 5
"""Largest number of columns that a note names one by one."""
BATCH: Final = 512
BLOCK: Final = 1 << 15
MOST_ROWS: Final = 20
"""Largest number of rows among which the one with the names of the columns is looked for."""
DELIMITERS: Final = {",": "','", ";": "';'", "\t": "tabs", "|": "'|'"}
"""Characters that are looked for between columns, and their names in messages."""


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
        wanted: Wanted | None = None,
        *,
        encoding: str | None = None,
        delimiter: str | None = None,
        usual: str = ",",
        quotes: bool = True,
        refuse: Callable[[InvalidInput], None] = raised,
    ) -> None:
        self.where, self._refuse = where, refuse
        self.detected = ""
        """Guesses, in words that go on after "read"."""
        self._text = DecodedText(stream, where, encoding, self._read_as)
        self._quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
        texts = self._text.pieces()
        first = self._first(texts)
        between = _checked_delimiter(delimiter) if delimiter is not None else None
        marked = re.match("sep=(.)\r?\n", first)  # Excel's own way to say it
        if marked:
            between = between or marked[1]
            first = first[marked.end() :]
        self.between, self._above = self._delimiter(
            first, wanted or Wanted(), (between,) if between else (usual, *DELIMITERS)
        )
        self.decimal_commas = self.between == ";"
        self._line = 2 if marked else 1  # where the next row begins
        self._parts = self._read(chain([first], texts))
        self._held: _Part | None = None
        self._read_names()

    def _read_as(self, encoding: str) -> None:
        self.detected = encoding

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
        if problem := self._text.undecoded(self.names):
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
            self._refuse(InvalidInput(self._text.not_encoded(error), where=self.where, line=self._line))
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
        sound = part.lines == len(rows) and not self._text.suspect
        if sound and all(rows) and set(map(len, rows)) <= {len(self.names)}:
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
        return self._text.undecoded(cells)

    def _first(self, texts: Iterator[str]) -> str:
        try:
            return next(texts, "")
        except UnicodeError as error:
            self._refuse(InvalidInput(self._text.not_encoded(error), where=self.where, line=1))
        except DAMAGE as error:
            self._refuse(damaged(error, self.where, 0))
        return ""

    def _delimiter(self, sample: str, wanted: Wanted, choices: Sequence[str]) -> tuple[str, int]:
        """Choose the delimiter under which a row has most of the columns that are wanted, and count the rows above."""
        heads: dict[str, list[list[str]]] = {}
        for each in choices:
            heads[each] = []
            with suppress(csv.Error):
                heads[each].extend(islice(filter(None, self._parsed(io.StringIO(sample, newline=""), each)), MOST_ROWS))
        of_row = wanted.points(chain.from_iterable(heads.values()))
        rows = {each: head_of(several, of_row) for each, several in heads.items()}
        points = {each: of_row(next(iter(heads[each][row:]), ())) for each, row in rows.items()}
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


@dataclass(frozen=True, slots=True)
class Wanted:
    """Columns that a table should have.

    Args:
        names: Their names; `Answer *` is any of that pattern.
        others: Other names that they may have, in lower case; they count where no row has one of those.
    """

    names: Collection[str] = ()
    others: Collection[str] = ()

    def points(self, rows: Iterable[Sequence[object]]) -> Callable[[Sequence[object]], int]:
        """Function from a row to the number of columns that are wanted among its cells.

        Args:
            rows: The first rows of the table.

        >>> rows = [["Results of May", ""], ["ITEM", "Text"], ["a", "Rain"]]
        >>> list(map(Wanted(["item", "text"], ["item", "text"]).points(rows), rows))
        [0, 2, 0]
        """
        if not self.others or any(wanted_in(row, self.names) for row in rows):
            return lambda row: wanted_in(row, self.names)
        return lambda row: wanted_in([str(cell).strip().casefold() for cell in row], self.others)


def head_of(rows: Sequence[Sequence[object]], points_of: Callable[[Sequence[object]], int]) -> int:
    """Row that names the columns: the first one, unless it is a title above a row with columns that are wanted.

    Args:
        rows: The first rows.
        points_of: Function from a row to its number of columns that are wanted.

    >>> rows = [["Results of May", ""], ["item", "text"], ["a", "Rain"]]
    >>> head_of(rows, Wanted(["item", "text"]).points(rows))
    1
    """
    points = list(map(points_of, rows[:MOST_ROWS]))
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


def names_in_short(names: Sequence[str]) -> str:
    """Format many columns for a note that names the first two and the last one.

    Args:
        names: The columns.

    >>> names_in_short([f"Answer {place}" for place in range(1, 9)])
    'Answer 1, Answer 2, …, Answer 8'
    >>> names_in_short(["item", "text", "grade"])
    'item, text, grade'
    """
    named = list(filter(None, names))
    return column_names(named if len(named) <= FEW_NAMES else [*named[:2], "…", named[-1]])


def _checked_delimiter(given: str) -> str:
    between = {"tab": "\t", "\\t": "\t"}.get(given, given)
    if len(between) != 1 or between in '"\r\n':
        raise UsageError(f"one character stands between columns, or the word tab; got {shown(given)}")
    return between
