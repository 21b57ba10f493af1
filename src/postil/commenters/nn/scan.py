"""Gated recurrent units on a CPU, in fewer and larger steps than torch takes.

torch's own network multiplies the gradient of its weights anew for each word. Here a word takes one multiplication on
the way back, the gradient of the weights is one large product of many words, and networks that read side by side (the
two directions of an encoder) share each step. Reading 400 words and back takes about half the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["gru"]

_NUMBERS: Final = 2**18
"""So many numbers of a gradient are worked out together: a piece that stays near the processor."""


def gru(networks: Sequence[nn.GRU], layer: int, inputs: Sequence[Tensor], start: Tensor) -> Tensor:
    """The states of a layer of some networks, each over its own texts.

        r, z = sigmoid(gates of the word + gates of the state)
        m    = tanh(gate of the word + r * gate of the state)
        new  = (1 - z) * m + z * state

    Args:
        networks: k networks of one size.
        layer: Which of their layers.
        inputs: What each reads, float[n, L, d].
        start: The states before it, float[k, n, h].

    Returns:
        float[k, L, n, h].

    >>> network = nn.GRU(3, 4, batch_first=True)
    >>> words = torch.randn(2, 5, 3)
    >>> torch.allclose(gru([network], 0, [words], torch.zeros(1, 2, 4))[0].mT, network(words)[0].permute(1, 2, 0))
    True
    """
    weights = [[getattr(network, f"{name}_l{layer}") for network in networks] for name in _NAMES]
    of_input, of_state, bias, bias_of_state = weights
    gates = [functional.linear(some.transpose(0, 1), *both) for some, *both in zip(inputs, of_input, bias, strict=True)]
    found: Tensor = _Scan.apply(*map(torch.stack, (gates, of_state, bias_of_state)), start)  # type: ignore[no-untyped-call]
    return found


_NAMES: Final = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class _Scan(torch.autograd.Function):
    """The states from the words' gates float[k, L, n, 3 h], weights float[k, 3 h, h] and bias float[k, 3 h]."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, weight: Tensor, bias: Tensor, start: Tensor) -> Tensor:
        k, length, n, h = *gates.shape[:3], start.shape[2]
        states = gates.new_empty(k, length + 1, n, h)
        states[:, 0] = start
        both, middle, other = (gates.new_empty(k, length, n, size) for size in (2 * h, h, h))
        turned, bias = weight.mT, bias[:, None].expand(k, n, 3 * h).contiguous()
        of_state = torch.empty_like(bias)
        of_both, of_middle = of_state[:, :, : 2 * h], of_state[:, :, 2 * h :]
        steps = (gates[..., : 2 * h], gates[..., 2 * h :], both, both[..., :h], both[..., h:], middle, other)
        before, after = states[:, :-1], states[:, 1:]
        for word, word_m, rz, r, z, m, kept, old, new in zip(
            *(part.unbind(1) for part in (*steps, before, after)), strict=True
        ):
            torch.baddbmm(bias, old, turned, out=of_state)
            torch.add(word, of_both, out=rz).sigmoid_()
            kept.copy_(of_middle)
            torch.addcmul(word_m, r, of_middle, out=m).tanh_()
            torch.lerp(m, old, z, out=new)
        ctx.save_for_backward(both, middle, other, states, weight)
        return after

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, ...]:
        both, middle, other, states, weight = ctx.saved_tensors
        k, length, n, h = middle.shape
        of_gates = middle.new_empty(k, length, n, 3, h)
        of_weight, of_bias = torch.zeros_like(weight), weight.new_zeros(k, 3 * h)
        of_state = torch.zeros_like(states[:, 0])  # of what comes later
        some = max(1, min(length, _NUMBERS // (3 * k * n * h)))
        slopes = middle.new_empty(k, some, n, h)
        for end in range(length, 0, -some):
            begin = max(0, end - some)
            r, z = both[:, begin:end, :, :h], both[:, begin:end, :, h:]
            m, old, here = middle[:, begin:end], states[:, begin:end], slopes[:, : end - begin]
            of_middle = (1 - z) * (1 - m * m)
            factors = torch.stack(
                [of_middle * other[:, begin:end] * r * (1 - r), (old - m) * z * (1 - z), of_middle * r], dim=3
            )
            piece = of_gates[:, begin:end]
            parts = (slope[:, begin:end], here, factors, piece, piece.flatten(3), z)
            for given, total, factor, out, flat, keep in reversed(
                list(zip(*(part.unbind(1) for part in parts), strict=True))
            ):
                torch.add(given, of_state, out=total)
                torch.mul(total[:, :, None], factor, out=out)
                torch.mul(total, keep, out=of_state).baddbmm_(flat, weight)
            rows = piece.reshape(k, -1, 3 * h)
            of_weight.baddbmm_(rows.mT, old.reshape(k, -1, h))
            of_bias += rows.sum(1)
            torch.mul(here, of_middle, out=piece[:, :, :, 2])  # the word's own gate is not multiplied with r
        return of_gates.flatten(3), of_weight, of_bias, of_state
