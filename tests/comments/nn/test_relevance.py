from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[neural]'")

import network_work as work
import torch

from postil.comments.nn.batches import Commented
from postil.comments.nn.relevance import (
    Relevance,
    RelevanceNetwork,
    contrastive_loss,
    in_batch_negatives,
    train_relevance,
)
from postil.comments.nn.token_ids import PAD
from postil.comments.options import RelevanceOptions, TrainingOptions
from postil.errors import UsageError
from postil.text.tokens import Ragged

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SMALL = work.SMALL
HOW = TrainingOptions(batch=64, epochs=12, eval_every=1000, learning_rate=1e-2, patience=4, device="cpu")
TRAIN, DEV = work.world(200, 0), work.world(40, 1)
INTERACTION = replace(SMALL, architecture="interaction", num_negatives=5)


def trained(
    folder: Path, options: RelevanceOptions = SMALL, how: TrainingOptions = HOW, **more: Any
) -> tuple[Relevance, list[str]]:
    said: list[str] = []
    return train_relevance(TRAIN, DEV, options, how, folder, on_message=said.append, **more), said


def mrr(relevance: Relevance) -> float:
    """Mean reciprocal rank of each dev comment among one comment of each other topic."""
    topics = [min(texts) for texts in texts_of(DEV.comments)]
    of_article = [min(texts) for texts in texts_of(DEV.articles)]
    one_each = [topics.index(topic) for topic in range(work.TOPICS)]
    rows = np.repeat(np.arange(len(of_article)), work.TOPICS)
    columns = np.tile(one_each, len(of_article))
    scores = relevance.score_pairs(DEV.articles, DEV.comments, rows, columns).reshape(-1, work.TOPICS)
    own = scores[np.arange(len(of_article)), of_article]
    return float((1 / (1 + (scores > own[:, None]).sum(1))).mean())


def texts_of(texts: Ragged) -> list[list[int]]:
    return [texts.ids[a:b].tolist() for a, b in zip(texts.offsets, texts.offsets[1:], strict=False)]


def vectors(relevance: Relevance, texts: Ragged) -> NDArray[np.float32]:
    return relevance.encode_comments(texts)


@pytest.mark.parametrize(
    "options",
    [
        SMALL,
        replace(SMALL, shared=False),
        replace(SMALL, loss="negative"),
        replace(SMALL, loss="negative", word_mean=False, filters=32),
        pytest.param(INTERACTION, marks=pytest.mark.slow),
    ],
    ids=lambda options: f"{options.architecture}-{options.loss}-{options.shared}-{options.word_mean}",
)
def test_it_learns_that_comments_hold_the_topic_s_word(tmp_path: Path, options: RelevanceOptions) -> None:
    relevance, _ = trained(tmp_path / "model", options)
    assert mrr(relevance) > (0.95 if options.word_mean else 0.75)  # 0.26 by chance


@pytest.mark.parametrize("options", [SMALL, INTERACTION], ids=["two-tower", "interaction"])
def test_saved_and_opened_it_gives_the_same_scores(tmp_path: Path, options: RelevanceOptions) -> None:
    relevance, _ = trained(tmp_path / "model", options, replace(HOW, epochs=1), metadata={"corpus": "abc"})
    opened = Relevance.open(tmp_path / "model")
    assert opened.options == options
    assert (vectors(opened, DEV.comments) == vectors(relevance, DEV.comments)).all()
    rows, columns = np.arange(40).repeat(3), np.arange(120)
    pairs = (DEV.articles, DEV.comments, rows, columns)
    assert (opened.score_pairs(*pairs) == relevance.score_pairs(*pairs)).all()
    names = sorted(path.name for path in (tmp_path / "model").iterdir())
    assert names == ["config.json", "metadata.json", "weights.safetensors"]
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_without_a_later_option_opens_with_its_default(tmp_path: Path) -> None:
    assert "word_mean" not in SMALL.recorded()  # so that default models are the same in all versions
    bare = replace(SMALL, word_mean=False)
    assert RelevanceOptions(**bare.recorded()) == bare  # type: ignore[arg-type]
    for options in (SMALL, bare):
        name = str(options.word_mean)
        relevance, _ = trained(tmp_path / name, options, replace(HOW, epochs=1))
        opened = Relevance.open(tmp_path / name)
        assert opened.options == options
        assert (opened.network.article.mean is None) == (opened.network.log_weights is None) == (name == "False")
        assert (vectors(opened, DEV.comments) == vectors(relevance, DEV.comments)).all()


def test_a_training_that_broke_off_goes_on_to_the_same_folder(tmp_path: Path) -> None:
    options, how = replace(SMALL, dropout=0.3, num_negatives=7), replace(HOW, epochs=2, eval_every=5)

    def watch(progress: Any) -> None:
        if progress.step == 18:
            raise KeyboardInterrupt

    trained(tmp_path / "whole", options, how)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "cut", options, how, on_progress=watch)
    assert not (tmp_path / "cut").exists()
    _, said = trained(tmp_path / "cut", options, how)
    assert said[0].startswith("resuming after step ")
    for path in (tmp_path / "whole").iterdir():
        assert path.read_bytes() == (tmp_path / "cut" / path.name).read_bytes()


def test_another_corpus_is_not_taken_for_the_one_that_was_begun_with(tmp_path: Path) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    how = replace(HOW, eval_every=1)
    with pytest.raises(KeyboardInterrupt):
        train_relevance(TRAIN, DEV, SMALL, how, tmp_path / "m", on_message=stop)
    with pytest.raises(UsageError, match=r"checkpoints of a training with data blake2b:\w+, not blake2b:\w+; resume"):
        train_relevance(DEV, DEV, SMALL, how, tmp_path / "m")
    with pytest.raises(UsageError, match="checkpoints of a training with output_dim 16, not 8; resume"):
        train_relevance(TRAIN, DEV, replace(SMALL, output_dim=8), how, tmp_path / "m")


def test_a_folder_that_is_there_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="already exists"):
        trained(tmp_path)


@pytest.mark.parametrize("k", [0, 4])
def test_no_comment_of_the_same_article_is_a_negative(k: int) -> None:
    owner = torch.tensor([0, 1, 0, 2, 0, 1])
    torch.manual_seed(0)
    for _ in range(20):
        which, counts = in_batch_negatives(owner, k)
        assert which.shape == counts.shape == (6, k or 6)
        for comment, (others, kept) in enumerate(zip(which, counts, strict=True)):
            assert not (owner[others[kept]] == owner[comment]).any()
            if k == 0:
                assert kept.sum() == (owner != owner[comment]).sum()
            else:
                assert kept.all()


def test_every_comment_of_another_article_is_drawn_as_often() -> None:
    torch.manual_seed(0)
    which, _ = in_batch_negatives(torch.tensor([0, 0, 1, 1, 2]), 20_000)
    shares = torch.bincount(which[0], minlength=5) / 20_000
    assert shares.tolist() == pytest.approx([0, 0, 1 / 3, 1 / 3, 1 / 3], abs=0.02)


@pytest.mark.parametrize("k", [0, 3])
@pytest.mark.parametrize("loss", ["softmax", "negative"])
def test_a_batch_of_one_article_has_no_negatives(k: int, loss: str) -> None:
    _, counts = in_batch_negatives(torch.zeros(4, dtype=torch.int64), k)
    assert not counts.any()
    scores = torch.randn(4, 1 + counts.shape[1])
    expected = 0.0 if loss == "softmax" else torch.nn.functional.softplus(-scores[:, 0]).mean().item()
    assert contrastive_loss(scores, counts, loss).item() == pytest.approx(expected, abs=1e-6)


def test_losses_are_what_they_say() -> None:
    scores = torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.0, 9.0]])
    counts = torch.tensor([[True, True], [True, False]])
    # -log(e^1 / (e^1 + e^2 + e^3)) = 2.407606, -log(e^.5 / (e^.5 + e^0)) = 0.474077
    assert contrastive_loss(scores, counts, "softmax").item() == pytest.approx((2.407606 + 0.474077) / 2, abs=1e-6)
    # log(1 + e^-1) + log(1 + e^2) + log(1 + e^3) = 5.488778, log(1 + e^-.5) + log(1 + e^0) = 1.167224
    assert contrastive_loss(scores, counts, "negative").item() == pytest.approx((5.488778 + 1.167224) / 2, abs=1e-6)


def test_two_threads_add_up_gradients_in_one_order() -> None:
    """So many pairs of so few texts that torch shares out the work, and all threads add to the same numbers."""
    torch.manual_seed(0)
    network = RelevanceNetwork(SMALL, 50).eval()
    article, comment = torch.randint(4, 50, (4, 5)), torch.randint(4, 50, (8, 5))
    rows, columns = torch.randint(4, (2**17,)), torch.randint(8, (2**17,))
    slopes = torch.randn(len(rows))
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        seen = set()
        for _ in range(20):
            network.zero_grad()
            network(article, comment, rows, columns).backward(slopes)
            assert network.words.weight.grad is not None
            seen.add(network.words.weight.grad.numpy().tobytes())
    finally:
        torch.set_num_threads(threads)
    assert len(seen) == 1


@pytest.mark.parametrize("options", [SMALL, INTERACTION], ids=["two-tower", "interaction"])
def test_filling_up_changes_no_score(options: RelevanceOptions) -> None:
    torch.manual_seed(0)
    network = RelevanceNetwork(options, 50).eval()
    article, comment = torch.randint(4, 50, (3, 6)), torch.randint(4, 50, (4, 5))
    rows, columns = torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 2, 3])
    filled = [torch.nn.functional.pad(ids, (0, 9), value=PAD) for ids in (article, comment)]
    expected = network(article, comment, rows, columns)
    torch.testing.assert_close(network(*filled, rows, columns), expected, rtol=1e-5, atol=1e-5)
    with torch.no_grad():
        network.words.weight[PAD] = 1e6
    torch.testing.assert_close(network(*filled, rows, columns), expected, rtol=1e-5, atol=1e-5)


def test_a_pair_s_score_is_the_same_in_every_way_of_asking(tmp_path: Path) -> None:
    relevance, _ = trained(tmp_path / "model", how=replace(HOW, epochs=1))
    articles = relevance.encode_articles(DEV.articles)
    matrix = relevance.score(articles, vectors(relevance, DEV.comments))
    rows, columns = np.divmod(np.arange(matrix.size), matrix.shape[1])
    found = relevance.score_pairs(DEV.articles, DEV.comments, rows, columns)
    np.testing.assert_allclose(found, matrix.ravel(), rtol=1e-5, atol=1e-5)
    alone = relevance.encode_articles(Ragged(DEV.articles.ids[:3], np.array([0, 3])))
    assert alone.shape == (1, SMALL.output_dim)
    assert alone.dtype == matrix.dtype == found.dtype == np.float32


def test_pairs_of_an_interaction_come_back_in_the_order_asked() -> None:
    relevance = Relevance(RelevanceNetwork(INTERACTION, 100).eval(), INTERACTION)
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 40, 600), rng.integers(0, 160, 600)
    found = relevance.score_pairs(DEV.articles, DEV.comments, rows, columns)
    for place in (0, 77, 599):
        one = relevance.score_pairs(DEV.articles, DEV.comments, rows[place : place + 1], columns[place : place + 1])
        assert one[0] == pytest.approx(found[place], abs=1e-4)
    with pytest.raises(UsageError, match="use score_pairs"):
        relevance.score(np.zeros((1, 16), np.float32), np.zeros((1, 16), np.float32))


def test_texts_without_words_and_no_texts_at_all_have_vectors() -> None:
    relevance = Relevance(RelevanceNetwork(SMALL, 100).eval(), SMALL)
    none = relevance.encode_comments(Ragged(np.zeros(0, np.int32), np.zeros(1, np.int64)))
    assert none.shape == (0, SMALL.output_dim)
    empty = relevance.encode_comments(Ragged(np.zeros(0, np.int32), np.zeros(3, np.int64)))
    assert empty.shape == (2, SMALL.output_dim)
    assert np.isfinite(empty).all()
    unknown = relevance.encode_comments(Ragged(np.full(2, 2**31 - 1, np.int32), np.array([0, 2])))
    assert np.isfinite(unknown).all()


def test_training_begins_with_the_vectors_that_are_given(tmp_path: Path) -> None:
    given = np.random.default_rng(0).normal(size=(60, 16)).astype(np.float32)
    given[7] = 0
    how = replace(HOW, epochs=1, steps=1, learning_rate=1e-9)
    relevance, _ = trained(tmp_path / "model", how=how, embeddings=given)
    words = relevance.network.words.weight.detach().numpy()[4:]
    lengths = np.linalg.norm(given, axis=1)
    np.testing.assert_allclose(words[8:60], given[8:] / lengths[lengths > 0].mean(), rtol=1e-5, atol=1e-6)
    assert words[7].any()
    with pytest.raises(UsageError, match=r"embeddings: expected float32\[words, 16\], got an array of shape \(3, 2\)"):
        trained(tmp_path / "other", embeddings=np.zeros((3, 2), np.float32))


def test_frequent_words_weigh_less() -> None:
    relevance = Relevance(RelevanceNetwork(SMALL, 100), SMALL)
    from postil.comments.nn.relevance import _initialize  # noqa: PLC0415

    texts = work.ragged([[0] * 999 + [1]])
    _initialize(relevance.network, Commented(texts, work.ragged([[]]), np.array([0, 1])), None)
    weights = relevance.network.log_weights.exp()
    assert weights[4].item() == pytest.approx((1e-3 / 0.999) ** 0.5)
    assert weights[5].item() == pytest.approx(1.0)


def test_one_article_is_too_few(tmp_path: Path) -> None:
    one = work.world(1, 0)
    with pytest.raises(UsageError, match="at least two articles"):
        train_relevance(one, DEV, SMALL, HOW, tmp_path / "model")
