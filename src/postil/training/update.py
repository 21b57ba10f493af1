"""`postil train --update`: further articles and comments for a retriever that is there."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.comments import neural_commenter
from postil.comments.candidate_pool import CandidatePool, retriever_arrays
from postil.comments.result import UpdateResult
from postil.comments.retrieval import KINDS, Retriever
from postil.comments.store import Change, Model, changing, check_free
from postil.corpus.forgotten import comment_key, erasures, keys_of
from postil.corpus.store import Corpus
from postil.data.arguments import check_arguments
from postil.errors import InvalidInput, UsageError
from postil.training.texts import CorpusTexts
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.comments.index import Index
    from postil.comments.rankers import Ranker
    from postil.corpus.passes import OnProgress
    from postil.data.rows import Article
    from postil.data.streams import FilePath

    Texts = tuple[NDArray[np.int32], NDArray[np.int64]]

__all__ = ["update_model"]


def update_model(
    model: FilePath,
    corpus: Corpus | FilePath,
    out: FilePath | None = None,
    *,
    jobs: int = 1,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> UpdateResult:
    """Add the articles of a corpus to a retriever, without training it again.

    All articles of the corpus are added, whatever their split. Those that the model has get the comments that it lacks,
    and comments with the same id are replaced. The vocabulary grows, the index gets a segment, and search finds what it
    would in one index of all articles. The ranker keeps its parameters; inverse document frequencies are those of all
    articles. Comments that were forgotten stay out.

    Args:
        model: The model folder.
        corpus: The corpus, or its folder.
        out: The folder to write; by default the model folder is replaced, in one step where the system can.
        jobs: Number of threads; the model does not depend on it.
        on_progress: Progress bar.

    Returns:
        The number of articles and comments that were added, and more.

    Raises:
        UsageError: The model generates comments, ``out`` exists, or the model is being changed.
        InvalidInput: The model or the corpus is damaged, or they have different tokenizers.
        MissingExtra: The ranker needs torch, which is not installed.
        PostilError: The operating system reports an error.
    """
    check_arguments(update_model, locals())
    if not isinstance(corpus, Corpus):
        corpus = Corpus.open(corpus)
    if out is not None:
        check_free(out)
    kind = _kind(model)
    with changing(model) as folder:
        retriever = Retriever.open(folder, jobs=jobs)
        retriever.model.check_tokenizer(corpus.tokenizer, corpus.path)
        done = erasures(retriever.model.metadata.get("forgotten"), folder / "metadata.json")
        new = grown(retriever, _additions(corpus, kind, on_progress), keys_of(done))
        _write(retriever, new, folder if out is None else out, corpus, replace=out is None)
        after = Model.open(folder if out is None else out)
    trained = retriever.model.metadata.get("options") or {}
    return UpdateResult(
        articles=new.articles,
        comments=new.comments,
        updated=new.updated,
        kept_out=new.kept_out,
        held_out=sum(len(article.held_out or ()) for article in _test(corpus)),
        words=len(new.words) - len(retriever.model.words()),
        total_articles=len(new.pool.articles),
        total_comments=len(new.pool),
        segments=len(new.index.segments),
        ranker=str(trained.get("ranker") or retriever.model.setting("ranker", str)),
        ranker_articles=len(retriever.pool.articles)
        + sum(one.articles for one in done)
        - sum(one["articles"] for one in _updates(retriever.model)),
        hash_before=retriever.model.hash,
        hash=after.hash,
    )


def _kind(model: FilePath) -> str:
    """The kind of the retriever in a folder; an error for a generator, or for no model."""
    with suppress(InvalidInput):  # the last line tells what is wrong, and asks for a retriever
        if (kind := Model.open(model).kind) in neural_commenter.KINDS:
            problem = f"{kind} generates comments by a network, which learns nothing from a few articles"
            raise UsageError(f"{model}: {problem}; train it again, on all articles: postil train {kind}")
    return Model.open(model, KINDS).kind


def _test(corpus: Corpus) -> Iterator[Article]:
    return corpus.articles("test") if "test" in corpus.splits else iter(())


def _additions(corpus: Corpus, kind: str, on_progress: OnProgress) -> Additions:
    """The articles of all splits, in their order."""
    texts = CorpusTexts(corpus, reads="both" if kind == "ir-tc" else "title")

    def articles() -> Iterator[Article]:
        for split in corpus.splits:
            yield from corpus.articles(split)

    total = sum(corpus.metadata.splits[split].articles for split in corpus.splits)
    with on_progress("articles read", articles(), total) as read:
        pool = CandidatePool.of(read)
    return Additions(pool, _joined(corpus, texts.articles), _joined(corpus, texts.comments), corpus.words())


def _joined(corpus: Corpus, texts: Callable[[str], Texts]) -> Texts:
    """The texts of all splits."""
    parts = [texts(split) for split in corpus.splits]
    sizes = np.concatenate([np.diff(offsets) for _, offsets in parts])
    return np.concatenate([ids for ids, _ in parts]), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _updates(model: Model) -> list[dict[str, int]]:
    return list(model.metadata.get("updates") or [])


def _write(retriever: Retriever, new: Grown, out: FilePath, corpus: Corpus, *, replace: bool) -> None:
    model = retriever.model
    record = {
        "postil": VERSION,
        "corpus": corpus.metadata.origin,
        "articles": new.articles,
        "comments": new.comments,
        "updated": new.updated,
        "hash_before": model.hash,
    }
    before = retriever_arrays(retriever.index, retriever.pool, {})
    after = retriever_arrays(new.index, new.pool, new.ranker.arrays())
    change = Change(model, before, after, new.words, {"segments": len(new.index.segments)})
    change.write(out, {"updates": [*_updates(model), record]}, replace=replace)


@dataclass(frozen=True, eq=False)
class Additions:
    """Articles with comments that are added to a retriever.

    Args:
        pool: The comments, article by article.
        articles: Words of what the retriever reads of each article: ids int32[T] in ``words``, offsets int64[n + 1].
        comments: Words of the comments, in the same way.
        words: The words, by id.
    """

    pool: CandidatePool
    articles: Texts
    comments: Texts
    words: Sequence[str]


@dataclass(frozen=True, eq=False)
class Grown:
    """A retriever with further articles and comments, to be written into a model folder.

    Args:
        index: The articles.
        pool: Their comments.
        words: The vocabulary, by id; that of before, then new words.
        ranker: The ranker.
        articles: Number of articles that were added.
        comments: Number of comments that were added.
        updated: Number of comments that took the place of one with the same id.
        kept_out: Number of comments that were left out since they were forgotten.
    """

    index: Index
    pool: CandidatePool
    words: Sequence[str]
    ranker: Ranker
    articles: int
    comments: int
    updated: int
    kept_out: int


def grown(retriever: Retriever, new: Additions, forgotten: frozenset[str] = frozenset()) -> Grown:
    """Add articles and comments to a retriever.

    An article whose id is known gets the comments, and its text stays as it is in the index; a comment whose id is
    known takes the place of the old one. Other articles become the last ones. The parameters of the ranker stay;
    inverse document frequencies are those of all articles.

    Args:
        retriever: The retriever.
        new: The articles and comments.
        forgotten: Keys of comments that must not come back; see `postil.corpus.forgotten.comment_key`.
    """
    old = retriever.pool
    places = {name: place for place, name in enumerate(old.articles)}
    names = list(new.pool.articles)
    target = np.array([places.get(name, -1) for name in names], dtype=np.int64)
    erased = np.array([bool(forgotten) and comment_key(name) in forgotten for name in names], dtype=bool)
    added = np.flatnonzero((target < 0) & ~erased)
    target[added] = len(old.articles) + np.arange(len(added))

    owners = new.pool.owner(np.arange(len(new.pool)))
    ids = list(new.pool.ids)
    kept = np.ones(len(ids), dtype=bool)
    if forgotten:
        pairs = zip(owners.tolist(), ids, strict=True)
        kept[:] = [forgotten.isdisjoint((comment_key(names[at]), comment_key(names[at], one))) for at, one in pairs]
    stays = _not_replaced(old, {(int(target[owner]), one) for owner, one in zip(owners.tolist(), ids, strict=True)})
    replaced = int(len(old) - stays.sum())

    # The old comments that stay and the new ones, sorted by article; within one the old ones come first.
    place = np.concatenate([np.flatnonzero(stays), len(old) + np.flatnonzero(kept)])
    of_article = np.concatenate([old.owner(np.flatnonzero(stays)), target[owners[kept]]])
    order = np.argsort(of_article, kind="stable")
    place, of_article = place[order], of_article[order]
    articles = np.concatenate([np.arange(len(old.articles)), len(old.articles) + added])
    pool = CandidatePool.concatenate([old, new.pool]).take(articles, place, of_article)

    article_words, comment_words = _texts(new.articles, added), _texts(new.comments, np.flatnonzero(kept))
    words, numbers = _vocabulary(retriever.model.words(), new.words, [article_words[0], comment_words[0]])
    index = retriever.index.add(numbers[article_words[0]], article_words[1], len(words), retriever.jobs)
    said = [new.pool.texts[one] for one in np.flatnonzero(kept).tolist()]
    ranker = retriever.ranker.extend((numbers[comment_words[0]], comment_words[1]), said)
    stored = np.concatenate([np.arange(len(old)), len(old) + np.cumsum(kept) - 1])  # the index of each in the ranker
    ranker = ranker.take(stored[place]).reweighted(index.collection.frequencies, pool.starts, index.idf)
    comments = int(kept.sum()) - replaced
    return Grown(index, pool, words, ranker, len(added), comments, replaced, int(len(kept) - kept.sum()))


def _not_replaced(pool: CandidatePool, new: set[tuple[int, str]]) -> NDArray[np.bool_]:
    """True for each comment of a pool but for those with an article's place and an id of the new ones."""
    stays = np.ones(len(pool), dtype=bool)
    for article in sorted({article for article, _ in new if article < len(pool.articles)}):
        for comment in range(int(pool.starts[article]), int(pool.starts[article + 1])):
            stays[comment] = (article, pool.ids[comment]) not in new
    return stays


def _texts(texts: Texts, which: NDArray[np.int64]) -> Texts:
    """Some of several texts."""
    ids, offsets = texts
    sizes = np.diff(offsets)[which]
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return ids[np.repeat(offsets[:-1][which] - ends[:-1], sizes) + np.arange(ends[-1])], ends


def _vocabulary(
    known: Sequence[str], new: Sequence[str], used: Sequence[NDArray[np.int32]]
) -> tuple[list[str], NDArray[np.int32]]:
    """The known words with those of the new ones that are used, and the id of each new word among them."""
    words, numbers = list(known), np.full(len(new), -1, dtype=np.int32)
    ids = {word: number for number, word in enumerate(known)}
    for one in np.unique(np.concatenate(used)).tolist():
        numbers[one] = ids.setdefault(new[one], len(words))
        if numbers[one] == len(words):
            words.append(new[one])
    return words, numbers
