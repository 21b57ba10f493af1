"""A folder that one process at a time works in."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from postil import PostilError, UsageError
from postil.data.atomic_file import locked

if TYPE_CHECKING:
    from pathlib import Path

HOLD = """
import sys, time
from postil.data.atomic_file import locked
with locked(sys.argv[1], "taken"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_after_another(tmp_path: Path) -> None:
    for _ in range(2):
        with locked(tmp_path / "folder", "taken"):
            assert (tmp_path / "folder").is_dir()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(UsageError, match="expected a folder, got a file"), locked(path, "taken"):
            pass


def test_another_process_is_turned_away_until_it_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:  # noqa: S603 - our own code
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(UsageError, match=r"^somebody is here$"), locked(tmp_path, "somebody is here"):
            pass
        other.kill()
        other.wait()
        with locked(tmp_path, "somebody is here"):
            pass


def test_it_is_let_go_after_an_error(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(KeyError), locked(tmp_path, "taken"):
            raise KeyError


def test_no_place_for_it(tmp_path: Path) -> None:
    with pytest.raises(PostilError, match="No such file"), locked(tmp_path / "none" / "folder", "taken"):
        pass
