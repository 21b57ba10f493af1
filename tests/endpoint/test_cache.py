from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from postil.endpoint.cache import AnswerCache
from postil.endpoint.chat import Answer
from postil.errors import InvalidInput, PostilError

if TYPE_CHECKING:
    from pathlib import Path

FILE = "answers.sqlite"


def test_the_first_answer_stays(tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as one, AnswerCache(tmp_path) as other:
        assert one.put("k", Answer(text="first")).text == "first"
        assert other.put("k", Answer(text="second")).text == "first"
        assert other.get("k") == Answer(text="first")


FILL = """
import sys
from postil.endpoint.cache import AnswerCache
from postil.endpoint.chat import Answer
with AnswerCache(sys.argv[1]) as cache:
    for at in range(40):
        cache.put(str(at), Answer(text=sys.argv[2]))
"""


def test_several_processes_and_threads_write_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FILL, tmp_path]
    processes = [subprocess.Popen([*command, name]) for name in "ab"]  # noqa: S603 - our own code
    with AnswerCache(tmp_path) as cache, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda at: cache.put(str(at // 4), Answer(text=str(at % 4))), range(160)))
    assert [process.wait() for process in processes] == [0, 0]
    with AnswerCache(tmp_path) as cache:
        assert all(cache.get(str(at)) for at in range(40))


def read_all(folder: Path) -> None:
    with AnswerCache(folder) as cache:
        for at in range(40):
            cache.get(str(at))


@pytest.mark.parametrize("how", ["head", "middle", "value", "text"])
def test_a_damaged_file_is_said(how: str, tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as cache:
        for at in range(40):
            cache.put(str(at), Answer(text="x" * 600))
    path = tmp_path / FILE
    if how in {"value", "text"}:
        connection = sqlite3.connect(path)
        connection.execute("UPDATE answer SET value = ?", (b'{"text": 4}' if how == "value" else "text",))
        connection.commit()
        connection.close()
    else:
        data = bytearray(path.read_bytes())
        begin = 0 if how == "head" else 4096
        data[begin : begin + 8000] = b"\xa5" * 8000
        path.write_bytes(data)
    with pytest.raises(InvalidInput, match=f"{FILE}: the file of answers is damaged; remove it"):
        read_all(tmp_path)


def test_another_database_is_left_alone(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(InvalidInput, match="this database holds other tables; name another folder"):
        AnswerCache(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_later_version(tmp_path: Path) -> None:
    AnswerCache(tmp_path).close()
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(InvalidInput, match="expected version 1, got 2; it was made by another version of postil"):
        AnswerCache(tmp_path)


def test_folders_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "no" / "parent"):
        with pytest.raises(PostilError, match=r"answers cannot be kept there: (File exists|No such file)"):
            AnswerCache(folder)


def test_a_folder_that_may_only_be_read_can_be_used_again(tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as cache:
        cache.put("k", Answer(text="x"))
    (tmp_path / FILE).chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        with AnswerCache(tmp_path) as cache:
            assert cache.get("k") == Answer(text="x")
    finally:
        tmp_path.chmod(0o755)


def test_erasing_reaches_all_texts_and_leaves_what_others_keep(tmp_path: Path) -> None:
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / FILE).symlink_to(tmp_path / FILE)
    with AnswerCache(tmp_path) as other:
        other.put("said", Answer(text="A zyxwell."))
        other.put("declined", Answer(text="", refusal="Not of a zyxwell."))
        assert AnswerCache.erase(tmp_path, lambda text: "zyxwell" in text, dry_run=True) == 2
        assert AnswerCache.erase(tmp_path / "link", lambda text: "zyxwell" in text) == 2
        other.put("later", Answer(text="rain"))
    with AnswerCache(tmp_path) as cache:
        assert [cache.get(key) for key in ("said", "declined", "later")] == [None, None, Answer(text="rain")]
    assert b"zyxwell" not in (tmp_path / FILE).read_bytes()
