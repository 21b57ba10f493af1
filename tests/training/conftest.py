"""One core a test process, no waiting for the disk, and the corpus that most trainings read."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from topic_corpora import articles, corpus_of

if TYPE_CHECKING:
    from postil.corpus.store import Corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus_of(tmp_path_factory.mktemp("made"), articles(40))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here is about power cuts, and the number of threads changes the last bits."""
    monkeypatch.setattr("os.fsync", lambda _: None)
    if find_spec("torch"):
        import torch  # noqa: PLC0415

        torch.set_num_threads(1)
