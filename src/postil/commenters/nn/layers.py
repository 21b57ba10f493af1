"""Layers that ignore padding, where torch has none.

A padded batch comes as ``embeddings`` float[n, L, d] and ``mask`` bool[n, L], True at tokens, right-padded; values at
padding never change a result.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Convolutions", "LateInteraction", "masked_max", "masked_mean", "ngram_windows"]


def masked_max(values: Tensor, mask: Tensor) -> Tensor:
    """Max-over-time pooling, padding excluded.

    Args:
        values: float[n, L, f].
        mask: bool[n, L], True at tokens.

    Returns:
        float[n, f]; 0 for an empty text.

    >>> values = torch.tensor([[[1.0], [9.0]], [[-2.0], [9.0]], [[3.0], [4.0]]])
    >>> masked_max(values, torch.tensor([[True, False], [True, False], [False, False]])).tolist()
    [[1.0], [-2.0], [0.0]]
    """
    best = values.masked_fill(~mask[:, :, None], -torch.inf).amax(1)  # [n, f]
    return best.masked_fill(~mask.any(1)[:, None], 0.0)


def masked_mean(values: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
    """Weighted mean over time, padding excluded.

    Args:
        values: float[n, L, f].
        weights: float[n, L], at least 0.
        mask: bool[n, L], True at tokens.

    Returns:
        float[n, f]; 0 for an empty text.

    >>> values = torch.tensor([[[1.0], [4.0], [9.0]]])
    >>> masked_mean(values, torch.tensor([[2.0, 1.0, 5.0]]), torch.tensor([[True, True, False]])).tolist()
    [[2.0]]
    """
    weights = weights.masked_fill(~mask, 0.0)  # [n, L]
    sums = (values.masked_fill(~mask[:, :, None], 0.0) * weights[:, :, None]).sum(1)  # [n, f]
    return sums / weights.sum(1, keepdim=True).clamp_min(1e-9)


def ngram_windows(embeddings: Tensor, mask: Tensor, width: int) -> Tensor:
    """Concatenated embeddings of the n-gram that starts at each token.

    Args:
        embeddings: float[n, L, d].
        mask: bool[n, L], True at tokens.
        width: Tokens per n-gram, w. Positions after the end of a text count as 0, so short texts have windows too.

    Returns:
        float[n, L, w * d].

    >>> ngram_windows(torch.tensor([[[1.0], [2.0], [3.0]]]), torch.tensor([[True, True, False]]), 2).tolist()
    [[[1.0, 2.0], [2.0, 0.0], [0.0, 0.0]]]
    """
    embeddings = embeddings.masked_fill(~mask[:, :, None], 0.0)
    embeddings = functional.pad(embeddings, (0, 0, 0, width - 1))  # [n, L + w - 1, d]
    return torch.cat([embeddings[:, shift : shift + mask.shape[1]] for shift in range(width)], dim=2)


class Convolutions(nn.Module):
    """Convolutions of several widths with max-over-time pooling.

    (Kim 2014, Convolutional neural networks for sentence classification.) N-gram windows are multiplied with a matrix,
    which on a CPU takes two thirds of the time of ``nn.Conv1d``.

    Args:
        embedding_dim: Length of a token embedding, d.
        filters: Number of filters per width, f.
        widths: Widths in tokens.

    >>> layer = Convolutions(embedding_dim=4, filters=2, widths=(1, 2))
    >>> layer(torch.randn(3, 5, 4), torch.ones(3, 5, dtype=torch.bool)).shape
    torch.Size([3, 4])
    """

    def __init__(self, embedding_dim: int, filters: int, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.widths = widths
        self.filters = nn.ModuleList(nn.Linear(width * embedding_dim, filters) for width in widths)

    def forward(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        """Compute the features of texts.

        Args:
            embeddings: float[n, L, d].
            mask: bool[n, L], True at tokens.

        Returns:
            float[n, widths * f], at least 0.
        """
        pairs = zip(self.widths, self.filters, strict=True)
        pooled = [masked_max(filters(ngram_windows(embeddings, mask, width)), mask) for width, filters in pairs]
        return torch.cat(pooled, dim=1).relu()


class LateInteraction(nn.Module):
    """Late interaction (MaxSim) over n-grams.

    A convolution, the same for both texts, turns each n-gram into a vector. For each n-gram of one text the highest
    cosine with any n-gram of the other is taken; their weighted mean is the score of a width, and a learned mixture of
    the widths is the result. (Dai et al. 2018, Convolutional neural networks for soft-matching n-grams in ad-hoc
    search, with the maximum of Khattab and Zaharia 2020 in place of kernels.)

    Args:
        embedding_dim: Length of a token embedding, d.
        filters: Length of an n-gram vector, f.
        widths: Widths in tokens.
    """

    def __init__(self, embedding_dim: int, filters: int, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.widths = widths
        self.filters = nn.ModuleList(nn.Linear(width * embedding_dim, filters) for width in widths)
        self.mix = nn.Parameter(torch.full((len(widths),), 5.0))

    def ngrams(self, embeddings: Tensor, mask: Tensor) -> list[Tensor]:
        """L2-normalized n-gram vectors, float[n, L, f] per width.

        Args:
            embeddings: float[n, L, d].
            mask: bool[n, L], True at tokens.
        """
        pairs = zip(self.widths, self.filters, strict=True)
        return [
            functional.normalize(filters(ngram_windows(embeddings, mask, width)), dim=2) for width, filters in pairs
        ]

    def forward(
        self, queries: list[Tensor], query_mask: Tensor, weights: Tensor, documents: list[Tensor], document_mask: Tensor
    ) -> Tensor:
        """Score each query text against the document text of the same row.

        Args:
            queries: `ngrams` of the queries, float[p, L, f] each.
            query_mask: bool[p, L].
            weights: Weights of the query n-grams, float[p, L].
            documents: `ngrams` of the documents, float[p, M, f] each.
            document_mask: bool[p, M].

        Returns:
            float[p].
        """
        scores = []
        for query, document in zip(queries, documents, strict=True):
            cosines = torch.bmm(document, query.transpose(1, 2))  # [p, M, L]
            best = masked_max(cosines, document_mask)  # [p, L]
            scores.append(masked_mean(best[:, :, None], weights, query_mask)[:, 0])  # [p]
        return torch.stack(scores, dim=1) @ self.mix
