from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("POSTIL_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture
def example() -> Iterator[Callable[[str], ModuleType]]:
    """Loads a script of `examples/`, which is no package."""
    loaded: list[str] = []

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look their module up
        loaded.append(name)
        spec.loader.exec_module(module)
        return module

    yield load
    for name in loaded:
        del sys.modules[name]


@pytest.fixture
def judged() -> Path:
    """The folder of judged data."""
    folder = DATA / "judged"
    if not folder.is_dir():
        pytest.skip(f"no data in {DATA}; POSTIL_DATA names the folder")
    return folder
