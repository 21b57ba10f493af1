from __future__ import annotations

import math

import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[nn]'")

import torch
from torch.nn import functional

from postil.commenters.nn import softmax
from postil.commenters.nn.softmax import Drawn


def some(n: int = 6, vocabulary: int = 11, size: int = 3, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    torch.manual_seed(0)
    shapes = ((n, size), (vocabulary, size), (vocabulary,))
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


def targets(n: int = 6, vocabulary: int = 11) -> torch.Tensor:
    return torch.randint(vocabulary, (n,), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("rows", [1, 4, 256])
def test_gradients_are_those_of_finite_differences(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(softmax, "_ROWS", rows)
    assert torch.autograd.gradcheck(lambda *inputs: 3 * softmax.full(*inputs, targets()), some(), eps=1e-5, atol=1e-4)


@pytest.mark.parametrize("n", [1, 256, 700])
def test_loss_and_gradients_are_those_of_a_plain_cross_entropy(n: int) -> None:
    inputs, words = some(n, 300, 16, torch.float32), targets(n, 300)
    found = softmax.full(*inputs, words)
    expected = functional.cross_entropy(functional.linear(*inputs), words, reduction="sum")
    torch.testing.assert_close(found, expected)
    pairs = zip(torch.autograd.grad(found, inputs), torch.autograd.grad(expected, inputs), strict=True)
    for one, two in pairs:
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-4)
    with torch.no_grad():
        torch.testing.assert_close(softmax.full(*inputs, words), expected)


def test_no_words_lose_nothing() -> None:
    features, weight, bias = some()
    loss = softmax.full(features[:0], weight, bias, targets()[:0])
    assert loss.item() == 0
    assert not torch.autograd.grad(loss, weight)[0].any()


def sampled(inputs: list[torch.Tensor], words: torch.Tensor, drawn: Drawn) -> torch.Tensor:
    features, weight, bias = inputs
    return softmax.sampled(features, weight[words], weight[drawn.words], bias, targets=words, drawn=drawn)


def test_with_all_words_drawn_it_is_the_full_one() -> None:
    inputs, words = some(dtype=torch.float32), targets()
    everything = Drawn(torch.arange(11), 10**9, 11)
    assert everything.expected(everything.words).abs().max() < 1e-6
    found, expected = sampled(inputs, words, everything), softmax.full(*inputs, words)
    torch.testing.assert_close(found, expected)
    pairs = zip(torch.autograd.grad(found, inputs), torch.autograd.grad(expected, inputs), strict=True)
    for one, two in pairs:
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)


def test_it_is_the_softmax_over_the_word_and_those_drawn() -> None:
    inputs, words = some(dtype=torch.float32), targets()
    drawn = Drawn(torch.tensor([0, 3, 7]), 5, 11)
    scores = functional.linear(*inputs) - drawn.expected(torch.arange(11))
    expected = 0.0
    for row, word in enumerate(words.tolist()):
        among = sorted({word, 0, 3, 7})
        expected -= scores[row, among].log_softmax(0)[among.index(word)].item()
    assert sampled(inputs, words, drawn).item() == pytest.approx(expected, rel=1e-5)


def test_its_gradient_in_the_mean_is_near_the_full_one_s() -> None:
    torch.manual_seed(3)
    inputs = [(part.detach() / 2).requires_grad_() for part in some(40, 60, 8, torch.float32)]
    words = targets(40, 60)

    def apart(tries: int, draws: int) -> float:
        torch.manual_seed(4)
        expected = torch.autograd.grad(softmax.full(*inputs, words), inputs[0])[0]
        total = torch.zeros_like(expected)
        for _ in range(draws):
            drawn = Drawn.of(tries, 60, torch.device("cpu"))
            total += torch.autograd.grad(sampled(inputs, words, drawn), inputs[0])[0]
        return float((total / draws - expected).norm() / expected.norm())

    assert apart(60, 100) < 0.15
    assert apart(600, 50) < 0.03 < apart(3, 100)


def test_words_are_drawn_as_often_as_is_said() -> None:
    torch.manual_seed(0)
    vocabulary, tries, rounds = 12, 5, 2000
    seen = torch.zeros(vocabulary)
    for _ in range(rounds):
        drawn = Drawn.of(tries, vocabulary, torch.device("cpu"))
        assert drawn.words.tolist() == sorted(set(drawn.words.tolist()))
        seen[drawn.words] += 1
    expected = drawn.expected(torch.arange(vocabulary)).exp()
    assert (seen / rounds).tolist() == pytest.approx(expected.tolist(), abs=0.035)
    share = math.log(2) / math.log(vocabulary + 1)  # of word 0, by Zipf's law
    assert expected[0].item() == pytest.approx(1 - (1 - share) ** tries, rel=1e-5)
