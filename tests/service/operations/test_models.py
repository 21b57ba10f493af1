"""Models of a worker: how they are named, opened and listed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from made_retrievers import NEWS, made
from postil.comments.index import Index
from postil.comments.neural_commenter import CopyIndex, NeuralCommenter, save_generator
from postil.comments.nn.token_ids import SPECIAL
from postil.comments.text_arrays import SpanIndex, StringArray
from postil.data.model_folders import Model, ModelWriter
from postil.errors import InvalidInput, PostilError, UsageError
from postil.screening.filtering import CandidateFilter
from postil.service.config import ServiceConfig
from postil.service.operations import OpenModel, OpenModels
from postil.service.options import ServiceOptions
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
    calibrated = found["models"][1]["calibrated"]
    assert [one["calibrated"] for one in found["models"]] == [None, calibrated, None]
    assert {key: calibrated[key] for key in ("labels", "depth", "precision")} == {
        "labels": 60,
        "depth": 5,
        "precision": 0.75,
    }
    assert set(calibrated["expected"]) == {"coverage", "precision", "low", "high"}
    assert len({one["hash"] for one in found["models"]}) == 3


def test_folders_are_named(tmp_path: Path) -> None:
    made(tmp_path / "x=1", NEWS)
    (tmp_path / "current").symlink_to("x=1")
    folders = [str(tmp_path / "x=1"), f"news={tmp_path / 'current'}"]
    found = ServiceConfig.of_folders(folders)
    # A symbolic link stays one, so that it may lead elsewhere when the service reloads.
    assert found.models == {"x=1": str(tmp_path / "x=1"), "news": str(tmp_path / "current")}


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


def test_a_model_that_is_damaged_is_refused_at_once(tmp_path: Path) -> None:
    folder = made(tmp_path / "m", NEWS)
    config = ServiceConfig.of_folders([str(folder)])
    (folder / "comments" / "dates.npy").write_bytes(b"")
    with pytest.raises(InvalidInput, match="dates"):
        OpenModels.open(config)
    shutil.rmtree(folder)
    with pytest.raises(InvalidInput, match="no such folder"):
        OpenModels.open(config)


def test_settings_of_the_filter_hold(tmp_path: Path) -> None:
    folder = made(tmp_path / "m", NEWS)
    (tmp_path / "words").write_text("tomorrow\n")
    config = ServiceConfig.of_folders([str(folder)])
    body = b'{"article": {"title": "Rain in town", "lang": "en"}}'
    changed = replace(config, options=ServiceOptions(blocklist=str(tmp_path / "words"), min_words=1))
    found = msgspec.json.decode(OpenModels.open(changed).call("suggest", body))
    assert "ok" in [one["text"] for one in found["suggestions"]]
    assert "on the block list: tomorrow" in [one["reason"] for one in found["filtered"]]
    with pytest.raises(UsageError, match="no comment has at least 4 and at most 2 words"):
        OpenModels.open(replace(config, options=ServiceOptions(max_words=2)))


def test_a_service_without_the_models_that_are_asked(config: ServiceConfig) -> None:
    service = OpenModels.open(replace(config, models={}, quality={}))
    with pytest.raises(UsageError, match="model: this service has no such model; see GET /v1/models"):
        service.call("suggest", b'{"article": {"title": "Rain"}}')
    with pytest.raises(UsageError, match="quality: this service has no such model; see GET /v1/models"):
        service.call("screen", b'{"text": "It rains in the north.", "quality": "good"}')


def test_a_model_is_read_once(config: ServiceConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    service = OpenModels.open(config)
    monkeypatch.setattr(Index, "of_arrays", None)
    for more in (b"", b', "precision": 0.5'):
        assert service.call("suggest", b'{"model": "both", "article": {"title": "Rain"}%b}' % more)


class Silent:
    """A network that writes the same for every article."""

    def generate(self, *_: object) -> list[list[SimpleNamespace]]:
        return [[SimpleNamespace(tokens=[SPECIAL, SPECIAL + 1, SPECIAL + 2, SPECIAL + 3], score=0.5)]]


@pytest.fixture
def generator(tmp_path: Path) -> OpenModels:
    """A service whose only model generates."""
    spans = SpanIndex.of(np.array([0, 1]), np.array([0, 2]))
    known = CopyIndex(spans, StringArray.of(["a1"]), np.array([0, 1]), StringArray.of(["0"]))
    with ModelWriter(tmp_path / "m", "att", {"tokenizer": "words", "reads": "title"}, {}) as new:
        save_generator(new, ["rain", "again", "in", "town"], known)
    commenter = NeuralCommenter(Model.open(tmp_path / "m"))
    vars(commenter)["generator"] = Silent()
    models = {"written": OpenModel("written", commenter)}
    return OpenModels(models, {}, CandidateFilter(), 1, ())


def test_a_model_that_generates_suggests_alone(generator: OpenModels) -> None:
    found = msgspec.json.decode(generator.call("suggest", b'{"article": {"title": "Rain"}}'))
    assert [one["text"] for one in found["suggestions"]] == ["Rain again in town"]
    assert found["suggestions"][0]["provenance"]["method"] == "generated"
    nothing = msgspec.json.decode(generator.call("suggest", b'{"article": {"title": "!"}}'))
    assert nothing["reason"] == "the article has no word in its title, and att reads nothing else"
    (listed,) = msgspec.json.decode(generator.call("models", b"{}"))["models"]
    assert listed["operations"] == ["suggest"]


@pytest.mark.parametrize(
    ("name", "request_", "problem"),
    [
        ("suggest", b'{"article": {"title": "a"}, "coverage": 0.5}', "model written: att generates comments, and only"),
        (
            "rank",
            b'{"article": {"title": "a", "comments": [{"text": "b"}]}, "model": "written"}',
            "model written: att generates comments; expected ir-t or ir-tc",
        ),
        ("rank", b'{"article": {"title": "a", "comments": [{"text": "b"}]}, "by": {"relevance": 1}}', "model: this s"),
    ],
)
def test_a_model_that_generates_does_nothing_else(
    generator: OpenModels, name: str, request_: bytes, problem: str
) -> None:
    with pytest.raises(UsageError) as found:
        generator.call(name, request_)
    assert str(found.value).startswith(problem)


def test_damage_that_is_found_late_is_no_fault_of_the_request(config: ServiceConfig) -> None:
    service = OpenModels.open(config)
    retriever = service.commenter("plain").commenter
    vars(retriever)["ranker"] = Damaged(retriever.model.path)
    with pytest.raises(PostilError, match=r"^model plain: .*ranker\.npy: expected finite numbers$") as found:
        service.call("suggest", b'{"article": {"title": "Rain"}}')
    assert type(found.value) is PostilError
    assert str(retriever.model.path) not in str(found.value)


class Damaged:
    """A ranker whose arrays are damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def score_stored(self, *_: object) -> None:
        raise InvalidInput("expected finite numbers", where=str(self.path / "ranker.npy"))
