"""A screen that keeps learning: trained, served without a model, told what moderators decide, and trained again."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from postil.cli.main import app
from postil.data.row_files import write
from postil.data.rows import Decision

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Served

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
pytest.importorskip("sklearn")

NICE = ("the", "bus", "was", "late", "we", "walked", "home", "in", "rain", "with", "coat", "and", "bread", "baker")
RUDE = ("idiot", "moron", "stupid", "liar")
ANALYZE = "/v1alpha1/comments:analyze"


def rows(n: int = 300) -> list[Decision]:
    """Decisions, of which four in ten hold an insult."""
    random = np.random.default_rng(7)
    found = []
    for at in range(n):
        rude = at % 10 < 4
        words = [*random.choice(NICE, 8), *(random.choice(RUDE, 2) if rude else ())]
        held = ("hold", "insult") if rude else ("keep", None)
        found.append(Decision(f"{' '.join(words)} {at}", *held, article="a", id=f"{at}"))
    return found


def run(*words: str) -> None:
    done = CliRunner().invoke(app, [*words])
    assert done.exit_code == 0, done.output


def score(service: Served, text: str, **more: object) -> Any:
    body = {"comment": {"text": text}, "requestedAttributes": {"TOXICITY": {}, "INSULT": {}}, **more}
    found = service.client.post(ANALYZE, json=body)
    assert found.status_code == 200, found.text
    return {name: each["summaryScore"]["value"] for name, each in found.json()["attributeScores"].items()}


def test_a_screen_goes_on_learning(start: Callable[..., Served], tmp_path: Path) -> None:
    write(tmp_path / "decisions.jsonl", rows())
    screen = str(tmp_path / "screen")
    run("train", "screen", str(tmp_path / "decisions.jsonl"), "--out", screen)
    service = start("--screen", screen, "--data", str(tmp_path / "data"), "--workers", "1")
    service.ready()
    comments = [{"id": "1", "text": "we walked home in the rain"}, {"id": "2", "text": "you stupid liar"}]
    thread = {"article": {"title": "The bus", "comments": comments}, "by": {"length": 1}}
    kind, rude = service.client.post("/v1/rank", json=thread).json()["comments"]
    assert (kind["screened"]["decision"], rude["screened"]["decision"]) == ("keep", "hold")
    assert rude["reasons"][0].startswith("moderators would hold it: probability ")
    rude, kind = score(service, "you stupid liar"), score(service, "we walked home in the rain")
    assert min(rude.values()) > 0.5 > max(kind.values())
    (listed,) = service.client.get("/v1/models").json()["models"]
    assert (listed["name"], listed["kind"], listed["attributes"]) == ("screen", "screen", ["TOXICITY", "INSULT"])
    held = service.client.post("/v1/screen", json={"text": "you stupid liar"}).json()
    assert (held["decision"], held["screened"], held["model_hash"]) == ("hold", "hold", listed["hash"])
    whole = service.client.post("/v1/screen", json={"text": "you stupid liar " * 55_000}).json()
    assert whole["screened"] == "hold"
    spans = service.client.post(
        ANALYZE,
        json={
            "comment": {"text": "The bus was late. You stupid liar!"},
            "requestedAttributes": {"INSULT": {}},
            "spanAnnotations": True,
        },
    ).json()["attributeScores"]["INSULT"]["spanScores"]
    assert [one["score"]["value"] > 0.5 for one in spans] == [False, True]
    assert score(service, "😂" * 5_000).keys() == {"TOXICITY", "INSULT"}
    before = score(service, "turnip")
    for at in range(40):
        told = {
            "comment": {"text": f"you turnip {at}"},
            "attributeScores": {"INSULT": {"summaryScore": {"value": 1}}},
            "context": {"entries": [{"text": json.dumps({"article": "b", "id": at})}]},
        }
        assert service.client.post("/v1alpha1/comments:suggestscore", json=told).status_code == 200
    (tmp_path / "new.jsonl").write_bytes(service.client.get("/v1/decisions").content)
    run("train", "screen", str(tmp_path / "new.jsonl"), "--update", screen)
    assert service.client.post("/v1/reload", json={}).json()["models"][0]["hash"] != listed["hash"]
    assert score(service, "turnip")["INSULT"] > before["INSULT"] + 0.2
