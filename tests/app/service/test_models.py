"""Models of a worker: how they are named, opened and listed."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from made_retrievers import NEWS, made
from postil.app.service.config import ServiceConfig
from postil.app.service.operations import ServiceModels
from postil.commenters.search import Index
from postil.errors import InvalidInput, PostilError, UsageError
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Ask = Callable[..., Any]


def test_what_each_can_do(ask: Ask) -> None:
    found = ask("models")
    assert found["version"] == VERSION
    assert [(one["name"], one["kind"], one["operations"], one["default"]) for one in found["models"]] == [
        ("plain", "ir-t", ["suggest", "rank"], True),
        ("both", "ir-tc", ["suggest", "rank"], False),
        ("good", "quality", ["rank", "screen"], True),
    ]
    assert [one["calibrated"] for one in found["models"]] == [None, {"labels": 60, "depth": 5, "precision": 0.75}, None]
    assert len({one["hash"] for one in found["models"]}) == 3


def test_folders_are_named(tmp_path: Path) -> None:
    made(tmp_path / "x=1", NEWS)
    (tmp_path / "current").symlink_to("x=1")
    folders = [str(tmp_path / "x=1"), f"news={tmp_path / 'current'}"]
    found = ServiceConfig.of_folders(folders)
    # A symbolic link stays one, so that it may lead elsewhere when the service reloads.
    assert found.models == {"x=1": str(tmp_path / "x=1"), "news": str(tmp_path / "current")}
    assert ServiceConfig.decoded(found.encoded()) == found


@pytest.mark.parametrize(
    ("folders", "error", "problem"),
    [
        ([], UsageError, "expected at least one model: NAME=DIR or DIR"),
        (["=m"], UsageError, "expected a model as NAME=DIR or DIR, got '=m'"),
        (["m="], UsageError, "expected a model as NAME=DIR or DIR, got 'm='"),
        (["m", "m"], UsageError, "two models are named 'm'; name one of them otherwise: NAME=DIR"),
        (["nowhere"], InvalidInput, "nowhere: no such folder; expected a model"),
    ],
)
def test_folders_that_cannot_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: list[str], error: type[PostilError], problem: str
) -> None:
    made(tmp_path / "m", NEWS)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as found:
        ServiceConfig.of_folders(folders)
    assert str(found.value).startswith(problem)


@pytest.mark.parametrize("data", [b"", b"[]", b'{"models": 1}', b'{"model": {}}', b"\xff"])
def test_a_configuration_of_another_form(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="expected a configuration of the service"):
        ServiceConfig.decoded(data)


def test_a_model_that_is_damaged_is_refused_at_once(tmp_path: Path) -> None:
    folder = made(tmp_path / "m", NEWS)
    config = ServiceConfig.of_folders([str(folder)])
    (folder / "comments" / "dates.npy").write_bytes(b"")
    with pytest.raises(InvalidInput, match="dates"):
        ServiceModels.open(config)
    shutil.rmtree(folder)
    with pytest.raises(InvalidInput, match="no such folder"):
        ServiceModels.open(config)


def test_settings_of_the_filter_hold(tmp_path: Path) -> None:
    folder = made(tmp_path / "m", NEWS)
    (tmp_path / "words").write_text("tomorrow\n")
    config = ServiceConfig.of_folders([str(folder)])
    body = b'{"article": {"title": "Rain in town", "lang": "en"}}'
    changed = msgspec.structs.replace(config, blocklist=str(tmp_path / "words"), min_words=1)
    found = msgspec.json.decode(ServiceModels.open(changed).call("suggest", body))
    assert "ok" in [one["text"] for one in found["suggestions"]]
    assert "on the block list: tomorrow" in [one["reason"] for one in found["filtered"]]
    with pytest.raises(UsageError, match="no comment has at least 4 and at most 2 words"):
        ServiceModels.open(msgspec.structs.replace(config, max_words=2))


def test_a_service_without_models_that_suggest(config: ServiceConfig) -> None:
    service = ServiceModels.open(msgspec.structs.replace(config, models={}))
    with pytest.raises(UsageError, match="model: this service has no such model; see GET /v1/models"):
        service.call("suggest", b'{"article": {"title": "Rain"}}')


def test_a_model_is_read_once(config: ServiceConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    service = ServiceModels.open(config)
    monkeypatch.setattr(Index, "of_arrays", None)
    for more in (b"", b', "precision": 0.5'):
        assert service.call("suggest", b'{"model": "both", "article": {"title": "Rain"}%b}' % more)
