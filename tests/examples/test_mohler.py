"""Every answer against all the others, and the figures of independent code on the real file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import postil
from postil.data.row_files import read
from postil.data.rows import Candidate, Judgement, Rating, Reference

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    Load = Callable[[str], ModuleType]


CSV = """\
id,question,desired_answer,student_answer,score_me,score_other,score_avg
1.1,Why?,Because.,"It is, so.",4,3,3.5
1.1,Why?,Because.,No idea,0,1,0.5
2.1,How?,So.,Alone here,5,5,5
1.1,Why?,Because.,"It is, so.",5,5,5
"""

# Mean score and Pearson correlation with the mean grade over 2,273 answers, by code that shares nothing with this one.
FIGURES = {
    "rouge-l": (0.574016, 0.361725),
    "w-rouge-l": (0.520235, 0.522690),
    "bleu-1": (0.822850, 0.330171),
    "w-bleu-1": (0.795615, 0.416712),
}


def test_rows(example: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mohler_dataset.csv").write_text(CSV)
    example("mohler_to_rows").main([str(tmp_path), str(tmp_path / "rows")])
    assert capsys.readouterr().out == f"3 candidates, 6 references, 6 judgements in {tmp_path / 'rows'}\n"
    # question 2.1 has a single answer, and nothing to compare it with
    first, second, third = "It is, so.", "No idea", "It is, so."
    assert list(read(tmp_path / "rows/candidates.jsonl", Candidate)) == [
        Candidate("1.1/1", "student", first),
        Candidate("1.1/2", "student", second),
        Candidate("1.1/3", "student", third),
    ]
    one = {"id": "1", "text": first, "grade": 3.5, "ratings": (Rating("me", 4), Rating("other", 3))}
    two = {"id": "2", "text": second, "grade": 0.5, "ratings": (Rating("me", 0), Rating("other", 1))}
    three = {"id": "3", "text": third, "grade": 5, "ratings": (Rating("me", 5), Rating("other", 5))}
    expected = [("1.1/1", two), ("1.1/1", three), ("1.1/2", one), ("1.1/2", three), ("1.1/3", one), ("1.1/3", two)]
    references = list(read(tmp_path / "rows/references.jsonl", Reference))
    assert references == [Reference(item, **fields) for item, fields in expected]
    judgements = list(read(tmp_path / "rows/judgements.jsonl", Judgement))
    assert judgements[:2] == [Judgement("1.1/1", "student", "me", 4), Judgement("1.1/1", "student", "other", 3)]


def test_figures_in_python(example: Load, judged: Path) -> None:
    module = example("mohler_to_rows")
    questions = module.read(judged / "mohler" / module.NAME)
    every = [answer for answers in questions.values() for answer in answers]
    sets = [module.others(answer, questions[answer.question]) for answer in every]
    result = postil.score(
        [answer.text for answer in every],
        [[other.text for other in row] for row in sets],
        weights=postil.Scale(0, 5).weights([[other.grade for other in row] for row in sets]),
        metrics=[*FIGURES, "cider"],
        items=[answer.question for answer in every],
    )
    grades = np.array([answer.grade for answer in every])
    check({spec: result.items[spec] for spec in FIGURES}, grades)
    assert "background:references/81|" in result.signatures["cider"]


def check(scores: dict[str, np.ndarray], grades: np.ndarray) -> None:
    assert len(grades) == 2273
    found = {spec: (values.mean(), np.corrcoef(values, grades)[0, 1]) for spec, values in scores.items()}
    for spec, figures in FIGURES.items():
        assert found[spec] == pytest.approx(figures, abs=1e-6), spec
