from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="package", autouse=True)
def _models() -> Iterator[None]:
    """Models in memory in place of the folders that specs name."""
    from made_models import put_in_place  # noqa: PLC0415

    with pytest.MonkeyPatch.context() as patch:
        put_in_place(patch)
        yield
