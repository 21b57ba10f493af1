"""TREC: judgements (qrels), also of passages of pages, collections of texts, and run files.

========== ==================================================================================================
qrels      ``topic Q0 document grade`` a line, columns apart by spaces or tabs; or, as in BEIR, a first line
           ``query-id corpus-id score`` and three columns
collection ``id<TAB>text`` a line, or JSON Lines, with the names of `IDS` and `TEXTS` for the fields
run        ``topic Q0 document rank score tag`` a line, columns apart by spaces or tabs
========== ==================================================================================================

Every file may be compressed with gzip.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, get_args

import numpy as np
from msgspec.structs import replace

from postil.corpus.duplicates import merge_duplicates
from postil.corpus.importers.import_report import ImportReport, json_lines
from postil.corpus.importers.importer import Importer, check_output, say_merged, say_some, write_passages
from postil.data.explain import counted, shown
from postil.data.fields import is_integer
from postil.data.jsonl import read as read_json
from postil.data.ranking import Ranking
from postil.data.row_locations import RowLocations
from postil.data.rows import Passage
from postil.data.streams import BOM, FilePath, opened, text_lines
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Setting
from postil.options import Flag, options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from postil.data.parquet import Record
    from postil.data.progress import OnMessage

__all__ = [
    "IDS",
    "IMPORTERS",
    "TEXTS",
    "Pair",
    "PassageGrades",
    "Qrels",
    "TrecOptions",
    "TrecPassages",
    "Unjudged",
    "import_trec",
    "read_collection",
    "read_grades",
    "read_qrels",
    "read_run",
    "read_texts",
    "read_trec",
    "run_lines",
]

IDS: Final = ("_id", "id", "docid", "doc_id", "docno", "pid")
"""Field names of the id in a JSON line."""

TEXTS: Final = ("text", "contents", "passage", "doc", "body")
"""Field names of the text in a JSON line."""


def read_collection(path: FilePath) -> Iterator[tuple[int, str, str]]:
    """Read the texts of a collection, one after the other.

    Args:
        path: The file, TSV or JSON Lines; its first character says which.

    Yields:
        The line, counted from 1, the id and the text.

    Raises:
        InvalidInput: A line is not of the format.
    """
    where = os.fspath(path)
    with opened(path) as stream:
        json = stream.peek(64).removeprefix(BOM).lstrip()[:1] in (b"{", b"[")
        if json:
            places = RowLocations(where)
            for index, row in enumerate(read_json(stream, dict, places)):
                line = places.line(index)
                yield line, _id(row, where, line), _text(row, where, line)
    if not json:
        for line, both in text_lines(path):
            name, tab, text = both.partition("\t")
            if not tab or not name.strip():
                raise InvalidInput("expected an id, a tab and a text", where=where, line=line)
            yield line, name.strip(), text


def read_texts(paths: Sequence[FilePath], wanted: AbstractSet[str]) -> tuple[dict[str, str], int]:
    """The texts of some documents.

    Args:
        paths: Collections. Only the texts that are wanted are kept in memory.
        wanted: Ids.

    Returns:
        The texts that were found by id, and how many others the collections have.

    Raises:
        InvalidInput: A line is not of the format, or a wanted id has two different texts.
    """
    texts: dict[str, str] = {}
    others = 0
    for path in paths:
        for line, name, text in read_collection(path):
            if name not in wanted:
                others += 1
            elif texts.setdefault(name, text) != text:
                problem = f"'{name}' stood before with another text"
                raise InvalidInput(problem, where=os.fspath(path), line=line, field="id")
    return texts, others


def _field(row: Record, names: Sequence[str], where: str, line: int) -> tuple[str, object]:
    for name in names:
        if name in row:
            return name, row[name]
    problem = f"no such field, nor {', '.join(names[1:])}; the line has: {', '.join(row)}"
    raise InvalidInput(problem, where=where, line=line, field=names[0])


def _id(row: Record, where: str, line: int) -> str:
    name, value = _field(row, IDS, where, line)
    if not isinstance(value, str) and not is_integer(value):
        raise InvalidInput(f"expected text or an integer, got {shown(value)}", where=where, line=line, field=name)
    return str(value)


def _text(row: Record, where: str, line: int) -> str:
    name, value = _field(row, TEXTS, where, line)
    if not isinstance(value, str):
        raise InvalidInput(f"expected text, got {shown(value)}", where=where, line=line, field=name)
    return value


Pair: TypeAlias = tuple[str, str]
"""A topic and a document."""

Unjudged: TypeAlias = Literal["skip", "zero", "keep"]
"""Treatment of a passage in a run without a judgement: left out, grade 0 as in trec_eval, or no grade."""

LONGEST: Final = 40
"""Largest number of characters of a column in a message."""

BEIR: Final = ["query-id", "corpus-id", "score"]


@dataclass(frozen=True, slots=True, eq=False)
class Qrels:
    """Judgements.

    Args:
        grades: The grade of each pair of topic and document, in the order of the file.
        repeated: Pairs that the file has more than once, with the same grade each time.
        negative: Pairs whose grade was negative and is 0 here.
    """

    grades: Mapping[Pair, float]
    repeated: tuple[Pair, ...] = ()
    negative: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TrecPassages:
    """Judged passages, and the pairs that were changed or left out.

    Args:
        passages: In the order of the judgements, then what runs add.
        missing: Judged pairs whose document is in none of the collections; they have no row.
        repeated: Pairs that were judged twice with the same grade; they have one row.
        negative: Pairs whose grade was negative and is 0 in the row.
        unjudged: Pairs of runs that nobody judged. With ``skip`` they have no row.
        unused: Number of texts of the collections that no judgement and no run names.
    """

    passages: list[Passage]
    missing: tuple[Pair, ...]
    repeated: tuple[Pair, ...]
    negative: tuple[Pair, ...]
    unjudged: tuple[Pair, ...]
    unused: int


def read_qrels(path: FilePath) -> Qrels:
    r"""Read judgements.

    A negative grade (some tracks mark spam so) becomes 0 and is reported; trec_eval gives no gain to it either.

    Args:
        path: The file.

    Raises:
        InvalidInput: A line is not of the format, or judges a document otherwise than an earlier line.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "qrels")).write_text("7 Q0 d1 2\n7\tQ0\td2\t-1\n")
    ...     qrels = read_qrels(path)
    >>> qrels.grades, qrels.negative
    ({('7', 'd1'): 2.0, ('7', 'd2'): 0.0}, (('7', 'd2'),))
    """
    where = os.fspath(path)
    grades: dict[Pair, float] = {}
    first: dict[Pair, tuple[int, float]] = {}
    repeated: dict[Pair, None] = {}
    negative: list[Pair] = []
    names, places = ["topic", "Q0", "document", "grade"], [0, 2, 3]
    for line, text in text_lines(path):
        columns = text.split()
        if sorted(columns) == sorted(BEIR) and not first:
            names, places = columns, [columns.index(name) for name in BEIR]
            continue
        if len(columns) != len(names):
            problem = f"expected {len(names)} columns ({' '.join(names)}), got {len(columns)}"
            raise InvalidInput(problem, where=where, line=line)
        topic, document, value = [columns[place] for place in places]
        pair, grade = (topic, document), _number(value, where, line, "grade")
        earlier, known = first.setdefault(pair, (line, grade))
        if known != grade:
            problem = f"document {pair[1]} of topic {pair[0]} has {known:g} in line {earlier}, here {grade:g}; keep one"
            raise InvalidInput(problem, where=where, line=line, field="grade")
        if earlier != line:
            repeated[pair] = None
            continue
        if grade < 0:
            negative.append(pair)
        grades[pair] = max(grade, 0.0)
    return Qrels(grades, tuple(repeated), tuple(negative))


def read_trec(
    qrels: FilePath, collections: Sequence[FilePath], *, runs: Sequence[FilePath] = (), unjudged: Unjudged = "skip"
) -> TrecPassages:
    r"""Read judged passages: judgements joined with the texts of a collection.

    Args:
        qrels: The judgements.
        collections: The files with the texts.
        runs: Run files whose passages are wanted too.
        unjudged: Treatment of passages of the runs without a judgement.

    Raises:
        UnknownName: ``unjudged`` is none of the three.
        UsageError: There are no collections, or unjudged passages are wanted and there are no runs.
        InvalidInput: A file is not of its format, or the collections have none of the judged documents.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (qrels := pathlib.Path(folder, "qrels")).write_text("7 Q0 d1 2\n7 Q0 d9 1\n")
    ...     _ = (texts := pathlib.Path(folder, "texts.tsv")).write_text("d1\tRain.\nd2\tSnow.\n")
    ...     found = read_trec(qrels, [texts])
    >>> found.passages, found.missing, found.unused
    ([Passage(topic='7', id='d1', text='Rain.', anchors=(), grade=2.0)], (('7', 'd9'),), 1)
    """
    UnknownName.check("way with unjudged passages", unjudged, get_args(Unjudged))
    if unjudged != "skip" and not runs:
        raise UsageError("{unjudged} needs at least one {run}", unjudged=Setting("unjudged"), run=Setting("run"))
    if not collections:
        raise UsageError("the texts stand in collections; name at least one")
    judged = read_qrels(qrels)
    grades: dict[Pair, float | None] = dict(judged.grades)
    new: dict[Pair, None] = {}
    for path in runs:
        for topic, ranking in read_run(path).items():
            new.update(((topic, name), None) for name, _ in ranking if (topic, name) not in judged.grades)
    if unjudged != "skip":
        grades.update(dict.fromkeys(new, 0.0 if unjudged == "zero" else None))
    texts, unused = read_texts(collections, {document for _, document in grades})
    if not texts:
        some = next(iter(grades))[1]
        names = ", ".join(os.fspath(path) for path in collections)
        raise InvalidInput(f"none of the judged documents, such as '{some}', is in {names}", where=os.fspath(qrels))
    passages = [
        Passage(topic, document, texts[document], grade=grade)
        for (topic, document), grade in grades.items()
        if document in texts
    ]
    missing = tuple(pair for pair in grades if pair[1] not in texts)
    return TrecPassages(passages, missing, judged.repeated, judged.negative, tuple(new), unused)


def read_run(path: FilePath) -> dict[str, Ranking[str]]:
    """Read a run.

    As in trec_eval the score says the order and the rank column nothing; equal scores are put in order by
    `postil.data.ranking.Ranking`.

    Args:
        path: The file.

    Returns:
        The ranking of each topic, in the order of the file.

    Raises:
        InvalidInput: A line is not of the format, or a topic has a document twice.
    """
    where = os.fspath(path)
    scores: dict[str, dict[str, float]] = {}
    for line, text in text_lines(path):
        columns = text.split()
        if len(columns) != 6:
            problem = f"expected 6 columns (topic Q0 document rank score tag), got {len(columns)}"
            raise InvalidInput(problem, where=where, line=line)
        topic, _, document, _, score, _ = columns
        ranked = scores.setdefault(topic, {})
        if document in ranked:
            raise InvalidInput(f"topic {topic} has '{document}' twice", where=where, line=line, field="document")
        ranked[document] = _number(score, where, line, "score")
    return {topic: Ranking.from_scores(list(ranked), list(ranked.values())) for topic, ranked in scores.items()}


def run_lines(rankings: Mapping[str, Ranking[str]], tag: str) -> Iterator[str]:
    """Write a run.

    Readers of runs go by the score, in single precision (trec_eval), and break ties in ways of their own. So the scores
    are the ranking's where they fall strictly in single precision; in a topic where they do not, or where one is
    infinite, they are n, n - 1, ..., 1.

    Args:
        rankings: A ranking of documents for each topic.
        tag: Names the system.

    Yields:
        Lines ``topic Q0 document rank score tag``, without an end of line; ranks count from 1.

    Raises:
        UsageError: The tag is empty or has white space in it.
        InvalidInput: A topic or a document has; it would make two columns.

    >>> list(run_lines({"7": Ranking.from_scores(["d1", "d2"], [0.5, 0.75])}, "mine"))
    ['7 Q0 d2 1 0.75 mine', '7 Q0 d1 2 0.5 mine']
    >>> list(run_lines({"7": Ranking.from_scores(["d1", "d2"], [0.5, 0.5])}, "mine"))
    ['7 Q0 d1 1 2 mine', '7 Q0 d2 2 1 mine']
    """
    if not _is_column(tag):
        raise UsageError(f"the tag of a run is one word, got '{tag}'")
    for topic, ranking in rankings.items():
        for name in (topic, *ranking.keys.tolist()):
            if not _is_column(name):
                raise InvalidInput(f"expected an id without white space, got {shown(name)}", where="rankings")
        for rank, ((document, _), score) in enumerate(zip(ranking, _written(ranking.scores), strict=True), start=1):
            yield f"{topic} Q0 {document} {rank} {score} {tag}"


def _written(scores: NDArray[np.float64]) -> list[str]:
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    if np.isfinite(single).all() and (single[1:] < single[:-1]).all():
        return [repr(score) for score in scores.tolist()]
    return [str(place) for place in range(len(scores), 0, -1)]


def _is_column(text: str) -> bool:
    return text.split() == [text]


def _number(text: str, where: str, line: int, field: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        got = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        raise InvalidInput(f"expected a number, got '{got}'", where=where, line=line, field=field)
    return value


@dataclass(slots=True, eq=False)
class PassageGrades:
    """Judgements of passages.

    Args:
        judged: By page and number of a passage: the topics it was judged for, each with the grade. The topic None is
            the page itself.
        unjudged: Number of passages, of pages with judged ones, without a judgement.
        found: The passages that were met, by page and number.
    """

    judged: dict[tuple[str, str], dict[str | None, float]]
    unjudged: int = 0
    found: set[tuple[str, str]] = field(default_factory=set)

    def joined(self, passages: Iterable[Passage], policy: Unjudged) -> Iterator[Passage]:
        """The passages with their grades; one for each topic that it was judged for.

        Args:
            passages: Passages whose topic is their page and whose id their number.
            policy: Treatment of passages without a judgement, of pages that have judged ones.

        Yields:
            The judged passages; those of a topic of its own have ``page#number`` as their id.
        """
        pages = {page for page, _ in self.judged}
        for passage in passages:
            key = passage.topic, passage.id
            grades = self.judged.get(key)
            if grades is None:
                if passage.topic in pages:
                    self.unjudged += 1
                    if policy != "skip":
                        yield replace(passage, grade=0.0 if policy == "zero" else None)
                continue
            self.found.add(key)
            for topic, grade in grades.items():
                if topic is None:
                    yield replace(passage, grade=grade)
                else:
                    yield replace(passage, topic=topic, id=f"{passage.topic}#{passage.id}", grade=grade)

    @property
    def missing(self) -> list[str]:
        """Judged passages that were not met."""
        return [f"{page}#{number}" for page, number in self.judged if (page, number) not in self.found]


def read_grades(path: FilePath) -> PassageGrades:
    r"""Read judgements of passages of pages.

    JSON Lines have ``topic`` (the title of the page), ``id`` (the number of the passage) and ``grade``. Anything else
    is read as qrels, ``topic Q0 document grade``: the document is a number, of the page that is the topic, or
    ``page#number`` where the topic is any other; underscores stand for spaces.

    Args:
        path: The file.

    Raises:
        InvalidInput: It is missing or not of either format, or judges a passage twice with different grades.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "qrels")).write_text("Rye_bread Q0 3 2\nq7 Q0 Rye_bread#4 1\n")
    ...     read_grades(path).judged
    {('Rye bread', '3'): {None: 2.0}, ('Rye bread', '4'): {'q7': 1.0}}
    """
    where = os.fspath(path)
    judged: dict[tuple[str, str], dict[str | None, float]] = {}
    if where.removesuffix(".gz").endswith((".jsonl", ".json", ".ndjson")):
        for line, row in json_lines(path, ImportReport()):
            page, number, grade = _judgement(row, where, line)
            if judged.setdefault((page, number), {}).setdefault(None, grade) != grade:
                problem = f"passage {number} of '{page}' has another grade in an earlier line; keep one"
                raise InvalidInput(problem, where=where, line=line, field="grade")
        return PassageGrades(judged)
    for (topic, document), grade in read_qrels(path).grades.items():
        page, sign, number = document.rpartition("#")
        if sign:
            judged.setdefault((page.replace("_", " "), number), {})[topic] = grade
        else:
            judged.setdefault((topic.replace("_", " "), document), {})[None] = grade
    return PassageGrades(judged)


def _judgement(row: Record, where: str, line: int) -> tuple[str, str, float]:
    page, number, grade = row.get("topic"), row.get("id"), row.get("grade")
    for name, value in (("topic", page), ("id", number)):
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise InvalidInput("expected text or a whole number", where=where, line=line, field=name)
    if not isinstance(grade, int | float) or isinstance(grade, bool) or not 0 <= grade < float("inf"):
        raise InvalidInput("expected a number of at least 0", where=where, line=line, field="grade")
    return str(page), str(number), float(grade)


@options
class TrecOptions:
    """Options of `postil corpus import trec`.

    Args:
        qrels: Judgements, one line 'topic Q0 document grade' each.
        collection: Texts: lines of id, tab, text, or JSON Lines; repeatable.
        run: Run whose passages are imported beside the judged ones; repeatable.
        unjudged: Passages of the runs without a judgement: skip, zero (grade 0) or keep.
        duplicates: Merge passages of a topic with the same first and last N characters; 0 for none.
    """

    qrels: Annotated[str, Flag(metavar="FILE")]
    collection: Annotated[tuple[str, ...], Flag("collection", short="c", metavar="FILE")]
    run: Annotated[tuple[str, ...], Flag(metavar="FILE")] = ()
    unjudged: Annotated[Unjudged, Flag(metavar="POLICY")] = "skip"
    duplicates: Annotated[int, Flag(min=0)] = 0


def import_trec(_files: Sequence[FilePath], out: str, options: TrecOptions, on_message: OnMessage) -> None:
    """Import judged passages of a TREC collection.

    Args:
        out: The output file.
        options: Files, and the treatment of unjudged and duplicate passages.
        on_message: Callback for status messages.

    Raises:
        UsageError: The request makes no sense, or would write over an input.
        InvalidInput: A file is broken; says where.
    """
    qrels, collections, runs, unjudged = options.qrels, options.collection, options.run, options.unjudged
    check_output(out, [qrels, *collections, *runs], options.duplicates)
    found = read_trec(qrels, collections, runs=runs, unjudged=unjudged)
    say_some(on_message, "judged twice with the same grade, taken once", map(" ".join, found.repeated))
    say_some(on_message, "judged below 0, taken as 0", map(" ".join, found.negative))
    say_some(on_message, "not in the collection, left out", map(" ".join, found.missing))
    if runs:
        outcome = {"skip": "left out", "zero": "taken as 0", "keep": "without a grade"}[unjudged]
        say_some(on_message, f"in the runs and not judged, {outcome}", map(" ".join, found.unjudged))
    if found.unused:
        on_message(f"{counted(found.unused, 'text')} of the collection not needed")
    passages = found.passages
    if options.duplicates:
        merged = merge_duplicates(passages, options.duplicates)
        say_merged(on_message, merged.dropped, options.duplicates)
        passages = merged.passages
    write_passages(out, passages, on_message)


IMPORTERS: Final = (
    Importer(
        "trec",
        """Judged passages of a TREC collection. Every file may be compressed with gzip.

        Example: postil corpus import trec --qrels qrels.txt --collection texts.tsv --out passages.jsonl
        """,
        TrecOptions,
        import_trec,
        rows=Passage,
        job="Passages",
    ),
)
