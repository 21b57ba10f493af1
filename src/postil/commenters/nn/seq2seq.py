"""The network that writes: an encoder, a decoder with or without attention, and a softmax over words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import torch
from torch import Tensor, nn

from postil.commenters.nn import losses
from postil.commenters.nn.batches import BOS, EOS, PAD, SPECIAL, UNK
from postil.commenters.nn.decoder import Decoder, Read, State
from postil.commenters.nn.dropout import Dropout
from postil.commenters.nn.encoder import Encoder
from postil.commenters.nn.models import check_sizes
from postil.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GeneratorOptions", "Network"]


@dataclass(frozen=True, slots=True)
class GeneratorOptions:
    """What a generator is; the paper gives ``size`` and ``vocabulary`` (supplement C.1).

    Args:
        attention: ``dot`` (Luong's *general*, with a learned matrix), ``additive`` (Bahdanau's score), or ``none`` (a
            plain encoder and decoder).
        cell: ``gru`` or ``lstm``.
        vocabulary: How many words it knows, four special ones among them.
        size: Length of a state.
        word_size: Length of a word's vector.
        layers: How many recurrent layers encoder and decoder have.
        dropout: Share of numbers that are dropped in training.
        softmax: The loss in training: ``full``, or ``sampled``, an estimate from words that are drawn. On dev it is
            always the full one.
        sampled: How many distinct words are drawn for each batch, never ``<pad>`` or ``<bos>``. A vocabulary without
            more words than that trains with the full softmax.
        group: Comments of an article that go into a batch together, so that it is read once for them.
        pairs: All comments of an article, or one drawn.
        article_words: Articles are cut behind so many words.
        comment_words: Comments are cut behind so many words.
    """

    attention: Literal["dot", "additive", "none"] = "dot"
    cell: Literal["gru", "lstm"] = "gru"
    vocabulary: int = 30_000
    size: int = 256
    word_size: int = 256
    layers: int = 1
    dropout: float = 0.2
    softmax: Literal["full", "sampled"] = "full"
    sampled: int = 2000
    group: int = 8
    pairs: Literal["all", "one"] = "all"
    article_words: int = 400
    comment_words: int = 50

    def __post_init__(self) -> None:
        check_sizes(self)
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise UsageError(f"{name}: expected {' or '.join(known)}, got {getattr(self, name)}")
        for name in ("word_size", "layers", "sampled", "group", "article_words", "comment_words"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name}: expected at least 1, got {getattr(self, name)}")
        if self.vocabulary <= SPECIAL or self.size < 2:
            raise UsageError(f"expected a vocabulary above {SPECIAL} and a size from 2")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"dropout: expected 0 to less than 1, got {self.dropout}")


_CHOICES: Final = {
    "attention": ("dot", "additive", "none"),
    "cell": ("gru", "lstm"),
    "softmax": ("full", "sampled"),
    "pairs": ("all", "one"),
}


class Network(nn.Module):
    """P(comment | article), word by word.

    One matrix holds the vectors of words, for what is read, what is written, and what comes next (Press and Wolf 2017).

    Args:
        options: What it is.
        vocabulary: How many ids it knows, special ones included.
    """

    def __init__(self, options: GeneratorOptions, vocabulary: int) -> None:
        super().__init__()
        can_follow = vocabulary - 2  # nothing ever writes <pad> or <bos>
        self._sampled = options.sampled if options.softmax == "sampled" and options.sampled < can_follow else 0
        self._negatives: losses.Negatives | None = None  # made where the first batch is
        self.words = nn.Embedding(vocabulary, options.word_size, padding_idx=PAD)
        nn.init.normal_(self.words.weight, std=options.word_size**-0.5)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        self.dropout = Dropout(options.dropout)
        shape = options.word_size, options.size, options.layers, options.cell
        attention = None if options.attention == "none" else options.attention
        self.encoder = Encoder(*shape, dropout=options.dropout)
        self.decoder = Decoder(*shape, attention=attention, dropout=options.dropout)

    @torch.no_grad()
    def begin(self, counts: NDArray[np.int64], vectors: NDArray[np.float32] | None = None) -> None:
        """Begin with each word as likely as it is anywhere, so that no training goes into that, and with vectors.

        Args:
            counts: int64[V], how often each word, as the model numbers it, is to be written.
            vectors: float32[words, d], in the order of the corpus's words; zeros for a word that has none.

        Raises:
            UsageError: The vectors have another length.
        """
        share = np.maximum(counts, 0.5)
        self.bias.copy_(torch.from_numpy(np.log(share / share.sum())))
        if vectors is None:
            return
        size, known = self.words.embedding_dim, self.words.num_embeddings - SPECIAL
        if vectors.ndim != 2 or vectors.shape[1] != size:
            raise UsageError(f"vectors: expected float32[words, {size}], got an array of shape {vectors.shape}")
        lengths = np.linalg.norm(vectors[:known], axis=1)
        given = np.flatnonzero(lengths)
        if len(given):  # as long as random ones are, on the average
            self.words.weight[SPECIAL + given] = torch.from_numpy(vectors[given] / lengths[given].mean())

    def read(self, articles: Tensor) -> tuple[Read, Tensor]:
        """Read articles.

        Args:
            articles: int64[a, S], padded.

        Returns:
            What attention looks at; where the encoder ended, float[layers, a, h].
        """
        return self._read(self.words(articles), articles != PAD)

    def _read(self, words: Tensor, mask: Tensor) -> tuple[Read, Tensor]:
        """Of words float[a, S, d] and mask bool[a, S]."""
        states, last = self.encoder(self.dropout(words), mask)  # [a, S, h]
        seen = mask.clone()
        seen[:, 0] = True  # an article without words
        return Read(states, seen), last

    def forward(self, article: Tensor, comment: Tensor, owner: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of comments.

        Args:
            article: int64[a, S], padded.
            comment: int64[n, L], padded.
            owner: int64[n], the row of the article that a comment is on.

        Returns:
            The sum of -log P(word) over the words of all comments and their ends, in nats; how many these are, int64.
            In training the sum may be the estimate of `losses.sampled`.
        """
        begin = comment.new_full((len(comment), 1), BOS)
        before = torch.cat([begin, comment], dim=1)  # [n, L + 1]
        inside = before != PAD  # [n, L + 1]
        targets = torch.cat([comment, begin.new_full(begin.shape, PAD)], dim=1)  # [n, L + 1]
        targets = torch.where(targets == PAD, EOS, targets)[inside]  # [words]
        drawn = self._draw(comment.device) if self.training and self._sampled else None
        wanted = [article, before, *((targets, drawn.words) if drawn else ())]
        of_article, of_comment, *of_output = self._vectors(wanted)
        read, last = self._read(of_article, article != PAD)
        of_comments = Read.shared(read.states, read.mask, owner) if self.decoder.attention else None
        state = self.decoder.begin(last.index_select(1, owner))
        features, _ = self.decoder(self.dropout(of_comment), state, of_comments)  # [n, L + 1, d]
        features = features[inside]  # [words, d]
        if drawn:
            own, others = of_output
            return losses.sampled(features, own, others, self.bias, targets=targets, drawn=drawn), inside.sum()
        return losses.full(features, self.words.weight, self.bias, targets), inside.sum()

    def _draw(self, device: torch.device) -> losses.Drawn:
        if self._negatives is None:
            can_follow = torch.tensor([UNK, *range(EOS, len(self.bias))], device=device)
            self._negatives = losses.Negatives(self._sampled, can_follow)
        return self._negatives.draw()

    def _vectors(self, ids: list[Tensor]) -> list[Tensor]:
        """The vectors of words, float[..., d] each.

        The words of all are looked up at once: each look in the whole matrix takes a gradient as large as it is.
        """
        rows, places = torch.unique(torch.cat([part.flatten() for part in ids]), return_inverse=True)
        here = self.words(rows)  # [distinct, d]
        several = torch.split(places, [part.numel() for part in ids])
        return [nn.functional.embedding(part.view(of.shape), here) for part, of in zip(several, ids, strict=True)]

    def next(self, words: Tensor, state: State, read: Read | None) -> tuple[Tensor, State]:
        """Go on by a word.

        Args:
            words: int64[n], the last word of each text.
            state: The state before it.
            read: What is written about; of n texts, or of as many that n is a multiple.

        Returns:
            What `scores` takes, float[n, d]; the state behind the word.
        """
        features, state = self.decoder(self.words(words)[:, None], state, read)  # [n, 1, d]
        return features[:, 0], state

    def scores(self, features: Tensor, begin: int = 0, end: int | None = None) -> Tensor:
        """The scores of words, float[n, m]; the softmax of those of all words is P.

        Args:
            features: float[n, d].
            begin: The first word.
            end: The word after the last; None for all.
        """
        return nn.functional.linear(features, self.words.weight[begin:end], self.bias[begin:end])
