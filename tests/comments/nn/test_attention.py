from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[nn]'")

import torch

from postil.comments.nn.decoder import Attending, Attention, Decoder

if TYPE_CHECKING:
    from postil.comments.nn.decoder import Scoring

LENGTHS = (1, 4, 6)
SCORINGS = pytest.mark.parametrize("scoring", ["general", "additive"])


def asked() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    mask = torch.arange(6) < torch.tensor(LENGTHS)[:, None]
    return torch.randn(3, 2, 5), torch.randn(3, 6, 5), mask


@SCORINGS
def test_weights_are_shares_of_the_words_alone(scoring: Scoring) -> None:
    queries, states, mask = asked()
    found, weights = Attention(5, scoring)(queries, states, mask)
    assert (weights[~mask[:, None].expand_as(weights)] == 0).all()
    assert (weights[mask[:, None].expand_as(weights)] > 0).all()
    torch.testing.assert_close(weights.sum(2), torch.ones(3, 2))
    torch.testing.assert_close(found, torch.einsum("nts,nsh->nth", weights, states), rtol=1e-5, atol=1e-6)


@SCORINGS
def test_what_stands_at_padding_changes_nothing(scoring: Scoring) -> None:
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
        _, weights = attention(queries, states, mask)
        for text, length in enumerate(LENGTHS):
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
