"""Annotations of another tool as they were submitted, and what postil makes of their answers."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from postil.campaigns.models import Span
from postil.data.checks import coerce_ids
from postil.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Answer", "Export", "Submission", "Task", "mark_nothing", "only_last", "pseudonyms", "questions"]

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
