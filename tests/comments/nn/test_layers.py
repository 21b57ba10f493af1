from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[nn]'")

import torch
from torch import nn

from postil.comments.nn.relevance_network import Convolutions, LateInteraction, masked_max, masked_mean

LENGTHS = (1, 2, 5, 0, 3)


def texts(size: int = 4) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    mask = torch.arange(5) < torch.tensor(LENGTHS)[:, None]
    return torch.randn(len(LENGTHS), 5, size), mask


@pytest.mark.parametrize("junk", [1e9, -1e9, torch.inf, torch.nan])
def test_what_stands_at_padding_changes_nothing(junk: float) -> None:
    words, mask = texts()
    other = words.masked_fill(~mask[:, :, None], junk)
    layer = Convolutions(4, 6, (1, 2, 3))
    assert torch.equal(layer(words, mask), layer(other, mask))
    weights = torch.rand(mask.shape)
    assert torch.equal(masked_mean(words, weights, mask), masked_mean(other, weights, mask))
    assert torch.equal(masked_max(words, mask), masked_max(other, mask))
    match = LateInteraction(4, 6, (1, 2, 3))
    runs, others = match.ngrams(words, mask), match.ngrams(other, mask)
    assert torch.equal(match(runs, mask, weights, runs, mask), match(others, mask, weights, others, mask))


def test_more_padding_changes_nothing() -> None:
    words, mask = texts()
    layer, match = Convolutions(4, 6, (1, 2, 3)), LateInteraction(4, 6, (1, 2))
    alone = torch.cat(
        [layer(words[n : n + 1, : max(1, k)], mask[n : n + 1, : max(1, k)]) for n, k in enumerate(LENGTHS)]
    )
    torch.testing.assert_close(layer(words, mask), alone, rtol=1e-5, atol=1e-6)
    weights = torch.ones(mask.shape)
    runs = match.ngrams(words, mask)
    short = match.ngrams(words[:, :2], mask[:, :2])
    kept = torch.tensor([length <= 2 for length in LENGTHS])
    torch.testing.assert_close(
        match(runs, mask, weights, runs, mask)[kept],
        match(short, mask[:, :2], weights[:, :2], short, mask[:, :2])[kept],
        rtol=1e-5,
        atol=1e-6,
    )


def test_padding_cannot_win_where_all_windows_are_negative() -> None:
    _, mask = texts()
    layer = Convolutions(4, 1, (2,))
    linear = layer.filters[0]
    assert isinstance(linear, nn.Linear)
    nn.init.constant_(linear.weight, 0.0)
    nn.init.constant_(linear.bias, -3.0)
    values = masked_max(linear(torch.zeros(5, 5, 8)), mask)
    assert values.flatten().tolist() == [-3.0, -3.0, -3.0, 0.0, -3.0]


def test_it_is_the_convolution_that_torch_has() -> None:
    words, _ = texts()
    mask = torch.ones(5, 5, dtype=torch.bool)
    layer = Convolutions(4, 6, (3,))
    linear = layer.filters[0]
    assert isinstance(linear, nn.Linear)
    same = nn.Conv1d(4, 6, 3, padding=2)
    same.weight.data = linear.weight.data.view(6, 3, 4).transpose(1, 2)
    same.bias.data = linear.bias.data  # type: ignore[union-attr]
    expected = same(words.transpose(1, 2))[:, :, 2:].amax(2).relu()
    torch.testing.assert_close(layer(words, mask), expected)


def test_a_text_without_words_has_gradients_that_are_numbers() -> None:
    words, mask = texts()
    words.requires_grad_()
    layer = Convolutions(4, 6, (1, 3))
    (layer(words, mask).sum() + masked_mean(words, torch.ones(mask.shape), mask).sum()).backward()  # type: ignore[no-untyped-call]
    assert words.grad is not None
    assert words.grad.isfinite().all()
    assert not words.grad[~mask].any()


def test_matching_is_one_for_a_text_found_whole() -> None:
    words, mask = texts()
    match = LateInteraction(4, 6, (1, 2))
    runs = match.ngrams(words, mask)
    found = match(runs, mask, torch.ones(mask.shape), runs, mask) / match.mix.sum()
    assert found.tolist() == pytest.approx([1, 1, 1, 0, 1])
