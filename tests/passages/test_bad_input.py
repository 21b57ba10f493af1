"""Bad input of `postil passages`: named, counted, explained; never a traceback, and never NaN in a table."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from command_line import put, refusal
from postil.data.row_files import write
from postil.data.rows import Passage

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Outcome, Postil

COMMAND = ("passages", "p.jsonl", "-m", "f1-1", "-m", "kl-2", "-m", "w-logsim-sk", "--resamples", "20")
Row = dict[str, Any]


def passages() -> list[Row]:
    """Passages of two topics, four each."""
    return [
        {"topic": topic, "id": f"{i}", "text": f"{topic} {words}", "grade": grade}
        for topic in ("ducks", "bread")
        for i, (words, grade) in enumerate([("swim in ponds", 2), ("moult in june", 1), ("and geese", 0), ("swim", 0)])
    ]


@pytest.fixture(autouse=True)
def files(postil: Postil) -> None:
    assert postil  # it changed the folder
    put("p.jsonl", passages())


def changed(line: int, **fields: object) -> list[Row]:
    """Passages, of which one is different; lines count from 1."""
    rows = passages()
    rows[line - 1] = {name: value for name, value in {**rows[line - 1], **fields}.items() if value is not ...}
    return rows


def write_error(postil: Postil, *more: object, command: tuple[object, ...] = COMMAND, code: int = 3) -> str:
    return refusal(postil, *command, *more, code=code)


def numbers_only(postil: Postil, *more: object) -> str:
    """The table, after a look at all there is."""
    for form in ("json", "table"):
        outcome: Outcome = postil(*COMMAND, *more, "--format", form)
        assert outcome.code == 0, outcome.err
        assert not re.search(r"\b(nan|inf|infinity)\b", outcome.out, re.IGNORECASE), outcome.out
    assert "-.000" not in outcome.out
    return outcome.out


# Data without the numbers that are asked for


def test_one_topic(postil: Postil) -> None:
    put("p.jsonl", passages()[:4])
    for pool in ("all", "topic"):
        table = numbers_only(postil, "--pool", pool, "--leave-one-out")
        assert "note: one topic: no intervals and no tests\n" in table
        assert "intervals over" not in table
        assert " minus (*" not in table


def graded(grade: Callable[[Row], int]) -> list[Row]:
    return [{**row, "grade": grade(row)} for row in passages()]


def saying(text: str) -> list[Row]:
    return [{**row, "text": text} for row in passages()]


MOSS = {"topic": "moss", "id": "0", "text": "moss in june", "grade": 0}
LEFT_OUT = "excluded: topics without a passage above grade 0, not ranked: 1 (moss)\n"
NOTHING_LEFT = "note: passages with nothing left in their reference without themselves, ranked last: {}\n"


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        ([*passages(), MOSS], ("--pool", "all"), LEFT_OUT),
        ([*passages(), MOSS], ("--pool", "topic"), LEFT_OUT),
        ([*passages(), MOSS], ("--reference", "others", "--pool", "topic"), LEFT_OUT),
        ([*passages(), *({**MOSS, "topic": f"t{i}"} for i in range(7))], (), "7 (t0, t1, t2, t3, t4 and 2 more)\n"),
        (
            [*passages(), {**MOSS, "topic": "ducks", "id": "e", "text": " ... "}],
            (),
            "unit of 1, ranked last: 1 (e of ducks)",
        ),
        (changed(2, grade=0), ("--leave-one-out",), NOTHING_LEFT.format(1)),
        (saying("..."), (), NOTHING_LEFT.format(8)),
        (saying("..."), ("--reference", "others"), NOTHING_LEFT.format(8)),
        (graded(lambda _: 1), (), "1.000 [1.000, 1.000]"),
        (saying("one two three"), ("--leave-one-out",), "nCG@"),
        (saying("one two three"), ("--pool", "topic"), "nCG@"),
        # every passage says what all references say, so none is left of them
        (saying("one two three"), ("--reference", "others"), NOTHING_LEFT.format(8)),
        (passages(), ("-k", 8, "-k", 10**12), "1.000 [1.000, 1.000]  "),
        (passages(), ("--resamples", 1), "1 resample"),
        (passages(), ("--resamples", 1, "--reference", "others", "--pool", "topic"), "1 resample"),
    ],
)
def test_data_without_the_numbers_that_are_asked_for(
    postil: Postil, rows: list[Row], more: tuple[object, ...], said: str
) -> None:
    put("p.jsonl", rows)
    assert said in numbers_only(postil, *more)


def test_names_cannot_reach_the_terminal_or_break_lines(postil: Postil) -> None:
    put("p.jsonl", [*passages(), {"topic": "a\x1b[2J\nb\u202e", "id": "1", "text": "x", "grade": 0}])
    put("e.jsonl", [*passages(), {"topic": "ducks", "id": "1\x1b[2J\n\u202e", "text": "", "grade": 0}])
    for name, begin in (("p.jsonl", "excluded: topics without"), ("e.jsonl", "note: passages without")):
        outcome = postil("passages", name, *COMMAND[2:])
        assert outcome.code == 0
        assert not {"\x1b", "\u202e"} & set(outcome.out)
        assert any(line.startswith(begin) and line.endswith(")") for line in outcome.out.splitlines())


# Mistakes in the request


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("-m", "w-kl1"), "unknown measure 'w-kl1'; did you mean 'w-kl-1'?"),
        (("-m", "f1-1(beta=x)"), "measure 'f1-1(beta=x)': beta: expected a number, got 'x'"),
        (("-m", "f1-2(upto=true)"), "f1-2: upto goes with skip-grams, f1-sk; leave it out"),
        (("-m", "w-length"), "w-length: no reference changes length; leave out w-"),
        (("-m", "rouge-l"), "unknown measure 'rouge-l'; did you mean 'rouge-"),
        (("-m", "cosine"), "cosine needs word vectors: cosine(vectors=FOLDER), made by postil vectors"),
        (("--anchors",), "--anchors: no passage has any; fill the field anchors or leave it out"),
        (("--scores", "-"), "--scores: expected a file; standard output is for the gains"),
        (("--scores", "p.jsonl"), "p.jsonl: would be written over p.jsonl, which is read; name another output"),
        (("--scores", "./p.jsonl"), "./p.jsonl: would be written over p.jsonl, which is read; name another output"),
        (("--scores", "s.txt"), "s.txt: unknown kind of file"),
        (("--scores", "none/s.jsonl"), "none/s.jsonl: parent folder"),
    ],
)
def test_wrong_usage(postil: Postil, more: tuple[str, ...], message: str) -> None:
    assert write_error(postil, *more, code=2).startswith(message)


def test_missing_extras(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = write_error(postil, "--scores", "s.parquet", code=2)
    assert said == "a .parquet file needs an optional package: pip install 'postil[tables]'"
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    outcome = postil(*COMMAND, "--figures", "pictures")
    assert (outcome.code, outcome.out) == (2, "")
    assert "pip install 'postil[report]'" in outcome.err
    assert not Path("pictures").exists()


def test_a_folder_for_figures_that_is_a_file(postil: Postil) -> None:
    pytest.importorskip("matplotlib")
    assert write_error(postil, "--figures", "p.jsonl", code=2) == "p.jsonl: is a file; expected a folder for figures"
    said = write_error(postil, "--figures", "curves.svg", "--scores", "s.jsonl", code=2)
    assert said.startswith("--figures curves.svg: the name of a file; expected a folder")
    assert not Path("s.jsonl").exists()


@pytest.mark.parametrize("option", [("--folds-by", "order"), ("--repeated-texts", "once"), ("--equal-texts", "stay")])
@pytest.mark.parametrize("reference", [(), ("--reference", "topic")])
def test_options_of_other_topics_without_them_are_refused(
    postil: Postil, option: tuple[str, str], reference: tuple[str, ...]
) -> None:
    write("p.jsonl", [Passage(topic, name, "a b", grade=1) for topic in ("ducks", "bread") for name in ("p1", "p2")])
    command = ("passages", "p.jsonl", "-m", "f1-1", "--resamples", "5", *option)
    done = postil(*command, *reference)
    said = f"{option[0]}: for references of other topics alone; add --reference others, or leave it out"
    assert (done.code, said in done.err) == (2, True)
    assert postil(*command, "--reference", "others").code == 0
