"""Columns that stand side by side, such as the answers of several systems, become one row each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from postil.data.column_patterns import is_folded, parts_of, pattern_of
from postil.data.delimited import column_names
from postil.data.explain import shown
from postil.data.rows import Candidate, Judgement, Reference, Row, Score
from postil.errors import InvalidInput, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from postil.data.reading import Reading

__all__ = ["Unfolding", "unfolding"]

SUBJECTS: Final[Mapping[type[Row], tuple[str, str]]] = MappingProxyType(
    {
        Candidate: ("text", "system"),
        Judgement: ("grade", "annotator"),
        Score: ("score", "metric"),
        Reference: ("text", ""),
    }
)
"""By type of row: the field that has a column per row, and the field that the column names, if it names one."""


@dataclass(frozen=True, slots=True)
class Unfolding:
    """Rows of a table, of which each has several texts, grades or scores.

    Args:
        row_type: The rows that are made.
        reading: Options of reading them: a field has the column that `sources` calls it, the name of a place
            the column `named`.
        sources: For each field that has several columns, their common name.
        columns: For each place, the column of each of these fields.
        labels: For each place, its name: the system, annotator or metric.
        named: Column of that name; empty if rows have none.
        where: The table.
    """

    row_type: type[Row]
    reading: Reading
    sources: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]
    named: str
    where: str

    def names(self, names: Sequence[str]) -> list[str]:
        """Columns of the rows that are made; what was unfolded has no name any more.

        Args:
            names: Columns of the table.
        """
        used = {column for place in self.columns for column in place} - {*self.reading.columns.values()}
        kept = ["" if name in used else name for name in names]
        return [*kept, *self.sources, *([self.named] if self.named else [])]

    def pairs(
        self, count: int, columns: Mapping[str, Sequence[object]], empty: dict[str, int]
    ) -> list[tuple[int, int]]:
        """Find row and place of each row that is made; a place without any value is none, unless it is a candidate's.

        Args:
            count: Number of rows of the table.
            columns: Their cells by column.
            empty: Number of places without a value by column, which is counted.
        """
        cells = [[columns[column] for column in place] for place in self.columns]
        keeps = issubclass(self.row_type, Candidate)
        found = []
        for row in range(count):
            for place, several in enumerate(cells):
                if keeps or not all(_is_empty(values[row]) for values in several):
                    found.append((row, place))
                else:
                    name = self.columns[place][0]
                    empty[name] = empty.get(name, 0) + 1
        return found

    def added(self, place: int, cell: Callable[[str], object]) -> list[object]:
        """Cells of a row that is made, besides those of the table.

        Args:
            place: Its place.
            cell: Function from a column to the cell of the table's row.
        """
        return [*map(cell, self.columns[place]), *([self.labels[place]] if self.named else [])]

    def column(self, source: str, place: int) -> str:
        """Column of the table that a cell came from, for messages.

        Args:
            source: Column of the row that was made.
            place: The place.
        """
        return self.columns[place][self.sources.index(source)] if source in self.sources else source

    def tell(self) -> None:
        """Say how each row was read."""
        parts = []
        for place, label in zip(self.columns, self.labels, strict=True):
            name = f" ({SUBJECTS[_base(self.row_type)][1]} {shown(label)})" if self.named and label != place[0] else ""
            parts.append(" with ".join(place) + name)
        self.reading.tell(self.where, f"each row read as {len(parts)}: {column_names(parts)}")

    def tell_empty(self, empty: Mapping[str, int]) -> None:
        """Say which cells were no rows.

        Args:
            empty: Number of places without a value by column.
        """
        if empty:
            counts = ", ".join(f"{count:,} in {name}" for name, count in empty.items())
            subject = _base(self.row_type).__name__.lower()
            self.reading.tell(self.where, f"empty cells, taken as no {subject}: {counts}")


def unfolding(
    row_type: type[Row], reading: Reading, names: Sequence[str], where: str, line: int | None = None
) -> Unfolding | None:
    """Find the columns of a table that stand side by side for one field.

    Args:
        row_type: The rows to make.
        reading: Mapping, in which ``A|B`` are two columns, and ``Answer *`` all columns of that pattern. A column
            that is called like that is one column.
        names: Columns of the table.
        where: The table.
        line: Line of their names.

    Returns:
        None if each field has one column.

    Raises:
        InvalidInput: There is no such column, or the fields have different numbers of columns.

    >>> from postil.data.reading import Reading
    >>> found = unfolding(Candidate, Reading(columns={"text": "Answer *"}), ["id", "Answer A", "Answer B"], "t.csv")
    >>> found.columns, found.labels
    ((('Answer A',), ('Answer B',)), ('A', 'B'))
    """
    folded = {field: source for field, source in reading.columns.items() if is_folded(source) and source not in names}
    if not folded:
        return None
    found = {field: _columns(source, names, where, line) for field, source in folded.items()}
    value, name = SUBJECTS.get(_base(row_type), ("", ""))
    first = value if value in found else next(iter(found))
    labels = tuple(found[first])
    for field, columns in found.items():
        if len(columns) != len(labels):
            each = f"{column_names(list(found[first].values()))} for {first}, {column_names(list(columns.values()))}"
            problem = f"expected as many columns for each field; got {each} for {field}"
            raise InvalidInput(problem, where=where, line=line)
        if "*" in folded[field] and "*" in folded[first] and set(columns) != set(labels):
            odd = sorted(set(labels) ^ set(columns))[0]
            problem = f"the columns do not pair: '{odd}' is in {folded[first]} or {folded[field]} alone"
            raise InvalidInput(problem, where=where, line=line)
    paired = [
        {label: columns[label] for label in labels} if set(columns) == set(labels) else columns
        for columns in found.values()
    ]
    names_places = bool(name) and first == value and name not in reading.columns and name not in names
    named = f"{name} of {folded[first]}" if names_places else ""
    mapping = {**reading.columns, **({name: named} if named else {})}
    return Unfolding(
        row_type=row_type,
        reading=replace(reading, columns=MappingProxyType(mapping)),
        sources=tuple(folded.values()),
        columns=tuple(zip(*(each.values() for each in paired), strict=True)),
        labels=labels,
        named=named,
        where=where,
    )


def _base(row_type: type[Row]) -> type[Row]:
    return next((each for each in SUBJECTS if issubclass(row_type, each)), row_type)


def _columns(source: str, names: Sequence[str], where: str, line: int | None) -> dict[str, str]:
    """Columns that a mapping names, by the name of their place: what the star stands for, or the column itself."""
    found: dict[str, str] = {}
    for part in parts_of(source):
        if part in names:
            found[part] = part
            continue
        star, pattern = "*" in part, pattern_of(part)
        matches = [match for name in names if star and (match := pattern.fullmatch(name))]
        if not matches:
            near = None if star else nearest(part, names)
            guess = f"did you mean '{near}'? The" if near else "the"
            problem = f"no such column; {guess} file has: {column_names(names)}"
            raise InvalidInput(problem, where=where, line=line, field=part)
        found |= {match[1].strip(): match[0] for match in matches}
    return found


def _is_empty(cell: object) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())  # noqa: PLR0124 - NaN
