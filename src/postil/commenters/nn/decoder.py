"""Writing a text word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from postil.commenters.nn import scan
from postil.commenters.nn.attention import Attention
from postil.commenters.nn.dropout import Dropout
from postil.commenters.nn.encoder import recurrent

if TYPE_CHECKING:
    from postil.commenters.nn.attention import How
    from postil.commenters.nn.encoder import Cell

__all__ = ["Decoder", "Read", "State"]


class Read(NamedTuple):
    """Texts that were read, to be written about; each has as many places for texts that are written about it.

    Args:
        states: float[m, S, h].
        mask: bool[m, S], true at words; each text has one.
        places: int64[n], the place of each text that is written, among m * c; None where text i has place i.
        each: How many places a text has, c; not needed without ``places``.
    """

    states: Tensor
    mask: Tensor
    places: Tensor | None = None
    each: int = 0

    @classmethod
    def shared(cls, states: Tensor, mask: Tensor, owner: Tensor) -> Read:
        """What texts that are written look at, without a copy for each of them.

        A text has as many places as are needed on the average, and stands there again for those beyond.

        Args:
            states: float[a, S, h].
            mask: bool[a, S].
            owner: int64[n], which text each looks at.
        """
        each = -(-len(owner) // len(states))
        order = owner.argsort(stable=True)  # [n]
        counts = owner.bincount(minlength=len(states))  # [a]
        copies = -(-counts // each)  # [a]
        number = torch.arange(len(owner), device=owner.device) - (counts.cumsum(0) - counts)[owner[order]]
        places = torch.empty_like(owner)
        places[order] = ((copies.cumsum(0) - copies) * each)[owner[order]] + number
        rows = torch.arange(len(states), device=owner.device).repeat_interleave(copies)  # [m]
        return cls(states.index_select(0, rows), mask[rows], places, each)


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
        attention: ``dot`` (Luong's *general*), ``additive`` (Bahdanau's score), or None: nothing is seen but the state
            that the encoder ends with.
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
        self.between, self.dropout = Dropout(dropout), Dropout(dropout)
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
            read: What is written about. Not looked at without attention.

        Returns:
            float[n, L, d], to be multiplied with the vectors of all words; the state behind them.
        """
        hidden, behind = self._go_on(words, state)  # [n, L, h]
        if self.attention is not None and read is not None:
            asked, m = hidden, len(read.states)
            if read.places is not None:
                asked = hidden.new_zeros(m * read.each, *hidden.shape[1:]).index_copy(0, read.places, hidden)
            seen, _ = self.attention(asked.reshape(m, -1, hidden.shape[2]), read.states, read.mask)  # [m, c * L, h]
            seen = seen.view(asked.shape)  # [m * c, L, h]
            if read.places is not None:
                seen = seen[read.places]
            hidden = torch.cat([hidden, seen], dim=2)  # [n, L, 2 h]
        features: Tensor = self.out(self.dropout(hidden)).tanh()  # [n, L, d]
        return features, behind

    def _go_on(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        """The states float[n, L, h] of the uppermost layer, and the state behind the words."""
        network = self.network
        if not isinstance(network, nn.GRU) or words.device.type != "cpu":
            hidden, end = network(words, state.hidden if state.memory is None else (state.hidden, state.memory))
            return hidden, State(*end) if isinstance(end, tuple) else State(end, None)
        ends = []
        for layer, start in enumerate(state.hidden[:, None]):
            words = scan.gru([network], layer, [self.between(words) if layer else words], start)[0].transpose(0, 1)
            ends.append(words[:, -1])
        return words, State(torch.stack(ends), None)
