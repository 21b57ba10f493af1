"""Options of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from made_retrievers import NEWS, made
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.service.options import ServiceOptions, service_config

if TYPE_CHECKING:
    from pathlib import Path


def test_workers_filter_and_compute_as_the_options_say(tmp_path: Path) -> None:
    made(tmp_path / "news", NEWS)
    options = ServiceOptions(min_words=2, max_words=9, allow=("code",), jobs=2, metrics=("vector-f1(vectors=v)",))
    config = service_config([f"a={tmp_path / 'news'}"], options)
    assert config.metrics == options.metrics
    assert config.models == {"a": str(tmp_path / "news")}
    assert (config.min_words, config.max_words, config.allow, config.jobs) == (2, 9, ("code",), 2)


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    made(tmp_path / "news", NEWS)
    with pytest.raises(InvalidInput, match="nowhere"):
        service_config([str(tmp_path / "news")], ServiceOptions(blocklist="nowhere.txt"))
    with pytest.raises(UsageError, match="jokes"):
        service_config([str(tmp_path / "news")], ServiceOptions(allow=("jokes",)))
    with pytest.raises(UnknownName, match="unknown metric 'vector-f'"):
        service_config([str(tmp_path / "news")], ServiceOptions(metrics=("vector-f(vectors=v)",)))


def test_there_is_a_worker_per_core() -> None:
    assert 1 <= ServiceOptions().worker_count() <= 8
    assert ServiceOptions(workers=3).worker_count() == 3
