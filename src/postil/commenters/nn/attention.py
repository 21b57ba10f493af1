"""Where a decoder looks while it writes."""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

__all__ = ["Attention", "How"]

How: TypeAlias = Literal["dot", "additive"]


class Attention(nn.Module):
    """The mean of the states of a text, weighted by how well each answers a query.

    With query q and state s, ``dot`` has the score q W s with a learned matrix W, which Luong et al. (2015) call
    *general*; their *dot*, without W, is not offered. ``additive`` is the score v tanh(W q + U s) of Bahdanau et al.
    (2015); it takes many times the memory.

    Args:
        size: Length of a state and of a query, h.
        how: ``dot`` (Luong's *general*) or ``additive``.

    >>> attention = Attention(size=4)
    >>> found, weights = attention(torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.ones(2, 5, dtype=torch.bool))
    >>> found.shape, weights.shape
    (torch.Size([2, 3, 4]), torch.Size([2, 3, 5]))
    """

    def __init__(self, size: int, how: How = "dot") -> None:
        super().__init__()
        self.query = nn.Linear(size, size, bias=False)
        self.key = nn.Linear(size, size) if how == "additive" else None
        self.score = nn.Linear(size, 1, bias=False) if how == "additive" else None

    def forward(self, queries: Tensor, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Look.

        Args:
            queries: float[n, T, h].
            states: float[n, S, h].
            mask: bool[n, S], true at words; each text has one.

        Returns:
            float[n, T, h], and the weights float[n, T, S], which are 0 where no word is.
        """
        asked = self.query(queries)  # [n, T, h]
        if self.key is None or self.score is None:
            scores = torch.bmm(asked, states.transpose(1, 2))  # [n, T, S]
        else:
            keys = self.key(states)  # [n, S, h]
            # One query after the other: all together would be float[n, T, S, h].
            scores = torch.cat([self.score((one[:, None] + keys).tanh()).mT for one in asked.unbind(1)], dim=1)
        weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(2)  # [n, T, S]
        return torch.bmm(weights, states), weights
