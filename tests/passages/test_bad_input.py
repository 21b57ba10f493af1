"""Bad input of `postil passages`: named, counted, explained; never a traceback, and never NaN in a table."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from command_line import put, refusal
from postil.data.row_files import write
from postil.data.rows import Passage

if TYPE_CHECKING:
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


# Mistakes in the file


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grade": None}, "p.jsonl:3: grade: expected a grade, got none; gains are sums of grades"),
        ({"grade": ...}, "p.jsonl:3: grade: expected a grade, got none; gains are sums of grades"),
        ({"grade": -1}, "p.jsonl:3: grade: expected a number of at least 0, and at most 1e+100, got -1"),
        ({"grade": 1e200}, "p.jsonl:3: grade: expected a number of at least 0, and at most 1e+100, got 1e+200"),
        ({"anchors": [1]}, "p.jsonl:3: anchors[0]: expected text, got 1"),
    ],
)
def test_a_bad_row(postil: Postil, change: Row, message: str) -> None:
    Path("p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed(3, **change)))
    assert write_error(postil).startswith(message)


@pytest.mark.parametrize(("line", "topic"), [(2, "ducks"), (6, "bread")])
def test_an_id_twice_in_a_topic(postil: Postil, line: int, topic: str) -> None:
    put("p.jsonl", changed(line, id="0"))
    assert write_error(postil) == (
        f'p.jsonl:{line}: id: a second passage "0" of topic "{topic}"; ids are unique in a topic'
    )


def test_ids_that_are_integers_are_text(postil: Postil) -> None:
    straight = numbers_only(postil)
    put("p.jsonl", ({**row, "id": int(row["id"])} for row in passages()))
    assert numbers_only(postil) == straight
    put("p.jsonl", changed(2, id=0))
    assert "a second passage" in write_error(postil)


@pytest.mark.parametrize(("scale", "problem"), [("1", "from 0 to 1, got 2"), ("1:2", "from 1 to 2, got 0")])
def test_a_grade_that_is_not_on_the_scale(postil: Postil, scale: str, problem: str) -> None:
    line = 1 if scale == "1" else 3
    assert write_error(postil, "--scale", scale) == f"p.jsonl:{line}: grade: expected a number {problem}"


def test_han_text_and_words(postil: Postil) -> None:
    put("p.jsonl", changed(3, text="鸭子"))
    said = write_error(postil)
    assert said.startswith("p.jsonl:3: text: ")
    assert "jieba" in said
    assert postil(*COMMAND, "--tokenizer", "characters").code == 0


# Data without the numbers that are asked for


def test_all_grades_0(postil: Postil) -> None:
    put("p.jsonl", ({**row, "grade": 0} for row in passages()))
    for reference in ("topic", "others"):
        said = write_error(postil, "--reference", reference)
        assert said == "every grade is 0, so there is nothing to gain"


def test_one_topic_and_others(postil: Postil) -> None:
    put("p.jsonl", passages()[:4])
    said = write_error(postil, "--reference", "others")
    assert said == "interestingness needs passages of two topics at least, and there is one"


def test_one_topic(postil: Postil) -> None:
    put("p.jsonl", passages()[:4])
    for pool in ("all", "topic"):
        table = numbers_only(postil, "--pool", pool, "--leave-one-out")
        assert "note: one topic: no intervals and no tests\n" in table
        assert "intervals over" not in table
        assert " minus (*" not in table


def test_informative_passages_in_one_fold(postil: Postil) -> None:
    put("p.jsonl", ({**row, "grade": row["grade"] * (row["topic"] == "bread")} for row in passages()))
    said = write_error(postil, "--reference", "others")
    assert said == 'every informative passage is in the fold of "bread", so its passages have no reference'


def test_a_topic_without_informative_passages(postil: Postil) -> None:
    put("p.jsonl", [*passages(), {"topic": "moss", "id": "0", "text": "moss in june", "grade": 0}])
    left_out = "excluded: topics without a passage above grade 0, not ranked: 1 (moss)\n"
    for pool in ("all", "topic"):
        table = numbers_only(postil, "--pool", pool)
        assert left_out in table
        assert table.startswith("informativeness: 8 passages of 2 topics, 4 with a grade above 0")
    assert left_out in numbers_only(postil, "--reference", "others", "--pool", "topic")
    # in one list its passages are among those to be told from the interesting ones
    assert left_out not in numbers_only(postil, "--reference", "others")


def test_many_topics_without_informative_passages(postil: Postil) -> None:
    poor = ({"topic": f"t{i}", "id": "0", "text": "a", "grade": 0} for i in range(7))
    put("p.jsonl", [*passages(), *poor])
    assert "not ranked: 7 (t0, t1, t2, t3, t4 and 2 more)\n" in numbers_only(postil)


def test_passages_without_units(postil: Postil) -> None:
    put("p.jsonl", [*passages(), {"topic": "ducks", "id": "e", "text": " ... ", "grade": 2}])
    table = numbers_only(postil, "--leave-one-out", "--pool", "topic")
    assert "note: passages without a unit of 1, ranked last: 1 (e of ducks)\n" in table
    assert "note: passages without a unit of sk, ranked last: 3 (3 of ducks, e of ducks, 3 of bread)\n" in table


def test_nothing_left_of_a_reference(postil: Postil) -> None:
    put("p.jsonl", changed(2, grade=0))
    table = numbers_only(postil, "--leave-one-out")
    assert "note: passages with nothing left in their reference without themselves, ranked last: 1\n" in table


def test_no_passage_has_a_unit(postil: Postil) -> None:
    put("p.jsonl", ({**row, "text": "..."} for row in passages()))
    for reference in ("topic", "others"):
        table = numbers_only(postil, "--reference", reference)
        assert "note: passages with nothing left in their reference without themselves, ranked last: 8\n" in table


def test_all_passages_are_informative(postil: Postil) -> None:
    put("p.jsonl", ({**row, "grade": 1} for row in passages()))
    assert re.search(r"^f1-1 +1\.000 \[1\.000, 1\.000\]$", numbers_only(postil), re.MULTILINE)


def test_all_passages_are_the_same(postil: Postil) -> None:
    put("p.jsonl", ({**row, "text": "one two three"} for row in passages()))
    for more in ((), ("--leave-one-out",), ("--pool", "topic")):
        numbers_only(postil, *more)
    # every passage says what all references say, so none is left of them
    assert "note: passages with nothing left in their reference without themselves, ranked last: 8\n" in numbers_only(
        postil, "--reference", "others"
    )


def test_a_cut_beyond_the_list_takes_all_of_it(postil: Postil) -> None:
    table = numbers_only(postil, "-k", 1, "-k", 8, "-k", 10**12)
    assert re.search(r"^f1-1 .* 1\.000 \[1\.000, 1\.000\] +1\.000 \[1\.000, 1\.000\]$", table, re.MULTILINE)


def test_one_resample(postil: Postil) -> None:
    numbers_only(postil, "--resamples", 1)
    numbers_only(postil, "--resamples", 1, "--reference", "others", "--pool", "topic")


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
        (("-m", "f1"), "unknown measure 'f1'; did you mean 'f1-"),
        (("-m", "w-kl1"), "unknown measure 'w-kl1'; did you mean 'w-kl-1'?"),
        (("-m", "f1-1(beta=x)"), "measure 'f1-1(beta=x)': beta: expected a number, got 'x'"),
        (("-m", "f1-2(upto=true)"), "f1-2: upto goes with skip-grams, f1-sk; leave it out"),
        (("-m", "w-length"), "w-length: no reference changes length; leave out w-"),
        (("-m", "rouge-l"), "unknown measure 'rouge-l'; did you mean 'rouge-"),
        (("-m", "cosine"), "cosine needs word vectors: cosine(vectors=FOLDER), made by postil vectors"),
        (("--reference", "topics"), "unknown reference 'topics'; did you mean 'topic'? Known: topic, others"),
        (("--pool", "one"), "unknown pool 'one'. Known: "),
        (("--folds-by", "random"), "unknown way to make folds 'random'. Known: "),
        (("--stem", "porter2"), "unknown stemmer 'porter2'; did you mean 'porter'? Known: "),
        (("--stop", "eng"), "unknown stop list 'eng'; did you mean 'en'? Known: "),
        (("--tokenizer", "wrods"), "unknown tokenizer 'wrods'; did you mean 'words'? Known: "),
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


@pytest.mark.parametrize(
    "more",
    [
        ("--k", "0"),
        ("--k", "five"),
        ("--folds", "1"),
        ("--judgements", "j.jsonl"),
    ],
)
def test_wrong_flags(postil: Postil, more: tuple[str, ...]) -> None:
    outcome = postil(*COMMAND, *more)
    assert (outcome.code, outcome.out) == (2, "")
    assert more[0] in outcome.err
    assert "Traceback" not in outcome.err


def test_no_file_is_named(postil: Postil) -> None:
    outcome = postil("passages")
    assert outcome.code == 2
    assert "PASSAGES" in outcome.err


def test_missing_extras(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = write_error(postil, "--scores", "s.parquet", code=2)
    assert said == "a .parquet file needs an optional package: pip install 'postil[parquet]'"
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    outcome = postil(*COMMAND, "--figures", "pictures")
    assert (outcome.code, outcome.out) == (2, "")
    assert "pip install 'postil[plot]'" in outcome.err
    assert not Path("pictures").exists()


def test_a_folder_for_figures_that_is_a_file(postil: Postil) -> None:
    pytest.importorskip("matplotlib")
    assert write_error(postil, "--figures", "p.jsonl", code=1) == "p.jsonl: File exists"


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
