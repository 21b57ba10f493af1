"""The requests on the page about interleaved suggestions, from a question to an answer."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import postil

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Served

PAGE = (Path(__file__).parents[2] / "docs/interleave.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000"


def test_the_page_from_question_to_answer(start: Callable[..., Served], tmp_path: Path) -> None:
    (_, question), (outcomes, events) = re.findall(
        rf"^curl {ADDRESS}(\S+) --json '(.*?)'$", PAGE, re.MULTILINE | re.DOTALL
    )
    assert f"curl {ADDRESS}{outcomes} > outcomes.jsonl\n" in PAGE
    of_page = json.loads(events)["outcomes"]
    service = start("base=plain", "new=both", "--workers", "1", "--data", str(tmp_path / "data"))
    service.ready()
    asked = json.loads(question)
    for number in range(6):
        asked["article"]["id"] = f"a{number}"
        found = service.client.post("/v1/suggest", json=asked).json()
        assert {0, 1} == {one["team"] for one in found["suggestions"]}
        done = [event | {"impression": found["impression"]} for event in of_page]
        assert service.client.post(outcomes, json={"outcomes": done}).status_code == 201
    (tmp_path / "outcomes.jsonl").write_bytes(service.client.get(outcomes).content)
    service.stop(signal.SIGTERM)
    compared = postil.compare_interleaved(tmp_path / "outcomes.jsonl", baseline="base")
    assert (compared.pairs[0].shown, compared.rows[0].wins + compared.rows[0].losses) == (6, 6)
    assert compared.ranks[1].model_clicked + compared.ranks[1].baseline_clicked == 6
