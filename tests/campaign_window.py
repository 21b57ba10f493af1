"""Browsers of annotators and leads, and the servers of campaigns that they visit."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from browser_window import Window
from postil.campaigns.options import PlanOptions
from postil.campaigns.planning import plan
from postil.campaigns.store import Store

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = files("postil") / "sample"


class Server:
    """`postil annotate serve` in a process of its own, which can be killed and come back."""

    def __init__(self, campaign: Path) -> None:
        self.campaign = campaign
        self.store = Store.open(str(campaign))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "postil", "annotate", "serve", str(self.campaign), "--port", str(self.port)]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own command
        assert self._process.stderr
        lines = iter(self._process.stderr.readline, "")  # before the address there may be a lead's link
        assert any(line.startswith("serving ") and self.url in line for line in lines)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(10)
        assert self._process.stderr
        self._process.stderr.close()

    def close(self) -> None:
        self.kill()
        self.store.close()


class Grading(Window):
    """An annotator's or a lead's browser."""

    def join(self, server: Server, name: str, role: Any = "annotator") -> Grading:
        self.go(f"{server.url}/join/{server.store.people.invite(name, role)}")
        self("document.querySelector('form').requestSubmit()")
        self.until("['/grade', '/lead'].includes(location.pathname) && document.readyState === 'complete'")
        return self

    @property
    def position(self) -> int:
        return int(self("document.querySelector('#task').dataset.position ?? -1"))

    def grade(self, key: str) -> None:
        """Press a key when the text has been there long enough, and wait for the next text."""
        here = self.position
        time.sleep(0.22)
        self.key(key)
        self.until(f"(document.querySelector('#task').dataset.position ?? -1) != {here}")

    def saved(self) -> None:
        self.until("document.querySelector('#state').classList.contains('saved') && !Object.keys(localStorage).length")


def served(folder: Path, rows: list[dict[str, Any]], articles: list[dict[str, Any]] | None, **options: Any) -> Server:
    """Plan a campaign of rows, and serve it."""
    folder.mkdir()
    for name, some in (("texts", rows), ("articles", articles or [])):
        lines = [json.dumps(row, ensure_ascii=False) for row in some]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    beside = {"articles": str(folder / "articles.jsonl")} if articles else {}
    planned = PlanOptions(**{"annotators": 2, "annotators_per_item": 2} | beside | options)
    plan(str(folder / "texts.jsonl"), str(folder / "campaign.db"), planned)
    return Server(folder / "campaign.db")


def sample(lang: str, articles: int) -> dict[str, Any]:
    """Some of the bundled sample."""
    found = [json.loads(line) for line in (SAMPLE / "articles.jsonl").read_text(encoding="utf-8").splitlines()]
    found = [row for row in found if row["lang"] == lang][:articles]
    ids = {row["id"] for row in found}
    rows = [json.loads(line) for line in (SAMPLE / "candidates.jsonl").read_text(encoding="utf-8").splitlines()]
    return {"rows": [row for row in rows if row["item"] in ids], "articles": found, "name": "Reader comments"}
