"""Writing a text word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from postil.commenters.nn.attention import Attention
from postil.commenters.nn.encoder import recurrent

if TYPE_CHECKING:
    from postil.commenters.nn.attention import How
    from postil.commenters.nn.encoder import Cell

__all__ = ["Decoder", "Read", "State"]


class Read(NamedTuple):
    """Texts that were read, to be written about.

    Args:
        states: float[m, S, h].
        mask: bool[m, S], true at words; each text has one.
    """

    states: Tensor
    mask: Tensor


class State(NamedTuple):
    """Where a recurrent network stands.

    Args:
        hidden: float[layers, n, h].
        memory: float[layers, n, h] of an LSTM; None of a GRU.
    """

    hidden: Tensor
    memory: Tensor | None

    def of(self, rows: Tensor) -> State:
        """The same of some texts, in another order.

        Args:
            rows: int64[m].
        """
        return State(*(None if part is None else part.index_select(1, rows) for part in self))  # type: ignore[arg-type]


class Decoder(nn.Module):
    """Words so far to what the next word is drawn from.

    The recurrent network runs over all words at once, and attention comes after it (Luong et al. 2015, without input
    feeding), so that a text to train on takes no loop in Python.

    Args:
        size_in: Length of a word's vector, d.
        size: Length of a state, h.
        layers: How many lie above one another.
        cell: ``gru`` or ``lstm``.
        attention: ``dot``, ``additive``, or None: nothing is seen but the state that the encoder ends with.
        dropout: Between layers and before the output.
    """

    def __init__(
        self,
        size_in: int,
        size: int,
        layers: int = 1,
        cell: Cell = "gru",
        *,
        attention: How | None = "dot",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.first = nn.Linear(size, size)
        self.first_memory = nn.Linear(size, size) if cell == "lstm" else None
        self.network = recurrent(cell, size_in, size, layers, dropout)
        self.attention = Attention(size, attention) if attention else None
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(2 * size if attention else size, size_in)

    def begin(self, last: Tensor) -> State:
        """The state before the first word.

        Args:
            last: float[layers, n, h], where the encoder ended.
        """
        memory = None if self.first_memory is None else self.first_memory(last).tanh()
        return State(self.first(last).tanh(), memory)

    def forward(self, words: Tensor, state: State, read: Read | None) -> tuple[Tensor, State]:
        """Go on by some words.

        Args:
            words: float[n, L, d].
            state: The state before them.
            read: What is written about: text i // (n / m) by the one that writes text i. Not looked at without
                attention.

        Returns:
            float[n, L, d], to be multiplied with the vectors of all words; the state behind them.
        """
        start = state.hidden if state.memory is None else (state.hidden, state.memory)
        hidden, end = self.network(words, start)  # [n, L, h]
        if self.attention is not None and read is not None:
            asked = hidden.reshape(len(read.states), -1, hidden.shape[2])  # [m, n / m * L, h]
            seen, _ = self.attention(asked, read.states, read.mask)
            hidden = torch.cat([hidden, seen.view(hidden.shape)], dim=2)  # [n, L, 2 h]
        features: Tensor = self.out(self.dropout(hidden)).tanh()  # [n, L, d]
        return features, State(*end) if isinstance(end, tuple) else State(end, None)
