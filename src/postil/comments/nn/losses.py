"""Token-level cross-entropy over the full vocabulary, or estimated from sampled candidates.

Nine tenths of the arithmetic of a small generator is this layer.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["LogUniformSampler", "Sampled", "full_cross_entropy", "sampled_cross_entropy"]

_ROWS: Final = 256
"""Number of tokens whose logits are in memory at once: a chunk that fits the processor's cache."""


def full_cross_entropy(features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """Summed cross-entropy over the full vocabulary, computed in chunks with its gradient.

    Each chunk of logits becomes its gradient at once, so float[n, V] is never in memory as a whole and the backward
    pass computes no logits again.

    Args:
        features: float[n, d].
        weight: Token embeddings, float[V, d].
        bias: float[V].
        targets: Target tokens, int64[n].

    Returns:
        Sum over the targets, a scalar, in nats.

    >>> full_cross_entropy(torch.zeros(2, 3), torch.zeros(8, 3), torch.zeros(8), torch.tensor([1, 5])).item() / 2
    2.079441547393799
    """
    if not (torch.is_grad_enabled() and (features.requires_grad or weight.requires_grad)):
        chunks = _chunks(features, targets)
        return sum((_chunk_loss(*chunk, weight, bias)[0] for chunk in chunks), features.new_zeros(()))
    loss: Tensor = _FullCrossEntropy.apply(features, weight, bias, targets)  # type: ignore[no-untyped-call]
    return loss


def _chunks(features: Tensor, targets: Tensor) -> zip[tuple[Tensor, Tensor]]:
    return zip(torch.split(features, _ROWS), torch.split(targets, _ROWS), strict=True)


def _chunk_loss(features: Tensor, targets: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Loss of some targets, and log-probabilities of all tokens, float[m, V]."""
    logits = functional.linear(features, weight, bias)
    log_p = logits.log_softmax(1, dtype=torch.promote_types(logits.dtype, torch.float32))
    return -log_p.gather(1, targets[:, None]).sum(), log_p


class _FullCrossEntropy(torch.autograd.Function):
    """`full_cross_entropy` with d loss / d logit = P - 1 at the target and P elsewhere."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        loss = features.new_zeros((), dtype=torch.promote_types(features.dtype, torch.float32))
        grad_features = torch.empty_like(features)
        grad_weight, grad_bias = torch.zeros_like(weight), torch.zeros_like(bias)
        begin = 0
        for rows, tokens in _chunks(features, targets):
            value, log_p = _chunk_loss(rows, tokens, weight, bias)
            loss += value
            grad = log_p.exp_()  # [m, V], in place: log_p is not needed again
            grad[torch.arange(len(tokens), device=tokens.device), tokens] -= 1
            grad_bias += grad.sum(0)
            grad = grad.to(rows.dtype)
            grad_features[begin : begin + len(tokens)] = grad @ weight.to(rows.dtype)
            if grad_weight.dtype == grad.dtype:
                grad_weight.addmm_(grad.T, rows)
            else:  # under autocast features are bfloat16 and weights float32
                grad_weight += grad.T @ rows
            begin += len(tokens)
        ctx.save_for_backward(grad_features, grad_weight, grad_bias)
        return loss

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        grad_features, grad_weight, grad_bias = ctx.saved_tensors
        return grad_features * grad, grad_weight * grad, grad_bias * grad, None


class Sampled(NamedTuple):
    """Sampled candidates of one batch.

    Args:
        tokens: int64[k], distinct, ascending.
        log_pi: Log inclusion probabilities, float32[k].
    """

    tokens: Tensor
    log_pi: Tensor


def sampled_cross_entropy(
    features: Tensor,
    target_embeddings: Tensor,
    sampled_embeddings: Tensor,
    bias: Tensor,
    *,
    targets: Tensor,
    sampled: Sampled,
) -> Tensor:
    """Estimate of `full_cross_entropy` from each row's target and the sampled candidates.

    The sum of exp(logit) over the vocabulary is estimated by that of the target plus exp(logit) / pi of each candidate
    that is not the target, pi being its inclusion probability (Horvitz and Thompson 1952). That estimate is unbiased;
    its logarithm, and so this loss, is biased slightly downwards, the less the more candidates there are.

    Args:
        features: float[n, d].
        target_embeddings: float[n, d].
        sampled_embeddings: float[k, d].
        bias: float[V].
        targets: int64[n].
        sampled: The candidates.

    Returns:
        Sum over the targets, a scalar, in nats.
    """
    target_logits = (features * target_embeddings).sum(1).float() + bias.index_select(0, targets)  # [n]
    # Subtracting log pi from a logit divides exp(logit) by pi.
    corrected = bias.index_select(0, sampled.tokens) - sampled.log_pi  # [k]
    logits = functional.linear(features, sampled_embeddings, corrected).float()  # [n, k]
    # A target that was sampled too counts once.
    column = torch.searchsorted(sampled.tokens, targets).clamp_max(len(sampled.tokens) - 1)  # [n]
    hits = (sampled.tokens[column] == targets).nonzero()[:, 0]
    logits[hits, column[hits]] = -torch.inf
    return (torch.logaddexp(logits.logsumexp(1), target_logits) - target_logits).sum()


class LogUniformSampler:
    """Log-uniform candidate sampler: k distinct tokens with known inclusion probabilities.

    The token of rank r has the weight ln((r + 2) / (r + 1)), Zipf's law for ids sorted by frequency, and the inclusion
    probability pi = min(1, c * weight), where c makes these sum to k. Systematic sampling in random order has exactly
    these probabilities (Madow 1949).

    Args:
        count: Number of candidates per batch, k.
        tokens: Tokens that can be sampled, most frequent first, int64[m], ascending; more than k.

    >>> _ = torch.manual_seed(0)
    >>> len(LogUniformSampler(3, torch.tensor([1, 3, 4, 5, 6])).sample().tokens)
    3
    """

    def __init__(self, count: int, tokens: Tensor) -> None:
        rank = torch.arange(len(tokens), dtype=torch.float64, device=tokens.device)
        weight = torch.log1p(1 / (rank + 1))
        remaining = weight.flip(0).cumsum(0).flip(0)  # of each token and those after it
        scale = (count - rank) / remaining  # c, if all tokens before are certain to be sampled
        self._certain = int((scale * weight < 1).nonzero()[0])
        self._count, self._tokens = count, tokens
        self.pi = (weight * scale[self._certain]).clamp_max(1)

    def sample(self) -> Sampled:
        """Sample the candidates of one batch with torch's default generator."""
        device = self._tokens.device
        order = self._certain + torch.randperm(len(self._tokens) - self._certain, device=device)
        # One random offset and steps of 1 over cumulated probabilities: no token is hit twice, since each has pi < 1.
        points = torch.arange(self._count - self._certain, device=device)
        points = points + torch.rand(1, device=device, dtype=torch.float64)
        hits = torch.searchsorted(self.pi[order].cumsum(0), points, right=True).clamp_max(len(order) - 1)
        ranks = torch.cat([torch.arange(self._certain, device=device), order[hits].sort().values])
        return Sampled(self._tokens[ranks], self.pi[ranks].log().float())
