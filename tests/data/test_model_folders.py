from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data import atomic_file
from postil.data.arrays import Expected
from postil.data.atomic_file import check_folder
from postil.data.model_folders import Model, ModelWriter, changing
from postil.errors import InvalidInput, PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORDS = ["<pad>", "rain", "雨", "a b", "\u2028", ""]


def save(folder: Path, **config: Any) -> Model:
    with ModelWriter(folder, "ir-tc", {"neighbors": 20, **config}, {"seed": 1, "spec": "ir-tc"}) as new:
        new.array("postings", np.arange(1000, dtype=np.int32).reshape(10, 100))
        new.array("none", np.empty((0, 3), np.float32))
        new.words(WORDS)
        new.path("weights.safetensors").write_bytes(b"x" * 5000)
        new.path("net/config.json").write_text("{}")
    return Model.open(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path / "model")
    return tmp_path / "model"


def test_a_model_comes_back(folder: Path) -> None:
    model = Model.open(folder, {"ir-t", "ir-tc"})
    assert (model.kind, model.config["neighbors"], model.metadata["seed"]) == ("ir-tc", 20, 1)
    postings = model.array("postings", Expected("int32", (10, 100), low=0, high=999))
    assert isinstance(postings, np.memmap)
    assert not postings.flags.writeable
    assert postings.sum() == 999 * 1000 / 2
    assert model.array("none", Expected("float32", (None, 3), low=0)).shape == (0, 3)
    assert model.words() == WORDS
    assert model.file("weights.safetensors").stat().st_size == 5000
    model.verify()


def test_the_folder_holds_what_it_says(folder: Path) -> None:
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    made = json.loads((folder / "metadata.json").read_text())
    assert names == {*made["files"], "metadata.json"}
    assert list(made) == ["kind", "format", "postil", "seed", "spec", "hash", "files"]
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_the_same_model_has_the_same_bytes_and_hash(folder: Path, tmp_path: Path) -> None:
    again = save(tmp_path / "again")
    assert again.hash == Model.open(folder).hash
    assert len(again.hash) == 16
    for path in folder.iterdir():
        assert path.is_dir() or path.read_bytes() == (again.path / path.name).read_bytes()
    assert save(tmp_path / "other", neighbors=21).hash != again.hash


def test_a_copied_model_opens(folder: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(folder, tmp_path / "elsewhere")
    (moved / ".DS_Store").write_text("what a file manager leaves")
    model = Model.open(moved)
    model.verify()
    assert model.hash == Model.open(folder).hash


def test_a_folder_that_is_there_is_left_alone(folder: Path, tmp_path: Path) -> None:
    before = (folder / "metadata.json").read_bytes()
    for check in (lambda: check_folder(folder), lambda: save(folder)):
        with pytest.raises(UsageError, match="already exists; choose another output folder or remove it"):
            check()
    with pytest.raises(UsageError, match="parent folder"):
        check_folder(tmp_path / "nowhere" / "model")
    check_folder(tmp_path / "new")
    assert (folder / "metadata.json").read_bytes() == before


def test_nothing_appears_after_an_error(tmp_path: Path) -> None:
    def interrupted() -> None:
        with ModelWriter(tmp_path / "model", "ir-t", {}, {}) as new:
            new.array("norms", np.ones(3))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with pytest.raises(ValueError, match="not JSON compliant"):
        save(tmp_path / "model", rate=float("nan"))
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_of_the_system_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(PostilError, match=r"model: cannot be written: No space left on device"):
        save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def write(name: str, text: str | bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)


def cut(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-1])


def edit(name: str, **fields: Any) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        value = {**json.loads((folder / name).read_text()), **fields}
        (folder / name).write_text(json.dumps({key: kept for key, kept in value.items() if kept is not None}))

    return change


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda folder: (shutil.rmtree(folder), folder.write_text("")), r"model: not a folder; expected a model ir-t"),
        (shutil.rmtree, r"model: no such folder; expected a model ir-t or ir-tc that postil train made"),
        (lambda folder: (folder / "config.json").unlink(), r"model: no config\.json in this folder; expected"),
        (lambda folder: (folder / "metadata.json").unlink(), r"metadata\.json: missing; was the folder copied whole\?"),
        (lambda folder: (folder / "words.txt").unlink(), r"words\.txt: missing; was the folder copied whole\?"),
        (lambda folder: shutil.rmtree(folder / "net"), r"net/config\.json: missing"),
        (cut("postings.npy"), r"postings\.npy: expected 4128 bytes, got 4127; was the folder copied whole\?"),
        (cut("weights.safetensors"), r"weights\.safetensors: expected 5000 bytes, got 4999"),
        (cut("words.txt"), r"words\.txt: expected 24 bytes, got 23"),
        (write("config.json", '{"kind": "ir-'), r"config\.json: not JSON, .*; was the folder copied whole\?"),
        (write("config.json", "[1]"), r"config\.json: expected a JSON object"),
        (write("config.json", b"\xff\xfe"), r"config\.json: not JSON"),
        (write("config.json", "{}"), r"model: expected a model ir-t or ir-tc, got null"),
        (write("metadata.json", "{}"), r"metadata\.json: does not list the files of the folder"),
        (edit("config.json", kind="seq2seq"), r'model: expected a model ir-t or ir-tc, got "seq2seq"'),
        (
            edit("config.json", format=1),
            r"json: expected a model ir-t or ir-tc of format 3, got 1; make it anew with postil train, or use",
        ),
        (edit("config.json", neighbors=200), r"config\.json: expected \d+ bytes, got \d+"),
        (edit("metadata.json", hash=None), r"metadata\.json: does not list the files of the folder"),
        (edit("metadata.json", files={"config.json": None}), r"config\.json: expected None bytes"),
        (edit("metadata.json", files=["config.json"]), r"metadata\.json: does not list the files of the folder"),
    ],
)
def test_a_damaged_folder_is_refused(folder: Path, damage: Callable[[Path], object], problem: str) -> None:
    damage(folder)
    with pytest.raises(InvalidInput, match=problem):
        Model.open(folder, {"ir-tc", "ir-t"})


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "a//b", "./x", ".", "", "a\\b"])
def test_names_stay_within_the_folder(folder: Path, name: str) -> None:
    made = json.loads((folder / "metadata.json").read_text())
    made["files"] = {"config.json": made["files"]["config.json"], name: {"bytes": 1}}
    (folder / "metadata.json").write_text(json.dumps(made))
    with pytest.raises(InvalidInput, match="not the name of a file of a model"):
        Model.open(folder)


def test_verify_sees_what_sizes_do_not_tell(folder: Path) -> None:
    weights = folder / "weights.safetensors"
    weights.write_bytes(b"y" + weights.read_bytes()[1:])
    with pytest.raises(InvalidInput, match=r"weights\.safetensors: does not match its checksum"):
        Model.open(folder).verify()


def test_verify_sees_another_hash(folder: Path) -> None:
    edit("metadata.json", hash="0" * 16)(folder)
    with pytest.raises(InvalidInput, match=r"metadata\.json: its hash does not match the files"):
        Model.open(folder).verify()


def test_a_setting_that_is_no_number(folder: Path) -> None:
    model = replace(Model.open(folder), head={"interpolation_weight": float("nan"), "size": 10**400})
    for name, got in (("interpolation_weight", "NaN"), ("size", "1000000")):
        with pytest.raises(InvalidInput, match=rf"config\.json: {name}: expected a number, got {got}"):
            model.setting(name, float)


def test_what_an_open_model_lacks(folder: Path) -> None:
    model = Model.open(folder)
    with pytest.raises(InvalidInput, match=r"model: the model was made without idf\.npy"):
        model.array("idf", Expected("float32"))
    with pytest.raises(InvalidInput, match=r"postings\.npy: expected float32\[10, any\], got int32\[10, 100\]"):
        model.array("postings", Expected("float32", (10, None)))
    size = (folder / "postings.npy").stat().st_size
    (folder / "postings.npy").write_bytes(b"\x80" * size)  # would be a pickle
    with pytest.raises(InvalidInput, match=r"postings\.npy: not an array"):
        model.array("postings", Expected("int32", (10, 100)))
    (folder / "words.txt").write_bytes(b"\xff" * 24)
    with pytest.raises(InvalidInput, match=r"words\.txt: not UTF-8"):
        model.words()
    (folder / "words.txt").write_bytes(b"a" * 24)
    with pytest.raises(InvalidInput, match=r"words\.txt: the last line is cut short"):
        model.words()


@pytest.mark.parametrize("word", ["a\nb", "\udcff"])
def test_words_that_fit_on_no_line(tmp_path: Path, word: str) -> None:
    with (
        pytest.raises(InvalidInput, match=r"words\.txt:2: expected a word in UTF-8, on one line, got"),
        ModelWriter(tmp_path / "model", "ir-t", {}, {}) as new,
    ):
        new.words(["a", word])
    assert list(tmp_path.iterdir()) == []


def test_objects_are_not_kept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pickle"), ModelWriter(tmp_path / "model", "ir-t", {}, {}) as new:
        new.array("objects", np.array([{}], object))


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_all_words_come_back(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    folder = tmp_path_factory.mktemp("words") / "model"
    with ModelWriter(folder, "ir-t", {}, {}) as new:
        new.words(words)
    assert Model.open(folder).words() == words


def replaced(folder: Path, **config: Any) -> None:
    old = Model.open(folder)
    with ModelWriter(folder, "ir-tc", {**old.config, **config}, {"seed": 2}, replace=True) as new:
        new.array("postings", np.zeros(3))
        new.share(old, without=["none.npy"])
        new.words(["rain"])  # in the place of a linked file


def test_a_replaced_folder_shares_the_files_that_stay(folder: Path, tmp_path: Path) -> None:
    kept = Model.open(shutil.copytree(folder, tmp_path / "kept"))
    weights = (folder / "weights.safetensors").stat().st_ino
    replaced(folder, neighbors=5)
    model = Model.open(folder)
    model.verify()
    assert (model.config["neighbors"], model.words(), len(model.files)) == (5, ["rain"], 5)
    assert (folder / "weights.safetensors").stat().st_ino == weights
    kept.verify()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "model"]


def test_files_are_copied_where_there_are_no_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr("os.link", refuse)
    replaced(folder)
    Model.open(folder).verify()


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("exchange", [True, False], ids=["in one step", "in two steps"])
@pytest.mark.parametrize("moment", range(4))
def test_a_killed_replacement_leaves_a_whole_folder(
    folder: Path, moment: int, monkeypatch: pytest.MonkeyPatch, *, exchange: bool
) -> None:
    """Killed when the metadata is synced, before each of the last steps, and when the old folder is removed."""
    old = Model.open(folder).hash
    steps = iter(range(9))

    def kill(*_: object, **__: object) -> None:
        if next(steps) >= moment:
            raise Killed

    def stepping(do: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *words, **more: (kill(), do(*words, **more))[1]

    with monkeypatch.context() as patch:
        patch.setattr(atomic_file, "sync_folder", stepping(lambda _: None))
        if exchange:
            patch.setattr(atomic_file, "_exchange", stepping(atomic_file._exchange))
        else:
            patch.setattr(atomic_file, "_exchange", lambda *_: False)
        patch.setattr(type(folder), "rename", stepping(type(folder).rename))
        patch.setattr(shutil, "rmtree", kill)
        with pytest.raises(Killed):
            replaced(folder, neighbors=5)
    with changing(folder) as path:
        model = Model.open(path)
    model.verify()
    assert (model.hash == old) == (model.config["neighbors"] == 20)
    assert [each.name for each in folder.parent.iterdir()] == ["model"]


def test_a_folder_is_changed_by_one_process_at_a_time(folder: Path) -> None:
    refused = pytest.raises(UsageError, match="another change or training of it is running")
    with changing(folder), refused, changing(folder):
        pass
