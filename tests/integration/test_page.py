from __future__ import annotations

from typing import TYPE_CHECKING

import inputs
import pytest
from pages import Run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.filterwarnings("ignore:ast\\.:DeprecationWarning:ir_measures")
@pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")  # of inspect_ai
@pytest.mark.filterwarnings("ignore:.*MemoryObject:pytest.PytestUnraisableExceptionWarning")
def test_the_page_of_the_adapters_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs.make(tmp_path)
    monkeypatch.chdir(tmp_path)
    run = Run("docs/integrations.md")
    run.all()
    assert run.done >= 7
