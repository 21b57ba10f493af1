"""`postil agreement`: tables of ratings as people have them, and the same numbers as in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import postil as package

if TYPE_CHECKING:
    from conftest import Outcome, Postil

GRADES = {"ann": [1, 2, 3, 4, 5, 4, 3, 2, 1, 5, 4, 3], "bob": [1, 2, 4, 4, 5, 3, 3, 1, 1, 5, 4, 2]}
FEW = ("--resamples", "50")


def long_rows() -> list[dict[str, object]]:
    return [
        {"item": str(item), "system": "a", "annotator": name, "grade": grade}
        for item in range(12)
        for name, grade in ((name, grades[item]) for name, grades in GRADES.items())
    ]


@pytest.fixture
def numbers(postil: Postil) -> Outcome:
    """The agreement of rows as postil writes them."""
    Path("long.jsonl").write_text("".join(json.dumps(row) + "\n" for row in long_rows()))
    return postil("agreement", "long.jsonl", *FEW, "--format", "csv")


def test_numbers_are_those_of_python(numbers: Outcome) -> None:
    assert numbers.code == 0
    found = package.agreement(pd.DataFrame(long_rows()), resamples=50).agreement
    assert found is not None
    lines = numbers.out.splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == list(found.estimates)
    assert [float(line.split(",")[1]) for line in lines[1:]] == [each.value for each in found.estimates.values()]
    assert "alpha-ordinal" in found.estimates


def test_long_and_wide_tables_and_means_of_systems(postil: Postil, numbers: Outcome) -> None:
    frame = pd.DataFrame(long_rows())
    named = frame.rename(columns={"item": "Nr", "annotator": "Wer", "grade": "Note"})
    named.to_csv("named.csv", sep=";", index=False)
    frame.drop(columns="system").rename(columns=str.title).to_csv("plain.csv", index=False)
    wide = pd.DataFrame({"item": range(12), **{f"Rater {name}": grades for name, grades in GRADES.items()}})
    wide.to_csv("wide.csv", index=False)
    ways = (
        ("named.csv", "--column", "item=Nr", "--column", "annotator=Wer", "--column", "grade=Note"),
        ("plain.csv",),
        ("wide.csv", "--annotator-columns", "Rater *"),
        ("wide.csv", "--annotator-columns", "Rater ann,Rater bob"),
        ("wide.csv", "--column", "grade=Rater *"),
    )
    for words in ways:
        found = postil("agreement", *words, *FEW, "--format", "csv")
        assert (found.code, found.out) == (0, numbers.out), (words, found.err)
    assert "plain.csv: no column system; all rows are of 'candidates' (if there is one: --column system=COLUMN)" in (
        postil("agreement", "plain.csv", *FEW).err
    )


def test_what_is_said_besides_the_numbers(postil: Postil) -> None:
    Path("r.csv").write_text(
        "item,annotator,grade,aspect\n1,ann,1,style\n1,bob,2,style\n1,ann,3,facts\n1,bob,3,facts\n"
    )
    found = postil("agreement", "r.csv", "--aspect", "facts", "--report", "page.html", "--format", "jsonl")
    assert found.code == 0, found.err
    assert json.loads(found.out.splitlines()[0]) == {"statistic": "agreement", "value": 1.0, "low": None, "high": None}
    assert "too few texts with two grades to tell agreement from chance: 1, and it takes 10" in found.err
    assert found.err.splitlines()[-1] == "aspect facts, seed 20181, 1000 resamples"
    assert "agreement" in Path("page.html").read_text()


@pytest.mark.parametrize(
    ("text", "words", "code", "said"),
    [
        ("item,annotator,grade\n1,a,2\n", (), 3, "agreement needs two annotators, and all grades are by a"),
        ("item,Ann,Bob\n1,1,2\n", (), 3, "where each annotator has a column: --annotator-columns NAME,NAME"),
        ("item,Ann,Bob\n1,1,9\n", ("--annotator-columns", "Ann,Bob", "--scale", "1:5"), 3, "t.csv:2: Bob: expected a"),
        ("item,Ann,Bob\n1,1,9\n", ("--annotator-columns", "Rater *"), 3, "Rater *: no such column; the file has: item"),
        ("item,annotator,grade\n1,a,2\n", ("--aspect", "style"), 3, 'no judgement names an aspect, so none is "style"'),
        ("item,annotator,grade\n1,a,k. A.\n", (), 3, 't.csv:2: grade: expected a number, got "k. A."'),
    ],
)
def test_bad_input(postil: Postil, text: str, words: tuple[str, ...], code: int, said: str) -> None:
    Path("t.csv").write_text(text)
    found = postil("agreement", "t.csv", *words)
    assert (found.code, found.out) == (code, ""), found.err
    assert said in found.err
    assert "Traceback" not in found.err
