"""Columns of a table that are recognized by other names, and fields that have no column."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from postil.data.explain import COLUMN, column_setting, shown
from postil.data.reading import is_folded, items_by_column, names_systems
from postil.data.rows import Reference, Row
from postil.data.synonyms import ID, LISTS, needed, synonyms
from postil.errors import InvalidInput
from postil.messages import Listed, Message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.data.reading import Reading

__all__ = ["recognized", "recognized_columns", "tell_recognized"]


def recognized_columns(
    row_type: type[Row],
    reading: Reading,
    names: Sequence[str],
    where: str,
    line: int | None = None,
    *,
    lists: bool = False,
) -> dict[str, str]:
    """Find columns of a table by other names, where a field that is needed has no column of its own name.

    All fields are then looked for in upper and lower case, the text under its synonyms too, and an item under `ID` if
    it has no other column. A table in which no needed field lacks a column is read by its own names alone.

    Args:
        row_type: The rows to make.
        reading: Mapping of columns; fields that it names are not looked for.
        names: Columns of the table.
        where: The table.
        line: Line of their names.
        lists: True if a column may hold lists, as those of all references of an item.

    Returns:
        Column by field.

    Raises:
        InvalidInput: Several columns could be the same field.

    >>> from postil.data.reading import Reading
    >>> from postil.data.rows import Candidate
    >>> recognized_columns(Candidate, Reading(), ["Item", "System", "mt"], "t.csv")
    {'item': 'Item', 'system': 'System', 'text': 'mt'}
    """
    fields = [each.encode_name for each in msgspec.structs.fields(row_type)]
    own = [each for each in fields if each in names]
    nested = [LISTS] if issubclass(row_type, Reference) else []
    given = {*own, *reading.columns, *({"text"} if {*nested} & {*names, *reading.columns} else ())}
    given |= _named_by_columns(reading)
    if all(each in given for each in needed(row_type)):
        return {}
    taken = {*own, *reading.names.values()}
    free = [name for name in names if name and name not in taken and name not in reading.also]
    found: dict[str, str] = {}
    for field in [each for each in fields if each not in given]:
        wanted = {field, *(nested if field == "text" else ()), *(synonyms(row_type) if field == "text" else ())}
        columns = [name for name in free if name.casefold() in wanted]
        if len(columns) > 1:
            problem = Message(
                "expected one column of the {field}, got several that could be it: {columns}; name yours: {setting}",
                field=field,
                columns=Listed(list(map(shown, columns))),
                setting=column_setting(reading.role, {field: COLUMN}),
            )
            raise InvalidInput(problem, where=where, line=line)
        if columns:
            [name] = columns
            of_item = name.casefold() in nested or (lists and field == "text" and nested)
            found[LISTS if of_item else field] = name
    taken = {name for field, name in found.items() if field != ID} | {*reading.names.values(), *reading.also}
    if "item" in needed(row_type) and "item" not in {*given, *found}:
        columns = [name for name in names if name.casefold() == ID]
        if len(columns) == 1 and columns[0] not in taken:
            found |= {"item": columns[0], **({ID: ""} if ID in fields else {})}  # a row has no other id then
    return found


def recognized(
    row_type: type[Row],
    reading: Reading,
    names: Sequence[str],
    where: str,
    line: int | None = None,
    *,
    lists: bool = False,
) -> Reading:
    """Options of reading a table with the columns that have other names there, and values of fields without a column.

    What was found is told.

    Args:
        row_type: The rows to make.
        reading: The options.
        names: Columns of the table.
        where: The table.
        line: Line of their names.
        lists: True if a column may hold lists, as those of all references of an item.

    Raises:
        InvalidInput: Several columns could be the same field.
    """
    found = recognized_columns(row_type, reading, names, where, line, lists=lists)
    if found:
        tell_recognized(reading, found, where)
    known = {*names, *found, *reading.columns, *_named_by_columns(reading)}
    lacking = [each for each in needed(row_type) if each not in known]
    if lacking and reading.assumed.keys() >= set(lacking):
        for each in lacking:
            found[each] = f"={reading.assumed[each]}"
            told = Message(
                "no column {field}; all rows are of '{value}' (if there is one: {column})",
                field=each,
                value=reading.assumed[each],
                column=column_setting(reading.role, {each: COLUMN}),
            )
            reading.tell(where, told)
    return replace(reading, columns=MappingProxyType({**found, **reading.columns})) if found else reading


def _named_by_columns(reading: Reading) -> set[str]:
    """Fields that the names of columns are, where several stand side by side."""
    if items_by_column(reading.columns):
        return set()
    several = reading.wide or any(map(is_folded, reading.columns.values()))
    systems = is_folded(reading.columns.get("grade", "")) and names_systems(reading.columns["grade"])
    return {*({"annotator", "metric"} if several else ()), *({"system"} if systems else ())}


def tell_recognized(reading: Reading, found: Mapping[str, str], where: str) -> None:
    """Say which columns were recognized by other names.

    Args:
        reading: Options of reading the table.
        found: Column by field.
        where: The table.
    """
    fields = {"text" if field == LISTS else field: name for field, name in found.items() if name}
    told = Listed([f"{name} as {field}" for field, name in fields.items()], last=", ")
    other = column_setting(reading.role, dict.fromkeys(list(fields)[:1], COLUMN))
    reading.tell(where, Message("columns read by other names: {told} (others: {other})", told=told, other=other))
