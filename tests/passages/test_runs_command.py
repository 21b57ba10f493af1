"""`postil passages --runs`: rankings as other tools read them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.corpus.importers.trec import read_run
from postil.data.row_files import write
from postil.data.rows import Passage
from postil.passages.calls import find_gains
from postil.passages.files import write_runs
from postil.passages.gain import normalized_gains
from postil.passages.options import PassagesOptions

if TYPE_CHECKING:
    from conftest import Postil

COMMAND = ("passages", "p.jsonl", "--resamples", "20", "--runs", "runs")
MEASURES = ("-m", "logsim-1", "-m", "kl-1", "-m", "f1-1", "-m", "tf-idf-1")


@pytest.fixture(autouse=True)
def rows(postil: Postil) -> list[Passage]:
    """Six topics of 25 passages of many lengths, so that LogSim, KL and TF-IDF have no ties and F1 has some."""
    assert postil  # it changed the folder
    rng = np.random.default_rng(5)
    chance = 1.0 / np.arange(1, 301)
    found = [
        Passage(
            f"t{i % 6}",
            f"d{i}",
            " ".join(f"w{w}" for w in rng.choice(300, 10 + i % 17, p=chance / chance.sum())),
            grade=int(rng.integers(0, 4)),
        )
        for i in range(150)
    ]
    write("p.jsonl", found)
    return found


def written() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path("runs").iterdir()}


def gain(run: str, rows: list[Passage], k: int) -> float:
    """nCG of a run that was read, the mean over topics."""
    grades = {(row.topic, row.id): row.grade or 0.0 for row in rows}
    return float(
        np.mean(
            [
                normalized_gains(ranking.scores, [grades[topic, name] for name in ranking.keys])[k - 1]
                for topic, ranking in read_run(f"runs/{run}.run").items()
            ]
        )
    )


@pytest.mark.parametrize(
    ("more", "names"),
    [
        (
            ("--leave-one-out",),
            {
                f"informativeness-{name}{end}": f"{name}{end.replace('-without-', ', without ')}"
                for name in ("logsim-1", "kl-1", "f1-1", "tf-idf-1")
                for end in ("", "-without-itself")
            },
        ),
        (
            ("--reference", "others", "-m", "w-logsim-1"),
            {
                f"interestingness-{name}-without-itself": f"{name}, without itself"
                for name in ("logsim-1", "kl-1", "f1-1", "tf-idf-1", "w-logsim-1")
            },
        ),
    ],
)
def test_runs_gain_what_the_rankings_gain(
    postil: Postil, rows: list[Passage], more: tuple[str, ...], names: dict[str, str]
) -> None:
    outcome = postil(*COMMAND, *MEASURES, *more, "--pool", "topic", "-k", 1, "-k", 5, "-k", 10, "--format", "json")
    assert outcome.code == 0, outcome.err
    assert set(written()) == {f"{name}.run" for name in names}
    *lines, tied = outcome.err.splitlines()
    assert sorted(lines) == sorted(f"written: {Path('runs', name)}.run" for name in names)
    assert tied.startswith("tied within their topic, in the runs by id, of 150 passages: f1-1")
    assert "kl" not in tied
    found = {
        (f"{row['measure']}{', without itself' * row['leave_one_out']}", row["k"]): row["ncg"]
        for row in json.loads(outcome.out)["gains"]
    }
    for run, name in names.items():
        for k in (1, 5, 10):
            if name not in tied:
                assert gain(run, rows, k) == pytest.approx(found[name, k], abs=1e-12), (name, k)
    assert any(name not in tied for name in names.values())


def test_a_run_by_hand(postil: Postil) -> None:
    """R is {a, b, c} of p9, p1 and p2: F1 is 2/4 for each of them, 6/7 for p3, 0 for p4 and p5."""
    texts = {"p9": "a", "p1": "b", "p2": "c", "p4": "x", "p5": "y", "p3": "a b c d"}
    topic = [Passage("7", name, text, grade=float(name in {"p9", "p1", "p2"})) for name, text in texts.items()]
    write("p.jsonl", [*topic, Passage("2", "q", "a", grade=1), Passage("2", "r", "b", grade=0)])
    outcome = postil(*COMMAND, "-m", "f1-1", "-m", "random")
    assert outcome.code == 0
    assert outcome.err.splitlines() == [
        f"written: {Path('runs', 'informativeness-f1-1.run')}",
        "a run has one list per topic, as with --pool topic; the gains here are of one list of all passages",
        "tied within their topic, in the runs by id, of 8 passages: f1-1: 5",
    ]
    assert {name: data.decode().splitlines() for name, data in written().items()} == {
        "informativeness-f1-1.run": [
            "2 Q0 q 1 1.0 informativeness-f1-1",
            "2 Q0 r 2 0.0 informativeness-f1-1",
            "7 Q0 p3 1 6 informativeness-f1-1",
            "7 Q0 p1 2 5 informativeness-f1-1",
            "7 Q0 p2 3 4 informativeness-f1-1",
            "7 Q0 p9 4 3 informativeness-f1-1",
            "7 Q0 p4 5 2 informativeness-f1-1",
            "7 Q0 p5 6 1 informativeness-f1-1",
        ]
    }


def test_scores_that_differ_by_rounding_are_tied(rows: list[Passage]) -> None:
    """As in gains: .1 + .2 is above .3 in its last digit, and d0 is before d6."""
    result, scored = find_gains(rows, PassagesOptions(measures=("f1-1",), resamples=1))
    scores = np.zeros(len(rows))
    places = {row.id: place for place, row in enumerate(scored.passages)}
    scores[places["d0"]], scores[places["d6"]] = 0.3, 0.1 + 0.2
    scored = replace(scored, rankings=[replace(scored.rankings[0], scores=scores)])
    write_runs(Path("runs"), result, scored, lambda _: None)
    assert read_run("runs/informativeness-f1-1.run")["t0"].keys[:2].tolist() == ["d0", "d6"]


def test_passages_without_a_number_are_last(postil: Postil) -> None:
    """Nothing is left of the reference of p1 without it, and p3 has no unit."""
    texts = {"p1": ("a b", 1), "p2": ("a", 0), "p3": ("...", 0)}
    write("p.jsonl", [Passage("7", name, text, grade=grade) for name, (text, grade) in texts.items()])
    assert postil(*COMMAND, "-m", "kl-1", "--leave-one-out").code == 0
    orders = {name: [line.split()[2] for line in data.decode().splitlines()] for name, data in written().items()}
    assert orders == {
        "informativeness-kl-1.run": ["p1", "p2", "p3"],
        "informativeness-kl-1-without-itself.run": ["p2", "p1", "p3"],
    }


def test_the_same_bytes_whatever_the_pool_and_the_jobs(postil: Postil) -> None:
    seen = []
    for more in ((), (), ("--jobs", 3), ("--pool", "topic"), ("--resamples", 30, "--seed", 4)):
        assert postil(*COMMAND, *MEASURES, *more).code == 0
        seen.append(written())
    assert all(each == seen[0] for each in seen)
    assert postil(*COMMAND, "-m", "kl-1(upto=false)", "-m", "f1-1(beta=2)").code == 0
    assert set(written()) == {*seen[0], "informativeness-kl-1-upto-false.run", "informativeness-f1-1-beta-2.run"}


@pytest.mark.parametrize("bad", [Passage("rye bread", "1", "a b", grade=1), Passage("t1", "1 2", "a b", grade=1)])
def test_names_that_are_two_words(postil: Postil, rows: list[Passage], bad: Passage) -> None:
    write("p.jsonl", [*rows, bad])
    outcome = postil(*COMMAND, *MEASURES)
    assert (outcome.code, outcome.out) == (3, "")
    shown = bad.topic if " " in bad.topic else bad.id
    assert outcome.err == f'postil: p.jsonl: --runs: expected an id without white space, got "{shown}"\n'
    assert not Path("runs").exists()


def test_a_folder_that_cannot_be(postil: Postil) -> None:
    Path("runs").write_text("mine")
    outcome = postil(*COMMAND, "-m", "f1-1")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("postil: runs: cannot be written: ")
    assert Path("runs").read_text() == "mine"


def test_other_files_in_the_folder_stay(postil: Postil) -> None:
    Path("runs").mkdir()
    Path("runs/bm25.run").write_text("t1 Q0 d1 1 1 bm25\n")
    assert postil(*COMMAND, "-m", "f1-1").code == 0
    assert set(written()) == {"bm25.run", "informativeness-f1-1.run"}
    assert [path.name for path in Path("runs").iterdir() if path.name.startswith(".")] == []
