"""A corpus in, a retriever out: what is in its folder, and that its numbers are those of a plain reading."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from postil.comments.options import RelevanceOptions, RelevanceTraining, RetrieverTrainOptions
from postil.comments.rankers import InterpolatedRanker
from postil.comments.ranking_evaluation import evaluate, sample_negatives
from postil.comments.retrieval import Retriever
from postil.data.arrays import Expected
from postil.data.model_folders import Model
from postil.data.rows import Article
from postil.errors import UnknownName, UsageError
from postil.meta.resampling import bootstrap_counts
from postil.text.vectors import Vectors
from postil.training import retrievers
from postil.training.retrievers import train_retriever
from topic_corpora import articles, corpus_of, files

if TYPE_CHECKING:
    from pathlib import Path

    from postil.corpus.store import Corpus

pytestmark = pytest.mark.skipif(find_spec("pyarrow") is None, reason="corpora need the extra tables")
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs the extra neural")
needs_gensim = pytest.mark.skipif(find_spec("gensim") is None, reason="needs the extra vectors")

BY_WORDS = RetrieverTrainOptions(ranker="tf-idf", eval_negatives=5)
NETWORK = RelevanceOptions(embedding_dim=8, filters=4, output_dim=8)


def small(ranker: str = "both", network: RelevanceOptions = NETWORK, **given: Any) -> RetrieverTrainOptions:
    """A training of a few steps."""
    training = RelevanceTraining(steps=2, batch=16, device="cpu")
    rest = {"training": training, "eval_negatives": 5, "embeddings": "none", "vectors": "none", **given}
    return RetrieverTrainOptions(ranker=ranker, network=network, **rest)


def test_a_retriever_is_made(corpus: Corpus, tmp_path: Path) -> None:
    said: list[str] = []
    trained = train_retriever("ir-tc", corpus.path, tmp_path / "m", BY_WORDS, on_message=said.append)
    assert said == [
        f"30 articles indexed, {len(corpus.words())} words; 120 comments",
        "each comment of 10 dev articles is ranked among 5 of other articles; recall@1: the share that comes first",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    model = Model.open(tmp_path / "m", {"ir-tc"})
    model.verify()
    assert {name: model.config[name] for name in ("tokenizer", "neighbors", "weighting", "idf", "ranker")} == {
        "tokenizer": "words-2", "neighbors": 20, "weighting": "tf-idf", "idf": "plain", "ranker": "tf-idf",
    }  # fmt: skip
    assert model.metadata["corpus"] == corpus.metadata.origin
    assert trained is not None
    assert len(model.metadata["dev"]) == len(trained.rows)

    pool = Retriever.open(tmp_path / "m").pool
    train = list(corpus.articles("train"))
    assert [pool.articles[n] for n in range(len(pool.articles))] == [one.id for one in train]
    assert {pool.languages[n] for n in range(30)} == {"en"}
    for place, one in enumerate(train):
        span = range(pool.starts[place], pool.starts[place + 1])
        assert [(pool.ids[n], pool.texts[n]) for n in span] == [(c.id, c.text) for c in one.comments]


@pytest.mark.parametrize("kind", ["ir-t", "ir-tc"])
def test_the_evaluation_is_that_of_a_plain_reading(kind: str, corpus: Corpus, tmp_path: Path) -> None:
    trained = train_retriever(kind, corpus.path, tmp_path / "m", BY_WORDS)
    assert trained is not None
    documents: list[set[str]] = []  # the articles of train, and what is said under each
    for one in corpus.articles("train"):
        documents.append(set(f"{one.title} {(one.content or '') * (kind == 'ir-tc')}".split()))
        documents.append({word for comment in one.comments for word in comment.text.split()})
    df = np.array([sum(word in each for each in documents) for word in corpus.words()])
    idf_weights = np.where(df > 0, np.log(len(documents) / np.maximum(df, 1)), 0)

    def weights(ids: Any) -> Any:
        found = np.bincount(ids, minlength=len(idf_weights))[: len(idf_weights)] * idf_weights
        return found / (np.linalg.norm(found) or 1)

    def texts(field: Any) -> list[Any]:
        tokens = corpus.tokens("dev", field)
        return [np.asarray(tokens.ids[a:b]) for a, b in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)]

    bodies = texts("title")
    if kind == "ir-tc":
        bodies = [np.concatenate(both) for both in zip(bodies, texts("content"), strict=True)]
    queries, comments = (np.array([weights(text) for text in several]) for several in (bodies, texts("comments")))
    lists = sample_negatives(corpus.starts("dev"), 5, BY_WORDS.seed)
    votes = [comment.upvotes for one in corpus.articles("dev") for comment in one.comments]
    again = evaluate(
        lists,
        {
            "tf-idf": lambda rows, places: (queries[rows] * comments[places]).sum(1).round(12),
            "upvotes": lambda _, places: np.array(votes, dtype=float)[places],
        },
        bootstrap_counts(len(lists), seed=BY_WORDS.seed),
    )
    found = {(row.scorer, row.measure): row.value for row in trained.rows}
    assert found == pytest.approx({(row.scorer, row.measure): row.value for row in again.rows}, abs=1e-12)
    assert found["tf-idf", "recall@1"] > found["random", "recall@1"]


def test_the_same_corpus_gives_the_same_bytes(corpus: Corpus, tmp_path: Path) -> None:
    shutil.copytree(corpus.path, tmp_path / "moved")
    train_retriever("ir-tc", corpus.path, tmp_path / "one", BY_WORDS)
    train_retriever("ir-tc", tmp_path / "moved", tmp_path / "two", replace(BY_WORDS, jobs=3))
    one, two = files(tmp_path / "one"), files(tmp_path / "two")
    assert one == two
    for name, content in one.items():
        assert str(tmp_path).encode() not in content, name
        assert str(corpus.path).encode() not in content, name


def test_options_reach_the_model(corpus: Corpus, tmp_path: Path) -> None:
    plain = train_retriever("ir-tc", corpus.path, tmp_path / "plain", BY_WORDS)
    options = replace(BY_WORDS, retrieval="bm25", idf="smooth", neighbors=2, seed=7)
    other = train_retriever("ir-tc", corpus.path, tmp_path / "other", options)
    retriever = Retriever.open(tmp_path / "other")
    assert (retriever.index.weighting, retriever.index.idf) == ("bm25", "smooth")
    (row,) = retriever.comment([Article("q", "rain bread chess", ())], k=99)
    assert len({source.article for one in row.suggestions for source in one.provenance.sources}) == 2
    assert retriever.model.metadata["options"]["seed"] == 7
    assert plain is not None
    assert other is not None
    assert plain.rows != other.rows  # other comments were drawn


def test_where_there_is_nothing_to_evaluate_on(tmp_path: Path) -> None:
    some = articles(8, upvotes=False)
    for count, expected in ((0, []), (1, ["no evaluation on dev: expected two articles with comments"])):
        folder = tmp_path / str(count)
        folder.mkdir()
        made, said = corpus_of(folder, some, dev=count), list[str]()
        options = RetrieverTrainOptions(ranker="tf-idf")
        trained = train_retriever("ir-t", made.path, folder / "m", options, on_message=said.append)
        assert trained is None
        assert Model.open(folder / "m").metadata["dev"] == []
        assert [text[: len(start)] for text, start in zip(said[1:], expected, strict=True)] == expected


def test_a_small_dev_set_has_fewer_negatives(tmp_path: Path) -> None:
    made, said = corpus_of(tmp_path, articles(8, upvotes=False), dev=2), list[str]()
    options = RetrieverTrainOptions(ranker="tf-idf")
    trained = train_retriever("ir-t", made.path, tmp_path / "m", options, on_message=said.append)
    assert trained is not None
    assert said[1:] == [
        "each comment of 2 dev articles is ranked among 4 of other articles; recall@1: the share that comes first"
    ]
    assert {row.scorer for row in trained.rows} == {"tf-idf", "random"}  # nobody voted
    by_chance = {row.measure: row.value for row in trained.rows if row.scorer == "random"}
    assert by_chance == pytest.approx({"recall@1": 1 / 5, "recall@5": 1, "recall@10": 1, "mrr": 137 / 300})
    asked = train_retriever("ir-t", made.path, tmp_path / "asked", replace(options, eval_negatives=4))
    assert asked == trained


@needs_torch
def test_a_small_dev_set_chooses_no_weights(tmp_path: Path) -> None:
    made = corpus_of(tmp_path, articles(8), dev=2)
    for asked, chosen in ((100, False), (4, True)):
        train_retriever("ir-t", made.path, tmp_path / f"{asked}", small(eval_negatives=asked))
        config = Model.open(tmp_path / f"{asked}").config
        weights = (config["interpolation_weight"], config["feature_weight"])
        assert (weights != retrievers.WEIGHTS) == chosen


def test_ir_tc_needs_contents(tmp_path: Path) -> None:
    made = corpus_of(tmp_path, articles(6, content=False), dev=0)
    with pytest.raises(
        UsageError, match="its articles have no content; train ir-t, seq2seq or att, which read titles alone"
    ):
        train_retriever("ir-tc", made.path, tmp_path / "m", BY_WORDS)
    assert not (tmp_path / "m").exists()
    train_retriever("ir-t", made.path, tmp_path / "m", BY_WORDS)


def untitled(some: list[Article], count: int) -> list[Article]:
    """The first articles without their titles."""
    return [msgspec.structs.replace(one, title="…") for one in some[:count]] + some[count:]


def test_ir_t_needs_titles(tmp_path: Path) -> None:
    made = corpus_of(tmp_path, untitled(articles(20), 20))
    problem = r"no title of train has a word, and ir-t, seq2seq and att read titles alone; train ir-tc or att-tc$"
    with pytest.raises(UsageError, match=problem):
        train_retriever("ir-t", made.path, tmp_path / "m", BY_WORDS)
    assert not (tmp_path / "m").exists()
    said: list[str] = []
    train_retriever("ir-tc", made.path, tmp_path / "m", BY_WORDS, on_message=said.append)
    assert len(said) == 2  # contents are there for every article


def test_articles_with_nothing_to_read_are_counted(tmp_path: Path) -> None:
    made = corpus_of(tmp_path, untitled(articles(20), 6))
    none = {name: sum(one.title == "…" for one in made.articles(name)) for name in ("train", "dev")}
    assert sum(none.values()) == 6
    said: list[str] = []
    train_retriever("ir-t", made.path, tmp_path / "m", BY_WORDS, on_message=said.append)
    expected = [f"{number} of 10 articles of {name} have no word in their title" for name, number in none.items()]
    assert [text.split(", ")[0] for text in said[:-2]] == [text for text in expected if text[0] != "0"]


def test_neither_titles_nor_contents_are_nothing_to_read(tmp_path: Path) -> None:
    made = corpus_of(tmp_path, untitled(articles(6, content=False), 6), dev=0)
    for kind in ("ir-t", "ir-tc"):
        with pytest.raises(UsageError, match="neither a title nor a content of train has a word"):
            train_retriever(kind, made.path, tmp_path / "m", BY_WORDS)


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"ranker": "bm25"}, UnknownName, "unknown ranker 'bm25'"),
        ({"retrieval": "tfidf"}, UnknownName, "unknown retrieval 'tfidf'; did you mean 'tf-idf'"),
        ({"idf": "smoth"}, UnknownName, "unknown idf 'smoth'; did you mean 'smooth'"),
        ({"neighbors": 0}, UsageError, "neighbors: expected at least 1, got 0"),
        ({"eval_negatives": -1}, UsageError, "eval_negatives: expected at least 0, got -1"),
        ({"jobs": 0}, UsageError, "jobs: expected at least 1, got 0"),
        (
            {"network": RelevanceOptions(architecture="interaction"), "embeddings": "v"},
            UsageError,
            "embeddings, architecture: of the network, and the ranker",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    changes: dict[str, Any], kind: type[Exception], message: str, corpus: Corpus, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=message):
        train_retriever("ir-t", corpus.path, tmp_path / "m", RetrieverTrainOptions(**{"ranker": "tf-idf"} | changes))
    assert not list(tmp_path.iterdir())


@needs_torch
def test_a_network_is_trained_and_ranks(corpus: Corpus, tmp_path: Path) -> None:
    words = corpus.words()[50:10:-1]
    values = np.random.default_rng(1).normal(size=(40, 8)).astype(np.float32)
    Vectors(tuple(words), values).save(tmp_path / "vectors")
    training = RelevanceTraining(steps=6, batch=16, eval_every=3, device="cpu", learning_rate=1e-30)
    given = {"ranker": "relevance", "training": training, "embeddings": str(tmp_path / "vectors")}
    options = RetrieverTrainOptions(network=NETWORK, eval_negatives=5, **given)  # type: ignore[arg-type]
    trained = train_retriever("ir-tc", corpus.path, tmp_path / "m", options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "vectors"]
    assert trained is not None
    assert {row.scorer for row in trained.rows} == {"relevance", "tf-idf", "upvotes", "random"}
    model = Model.open(tmp_path / "m")
    model.verify()
    assert model.metadata["options"]["embeddings"] == Vectors.open(tmp_path / "vectors").hash
    assert "device" not in model.metadata["options"]["training"]
    for name, content in files(tmp_path / "m").items():
        assert str(tmp_path).encode() not in content, name
    assert model.array("ranker/vectors", Expected("float32", (120, None))).shape[0] == 120
    retriever = Retriever.open(tmp_path / "m")
    begun = retriever.ranker.relevance.network.words.weight.detach().numpy()  # type: ignore[attr-defined]
    ratio = begun[4 + 50 : 4 + 10 : -1] / values  # four special words, and vectors are scaled as a whole
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-5)
    dev = list(corpus.articles("dev"))
    (row,) = retriever.comment(dev[:1], k=5)
    assert len(row.suggestions) == 5
    assert [len(scores) for scores in retriever.rank(dev)] == [len(one.comments) for one in dev]

    more = RetrieverTrainOptions(network=replace(NETWORK, embedding_dim=16), **given)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected vectors of 16 dimensions, got 8"):
        train_retriever("ir-t", corpus.path, tmp_path / "n", more)
    assert model.config["ranker"] == "relevance" != RetrieverTrainOptions().ranker


@needs_torch
def test_a_network_needs_a_dev_set(tmp_path: Path) -> None:
    made = corpus_of(tmp_path, articles(6), dev=0)
    with pytest.raises(UsageError, match="a network needs a dev set for early stopping"):
        train_retriever("ir-t", made.path, tmp_path / "m", RetrieverTrainOptions(ranker="both"))


@needs_torch
def test_a_trained_network_is_taken_only_for_the_same_request(corpus: Corpus, tmp_path: Path) -> None:
    """The network was trained, and the run ended before the model was written."""
    options = small()
    train_retriever("ir-t", corpus.path, tmp_path / "t", options)
    train_retriever("ir-tc", corpus.path, tmp_path / "tc", options)
    shutil.copytree(tmp_path / "t" / "relevance", tmp_path / ".again.training" / "relevance")
    assert Model.open(tmp_path / "t").metadata["options"]["embeddings"] == "none"
    said: list[str] = []
    train_retriever("ir-t", corpus.path, tmp_path / "again", options, on_message=said.append)
    assert not any(text.startswith("step") for text in said)
    assert files(tmp_path / "again") == files(tmp_path / "t")
    shutil.copytree(tmp_path / "t" / "relevance", tmp_path / ".other.training" / "relevance")
    train_retriever("ir-tc", corpus.path, tmp_path / "other", options, on_message=said.append)
    assert any(text.startswith("step 2") for text in said)
    assert files(tmp_path / "other") == files(tmp_path / "tc")
    assert not list(tmp_path.glob(".*"))


@needs_torch
@needs_gensim
def test_word_vectors_are_trained_for_the_corpus(corpus: Corpus, tmp_path: Path) -> None:
    """They are kept until the model is there, and those of another run are not taken."""
    training = RelevanceTraining(steps=2, batch=16, device="cpu")
    options = RetrieverTrainOptions(ranker="relevance", network=NETWORK, training=training, eval_negatives=5)
    words = corpus.words()
    said: list[str] = []
    train_retriever("ir-t", corpus.path, tmp_path / "one", options, on_message=said.append)
    assert any(text.startswith("word vectors are trained on ") for text in said)
    (tmp_path / ".two.training").mkdir()
    Vectors(tuple(words), np.ones((len(words), 8), np.float32)).save(tmp_path / ".two.training" / "vectors-8")
    train_retriever("ir-t", corpus.path, tmp_path / "two", options)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]
    train_retriever("ir-t", corpus.path, tmp_path / "none", replace(options, embeddings="none"))
    assert files(tmp_path / "none") != files(tmp_path / "one")


@needs_torch
@pytest.mark.parametrize("form", ["two-tower", "interaction"])
def test_both_add_words_and_features_to_relevance(corpus: Corpus, tmp_path: Path, form: str) -> None:
    options = small(network=replace(NETWORK, architecture=form))
    trained = train_retriever("ir-tc", corpus.path, tmp_path / "m", options)
    assert trained is not None
    mrr = {row.scorer: row.value for row in trained.rows if row.measure == "mrr"}
    assert list(mrr) == ["both", "relevance", "features", "tf-idf", "upvotes", "random"]
    assert mrr["both"] >= mrr["relevance"]  # a share of 0 is among those that are tried
    retriever = Retriever.open(tmp_path / "m")
    ranker = retriever.ranker
    assert isinstance(ranker, InterpolatedRanker)
    dev = list(corpus.articles("dev"))[:2]
    both = retriever.rank(dev)
    read, texts = retriever._read_threads(dev)
    parts = [weight * part.score_texts(read, texts)[1] for part, weight in ranker.parts]
    assert len(parts) == 3
    np.testing.assert_allclose(both[1], np.sum(parts, axis=0))
    (row,) = retriever.comment(dev[:1], k=3)
    assert len(row.suggestions) == 3


@needs_torch
@needs_gensim
@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["both", "tf-idf"])
def test_of_several_processes_the_first_alone_writes_and_speaks(corpus: Corpus, tmp_path: Path, ranker: str) -> None:
    """Under torchrun there are two processes; the second takes part in the training and ends."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "postil"]
    command = [
        "train",
        "ir-tc",
        "--corpus",
        str(corpus.path),
        "--out",
        "m",
        "--ranker",
        ranker,
        "--eval-negatives",
        "5",
    ]
    network = ["--epochs", "1", "--batch", "16", "--device", "cpu"] if ranker == "both" else []
    grid = ["--grid", "dropout=0.1,0.2", "--grid-epochs", "1"] if ranker == "both" else []
    done = subprocess.run(  # noqa: S603 - our own command
        [*torchrun, *command, "--eval-negatives", "5", *network, *grid],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    Model.open(tmp_path / "m").verify()
    assert done.stdout.count("ranked by") == 1
    for said in ("30 articles indexed", "ir-tc in m; go on", *(["word vectors are trained on"] if network else [])):
        assert done.stderr.count(said) == 1, done.stderr
    dev = list(corpus.articles("dev"))
    assert all(row.suggestions for row in Retriever.open(tmp_path / "m").comment(dev, k=1))
    if network:
        assert done.stderr.count("step 4, epoch 1") == 3  # eight batches, four for each; two combinations and the model
        assert done.stderr.count("chosen on dev: dropout 0.") == 1
