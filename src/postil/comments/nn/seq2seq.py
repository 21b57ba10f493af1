"""Sequence-to-sequence network of the generators: encoder, decoder with or without attention, softmax over tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from postil.comments.nn import losses
from postil.comments.nn.batches import BOS, EOS, PAD, SPECIAL, UNK
from postil.comments.nn.decoder import Decoder, DecoderState, EncoderOutput
from postil.comments.nn.encoder import Dropout, Encoder
from postil.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.comments.options import GeneratorOptions

__all__ = ["Seq2SeqNetwork"]


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
        self._sampler: losses.LogUniformSampler | None = None  # made on the device of the first batch
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
        if embeddings is None:
            return
        size, known = self.words.embedding_dim, self.words.num_embeddings - SPECIAL
        if embeddings.ndim != 2 or embeddings.shape[1] != size:
            raise UsageError(f"embeddings: expected float32[words, {size}], got an array of shape {embeddings.shape}")
        norms = np.linalg.norm(embeddings[:known], axis=1)
        given = np.flatnonzero(norms)
        if len(given):  # scaled to a mean norm of 1, about that of random embeddings
            self.words.weight[SPECIAL + given] = torch.from_numpy(embeddings[given] / norms[given].mean())

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
            number of these tokens, int64. In training the sum may be the estimate of `losses.sampled_cross_entropy`.
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
            loss = losses.sampled_cross_entropy(features, own, others, self.bias, targets=targets, sampled=sampled)
            return loss, mask.sum()
        return losses.full_cross_entropy(features, self.words.weight, self.bias, targets), mask.sum()

    def _sample(self, device: torch.device) -> losses.Sampled:
        if self._sampler is None:
            can_follow = torch.tensor([UNK, *range(EOS, len(self.bias))], device=device)
            self._sampler = losses.LogUniformSampler(self._num_sampled, can_follow)
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
