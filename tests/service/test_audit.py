"""The audit log: a chain of lines that goes on over restarts and rotations, and shows what was changed."""

from __future__ import annotations

import errno
import gzip
import json
import os
import signal
import stat
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from postil.cli.main import app
from postil.errors import InvalidInput, PostilError, UsageError
from postil.web.audit_log import AuditLog, check_audit

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def write(log: AuditLog, *requests: str) -> None:
    for request in requests:
        log.write(request=request, route="POST /v1/suggest", status=200, milliseconds=1.23456)


def written(file: Path, *requests: str) -> None:
    log = AuditLog(file)
    write(log, *requests)
    log.close()


def test_a_line_tells_who_did_what_and_how_it_ended(file: Path) -> None:
    log = AuditLog(file)
    log.write(
        request="r1",
        route="POST /v1/suggest",
        status=200,
        milliseconds=1.23456,
        token="cms",  # noqa: S106 - its name
        model="8d0c",
        counts={"suggestions": 5},
    )
    row = json.loads(file.read_text())  # before the log is closed
    assert row.pop("time").endswith("Z")
    assert row == {
        "previous": "",
        "request": "r1",
        "route": "POST /v1/suggest",
        "status": 200,
        "milliseconds": 1.235,
        "token": "cms",
        "model": "8d0c",
        "counts": {"suggestions": 5},
    }
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_chain_goes_on_after_a_rotation(file: Path, tmp_path: Path) -> None:
    old, packed = tmp_path / "audit.jsonl.1", tmp_path / "audit.jsonl.2.gz"
    log = AuditLog(file)
    write(log, "r1")
    log.reopen()  # of a file that was not rotated
    write(log, "r2")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    file.rename(old)
    write(log, "r3")
    packed.write_bytes(gzip.compress(old.read_bytes()))
    log.reopen()
    write(log, "r4")
    file.rename(old)
    log.reopen()
    assert [one.lines for one in check_audit([packed, old, file]).files] == [3, 1, 0]
    write(log, "r5")
    log.close()
    files = check_audit([packed, old, file]).files
    assert [one.lines for one in files] == [3, 1, 1]
    assert all(one.last == other.first for one, other in pairwise(files))
    with pytest.raises(InvalidInput, match=r"audit.jsonl:1: previous: expected the hash of the line before"):
        check_audit([packed, file])


def test_a_copied_and_truncated_file_goes_on_too(file: Path, tmp_path: Path) -> None:
    log = AuditLog(file)
    write(log, "r1", "r2")
    copy = tmp_path / "copy"
    copy.write_bytes(file.read_bytes())
    file.write_bytes(b"")
    write(log, "r3")
    log.close()
    assert [one.lines for one in check_audit([copy, file]).files] == [2, 1]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda lines: [lines[0], lines[1].replace(b'"status":200', b'"status":403'), *lines[2:]], 3),
        (lambda lines: [lines[0], *lines[2:]], 2),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 2),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], 3),
        (lambda lines: [*lines[:3], b"{}\n"], 4),
        (lambda lines: [*lines[:3], b"\n"], 4),
        (lambda lines: [*lines[:3], b"\xff\n"], 4),
        (lambda lines: [*lines[:3], lines[3][:-1]], 4),
    ],
)
def test_what_was_changed_is_found(file: Path, change: object, line: int) -> None:
    written(file, "r1", "r2", "r3", "r4")
    lines = change(file.read_bytes().splitlines(keepends=True))  # type: ignore[operator]
    file.write_bytes(b"".join(lines))
    with pytest.raises(InvalidInput, match=f"audit.jsonl:{line}: "):
        check_audit([file])


def test_a_hash_that_was_noted_shows_that_the_end_was_cut_off(file: Path) -> None:
    written(file, "r1", "r2")
    noted = check_audit([file]).files[0].last
    written(file, "r3")
    assert check_audit([file], noted).files[0].lines == 3
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0])
    assert check_audit([file]).files[0].lines == 1
    with pytest.raises(InvalidInput, match=f"no line has the hash {noted}: lines were changed, or cut off at the end"):
        check_audit([file], noted)


@pytest.mark.parametrize("rest", [b'{"prev', b'{"previous":"8d0c', b"{"])
def test_a_line_that_was_cut_off_is_removed(file: Path, rest: bytes) -> None:
    written(file, "r1", "r2")
    whole = file.read_bytes()
    for before in (b"", whole):
        file.write_bytes(before + rest)
        messages: list[str] = []
        log = AuditLog(file, messages.append)
        assert messages == [f"{file}: the last line was cut off, and is removed"]
        assert file.read_bytes() == before
        write(log, "r3")
        log.close()
        assert check_audit([file]).files[0].lost == 1


@pytest.mark.parametrize("content", [b"a table\n", b"a table", b"{}\n", b"\n", b"x" * 200_000, b'{"a": 1}'])
def test_another_file_is_refused_and_stays(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(InvalidInput, match="this is no audit log; name another file"):
        AuditLog(file)
    assert file.read_bytes() == content


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="expected a file, as the log continues what it holds"):
        AuditLog(tmp_path / "pipe")
    with pytest.raises(PostilError, match="cannot be opened: Is a directory"):
        AuditLog(tmp_path)
    with pytest.raises(PostilError, match="cannot be opened: No such file or directory"):
        AuditLog(tmp_path / "none" / "audit.jsonl")


def test_two_services_cannot_share_a_log(file: Path) -> None:
    log = AuditLog(file)
    with pytest.raises(UsageError, match="another process writes this log; name another file"):
        AuditLog(file)
    log.close()
    AuditLog(file).close()


def test_a_rotation_into_nowhere_keeps_the_file_that_was_open(file: Path, tmp_path: Path) -> None:
    messages: list[str] = []
    log = AuditLog(file, messages.append)
    write(log, "r1")
    file.rename(old := tmp_path / "old")
    file.write_bytes(b"something else\n")
    log.reopen()
    assert messages == [f"{file}: this is no audit log; name another file; the log goes on in the file that was open"]
    write(log, "r2")
    assert check_audit([old]).files[0].lines == 2


FULL = """
import resource, signal, sys
from postil.web.audit_log import AuditLog
def write(*requests):
    for request in requests:
        log.write(request=request, route="GET /", status=200, milliseconds=1.0)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
log = AuditLog(sys.argv[1], lambda text: print(text, flush=True))
write("r1")
before = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), before[1]))
write("r2", "r3", "r4")
resource.setrlimit(resource.RLIMIT_FSIZE, before)
write("r5")
print(log.lost)
"""


def test_lines_that_cannot_be_written_are_counted_and_break_nothing(file: Path) -> None:
    """A part of r3 can be written, and is taken back."""
    written(file, "r0")
    size = file.stat().st_size
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", FULL, file, str(3 * size + 250)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == [
        f"{file}: cannot be written: the disk is full; requests are answered without a line in it",
        "2",
    ]
    assert [json.loads(line)["request"] for line in file.read_text().splitlines()] == ["r0", "r1", "r2", "r5"]
    assert check_audit([file]).files[0].lost == 2


KILLED = FULL.replace(
    'resource.setrlimit(resource.RLIMIT_FSIZE, before)\nwrite("r5")\nprint(log.lost)\n',
    "import os\nos.kill(os.getpid(), signal.SIGKILL)\n",
)


def killed(file: Path, size: int) -> None:
    """Write until the file has a size, lose two lines more, and be killed."""
    ran = subprocess.run([sys.executable, "-c", KILLED, file, str(size)], capture_output=True, check=False)  # noqa: S603
    assert ran.returncode == -signal.SIGKILL, ran.stderr


def test_lines_that_were_lost_are_known_after_a_kill(file: Path) -> None:
    written(file, "r0")
    size = 3 * file.stat().st_size + 250
    killed(file, size)
    assert check_audit([file]).files[0].lost == 2
    messages: list[str] = []
    log = AuditLog(file, messages.append)
    assert messages == [f"{file}: 2 lines could not be written before the last end; the next one says so"]
    assert log.lost == 2
    log.close()
    with subprocess.Popen(  # noqa: S603 - ours
        [sys.executable, "-c", KILLED.replace('write("r1")', ""), file, str(file.stat().st_size)],
        stdout=subprocess.PIPE,
        text=True,
    ) as again:
        assert again.stdout is not None
        assert "; requests are answered without a line in it" in again.stdout.readlines()[1]
    assert check_audit([file]).files[0].lost == 5
    written(file, "r5", "r6")
    assert [json.loads(line).get("lost", 0) for line in file.read_text().splitlines()] == [0, 0, 0, 5, 0]
    assert check_audit([file]).files[0].lost == 5
    AuditLog(file, messages.append).close()
    assert len(messages) == 1


def test_lines_that_were_lost_are_known_after_a_kill_and_a_rotation(file: Path, tmp_path: Path) -> None:
    written(file, "r0")
    killed(file, 3 * file.stat().st_size + 250)
    file.rename(old := tmp_path / "audit.jsonl.1")
    assert check_audit([old]).files[0].lost == 0  # the count is that of the log that goes on
    log = AuditLog(file)
    assert [one.lost for one in check_audit([file]).files] == [2]
    write(log, "r5")
    log.close()
    assert [one.lost for one in check_audit([file]).files] == [2]


def test_a_kill_between_a_line_and_the_count_counts_nothing_twice(file: Path) -> None:
    written(file, "r0")
    killed(file, 3 * file.stat().st_size + 250)
    count = file.with_name("audit.jsonl.lost")
    before = count.read_bytes()
    written(file, "r5")
    count.write_bytes(before)
    assert check_audit([file]).files[0].lost == 2
    written(file)
    file.unlink()
    written(file, "r6")
    assert check_audit([file]).files[0].lost == 0


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_the_count_needs_no_space_and_its_loss_is_told(
    file: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First the log alone cannot be written, then nothing."""
    messages: list[str] = []
    log = AuditLog(file, messages.append)
    count = file.with_name("audit.jsonl.lost")
    size, really = count.stat().st_size, os.write
    reached: list[Path] = [count]

    def full(number_of_file: int, data: bytes) -> int:
        if any(os.path.samestat(one.stat(), os.fstat(number_of_file)) for one in reached):
            return really(number_of_file, data)
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "write", full)
    write(log, "r1", "r2")
    assert count.stat().st_size == size
    assert check_audit([file]).files[0].lost == 2
    assert messages == [f"{file}: cannot be written: {os.strerror(number)}; requests are answered without a line in it"]
    reached.clear()
    write(log, "r3", "r4")
    assert messages[1:] == [
        f"{count}: cannot be written: {os.strerror(number)}; a kill forgets how many lines of the log could not be"
    ]
    monkeypatch.undo()
    write(log, "r5")
    log.close()
    assert json.loads(file.read_text())["lost"] == 4


def test_another_file_in_the_place_of_the_count_is_refused_and_stays(file: Path) -> None:
    count = file.with_name("audit.jsonl.lost")
    count.write_text("my notes\n")
    with pytest.raises(InvalidInput, match=r"audit.jsonl.lost: this is no count of an audit log's lost lines"):
        AuditLog(file)
    assert count.read_text() == "my notes\n"
    count.unlink()
    written(file, "r1")
    assert stat.S_IMODE(count.stat().st_mode) == 0o600


def test_the_command_verifies(file: Path) -> None:
    written(file, "r1", "r2")
    outcome = CliRunner().invoke(app, ["check-audit", str(file), "--format", "json"])
    assert outcome.exit_code == 0
    [found] = json.loads(outcome.stdout)["files"]
    assert (found["lines"], found["first"]) == (2, "")
    assert CliRunner().invoke(app, ["check-audit", str(file), "--contains", found["last"]]).exit_code == 0
    file.write_bytes(file.read_bytes().replace(b"r1", b"r9"))
    outcome = CliRunner().invoke(app, ["check-audit", str(file)])
    assert outcome.exit_code == 3
    assert outcome.stderr.startswith(f"postil: {file}:2: previous: expected the hash of the line before; that line")
