"""Rows from the short-answer grades of Mohler, Bunescu and Mihalcea (2011): every answer against all the others.

The file ``mohler_dataset.csv`` has an answer a line, with its question's ``id`` and the grades 0 to 5 of two people.
Each answer becomes a candidate of the system ``student`` for an item of its own, ``question/number``; the references of
that item are all other answers to the question, graded.

    python examples/mohler_to_rows.py FOLDER rows/
    postil score rows/candidates.jsonl -r rows/references.jsonl --scale 5
    postil score rows/candidates.jsonl -r rows/references.jsonl --scale 5 -m w-rouge-l --items rows/scores.jsonl

To the command line every answer is an item, also for CIDEr's document frequencies. In Python ``postil.score`` takes
``items=`` with the questions, and then a question's answers count once.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import dataclass
from pathlib import Path

from postil.data.row_files import write
from postil.data.rows import Candidate, Judgement, Rating, Reference

NAME = "mohler_dataset.csv"
SYSTEM = "student"
ANNOTATORS = ("me", "other")


@dataclass(frozen=True)
class Answer:
    """A student's answer and its grades, in the order of `ANNOTATORS`."""

    question: str
    number: int
    """Counted from 1 within the question."""
    text: str
    grades: tuple[float, ...]

    @property
    def item(self) -> str:
        """Names the answer."""
        return f"{self.question}/{self.number}"

    @property
    def grade(self) -> float:
        """The mean of the grades."""
        return sum(self.grades) / len(self.grades)


def read(path: Path) -> dict[str, list[Answer]]:
    """The answers to each question, in the order of the file."""
    questions: dict[str, list[Answer]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            answers = questions.setdefault(row["id"], [])
            grades = tuple(float(row[f"score_{name}"]) for name in ANNOTATORS)
            answers.append(Answer(row["id"], len(answers) + 1, row["student_answer"], grades))
    return questions


def others(answer: Answer, answers: list[Answer]) -> list[Answer]:
    """All answers to the question but this one; equal texts of others stay."""
    return [other for other in answers if other.number != answer.number]


def reference(item: str, answer: Answer) -> Reference:
    """An answer as a reference of an item."""
    ratings = tuple(Rating(name, grade) for name, grade in zip(ANNOTATORS, answer.grades, strict=True))
    return Reference(item, answer.text, grade=answer.grade, ratings=ratings, id=str(answer.number))


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Rows from the short-answer grades of Mohler et al.")
    parser.add_argument("folder", type=Path, help=f"folder with {NAME}")
    parser.add_argument("out", type=Path, help="folder for candidates.jsonl, references.jsonl and judgements.jsonl")
    given = parser.parse_args(arguments)
    questions = read(given.folder / NAME)
    every = [answer for answers in questions.values() for answer in answers if len(answers) > 1]
    references = [
        reference(answer.item, other) for answer in every for other in others(answer, questions[answer.question])
    ]
    judgements = [
        Judgement(answer.item, SYSTEM, name, grade)
        for answer in every
        for name, grade in zip(ANNOTATORS, answer.grades, strict=True)
    ]
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out / "candidates.jsonl", [Candidate(answer.item, SYSTEM, answer.text) for answer in every])
    write(given.out / "references.jsonl", references)
    write(given.out / "judgements.jsonl", judgements)
    print(f"{len(every)} candidates, {len(references)} references, {len(judgements)} judgements in {given.out}")


if __name__ == "__main__":
    main()
