"""Erased comments are in no file any more: not as text, not as words, not as token ids."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import postil
from postil.cli.main import app
from postil.comments.neural_commenter import CopyIndex, save_generator
from postil.comments.retrieval import Retriever
from postil.comments.text_arrays import SpanIndex, StringArray
from postil.data.atomic_file import replace_folder
from postil.data.model_folders import Model, ModelWriter
from postil.data.rows import Article, Comment
from postil.encoders.static import open_static
from postil.endpoint.cache import AnswerCache
from postil.endpoint.chat import Answer
from postil.results.views import view_of
from postil.text.vectors import Vectors
from retrieval_models import BY_WORDS, article
from topic_corpora import corpus_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.erasure.result import ForgetResult

GOSSIP = "Zyxwell told me that quokkas eat marmalade at dawn."
OWN_WORDS = ("zyxwell", "quokkas", "marmalade")


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.stderr
    return done.stdout


def articles() -> Iterator[Article]:
    """Article a03 has the comment, and a04 the same text under another id, shouted."""
    for number in range(30):
        one = article(number)
        more = (Comment("x:1", GOSSIP),) if number == 3 else (Comment("x", GOSSIP.upper()),) * (number == 4)
        yield replace(one, comments=one.comments + more)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with a test set whose references are drawn, and a model."""
    folder = tmp_path_factory.mktemp("site")
    corpus_of(folder, articles(), 4, 4, references_per_article=2, seed=5)
    run("train", "ir-tc", "--corpus", folder / "corpus", "--out", folder / "model", *BY_WORDS)
    (folder / "corpus.jsonl").unlink()
    return folder


@pytest.fixture
def site(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def forget(models: list[str], *names: str, **options: Any) -> ForgetResult:
    return postil.forget(models, postil.ForgetOptions(comments=names, **options))


def traces(folder: Path, words: tuple[str, ...] = OWN_WORDS) -> list[str]:
    """Files with a word, in their bytes or in the columns of a table."""
    found = []
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        data = file.read_bytes()
        if file.suffix == ".parquet":
            data += json.dumps(pyarrow.parquet.read_table(file).to_pylist(), ensure_ascii=False).encode()
        if any(word.encode() in data.lower() for word in words):
            found.append(file.relative_to(folder).as_posix())
    return found


def with_ids(folder: Path, ids: list[int]) -> list[str]:
    """Arrays in which token ids follow one another."""
    wanted, found = np.array(ids), []
    for file in sorted(folder.rglob("*.npy")):
        array = np.load(file)
        if array.ndim == 1 and array.dtype.kind in "iu" and len(array) >= len(wanted):
            windows = np.lib.stride_tricks.sliding_window_view(array, len(wanted))
            if (windows == wanted).all(axis=1).any():
                found.append(file.relative_to(folder).as_posix())
    return found


def token_ids(words: list[str]) -> list[int]:
    places = {word: place for place, word in enumerate(words)}
    return [places[word] for word in ("zyxwell", "told", "me", "that", "quokkas", "eat", "marmalade", "at", "dawn")]


def test_nothing_of_a_comment_is_left(site: Path) -> None:
    (site / ".model.training/relevance").mkdir(parents=True)
    (site / ".model.training/relevance/words.txt").write_text("zyxwell")
    (site / ".corpus.12-0123abcd.part").mkdir()
    (site / ".corpus.12-0123abcd.part/words.txt").write_text("zyxwell")
    ids = token_ids(Model.open("model").words())
    assert with_ids(site, ids) == ["corpus/tokens/train/comments.ids.npy", "model/ranker/words.ids.npy"]
    found = forget(["model"], "a03:x:1", corpora=("corpus",), same_text=True)
    assert [(one.content, one.comments, one.words) for one in found.folders] == [("corpus", 2, 8), ("ir-tc", 2, 8)]
    assert traces(site) == []
    assert with_ids(site, ids) == []
    assert sorted(path.name for path in site.iterdir()) == ["corpus", "model"]
    Model.open("model").verify()
    assert "x:1" not in list(Retriever.open("model").pool.ids)
    corpus = postil.Corpus.open("corpus")
    assert all(comment.id[0] != "x" for one in corpus.articles("train") for comment in one.comments)
    assert sum(corpus.metadata.splits[split].comments for split in corpus.splits) + 4 == 30 * 3
    run("corpus", "stats", "corpus")
    run("train", "ir-tc", "--corpus", "corpus", "--out", "again", *BY_WORDS)


@pytest.mark.usefixtures("site")
def test_other_suggestions_stay_as_they_were() -> None:
    asked = [replace(article(number), id="q") for number in (0, 3, 5)]
    before = [Retriever.open("model").comment([one], 9)[0].suggestions for one in asked]
    forget(["model"], "a03:x:1", "a04:x")
    for one, old in zip(asked, before, strict=True):
        (new,) = Retriever.open("model").comment([one], 9)
        kept = [(each.text, each.score) for each in old if "quokkas" not in each.text.lower()]
        assert [(each.text, each.score) for each in new.suggestions][: len(kept)] == kept


def test_the_copies_that_stay_are_told(site: Path) -> None:
    found = forget(["model"], "a03:x:1")
    assert found.folders[0].same_text == (("a04", "x"),)
    assert "model/comments/texts.data.npy" in traces(site)
    said = run("forget", "model", "--comment", "a04:x", "--format", "json")
    assert json.loads(said)["folders"][0]["comments"] == 1
    assert traces(site / "model") == []


def test_the_record_names_nothing_and_keeps_the_comment_out(site: Path) -> None:
    forget(["model"], "a03:x:1", articles=("a04",))
    metadata = (site / "model/metadata.json").read_text()
    (record,) = json.loads(metadata)["forgotten"]
    assert (record["comments"], record["articles"], len(record["keys"])) == (5, 1, 2)
    assert "x:1" not in metadata
    assert "a04" not in metadata
    corpus_of(site, articles(), 0, name="more")
    found = postil.update_model("model", "more")
    assert found.kept_out == 5
    assert traces(site / "model") == []
    pool = Retriever.open("model").pool
    assert "a04" not in list(pool.articles)
    assert found.ranker_articles == 22


def test_forgetting_twice_changes_nothing(site: Path) -> None:
    forget(["model"], "a03:x:1", corpora=("corpus",))
    before = {file: file.read_bytes() for file in site.rglob("*") if file.is_file()}
    found = forget(["model"], "a03:x:1", corpora=("corpus",))
    assert [(one.comments, one.files) for one in found.folders] == [(0, ()), (0, ())]
    assert {file: file.read_bytes() for file in site.rglob("*") if file.is_file()} == before


def test_a_dry_run_changes_nothing(site: Path) -> None:
    before = {file: file.read_bytes() for file in site.rglob("*") if file.is_file()}
    found = forget(["model"], "a03:x:1", corpora=("corpus",), dry_run=True)
    assert [one.comments for one in found.folders] == [1, 1]
    assert {file: file.read_bytes() for file in site.rglob("*") if file.is_file()} == before


def test_an_article_goes_with_its_comments_and_its_words(site: Path) -> None:
    found = postil.forget(["model"], postil.ForgetOptions(articles=("a07",), corpora=("corpus",)))
    assert [(one.articles, one.comments) for one in found.folders] == [(1, 3), (1, 3)]
    assert traces(site, ("content7\n", "word7\n", "content7 ", "word7 ", '"a07"')) == []
    retriever = Retriever.open("model")
    assert len(retriever.index) == len(retriever.pool.articles) == 21


@pytest.mark.usefixtures("site")
def test_held_out_comments_of_a_test_set() -> None:
    corpus = postil.Corpus.open("corpus")
    one = next(corpus.articles("test"))
    comment = (one.held_out or ())[0]
    found = postil.forget([], postil.ForgetOptions(comments=(f"{one.id}:{comment.id}",), corpora=("corpus",)))
    assert (found.folders[0].comments, "tokens" in str(found.folders[0].files)) == (1, False)
    after = next(postil.Corpus.open("corpus").articles("test"))
    assert after.held_out == tuple(each for each in one.held_out or () if each.id != comment.id)


def test_a_shard_and_a_split_may_become_empty(site: Path) -> None:
    names = tuple(each.id for each in postil.Corpus.open("corpus").articles("dev"))
    postil.forget([], postil.ForgetOptions(articles=names, corpora=("corpus",)))
    assert postil.Corpus.open("corpus").splits == ("train", "test")
    rest = tuple(each.id for each in postil.Corpus.open("corpus").articles("train"))
    with pytest.raises(postil.UsageError, match=r"corpus: no article of train would be left; remove the folder"):
        postil.forget([], postil.ForgetOptions(articles=rest, corpora=("corpus",)))
    with pytest.raises(postil.UsageError, match=r"model: no article would be left; remove the folder"):
        postil.forget(["model"], postil.ForgetOptions(articles=rest))
    assert sorted(path.name for path in site.iterdir()) == ["corpus", "model"]


def test_what_a_generator_keeps(site: Path) -> None:
    """Token ids of the comments, for the detection of copies; its network cannot unlearn."""
    words = ["a", "dull", "day", "zyxwell", "told", "me", "that", "quokkas", "eat", "marmalade", "at", "dawn"]
    texts = np.array([0, 1, 2, *range(3, 12), 1, 2]), np.array([0, 3, 12, 14])
    names, ids = StringArray.of(["a1", "a2"]), StringArray.of(["c1", "c2", "c3"])
    with ModelWriter("att", "att", {"tokenizer": "words", "reads": "title"}, {}) as new:
        save_generator(new, words, CopyIndex(SpanIndex.of(*texts), names, np.array([0, 2, 3]), ids))
        new.path("generator/weights.safetensors").write_bytes(b"x" * 9)
    found = forget(["att"], "a1:c2")
    assert (found.folders[0].comments, found.folders[0].words, found.folders[0].network) == (1, 9, True)
    assert "its weights cannot unlearn it; train again: postil train att" in str(view_of(found).remarks)
    assert traces(site / "att") == with_ids(site / "att", [*range(3, 12)]) == []
    left = SpanIndex.of(np.array([0, 1, 2, 1, 2]), np.array([0, 3, 5]))
    np.testing.assert_array_equal(np.load("att/comments/words.npy"), left.ids)
    np.testing.assert_array_equal(np.load("att/comments/order.npy"), left.order)
    np.testing.assert_array_equal(np.load("att/comments/starts.npy"), [0, 1, 2])


def test_word_vectors_that_were_trained_on_a_comment(site: Path) -> None:
    model, words = Model.open("model"), ("rain", "zyxwell", "dawn")
    Vectors(words, np.eye(3, dtype=np.float32), {}).save("v")
    config = {**model.config, "vectors": open_static("v").signature}
    with ModelWriter("model", model.kind, config, model.metadata, replace=True) as new:
        for file in Path("v").iterdir():
            shutil.copyfile(file, new.path(f"vectors/{file.name}"))
        new.share(model)
    shutil.rmtree("v")
    found = forget(["model"], "a03:x:1", "a04:x")
    assert "vectors/words.txt" in found.folders[0].files
    assert Vectors.open("model/vectors").words == ("rain",)
    assert Model.open("model").config["vectors"] == open_static("model/vectors").signature != config["vectors"]
    Model.open("model").verify()
    assert traces(site / "model") == []


def test_answers_of_a_language_model_that_repeat_a_comment(site: Path) -> None:
    with AnswerCache("answers") as cache:
        for number, text in enumerate([f"Well: {GOSSIP}", "I hear that quokkas eat grass.", "ok"] * 50):
            cache.put(str(number), Answer(text=text))
    found = forget(["model"], "a03:x:1", caches=("answers",))
    assert (found.folders[1].content, found.folders[1].comments) == ("answers", 50)
    assert traces(site / "answers", ("zyxwell", "marmalade")) == []
    with AnswerCache("answers") as cache:
        assert cache.get("1") == Answer(text="I hear that quokkas eat grass.")
        assert cache.get("0") is None
    assert [path.name for path in Path("answers").iterdir()] == ["answers.sqlite"]


@pytest.mark.usefixtures("site")
def test_files_that_models_share_are_not_changed_in_one() -> None:
    corpus_of(Path(), map(article, range(30, 34)), 0, name="new")
    postil.update_model("model", "new", "updated")
    forget(["updated"], "a03:x:1")
    Model.open("model").verify()
    Model.open("updated").verify()
    assert "x:1" in list(Retriever.open("model").pool.ids)


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("place", ["corpus", "model"])
def test_killed_before_the_end_it_leaves_the_old_folder(
    site: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(new: Path, target: Path) -> None:
        if target.name == place:
            raise Killed
        replace_folder(new, target)

    with monkeypatch.context() as patch:
        patch.setattr("postil.data.atomic_file.replace_folder", kill)
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(Killed):
            forget(["model"], "a03:x:1", "a04:x", corpora=("corpus",))
    Model.open("model").verify()
    assert "x:1" in list(Retriever.open("model").pool.ids)
    forget(["model"], "a03:x:1", "a04:x", corpora=("corpus",))
    assert traces(site) == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("model", "--comment", "a03:nope"), "no comment 'a03:nope' in the folders; expected ARTICLE:COMMENT; nothing"),
        (("model", "--comment", "a03"), "--comment a03: expected ARTICLE:COMMENT, the ids of the article and of"),
        (("model", "--article", "zz"), "no article 'zz' in model; nothing was changed"),
        (("model",), "expected --comment ARTICLE:COMMENT, --comments FILE or --article ID"),
        (("--comment", "a:b"), "expected a model, or --corpus or --cache, to erase from"),
        (("none", "--comment", "a:b"), "none: no such folder; expected a model"),
        (("--cache", "none", "--comment", "a:b"), "expected a model, --corpus or --data besides --cache: texts"),
        (("model", "--cache", "corpus", "--comment", "a03:c0"), "corpus: no answers.sqlite in this folder; expected"),
        (("model", "./model", "--comment", "a03:c0"), "/model is named twice"),
        (("model", "--corpus", "corpus", "--corpus", "corpus/", "--comment", "a03:c0"), "/corpus is named twice"),
        (("model", "--cache", "a", "--cache", "./a", "--comment", "a03:c0"), "/a is named twice"),
        (("model", "--comments", "rows.jsonl"), "rows.jsonl: no such file"),
    ],
)
def test_what_cannot_be_forgotten(site: Path, words: tuple[str, ...], problem: str) -> None:
    before = {file: file.read_bytes() for file in site.rglob("*") if file.is_file()}
    done = CliRunner().invoke(app, ["forget", *words])
    assert done.exit_code != 0
    assert problem in done.stderr
    assert {file: file.read_bytes() for file in site.rglob("*") if file.is_file()} == before


@pytest.mark.usefixtures("site")
def test_ids_with_colons() -> None:
    """Wherever one can be cut, the pair that exists is meant; of two that exist, none."""
    pool = Retriever.open("model").pool
    assert "x:1" in list(pool.ids)
    two = [Article("a", "Rain", (Comment("b:c", "One."),)), Article("a:b", "Snow", (Comment("c", "Two."),))]
    corpus_of(Path(), two, 0, name="colons")
    with pytest.raises(postil.UsageError, match=r"comment 'b:c' of article 'a' or comment 'c' of article 'a:b'"):
        postil.forget([], postil.ForgetOptions(comments=("a:b:c",), corpora=("colons",)))
    Path("listed.jsonl").write_text('{"article": "a", "comment": "b:c"}')
    found = postil.forget([], postil.ForgetOptions(listed="listed.jsonl", corpora=("colons",)))
    assert found.folders[0].comments == 1
