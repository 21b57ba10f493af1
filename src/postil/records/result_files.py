"""Result files: what commands printed with ``--format json``, decoded by kind, checked and written again."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
import numpy as np
from msgspec import inspect

from postil.errors import InvalidInput
from postil.kernel import plain_objects
from postil.records.explain import RepeatedKey, load_json, shown
from postil.records.results import SCHEMA, Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

__all__ = ["KINDS", "decoded", "encoded", "read_results"]

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | bool | None"

MADE_BY: Final = "give what a command of postil printed with --format json"

KINDS: Final[Mapping[str, type[Result]]] = {str(kind.__struct_config__.tag): kind for kind in Result.__subclasses__()}
"""Struct of each kind of result."""

WITHOUT_KIND: Final = {"scores": {"kind": "score", "aggregation": "corpus"}, "agreement": {"kind": "agreement"}}
"""Kind of a result without one, by a field that it has."""

REPORT: Final = "report"
"""Kind of a file that holds several results."""


def read_results(paths: Sequence[str | PathLike[str]]) -> list[Result]:
    """Read files that commands printed with ``--format json``, or that `encoded` made.

    Args:
        paths: The files; ``-`` for standard input.

    Returns:
        The results. One without a name is named after its file.

    Raises:
        InvalidInput: A file is missing or holds something else; says which and where.
    """
    return [result for path in paths for result in _of_file(Path(path))]


def decoded(value: object, where: str = "result") -> Result:
    """Decode a result from plain dictionaries, lists and values.

    Args:
        value: The JSON of a result, decoded.
        where: Name of its source in messages.

    Raises:
        InvalidInput: It is no result; says where.
    """
    if not isinstance(value, dict):
        raise InvalidInput(f"expected an object in braces, got {shown(value)}; {MADE_BY}", where=where)
    _check_schema(value, where)
    if "kind" not in value:
        value = {**next((usual for field, usual in WITHOUT_KIND.items() if field in value), {}), **value}
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        found = shown(kind) if "kind" in value else "none"
        known = ", ".join(KINDS)
        raise InvalidInput(f"expected one of {known}, got {found}; {MADE_BY}", where=where, field="kind")
    try:
        _check_values(value, "")
        return msgspec.convert(value, KINDS[kind], dec_hook=_array)
    except msgspec.ValidationError as error:
        raise _invalid(error, where, KINDS.get(kind)) from None


def encoded(results: Sequence[Result]) -> bytes:
    """Encode results, so that `read_results` gives them back.

    Args:
        results: The results.

    Raises:
        InvalidInput: A number is not finite, or a text has half a character.
    """
    values = [result.to_dict() for result in results]
    for number, value in enumerate(values, 1):
        try:
            _check_values(value, "")
        except msgspec.ValidationError as error:
            raise _invalid(error, f"result {number}") from None
    return msgspec.json.encode({"schema": SCHEMA, "kind": REPORT, "results": values}) + b"\n"


def _of_file(path: Path) -> Iterator[Result]:
    standard = str(path) == "-"
    where = "stdin" if standard else str(path)
    try:
        data = sys.stdin.buffer.read() if standard else path.read_bytes()
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise InvalidInput("no such file" if missing else f"cannot be read: {error.strerror}", where=where) from None
    value = _parsed(data, where)
    if isinstance(value, dict) and value.get("kind") == REPORT:
        _check_schema(value, where)
        results = value.get("results")
        if not isinstance(results, list) or not results:
            raise InvalidInput(f"expected an array of results, got {shown(results)}", where=where, field="results")
        yield from (decoded(each, where) for each in results)
    else:
        result = decoded(value, where)
        yield result if standard or result.name else msgspec.structs.replace(result, name=path.stem)


def _parsed(data: bytes, where: str) -> Json:
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


def _check_schema(value: Mapping[str, object], where: str) -> None:
    if value.get("schema") != SCHEMA:
        found = shown(value["schema"]) if "schema" in value else "none"
        problem = f"expected {SCHEMA}, got {found}; {MADE_BY} by this version of postil"
        raise InvalidInput(problem, where=where, field="schema")


def _check_values(value: object, path: str) -> None:
    """Refuse what neither JSON nor a page can hold: numbers that are not finite, halves of characters."""
    if isinstance(value, float) and not math.isfinite(value):
        raise msgspec.ValidationError(f"Expected a finite number, got {shown(value)} - at `${path}`")
    if isinstance(value, str) and not _is_whole(value):
        raise msgspec.ValidationError(f"Expected text, got {shown(value)} with half a character - at `${path}`")
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_values(key, path)
            _check_values(inner, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            _check_values(inner, f"{path}[{index}]")


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _array(_wanted: type, value: object) -> object:
    """Item scores, which msgspec cannot decode by itself."""
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise msgspec.ValidationError(f"Expected an array of numbers, got {shown(value)}") from None


def _choices(kind: type[Result], field: str) -> tuple[object, ...]:
    """The values that a field may have, if it is one of few."""
    wanted: inspect.Type = inspect.type_info(kind)
    for name in re.findall(r"\w+", field):
        if isinstance(wanted, inspect.StructType):
            wanted = next(each.type for each in wanted.fields if each.encode_name == name)
        elif isinstance(wanted, inspect.VarTupleType):
            wanted = wanted.item_type
    return tuple(wanted.values) if isinstance(wanted, inspect.LiteralType) else ()


NAMES: Final = {
    "bool": "true or false",
    "float": "a number",
    "int": "an integer",
    "str": "text",
    "array": "an array",
    "object": "an object",
}


def _invalid(error: msgspec.ValidationError, where: str, kind: type[Result] | None = None) -> InvalidInput:
    """A message of msgspec without its types, and with the values that were expected."""
    problem, _, path = str(error).partition(" - at `$")
    field = path.lstrip(".").rstrip("`")
    problem = re.sub(r"`(\w+)( \| \w+)*`", lambda match: NAMES.get(match[1], match[1]), problem)
    if kind is not None and problem.startswith("Invalid enum value "):
        found = problem.removeprefix("Invalid enum value ").replace("'", '"')
        problem = f"expected {' or '.join(map(str, _choices(kind, field)))}, got {found}"
    return InvalidInput(problem[:1].lower() + problem[1:], where=where, field=field)
