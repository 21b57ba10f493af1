"""A service with three small models: one that was calibrated, one that was not, and one of quality."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from made_retrievers import NEWS, article, made
from postil.comments.show_filter import SIGNALS, ShowFilter, Threshold
from postil.service.config import ServiceConfig
from postil.service.operations import OpenModels
from postil.threads.quality import FEATURES, Quality

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[..., Any]

MORE = (
    article("m1", "Rain in the north", "Take a boat to the north today.", "Who counts all the rain?", lang="en"),
    article("m2", "Chess in the rain", "My knight is wet and so am I.", "Rain helps nobody who plays.", lang="en"),
)
COLUMNS = ("score", *SIGNALS)


def learned() -> ShowFilter:
    """A filter by the number of words alone: texts of at least six words are probably worth showing."""
    weights = np.zeros(len(COLUMNS))
    weights[COLUMNS.index("log_words")] = 9.0
    return ShowFilter(
        format=1,
        columns=COLUMNS,
        mean=(0.0,) * len(COLUMNS),
        scale=(1.0,) * len(COLUMNS),
        weights=tuple(weights.tolist()),
        intercept=-9 * math.log1p(5.5),
        slope=1.0,
        offset=0.0,
        depth=5,
        thresholds=(
            Threshold(threshold=0.6, coverage=0.5, precision=0.75),
            Threshold(threshold=0.0, coverage=1.0, precision=0.3),
        ),
        labels=60,
        labels_hash="abcd",
    )


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> ServiceConfig:
    folder = tmp_path_factory.mktemp("service")
    made(folder / "plain", NEWS)
    made(folder / "calibrated", (*NEWS, *MORE), "ir-tc", show=learned())
    weights = np.zeros(len(FEATURES))
    weights[list(FEATURES).index("length")] = 0.1
    Quality(weights, "words", "votes").save(folder / "good", {"seed": 1})
    return ServiceConfig.of_folders([str(folder / "plain"), f"both={folder / 'calibrated'}", str(folder / "good")])


@pytest.fixture(scope="session")
def service(config: ServiceConfig) -> OpenModels:
    return OpenModels.open(config)


@pytest.fixture(scope="session")
def ask(service: OpenModels) -> Ask:
    """Ask the service by name and fields, and return the decoded response."""

    def asked(name: str, **request: object) -> Any:
        return msgspec.json.decode(service.call(name, json.dumps(request).encode()))

    return asked
