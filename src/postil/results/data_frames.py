"""Rows as data frames of pandas, Polars or PyArrow, through narwhals."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, get_args

from postil.errors import UnknownName, UsageError
from postil.results.base import Backend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["data_frame"]

BACKENDS: Final[tuple[Backend, ...]] = get_args(Backend)


def data_frame(rows: Sequence[Mapping[str, object]], fields: Sequence[str] = (), backend: Backend | None = None) -> Any:
    """A data frame with a column per field; see `postil.results.Result.to_frame`.

    Args:
        rows: The rows.
        fields: The first columns, and all columns where there are no rows.
        backend: The library; by default the first of `BACKENDS` that is installed.

    Raises:
        UnknownName: There is no such backend.
        UsageError: It is not installed, or none of them is.
    """
    if backend is not None and backend not in BACKENDS:
        raise UnknownName("library of data frames", backend, BACKENDS)
    wanted = BACKENDS if backend is None else (backend,)
    installed = [name for name in wanted if find_spec(name)]
    if not installed:
        raise UsageError(f"a data frame needs {' or '.join(wanted)}, not installed: pip install {wanted[0]}")
    import narwhals as nw  # noqa: PLC0415 - rows alone do without it

    names = dict.fromkeys([*fields, *(name for row in rows for name in row)])
    columns = {name: _uniform([row.get(name) for row in rows]) for name in names}
    return nw.from_dict(columns, backend=installed[0]).to_native()


def _uniform(values: list[object]) -> list[object]:
    """The values of a column in one type: lists as texts, and all as texts where some are."""
    values = ["; ".join(map(str, value)) if isinstance(value, list | tuple) else value for value in values]
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    kind = float if kinds == {int, float} else str
    return [None if value is None else kind(value) for value in values]  # type: ignore[arg-type]  # an int or a float
