"""A retriever whose ranker is fitted to features: its folder, its scores, and what it does without packages."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from made_retrievers import changed
from postil.comments.feature_ranker import FeatureRanker
from postil.comments.options import RetrieverTrainOptions
from postil.comments.retrieval import Retriever
from postil.data.model_folders import Model
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, MissingExtra, UsageError
from postil.text.vectors import Vectors
from postil.training.retrievers import train_retriever
from topic_corpora import TOPICS, files

if TYPE_CHECKING:
    from pathlib import Path

    from postil.corpus.store import Corpus

pytestmark = pytest.mark.skipif(find_spec("pyarrow") is None, reason="corpora need the extra tables")
needs_sklearn = pytest.mark.skipif(find_spec("sklearn") is None, reason="needs the extra boosting")
WORDS_ONLY = RetrieverTrainOptions(vectors="none", eval_negatives=5)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Vectors in which each topic has a direction."""
    words = (*TOPICS, *(f"w{n}" for n in range(300)))
    array = np.random.default_rng(1).normal(size=(len(words), 8)) * 0.1
    array[: len(TOPICS), : len(TOPICS)] += np.eye(len(TOPICS))
    folder = tmp_path_factory.mktemp("vectors")
    Vectors(words, array.astype(np.float32)).save(folder)
    return str(folder)


@pytest.fixture(scope="module")
def model(corpus: Corpus, vectors: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "m"
    train_retriever("ir-tc", corpus.path, folder, replace(WORDS_ONLY, vectors=vectors))
    return folder


@needs_sklearn
def test_the_folder_is_whole(corpus: Corpus, vectors: str, model: Path, tmp_path: Path) -> None:
    said: list[str] = []
    shutil.copytree(vectors, tmp_path / "v")
    again = replace(WORDS_ONLY, vectors=str(tmp_path / "v"), jobs=2)
    trained = train_retriever("ir-tc", corpus.path, tmp_path / "m", again, on_message=said.append)
    assert files(tmp_path / "m") == files(model)
    assert said[-2] == "ranker fitted to 120 comments, and 720 of other articles: 20 features"
    assert trained is not None
    assert list(dict.fromkeys(row.scorer for row in trained.rows)) == ["features", "tf-idf", "upvotes", "random"]
    assert {row.minus for row in trained.differences} == {"tf-idf", "upvotes", "random"}
    shutil.rmtree(tmp_path / "v")
    Model.open(tmp_path / "m").verify()
    for name, content in files(tmp_path / "m").items():
        assert vectors.encode() not in content, name
    options = Model.open(tmp_path / "m").metadata["options"]
    signature = Vectors.open(model / "vectors").signature
    assert options["vectors"] == {"origin": "given", "signature": signature}
    dev = list(corpus.articles("dev"))
    one, two = (Retriever.open(folder).comment(dev, 3) for folder in (tmp_path / "m", model))
    assert one == two
    assert all(row.suggestions for row in one)


def test_stored_comments_have_the_scores_of_their_texts(corpus: Corpus, model: Path) -> None:
    retriever = Retriever.open(model)
    dev = list(corpus.articles("dev"))[:3]
    lists = retriever.candidates(dev)
    rows = retriever.features(dev, lists)
    assert [each.shape for each in rows] == [(len(some), 20) for some in lists]
    assert "less_hub_sentence" in retriever.show_columns
    ranker = retriever.ranker
    assert isinstance(ranker, FeatureRanker)
    stored = ranker.score_stored(retriever._read(dev), lists)
    assert [ranker.model.logits(each).tolist() for each in rows] == [each.tolist() for each in stored]
    said = [[Comment(str(one), retriever.pool.texts[one]) for one in some.tolist()] for some in lists]
    asked = [Article(one.id, one.title, tuple(comments), one.content) for one, comments in zip(dev, said, strict=True)]
    for one, two in zip(retriever.rank(asked), stored, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-5)


def test_own_comments_rank_higher(corpus: Corpus, model: Path) -> None:
    retriever = Retriever.open(model)
    dev = list(corpus.articles("dev"))
    everything = tuple(Comment(f"{one.id}-{each.id}", each.text) for one in dev for each in one.comments)
    scores = retriever.rank([Article(one.id, one.title, everything, one.content) for one in dev])
    of_topic = [next(topic for topic in TOPICS if topic in one.title.split()) for one in dev]
    for topic, row in zip(of_topic, scores, strict=True):
        right = np.array([topic in comment.text.split() for comment in everything])
        assert row[right].min() > row[~right].max()


def test_a_grown_ranker_scores_as_one_of_all(corpus: Corpus, model: Path) -> None:
    retriever = Retriever.open(model)
    ranker = retriever.ranker
    assert isinstance(ranker, FeatureRanker)
    n, dev = len(retriever.pool), list(corpus.articles("dev"))[:2]
    read, first = retriever._read(dev), np.arange(n - 7)
    last = ranker.stored.words.take(np.arange(n - 7, n))
    texts = [retriever.pool.texts[one] for one in range(n - 7, n)]
    grown = ranker.take(first).extend(last, texts)
    whole = ranker.score_stored(read, [np.arange(n)] * 2)
    assert [each.tolist() for each in grown.score_stored(read, [np.arange(n)] * 2)] == [each.tolist() for each in whole]
    again = grown.reweighted(retriever.index.collection.frequencies, retriever.pool.starts, "plain")
    assert again.arrays().keys() == ranker.arrays().keys()
    for name, array in again.arrays().items():
        np.testing.assert_array_equal(array, ranker.arrays()[name])
    reversed_ = ranker.take(np.arange(n)[::-1])
    assert reversed_.score_stored(read, [np.arange(n)] * 2)[0].tolist() == whole[0][::-1].tolist()


def test_titles_and_words_alone(corpus: Corpus, tmp_path: Path) -> None:
    train_retriever("ir-t", corpus.path, tmp_path / "m", WORDS_ONLY)
    retriever = Retriever.open(tmp_path / "m")
    assert len(retriever.show_columns) == 1 + 9
    assert not (tmp_path / "m" / "vectors").exists()
    assert retriever.model.metadata["options"]["vectors"] == {"origin": "none", "signature": ""}
    assert retriever.comment(list(corpus.articles("dev"))[:1], 2)[0].suggestions
    assert retriever.rank([]) == []


def test_what_is_not_installed_is_told(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_spec
    hidden = {"wordllama", "gensim"}
    monkeypatch.setattr("postil.training.rankers.find_spec", lambda name: None if name in hidden else found(name))
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    said: list[str] = []
    train_retriever("ir-tc", corpus.path, tmp_path / "m", replace(WORDS_ONLY, vectors="auto"), on_message=said.append)
    assert said[1].startswith("the ranker reads words only, which is worse: pip install wordllama")
    assert said[2].startswith("the ranker is a logistic regression alone, which is worse: boosted trees needs")
    monkeypatch.delitem(sys.modules, "sklearn.ensemble")
    retriever = Retriever.open(tmp_path / "m")
    assert retriever.model.config["trees"] == 0
    assert retriever.comment(list(corpus.articles("dev"))[:1], 2)[0].suggestions


def test_all_comments_of_dev_may_be_negatives(corpus: Corpus, tmp_path: Path) -> None:
    trained = train_retriever("ir-t", corpus.path, tmp_path / "m", replace(WORDS_ONLY, eval_negatives=0))
    assert trained is not None
    ranks = len(list(corpus.articles("dev"))) * 4 - 3  # an own comment among all comments of the nine others
    chance = next(row.value for row in trained.rows if (row.scorer, row.measure) == ("random", "mrr"))
    assert chance == pytest.approx(np.mean([1 / rank for rank in range(1, ranks + 1)]))


def test_other_rankers_have_no_features(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train_retriever("ir-t", corpus.path, tmp_path / "m", RetrieverTrainOptions(ranker="tf-idf", eval_negatives=5))
    with pytest.raises(UsageError, match=r"m: its ranker has no features; train it again with ranker=.features. or"):
        Retriever.open(tmp_path / "m").features([], [])
    with pytest.raises(UsageError, match="vectors: of the features, and the ranker tf-idf has none"):
        RetrieverTrainOptions(ranker="tf-idf", vectors="v")
    with pytest.raises(UsageError, match="dropout: of the network, and the ranker features has none"):
        RetrieverTrainOptions(network=replace(RetrieverTrainOptions().network, dropout=0.1))
    with pytest.raises(UsageError, match="no such folder"):
        train_retriever("ir-t", corpus.path, tmp_path / "n", replace(WORDS_ONLY, vectors=str(tmp_path / "none")))
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    monkeypatch.setattr("postil.training.rankers.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"vectors=.corpus. needs an optional package: .*postil\[vectors\]"):
        train_retriever("ir-t", corpus.path, tmp_path / "n", replace(WORDS_ONLY, vectors="corpus"))


def far(trees: np.ndarray) -> np.ndarray:
    """A node whose child is far away."""
    trees[0, 2] = 1e9
    return trees


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (
            {"config.json": {"features": ["tfidf_title"]}},
            "config.json: features: expected the features tfidf_article, ",
        ),
        ({"config.json": {"vectors": "1x1-0"}}, "expected vectors 1x1-0, got 305x8"),
        ({"logistic": lambda a: a * 0}, r"features.logistic.npy: expected standard deviations above 0"),
        ({"comments": lambda a: a * np.nan}, r"features.comments.npy: expected float32\[120, 6\]"),
        (
            {"trees": far},
            r"features.trees.npy: expected nodes of 20 columns, each but the root below one before it",
        ),
        ({"vectors": lambda a: np.full_like(a, np.inf)}, "features.vectors.npy: expected finite numbers"),
    ],
)
@needs_sklearn
def test_damage_is_named(damage: dict[str, Any], problem: str, model: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(model, tmp_path / "m")
    for name, change in damage.items():
        changed(folder, name if "." in name else f"ranker/features.{name}.npy", change)
    with pytest.raises(InvalidInput, match=problem):
        Retriever.open(tmp_path / "m").comment([Article("q", "rain", (), "rain chess")], 1)
