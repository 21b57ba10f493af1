"""What other commands printed with `--format json`, read back and checked."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from postil.app.report.laid_out import TITLES, laid_out
from postil.app.report.results import Comparison, Correlated, Passages, Scored, Study
from postil.errors import InvalidInput
from postil.kernel import plain_objects
from postil.records.explain import RepeatedKey, load_json, shown
from postil.records.results import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from postil.app.report.results import Result

__all__ = ["KINDS", "REPORT", "read_results", "typed"]

MADE_BY: Final = "give what a command of postil printed with --format json"

KINDS: Final[Mapping[str, type[Result]]] = {
    "correlate": Correlated,
    "compare": Comparison,
    "score": Scored,
    "passages": Passages,
    "study": Study,
}
"""What a page can show in its own way; what else there is has tables alone, see `laid_out`."""

WITHOUT_KIND: Final = {"scores": "score", "agreement": "agreement"}
"""A field that tells the kind where a result does not."""

REPORT: Final = "report"
"""The kind of the file beside a page, which holds the results that the page was made of."""


def read_results(paths: Sequence[str | PathLike[str]]) -> list[dict[str, object]]:
    """The results in files that other commands printed with ``--format json``, or that stand beside a page.

    Args:
        paths: The files; ``-`` for standard input.

    Returns:
        The results as `write_report` takes them, each with the ``name`` of its file.

    Raises:
        InvalidInput: A file is missing or holds something else; says which and where.
    """
    return [result for path in paths for result in _of_file(Path(path))]


def typed(results: Sequence[Mapping[str, object]]) -> list[Result]:
    """Results as typed records, each with a name of its own.

    Args:
        results: What `read_results` gave, or what the commands make.

    Raises:
        InvalidInput: A result is not what any command makes.
    """
    if not results:
        raise InvalidInput("there are no results", where="results")
    found: list[Result] = []
    for number, result in enumerate(results, 1):
        one = _checked(result, f"result {number}")
        taken = {each.name for each in found}
        name = next(name for name in _numbered(one.name) if name not in taken)
        found.append(msgspec.structs.replace(one, name=name))
    return found


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name} ({number})"
        number += 1


def _of_file(path: Path) -> Iterator[dict[str, object]]:
    standard = str(path) == "-"
    where = "stdin" if standard else str(path)
    try:
        data = sys.stdin.buffer.read() if standard else path.read_bytes()
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise InvalidInput("no such file" if missing else f"cannot be read: {error.strerror}", where=where) from None
    value = _decoded(data, where)
    if isinstance(value, dict) and value.get("kind") == REPORT:
        _check_schema(value, where)
        results = value.get("results")
        if not isinstance(results, list) or not results:
            raise InvalidInput(f"expected an array of results, got {shown(results)}", where=where, field="results")
    else:
        results = [value if standard or not isinstance(value, dict) else {"name": path.stem, **value}]
    for result in results:
        _checked(result, where)
        yield result


def _decoded(data: bytes, where: str) -> Any:
    try:
        value = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
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


def _check_schema(value: Mapping[str, Any], where: str) -> None:
    if value.get("schema") != SCHEMA:
        found = shown(value["schema"]) if "schema" in value else "none"
        problem = f"expected {SCHEMA}, got {found}; {MADE_BY} by this version of postil"
        raise InvalidInput(problem, where=where, field="schema")


def _checked(value: object, where: str) -> Result:
    if not isinstance(value, dict):
        raise InvalidInput(f"expected an object in braces, got {shown(value)}; {MADE_BY}", where=where)
    _check_schema(value, where)
    kind = value.get("kind", next((known for field, known in WITHOUT_KIND.items() if field in value), None))
    if not isinstance(kind, str) or kind not in (*KINDS, *TITLES):
        found = "none" if kind is None else shown(kind)
        known = ", ".join((*KINDS, *TITLES))
        raise InvalidInput(f"expected one of {known}, got {found}; {MADE_BY}", where=where, field="kind")
    try:
        _check_values(value, "")
        if kind in TITLES:
            return msgspec.convert(_laid_out(kind, value, where), Study)
        return msgspec.convert({"name": kind, **value}, KINDS[kind])
    except msgspec.ValidationError as error:
        problem, _, field = str(error).partition(" - at `$")
        raise InvalidInput(_plain(problem), where=where, field=field.lstrip(".").rstrip("`")) from None


def _laid_out(kind: str, value: Mapping[str, Any], where: str) -> dict[str, Any]:
    try:
        return laid_out(kind, value)
    except (KeyError, TypeError, AttributeError) as error:
        missing = f"no field {error}" if isinstance(error, KeyError) else "fields of another kind"
        raise InvalidInput(f"not what postil prints of kind '{kind}': {missing}; {MADE_BY}", where=where) from None
    except ValueError as error:
        raise InvalidInput(str(error), where=where) from None


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
        for place, inner in enumerate(value):
            _check_values(inner, f"{path}[{place}]")


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


NAMES: Final = {
    "bool": "true or false",
    "float": "a number",
    "int": "an integer",
    "str": "text",
    "array": "an array",
    "object": "an object",
}


def _plain(problem: str) -> str:
    """What msgspec says, without its types."""
    problem = re.sub(r"`(\w+)( \| \w+)*`", lambda match: NAMES.get(match[1], match[1]), problem)
    return problem[:1].lower() + problem[1:]
