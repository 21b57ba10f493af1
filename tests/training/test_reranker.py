"""A retriever with a reranker: what its folder keeps, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace as replaced

from postil.comments import reranker
from postil.comments.call_options import CommentOptions
from postil.comments.calls import comment_articles
from postil.comments.commenter import load_commenter
from postil.comments.options import RetrieverTrainOptions
from postil.comments.retrieval import Retriever
from postil.comments.show_filter import Selection
from postil.data.model_folders import Model
from postil.data.row_files import write
from postil.encoders.sentences import SentenceEncoder
from postil.errors import InvalidInput, UsageError
from postil.screening.filtering import CandidateFilter
from postil.training import rankers as reranker_training
from postil.training import retrievers
from postil.training.retrievers import train_retriever, update_model
from topic_corpora import TOPICS, articles, corpus_of, files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.corpus.store import Corpus
    from postil.data.suggestions import Suggestions

pytestmark = pytest.mark.skipif(find_spec("pyarrow") is None, reason="corpora need the extra tables")
BY_WORDS = RetrieverTrainOptions(ranker="tf-idf", eval_negatives=5, neighbors=40)


def by_topic(texts: Sequence[str], jobs: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The topics of each text, and its number of characters, which every text has."""
    del jobs
    found = [[*(float(topic in text) for topic in TOPICS), len(text) / 100] for text in texts]
    return np.array(found, np.float32).reshape(len(texts), len(TOPICS) + 1), np.zeros(len(texts), np.bool_)


def encoder(folder: str) -> SentenceEncoder:
    if folder == "zeros":
        return SentenceEncoder(
            lambda texts, _: (np.zeros((len(texts), 3), np.float32), np.zeros(len(texts), bool)), "z"
        )
    return SentenceEncoder(by_topic, f"topics-{folder.rpartition('/')[2]}")


@pytest.fixture(autouse=True, scope="module")
def in_place() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda _: None)
        for module in (reranker, reranker_training, retrievers):
            patch.setattr(module, "sentence_encoder", encoder)
        yield


@pytest.fixture(scope="module")
def model(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "m"
    train_retriever("ir-tc", corpus.path, folder, replace(BY_WORDS, reranker="/here/one"))
    return folder


def test_the_folder_keeps_signature_hub_and_weight(corpus: Corpus, model: Path, tmp_path: Path) -> None:
    said: list[str] = []
    train_retriever("ir-tc", corpus.path, tmp_path / "m", replace(BY_WORDS, reranker="one"), on_message=said.append)
    assert files(tmp_path / "m") == files(model)
    opened = Model.open(model)
    signature = encoder("one").signature
    assert opened.config["reranker"] == opened.metadata["options"]["reranker"] == signature
    texts = [f"{one.title}\n{one.content}" for one in corpus.articles("train")]
    vectors = by_topic(texts, 1)[0]
    expected = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(np.load(model / "reranker/hub.npy"), expected, atol=1e-3)
    assert f"reranker {signature}: encoding {len(texts)} articles of train" in said
    assert said[-1].startswith(f"reranker: weight {opened.config['reranker_weight']:g}, the best on ")
    train_retriever("ir-tc", corpus.path, tmp_path / "plain", BY_WORDS)
    assert "reranker" not in Model.open(tmp_path / "plain").metadata["options"]
    with pytest.raises(UsageError, match="trained without a reranker; leave it out, or train the model again with"):
        Retriever.open(tmp_path / "plain", reranker="one")


def test_without_enough_of_dev_the_weight_is_one(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reranker_training, "FEWEST", 1000)
    said: list[str] = []
    train_retriever("ir-t", corpus.path, tmp_path / "m", replace(BY_WORDS, reranker="one"), on_message=said.append)
    assert said[-1] == "reranker: dev is missing or too small, so its weight is 1"
    assert Model.open(tmp_path / "m").config["reranker_weight"] == 1


def test_suggestions_are_reordered_where_the_encoder_is_named(corpus: Corpus, model: Path, tmp_path: Path) -> None:
    screen, dev = CandidateFilter(repeat=0), list(corpus.articles("dev"))[:3]
    plain = Retriever.open(model, candidate_filter=screen)
    found = load_commenter(model, candidate_filter=screen, reranker="elsewhere/one")
    assert isinstance(found, Retriever)
    assert found.reranker is not None
    hub = found.reranker.hub
    heavy = replace(found, reranker=replace(found.reranker, weight=1000.0))
    for article, row, other in zip(dev, heavy.comment(dev, 5), plain.comment(dev, 5), strict=True):
        assert row != other
        (candidates,) = plain.candidates([article])
        (scores,) = plain.ranker.score_stored(plain._read([article]), [candidates])
        best = candidates[np.argsort(-scores, kind="stable")[:50]]
        texts = [plain.pool.texts[one] for one in best.tolist()]
        vectors = by_topic([f"{article.title}\n{article.content}", *texts], 1)[0].astype(float)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = dict(zip(texts, vectors[1:] @ (vectors[0] - hub), strict=True))
        assert cosines[row.suggestions[0].text] == pytest.approx(max(cosines.values()), abs=2e-3)
    write(str(tmp_path / "q.jsonl"), dev)
    said: list[str] = []
    rows = [str(tmp_path / "q.jsonl"), str(model)]
    options = CommentOptions(repeat=0)

    def titled(commenter: Retriever) -> list[Suggestions]:
        suggested = zip(dev, commenter.comment(dev, 5), strict=True)
        return [replaced(row, title=article.title) for article, row in suggested]

    assert list(comment_articles(*rows, options, on_message=said.append)) == titled(plain)
    assert said == ["without reranker=DIR the order is the ranker's: the model was trained with a sentence encoder"]
    options = CommentOptions(repeat=0, reranker="one")
    assert list(comment_articles(*rows, options, on_message=said.append)) == titled(found)
    assert len(said) == 1


def test_what_does_not_fit_is_refused(corpus: Corpus, model: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"trained with the reranker topics-one\|, and two is topics-two\|; name the"):
        Retriever.open(model, reranker="two")
    with pytest.raises(UsageError, match="a reranker changes the first suggestions, by which the model was calibrated"):
        Retriever.open(model, reranker="one", selection=Selection(coverage=0.5))
    with pytest.raises(InvalidInput, match="expected a vector of each article, got none that is finite and not 0"):
        train_retriever("ir-tc", corpus.path, tmp_path / "m", replace(BY_WORDS, reranker="zeros"))


def test_a_grown_model_keeps_its_reranker(corpus: Corpus, model: Path, tmp_path: Path) -> None:
    update_model(model, corpus_of(tmp_path, articles(44)), tmp_path / "grown")
    grown = Retriever.open(tmp_path / "grown", reranker="one")
    assert grown.reranker is not None
    assert grown.reranker.hub.tolist() == np.load(model / "reranker/hub.npy").tolist()
    assert grown.comment(list(corpus.articles("dev"))[:1], 2)[0].suggestions
