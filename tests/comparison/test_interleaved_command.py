"""`postil compare --interleaved`: models by what readers did with their suggestions."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import postil
from postil.comparison.result import InterleavingResult
from postil.data.impressions import Impression
from postil.data.row_files import write

if TYPE_CHECKING:
    from conftest import Outcome, Postil

COMMAND = ("compare", "--interleaved", "log.jsonl", "--resamples", "100")


def log(*more: Impression) -> None:
    """Impressions of twelve articles: new wins eight, loses one, one is a tie, and in two nothing was done."""
    rows = []
    for n in range(12):
        of_new = 1 + n % 2
        clicked = {9: (3 - of_new,), 10: (), 11: ()}.get(n, (of_new,))
        hidden = (3 - of_new,) if n == 0 else (of_new,) if n == 8 else ()
        teams = (1, 0) if of_new == 1 else (0, 1)
        rows.append(Impression(f"i{n}", f"a{n}", ("base", "new"), teams, clicked, hidden=hidden))
    write("log.jsonl", [*rows, *more])


TABLE = """\
new helps more than base: it wins 8 of 9 impressions with a winner

13 impressions; preferences from -.5 to .5, above 0 for the model

model  against  measure  impressions  wins  ties  losses          preference  p (sign test)  p (articles)  p (Holm)
-----  -------  -------  -----------  ----  ----  ------  ------------------  -------------  ------------  --------
new       base   credit           10     8     1       1   .350 [.124, .500]         0.0391        0.0391    0.0391
new       base  clicked           10     9     0       1   .400 [.148, .500]         0.0215        0.0215    0.0215
new       base   hidden            2     1     0       1  .000 [-.500, .500]         1.0000        1.0000    1.0000

model  against  rank  suggestions  p (balance)      clicked     answered       hidden
-----  -------  ----  -----------  -----------  -----------  -----------  -----------
new       base     1        6 : 6       1.0000  .833 : .167  .000 : .000  .167 : .000
new       base     2        6 : 6       1.0000  .667 : .000  .000 : .000  .000 : .167

new against base: 12 of 13 impressions shown, 12 articles; 10 with an event
new against base: to find a preference of 0.05 with power .8, show 848 like these
excluded: not shown: 1 (n)
note: new against base: intervals of fewer than 20 articles are too narrow; p (articles) holds
credit is clicks and answers less hidden suggestions; by hidden, the model with fewer of them wins
at ranks, pairs of numbers are of the model and of the one it is against
seed 20181, 100 resamples of the articles; Holm-adjusted for pairs of models
"""


def test_table(postil: Postil) -> None:
    log(Impression("n", "a0", ("base", "new"), (0, 1), (), shown=False))
    outcome = postil(*COMMAND)
    assert outcome.code == 0, outcome.err
    assert outcome.out == TABLE


@pytest.mark.parametrize("form", ["markdown", "latex", "html", "csv", "jsonl", "json"])
def test_formats(postil: Postil, form: str) -> None:
    log()
    outcome = postil(*COMMAND, "--format", form)
    assert outcome.code == 0
    assert ("to find a preference of 0.05 with power .8, show 848 like these\n" in outcome.err) == (form != "json")
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(outcome.out)))
        assert [(row["measure"], row["wins"], row["losses"]) for row in rows] == MEASURES
    elif form == "jsonl":
        rows = [json.loads(line) for line in outcome.out.splitlines()]
        assert [(row["measure"], str(row["wins"]), str(row["losses"])) for row in rows] == MEASURES
    elif form == "json":
        found = InterleavingResult.from_json(outcome.out)
        assert found.settings.command == f"postil {' '.join(COMMAND)} --format json"
        same = postil_compared()
        assert (same.rows, same.ranks, same.pairs) == (found.rows, found.ranks, found.pairs)
    else:
        assert outcome.out.count("base") >= 5


MEASURES = [("credit", "8", "1"), ("clicked", "9", "1"), ("hidden", "1", "1")]


def postil_compared() -> InterleavingResult:
    rows = [json.loads(line) for line in Path("log.jsonl").read_text("utf-8").splitlines()]
    options = postil.CompareOptions(resamples=100)
    return postil.compare_interleaved(rows, "base", options=options)


def test_a_log_from_standard_input_under_other_names(postil: Postil) -> None:
    log()
    straight = postil(*COMMAND, "--format", "jsonl").out
    data = Path("log.jsonl").read_bytes().replace(b'"clicked"', b'"opened"')
    rest = ("--column", "clicked=opened", "--format", "jsonl", "--resamples", "100")
    assert postil("compare", "--interleaved", "-", *rest, stdin=data).out == straight


NOTHING = (
    "expected files of item scores (SCORES), a log of interleaved suggestions (--interleaved LOG), or paired "
    "preferences (--preferences FILE)"
)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            (),
            NOTHING,
        ),
        (("s.jsonl", "--interleaved", "log.jsonl"), "--interleaved LOG takes the place of SCORES; give one of them"),
        *(
            (
                ("--interleaved", "log.jsonl", *more),
                "--interleaved: only --baseline, --resamples, --seed and options of reading files go with it",
            )
            for more in (("--intersect",), ("--permutations", "9"), ("--item-means",), ("--p-values", "sacrebleu"))
        ),
        (
            ("--interleaved", "log.jsonl", "--metric-columns", "a"),
            "--metric-columns goes with files of scores, not with --interleaved",
        ),
        (("--interleaved", "log.jsonl", "--baseline", "old"), "unknown model 'old'. Known: base, new"),
        (
            ("--interleaved", "log.jsonl", "--layout", "systems"),
            "--layout systems is for scores of systems (score, compare, evaluate, wmt), not for interleaving",
        ),
    ],
)
def test_what_does_not_go_together(postil: Postil, words: tuple[str, ...], said: str) -> None:
    log()
    outcome = postil("compare", *words)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"postil: {said}\n")


def test_what_is_no_log(postil: Postil) -> None:
    def refused(*lines: str) -> str:
        Path("log.jsonl").write_text("".join(f"{line}\n" for line in lines))
        outcome: Outcome = postil(*COMMAND)
        assert (outcome.code, outcome.out) == (3, "")
        return outcome.err

    log()
    first = Path("log.jsonl").read_text("utf-8").splitlines()[0]
    problem = "impression: expected one row per impression, got 'i0' of line 1 again"
    assert refused(first, "", first) == f"postil: log.jsonl:3: {problem}\n"
    assert refused(first.replace('"new"', '"base"')).startswith(
        "postil: log.jsonl:1: models: expected the names of two"
    )
    problem = "no suggestion of either model was clicked, answered or hidden; there is no preference"
    assert refused(first.replace("[1]", "[]").replace("[2]", "[]")) == f"postil: log.jsonl: {problem}\n"
    assert refused() == "postil: log.jsonl: the file holds no rows\n"


def test_what_cannot_be_said_is_not_said(postil: Postil) -> None:
    rows = [Impression(f"i{n}", str(n), ("base", "new"), (0, 1), (n % 2 + 1,)) for n in range(60)]
    write("log.jsonl", [*rows, Impression("x", "x", ("base", "other"), (0, 1), ())])
    said = postil(*COMMAND).out
    assert "new and base: nothing can be said, since a fair coin did not make these lists; see the notes\n" in said
    assert "other and base: no suggestion was clicked, answered or hidden, so nothing can be said\n" in said
    write("log.jsonl", [Impression(f"i{n}", str(n), ("base", "new"), (n % 2, 1 - n % 2), (1,)) for n in range(60)])
    said = postil(*COMMAND).out
    needed = "a preference of 0.05 needs about 725 more impressions"
    assert f"new and base cannot be told apart: new wins 30 of 60 impressions with a winner; {needed}\n" in said


def test_a_report_has_the_tables(postil: Postil) -> None:
    log()
    Path("found.json").write_text(postil(*COMMAND, "--format", "json").out)
    outcome = postil("report", "found.json", "--out", "report.html")
    assert outcome.code == 0, outcome.err
    assert "Interleaved suggestions" in Path("report.html").read_text("utf-8")
