"""Figures that pages quote are those of the pages of benchmarks."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

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
    rows = page("docs/benchmarks.md")
    assert (len(speeds), len(ratios)) == (8, 4)
    assert [speed for speed in speeds if f"| {speed} [" not in rows] == []
    assert [ratio for ratio in ratios if f"| {ratio}x |" not in rows] == []


def test_speedups_of_other_programs() -> None:
    programs = r"^\| (?:pycocoevalcap|METEOR jar|sacrebleu|nltk|rouge-score \d|rouge-metric)[^|]*\|[^|]*\| ([\d.]+)x \|"
    found = [float(ratio) for ratio in re.findall(programs, page("docs/benchmarks.md"), re.MULTILINE)]
    least, most = quoted("docs/tutorials/coming-from.md", r"these programs take (\d+) to (\d+) times as long")
    assert (int(least), int(most)) == (min(found), max(found))


def test_the_time_of_a_large_corpus() -> None:
    seconds, each = quoted("docs/scale.md", r"million words\) in (\d+) s, ([\d.]+) s per million comments")
    assert f"**{seconds} s** ({each} s per million comments)" in page("docs/benchmarks-corpus.md")
    assert quoted("docs/decisions.md", r"9\.5 million comments: (\d+) s on") == (seconds,)


@pytest.mark.parametrize("name", ["docs/serve.md", "CHANGELOG.md"])
def test_the_latency_of_the_service(name: str) -> None:
    table = page("docs/benchmarks-serve.md")
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
