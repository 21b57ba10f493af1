"""Tables whose columns are several rows each: a metric or an annotator per column, or texts of systems side by side."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.delimited import column_names, names_in_short
from postil.data.explain import COLUMN, NoColumn, column_setting, shown
from postil.data.reading import Reading, is_folded, items_by_column, names_systems, parts_of, pattern_of, system_pattern
from postil.data.rows import Candidate, Judgement, Reference, Row, Score
from postil.errors import InvalidInput, UsageError, nearest
from postil.messages import Message, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


__all__ = ["Place", "Unfolding", "unfolding", "widened", "words_around"]

SUBJECTS: Final[Mapping[type[Row], tuple[str, str]]] = MappingProxyType(
    {
        Candidate: ("text", "system"),
        Judgement: ("grade", "annotator"),
        Score: ("score", "metric"),
        Reference: ("text", ""),
    }
)
"""By type of row: the field that has a column per row, and the field that the column names, if it names one."""


def widened(row_type: type[Row], names: Sequence[str], reading: Reading) -> Reading:
    r"""Options of reading a table with one column of numbers per name; an empty cell is no row.

    Args:
        row_type: `Score` (a column is a metric) or `Judgement` (a column is an annotator).
        names: The columns; `Rater *` is all of that pattern. None where the table has a row per number.
        reading: Options of reading it besides.

    Raises:
        UsageError: A column is named twice, or is a field of the row.

    >>> import pathlib, tempfile
    >>> from postil.data.reading import Reading
    >>> from postil.data.row_files import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "s.csv")).write_text("item,system,bleu,own\na1,a,0.5,\na2,a,0.25,3\n")
    ...     for row in read(path, Score, widened(Score, ["bleu", "own"], Reading())):
    ...         print(row.item, row.metric, row.score)
    a1 bleu 0.5
    a2 bleu 0.25
    a2 own 3.0
    """
    if not names:
        return reading
    value, name_field = SUBJECTS[row_type]
    if items_by_column(reading.columns):
        raise UsageError(
            "{item} says that each column is an item, and {columns} that each is of one {field}; give one of them",
            item=column_setting(reading.role, {"item": "*"}),
            columns=Setting(f"{name_field}_columns"),
            field=name_field,
        )
    for each in (name_field, value):
        if each in reading.columns:
            raise UsageError(
                "{column} names the {field}, and each of {names} is a column of its own",
                column=Setting("column", instead="columns"),
                field=each,
                names=", ".join(names),
            )
    reading = replace(reading, columns=MappingProxyType({**reading.columns, value: "|".join(names)}))
    if any(map(is_folded, names)):
        return reading
    known = {each.name for each in msgspec.structs.fields(row_type)} - {value, name_field}
    for name in names:
        if names.count(name) > 1 or name in known:
            problem = "stands twice" if names.count(name) > 1 else "is a field of its own"
            raise UsageError(f"the column {name} {problem}; name the columns of numbers, each once")
    return replace(reading, wide=value)


def words_around(item: str, known: Iterable[str], columns: str, role: str = "") -> str:
    """Remedy where other items have words before what the star of columns stands for; empty where there is none.

    Args:
        item: The item, which is not known.
        known: Items of another table.
        columns: The columns side by side, as they were named.
        role: Role of their table; empty for the main file.

    >>> print(words_around("1", ["Question 1"], "Answer *"))
    ; with words before it: columns={'item': '=Question *'}
    """
    longer = (other.removesuffix(item) for other in known if other.endswith(item)) if "*" in columns else ()
    words = next((before for before in longer if before and not before[-1].isdigit()), None)
    if words is None:
        return ""
    return Message("; with words before it: {column}", column=column_setting(role, {"item": f"={words}*"}))


@dataclass(frozen=True, slots=True)
class Place:
    """One of the rows that each row of a table has.

    Args:
        reading: Options of reading it, in which every field has one column.
        columns: Columns of it alone; none where a row of the table is a row.
        label: Its name: the system, annotator, metric or item.
        system: The system that an annotator rates there, where the columns say so.
    """

    reading: Reading
    columns: tuple[str, ...] = ()
    label: str = ""
    system: str = ""

    @property
    def of_system(self) -> str:
        """The system in words that go on after the annotator; empty where there is none."""
        return f", system {shown(self.system)}" if self.system else ""


@dataclass(frozen=True, slots=True)
class Unfolding:
    """Rows that each row of a table has: one, or as many as columns stand side by side for a field.

    Args:
        row_type: The rows that are made.
        reading: Options of reading the table.
        where: The table.
        places: The rows.
        named: Field whose value the place of a row is: the system, annotator, metric or item; empty if there is none.
        empty: Number of cells that are no rows by column, as far as was read.
    """

    row_type: type[Row]
    reading: Reading
    where: str
    places: Sequence[Place]
    named: str = ""
    empty: dict[str, int] = field(default_factory=dict)

    def kept(self, place: Place, cells: Sequence[Sequence[object]], *, texts: bool) -> Sequence[int]:
        """Find the rows of a batch that have a value at a place; a candidate may be empty.

        Args:
            place: The place.
            cells: Cells or values in the place's columns.
            texts: True for cells, whose empty text is no number.
        """
        if not cells or issubclass(self.row_type, Candidate):
            return range(len(cells[0]) if cells else 0)
        empty = _is_empty if texts or not self.reading.wide else _is_missing
        kept = [row for row, several in enumerate(zip(*cells, strict=True)) if not all(map(empty, several))]
        self.empty[place.columns[0]] += len(cells[0]) - len(kept)
        return kept

    def tell(self) -> None:
        """Say how each row is read, where patterns or a list of columns say so."""
        if self.reading.wide or not self.places[0].columns:
            return
        parts = [
            " with ".join(place.columns)
            + (
                f" ({self.named} {shown(place.label)}{place.of_system})"
                if place.label not in {"", place.columns[0]}
                else ""
            )
            for place in self.places
        ]
        self.reading.tell(self.where, f"each row read as {len(parts)}: {names_in_short(parts)}")

    def tell_empty(self, rows: int) -> None:
        """Say which cells were no rows.

        Args:
            rows: Number of rows that were made.

        Raises:
            InvalidInput: There is no number in any of the columns that were named one by one.
        """
        wide = self.reading.wide
        if wide and not rows:
            names = ", ".join(self.empty)
            raise InvalidInput(f"expected numbers in {names}, got empty cells alone", where=self.where)
        if counts := [f"{count:,} in {name}" for name, count in self.empty.items() if count]:
            subject = wide or _base(self.row_type).__name__.lower()
            self.reading.tell(self.where, f"empty cells, taken as no {subject}: {names_in_short(counts)}")


def unfolding(
    row_type: type[Row], reading: Reading, names: Sequence[str], where: str, line: int | None = None
) -> Unfolding:
    """Find the columns of a table that stand side by side for one field.

    Args:
        row_type: The rows to make.
        reading: Mapping, in which ``A|B`` are two columns, and ``Answer *`` all columns of that pattern. A column
            that is called like that is one column. With ``*`` for the item the star stands for an item.
        names: Columns of the table.
        where: The table.
        line: Line of their names.

    Raises:
        InvalidInput: There is no such column, or the fields have different numbers of columns.
        UsageError: The item is what a star stands for, and there is no star.

    >>> from postil.data.reading import Reading
    >>> found = unfolding(Candidate, Reading(columns={"text": "Answer *"}), ["id", "Answer A", "Answer B"], "t.csv")
    >>> [(each.columns, each.label, dict(each.reading.columns)) for each in found.places][0]
    (('Answer A',), 'A', {'text': 'Answer A', 'system': '=A'})
    >>> by_pupil = Reading(columns={"text": "Question *", "item": "*", "system": "pupil"})
    >>> found = unfolding(Candidate, by_pupil, ["pupil", "Question 1", "Question 2"], "t.csv")
    >>> [dict(each.reading.columns) for each in found.places][1]
    {'text': 'Question 2', 'item': '=2', 'system': 'pupil'}
    >>> in_words = Reading(columns={"text": "A*", "item": "=Question *", "system": "pupil"})
    >>> found = unfolding(Candidate, in_words, ["pupil", "A1", "A2"], "t.csv")
    >>> [each.label for each in found.places]
    ['Question 1', 'Question 2']
    """
    folded = {
        each: source
        for each, source in reading.columns.items()
        if each == reading.wide or (is_folded(source) and source not in names)
    }
    value, name = SUBJECTS.get(_base(row_type), ("", ""))
    starred = items_by_column(reading.columns) and reading.columns["item"] not in names
    item = reading.columns["item"].removeprefix("=") if starred else "*"
    folded = {each: source for each, source in folded.items() if each != "item"} if starred else folded
    if starred and not folded:
        raise UsageError(
            "{where}: {item} takes the items from columns side by side, and none are named; name them, such as "
            "{columns}, or the column of the items: {column}",
            where=where,
            item=column_setting(reading.role, {"item": "*"}),
            columns=column_setting(reading.role, {value or "text": "Question *"}),
            column=column_setting(reading.role, {"item": COLUMN}),
        )
    if not folded:
        return Unfolding(row_type, reading, where, [Place(reading)])
    if reading.wide:
        found = {each: {name: name for name in source.split("|")} for each, source in folded.items()}
    else:
        whole = _have_systems(row_type, reading, names)  # raters of several systems may have the same names
        found = {each: _columns(source, names, where, line, whole=whole) for each, source in folded.items()}
    first = value if value in found else next(iter(found))
    labels = tuple(found[first])
    for each, columns in found.items():
        if len(columns) != len(labels):
            several = f"{column_names(list(found[first].values()))} for {first}, {column_names(list(columns.values()))}"
            problem = f"expected as many columns for each field; got {several} for {each}"
            raise InvalidInput(problem, where=where, line=line)
        if "*" in folded[each] and "*" in folded[first] and set(columns) != set(labels):
            odd = sorted(set(labels) ^ set(columns))[0]
            problem = f"the columns do not pair: '{odd}' is in {folded[first]} or {folded[each]} alone"
            raise InvalidInput(problem, where=where, line=line)
    paired = [
        {label: columns[label] for label in labels} if set(columns) == set(labels) else columns
        for columns in found.values()
    ]
    systems = _systems(row_type, reading, names, labels)
    names_places = name and first == value and name not in reading.columns and (reading.wide or name not in names)
    named = "item" if starred else name if names_places else ""
    places = []
    for label, *here in zip(labels, *(each.values() for each in paired), strict=True):
        mapping = {**reading.columns, **dict(zip(folded, here, strict=True))}
        system, rater = systems.get(label, ("", item.replace("*", label)))
        mapping |= {named: f"={rater}"} if named else {}
        mapping |= {"system": f"={system}"} if system else {}
        of_place = replace(reading, columns=MappingProxyType(mapping))
        places.append(Place(of_place, tuple(here), rater if named else "", system))
    return Unfolding(row_type, reading, where, places, named, dict.fromkeys((each.columns[0] for each in places), 0))


def _base(row_type: type[Row]) -> type[Row]:
    return next((each for each in SUBJECTS if issubclass(row_type, each)), row_type)


def _columns(source: str, names: Sequence[str], where: str, line: int | None, *, whole: bool) -> dict[str, str]:
    """Columns that a mapping names, by the name of their place: what the star stands for, or the ``whole`` column."""
    found: dict[str, str] = {}
    for part in parts_of(source):
        if part in names:
            found[part] = part
            continue
        star, pattern = "*" in part, system_pattern(part)[0] if whole else pattern_of(part)
        matches = [match for name in names if star and (match := pattern.fullmatch(name))]
        if not matches:
            near = None if star else nearest(part, names)
            lacking = NoColumn(
                "no such column; {guess} file has: {columns}{advice}",
                "no such columns; {guess} file has: {columns}{advice}",
                count=1,
                guess=Message("did you mean '{near}'? The", near=near) if near else Message("the"),
                columns=column_names(names),
                advice="",
            )
            raise InvalidInput(lacking, where=where, line=line, field=part)
        of_part = {match[0] if whole else match[1].strip(): match[0] for match in matches}
        if twice := next((label for label in of_part if found.get(label, of_part[label]) != of_part[label]), None):
            columns = f"{shown(found[twice])} and {shown(of_part[twice])}"
            problem = f"two columns have the name {shown(twice)}: {columns}; two stars are system and annotator: '* *'"
            raise InvalidInput(problem, where=where, line=line, field=source)
        found |= of_part
    return found


def _systems(
    row_type: type[Row], reading: Reading, names: Sequence[str], columns: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """System and rater of columns of ratings that are of one system and one rater each; empty where they are not."""
    if not _have_systems(row_type, reading, names):
        return {}
    found: dict[str, tuple[str, str]] = {}
    for part in parts_of(reading.columns["grade"]):
        pattern, system = system_pattern(part)
        for column in columns:
            if "*" in part and (match := pattern.fullmatch(column)):
                found[column] = (system or match[1].strip(" \t_:./-"), match[match.lastindex or 1].strip())
    return found


def _have_systems(row_type: type[Row], reading: Reading, names: Sequence[str]) -> bool:
    source = reading.columns.get("grade", "")
    return (
        issubclass(row_type, Judgement)
        and not items_by_column(reading.columns)
        and is_folded(source)
        and "system" not in reading.columns
        and "system" not in names
        and names_systems(source)
    )


def _is_missing(cell: object) -> bool:
    return cell is None or cell is msgspec.UNSET or cell != cell  # noqa: PLR0124 - NaN


def _is_empty(cell: object) -> bool:
    return _is_missing(cell) or (isinstance(cell, str) and not cell.strip())
