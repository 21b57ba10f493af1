"""SQL statements compiled once per dialect, since annotating runs them hundreds of times per second."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import ClauseElement, Connection, Dialect
    from sqlalchemy.sql.compiler import SQLCompiler

__all__ = ["CompiledStatement"]

R = TypeVar("R")


class CompiledStatement(Generic[R]):
    """A statement whose SQL text is compiled once per dialect, with typed rows.

    It is no prepared statement: the database parses and plans the text at every call. What it saves is SQLAlchemy's
    look-up of the text and its wrapping of results, which take five times as long as the database itself. Values go to
    the driver unconverted, so columns must be of types that need no conversion.

    Args:
        statement: The statement, with a named parameter for each value.
        row: Constructor of a row, such as ``_make`` of a named tuple with a field per column.
        columns: Names of the inserted columns, for an INSERT.
    """

    def __init__(
        self, statement: ClauseElement, row: Callable[[Sequence[object]], R], columns: Sequence[str] | None = None
    ) -> None:
        self._statement, self._row, self._columns = statement, row, columns
        self._compiled: dict[str, tuple[str, Mapping[str, object], Sequence[str] | None]] = {}

    def rows(self, connection: Connection, values: Mapping[str, object]) -> list[R]:
        """Execute the statement and fetch its rows; none if it returns none.

        Args:
            connection: The database connection.
            values: Values of the parameters, by name.
        """
        dialect = connection.dialect
        text, fixed, order = self._compiled.get(dialect.name) or self._compile(dialect)
        cursor = connection.connection.cursor()
        given = {**fixed, **values}
        cursor.execute(text, given if order is None else tuple(given[name] for name in order))
        return list(map(self._row, cursor.fetchall())) if cursor.description else []

    def many(self, connection: Connection, values: Sequence[Mapping[str, object]]) -> int:
        """Execute the statement once for each of several sets of values.

        Args:
            connection: The database connection.
            values: Values of all parameters, by name.

        Returns:
            Number of rows that were changed.
        """
        dialect = connection.dialect
        text, _, order = self._compiled.get(dialect.name) or self._compile(dialect)
        given = list(values) if order is None else list(map(itemgetter(*order), values))
        cursor = connection.connection.cursor()
        cursor.executemany(text, given)
        return cursor.rowcount

    def first(self, connection: Connection, values: Mapping[str, object]) -> R | None:
        """Execute the statement and fetch its first row; None if there is none.

        Args:
            connection: The database connection.
            values: Values of the parameters, by name.
        """
        found = self.rows(connection, values)
        return found[0] if found else None

    def _compile(self, dialect: Dialect) -> tuple[str, Mapping[str, object], Sequence[str] | None]:
        compiled = cast("SQLCompiler", self._statement.compile(dialect=dialect, column_keys=self._columns))
        made = str(compiled), dict(compiled.params), compiled.positiontup if compiled.positional else None
        self._compiled[dialect.name] = made
        return made
