"""Suggestions do not depend on where the index is searched."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import postil
from postil.cli.main import app
from postil.comments.call_options import CommentOptions
from postil.comments.calls import comment_articles
from postil.comments.retrieval import Retriever, Sharded
from postil.data.row_files import write
from postil.engine import open_engine
from postil.errors import UnknownName, UsageError
from retrieval_models import BY_WORDS, article, train_retrievers
from topic_corpora import corpus_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(find_spec("pyarrow") is None, reason="corpora need the extra tables")


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model ``tc`` and articles ``q.jsonl``."""
    folder = train_retrievers(tmp_path_factory.mktemp("there"), kinds=("ir-tc",))
    write(str(folder / "q.jsonl"), [article(number) for number in range(20, 40)])
    return folder


def test_an_engine_searches(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shards: list[int] = []

    @contextmanager
    def opened(*_: object) -> Iterator[Any]:
        with open_engine() as engine:
            engine.jobs = 3  # type: ignore[misc]
            yield engine

    def start(self: Sharded, engine: Any, parts: Any) -> None:
        shards.append(len(parts))
        begin(self, engine, parts)

    begin = Sharded.__init__
    q, model = str(there / "q.jsonl"), str(there / "tc")
    expected = list(comment_articles(q, model, CommentOptions()))
    monkeypatch.setattr("postil.comments.calls.elsewhere", opened)
    monkeypatch.setattr(Sharded, "__init__", start)
    assert list(comment_articles(q, model, CommentOptions(engine="ray"))) == expected
    assert shards == [3]
    assert any(row.suggestions for row in expected)


def test_a_training_needs_its_engine_before_it_begins(there: Path, tmp_path: Path) -> None:
    def train(engine: str) -> str:
        words = ("train", "ir-tc", "--corpus", there / "corpus", "--out", tmp_path / "m", *BY_WORDS, "--engine", engine)
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code != 0
        return done.stderr

    assert "unknown engine 'rya'; did you mean 'ray'" in train("rya")
    if find_spec("ray") is None:
        assert "pip install 'postil[scale]'" in train("ray")
    assert not list(tmp_path.iterdir())


def test_engines_that_cannot_be(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    q, model = str(there / "q.jsonl"), str(there / "tc")
    with pytest.raises(UnknownName, match="unknown engine 'rya'; did you mean 'ray'"):
        list(comment_articles(q, model, CommentOptions(engine="rya")))

    class Generator:
        kind, parts = "att", ("title",)

    monkeypatch.setattr("postil.comments.calls.load_commenter", lambda *_, **__: Generator())
    with pytest.raises(UsageError, match='engine="ray": only for models that search, ir-t and ir-tc, got att'):
        list(comment_articles(q, model, CommentOptions(engine="ray")))


@pytest.mark.integration
def test_suggestions_are_the_same_on_a_cluster(there: Path, tmp_path: Path, cluster: Any) -> None:
    """The model that was updated has an index of two segments."""
    new = corpus_of(tmp_path, map(article, range(40, 44)), 0)
    postil.update_model(there / "tc", new.path, tmp_path / "updated")
    assert len(Retriever.open(tmp_path / "updated").index.segments) == 2
    for model in (there / "tc", tmp_path / "updated"):
        command = [sys.executable, "-m", "postil", "comment", there / "q.jsonl", "-m", model, "--format", "jsonl"]
        there_too = ["--engine", "ray", "--address", cluster.address, "--jobs", "3"]
        one, two = (subprocess.run([*command, *more], capture_output=True, check=True) for more in ([], there_too))  # noqa: S603
        assert one.stdout == two.stdout
        assert one.stdout.count(b"\n") == 20
        assert two.stderr == one.stderr


@pytest.mark.integration
def test_a_model_trained_with_a_cluster_is_the_same(there: Path, tmp_path: Path, cluster: Any) -> None:
    command = ["train", "ir-tc", "--corpus", there / "corpus", "--out", tmp_path / "m", *BY_WORDS]
    there_too = ["--engine", "ray", "--address", cluster.address, "--jobs", 2]
    done = CliRunner().invoke(app, [str(word) for word in (*command, *there_too)])
    assert done.exit_code == 0, done.stderr
    names = {path.relative_to(there / "tc") for path in (there / "tc").rglob("*") if path.is_file()}
    assert {path.relative_to(tmp_path / "m") for path in (tmp_path / "m").rglob("*") if path.is_file()} == names
    for name in names:
        assert (tmp_path / "m" / name).read_bytes() == (there / "tc" / name).read_bytes()
