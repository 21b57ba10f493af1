"""Comment ranking and upvote prediction: threads, and scorers and cross-fitted regressions against readers' votes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.comments.rankers import ArticleTexts, TfidfRanker, idf_weights
from postil.comments.retrieval import Retriever
from postil.data.explain import counted, have
from postil.data.fields import unix_seconds
from postil.data.progress import OnMessage, progress
from postil.data.ranking import dense_ranks
from postil.errors import UsageError
from postil.kernel import rank_correlations
from postil.messages import Message, Setting
from postil.meta.column_correlations import rank_coefficient, ratio
from postil.meta.resampling import bootstrap_counts
from postil.metrics.references import References
from postil.metrics.ungraded import mean_similarities, similarity_of
from postil.studies.result import StudyPart, StudyRow, StudyTable, interval_cells
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Tokens, Vocabulary
from postil.threads.evaluation import gains, ndcg, pairwise
from postil.threads.quality import text_shares
from postil.training.texts import CorpusTexts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from postil.corpus.store import Corpus
    from postil.data.rows import Article
    from postil.kernel.arrays import Floats, Int32s, Int64s
    from postil.studies.options import UsesOptions

__all__ = [
    "AGE",
    "BOTH",
    "LENGTH",
    "Threads",
    "VotePrediction",
    "assign_folds",
    "between_share",
    "centered_ranks",
    "cross_fit",
    "r_squared",
    "ranking_part",
    "read_threads",
    "resampled_means",
    "thread_measures",
    "votes_part",
    "with_text",
]

AGE: Final = "age"
LENGTH: Final = "length"
POSITION: Final = "position"
TEXT: Final = "text"
BOTH: Final = "length and age"
BATCH: Final = 64
"""Number of articles whose comments are ranked together."""
CURVED: Final = (LENGTH, AGE)
"""Features whose squares are features as well, so that the baseline is as strong as length and age can be."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Threads:
    """Threads of comments with votes.

    Args:
        starts: int64[A], the index of each article's first comment.
        votes: float64[n].
        scores: float64[n] by name, the scorers; higher is expected to be better.
        shares: float64[n] by name, shares of signs in the text.
        absent: Reason by name, for scorers that the data do not have.
        unvoted: Number of comments without votes, which are left out.
        left_out: Number of articles left out: without two different numbers of votes, or with none above 0.
    """

    starts: NDArray[np.int64]
    votes: Floats
    scores: Mapping[str, Floats]
    shares: Mapping[str, Floats]
    absent: Mapping[str, str]
    unvoted: int
    left_out: int

    @property
    def feature_sets(self) -> dict[str, tuple[str, ...]]:
        """Features by the name of a fit: the baseline, the text alone, both."""
        text = tuple(name for name in self.scores if name not in (*CURVED, POSITION)) + tuple(self.shares)
        sets: dict[str, tuple[str, ...]] = {LENGTH: (LENGTH,)}
        if AGE in self.scores:
            sets |= {AGE: (AGE,), BOTH: (LENGTH, AGE)}
        return sets | {TEXT: text} | {with_text(name): (*text, *names) for name, names in sets.items()}

    def features(self, names: Sequence[str]) -> tuple[Floats, list[int]]:
        """Features of the comments, length and seconds as logarithms.

        Args:
            names: Names of a feature set.

        Returns:
            float64[n, d], and the columns of those in `CURVED`.
        """
        known = {**self.scores, **self.shares}
        columns = [np.log1p(np.abs(known[name])) if name in CURVED else known[name] for name in names]
        return np.column_stack(columns), [at for at, name in enumerate(names) if name in CURVED]


def with_text(name: str) -> str:
    """Name of the fit that has the features of another one and those of the text.

    Args:
        name: Name of the other one.

    >>> with_text("length"), with_text("length and age")
    ('text and length', 'text, length and age')
    """
    return f"{TEXT}{',' if name == BOTH else ' and'} {name}"


def read_threads(corpus: Corpus, model: str | None, jobs: int, on_message: OnMessage = lambda _: None) -> Threads:
    """Read the test articles and score their comments.

    Args:
        corpus: The corpus.
        model: Folder of an ir-t or ir-tc; None without.
        jobs: Number of threads.
        on_message: Callback for status messages.

    Raises:
        UsageError: There is no test set, or fewer than two of its articles have votes that differ.
        InvalidInput, MissingExtra: As `Retriever.open`.
    """
    if "test" not in corpus.splits:
        raise UsageError(f"{corpus.path}: it has no test set; it has {', '.join(corpus.splits)}")
    stored = list(corpus.articles("test"))
    threads = [(*article.comments, *(article.held_out or ())) for article in stored]
    voted = [tuple(comment for comment in thread if comment.upvotes is not None) for thread in threads]
    articles = [
        msgspec.structs.replace(article, comments=thread, held_out=())
        for article, thread in zip(stored, voted, strict=True)
        if len(votes := {comment.upvotes or 0 for comment in thread}) > 1 and max(votes) > 0
    ]
    if len(articles) < 2:
        problem = f"{len(articles)} of {len(stored):,} test articles have comments whose upvotes differ, some above 0"
        raise UsageError(f"{corpus.path}: {problem}; expected two or more")
    retriever = None if model is None else _opened(corpus, model, jobs, on_message)
    scores, absent = _scores(corpus, articles, retriever, jobs)
    if any(article.held_out for article in stored):
        absent[POSITION] = "references were sampled from the comments, so that their order is not known"
        del scores[POSITION]
    return Threads(
        starts=np.cumsum([0, *(len(article.comments) for article in articles)])[:-1],
        votes=np.array([float(one.upvotes or 0) for article in articles for one in article.comments]),
        scores=scores,
        shares=text_shares([one.text for article in articles for one in article.comments]),
        absent=absent,
        unvoted=sum(map(len, threads)) - sum(map(len, voted)),
        left_out=len(stored) - len(articles),
    )


def _scores(
    corpus: Corpus, articles: Sequence[Article], retriever: Retriever | None, jobs: int
) -> tuple[dict[str, Floats], dict[str, str]]:
    """Scorers by name, and the reasons of those that are absent."""
    split, known = tokenizer(corpus.tokenizer), Vocabulary()
    known.encode_tokens([corpus.words()])
    texts = known.encode([f"{one.title}\n{one.content or ''}" for one in articles], split, jobs, allow_han=True)
    comments = known.encode([one.text for article in articles for one in article.comments], split, jobs, allow_han=True)
    offsets = np.cumsum([0, *(len(article.comments) for article in articles)])
    scores, absent = dict[str, "Floats"](), dict[str, str]()
    if retriever is None:
        absent["relevance"] = Message("no model is given; {model} takes an ir-t or ir-tc", model=Setting("model"))
    else:
        ranker = retriever.model.setting("ranker", str)
        scores[f"{retriever.model.kind}, {ranker}"] = _relevance(retriever, articles)
    scores["tf-idf"] = _cosines(corpus, texts, comments, offsets)
    similarity = similarity_of("consensus")
    if similarity is not None:
        scores["consensus"] = mean_similarities(References(comments, offsets), similarity, jobs=jobs)
    scores[LENGTH] = np.diff(comments.offsets).astype(np.float64)
    dates = [article.date for article in articles]
    dates += [comment.date for article in articles for comment in article.comments]
    undated = dates.count(None)
    if undated:
        absent[AGE] = f"{undated:,} of {len(dates):,} articles and comments {have(undated)} no date"
    else:
        scores[AGE] = _ages(articles)
    scores[POSITION] = -np.concatenate([np.arange(len(article.comments), dtype=np.float64) for article in articles])
    return scores, absent


def _opened(corpus: Corpus, folder: str, jobs: int, on_message: OnMessage) -> Retriever:
    """A model with the tokenizer of the corpus."""
    retriever = Retriever.open(folder, jobs=jobs)
    retriever.model.check_tokenizer(corpus.tokenizer, corpus.path)
    if not retriever.model.trained_on(corpus.metadata.origin):
        on_message(f"{folder}: trained on another corpus, which may contain the test articles")
    return retriever


def _relevance(retriever: Retriever, articles: Sequence[Article]) -> Floats:
    """Scores of a model's ranker; 0 for all comments of an article without input."""
    scores = []
    with progress("articles ranked", articles, len(articles)) as stream:
        while batch := list(islice(stream, BATCH)):
            known = map(retriever.has_input, batch)
            ranked = zip(retriever.rank(batch), known, strict=True)
            scores += [each if there else np.zeros(len(each)) for each, there in ranked]
    return np.concatenate(scores)


def _cosines(corpus: Corpus, articles: Tokens, comments: Tokens, offsets: NDArray[np.int64]) -> Floats:
    """TF-IDF cosine of each comment with its article; document frequencies are those of train."""
    train = CorpusTexts(corpus, "both" if len(corpus.tokens("train", "content").ids) else "title")
    idf = idf_weights(
        train.articles("train"), train.comments("train"), train.starts("train"), corpus.metadata.words, "plain"
    )
    ranker = TfidfRanker(comments, idf)
    places = [np.arange(start, end) for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
    return np.concatenate(ranker.score_stored(ArticleTexts(articles, articles, ()), places))


def _ages(articles: Sequence[Article]) -> Floats:
    """Minus the seconds from article to comment; 0 where the comment has the earlier date."""
    seconds = [
        unix_seconds(comment.date or "") - unix_seconds(article.date or "")
        for article in articles
        for comment in article.comments
    ]
    return -np.maximum(0.0, np.array(seconds, np.float64))


PENALTY: Final = 1.0
"""Ridge penalty, for features of standard deviation 1."""
FARTHEST: Final = 3.0
"""Standard deviations that features are clipped to, so that a few odd texts decide no fit and get no odd prediction."""


def assign_folds(clusters: int, folds: int, seed: int) -> Int64s:
    """Assign clusters to folds of equal size, at random.

    Args:
        clusters: Number of clusters.
        folds: Number of folds.
        seed: The seed.

    Returns:
        int64[clusters], from 0 to folds - 1.

    Raises:
        UsageError: There are fewer than two folds, or fewer clusters than folds.

    >>> assign_folds(5, folds=2, seed=1).tolist()
    [0, 0, 1, 0, 1]
    """
    if not 2 <= folds <= clusters:
        raise UsageError(f"folds: expected 2 to {clusters:,}, the number of articles, got {folds}")
    return np.random.default_rng(seed).permutation(clusters) % folds


def cross_fit(features: Floats, target: Floats, folds: Int64s) -> Floats:
    """Predict each row by a ridge regression on the rows of the other folds.

    Features are standardized by their mean and standard deviation there and clipped to three of these. The penalty is
    1, so it is negligible where there are many rows; the intercept is not penalized.

    Args:
        features: float64[n, d]; with d = 0 a row is predicted by the mean of the other folds.
        target: float64[n].
        folds: int64[n], the fold of each row.

    Returns:
        float64[n].

    >>> x = np.arange(6.0)
    >>> cross_fit(x[:, None], 2 * x + 1, np.array([0, 1, 0, 1, 0, 1])).round(1).tolist()
    [2.5, 3.5, 5.5, 6.5, 8.5, 9.5]
    """
    out = np.empty(len(target))
    for fold in np.unique(folds):
        seen, new = folds != fold, folds == fold
        mean, spread = features[seen].mean(axis=0), features[seen].std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        known, asked = (np.clip((features[rows] - mean) / spread, -FARTHEST, FARTHEST) for rows in (seen, new))
        level = target[seen].mean()
        penalty = PENALTY * np.eye(features.shape[1])
        out[new] = level + asked @ np.linalg.solve(known.T @ known + penalty, known.T @ (target[seen] - level))
    return out


def r_squared(target: Floats, predicted: Floats, reference: Floats, starts: Int64s, counts: Int32s) -> Floats:
    """Out-of-fold R²: 1 - the sum of squared errors over that of a reference prediction.

    Args:
        target: float64[n].
        predicted: float64[n].
        reference: float64[n], such as the out-of-fold mean.
        starts: int64[A], first row of each cluster.
        counts: int32[R, A], resample multiplicities.

    Returns:
        float64[1 + R], the value and that of each resample; below 0 where the reference predicts better.

    >>> target, zero = np.array([1.0, -1.0, 2.0]), np.zeros(3)
    >>> r_squared(target, target / 2, zero, np.array([0, 2]), np.array([[2, 0]], np.int32)).tolist()
    [0.75, 0.75]
    """
    errors, all_of = (np.add.reduceat((target - guess) ** 2, starts) for guess in (predicted, reference))
    drawn = np.concatenate([np.ones((1, len(starts))), counts])
    return np.asarray(1 - (drawn @ errors) / (drawn @ all_of), np.float64)


def resampled_means(values: Floats, counts: Int32s) -> Floats:
    """Mean over clusters, and that of each resample.

    Args:
        values: float64[A, …].
        counts: int32[R, A], resample multiplicities.

    Returns:
        float64[1 + R, …].

    >>> resampled_means(np.array([1.0, 3.0]), np.array([[2, 0]], np.int32)).tolist()
    [2.0, 1.0]
    """
    drawn = np.concatenate([np.ones((1, len(values))), counts])
    return np.asarray(np.tensordot(drawn / drawn.sum(axis=1, keepdims=True), values, axes=1), np.float64)


def between_share(target: Floats, starts: Int64s, counts: Int32s) -> Floats:
    """Share of the variance that is between clusters: the intraclass correlation ICC(1) of a one-way random model.

    ``s_b / (s_b + s_w)`` with the mean squares' estimates of the variances between and within (Donner 1986, for
    clusters of different sizes). It is what a prediction could explain that knew each cluster's true mean.

    Args:
        target: float64[n].
        starts: int64[A], first row of each cluster.
        counts: int32[R, A], resample multiplicities.

    Returns:
        float64[1 + R], the value and that of each resample; NaN where all numbers are equal.

    >>> between_share(np.array([0.0, 2.0, 4.0, 6.0]), np.array([0, 2]), np.array([[1, 1]], np.int32)).round(3).tolist()
    [0.778, 0.778]
    """
    sizes = np.diff([*starts, len(target)]).astype(np.float64)
    away = target - target.mean()
    means = np.add.reduceat(away, starts) / sizes
    inside = np.add.reduceat((away - np.repeat(means, sizes.astype(np.int64))) ** 2, starts)
    drawn = np.concatenate([np.ones((1, len(starts))), counts])
    rows, clusters = drawn @ sizes, drawn.sum(axis=1)
    level = drawn @ (sizes * means) / rows
    between = np.maximum(0.0, drawn @ (sizes * means**2) - rows * level**2) / (clusters - 1)
    within = (drawn @ inside) / np.maximum(1.0, rows - clusters)
    size = (rows - (drawn @ sizes**2) / rows) / (clusters - 1)
    variance = np.maximum(0.0, between - within) / size
    return ratio(variance, variance + within)


CUTOFFS: Final = (1, 5)


def thread_measures(scores: Floats, votes: Floats, starts: Int64s) -> Floats:
    """Compare rankings of each thread's comments with their votes.

    - ``ndcg@k``: as `postil.threads.evaluation.ndcg`, with the gain of votes.
    - ``spearman`` and ``kendall-b``: rank correlation within the thread; 0 where all scores of the thread are tied.
    - ``pairs``: share of the pairs with different votes that the scores put in order; tied scores count half.

    Args:
        scores: float64[n, M], higher is better.
        votes: float64[n]; each thread has two different ones, and one above 0.
        starts: int64[A], first comment of each thread.

    Returns:
        float64[A, M, 5], in this order: nDCG at each of `CUTOFFS`, ``spearman``, ``kendall-b``, ``pairs``; higher is
        better. A constant scorer has the expected values of a random order.

    >>> scores = np.array([[3.0, 1.0], [2.0, 1.0], [1.0, 1.0]])
    >>> thread_measures(scores, np.array([7.0, 0.0, 1.0]), np.array([0])).round(3).tolist()
    [[[1.0, 0.964, 0.5, 0.333, 0.667], [0.444, 0.783, 0.0, 0.0, 0.5]]]
    """
    spearman, kendall = (
        np.nan_to_num(rank_coefficient(name, scores, votes, starts)) for name in ("spearman", "kendall-b")
    )  # NaN: all scores are tied, since votes are not
    others = []
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(votes)], strict=True):
        of_thread, gain = votes[start:end], gains(votes[start:end], "votes")
        others.append(
            [(*(ndcg(column, gain, k) for k in CUTOFFS), pairwise(column, of_thread)) for column in scores[start:end].T]
        )
    found = np.array(others)
    return np.concatenate([found[..., :-1], np.stack([spearman, kendall, found[..., -1]], axis=-1)], axis=-1)


def centered_ranks(values: Floats, starts: Int64s) -> Floats:
    """Average ranks within each thread, as shares of it, with mean 0.

    Args:
        values: float64[n, M].
        starts: int64[A], first row of each thread.

    Returns:
        float64[n, M] between -1/2 and 1/2, ascending with the values.

    >>> centered_ranks(np.array([[5.0], [1.0], [1.0], [9.0]]), np.array([0, 3])).round(3).tolist()
    [[0.333], [-0.167], [-0.167], [0.0]]
    """
    sizes = np.diff([*starts, len(values)])
    thread, size = np.repeat(np.arange(len(starts)), sizes), np.repeat(sizes, sizes)
    out = np.empty(values.shape)
    for column, ranks in enumerate(dense_ranks(values, starts).T):
        _, tie, tied = np.unique(thread * len(values) + ranks, return_inverse=True, return_counts=True)
        place = (np.cumsum(tied) - (tied + 1) / 2)[tie] - starts[thread]
        out[:, column] = (place - (size - 1) / 2) / size
    return out


@dataclass(frozen=True, eq=False)
class VotePrediction:
    """Comments with votes in threads, folds of whole threads, and resamples of threads.

    Args:
        votes: float64[n].
        starts: int64[A], first comment of each thread; each has two different numbers of votes.
        folds: int64[A], see `postil.studies.uses.votes.assign_folds`.
        counts: int32[R, A], resample multiplicities.
        jobs: Number of threads; no number depends on it.
    """

    votes: Floats
    starts: Int64s
    folds: Int64s
    counts: Int32s
    jobs: int = 1

    @cached_property
    def thread(self) -> Int64s:
        """The thread of each comment, int64[n]."""
        return np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(self.votes)]))

    @cached_property
    def target(self) -> Floats:
        """Votes on a logarithmic scale, negative ones included: ``sign(v) log(1 + |v|)``, float64[n]."""
        return np.sign(self.votes) * np.log1p(np.abs(self.votes))

    def within(self, values: Floats) -> Floats:
        """Subtract the mean of each thread.

        Args:
            values: float64[n, …].
        """
        sizes = np.bincount(self.thread)
        means = np.add.reduceat(values, self.starts) / sizes.reshape(-1, *[1] * (values.ndim - 1))
        return np.asarray(values - means[self.thread], np.float64)

    def others_mean(self) -> Floats:
        """Mean votes of the thread's other comments, on the logarithmic scale, float64[n].

        It is not known before the votes: the popularity of the thread, without the comment that is predicted.
        """
        sums, sizes = np.add.reduceat(self.target, self.starts), np.bincount(self.thread)
        return np.asarray((sums[self.thread] - self.target) / (sizes[self.thread] - 1))

    def fitted_ranking(self, columns: Floats, curved: Sequence[int]) -> Floats:
        """Cross-fitted scores of comments for ranking them within their threads, float64[n].

        Features and votes are ranks within the thread, so that neither a thread's popularity nor a few comments with
        thousands of votes weigh more.

        Args:
            columns: float64[n, d], the features.
            curved: Columns whose square is a feature, too.
        """
        ranks = centered_ranks(columns, self.starts)
        features = np.column_stack([ranks, ranks[:, list(curved)] ** 2])
        votes = centered_ranks(self.votes[:, None], self.starts)[:, 0]
        return cross_fit(features, votes, self.folds[self.thread])

    def measure(self, columns: Floats, curved: Sequence[int]) -> dict[str, Floats]:
        """Measure cross-fitted predictions of the votes' logarithm, over all comments and within threads.

        ``r2`` and ``spearman`` are over all comments; the reference of R² is the mean of the other folds. For
        ``r2 within`` features and target are differences from their thread's mean, and the reference is that mean.
        ``spearman within`` is the mean of the threads' rank correlations; 0 where all predictions are tied.

        Args:
            columns: float64[n, d], the features.
            curved: Columns whose square is a feature, too.

        Returns:
            float64[1 + R] by the name of the measure: the value and that of each resample. A correlation of constant
            predictions is NaN.
        """
        bent = columns[:, list(curved)]
        features = np.column_stack([columns, (bent - bent.mean(axis=0)) ** 2])
        folds = self.folds[self.thread]
        level = cross_fit(np.zeros((len(folds), 0)), self.target, folds)
        pooled = cross_fit(features, self.target, folds)
        apart = self.within(cross_fit(self.within(features), self.within(self.target), folds))
        by_thread = np.nan_to_num(rank_coefficient("spearman", apart[:, None], self.votes, self.starts))[:, 0]
        drawn = np.concatenate([np.ones((1, len(self.starts)), np.int32), self.counts])
        ranks = dense_ranks(np.column_stack([pooled, self.votes]))
        spearman = rank_correlations(
            np.ascontiguousarray(ranks[:, :1]),
            np.ascontiguousarray(ranks[:, 1]),
            self.thread.astype(np.int32),
            drawn,
            "spearman",
            self.jobs,
        )[:, 0]
        return {
            "r2": r_squared(self.target, pooled, level, self.starts, self.counts),
            "spearman": spearman,
            "r2 within": r_squared(
                self.within(self.target), apart, np.zeros(len(self.votes)), self.starts, self.counts
            ),
            "spearman within": resampled_means(by_thread, self.counts),
        }


RANDOM: Final = "random order (expected)"
OTHERS: Final = "votes of the thread’s other comments"
FITS: Final = "Ridge regressions, cross-fitted by article"
HEAD: Final = ("nDCG@1", "nDCG@5", "Spearman", "Kendall’s tau-b", "pairs in order")
HEAD_OF_VOTES: Final = ("R², all comments", "Spearman, all", "R², within threads", "Spearman, within")
MEASURES: Final = (
    "The comments of each article are ranked by each scorer and compared with their votes. nDCG: gain log(1 + votes), "
    "negative votes as 0. Rank correlations are computed within each article, 0 where all scores are tied. Pairs in "
    "order: share of the pairs with different votes that the scores put in order; tied scores count half. All values "
    "are means over articles, with 95 % bootstrap intervals over articles."
)
SCORERS: Final = (
    "length: number of words, longer first. age: time from article to comment, earlier first; early comments have had "
    "longer to collect votes, whatever they say. position: order in the corpus, which may itself come from votes, so "
    "that no fit uses it. tf-idf: cosine with the article. consensus: mean ROUGE-L with the article’s other comments."
)
FITTED: Final = (
    "The fits predict a comment’s rank by votes from its ranks within the article by each feature; length and age "
    "enter with their squares. text: tf-idf, consensus, a model’s relevance if one is given, and shares of signs in "
    "the text. Features of the text can stand in for length, so what the text itself adds is the difference of fits. "
    "Intervals resample articles, and fits stay as they are."
)
VOTES: Final = (
    "Target: log(1 + votes), with the sign of negative votes. All predictions are of fits on articles of other folds. "
    "Within threads features and target are differences from their mean in the article. R² below 0: worse than the "
    "mean. 95 % bootstrap intervals over articles."
)


def _prediction(threads: Threads, options: UsesOptions) -> VotePrediction:
    articles = len(threads.starts)
    folds = assign_folds(articles, options.folds, options.seed)
    counts = bootstrap_counts(articles, options.resamples, options.seed)
    return VotePrediction(threads.votes, threads.starts, folds, counts, options.jobs)


def ranking_part(threads: Threads, options: UsesOptions) -> StudyPart:
    """Rank comments by each scorer and by each fit.

    Args:
        threads: The threads.
        options: Options of the study.
    """
    data = _prediction(threads, options)
    fits = {name: data.fitted_ranking(*threads.features(names)) for name, names in threads.feature_sets.items()}
    columns = [*threads.scores.values(), np.zeros(len(threads.votes)), *fits.values()]
    values = thread_measures(np.column_stack(columns), threads.votes, threads.starts)  # [A, M, measures]
    samples = resampled_means(values, data.counts)  # [1 + R, M, measures]
    rows = [_row(name, samples[:, at].T, len(threads.starts)) for at, name in enumerate((*threads.scores, RANDOM))]
    of_fit = {name: samples[:, at + len(rows)].T for at, name in enumerate(fits)}
    rows += [StudyRow(name=FITS, kind="group")]
    rows += [_row(f"fit: {name}", each, len(threads.starts)) for name, each in of_fit.items()]
    table = StudyTable(
        key="ranking",
        caption=f"Comments of {counted(len(threads.starts), 'article')} ranked against their votes",
        head=("", *HEAD),
        rows=tuple(rows),
    )
    absent = StudyTable(
        key="absent",
        caption="Scorers that are absent",
        head=("scorer", "reason"),
        rows=tuple(StudyRow(name=name, cells=(reason,)) for name, reason in threads.absent.items()),
    )
    added = _gains("ranking-gains", of_fit, HEAD, len(threads.starts))
    return StudyPart(
        key="comment-ranking",
        title="Comment ranking",
        words=(_data(threads, options), MEASURES, SCORERS, FITTED),
        tables=(table, added, *([absent] if absent.rows else ())),
    )


def votes_part(threads: Threads, options: UsesOptions) -> StudyPart:
    """Predict votes by each fit.

    Args:
        threads: The threads.
        options: Options of the study.
    """
    data, articles = _prediction(threads, options), len(threads.starts)
    fits = {name: _measured(data, *threads.features(names)) for name, names in threads.feature_sets.items()}
    popularity = _measured(data, data.others_mean()[:, None], [])
    table = StudyTable(
        key="votes",
        caption=f"Votes of {counted(len(threads.votes), 'comment')}, predicted by fits on articles of other folds",
        head=("", *HEAD_OF_VOTES),
        rows=(
            *(_row(name, samples, articles) for name, samples in fits.items()),
            StudyRow(
                name=f"{OTHERS}, not known beforehand", cells=(*interval_cells(popularity[:2], articles), None, None)
            ),
        ),
    )
    share = between_share(data.target, threads.starts, data.counts)
    variance = StudyTable(
        key="variance",
        caption="Shares of the variance of the logarithm of votes (ICC)",
        head=("", "share"),
        rows=(
            _row("between articles: their popularity", share[None], articles),
            _row("within articles", 1 - share[None], articles),
        ),
    )
    return StudyPart(
        key="upvote-prediction",
        title="Upvote prediction",
        words=(VOTES,),
        tables=(table, _gains("votes-gains", fits, HEAD_OF_VOTES, articles), variance),
    )


def _measured(data: VotePrediction, columns: Floats, curved: list[int]) -> Floats:
    """Measures of a fit and their resamples, float64[measures, 1 + R]."""
    return np.stack(list(data.measure(columns, curved).values()))


def _row(name: str, samples: Floats, articles: int) -> StudyRow:
    """A row of values with intervals, of float64[measures, 1 + R]."""
    return StudyRow(name=name, cells=tuple(interval_cells(samples, articles)))


def _gains(key: str, fits: Mapping[str, Floats], head: tuple[str, ...], articles: int) -> StudyTable:
    """Table of the gains of the text over length and age, on the same resamples."""
    bases = [name for name in (BOTH, LENGTH, AGE) if name in fits]
    return StudyTable(
        key=key,
        caption="What the text adds: differences of the fits, 95 % intervals over the same resamples of articles",
        head=("", *head),
        rows=tuple(_row(f"{with_text(base)} − {base}", fits[with_text(base)] - fits[base], articles) for base in bases),
    )


def _data(threads: Threads, options: UsesOptions) -> str:
    """The data and the folds in a sentence."""
    text = f"{counted(len(threads.votes), 'comment')} of {counted(len(threads.starts), 'test article')}"
    if threads.left_out:
        text += f". Left out, since votes do not differ or none is above 0: {counted(threads.left_out, 'article')}"
    if threads.unvoted:
        text += f". Left out, since nothing is known of their votes: {counted(threads.unvoted, 'comment')}"
    return f"{text}. Folds: {options.folds}, seed {options.seed}."
