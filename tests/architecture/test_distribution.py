"""The versions of Python that postil says it runs on: one list, wherever it stands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MINORS = [
    classifier.rpartition(".")[2]
    for classifier in PROJECT["project"]["classifiers"]
    if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", classifier)
]


def test_the_oldest_is_the_required_one() -> None:
    assert PROJECT["project"]["requires-python"] == f">=3.{MINORS[0]}"
    assert list(map(str, range(int(MINORS[0]), int(MINORS[-1]) + 1))) == MINORS


def test_each_has_a_wheel() -> None:
    assert PROJECT["tool"]["cibuildwheel"]["build"] == [f"cp3{minor}-*" for minor in MINORS]


@pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="the sdist has no workflows")
def test_each_is_tested() -> None:
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    (versions,) = re.findall(r"python: \[(.*)\]", text)
    assert re.findall(r'"3\.(\d+)"', versions) == MINORS


def test_the_distribution_is_tried_on_each() -> None:
    text = (ROOT / "tools" / "check_distribution.py").read_text(encoding="utf-8")
    (first, last) = re.findall(r"MINORS = range\((\d+), (\d+)\)", text)[0]
    assert list(map(str, range(int(first), int(last)))) == MINORS
