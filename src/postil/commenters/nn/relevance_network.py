"""Network of the relevance model: the score s(x, c) of article x and comment c."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from postil.commenters.nn.batches import PAD, SPECIAL
from postil.commenters.nn.layers import Convolutions, LateInteraction, masked_mean
from postil.commenters.nn.limits import check_limits
from postil.errors import UsageError

__all__ = ["RelevanceNetwork", "RelevanceOptions", "Tower"]


@dataclass(frozen=True, slots=True)
class RelevanceOptions:
    """Architecture and training data of a relevance model.

    The paper trains with negative sampling. The default is an in-batch softmax loss (InfoNCE), which ranked articles'
    own comments higher: mean reciprocal rank .304 against .288 after three epochs, among 100 comments of other
    articles, on 130 dev articles of an English forum by their titles.

    Args:
        architecture: ``two-tower`` (dual encoder): s is the scaled cosine of an article vector and a comment vector.
            ``interaction`` adds late interaction (MaxSim) of the comment's n-grams with those of the article.
        vocab_size: Maximum number of token ids, special ones included.
        embedding_dim: Embedding dimension.
        filters: Number of filters per width.
        widths: Widths of the convolutions in tokens.
        output_dim: Dimension of article and comment vectors.
        shared: True if articles and comments have the same tower.
        dropout: Dropout probability.
        loss: ``softmax`` (InfoNCE) over the comment and its negatives, or ``negative``: negative sampling (Mikolov et
            al. 2013).
        num_negatives: Number of in-batch negatives sampled per comment among those of other articles; 0 for all of
            them. By default all for the softmax loss of two towers, where they cost next to nothing, 20 for negative
            sampling, and 8 for late interaction.
        comments_per_group: Number of comments of an article that share a batch.
        comments_per_article: ``all``, or ``one`` that is sampled.
        article_words: Number of tokens that articles are truncated to.
        comment_words: Number of tokens that comments are truncated to.
    """

    architecture: Literal["two-tower", "interaction"] = "two-tower"
    vocab_size: int = 30_000
    embedding_dim: int = 128
    filters: int = 64
    widths: tuple[int, ...] = (1, 2, 3)
    output_dim: int = 128
    shared: bool = True
    dropout: float = 0.2
    loss: Literal["softmax", "negative"] = "softmax"
    num_negatives: int | None = None
    comments_per_group: int = 4
    comments_per_article: Literal["all", "one"] = "all"
    article_words: int = 400
    comment_words: int = 50

    def __post_init__(self) -> None:
        check_limits(self)
        object.__setattr__(self, "widths", tuple(self.widths))
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise UsageError(f"{name}: expected {' or '.join(known)}, got {getattr(self, name)}")
        for name in ("embedding_dim", "filters", "output_dim", "comments_per_group", "article_words", "comment_words"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name}: expected at least 1, got {getattr(self, name)}")
        if self.vocab_size <= SPECIAL or not self.widths or min(self.widths) < 1 or self.negatives < 0:
            raise UsageError(f"expected a vocab_size above {SPECIAL}, widths from 1 and num_negatives from 0")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"dropout: expected 0 to less than 1, got {self.dropout}")

    @property
    def negatives(self) -> int:
        """Number of negatives sampled per comment, by default as loss and architecture ask; 0 for all of the batch."""
        if self.num_negatives is not None:
            return self.num_negatives
        return 8 if self.architecture == "interaction" else 20 if self.loss == "negative" else 0


_CHOICES: Final = {
    "architecture": ("two-tower", "interaction"),
    "loss": ("softmax", "negative"),
    "comments_per_article": ("all", "one"),
}


class Tower(nn.Module):
    """Encoder of a text as one vector: convolutions with max-over-time pooling, plus a weighted mean of embeddings.

    The maximum finds what occurs anywhere in the text, the mean represents its topic.

    Args:
        options: Architecture.
    """

    def __init__(self, options: RelevanceOptions) -> None:
        super().__init__()
        self.convolutions = Convolutions(options.embedding_dim, options.filters, options.widths)
        self.dropout = nn.Dropout(options.dropout)
        self.features = nn.Linear(len(options.widths) * options.filters, options.output_dim)
        self.mean = nn.Linear(options.embedding_dim, options.output_dim)

    def forward(self, embeddings: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        """Compute L2-normalized vectors of texts.

        Args:
            embeddings: float[n, L, d].
            weights: Token weights, float[n, L], above 0.
            mask: bool[n, L], True at tokens.

        Returns:
            float[n, output_dim].
        """
        features = self.dropout(self.convolutions(embeddings, mask))  # [n, widths * f]
        mean = masked_mean(embeddings, weights, mask)  # [n, d]
        vectors: Tensor = functional.normalize(self.features(features) + self.mean(mean), dim=1)
        return vectors


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
        self.rarity = nn.Parameter(torch.zeros(vocab_size))
        """Learned log token weights of the mean, float[V]; no idf."""
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
        weights = functional.embedding(ids, self.rarity[:, None])[:, :, 0].exp()
        return self.dropout(self.words(ids)), weights, ids != PAD

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
