"""Grades of passages that are imported without any: judgements joined by page and number."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from postil.corpus.importers.import_report import ImportReport, json_lines
from postil.corpus.importers.trec import read_qrels
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from postil.corpus.importers.trec import Unjudged
    from postil.data.parquet import Record
    from postil.data.row_files import FilePath
    from postil.data.rows import Passage

__all__ = ["PassageGrades", "read_grades"]


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
            page, number, grade = _row(row, where, line)
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


def _row(row: Record, where: str, line: int) -> tuple[str, str, float]:
    page, number, grade = row.get("topic"), row.get("id"), row.get("grade")
    for name, value in (("topic", page), ("id", number)):
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise InvalidInput("expected text or a whole number", where=where, line=line, field=name)
    if not isinstance(grade, int | float) or isinstance(grade, bool) or not 0 <= grade < float("inf"):
        raise InvalidInput("expected a number of at least 0", where=where, line=line, field="grade")
    return str(page), str(number), float(grade)
