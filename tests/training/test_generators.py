"""A corpus in, a model that writes out: what is in its folder, what it says, and what it refuses."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from made_retrievers import changed
from postil.comments.commenter import load_commenter
from postil.comments.neural_commenter import NeuralCommenter
from postil.comments.options import DecodingOptions, GeneratorOptions, GeneratorTraining, GeneratorTrainOptions
from postil.data.atomic_file import locked
from postil.data.model_folders import Model
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, PostilError, UsageError
from postil.screening.filtering import CandidateFilter
from postil.training.generators import train_commenter
from topic_corpora import corpus_of as built

if TYPE_CHECKING:
    from pathlib import Path

    from postil.comments.nn.batches import Commented
    from postil.corpus.store import Corpus

pytestmark = [
    pytest.mark.skipif(find_spec("pyarrow") is None, reason="corpora need the extra tables"),
    pytest.mark.skipif(find_spec("torch") is None, reason="needs the extra neural"),
]

SAYINGS = {
    "rain": "take a coat with you today",
    "chess": "the queen should not have moved",
    "bread": "nothing smells better than this",
    "trains": "mine was late again of course",
}
NETWORK = GeneratorOptions(hidden_size=24, embedding_dim=16, dropout=0.0)
TRAINING = GeneratorTraining(epochs=30, batch=8, learning_rate=0.02, eval_every=100, device="cpu")
SMALL = GeneratorTrainOptions(network=NETWORK, training=TRAINING)


def article(number: int, *, content: bool = True, title: bool = True) -> Article:
    """An article about a topic, and one thing that is always said of it."""
    topic = list(SAYINGS)[number % len(SAYINGS)]
    comments = tuple(Comment(f"c{place}", SAYINGS[topic]) for place in range(2))
    text = f"about {topic} {number}" if content else None
    return Article(f"a{number:02}", f"more {topic}" if title else "", comments, text)


def corpus_of(folder: Path, *, content: bool = True, titles: int = 24, dev: int = 4) -> Corpus:
    """A corpus of 24 articles, of which so many have titles."""
    return built(folder, (article(number, content=content, title=number < titles) for number in range(24)), dev)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus_of(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def att(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that learnt what is always said."""
    folder = tmp_path_factory.mktemp("att") / "m"
    assert train_commenter("att", corpus.path, folder, SMALL) is not None
    return folder


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    """One core a test process, also for the models that fixtures train: the number of threads changes the last bits."""
    import torch  # noqa: PLC0415

    torch.set_num_threads(1)


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def asked(topic: str) -> Article:
    return Article("q", f"more {topic}", (), f"about {topic}")


@pytest.mark.parametrize("topic", SAYINGS)
def test_it_says_what_is_always_said(att: Path, topic: str) -> None:
    (found,) = load_commenter(att).comment([asked(topic)], 1)
    (one,) = found.suggestions
    assert one.text.lower() == SAYINGS[topic]
    assert one.provenance.label == "Machine-generated suggestion"
    assert (one.provenance.method, one.provenance.model, one.provenance.sources) == ("generated", "att", ())
    assert one.provenance.model_hash == Model.open(att).hash
    copied = one.provenance.overlap
    assert copied is not None
    assert (copied.span.lower(), copied.words) == (SAYINGS[topic], len(SAYINGS[topic].split()))
    source = next(article(number) for number in range(24) if f"a{number:02}" == copied.source.article)
    assert any(comment.id == copied.source.comment and comment.text == SAYINGS[topic] for comment in source.comments)


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("order", lambda a: a + 2**40, r"expected int64\[\d+\] from 0 to \d+, got 1099511627776 to"),
        ("order", lambda a: a - 5, r"expected int64\[\d+\] from 0 to \d+, got -5 to"),
        ("words", lambda a: a - 5, r"expected int32\[any\] from -1, got -6 to"),
        ("words", lambda a: a[:-1], "expected -1 after the last text, got"),
        ("starts", lambda a: a[::-1].copy(), r"expected int64\[\d+\], offsets that rise from 0 to"),
        ("ids.offsets", lambda a: a[:-1], r"expected int64\[\d+\], offsets that rise from 0 to"),
    ],
)
def test_arrays_that_were_changed(att: Path, tmp_path: Path, name: str, change: Any, problem: str) -> None:
    folder = changed(shutil.copytree(att, tmp_path / "m"), f"comments/{name}.npy", change)
    with pytest.raises(InvalidInput, match=f"{name}.npy: {problem}"):
        load_commenter(folder).comment([asked("rain")], 1)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"reads": "all"}, 'config.json: reads: expected title, content, both, comments, got "all"; was the folder'),
        ({"tokenizer": None}, "config.json: tokenizer: expected text, got null; was the folder"),
    ],
)
def test_settings_that_were_changed(att: Path, changes: dict[str, Any], problem: str) -> None:
    opened = NeuralCommenter.open(att)
    model = replace(opened.model, head={**opened.model.config, **changes})
    with pytest.raises(InvalidInput, match=problem):
        replace(opened, model=model).comment([asked("rain")], 1)


def test_fewer_words_than_the_network_has(att: Path, tmp_path: Path) -> None:
    folder = changed(shutil.copytree(att, tmp_path / "m"), "words.txt", "rain\n")
    with pytest.raises(InvalidInput, match=r"words\.txt: expected \d+ words or more, as in the network, got 1;"):
        load_commenter(folder)


def test_several_comments_begin_with_different_words(att: Path) -> None:
    commenter = NeuralCommenter.open(att, candidate_filter=CandidateFilter(min_words=1, dedup_threshold=None))
    (found,) = commenter.comment([asked("rain")], 4)
    assert len({one.text.split()[0] for one in found.suggestions}) == len(found.suggestions) == 4
    assert [one.score for one in found.suggestions] == sorted((one.score for one in found.suggestions), reverse=True)


def test_what_is_drawn_follows_the_seed(att: Path) -> None:
    def drawn(seed: int) -> list[str]:
        decoding = DecodingOptions(strategy="nucleus", top_p=1.0, temperature=4.0, min_words=1, max_words=9, seed=seed)
        commenter = load_commenter(
            att, candidate_filter=CandidateFilter(min_words=1, dedup_threshold=None), decoding=decoding
        )
        return [one.text for one in commenter.comment([asked("rain"), article(1)], 2)[0].suggestions]

    assert drawn(1) == drawn(1) != drawn(2)


def test_a_copy_says_the_same(att: Path, tmp_path: Path) -> None:
    commenter = load_commenter(att)
    shutil.copytree(att, tmp_path / "copy")
    assert load_commenter(tmp_path / "copy").comment([asked("bread")], 2) == commenter.comment([asked("bread")], 2)


def test_the_same_training_gives_the_same_bytes(att: Path, corpus: Corpus, tmp_path: Path) -> None:
    train_commenter("att", corpus.path, tmp_path / "m", SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    for path in att.rglob("*"):
        if path.is_file():
            assert (tmp_path / "m" / path.relative_to(att)).read_bytes() == path.read_bytes(), path.name


@pytest.mark.parametrize(("kind", "reads"), [("seq2seq", "title"), ("att-tc", "both")])
def test_the_others(kind: str, reads: str, corpus: Corpus, tmp_path: Path) -> None:
    trained = train_commenter(kind, corpus.path, tmp_path / "m", SMALL)
    assert trained is not None
    assert Model.open(tmp_path / "m", {kind}).config["reads"] == reads
    attention = json.loads((tmp_path / "m" / "generator" / "config.json").read_text())["options"]["attention"]
    assert attention == ("none" if kind == "seq2seq" else "general")
    assert [row.step for row in trained.rows] == sorted(row.step for row in trained.rows)
    (best,) = [row.dev for row in trained.rows if row.best]
    assert best == min(row.dev for row in trained.rows) < 0.3
    (found,) = load_commenter(tmp_path / "m").comment([asked("chess")], 1)
    assert found.suggestions[0].text.lower() == SAYINGS["chess"]


@pytest.mark.parametrize("source", ["content", "comments"])
def test_titles_can_be_written(source: Literal["content", "comments"], corpus: Corpus, tmp_path: Path) -> None:
    options = GeneratorTrainOptions(source=source, target="title", network=NETWORK, training=TRAINING)
    assert train_commenter("att", corpus.path, tmp_path / "m", options)
    commenter = load_commenter(
        tmp_path / "m", candidate_filter=CandidateFilter(min_words=1), decoding=DecodingOptions(min_words=1)
    )
    texts = {"content": "about bread 6", "comments": SAYINGS["bread"]}
    comments = tuple(Comment(f"c{n}", word) for n, word in enumerate(texts["comments"].split()))
    one = Article("q", "", comments if source == "comments" else (), texts["content"] if source == "content" else None)
    (found, nothing) = commenter.comment([one, Article("r", "more bread", ())], 1)
    assert found.suggestions[0].text.lower() == "more bread"
    assert nothing.suggestions == ()
    copied = found.suggestions[0].provenance.overlap
    assert copied is not None
    assert copied.source.comment == "title"


def test_an_interrupted_training_goes_on(att: Path, corpus: Corpus, tmp_path: Path) -> None:
    cut = GeneratorTrainOptions(network=NETWORK, training=replace(TRAINING, steps=25))
    said: list[str] = []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("postil.comments.nn.models.ModelWriter", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train_commenter("att", corpus.path, tmp_path / "m", cut)
    assert [path.name for path in tmp_path.iterdir()] == [".m.training"]
    train_commenter("att", corpus.path, tmp_path / "m", SMALL, on_message=said.append)
    assert "resuming after step 25" in said[0]
    weights = ("generator", "weights.safetensors")
    assert (tmp_path / "m").joinpath(*weights).read_bytes() == att.joinpath(*weights).read_bytes()


def test_one_model_is_trained_once_at_a_time(corpus: Corpus, tmp_path: Path) -> None:
    with locked(tmp_path / ".m.training", "taken"), pytest.raises(UsageError, match="another training of this model"):
        train_commenter("att", corpus.path, tmp_path / "m", SMALL)
    assert not (tmp_path / "m").exists()


def test_no_torch_no_model_that_writes(att: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys  # noqa: PLC0415

    for name in [name for name in sys.modules if name.startswith("postil.comments.nn.")]:
        monkeypatch.delitem(sys.modules, name)  # to be imported again
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(PostilError, match=r"pip install 'postil\[neural\]'"):
        load_commenter(att)


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("atc", {}, "unknown commenter 'atc'"),
        ("att", {"source": "body"}, "unknown source 'body'"),
        ("att", {"target": "title"}, 'must not read them: target="title" needs source="content"'),
        ("att", {"source": "comments"}, 'must not read them: source="comments" needs target="title"'),
        ("seq2seq", {"network": GeneratorOptions(attention="general")}, "seq2seq has none"),
        ("att", {"network": GeneratorOptions(attention="none")}, "att has bahdanau, general or additive"),
        (
            "att",
            {"max_content_words": 5},
            "max_content_words: expected titles and contents as the source, and att reads",
        ),
        ("att", {"training": GeneratorTraining(bf16=True, device="cpu")}, "bf16"),
    ],
)
def test_requests_that_make_no_sense(
    kind: str, options: dict[str, Any], words: str, corpus: Corpus, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=words):
        train_commenter(kind, corpus.path, tmp_path / "m", GeneratorTrainOptions(**options))


@pytest.mark.parametrize("most", [None, 1, 0])
def test_so_many_words_of_a_content_are_read_in_training_and_after(
    most: int | None, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from postil.comments.nn import generator  # noqa: PLC0415 - it needs torch

    lengths: dict[str, list[int]] = {}

    def read(train: Commented, dev: Commented, *rest: Any, **more: Any) -> generator.Generator:
        lengths.update(train=np.diff(train.articles.offsets).tolist(), dev=np.diff(dev.articles.offsets).tolist())
        return real(train, dev, *rest, **more)

    real = generator.train_generator
    monkeypatch.setattr(generator, "train_generator", read)
    options = replace(SMALL, training=replace(TRAINING, epochs=1), max_content_words=most)
    train_commenter("att-tc", corpus.path, tmp_path / "m", options)
    words = 2 + (1 if most == 1 else 3)  # more rain; about rain 8
    assert set(lengths["train"]) == set(lengths["dev"]) == {words}
    made = NeuralCommenter.open(tmp_path / "m")
    assert ("content_words" in made.model.config) == (most is not None)
    assert ("max_content_words" in made.model.metadata["options"]) == (most is not None)
    assert made.generator.options.article_words == (400 if most is None else 2**31 - 1)
    long = Article("q", "more rain", (), "about " * 499 + "rain")
    assert made._read([long]).offsets.tolist() == [0, 3 if most == 1 else 502]
    alike = Article("r", "more rain", (), "about trains")
    one, two = ([text.score for text in found.suggestions] for found in made.comment([long, alike], 1))
    assert (one == two) == (most == 1)


def test_no_content_no_att_tc(tmp_path: Path) -> None:
    without = corpus_of(tmp_path, content=False)
    with pytest.raises(UsageError, match="its articles have no content"):
        train_commenter("att-tc", without.path, tmp_path / "m", SMALL)


@pytest.mark.parametrize(("kind", "options"), [("seq2seq", {}), ("att", {}), ("att-tc", {"source": "title"})])
def test_no_titles_no_model_that_reads_them(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    without = corpus_of(tmp_path, titles=0)
    with pytest.raises(UsageError, match=r"no title of train has a word, .* train ir-tc or att-tc$"):
        train_commenter(kind, without.path, tmp_path / "m", GeneratorTrainOptions(**options))
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith("m")] == []


def test_no_titles_no_model_that_writes_them(tmp_path: Path) -> None:
    options = GeneratorTrainOptions(source="content", target="title", network=NETWORK, training=TRAINING)
    without = corpus_of(tmp_path, titles=0)
    with pytest.raises(UsageError, match="no title of train has a word, so that there is none to learn to write"):
        train_commenter("att", without.path, tmp_path / "m", options)


def test_articles_without_a_title_are_counted_once(tmp_path: Path) -> None:
    some = corpus_of(tmp_path, titles=12)
    none = {name: sum(not one.title for one in some.articles(name)) for name in ("train", "dev")}
    said: list[str] = []
    training = replace(TRAINING, epochs=1)
    options = GeneratorTrainOptions(network=NETWORK, training=training)
    train_commenter("att", some.path, tmp_path / "m", options, on_message=said.append)
    sizes = {"train": 20, "dev": 4}
    expected = [
        f"{number} of {sizes[name]} articles of {name} have no word in their title" for name, number in none.items()
    ]
    assert [text.split(", ")[0] for text in said if "have no word" in text] == expected


def test_nothing_is_written_about_nothing(att: Path) -> None:
    commenter = load_commenter(att)
    without = Article("w", "", (), "about rain")
    found = commenter.comment([without, asked("rain")], 1)
    assert [bool(row.suggestions) for row in found] == [False, True]
    assert found[1] == commenter.comment([asked("rain")], 1)[0]
    assert commenter.comment([without], 1) == found[:1]
    unknown = commenter.comment([Article("u", "zzz", ())], 1)  # a word, though no known one
    assert unknown[0].suggestions


def test_no_dev_no_network(tmp_path: Path) -> None:
    without = corpus_of(tmp_path, dev=0)
    with pytest.raises(UsageError, match="needs a dev set"):
        train_commenter("att", without.path, tmp_path / "m", SMALL)


def test_a_model_that_is_damaged(att: Path, tmp_path: Path) -> None:
    shutil.copytree(att, tmp_path / "m")
    (tmp_path / "m" / "generator" / "weights.safetensors").unlink()
    with pytest.raises(InvalidInput, match=r"weights.safetensors: missing; was the folder copied whole\?"):
        load_commenter(tmp_path / "m")
    with pytest.raises(UsageError, match="at least one comment"):
        load_commenter(att).comment([asked("rain")], 0)
    assert load_commenter(att).comment([], 3) == []
