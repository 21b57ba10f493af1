"""Rows of ``.rejected.jsonl``: what an import or a build could not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.data.rows import Row

if TYPE_CHECKING:
    from postil.errors import InvalidInput

__all__ = ["Rejected"]


class Rejected(Row, frozen=True, gc=False):
    """A line, or a part of one, that could not be read.

    Args:
        file: Its file.
        line: Its line (JSON Lines) or row (Parquet), counted from 1; None for a whole file.
        field: The field that is wrong; empty for a whole line.
        problem: The problem.

    >>> from postil.errors import InvalidInput
    >>> Rejected.of(InvalidInput("expected text, got 5", where="a.jsonl", line=7, field="title")).line
    7
    """

    file: str
    line: int | None
    field: str
    problem: str

    @classmethod
    def of(cls, error: InvalidInput) -> Rejected:
        """The row of an error.

        Args:
            error: The error.
        """
        return cls(error.where, error.line, error.field, error.message)
