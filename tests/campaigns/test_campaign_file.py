"""SQLite files that are copied, removed, replaced or read-only."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy", reason="needs the web extra")

from postil.campaigns.store import Store
from postil.errors import InvalidInput, PostilError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

posix = pytest.mark.skipif(os.name != "posix", reason="a file that is open can be moved on POSIX only")


@pytest.fixture
def file(tmp_path: Path, ready: Path) -> Path:
    """A campaign that nobody uses, with one rating."""
    folder = tmp_path / "campaign"
    folder.mkdir()
    path = folder / "c.db"
    shutil.copy(ready, path)
    with Store.open(str(path)) as store:
        store.people.accept(store.people.invite("Ann", "annotator"))
        rate(store)
    return path


@pytest.fixture
def used(file: Path) -> Iterator[Store]:
    """The campaign in use, with a second rating."""
    with Store.open(str(file)) as store:
        rate(store)
        yield store


def rate(store: Store) -> None:
    ann = next(person for person in store.people.everyone() if person.name)
    task = store.grading.next(ann)
    assert task is not None
    store.grading.rate(ann, task.assignment, 4, idempotency_key=f"r{task.assignment}")


def checkpoint(store: Store) -> None:
    store._database._file.checkpoint()  # type: ignore[union-attr]


def graded(path: Path, *, read_only: bool = True) -> int:
    with Store.open(str(path), read_only=read_only) as store:
        return len(store.results.ratings())


def copy(path: Path, name: str, *endings: str) -> Path:
    """Copy a file with some of those beside it, by another process: closing it here would drop SQLite's locks."""
    folder = path.parent.parent / name
    folder.mkdir(exist_ok=True)
    for ending in endings:
        subprocess.run(["cp", f"{path}{ending}", folder], check=True)  # noqa: S603, S607 - our own files
    return folder / path.name


def beside(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


def marks(path: Path) -> tuple[int, int]:
    """The mark in the file itself, and the one with its log."""
    found = []
    for how in ("immutable=1", "mode=ro"):
        with closing(sqlite3.connect(f"{path.as_uri()}?{how}", uri=True)) as connection:
            found.append(connection.execute("PRAGMA user_version").fetchone()[0])
    return found[0], found[1]


class TestCopies:
    def test_a_closed_campaign_is_one_complete_file(self, file: Path) -> None:
        assert beside(file) == ["c.db"]
        mark, version = marks(file)
        assert mark == version < 0
        assert graded(copy(file, "copy", "")) == 1

    def test_a_copy_of_the_file_alone_is_refused_while_it_is_in_use(self, file: Path) -> None:
        with Store.open(str(file)) as store:
            copies = [copy(file, "before", "")]
            rate(store)
            copies.append(copy(file, "after", ""))
            for path in copies:
                for read_only in (True, False):
                    with pytest.raises(
                        InvalidInput, match=r"c\.db-wal is missing, .* 'postil annotate backup'"
                    ) as caught:
                        graded(path, read_only=read_only)
                    assert caught.value.where == str(path)
                assert beside(path) == ["c.db"]

    def test_a_checkpoint_changes_nothing_about_that(self, used: Store, file: Path) -> None:
        first, _ = marks(file)
        checkpoint(used)
        assert marks(file) == (first + 1, -first - 1)
        path = copy(file, "copy", "")
        with pytest.raises(InvalidInput, match="is missing"):
            graded(path)

    def test_answers_are_moved_into_the_file_within_a_second(
        self, used: Store, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("postil.data.group_commit.CHECKPOINT_AFTER", 0.01)
        rate(used)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            path = copy(file, "copy", "")
            with Store.open(str(path), read_only=True, incomplete=True) as store:
                if len(store.results.ratings()) == 3:
                    return
        raise AssertionError("they are not")

    @pytest.mark.usefixtures("used")
    def test_a_copy_with_its_log_is_complete(self, file: Path) -> None:
        path = copy(file, "copy", "", "-wal")
        assert (graded(path), graded(path, read_only=False)) == (2, 2)

    @pytest.mark.parametrize("order", [("", "-wal"), ("-wal", "")])
    def test_a_log_of_another_time_is_refused(self, used: Store, file: Path, order: tuple[str, str]) -> None:
        copy(file, "copy", order[0])
        checkpoint(used)
        rate(used)
        path = copy(file, "copy", order[1]).with_name("c.db")
        content = path.read_bytes()
        for read_only in (True, False):
            with pytest.raises(InvalidInput, match=r"together\. If the file is a backup .*-wal elsewhere"):
                graded(path, read_only=read_only)
        assert path.read_bytes() == content

    @pytest.mark.usefixtures("used")
    def test_a_copy_in_the_middle_of_a_checkpoint(self, file: Path) -> None:
        """Each step of one, as a process that was killed leaves it."""
        mark, version = marks(file)
        assert mark == -version > 0
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute(f"PRAGMA user_version = {mark + 1}")
            assert graded(copy(file, "one", "", "-wal"), read_only=False) == 2
            connection.execute("PRAGMA wal_checkpoint(RESTART)")
            assert marks(file) == (mark + 1, mark + 1)
            assert graded(copy(file, "two", "", "-wal"), read_only=False) == 2
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            path = copy(file, "three", "", "-wal")
            assert (graded(path), graded(path, read_only=False)) == (2, 2)
            assert beside(path) == ["c.db"]
            connection.execute(f"PRAGMA user_version = {-mark - 1}")

    def test_a_checkpoint_by_another_program_completes_the_file_until_the_next_answer(
        self, used: Store, file: Path
    ) -> None:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert graded(copy(file, "complete", "")) == 2
        rate(used)
        path = copy(file, "copy", "")
        with pytest.raises(InvalidInput, match="is missing"):
            graded(path)

    def test_the_last_of_two_completes_the_file(self, file: Path) -> None:
        with Store.open(str(file)) as first:
            with Store.open(str(file)) as second:
                rate(second)
            rate(first)
            path = copy(file, "copy", "")
            with pytest.raises(InvalidInput, match="is missing"):
                graded(path)
        assert graded(copy(file, "closed", "")) == 3
        assert beside(file) == ["c.db"]

    def test_a_program_that_forgets_to_close_loses_nothing(self, file: Path) -> None:
        program = (
            "import sys; from postil.campaigns.store import Store; store = Store.open(sys.argv[1])\n"
            "ann = next(one for one in store.people.everyone() if one.name); task = store.grading.next(ann)\n"
            "store.grading.rate(ann, task.assignment, 4, idempotency_key='x')\n"
        )
        subprocess.run([sys.executable, "-c", program, str(file)], check=True)  # noqa: S603 - our own code
        assert graded(file) == 2

    def test_a_campaign_of_a_version_without_marks(self, file: Path) -> None:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA user_version = 0")
            connection.execute("PRAGMA journal_mode = WAL")
        assert marks(copy(file, "old", "")) == (0, 0)
        assert graded(file) == 1
        assert beside(file) == ["c.db"]
        with closing(sqlite3.connect(file)) as connection:  # a server of that version was killed
            connection.execute("UPDATE person SET name = 'Bea' WHERE name = 'Ann'")
            connection.commit()
            path = copy(file, "killed", "", "-wal")
        assert graded(path) == 1
        with Store.open(str(path)) as store:
            assert "Bea" in {person.name for person in store.people.everyone()}
            rate(store)
            assert marks(path)[0] > 0
        assert graded(copy(path, "copy", "")) == 2

    def test_a_reader_who_keeps_it_from_being_marked(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("postil.campaigns.campaign_file.BUSY", 0.05)
        monkeypatch.setattr("postil.campaigns.campaign_file.PATIENCE", 0.05)
        with closing(sqlite3.connect(file, isolation_level=None)) as reader:
            reader.execute("PRAGMA journal_mode = WAL")
            reader.execute("UPDATE person SET name = 'Bea' WHERE name = 'Ann'")
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM person").fetchall()
            with pytest.raises(PostilError, match="another process has been reading it"):
                Store.open(str(file))
        assert graded(copy(file, "copy", "")) == 1
        assert graded(file, read_only=False) == 1

    def test_other_databases_are_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "other.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE t (n)")
            connection.execute("PRAGMA user_version = 7")
        content = path.read_bytes()
        for options in ({}, {"read_only": True}, {"make": True}):
            with pytest.raises(InvalidInput, match=r"no campaign here|holds other tables"):
                Store.open(str(path), **options)  # type: ignore[arg-type]
        assert path.read_bytes() == content


@posix
class TestLosses:
    @pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
    @pytest.mark.parametrize("replaced", [False, True])
    def test_nothing_is_acknowledged_without_the_file(self, file: Path, ending: str, replaced: bool) -> None:
        said: list[str] = []
        lost = file.with_name(f"c.db{ending}")
        with Store.open(str(file), alarm=said.append) as store:
            rate(store)
            lost.rename(kept := file.with_name("kept"))
            if replaced:
                subprocess.run(["cp", kept, lost], check=True)  # noqa: S603, S607 - our own files
            problem = f"{lost.name} was {'replaced' if replaced else 'removed or moved'} while the campaign was in use"
            for _ in range(2):
                with pytest.raises(PostilError, match=problem):
                    rate(store)
            assert len(said) == 1
            if not ending:
                with pytest.raises(PostilError, match=problem):
                    store._database._file.connect()  # type: ignore[union-attr]
            kept.replace(lost)
            rate(store)
            assert len(said) == 2
            assert "annotations are stored again" in said[1]
        assert graded(file) == 3

    @pytest.mark.parametrize("ending", ["-wal", "-shm"])
    def test_what_only_a_lost_log_held_is_saved(self, file: Path, ending: str) -> None:
        with Store.open(str(file)) as store:
            rate(store)
            file.with_name(f"c.db{ending}").unlink()
            with pytest.raises(PostilError, match="removed"):
                rate(store)
        assert (beside(file), graded(file)) == (["c.db"], 2)

    def test_a_file_that_was_overwritten_stays_as_it_is_now(self, file: Path) -> None:
        other = file.with_name("other.db")
        with Store.open(str(file), read_only=True) as store:
            other.touch()
            store.copy(str(other))
        content = other.read_bytes()
        said: list[str] = []
        with Store.open(str(file), alarm=said.append) as store:
            rate(store)
            subprocess.run(["cp", other, file], check=True)  # noqa: S603, S607 - our own files
            ann = next(person for person in store.people.everyone() if person.name)
            with pytest.raises(PostilError, match=r"c\.db was overwritten"):
                store.grading.rate(ann, 1, 4, idempotency_key="x")
        assert len(said) == 1
        subprocess.run(["cmp", file, other], check=True)  # noqa: S603, S607 - our own files
        with pytest.raises(InvalidInput, match="do not belong together"):
            graded(file)
        assert content == other.read_bytes()

    def test_a_server_does_not_remove_the_log_of_a_campaign_that_took_the_place_of_its_own(self, file: Path) -> None:
        other = copy(file, "other", "")
        with Store.open(str(file)) as store:
            rate(store)
            file.rename(file.with_name("moved.db"))
            file.with_name("c.db-wal").rename(file.with_name("moved.db-wal"))
            shutil.move(other, file)
            with Store.open(str(file)) as second:
                rate(second)
                store.close()
                rate(second)
            assert graded(file) == 3
        assert graded(file.with_name("moved.db")) == 2


READ = """
import sys
from postil.campaigns.store import Store
for path in sys.argv[1:]:
    with Store.open(path, read_only=True) as store:
        print(len(store.results.ratings()))
"""


class TestReading:
    def test_nothing_can_be_changed(self, file: Path) -> None:
        with Store.open(str(file), read_only=True) as store, pytest.raises(PostilError, match="reading only"):
            rate(store)

    def test_a_campaign_in_use_is_read_with_its_log(self, used: Store, file: Path) -> None:
        with Store.open(str(file), read_only=True) as store:
            assert len(store.results.ratings()) == 2
            rate(used)
            assert len(store.results.ratings()) == 3

    @posix
    @pytest.mark.usefixtures("used")
    def test_a_disk_that_cannot_be_written(self, file: Path, only_reading: Callable[..., str]) -> None:
        """Closed, and of a version that left other headers; in use, and left by a kill, with and without an index."""
        closed = copy(file, "closed", "", "-wal")
        assert graded(closed, read_only=False) == 2
        assert beside(closed) == ["c.db"]
        old = copy(closed, "old", "")
        with closing(sqlite3.connect(old)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        killed = copy(file, "killed", "", "-wal", "-shm")
        without = copy(file, "without", "", "-wal")
        paths = [closed, old, killed, without, file]
        before = {path: beside(path) for path in paths}
        assert only_reading(file.parent.parent, READ, *map(str, paths)).split() == ["2"] * len(paths)
        assert {path: beside(path) for path in paths} == before


class TestBackups:
    def test_of_what_is_left(self, used: Store, file: Path) -> None:
        alone, other = copy(file, "alone", ""), copy(file, "other", "-wal")
        checkpoint(used)
        rate(used)
        copy(file, "other", "")
        for path, number in ((alone, 1), (other.with_name("c.db"), 2)):
            with pytest.raises(InvalidInput):
                graded(path)
            with Store.open(str(path), read_only=True, incomplete=True) as store:
                assert len(store.results.ratings()) == number

    def test_of_a_damaged_file(self, file: Path) -> None:
        content = bytearray(file.read_bytes())
        for page in range(4096 * 3, len(content), 4096):
            content[page : page + 64] = bytes(64)
        file.write_bytes(content)
        path = file.with_name("backup.db")
        path.touch()
        with pytest.raises(PostilError, match="damaged"), Store.open(str(file), read_only=True) as store:
            store.copy(str(path))


@posix
class TestPermissions:
    @pytest.fixture(autouse=True)
    def open_to_all(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """A umask that takes nothing away, and no way to change permissions once a file is there."""
        for owner in (os, Path):
            monkeypatch.setattr(owner, "chmod", lambda *_arguments, **_options: None)
        before = os.umask(0)
        yield
        os.umask(before)

    def modes(self, folder: Path) -> dict[str, int]:
        return {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}

    def test_only_the_owner_reads_a_new_campaign_and_the_files_beside_it(self, tmp_path: Path) -> None:
        folder = tmp_path / "new"
        folder.mkdir()
        with Store.open(str(folder / "c.db"), make=True):
            assert self.modes(folder) == dict.fromkeys(("c.db", "c.db-wal", "c.db-shm"), 0o600)
        assert self.modes(folder) == {"c.db": 0o600}

    def test_a_file_that_is_there_keeps_its_permissions(self, tmp_path: Path) -> None:
        folder = tmp_path / "new"
        folder.mkdir()
        os.close(os.open(folder / "c.db", os.O_CREAT, 0o640))
        with Store.open(str(folder / "c.db"), make=True):
            assert set(self.modes(folder).values()) == {0o640}

    def test_a_folder_that_refuses_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_arguments: object, **_options: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "touch", refuse)
        with pytest.raises(PostilError, match=r"c\.db: cannot be created: Permission denied"):
            Store.open(str(tmp_path / "c.db"), make=True)


def test_a_checkpoint_that_another_process_has_begun_is_no_replacement(used: Store, file: Path) -> None:
    checkpoint(used)
    mark, _ = marks(file)
    with closing(sqlite3.connect(file)) as other:
        other.execute(f"PRAGMA user_version = {mark + 1}")  # what it writes first
        used._database._file._remember()  # type: ignore[union-attr]
        os.utime(file)
        rate(used)
    assert len(used.results.ratings()) == 3


def test_opening_waits_for_nobody_who_writes(used: Store, file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with Store.open(str(file)) as store:
            assert len(store.results.ratings()) == len(used.results.ratings())
