"""Worth of grades of references on the short answers of Mohler, Bunescu and Mihalcea (2011).

Every answer to a question is scored against all other answers to it, whose weights are their grades: metrics without
weights, with weights, and the controls of those. The grades of the answer itself are the judgements.

    python examples/mohler_study.py FOLDER rows/
    postil correlate rows/scores.jsonl.gz --judgements rows/judgements.jsonl --scale 5
    postil correlate rows/scores.jsonl.gz --judgements rows/judgements.jsonl --scale 5 --by item

The rows' item is the question and their system the number of the answer, so that intervals are over questions. The
numbers say nothing about who answered: means of these systems make no sense.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

import postil
from mohler_to_rows import ANNOTATORS, NAME, others, read
from postil.data.row_files import write
from postil.data.rows import Judgement, Score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mohler_to_rows import Answer

METRICS: Final = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider", "cider-d")
SCALE: Final = postil.Scale(0, 5)


def score(
    answers: Sequence[Answer], sets: Sequence[Sequence[Answer]], specs: Sequence[str], draws: int
) -> postil.ScoreResult:
    """Score answers against sets of others, by metrics without and with weights.

    Args:
        answers: n answers.
        sets: The n sets of references.
        specs: Metrics without weights.
        draws: How many times the weights are shuffled.
    """
    return postil.score(
        [answer.text for answer in answers],
        [[other.text for other in row] for row in sets],
        weights=SCALE.weights([[other.grade for other in row] for row in sets]),
        metrics=[f"{head}{spec}" for spec in specs for head in ("", "w-")],
        items=[answer.question for answer in answers],
        controls=postil.ControlOptions(draws=draws),
    )


def rows(answers: Sequence[Answer], scores: postil.ScoreResult) -> Iterator[Score]:
    """A row for each answer and metric."""
    for name, column in scores.items.items():
        for answer, value in zip(answers, column.tolist(), strict=True):
            yield Score(answer.question, str(answer.number), name, value, scores.signatures[name])


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Metrics with and without weights on the answers of Mohler et al.")
    parser.add_argument("folder", type=Path, help=f"folder with {NAME}")
    parser.add_argument("out", type=Path, help="folder for scores.jsonl.gz and judgements.jsonl")
    parser.add_argument("-m", "--metric", action="append", help=f"without w-; by default {', '.join(METRICS)}")
    parser.add_argument("--draws", type=int, default=100, help="how many times the weights are shuffled")
    given = parser.parse_args(arguments)
    questions = read(given.folder / NAME)
    every = [answer for answers in questions.values() for answer in answers if len(answers) > 1]
    scores = score(
        every, [others(answer, questions[answer.question]) for answer in every], given.metric or METRICS, given.draws
    )
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out / "scores.jsonl.gz", rows(every, scores))
    judgements = [
        Judgement(answer.question, str(answer.number), name, grade)
        for answer in every
        for name, grade in zip(ANNOTATORS, answer.grades, strict=True)
    ]
    write(given.out / "judgements.jsonl", judgements)
    asked = len({answer.question for answer in every})
    print(f"{len(every)} answers to {asked} questions, {len(scores.items)} columns of scores in {given.out}")


if __name__ == "__main__":
    main()
