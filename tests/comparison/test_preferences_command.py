"""`postil compare --preferences`: systems by which of two texts is better."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import postil
from postil.comparison.result import PreferencesResult
from postil.data.preferences import PairPreference
from postil.data.row_files import write

if TYPE_CHECKING:
    from conftest import Postil

COMMAND = ("compare", "--preferences", "pairs.jsonl", "--resamples", "100")
CHOICES = {"human new": "aaaatabaaaab", "human old": "aaaaabaatbaa", "new old": "abataabaabaa"}


def pairs() -> None:
    """Twelve preferences of each pair of three systems, with the sides of the texts."""
    of = {"a": "a", "b": "b", "t": "tie"}
    rows = [
        PairPreference(str(n), *names.split(), "A1", of[choice], "ab"[n % 2])  # type: ignore[arg-type, call-arg, misc]
        for names, choices in CHOICES.items()
        for n, choice in enumerate(choices)
    ]
    write("pairs.jsonl", rows)


TABLE = """\
human has the highest strength, and no system is significantly below it

36 preferences of 1 annotator for 12 items; strengths are natural logarithms, their mean is 0

system               strength           win rate  wins  ties  losses  rank  group
------  ---------------------  -----------------  ----  ----  ------  ----  -----
human     1.020 [.561, 2.221]  .792 [.688, .928]    18     2       4   1-3      a
new       -.149 [-.680, .365]  .458 [.311, .594]    10     2      12   1-3      a
old     -.871 [-2.115, -.161]  .250 [.083, .448]     5     2      17   1-3      a

system  against  wins  ties  losses  win rate  by strengths  difference of strengths  p (Holm)
------  -------  ----  ----  ------  --------  ------------  -----------------------  --------
human       new     9     1       2      .792          .740      1.168 [.470, 2.404]    0.0950
human       old     9     1       2      .792          .843      1.891 [.754, 4.230]    0.0822
new         old     8     1       3      .708          .657      .722 [-.298, 2.297]    0.2973

0 of 3 differences are significant (Holm-adjusted p < .05)
ties: two equal systems tie in 10 % of cases by the model of Davidson
text on the left preferred: .576 [.358, .825] of those decided
note: intervals of fewer than 20 items are too narrow
seed 20181, 100 resamples of the items; Holm-adjusted for pairs of systems
"""


def test_table(postil: Postil) -> None:
    pairs()
    outcome = postil(*COMMAND)
    assert outcome.code == 0, outcome.err
    assert outcome.out == TABLE


@pytest.mark.parametrize("form", ["markdown", "latex", "html", "csv", "jsonl", "json"])
def test_formats(postil: Postil, form: str) -> None:
    pairs()
    outcome = postil(*COMMAND, "--format", form)
    assert outcome.code == 0
    assert ("seed 20181, 100 resamples of the items" in outcome.err) == (form != "json")
    if form in {"csv", "jsonl"}:
        lines = outcome.out.splitlines()
        rows = list(csv.DictReader(io.StringIO(outcome.out))) if form == "csv" else list(map(json.loads, lines))
        assert [(row["system"], int(row["wins"])) for row in rows] == [("human", 18), ("new", 10), ("old", 5)]
    elif form == "json":
        found = PreferencesResult.from_json(outcome.out)
        assert found.settings.command == f"postil {' '.join(COMMAND)} --format json"
        same = in_python()
        assert (same.systems, same.pairs, same.left) == (found.systems, found.pairs, found.left)
    else:
        assert outcome.out.count("human") >= 3


def in_python() -> PreferencesResult:
    rows = [json.loads(line) for line in Path("pairs.jsonl").read_text("utf-8").splitlines()]
    return postil.compare_preferences(rows, options=postil.CompareOptions(resamples=100))


def test_a_file_from_standard_input_under_other_names_with_a_baseline(postil: Postil) -> None:
    pairs()
    data = Path("pairs.jsonl").read_bytes().replace(b'"preference"', b'"winner"')
    rest = ("--column", "preference=winner", "--format", "jsonl", "--resamples", "9", "--baseline", "old")
    outcome = postil("compare", "--preferences", "-", *rest, stdin=data)
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out.splitlines()[-1]) | {"strength": 0.0} == json.loads(outcome.out.splitlines()[-1])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("s.jsonl", "--preferences", "pairs.jsonl"), "--preferences FILE takes the place of SCORES; give one of them"),
        (
            ("--interleaved", "log.jsonl", "--preferences", "pairs.jsonl"),
            "--preferences FILE takes the place of --interleaved LOG; give one of them",
        ),
        (
            ("--preferences", "pairs.jsonl", "--item-means"),
            "--preferences: only --baseline, --resamples, --seed and options of reading files go with it",
        ),
        (
            ("--preferences", "pairs.jsonl", "--metric-columns", "a"),
            "--metric-columns goes with files of scores, not with --preferences",
        ),
        (("--preferences", "pairs.jsonl", "--baseline", "od"), "unknown system 'od'; did you mean 'old'?"),
    ],
)
def test_what_does_not_go_together(postil: Postil, words: tuple[str, ...], said: str) -> None:
    pairs()
    outcome = postil("compare", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"postil: {said}")


def test_what_cannot_be_compared_is_said(postil: Postil) -> None:
    pairs()
    first = Path("pairs.jsonl").read_text("utf-8").splitlines()[0]
    Path("pairs.jsonl").write_text(f"{first}\n\n{first}\n")
    outcome = postil(*COMMAND)
    problem = "expected one preference of A1 for human and new of item 0, got another one on line 1"
    assert (outcome.code, outcome.err) == (3, f"postil: pairs.jsonl:3: annotator: {problem}\n")
    write("pairs.jsonl", [PairPreference("1", *"ab", "A1", "a"), PairPreference("1", *"cd", "A1", "a")])
    assert "pairs.jsonl: no preference connects a, b with c, d" in postil(*COMMAND).err


def test_a_report_has_the_tables_and_the_picture(postil: Postil) -> None:
    pairs()
    Path("found.json").write_text(postil(*COMMAND, "--format", "json").out)
    outcome = postil("report", "found.json", "--out", "report.html")
    assert outcome.code == 0, outcome.err
    page = Path("report.html").read_text("utf-8")
    assert "Paired preferences" in page
    assert "Strengths of systems by paired preferences" in page
