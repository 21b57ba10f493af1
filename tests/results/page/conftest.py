from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from page_document import Document
from result_examples import correlated, write_report

if TYPE_CHECKING:
    from page_document import Page


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Page:
    page, _ = write_report([correlated()], tmp_path_factory.mktemp("standard") / "r.html")
    return Document(page)
