"""Arguments of `open_engine`, and Ray in a program of its own."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import engine_work as work
import pytest

from postil.engine import ENGINES, open_engine
from postil.errors import MissingExtra, UnknownName, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_the_engines() -> None:
    assert list(ENGINES) == ["local", "ray"]


@pytest.mark.parametrize("name", ["dask", "spark", "Ray", ""])
def test_other_engines_are_refused(name: str) -> None:
    with pytest.raises(UnknownName, match=f"^unknown engine '{name}'.* Known: local, ray$"):
        open_engine(name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "jobs: expected 1 or more, got 0"),
        ({"retries": -1}, "retries: expected 0 or more, got -1"),
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
