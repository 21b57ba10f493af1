"""Public names: sorted, complete and defined, those of version 0.2 as well."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import runpy
import sys
import tomllib
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import postil
from postil.earlier import MODULES, NAMES

ROOT = Path(__file__).parents[2]
PUBLIC = sorted(
    module.name
    for module in pkgutil.walk_packages(postil.__path__, "postil.")
    if not any(part.startswith("_") for part in module.name.split("."))
)
PACKAGES = [name for name in PUBLIC if hasattr(importlib.import_module(name), "__path__")]


def source(name: str) -> ast.Module:
    return ast.parse(Path(importlib.import_module(name).__file__ or "").read_text(encoding="utf-8"))


def in_order(names: list[str]) -> list[str]:
    """CONSTANTS, Classes, functions, as the linter has it."""
    return sorted(names, key=lambda name: (0 if name.isupper() else 1 if name[:1].isupper() else 2, name))


@pytest.mark.parametrize("name", ["postil", *PUBLIC])
def test_every_module_says_what_it_is(name: str) -> None:
    assert (importlib.import_module(name).__doc__ or "").strip()


@pytest.mark.parametrize("name", ["postil", *PUBLIC])
def test_all_is_sorted_and_importable(name: str) -> None:
    module = importlib.import_module(name)
    names = list(module.__all__) if hasattr(module, "__all__") else []
    assert names == in_order(names)
    assert len(set(names)) == len(names)
    assert [each for each in names if not hasattr(module, each)] == []


@pytest.mark.parametrize("name", PACKAGES)
def test_all_of_a_room_is_what_it_imports(name: str) -> None:
    imports = {
        alias.asname or alias.name
        for node in source(name).body
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{name}.")
        for alias in node.names
    }
    public = {each for each in imports if not each.startswith("_")}
    assert public <= set(getattr(importlib.import_module(name), "__all__", ()))


def test_the_door_leads_to_every_name() -> None:
    assert set(dir(postil)) == set(postil.__all__)
    for name in set(postil.__all__) - {"__version__"}:
        found = getattr(postil, name)
        assert getattr(importlib.import_module(found.__module__), name) is found


def test_type_checkers_are_told_the_same_names_and_keywords() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "write_stub.py"))
    assert tool["STUB"].read_text(encoding="utf-8") == tool["stub"](), "run tools/write_stub.py"
    assert tool["KEYWORDS"].read_text(encoding="utf-8") == tool["keywords"](), "run tools/write_stub.py"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        postil.scores  # noqa: B018


def test_type_checkers_are_told_that_the_package_is_typed() -> None:
    assert (files("postil") / "py.typed").is_file()


def test_the_version_is_the_same_wherever_it_stands() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == postil.__version__
    assert f"version: {postil.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


PATHS = (
    "postil.records.Passage",
    "postil.records.read",
    "postil.records.rows.TopicArticle",
    "postil.records.results.CorrelationResult",
    "postil.records.results.HumanAgreement",
    "postil.metaeval.table.Table",
    "postil.metaeval.resampling.Draws",
    "postil.app.score.score",
    "postil.commenters.retrieval.Retriever",
    "postil.corpus.merge_duplicates",
    "postil.corpus.formats.trec.run_lines",
    "postil.endpoint.AnswerCache",
    "postil.metrics.RougeL",
    "postil.metrics.passage_collection.Preprocessing",
    "postil.text.Vocabulary",
)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_version_0_2_leads_to_its_name(path: str) -> None:
    module, _, name = path.rpartition(".")
    sys.modules.pop(path, None)
    vars(import_module(module)).pop(name, None)
    found: dict[str, Any] = {}
    with pytest.warns(DeprecationWarning, match=f"{name} is in postil[.]") as caught:
        exec(f"from {module} import {name}", found)  # noqa: S102 - our own words
    assert found[name].__name__ == name
    assert {each.filename for each in caught} == {"<string>"}


@pytest.mark.parametrize(("module", "names"), NAMES.items())
def test_every_name_is_where_it_is_said_to_be(module: str, names: str) -> None:
    assert [name for name in names.split() if not hasattr(import_module(module), name)] == []


def test_no_module_is_there_twice() -> None:
    for package, leaves in MODULES.items():
        for leaf in leaves.split():
            assert type(import_module(f"{package}.{leaf}")).__name__ == "_Module"


def test_what_never_was_is_an_error() -> None:
    with pytest.raises(ImportError):
        import_module("postil.records.nothing")
    with pytest.raises(AttributeError, match=r"docs/migrating[.]md"):
        _ = import_module("postil.records").nothing
    with pytest.raises(ImportError):
        import_module("postil.metrics.nothing")
