"""The SBOM: complete, the same whenever it is made, and valid."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
NOTICES = (ROOT / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return import_module("make_sbom")


@pytest.fixture
def text(tool: ModuleType) -> str:
    made: str = tool.sbom("postil", packages(tool), NOTICES)
    return made


def packages(tool: ModuleType) -> list[object]:
    requires = ("Num_Py>=2", "zip-lib; python_version < '3'", "web; extra == 'web'", "gone")
    return [
        tool.Package("zip-lib", "1", license="MIT License"),
        tool.Package("pip", "26"),
        tool.Package("postil", "0.1.0", "Numbers", "Apache-2.0 AND 0BSD", requires=requires),
        tool.Package("num.py", "2.0", requires=("zip-lib",)),
        tool.Package("web", "3"),
    ]


def test_it_has_what_is_inside_and_beside(text: str) -> None:
    made = json.loads(text)
    subject = made["metadata"]["component"]
    assert (subject["purl"], subject["licenses"]) == ("pkg:pypi/postil@0.1.0", [{"expression": "Apache-2.0 AND 0BSD"}])
    assert [each["name"] for each in subject["components"]] == ["htmx", "nanobind", "robin-map"]
    assert [each["licenses"][0]["license"]["id"] for each in subject["components"]] == ["0BSD", "BSD-3-Clause", "MIT"]
    assert [each["purl"] for each in made["components"]] == [
        "pkg:pypi/num-py@2.0",
        "pkg:pypi/web@3",
        "pkg:pypi/zip-lib@1",
    ]
    assert "licenses" not in made["components"][0]
    assert made["components"][2]["licenses"] == [{"license": {"name": "MIT License"}}]


def test_edges_are_requirements_that_apply(text: str) -> None:
    edges = {each["ref"]: each["dependsOn"] for each in json.loads(text)["dependencies"]}
    assert [each for each in edges["pkg:pypi/postil@0.1.0"] if "pypi" in each] == [
        "pkg:pypi/nanobind@3.1.0",
        "pkg:pypi/num-py@2.0",
    ]
    assert edges["pkg:pypi/num-py@2.0"] == ["pkg:pypi/zip-lib@1"]


def test_the_order_of_the_environment_does_not_matter(tool: ModuleType, text: str) -> None:
    assert tool.sbom("postil", packages(tool)[::-1], NOTICES) == text


def test_it_is_valid(text: str) -> None:
    pytest.importorskip("jsonschema", reason="`make dist` installs and checks it")
    json_checks = pytest.importorskip("cyclonedx.validation.json", reason="`make dist` installs and checks it")
    version = import_module("cyclonedx.schema").SchemaVersion.V1_6
    assert json_checks.JsonStrictValidator(version).validate_str(text) is None
    assert json_checks.JsonStrictValidator(version).validate_str(text.replace('"library"', '"book"')) is not None
