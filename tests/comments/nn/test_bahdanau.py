from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[nn]'")

import torch
from torch import nn

from postil.comments.nn import bahdanau
from postil.comments.nn.decoder import Decoder

if TYPE_CHECKING:
    from torch import Tensor

    from postil.comments.nn.decoder import DecoderState
    from postil.comments.nn.encoder import Cell

OWNER = torch.tensor([2, 0, 2, 1, 2, 2, 0, 2])
MASK = torch.arange(5) < torch.tensor([1, 3, 5])[:, None]
NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def plain(decoder: Decoder, words: Tensor, state: DecoderState, states: Tensor) -> list[Tensor]:
    """The formulas of appendix A, a step at a time: states, contexts, and the state at the end."""
    attention, network = decoder.attention, decoder.network
    assert attention is not None
    assert attention.key is not None
    assert attention.score is not None
    hidden, cell = list(state.hidden), None if state.cell is None else list(state.cell)
    tops, contexts = [], []
    for word in words.unbind(1):
        inside = attention.query(hidden[-1])[:, None] + attention.key(states)[OWNER]
        scores = attention.score(inside.tanh())[:, :, 0].masked_fill(~MASK[OWNER], -torch.inf)
        contexts.append(torch.einsum("ns,nsh->nh", scores.softmax(1), states[OWNER]))
        below = torch.cat([word, contexts[-1]], dim=1)
        for layer in range(network.num_layers):
            weights = [getattr(network, f"{name}_l{layer}") for name in NAMES]
            if cell is None:
                hidden[layer] = torch.gru_cell(below, hidden[layer], *weights)
            else:
                hidden[layer], cell[layer] = torch.lstm_cell(below, (hidden[layer], cell[layer]), *weights)
            below = hidden[layer]
        tops.append(below)
    ends = [torch.stack(hidden), *([] if cell is None else [torch.stack(cell)])]
    return [torch.stack(tops, 1), torch.stack(contexts, 1), *ends]


def made(cell: Cell, layers: int, dtype: torch.dtype = torch.float64) -> tuple[Decoder, Tensor, DecoderState, Tensor]:
    torch.manual_seed(0)
    decoder = Decoder(4, 6, layers, cell, attention="bahdanau").to(dtype)
    words, states, final = (torch.randn(shape, dtype=dtype) for shape in ((8, 3, 4), (3, 5, 6), (layers, 8, 6)))
    return decoder, words.requires_grad_(), decoder.initial_state(final), states.requires_grad_()


def found(decoder: Decoder, words: Tensor, state: DecoderState, states: Tensor) -> list[Tensor]:
    read, attention = decoder.read(states, MASK, OWNER), decoder.attention
    assert read.keys is not None
    assert attention is not None
    assert attention.score is not None
    weights = attention.query.weight, attention.score.weight[0]
    source = bahdanau.Source(states, read.keys, MASK, OWNER)
    outputs = bahdanau.recur(decoder.network, weights, words, state, source=source, dropout=decoder.between)
    return [output for output in outputs if output is not None]


@pytest.mark.parametrize("numbers", [1, 60, 2**18])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_states_and_gradients_are_those_of_the_formulas(
    monkeypatch: pytest.MonkeyPatch, cell: Cell, layers: int, numbers: int
) -> None:
    monkeypatch.setattr(bahdanau, "_NUMBERS", numbers)  # one target at a time, some, or all at once
    decoder, words, state, states = made(cell, layers)
    parameters = [words, states, *(each for name, each in decoder.named_parameters() if "out" not in name)]
    ours, expected = (outputs(decoder, words, state, states) for outputs in (found, plain))
    factors = [torch.randn_like(each) for each in expected]

    def gradients(outputs: list[Tensor]) -> tuple[Tensor, ...]:
        total = sum((one * two).sum() for one, two in zip(outputs, factors, strict=True))
        assert isinstance(total, torch.Tensor)
        return torch.autograd.grad(total, parameters, retain_graph=True)

    for one, two in zip([*ours, *gradients(ours)], [*expected, *gradients(expected)], strict=True):
        torch.testing.assert_close(one, two, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_gradients_are_those_of_finite_differences(cell: Cell) -> None:
    decoder, words, state, states = made(cell, 2)

    def outputs(words: Tensor, states: Tensor) -> tuple[Tensor, ...]:
        return tuple(found(decoder, words, state, states))

    assert torch.autograd.gradcheck(outputs, (words, states))


def test_dropout_between_layers_is_in_the_gradients_too() -> None:
    decoder, words, state, states = made("gru", 2)
    decoder.between = nn.Dropout(0.5)  # type: ignore[assignment]

    def outputs(words: Tensor, states: Tensor) -> Tensor:
        torch.manual_seed(1)
        return found(decoder, words, state, states)[0]

    assert torch.autograd.gradcheck(outputs, (words, states))
    assert not torch.equal(outputs(words, states), plain(decoder, words, state, states)[0])


def test_scores_out_of_proportion_are_finite_and_right() -> None:
    decoder, words, state, states = made("gru", 1, torch.float32)
    attention = decoder.attention
    assert attention is not None
    assert attention.key is not None
    with torch.no_grad():
        attention.key.weight *= 300
        attention.query.weight *= 300
        keys, queries = attention.key(states), attention.query(state.hidden[-1])
        assert keys.abs().max() > 88  # whose exponential is infinite in single precision
        assert queries.abs().max() > 88
    ours = found(decoder, words, state, states)
    for one, two in zip(ours, plain(decoder, words, state, states), strict=True):
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)
    assert all(grad.isfinite().all() for grad in torch.autograd.grad(ours[0].sum(), [words, states]))


def test_mixed_precision_gives_about_the_same() -> None:
    decoder, words, state, states = made("gru", 2, torch.float32)
    expected, _ = decoder(words, state, decoder.read(states, MASK, OWNER))
    with torch.autocast("cpu", torch.bfloat16):
        features, _ = decoder(words, state, decoder.read(states, MASK, OWNER))
    assert features.dtype == torch.bfloat16
    torch.testing.assert_close(features.float(), expected, rtol=0.05, atol=0.05)
    features.float().sum().backward()
    assert all(each.grad is not None and each.grad.isfinite().all() for each in decoder.parameters())


def test_the_output_is_a_maxout_of_state_token_and_context() -> None:
    decoder, words, state, states = made("lstm", 1)
    features, _ = decoder(words, state, decoder.read(states, MASK, OWNER))
    tops, contexts, *_ = plain(decoder, words, state, states)
    both = decoder.out(torch.cat([tops, words, contexts], dim=2))
    torch.testing.assert_close(features, torch.stack([both[:, :, :4], both[:, :, 4:]]).amax(0))
