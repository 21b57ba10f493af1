"""Settings of reading files, as messages name them: flags of commands, arguments of `postil.data.read`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.messages import PYTHON, Blank, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["COLUMN", "column_setting", "file_setting"]

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
    ('--sheet NAME', 'list(postil.data.read(PATH, ROW, Reading(sheet=NAME)))')
    """
    given = value if on is None else on
    argument = python or PYTHON.setting(Setting(name, given))
    return Setting(name, given, instead=f"list(postil.data.read(PATH, ROW, Reading({argument})))")


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
