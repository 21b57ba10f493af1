"""Libraries of others: each is imported in one package, and some packages need hardly any."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from sources import ENTRY_POINTS, FILES, imports, name_of, tree

if TYPE_CHECKING:
    from pathlib import Path

OWNERS = {
    "evaluate": "integrations",
    "feedparser": "documents",
    "httpx2": "endpoint",
    "inspect_ai": "integrations",
    "ir_measures": "integrations",
    "lm_eval": "integrations",
    "matplotlib": "results",
    "onnxruntime": "encoders",
    "sqlalchemy": "campaigns",
    "ray": "engine",
    "gensim": "vectors",
    "pypdf": "documents",
    "selectolax": "documents",
    "torchmetrics": "integrations",
    "trafilatura": "documents",
}
FILES_WITH_TORCH = ("comments/nn/", "encoders/networks.py", "integrations/torchmetrics.py")
# The modules that may import scikit-learn, and do so when they fit; what is fitted is kept and evaluated without it.
LEARNERS = {"learners/boosting.py", "learners/sparse_logistic.py"}
INSIDE = [path for path in FILES if name_of(path) not in ENTRY_POINTS]


def package_of(path: Path) -> str:
    return name_of(path).partition("/")[0].removesuffix(".py")


def test_meta_and_learners_need_arrays_and_structs_alone() -> None:
    for path in INSIDE:
        if package_of(path) in {"meta", "learners"} and name_of(path) not in LEARNERS:
            roots = {module.partition(".")[0] for module in imports(path)} - {"postil", "numpy", "msgspec"}
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
        if name_of(path) == "cli/output.py":
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in {"print", "click.echo", "click.secho"}, f"{name_of(path)}:{node.lineno}"
