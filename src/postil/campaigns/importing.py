"""`postil annotate import`: annotations of other tools become judgements, or a campaign with its ratings."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from postil.campaigns.calls import open_campaign
from postil.campaigns.models import Campaign, Given, Item, Refused, Span
from postil.campaigns.plan import MAX_ANNOTATORS, Plan
from postil.campaigns.rubric import MAX_ASPECTS, MAX_GRADES, Aspect, Rubric
from postil.campaigns.submissions import (
    Answer,
    Export,
    Submission,
    Task,
    id_in,
    number_in,
    only_last,
    pseudonyms,
    questions,
)
from postil.campaigns.tools import FIELDS, read_label_studio, read_potato
from postil.campaigns.validation import spans
from postil.data.atomic_file import check_apart
from postil.data.explain import counted
from postil.data.groups import grouped
from postil.data.row_files import Writer
from postil.data.rows import Judgement
from postil.errors import InvalidInput, UsageError
from postil.messages import Blank, Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from postil.campaigns.options import LabelStudioOptions, PotatoOptions
    from postil.data.progress import OnMessage

__all__ = [
    "Imported",
    "given_grades",
    "grade_in",
    "grades_of",
    "import_label_studio",
    "import_potato",
]

MOST_NAMED: Final = 20
"""Largest number of labels in a message."""
_GRADE: Final = Setting("grade")

_NUMBER: Final = r"([-+−]?\d+(?:\.\d+)?)"
_LEADS: Final = re.compile(rf"{_NUMBER}[.．)）:：](.+)", re.DOTALL)
_ENDS: Final = re.compile(rf"(.*)[(（\[［]\s*{_NUMBER}\s*[)）\]］]", re.DOTALL)
_SHARE: Final = re.compile(rf"{_NUMBER}\s*(?:/|\s(?:out\s+)?of\s)\s*{_NUMBER}", re.IGNORECASE)


def grade_in(label: str, scale: tuple[float, float] | None = None) -> float | None:
    """Grade that a label gives itself; None where it gives none, or might give two.

    The number is the whole label; or it leads, a point, a closing bracket or a colon follows, and then words; or it
    stands alone in brackets at the end; or it is ``N/M``, ``N of M`` or ``N out of M`` with M the top of the scale.

    Args:
        label: The label.
        scale: Lowest and highest grade, if they are given.

    >>> [grade_in(label) for label in ("4", "4. good", "4: good", "Agree (5)", "(4)")]
    [4.0, 4.0, 4.0, 5.0, 4.0]
    >>> [grade_in(label) for label in ("GPT-4", "4,5", "26-50%", "4 stars", "12:30", "4. Agree (5)")]
    [None, None, None, None, None, None]
    >>> grade_in("1 of 5"), grade_in("1 of 5", (1, 5)), grade_in("1 of 5", (1, 7))
    (None, 1.0, None)
    """
    text = label.strip()
    if not isinstance(whole := number_in(text.replace("−", "-")), str):
        return whole
    found: set[float] = set()
    if (leads := _LEADS.fullmatch(text)) and next(filter(str.isalnum, leads[2]), "").isalpha():
        found.add(_number(leads[1]))
    if (ends := _ENDS.fullmatch(text)) and isinstance(number_in(ends[1].strip()), str):
        found.add(_number(ends[2]))
    if scale is not None and (share := _SHARE.fullmatch(text)):
        grade, top = map(_number, share.groups())
        if top == scale[1] and scale[0] <= grade <= top:
            found.add(grade)
    return found.pop() if len(found) == 1 and math.isfinite(min(found)) else None


def _number(text: str) -> float:
    return float(text.replace("−", "-"))


def given_grades(pairs: Iterable[str]) -> dict[str | float, float]:
    """Grades of labels by the values of ``--grade``; a label that is a number goes by the number.

    Args:
        pairs: `LABEL=NUMBER` each.

    Raises:
        UsageError: One is not of that form, or a label has two grades.

    >>> given_grades(["good=3", "a=b=1", "4=5"])
    {'good': 3.0, 'a=b': 1.0, 4.0: 5.0}
    """
    found: dict[str | float, float] = {}
    for pair in pairs:
        label, equals, text = pair.rpartition("=")
        number = number_in(text)
        if not equals or isinstance(number, str):
            if not equals:
                raise UsageError("{grade}: expected LABEL=NUMBER, got '{got}'", grade=_GRADE, got=pair)
            raise UsageError("{grade}: expected LABEL=NUMBER, got '{got}' for the number", grade=_GRADE, got=text)
        if found.setdefault(number_in(label.strip()), number) != number:
            raise UsageError("{grade}: the label '{label}' has two grades; give it one", grade=_GRADE, label=label)
    return found


def grades_of(
    question: str, answers: Iterable[Answer], given: Mapping[str | float, float], scale: tuple[float, float] | None
) -> dict[str | float, float]:
    """Grade of each answer to a question: what was given for its label, else the number that the label gives.

    Args:
        question: Name of the question.
        answers: Numbers and labels.
        given: Grades of labels.
        scale: Lowest and highest grade, if they are given.

    Raises:
        UsageError: Labels have no grade; names them.

    >>> grades_of("quality", ["bad", "5. worth reading", 4.0], {"bad": 1.0}, None)
    {'bad': 1.0, '5. worth reading': 5.0, 4.0: 4.0}
    """
    found: dict[str | float, float] = {}
    without: dict[str, None] = {}
    for answer in answers:
        if isinstance(answer, tuple):
            raise UsageError(f"{question}: expected grades, got spans")
        grade = given.get(number_in(answer.strip()) if isinstance(answer, str) else answer)
        if grade is None:
            grade = answer if isinstance(answer, float) else grade_in(answer, scale)
        if grade is None:
            without[str(answer)] = None
        else:
            found[answer] = grade
    if without:
        raise _ungraded(question, sorted(without))
    return found


def _ungraded(question: str, labels: list[str]) -> UsageError:
    """Error of labels without a grade, with a setting for each."""
    named = [_short(label) for label in labels[:MOST_NAMED]]
    grades = [Setting("grade", Blank(_quoted(f"{label}=N")), python=repr((f"{label}=N",))) for label in named]
    scale = Setting("scale", Blank("LOW:HIGH"))
    shares = any(_SHARE.fullmatch(label.strip()) for label in labels)
    return UsageError(
        "{question}: the label {names} has no grade; give it one: {grades}{shares}, or choose questions: {chosen}",
        "{question}: the labels {names}{more} have no grade; give each one: {grades}{shares}, or choose questions: "
        "{chosen}",
        question=question,
        count=len(labels),
        names=Listed([f"'{label}'" for label in named], last=", "),
        more=f" and {len(labels) - MOST_NAMED:,} more" if len(labels) > MOST_NAMED else "",
        grades=Listed(grades, last=" ", between=" "),
        shares=Message(", or for N/M the scale whose top is M: {scale}", scale=scale) if shares else "",
        chosen=Setting("question", Blank("NAME")),
    )


def _short(label: str) -> str:
    return label if len(label) <= 60 else f"{label[:60]}…"


def _quoted(text: str) -> str:
    """A word of a command, in single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


Value: TypeAlias = float | tuple[float, ...] | tuple[Span, ...]
"""Answer as a campaign stores it: a grade, one grade of each aspect, or spans."""
_QUESTION: Final = Setting("question", Blank("NAME"))


class Imported(NamedTuple):
    """Numbers of an import.

    Args:
        tasks: Number of rated tasks.
        annotators: Number of annotators.
        ratings: Number of ratings.
        questions: Names of the questions.
    """

    tasks: int
    annotators: int
    ratings: int
    questions: tuple[str, ...]


def import_label_studio(files: Sequence[str], options: LabelStudioOptions, on_message: OnMessage) -> Imported:
    """Import an export of Label Studio.

    Args:
        files: JSON, JSON-MIN, CSV or TSV.
        options: Options of the command.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: A file is broken, or holds nothing to import; names the place.
        UsageError: A label has no grade, the questions do not fit one campaign, or the database holds a campaign.
    """
    fields = (options.item, options.system, options.text, options.title, options.content)
    of_tasks = [*FIELDS, *(name for name in fields if name is not None)]
    return _import(read_label_studio(files, options.question, of_tasks, options.decimal), files, options, on_message)


def import_potato(paths: Sequence[str], options: PotatoOptions, on_message: OnMessage) -> Imported:
    """Import annotations of Potato; errors as of `import_label_studio`.

    Args:
        paths: Output folders, or exported tables.
        options: Options of the command.
        on_message: Callback for status messages.
    """
    export = read_potato(paths, options.data, options.id, options.decimal)
    return _import(export, [*paths, *options.data], options, on_message)


class _Ratings(NamedTuple):
    """Answers of one question, as judgement rows need them."""

    question: str
    given: list[tuple[Submission, float]]


def _import(export: Export, inputs: Sequence[str], options: LabelStudioOptions, on_message: OnMessage) -> Imported:
    graded, marked = questions(export, options.question, inputs[0])
    submissions = only_last(export)
    given, scale = given_grades(options.grade), None if options.scale is None else _ends(options.scale)
    ratings = [_graded(name, submissions, given, scale, on_message) for name in graded]
    answered = [one for one in submissions if any(name in one.answers for name in (*graded, *marked))]
    items = _identified(export, answered, options)
    people = pseudonyms([one.annotator for one in answered])
    if options.out is not None:
        _write(options.out, inputs, ratings, items, {name: name for name in people} if options.names else people)
        on_message(f"written: {options.out} ({counted(sum(len(one.given) for one in ratings), 'row')})")
        if marked:
            names = Listed(marked, last=", ")
            on_message(
                Message(
                    "spans are no judgements, {campaign} takes them: {names}", campaign=Setting("campaign"), names=names
                )
            )
    if options.campaign is not None:
        _check_questions(graded, marked)
        rubric, values = (
            _rated(export, ratings, scale) if ratings else _marked(export, marked[0], answered, options.text)
        )
        _campaign(options.campaign, export, rubric, values, people, items, options, on_message)
    for what, count in sorted(export.left_out.items()):
        if count:
            on_message(f"left out: {count:,} {what}")
    if unanswered := len(export.tasks) - len(items):
        on_message(f"left out: {counted(unanswered, 'task')} without an answer")
    asked_of = (*graded, *marked)
    count = sum(name in one.answers for one in answered for name in asked_of)
    return Imported(len(items), len(people), count, asked_of)


def _graded(
    name: str,
    submissions: Sequence[Submission],
    given: Mapping[str | float, float],
    scale: tuple[int, int] | None,
    on_message: OnMessage,
) -> _Ratings:
    """Grades of the answers to a question; says which labels they are of.

    Raises:
        UsageError: Labels have no grade, or one is not on the scale.
    """
    grades = grades_of(name, [one.answers[name] for one in submissions if name in one.answers], given, scale)
    labels = [
        f"'{label if isinstance(label, str) else f'{label:g}'}' = {grade:g}"
        for label, grade in sorted(grades.items(), key=lambda pair: (pair[1], str(pair[0])))
        if (number_in(label) if isinstance(label, str) else label) != grade
    ]
    if labels:
        on_message(f"{name}: grades of labels: {', '.join(labels)}")
    found = [(one, grades[answer]) for one in submissions if not isinstance(answer := one.answers.get(name, ()), tuple)]
    if scale is not None and not all(scale[0] <= grade <= scale[1] for _, grade in found):
        low, high = (end(grade for _, grade in found) for end in (min, max))
        raise UsageError(
            "{scale}: {question} has grades from {low:g} to {high:g}",
            scale=Setting("scale", f"{scale[0]}:{scale[1]}"),
            question=name,
            low=low,
            high=high,
        )
    return _Ratings(name, found)


def _ends(scale: str) -> tuple[int, int]:
    """Lowest and highest grade of ``--scale``."""
    ends = scale.split(":")
    if len(ends) != 2 or not all(end.strip().isdecimal() for end in ends):
        raise UsageError("{scale}: expected LOW:HIGH such as 1:5, got '{got}'", scale=Setting("scale"), got=scale)
    return int(ends[0]), int(ends[1])


def _identified(
    export: Export, answered: Sequence[Submission], options: LabelStudioOptions
) -> dict[str, tuple[str, str]]:
    """Item and system of each task that has an answer."""
    wanted = {one.task for one in answered}
    found: dict[str, tuple[str, str]] = {}
    seen: dict[tuple[str, str], str] = {}
    for task in export.tasks.values():
        if task.id not in wanted:
            continue
        item, system = _id(task, options.item, "item", task.id), _id(task, options.system, "system", "text")
        if (other := seen.setdefault((item, system), task.id)) != task.id:
            problem = Message(
                "tasks {one} and {other} are both of item {item} and system {system}; name other fields with {two}",
                one=other,
                other=task.id,
                item=item,
                system=system,
                two=Listed([Setting("item"), Setting("system")]),
            )
            raise InvalidInput(problem, where=task.where, line=task.line)
        found[task.id] = item, system
    return found


def _id(task: Task, named: str | None, usual: str, otherwise: str) -> str:
    """Id in the field of a task that is named, else in the usual one where the task has it."""
    if named is None and usual not in task.fields:
        return otherwise
    name = usual if named is None else named
    _check_field(task, name)
    another = Message("; fill it in, or name another field: {setting}", setting=Setting(usual, Blank("FIELD")))
    return id_in(task.fields, name, task.where, task.line, another)


def _check_field(task: Task, name: str) -> None:
    if name not in task.fields:
        none = Message("none; give the project's data files with {data}", data=Setting("data"))
        problem = Message("no such field; the task has: {there}", there=", ".join(task.fields) or none)
        raise InvalidInput(problem, where=task.where, line=task.line, field=name)


def _field(task: Task, name: str) -> str:
    """Value of a field of a task, as text."""
    _check_field(task, name)
    value = task.fields[name]
    return value if isinstance(value, str) else "" if value is None else str(value)


def _write(
    out: str,
    inputs: Sequence[str],
    ratings: Sequence[_Ratings],
    items: Mapping[str, tuple[str, str]],
    people: Mapping[str, str],
) -> None:
    """Write judgement rows; the aspect is the question, where there are several."""
    check_apart(out, [path for path in inputs if Path(path).is_file()])
    if not any(one.given for one in ratings):
        raise UsageError(
            "there are no grades to write; a campaign takes spans: {campaign}",
            campaign=Setting("campaign", Blank("NEW.db")),
        )
    with Writer(out, Judgement) as rows:
        for question, given in ratings:
            for one, grade in given:
                aspect = question if len(ratings) > 1 else None
                rows.write(Judgement(*items[one.task], people[one.annotator], grade, aspect))


def _check_questions(graded: Sequence[str], marked: Sequence[str]) -> None:
    """Raise a `UsageError` unless one campaign can ask all questions."""
    if len(marked) > 1 or (graded and marked):
        problem = Message("a campaign has questions with grades, or one with spans")
    elif len(graded) > MAX_ASPECTS:
        problem = Message("a campaign has at most {most} questions", most=MAX_ASPECTS)
    else:
        return
    raise UsageError(
        "{problem}, and these files have {asked}; choose: {question}",
        problem=problem,
        asked=Listed((*graded, *marked), last=", "),
        question=_QUESTION,
    )


def _rated(
    export: Export, ratings: Sequence[_Ratings], scale: tuple[int, int] | None
) -> tuple[Rubric, list[tuple[Submission, Value]]]:
    """Rubric of the questions, each an aspect where there are several, and the grades of each submission."""
    scales = [_scale(one, scale) for one in ratings]
    if len(ratings) == 1:
        (one,), ((low, high),) = ratings, scales
        return Rubric(name=one.question, question=one.question, low=low, high=high), list(one.given)
    names = tuple(one.question for one in ratings)
    aspects = tuple(
        Aspect(name=name, question=name, low=low, high=high) for name, (low, high) in zip(names, scales, strict=True)
    )
    by_id = {id(submission): submission for one in ratings for submission, _ in one.given}
    grades = grouped((id(submission), grade) for one in ratings for submission, grade in one.given)
    values: list[tuple[Submission, Value]] = [
        (by_id[key], tuple(given)) for key, given in grades.items() if len(given) == len(names)
    ]
    export.left_out[f"annotations without an answer to each of {', '.join(names)}"] += len(grades) - len(values)
    if not values:
        raise UsageError(
            "no annotation answers each of {names}; choose: {question}",
            names=Listed(names, last=", "),
            question=_QUESTION,
        )
    return Rubric(name="imported", question=", ".join(names), aspects=aspects), values


def _marked(
    export: Export, name: str, answered: Sequence[Submission], text: str
) -> tuple[Rubric, list[tuple[Submission, Value]]]:
    """Rubric of a question of spans, and the spans of each submission."""
    values: list[tuple[Submission, Value]] = []
    for one in answered:
        if isinstance(marks := one.answers.get(name), tuple):
            task = export.tasks[one.task]
            try:
                spans(_field(task, text), marks)
            except Refused as error:
                problem = Message("task {task}: {problem}", task=task.id, problem=error.message)
                raise InvalidInput(problem, where=task.where, line=task.line) from None
            values.append((one, marks))
    return Rubric(name=name, question=name, kind="spans"), values


def _campaign(  # noqa: PLR0917
    url: str,
    export: Export,
    rubric: Rubric,
    values: Sequence[tuple[Submission, Value]],
    people: Mapping[str, str],
    items: Mapping[str, tuple[str, str]],
    options: LabelStudioOptions,
    on_message: OnMessage,
) -> None:
    """Create a campaign with its ratings."""
    rated = {one.task for one, _ in values}
    tasks = [task for task in items if task in rated]
    texts = [_item(export.tasks[task], *items[task], options) for task in tasks]
    numbers = {task: number for number, task in enumerate(tasks)}
    if len(people) > MAX_ANNOTATORS:
        raise UsageError(f"a campaign has at most {MAX_ANNOTATORS:,} annotators, these files have {len(people):,}")
    untimed = sum(one.time is None for one, _ in values)
    given = [
        Given(item=numbers[one.task], annotator=people[one.annotator], value=value, time=one.time, seconds=one.seconds)
        for one, value in values
    ]
    plan = _plan(texts, sorted(people.values(), key=lambda name: int(name[1:])), given)
    campaign = Campaign(
        name=options.question[0] if options.question else rubric.name,
        item_type=options.item_type or ("passage" if rubric.kind == "spans" else "text"),
        annotators_per_item=plan.annotators_per_item,
        seed=plan.seed,
        context=("article",) if options.title or options.content else (),
    )
    with open_campaign(url, make=True) as store:
        store.create(campaign, texts, plan, rubric)
        store.load({pseudonym: name for name, pseudonym in people.items()}, given)
    sizes = ((len(texts), "text"), (len(people), "annotator"), (len(given), "rating"))
    on_message(f"written: {url} ({', '.join(counted(size, what) for size, what in sizes)})")
    for scale in rubric.scales:
        if scale.grades:
            of = f" of {scale.name}" if rubric.aspects else ""
            on_message(
                Message(
                    "scale{of} {low} to {high}; another one: {other}",
                    of=of,
                    low=scale.low,
                    high=scale.high,
                    other=Setting("scale", Blank("LOW:HIGH")),
                )
            )
    if untimed:
        on_message(f"without a time: {counted(untimed, 'rating')}, taken as given now")


def _item(task: Task, item: str, system: str, options: LabelStudioOptions) -> Item:
    text = _field(task, options.text)
    if not text.strip():
        raise InvalidInput(
            "expected the rated text, got an empty one", where=task.where, line=task.line, field=options.text
        )
    title, content = (_field(task, name) if name else "" for name in (options.title, options.content))
    text, title, content = (part.replace("\0", " ") for part in (text, title, content))
    return Item(item=item, system=system, text=text, title=title, content=content)


def _scale(ratings: _Ratings, scale: tuple[int, int] | None) -> tuple[int, int]:
    """Lowest and highest grade of a question: those that were given, unless the scale is named."""
    grades = sorted({grade for _, grade in ratings.given})
    if any(grade != int(grade) for grade in grades) or grades[0] < 0 or grades[-1] >= MAX_GRADES:
        odd = next(grade for grade in grades if grade != int(grade) or not 0 <= grade < MAX_GRADES)
        raise UsageError(
            "{question}: a campaign has whole grades from 0 to 9, and one is {odd:g}; give labels other grades with "
            "{grade}, or write judgements only ({out})",
            question=ratings.question,
            odd=odd,
            grade=Setting("grade"),
            out=Setting("out"),
        )
    low, high = int(grades[0]), int(grades[-1])
    low, high = scale or (low, high)
    return low, max(high, low + 1)


def _plan(texts: Sequence[Item], annotators: Sequence[str], given: Sequence[Given]) -> Plan:
    """Plan that assigns what was rated, in the order of time."""
    orders = grouped((one.annotator, (one.item, 1)) for one in sorted(given, key=Given.in_time))
    counts = Counter(Counter(one.item for one in given).values())
    return Plan(
        annotators=tuple(annotators),
        articles=tuple(text.item for text in texts),
        annotators_per_item=min(counts, key=lambda count: (-counts[count], count)),
        seed=0,
        orders=tuple(tuple(orders.get(name, ())) for name in annotators),
    )
