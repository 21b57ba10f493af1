"""Results: what all kinds of them can do.

Encoding a result is its ``--format json``; reading decodes by ``kind``. A field that every result of a kind has is
required; a field with a default is left out of the JSON where it has that default. The order of fields is the order in
the JSON.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Self, TypeAlias, Unpack, cast

import msgspec
import numpy as np
from msgspec.structs import replace

from postil.data.arguments import check_arguments
from postil.data.atomic_file import write_file
from postil.data.explain import shown
from postil.data.fields import plain_id
from postil.errors import InvalidInput
from postil.results.formats import file_bytes
from postil.results.result_json import SCHEMA, check_schema, check_values, decoded, invalid, parsed, with_facts
from postil.results.table_options import TableOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.data.streams import FilePath
    from postil.keywords import TableKeywords
    from postil.results.formats import Cells

__all__ = [
    "Backend",
    "Result",
    "Views",
    "encoded",
    "kind_of",
    "read_result",
    "read_results",
    "replace",
    "several_json",
    "to_json",
]

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Base of all results.

    Args:
        name: Name of the data, for the titles of a page; empty where nobody named it.
    """

    name: str = ""

    def __repr__(self) -> str:
        """One line of at most 120 characters: the class, and the numbers that matter most."""
        return _views().summary(self)

    def _repr_html_(self) -> str:
        """The first table of the result and its picture, in a notebook."""
        return _views().notebook(self)

    def to_dict(self) -> dict[str, object]:
        """All of the result, as ``--format json`` prints it."""
        return {"schema": SCHEMA, **msgspec.to_builtins(self, enc_hook=_plain)}

    @classmethod
    def from_dict(cls, value: object, where: str = "result") -> Self:
        """Undo `to_dict`; of `Result` for every kind, of a subclass for its own.

        Args:
            value: The JSON of a result, parsed.
            where: Name of its source in messages.

        Raises:
            InvalidInput: It is no result, or one of another kind; says where.
        """
        return cast("Self", decoded(with_facts(value), where, None if cls is Result else cls))

    def to_json(self) -> str:
        """The text that ``--format json`` prints.

        Raises:
            ValueError: A number is not finite.

        >>> import postil
        >>> result = postil.score(["a b"], [["a b c"]], metrics=["rouge-l"])
        >>> result.from_json(result.to_json()) == result
        True
        """
        return to_json(self)

    @classmethod
    def from_json(cls, text: str | bytes, where: str = "result") -> Self:
        """Undo `to_json`; of `Result` for every kind, of a subclass for its own.

        Args:
            text: The JSON of a result.
            where: Name of its source in messages.

        Raises:
            InvalidInput: It is no JSON, no result, or one of another kind; says where.
        """
        check_arguments(Result.from_json, locals())
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        return cls.from_dict(parsed(data, where), where)

    def save(self, path: FilePath) -> None:
        """Write the result as JSON, for `postil.read_result` and `postil report`, or as a workbook; atomically.

        Args:
            path: The file; one that is there is replaced. A name that ends in ``.xlsx`` makes a workbook with the rows
                of ``--format csv``.

        Raises:
            PostilError: The operating system reports an error.
            ValueError: A number is not finite.
        """
        check_arguments(Result.save, locals())
        is_workbook = Path(path).suffix.lower() == ".xlsx"
        write_file(path, file_bytes(path, _views().cells(self) if is_workbook else to_json(self)))

    def to_rows(self) -> list[dict[str, object]]:
        """The rows of ``--format csv``, one dictionary per number."""
        return _views().rows(self)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """The rows of `to_rows` as a data frame.

        A column of numbers and texts becomes one of texts; a missing value is what the library has for it.

        Args:
            backend: ``pandas``, ``polars`` or ``pyarrow``; by default the first of them that is installed.

        Returns:
            A `pandas.DataFrame`, `polars.DataFrame` or `pyarrow.Table`.

        Raises:
            UnknownName: There is no such backend.
            UsageError: It is not installed, or none of them is.

        >>> import postil
        >>> result = postil.score(["a b"], [["a b c"]], metrics=["rouge-l"])
        >>> result.to_frame("pyarrow").column_names
        ['system', 'metric', 'score', 'n', 'signature']
        """
        check_arguments(Result.to_frame, locals())
        return _views().frame(self, backend)

    def to_csv(self, **table: Unpack[TableKeywords]) -> str:
        """The text that ``--format csv`` prints; safe to open in a spreadsheet.

        Args:
            table: See `to_latex`.
        """
        return _views().text(self, "csv", TableOptions(**table))

    def to_markdown(self, **table: Unpack[TableKeywords]) -> str:
        """The tables that ``--format markdown`` prints.

        Args:
            table: See `to_latex`.
        """
        return _views().text(self, "markdown", TableOptions(**table))

    def to_latex(self, **table: Unpack[TableKeywords]) -> str:
        r"""The tables that ``--format latex`` prints, for the package booktabs.

        Args:
            table: Options of tables: the fields of `postil.results.table_options.TableOptions`, such as
                ``layout="systems", percent=True, digits=1``.

        Raises:
            UsageError: The result has no such layout, or an option does not go with it.

        >>> import postil
        >>> result = postil.score(["a b"] * 2, [["a b c"]] * 2, systems=["x", "y"], metrics=["rouge-l"])
        >>> r"x & \textbf{77.2}" in result.to_latex(layout="systems", percent=True, digits=1)
        True
        """
        return _views().text(self, "latex", TableOptions(**table))

    def to_html(self, **table: Unpack[TableKeywords]) -> str:
        """The tables that ``--format html`` prints, whole and without a picture.

        Args:
            table: See `to_latex`.
        """
        return _views().text(self, "html", TableOptions(**table))

    def plot(self, name: str | None = None) -> Any:
        """Draw a picture of the result, as a report has it.

        Args:
            name: Name of the picture where there are several, such as a metric or a coefficient; by default the first.

        Returns:
            A `matplotlib.figure.Figure`, which a notebook shows as it is; its ``savefig`` writes it.

        Raises:
            UsageError: Such a result has no picture, this one has nothing to draw, or no picture of that name.
            MissingExtra: matplotlib is not installed.
        """
        check_arguments(Result.plot, locals())
        return _views().figure(self, name)


class Views(Protocol):
    """The ways in which a higher layer shows a result; see the methods of `Result`."""

    def summary(self, result: Result) -> str:
        """One line of at most 120 characters."""

    def notebook(self, result: Result) -> str:
        """HTML for a notebook."""

    def rows(self, result: Result) -> list[dict[str, object]]:
        """The rows of CSV."""

    def frame(self, result: Result, backend: Backend | None) -> Any:
        """The rows as a data frame."""

    def cells(self, result: Result) -> Cells:
        """The cells of CSV."""

    def text(self, result: Result, form: Literal["csv", "markdown", "latex", "html"], table: TableOptions) -> str:
        """The text of a format."""

    def figure(self, result: Result, name: str | None) -> Any:
        """A picture."""


def to_json(value: object) -> str:
    """Indented JSON with a line break at its end.

    Args:
        value: A result, or lists, dicts, texts and numbers.

    Raises:
        ValueError: A number is not finite.
    """
    plain = value.to_dict() if isinstance(value, Result) else value
    return json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return plain_id(value)


def _views() -> Views:
    return cast("Views", import_module("postil.results.views"))  # it is above this module


REPORT: Final = "report"
"""Kind of a file that holds several results."""


class _Kind(msgspec.Struct):
    schema: int
    kind: str


def kind_of(path: FilePath) -> str | None:
    """The kind of the result in a file ``.json``; None for a file that holds none, or is none.

    Args:
        path: The file.
    """
    if not str(path).endswith(".json"):
        return None
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=_Kind).kind
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


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


def several_json(results: Sequence[Result]) -> str:
    """The indented JSON of several results in one file, which `read_results` gives back.

    Args:
        results: The results.

    Raises:
        ValueError: A number is not finite.
    """
    return to_json({"schema": SCHEMA, "kind": REPORT, "results": [result.to_dict() for result in results]})


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
