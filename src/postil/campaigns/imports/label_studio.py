"""Exports of Label Studio: JSON, JSON-MIN, CSV and TSV.

JSON has one object per task, whose `annotations` have a `result` with one object per region or answer: `from_name` is
the control, `type` its kind, and `value` the answer. The other three have one row per annotation: the task's data,
`id`, the controls, and from `annotator` on what is known of the annotation. A row of JSON lacks the controls without an
answer; a table has those that its first row lacks after all other columns. Where the columns are in another order,
nothing says which are controls. Controls with a single choice hold it as text, the others the list of their values.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from postil.campaigns.imports.submissions import (
    Export,
    Submission,
    Task,
    answer_in,
    blank,
    id_in,
    mark_nothing,
    number_in,
    records_of,
)
from postil.data.cells import truth
from postil.data.explain import shown
from postil.data.fields import parse_date, unix_seconds
from postil.errors import InvalidInput, UnknownName
from postil.messages import Message, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.campaigns.imports.submissions import Answer
    from postil.campaigns.models import Span
    from postil.data.tables import Record

__all__ = ["read_label_studio"]

KNOWN: Final = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")
"""Fields of a row that are about the annotation, in their order."""

COLUMNS: Final = frozenset({"annotator", "annotation_id"})
"""Fields by which a row of an annotation is recognized."""

CANCELLED: Final = ("was_cancelled", "skipped")
"""Fields that say whether an annotation was cancelled."""

ABOUT: Final = frozenset({*KNOWN, *CANCELLED, "agreement", "history", "id"})
"""Fields of a row that are neither the task's own nor a control."""

FIELDS: Final = ("item", "system", "text")
"""Usual fields of a task."""


def read_label_studio(
    files: Sequence[str], controls: Sequence[str] = (), fields: Sequence[str] = FIELDS, decimal: str | None = None
) -> Export:
    """Read exports of Label Studio.

    Args:
        files: The files: JSON, JSON-MIN, CSV or TSV.
        controls: Names of the wanted controls, by which columns of tables are recognized as such; empty for all.
        fields: Names of fields of tasks, by which columns of tables are recognized as none of a control.
        decimal: Decimal mark of the numbers of tables, if it is named.

    Raises:
        InvalidInput: A file is no export of Label Studio, lacks the id of a task or of an annotator, or does not say
            which of its columns are controls; names the task.
    """
    export = Export()
    for file in files:
        rows: list[tuple[int, Record]] = []
        for line, record in records_of(file, decimal, ABOUT):
            if isinstance(record.get("annotations", record.get("completions")), list):
                _task(export, record, file, line)
            elif record.keys() >= COLUMNS:
                rows.append((line, record))
            else:
                problem = "expected a task with annotations, or a row with annotator and annotation_id"
                raise InvalidInput(problem, where=file, line=line)
        layout = _Layout.of(rows, controls, fields, file)
        for line, record in rows:
            _row(export, record, file, line, layout, decimal=decimal)
    mark_nothing(export)
    return export


@dataclass(frozen=True, slots=True)
class _Layout:
    """Columns of the rows of a file.

    Args:
        controls: The controls.
        fields: Fields of tasks.
        ordered: True if what stands before the id is the task's as well, and nothing else.
    """

    controls: frozenset[str]
    fields: frozenset[str]
    ordered: bool

    @classmethod
    def of(
        cls, rows: Sequence[tuple[int, Record]], controls: Sequence[str], fields: Sequence[str], where: str
    ) -> _Layout:
        """Tell controls from fields of tasks.

        Args:
            rows: The rows, with their lines.
            controls: Names of controls; empty where none are named.
            fields: Names of fields of tasks.
            where: The file.

        Raises:
            InvalidInput: The order of the columns does not tell, and no controls are named.
            UnknownName: There is none of those that are named.
        """
        orders = dict.fromkeys(tuple(record) for _, record in rows)
        ordered, known = all(map(_in_order, orders)), frozenset(fields) - frozenset(controls)
        if controls and rows and not any(name in names for names in orders for name in controls):
            raise UnknownName("question", controls[0], sorted({*chain.from_iterable(orders)} - {*ABOUT, *known}))
        if controls:
            return cls(frozenset(controls), known, ordered)
        between: set[str] = set()
        others: set[str] = set()
        for names in orders:
            begin = names.index("annotator") if ordered else 0
            between.update(names[names.index("id") : begin] if ordered else ())
            others.update(names[begin:])
        between -= ABOUT
        others -= {*ABOUT, *between, *known}
        if ordered and not others:
            return cls(frozenset(between), known - between, ordered)
        if not between and len(others) == 1:  # there is a control, and it is none of the others
            return cls(frozenset(others), known, ordered)
        problem = Message(
            "expected controls between the columns id and annotator; name them with {question}{of}",
            question=Setting("question"),
            of=f" of {', '.join(sorted(between | others))}" if others else "",
        )
        raise InvalidInput(problem, where=where, line=rows[0][0])


def _in_order(names: Sequence[str]) -> bool:
    """True if a row has its columns in the order in which Label Studio writes them."""
    begin = names.index("annotator")
    there = [name for name in KNOWN if name in names]
    return "id" in names[1:begin] and [name for name in names[begin:] if name in KNOWN] == there


def _task(export: Export, record: Record, where: str, line: int) -> None:
    """Add a task of the full format."""
    data = record.get("data")
    if not isinstance(data, dict):
        raise InvalidInput(f"expected an object, got {shown(data)}", where=where, line=line, field="data")
    task = export.known(_task_of(record, data, where, line))
    annotations = record.get("annotations", record.get("completions"))
    for each in annotations if isinstance(annotations, list) else ():
        if not isinstance(each, dict) or not isinstance(each.get("result"), list):
            raise InvalidInput("expected annotations with a result", where=where, line=line, field="annotations")
        if any(map(each.get, CANCELLED)):
            export.left_out["cancelled annotations"] += 1
            continue
        regions = [one for one in each["result"] if isinstance(one, dict) and "from_name" in one]
        export.left_out["relations between regions"] += len(each["result"]) - len(regions)
        by_control: dict[str, list[object]] = {}
        for one in regions:
            by_control.setdefault(str(one["from_name"]), []).append(one.get("value"))
        _submit(export, task, _person(each, "completed_by", where, line), by_control.items(), each)


def _row(export: Export, record: Record, where: str, line: int, layout: _Layout, *, decimal: str | None) -> None:
    """Add a row of one of the other formats."""
    names = list(record)
    own = [name for name in names if name in layout.controls]
    first = names[: names.index("id")] if layout.ordered else names
    fields = [name for name in names if (name in first or name in layout.fields) and name not in {*ABOUT, *own}]
    data = {name: record[name] for name in fields}
    # In another order some of the fields may be controls, which differ between the annotators of a task.
    task = export.known(_task_of(record, data, where, line), same=layout.ordered)
    if any(truth(record.get(name)) for name in CANCELLED):
        export.left_out["cancelled annotations"] += 1
        return
    cells = ((name, answer_in(record, name, where, line, decimal)) for name in own)
    given = ((name, _values(cell)) for name, cell in cells if not blank(cell) and cell != [])
    _submit(export, task, _person(record, "annotator", where, line), given, record)


def _task_of(record: Record, data: dict[str, object], where: str, line: int) -> Task:
    name = id_in(record, "id", where, line) if "id" in record else f"{where}:{line}"
    return Task(id=name, fields=data, where=where, line=line)


def _person(about: Record, field: str, where: str, line: int) -> str:
    """Name of an annotator; exports of one person's work have no such field."""
    if field not in about:
        return "unknown"
    person = about[field]
    if isinstance(person, dict):
        person = next((person[key] for key in ("email", "username", "id") if person.get(key)), None)
    return id_in({field: person}, field, where, line)


def _submit(
    export: Export, task: Task, annotator: str, by_control: Iterable[tuple[str, Sequence[object]]], about: Record
) -> None:
    answers: dict[str, Answer] = {}
    for name, values in by_control:
        answer = _answer(values)
        if isinstance(answer, _LeftOut):
            export.left_out[str(answer)] += 1
        else:
            answers[name] = answer
    export.submissions.append(
        Submission(
            task=task.id,
            annotator=annotator,
            answers=answers,
            time=_time(about.get("created_at")),
            seconds=_seconds(about.get("lead_time")),
        )
    )


class _LeftOut(str):
    """Reason for leaving an answer out."""

    __slots__ = ()


def _values(value: object) -> list[object]:
    """Values of a control in a row."""
    return list(value) if isinstance(value, list) else [value]


def _answer(values: Sequence[object]) -> Answer | _LeftOut:
    """Answer of one control in one annotation."""
    spans = [span for span in map(_span, values) if span is not None]
    if spans and len(spans) == len(values):
        return tuple(sorted(set(spans)))
    if len(values) != 1:
        return _LeftOut("answers with several values of one control")
    (value,) = values
    if not isinstance(value, dict):
        return _scalar(value)
    for kind in ("rating", "number"):
        if kind in value:
            return _scalar(value[kind])
    chosen = value.get("choices")
    if isinstance(chosen, list):
        return str(chosen[0]) if len(chosen) == 1 else _LeftOut("answers with several choices")
    known = ("text", "taxonomy", "pairwise", "selected", "ranker", "datetime")
    kind = next((kind for kind in known if kind in value), next(iter(value), "nothing"))
    return _LeftOut(f"answers of the kind '{kind}'")


def _scalar(value: object) -> Answer | _LeftOut:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return _LeftOut("answers that are neither a number nor a text")
    return number_in(value) if isinstance(value, str) else float(value)


def _span(value: object) -> Span | None:
    """Span of a region of text, in characters."""
    if not isinstance(value, dict) or not any(
        isinstance(value.get(kind), list) for kind in ("labels", "hypertextlabels")
    ):
        return None
    at = value.get("globalOffsets")
    begin, end = (at.get("start"), at.get("end")) if isinstance(at, dict) else (value.get("start"), value.get("end"))
    return (begin, end) if isinstance(begin, int) and isinstance(end, int) and 0 <= begin < end else None


def _time(value: object) -> float | None:
    if blank(value):
        return None
    with suppress(InvalidInput):
        return float(unix_seconds(parse_date(value)))
    return None


def _seconds(value: object) -> float | None:
    with suppress(TypeError, ValueError):
        seconds = float(value)  # type: ignore[arg-type]
        return seconds if 0 <= seconds < float("inf") else None
    return None
