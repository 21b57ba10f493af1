"""Network of the relevance model: the score s(x, c) of article x and comment c.

Its layers ignore padding, where torch has none that do. A padded batch comes as ``embeddings`` float[n, L, d] and
``mask`` bool[n, L], True at tokens, right-padded; values at padding never change a result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from postil.comments.nn.batches import PAD

if TYPE_CHECKING:
    from postil.comments.options import RelevanceOptions

__all__ = ["Convolutions", "LateInteraction", "RelevanceNetwork", "Tower", "masked_max", "masked_mean"]


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
