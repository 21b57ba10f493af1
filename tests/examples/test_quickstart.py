"""The notebook: its code runs, and shows what it has as its outputs; with a kernel in tests/integration."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples/quickstart.ipynb"
CELLS = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
VERSION = re.compile(r"\b(postil:|stems:\w+-)[\d.…]+")
PICTURE = re.compile("<figure>.*?</figure>", re.DOTALL)


def shown(code: str, names: dict[str, object]) -> dict[str, str]:
    """Return the standard output of a cell, and its last value as text and as HTML."""
    body = ast.parse(code).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    assert last is None or isinstance(last, ast.Expr)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)  # noqa: S102 - our own code
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None  # noqa: S307 - the same
    made = {"stdout": printed.getvalue()}
    if value is not None:
        made["text/plain"] = repr(value)
        if hasattr(value, "_repr_html_"):
            made["text/html"] = value._repr_html_()
    return {kind: text for kind, text in made.items() if text}


def outputs(cell: dict[str, Any]) -> dict[str, str]:
    """Return the stored outputs of a cell of the notebook."""
    made: dict[str, str] = {}
    for each in cell["outputs"]:
        assert each["output_type"] in {"stream", "execute_result"}
        made |= {each["name"]: "".join(each["text"])} if "text" in each else {}
        made |= {kind: "".join(text) for kind, text in each.get("data", {}).items()}
    return made


def without_versions(made: dict[str, str]) -> dict[str, str]:
    """The same without what other versions of matplotlib and postil have: pictures, and the version in signatures."""
    return {kind: VERSION.sub(r"\1…", PICTURE.sub("picture", text)) for kind, text in made.items()}


def test_the_notebook_shows_what_its_code_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in CELLS:
        made = shown("".join(cell["source"]), names)
        assert without_versions(made) == without_versions(outputs(cell)), "run tools/run_notebook.py"
    assert sum("picture" in text for cell in CELLS for text in without_versions(outputs(cell)).values()) >= 3


def test_the_notebook_is_small_and_of_no_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 60_000
    assert not re.search(r"/(tmp|home|root|usr|work)/|site-packages|postil:\d|\"language_info\"|iopub", text)
