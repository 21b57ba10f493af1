from __future__ import annotations

import importlib.metadata
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import originals
from originals import Texts

from postil.kernel import NAME

Record = Callable[..., None]
ROWS = pytest.StashKey[list[tuple[str, str, str, int, float]]]()


@cache
def _load(name: str) -> Texts:
    if name != "made":
        return originals.REAL[name]()
    return originals.made(2000 if NAME == "compiled" else 100)


QUICK = ("made", "answers")
"""The texts of every run; the others, many times as many, are slow."""


@pytest.fixture(
    params=[pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in ("made", *originals.REAL)]
)
def texts(request: pytest.FixtureRequest) -> Texts:
    """Each set of texts in turn; a real one is skipped where the data is not there."""
    name: str = request.param
    if name != "made" and NAME == "python":
        pytest.skip("the pure-Python kernel would take too long; it is compared with the compiled one elsewhere")
    if name != "made" and not originals.DATA.is_dir():
        pytest.skip(f"no data in {originals.DATA}; POSTIL_DATA names the folder")
    return _load(name)


@pytest.fixture
def java() -> None:
    if shutil.which("java") is None:
        pytest.skip("the METEOR program needs a Java runtime")


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """Keep a row for the table at the end: metric, package, texts, largest difference."""

    def keep(metric: str, package: str, texts: Texts, difference: float, *, how: str = "") -> None:
        rows = request.config.stash.setdefault(ROWS, [])
        peer = f"{package} {importlib.metadata.version(package)}{how and f', {how}'}"
        rows.append((metric, peer, texts.name, len(texts), difference))

    return keep


@pytest.fixture
def largest() -> Callable[[object, object], float]:
    """The largest absolute difference of two equally long rows of numbers."""

    def difference(ours: object, theirs: object) -> float:
        a, b = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
        assert a.shape == b.shape
        return float(np.abs(a - b).max())

    return difference


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    rows = config.stash.get(ROWS, [])
    if not rows:
        return
    terminalreporter.section("parity")
    terminalreporter.line("| metric | against | texts | items | largest difference |")
    terminalreporter.line("|---|---|---|---|---|")
    for metric, peer, name, items, difference in sorted(rows):
        shown = "0" if difference == 0 else f"{difference:.1e}"
        terminalreporter.line(f"| {metric} | {peer} | {name} | {items:,} | {shown} |")
