"""Candidates and references that come together: one table that holds both, and references that rows repeat.

References of an item are one where they are equal in all that tells references apart: text, grade, ratings, weight,
upvotes and id. Which system a row names does not: in a table with one row per system it is that of the candidate.
References that stand in one row, as in a list, are as many as there stand.

Rows do not say if they repeat a reference or state a second one with the same words. Repetition is by far the commoner
case, and otherwise metrics that average over references depend on the number of systems, which no reader sees in the
number: on WMT21's talks ``rouge-l(over=top-3)`` of one of 13 systems was .724 in place of .621. An id declares two.
"""

from __future__ import annotations

import filecmp
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar, cast

import numpy as np
from msgspec import structs

from postil.data.explain import COLUMN, column_setting, counted
from postil.data.frames import ColumnNames, columns_of, is_frame, open_rows
from postil.data.reading import NESTED, heads_of, is_folded, named_in
from postil.data.recognition import recognized, recognized_columns, tell_recognized
from postil.data.row_files import CELLS, check_standard_input, format_of
from postil.data.row_locations import FileLocations, LocatedRows, RowLocations, SelectedRows, Source
from postil.data.rows import Candidate, Reference, Row
from postil.data.synonyms import ID, ROW
from postil.data.tables import is_nested
from postil.errors import InvalidInput, UsageError
from postil.messages import Message, Setting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from postil.data.frames import Table
    from postil.data.reading import Reading

__all__ = [
    "PAIR",
    "Pairing",
    "alone",
    "distinct_references",
    "firsts",
    "pair_tables",
    "repeated",
    "several_tables",
    "unpaired",
]

T = TypeVar("T", Candidate, Reference)

OF_CANDIDATES: Final = ("system", "id")
"""Fields of references that a table with candidates has no column for, unless one is named: it is the candidates'."""
PAIR: Final[Mapping[str, type[Row]]] = MappingProxyType({"candidates": Candidate, "references": Reference})
"""Row type of each of the two."""
VALUES: Final = ("grade", "ratings", "weight", "upvotes")
"""Fields that tell references apart, and that may be the candidates' in a table with both."""


class RowCounts:
    """Numbers of rows of tables in which row i belongs to item i, compared where each table ends."""

    def __init__(self) -> None:
        self._first: tuple[str, int] | None = None

    def checked(self, rows: LocatedRows[T]) -> LocatedRows[T]:
        """Pass on the rows of a table up to the number that the table read first has.

        Args:
            rows: The rows, whose items are their numbers.

        Raises:
            InvalidInput: On the way, that they are more or fewer.
        """
        return LocatedRows(self._passed(rows), rows.places)

    def _passed(self, rows: LocatedRows[T]) -> Iterator[T]:
        number = 0
        for row in rows:
            number = int(row.item)
            if self._first is None or number <= self._first[1]:
                yield row
        name, expected = self._first = self._first or (rows.places.where, number)
        if number != expected:
            problem = Message(
                "expected as many rows as {other} has, since row i of both belongs to item i: {expected:,}, got "
                "{length:,}",
                other=name,
                expected=expected,
                length=number,
            )
            raise InvalidInput(problem, where=rows.places.where)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Options of reading a table of candidates and one of references.

    Args:
        readings: Options by role, of other tables of the call too.
        joint: True if the rows of the references are rows of candidates as well.
        same: True if they are one table.
        counts: Numbers of their rows, where row i of every table belongs to item i; else None.
        each: Options of each table of candidates, where there are several.
    """

    readings: dict[str, Reading]
    joint: bool
    same: bool
    counts: RowCounts | None = None
    each: tuple[Reading, ...] = ()

    def candidates(self, tables: Table | Sequence[Table]) -> LocatedRows[Candidate]:
        """Open the candidates.

        Args:
            tables: The table, or the several for which these are the options.

        Raises:
            InvalidInput: On the way, that they are more or fewer than the references that their rows belong to.
        """
        several = several_tables(tables) or [cast("Table", tables)]
        pairs = zip(several, self.each or [self.readings["candidates"]], strict=True)
        opened = [self._opened(table, Candidate, "candidates", reading) for table, reading in pairs]
        if len(opened) == 1:
            return opened[0]
        places = FileLocations(", ".join(_name(table, "candidates") for table in several))
        return LocatedRows(places.rows(opened), places)

    def references(self, tables: Table | Sequence[Table], needed: Collection[str] = ()) -> LocatedRows[Reference]:
        """Open the references, each once.

        Args:
            tables: The table, or several: in the order of their rows, each has one more reference of an item.
            needed: Fields that the references' weights are made of.

        Raises:
            InvalidInput: On the way, that tables whose rows belong to the same items have different numbers of them.
        """
        reading = self.readings["references"]
        several = several_tables(tables) or [cast("Table", tables)]
        names = [_name(each, f"references[{place}]") for place, each in enumerate(several)]
        if len(several) == 1:
            rows = self._opened(several[0], Reference, "references", reading)
        else:
            places = FileLocations(", ".join(names))
            # References of several tables are several, whether they are equal or not.
            of_table = [
                _with_columns(reading, {"id": f"={number}"}) if self.counts else reading
                for number in range(1, len(several) + 1)
            ]
            each = zip(several, names, of_table, strict=True)
            opened = (self._opened(table, Reference, name, options) for table, name, options in each)
            rows = LocatedRows(places.rows(opened), places)
        return distinct_references(
            rows, reading, joint=self.joint, advises=not (self.same or self.joint), needed=needed
        )

    def _opened(self, table: Table, row_type: type[T], role: str, reading: Reading) -> LocatedRows[T]:
        rows = open_rows(table, row_type, role, ColumnNames({role: row_type}, given={role: reading}))
        return rows if self.counts is None else self.counts.checked(rows)


def several_tables(value: object) -> Sequence[Table] | None:
    """The tables in a list of them; None for a table, and for a column.

    Args:
        value: A table, or a list of paths or data frames.

    >>> several_tables(["one.txt", "other.txt"]), several_tables("one.txt"), several_tables([{"text": "a"}])
    (['one.txt', 'other.txt'], None, None)
    """
    if not isinstance(value, list | tuple) or not value:
        return None
    return value if all(isinstance(each, str | os.PathLike) or is_frame(each) for each in value) else None


def pair_tables(
    candidates: Table | Sequence[Table], references: Table | Sequence[Table], given: Mapping[str, Reading]
) -> Pairing:
    """Options of reading candidates and references, of which one table may hold both.

    Where they are one table, references have the items of the candidates. In one table, the columns of a system and of
    an id are not those of the references unless they are named. Where no table has items, as files of one text per line
    have none, the items are the numbers of the rows. Where candidates are several tables, one without a column of
    systems is a system with the name of the file.

    Args:
        candidates: The table of the candidates, or several.
        references: The table of the references, or several.
        given: Options by role, as the flags have them.

    Raises:
        UsageError: Several are standard input, both are one column of one table, or two systems have the same name.
        InvalidInput: A column could be several fields.
    """
    of_candidates = several_tables(candidates) or [cast("Table", candidates)]
    several = several_tables(references) or [cast("Table", references)]
    check_standard_input(*[each for each in of_candidates if isinstance(each, str)])
    if [each for each in (*of_candidates, *several) if isinstance(each, str)].count("-") > 1:
        raise UsageError("candidates and references cannot both come from standard input")
    pairs = [_pair(each, several[0], dict(given)) for each in of_candidates]
    found = next((pair for pair in pairs if pair.same or pair.joint), pairs[0])
    if len(pairs) > 1:
        found = replace(found, each=_with_systems(of_candidates, [pair.readings["candidates"] for pair in pairs]))
    roles = [("candidates", pair.readings["candidates"], pair.same) for pair in pairs]
    roles += [("references", found.readings["references"], found.same)] * len(several)
    if not _are_numbered([*of_candidates, *several], roles):
        return found
    number = {"item": ROW}
    readings = {**found.readings, **{role: _with_columns(found.readings[role], number) for role in PAIR}}
    counts = None if found.same and len(roles) == len(PAIR) else RowCounts()
    each = tuple(_with_columns(reading, number) for reading in found.each)
    return replace(found, readings=readings, counts=counts, each=each)


def alone(candidates: Table | Sequence[Table], given: Mapping[str, Reading]) -> Pairing:
    """Options of reading candidates without references; see `pair_tables`.

    Args:
        candidates: The table of the candidates, or several.
        given: Options by role, as the flags have them.

    Raises:
        UsageError: Several are standard input, or two systems have the same name.
        InvalidInput: A column could be several fields.
    """
    tables = several_tables(candidates) or [cast("Table", candidates)]
    check_standard_input(*[each for each in tables if isinstance(each, str)])
    each = (given["candidates"],) * len(tables)
    if len(tables) > 1:
        each = _with_systems(tables, each)
    if _are_numbered(tables, [("candidates", reading, False) for reading in each]):
        each = tuple(_with_columns(reading, {"item": ROW}) for reading in each)
    return Pairing({**given, "candidates": each[0]}, joint=False, same=False, each=each)


def _with_systems(tables: Sequence[Table], readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """Options of reading several tables of candidates: one that has no systems is a system with the name of its file.

    Raises:
        UsageError: A table is named twice, or two that have no systems have the same name.
    """
    found: list[Reading] = []
    named: list[str] = []
    of_system: dict[str, str] = {}
    for table, reading in zip(tables, readings, strict=True):
        where = _name(table, "candidates")
        where = "stdin" if where == "-" else where
        if where in named:
            raise UsageError("{where}: expected each file of candidates once, got it twice", where=where)
        named.append(where)
        if "system" not in reading.columns and not is_folded(reading.columns.get("text", "")):
            folder = where if Path(where).is_dir() else ""
            system = replace(reading, folder=folder).system_name(where)
            found.append(replace(reading, assumed={**reading.assumed, "system": system}))
            if _lacks_systems(table, found[-1], where) and (other := of_system.setdefault(system, where)) != where:
                raise UsageError(
                    "{where}: no column system, so the system is called '{system}' like the file, and so is that of "
                    "{other}; rename one of the two files, or give their rows a column system",
                    where=where,
                    system=system,
                    other=other,
                )
        else:
            found.append(reading)
    return tuple(found)


def _lacks_systems(table: Table, reading: Reading, where: str) -> bool:
    """True if a table of candidates has no column of systems, as far as it can be seen before it is read."""
    silent = replace(reading, say=lambda _: None, assumed={**reading.assumed, "item": ""})
    names = columns_of(table, "candidates", Candidate, silent)
    with suppress(InvalidInput):  # which reading reports
        return recognized(Candidate, silent, names, where).columns.get("system") == f"={reading.assumed['system']}"
    return False


def _are_numbered(tables: Sequence[Table], roles: Sequence[tuple[str, Reading, bool]]) -> bool:
    """True if not all tables have a column of items, and none a clear one, so that row i of each belongs to item i.

    Args:
        tables: The tables.
        roles: The role of each, the options of reading it, and whether one table has both roles.
    """
    by_id = 0
    for table, (role, given, same) in zip(tables, roles, strict=True):
        reading, row_type = replace(given, say=lambda _: None), PAIR[role]
        if "item" in reading.columns or (isinstance(table, str | os.PathLike) and Path(table).is_dir()):
            return False
        names = columns_of(table, role, row_type, reading)
        if not names or "item" in names:
            return False
        with suppress(InvalidInput):  # which reading reports
            found = recognized_columns(row_type, reading, names, _name(table, role))
            item = found.get("item", "")
            if item.casefold() not in {"", ID} or (role == "candidates" and "system" in {*names, *found} and not same):
                return False
            by_id += bool(item)
    return by_id < len(tables)


def _name(table: Table, role: str = "references") -> str:
    """Name of a table, for messages."""
    return os.fspath(table) if isinstance(table, str | os.PathLike) else role


def _pair(candidates: Table, references: Table, given: dict[str, Reading]) -> Pairing:
    """Options of reading candidates and references that have items."""
    of_one, of_other = given["candidates"], given["references"]
    same = _same(candidates, references)
    one_table = (of_one.sheet, of_one.split) == (of_other.sheet, of_other.split)
    if same and one_table:
        of_one, of_other = _apart(candidates, of_one, of_other)
    if same and one_table and _text(of_one) == _text(of_other):
        raise UsageError(
            "{references}: candidates and references are the same {table}; name the columns of each: {columns}",
            references=_name(references),
            table=Message("file") if isinstance(references, str | os.PathLike) else Message("table"),
            columns=column_setting("", {"text": COLUMN, "references.text": COLUMN}),
        )
    if same and "item" in of_one.columns:
        of_other = _with_columns(of_other, {"item": of_one.columns["item"]})
    names = columns_of(references, "references", Reference, of_other) if of_other.columns else ()
    one_table = one_table and (same or _equal(candidates, references))
    joint = _is_joint(of_one, of_other, names, one_table=one_table)
    of_other = _with_columns(of_other, dict.fromkeys(OF_CANDIDATES, "")) if joint else of_other
    found = {**given, "candidates": of_one, "references": of_other}
    if same and isinstance(references, str | os.PathLike):
        also = tuple(column for role in PAIR for column in found[role].names.values())
        for role in PAIR:
            found[role] = replace(found[role], part=role, also=also)
    return Pairing(found, joint, same)


def unpaired(
    places: RowLocations, index: int, problem: str, role: str, field: str = "item", *, numbered: bool = False
) -> InvalidInput:
    """Make the error for a candidate whose item another table lacks, with what to do where one has numbers as items.

    Args:
        places: Locations of the candidates.
        index: The candidate, counted from 0.
        problem: The problem.
        role: Role of the other table.
        field: Field of its items.
        numbered: True if its items are the numbers of its rows.

    >>> lines = RowLocations("out.txt", columns={"item": "#"})
    >>> print(unpaired(lines, 0, "expected a, got 1", "references"))
    out.txt:1: expected a, got 1; the items here are the numbers of the rows; where both are in the same order: \
columns={'references.item': '#'}
    """
    own = places.column("item") == ROW
    if own == numbered:  # both have ids, or both have numbers and are of different lengths
        return places.error(index, "item", problem)
    column = column_setting(role, {field: ROW}) if own else column_setting("", {"item": ROW})
    whose = Message("here") if own else Message("of the {role}", role=role)
    advice = Message(
        "{problem}; the items {whose} are the numbers of the rows; where both are in the same order: {column}",
        problem=problem,
        whose=whose,
        column=column,
    )
    return places.error(index, "" if own else "item", advice)


def distinct_references(
    rows: Source[Reference], reading: Reading, *, joint: bool, advises: bool, needed: Collection[str] = ()
) -> LocatedRows[Reference]:
    """References without those that several rows of an item repeat; of one by several systems, no system is known.

    Args:
        rows: References.
        reading: Options of reading them, for what is said about them.
        joint: True if their table has candidates as well. Grades and the like whose column nobody named are then the
            candidates' if they differ where a reference is repeated, and are left out.
        advises: True to say how references would be several.
        needed: Fields that the references' weights are made of.

    Raises:
        InvalidInput: A needed field is not the references'; says where.
    """
    shared = tuple(field for field in VALUES if field not in reading.columns) if joint else ()
    whole: list[Reference] = []
    first: list[int] = []
    chosen = SelectedRows(enumerate(whole), rows.places, lambda each: first[each[0]] == each[0])

    def told() -> Iterator[Reference]:
        whole.extend(rows)
        if not shared and all(row.system is None for row in whole) and _are_distinct(whole):
            yield from whole  # the usual case
        else:
            first.extend(firsts(whole, map(rows.places.line, range(len(whole))), shared))
            kept, differing = dict(chosen), dict[str, tuple[int, int]]()
            for index, row in enumerate(whole):
                mine = kept[first[index]]
                for field in shared:
                    if getattr(mine, field) != getattr(row, field):
                        differing.setdefault(field, (index, rows.places.line(first[index])))
                if mine.system != row.system:
                    kept[first[index]] = structs.replace(mine, system=None)
            if chosen.skipped:
                remarks = _of_candidates(differing, rows.places, reading, needed)
                where = rows.places.where
                reading.tell(where, repeated(chosen.skipped, reading.column_setting("id") if advises else None))
                for remark in remarks:
                    reading.tell(where, remark)
            nothing = _nothing(differing)
            yield from (structs.replace(row, **nothing) for row in kept.values()) if nothing else kept.values()
        whole.clear()  # memory: the selection is alive until it is collected

    return LocatedRows(told(), chosen.places)


def _of_candidates(
    differing: Mapping[str, tuple[int, int]], places: RowLocations, reading: Reading, needed: Collection[str]
) -> list[str]:
    """Remarks on the fields that are the candidates', as they differ where a reference is repeated.

    Args:
        differing: By field the first row that differs, and the line that it repeats.
        places: Locations of the rows.
        reading: Options of reading the rows, for what to do.
        needed: Fields that the references' weights are made of.

    Raises:
        InvalidInput: One of those fields is needed.
    """
    found: list[str] = []
    for field, (index, line) in differing.items():
        problem = f"differs from that in row {line}, where the same reference stands"
        column = reading.column_setting(field)
        if field in needed:
            advice = Message(
                "{problem}, so it seems to be the candidate's; name the column of the references: {column}",
                problem=problem,
                column=column,
            )
            raise places.error(index, field, advice)
        taken = Message(
            "{field} {problem}, so it is taken as the candidate's (the references': {column})",
            field=places.column(field),
            problem=problem,
            column=column,
        )
        found.append(taken)
    return found


def firsts(rows: Sequence[Reference], lines: Iterable[int], shared: Collection[str] = ()) -> list[int]:
    """For each reference the index of the one from another line that it repeats, or its own.

    Args:
        rows: References.
        lines: The line of each.
        shared: Fields that may be the candidates', which do not tell references apart.

    >>> firsts([Reference("1", "a"), Reference("1", "a"), Reference("1", "a", id="2")], [1, 2, 3])
    [0, 0, 2]
    """
    first: dict[Reference, tuple[int, int]] = {}
    found = list[int]()
    for index, (row, line) in enumerate(zip(rows, lines, strict=True)):
        earlier, seen = first.setdefault(_told_apart(row, shared), (index, line))
        found.append(index if seen == line else earlier)
    return found


def repeated(number: int, column: Setting | None = None) -> str:
    """Remark on references that were repeated.

    Args:
        number: Number of the repetitions.
        column: Setting that names the column of an id; None where it is clear that they are one.
    """
    what = f"{counted(number, 'reference')} that several rows of an item repeat, taken once each"
    if column is None:
        return what
    return Message(
        "{what}; where they are several, name the column that tells them apart: {column}", what=what, column=column
    )


def _are_distinct(rows: Sequence[Reference]) -> bool:
    """True if no two rows are equal, as their hashes tell: these take less memory and time than a set of rows."""
    hashes = np.sort(np.fromiter(map(hash, rows), np.int64, len(rows)))
    return not (hashes[1:] == hashes[:-1]).any()


def _told_apart(row: Reference, shared: Collection[str]) -> Reference:
    """A reference as far as it is told from others of its item."""
    if row.system is None and not shared:
        return row
    return structs.replace(row, system=None, **_nothing(shared))


def _nothing(fields: Iterable[str]) -> dict[str, tuple[()] | None]:
    """Values of fields of a row without them."""
    return {field: () if field == "ratings" else None for field in fields}


def _is_joint(candidates: Reading, references: Reading, names: Collection[str], *, one_table: bool) -> bool:
    """True if the rows of a table of references are rows of candidates too, which have a text of their own."""
    if _text(candidates) == _text(references) or is_nested(Reference, references, names):
        return False
    columns = {candidates.columns.get(field, field) for field in ("item", "system", "text")}
    return one_table or columns <= set(names)


def _text(reading: Reading) -> str:
    """Column of the texts, or of lists of them."""
    return reading.columns.get("references", reading.columns.get("text", "text"))


def _with_columns(reading: Reading, columns: Mapping[str, str]) -> Reading:
    """Options with columns of fields that have none."""
    return replace(reading, columns=MappingProxyType({**columns, **reading.columns}))


def _with_text(reading: Reading, found: Mapping[str, str], table: Table) -> Reading:
    """Options with the column of the texts that was found, unless it is named as postil names it."""
    new = {name: column for name, column in found.items() if name in {"text", NESTED} and name not in reading.columns}
    if told := {name: column for name, column in new.items() if name != column}:
        role = reading.role or "candidates"
        part = role if isinstance(table, str | os.PathLike) else ""
        tell_recognized(replace(reading, part=part), told, _name(table, role))
    return _with_columns(reading, new)


def _apart(table: Table, of_one: Reading, of_other: Reading) -> tuple[Reading, Reading]:
    """Options with the columns of the texts of candidates and of references in one table, as far as names tell them."""
    silent = replace(of_one, say=lambda _: None)
    names, where = columns_of(table, "candidates", Candidate, silent), _name(table)
    for_one = recognized_columns(Candidate, replace(silent, also=list(of_other.names.values())), names, where)
    text = of_one.columns.get("text", for_one.get("text", "text"))
    if {"text", NESTED} & of_other.columns.keys():
        return _with_text(of_one, for_one, table), of_other
    own = [name for name in names if named_in(text, name) or name in heads_of(text)]
    if not own:
        return of_one, of_other
    others = [name for name in names if name not in {*own, "text"}]
    lists = not isinstance(table, str | os.PathLike) or format_of(table, of_other) not in CELLS
    recognized = recognized_columns(Reference, of_other, others, where, lists=lists)
    for_other = {NESTED: NESTED} if NESTED in others else recognized
    return _with_text(of_one, for_one, table), _with_text(of_other, for_other, table)


def _same(one: Table, other: Table) -> bool:
    if not (isinstance(one, str | os.PathLike) and isinstance(other, str | os.PathLike)):
        return one is other
    with suppress(OSError):  # one of them does not exist, so it is not the other
        return Path(one).samefile(other)
    return False


def _equal(one: Table, other: Table) -> bool:
    if isinstance(one, str | os.PathLike) and isinstance(other, str | os.PathLike):
        with suppress(OSError):
            return Path(one).is_file() and Path(other).is_file() and filecmp.cmp(one, other, shallow=False)
    return False
