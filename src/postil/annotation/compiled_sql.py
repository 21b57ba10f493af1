"""Statements that are compiled to SQL once: grading needs them some hundred times a second."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import sqlalchemy as sql
    from sqlalchemy import Connection, Dialect

__all__ = ["CompiledStatement"]


class CompiledStatement:
    """A statement whose SQL text is compiled once for each kind of database.

    It is no prepared statement: what the database makes of the text is not kept. SQLAlchemy writes the SQL of either
    database; looking it up again, and wrapping what comes back, takes five times as long as the database does. Values
    go to the driver as they are, so columns must be of types that need no change.

    Args:
        statement: The statement, with a named parameter for each value.
        columns: The columns that are given, where it inserts a row.
    """

    def __init__(self, statement: sql.Executable, columns: Sequence[str] | None = None) -> None:
        self._statement, self._columns = statement, columns
        self._written: dict[str, tuple[str, Mapping[str, Any], Sequence[str] | None]] = {}
        self._row: Any = None

    def rows(self, connection: Connection, values: Mapping[str, object]) -> list[Any]:
        """Carry the statement out.

        Args:
            connection: The database.
            values: The values of the parameters.

        Returns:
            Its rows, with a field for each column; none where it has none.
        """
        dialect = connection.dialect
        text, fixed, order = self._written.get(dialect.name) or self._write(dialect)
        cursor = connection.connection.cursor()
        given = {**fixed, **values}
        cursor.execute(text, given if order is None else tuple(given[name] for name in order))
        if cursor.description is None:
            return []
        if self._row is None:
            names = [column[0] for column in cursor.description]
            fields: Any = namedtuple("Row", names)  # type: ignore[misc]  # noqa: PYI024 - each statement has its own
            self._row = fields._make
        return list(map(self._row, cursor.fetchall()))

    def first(self, connection: Connection, values: Mapping[str, object]) -> Any:
        """Carry the statement out.

        Args:
            connection: The database.
            values: The values of the parameters.

        Returns:
            Its first row; None where there is none.
        """
        found = self.rows(connection, values)
        return found[0] if found else None

    def _write(self, dialect: Dialect) -> tuple[str, Mapping[str, Any], Sequence[str] | None]:
        compiled: Any = self._statement.compile(dialect=dialect, column_keys=self._columns)  # type: ignore[attr-defined]
        written = str(compiled), dict(compiled.params), compiled.positiontup if compiled.positional else None
        self._written[dialect.name] = written
        return written
