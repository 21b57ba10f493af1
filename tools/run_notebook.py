"""Run a notebook and write its outputs into it, without what differs from machine to machine.

    python tools/run_notebook.py examples/quickstart.ipynb

Needs nbclient and ipykernel. `make test-integration` runs the notebook in the same way and compares.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import nbclient
import nbformat

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["executed", "without_version"]


def without_version(text: str) -> str:
    """The text without the versions of postil and of stems in signatures.

    Args:
        text: What a cell printed.

    >>> without_version("meteor|postil:1.2.3") == without_version("meteor|postil:0.1.0")
    True
    """
    return re.sub(r"\b(postil:|stems:\w+-)[\d.]+", r"\1…", text)


def executed(path: Path) -> NotebookNode:
    """The notebook with the outputs of a new kernel, in an empty folder.

    Args:
        path: The notebook.
    """
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it ran
        for output in cell.get("outputs", ()):
            if "text" in output:
                output.text = without_version(output.text)
    notebook.metadata.pop("language_info", None)  # the version of Python
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:]:
        nbformat.write(executed(Path(name)), name)
