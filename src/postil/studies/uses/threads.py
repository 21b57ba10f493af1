"""The threads of a corpus's test articles, with what is known of each comment before anyone votes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.comments.rankers import ArticleTexts, TfidfRanker, idf_weights
from postil.comments.retrieval import Retriever
from postil.comments.training.texts import CorpusTexts
from postil.data.explain import have
from postil.data.fields import unix_seconds
from postil.data.progress import progress
from postil.errors import UsageError
from postil.messages import Message, Setting
from postil.metrics.references import References
from postil.metrics.ungraded import mean_similarities, similarity_of
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary
from postil.threads.quality import text_shares

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from postil.corpus.store import Corpus
    from postil.data.progress import OnMessage
    from postil.data.rows import Article
    from postil.kernel.arrays import Floats
    from postil.text.tokens import Tokens

__all__ = ["AGE", "BOTH", "LENGTH", "Threads", "read_threads", "with_text"]

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
    ranker = TfidfRanker(idf, comments.ids, comments.offsets)
    places = [np.arange(start, end) for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
    words = articles.ids, articles.offsets
    return np.concatenate(ranker.score_stored(ArticleTexts(words, words, ()), places))


def _ages(articles: Sequence[Article]) -> Floats:
    """Minus the seconds from article to comment; 0 where the comment has the earlier date."""
    seconds = [
        unix_seconds(comment.date or "") - unix_seconds(article.date or "")
        for article in articles
        for comment in article.comments
    ]
    return -np.maximum(0.0, np.array(seconds, np.float64))
