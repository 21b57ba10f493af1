"""Network of the relevance model: the score s(x, c) of article x and comment c."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from postil.commenters.nn.batches import PAD
from postil.commenters.nn.layers import Convolutions, LateInteraction, masked_mean

if TYPE_CHECKING:
    from postil.commenters.nn.options import RelevanceOptions

__all__ = ["RelevanceNetwork", "Tower"]


class Tower(nn.Module):
    """Encoder of a text as one vector: convolutions with max-over-time pooling, plus a weighted mean of embeddings.

    The maximum finds what occurs anywhere in the text, the mean represents its topic. The paper has no mean.

    Args:
        options: Architecture.
    """

    def __init__(self, options: RelevanceOptions) -> None:
        super().__init__()
        self.convolutions = Convolutions(options.embedding_dim, options.filters, options.widths)
        self.dropout = nn.Dropout(options.dropout)
        self.features = nn.Linear(len(options.widths) * options.filters, options.output_dim)
        self.mean = nn.Linear(options.embedding_dim, options.output_dim) if options.word_mean else None

    def forward(self, embeddings: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        """Compute L2-normalized vectors of texts.

        Args:
            embeddings: float[n, L, d].
            weights: Token weights, float[n, L], above 0.
            mask: bool[n, L], True at tokens.

        Returns:
            float[n, output_dim].
        """
        vectors: Tensor = self.features(self.dropout(self.convolutions(embeddings, mask)))  # [n, output_dim]
        if self.mean is not None:
            vectors = vectors + self.mean(masked_mean(embeddings, weights, mask))
        return functional.normalize(vectors, dim=1)


class RelevanceNetwork(nn.Module):
    """Score s(x, c) of pairs of article and comment.

    Args:
        options: Architecture.
        vocab_size: Number of token ids, special ones included.
    """

    def __init__(self, options: RelevanceOptions, vocab_size: int) -> None:
        super().__init__()
        shape = options.embedding_dim, options.filters, options.widths
        self.words = nn.Embedding(vocab_size, options.embedding_dim, padding_idx=PAD)
        nn.init.normal_(self.words.weight, std=options.embedding_dim**-0.5)
        weighted = options.word_mean or options.architecture == "interaction"
        self.log_weights = nn.Parameter(torch.zeros(vocab_size)) if weighted else None
        """Learned log token weights of mean and late interaction, float[V]; no idf."""
        self.dropout = nn.Dropout(options.dropout)
        self.article = Tower(options)
        self.comment = self.article if options.shared else Tower(options)
        self.matching = LateInteraction(*shape) if options.architecture == "interaction" else None
        self.scale = nn.Parameter(torch.tensor(10.0))
        self.bias = nn.Parameter(torch.tensor(-5.0))

    def embed(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Embeddings, token weights and padding mask of a padded batch.

        Args:
            ids: int64[n, L].

        Returns:
            float[n, L, d], float[n, L], bool[n, L].
        """
        mask, embeddings = ids != PAD, self.dropout(self.words(ids))
        if self.log_weights is None:
            return embeddings, mask.to(embeddings.dtype), mask
        return embeddings, functional.embedding(ids, self.log_weights[:, None])[:, :, 0].exp(), mask

    def forward(self, article: Tensor, comment: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """Score pairs.

        Args:
            article: Padded batch, int64[a, La].
            comment: Padded batch, int64[n, Lc].
            rows: Article of each pair, int64[p].
            columns: Comment of each pair, int64[p].

        Returns:
            float[p].
        """
        articles, comments = self.embed(article), self.embed(comment)
        cosines = self.article(*articles) @ self.comment(*comments).T  # [a, n]
        # Not cosines[rows, columns]: several threads would sum its gradient in no fixed order.
        chosen = cosines.flatten().index_select(0, rows * cosines.shape[1] + columns)  # [p]
        scores = chosen * self.scale + self.bias  # [p]
        if self.matching is not None:
            queries, documents = (self.matching.ngrams(words, mask) for words, _, mask in (comments, articles))
            scores = scores + self.matching(
                [vectors.index_select(0, columns) for vectors in queries],
                comments[2][columns],
                comments[1].index_select(0, columns),
                [vectors.index_select(0, rows) for vectors in documents],
                articles[2][rows],
            )
        result: Tensor = scores
        return result
