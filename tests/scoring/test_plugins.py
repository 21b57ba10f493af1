"""`--plugin` and entry points: own metrics on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import postil as package
from command_line import put, refusal
from postil.metrics import spec
from postil.options import changed_settings
from postil.studies.options import CommentsOptions
from postil.studies.stages import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Postil

pytestmark = pytest.mark.usefixtures("nothing_stays_registered")

COMMAND = ("score", "c.jsonl", "-r", "r.jsonl", "--plugin", "mine.py")

MINE = """
import math
from json import dumps

import postil


def words(candidate, references, *, most: int = 12):
    return len(candidate.split()) <= most


@postil.register_metric(name="my-metric", version="2", better="low", low=0)
def other(candidate: str, references: list[str], weights: list[float]) -> float:
    return sum(weights) / len(references)


def _hidden(candidate, references):
    return 1.0
"""


def test_functions_and_registered_metrics_of_a_file(postil: Postil) -> None:
    Path("mine.py").write_text(MINE)
    metrics = ("-m", "words", "-m", "words(most=1)", "-m", "my-metric", "-m", "w-my-metric", "-m", "meteor")
    outcome = postil(*COMMAND, *metrics, "--scale", "1:5", "--items", "s.jsonl", "--controls", "--draws", "2")
    assert outcome.code == 0, outcome.err
    assert "\nw-my-metric: w-my-metric|version:2|better:low|weights:score|scale:1:5|references:1-2|" in outcome.out
    rows = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    texts = [json.loads(line)["text"] for line in Path("c.jsonl").read_text().splitlines()]
    few = [row["score"] for row in rows if row["metric"] == "words(most=1)"]
    assert few == [float(len(text.split()) <= 1) for text in texts]
    assert {row["score"] for row in rows if row["metric"] == "my-metric"} == {1.0}
    assert any(row["metric"] == "control:top(w-my-metric)" for row in rows)
    compared = postil("compare", "s.jsonl", "--resamples", "20", "--permutations", "20", "--format", "json")
    assert json.loads(compared.out)["lower_is_better"] == ["my-metric", "w-my-metric"]


def test_a_metric_of_the_text_alone_needs_no_references(postil: Postil) -> None:
    Path("mine.py").write_text("def marks(text):\n    return text.count('!')\n")
    Path("answers.csv").write_text("item,text,rating\n1,Yes!,4\n2,no,1\n3,Oh! Well!,5\n")
    outcome = postil("score", "answers.csv", "--plugin", "mine.py", "-m", "marks", "--items", "s.jsonl", "--controls")
    assert outcome.code == 0, outcome.err
    assert [line.split() for line in outcome.out.splitlines()[2:3]] == [["answers", "3", "1.0000"]]
    rows = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    assert [(row["item"], row["metric"], row["score"]) for row in rows] == [
        ("1", "marks", 1.0),
        ("2", "marks", 0.0),
        ("3", "marks", 2.0),
        ("1", "control:length", 1.0),
        ("2", "control:length", 1.0),
        ("3", "control:length", 2.0),
    ]
    ratings = ("--judgements", "answers.csv", "--column", "judgements.grade=rating")
    compared = postil("correlate", "s.jsonl", *ratings, "--format", "json")
    assert compared.code == 0, compared.err
    found = json.loads(compared.out)
    assert (found["data"]["texts"], found["correlations"][0]["metric"]) == (3, "marks")


def test_texts_of_several_files_without_references(postil: Postil) -> None:
    Path("mine.py").write_text("def marks(text):\n    return text.count('!')\n")
    Path("a.txt").write_text("Yes!\nno\n")
    Path("b.txt").write_text("Oh!!\n")
    outcome = postil("score", "a.txt", "b.txt", "--plugin", "mine.py", "-m", "marks", "--format", "jsonl")
    assert outcome.scores == {("a", "marks"): 0.5, ("b", "marks"): 2.0}
    assert "b: no candidate for 1 of 2 items; its scores are over the others" in outcome.err


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            ("-m", "meteor", "-m", "marks"),
            "expected references (--references FILE), which meteor read; a metric of the",
        ),
        ((), "which bleu-4, meteor, rouge-l and cider-d read"),
        (("-m", "marks", "--scale", "5"), "--scale is of references, and there are none"),
        (("-m", "marks", "--save-background", "b"), "--save-background is of references, and there are none"),
        (("-m", "marks", "--ungraded", "drop"), "--ungraded is of references, and there are none"),
    ],
)
def test_what_needs_references_is_named(postil: Postil, more: tuple[str, ...], told: str) -> None:
    Path("mine.py").write_text("def marks(text):\n    return text.count('!')\n")
    assert told in refusal(postil, "score", "c.jsonl", "--plugin", "mine.py", *more, code=2)


def test_what_a_metric_prints_is_not_in_the_result(postil: Postil) -> None:
    Path("mine.py").write_text("print('loading')\ndef f(x, y):\n    print(x)\n    return 0.5\n")
    outcome = postil(*COMMAND, "-m", "f", "--format", "jsonl")
    assert set(outcome.scores.values()) == {0.5}
    assert outcome.err.startswith("loading\n")


def test_a_module_is_found_as_python_finds_it(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("plugins").mkdir()
    Path("plugins/of_mine_alone.py").write_text(MINE)
    outcome = postil("score", "c.jsonl", "-r", "r.jsonl", "--plugin", "of_mine_alone", "-m", "words")
    assert outcome.code == 2
    assert "plugin of_mine_alone: Python finds no such module; a file is given with its ending" in outcome.err
    monkeypatch.syspath_prepend(str(Path("plugins").resolve()))
    try:
        assert postil("score", "c.jsonl", "-r", "r.jsonl", "--plugin", "of_mine_alone", "-m", "words").code == 0
    finally:
        del sys.modules["of_mine_alone"]


@pytest.mark.parametrize(
    ("code", "text", "told"),
    [
        (2, None, "plugin mine.py: there is no such file"),
        (1, "import nothing_of_this_name\n", "plugin mine.py: ModuleNotFoundError: No module named 'nothing_of_this"),
        (1, "\nx = 1 / 0\n", "plugin mine.py: ZeroDivisionError: division by zero, line 2 of mine.py"),
        (1, "def f(:\n", "plugin mine.py: SyntaxError: invalid syntax (mine.py, line 1)\n"),
        (1, "import sys; sys.exit(0)", "plugin mine.py: SystemExit: 0, line 1 of mine.py"),
        (2, MINE.replace("my-metric", "meteor"), "plugin mine.py: metric meteor: the package has one of that name"),
        (2, MINE.replace("my-metric", "my metric"), "plugin mine.py: metric 'my metric': expected a name of letters"),
        (2, "def f(): return 1\n", "metric f: expected a function of (candidate), (candidate, references) or"),
        (2, "def fff(x, y): return 1\n", "unknown metric 'f'; did you mean 'fff'? Known: bertscore, "),
        (2, "from math import dist as f\n", "unknown metric 'f'"),
        (2, MINE.replace("other", "f"), "unknown metric 'f'"),  # its name is my-metric, and lower is better
        (
            1,
            "def f(x, y): return 1 / 0\n",
            'c.jsonl:1: text: f raised ZeroDivisionError: division by zero, line 1 of mine.py (candidate "',
        ),
        (1, "import sys\ndef f(x, y): sys.exit(0)\n", "c.jsonl:1: text: f raised SystemExit: 0, line 2 of mine.py"),
        (1, "def f(x, y): return None\n", "c.jsonl:1: text: f returned None; expected a finite number (candidate"),
    ],
)
def test_what_is_wrong_with_a_plugin(postil: Postil, code: int, text: str | None, told: str) -> None:
    if text is not None:
        Path("mine.py").write_text(text)
    outcome = postil(*COMMAND, "-m", "f")
    assert (outcome.code, outcome.out) == (code, "")
    assert told in outcome.err
    assert "Traceback" not in outcome.err


def test_a_plugin_imports_what_lies_beside_it(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("kept").mkdir()
    Path("kept/lexicon_beside.py").write_text("HARD = {'bus'}\n")
    Path("kept/mine.py").write_text(
        "from lexicon_beside import HARD\ndef hard(text): return len(HARD.intersection(text.split()))\n"
    )
    monkeypatch.delitem(sys.modules, "lexicon_beside", raising=False)
    before = list(sys.path)
    outcome = postil("score", "c.jsonl", "--plugin", "kept/mine.py", "-m", "hard")
    assert outcome.code == 0, outcome.err
    assert sys.path == before


def test_studies_and_consensus_take_plugins(postil: Postil) -> None:
    Path("mine.py").write_text(MINE + "\n\npostil.register_metric(name='same', low=0)(lambda a, b: float(a == b[0]))\n")
    options = CommentsOptions(metrics=("words", "w-my-metric"), plugins=("mine.py",))
    assert words_of(changed_settings(options), type(options)) == [
        "--plugin",
        "mine.py",
        "--metric",
        "words",
        "--metric",
        "w-my-metric",
    ]
    with pytest.raises(package.UsageError, match="w-words: words reads no weights"):
        CommentsOptions(metrics=("w-words",), plugins=("mine.py",))
    outcome = postil(*COMMAND, "-m", "w-rouge-1", "--weights", "consensus(same)")
    assert "|weights:consensus(same|source:" in outcome.out, outcome.err


def test_own_metrics_run_here_alone(postil: Postil) -> None:
    Path("mine.py").write_text(MINE)
    outcome = postil(*COMMAND, "-m", "words", "--engine", "ray")
    assert outcome.code == 2
    assert outcome.err == "postil: words: metrics from outside the package run with --engine local, not ray\n"


def installed(folder: Path, name: str, points: str) -> None:
    info = folder / f"{name}-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[postil.metrics]\n{points}")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_entry_points_are_loaded_when_a_spec_names_them(postil: Postil, site: Path) -> None:
    (site / "their_package.py").write_text(MINE)
    (site / "broken_package.py").write_text("raise RuntimeError('no GPU')\n")
    points = (
        "short = their_package:words",
        "my-metric = their_package:other",
        "broken = broken_package:f",
        "meteor = a:b",
    )
    installed(site, "theirs", "\n".join(points))
    assert package.parse_metric("rouge-l")
    with pytest.raises(package.UsageError, match=r"Known: .*, short, my-metric, broken$") as caught:
        package.parse_metric("nothing-like-it")
    assert str(caught.value).count("meteor") == 1
    assert "their_package" not in sys.modules
    command = ("score", "c.jsonl", "-r", "r.jsonl", "--scale", "1:5")
    outcome = postil(*command, "-m", "short(most=3)", "-m", "w-my-metric", "-m", "my-metric", "--format", "jsonl")
    assert {metric for _, metric in outcome.scores} == {"short(most=3)", "w-my-metric", "my-metric"}
    assert str(package.parse_metric("short")) == "short(most=12)"
    assert "broken_package" not in sys.modules
    outcome = postil(*command, "-m", "broken")
    assert (outcome.code, outcome.out) == (1, "")
    assert "broken_package:f (entry point of the metric broken): RuntimeError: no GPU, line 1 of bro" in outcome.err
    installed(site, "others", "short = other_package:words\n")
    spec._OWN._made.clear()
    with pytest.raises(package.UsageError, match=r"metric short: several packages have one: .* of others"):
        package.parse_metric("short")


def test_names_in_score_files_load_nothing(postil: Postil, site: Path) -> None:
    installed(site, "theirs", "foreign = their_package:words\n")
    (site / "their_package.py").write_text("raise RuntimeError\n")
    rows = [{"item": f"{i}", "system": s, "metric": "foreign", "score": i} for s in "ab" for i in range(3)]
    put("s.jsonl", rows)
    assert postil("compare", "s.jsonl", "--resamples", "20", "--permutations", "20").code == 0
    Path("s.jsonl").write_text("".join(f"{json.dumps(row | {'statistics': [1.0, 1.0]})}\n" for row in rows))
    outcome = postil("compare", "s.jsonl")
    assert (
        "foreign: its corpus score cannot be computed here (unknown metric with the signature external)" in outcome.err
    )
    assert "their_package" not in sys.modules
