"""Bidirectional recurrent encoder, and GRU layers on a CPU in fewer and larger matrix products than torch's.

torch multiplies the gradient of its weights anew at each time step. Here a step takes one product in the backward pass,
the gradient of the weights is one large product over many steps, and networks that run side by side (the two directions
of an encoder) share each step. Forward and backward over 400 tokens take about half the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Cell", "Dropout", "Encoder", "gru", "recurrent"]

_NUMBERS: Final = 2**18
"""Elements of the gate gradients that are computed at once: a chunk that fits the processor's cache."""


def gru(networks: Sequence[nn.GRU], layer: int, inputs: Sequence[Tensor], start: Tensor) -> Tensor:
    """Hidden states of one layer of several networks, each over its own inputs.

        r, z = sigmoid(input gates + hidden gates)
        m    = tanh(input gate + r * hidden gate)
        new  = (1 - z) * m + z * hidden

    Args:
        networks: k networks of one hidden size.
        layer: Index of the layer.
        inputs: Inputs of each network, float[n, L, d].
        start: Initial hidden states, float[k, n, h].

    Returns:
        float[k, L, n, h].

    >>> network = nn.GRU(3, 4, batch_first=True)
    >>> inputs = torch.randn(2, 5, 3)
    >>> torch.allclose(gru([network], 0, [inputs], torch.zeros(1, 2, 4))[0].mT, network(inputs)[0].permute(1, 2, 0))
    True
    """
    weights = [[getattr(network, f"{name}_l{layer}") for network in networks] for name in _NAMES]
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    gates = [functional.linear(x.transpose(0, 1), *both) for x, *both in zip(inputs, weight_ih, bias_ih, strict=True)]
    states: Tensor = _Scan.apply(*map(torch.stack, (gates, weight_hh, bias_hh)), start)  # type: ignore[no-untyped-call]
    return states


_NAMES: Final = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class _Scan(torch.autograd.Function):
    """Hidden states from input gates float[k, L, n, 3 h], hidden weights float[k, 3 h, h] and bias float[k, 3 h]."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, weight: Tensor, bias: Tensor, start: Tensor) -> Tensor:
        k, length, n, h = *gates.shape[:3], start.shape[2]
        states = gates.new_empty(k, length + 1, n, h)
        states[:, 0] = start
        both, middle, other = (gates.new_empty(k, length, n, size) for size in (2 * h, h, h))
        weight_t, bias = weight.mT, bias[:, None].expand(k, n, 3 * h).contiguous()
        hidden = torch.empty_like(bias)  # the hidden gates of one step, written anew in each
        hidden_rz, hidden_m = hidden[:, :, : 2 * h], hidden[:, :, 2 * h :]
        steps = (gates[..., : 2 * h], gates[..., 2 * h :], both, both[..., :h], both[..., h:], middle, other)
        before, after = states[:, :-1], states[:, 1:]
        # Every operation writes into memory that was allocated once: a step is too small to pay for allocations.
        for input_rz, input_m, rz, r, z, m, kept, old, new in zip(
            *(part.unbind(1) for part in (*steps, before, after)), strict=True
        ):
            torch.baddbmm(bias, old, weight_t, out=hidden)
            torch.add(input_rz, hidden_rz, out=rz).sigmoid_()
            kept.copy_(hidden_m)
            torch.addcmul(input_m, r, hidden_m, out=m).tanh_()
            torch.lerp(m, old, z, out=new)
        ctx.save_for_backward(both, middle, other, states, weight)
        return after

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
        both, middle, other, states, weight = ctx.saved_tensors
        k, length, n, h = middle.shape
        grad_gates = middle.new_empty(k, length, n, 3, h)
        grad_weight, grad_bias = torch.zeros_like(weight), weight.new_zeros(k, 3 * h)
        grad_state = torch.zeros_like(states[:, 0])  # what the steps after contribute
        chunk = max(1, min(length, _NUMBERS // (3 * k * n * h)))
        totals = middle.new_empty(k, chunk, n, h)
        for end in range(length, 0, -chunk):
            begin = max(0, end - chunk)
            r, z = both[:, begin:end, :, :h], both[:, begin:end, :, h:]
            m, old, here = middle[:, begin:end], states[:, begin:end], totals[:, : end - begin]
            # The derivatives of a step depend on forward values alone, so those of a chunk are computed at once and
            # only the recurrence remains in the loop.
            grad_m = (1 - z) * (1 - m * m)
            factors = torch.stack(
                [grad_m * other[:, begin:end] * r * (1 - r), (old - m) * z * (1 - z), grad_m * r], dim=3
            )
            piece = grad_gates[:, begin:end]
            parts = (grad[:, begin:end], here, factors, piece, piece.flatten(3), z)
            for given, total, factor, out, flat, keep in reversed(
                list(zip(*(part.unbind(1) for part in parts), strict=True))
            ):
                torch.add(given, grad_state, out=total)
                torch.mul(total[:, :, None], factor, out=out)
                torch.mul(total, keep, out=grad_state).baddbmm_(flat, weight)
            rows = piece.reshape(k, -1, 3 * h)
            grad_weight.baddbmm_(rows.mT, old.reshape(k, -1, h))
            grad_bias += rows.sum(1)
            torch.mul(here, grad_m, out=piece[:, :, :, 2])  # the input gate of m is not multiplied with r
        return grad_gates.flatten(3), grad_weight, grad_bias, grad_state


_STEPS: Final = 2**16
Cell: TypeAlias = Literal["gru", "lstm"]


class Dropout(nn.Dropout):
    """``nn.Dropout`` in a third of its CPU time: 16 random bits per element instead of 64.

    The dropout probability is rounded to a multiple of 2^-16.

    >>> Dropout(0.5).eval()(torch.ones(3)).tolist()
    [1.0, 1.0, 1.0]
    >>> set(Dropout(0.5)(torch.ones(100)).tolist()) == {0.0, 2.0}
    True
    """

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - torch's name
        """Zero elements at random in training.

        Args:
            input: float[...].
        """
        if not self.training or not self.p or input.device.type != "cpu":
            return super().forward(input)
        dropped, count = min(round(self.p * _STEPS), _STEPS - 1), input.numel()
        # One random int64 makes four int16, uniform over -2^15 … 2^15 - 1; the lowest `dropped` of these are zeroed.
        bits = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(2**63), None)
        kept = bits.view(torch.int16)[:count].view(input.shape) >= dropped - _STEPS // 2
        return input * kept.to(input.dtype).mul_(_STEPS / (_STEPS - dropped))


def recurrent(
    cell: Cell, input_size: int, hidden_size: int, num_layers: int = 1, dropout: float = 0.0
) -> nn.GRU | nn.LSTM:
    """Unidirectional recurrent network over float[n, L, input_size].

    Args:
        cell: ``gru`` or ``lstm``.
        input_size: Length of an input vector.
        hidden_size: Length of a state.
        num_layers: Number of stacked layers.
        dropout: Dropout probability between layers.
    """
    kind = nn.GRU if cell == "gru" else nn.LSTM
    return kind(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout if num_layers > 1 else 0.0)


class Encoder(nn.Module):
    """Bidirectional encoder: one state per token, and one final state per layer (Bahdanau et al. 2015, section 3.2).

    The backward network starts at the last token of each text, so padding changes nothing and texts need neither
    sorting nor packing.

    Args:
        embedding_dim: Length of a token embedding, d.
        hidden_size: Length of a state, h: half for each direction.
        num_layers: Number of stacked layers.
        cell: ``gru`` or ``lstm``.
        dropout: Dropout probability between layers.

    >>> encoder = Encoder(embedding_dim=4, hidden_size=6)
    >>> states, final = encoder(torch.randn(3, 5, 4), torch.ones(3, 5, dtype=torch.bool))
    >>> states.shape, final.shape
    (torch.Size([3, 5, 6]), torch.Size([1, 3, 6]))
    """

    def __init__(
        self, embedding_dim: int, hidden_size: int, num_layers: int = 1, cell: Cell = "gru", *, dropout: float = 0.0
    ) -> None:
        super().__init__()
        sizes = [embedding_dim, *[hidden_size] * (num_layers - 1)]
        self.forwards = nn.ModuleList(recurrent(cell, size, hidden_size - hidden_size // 2) for size in sizes)
        self.backwards = nn.ModuleList(recurrent(cell, size, hidden_size // 2) for size in sizes)
        self.dropout = Dropout(dropout)

    def forward(self, embeddings: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Encode texts.

        Args:
            embeddings: float[n, L, d].
            mask: bool[n, L], True at tokens, right-padded. An empty text is encoded as one token.

        Returns:
            States float[n, L, h], and the final state of each layer, float[num_layers, n, h].
        """
        lengths = mask.sum(1).clamp_min(1)  # [n]
        positions = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)  # [n, L]
        inside = positions < lengths[:, None]  # [n, L]
        # Reverses each text within its own length and leaves padding where it is; its own inverse.
        reverse = torch.where(inside, lengths[:, None] - 1 - positions, positions)  # [n, L]
        rows = torch.arange(len(mask), device=mask.device)
        states, final = embeddings, []
        for layer, (ahead, back) in enumerate(zip(self.forwards, self.backwards, strict=True)):
            if layer:
                states = self.dropout(states)
            left, right = _both_directions(ahead, back, states, _take(states, reverse))  # each [n, L, h / 2]
            ends = [part[rows, lengths - 1] for part in (left, right)]  # each [n, h / 2]
            final.append(torch.cat(ends, dim=1))  # [n, h]
            states = torch.cat([left, _take(right, reverse)], dim=2)  # [n, L, h]
        return states, torch.stack(final)


def _both_directions(ahead: nn.Module, back: nn.Module, states: Tensor, reversed_: Tensor) -> tuple[Tensor, Tensor]:
    """States of both networks, the second over reversed texts."""
    networks = [network for network in (ahead, back) if isinstance(network, nn.GRU)]
    if len({network.hidden_size for network in networks}) == 1 and states.device.type == "cpu":
        start = states.new_zeros(2, len(states), networks[0].hidden_size)
        left, right = gru(networks, 0, [states, reversed_], start).transpose(1, 2)
        return left, right
    return ahead(states)[0], back(reversed_)[0]


def _take(values: Tensor, positions: Tensor) -> Tensor:
    """``out[i, j] = values[i, positions[i, j]]`` for float[n, L, d] and int64[n, L]."""
    return values.gather(1, positions[:, :, None].expand(-1, -1, values.shape[2]))
