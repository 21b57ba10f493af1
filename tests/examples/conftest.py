from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DATA = Path(os.environ.get("POSTIL_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Loads a script of `examples/`, which is no package, as Python does that is started with one."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield importlib.import_module
    for name in [path.stem for path in EXAMPLES.glob("*.py")]:
        sys.modules.pop(name, None)


@pytest.fixture
def judged() -> Path:
    """The folder of judged data."""
    folder = DATA / "judged"
    if not folder.is_dir():
        pytest.skip(f"no data in {DATA}; POSTIL_DATA names the folder")
    return folder
