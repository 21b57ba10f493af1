"""The notebook in a kernel of Jupyter."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "examples")]

from run_notebook import executed  # noqa: E402
from test_quickstart import NOTEBOOK, outputs, without_versions  # noqa: E402


def test_a_kernel_shows_what_the_notebook_has() -> None:
    there = nbformat.read(NOTEBOOK, as_version=4)
    made = executed(NOTEBOOK)
    assert [cell.source for cell in made.cells] == [cell.source for cell in there.cells]
    codes = [(new, old) for new, old in zip(made.cells, there.cells, strict=True) if new.cell_type == "code"]
    for new, old in codes:
        assert new.execution_count == old.execution_count
        assert without_versions(outputs(new)) == without_versions(outputs(old)), "run tools/run_notebook.py"
