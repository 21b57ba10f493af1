"""Streams, signals and the terminal, which only a real process shows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from postil.data.row_files import write
from postil.data.rows import Candidate, Judgement, Passage, Score

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parents[1]
POSTIL = (sys.executable, "-m", "postil")
SCORE = (*POSTIL, "score", "c.jsonl", "-r", "r.jsonl", "-m", "rouge-l")
FEW = ("--resamples", "50", "--permutations", "50")
TABLES = {
    "score": SCORE,
    "score in lines": (*SCORE, "--format", "jsonl"),
    "correlate": (*POSTIL, "correlate", "s.jsonl", "--judgements", "j.jsonl", *FEW),
    "compare": (*POSTIL, "compare", "s.jsonl", *FEW),
    "passages": (*POSTIL, "passages", "p.jsonl", "-m", "f1-1", "--resamples", "20"),
}
"""Commands that print a table."""
FULL = Path("/dev/full")
posix = pytest.mark.skipif(os.name != "posix", reason="signals and /dev are POSIX")
full = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, target in (("candidates", "c"), ("references", "r")):
        (tmp_path / f"{target}.jsonl").write_bytes((HERE / f"{name}.jsonl").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tables(folder: Path) -> Path:
    """The files that the tables are of."""
    write("s.jsonl", list(scores(6)))
    rows = [Judgement(f"i{k}", s, "ann", float(1 + (k * 3 + t * 2) % 5)) for k in range(6) for t, s in enumerate("ab")]
    write("j.jsonl", rows)
    write("p.jsonl", list(passages(4)))
    return folder


def scores(items: int) -> Iterator[Score]:
    """Scores of two systems by two metrics."""
    return (
        Score(f"i{k}", s, m, (k * 7 + t * 3 + n * 5) % 11 / 10, m)
        for k in range(items)
        for t, s in enumerate("ab")
        for n, m in enumerate(("x", "y"))
    )


def passages(each: int) -> Iterator[Passage]:
    return (
        Passage(t, f"{n}", f"{t} {n % 4} swims", grade=float(n % 3)) for t in ("ducks", "bread") for n in range(each)
    )


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: bytes
    stderr: bytes


def start(*command: str | bytes, **options: Any) -> subprocess.Popen[bytes]:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **{**streams, **options})  # noqa: S603 - our own program


def run(*command: str | bytes, **options: Any) -> Done:
    with start(*command, **options) as child:
        out, err = child.communicate(timeout=60)
    return Done(child.returncode, out or b"", err or b"")


def test_data_on_stdout_and_no_progress_bytes_when_piped() -> None:
    done = run(*SCORE, "--format", "json")
    assert done.returncode == 0
    assert done.stderr == b""
    assert [row["system"] for row in json.loads(done.stdout)["scores"]] == ["plain", "zoo"]


def test_words_go_to_stderr() -> None:
    Path("c.jsonl").write_text(Path("c.jsonl").read_text().splitlines()[0])
    done = run(*SCORE, "--format", "json")
    assert b"no candidate for 1 of 2 items" in done.stderr
    assert json.loads(done.stdout)["schema"] == 1


def test_the_same_bytes_twice_and_in_any_locale() -> None:
    text = Path("c.jsonl").read_text().replace('"zoo"', '"动物园"')
    Path("c.jsonl").write_text(text, encoding="utf-8")
    outs = {run(*SCORE, "--format", "json").stdout for _ in range(2)}
    for locale in ("latin-1", "ascii"):
        done = run(*SCORE, "--format", "json", env={**os.environ, "PYTHONIOENCODING": locale, "PYTHONHASHSEED": "7"})
        assert done.returncode == 0, done.stderr
        outs.add(done.stdout)
    assert len(outs) == 1
    assert "动物园" in outs.pop().decode()


def test_a_name_that_is_no_text_gets_a_message() -> None:
    done = run(*POSTIL, "score", b"\xff.jsonl", "-r", "r.jsonl")
    assert done.returncode == 3
    assert done.stderr.endswith(b".jsonl: no such file\n")


@posix
def test_closed_standard_input() -> None:
    done = run("sh", "-c", 'exec "$@" <&-', "sh", *POSTIL, "score", "-", "-r", "r.jsonl")
    assert done.returncode == 3
    assert done.stderr == b"postil: stdin: the file holds no rows\n"


@full
@pytest.mark.parametrize("name", TABLES)
def test_standard_output_on_a_full_disk(tables: Path, name: str) -> None:
    assert tables
    with FULL.open("wb") as target:
        done = run(*TABLES[name], stdout=target)
    assert done.returncode == 1
    assert done.stderr == b"postil: standard output: No space left on device\n"


@posix
@pytest.mark.parametrize("name", TABLES)
def test_a_reader_that_leaves_is_no_reason_to_complain(tables: Path, name: str) -> None:
    assert tables
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(*TABLES[name], stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


@posix
@pytest.mark.parametrize("command", [("correlate", "--judgements", "j.jsonl"), ("compare",), ("passages",)])
def test_interrupt_while_rows_are_read(tables: Path, command: tuple[str, ...]) -> None:
    """More than a pipe holds has gone down it, and it stays open."""
    assert tables
    write("many.jsonl", passages(2000) if command == ("passages",) else scores(1000))
    with start(*POSTIL, *command, "-", stdin=subprocess.PIPE) as child:
        assert child.stdin is not None
        child.stdin.write(Path("many.jsonl").read_bytes())
        child.stdin.flush()
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) == 130
        assert child.stdout is not None
        assert child.stderr is not None
        assert (child.stdout.read(), child.stderr.read()) == (b"", b"postil: interrupted\n")


@full
def test_items_on_a_full_disk(folder: Path) -> None:
    """A disk that is full: a limit on the size of files, which the system answers in the same way."""
    resource = pytest.importorskip("resource")

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = run(*SCORE, "--items", "items.jsonl", preexec_fn=limit)
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr == b"postil: items.jsonl: cannot be written: File too large\n"
    assert sorted(path.name for path in folder.iterdir()) == ["c.jsonl", "r.jsonl"]


@full
def test_a_background_on_a_full_disk(folder: Path) -> None:
    resource = pytest.importorskip("resource")

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = run(*SCORE, "--save-background", "bg", preexec_fn=limit)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"postil: bg: cannot be written: ")
    assert not [path.name for path in folder.iterdir() if "bg" in path.name]


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs a folder that takes no files")
def test_items_where_no_file_can_be_made() -> None:
    done = run(*SCORE, "--items", "/proc/items.jsonl")
    assert done.returncode == 1
    assert done.stderr.startswith(b"postil: /proc/items.jsonl: cannot be written: ")
    assert done.stderr.count(b"\n") == 1


def test_a_background_where_no_folder_can_be_made() -> None:
    Path("bg").write_text("a file")
    done = run(*SCORE, "--save-background", "bg", "--items", "items.jsonl")
    assert done.returncode == 2
    assert done.stderr.startswith(b"postil: bg: is there already, and is a file")
    assert not Path("items.jsonl").exists()


@pytest.fixture
def endless() -> Iterator[subprocess.Popen[bytes]]:
    """A run in the middle of its candidates: they come from a pipe that stays open."""
    Path("items.jsonl").write_text("earlier")
    write("many.jsonl", (Candidate("a", f"s{k}", "a cat") for k in range(10_000)))
    command = (
        *POSTIL,
        "score",
        "-",
        "-r",
        "r.jsonl",
        "-m",
        "rouge-l",
        "--items",
        "items.jsonl",
        "--save-background",
        "bg",
    )
    child = start(*command, stdin=subprocess.PIPE)
    assert child.stdin is not None
    child.stdin.write(Path("many.jsonl").read_bytes())
    child.stdin.flush()
    for _ in range(600):
        parts = list(Path().glob(".*.part"))
        if parts and parts[0].stat().st_size:
            break
        time.sleep(0.05)
    else:
        pytest.fail("no row was written in half a minute")
    yield child
    child.kill()
    child.communicate()


@posix
def test_interrupt_leaves_nothing_half_written(endless: subprocess.Popen[bytes], folder: Path) -> None:
    endless.send_signal(signal.SIGINT)
    out, err = endless.communicate(timeout=60)
    assert (endless.returncode, out, err) == (130, b"", b"postil: interrupted\n")
    assert (folder / "items.jsonl").read_text() == "earlier"
    assert sorted(path.name for path in folder.iterdir()) == ["c.jsonl", "items.jsonl", "many.jsonl", "r.jsonl"]


@pytest.mark.skipif(sys.platform != "linux", reason="the end of a pseudo-terminal is told differently elsewhere")
@pytest.mark.parametrize(
    ("name", "bar", "table"),
    [
        ("score", b"candidates", b"system,metric,score,n,signature\n"),
        ("correlate", b"differences", b"metric,coefficient,by,value,low,high,p,n,dropped\n"),
    ],
)
def test_on_a_terminal_the_bar_is_on_stderr_and_the_table_on_stdout(
    tables: Path, name: str, bar: bytes, table: bytes
) -> None:
    assert tables
    pty = pytest.importorskip("pty")
    write("c.jsonl", (Candidate("a", f"s{k}", "a cat") for k in range(5_000)))
    ours, theirs = pty.openpty()
    with (
        Path("out.csv").open("wb") as out,
        start(*TABLES[name], "--format", "csv", stdout=out, stderr=theirs, env={**os.environ, "TERM": "xterm"}),
    ):
        os.close(theirs)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
    os.close(ours)
    assert bar in shown
    said = Path("out.csv").read_bytes()
    assert said.startswith(table)
    assert b"\x1b" not in said


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other side was closed
        return b""


def without(stream: int, *command: str) -> Done:
    """Run a command with a stream closed."""
    return run("sh", "-c", f'exec "$@" {stream}>&-', "sh", *command)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are Unicode")
def test_names_of_files_that_are_not_utf_8() -> None:
    rows = [Score(f"i{n}", system, "x", float(n * (system == "a")), "x") for n in range(3) for system in "ab"]
    write(os.fsdecode(b"s\xff.jsonl"), rows)
    done = run(*POSTIL, "compare", b"s\xff.jsonl", "--baseline", "a", "--format", "json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "s\udcff.jsonl" in json.loads(done.stdout)["settings"]["command"]


@posix
@pytest.mark.parametrize("options", [(), ("--items", "i.jsonl")])
def test_output_that_nobody_can_read_is_an_error(options: tuple[str, ...]) -> None:
    done = without(1, *SCORE, *options)
    assert (done.returncode, done.stderr) == (1, b"postil: standard output: Bad file descriptor\n")
    assert Path("i.jsonl").exists() == bool(options)


@posix
def test_rows_for_an_output_that_is_closed() -> None:
    Path("f.jsonl").write_text('{"id": 1, "title": "Rain", "comments": []}\n')
    done = without(1, *POSTIL, "corpus", "import", "forum", "f.jsonl", "--field", "content=", "--out", "-")
    assert (done.returncode, done.stderr) == (1, b"postil: -: cannot be written: Bad file descriptor\n")


@posix
def test_words_that_nobody_reads_keep_no_data_back() -> None:
    done = without(2, *SCORE, "--format", "json")
    assert done.returncode == 0
    assert [row["system"] for row in json.loads(done.stdout)["scores"]] == ["plain", "zoo"]


@full
def test_a_help_text_that_cannot_be_written() -> None:
    with FULL.open("wb") as out:
        done = run(*POSTIL, "score", "--help", stdout=out)
    assert (done.returncode, done.stderr) == (1, b"postil: standard output: No space left on device\n")
