"""The desk of `postil serve` itself: a model, a table of articles, tokens and a store."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("fastapi", reason="needs the web extra")

from desk_window import READY, DeskWindow
from made_retrievers import NEWS, made
from postil.data.row_files import read
from postil.data.suggestions import Label
from postil.web.tokens import AddTokenOptions, add_token

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Chromium

SCOPES = ("suggest", "rank", "interesting", "desk", "label", "read", "admin")
ROWS = [
    {
        "id": "x1",
        "title": "Rain tomorrow",
        "content": "Rain is near. It will rain in the north. Chess is played inside.",
        "lang": "en",
        "comments": [
            {"id": "1", "text": "Bring a coat in the rain.", "upvotes": 1},
            {"id": "2", "text": "bring a coat, in the rain!", "upvotes": 5},
            {"id": "3", "text": "Chess it is, then, as always.", "upvotes": 3},
        ],
    },
    {"id": "x2", "title": "Zebras", "lang": "en"},
]


def served(folder: Path, port: int) -> subprocess.Popen[str]:
    words = ["news=model", "--articles", "articles.jsonl", "--tokens", "tokens.json", "--data", "data"]
    command = [sys.executable, "-m", "postil", "serve", *words, "--workers", "1", "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder)  # noqa: S603 - our own command
    assert process.stderr
    assert any(line.startswith("serving ") for line in process.stderr)
    return process


def test_an_editor_works_with_a_service(chromium: Chromium, tmp_path: Path) -> None:
    made(tmp_path / "model", NEWS, "ir-tc")
    (tmp_path / "articles.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    token = add_token(tmp_path / "tokens.json", "ann", AddTokenOptions(scopes=SCOPES))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process, url = served(tmp_path, port), f"http://127.0.0.1:{port}"
    try:
        window = DeskWindow(chromium)
        window.go(url)
        window.put("#token", token)
        window("document.querySelector('form').requestSubmit()")
        window.until("document.querySelectorAll('#found a').length === 2")
        window.click("#found a")
        window.until(READY)
        window.until("document.querySelector('mark')")
        suggested = window.text(".card blockquote")
        assert suggested == "Rain today, rain tomorrow."
        assert "Readers of “Rain today” wrote this" in window.text(".card .cited")
        window.click("#tab-thread")
        window.click("[value=relevance]")
        window.click("[value=votes]")
        window.until("document.querySelector('#thread-list .item .said')?.innerText === 'bring a coat, in the rain!'")
        assert "One near copy" in window.text("#thread-list .item")
        window.click("#tab-suggestions")
        window.focus(".card")
        window.keys("d", "1")
        window.stored()
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        window.keys("u", "d", "5")
        window.until("document.querySelector('#state').classList.contains('kept')")
        assert process.stderr
        process.stderr.close()
        process = served(tmp_path, port)
        window.stored()
        window.open_at(url, 0)
        window.until("document.querySelector('.card.no')")
        assert window.text(".card.no .answer") == "unkind · stored"
        window.click("[data-does=train]")
        window.click("#train-go")
        window.until("document.querySelector('#train h3')")
        assert "1 labels of 1 articles" in window.text("#train-body")
        window.key("Escape")
        window.open_at(url, 1)
        assert "No training article" in window.text("#suggestions-list .empty")
        lines = window("fetch('/v1/labels').then((answer) => answer.text())")
    finally:
        process.kill()
        process.wait(20)
        assert process.stderr
        process.stderr.close()
    (tmp_path / "labels.jsonl").write_text(lines, encoding="utf-8")
    (label,) = read(tmp_path / "labels.jsonl", Label)
    assert (label.text, label.show, label.reason, label.annotator) == (suggested, False, "unkind", "ann")
    assert (label.source_article, label.title) == ("n1", "Rain tomorrow")
    assert window.complaints() == []
