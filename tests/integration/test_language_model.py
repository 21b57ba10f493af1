"""A real server of a small language model: requests, interrupts, grades and provenance, whatever it says."""

from __future__ import annotations

import json
import math
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.data.row_files import write
from postil.data.rows import Article, Candidate, Reference
from postil.endpoint.cache import FILE, AnswerCache
from postil.endpoint.chat import Answer, Message, Request
from postil.endpoint.client import Client
from postil.errors import PostilError
from real_server import real_server
from retrieval_models import train_retrievers

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with real_server() as address:
        yield address


def ask(text: str, **more: float) -> Request:
    given = {"max_tokens": 8, "seed": 7} | more
    return Request(model="any", messages=(Message("user", text),), **given)  # type: ignore[arg-type]


def test_an_answer_has_all_that_is_read_of_it(url: str) -> None:
    with Client(url, count_tokens="server") as client:
        assert client.estimate([ask("One digit from 1 to 5, please.")]).prompt_tokens in range(8, 12)
        (found,) = client.answers([ask("One digit from 1 to 5, please.", max_tokens=1, top_logprobs=20)])
        usage = client.usage
    assert isinstance(found, Answer)
    assert (found.model, found.finish_reason, found.completion_tokens) == ("smollm2", "length", 1)
    assert len(found.top_logprobs) == 20
    assert 0.2 < sum(math.exp(value) for _, value in found.top_logprobs) <= 1.001
    assert (usage.calls, usage.prompt_tokens) == (1, found.prompt_tokens)


def test_equal_seeds_give_equal_answers(url: str) -> None:
    requests = [ask("Say something about rain.", temperature=0.9, seed=seed) for seed in (1, 2)]
    found = []
    for _ in range(2):
        with AnswerCache() as cache, Client(url, cache=cache) as client:
            found.append([each.text for each in client.answers(requests) if isinstance(each, Answer)])
    assert found[0] == found[1]
    assert found[0][0] != found[0][1]


def test_a_request_that_is_too_long(url: str) -> None:
    with Client(url, shorten="take fewer") as client, pytest.raises(PostilError) as raised:
        list(client.answers([ask("rain " * 5000)]))
    assert str(raised.value).startswith("a request is too long for the model: ")
    assert str(raised.value).endswith("; take fewer")
    assert "4096" in str(raised.value)


def test_comments_go_on_after_an_interrupt(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    train_retrievers(tmp_path)
    write("q.jsonl", [Article(f"q{at}", f"chess in town{at}", (), "Old men play.") for at in range(5)])
    command = [
        *(sys.executable, "-m", "postil", "comment", "q.jsonl", "--endpoint", url, "--model", "any"),
        *("--examples", "tc", "--shots", "2", "-k", "1", "--max-tokens", "24", "--seed", "5"),
        *("--cache", "answers", "--format", "jsonl", "--parallel", "1"),
    ]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603
    assert child.stdout is not None
    first = child.stdout.readline()
    child.send_signal(signal.SIGINT)
    rest, said = child.communicate()
    assert (child.returncode, said) == (130, "postil: interrupted\n")
    lines = [first, *rest.splitlines(keepends=True)]
    assert len(lines) < 5

    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    again = subprocess.run([*command, "--limit-calls", "0"], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.splitlines(keepends=True)[: len(lines)] == lines
    assert again.stdout == done.stdout
    digest = json.loads(Path("tc/metadata.json").read_text())["hash"]
    for at, row in enumerate(map(json.loads, done.stdout.splitlines())):
        assert row["article"] == f"q{at}"
        assert len(row["suggestions"]) + len(row["filtered"]) == 1
        for one in row["suggestions"]:
            origin = one["provenance"]
            assert (origin["method"], origin["model"], origin["model_hash"]) == ("llm", "smollm2", digest)
            assert origin["prompting"]["seed"] == 5
            assert len(origin["prompting"]["examples"]) == 2
        for one in row["filtered"]:
            assert one["reason"]


def stored_answers() -> int:
    """Number of answers on disk."""
    where = f"file:{Path('answers', FILE)}?mode=ro"
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(where, uri=True)) as file:
        return int(file.execute("SELECT count(*) FROM answer").fetchone()[0])
    return 0


def test_judging_goes_on_after_an_interrupt(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = ["Rain again.", "3", "4"]
    write("t.jsonl", [Candidate("a", f"s{at}", text) for at, text in enumerate(texts)])
    write("r.jsonl", [Reference("a", text, grade) for text, grade in (("Nice bridge.", 4.0), ("Rain.", 2.0))])
    write("a.jsonl", [Article("a", "A bridge", (), "The town has a new bridge.")])
    # With more to read, a model of this size only talks.
    Path("p.txt").write_text("[user]\nHow good is this text, {scale}? Answer with a digit.\n{candidate}")
    command = [
        *(sys.executable, "-m", "postil", "judge", "t.jsonl", "-r", "r.jsonl", "--articles", "a.jsonl"),
        *("--scale", "1:5", "--endpoint", url, "--model", "any", "--samples", "8", "--parallel", "1"),
        *("--cache", "answers", "--out", "rows.jsonl", "--prompt", "p.txt", "--format", "json"),
    ]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603
    while (before := stored_answers()) < 6 and child.poll() is None:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate()
    assert (child.returncode, said.splitlines()[-1]) == (130, "postil: interrupted")
    assert before < 27

    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    calls, cached = map(int, re.findall(r"(\d+) (?:call|answer)", done.stderr))
    assert cached >= before
    assert calls + cached == json.loads(done.stdout)["usage"]["calls"]
    rows = Path("rows.jsonl").read_bytes()
    again = subprocess.run([*command, "--limit-calls", "0"], capture_output=True, text=True, check=True)  # noqa: S603
    assert again.stdout.replace(" --limit-calls 0", "") == done.stdout
    assert Path("rows.jsonl").read_bytes() == rows
    for row in map(json.loads, rows.splitlines()):
        assert 1 <= row["score"] <= 5
        assert 0 <= row["mass"] <= 1
        assert (row["metric"], row["signature"].startswith("judge(model=any,served=smollm2,")) == ("judge(any)", True)
        assert row["calls"] == (1 if row["mass"] >= 0.5 else 9)
