"""Files and folders that appear whole or not at all, never in the place of what is read; one process at a time."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.atomic_file import AtomicFile, FolderWriter, check_apart, locked
from postil.data.row_files import write
from postil.data.rows import Candidate
from postil.errors import PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

posix = pytest.mark.skipif(os.name != "posix", reason="links are POSIX")


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.jsonl").write_text('{"id": 1}\n')
    return Path("in", "rows.jsonl")


SPELLINGS: dict[str, Callable[[Path], str]] = {
    "the same": str,
    "another spelling": lambda rows: f"./in/../{rows}",
    "absolute": lambda rows: str(rows.resolve()),
    "a symbolic link": lambda rows: _linked(Path("link.jsonl").symlink_to, rows.resolve()),
    "a link to its folder": lambda rows: f"{_linked(Path('way').symlink_to, rows.parent.resolve())}/{rows.name}",
    "a hard link": lambda rows: _linked(Path("hard.jsonl").hardlink_to, rows),
    "a folder around it": lambda _: "in",
    "a folder around that": lambda _: ".",
}


def _linked(link: Callable[[Path], None], target: Path) -> str:
    link(target)
    return str(link.__self__)  # type: ignore[attr-defined]  # a bound method


@posix
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_what_is_read_is_not_written_over(rows: Path, spelling: str) -> None:
    out = SPELLINGS[spelling](rows)
    with pytest.raises(UsageError, match=r"^\S+: would be written over in/rows.jsonl, which is read; name another out"):
        check_apart(out, ["-", "missing.jsonl", rows])


@pytest.mark.parametrize("name", ["rows.jsonl", "new.jsonl", "new/rows.jsonl"])
def test_a_file_in_a_folder_that_is_read(rows: Path, name: str) -> None:
    with pytest.raises(UsageError, match=rf"^in/{name}: lies in in, which is read; name another output"):
        check_apart(rows.parent / name, ["in"])


@pytest.mark.parametrize("out", ["new.jsonl", "inner.jsonl", "other.jsonl", "-"])
def test_anything_else_may_be_written(rows: Path, out: str) -> None:
    Path("other.jsonl").write_text('{"id": 1}\n')
    check_apart(out, [rows, "in", "-", "missing"])


def test_streams_are_files_too(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with rows.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        with pytest.raises(UsageError, match=r"^in/rows.jsonl: would be written over -, which is read"):
            check_apart(rows, ["-"])
    with rows.open("a") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        with pytest.raises(UsageError, match=r"^-: would be written over in/rows.jsonl, which is read"):
            check_apart("-", [rows])


@posix
def test_a_terminal_may_be_both(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(os.devnull).open("r+") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        monkeypatch.setattr("sys.stdout", stream)
        check_apart("-", ["-", os.devnull])


def test_what_another_file_refuses_is_not_blamed_on_this_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):  # noqa: SIM117
        with AtomicFile(str(tmp_path / "page.html")):
            (tmp_path / "missing").read_bytes()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_at_the_beginning_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.jsonl").write_text("earlier")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "chmod", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "rows.jsonl", [Candidate("a", "b", "c")])
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


@pytest.mark.skipif(os.name != "posix", reason="the limit is POSIX")
def test_an_array_on_a_full_disk(tmp_path: Path) -> None:
    """NumPy itself says how many bytes it wrote, and no more."""
    import resource  # noqa: PLC0415
    import signal  # noqa: PLC0415

    limits, before = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        with pytest.raises(PostilError, match=r"a.npy: cannot be written: .*(too large|is the disk full\?)"):  # noqa: SIM117
            with AtomicFile(str(tmp_path / "a.npy")) as stream:
                np.save(stream, np.zeros(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert list(tmp_path.iterdir()) == []


def write_folder(folder: Path, files: dict[str, bytes], names: set[str]) -> None:
    with FolderWriter(folder, names) as new:
        for name, content in files.items():
            new.write(name, content)


def test_a_folder_is_replaced_as_a_whole_and_not_with_other_files(tmp_path: Path) -> None:
    folder, names = tmp_path / "m", {"a", "b"}
    write_folder(folder, {"a": b"1", "b": b"2"}, names)
    write_folder(folder, {"a": b"3"}, names)
    assert [(each.name, each.read_bytes()) for each in folder.iterdir()] == [("a", b"3")]
    assert [each.name for each in tmp_path.iterdir()] == ["m"]
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"is there already and holds notes\.txt, which is not replaced"):
        write_folder(folder, {"a": b"1"}, {"a"})
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="is there already, and is a file"):
        write_folder(tmp_path / "file", {"a": b"1"}, {"a"})
    with pytest.raises(UsageError, match=r"parent folder .*none does not exist"):
        write_folder(tmp_path / "none" / "m", {"a": b"1"}, {"a"})
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "m"]


def test_a_folder_that_cannot_be_replaced_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, names, rename = tmp_path / "m", {"a"}, Path.rename
    write_folder(folder, {"a": b"1"}, names)

    def refuse(self: Path, target: Path) -> Path:
        if self.suffix == ".part":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    monkeypatch.setattr("postil.data.atomic_file._exchange", lambda *_: False)
    with pytest.raises(PostilError, match="m: cannot be written: No space left"):
        write_folder(folder, {"a": b"2"}, names)
    assert (folder / "a").read_bytes() == b"1"
    assert [each.name for each in tmp_path.iterdir()] == ["m"]


HOLD = """
import sys, time
from postil.data.atomic_file import locked
with locked(sys.argv[1], "taken"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_after_another_and_after_an_error(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(KeyError, match="True"), locked(tmp_path / "folder", "taken"):
            raise KeyError((tmp_path / "folder").is_dir())


def test_what_is_no_place_for_a_lock(tmp_path: Path) -> None:
    with pytest.raises(PostilError, match="No such file"), locked(tmp_path / "none" / "folder", "taken"):
        pass
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
