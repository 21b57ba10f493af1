from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for page_document

from page_document import Document, Page

from result_examples import correlated, write_report

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Page:
    page, _ = write_report([correlated()], tmp_path_factory.mktemp("standard") / "r.html")
    return Document(page)


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Page]:
    def make(*results: dict[str, Any]) -> Page:
        page, folder = write_report(list(results), tmp_path / "r.html")
        assert (page, folder) == (tmp_path / "r.html", tmp_path / "r_files")
        return Document(page)

    return make
