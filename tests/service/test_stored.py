"""`postil serve` with tokens, an audit log and a store: what it acknowledged survives its being killed."""

from __future__ import annotations

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING, Any

import httpx2

from postil.service.store import ServiceStore
from postil.web.audit_log import check_audit
from postil.web.tokens import AddTokenOptions, add_token

if TYPE_CHECKING:
    from pathlib import Path

Make = Any


def test_a_killed_service_has_lost_nothing_that_it_acknowledged(start: Make, tmp_path: Path) -> None:
    tokens, audit, data = tmp_path / "tokens.json", tmp_path / "audit.jsonl", tmp_path / "data"
    token = add_token(tokens, "cms", AddTokenOptions(scopes=("suggest", "label")))
    here = start("plain", "--workers", "1", "--tokens", tokens, "--audit", audit, "--data", data)
    here.ready()
    here.client.headers["authorization"] = f"Bearer {token}"
    assert here.client.post("/v1/suggest", json={"article": {"title": "Rain in the north"}}).status_code == 200
    numbers, stored = count(), []

    def send() -> None:
        try:
            while True:
                label = {"article": f"a{next(numbers)}", "text": "Bring a coat.", "show": True}
                if here.client.post("/v1/labels", json=label).status_code == 201:
                    stored.append(label["article"])
                if len(stored) >= 100:
                    here.process.send_signal(signal.SIGKILL)
        except httpx2.TransportError:
            pass

    with ThreadPoolExecutor(4) as pool:
        for sending in [pool.submit(send) for _ in range(4)]:
            sending.result()
    here.process.wait(20)
    store = ServiceStore.open(data)
    assert len(stored) >= 100
    assert {label.article for label in store.labels()} >= set(stored)
    store.close()
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    assert check_audit([audit]).files[0].lines == len(lines) >= 100
    assert lines[0]["route"] == "POST /v1/suggest"
    assert lines[0]["model"]
    assert {line["token"] for line in lines} == {"cms"}
