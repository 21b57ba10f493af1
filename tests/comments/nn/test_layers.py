"""Layers of the networks against plain readings of their formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[neural]'")

import torch
from torch import nn

from postil.comments.nn import recurrent
from postil.comments.nn.recurrent import Attending, Attention, Cell, Decoder, Dropout, Encoder
from postil.comments.nn.relevance import Convolutions, LateInteraction, masked_max, masked_mean

if TYPE_CHECKING:
    from torch import Tensor

    from postil.comments.nn.recurrent import DecoderState, Scoring


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


OF_STATES = (1, 4, 6)
SCORINGS = pytest.mark.parametrize("scoring", ["general", "additive"])


def asked() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    mask = torch.arange(6) < torch.tensor(OF_STATES)[:, None]
    return torch.randn(3, 2, 5), torch.randn(3, 6, 5), mask


@SCORINGS
def test_padding_gets_no_attention(scoring: Scoring) -> None:
    queries, states, mask = asked()
    attention = Attention(5, scoring)
    junk = torch.where(mask[:, :, None], states, torch.full_like(states, 1e4))
    more = torch.nn.functional.pad(states, (0, 0, 0, 3)), torch.nn.functional.pad(mask, (0, 3))
    expected, _ = attention(queries, states, mask)
    torch.testing.assert_close(attention(queries, junk, mask)[0], expected, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(attention(queries, *more)[0], expected, rtol=1e-5, atol=1e-6)
    alone = attention(queries[1:2], states[1:2, :4], mask[1:2, :4])[0]
    torch.testing.assert_close(alone[0], expected[1], rtol=1e-5, atol=1e-6)


@SCORINGS
def test_padding_gets_no_gradient(scoring: Scoring) -> None:
    queries, states, mask = asked()
    states.requires_grad_()
    Attention(5, scoring)(queries, states, mask)[0].sum().backward()
    assert states.grad is not None
    assert (states.grad[~mask] == 0).all()
    assert (states.grad[mask] != 0).any()


def test_scores_are_what_the_formulas_say() -> None:
    queries, states, mask = asked()
    for scoring in ("general", "additive"):
        attention = Attention(5, scoring)
        seen, weights = attention(queries, states, mask)
        assert not weights[~mask[:, None].expand_as(weights)].any()
        torch.testing.assert_close(seen, torch.einsum("nts,nsh->nth", weights, states), rtol=1e-5, atol=1e-6)
        for text, length in enumerate(OF_STATES):
            for place in range(2):
                query = attention.query.weight @ queries[text, place]
                if attention.key is None or attention.score is None:
                    scores = torch.stack([query @ state for state in states[text, :length]])
                else:
                    keys = [attention.key(state) for state in states[text, :length]]
                    scores = torch.stack([attention.score.weight[0] @ (query + key).tanh() for key in keys])
                torch.testing.assert_close(weights[text, place, :length], scores.softmax(0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("attention", ["general", "additive", "bahdanau"])
@pytest.mark.parametrize("owner", [[0, 1, 2], [2, 0, 2, 1, 2, 2, 2, 0], [1, 1, 0, 2], [2, 2, 1, 0, 0, 1]])
def test_texts_that_share_what_they_are_about_see_what_they_would_see_alone(
    attention: Attending, owner: list[int]
) -> None:
    _, states, mask = asked()
    decoder = Decoder(4, 5, attention=attention)
    words, rows = torch.randn(len(owner), 3, 4), torch.tensor(owner)
    state = decoder.initial_state(torch.randn(1, len(owner), 5))
    shared = decoder.read(states, mask, rows)
    assert len(shared.states) <= 2 * len(states)
    found, _ = decoder(words, state, shared)
    expected, _ = decoder(words, state, decoder.read(states[rows], mask[rows]))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


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
    source = {"states": states, "keys": read.keys, "mask": MASK, "owner": OWNER}
    outputs = recurrent.recur(decoder.network, weights, words, state, **source, dropout=decoder.between)
    return [output for output in outputs if output is not None]


@pytest.mark.parametrize("numbers", [1, 60, 2**18])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_states_and_gradients_are_those_of_the_formulas(
    monkeypatch: pytest.MonkeyPatch, cell: Cell, layers: int, numbers: int
) -> None:
    monkeypatch.setattr(recurrent, "_SCORES", numbers)  # one target at a time, some, or all at once
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


OF_TEXTS = (1, 2, 5, 3)
SHAPES = [("gru", 1, 6), ("gru", 2, 6), ("gru", 2, 7), ("lstm", 1, 6), ("lstm", 2, 7)]


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(len(OF_TEXTS), 5, 4), torch.arange(5) < torch.tensor(OF_TEXTS)[:, None]


@pytest.mark.parametrize(("cell", "layers", "size"), SHAPES)
def test_a_text_is_read_forwards_and_backwards(cell: Cell, layers: int, size: int) -> None:
    words, mask = batch()
    encoder = Encoder(4, size, layers, cell)
    states, last = encoder(words, mask)
    for row, length in enumerate(OF_TEXTS):
        expected, ends = words[row : row + 1, :length], []
        for ahead, back in zip(encoder.forwards, encoder.backwards, strict=True):
            one, other = ahead(expected)[0], back(expected.flip(1))[0]
            ends.append(torch.cat([one[0, -1], other[0, -1]]))
            expected = torch.cat([one, other.flip(1)], dim=2)
        torch.testing.assert_close(states[row, :length], expected[0], rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(last[:, row], torch.stack(ends), rtol=1e-5, atol=1e-6)


def test_a_text_without_words_is_read_as_one_word() -> None:
    words, mask = batch()
    encoder = Encoder(4, 6)
    _, last = encoder(words, torch.zeros_like(mask))
    _, expected = encoder(words[:, :1], torch.ones_like(mask[:, :1]))
    torch.testing.assert_close(last, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("attention", ["general", "additive", "bahdanau", None])
@pytest.mark.parametrize(("cell", "layers"), [("gru", 1), ("gru", 2), ("lstm", 2)])
def test_a_decoder_goes_on_word_by_word_as_it_does_all_at_once(cell: Cell, layers: int, attention: Any) -> None:
    words, mask = batch()
    decoder = Decoder(4, 6, layers, cell, attention=attention)
    read = decoder.read(torch.randn(2, 5, 6), mask[1:3])
    state = decoder.initial_state(torch.randn(layers, 4, 6))
    expected, end = decoder(words, state, read)
    found = []
    for place in range(5):
        features, state = decoder(words[:, place : place + 1], state, read)
        found.append(features)
    torch.testing.assert_close(torch.cat(found, dim=1), expected, rtol=1e-5, atol=1e-6)
    for one, two in zip(state, end, strict=True):
        assert (one is None) == (two is None) == (cell == "gru" and one is not state.hidden)
        if one is not None:
            torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-6)


def test_states_can_be_taken_in_another_order() -> None:
    decoder = Decoder(4, 6, 1, "lstm", attention=None)
    state = decoder.initial_state(torch.randn(1, 3, 6))
    other = state.select(torch.tensor([2, 0]))
    assert other.cell is not None
    assert torch.equal(other.hidden, state.hidden[:, [2, 0]])


@pytest.mark.parametrize("numbers", [1, 100, 2**18])
def test_gradients_of_the_scan_are_those_of_finite_differences(monkeypatch: pytest.MonkeyPatch, numbers: int) -> None:
    monkeypatch.setattr(recurrent, "_GATES", numbers)  # a word, some, or all at once
    torch.manual_seed(0)
    shapes = [(2, 4, 3, 12), (2, 12, 4), (2, 12), (2, 3, 4)]
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(recurrent._Scan.apply, inputs)


@pytest.mark.parametrize(("length", "texts"), [(1, 1), (7, 3), (90, 64)])
@pytest.mark.parametrize("networks", [1, 2])
def test_states_and_gradients_are_those_of_torch_s_own_network(networks: int, length: int, texts: int) -> None:
    torch.manual_seed(0)
    made = [nn.GRU(5, 16, num_layers=2, batch_first=True) for _ in range(networks)]
    words = torch.randn(networks, texts, length, 5)
    start = torch.randn(networks, 2, texts, 16)
    weight = torch.randn(networks, length, texts, 16)

    def gradients(states: Tensor) -> list[Tensor]:
        parameters = [weight for network in made for weight in network.parameters()]
        return [states, *torch.autograd.grad((states * weight).sum(), parameters)]

    first = recurrent.gru(made, 0, list(words), start[:, 0]).transpose(1, 2)
    found = gradients(recurrent.gru(made, 1, list(first), start[:, 1]))
    expected = gradients(
        torch.stack(
            [network(some, at)[0].transpose(0, 1) for network, some, at in zip(made, words, start, strict=True)]
        )
    )
    for one, two in zip(found, expected, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-3, atol=2e-4 * (length * texts) ** 0.5)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.999999])
def test_dropout_drops_its_share_and_keeps_the_mean(share: float) -> None:
    torch.manual_seed(0)
    numbers = torch.ones(401, 499, requires_grad=True)
    found = Dropout(share)(numbers)
    kept = (found != 0).double()
    assert kept.mean().item() == pytest.approx(1 - share, abs=0.004)
    # Neighbours, which may be drawn together, are dropped independently.
    both = (kept[:, 1:] * kept[:, :-1]).mean().item()
    assert both == pytest.approx((1 - share) ** 2, abs=0.005)
    if share < 0.9:
        assert found.mean().item() == pytest.approx(1, abs=0.01)
    assert torch.equal(torch.autograd.grad(found.sum(), numbers)[0], found.detach())
    assert torch.equal(Dropout(share).eval()(numbers), numbers)
    assert torch.equal(Dropout(0.0)(numbers), numbers)
