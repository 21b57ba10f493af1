"""Layers: a package imports only from lower layers, and packages of one layer do not import each other."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

import pytest
from sources import ENTRY_POINTS, FILES, imports, name_of, tree

if TYPE_CHECKING:
    from pathlib import Path

LAYERS = (
    ("messages",),
    ("errors", "escaping", "options", "po_files", "unicode_forms", "version"),
    ("arrays", "kernel", "engine"),
    ("endpoint", "learners", "records", "text", "plots"),
    ("corpus", "documents", "metrics", "metaeval", "judges", "commenters", "annotation"),
    ("render",),
    ("app",),
    ("web", "integrations"),
    ("cli",),
)
LAYER = {package: layer for layer, packages in enumerate(LAYERS) for package in packages}
# Packages that see less than their layer allows, so that they can be used and read by themselves.
ONLY = {
    "documents": {"documents", "endpoint", "errors", "escaping", "messages", "records", "text"},
    "judges": {"endpoint", "errors", "judges", "messages", "records"},
    "learners": {"errors", "kernel", "learners", "messages"},
    "metaeval": {"engine", "errors", "kernel", "learners", "messages", "metaeval", "records"},
    "render": {"errors", "escaping", "messages", "plots", "records", "render", "version"},
}
OWNERS = {
    "evaluate": "integrations",
    "feedparser": "documents",
    "httpx2": "endpoint",
    "ir_measures": "integrations",
    "lm_eval": "integrations",
    "matplotlib": "plots",
    "onnxruntime": "text",
    "sqlalchemy": "annotation",
    "ray": "engine",
    "gensim": "text",
    "pypdf": "documents",
    "selectolax": "text",
    "trafilatura": "text",
}
FILES_WITH_TORCH = ("commenters/nn/", "text/transformers_models.py")
# The modules that may import scikit-learn, and do so when they fit; what is fitted is kept and evaluated without it.
LEARNERS = {"learners/boosting.py"}
INSIDE = [path for path in FILES if name_of(path) not in ENTRY_POINTS]


def package_of(path: Path) -> str:
    return name_of(path).partition("/")[0].removesuffix(".py")


def others(path: Path) -> set[str]:
    """The packages of postil that a file imports."""
    found = set()
    for module in imports(path):
        root, _, rest = module.partition(".")
        if root == "postil":
            assert rest, f"{name_of(path)} imports the package root"
            found.add(rest.partition(".")[0])
    return found


@pytest.mark.parametrize("path", INSIDE, ids=name_of)
def test_imports_go_down(path: Path) -> None:
    package = package_of(path)
    assert package in LAYER, f"{package} is in no layer; see docs/architecture.md"
    for other in others(path):
        assert other == package or LAYER[other] < LAYER[package], f"{package} imports {other}"


@pytest.mark.parametrize("package", ONLY)
def test_some_packages_see_less(package: str) -> None:
    for path in INSIDE:
        if package_of(path) == package:
            assert others(path) <= ONLY[package], name_of(path)


def test_metaeval_and_learners_need_numpy_alone() -> None:
    for path in INSIDE:
        if package_of(path) in {"metaeval", "learners"} and name_of(path) not in LEARNERS:
            roots = {module.partition(".")[0] for module in imports(path)} - {"postil", "numpy"}
            assert roots <= sys.stdlib_module_names, name_of(path)


def test_heavy_libraries_have_one_package_each() -> None:
    for path in INSIDE:
        package = package_of(path)
        for module in imports(path):
            assert OWNERS.get(module.partition(".")[0], package) == package, f"{name_of(path)} imports {module}"


def test_torch_is_loaded_where_networks_run() -> None:
    for path in INSIDE:
        roots = {module.partition(".")[0] for module in imports(path)}
        if roots & {"torch", "transformers"}:
            assert name_of(path).startswith(FILES_WITH_TORCH), name_of(path)


def test_learners_are_imported_where_they_fit() -> None:
    for path in INSIDE:
        inside = {module.partition(".")[0] for module in imports(path)} & {"sklearn", "threadpoolctl"}
        assert bool(inside) == (name_of(path) in LEARNERS), name_of(path)
        top = {getattr(node, "module", None) or "" for node in tree(path).body if isinstance(node, ast.ImportFrom)}
        assert not any(module.partition(".")[0] == "sklearn" for module in top), name_of(path)


def test_all_that_is_printed_goes_through_one_function() -> None:
    for path in FILES:
        if name_of(path) == "cli/errors.py":
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in {"print", "typer.echo", "typer.secho"}, f"{name_of(path)}:{node.lineno}"
