"""Bad input of `postil correlate`: named, counted, explained; never a traceback, and never NaN in a table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from command_line import put, refusal
from postil.results.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Outcome, Postil

FEW = ("--resamples", "50", "--permutations", "50")
COMMAND = ("correlate", "s.jsonl", "--judgements", "j.jsonl", *FEW)
LEVELS = ("pool", "item", "system", "within-system")
Row = dict[str, Any]


def scores() -> list[Row]:
    """Scores of two metrics on six items by two systems."""
    return [
        {
            "item": f"i{k}",
            "system": s,
            "metric": metric,
            "score": (k * 7 + t * 3 + m * 5) % 11 / 10,
            "signature": metric,
        }
        for k in range(6)
        for t, s in enumerate("ab")
        for m, metric in enumerate(("meteor", "w-meteor"))
    ]


def judgements() -> list[Row]:
    """Judgements of two annotators on each text."""
    return [
        {"item": f"i{k}", "system": s, "annotator": who, "grade": 1 + (k * 3 + t * 2 + a * (k % 2)) % 5}
        for k in range(6)
        for t, s in enumerate("ab")
        for a, who in enumerate(("ann", "bob"))
    ]


@pytest.fixture(autouse=True)
def files(postil: Postil) -> None:
    assert postil  # it changed the folder
    put("s.jsonl", scores())
    put("j.jsonl", judgements())


def changed(rows: list[Row], line: int, **fields: object) -> list[Row]:
    """Rows, of which one is different; lines count from 1."""
    rows[line - 1] = {name: value for name, value in {**rows[line - 1], **fields}.items() if value is not ...}
    return rows


def write_error(postil: Postil, *more: object, command: tuple[object, ...] = COMMAND, code: int = 3) -> str:
    return refusal(postil, *command, *more, code=code)


def numbers_only(outcome: Outcome) -> Outcome:
    assert outcome.code == 0, outcome.err
    assert not re.search(r"\b(nan|inf|infinity)\b", outcome.out, re.IGNORECASE), outcome.out
    assert "-.000" not in outcome.out
    return outcome


# Data that is no mistake, but of which some numbers do not exist


def first(n: int) -> Callable[[Row], bool]:
    return lambda row: int(row["item"][1:]) < n


def all_kept(_: Row) -> bool:
    return True


DEGENERATE: dict[str, tuple[Callable[[Row], bool], Row, Row, dict[str, str]]] = {
    # which rows are kept, what all scores and grades have, and what is said at each level
    "constant scores": (all_kept, {"score": 0.5}, {}, dict.fromkeys(LEVELS, "meteor, w-meteor: every score is 0.5")),
    "constant grades": (all_kept, {}, {"grade": 3}, dict.fromkeys(LEVELS, "meteor, w-meteor: every grade is 3")),
    "one system": (
        lambda row: row["system"] == "a",
        {},
        {},
        {"item": "no coefficient of meteor, w-meteor: no item has two texts", "system": "only one system"},
    ),
    "one item": (
        first(1),
        {},
        {},
        dict.fromkeys(LEVELS, "only one item, so there is no interval over items")
        | {"within-system": "no system has two texts"},
    ),
    "two items": (first(2), {}, {}, {}),
    "two texts": (
        lambda row: first(2)(row) and row["system"] == "a",
        {},
        {},
        {"item": "no item has two texts", "system": "only one system"},
    ),
    "one text": (
        lambda row: first(1)(row) and row["system"] == "a",
        {},
        {},
        dict.fromkeys(LEVELS, "no coefficient of meteor, w-meteor: only one text"),
    ),
    "one metric": (lambda row: row.get("metric") != "w-meteor", {}, {}, {}),
    "one annotator": (
        lambda row: row.get("annotator") != "bob",
        {},
        {},
        dict.fromkeys(LEVELS, "no human agreement: the only annotator is ann, so there is nobody to agree with"),
    ),
    "large scores": (all_kept, {"score": 1e100}, {}, {}),
    "small scores": (all_kept, {"score": 1e-13}, {}, {}),
}


@pytest.mark.parametrize("by", LEVELS)
@pytest.mark.parametrize("name", DEGENERATE)
def test_what_does_not_exist_is_explained(postil: Postil, name: str, by: str) -> None:
    keep, score, grade, said = DEGENERATE[name]
    put("s.jsonl", ({**row, **score} for row in scores() if keep(row)))
    put("j.jsonl", ({**row, **grade} for row in judgements() if keep(row)))
    table = numbers_only(postil(*COMMAND, "--by", by)).out
    assert said.get(by, "") in table
    whole = json.loads(numbers_only(postil(*COMMAND, "--by", by, "--format", "json")).out)
    metrics = {row["metric"] for row in scores() if keep(row)}
    expected = {(metric, coefficient) for metric in metrics for coefficient in ("pearson", "spearman", "kendall-b")}
    rows = [(row["metric"], row["coefficient"]) for row in (*whole["correlations"], *whole["absent"])]
    assert sorted(row for row in rows if row[0] in metrics) == sorted(expected), "each is there once, or absent once"
    assert all(row["reason"] for row in whole["absent"])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["constant grades", "one text", "one metric"])
def test_every_format_bears_it(postil: Postil, name: str, form: str) -> None:
    keep, score, grade, _ = DEGENERATE[name]
    put("s.jsonl", ({**row, **score} for row in scores() if keep(row)))
    put("j.jsonl", ({**row, **grade} for row in judgements() if keep(row)))
    out = numbers_only(postil(*COMMAND, "--format", form)).out
    if form == "csv":
        assert out.startswith("metric,coefficient,by,value,low,high,p,n,dropped\n")


def test_names_cannot_reach_the_terminal_or_break_lines(postil: Postil) -> None:
    evil = {"item": "项目\n{}", "system": "系\x1b[31m{}", "metric": "{}\n\u202e評", "annotator": "安\x1b[2J{}"}

    def named(rows: list[Row]) -> list[Row]:
        return [
            {name: evil[name].format(value) if name in evil else value for name, value in row.items()} for row in rows
        ]

    put("s.jsonl", named(scores()))
    put("j.jsonl", [{**row, "aspect": "x\ny\x1b[0m"} for row in named(judgements())[4:]])
    outcome = numbers_only(postil(*COMMAND))
    assert not {"\x1b", "\u202e"} & set(outcome.out)
    assert "excluded: scored but not judged: 2 (项目 i0 by 系\\x1b[31ma, 项目 i0 by 系\\x1b[31mb)\n" in outcome.out
    plain = numbers_only(postil(*COMMAND, "--format", "json")).out
    assert json.loads(plain)["data"]["aspect"] == "x\ny\x1b[0m"


# Mistakes in the files


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": 1e200}, "s.jsonl:4: score: expected a number from -1e+100 to 1e+100, got 1e+200"),
        ({"signature": "other"}, "s.jsonl:4: signature: w-meteor has two signatures"),
        ({"grade": 6}, "j.jsonl:4: grade: expected a number from 1 to 5, got 6"),
        ({"aspect": "style"}, 'j.jsonl:4: aspect: judgements of more than one aspect (none and "style", perhaps more)'),
    ],
)
def test_a_bad_row(postil: Postil, change: Row, message: str) -> None:
    of_scores = message.startswith("s")
    put(message[:7], changed(scores() if of_scores else judgements(), 4, **change))
    assert write_error(postil, "--scale", "1:5").startswith(message)


def test_several_aspects_are_to_be_chosen_from(postil: Postil) -> None:
    put("j.jsonl", [{**row, "aspect": aspect} for aspect in ("fluency", "style") for row in judgements()])
    assert write_error(postil).endswith("choose one: --aspect NAME")
    assert write_error(postil, "--aspect", "stile", code=2) == (
        "unknown aspect 'stile'; did you mean 'style'? Known: fluency, style"
    )
    assert "24 grades by 2 annotators, style; " in postil(*COMMAND, "--aspect", "style").out


def test_the_same_file_twice_is_told_by_its_second_name(postil: Postil) -> None:
    put("again.jsonl", scores()[6:])
    said = write_error(postil, command=("correlate", "s.jsonl", "again.jsonl", "--judgements", "j.jsonl"))
    assert said.startswith('again.jsonl:1: metric: a second score of item "i1" by system "b"')


def test_files_in_the_wrong_place(postil: Postil) -> None:
    said = write_error(postil, command=("correlate", "j.jsonl", "--judgements", "s.jsonl"))
    assert said.startswith("s.jsonl:1: annotator, grade: missing; a judgement needs item, system, annotator, grade")
    assert write_error(postil, "--candidates", "j.jsonl").startswith("j.jsonl:1: text: missing; a candidate needs")


# Mistakes in the request


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--by", "items"), "unknown level 'items'; did you mean 'item'? Known: pool, item, system"),
        (("-c", "pearsn"), "unknown coefficient 'pearsn'; did you mean 'pearson'? Known: pearson, spearman, kendall-b"),
        (("--severity", "yes"), "unknown rule of severities 'yes'. Known: auto, remove, keep"),
        (("-m", "meteor", "--disagree", "meteor", "w-meteor"), "unknown metric 'w-meteor'; did you mean 'meteor'?"),
        (("--seed", 2**64), "seed: expected a whole number from 0 up of at most 64 bits, got 18446744073709551616"),
    ],
)
def test_wrong_usage(postil: Postil, more: tuple[str, ...], message: str) -> None:
    assert write_error(postil, *more, code=2).startswith(message)


@pytest.mark.parametrize("command", [("correlate", "s.jsonl"), ("correlate", "--judgements", "j.jsonl")])
def test_what_is_missing_is_named(postil: Postil, command: tuple[str, ...]) -> None:
    outcome = postil(*command)
    assert outcome.code == 2
    assert re.search(r"'--judgements'|SCORES", outcome.err)


def test_a_page_that_cannot_be_written(postil: Postil) -> None:
    for extra in ("jinja2", "matplotlib"):
        pytest.importorskip(extra)
    said = write_error(postil, "--report", "s.jsonl", code=2)
    assert said == "s.jsonl: expected the name of a file that ends in .html"


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs a folder that takes no files")
def test_a_page_in_a_folder_that_takes_no_files(postil: Postil) -> None:
    for extra in ("jinja2", "matplotlib"):
        pytest.importorskip(extra)
    assert re.match(r"/proc/page\S* cannot be written: ", write_error(postil, "--report", "/proc/page.html", code=1))
