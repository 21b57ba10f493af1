"""Advice where a value is missing, is no date, or is an object or an array that has the text within it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.explain import Nested, NoNumber, Null, column_setting, without_number
from postil.data.fields import NoDate
from postil.data.rows import Candidate
from postil.data.synonyms import SYNONYMS
from postil.messages import Listed, Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.data.reading import Reading
    from postil.data.rows import Row

__all__ = ["advised"]

TEXTS: Final = ("text", "content", "answer", "response", "completion", *chain.from_iterable(SYNONYMS.values()))
"""Names, in lower case, of fields that are most likely the text."""
SYSTEMS: Final = ("system", "model", "name")
"""Names, in lower case, of fields that are most likely the system."""


def advised(problem: str, field: str, column: str, row_type: type[Row], reading: Reading) -> str:
    """The problem of a field, with what to do: fill it, do without it, or name the columns that reach the text.

    Args:
        problem: The problem; other ones than `Null`, `NoNumber`, `NoDate` and `Nested` are returned as they are.
        field: The field of the row.
        column: Its column.
        row_type: The row.
        reading: Options of reading the table.

    >>> from postil.data.reading import Reading
    >>> print(advised(Nested({"gpt": "a", "llama": "b"}), "text", "out", Candidate, Reading()))
    expected text, got an object with gpt, llama; name what is the text: columns={'text': 'out.*'} (a system each) or \
columns={'text': 'out.gpt'}
    """
    if isinstance(problem, Null):
        return Message("{problem}; the value is missing: fill it, or drop the row", problem=problem)
    if isinstance(problem, NoNumber) and field in row_type.__struct_fields__:
        advice = without_number("the row out" if _is_needed(field, row_type) else "the value out", problem.text)
        return Message("{problem}{advice}", problem=problem, advice=advice)
    if isinstance(problem, NoDate) and not _is_needed(field, row_type):
        left_out = column_setting(reading.role, {field: ""})
        return Message("{problem}; to read the rows without it: {column}", problem=problem, column=left_out)
    if isinstance(problem, Nested) and field in row_type.__struct_fields__:
        return _within(problem, field, column, row_type, reading)
    return problem


def _within(problem: Nested, field: str, column: str, row_type: type[Row], reading: Reading) -> str:
    """The problem of a value that is no text, with the columns that reach the texts in it."""
    if not problem.value:
        return Message("{problem}; write an empty text where there is none", problem=problem)
    ways = list(_ways(problem.value, field, column, systems=issubclass(row_type, Candidate) and field == "text"))
    if not ways:
        return problem
    named = [column_setting(reading.role, way) for way in ways]
    each = [
        Message("{column} (a system each)", column=setting) if "*" in way[field] else setting
        for way, setting in zip(ways, named, strict=True)
    ]
    return Message("{problem}; name what is the text: {ways}", problem=problem, ways=Listed(each, last=" or "))


def _is_needed(field: str, row_type: type[Row]) -> bool:
    """True if a row cannot do without a field; also of a field within one, which has no column of its own."""
    return next((each.required for each in msgspec.structs.fields(row_type) if each.encode_name == field), True)


def _ways(value: object, field: str, column: str, *, systems: bool) -> Iterator[Mapping[str, str]]:
    """Columns by field that reach texts within a value."""
    if isinstance(value, dict):
        texts, objects = _of(value, str), _of(value, dict)
        if systems and len(objects) == len(value):
            inner = set.intersection(*({*_of(each, str)} for each in value.values()))
            names = [name for name in value[objects[0]] if name in inner]
            yield from [{field: f"{column}.*.{_best(names)}"}] if names else []
        if systems and len(texts) == len(value) > 1:
            yield {field: f"{column}.*"}
        if texts:
            yield {field: f"{column}.{_best(texts)}"}
    elif isinstance(value, list) and isinstance(value[0], dict):
        texts = _of(value[0], str)
        of_system = next((name for name in texts if systems and name.casefold() in SYSTEMS), None)
        if names := [name for name in texts if name != of_system]:
            yield {field: f"{column}.{_best(names)}", **({"system": f"{column}.{of_system}"} if of_system else {})}
    elif isinstance(value, list) and isinstance(value[0], str):
        yield {field: f"{column}.0"}


def _of(value: object, kind: type) -> list[str]:
    """Names of the fields of an object that hold a kind of values."""
    return [name for name, each in value.items() if isinstance(each, kind)] if isinstance(value, dict) else []


def _best(names: Sequence[str]) -> str:
    """The name of the field that is most likely the text."""
    return next((name for name in names if name.casefold() in TEXTS), names[0])
