"""A build that does not come to its end: what is kept, what is not, and how it goes on."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from corpus_work import files, loose, rows, written

from postil.corpus import blocks as cutting
from postil.corpus import passes
from postil.corpus.calls import build_corpus
from postil.corpus.options import Share
from postil.corpus.passes import BuildDirectory
from postil.errors import InvalidInput, PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Start = Callable[..., subprocess.Popen[bytes]]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")

WORK = Path(__file__).with_name("corpus_work.py")
BLOCK = 12_000
SIZES = {"dev": Share(size=9), "test": Share(size=9)}
FLAGS = ("--source", "a site", "--license", "ours", "--min-content-words", "0", "--min-comments", "1",
         "--test-min-comments", "0", "--test-min-upvotes", "0",
         "--references-per-article", "2", "--dev", "9", "--test", "9")  # fmt: skip
"""Options of `loose(**SIZES)` as flags."""


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the input and with a corpus that nothing interrupted."""
    folder = tmp_path_factory.mktemp("reference")
    written(folder / "a.jsonl", rows(120, comments=8, content=140))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "blocks", functools.partial(cutting.blocks, size=BLOCK))
        build_corpus([folder / "a.jsonl"], folder / "out", loose(**SIZES), jobs=1)
    return folder


@pytest.fixture
def start(reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a build in a child process, which halts at a step; in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(passes, "blocks", functools.partial(cutting.blocks, size=BLOCK))
    children = []

    def run(step: str = "-", number: int = 0, *more: str, **options: Any) -> subprocess.Popen[bytes]:
        words = (str(BLOCK), step, str(number), str(reference / "a.jsonl"), "--out", "out", *FLAGS, *more)
        child = subprocess.Popen(  # noqa: S603 - our own program
            (sys.executable, str(WORK), *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
        )
        children.append(child)
        return child

    yield run
    for child in children:
        child.kill()
        child.communicate()


def wait_for(what: Callable[[], object], child: subprocess.Popen[bytes] | None = None) -> None:
    for _ in range(4_800):
        if what():
            return
        if child is not None and child.poll() is not None:
            pytest.fail(f"it ended: {child.communicate()[1].decode()}")
        time.sleep(0.025)
    pytest.fail("it did not happen in two minutes")


def building() -> Path:
    return Path(".out.building")


def halted(child: subprocess.Popen[bytes]) -> dict[str, tuple[int, bytes]]:
    """Wait until a child halts; the files that it kept."""
    wait_for(lambda: list(building().rglob("*.1-halted.part")), child)
    return {str(path.relative_to(building())): (path.stat().st_mtime_ns, path.read_bytes())
            for name in ("prepared", "words", "shards") for path in (building() / name).glob("[!.]*")}  # fmt: skip


def kept(name: str) -> int:
    return len(list((building() / name).glob("[!.]*")))


def blocks_of(path: Path) -> int:
    return len(list(cutting.blocks(path, size=BLOCK)))


def go_on(reference: Path, say: Callable[[str], None] = lambda _: None, **changes: Any) -> None:
    build_corpus([reference / "a.jsonl"], "out", loose(**SIZES | changes), jobs=1, on_message=say)


def descendants(process: int) -> list[int]:
    found = [each for path in Path(f"/proc/{process}/task").glob("*/children") for each in path.read_text().split()]
    return [each for child in found for each in (int(child), *descendants(int(child)))]


def lives(process: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def same_as(reference: Path) -> bool:
    return files(Path("out")) == files(reference / "out") and not building().exists()


STEPS = [("prepared", 5), ("shards", 5), ("train", 3)]


@pytest.mark.parametrize(("step", "number"), STEPS)
def test_a_build_that_was_killed_goes_on_where_it_was(
    reference: Path, start: Start, monkeypatch: pytest.MonkeyPatch, step: str, number: int
) -> None:
    child = start(step, number)
    before = halted(child)
    if step == "prepared":
        with pytest.raises(UsageError, match=r"out: another build of this corpus is running$"):
            go_on(reference)
        assert halted(child) == before
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    assert not Path("out").exists()
    assert kept(step) == number or step == "train"
    times: dict[str, int] = {}
    finish = BuildDirectory.finish

    def look(self: BuildDirectory) -> None:
        times.update({name: (self.folder / name).stat().st_mtime_ns for name in before})
        finish(self)

    monkeypatch.setattr(BuildDirectory, "finish", look)
    told: list[str] = []
    go_on(reference, told.append)
    assert told[0] == "resuming the build of out"
    assert same_as(reference)
    # What was read is not read again, nor is a shard written again that was done; numbering the words takes no time.
    for name, (when, _) in before.items():
        if name.startswith("prepared") or (name.startswith("shards") and name[:13] in before):
            assert times[name] == when
    if step == "shards":
        assert sum(name in before for name in ("shards/000000", "shards/000001")) == 1
    assert sum(name.startswith("prepared") for name in before) == (
        5 if step == "prepared" else blocks_of(reference / "a.jsonl")
    )


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at the processes of Linux")
@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_a_build(reference: Path, start: Start, way: signal.Signals) -> None:
    child = start("prepared", 5, "--jobs", "2")
    halted(child)
    workers = descendants(child.pid)
    assert len(workers) == 2
    child.send_signal(way)
    out, err = child.communicate(timeout=60)
    assert out == b""
    if way == signal.SIGINT:
        assert child.returncode == 130
        folder = Path.cwd()
        kept_in = f"finished steps are kept in {folder}/.out.building; the same command resumes from them"
        assert err.decode() == f"{kept_in}\npostil: interrupted\n"
        assert not list(building().rglob(f".*.{child.pid}-*.part"))
    wait_for(lambda: not [worker for worker in workers if lives(worker)])
    assert not Path("out").exists()
    assert kept("prepared") == 5
    if way == signal.SIGINT:
        go_on(reference)
        assert same_as(reference)


@pytest.mark.parametrize("change", ["option", "input"])
def test_another_request_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path / "a.jsonl", rows(30))

    def never(_: BuildDirectory) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BuildDirectory, "finish", never)
        with pytest.raises(KeyboardInterrupt):
            build_corpus([path], "out", loose(**SIZES), jobs=1)
    assert kept("prepared") == 1
    if change == "input":
        written(path, rows(30, seed=5))
    options = loose(**SIZES, **({"seed": 7} if change == "option" else {}))
    told: list[str] = []
    build_corpus([path], "out", options, jobs=1, on_message=told.append)
    assert not [each for each in told if "going on" in each]
    build_corpus([path], "other", options, jobs=1)
    assert files(Path("other")) == files(Path("out"))


@pytest.mark.parametrize(
    ("limit", "step"),
    [(10_000, "prepared"), (30_000, "signatures"), (50_000, "corpus")],
)
def test_a_disk_that_is_full(reference: Path, start: Start, limit: int, step: str) -> None:
    """A limit on the size of files, which the system answers in the same way."""
    resource = pytest.importorskip("resource")

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    child = start(preexec_fn=full)
    out, err = child.communicate(timeout=60)
    kind, problem = err.decode().splitlines()[-2:]
    assert (child.returncode, out) == (1, b"")
    assert re.fullmatch(rf"postil: .*/\.out\.building/{step}.*: cannot be written: File too large", problem)
    assert kind.endswith("the same command resumes from them")
    assert not Path("out").exists()
    assert not list(building().rglob("*.part"))
    go_on(reference)
    assert same_as(reference)


@pytest.mark.parametrize("step", ["prepared", "shards"])
def test_steps_that_were_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    source = written(tmp_path / "a.jsonl", rows(6))
    with monkeypatch.context() as patch:
        patch.setattr(passes.Passes, "assemble", interrupted)
        with pytest.raises(KeyboardInterrupt):
            build_corpus([source], tmp_path / "out", loose(), jobs=1)
    building = tmp_path / ".out.building"
    (building / step / "000000").write_bytes(b"no step of a build")
    with pytest.raises(PostilError, match=r"\.out\.building: what an earlier build kept is unreadable .*; remove it"):
        build_corpus([source], tmp_path / "out", loose(), jobs=1)
    assert building.exists()
    shutil.rmtree(building)
    assert len(build_corpus([source], tmp_path / "out", loose(), jobs=1).tokens("train", "title")) == 6


class TestFolder:
    def test_it_is_beside_the_corpus_and_hidden(self, tmp_path: Path) -> None:
        with BuildDirectory(tmp_path / "c", "{}") as work:
            assert work.folder == tmp_path / ".c.building"
            assert not work.resumed
            work.keep(work.step("prepared", 3), b"a", b"b")
            assert (work.folder / "prepared" / "000003").read_bytes() == b"ab"
            work.keep(work.corpus / "metadata.json", b"{}")
            work.finish()
        assert files(tmp_path) == {"c/metadata.json": b"{}"}

    def test_steps_are_kept_for_the_same_request_alone(self, tmp_path: Path) -> None:
        for request, resumed in (("1", False), ("1", True), ("2", False), ("1", False)):
            with BuildDirectory(tmp_path / "c", request) as work:
                assert work.resumed == resumed
                assert work.step("prepared", 0).exists() == resumed
                work.keep(work.step("prepared", 0), b"x")
                work.step("prepared", 0).with_name(".000001.9-part.part").write_bytes(b"x")
                (work.folder / "signatures").write_bytes(b"x")

    @pytest.mark.parametrize(
        ("error", "stays"),
        [(InvalidInput("a bad row"), False), (PostilError("full"), True), (UsageError("no"), True), (KeyError(), True)],
    )
    def test_it_goes_where_the_input_is_wrong(self, tmp_path: Path, error: Exception, *, stays: bool) -> None:
        with contextlib.suppress(type(error)), BuildDirectory(tmp_path / "c", "1") as work:
            work.keep(work.step("prepared", 0), b"x")
            raise error
        assert [path.name for path in tmp_path.iterdir()] == [".c.building"] * stays

    def test_a_link_is_followed(self, tmp_path: Path) -> None:
        (tmp_path / "far").mkdir()
        (tmp_path / "near").symlink_to(tmp_path / "far" / "c")
        with BuildDirectory(tmp_path / "near", "") as work:
            work.keep(work.corpus / "x", b"x")
            work.finish()
        assert (tmp_path / "far" / "c" / "x").read_bytes() == b"x"

    def test_the_system_refuses(self, tmp_path: Path) -> None:
        with BuildDirectory(tmp_path / "c", "") as work:
            (work.folder / "prepared").write_text("in the way")
            with pytest.raises(PostilError, match=r"000000: cannot be written: (Not a directory|File exists)"):
                work.keep(work.step("prepared", 0), b"x")
            work.keep(work.corpus / "x", b"x")
            (tmp_path / "c").mkdir()
            (tmp_path / "c" / "mine").write_text("x")
            with pytest.raises(PostilError, match=r"/c: cannot be written: Directory not empty"):
                work.finish()
        assert (tmp_path / "c" / "mine").exists()

    def test_a_file_system_without_links(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: Path
    ) -> None:
        def refuse(*_: object) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", refuse)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(passes, "blocks", functools.partial(cutting.blocks, size=BLOCK))
        go_on(reference)
        assert same_as(reference)
