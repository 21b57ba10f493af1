"""Exports of other annotation tools as submissions: Label Studio and Potato."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.campaigns.submissions import (
    Answer,
    Export,
    Submission,
    Task,
    answer_in,
    blank,
    id_in,
    mark_nothing,
    number_in,
    parsed,
    records_of,
)
from postil.data.cells import truth
from postil.data.explain import load_json, shown
from postil.data.fields import parse_date, unix_seconds
from postil.data.streams import file_bytes
from postil.errors import InvalidInput, UnknownName
from postil.messages import Message, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.campaigns.models import Span
    from postil.data.columns import Record

__all__ = ["read_label_studio", "read_potato"]

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

    JSON has one object per task, whose `annotations` have a `result` with one object per region or answer: `from_name`
    is the control, `type` its kind, and `value` the answer. The other three have one row per annotation: the task's
    data, `id`, the controls, and from `annotator` on what is known of the annotation. A row of JSON lacks the controls
    without an answer; a table has those that its first row lacks after all other columns. Where the columns are in
    another order, nothing says which are controls. Controls with a single choice hold it as text, the others the list
    of their values.

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


STATE: Final = "user_state.json"
INSTANCES: Final = "annotated_instances.jsonl"
SPANS: Final = "._spans"
"""End of the name of a column with spans."""

TASKS: Final = ("instance_id", "id")
PEOPLE: Final = ("user_id", "user")
"""Columns of tables with the instance and the annotator."""

NUMBERS: Final = frozenset({"", "number", "slider", "scale", "confidence_level", "select-one"})
"""Names of fields whose value is the answer; the value of a choice may be the key that it is made with."""
BAD_TEXT: Final = "bad_text"
"""Name of the choice that a text cannot be rated."""

FREE_TEXT: Final = frozenset({"text_box", "textbox", "free_response"})
YES: Final = frozenset({"true", "on", "yes"})
NO: Final = frozenset({"false", "off", "no"})

_SPENT: Final = re.compile(r"(?<!\d)(\d++)d (\d++)h (\d++)m (\d++)s")


def read_potato(paths: Sequence[str], data: Sequence[str] = (), key: str = "id", decimal: str | None = None) -> Export:
    """Read annotations of Potato: its output folder, of any version, and the tables that it exports.

    Version 2 keeps a `user_state.json` per annotator, with `instance_id_to_label_to_value` and
    `instance_id_to_span_to_value`; version 1 an `annotated_instances.jsonl`, with the displayed text. Labels are an
    object of schemes with their chosen names and values, or a list of pairs of name and value. The tables have a column
    `SCHEME.NAME` (version 1: `SCHEME:::NAME`) for each name.

    Args:
        paths: Output folders (or folders above them), or exported tables: JSON Lines, CSV or TSV.
        data: The data files of the project, which have the texts.
        key: Field of the data files with the id of an instance.
        decimal: Decimal mark of the numbers of tables, if it is named.

    Raises:
        InvalidInput: There are no annotations, or a file is broken; names it.
    """
    export = Export()
    for file in data:
        for line, record in records_of(file, decimal):
            export.known(Task(id=_instance_id(record, key, file, line), fields=dict(record), where=file, line=line))
    described = frozenset(export.tasks)
    for path in paths:
        if Path(path).is_dir():
            _folder(export, Path(path), described)
        else:
            _table(export, path, described, decimal)
    mark_nothing(export)
    return export


def _instance_id(record: Record, field: str, where: str, line: int) -> str:
    if field not in record:
        raise InvalidInput("expected the id of the instance", where=where, line=line, field=field)
    return id_in(record, field, where, line)


def _folder(export: Export, folder: Path, described: frozenset[str]) -> None:
    found = sorted({file.parent for name in (STATE, INSTANCES) for file in folder.rglob(name)})
    if not found:
        problem = f"expected a folder of annotators, each with {STATE} or {INSTANCES}; this one has neither"
        raise InvalidInput(problem, where=str(folder))
    for annotator in found:
        instances = annotator / INSTANCES
        state = _state(annotator / STATE) if (annotator / STATE).is_file() else {}
        answered = isinstance(state.get("instance_id_to_label_to_value"), dict)
        if instances.is_file():
            for line, record in records_of(str(instances)):
                _instance(export, record, annotator.name, str(instances), line, described, texts_only=answered)
        if answered:
            _answers_of_state(export, state, annotator.name, str(annotator / STATE))


def _state(file: Path) -> Record:
    try:
        found = load_json(file_bytes(file))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"cannot be read as JSON: {error}", where=str(file)) from None
    if not isinstance(found, dict):
        raise InvalidInput(f"expected an object in braces, got {shown(found)}", where=str(file))
    return found


def _answers_of_state(export: Export, state: Record, folder: str, where: str) -> None:
    """Add the answers of an annotator of version 2."""
    labels, spans, spent = (
        found if isinstance(found := state.get(f"instance_id_to_{name}"), dict) else {}
        for name in ("label_to_value", "span_to_value", "behavioral_data")
    )
    annotator = folder if blank(state.get("user_id")) else id_in(state, "user_id", where, 1)
    for number, name in enumerate(dict.fromkeys([*labels, *spans]), 1):
        export.known(Task(id=name, fields={}, where=where, line=number))
        answers = _labels(export, labels.get(name)) | _spans(spans.get(name))
        about = spent.get(name)
        about = about if isinstance(about, dict) else {}
        end, milliseconds = about.get("session_end"), about.get("total_time_ms")
        export.submissions.append(
            Submission(
                task=name,
                annotator=annotator,
                answers=answers,
                time=float(end) if isinstance(end, int | float) and end > 0 else None,
                seconds=milliseconds / 1000 if isinstance(milliseconds, int | float) and milliseconds > 0 else None,
            )
        )


def _instance(  # noqa: PLR0917
    export: Export,
    record: Record,
    annotator: str,
    where: str,
    line: int,
    described: frozenset[str],
    *,
    texts_only: bool = False,
) -> None:
    """Add an instance of version 1."""
    name = _instance_id(record, "id", where, line)
    export.known(_shown_task(name, record, where, line), same=name not in described)
    if texts_only:
        return
    about = record.get("behavioral_data")
    spent = _SPENT.search(str(about.get("time_string", ""))) if isinstance(about, dict) else None
    days, hours, minutes, seconds = map(int, spent.groups()) if spent else (0, 0, 0, 0)
    export.submissions.append(
        Submission(
            task=name,
            annotator=annotator,
            answers=_labels(export, record.get("label_annotations")) | _spans(record.get("span_annotations")),
            seconds=float(seconds + 60 * (minutes + 60 * (hours + 24 * days))) if spent else None,
        )
    )


def _shown_task(name: str, record: Record, where: str, line: int) -> Task:
    """Task with the text that the annotator saw, where it was recorded."""
    text = {"id": name, "text": record["displayed_text"]} if "displayed_text" in record else {}
    return Task(id=name, fields=text, where=where, line=line)


def _table(export: Export, path: str, described: frozenset[str], decimal: str | None) -> None:
    """Add the rows of an exported table."""
    for line, record in records_of(path, decimal, (*TASKS, *PEOPLE)):
        if Path(path).name == INSTANCES:
            _instance(export, record, Path(path).absolute().parent.name, path, line, described)
            continue
        fields = [next((name for name in names if name in record), None) for names in (TASKS, PEOPLE)]
        if None in fields:
            problem = "expected the columns instance_id and user_id, as Potato exports them"
            raise InvalidInput(problem, where=path, line=line)
        task, annotator = (id_in(record, field, path, line) for field in fields if field is not None)
        export.known(_shown_task(task, record, path, line), same=task not in described)
        if "labels" in record:
            answers = _labels(export, record["labels"]) | _spans(record.get("spans"))
        else:
            answers = _columns(export, record, path, line, decimal)
        export.submissions.append(Submission(task=task, annotator=annotator, answers=answers))


def _columns(export: Export, record: Record, where: str, line: int, decimal: str | None) -> dict[str, Answer]:
    """Answers in the columns of a row."""
    labels: dict[str, dict[str, object]] = {}
    spans: dict[str, object] = {}
    for column, cell in record.items():
        if column.endswith(SPANS):
            spans[column.removesuffix(SPANS)] = [] if blank(cell) else parsed(cell)
            continue
        scheme, mark, name = column.partition(":::" if ":::" in column else ".")
        if mark and not name.startswith("_") and not blank(cell):
            labels.setdefault(scheme, {})[name] = answer_in(record, column, where, line, decimal)
    return _labels(export, labels) | _spans(spans)


def _labels(export: Export, given: object) -> dict[str, Answer]:
    """Answer to each scheme."""
    schemes: dict[str, dict[str, object]] = {}
    for scheme, name, value in _triples(given):
        if not (blank(value) or value is False or str(value).lower() in NO):
            schemes.setdefault(scheme, {})[name] = value
    answers: dict[str, Answer] = {}
    for scheme, values in schemes.items():
        if len(values) != 1:
            export.left_out["answers with several choices"] += 1
            continue
        ((name, value),) = values.items()
        if name == BAD_TEXT:
            export.left_out["answers that a text cannot be rated"] += 1
            continue
        if name in FREE_TEXT or isinstance(value, dict | list):
            export.left_out["answers in free text, and of other kinds"] += 1
            continue
        answers[scheme] = _named_answer(scheme, name, value)
    return answers


def _triples(given: object) -> Iterator[tuple[str, str, object]]:
    """Scheme, name and value of each answer, from an object of schemes or a list of pairs."""
    if isinstance(given, list):
        for pair in given:
            if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict):
                yield str(pair[0].get("schema", "")), str(pair[0].get("name", "")), pair[1]
    elif isinstance(given, dict):
        for scheme, values in given.items():
            inner = values.get("labels", values) if isinstance(values, dict) else {"": values}
            for name, value in (inner if isinstance(inner, dict) else {"": inner}).items():
                yield str(scheme), str(name), value


def _named_answer(scheme: str, name: str, value: object) -> Answer:
    """A number where one was given or a point of a scale was chosen, else a label.

    Versions before 2.12 store the key of a choice in its place, where there are keys: 1 for the first, 0 for the tenth.
    """
    text = str(value)
    if value is True or text.lower() in YES or text == name:
        return name
    if name in {*NUMBERS, scheme}:
        return number_in(text)
    point = name.removeprefix("scale_")
    if point.isdecimal() and text in {point, point[-1]}:
        return float(point)
    return f"{name}: {text}"


def _spans(given: object) -> dict[str, Answer]:
    """Spans of each scheme; an empty tuple where nothing was marked."""
    found: dict[str, set[Span]] = {}
    for scheme, span in _marked(given):
        begin, end = (span.get("start"), span.get("end")) if isinstance(span, dict) else (None, None)
        spans = found.setdefault(scheme, set())
        if isinstance(begin, int) and isinstance(end, int) and 0 <= begin < end:
            spans.add((begin, end))
    return {scheme: tuple(sorted(spans)) for scheme, spans in found.items()}


def _marked(given: object) -> Iterator[tuple[str, object]]:
    if isinstance(given, dict):
        for scheme, spans in given.items():
            listed = list(spans.values()) if isinstance(spans, dict) else spans
            for span in listed if isinstance(listed, list) else ():
                yield str(scheme), span
            if not listed:
                yield str(scheme), None
    elif isinstance(given, list):
        for entry in given:
            span = entry[0] if isinstance(entry, list) and entry else entry
            if isinstance(span, dict):
                yield str(span.get("schema", "spans")), span
