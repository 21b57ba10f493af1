"""Exports of Label Studio: JSON, JSON-MIN, CSV and TSV.

JSON has one object per task, whose `annotations` have a `result` with one object per region or answer: `from_name` is
the control, `type` its kind, and `value` the answer. The other three have one row per annotation: the task's data,
`id`, the controls, and from `annotator` on what is known of the annotation. Controls with a single choice hold it as
text, the others the list of their values.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from postil.annotation.imports.files import blank, number_in, parsed, records_of
from postil.annotation.imports.submissions import Export, Submission, Task, mark_nothing
from postil.errors import InvalidInput
from postil.records.dates import parse_date, unix_seconds
from postil.records.explain import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.annotation.imports.submissions import Answer
    from postil.annotation.models import Span
    from postil.records.record_rows import Record

__all__ = ["read_label_studio"]

KNOWN: Final = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
"""Fields of a row that are about the annotation."""

COLUMNS: Final = frozenset({"annotator", "annotation_id"})
"""Fields by which a row of an annotation is recognized."""


def read_label_studio(files: Sequence[str], controls: Sequence[str] = ()) -> Export:
    """Read exports of Label Studio.

    Args:
        files: The files: JSON, JSON-MIN, CSV or TSV.
        controls: Names of the wanted controls, by which columns of tables are recognized as such; empty for all.

    Raises:
        InvalidInput: A file is no export of Label Studio; names the task.
    """
    export = Export()
    for file in files:
        for line, record in records_of(file):
            if isinstance(record.get("annotations", record.get("completions")), list):
                _task(export, record, file, line)
            elif record.keys() >= COLUMNS:
                _row(export, record, file, line, controls)
            else:
                problem = "expected a task with annotations, or a row with annotator and annotation_id"
                raise InvalidInput(problem, where=file, line=line)
    mark_nothing(export)
    return export


def _task(export: Export, record: Record, where: str, line: int) -> None:
    """Add a task of the full format."""
    data = record.get("data")
    if not isinstance(data, dict):
        raise InvalidInput(f"expected an object, got {shown(data)}", where=where, line=line, field="data")
    task = export.known(_task_of(record.get("id"), data, where, line))
    annotations = record.get("annotations", record.get("completions"))
    for each in annotations if isinstance(annotations, list) else ():
        if not isinstance(each, dict) or not isinstance(each.get("result"), list):
            raise InvalidInput("expected annotations with a result", where=where, line=line, field="annotations")
        if each.get("was_cancelled"):
            export.left_out["cancelled annotations"] += 1
            continue
        regions = [one for one in each["result"] if isinstance(one, dict) and "from_name" in one]
        export.left_out["relations between regions"] += len(each["result"]) - len(regions)
        by_control: dict[str, list[object]] = {}
        for one in regions:
            by_control.setdefault(str(one["from_name"]), []).append(one.get("value"))
        _submit(export, task, each.get("completed_by"), by_control.items(), each)


def _row(export: Export, record: Record, where: str, line: int, controls: Sequence[str]) -> None:
    """Add a row of one of the other formats."""
    names = list(record)
    begin = names.index("id") + 1 if "id" in record and names.index("id") < names.index("annotator") else 0
    if begin:
        own = [name for name in names[begin : names.index("annotator")] if not controls or name in controls]
        fields = names[: begin - 1]
    else:
        own = [name for name in controls if name in record]
        fields = [name for name in names if name not in own and name not in {"id", *KNOWN}]
    if not own:
        problem = "expected controls between the columns id and annotator; name them with --question"
        raise InvalidInput(problem, where=where, line=line)
    data = {name: record[name] for name in fields}
    # Without an id before them, some of the fields may be controls, which differ between the annotators of a task.
    task = export.known(_task_of(record.get("id"), data, where, line), same=begin > 0)
    given = ((name, _values(parsed(record[name]))) for name in own if not blank(record[name]))
    _submit(export, task, record["annotator"], given, record)


def _task_of(number: object, data: dict[str, object], where: str, line: int) -> Task:
    return Task(id=f"{where}:{line}" if blank(number) else str(number), fields=data, where=where, line=line)


def _submit(
    export: Export, task: Task, annotator: object, by_control: Iterable[tuple[str, Sequence[object]]], about: Record
) -> None:
    answers: dict[str, Answer] = {}
    for name, values in by_control:
        answer = _answer(values)
        if isinstance(answer, _LeftOut):
            export.left_out[str(answer)] += 1
        else:
            answers[name] = answer
    if isinstance(annotator, dict):
        annotator = next((annotator[key] for key in ("email", "username", "id") if annotator.get(key)), None)
    export.submissions.append(
        Submission(
            task=task.id,
            annotator="unknown" if blank(annotator) else str(annotator),
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
