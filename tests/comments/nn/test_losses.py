from __future__ import annotations

import math

import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[neural]'")

import torch
from torch.nn import functional

from postil.comments.nn import seq2seq
from postil.comments.nn.seq2seq import LogUniformSampler, Sampled, Seq2SeqNetwork
from postil.comments.nn.token_ids import BOS, PAD
from postil.comments.options import GeneratorOptions


def some(n: int = 6, vocabulary: int = 11, size: int = 3, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    torch.manual_seed(0)
    shapes = ((n, size), (vocabulary, size), (vocabulary,))
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


def targets(n: int = 6, vocabulary: int = 11) -> torch.Tensor:
    return torch.randint(vocabulary, (n,), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("rows", [1, 4, 256])
def test_gradients_are_those_of_finite_differences(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(seq2seq, "_ROWS", rows)
    assert torch.autograd.gradcheck(
        lambda *inputs: 3 * seq2seq.full_cross_entropy(*inputs, targets()), some(), eps=1e-5, atol=1e-4
    )


@pytest.mark.parametrize("n", [1, 256, 700])
def test_loss_and_gradients_are_those_of_a_plain_cross_entropy(n: int) -> None:
    inputs, words = some(n, 300, 16, torch.float32), targets(n, 300)
    found = seq2seq.full_cross_entropy(*inputs, words)
    expected = functional.cross_entropy(functional.linear(*inputs), words, reduction="sum")
    torch.testing.assert_close(found, expected)
    pairs = zip(torch.autograd.grad(found, inputs), torch.autograd.grad(expected, inputs), strict=True)
    for one, two in pairs:
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-4)
    with torch.no_grad():
        torch.testing.assert_close(seq2seq.full_cross_entropy(*inputs, words), expected)


def test_no_words_lose_nothing() -> None:
    features, weight, bias = some()
    loss = seq2seq.full_cross_entropy(features[:0], weight, bias, targets()[:0])
    assert loss.item() == 0
    assert not torch.autograd.grad(loss, weight)[0].any()


def sampled(inputs: list[torch.Tensor], words: torch.Tensor, drawn: Sampled) -> torch.Tensor:
    features, weight, bias = inputs
    return seq2seq.sampled_cross_entropy(
        features, weight[words], weight[drawn.tokens], bias, targets=words, sampled=drawn
    )


def negatives(count: int, vocabulary: int) -> LogUniformSampler:
    return LogUniformSampler(count, torch.arange(vocabulary))


def test_with_all_words_drawn_it_is_the_full_one() -> None:
    inputs, words = some(dtype=torch.float32), targets()
    everything = Sampled(torch.arange(11), torch.zeros(11))
    found, expected = sampled(inputs, words, everything), seq2seq.full_cross_entropy(*inputs, words)
    torch.testing.assert_close(found, expected)
    pairs = zip(torch.autograd.grad(found, inputs), torch.autograd.grad(expected, inputs), strict=True)
    for one, two in pairs:
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)


def test_drawn_words_stand_for_those_that_are_not() -> None:
    inputs, words = some(dtype=torch.float32), targets()
    pi = {0: 0.9, 3: 0.5, 7: 0.25}
    drawn = Sampled(torch.tensor(list(pi)), torch.tensor(list(pi.values())).log())
    scores = functional.linear(*inputs).exp().tolist()
    expected = 0.0
    for row, word in zip(scores, words.tolist(), strict=True):
        whole = row[word] + sum(row[other] / share for other, share in pi.items() if other != word)
        expected -= math.log(row[word] / whole)
    assert sampled(inputs, words, drawn).item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("count", [1, 5, 11])
def test_words_are_distinct_and_drawn_as_often_as_is_said(count: int) -> None:
    torch.manual_seed(0)
    vocabulary, rounds = 12, 2000
    source = negatives(count, vocabulary)
    seen = torch.zeros(vocabulary, dtype=torch.float64)
    for _ in range(rounds):
        drawn = source.sample()
        assert len(drawn.tokens) == count
        assert drawn.tokens.tolist() == sorted(set(drawn.tokens.tolist()))
        torch.testing.assert_close(drawn.log_pi, source.pi[drawn.tokens].log().float())
        seen[drawn.tokens] += 1
    assert source.pi.sum().item() == pytest.approx(count, abs=1e-9)
    assert (seen / rounds - source.pi).abs().max() < 0.04
    assert source.pi.tolist() == sorted(source.pi.tolist(), reverse=True)
    if count == 1:
        expected = [math.log((rank + 2) / (rank + 1)) / math.log(13) for rank in range(12)]
        assert source.pi.tolist() == pytest.approx(expected)


def touched(options: GeneratorOptions, vocabulary: int) -> set[int]:
    """The words whose score has a gradient in one batch of training."""
    torch.manual_seed(0)
    network = Seq2SeqNetwork(options, vocabulary).train()
    comment = torch.tensor([[5, 6, 7], [8, 0, 0]])
    loss, _ = network(torch.tensor([[9, 10]]), comment, torch.tensor([0, 0]))
    loss.backward()
    assert network.bias.grad is not None
    return set(network.bias.grad.nonzero()[:, 0].tolist())


def test_as_many_words_compete_as_the_option_says_and_no_word_that_is_never_written() -> None:
    found = touched(GeneratorOptions(hidden_size=4, embedding_dim=4, loss="sampled", num_sampled=500), 4000)
    assert not found & {PAD, BOS}
    assert 500 <= len(found) <= 505  # and the targets


@pytest.mark.parametrize("count", [18, 19, 1 << 24])
def test_a_vocabulary_without_more_words_than_are_drawn_has_the_full_loss(count: int) -> None:
    options = GeneratorOptions(hidden_size=4, embedding_dim=4, loss="sampled", num_sampled=count)
    assert touched(options, 20) == set(range(20))
    assert (
        Seq2SeqNetwork(options, 20).state_dict().keys()
        == Seq2SeqNetwork(GeneratorOptions(hidden_size=4, embedding_dim=4), 20).state_dict().keys()
    )
