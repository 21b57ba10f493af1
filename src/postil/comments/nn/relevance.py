"""Relevance model: the probability of a comment given the article.

    P(c | x) = exp(s(x, c)) / sum over c' of exp(s(x, c'))

where s is a convolutional network (Qin et al. 2018, supplement C.1, equation C.2), trained on the pairs of article and
comment of a corpus with in-batch negatives.

Its layers ignore padding, where torch has none that do. A padded batch comes as ``embeddings`` float[n, L, d] and
``mask`` bool[n, L], True at tokens, right-padded; values at padding never change a result.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from postil.comments.nn import models
from postil.comments.nn.batches import Commented, Pairs, bucket_by_length, data_hash, pad_batch
from postil.comments.nn.token_ids import PAD, SPECIAL
from postil.comments.options import RelevanceOptions, TrainingOptions
from postil.comments.ranking_evaluation import reciprocal_ranks, sample_negatives
from postil.data.atomic_file import check_folder
from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from postil.comments.nn.training import Progress
    from postil.data.streams import FilePath
    from postil.text.tokens import Ragged

__all__ = [
    "KIND",
    "Convolutions",
    "LateInteraction",
    "Relevance",
    "RelevanceNetwork",
    "Tower",
    "contrastive_loss",
    "in_batch_negatives",
    "masked_max",
    "masked_mean",
    "train_relevance",
]


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


KIND: Final = "relevance"
DEV_NEGATIVES: Final = 100
"""Number of comments of other articles that a dev article's own comments are ranked among."""
_TOKENS: Final = 16_384
"""Number of tokens that are encoded at once, padding included."""
_INTERACTIONS: Final = 256
"""Number of pairs that late interaction scores at once."""
_PRODUCTS: Final = 65_536
"""Number of pairs of vectors that are multiplied at once."""
_COUNTED: Final = 2**22
"""Number of tokens that are counted at once."""
_SUBSAMPLING: Final = 1e-3
"""Subsampling threshold t of word2vec (Mikolov et al. 2013)."""


@dataclass(frozen=True, eq=False)
class Relevance:
    """A trained relevance model; from `open` or `train_relevance`.

    Args:
        network: The network in evaluation mode.
        options: Its options.
    """

    network: RelevanceNetwork
    options: RelevanceOptions

    @classmethod
    def open(cls, folder: FilePath, device: str = "cpu") -> Relevance:
        """Open a model folder.

        Args:
            folder: The folder that `train_relevance` wrote.
            device: ``cpu`` or ``cuda``.

        Raises:
            InvalidInput: It holds no relevance model, or files are missing, truncated or do not fit together.
        """
        return cls(*models.load(folder, KIND, RelevanceOptions, RelevanceNetwork, device))

    def encode_articles(self, articles: Ragged) -> NDArray[np.float32]:
        """Encode articles.

        Args:
            articles: n articles, as token ids of the corpus.

        Returns:
            L2-normalized vectors, float32[n, output_dim].
        """
        return self._encode(self.network.article, articles, self.options.article_words)

    def encode_comments(self, comments: Ragged) -> NDArray[np.float32]:
        """Encode comments; their vectors can be stored.

        Args:
            comments: n comments, as token ids of the corpus.

        Returns:
            L2-normalized vectors, float32[n, output_dim].
        """
        return self._encode(self.network.comment, comments, self.options.comment_words)

    def score(self, articles: NDArray[np.float32], comments: NDArray[np.float32]) -> NDArray[np.float32]:
        """Score each article with each comment.

        Args:
            articles: float32[n, output_dim], from `encode_articles`.
            comments: float32[m, output_dim], from `encode_comments`.

        Returns:
            Scores s, float32[n, m]; higher is better; exp(s) is proportional to P(c | x).

        Raises:
            UsageError: The model has late interaction, which vectors of whole texts do not suffice for.
        """
        if self.network.matching is not None:
            raise UsageError("a model with late interaction scores pairs of texts, not vectors: use score_pairs")
        found: NDArray[np.float32] = (articles @ comments.T) * np.float32(self.network.scale.item())
        return found

    @torch.inference_mode()
    def score_pairs(
        self, articles: Ragged, comments: Ragged, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Score pairs, with a model of either architecture.

        Args:
            articles: Texts of the articles.
            comments: Texts of the comments.
            rows: Article of each pair, int64[p].
            columns: Comment of each pair, int64[p].

        Returns:
            Scores s, float32[p]; higher is better.
        """
        found = np.empty(len(rows), dtype=np.float32)
        if self.network.matching is None:
            one = self.encode_articles(articles)  # [n, output_dim]
            two = self.encode_comments(comments)  # [m, output_dim]
            for begin in range(0, len(rows), _PRODUCTS):
                part = slice(begin, begin + _PRODUCTS)
                found[part] = (one[rows[part]] * two[columns[part]]).sum(1)
            return found * np.float32(self.network.scale.item())
        # Pairs of one article together, so that it is encoded once, and articles of similar length, for little padding.
        order = np.lexsort((columns, rows, articles.lengths[rows]))
        for begin in range(0, len(rows), _INTERACTIONS):
            some = order[begin : begin + _INTERACTIONS]
            (some_rows, row), (some_columns, column) = (
                np.unique(places[some], return_inverse=True) for places in (rows, columns)
            )
            article = self._batch(articles, some_rows, self.options.article_words)
            comment = self._batch(comments, some_columns, self.options.comment_words)
            at = (torch.from_numpy(places).to(article.device) for places in (row, column))
            found[some] = (self.network(article, comment, *at) - self.network.bias).cpu().numpy()
        return found

    @torch.inference_mode()
    def _encode(self, tower: nn.Module, texts: Ragged, max_length: int) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.options.output_dim), dtype=np.float32)
        for rows in bucket_by_length(texts, _TOKENS, max_length):
            vectors[rows] = tower(*self.network.embed(self._batch(texts, rows, max_length))).cpu().numpy()
        return vectors

    def _batch(self, texts: Ragged, rows: NDArray[np.int64], max_length: int) -> Tensor:
        words = self.network.words
        return torch.from_numpy(pad_batch(texts, rows, max_length, words.num_embeddings)).to(words.weight.device)


def train_relevance(
    train: Commented,
    dev: Commented,
    options: RelevanceOptions,
    training: TrainingOptions,
    folder: FilePath,
    *,
    embeddings: NDArray[np.float32] | None = None,
    metadata: Mapping[str, object] | None = None,
    on_message: Callable[[str], None] = lambda _: None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Relevance:
    """Train a relevance model.

    The model is the state with the best mean reciprocal rank on dev, of an article's comments among 100 of other
    articles. An interrupted training resumes from ``.FOLDER.training``, next to the folder.

    Args:
        train: Articles with comments to train on.
        dev: Articles with comments for dev evaluation.
        options: Options of the network.
        training: Options of the training; a batch is counted in comments.
        folder: The model folder to write.
        embeddings: Pretrained embeddings in the order of the corpus's vocabulary, float32[words, embedding_dim]; zeros
            for a word without one. On small corpora they matter more than anything else.
        metadata: Further metadata of the model.
        on_message: Callback for status messages.
        on_progress: Callback after each step.

    Raises:
        UsageError: The folder exists, or arrays or options do not fit together.
        PostilError: The loss is not finite, or the operating system reports an error.
    """
    from postil.comments.nn.training import train_model  # noqa: PLC0415 - accelerate is slow to load

    check_folder(folder)
    data = data_hash(*train, *dev, *(() if embeddings is None else (embeddings,)))
    task = RelevanceTask(train, dev, options, training, data)
    vocab_size = min(options.vocab_size, SPECIAL + 1 + max(int(texts.ids.max(initial=0)) for texts in train[:2]))
    network = models.build(RelevanceNetwork, options, vocab_size, training.seed)
    _initialize(network, train, embeddings)
    train_model(
        folder,
        KIND,
        network,
        task,
        training,
        config={"vocab_size": vocab_size, "options": options.recorded()},
        dev=lambda best: {"mrr": 1 - best},
        metadata=metadata,
        on_message=on_message,
        on_progress=on_progress,
    )
    return Relevance(network, options)


class RelevanceTask:
    """Ranking an article's own comments above those of others; a `TrainingTask`."""

    unit = "pairs"

    def __init__(
        self, train: Commented, dev: Commented, options: RelevanceOptions, training: TrainingOptions, data: str
    ) -> None:
        if len(train.starts) < 3 or len(dev.starts) < 3:
            raise UsageError("expected at least two articles with comments, to train on and in dev")
        self.dev_texts, self.options = dev, options
        pairs = Pairs(
            *train,
            vocab_size=options.vocab_size,
            batch=training.batch,
            comments_per_group=min(options.comments_per_group, training.batch),
            article_words=options.article_words,
            comment_words=options.comment_words,
            comments_per_article=options.comments_per_article,
            seed=training.seed,
        )
        self.batches = pairs.epoch
        others = int(dev.starts[-1] - np.diff(dev.starts).max())
        self.lists = sample_negatives(dev.starts, n=min(DEV_NEGATIVES, others))
        self.request = {"kind": KIND, "data": data, **options.recorded()}

    def loss(self, network: nn.Module, batch: dict[str, Tensor]) -> tuple[Tensor, int]:
        """Mean contrastive loss per comment; see `TrainingTask`."""
        owner = batch["owner"]
        others, mask = in_batch_negatives(owner, self.options.negatives)  # [n, k] both
        columns = torch.cat([torch.arange(len(owner), device=owner.device)[:, None], others], dim=1)  # [n, 1 + k]
        rows = owner[:, None].expand_as(columns)
        scores = network(batch["article"], batch["comment"], rows.flatten(), columns.flatten()).view(columns.shape)
        return contrastive_loss(scores.float(), mask, self.options.loss), len(owner)

    def dev(self, network: nn.Module) -> float:
        """1 minus the mean reciprocal rank; see `TrainingTask`."""
        assert isinstance(network, RelevanceNetwork)  # noqa: S101 - for the type checker
        relevance = Relevance(network, self.options)
        scorer = partial(relevance.score_pairs, *self.dev_texts[:2])
        return 1 - reciprocal_ranks(self.lists, {KIND: scorer})[KIND]


def in_batch_negatives(owner: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """In-batch negatives of each comment: comments of other articles.

    Args:
        owner: Article of each comment, int64[n].
        k: Number of negatives to sample uniformly with replacement; 0 for all comments of the batch.

    Returns:
        Negatives int64[n, k], and the negatives mask bool[n, k], False at comments of the same article.

    >>> negatives, mask = in_batch_negatives(torch.tensor([0, 0, 1]), k=0)
    >>> negatives[mask].tolist()
    [2, 2, 0, 1]
    """
    other = owner[:, None] != owner[None, :]  # [n, n]
    if k == 0:
        return torch.arange(len(owner), device=owner.device).expand_as(other), other
    # A batch of one article has no negatives; any comment is sampled then, and masked below.
    alone = ~other.any(1, keepdim=True)
    sampled = torch.multinomial((other | alone).float(), k, replacement=True)  # [n, k]
    return sampled, other.gather(1, sampled)


def contrastive_loss(scores: Tensor, mask: Tensor, loss: str) -> Tensor:
    """Contrastive loss of comments and their negatives.

    - ``softmax`` (in-batch softmax, InfoNCE): -log(exp(s0) / sum of exp(s)) over the comment and its negatives. It
      needs no correction for sampling probabilities, since all comments are equally likely to be sampled.
    - ``negative`` (negative sampling): -log sigmoid(s0) - sum of log sigmoid(-s) over the negatives.

    Args:
        scores: Scores of each comment and its negatives, float[n, 1 + k].
        mask: Negatives mask, bool[n, k].
        loss: ``softmax`` or ``negative``.

    Returns:
        Mean over comments.

    >>> contrastive_loss(torch.zeros(1, 3), torch.tensor([[True, False]]), "softmax").exp().item()
    2.0
    """
    if loss == "softmax":
        masked = scores[:, 1:].masked_fill(~mask, -torch.inf)
        return (torch.cat([scores[:, :1], masked], dim=1).logsumexp(1) - scores[:, 0]).mean()
    noise = (functional.softplus(scores[:, 1:]) * mask).sum(1)
    return (functional.softplus(-scores[:, 0]) + noise).mean()


@torch.no_grad()
def _initialize(network: RelevanceNetwork, train: Commented, embeddings: NDArray[np.float32] | None) -> None:
    """Set initial token weights and pretrained embeddings.

    A token with the share p of all tokens weighs min(1, sqrt(t / p)): the probability with which word2vec's subsampling
    keeps it (Mikolov et al. 2013).
    """
    known = network.words.num_embeddings - SPECIAL
    counts = np.zeros(known, dtype=np.int64)
    for texts in train[:2]:
        for begin in range(0, len(texts.ids), _COUNTED):
            counts += np.bincount(texts.ids[begin : begin + _COUNTED], minlength=known)[:known]
    share = np.maximum(counts, 1) / max(1, int(counts.sum()))
    if network.log_weights is not None:
        network.log_weights[SPECIAL:] = torch.from_numpy(-0.5 * np.log(np.maximum(share / _SUBSAMPLING, 1.0))).float()
    models.set_embeddings(network.words, embeddings)
