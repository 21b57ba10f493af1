"""Recurrent decoder, without attention or with it after or before a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from postil.comments.nn import bahdanau, scan
from postil.comments.nn.encoder import Dropout, recurrent

if TYPE_CHECKING:
    from postil.comments.nn.encoder import Cell

__all__ = ["Attending", "Attention", "Decoder", "DecoderState", "EncoderOutput", "Scoring"]

Scoring: TypeAlias = Literal["general", "additive"]
"""Scoring functions of a decoder that attends after its recurrent network."""
Attending: TypeAlias = Scoring | Literal["bahdanau"]
"""Forms of attention: a scoring function after the recurrent network, or the recurrence of Bahdanau et al. (2015)."""


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


class EncoderOutput(NamedTuple):
    """Encoder states that the decoder attends over; each source text has the same number of slots for target texts.

    Args:
        states: float[m, S, h].
        mask: bool[m, S], True at tokens; at least one per text.
        slots: int64[n], slot of each target text, among m * c; None where target i attends over source i.
        slots_per_text: Number of slots per source text, c; unused without ``slots``.
        keys: Keys of additive scores where a step needs them, float[m, S, h], computed once for all steps.
        owner: int64[n], source text of each target text, where there are keys; None where target i attends over source
            i * m // n.
    """

    states: Tensor
    mask: Tensor
    slots: Tensor | None = None
    slots_per_text: int = 0
    keys: Tensor | None = None
    owner: Tensor | None = None

    @classmethod
    def shared(cls, states: Tensor, mask: Tensor, owner: Tensor) -> EncoderOutput:
        """Encoder output for target texts that share source texts, without one copy of the states per target.

        Args:
            states: float[a, S, h].
            mask: bool[a, S].
            owner: int64[n], source text of each target text.
        """
        # Each source gets as many slots as a source has targets on average, and is repeated for targets beyond that:
        # at most twice as many rows as sources, however uneven the counts are.
        slots_per_text = -(-len(owner) // len(states))
        order = owner.argsort(stable=True)  # [n]
        counts = owner.bincount(minlength=len(states))  # [a]
        copies = -(-counts // slots_per_text)  # [a]
        rank = torch.arange(len(owner), device=owner.device) - (counts.cumsum(0) - counts)[owner[order]]
        slots = torch.empty_like(owner)
        slots[order] = ((copies.cumsum(0) - copies) * slots_per_text)[owner[order]] + rank
        rows = torch.arange(len(states), device=owner.device).repeat_interleave(copies)  # [m]
        return cls(states.index_select(0, rows), mask[rows], slots, slots_per_text)


class DecoderState(NamedTuple):
    """State of the recurrent network.

    Args:
        hidden: Hidden state, float[num_layers, n, h].
        cell: Cell state of an LSTM, float[num_layers, n, h]; None for a GRU.
    """

    hidden: Tensor
    cell: Tensor | None

    def select(self, rows: Tensor) -> DecoderState:
        """State of the given texts, in the given order.

        Args:
            rows: int64[m].
        """
        cell = None if self.cell is None else self.cell.index_select(1, rows)
        return DecoderState(self.hidden.index_select(1, rows), cell)


class Decoder(nn.Module):
    """Target prefixes to the features from which logits of the next token are computed.

    ``general`` and ``additive`` attention follows the recurrent network (Luong et al. 2015, without input feeding), so
    that training runs that network over all target tokens at once. With ``bahdanau`` the context of the state before
    feeds the network beside the token, and a maxout layer reads state, token and context (Bahdanau et al. 2015,
    appendix A).

    Args:
        embedding_dim: Length of a token embedding, d.
        hidden_size: Length of a state, h.
        num_layers: Number of stacked layers.
        cell: ``gru`` or ``lstm``.
        attention: Form of attention, or None: only the encoder's final state is seen.
        dropout: Dropout probability between layers and before the output.
    """

    def __init__(
        self,
        embedding_dim: int,
        hidden_size: int,
        num_layers: int = 1,
        cell: Cell = "gru",
        *,
        attention: Attending | None = "general",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.feeds_context = attention == "bahdanau"
        scoring = "additive" if attention == "bahdanau" else attention
        self.first = nn.Linear(hidden_size, hidden_size)
        self.first_memory = nn.Linear(hidden_size, hidden_size) if cell == "lstm" else None
        input_size = embedding_dim + hidden_size if self.feeds_context else embedding_dim
        self.network = recurrent(cell, input_size, hidden_size, num_layers, dropout)
        self.attention = Attention(hidden_size, scoring) if scoring else None
        self.between, self.dropout = Dropout(dropout), Dropout(dropout)
        if self.feeds_context:
            self.out = nn.Linear(2 * hidden_size + embedding_dim, 2 * embedding_dim)
        else:
            self.out = nn.Linear(2 * hidden_size if attention else hidden_size, embedding_dim)

    def initial_state(self, final: Tensor) -> DecoderState:
        """State before the first token.

        Args:
            final: Final state of the encoder, float[num_layers, n, h].
        """
        cell = None if self.first_memory is None else self.first_memory(final).tanh()
        return DecoderState(self.first(final).tanh(), cell)

    def read(self, states: Tensor, mask: Tensor, owner: Tensor | None = None) -> EncoderOutput:
        """Encoder output as this decoder attends over it.

        Args:
            states: float[m, S, h].
            mask: bool[m, S], True at tokens; at least one per text.
            owner: int64[n], source text of each target text; None where target i attends over source i * m // n.
        """
        if self.feeds_context and self.attention is not None and self.attention.key is not None:
            return EncoderOutput(states, mask, keys=self.attention.key(states), owner=owner)
        if self.attention is None or owner is None:
            return EncoderOutput(states, mask)
        return EncoderOutput.shared(states, mask, owner)

    def forward(
        self, embeddings: Tensor, state: DecoderState, encoded: EncoderOutput | None
    ) -> tuple[Tensor, DecoderState]:
        """Run the decoder over target tokens (teacher forcing).

        Args:
            embeddings: Embeddings of the target tokens, float[n, L, d].
            state: State before them.
            encoded: Encoder output, from `read`; ignored without attention.

        Returns:
            Features float[n, L, d], whose products with the embeddings are the logits; the state after the tokens.
        """
        if self.feeds_context:
            return self._feed_context(embeddings, state, encoded)
        hidden, end = self._recur(embeddings, state)  # [n, L, h]
        if self.attention is not None and encoded is not None:
            queries, m = hidden, len(encoded.states)
            if encoded.slots is not None:
                queries = hidden.new_zeros(m * encoded.slots_per_text, *hidden.shape[1:])
                queries = queries.index_copy(0, encoded.slots, hidden)
            # All targets of a source text become queries of one batch row: [m, c * L, h].
            context, _ = self.attention(queries.reshape(m, -1, hidden.shape[2]), encoded.states, encoded.mask)
            context = context.view(queries.shape)  # [m * c, L, h]
            if encoded.slots is not None:
                context = context[encoded.slots]
            hidden = torch.cat([hidden, context], dim=2)  # [n, L, 2 h]
        features: Tensor = self.out(self.dropout(hidden)).tanh()  # [n, L, d]
        return features, end

    def _feed_context(
        self, embeddings: Tensor, state: DecoderState, encoded: EncoderOutput | None
    ) -> tuple[Tensor, DecoderState]:
        """Features and state of `forward`, with the recurrence of Bahdanau et al. (2015)."""
        attention = self.attention
        assert encoded is not None and encoded.keys is not None  # noqa: PT018, S101 - for the type checker
        assert attention is not None and attention.score is not None  # noqa: PT018, S101
        owner, n, m = encoded.owner, len(embeddings), len(encoded.states)
        if owner is None:
            owner = torch.arange(m, device=embeddings.device).repeat_interleave(n // m)
        source = bahdanau.Source(encoded.states, encoded.keys, encoded.mask, owner)
        weights = attention.query.weight, attention.score.weight[0]
        hidden, context, end, end_cell = bahdanau.recur(
            self.network, weights, embeddings, state, source=source, dropout=self.between
        )
        read = torch.cat([hidden, embeddings, context], dim=2)  # [n, L, 2 h + d]
        return torch.maximum(*self.out(self.dropout(read)).chunk(2, dim=2)), DecoderState(end, end_cell)

    def _recur(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Top layer's hidden states float[n, L, h], and the state after the inputs."""
        network = self.network
        if not isinstance(network, nn.GRU) or inputs.device.type != "cpu":
            hidden, end = network(inputs, state.hidden if state.cell is None else (state.hidden, state.cell))
            return hidden, DecoderState(*end) if isinstance(end, tuple) else DecoderState(end, None)
        ends = []
        for layer, start in enumerate(state.hidden[:, None]):
            inputs = scan.gru([network], layer, [self.between(inputs) if layer else inputs], start)[0].transpose(0, 1)
            ends.append(inputs[:, -1])
        return inputs, DecoderState(torch.stack(ends), None)
