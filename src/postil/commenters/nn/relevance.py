"""The relevance model: how well does a comment go with an article?

    P(c | x) = exp(s(x, c)) / sum over c' of exp(s(x, c'))

where s is a convolutional network (Qin et al. 2018, supplement C.1, equation C.2) that is trained on the pairs of
article and comment of a corpus, with comments of other articles as negatives.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from postil.commenters.nn import models
from postil.commenters.nn.batches import SPECIAL, Commented, Pairs, Ragged, by_length, hashed, padded
from postil.commenters.nn.relevance_network import Network, RelevanceOptions
from postil.commenters.ranking_evaluation import evaluate, sample_negatives
from postil.commenters.store import check_free
from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.commenters.nn.batches import Batch, Texts
    from postil.commenters.nn.training import Progress, TrainingOptions
    from postil.records.row_files import FilePath

__all__ = ["KIND", "Commented", "Relevance", "RelevanceOptions", "contrast", "negatives", "train_relevance"]

KIND: Final = "relevance"
_WORDS: Final = 16_384
"""Words that are encoded together."""
_TOGETHER: Final = 256
"""Pairs that are matched word by word together."""
_PAIRS: Final = 65_536
"""Pairs of vectors that are multiplied together."""
_AT_ONCE: Final = 2**22
"""Words that are counted together."""


@dataclass(frozen=True, eq=False)
class Relevance:
    """A trained relevance model; `open` it, or `train_relevance`.

    Args:
        network: The network, in evaluation.
        options: What it is.
    """

    network: Network
    options: RelevanceOptions

    @classmethod
    def open(cls, folder: FilePath, device: str = "cpu") -> Relevance:
        """Open a model folder.

        Args:
            folder: The folder that `train_relevance` made.
            device: Where to calculate: ``cpu`` or ``cuda``.

        Raises:
            InvalidInput: It holds no relevance model, or files are missing, cut short or do not fit together.
        """
        return cls(*models.load(folder, KIND, RelevanceOptions, Network, device))

    def encode_articles(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of articles.

        Args:
            ids: int32[T], words as the corpus numbers them, all articles behind one another.
            offsets: int64[n + 1], where each begins.

        Returns:
            float32[n, output].
        """
        return self._encode(self.network.article, Ragged(ids, offsets), self.options.article_words)

    def encode_comments(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of comments; made once, they can be kept.

        Args:
            ids: int32[T], words as the corpus numbers them, all comments behind one another.
            offsets: int64[n + 1], where each begins.

        Returns:
            float32[n, output].
        """
        return self._encode(self.network.comment, Ragged(ids, offsets), self.options.comment_words)

    def score(self, articles: NDArray[np.float32], comments: NDArray[np.float32]) -> NDArray[np.float32]:
        """The score s of each article with each comment.

        Args:
            articles: float32[n, output], of `encode_articles`.
            comments: float32[m, output], of `encode_comments`.

        Returns:
            float32[n, m], high is good; exp of it is proportional to P(c | x).

        Raises:
            UsageError: The model is an interaction, whose s is more than what vectors tell.
        """
        if self.network.matching is not None:
            raise UsageError("an interaction scores pairs of texts, not vectors: use score_pairs")
        found: NDArray[np.float32] = (articles @ comments.T) * np.float32(self.network.scale.item())
        return found

    @torch.inference_mode()
    def score_pairs(
        self, articles: Texts, comments: Texts, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The score s of pairs, of a model of either form.

        Args:
            articles: Articles' texts.
            comments: Comments' texts.
            rows: int64[p], the article of each pair.
            columns: int64[p], its comment.

        Returns:
            float32[p], high is good.
        """
        found = np.empty(len(rows), dtype=np.float32)
        if self.network.matching is None:
            one = self.encode_articles(articles.ids, articles.offsets)  # [n, output]
            two = self.encode_comments(comments.ids, comments.offsets)  # [m, output]
            for begin in range(0, len(rows), _PAIRS):
                part = slice(begin, begin + _PAIRS)
                found[part] = (one[rows[part]] * two[columns[part]]).sum(1)
            return found * np.float32(self.network.scale.item())
        # Pairs of an article together, and articles of like length, so that there is little to fill up.
        order = np.lexsort((columns, rows, np.diff(articles.offsets)[rows]))
        for begin in range(0, len(rows), _TOGETHER):
            some = order[begin : begin + _TOGETHER]
            (some_rows, row), (some_columns, column) = (
                np.unique(places[some], return_inverse=True) for places in (rows, columns)
            )
            article = self._padded(articles, some_rows, self.options.article_words)
            comment = self._padded(comments, some_columns, self.options.comment_words)
            at = (torch.from_numpy(places).to(article.device) for places in (row, column))
            found[some] = (self.network(article, comment, *at) - self.network.bias).cpu().numpy()
        return found

    @torch.inference_mode()
    def _encode(self, tower: nn.Module, texts: Texts, longest: int) -> NDArray[np.float32]:
        found = np.empty((len(texts.offsets) - 1, self.options.output), dtype=np.float32)
        for rows in by_length(texts, _WORDS, longest):
            found[rows] = tower(*self.network.embedded(self._padded(texts, rows, longest))).cpu().numpy()
        return found

    def _padded(self, texts: Texts, rows: NDArray[np.int64], longest: int) -> Tensor:
        words = self.network.words
        return torch.from_numpy(padded(texts, rows, longest, words.num_embeddings)).to(words.weight.device)


def train_relevance(
    train: Commented,
    dev: Commented,
    options: RelevanceOptions,
    how: TrainingOptions,
    folder: FilePath,
    *,
    vectors: NDArray[np.float32] | None = None,
    made: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = lambda _: None,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Relevance:
    """Train a relevance model.

    What is kept is the state with the best mean reciprocal rank on dev, of an article's comments among 100 of other
    articles. A training that was cut off goes on from ``.FOLDER.training``, beside the folder to make.

    Args:
        train: Articles with comments to train on.
        dev: Others to measure on.
        options: What to train.
        how: How to train it; a batch counts comments.
        folder: The model folder to make.
        vectors: float32[words, size], vectors to begin with, in the order of the corpus's words; zeros for a word that
            has none. On small corpora they matter more than anything else.
        made: What to note of how it was made.
        say: Told what is worth knowing.
        watch: Told after each step how far it is.

    Raises:
        UsageError: The folder is there already, or arrays or options do not fit together.
        PostilError: The loss is not a number, or the system refuses to write.
    """
    check_free(folder)
    task = _Task(train, dev, options, how, hashed(*train, *dev, *(() if vectors is None else (vectors,))))
    vocabulary = min(options.vocabulary, SPECIAL + 1 + max(int(texts.ids.max(initial=0)) for texts in train[:2]))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(how.seed)
        network = models.build(Network, options, vocabulary)
    _begin(network, train, vectors)
    models.train(
        folder,
        KIND,
        network,
        task,
        how,
        config={"vocabulary": vocabulary, "options": asdict(options)},
        dev=lambda best: {"mrr": 1 - best},
        made=made,
        say=say,
        watch=watch,
    )
    return Relevance(network, options)


class _Task:
    """Finding an article's own comments among those of others."""

    unit = "pairs"

    def __init__(
        self, train: Commented, dev: Commented, options: RelevanceOptions, how: TrainingOptions, data: str
    ) -> None:
        if len(train.starts) < 3 or len(dev.starts) < 3:
            raise UsageError("expected at least two articles with comments, to train on and in dev")
        self.dev_texts, self.options = dev, options
        self.pairs = Pairs(
            *train,
            vocabulary=options.vocabulary,
            batch=how.batch,
            group=min(options.group, how.batch),
            article_words=options.article_words,
            comment_words=options.comment_words,
            pairs=options.pairs,
            seed=how.seed,
        )
        others = int(dev.starts[-1] - np.diff(dev.starts).max())
        self.lists = sample_negatives(dev.starts, n=min(100, others))
        self.request = {"kind": KIND, "data": data, **asdict(options)}

    def batches(self, epoch: int) -> Sequence[Batch]:
        return self.pairs.epoch(epoch)

    def loss(self, network: nn.Module, batch: dict[str, Tensor]) -> tuple[Tensor, int]:
        owner = batch["owner"]
        others, counts = negatives(owner, self.options.drawn)  # [n, k] both
        columns = torch.cat([torch.arange(len(owner), device=owner.device)[:, None], others], dim=1)  # [n, 1 + k]
        rows = owner[:, None].expand_as(columns)
        scores = network(batch["article"], batch["comment"], rows.flatten(), columns.flatten()).view(columns.shape)
        return contrast(scores.float(), counts, self.options.loss), len(owner)

    def dev(self, network: nn.Module) -> float:
        assert isinstance(network, Network)  # noqa: S101 - for the type checker
        relevance = Relevance(network, self.options)
        articles, comments, _ = self.dev_texts

        def scorer(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
            return relevance.score_pairs(articles, comments, rows, columns)

        found = evaluate(self.lists, {KIND: scorer}, np.ones((1, len(self.lists)), np.int32))
        return 1 - next(row.value for row in found.rows if (row.scorer, row.measure) == (KIND, "mrr"))


def negatives(owner: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Comments of other articles, for each comment of a batch.

    Args:
        owner: int64[n], the article of each comment.
        k: How many to draw, with replacement, all equally likely; 0 for all comments of the batch.

    Returns:
        int64[n, k], which; bool[n, k], whether it counts: comments of the same article do not.

    >>> which, counts = negatives(torch.tensor([0, 0, 1]), k=0)
    >>> which[counts].tolist()
    [2, 2, 0, 1]
    """
    strange = owner[:, None] != owner[None, :]  # [n, n]
    if k == 0:
        return torch.arange(len(owner), device=owner.device).expand_as(strange), strange
    alone = ~strange.any(1, keepdim=True)  # a batch of one article has none to draw
    drawn = torch.multinomial((strange | alone).float(), k, replacement=True)  # [n, k]
    return drawn, strange.gather(1, drawn)


def contrast(scores: Tensor, counts: Tensor, loss: str) -> Tensor:
    """The loss of comments beside their negatives.

    - ``softmax``: -log(exp(s0) / sum of exp(s)), over the comment and its negatives. The correction for how likely a
      negative is to be drawn is not needed, since each comment is as likely as any other.
    - ``negative``: -log sigmoid(s0) - sum of log sigmoid(-s) over the negatives.

    Args:
        scores: float[n, 1 + k], of the comment itself and of its negatives.
        counts: bool[n, k], which negatives count.
        loss: The name.

    Returns:
        The mean over comments.

    >>> contrast(torch.zeros(1, 3), torch.tensor([[True, False]]), "softmax").exp().item()
    2.0
    """
    if loss == "softmax":
        masked = scores[:, 1:].masked_fill(~counts, -torch.inf)
        return (torch.cat([scores[:, :1], masked], dim=1).logsumexp(1) - scores[:, 0]).mean()
    noise = (functional.softplus(scores[:, 1:]) * counts).sum(1)
    return (functional.softplus(-scores[:, 0]) + noise).mean()


@torch.no_grad()
def _begin(network: Network, train: Commented, vectors: NDArray[np.float32] | None) -> None:
    """Initial weights and vectors of words.

    A word with the share p of all words weighs min(1, sqrt(t / p)) with t = 1e-3: the probability with which word2vec
    keeps it (subsampling; Mikolov et al. 2013).
    """
    known = network.words.num_embeddings - SPECIAL
    counts = np.zeros(known, dtype=np.int64)
    for texts in train[:2]:
        for begin in range(0, len(texts.ids), _AT_ONCE):
            counts += np.bincount(texts.ids[begin : begin + _AT_ONCE], minlength=known)[:known]
    share = np.maximum(counts, 1) / max(1, int(counts.sum()))
    network.rarity[SPECIAL:] = torch.from_numpy(-0.5 * np.log(np.maximum(share / 1e-3, 1.0))).float()
    if vectors is None:
        return
    size = network.words.embedding_dim
    if vectors.ndim != 2 or vectors.shape[1] != size:
        raise UsageError(f"vectors: expected float32[words, {size}], got an array of shape {vectors.shape}")
    lengths = np.linalg.norm(vectors[:known], axis=1)
    given = np.flatnonzero(lengths)
    if len(given):
        # As long as random ones are, on the average.
        network.words.weight[SPECIAL + given] = torch.from_numpy(vectors[given] / lengths[given].mean()).float()
