"""`postil wmt`: from a folder to the table of the metrics task."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wmt_folders import write_set

if TYPE_CHECKING:
    from conftest import Outcome, Postil

HUMAN = {"A": [-1.0, -2.0, None], "B": [-3.0, -1.0, -4.0], "C": [-5.0, -4.0, -6.0], "refA": [0.0, 0.0, 0.0]}
GOOD = {"A": [0.9, 0.8, 0.1], "B": [0.5, 0.7, 0.4], "C": [0.2, 0.4, 0.1]}
TABLE = """\
wmt99 en-de: 3 systems, 3 judged segments; human scores: mqm; reference refA

metric     systems: pearson  segments: pearson  by segment: pearson
---------  ----------------  -----------------  -------------------
good-refA         1.000 (1)           .965 (1)             .945 (1)
BLEU-refA          .997 (1)                  -                    -

in brackets: rank of the significance cluster, one-sided p <= .05
excluded: references that metrics used: 1 (refA)
{few}seed 20181, 20 resamples, 50 permutations
"""


@pytest.fixture
def outcome(postil: Postil) -> Outcome:
    folder = Path("wmt99")
    means = {"A": [-1.5], "B": [-2.75], "C": [-5.0], "refA": [0.0]}
    metrics = {"good-refA.seg": GOOD, "BLEU-refA.sys": {"A": [30.5], "B": [27.25], "C": [19.0]}}
    metrics["good-refA.sys"] = {name: [0.5 - 0.1 * mean[0] / -1] for name, mean in means.items() if name != "refA"}
    texts = {name: ["x"] * 3 for name in HUMAN}
    human = {"mqm.seg": HUMAN, "mqm.sys": means}
    write_set(folder, "en-de", human=human, metrics=metrics, references={"refA": ["x"] * 3}, outputs=texts)
    return postil(*COMMAND)


COMMAND = ("wmt", "wmt99", "-l", "en-de", "-c", "pearson", "--resamples", "20", "--permutations", "50")


def test_the_table(outcome: Outcome) -> None:
    few = "".join(
        f"3 {units} are few: intervals and tests that resample {units} cannot be trusted below 10, so nothing is "
        "called significant by them alone\n"
        for units in ("systems", "segments")
    )
    assert (outcome.code, outcome.out) == (0, TABLE.replace("{few}", few))


@pytest.mark.parametrize(("systems", "rank"), [(4, 1), (12, 2)])
def test_resamples_of_few_systems_open_no_cluster(postil: Postil, systems: int, rank: int) -> None:
    """Kendall's coefficients have resamples alone, and of four systems nothing can be said by these."""
    names = [f"s{number:02}" for number in range(systems)]
    rising = {name: [float(place)] for place, name in enumerate(names)}
    falling = {name: [-float(place)] for place, name in enumerate(names)}
    write_set(
        Path("wmt99"), "en-de", human={"mqm.sys": rising}, metrics={"up-src.sys": rising, "down-src.sys": falling}
    )
    said = postil("wmt", "wmt99", "-l", "en-de", "-c", "kendall-b", "--resamples", "200", "--format", "json")
    assert said.code == 0, said.err
    assert json.loads(said.out)["ranks"] == {"system kendall-b": {"up-src": 1, "down-src": rank}}


def test_formats(outcome: Outcome, postil: Postil) -> None:
    assert outcome.code == 0
    rows = list(csv.DictReader(io.StringIO(postil(*COMMAND, "--format", "csv").out)))
    assert [(row["metric"], row["by"], row["rank"]) for row in rows[:2]] == [
        ("BLEU-refA", "system", "1"),
        ("good-refA", "system", "1"),
    ]
    whole = json.loads(postil(*COMMAND, "--format", "json").out)
    assert whole["kind"] == "wmt"
    assert whole["ranks"]["system pearson"] == {"good-refA": 1, "BLEU-refA": 1}
    assert whole["settings"]["command"].startswith("postil wmt wmt99")
    latex = postil(*COMMAND, "--format", "latex")
    assert r"\begin{tabular}{lrrr}" in latex.out
    assert "excluded: references" in latex.err
    Path("wmt.json").write_text(json.dumps(whole))
    assert postil("report", "wmt.json", "--out", "page.html").code == 0
    assert "good-refA" in Path("page.html").read_text(encoding="utf-8")


def test_the_table_of_a_paper(outcome: Outcome, postil: Postil) -> None:
    assert outcome.code == 0
    found = postil(*COMMAND, "--layout", "systems", "--digits", "3", "--format", "latex")
    assert r"good-refA & \textbf{1.000} & 0.965 & 0.945 \\" in found.out  # alone in two columns, so no best
    assert r"BLEU-refA & 0.997 & -- & -- \\" in found.out
    assert "not in the first significance cluster (one-sided test at .05)" in found.out


def test_rows_are_for_other_commands(outcome: Outcome, postil: Postil) -> None:
    assert outcome.code == 0
    assert postil(*COMMAND, "--rows", "rows").code == 0
    mine = postil(
        *("score", "rows/candidates.jsonl", "-r", "rows/references.jsonl", "-m", "rouge-1", "--items", "mine.jsonl")
    )
    assert mine.code == 0, mine.err
    with_mine = postil(*COMMAND, "--scores", "mine.jsonl")
    assert with_mine.code == 0, with_mine.err
    assert "no pearson of rouge-1 (systems): every score is 1" in with_mine.out


def test_scores_of_a_table(outcome: Outcome, postil: Postil) -> None:
    assert outcome.code == 0
    lines = [f"{place},{name},{value}" for name, of in GOOD.items() for place, value in enumerate(of, start=1)]
    Path("mine.csv").write_text("\n".join(["segment,model,mine", *lines]))
    names = ("--column", "item=segment", "--column", "system=model", "--metric-columns", "mine")
    found = postil(*COMMAND, "--scores", "mine.csv", *names)
    assert found.code == 0, found.err
    (line,) = [line.split() for line in found.out.splitlines() if line.startswith("mine")]
    assert line == ["mine", ".982", "(1)", ".965", "(1)", ".945", "(1)"]


def test_metrics_that_are_not_scored_are_refused_before_anything_is_written(outcome: Outcome, postil: Postil) -> None:
    assert outcome.code == 0
    before = sorted(Path().iterdir())
    wrong = postil(*COMMAND, "--rows", "rows", "--figures", "figures", "--name", "good=ours")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err == "postil: unknown metric 'good'; did you mean 'good-refA'? Known: BLEU-refA, good-refA\n"
    assert sorted(Path().iterdir()) == before
    assert "\nours  " in postil(*COMMAND, "--name", "good-refA=ours").out


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("wmt", "wmt99"), 2, "Missing option '--language-pair'"),
        (("wmt", "wmt99", "-l", "de-en"), 2, "unknown language pair 'de-en'. Known: en-de"),
        (("wmt", "nowhere", "-l", "en-de"), 3, "nowhere: no such folder"),
    ],
)
def test_errors(words: tuple[str, ...], code: int, problem: str, outcome: Outcome, postil: Postil) -> None:
    assert outcome.code == 0
    wrong = postil(*words)
    assert wrong.code == code
    assert problem in " ".join(wrong.err.split())
