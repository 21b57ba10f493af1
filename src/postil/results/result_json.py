"""JSON of results: parsed, checked and decoded by kind, with the location of what is wrong; of earlier versions too."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
import numpy as np
from msgspec import inspect

from postil.capabilities import capabilities, kind, load
from postil.data.explain import RepeatedKey, load_json, shown
from postil.errors import InvalidInput
from postil.kernel import plain_objects

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SCHEMA", "Json", "check_schema", "check_values", "decoded", "invalid", "parsed", "with_facts"]

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | bool | None"

SCHEMA: Final = 1
"""Version of the JSON of all results."""

MADE_BY: Final = "give what a command of postil printed with --format json"

WITHOUT_KIND: Final = {"scores": {"kind": "score", "aggregation": "corpus"}, "agreement": {"kind": "agreement"}}
"""Kind of a result without one, by a field that it has."""

NAMES: Final = {
    "bool": "true or false",
    "float": "a number",
    "int": "an integer",
    "str": "text",
    "array": "an array",
    "object": "an object",
}

ROWS: Final = frozenset({"excluded", "left_out"})
"""Fields of excluded rows."""

KEPT: Final = re.compile(r", the mean taken\Z|, ranked last\Z")
"""End of the reason for rows that are in the numbers."""

WARNED: Final = re.compile(
    "; over=(near|kernel) (follows|loses)|references? of (its|their) own item|^few outliers rule"
)
"""Part of every note that warns, and of no other."""


def decoded(value: object, where: str, only: type[msgspec.Struct] | None = None) -> msgspec.Struct:
    """Decode a result from plain dictionaries, lists and values.

    Args:
        value: The JSON of a result, parsed.
        where: Name of its source in messages.
        only: Struct of the kind of result that is expected; None for any kind.

    Raises:
        InvalidInput: It is no result; says where.
    """
    if not isinstance(value, dict):
        raise InvalidInput(f"expected an object in braces, got {shown(value)}; {MADE_BY}", where=where)
    check_schema(value, where)
    if "kind" not in value:
        value = {**next((usual for field, usual in WITHOUT_KIND.items() if field in value), {}), **value}
    name = value.get("kind")
    struct = _struct(str(name)) if only is None else only
    if struct is None or name != struct.__struct_config__.tag:
        every = [each for capability in capabilities() for each in capability.kinds]
        known = f"one of {', '.join(every)}" if only is None else str(only.__struct_config__.tag)
        got = shown(name) if "kind" in value else "none"
        raise InvalidInput(f"expected {known}, got {got}; {MADE_BY}", where=where, field="kind")
    try:
        check_values(value, "")
        return msgspec.convert(value, struct, dec_hook=_array)
    except msgspec.ValidationError as error:
        raise invalid(error, where, struct) from None


def _struct(name: str) -> type[msgspec.Struct] | None:
    """The struct of a kind of result, if there is such a kind here or in another package."""
    try:
        capability, found = kind(name)
    except KeyError:
        return None
    struct: type[msgspec.Struct] = load(capability, found.struct)
    return struct


def parsed(data: bytes, where: str) -> Json:
    """Parse JSON.

    Args:
        data: The JSON, in UTF-8.
        where: Name of its source in messages.

    Raises:
        InvalidInput: It is not JSON, or has a key twice in one object; says where.
    """
    try:
        value: Json = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
        if not plain_objects(data.replace(b"\n", b" ")):
            load_json(data.decode("utf-8-sig"))
    except RepeatedKey as error:
        raise InvalidInput(str(error), where=where, field=error.key) from None
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        line, problem = _what_is_broken(data, str(error))
        raise InvalidInput(f"not JSON: {problem}; {MADE_BY}", where=where, line=line) from None
    return value


def _what_is_broken(data: bytes, otherwise: str) -> tuple[int | None, str]:
    """The line and the problem, in the words of the parser that counts lines."""
    if not data.strip():
        return None, "the file is empty"
    try:
        json.loads(data.decode("utf-8-sig"), parse_constant=_no_number)
    except json.JSONDecodeError as error:
        return error.lineno, error.msg
    except UnicodeDecodeError as error:
        return 1 + data[: error.start].count(b"\n"), "not UTF-8"
    except (ValueError, RecursionError) as error:
        return None, str(error)
    return None, otherwise


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")


def check_schema(value: Mapping[str, object], where: str) -> None:
    """Refuse the JSON of another version.

    Args:
        value: A JSON object.
        where: Name of its source in messages.

    Raises:
        InvalidInput: It has another version, or none.
    """
    if value.get("schema") != SCHEMA:
        found = shown(value["schema"]) if "schema" in value else "none"
        problem = f"expected {SCHEMA}, got {found}; {MADE_BY} by this version of postil"
        raise InvalidInput(problem, where=where, field="schema")


def check_values(value: object, path: str) -> None:
    """Refuse what neither JSON nor a page can hold: numbers that are not finite, halves of characters.

    Args:
        value: Dictionaries, lists and values.
        path: The location of the value in its result.

    Raises:
        ValidationError: There is such a value; says where.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise msgspec.ValidationError(f"Expected a finite number, got {shown(value)} - at `${path}`")
    if isinstance(value, str) and not _is_whole(value):
        raise msgspec.ValidationError(f"Expected text, got {shown(value)} with half a character - at `${path}`")
    if isinstance(value, dict):
        for key, inner in value.items():
            check_values(key, path)
            check_values(inner, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            check_values(inner, f"{path}[{index}]")


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _array(wanted: type, value: object) -> object:
    """Item scores, which msgspec cannot decode by itself; it asks about values of any type too."""
    if wanted is object:
        return value
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise msgspec.ValidationError(f"Expected an array of numbers, got {shown(value)}") from None


def _choices(kind: type[msgspec.Struct], field: str) -> tuple[object, ...]:
    """The values that a field may have, if it is one of few."""
    wanted: inspect.Type = inspect.type_info(kind)
    for name in re.findall(r"\w+", field):
        if isinstance(wanted, inspect.StructType):
            wanted = next(each.type for each in wanted.fields if each.encode_name == name)
        elif isinstance(wanted, inspect.VarTupleType):
            wanted = wanted.item_type
    return tuple(wanted.values) if isinstance(wanted, inspect.LiteralType) else ()


def invalid(error: msgspec.ValidationError, where: str, kind: type[msgspec.Struct] | None = None) -> InvalidInput:
    """A message of msgspec without its types, and with the values that were expected.

    Args:
        error: The error of msgspec.
        where: Name of the source.
        kind: The struct that was expected, for the values that a field may have.
    """
    problem, _, path = str(error).partition(" - at `$")
    field = path.lstrip(".").rstrip("`")
    problem = re.sub(r"`(\w+)( \| \w+)*`", lambda match: NAMES.get(match[1], match[1]), problem)
    if kind is not None and problem.startswith("Invalid enum value "):
        found = problem.removeprefix("Invalid enum value ").replace("'", '"')
        problem = f"expected {' or '.join(map(str, _choices(kind, field)))}, got {found}"
    return InvalidInput(problem[:1].lower() + problem[1:], where=where, field=field)


def with_facts(value: object) -> object:
    """Add the fields that its sentences tell to a result that was written without them.

    Args:
        value: The JSON of a result, parsed; what is no object remains as it is.

    >>> row = {"why": "graded more than once by one annotator, the mean taken", "n": 1}
    >>> with_facts({"kind": "agreement", "excluded": [row]})["excluded"][0]["kept"]
    True
    >>> with_facts({"kind": "estimate", "notes": ["scores not used: 5 graded items (8 needed)"]})["unused"]
    'scores not used: 5 graded items (8 needed)'
    """
    if not isinstance(value, dict):
        return value
    notes = value.get("notes")
    told = [note for note in notes if isinstance(note, str)] if isinstance(notes, list) else []
    facts: dict[str, object] = {}
    if value.get("kind") == "correlate":
        facts["warnings"] = [note for note in told if WARNED.search(note)]
    elif value.get("kind") == "estimate":
        facts["unused"] = next((note for note in told if note.startswith("scores not used")), "")
    return facts | _with_kept(value)


def _with_kept(value: dict[str, object]) -> dict[str, object]:
    found = dict(value)
    for name, inner in value.items():
        if isinstance(inner, dict):
            found[name] = _with_kept(inner)
        elif name in ROWS and isinstance(inner, list):
            found[name] = [_with_mark(row) for row in inner]
    return found


def _with_mark(row: object) -> object:
    if isinstance(row, dict) and isinstance(why := row.get("why"), str) and KEPT.search(why):
        return {"kept": True} | row
    return row
