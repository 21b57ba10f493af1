"""The loss of a word among many: over all words, or over some that are drawn.

Nine tenths of what a small generator calculates is this layer.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["Drawn", "full", "sampled"]

_ROWS: Final = 256
"""So many words have their scores in memory together: a piece that stays near the processor."""


def full(features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """-log P(word), where P is the softmax over the whole vocabulary.

    Scores are made piece by piece and turned into gradients at once, so that float[n, V] is never there as a whole, nor
    gone through again on the way back.

    Args:
        features: float[n, d].
        weight: float[V, d], the vectors of all words.
        bias: float[V].
        targets: int64[n], the words.

    Returns:
        The sum over the words, a scalar, in nats.

    >>> full(torch.zeros(2, 3), torch.zeros(8, 3), torch.zeros(8), torch.tensor([1, 5])).item() / 2
    2.079441547393799
    """
    if not (torch.is_grad_enabled() and (features.requires_grad or weight.requires_grad)):
        return sum((_piece(*piece, weight, bias)[0] for piece in _pieces(features, targets)), features.new_zeros(()))
    loss: Tensor = _Full.apply(features, weight, bias, targets)  # type: ignore[no-untyped-call]
    return loss


def _pieces(features: Tensor, targets: Tensor) -> zip[tuple[Tensor, Tensor]]:
    return zip(torch.split(features, _ROWS), torch.split(targets, _ROWS), strict=True)


def _piece(features: Tensor, targets: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of some words, and log P of all words there, float[m, V]."""
    scores = functional.linear(features, weight, bias)
    scores = scores.log_softmax(1, dtype=torch.promote_types(scores.dtype, torch.float32))
    return -scores.gather(1, targets[:, None]).sum(), scores


class _Full(torch.autograd.Function):
    """`full` with its gradients: d loss / d score = P - 1 at the word, P elsewhere."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        loss = features.new_zeros((), dtype=torch.promote_types(features.dtype, torch.float32))
        of_features = torch.empty_like(features)
        of_weight, of_bias = torch.zeros_like(weight), torch.zeros_like(bias)
        begin = 0
        for some, words in _pieces(features, targets):
            value, scores = _piece(some, words, weight, bias)
            loss += value
            slopes = scores.exp_()  # [m, V]
            slopes[torch.arange(len(words), device=words.device), words] -= 1
            of_bias += slopes.sum(0)
            slopes = slopes.to(some.dtype)
            of_features[begin : begin + len(words)] = slopes @ weight.to(some.dtype)
            if of_weight.dtype == slopes.dtype:
                of_weight.addmm_(slopes.T, some)
            else:
                of_weight += slopes.T @ some
            begin += len(words)
        ctx.save_for_backward(of_features, of_weight, of_bias)
        return loss

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        of_features, of_weight, of_bias = ctx.saved_tensors
        return of_features * slope, of_weight * slope, of_bias * slope, None


def sampled(features: Tensor, own: Tensor, others: Tensor, bias: Tensor, *, targets: Tensor, drawn: Drawn) -> Tensor:
    """The same over the word itself and some others, each score lessened by the logarithm of how often it is drawn.

    (Jean et al. 2015, On using very large target vocabulary.) In the mean its gradient comes near that of `full`, the
    nearer the more are drawn; its value is lower. Only a loss to train with.

    Args:
        features: float[n, d].
        own: float[n, d], the vectors of the words.
        others: float[k, d], the vectors of those that are drawn.
        bias: float[V].
        targets: int64[n], the words.
        drawn: Those that are drawn.

    Returns:
        The sum over the words, a scalar.
    """
    score = (features * own).sum(1).float() + bias.index_select(0, targets) - drawn.expected(targets)  # [n]
    scores = functional.linear(
        features, others, bias.index_select(0, drawn.words) - drawn.expected(drawn.words)
    ).float()  # [n, k]
    # Where the word itself is among those drawn, it counts once.
    place = torch.searchsorted(drawn.words, targets).clamp_max(len(drawn.words) - 1)  # [n]
    again = (drawn.words[place] == targets).nonzero()[:, 0]
    scores[again, place[again]] = -torch.inf
    return (torch.logaddexp(scores.logsumexp(1), score) - score).sum()


class Drawn(NamedTuple):
    """Words that are drawn, those with low numbers more often: word r with (ln(r + 2) - ln(r + 1)) / ln(V + 1).

    That is Zipf's law for words that are numbered by their frequency.

    Args:
        words: int64[k], rising.
        tries: How often was drawn, with replacement.
        vocabulary: How many words there are, V.
    """

    words: Tensor
    tries: int
    vocabulary: int

    @classmethod
    def of(cls, tries: int, vocabulary: int, device: torch.device) -> Drawn:
        """Draw.

        Args:
            tries: How often.
            vocabulary: How many words there are.
            device: Where.
        """
        share = torch.rand(tries, device=device, dtype=torch.float64)
        words = ((share * math.log(vocabulary + 1)).exp() - 1).long().clamp_max(vocabulary - 1)
        return cls(torch.unique(words), tries, vocabulary)

    def expected(self, words: Tensor) -> Tensor:
        """The logarithm of how likely each word is to be among those drawn, float[n].

        Args:
            words: int64[n].
        """
        share = torch.log1p(1 / (words.double() + 1)) / math.log(self.vocabulary + 1)
        return (-torch.expm1(self.tries * torch.log1p(-share))).log().float()
