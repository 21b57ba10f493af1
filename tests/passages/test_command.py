"""`postil passages`: what can be asked of it, and that the answer depends on nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from postil.data.row_files import read, write
from postil.data.rows import Judgement, Passage, Score
from postil.results.formats import FORMATS

if TYPE_CHECKING:
    from conftest import Outcome, Postil

COMMAND = ("passages", "p.jsonl", "--resamples", "50")
FEW = (*COMMAND, "-m", "f1-1", "-m", "kl-1")
KINDS = ("jsonl", "jsonl.gz", "parquet")
ITSELF = ", without itself"

# ducks: R is {a, b, c}; F1 of p1 to p4 is 1, 2/4, 0 and 6/7, so the grades from the top are 1 0 2 0.
# bread: R is {m, o}; F1 is 1, 0 and 2/4, so the grades are 2 0 0.
SMALL = [
    Passage("ducks", "p1", "a b c", grade=1),
    Passage("ducks", "p2", "a", grade=2),
    Passage("ducks", "p3", "x", grade=0),
    Passage("ducks", "p4", "a b c d", grade=0),
    Passage("bread", "q1", "m o", ("oven",), 2),
    Passage("bread", "q2", "n", grade=0),
    Passage("bread", "q3", "m n", ("Oven",), 0),
]


def small() -> None:
    write("p.jsonl", SMALL)


def study() -> None:
    """Six topics of twelve passages of common and rare words; the informative ones share words."""
    rows = []
    for t in range(6):
        for i in range(12):
            words = [f"w{(i * 5 + t + n * n) % 19}" for n in range(4 + i % 5)]
            grade = (i * 7 + t) % 4
            words += [f"t{t}x{(i + n) % 5}" for n in range(grade)]
            anchors = tuple(f"A{each}" for each in range(grade, grade + 2))
            rows.append(Passage(f"topic-{t}", f"{i}", " ".join(words).capitalize() + ".", anchors, grade))
    write("p.jsonl", rows)


def rows(outcome: Outcome) -> dict[tuple[str, int], dict[str, Any]]:
    """Rows of `--format jsonl` by measure and cut."""
    assert outcome.code == 0, outcome.err
    found = [json.loads(line) for line in outcome.out.splitlines()]
    return {(f"{row['measure']}{ITSELF * row['leave_one_out']}", row["k"]): row for row in found}


def test_the_table(postil: Postil) -> None:
    small()
    outcome = postil(*COMMAND, "-m", "f1-1", "-m", "length", "--pool", "topic", "-k", 1)
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == (
        "informativeness: 7 passages of 2 topics, 3 with a grade above 0; one list per topic, the mean of them; "
        "95 % confidence intervals over topics"
    )
    assert [re.split(r"\s{2,}", line)[0] for line in lines[2:6]] == ["measure", "-------", "f1-1", "length"]
    assert lines[4] == "f1-1     .750 [.500, 1.000]"
    assert lines[7].startswith("f1-1 minus (* p < .05)")
    assert (
        "a passage is part of its topic's reference; rankings that end in ', without itself' are leave-one-out" in lines
    )
    assert (
        "* p < .05 by sign flips of topics, Holm-adjusted for all pairs at a rank cutoff; all pairs: --format json"
        in lines
    )
    assert "ties: expected value; seed 20181, 50 resamples" in lines
    assert lines[-2] == "signatures: f1-1(upto=false,beta=1) length(inverse=true)"
    assert lines[-1].startswith("  each with |words:words-2|stop:none|stem:none|reference:topic|itself:in|scale:0:2|")


def test_interestingness(postil: Postil) -> None:
    study()
    outcome = postil(*FEW, "--reference", "others", "--folds", 3)
    assert outcome.out.startswith(
        "interestingness: 72 passages of 6 topics, 54 with a grade above 0; all in one list; 95 %"
    )
    assert "intervals over folds\n" in outcome.out
    assert "a passage is part of" not in outcome.out
    found = rows(postil(*FEW, "--reference", "others", "--folds", 3, "--format", "jsonl"))
    for (name, _), row in found.items():
        assert name.endswith(ITSELF)
        assert row["reference"] == "others"
        assert "|reference:others|itself:out|folds:3|folds-by:seed|seed:20181|" in row["signature"]
    lists = postil(*FEW, "--reference", "others", "--pool", "topic", "-k", 5)
    assert "one list per topic, the mean of them; 95 % confidence intervals over topics\n" in lists.out


def test_what_a_format_has_no_place_for_goes_to_standard_error(postil: Postil) -> None:
    write("p.jsonl", [*SMALL, Passage("moss", "r1", "a", grade=0), Passage("ducks", "p5", "?", grade=0)])
    for form in FORMATS:
        outcome = postil(*FEW, "--leave-one-out", "--format", form)
        if form in {"table", "json"}:
            assert outcome.err == ""
            assert "not ranked" in outcome.out
        else:
            lines = outcome.err.splitlines()
            assert lines[0] == "excluded: topics without a passage above grade 0, not ranked: 1 (moss)"
            assert lines[1] == "note: passages without a unit of 1, ranked last: 1 (p5 of ducks)"
            assert lines[-1] == "ties: expected value; seed 20181, 50 resamples"
            assert set(lines) < set(postil(*FEW, "--leave-one-out").out.splitlines())


# Files


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_every_passage(postil: Postil, kind: str) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    small()
    outcome = postil(*FEW, "-m", "w-f1-1", "-k", 1, "--scores", f"s.{kind}")
    assert outcome == postil(*FEW, "-m", "w-f1-1", "-k", 1)
    found = list(read(f"s.{kind}", Score))
    values = {(row.item, row.system): row.score for row in found if row.metric == "f1-1"}
    assert list(values) == [(row.topic, row.id) for row in SMALL]
    assert list(values.values()) == pytest.approx([1.0, 2 / 4, 0.0, 6 / 7, 1.0, 0.0, 2 / 4])
    # divergences with a minus; of q1 nothing is left without itself
    assert all(row.score < 0 for row in found if row.metric == "kl-1")
    assert [row.system for row in found if row.metric == f"w-f1-1{ITSELF}"] == ["p1", "p2", "p3", "p4", "q2", "q3"]
    assert len({row.signature for row in found}) == 3


def test_scores_are_what_correlate_reads(postil: Postil) -> None:
    study()
    assert postil(*FEW, "--leave-one-out", "--scores", "s.jsonl").code == 0
    write("j.jsonl", (Judgement(row.topic, row.id, "ann", row.grade or 0.0) for row in read("p.jsonl", Passage)))
    asked = ("correlate", "s.jsonl", "--judgements", "j.jsonl", "--resamples", 50, "--permutations", 50)
    for by in ("pool", "item"):
        outcome = postil(*asked, "--by", by, "-c", "spearman", "--format", "jsonl")
        assert outcome.code == 0, outcome.err
        metrics = [json.loads(line)["metric"] for line in outcome.out.splitlines()]
        assert metrics[:4] == ["f1-1", "kl-1", f"f1-1{ITSELF}", f"kl-1{ITSELF}"]


def test_figures(postil: Postil) -> None:
    pytest.importorskip("matplotlib")
    study()
    asked = (*FEW, "-m", "w-f1-1", "-m", "tf-idf-1", "-m", "length", "--figures", "pictures/all")
    outcome = postil(*asked)
    names = [f"informativeness-{name}.svg" for name in ("f1", "kl", "tf-idf", "baselines", "w-f1", "best")]
    paths = [Path("pictures", "all", name).with_suffix(ending) for name in names for ending in (".svg", ".pdf")]
    assert sorted(outcome.err.splitlines()) == sorted(f"written: {path}" for path in paths)
    assert outcome.out == postil(*asked[:-2]).out
    pictures = {name: Path("pictures", "all", name).read_bytes() for name in names}
    for picture in pictures.values():
        assert b"<svg" in picture
    assert postil(*asked).code == 0
    assert pictures == {name: Path("pictures", "all", name).read_bytes() for name in names}
    assert postil(*asked, "--reference", "others").code == 0
    assert Path("pictures/all/interestingness-f1.svg").exists()


def test_a_page(postil: Postil) -> None:
    for extra in ("jinja2", "matplotlib"):
        pytest.importorskip(extra)
    study()
    outcome = postil(*FEW, "--leave-one-out", "--report", "page.html")
    assert (outcome.code, outcome.err.splitlines()) == (0, ["written: page.html", "written: page_files"])
    assert outcome.out == postil(*FEW, "--leave-one-out").out
    page = Path("page.html").read_text(encoding="utf-8")
    assert "kl-1, without itself" in page
    assert "|itself:out|" in page


# What changes nothing


def test_the_same_bytes_every_time_and_whatever_the_jobs(postil: Postil) -> None:
    study()
    for more in ((), ("--reference", "others", "--folds", "3")):
        asked = (*COMMAND, "--leave-one-out", *more, "--format", "json")
        seen = {postil(*asked, "--jobs", jobs).out for jobs in (1, 1, 2, 3)}
        command = [sys.executable, "-m", "postil", *asked]
        environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONIOENCODING": "ascii"}
        done = subprocess.run(command, capture_output=True, check=True, env=environment)  # noqa: S603 - our own program
        seen.add(done.stdout.decode())
        assert len({re.sub(r'"command": .*', "", out) for out in seen}) == 1


def test_another_seed_moves_intervals_and_nothing_else(postil: Postil) -> None:
    study()
    one, other = (rows(postil(*FEW, "--format", "jsonl", "--seed", seed)) for seed in (1, 2))
    assert {key: row["ncg"] for key, row in one.items()} == {key: row["ncg"] for key, row in other.items()}
    assert [row["low"] for row in one.values()] != [row["low"] for row in other.values()]
    assert "seed 2, 30 resamples\n" in postil(*FEW, "--seed", 2, "--resamples", 30).out


def test_the_example_in_the_help_runs(postil: Postil) -> None:
    study()
    said = re.sub(r"-\s+", "-", re.sub(r"[ \n]+", " ", postil("passages", "--help").out))
    example = said.partition("Example: postil ")[2].partition(" Arguments:")[0]
    words = example.replace("passages.jsonl", "p.jsonl").split()
    assert words[0] == "passages"
    assert postil(*words).code == 0
