"""Training of a reranker: the hub of its sentence encoder, and its weight beside the ranker, chosen on dev."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.comments.ranking_evaluation import RankingTask, evaluate, sample_negatives
from postil.comments.reranker import DEPTH, Reranker, standardized, text_of, unit_vectors
from postil.encoders.sentences import sentence_encoder
from postil.errors import InvalidInput, Undefined
from postil.results.formats import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.comments.ranking_evaluation import Scorer
    from postil.corpus.passes import OnProgress
    from postil.corpus.texts import CorpusTexts
    from postil.data.progress import OnMessage
    from postil.data.rows import Article
    from postil.encoders.base import Encoder

__all__ = ["train_reranker"]

HUB_ARTICLES: Final = 500
"""Most training articles whose mean vector is the hub."""
DEV_ARTICLES: Final = 60
"""Most articles of dev that the weight is chosen on: each text takes tens of milliseconds."""
OWN: Final = 5
"""Most comments of such an article."""
FEWEST: Final = 10
"""Articles of dev below which no weight is chosen."""
WEIGHTS: Final = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Weights that are tried on dev."""
DEFAULT: Final = 1.0
"""The weight where dev is missing or too small: score and cosine count alike."""
_BLOCK: Final = 16
"""Number of texts that are encoded together."""


def train_reranker(
    texts: CorpusTexts,
    folder: str,
    scorer: Scorer | None,
    *,
    seed: int,
    on_message: OnMessage,
    on_progress: OnProgress,
) -> Reranker:
    """Compute the hub of a sentence encoder, and choose its weight.

    The hub is the mean unit vector of up to 500 training articles, drawn with the seed. The weight is the one with the
    highest mean reciprocal rank, the lowest of tied ones. Up to five own comments of each of up to 60 articles of dev
    are ranked among 45 of the others' comments, by the ranker's score plus the weight times the cosine less hub, both
    standardized within the article.

    Args:
        texts: The corpus.
        folder: The sentence encoder.
        scorer: The ranker's scores of comments of dev; None where the corpus has no dev set.
        seed: Seed of all draws.
        on_message: Callback for status messages.
        on_progress: Progress bar.

    Raises:
        UsageError: There is no such folder.
        InvalidInput: The folder holds no sentence encoder, or no training article has a vector.
        MissingExtra: The library that runs it is not installed.
    """
    encoder = sentence_encoder(folder)
    total = texts.corpus.metadata.splits["train"].articles
    articles = _drawn(texts, "train", _draw(total, HUB_ARTICLES, seed))
    on_message(f"reranker {encoder.signature}: encoding {counted(len(articles), 'article')} of train")
    vectors = _encoded(encoder, [_text(texts, one) for one in articles], on_progress)
    hub = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    if not (np.isfinite(hub).all() and hub.any()):
        raise InvalidInput("expected a vector of each article, got none that is finite and not 0", where=folder)
    chosen = None if scorer is None else _choose(Reranker(encoder, hub, DEFAULT), texts, scorer, seed, on_progress)
    if chosen is None:
        on_message(f"reranker: dev is missing or too small, so its weight is {DEFAULT:g}")
        return Reranker(encoder, hub, DEFAULT)
    weight, before, after, n = chosen
    on_message(
        f"reranker: weight {weight:g}, the best on dev ({counted(n, 'article')}): mrr {after:.3f}, {before:.3f} without"
    )
    return Reranker(encoder, hub, weight)


def _choose(
    reranker: Reranker, texts: CorpusTexts, scorer: Scorer, seed: int, on_progress: OnProgress
) -> tuple[float, float, float, int] | None:
    """The best weight, the mean reciprocal ranks without it and with it, and the number of articles; None if few."""
    starts = texts.starts("dev")
    sizes = np.diff(starts)
    commented = np.flatnonzero(sizes)
    if len(commented) < FEWEST:
        return None
    which = commented[_draw(len(commented), DEV_ARTICLES, seed)]
    lists = [starts[at] + _draw(int(sizes[at]), OWN, [seed, int(at)]) for at in which.tolist()]
    kept = np.concatenate(lists)  # the comments that are encoded, as indices among all of dev
    bounds = np.concatenate([[0], np.cumsum([len(each) for each in lists])])
    others = int(len(kept) - max(map(len, lists)))
    try:
        task = sample_negatives(bounds, min(DEPTH - OWN, others), seed)
    except Undefined:
        return None
    articles = _drawn(texts, "dev", which)
    said = [
        article.comments[one - starts[at]].text
        for article, at, each in zip(articles, which.tolist(), lists, strict=True)
        for one in each.tolist()
    ]
    read = [_text(texts, one) for one in articles]
    vectors = _encoded(reranker.encoder, [*read, *said], on_progress).astype(np.float64)
    queries, places = task.pairs
    cosines = ((vectors[queries] - reranker.hub) * vectors[len(read) + places]).sum(axis=1)
    scores = np.asarray(scorer(which[queries], kept[places]), np.float64)
    cosines, scores = (_standardized(values, task) for values in (cosines, scores))
    found = evaluate(
        task,
        {f"{weight}": _constant(scores + weight * cosines) for weight in WEIGHTS},
        np.ones((1, len(task)), dtype=np.int32),
        cutoffs=(1,),
    )
    mrr = {row.scorer: row.value for row in found.rows if row.measure == "mrr"}
    best = max(WEIGHTS, key=lambda weight: (mrr[f"{weight}"], -weight))
    return best, mrr[f"{WEIGHTS[0]}"], mrr[f"{best}"], len(which)


def _standardized(values: NDArray[np.float64], task: RankingTask) -> NDArray[np.float64]:
    """Values standardized within each article's list."""
    return np.concatenate([standardized(each)[0] for each in np.split(values, task.offsets[1:-1])])


def _constant(values: NDArray[np.float64]) -> Scorer:
    return lambda _articles, _comments: values


def _draw(total: int, most: int, seed: int | list[int]) -> NDArray[np.int64]:
    """Up to ``most`` of ``total`` indices, drawn with a seed, in their order."""
    if total <= most:
        return np.arange(total)
    return np.sort(np.random.default_rng(seed).choice(total, most, replace=False))


def _drawn(texts: CorpusTexts, split: str, which: NDArray[np.int64]) -> list[Article]:
    wanted = set(which.tolist())
    return [article for at, article in enumerate(texts.corpus.articles(split)) if at in wanted]


def _text(texts: CorpusTexts, article: Article) -> str:
    return text_of(article.title, article.content or "" if texts.reads == "both" else "")


def _encoded(encoder: Encoder, texts: Sequence[str], on_progress: OnProgress) -> NDArray[np.float32]:
    """Unit vectors of texts, float32[n, d]."""
    blocks = [texts[at : at + _BLOCK] for at in range(0, len(texts), _BLOCK)]
    with on_progress("blocks of texts encoded", blocks, len(blocks)) as stream:
        return np.concatenate([unit_vectors(encoder, block) for block in stream])
