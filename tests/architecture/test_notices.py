"""Licenses of what is shipped: THIRD_PARTY_NOTICES.md against the files of the package."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "postil"
NOTICES = (ROOT / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMED = re.findall(r"`((?:src|bench)/[^`]+)`", NOTICES)
"""Files and patterns of files that the notices name."""
OURS = (
    *(
        "py.typed",
        "comments/prompt.txt",
        "comments/select.txt",
        "screening/*.txt",
        "judging/*.txt",
        "text/abbreviations.txt",
        "text/stop_lists/*.txt",
    ),
    *("sample/README.md", "sample/articles.jsonl", "sample/candidates.jsonl", "sample/judgements.jsonl"),
    "locale/*/LC_MESSAGES/postil.po",
    "sample/night-train.md",
    "sample/paper-*.json",
    *("results/page/*.css", "results/page/*.html", "interest/html/*.css", "interest/html/*.js"),
    *("web/static/*.css", "web/static/*.js", "web/static/icon.svg", "web/templates/*.html"),
)
"""Files that were written for the package. A word list or a table gets a pattern here when its author is known."""
BUILT = ("*.py", "*.pyc", "*.pyi", "kernel/_compiled*")
LONGEST = 1000
"""Characters of a line beyond which a script or style was made smaller by a program, so that another wrote it."""


def files() -> dict[str, Path]:
    """Files of the package that are neither Python nor built from this repository, by their path in it."""
    found = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*") if path.is_file()}
    return {name: path for name, path in found.items() if not any(fnmatch(name, each) for each in BUILT)}


def is_named(name: str) -> bool:
    return any(fnmatch(f"src/postil/{name}", each) for each in NAMED)


def test_every_file_is_ours_or_named() -> None:
    unknown = [name for name in files() if not is_named(name) and not any(fnmatch(name, each) for each in OURS)]
    assert unknown == [], "name them in THIRD_PARTY_NOTICES.md with their license, or in OURS if you wrote them"


def test_files_that_another_wrote_are_named() -> None:
    suspicious = re.compile(r"copyright|@license|spdx-license|sourceMappingURL|all rights reserved", re.IGNORECASE)
    for name, path in files().items():
        if path.suffix in {".css", ".html", ".js", ".svg", ".txt"} and not is_named(name):
            text = path.read_text(encoding="utf-8")
            assert not suspicious.search(text), name
            if path.suffix in {".css", ".js"}:
                assert max(map(len, text.splitlines())) < LONGEST, f"{name} was minified"


def test_what_is_named_is_there() -> None:
    gone = [
        each for each in NAMED if each.startswith("src/") and "_compiled" not in each and not (ROOT / each).is_file()
    ]
    assert gone == []


def components() -> dict[str, tuple[str, str]]:
    """Version and license of each piece of software."""
    found = re.findall(r"^### (\S+) (\d\S*)\n\n- Package: .*\n- License: `([^`]+)`$", NOTICES, re.MULTILINE)
    return {name: (version, terms) for name, version, terms in found}


def test_the_license_of_the_distribution_is_that_of_all_its_parts() -> None:
    shipped = re.findall(r"^- License: `([^`]+)`.*\n- Use: .*\n- In (?!neither)", NOTICES, re.MULTILINE)
    assert {*PROJECT["license"].split(" AND ")} == {"Apache-2.0", *shipped}
    assert {"LICENSE", "THIRD_PARTY_NOTICES.md"} == set(PROJECT["license-files"])
    assert len(components()) == NOTICES.count("- Package: `pkg:") == NOTICES.count("```text\n")


def test_versions_are_those_that_are_shipped() -> None:
    htmx = (PACKAGE / "web" / "static" / "htmx.LICENSE.txt").read_text(encoding="utf-8")
    assert htmx.startswith(f"htmx {components()['htmx'][0]}, ")
    text = htmx.partition("\n\n")[2].strip()
    assert text in NOTICES
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert f"nanobind=={components()['nanobind'][0]}" in constraints


@pytest.mark.skipif(not (ROOT / "bench").is_dir(), reason="the sdist has no benchmarks")
def test_documents_of_the_graded_sentences_have_licenses() -> None:
    page = (ROOT / "bench" / "interest" / "rated" / "README.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 5
    assert all(re.search(r"CC BY-SA [34]\.0|CC0|public domain", row[3]) for row in rows)
