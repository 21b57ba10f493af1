"""The conclusion of `postil study uses`: its three main numbers in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.render.study import cell_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.records.results import StudyPart, StudyRow, StudyTable

__all__ = ["conclusion"]


def conclusion(parts: Sequence[StudyPart]) -> Iterator[str]:
    """Conclusions of the study, one sentence per part.

    Args:
        parts: Its parts.

    Yields:
        The sentences.
    """
    tables = {table.key: table for part in parts for table in part.tables}
    ranking, votes, titles = (tables[key] for key in ("ranking-gains", "votes-gains", "titles"))
    best = max(titles.rows, key=lambda row: _first(row, titles, "rouge-l"))
    at_5, pairs = (_cell(ranking, ranking.rows[0], name) for name in ("nDCG@5", "pairs in order"))
    pooled, within = (_cell(votes, votes.rows[0], name) for name in ("R², all comments", "R², within threads"))
    between = _cell(tables["variance"], tables["variance"].rows[0], "share")
    yield f"Comment ranking, what the text adds ({ranking.rows[0].name}): nDCG@5 {at_5}, pairs in order {pairs}."
    yield (
        f"Upvote prediction, what the text adds ({votes.rows[0].name}): R² {pooled} over all comments, {within} within "
        f"threads. Share of the variance that is between articles: {between}."
    )
    yield f"Headlines: {best.name} has the highest ROUGE-L, {_cell(titles, best, 'rouge-l')}."


def _cell(table: StudyTable, row: StudyRow, column: str) -> str:
    """A value with its interval, as text."""
    return " ".join(cell_text(row.cells[table.head.index(column) - 1], row.digits)).strip()


def _first(row: StudyRow, table: StudyTable, column: str) -> float:
    """The value of a cell."""
    cell = row.cells[table.head.index(column) - 1]
    value = cell[0] if isinstance(cell, tuple) else cell
    return float(value) if value is not None else 0.0
