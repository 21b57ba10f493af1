"""Sheets of workbooks: Excel's .xlsx and OpenDocument's .ods, with the values that are stored in them.

calamine treats cells with errors, and formulas without a result, as empty. So the sheet itself is searched for both,
and for merged cells: a missing number must not be taken for one that was left out. Old .xls is refused, as its search
would need another library.
Tables are written as .xlsx by XlsxWriter: texts as texts, so that none of them is a formula, and numbers as numbers of
16 digits, which every spreadsheet shows in the way of its language. Columns are as wide as what is in them, and their
heads stay in sight.
"""

from __future__ import annotations

import io
import math
import posixpath
import re
import struct
import zipfile
import zlib
from contextlib import suppress
from datetime import datetime
from html import escape, unescape
from itertools import chain
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Final, cast
from xml.parsers import expat

import msgspec

from postil.data.cells import BrokenCell, MergedCell, ShownNumber
from postil.data.delimited import MOST_ROWS, Wanted, head_of
from postil.data.escaping import display_width
from postil.data.explain import file_setting
from postil.data.fields import plain_id
from postil.data.streams import opened
from postil.errors import InvalidInput, UnknownName, UsageError, needs
from postil.messages import Blank, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from python_calamine import CalamineWorkbook
    from xlsxwriter.format import Format

    from postil.data.reading import Reading
    from postil.data.streams import FilePath

__all__ = [
    "LARGEST_ARCHIVE",
    "RATIO",
    "Sheet",
    "SheetSink",
    "UnusualXmlError",
    "cell_name",
    "check_sizes",
    "check_usual",
    "in_usual_xml",
    "sheet_names",
    "workbook",
]

LARGEST_ARCHIVE: Final = 1 << 29
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
    most = min(LARGEST_ARCHIVE, max(SMALL, RATIO * len(data)))
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


LARGEST_PART: Final = 1 << 28
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
        if sum(part.file_size for part in parts.values()) > LARGEST_PART:
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


# Of sheets of .xlsx; writers may put a prefix before every name.
_CELL: Final = re.compile(rb"<((?:\w++:)?)c\b([^<>]*+)>(?:(?<=/>)|((?:[^<]++|<(?!/?(?:\w++:)?c\b))*+)</\1c>)")
_FORMULA: Final = re.compile(rb"<(?:\w+:)?f\b")
_STORED: Final = re.compile(rb"<(?:\w++:)?v\b[^<>]*+>([^<]++)<")
_MERGED: Final = re.compile(rb"<(?:\w++:)?mergeCell\b[^<>]*\bref=\"([A-Z]+)([0-9]+):([A-Z]+)([0-9]+)\"")
# Cells beyond column Z or row 99,999.
_FAR: Final = re.compile(rb"\br=\"(?=[A-Z]{2}|[A-Z][0-9]{6})([A-Z]+)([0-9]+)\"")
_ELEMENT: Final = re.compile(r"<(?:\w++:)?(sheet|Relationship)\b([^<>]*+)>")
_ATTRIBUTE: Final = re.compile(r"(?<![\w:.-])([\w:.-]++)=\"([^\"]*+)\"")
_SHOWN: Final = re.compile(r"\s*+<text:p[^<>]*+>([^<]*+)")
_TAG: Final = re.compile(
    r"<(table:table-row|table:(?:covered-)?table-cell)\b((?:[^<>/]++|/(?!>))*+)(/?)>|(</)table:table-row>"
)

DAMAGE: Final = (zipfile.BadZipFile, zlib.error, EOFError, LookupError, OSError, RuntimeError, ValueError)
"""Errors of reading a zip file that is damaged, and of what should be in it."""

Values = list[list[object]]

SPARSE: Final = 10_000_000
"""Largest number of empty cells that are read, besides three for each that is not."""


class Sheet:
    """A sheet of a workbook as a table of cells.

    Args:
        stream: The workbook, open for bytes.
        where: Its name.
        wanted: Columns that it should have, by which the row of their names is recognized below a title.
        reading: The sheet.

    Raises:
        InvalidInput: It is no workbook, empty, or far larger inflated than it is.
        UsageError: Several sheets have rows, and none is named.
        UnknownName: There is no such sheet.
        MissingExtra: The library for workbooks is not installed.
    """

    texts = apostrophes = decimal_commas = False

    def __init__(self, stream: IO[bytes], where: str, wanted: Wanted, reading: Reading) -> None:
        with needs(f"the workbook {where}", "tables"):
            import python_calamine as calamine  # noqa: PLC0415
        self.where = where
        data = stream.read()
        if not data.startswith(b"PK"):
            problem: str = Message(
                "not a workbook of Excel (.xlsx) or OpenDocument (.ods); a text table is named .csv or .tsv"
            )
            raise InvalidInput(problem, where=where)
        damage = (calamine.CalamineError, *DAMAGE)
        check_sizes(data, where)
        try:
            name, names, formulas = self._open(data, wanted, reading)
        except damage as error:
            try:
                usual = in_usual_xml(data)
                if usual is None:
                    raise
                name, names, formulas = self._open(usual, wanted, reading, rewritten=True)
            except damage:
                problem = f"a damaged workbook, or none: {error}; is the download complete?"
                raise InvalidInput(problem, where=where) from error
        self.detected = f" from sheet '{name}'" if len(names) > 1 else ""
        if formulas:
            self.detected += f" with the stored values of {formulas:,} formula{'s' * (formulas > 1)}"
        if not self.line:
            raise InvalidInput("the table is empty", where=where)
        self.detected += f" with the columns' names in row {self.line}" if self._above else ""
        self.names = [str(cell).strip() for cell in self._rows[self.line - 1]]
        twice = next((each for each in self.names if each and self.names.count(each) > 1), None)
        if twice is not None:
            problem = "the column stands twice; give one another name"
            raise InvalidInput(problem, where=where, line=self.line, field=twice)

    def _open(
        self, data: bytes, wanted: Wanted, reading: Reading, *, rewritten: bool = False
    ) -> tuple[str, list[str], int]:
        """The name of the sheet, those of all sheets, and the number of formulas."""
        import python_calamine as calamine  # noqa: PLC0415

        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        if not book.sheet_names and not rewritten:
            raise UnusualXmlError("no sheets")
        archive = zipfile.ZipFile(io.BytesIO(data))
        name, self._rows = _chosen(book, archive, self.where, reading, wanted)
        filled = [number for number, row in enumerate(self._rows, 1) if any(cell != "" for cell in row)]
        first = [self._rows[number - 1] for number in filled[:MOST_ROWS]]
        self._above = head_of(first, wanted.points(first))
        self.line = filled[self._above] if filled else 0
        return name, book.sheet_names, _mark(archive, name, self._rows, self.line)

    def rows(self) -> Iterator[tuple[Sequence[int], Sequence[Sequence[object]]]]:
        """The rows that are not empty.

        Yields:
            The number of each row, counted from 1, and the rows.
        """
        numbers = [
            number
            for number in range(self.line + 1, len(self._rows) + 1)
            if any(cell != "" and not isinstance(cell, MergedCell) for cell in self._rows[number - 1])
        ]
        if numbers:
            yield numbers, [self._rows[number - 1] for number in numbers]


def sheet_names(path: FilePath) -> Sequence[str]:
    """Names of the sheets of a workbook; none of a file that is no workbook, which reading it will report.

    Args:
        path: The file.
    """
    with suppress(ImportError, InvalidInput, *DAMAGE):
        import python_calamine as calamine  # noqa: PLC0415

        with opened(path) as stream:
            data = stream.read()
        check_sizes(data, str(path))
        with suppress(calamine.CalamineError):
            return calamine.CalamineWorkbook.from_filelike(io.BytesIO(data)).sheet_names
    return ()


def cell_name(row: int, column: int) -> str:
    """Name of a cell in a spreadsheet.

    Args:
        row: Its row, counted from 0.
        column: Its column, counted from 0.

    >>> cell_name(1, 27)
    'AB2'
    """
    letters, number = "", column + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row + 1}"


def _number_of(letters: str) -> int:
    """Number of a column, counted from 0."""
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - 64
    return column - 1


def _chosen(
    book: CalamineWorkbook, archive: zipfile.ZipFile, where: str, reading: Reading, wanted: Wanted
) -> tuple[str, Values]:
    """Name and values of the sheet that is asked for, of the only one with columns that are wanted, or with rows."""
    if reading.sheet is not None:
        UnknownName.check(f"sheet of {where}", reading.sheet, book.sheet_names)
        return reading.sheet, _values(book, archive, reading.sheet, where)
    sheets = {name: _values(book, archive, name, where) for name in book.sheet_names}
    filled = [name for name, rows in sheets.items() if rows]
    if len(filled) > 1:
        first = {name: sheets[name][:MOST_ROWS] for name in filled}
        of_row = wanted.points(chain.from_iterable(first.values()))
        points = [max(map(of_row, rows)) for rows in first.values()]
        fitting = [name for name, each in zip(filled, points, strict=True) if each == max(points)]
        if len(fitting) > 1:
            of_one: str = ""
            if role := reading.role:
                of_one = Message(
                    ", or for this file alone {sheet}",
                    sheet=file_setting("sheet", Blank(f"{role}=NAME"), python="sheet=NAME"),
                )
            raise UsageError(
                "{where}: {number} sheets have rows: {names}; choose one with {sheet}{of_one}",
                where=where,
                number=len(filled),
                names=", ".join(filled),
                sheet=file_setting("sheet", Blank("NAME")),
                of_one=of_one,
            )
        filled = fitting
    if not book.sheet_names:
        raise InvalidInput("the workbook has no sheets", where=where)
    name = (filled or book.sheet_names)[0]
    return name, sheets[name]


def _values(book: CalamineWorkbook, archive: zipfile.ZipFile, name: str, where: str) -> Values:
    """Values of a sheet; one that is nearly empty is refused, since all its cells together may not fit in memory."""
    sheet = b"" if "content.xml" in archive.namelist() else check_usual(archive.read(_part(archive, name)))
    if far := _FAR.findall(sheet):
        width = max(_number_of(letters.decode()) for letters, _ in far) + 1
        height = max(int(row) for _, row in far)
        if width * height > SPARSE + 4 * sheet.count(b' r="'):
            problem = f"the sheet '{name}' reaches to cell {cell_name(height - 1, width - 1)}, but is nearly empty"
            raise InvalidInput(f"{problem}; delete what stands far from the table", where=where)
    return [list(row) for row in book.get_sheet_by_name(name).to_python(skip_empty_area=False)]


def _mark(archive: zipfile.ZipFile, name: str, rows: Values, head: int) -> int:
    """Put `BrokenCell` where a value is none, and count the formulas."""
    if "content.xml" in archive.namelist():
        return _mark_ods(check_usual(archive.read("content.xml")).decode(), name, rows, head)
    return _mark_xlsx(archive.read(_part(archive, name)), rows, head)


def _part(archive: zipfile.ZipFile, name: str) -> str:
    """File of a sheet within an .xlsx."""
    found: dict[str, dict[str, str]] = {"sheet": {}, "Relationship": {}}
    for file in ("xl/workbook.xml", "xl/_rels/workbook.xml.rels"):
        for kind, attributes in _ELEMENT.findall(check_usual(archive.read(file)).decode()):
            values = {key.rpartition(":")[2]: unescape(value) for key, value in _ATTRIBUTE.findall(attributes)}
            if kind == "sheet":
                found[kind][values["name"]] = values["id"]
            else:
                found[kind][values["Id"]] = values["Target"]
    target = found["Relationship"][found["sheet"][name]]
    return target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")


def _set(rows: Values, row: int, column: int, problem: str) -> None:
    if row < len(rows) and column < len(rows[row]):
        rows[row][column] = BrokenCell(problem.format(cell=cell_name(row, column)))


_ERROR: Final = "a value, got the error {error} in cell {{cell}}; correct the formula, or write the value in its place"
_NOT_STORED: Final = (
    "a value, got a formula without a stored value in cell {cell}; open the workbook in a spreadsheet and save it"
)
_SPANNED: Final = "a value in each cell, got merged cells ({area}); unmerge them, and fill in every cell"


def _mark_xlsx(data: bytes, rows: Values, head: int) -> int:
    formulas = 0
    if _FORMULA.search(data) or b't="e"' in data:
        for found in _CELL.finditer(data):
            inside = found[3] or b""
            formula = _FORMULA.search(inside) is not None
            formulas += formula
            attributes = dict(_ATTRIBUTE.findall(found[2].decode()))
            stored = _STORED.search(inside)
            name = attributes.get("r", "")
            letters = name.rstrip("0123456789")
            if not letters or (attributes.get("t") != "e" and not formula):
                continue
            row, column = int(name[len(letters) :]) - 1, _number_of(letters)
            if attributes.get("t") == "e":
                _set(rows, row, column, _ERROR.format(error=unescape(stored[1].decode()) if stored else "#N/A"))
            elif stored is None and attributes.get("t") != "str":
                _set(rows, row, column, _NOT_STORED)
    for first, top, last, bottom in _MERGED.findall(data):
        left, right = _number_of(first.decode()), _number_of(last.decode())
        _span(rows, head, (int(top) - 1, left, int(bottom) - 1, right))
    return formulas


def _span(rows: Values, head: int, cells: tuple[int, int, int, int]) -> None:
    """Mark merged cells below the row that names the columns; those of one column keep their value."""
    top, left, bottom, right = cells
    area = f"{cell_name(top, left)}:{cell_name(bottom, right)}"
    problem, value = _SPANNED.format(area=area), rows[top][left] if top < len(rows) and left < len(rows[top]) else ""
    for row in range(max(top, head), min(bottom + 1, len(rows))):
        for column in range(left, min(right + 1, len(rows[row]))):
            rows[row][column] = MergedCell(problem, value) if left == right and top >= head else BrokenCell(problem)


def _mark_ods(text: str, name: str, rows: Values, head: int) -> int:
    tables = {
        unescape(dict(_ATTRIBUTE.findall(found[1])).get("table:name", "")): found.end()
        for found in re.finditer(r"<table:table\b([^<>]*+)>", text)
    }
    text = text[tables[name] : text.find("</table:table>", tables[name])]
    formulas = row = column = 0
    high = 1
    spans: list[tuple[int, int, int, int]] = []
    for found in _TAG.finditer(text):
        if found[4]:
            row += high
            continue
        attributes = dict(_ATTRIBUTE.findall(found[2]))
        if found[1] == "table:table-row":
            high, column = int(attributes.get("table:number-rows-repeated", 1)), 0
            row += high if found[3] else 0
            continue
        if "table:formula" in attributes:
            formulas += 1
            if attributes.get("calcext:value-type") == "error":
                shown = _SHOWN.match(text, found.end())
                _set(rows, row, column, _ERROR.format(error=unescape(shown[1]) if shown else ""))
            elif "office:value-type" not in attributes:
                _set(rows, row, column, _NOT_STORED)
        down, right = (int(attributes.get(f"table:number-{what}-spanned", 1)) for what in ("rows", "columns"))
        if down > 1 or right > 1:
            spans.append((row, column, row + down - 1, column + right - 1))
        column += int(attributes.get("table:number-columns-repeated", 1))
    for span in spans:
        _span(rows, head, span)
    return formulas


_MOST_ROWS: Final = 1 << 20
_LONGEST_CELL: Final = (1 << 15) - 1
"""Limits of Excel, which calls a workbook beyond them damaged."""
_EXACT: Final = 1 << 53
"""Numbers of spreadsheets are doubles, and integers above this would lose digits."""
_ALWAYS: Final = datetime(1980, 1, 1)  # noqa: DTZ001 - workbooks have no time zones
"""Time at which every workbook says that it was made, so that the same rows give the same bytes."""


_NARROWEST, _WIDEST, _BESIDE = 8, 60, 2
"""Smallest and largest width of a column in characters, and room beside the widest."""
_TALLEST: Final = 27
"""Number of lines of the highest row; a longer text is not wrapped, as its row would not show it either."""
_GENERAL: Final = 9
"""Number of digits of a number that a spreadsheet shows where nothing else is said."""
_WIDE: Final = 1e6
"""From here on numbers that are shown with decimals have an exponent."""


class SheetSink:
    """A writer of rows as the one sheet of an .xlsx with a head; lists and objects are written as JSON.

    Args:
        stream: The file, open for bytes; it stays the caller's to close.
        where: Its name, for messages.
        fields: The columns; by default those of the first row.

    Raises:
        MissingExtra: The extra ``tables`` is not installed.
    """

    def __init__(self, stream: IO[bytes], where: str, fields: Sequence[str] = ()) -> None:
        with needs(f"the workbook {where}", "tables"):
            import xlsxwriter  # noqa: PLC0415
        self._where, self._fields, self._rows = where, list(fields), 0
        self._book = xlsxwriter.Workbook(stream, {"constant_memory": True})
        self._book.set_properties({"created": _ALWAYS})
        self._sheet = self._book.add_worksheet("postil")
        self._sheet.freeze_panes(1, 0)
        self._widths: dict[int, int] = {}
        self._looks: dict[tuple[tuple[str, object], ...], Format] = {}

    def write(self, row: object) -> None:
        """Write a row.

        Args:
            row: A row, or a dictionary.

        Raises:
            UsageError: There are more rows, or longer texts, than spreadsheets take.
        """
        values = row if isinstance(row, dict) else msgspec.structs.asdict(cast("msgspec.Struct", row))
        if not self._rows:
            self._fields = self._fields or list(values)
            self.write_cells(self._fields)
        self.write_cells([values.get(name) for name in self._fields])

    def write_cells(self, cells: Iterable[object]) -> None:
        """Write a row of cells, the first of which is the head.

        Args:
            cells: The cells, which may be empty: None.

        Raises:
            UsageError: See `write`.
        """
        if self._rows >= _MOST_ROWS:
            raise UsageError(f"{self._where}: a workbook holds at most {_MOST_ROWS:,} rows; CSV holds more")
        for column, value in enumerate(cells):
            self._write_cell(column, value)
        self._rows += 1

    def close(self) -> None:
        """Write the widths of the columns, the buttons that filter rows, and the end of the workbook."""
        for column, wide in self._widths.items():
            self._sheet.set_column(column, column, min(max(wide + _BESIDE, _NARROWEST), _WIDEST))
        if self._rows > 1:
            self._sheet.autofilter(0, 0, self._rows - 1, max(self._widths))
        self._book.close()

    def _look(self, column: int, shown: str, **properties: object) -> Format:
        """The format of a cell with some properties; its column becomes as wide as it."""
        lines, most = shown.split("\n"), _WIDEST - _BESIDE
        wide = max(map(display_width, lines))
        self._widths[column] = max(self._widths.get(column, 0), wide)
        if (len(lines) > 1 or wide > most) and sum(1 + display_width(line) // most for line in lines) <= _TALLEST:
            properties["text_wrap"] = True
        if not self._rows:
            properties["bold"] = True
        found = self._looks.get(key := tuple(properties.items()))
        if found is None:
            found = self._looks[key] = self._book.add_format({"valign": "top", **properties})
        return found

    def _number_look(self, column: int, value: float, shown: ShownNumber | None) -> Format:
        if shown is None:
            return self._look(column, f"{value:.{_GENERAL}g}")
        kind, exponent = ("e", "E+00") if abs(value) >= _WIDE else ("f", "")
        return self._look(
            column,
            f"{value:.{shown.digits}{kind}}{shown.mark}",
            num_format=f"{0:.{shown.digits}f}{exponent}" + f'"{shown.mark}"' * bool(shown.mark),
            bold=shown.bold,
            underline=shown.underlined,
        )

    def _write_cell(self, column: int, value: object) -> None:
        if isinstance(value, bool):
            self._sheet.write_boolean(self._rows, column, value, self._look(column, str(value)))
            return
        shown, value = (value, value.value) if isinstance(value, ShownNumber) else (None, value)
        if (isinstance(value, int) and abs(value) <= _EXACT) or (isinstance(value, float) and math.isfinite(value)):
            self._sheet.write_number(self._rows, column, value, self._number_look(column, value, shown))
            return
        if isinstance(value, list | tuple | dict | msgspec.Struct):
            value = msgspec.json.encode(value, enc_hook=plain_id).decode() if value else None
        if value is None:
            return
        text = str(value).encode(errors="backslashreplace").decode()
        length = len(text.encode("utf-16-le")) // 2  # as Excel counts
        if length > _LONGEST_CELL:
            raise UsageError(
                f"{self._where}: a cell of a workbook holds at most {_LONGEST_CELL:,} characters, and "
                f"{cell_name(self._rows, column)} has {length:,}; CSV holds longer ones"
            )
        self._sheet.write_string(self._rows, column, text, self._look(column, text))


def workbook(path: str, grid: Iterable[Iterable[object]]) -> bytes:
    """Make a workbook of one sheet.

    Args:
        path: Its name, for messages.
        grid: Rows of cells; the first row is the head.

    Raises:
        UsageError: There are more rows, or longer texts, than spreadsheets take.
    """
    out = io.BytesIO()
    sink = SheetSink(out, path)
    for cells in grid:
        sink.write_cells(cells)
    sink.close()
    return out.getvalue()
