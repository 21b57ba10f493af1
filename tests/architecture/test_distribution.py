"""Shipped parts: versions of Python, files of `deploy/`, and the SBOM."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, get_type_hints

import pytest

from postil.campaigns.options import ServeOptions
from postil.options import flag_name, split_hint
from postil.service.options import ServiceOptions

if TYPE_CHECKING:
    from types import ModuleType


ROOT = Path(__file__).parents[2]
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MINORS = [
    classifier.rpartition(".")[2]
    for classifier in WHOLE["project"]["classifiers"]
    if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", classifier)
]


def test_the_oldest_is_the_required_one() -> None:
    assert WHOLE["project"]["requires-python"] == f">=3.{MINORS[0]}"
    assert list(map(str, range(int(MINORS[0]), int(MINORS[-1]) + 1))) == MINORS


def test_each_has_a_wheel() -> None:
    assert WHOLE["tool"]["cibuildwheel"]["build"] == [f"cp3{minor}-*" for minor in MINORS]


@pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="the sdist has no workflows")
def test_each_is_tested() -> None:
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    (versions,) = re.findall(r"python: \[(.*)\]", text)
    assert re.findall(r'"3\.(\d+)"', versions) == MINORS


def test_the_distribution_is_tried_on_each() -> None:
    text = (ROOT / "tools" / "check_distribution.py").read_text(encoding="utf-8")
    (first, last) = re.findall(r"MINORS = range\((\d+), (\d+)\)", text)[0]
    assert list(map(str, range(int(first), int(last)))) == MINORS


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_image_has_extras_that_exist() -> None:
    extras = PROJECT["optional-dependencies"]
    for page in ("deploy/Dockerfile", "docs/deploy.md"):
        named = re.findall(r"EXTRAS=([a-z][a-z,]+)", (ROOT / page).read_text("utf-8"))
        assert named, page
        assert {extra for words in named for extra in words.split(",")} <= extras.keys(), page


@pytest.mark.skipif(not (ROOT / "conda").is_dir(), reason="the sdist has no recipe")
def test_the_recipe_is_of_this_version() -> None:
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))
    assert recipe["context"]["version"] == PROJECT["version"]
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["license_file"] == PROJECT["license-files"]
    assert recipe["build"]["python"]["entry_points"] == [
        f"{name} = {call}" for name, call in PROJECT["scripts"].items()
    ]
    _python, *needed = recipe["requirements"]["run"]
    assert [each.replace(" ", "") for each in needed] == PROJECT["dependencies"]
    _python, _pip, *builders = recipe["requirements"]["host"]
    assert sorted(each.replace(" ", "") for each in builders) == sorted(WHOLE["build-system"]["requires"])


def test_the_errors_name_extras_of_today() -> None:
    extras = PROJECT["optional-dependencies"]
    old = {
        name for name, needs in extras.items() if len(needs) == 1 and needs[0].count(",") == 0 and "postil[" in needs[0]
    }
    texts = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")]
    named = {each for text in texts for each in re.findall(r"(?:MissingExtra|needs)\([^\n]*\"([a-z,]+)\"\)", text)}
    assert len(named) > 8
    assert {extra for words in named for extra in words.split(",")} <= extras.keys() - old


def test_the_builder_gets_what_the_package_is_built_from() -> None:
    kept = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    needed = (
        "CMakeLists.txt",
        "README.md",
        "constraints.txt",
        "native",
        "pyproject.toml",
        "src",
        *PROJECT["license-files"],
    )
    assert {f"!{name}" for name in needed} <= set(kept)
    assert all((ROOT / name).exists() for name in needed)


def flags(options: type) -> set[str]:
    hints = get_type_hints(options, include_extras=True)
    return {f"--{flag_name(each.name, split_hint(hints[each.name])[1])}" for each in fields(options)}


def test_the_commands_of_the_set_ups_have_options_that_exist() -> None:
    for name in ("compose.yaml", "env.example", "campaign.env", "postil-campaign@.service"):
        lines = (ROOT / "deploy" / name).read_text("utf-8").splitlines()
        text = " ".join(line for line in lines if not line.lstrip().startswith("#"))
        of_campaign = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", re.sub(r"serve /models.*?volumes:", "", text)))
        assert of_campaign, name
        assert of_campaign <= flags(ServeOptions), name
        service = re.search(r"serve /models.*?volumes:", text)
        assert not service or set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", service[0])) <= flags(ServiceOptions)


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
