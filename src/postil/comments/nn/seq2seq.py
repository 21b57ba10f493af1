"""Sequence-to-sequence network of the generators: encoder, decoder with or without attention, softmax over tokens.

Its loss is the token-level cross-entropy over the full vocabulary, or estimated from sampled candidates: nine tenths of
the arithmetic of a small generator is this layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from postil.comments.nn import models
from postil.comments.nn.recurrent import Decoder, DecoderState, Dropout, Encoder, EncoderOutput
from postil.comments.nn.token_ids import BOS, EOS, PAD, UNK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.comments.options import GeneratorOptions

__all__ = ["LogUniformSampler", "Sampled", "Seq2SeqNetwork", "full_cross_entropy", "sampled_cross_entropy"]

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


class Seq2SeqNetwork(nn.Module):
    """Autoregressive model of P(comment | article).

    Embeddings are tied: one matrix serves encoder, decoder and output (Press and Wolf 2017).

    Args:
        options: Architecture.
        vocab_size: Number of token ids, special ones included.
    """

    def __init__(self, options: GeneratorOptions, vocab_size: int) -> None:
        super().__init__()
        can_follow = vocab_size - 2  # <pad> and <bos> never do
        sampled = options.loss == "sampled" and options.num_sampled < can_follow
        self._num_sampled = options.num_sampled if sampled else 0
        self._sampler: LogUniformSampler | None = None  # made on the device of the first batch
        self.words = nn.Embedding(vocab_size, options.embedding_dim, padding_idx=PAD)
        nn.init.normal_(self.words.weight, std=options.embedding_dim**-0.5)
        self.bias = nn.Parameter(torch.zeros(vocab_size))
        self.dropout = Dropout(options.dropout)
        shape = options.embedding_dim, options.hidden_size, options.layers, options.cell
        attention = None if options.attention == "none" else options.attention or "general"
        self.encoder = Encoder(*shape, dropout=options.dropout)
        self.decoder = Decoder(*shape, attention=attention, dropout=options.dropout)

    @torch.no_grad()
    def initialize(self, counts: NDArray[np.int64], embeddings: NDArray[np.float32] | None = None) -> None:
        """Set the output bias to log unigram probabilities, which training need not learn then, and the embeddings.

        Args:
            counts: Frequency of each token id as a target, int64[V].
            embeddings: Pretrained embeddings in the order of the corpus's vocabulary, float32[words, d]; zeros for a
                word without one.

        Raises:
            UsageError: The embeddings have another dimension.
        """
        share = np.maximum(counts, 0.5)
        self.bias.copy_(torch.from_numpy(np.log(share / share.sum())))
        models.set_embeddings(self.words, embeddings)

    def encode(self, articles: Tensor) -> tuple[EncoderOutput, Tensor]:
        """Encode articles.

        Args:
            articles: Padded batch, int64[a, S].

        Returns:
            Encoder output, and the encoder's final state, float[layers, a, h].
        """
        states, mask, final = self._encode(self.words(articles), articles != PAD)
        return self.decoder.read(states, mask), final

    def _encode(self, embeddings: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """States, mask of what is attended over, and final state of embeddings float[a, S, d] with mask bool[a, S]."""
        states, final = self.encoder(self.dropout(embeddings), mask)  # [a, S, h]
        seen = mask.clone()
        seen[:, 0] = True  # a softmax over an empty article would be NaN
        return states, seen, final

    def forward(self, article: Tensor, comment: Tensor, owner: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the loss of comments with teacher forcing.

        Args:
            article: Padded batch, int64[a, S].
            comment: Padded batch, int64[n, L].
            owner: Row of each comment's article, int64[n].

        Returns:
            Token-level cross-entropy, summed over the tokens of all comments and their end tokens, in nats, and the
            number of these tokens, int64. In training the sum may be the estimate of `sampled_cross_entropy`.
        """
        begin = comment.new_full((len(comment), 1), BOS)
        inputs = torch.cat([begin, comment], dim=1)  # [n, L + 1]
        mask = inputs != PAD  # [n, L + 1]
        targets = torch.cat([comment, begin.new_full(begin.shape, PAD)], dim=1)  # [n, L + 1]
        targets = torch.where(targets == PAD, EOS, targets)[mask]  # [tokens]
        sampled = self._sample(comment.device) if self.training and self._num_sampled else None
        wanted = [article, inputs, *((targets, sampled.tokens) if sampled else ())]
        of_article, of_comment, *candidates = self._embed(wanted)
        states, seen, final = self._encode(of_article, article != PAD)
        shared = self.decoder.read(states, seen, owner)
        state = self.decoder.initial_state(final.index_select(1, owner))
        features, _ = self.decoder(self.dropout(of_comment), state, shared)  # [n, L + 1, d]
        features = features[mask]  # [tokens, d]
        if sampled:
            own, others = candidates
            loss = sampled_cross_entropy(features, own, others, self.bias, targets=targets, sampled=sampled)
            return loss, mask.sum()
        return full_cross_entropy(features, self.words.weight, self.bias, targets), mask.sum()

    def _sample(self, device: torch.device) -> Sampled:
        if self._sampler is None:
            can_follow = torch.tensor([UNK, *range(EOS, len(self.bias))], device=device)
            self._sampler = LogUniformSampler(self._num_sampled, can_follow)
        return self._sampler.sample()

    def _embed(self, ids: list[Tensor]) -> list[Tensor]:
        """Embeddings of several id tensors, float[..., d] each."""
        # One lookup in the whole matrix for all of them: the gradient of a lookup is as large as the matrix.
        rows, places = torch.unique(torch.cat([part.flatten() for part in ids]), return_inverse=True)
        embeddings = self.words(rows)  # [distinct, d]
        split = torch.split(places, [part.numel() for part in ids])
        return [
            nn.functional.embedding(part.view(like.shape), embeddings) for part, like in zip(split, ids, strict=True)
        ]

    def step(self, tokens: Tensor, state: DecoderState, encoded: EncoderOutput | None) -> tuple[Tensor, DecoderState]:
        """Take one decoding step.

        Args:
            tokens: Last token of each hypothesis, int64[n].
            state: State before it.
            encoded: Encoder output for n texts, or for a divisor of n.

        Returns:
            Features for `logits`, float[n, d], and the state after the tokens.
        """
        features, state = self.decoder(self.words(tokens)[:, None], state, encoded)  # [n, 1, d]
        return features[:, 0], state

    def logits(self, features: Tensor, begin: int = 0, end: int | None = None) -> Tensor:
        """Logits of a range of the vocabulary, float[n, m].

        Args:
            features: float[n, d].
            begin: First token id.
            end: End of the range, exclusive; None for the whole rest.
        """
        return nn.functional.linear(features, self.words.weight[begin:end], self.bias[begin:end])
