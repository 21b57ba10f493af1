"""A retriever that is updated finds what one finds that was trained on all articles."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import postil
from postil.cli.main import app
from postil.comments.retrieval import Retriever
from postil.data.model_folders import Model, ModelWriter
from postil.data.rows import Article, Comment
from retrieval_models import BY_WORDS, article
from topic_corpora import corpus_of

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = [article(number) for number in range(40)], [article(number) for number in range(40, 48)]


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.stderr
    return done.stdout


def corpus(folder: Path, name: str, articles: list[Article], dev: int = 0, test: int = 0, **options: str) -> Path:
    return corpus_of(folder, articles, dev, test, name, **options).path


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora of old articles, new ones and all; models of the old ones and of all."""
    folder = tmp_path_factory.mktemp("news")
    for name, articles in (("old", OLD), ("new", NEW), ("all", OLD + NEW)):
        corpus(folder, name, articles)
    for name in ("old", "all"):
        run("train", "ir-tc", "--corpus", folder / name, "--out", folder / f"of-{name}", *BY_WORDS)
    return folder


def test_an_updated_model_suggests_what_one_of_all_articles_suggests(there: Path, tmp_path: Path) -> None:
    """Words have other ids, so that sums are rounded otherwise; and idf is that of all articles."""
    out = tmp_path / "updated"
    found = postil.update_model(there / "of-old", there / "new", out)
    assert (found.articles, found.comments, found.total_articles, found.segments) == (8, 24, 48, 2)
    asked = [replace(article(number), id="q", title=f"{article(number).title} word47 town43") for number in range(9)]
    updated, whole = (Retriever.open(folder) for folder in (out, there / "of-all"))
    updated.model.verify()
    for one in asked:
        (here,), (expected,) = (model.comment([one], 12) for model in (updated, whole))
        assert len(here.suggestions) == 12
        assert [each.score for each in here.suggestions] == pytest.approx([each.score for each in expected.suggestions])
        pairs = [{(each.text, each.provenance.sources) for each in row.suggestions} for row in (here, expected)]
        assert pairs[0] == pairs[1]
    assert Model.open(there / "of-old").hash == found.hash_before != found.hash == updated.model.hash


def test_the_folder_is_replaced_and_says_what_was_added(there: Path, tmp_path: Path) -> None:
    model = shutil.copytree(there / "of-old", tmp_path / "model")
    said = run("train", "--update", model, "--corpus", there / "new", "--format", "json")
    assert json.loads(said)["ranker"] == "tf-idf"
    chain = Model.open(model).metadata["updates"]
    assert [(one["articles"], one["comments"]) for one in chain] == [(8, 24)]
    assert chain[0]["corpus"] == postil.Corpus.open(there / "new").metadata.origin
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    table = run("train", "--update", model, "--corpus", there / "new")
    assert "24 comments replaced by one with the same id" in table
    assert "ranker tf-idf kept: trained on 40 articles" in table
    assert len(Model.open(model).metadata["updates"]) == 2


def test_known_articles_get_the_comments_that_they_lack(there: Path, tmp_path: Path) -> None:
    said = (Comment("c1", "chess? Never again!", upvotes=9), Comment("c9", "One more word on zugzwang."))
    later = corpus(tmp_path, "later", [replace(OLD[1], comments=said)])
    found = postil.update_model(there / "of-old", later, tmp_path / "out")
    assert (found.articles, found.comments, found.updated, found.total_articles) == (0, 1, 1, 40)
    pool = Retriever.open(tmp_path / "out").pool
    place = list(pool.articles).index("a01")
    comments = range(int(pool.starts[place]), int(pool.starts[place + 1]))
    texts = {pool.ids[one]: (pool.texts[one], int(pool.upvotes[one])) for one in comments}
    assert list(texts) == ["c0", "c2", "c1", "c9"]
    assert texts["c1"] == ("chess? Never again!", 9)
    (suggested,) = Retriever.open(tmp_path / "out").comment([replace(OLD[5], id="q", title="chess zugzwang")], 1)
    assert suggested.suggestions[0].text == "One more word on zugzwang."


def test_articles_of_every_split_are_added(there: Path, tmp_path: Path) -> None:
    """A test set with sampled references adds the references."""
    many = [replace(one, comments=tuple(Comment(f"n{i}", f"{one.id} says {i}") for i in range(40))) for one in NEW]
    parts = corpus(tmp_path, "parts", many, dev=2, test=2)
    found = postil.update_model(there / "of-old", parts, tmp_path / "out")
    assert (found.articles, found.comments, found.held_out) == (8, 6 * 40 + 2 * 27, 2 * 13)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--corpus", "new"), "expected a commenter (ir-t, ir-tc, "),
        (("--update", "of-old"), "--update of-old: expected --corpus DIR, --labels FILE or both, got neither"),
        (("--update", "of-old", "--corpus", "new", "--out", "old"), "old: already exists; choose another"),
        (("--update", "none", "--corpus", "new"), "none: no such folder; expected a model ir-t or ir-tc that "),
        (("--update", "of-old", "--corpus", "of-old"), "of-old: expected a corpus, got "),
        (("--update", "att", "--corpus", "new"), "att: att generates comments by a network, which learns nothing"),
        (
            ("--update", "of-old", "ir-t", "--corpus", "new"),
            "--out, --labels and --encoder before ir-t: write them after it",
        ),
        (("--update", "of-old", "--corpus", "spaced"), "of-old: its tokenizer is words-2, that of spaced space"),
    ],
)
def test_what_cannot_be_updated(
    there: Path, words: tuple[str, ...], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(there)
    if "att" in words and not (there / "att").exists():
        with ModelWriter("att", "att", {"tokenizer": "words"}, {}):
            pass
    if "spaced" in words:
        corpus(there, "spaced", NEW, tokenizer="space")
    before = Model.open("of-old").hash
    done = CliRunner().invoke(app, ["train", *words])
    assert done.exit_code != 0
    assert problem in done.stderr
    assert Model.open("of-old").hash == before
