"""The loss of a word among many: over all words, or over some that are drawn.

Nine tenths of what a small generator calculates is this layer.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["Drawn", "Negatives", "full", "sampled"]

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
    """An estimate of `full`, from the target of each row and the negatives that are drawn.

    The sum of exp(score) over the vocabulary is estimated by that of the target plus exp(score) / pi of each drawn word
    that is not the target, where pi is the probability that the word is drawn (Horvitz and Thompson 1952). This is
    unbiased; its logarithm, and so this loss, is a little low, the less the more words are drawn.

    Args:
        features: float[n, d].
        own: float[n, d], the vectors of the targets.
        others: float[k, d], the vectors of the negatives.
        bias: float[V].
        targets: int64[n].
        drawn: The negatives.

    Returns:
        The sum over the targets, a scalar, in nats.
    """
    score = (features * own).sum(1).float() + bias.index_select(0, targets)  # [n]
    scores = functional.linear(features, others, bias.index_select(0, drawn.words) - drawn.log_pi).float()  # [n, k]
    # A target that is among the negatives counts once.
    place = torch.searchsorted(drawn.words, targets).clamp_max(len(drawn.words) - 1)  # [n]
    again = (drawn.words[place] == targets).nonzero()[:, 0]
    scores[again, place[again]] = -torch.inf
    return (torch.logaddexp(scores.logsumexp(1), score) - score).sum()


class Drawn(NamedTuple):
    """The negatives of one batch.

    Args:
        words: int64[k], distinct and rising.
        log_pi: float32[k], the logarithm of the probability that each is drawn.
    """

    words: Tensor
    log_pi: Tensor


class Negatives:
    """Draws k distinct words of a vocabulary, frequent ones more often, with known probabilities.

    Word r of those that can be drawn has the weight ln((r + 2) / (r + 1)), Zipf's law for ids that are numbered by
    frequency, and the probability pi = min(1, c * weight), where c makes these sum to k. Systematic sampling in random
    order keeps to them exactly (Madow 1949).

    Args:
        count: How many are drawn, k.
        words: int64[m], rising, the ids that can be drawn, the most frequent first; more than k.

    >>> _ = torch.manual_seed(0)
    >>> len(Negatives(3, torch.tensor([1, 3, 4, 5, 6])).draw().words)
    3
    """

    def __init__(self, count: int, words: Tensor) -> None:
        rank = torch.arange(len(words), dtype=torch.float64, device=words.device)
        weight = torch.log1p(1 / (rank + 1))
        remaining = weight.flip(0).cumsum(0).flip(0)  # of each word and those after it
        scale = (count - rank) / remaining  # c, if all words before are certain to be drawn
        self._certain = int((scale * weight < 1).nonzero()[0])
        self._count, self._words = count, words
        self.pi = (weight * scale[self._certain]).clamp_max(1)

    def draw(self) -> Drawn:
        """Draw the negatives of one batch, by torch's default generator."""
        device = self._words.device
        order = self._certain + torch.randperm(len(self._words) - self._certain, device=device)
        points = torch.arange(self._count - self._certain, device=device)
        points = points + torch.rand(1, device=device, dtype=torch.float64)
        found = torch.searchsorted(self.pi[order].cumsum(0), points, right=True).clamp_max(len(order) - 1)
        places = torch.cat([torch.arange(self._certain, device=device), order[found].sort().values])
        return Drawn(self._words[places], self.pi[places].log().float())
