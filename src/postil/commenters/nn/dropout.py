"""Dropout with 16 random bits per element."""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn

__all__ = ["Dropout"]

_STEPS: Final = 2**16


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
