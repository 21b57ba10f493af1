"""`postil demo --serve` in a process of its own: both pages answer, and Ctrl+C ends both."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Final
from urllib.request import urlopen

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:\d+\S*")


def start(folder: Path, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "postil", "demo", "--serve", *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True)  # noqa: S603 - ours


def addresses(process: subprocess.Popen[str]) -> list[str]:
    """The addresses that it prints: of the desk, and the links of the annotator and the lead."""
    assert process.stderr
    lines: Iterator[str] = iter(process.stderr.readline, "")
    said = []
    for line in lines:
        said.append(line)
        if "Ctrl+C" in line:
            return ADDRESS.findall("".join(said))
    raise AssertionError("".join(said))


def get(address: str) -> str:
    with urlopen(address, timeout=30) as answer:  # noqa: S310 - ours
        return str(answer.read().decode("utf-8"))


def free() -> int:
    """A port that is free, and the next one too."""
    for _ in range(100):
        with socket.create_server(("127.0.0.1", 0)) as one:
            port = int(one.getsockname()[1])
            try:
                socket.create_server(("127.0.0.1", port + 1)).close()
            except (OSError, OverflowError):
                continue
            return port
    pytest.fail("no two ports are free")


def test_both_pages_until_an_interrupt(tmp_path: Path) -> None:
    port = free()
    process = start(tmp_path, "--port", port)
    assert process.stdout
    shown = process.stdout.read(1)  # the first run goes through the chapters
    desk, annotator, lead = addresses(process)
    assert (shown, desk) == ("1", f"http://127.0.0.1:{port}")
    assert annotator.startswith(f"http://127.0.0.1:{port + 1}/join/")
    assert "<title>" in get(desk)
    assert "Northline plans a second night train" in get(f"{desk}/desk/articles")
    assert "Comments of the sample" in get(annotator)
    assert "Comments of the sample" in get(lead)

    other = start(tmp_path, "--port", port - 1)
    said, problem = other.communicate(timeout=60)
    assert (said, problem, other.returncode) == (
        "",
        f"postil: cannot listen on 127.0.0.1, port {port}: Address already in use\n",
        1,
    )

    process.send_signal(signal.SIGINT)
    _, problem = process.communicate(timeout=60)
    assert (problem, process.returncode) == ("postil: interrupted\n", 130)
    for number in (port, port + 1):
        socket.create_server(("127.0.0.1", number)).close()

    again = start(tmp_path, "--port", 0)
    _, other_annotator, _ = addresses(again)
    assert "Comments of the sample" in get(other_annotator)
    again.send_signal(signal.SIGTERM)
    said, _ = again.communicate(timeout=60)
    assert (said, again.returncode) == ("", -signal.SIGTERM)
