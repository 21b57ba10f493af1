from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[nn]'")

import torch

from postil.comments.nn.decoder import Decoder
from postil.comments.nn.encoder import Cell, Encoder

LENGTHS = (1, 2, 5, 3)
SHAPES = [("gru", 1, 6), ("gru", 2, 6), ("gru", 2, 7), ("lstm", 1, 6), ("lstm", 2, 7)]


def texts() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(len(LENGTHS), 5, 4), torch.arange(5) < torch.tensor(LENGTHS)[:, None]


@pytest.mark.parametrize(("cell", "layers", "size"), SHAPES)
def test_a_text_is_read_forwards_and_backwards(cell: Cell, layers: int, size: int) -> None:
    words, mask = texts()
    encoder = Encoder(4, size, layers, cell)
    states, last = encoder(words, mask)
    for row, length in enumerate(LENGTHS):
        expected, ends = words[row : row + 1, :length], []
        for ahead, back in zip(encoder.forwards, encoder.backwards, strict=True):
            one, other = ahead(expected)[0], back(expected.flip(1))[0]
            ends.append(torch.cat([one[0, -1], other[0, -1]]))
            expected = torch.cat([one, other.flip(1)], dim=2)
        torch.testing.assert_close(states[row, :length], expected[0], rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(last[:, row], torch.stack(ends), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("cell", "layers", "size"), SHAPES)
def test_what_stands_behind_a_text_changes_nothing(cell: Cell, layers: int, size: int) -> None:
    words, mask = texts()
    encoder = Encoder(4, size, layers, cell)
    states, last = encoder(words, mask)
    junk = torch.where(mask[:, :, None], words, torch.full_like(words, 1e3))
    others = [
        encoder(junk, mask),
        encoder(*(torch.nn.functional.pad(p, f) for p, f in ((words, (0, 0, 0, 9)), (mask, (0, 9))))),
    ]
    for found, end in others:
        torch.testing.assert_close(end, last, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(found[:, :5][mask], states[mask], rtol=1e-5, atol=1e-6)


def test_a_text_without_words_is_read_as_one_word() -> None:
    words, mask = texts()
    encoder = Encoder(4, 6)
    _, last = encoder(words, torch.zeros_like(mask))
    _, expected = encoder(words[:, :1], torch.ones_like(mask[:, :1]))
    torch.testing.assert_close(last, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("attention", ["general", "additive", "bahdanau", None])
@pytest.mark.parametrize(("cell", "layers"), [("gru", 1), ("gru", 2), ("lstm", 2)])
def test_a_decoder_goes_on_word_by_word_as_it_does_all_at_once(cell: Cell, layers: int, attention: Any) -> None:
    words, mask = texts()
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
