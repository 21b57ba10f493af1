"""Annotations of another tool as they were submitted, and what postil makes of their answers."""

from __future__ import annotations

import math
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from postil.campaigns.models import Span
from postil.data.cells import NumberMarks, number_text
from postil.data.delimited import Delimited
from postil.data.explain import shown
from postil.data.fields import as_id, coerce_ids, is_integer
from postil.data.jsonl import json_lines, json_records
from postil.data.reading import Reading
from postil.data.row_files import format_of
from postil.data.streams import opened
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Message, Setting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from postil.data.columns import Record

__all__ = [
    "Answer",
    "Export",
    "Submission",
    "Task",
    "answer_in",
    "blank",
    "id_in",
    "mark_nothing",
    "number_in",
    "only_last",
    "parsed",
    "pseudonyms",
    "questions",
    "records_of",
]

Answer: TypeAlias = float | str | tuple[Span, ...]
"""Answer to a question: a number, a label, or spans."""


class Task(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A task of another tool.

    Args:
        id: Its id.
        fields: Its data, by the name of the field.
        where: The file that it was read from.
        line: Its line or number in that file, from 1.
    """

    id: str
    fields: dict[str, object]
    where: str
    line: int

    def __post_init__(self) -> None:
        coerce_ids(self, "id")


class Submission(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Everything that an annotator answered about a task.

    Args:
        task: Id of the task.
        annotator: Name of the annotator in the other tool.
        answers: Answer to each question.
        time: Time, in seconds since 1970; None if it is unknown.
        seconds: Time that it took, in seconds; None if it is unknown.
    """

    task: str
    annotator: str
    answers: dict[str, Answer]
    time: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        coerce_ids(self, "task", "annotator")


class Export:
    """Export of another tool.

    Attributes:
        tasks: Tasks by id, in the order of the files.
        submissions: Submissions, in the order of the files.
        left_out: Number of things that were left out, by what they are.
    """

    def __init__(self) -> None:
        self.tasks: dict[str, Task] = {}
        self.submissions: list[Submission] = []
        self.left_out: Counter[str] = Counter()

    def known(self, task: Task, *, same: bool = True) -> Task:
        """Return the task with this id: the first one with fields.

        Args:
            task: The task.
            same: True if all tasks with this id must have the same fields.

        Raises:
            InvalidInput: They have not, as in files of two projects, whose ids mean different texts.
        """
        found = self.tasks.get(task.id)
        if found is None or not found.fields:
            found = self.tasks[task.id] = task
        if same and task.fields and found.fields != task.fields:
            problem = f"{task.id} is another task than in {found.where}:{found.line}; import projects one by one"
            raise InvalidInput(problem, where=task.where, line=task.line)
        return found


def questions(export: Export, asked: Sequence[str], where: str) -> tuple[list[str], list[str]]:
    """Names of the questions with grades, and of those with spans.

    Args:
        export: The export.
        asked: Names of the wanted ones; empty for all.
        where: A file of the export, for errors.

    Raises:
        InvalidInput: The export has no answers.
        UnknownName: There is no such question.
    """
    found: dict[str, bool] = {}
    for one in export.submissions:
        for name, answer in one.answers.items():
            found[name] = isinstance(answer, tuple)
    if not found:
        others = [what for what, count in sorted(export.left_out.items()) if count]
        only = f" but {', '.join(others)}" if others else ": export the project when somebody has annotated it"
        raise InvalidInput(f"expected answers that are numbers, choices or spans, found none{only}", where=where)
    for name in asked:
        if name not in found:
            raise UnknownName("question", name, sorted(found))
    wanted = [name for name in found if name in asked or not asked]
    return [name for name in wanted if not found[name]], [name for name in wanted if found[name]]


def mark_nothing(export: Export) -> None:
    """Answer questions of spans with no spans in submissions that lack them: nothing was marked there.

    Args:
        export: The export.
    """
    marked = {name for one in export.submissions for name, answer in one.answers.items() if isinstance(answer, tuple)}
    for one in export.submissions:
        for name in marked - one.answers.keys():
            one.answers[name] = ()


def only_last(export: Export) -> list[Submission]:
    """Keep the last submission of each annotator to each task; the others are counted as left out.

    Args:
        export: The export.
    """
    last: dict[tuple[str, str], Submission] = {}
    for one in export.submissions:
        key = one.task, one.annotator
        before = last.get(key)
        if before is not None:
            export.left_out["earlier annotations of a task by the same annotator"] += 1
        if before is None or (one.time or 0.0) >= (before.time or 0.0):
            last[key] = one
    return list(last.values())


def pseudonyms(names: Sequence[str]) -> dict[str, str]:
    """Pseudonyms A1, A2, … of annotators, in the order of their names.

    Args:
        names: Names in the other tool.

    >>> pseudonyms(["eve", "ann", "eve"])
    {'ann': 'A1', 'eve': 'A2'}
    """
    return {name: f"A{number}" for number, name in enumerate(sorted(set(names), key=_natural), 1)}


def _natural(name: str) -> tuple[list[tuple[bool, int, str]], str]:
    """Key that sorts 2 before 10."""
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in _PARTS.split(name) if part], name


_PARTS: Final = re.compile(r"([0-9]+)")


def records_of(path: str, decimal: str | None = None, no_answers: Collection[str] = ()) -> Iterator[tuple[int, Record]]:
    """Records of a JSON, JSON Lines, CSV or TSV file.

    Args:
        path: The file; it may be compressed.
        decimal: Decimal mark of the numbers of text tables, if it is named; see `answer_in`.
        no_answers: Columns of text tables that are no answers, whose numbers may be of any kind.

    Yields:
        The line of each record (in a JSON document its number), from 1, and the record.

    Raises:
        InvalidInput: The file cannot be read, or it cannot be told which mark of a column is decimal.
    """
    if not Path(path).exists():
        raise InvalidInput("no such file or folder", where=path)
    form = ""
    with suppress(UsageError):
        form = format_of(path)
    if form not in {"json", "jsonl", "csv", "tsv"}:
        raise InvalidInput("expected a .json, .jsonl, .csv or .tsv file", where=path)
    with opened(path) as stream:
        if form in {"json", "jsonl"}:
            batches = json_records(stream, path, Reading()) if form == "json" else json_lines(stream, path)
            for lines, records in batches:
                yield from zip(lines, records, strict=True)
            return
        table = Delimited(stream, path, usual="," if form == "csv" else "\t")
        numbers = {name: place for place, name in enumerate(table.names) if name not in no_answers}
        marks = NumberMarks(path, numbers, semicolons=table.decimal_commas)
        for lines, rows in table.rows():
            if decimal is None:
                marks.see(lines, rows)
            for line, cells in zip(lines, rows, strict=True):
                yield line, dict(zip(table.names, cells, strict=True))
        marks.settle()


def parsed(cell: object) -> object:
    """Value of a cell: JSON where it is an array or object in JSON, else the cell itself.

    Args:
        cell: The cell.

    >>> parsed('[{"rating": 4}]'), parsed("[sic] not JSON")
    ([{'rating': 4}], '[sic] not JSON')
    """
    if isinstance(cell, str) and cell[:1] in {"[", "{"}:
        try:
            return msgspec.json.decode(cell)
        except msgspec.DecodeError:
            return cell
    return cell


def answer_in(record: Record, field: str, where: str, line: int, decimal: str | None = None) -> object:
    """Value of a cell with an answer; see `parsed`.

    Args:
        record: The record.
        field: The field, which is there.
        where: The file.
        line: Its line.
        decimal: Decimal mark of numbers, if it is named.

    Raises:
        InvalidInput: A number is none by that mark.

    >>> row = {"quality": "1.000", "tone": "1. kind"}
    >>> [answer_in(row, name, "x.csv", 2, ",") for name in row]
    ['1000', '1. kind']
    """
    cell = record[field]
    if decimal is None or not isinstance(cell, str) or isinstance(number_in(_digits(cell)), str):
        return parsed(cell)
    number = number_text(cell.strip(), decimal)
    if number is None:
        problem = Message(
            "expected a number with '{mark}' before its decimals, as {decimal} says, got {got}",
            mark=decimal,
            decimal=Setting("decimal"),
            got=shown(cell),
        )
        raise InvalidInput(problem, where=where, line=line, field=field)
    return number


def _digits(cell: str) -> str:
    """A cell without points and commas."""
    return cell.replace(".", "").replace(",", "")


def id_in(record: Record, field: str, where: str, line: int, advice: str = "") -> str:
    """Id in a field of a record.

    Args:
        record: The record.
        field: The field, which is there.
        where: The file.
        line: Its line.
        advice: Remedy, with what stands before it.

    Raises:
        InvalidInput: It is missing, or neither text nor an integer.

    >>> id_in({"item": 7}, "item", "x.json", 1)
    '7'
    """
    value = record[field]
    if blank(value):
        got = "null" if value is None else "an empty text"
        problem = Message("missing; expected text or an integer, got {got}{advice}", got=got, advice=advice)
        raise InvalidInput(problem, where=where, line=line, field=field)
    if not isinstance(value, str) and not is_integer(value):
        raise InvalidInput(f"expected text or an integer, got {shown(value)}", where=where, line=line, field=field)
    return as_id(str(value))


def blank(value: object) -> bool:
    """True for a missing value and an empty text.

    Args:
        value: Value of a field.
    """
    return value is None or (isinstance(value, str) and not value.strip())


def number_in(text: str) -> float | str:
    """Number that a text is, else the text.

    Args:
        text: The text.

    >>> number_in(" 4 "), number_in("good"), number_in("nan"), number_in("1_000")
    (4.0, 'good', 'nan', '1_000')
    """
    with suppress(ValueError):
        number = float(text)
        if math.isfinite(number) and "_" not in text:
            return number
    return text
