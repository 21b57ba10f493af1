"""`postil vectors import`: the vectors of a package as a folder."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import made_vectors as made
import postil
from postil.cli.main import app
from postil.encoders.static import open_static
from postil.vectors.imported import installed_vectors


def run(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["vectors", "import", *args])
    return result.exit_code, result.stderr


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of that name which must never be imported."""
    home = tmp_path / "site" / "wordllama"
    (home / "weights").mkdir(parents=True)
    (home / "tokenizers").mkdir()
    (home / "__init__.py").write_text("raise AssertionError('code of the package runs')")
    files = made.subword_folder(tmp_path / "files", 6)
    (files / "model.safetensors").rename(home / "weights" / "l2_supercat_256.safetensors")
    (files / "tokenizer.json").rename(home / "tokenizers" / "l2_supercat_tokenizer_config.json")
    monkeypatch.syspath_prepend(str(home.parent))
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)  # where another test imported the real one
    version = importlib.metadata.version
    monkeypatch.setattr("postil.vectors.imported.version", lambda name: "9.9" if name == "wordllama" else version(name))
    monkeypatch.chdir(tmp_path)
    return home


def test_the_folder_holds_the_vectors_of_the_package(package: Path) -> None:
    code, said = run("wordllama", "--out", "v")
    assert code == 0
    assert said == "written: v: 24 subwords, 6 dimensions\n"
    encoder = open_static("v")
    metadata = json.loads(Path("v/metadata.json").read_text())
    assert encoder.signature == f"24x6-{metadata['hash']}"
    assert metadata["spec"] == "wordllama(l2_supercat_256)"
    assert metadata["versions"]["wordllama"] == "9.9"
    before = {path.name: path.read_bytes() for path in Path("v").iterdir()}
    assert run("wordllama", "--out", "v")[0] == 0
    assert {path.name: path.read_bytes() for path in Path("v").iterdir()} == before
    (package / "weights" / "l2_supercat_256.safetensors").unlink()
    code, said = run("wordllama", "--out", "v")
    assert code == 3
    assert "wordllama 9.9 has no weights/l2_supercat_256.safetensors; install wordllama==0.4.0.post1" in said
    assert {path.name: path.read_bytes() for path in Path("v").iterdir()} == before


@pytest.mark.usefixtures("package")
def test_installed_vectors_are_found_without_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("wordllama", "--out", "v")[0] == 0
    installed_vectors.cache_clear()
    try:
        found = installed_vectors()
        assert found is not None
        assert found.signature == open_static("v").signature
        installed_vectors.cache_clear()
        monkeypatch.setattr("postil.vectors.imported.find_spec", lambda _: None)
        assert installed_vectors() is None
    finally:
        installed_vectors.cache_clear()


@pytest.mark.usefixtures("package")
def test_a_folder_of_subwords_is_shown() -> None:
    assert run("wordllama", "--out", "v")[0] == 0
    shown = CliRunner().invoke(app, ["vectors", "show", "v", "a", "-k", "1", "--check", "--format", "json"])
    assert shown.exit_code == 0
    result = json.loads(shown.stdout)
    assert (result["words"], result["dimensions"]) == (24, 6)
    assert result["signature"] == open_static("v").signature
    assert result["made"]["spec"] == "wordllama(l2_supercat_256)"
    assert result["nearest"][0]["word"] == "a"
    Path("v/tokenizer.json").write_text(Path("v/tokenizer.json").read_text() + "\n")
    shown = CliRunner().invoke(app, ["vectors", "show", "v", "--check"])
    assert shown.exit_code == 3
    assert "expected content with the hash" in shown.stderr
    Path("v/metadata.json").write_text("3")
    shown = CliRunner().invoke(app, ["vectors", "show", "v"])
    assert shown.exit_code == 3
    assert "v/metadata.json: expected a JSON object, got 3" in shown.stderr


@pytest.mark.usefixtures("package")
def test_other_folders_are_not_replaced() -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("")
    for out, problem in (("mine", "holds thesis.txt, which is not replaced"), ("no/v", "does not exist")):
        code, said = run("wordllama", "--out", out)
        assert code == 2
        assert problem in said


def test_a_package_that_is_not_installed_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.vectors.imported.find_spec", lambda _: None)
    code, said = run("wordllama", "--out", "v")
    assert code == 2
    assert "wordllama is not installed: pip install wordllama==0.4.0.post1; its vectors come with it" in said
    code, said = run("wordlama", "--out", "v")
    assert code == 2
    assert "did you mean 'wordllama'?" in said


@pytest.mark.integration
def test_the_vectors_of_wordllama(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("wordllama", "--out", "v") == (0, "written: v: 32,000 subwords, 256 dimensions\n")
    assert open_static("v").signature == "32000x256-e057aee0e6b6"
    spec = "vector-f1(vectors=v)"
    texts, references = ["The bus is late.", "I like tea", "x"], [["the bus was delayed"], ["a cup of tea"], ["snow"]]
    together = postil.score(texts, references, metrics=[spec]).items[spec].tolist()
    alone = [
        postil.score([text], [row], metrics=[spec]).items[spec][0] for text, row in zip(texts, references, strict=True)
    ]
    assert together == alone
    assert together[0] > together[2] + 0.2
