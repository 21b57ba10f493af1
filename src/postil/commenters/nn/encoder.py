"""Reading a text: a recurrent network in both directions."""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from postil.commenters.nn import scan
from postil.commenters.nn.dropout import Dropout

__all__ = ["Cell", "Encoder", "recurrent"]

Cell: TypeAlias = Literal["gru", "lstm"]


def recurrent(cell: Cell, size_in: int, size: int, layers: int = 1, dropout: float = 0.0) -> nn.GRU | nn.LSTM:
    """A recurrent network in one direction, over float[n, L, size_in].

    Args:
        cell: ``gru`` or ``lstm``.
        size_in: Length of a word's vector.
        size: Length of a state.
        layers: How many lie above one another.
        dropout: Between them.
    """
    kind = nn.GRU if cell == "gru" else nn.LSTM
    return kind(size_in, size, layers, batch_first=True, dropout=dropout if layers > 1 else 0.0)


class Encoder(nn.Module):
    """Texts to a state a word, and one for the whole.

    Each layer reads forwards and backwards (Bahdanau et al. 2015, section 3.2). Backwards it begins at the last word of
    each text, wherever that stands, so that what is filled up changes nothing; texts need no sorting and no packing.

    Args:
        size_in: Length of a word's vector, d.
        size: Length of a state, h: half for either direction.
        layers: How many lie above one another.
        cell: ``gru`` or ``lstm``.
        dropout: Between layers.

    >>> encoder = Encoder(size_in=4, size=6)
    >>> states, last = encoder(torch.randn(3, 5, 4), torch.ones(3, 5, dtype=torch.bool))
    >>> states.shape, last.shape
    (torch.Size([3, 5, 6]), torch.Size([1, 3, 6]))
    """

    def __init__(self, size_in: int, size: int, layers: int = 1, cell: Cell = "gru", *, dropout: float = 0.0) -> None:
        super().__init__()
        sizes = [size_in, *[size] * (layers - 1)]
        self.forwards = nn.ModuleList(recurrent(cell, before, size - size // 2) for before in sizes)
        self.backwards = nn.ModuleList(recurrent(cell, before, size // 2) for before in sizes)
        self.dropout = Dropout(dropout)

    def forward(self, words: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Read texts.

        Args:
            words: float[n, L, d].
            mask: bool[n, L], true at words, which stand in front. A text without words is read as one word.

        Returns:
            States float[n, L, h]; of each layer those after all words, float[layers, n, h].
        """
        lengths = mask.sum(1).clamp_min(1)  # [n]
        places = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)  # [n, L]
        inside = places < lengths[:, None]  # [n, L]
        turned = torch.where(inside, lengths[:, None] - 1 - places, places)  # [n, L]
        rows = torch.arange(len(mask), device=mask.device)
        states, last = words, []
        for number, (ahead, back) in enumerate(zip(self.forwards, self.backwards, strict=True)):
            if number:
                states = self.dropout(states)
            one, other = _both(ahead, back, states, _taken(states, turned))  # each [n, L, h / 2]
            ends = [part[rows, lengths - 1] for part in (one, other)]  # each [n, h / 2]
            last.append(torch.cat(ends, dim=1))  # [n, h]
            states = torch.cat([one, _taken(other, turned)], dim=2)  # [n, L, h]
        return states, torch.stack(last)


def _both(ahead: nn.Module, back: nn.Module, states: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    """The states of two networks, the second over texts with the last word first."""
    two = [network for network in (ahead, back) if isinstance(network, nn.GRU)]
    if len({network.hidden_size for network in two}) == 1 and states.device.type == "cpu":
        start = states.new_zeros(2, len(states), two[0].hidden_size)
        one, other = scan.gru(two, 0, [states, turned], start).transpose(1, 2)
        return one, other
    return ahead(states)[0], back(turned)[0]


def _taken(values: Tensor, places: Tensor) -> Tensor:
    """``out[i, j] = values[i, places[i, j]]``, of float[n, L, d] and int64[n, L]."""
    return values.gather(1, places[:, :, None].expand(-1, -1, values.shape[2]))
