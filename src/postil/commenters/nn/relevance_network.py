"""The network of the relevance model: s(x, c)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from postil.commenters.nn.batches import PAD, SPECIAL
from postil.commenters.nn.layers import Convolutions, Matching, masked_mean
from postil.commenters.nn.models import check_sizes
from postil.errors import UsageError

__all__ = ["Network", "RelevanceOptions", "Tower"]


@dataclass(frozen=True, slots=True)
class RelevanceOptions:
    """What the model is, and what it is trained on.

    The paper trains with negative sampling. The default is the softmax over all comments of a batch, which found more
    of an article's own comments: mean reciprocal rank .304 against .288 after three epochs, among 100 comments of other
    articles, on 130 dev articles of an English forum by their titles.

    Args:
        form: ``towers`` makes a vector of the article and one of the comment, and s is their cosine, scaled.
            ``interaction`` adds how well each run of the comment's words is found in the article.
        vocabulary: How many words it knows, special ones included.
        size: Length of a word's vector.
        filters: Filters of each width.
        widths: Of the convolutions.
        output: Length of an article's or comment's vector.
        shared: Whether articles and comments go through the same layers.
        dropout: The share of values that are passed over in training.
        loss: ``softmax`` over the comment and its negatives, or ``negative``: negative sampling (Mikolov et al. 2013).
        negatives: Negatives drawn for each pair among the comments of other articles in the batch; 0 for all of them.
            By default all for the softmax of towers, where they cost next to nothing, 20 for negative sampling, and 8
            for an interaction.
        group: Comments of an article that go into a batch together.
        pairs: All comments of an article, or one drawn.
        article_words: Articles are cut behind so many words.
        comment_words: Comments are cut behind so many words.
    """

    form: Literal["towers", "interaction"] = "towers"
    vocabulary: int = 30_000
    size: int = 128
    filters: int = 64
    widths: tuple[int, ...] = (1, 2, 3)
    output: int = 128
    shared: bool = True
    dropout: float = 0.2
    loss: Literal["softmax", "negative"] = "softmax"
    negatives: int | None = None
    group: int = 4
    pairs: Literal["all", "one"] = "all"
    article_words: int = 400
    comment_words: int = 50

    def __post_init__(self) -> None:
        check_sizes(self)
        object.__setattr__(self, "widths", tuple(self.widths))
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise UsageError(f"{name}: expected {' or '.join(known)}, got {getattr(self, name)}")
        for name in ("size", "filters", "output", "group", "article_words", "comment_words"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name}: expected at least 1, got {getattr(self, name)}")
        if self.vocabulary <= SPECIAL or not self.widths or min(self.widths) < 1 or self.drawn < 0:
            raise UsageError(f"expected a vocabulary above {SPECIAL}, widths from 1 and negatives from 0")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"dropout: expected 0 to less than 1, got {self.dropout}")

    @property
    def drawn(self) -> int:
        """How many negatives are drawn; 0 for all."""
        if self.negatives is not None:
            return self.negatives
        return 8 if self.form == "interaction" else 20 if self.loss == "negative" else 0


_CHOICES: Final = {
    "form": ("towers", "interaction"),
    "loss": ("softmax", "negative"),
    "pairs": ("all", "one"),
}


class Tower(nn.Module):
    """A text to a vector: convolutions with the maximum over time, and the weighted mean of its words.

    The maximum finds what stands anywhere in the text, the mean tells what all of it is about.

    Args:
        options: Sizes.
    """

    def __init__(self, options: RelevanceOptions) -> None:
        super().__init__()
        self.convolutions = Convolutions(options.size, options.filters, options.widths)
        self.dropout = nn.Dropout(options.dropout)
        self.features = nn.Linear(len(options.widths) * options.filters, options.output)
        self.mean = nn.Linear(options.size, options.output)

    def forward(self, words: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        """Vectors of length 1.

        Args:
            words: float[n, L, d].
            weights: float[n, L], above 0.
            mask: bool[n, L], true at words.

        Returns:
            float[n, output].
        """
        features = self.dropout(self.convolutions(words, mask))  # [n, widths * f]
        mean = masked_mean(words, weights, mask)  # [n, d]
        vectors: Tensor = functional.normalize(self.features(features) + self.mean(mean), dim=1)
        return vectors


class Network(nn.Module):
    """s(x, c).

    Args:
        options: Sizes.
        vocabulary: How many ids it knows, special ones included.
    """

    def __init__(self, options: RelevanceOptions, vocabulary: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, options.size, padding_idx=PAD)
        nn.init.normal_(self.words.weight, std=options.size**-0.5)
        self.rarity = nn.Parameter(torch.zeros(vocabulary))
        """float[V], the logarithm of each word's weight in a text's mean: learned, and no idf."""
        self.dropout = nn.Dropout(options.dropout)
        self.article = Tower(options)
        self.comment = self.article if options.shared else Tower(options)
        self.matching = (
            Matching(options.size, options.filters, options.widths) if options.form == "interaction" else None
        )
        self.scale = nn.Parameter(torch.tensor(10.0))
        self.bias = nn.Parameter(torch.tensor(-5.0))

    def embedded(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Words, weights and mask of padded texts.

        Args:
            ids: int64[n, L].

        Returns:
            float[n, L, d], float[n, L], bool[n, L].
        """
        weights = functional.embedding(ids, self.rarity[:, None])[:, :, 0].exp()
        return self.dropout(self.words(ids)), weights, ids != PAD

    def forward(self, article: Tensor, comment: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """Scores of pairs.

        Args:
            article: int64[a, La], padded.
            comment: int64[n, Lc], padded.
            rows: int64[p], the article of each pair.
            columns: int64[p], its comment.

        Returns:
            float[p].
        """
        articles, comments = self.embedded(article), self.embedded(comment)
        cosines = self.article(*articles) @ self.comment(*comments).T  # [a, n]
        # Not cosines[rows, columns]: several threads add up its gradient in no fixed order.
        chosen = cosines.flatten().index_select(0, rows * cosines.shape[1] + columns)  # [p]
        scores = chosen * self.scale + self.bias  # [p]
        if self.matching is not None:
            here, there = (self.matching.runs(words, mask) for words, _, mask in (comments, articles))
            scores = scores + self.matching(
                [runs.index_select(0, columns) for runs in here],
                comments[2][columns],
                comments[1].index_select(0, columns),
                [runs.index_select(0, rows) for runs in there],
                articles[2][rows],
            )
        result: Tensor = scores
        return result
