"""Explanations in messages about rows: field, expected and found, settings of reading, numbers of things."""

from __future__ import annotations

import decimal
import json
import math
import re
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Self, SupportsFloat, TypeAlias

import msgspec
from msgspec import inspect

from postil.data.escaping import one_line
from postil.errors import InvalidInput
from postil.messages import PYTHON, Blank, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "COLUMN",
    "Nested",
    "NoColumn",
    "NoNumber",
    "NotJson",
    "Null",
    "Problem",
    "RepeatedKey",
    "are",
    "column_setting",
    "counted",
    "explain",
    "file_setting",
    "have",
    "is_finite",
    "lacking",
    "load_json",
    "mismatch",
    "noun_of",
    "out_of_range",
    "shown",
    "unlike",
    "without_number",
]

LONGEST = 40
MOST_NAMES: Final = 200
Problem: TypeAlias = tuple[str, str]  # field, problem


class NotJson(str):
    """One of NaN, Infinity and -Infinity, which some writers put into JSON although JSON has no such numbers."""

    __slots__ = ()


class Null(Message):
    """The problem that a value is null, or missing in a data frame."""

    __slots__ = ()


class NoColumn(Message):
    """The problem that a column of a file, or a field of a row, is missing."""

    __slots__ = ()


class NoNumber(Message):
    """The problem that a text stands where a number belongs.

    Args:
        problem: The problem, in words.
        text: The text.

    >>> NoNumber('expected a number, got "4?"', "4?").text
    '4?'
    """

    __slots__ = ("text",)
    text: str

    def __new__(cls, problem: str, text: str) -> Self:
        """Keep the text."""
        made = super().__new__(cls, problem)
        made.text = text
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """See `Message`."""
        return NoNumber, (str(self), self.text)


class Nested(Message):
    """The problem that a value holds others, where text belongs.

    Args:
        value: The value, an object or a list.

    >>> print(Nested({"gpt": "a b", "llama": "a"}))
    expected text, got an object with gpt, llama
    >>> for value in ([{"model": "gpt", "output": "a b"}], ["a b"], {}):
    ...     print(Nested(value))
    expected text, got an array of objects with model, output
    expected text, got an array of texts
    expected text, got an object
    """

    __slots__ = ("value",)
    value: dict[str, object] | list[object]

    def __new__(cls, value: dict[str, object] | list[object]) -> Self:
        """Describe the value."""
        made = super().__new__(cls, unlike("text", value, _outline(value)))
        made.value = value
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """See `Message`."""
        return Nested, (self.value,)


def _outline(value: object) -> str:
    """Contents of an object or array, in words that go on after it."""
    if isinstance(value, dict):
        names = ", ".join(value)
        return f" with {one_line(names[:MOST_NAMES])}{'…' * (len(names) > MOST_NAMES)}" if value else ""
    if not isinstance(value, list) or not value:
        return ""
    if all(isinstance(each, dict) for each in value):
        return f" of objects{_outline(dict.fromkeys(chain.from_iterable(value)))}"
    return " of texts" if all(isinstance(each, str) for each in value) else ""


class RepeatedKey(ValueError):  # noqa: N818 - says what is wrong
    """An object has a key twice, of which JSON would keep the last.

    Args:
        key: The key.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(f"expected every key once in its object, got {shown(key)} twice; keep one of them")


def load_json(text: str | bytes) -> Any:
    """Parse JSON, refusing repeated keys.

    Args:
        text: The text.

    Raises:
        RepeatedKey: An object has a key twice.
        ValueError: It is not JSON.

    >>> load_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    postil.data.explain.RepeatedKey: expected every key once in its object, got "a" twice; keep one of them
    """
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise RepeatedKey(key)
        found[key] = value
    return found


def shown(value: object) -> str:
    """Format a value for a message: short, and as JSON where it is JSON.

    >>> shown("5"), shown(True), shown(None), shown(float("nan")), shown([1, 2])
    ('"5"', 'true', 'null', 'NaN', 'an array')
    """
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else repr(float(value)).removesuffix(".0")
    if isinstance(value, str):
        text = value if len(value) <= LONGEST else value[:LONGEST] + "…"
        return json.dumps(text, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "an array"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def out_of_range(value: object, low: float, high: float) -> str:
    """Describe a number that is out of range.

    Args:
        value: The value found.
        low: The lowest allowed number.
        high: The highest allowed number.

    >>> out_of_range(7, 1.0, 5.0)
    'expected a number from 1 to 5, got 7'
    """
    return f"expected a number from {shown(low)} to {shown(high)}, got {shown(value)}"


_form = lru_cache(maxsize=64)(inspect.type_info)


def explain(value: object, row_type: type[msgspec.Struct] | None) -> Problem | None:
    """Find the first thing wrong with a decoded row.

    Args:
        value: The row, as plain dictionaries, lists and values.
        row_type: Expected class; None for any object.

    Returns:
        The field (empty for the row itself) and the problem, or None if nothing is wrong.

    >>> class Mark(msgspec.Struct):
    ...     item: str | int
    ...     grade: float
    >>> explain({"item": "a", "grade": "5"}, Mark)
    ('grade', 'expected a number, got "5"; write it without quotes')
    >>> print(*explain({"item": "a", "note": "b"}, Mark))
    grade missing; a mark needs item, grade; this row has: item, note
    """
    if not isinstance(value, dict):
        return "", f"expected an object in braces, got {shown(value)}"
    leaves = list(_leaves(value, ""))
    for path, leaf in leaves:
        if isinstance(leaf, NotJson):
            return path, f"{leaf} is not JSON; write null, or leave the field out"
    if row_type is not None:
        return next(_mismatches(value, _form(row_type), ""), None)
    for path, leaf in leaves:
        if isinstance(leaf, float) and not math.isfinite(leaf):
            return path, f"expected a finite number, got {shown(leaf)}"
        if isinstance(leaf, str) and not _is_text(leaf):
            return path, f"expected text, got half a surrogate pair in {shown(leaf)}"
    return None


def mismatch(value: object, wanted: inspect.Type) -> Problem | None:
    """Find the first thing wrong with the value of a field.

    Args:
        value: The value, as plain dictionaries, lists and values.
        wanted: Type of the field.

    Returns:
        The place within it and the problem, or None if nothing is wrong.

    >>> mismatch([1], inspect.type_info(tuple[str, ...]))
    ('[0]', 'expected text, got 1')
    """
    return next(_mismatches(value, wanted, ""), None)


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield the plain values in a row, each with its field."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{position}]")
    else:
        yield path, value


def _is_text(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _mismatches(value: object, wanted: inspect.Type, path: str) -> Iterator[Problem]:
    """Yield the problems of a value that is not of the expected type, in order."""
    options = wanted.types if isinstance(wanted, inspect.UnionType) else (wanted,)
    if value is None and any(isinstance(option, inspect.NoneType) for option in options):
        return
    options = tuple(option for option in options if not isinstance(option, inspect.NoneType))
    if isinstance(options[0], inspect.Metadata) and options[0].extra:  # a field with a check of its own
        try:
            options[0].extra["check"](value)
        except InvalidInput as error:
            yield path, error.problem
    elif isinstance(options[0], inspect.StructType):
        yield from _struct_mismatches(value, options[0], path)
    elif isinstance(options[0], inspect.VarTupleType | inspect.DictType):
        yield from _container_mismatches(value, options[0], path)
    elif isinstance(value, dict | list) and isinstance(options[0], inspect.StrType) and len(options) == 1:
        yield path, Nested(value)
    elif not any(_fits(value, option) for option in options):
        advice = _advice(value, options)
        problem = unlike(" or ".join(map(_name, options)), value, advice)
        numbers = all(isinstance(option, inspect.IntType | inspect.FloatType) for option in options)
        yield path, NoNumber(problem, value) if isinstance(value, str) and numbers and not advice else problem


_NEXT_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def noun_of(row_type: type[msgspec.Struct]) -> str:
    """Noun for a kind of rows, of the name of its class.

    Args:
        row_type: The class.

    >>> from postil.data.rows import PairPreference
    >>> noun_of(PairPreference)
    'pair preference'
    """
    return _NEXT_WORD.sub(" ", row_type.__name__.lstrip("_")).lower()


def lacking(kind: str, needed: Sequence[str], there: str, *, row: str = "", advice: str = "") -> NoColumn:
    """Describe a row that lacks fields.

    Args:
        kind: Kind of row.
        needed: The fields that it needs.
        there: The fields that it has.
        row: Another word for it.
        advice: Advice, with a semicolon before it.
    """
    return NoColumn(
        "missing; {kind} needs {needed}; this {row} has: {there}{advice}",
        kind=f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}",
        needed=", ".join(needed),
        row=row or Message("row"),
        there=there or Message("no fields"),
        advice=advice,
    )


def without_number(what: str, text: str) -> Message:
    """Clause of advice where a text stands in place of a number.

    Args:
        what: The thing to leave out where there is none, and how.
        text: The text; one that a message cuts off is none that says so.

    >>> print(without_number("the row out", "n/a"))
    ; leave the row out where there is no number, or name what stands there: missing=["n/a"]
    """
    leave = Message("; leave {what} where there is no number", what=what)
    if len(text.strip()) > LONGEST:
        return leave
    text = shown(text.strip())
    missing = Setting("missing", Blank(text), python=f"[{text}]")
    return Message("{leave}, or name what stands there: {missing}", leave=leave, missing=missing)


def unlike(expected: str, value: object, advice: str = "") -> str:
    """Describe a value that is not what was expected.

    Args:
        expected: Noun for it, with an article.
        value: The value found.
        advice: Advice, with a semicolon before it.

    >>> unlike("a number", "many"), isinstance(unlike("a number", None), Null)
    ('expected a number, got "many"', True)
    """
    problem = f"expected {expected}, got {shown(value)}{advice}"
    return Null(problem) if value is None else problem


def _container_mismatches(
    value: object, wanted: inspect.VarTupleType | inspect.DictType, path: str
) -> Iterator[Problem]:
    if isinstance(wanted, inspect.DictType):
        if not isinstance(value, dict):
            yield path, unlike("an object in braces", value)
        else:
            for key, inner in value.items():
                yield from _mismatches(inner, wanted.value_type, f"{path}.{key}")
    elif not isinstance(value, list | tuple):
        yield path, unlike("an array", value)
    else:
        for position, inner in enumerate(value):
            yield from _mismatches(inner, wanted.item_type, f"{path}[{position}]")


def _struct_mismatches(value: object, wanted: inspect.StructType, path: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield path, unlike("an object in braces", value)
        return
    needed = [field.encode_name for field in wanted.fields if field.required]
    dot = f"{path}." if path else ""
    missing = [name for name in needed if name not in value]
    if missing:
        kind = noun_of(wanted.cls)
        request = Message("request") if kind.endswith("request") else Message("row")
        row = Message("object") if path else request
        yield ", ".join(dot + name for name in missing), lacking(kind, needed, ", ".join(value), row=row)
    for field in wanted.fields:
        if field.encode_name in value:
            yield from _mismatches(value[field.encode_name], field.type, dot + field.encode_name)


def _fits(value: object, wanted: inspect.Type) -> bool:
    if isinstance(wanted, inspect.LiteralType):
        return value in wanted.values
    if isinstance(value, bool) or isinstance(wanted, inspect.BoolType):
        return isinstance(value, bool) and isinstance(wanted, inspect.BoolType)
    if isinstance(wanted, inspect.StrType):
        return isinstance(value, str) and _is_text(value)
    if isinstance(wanted, inspect.IntType):
        return isinstance(value, int) and _within(value, wanted)
    if not isinstance(value, int | float | decimal.Decimal) or not is_finite(value):
        return False
    return not isinstance(wanted, inspect.FloatType) or _within(value, wanted)


def _within(value: float | decimal.Decimal, wanted: inspect.IntType | inspect.FloatType) -> bool:
    low = -math.inf if wanted.ge is None else wanted.ge
    high = math.inf if wanted.le is None else wanted.le
    return low <= value <= high and (wanted.gt is None or value > wanted.gt)


def is_finite(value: SupportsFloat) -> bool:
    """True if a number is finite as a float; an integer may be too large for one.

    Args:
        value: A number.

    >>> is_finite(10**400)
    False
    """
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _name(wanted: inspect.Type) -> str:
    if isinstance(wanted, inspect.LiteralType):
        return " or ".join(map(str, wanted.values))
    if isinstance(wanted, inspect.BoolType):
        return "true or false"
    if isinstance(wanted, inspect.StrType):
        return "text"
    if isinstance(wanted, inspect.IntType) and wanted.le == 2**63 - 1:
        return "an integer of at most 64 bits"
    noun = "an integer" if isinstance(wanted, inspect.IntType) else "a number"
    if not isinstance(wanted, inspect.IntType | inspect.FloatType):
        return noun
    bounds = ((" from ", wanted.ge), (" above ", wanted.gt), (" to ", wanted.le))
    return noun + "".join(f"{word}{bound:g}" for word, bound in bounds if bound is not None)


def _advice(value: object, options: tuple[inspect.Type, ...]) -> str:
    if not isinstance(value, str) or any(isinstance(option, inspect.StrType) for option in options):
        return ""
    try:
        json.loads(value, parse_constant=_no_constant)
    except ValueError:
        return ""
    return "; write it without quotes"


def _no_constant(name: str) -> float:
    """Refuse NaN and the infinities, which JSON does not have."""
    raise ValueError(name)


def are(n: int) -> str:
    """The verb of n things that are something.

    Args:
        n: The number.

    >>> f"1 of 3 texts {are(1)} empty", f"2 of 3 texts {are(2)} empty"
    ('1 of 3 texts is empty', '2 of 3 texts are empty')
    """
    return "is" if n == 1 else "are"


def counted(n: int, what: str) -> str:
    """A number of things.

    Args:
        n: The number.
        what: One of them.

    >>> counted(1, "item"), counted(1200, "item")
    ('1 item', '1,200 items')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def have(n: int) -> str:
    """The verb of n things that have something.

    Args:
        n: The number.

    >>> f"1 of 3 texts {have(1)} no words"
    '1 of 3 texts has no words'
    """
    return "has" if n == 1 else "have"


COLUMN: Final = Blank("COLUMN")
"""A column that the reader is to name."""


def file_setting(name: str, value: str | None = None, *, on: bool | None = None, python: str = "") -> Setting:
    """Setting of reading a file, which functions of Python do not have: there the rows are read first.

    Args:
        name: Its name on the command line.
        value: The value; None for the setting itself.
        on: True or False for a switch that is on or off.
        python: Argument of `postil.data.reading.Reading`, where it is another one.

    >>> from postil.messages import COMMAND_LINE
    >>> sheet = file_setting("sheet", Blank("NAME"))
    >>> COMMAND_LINE.setting(sheet), PYTHON.setting(sheet)
    ('--sheet NAME', 'list(postil.data.row_files.read(PATH, ROW, Reading(sheet=NAME)))')
    """
    given = value if on is None else on
    argument = python or PYTHON.setting(Setting(name, given))
    return Setting(name, given, instead=f"list(postil.data.row_files.read(PATH, ROW, Reading({argument})))")


def column_setting(role: str, columns: Mapping[str, str]) -> Setting:
    """Setting that names the columns of fields.

    Args:
        role: Role of the table; empty for the main one.
        columns: Column or constant by field; `COLUMN` where the reader is to name it.

    >>> from postil.messages import COMMAND_LINE
    >>> both = column_setting("references", {"text": COLUMN, "grade": "=4"})
    >>> COMMAND_LINE.setting(both)
    '--column references.text=COLUMN --column references.grade==4'
    >>> PYTHON.setting(both)
    "columns={'references.text': COLUMN, 'references.grade': '=4'}"
    """
    of_role = {f"{role}{'.' * bool(role)}{field}": column for field, column in columns.items()}
    words = tuple(
        Blank(f"{field}={column}") if isinstance(column, Blank) else f"{field}={column}"
        for field, column in of_role.items()
    )
    pairs = (f"{field!r}: {column if isinstance(column, Blank) else repr(column)}" for field, column in of_role.items())
    return Setting(
        "column",
        words,
        instead=f"columns={{{', '.join(pairs)}}}",
        json=", ".join(f'"{field}"' for field in columns),
    )
