"""Forgetting reaches what services keep of a comment: the model in memory, labels, and messages that wait."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("uvicorn", reason="needs the web extra")

from click.testing import CliRunner

import postil
from made_retrievers import NEWS, made
from postil.cli.main import app
from postil.comments.retrieval import Retriever
from postil.data import sqlite_file
from postil.data.rows import Decision
from postil.data.suggestions import Label
from postil.erasure.models import AlsoServed, ServedModels, noted, unserved
from postil.service.store import ServiceStore

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT = "Rain today, rain tomorrow."
"""Comment 0 of article n1."""
COMMENT = "n1:0"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    made(folder / "model", NEWS)
    return folder / "model"


@pytest.fixture
def site(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(model, tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def store_labels(folder: str) -> None:
    """Three labels with the comment or of it, and one of another; two messages that wait."""
    labels = [
        Label(article="a", text=TEXT.upper(), show=True),
        Label(article="a", text="Edited.", show=False, source_article="n1", source_comment="0"),
        Label(article="b", text="edited. ", show=False),
        Label(article="n1", text="Nobody wrote this.", show=True),
    ]

    async def run(store: ServiceStore) -> None:
        await store.add_labels(labels)
        await store.add_delivery(json.dumps({"article": {"id": "a"}, "suggestions": [{"text": TEXT}]}).encode())
        await store.add_delivery(json.dumps({"article": {"id": "n1"}, "suggestions": []}).encode())

    with closing(ServiceStore.open(folder)) as store:
        asyncio.run(run(store))


def stored(folder: str) -> list[str]:
    with closing(ServiceStore.open(folder)) as store:
        return [one.text for one in store.labels()]


@contextmanager
def serving(store: str | None = None, folder: str = "model") -> Iterator[ServedModels]:
    """The notes of a service, without the service."""
    served = ServedModels(store)
    with served.moving_to([folder]):
        pass
    try:
        yield served
    finally:
        served.close()


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["forget", *words])
    return done.exit_code, done.stdout + done.stderr


def in_files(folder: Path, text: str) -> bool:
    return any(text.lower().encode() in file.read_bytes().lower() for file in folder.rglob("*") if file.is_file())


def has_comment() -> bool:
    return TEXT in list(Retriever.open("model").pool.texts)


def test_a_model_that_is_served_is_refused_and_stays(site: Path) -> None:
    store_labels("data")
    Path("link").symlink_to("model")
    before = {file: file.read_bytes() for file in site.rglob("*") if file.is_file()}
    with serving("data", "link"):
        code, said = run("model", "--comment", COMMENT)
        assert code != 0
        assert (
            "model: a service that runs serves it, and would go on suggesting what is erased; erase by its POST" in said
        )
        code, said = run("link", "--comment", COMMENT, "--dry-run")
        assert (code, "link: a service that runs serves it; erase by its POST /v1/forget, or stop it" in said) == (
            0,
            True,
        )
        assert f"{site}/data: 3 labels, and 1 message that waited of a service" in said
    assert {file: file.read_bytes() for file in site.rglob("*") if file.is_file()} == {
        **before,
        site / ".model.served": f'"{site}/data"\n'.encode(),
    }
    assert run("model", "--comment", COMMENT)[0] == 0
    assert not has_comment()


def test_labels_of_a_service_that_has_served_the_model_are_erased(site: Path) -> None:
    store_labels("data")
    with serving("data"), serving():
        pass
    found = postil.forget(["model"], postil.ForgetOptions(comments=(COMMENT,)))
    labels = found.folders[1]
    assert (labels.folder, labels.content, labels.comments, labels.deliveries) == (f"{site}/data", "labels", 3, 1)
    assert stored("data") == ["Nobody wrote this."]
    assert not in_files(site, TEXT)
    assert not in_files(site, "edited.")
    assert noted("model") == ((f"{site}/data",), False)


def test_labels_of_an_article_go_with_it(site: Path) -> None:
    store_labels("data")
    found = postil.forget(["model"], postil.ForgetOptions(articles=("n1",), data=("data",)))
    assert (found.folders[1].folder, found.folders[1].comments, found.folders[1].deliveries) == ("data", 4, 2)
    assert stored("data") == []
    assert not in_files(site / "data", "n1")


def store_decisions(folder: str, *decisions: Decision) -> None:
    async def run(store: ServiceStore) -> None:
        for one in decisions:
            await store.add_decisions([one])

    with closing(ServiceStore.open(folder)) as store:
        asyncio.run(run(store))


@pytest.mark.usefixtures("site")
def test_decisions_are_found_in_a_store_without_any_model() -> None:
    gone = [
        Decision("Du Depp!", "hold", article="https://news.example/rain?p=1", id="c-77"),
        Decision("du DEPP! ", "hold", article="a2", id="c-78"),
        Decision("He said: Du Depp! He is right, though.", "keep", article="a2", id="c-79"),
    ]
    store_decisions("data", *gone)
    address = "https://news.example/rain?p=1:c-77"
    code, said = run("--data", "data", "--comment", address, "--dry-run")
    assert (code, "data: 0 labels, 2 decisions of moderators of a service" in said) == (0, True)
    code, said = run("--data", "data", "--comment", address)
    assert (code, "2 decisions of moderators" in said) == (0, True)
    with closing(ServiceStore.open("data")) as store:
        assert list(store.decisions()) == gone[2:]
    code, said = run("--data", "data", "--comment", address)
    assert (code, f"no comment '{address}' in the folders" in said) == (3, True)


def test_decisions_on_a_comment_of_a_model_go_with_it(site: Path) -> None:
    store_decisions("data", Decision(TEXT, "keep", article="https://news.example/1", id="a-uuid"))
    found = postil.forget(["model"], postil.ForgetOptions(comments=(COMMENT,), data=("data",)))
    assert (found.folders[1].comments, found.folders[1].decisions) == (0, 1)
    assert not in_files(site, TEXT)


def test_a_store_that_is_named_is_erased_from_and_one_that_has_gone_is_told(site: Path) -> None:
    store_labels("data")
    with serving("data"):
        pass
    Path("data").rename("moved")
    assert (
        "data: a service stored labels there, and it is not there any more"
        in run("model", "--comment", COMMENT, "--dry-run")[1]
    )
    code, said = run("model", "--comment", COMMENT)
    assert code != 0
    assert f"{site}/data: a service stored labels there, which are known by texts that are erased" in said
    assert has_comment()
    code, said = run("model", "--comment", COMMENT, "--data", "moved")
    assert (code, "moved: 3 labels, and 1 message that waited of a service" in said) == (0, True)
    assert f"{site}/data: a service stored labels there" in said
    assert stored("moved") == ["Nobody wrote this."]


@pytest.mark.usefixtures("site")
def test_a_store_that_a_service_uses_is_refused_before_anything_is_changed() -> None:
    store_labels("data")
    with closing(ServiceStore.open("data")):
        for words in (("--data", "data"), ()):
            with serving("data"):
                pass
            code, said = run("model", "--comment", COMMENT, *words)
            assert (code != 0, "data: a service that runs stores its data there; erase by its POST" in said) == (
                True,
                True,
            )
    assert has_comment()
    assert len(stored("data")) == 4


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ("model", "--data", "model/comments"),
            "model/comments: no service.db in this folder; expected one of postil serve --data",
        ),
        (("model", "--data", "none"), "none: no service.db in this folder"),
        (("--data", "data"), "no comment 'n1:0' in the folders; expected ARTICLE:COMMENT; nothing was changed"),
        (("model", "--data", "data", "--data", "./data"), "/data is named twice"),
    ],
)
@pytest.mark.usefixtures("site")
def test_what_is_no_store_is_refused_before_anything_is_changed(words: tuple[str, ...], problem: str) -> None:
    store_labels("data")
    code, said = run(*words, "--comment", COMMENT)
    assert (code != 0, problem in said) == (True, True), said
    assert has_comment()


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.usefixtures("site")
def test_killed_before_the_model_is_replaced_it_knows_the_text_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels and messages, which are known by texts, go before the folders that have the texts."""
    store_labels("data")

    def kill(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("postil.data.atomic_file.replace_folder", kill)
        with pytest.raises(Killed):
            postil.forget(["model"], postil.ForgetOptions(comments=(COMMENT,), data=("data",)))
    assert has_comment()
    store_labels("data")
    assert postil.forget(["model"], postil.ForgetOptions(comments=(COMMENT,), data=("data",))).folders[1].comments == 3
    assert not has_comment()


def test_a_store_that_another_program_reads_is_not_called_erased(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of what was erased stay in the file until that program ends, however often the command is run."""
    monkeypatch.setattr(sqlite_file, "BUSY", 0.2)
    store_labels("data")
    with closing(sqlite3.connect("data/service.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM labels").fetchone()
        for _ in range(2):
            code, said = run("model", "--comment", COMMENT, "--data", "data")
            assert (code, "another program is reading it" in said, has_comment()) == (1, True, True)
    assert run("model", "--comment", COMMENT, "--data", "data")[0] == 0
    assert not in_files(site, TEXT)
    said = run("model", "--comment", COMMENT, "--data", "data")[1]
    assert "data: copies are known by texts, and these were erased before" in said


@pytest.mark.usefixtures("site")
def test_what_is_not_reached_is_told() -> None:
    _, said = run("model", "--comment", COMMENT)
    assert "not reached: corpora that models were trained on (--corpus), kept answers of language models" in said
    assert "labels of services that served copies of a model (--data), word vectors, campaigns, files of" in said


@pytest.mark.usefixtures("site")
def test_a_note_is_made_where_a_service_begins_and_none_is_left_without_a_store() -> None:
    with serving() as first, serving() as second:
        with pytest.raises(AlsoServed, match=r"model: a service that runs serves it"), unserved("model"):
            pass
        with pytest.raises(AlsoServed, match=r"model: another service serves it"), first.alone():
            pass
        second.close()
        with first.alone(), pytest.raises(postil.UsageError, match=r"comments are being erased from it"), serving():
            pass
        with serving():  # as a service may begin again
            pass
    with unserved("model") as stores, pytest.raises(postil.UsageError, match=r"comments are being erased"), serving():
        pass
    assert stores == ()
    assert not Path(".model.served").exists()


@pytest.mark.usefixtures("site")
def test_a_service_that_moves_to_other_models_gives_up_those_before() -> None:
    shutil.copytree("model", "other")
    with serving() as served:
        with served.moving_to(["other"]):
            assert noted("model") == noted("other") == ((), True)
        assert (noted("model"), noted("other")) == (((), False), ((), True))
        with pytest.raises(Killed), served.moving_to(["model"]):
            raise Killed
        assert (noted("model"), noted("other")) == (((), False), ((), True))


@pytest.mark.usefixtures("site")
def test_a_note_that_cannot_be_made_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    said: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with ServedModels(None, said.append).moving_to(["model"]):
            pass
    [line] = said
    assert line.endswith("postil forget will not know that it is served, so erase by POST /v1/forget of this service")


@pytest.mark.usefixtures("site")
def test_a_note_that_cannot_be_written_is_locked_nevertheless(monkeypatch: pytest.MonkeyPatch) -> None:
    really, said = os.open, list[str]()

    def only_read(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied")
        return really(path, flags, mode)

    Path(".model.served").touch()
    served = ServedModels("data", said.append)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", only_read)
        with served.moving_to(["model"]):
            pass
    assert "postil forget will not know where its labels are" in "".join(said)
    assert noted("model") == ((), True)
    served.close()
    assert noted("model") == ((), False)


KILLED = """
import os, signal, sys, time
from postil.erasure.models import ServedModels
with ServedModels("data").moving_to(["model"]):
    print("here", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="locks are POSIX")
def test_a_service_that_was_killed_serves_nothing_but_its_labels_are_known(site: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE) as process:  # noqa: S603 - ours
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        assert noted("model") == ((f"{site}/data",), True)
        process.send_signal(signal.SIGKILL)
    assert noted("model") == ((f"{site}/data",), False)
