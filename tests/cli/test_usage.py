"""Wrong usage: exit code 2, the nearest name that exists, and visible characters alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from postil.cli.main import app
from postil.cli.output import emit, say, terminal_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Postil


BASE = ("score", "c.jsonl", "-r", "r.jsonl")
JUDGED = ("correlate", "r.jsonl", "--judgements", "r.jsonl")


def write_error(postil: Postil, *args: object) -> str:
    before = sorted(Path().rglob("*"))
    outcome = postil(*args)
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert sorted(Path().rglob("*")) == before, "something was left behind"
    assert "Traceback" not in outcome.err
    return outcome.err


def commands(command: Any, *words: str) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Every command and its options."""
    yield words, {option for parameter in command.params for option in parameter.opts}
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *words, name)


BELOW = "is not in the range x>="
SHARED = [
    ("--format", "jsno", "postil: unknown format 'jsno'; did you mean 'json'? Known: table, json, jsonl, csv"),
    ("--seed", "-1", f"Invalid value for '--seed': -1 {BELOW}0"),
    ("--seed", "many", "Invalid value for '--seed': 'many' is not a valid integer."),
    ("--resamples", "0", f"Invalid value for '--resamples': 0 {BELOW}1"),
    ("--permutations", "0", f"Invalid value for '--permutations': 0 {BELOW}1"),
    ("--threshold", "nan", "Invalid value for '--threshold': 'nan' is not a valid float."),
    ("--jobs", "0", f"Invalid value for '--jobs' / '-j': 0 {BELOW}1"),
]
"""Options of many commands, and what none of them takes."""


@pytest.mark.parametrize(
    ("words", "option", "value", "said"),
    [
        pytest.param(words, option, value, said, id=" ".join((*words, option, value)))
        for words, options in commands(app)
        for option, value, said in SHARED
        if option in options
    ],
)
def test_a_wrong_value_of_a_shared_option(
    postil: Postil, words: tuple[str, ...], option: str, value: str, said: str
) -> None:
    assert said in write_error(postil, *words, option, value)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("-m", "metor"), "unknown metric 'metor'; did you mean 'meteor'?"),
        (("-m", "w-rogue-l"), "unknown metric 'w-rogue-l'; did you mean 'w-rouge-l'?"),
        (("-m", "ROUGE-LL"), "unknown metric 'ROUGE-LL'; did you mean 'rouge-l'?"),
        (("-m", "rouge-l(raeding=max)"), "unknown parameter of rouge-l 'raeding'; did you mean 'reading'?"),
        (("-m", "rouge-l(reading=unoin)"), "unknown value of reading 'unoin'; did you mean 'union'?"),
        (("--tokenizer", "jeiba"), "unknown tokenizer 'jeiba'; did you mean 'jieba'?"),
        (("--weights", "min-max"), "unknown weights method 'min-max'; did you mean 'minmax'?"),
    ],
)
def test_unknown_names_get_the_nearest(postil: Postil, options: tuple[str, ...], problem: str) -> None:
    err = write_error(postil, *BASE, "--items", "items.jsonl", *options)
    assert err.startswith(f"postil: {problem} Known: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("-m", "rouge-l(beta)"), "metric 'rouge-l(beta)': expected parameter=value, got 'beta'"),
        (("-m", "rouge-l(beta=x)"), "metric 'rouge-l(beta=x)': beta: expected a number, got 'x'"),
        (("-m", "rouge-l(beta=nan)"), "metric 'rouge-l(beta=nan)': beta: expected a number, got 'nan'"),
        (("-m", "cider(order=2.5)"), "metric 'cider(order=2.5)': order: expected a whole number, got '2.5'"),
        (("-m", "rouge-l(beta=1,beta=1)"), "metric 'rouge-l(beta=1,beta=1)': beta is given twice"),
        (("-m", "rouge-l("), "metric 'rouge-l(': expected name or name(parameter=value,…)"),
        (("-m", ""), "metric '': expected name or name(parameter=value,…)"),
        (("-m", "meteor,rouge-l"), "--metric takes one metric, got 'meteor,rouge-l'; repeat it: --metric meteor --"),
        (("--scale=-1:5",), "the weights method 'score' needs a scale without negative grades"),
        (("-m", "w-meteor"), "r.jsonl: the grades need a scale (weights 'score'): --scale LOW:HIGH"),
        (("--weights", "minmax"), "r.jsonl: the grades need a scale (weights 'minmax'): --scale LOW:HIGH"),
        (("--items", "-"), "--items: expected a file; standard output is for the scores of the systems"),
        (("--items", "c.jsonl"), "c.jsonl: would be written over c.jsonl, which is read; name another output"),
        (("--items", "./r.jsonl"), "./r.jsonl: would be written over r.jsonl, which is read; name another output"),
        (("--items", "items.txt"), "items.txt: unknown kind of file"),
        (("--items", "none/items.jsonl"), "none/items.jsonl: parent folder"),
    ],
)
def test_what_makes_no_sense(postil: Postil, options: tuple[str, ...], problem: str) -> None:
    err = write_error(postil, *BASE, *options)
    assert err.startswith(f"postil: {problem}"), err
    assert err.count("\n") == 1


def test_no_command_writes_over_what_it_reads(postil: Postil) -> None:
    """Each option that names an output, pointed at an input through a link."""
    Path("bg").mkdir()
    Path("result.json").write_text("{}")
    for link, target in {"p.html": "c.jsonl", "q.html": "result.json", "i.jsonl": "c.jsonl", "v": "."}.items():
        Path(link).symlink_to(target)
    over = "would be written over"
    for command, said in (
        ((*BASE, "--background", "bg", "--save-background", "./bg"), f"./bg: {over} bg"),
        (("correlate", "c.jsonl", "--judgements", "r.jsonl", "--report", "p.html"), f"p.html: {over} c.jsonl"),
        (("correlate", "r.jsonl", "--judgements", "c.jsonl", "--report", "p.html"), f"p.html: {over} c.jsonl"),
        ((*JUDGED, "--candidates", "c.jsonl", "--report", "p.html"), f"p.html: {over} c.jsonl"),
        (("report", "result.json", "--out", "q.html"), f"q.html: {over} result.json"),
        (("passages", "c.jsonl", "--scores", "i.jsonl"), f"i.jsonl: {over} c.jsonl"),
        (("passages", "c.jsonl", "--report", "p.html"), f"p.html: {over} c.jsonl"),
        (("evaluate", "bg", "--corpus", "r.jsonl", "--items", "bg"), f"bg: {over} bg"),
        (("evaluate", "bg", "--corpus", "c.jsonl", "--candidates", "i.jsonl"), f"i.jsonl: {over} c.jsonl"),
    ):
        message = write_error(postil, *command)
        assert message.startswith(f"postil: {said}, which is read; name another output"), (command, message)


def test_vectors_are_not_written_around_their_texts(postil: Postil) -> None:
    Path("v").mkdir()
    Path("c.jsonl").rename("v/words.txt")  # a name that a folder of vectors may have
    for command in ("train", "convert"):
        message = write_error(postil, "vectors", command, "v/words.txt", "--out", "v")
        assert message == "postil: v: would be written over v/words.txt, which is read; name another output\n"


def test_both_from_standard_input(postil: Postil) -> None:
    err = write_error(postil, "score", "-", "-r", "-")
    assert err == "postil: candidates and references cannot both come from standard input\n"


def test_one_file_for_both(postil: Postil) -> None:
    Path("link.jsonl").symlink_to("c.jsonl")
    for other in ("c.jsonl", "./c.jsonl", Path("c.jsonl").absolute(), "link.jsonl"):
        err = write_error(postil, "score", "c.jsonl", "-r", other)
        assert err.startswith(
            f"postil: {other}: candidates and references are the same file; name the columns of each: "
        )


@pytest.mark.parametrize("option", ["--items", "--save-background"])
def test_an_empty_name_is_no_wish_for_nothing(postil: Postil, option: str) -> None:
    assert write_error(postil, *BASE, option, "") == f"postil: {option}: expected a name, got an empty one\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("score", "c.jsonl"), "--references"),
        (("score", "-r", "r.jsonl"), "CANDIDATES"),
        ((*BASE, "--metrics", "meteor"), "--metric"),
        (("screen", "c.jsonl", "extra.jsonl", "--model", "m"), "Got unexpected extra argument (extra.jsonl)\n"),
        (
            ("judge", "c.jsonl", "more.txt", "--model", "m"),
            "(more.txt); this command takes one file of candidates: put the texts of all systems into one, with a c",
        ),
        (
            ("weights", "plan", "c.jsonl", "a.txt", "b.txt", "-r", "r.jsonl", "--budget", "1"),
            "Got unexpected extra arguments (a.txt b.txt); this command takes one file of candidates",
        ),
    ],
)
def test_flags(postil: Postil, args: tuple[str, ...], said: str) -> None:
    assert said in write_error(postil, *args)


def test_background_of_another_tokenizer(postil: Postil) -> None:
    assert postil(*BASE, "-m", "cider", "--save-background", "bg").code == 0
    err = write_error(postil, *BASE, "-m", "cider", "--background", "bg", "--tokenizer", "space")
    assert err == "postil: bg was counted with the tokenizer words-2, not space\n"


NAME = "a\x1b]0;x\x07\x9b2J\u202eb\udcff"
SEEN = r"a\x1b]0;x\x07\x9b2J\u202eb\udcff"
EVERY = ("table", "json", "jsonl", "csv", "markdown", "latex", "")


@pytest.mark.parametrize("form", EVERY)
def test_on_a_terminal_control_characters_are_visible(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    emit(f"{NAME}\tb\n\r雨\n", form)
    assert capsys.readouterr().out == f"{SEEN}\tb\n\\r雨\n"


def test_a_pipe_has_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "47")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert terminal_width() == 80
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert terminal_width() == 47


@pytest.mark.parametrize("form", EVERY)
def test_in_a_pipe_only_tables_have_escapes(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, seen = NAME.removesuffix("\udcff"), SEEN.removesuffix(r"\udcff")
    emit(f"{name}\r\n", form)
    assert capsys.readouterr().out == (f"{seen}\\r\n" if form == "table" else f"{name}\r\n")


def test_words_for_people_are_one_visible_line(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"{NAME}\nb")
    assert capsys.readouterr() == ("", f"{SEEN} b\n")


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("score", "no\x1b[2J\u202e.jsonl", "-r", "r.jsonl"), 3, r"postil: no\x1b[2J\u202e.jsonl: no such file"),
        (("score", "c.jsonl", "-r", "r.jsonl", "-m", "x\x9b2J"), 2, r"unknown metric 'x\x9b2J'"),
        (("score", "c.jsonl", "-r", "r.jsonl", "--x\x1b[31m\u202e"), 2, r"--x\x1b[31m\u202e"),
        (("--x\u202e",), 2, r"--x\u202e"),
        (("x\u202e",), 2, r"'x\u202e'"),
        (("score", "c.jsonl", "-r", "r.jsonl", "y\u202e"), 2, r"y\u202e"),
    ],
)
def test_mistakes_in_visible_characters(postil: Postil, args: tuple[Any, ...], code: int, message: str) -> None:
    outcome = postil(*args)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err
    assert not {"\x1b", "\x9b", "\u202e"} & set(outcome.err)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("score --metrc meteor", "--metric"),
        ("score --refs r.jsonl", "--references"),
        ("combine fit --output c", "--out"),
        ("correlate --alt_epsilon .1", "--alt-epsilon"),
        ("correlate --judge j.jsonl", "--judgements"),
        ("score --no-quote", "--no-quotes"),
        ("train --updte m", "--update"),
        ("--versoin", "--version"),
    ],
)
def test_an_unknown_option_gets_the_nearest(postil: Postil, words: str, meant: str) -> None:
    err = write_error(postil, *words.split())
    assert err.endswith(f"'. Did you mean '{meant}'?\n"), err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "compare s.jsonl --annotator-columns A,B",
            "correlate, combine fit, combine apply, agreement, estimate and 1 more have it.",
        ),
        (
            "score c.jsonl --judgements j.csv",
            "judge, correlate, combine fit, combine apply, estimate and 4 more have it.",
        ),
        ("interesting page.html --monotone", "combine fit has it."),
    ],
)
def test_an_unknown_option_that_other_commands_have_names_them(postil: Postil, words: str, said: str) -> None:
    option = next(word for word in words.split() if word.startswith("--"))
    assert write_error(postil, *words.split()).endswith(f"Error: No such option '{option}'; {said}\n")


def test_an_unknown_option_that_is_like_none_gets_none(postil: Postil) -> None:
    assert "Did you mean" not in write_error(postil, "score", "-z")
    assert "Did you mean" not in write_error(postil, "score", "--xyzxyz")


def test_a_field_of_another_file_is_named_with_it(postil: Postil) -> None:
    err = write_error(postil, *JUDGED, "--column", "grade=g")
    assert err.startswith("postil: unknown field of scores 'grade'; did you mean 'judgements.grade'? Known: item, ")


def test_a_choice_gets_the_nearest(postil: Postil) -> None:
    err = write_error(postil, "train", "att", "--corpus", "c", "--out", "m", "--softmax", "sampeld")
    assert err == "postil: --softmax: expected full or sampled, got sampeld; did you mean 'sampled'?\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("calibrate model --labels l.csv --articles a.csv --articles b.csv", "--articles takes one FILE, got 2"),
        ("passages p.csv --summaries s.csv --articles a.csv --articles b.csv", "--articles takes one FILE, got 2"),
        ("budget s.csv --judgements a.csv --judgements b.csv --judgements a.csv", "--judgements takes one FILE, got 3"),
    ],
)
def test_two_files_of_rows_for_an_option_that_takes_one(postil: Postil, words: str, said: str) -> None:
    """The first one would be ignored without a word; of other options the last one counts, as usual."""
    assert write_error(postil, *words.split()).endswith(f"Error: {said}\n")


def test_of_other_options_the_last_one_counts(postil: Postil) -> None:
    outcome = postil("train", "ir-t", "--corpus", "a", "--corpus", "gone", "--out", "m", "--seed", 1, "--seed", 2)
    assert outcome.err.startswith("postil: gone: no such folder")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            (*JUDGED, "--disagree", "meteor", "--candidates", "c.jsonl"),
            "--disagree takes NAME NAME, got the option --candidates",
        ),
        ((*JUDGED, "--report", "--format", "json"), "--report takes FILE, got the option --format"),
        (("score", "c.jsonl", "-r", "-m", "bleu"), "--references takes FILE, got the option -m"),
        (("score", "c.jsonl", "-r", "--help"), "--references takes FILE, got the option --help"),
    ],
)
def test_an_option_in_place_of_a_value(postil: Postil, words: tuple[str, ...], said: str) -> None:
    assert said in write_error(postil, *words)
