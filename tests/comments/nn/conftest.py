from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for network_work


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """One core a test process, and no waiting for the disk: no test here is about power cuts."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    if find_spec("torch"):
        import torch  # noqa: PLC0415

        torch.set_num_threads(1)
