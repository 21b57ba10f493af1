"""Worker processes end with their program, however it ends, and say how they ended themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import engine_work as work
import pytest

from postil.engine import ENGINES, open_engine
from postil.engine.local import _Worker
from postil.errors import MissingExtra, PostilError, UnknownName, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


PROC = Path("/proc")
needs_proc = pytest.mark.skipif(not PROC.is_dir(), reason="counts processes in /proc")


def alive(pid: int) -> bool:
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(true: Callable[[], object]) -> bool:
    end = time.monotonic() + 20
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def children() -> set[str]:
    return set(" ".join(path.read_text() for path in PROC.glob("self/task/*/children")).split())


@needs_proc
@pytest.mark.parametrize("how", ["close the engine", "close the results", "an error", "an interrupt"])
def test_nothing_is_left_behind(tmp_path: Path, how: str) -> None:
    before = children()
    kind = KeyboardInterrupt if how == "an interrupt" else ValueError if how == "an error" else ()
    with pytest.raises(kind) if kind else open_engine(), open_engine(jobs=2) as engine:
        results = engine.map(work.slow, [tmp_path] * 3)
        quick = engine.map(work.square, range(99))
        next(quick)
        workers = engine.start_workers(work.square, [1, 2])
        assert workers.call(pow, 2) == [1, 16]
        assert len(children() - before) == 4
        if how == "close the results":
            quick.close()  # type: ignore[attr-defined]
            results.close()  # type: ignore[attr-defined]
        elif kind:
            raise kind
    assert children() == before


SCRIPT = """
import sys
from pathlib import Path

sys.path.append(sys.argv[2])
import engine_work as work
from postil.engine import open_engine

try:
    with open_engine(jobs=2) as engine:
        list(engine.map(work.slow, [Path(sys.argv[1])] * 5))
except KeyboardInterrupt:
    print("interrupted")
"""


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_program(tmp_path: Path, number: signal.Signals) -> None:
    script = tmp_path / "script.py"  # without `if __name__ == "__main__"`
    script.write_text(SCRIPT, encoding="utf-8")
    with subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, str(script), str(tmp_path), work.HERE],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        assert wait_until(lambda: len(list(tmp_path.glob("pid-*"))) == 2)
        workers = [int(path.name.removeprefix("pid-")) for path in tmp_path.glob("pid-*")]
        assert all(alive(each) for each in workers)
        if number == signal.SIGINT:
            os.killpg(program.pid, number)  # as a terminal does it
        else:
            program.kill()
        said, complaints = program.communicate(timeout=20)
    assert said == ("interrupted\n" if number == signal.SIGINT else "")
    assert complaints == ""
    assert wait_until(lambda: not any(alive(each) for each in workers))


@pytest.mark.parametrize("before", [0.0, 0.01, 0.05])
def test_an_interrupt_during_the_start_is_not_heard(before: float) -> None:
    worker = _Worker()
    time.sleep(before)
    os.kill(worker.process.pid, signal.SIGINT)
    worker.send(b"k", b"")
    assert worker.process.poll() is None
    assert worker.end() == "ended with exit code 0"


@pytest.mark.parametrize(
    ("code", "how"),
    [
        (3, "ended with exit code 3"),
        (-signal.SIGKILL, r"was killed \(signal 9, SIGKILL; out of memory\?\)"),
        (-signal.SIGSEGV, r"was killed \(signal 11, SIGSEGV\)"),
    ],
)
def test_how_a_worker_ended(code: int, how: str) -> None:
    said: list[str] = []
    with (
        open_engine(jobs=2, retries=1, on_message=said.append) as engine,
        pytest.raises(PostilError, match=f"^shard 1: its worker {how}"),
    ):
        list(engine.map(work.die, [code]))
    assert len(said) == 1


OWN = """
from postil.engine import open_engine
from postil.errors import PostilError

def own(n):
    print("printed", flush=True)
    return n

with open_engine(jobs=2) as engine:
    print(list(engine.map(abs, [-1, 2])))
    try:
        list(engine.map(own, [1]))
    except PostilError as error:
        print(error)
with open_engine(jobs=1) as engine:
    print(list(engine.map(own, [1])))
"""


def test_a_script_needs_no_guard_but_its_own_functions_stay_at_home(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(OWN, encoding="utf-8")
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True
    )
    first, second, *rest = done.stdout.splitlines()
    assert first == "[1, 2]"
    assert "cannot be read there: AttributeError: Can't get attribute 'own'" in second
    assert second.endswith("not in the script that was started")
    assert rest == ["printed", "[1]"]
    assert done.stderr == ""


def test_what_a_function_prints_does_not_come_between(capfd: pytest.CaptureFixture[str]) -> None:
    with open_engine(jobs=2) as engine:
        assert list(engine.map(print, ["hello", "hello"])) == [None, None]
    out, err = capfd.readouterr()
    assert (out, err) == ("", "hello\nhello\n")


def test_the_engines() -> None:
    assert list(ENGINES) == ["local", "ray"]


@pytest.mark.parametrize("name", ["dask", "spark", "Ray", ""])
def test_other_engines_are_refused(name: str) -> None:
    with pytest.raises(UnknownName, match=f"^unknown engine '{name}'.* Known: local, ray$"):
        open_engine(name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "jobs: expected at least 1, got 0"),
        ({"retries": -1}, "retries: expected at least 0, got -1"),
        ({"address": "10.0.0.1:6379"}, "address: the engine 'local' has none, got '10.0.0.1:6379'"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}"):
        open_engine("local", **options)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"^engine 'ray' needs an optional package: pip install 'postil\[scale\]'$"):
        open_engine("ray")


OPENS = """
import sys, time
from pathlib import Path
sys.path.append(sys.argv[2])
import engine_work as work
from postil.engine import open_engine
from postil.errors import PostilError

options = {"address": sys.argv[3]} if len(sys.argv) > 3 else {}
try:
    with open_engine("ray", jobs=2, **options) as engine:
        print(list(engine.map(work.Fragile(Path(sys.argv[1])), range(4))))
        time.sleep(1)  # for Ray to say something, if it did
except PostilError as error:
    print(error)
import ray
print(ray.is_initialized())
"""


def opens(tmp_path: Path, *address: str) -> list[str]:
    script = tmp_path / "opens.py"
    script.write_text(OPENS, encoding="utf-8")
    command = [sys.executable, "-W", "error", str(script), str(tmp_path), work.HERE, *address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)  # noqa: S603 - our own code
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.integration
@pytest.mark.skipif(bool(work.NO_RAY), reason=work.NO_RAY or "-")
def test_ray_is_started_and_ended(tmp_path: Path) -> None:
    assert opens(tmp_path) == ["[0, 1, 4, 9]", "False"]


@pytest.mark.integration
def test_ray_is_found_by_its_address(cluster: Any, tmp_path: Path) -> None:
    assert opens(tmp_path, cluster.address) == ["[0, 1, 4, 9]", "False"]


@pytest.mark.integration
@pytest.mark.skipif(bool(work.NO_RAY), reason=work.NO_RAY or "-")
def test_no_ray_at_the_address(tmp_path: Path) -> None:
    said, opened = opens(tmp_path, "127.0.0.1:1")
    assert said.startswith("address: no Ray cluster at '127.0.0.1:1'")
    assert opened == "False"
