"""Result files: what commands printed with ``--format json``, decoded by kind, checked and written again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.arguments import check_arguments
from postil.data.explain import shown
from postil.errors import InvalidInput
from postil.results.base import Result
from postil.results.result_json import SCHEMA, check_schema, check_values, invalid, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.data.streams import FilePath

__all__ = ["encoded", "read_result", "read_results"]

REPORT: Final = "report"
"""Kind of a file that holds several results."""


def read_results(paths: Sequence[FilePath]) -> list[Result]:
    """Read files that commands printed with ``--format json``, or that `encoded` made.

    Args:
        paths: The files; ``-`` for standard input.

    Returns:
        The results. One without a name is named after its file.

    Raises:
        InvalidInput: A file is missing or holds something else; says which and where.
    """
    return [result for path in paths for result in _of_file(Path(path), named=True)]


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
            check_values(value, "")
        except msgspec.ValidationError as error:
            raise invalid(error, f"result {number}") from None
    return msgspec.json.encode({"schema": SCHEMA, "kind": REPORT, "results": values}) + b"\n"


def read_result(path: FilePath) -> Result:
    """Read the result of one file, as `Result.save` or a command with ``--format json`` wrote it.

    Args:
        path: The file; ``-`` for standard input.

    Raises:
        InvalidInput: The file is missing, or does not hold exactly one result; says where.

    >>> import tempfile, postil
    >>> result = postil.score(["a b"], [["a b c"]], metrics=["rouge-l"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/scores.json"
    ...     result.save(path)
    ...     postil.read_result(path) == result
    True
    """
    check_arguments(read_result, locals())
    found = list(_of_file(Path(path), named=False))
    if len(found) != 1:
        problem = f"expected one result, got {len(found)}; postil report shows all of them"
        raise InvalidInput(problem, where=str(path), field="results")
    return found[0]


def _of_file(path: Path, *, named: bool) -> Iterator[Result]:
    """The results of a file; one that is there by itself and without a name is named after the file if asked to."""
    where = "stdin" if _is_standard(path) else str(path)
    try:
        data = sys.stdin.buffer.read() if _is_standard(path) else path.read_bytes()
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise InvalidInput("no such file" if missing else f"cannot be read: {error.strerror}", where=where) from None
    value = parsed(data, where)
    if not isinstance(value, dict) or value.get("kind") != REPORT:
        result = Result.from_dict(value, where)
        anonymous = named and not result.name and not _is_standard(path)
        yield msgspec.structs.replace(result, name=path.stem) if anonymous else result
        return
    check_schema(value, where)
    results = value.get("results")
    if not isinstance(results, list) or not results:
        raise InvalidInput(f"expected an array of results, got {shown(results)}", where=where, field="results")
    yield from (Result.from_dict(each, where) for each in results)


def _is_standard(path: Path) -> bool:
    return str(path) == "-"
