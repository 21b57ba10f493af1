"""Attention of a decoder over encoder states."""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

__all__ = ["Attention", "Scoring"]

Scoring: TypeAlias = Literal["general", "additive"]
"""Scoring functions of a decoder that attends after its recurrent network."""


class Attention(nn.Module):
    """Context vectors: means of encoder states, weighted by the softmax of their attention scores.

    For a query q and a state s, ``general`` has the score q W s with a learned matrix W (Luong et al. 2015; their
    *dot*, without W, is not offered). ``additive`` has the score v tanh(W q + U s) of Bahdanau et al. (2015), which
    takes many times the memory.

    Args:
        hidden_size: Length of states and queries, h.
        scoring: Scoring function.

    >>> attention = Attention(hidden_size=4)
    >>> context, weights = attention(torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.ones(2, 5, dtype=torch.bool))
    >>> context.shape, weights.shape
    (torch.Size([2, 3, 4]), torch.Size([2, 3, 5]))
    """

    def __init__(self, hidden_size: int, scoring: Scoring = "general") -> None:
        super().__init__()
        additive = scoring == "additive"
        self.query = nn.Linear(hidden_size, hidden_size, bias=False)
        self.key = nn.Linear(hidden_size, hidden_size) if additive else None
        self.score = nn.Linear(hidden_size, 1, bias=False) if additive else None

    def forward(self, queries: Tensor, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Compute context vectors and attention weights for each query.

        Args:
            queries: float[n, T, h].
            states: float[n, S, h].
            mask: bool[n, S], True at tokens; at least one per text.

        Returns:
            Context vectors float[n, T, h] and attention weights float[n, T, S], which are 0 at padding.
        """
        projected = self.query(queries)  # [n, T, h]
        if self.key is None or self.score is None:
            scores = torch.bmm(projected, states.transpose(1, 2))  # [n, T, S]
        else:
            keys = self.key(states)  # [n, S, h]
            # One query position at a time: all at once would take float[n, T, S, h].
            scores = torch.cat([self.score((query[:, None] + keys).tanh()).mT for query in projected.unbind(1)], dim=1)
        weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(2)  # [n, T, S]
        return torch.bmm(weights, states), weights
