"""Time finding the 20 most similar articles, beside SciPy, sparse_dot_topn and bm25s.

    python -m bench.retrieval.run [--rounds 3] [--articles 10000 50000 191502] [--corpus DIR ...] [--markdown FILE]

All get the same TF-IDF weights (those of scikit-learn) and the same queries, and their scores are compared. Only search
is timed; how long the index takes is a line of its own. bm25s ranks by BM25, beside postil's BM25.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse  # type: ignore[import-untyped]
import sparse_dot_topn  # type: ignore[import-not-found]

from bench.metrics.report import machine, version
from bench.retrieval.workload import Workload, workload
from postil.arrays import open_array
from postil.commenters.nn.batches import concatenate_texts
from postil.commenters.search import Index
from postil.corpus.store import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

K, JOBS, SEED = 20, 2, 20181
TITLE = 15
BATCH = 32
PAGE = """# Benchmarks of retrieval

This page is made by `make bench`. Articles are made up in the size of the paper's ({words:,} words in the largest set,
Zipf's law, 2,000 topics). Each query is an article of the set, whole or {title} of its words (*titles*); the {k} most
similar by TF-IDF cosine are wanted, with scikit-learn's weights for all. Scores of postil and SciPy agree to 1e-5
(SciPy's are in single precision); postil's are those of a plain sum in double precision, to the last bit. Queries a
second, median of {rounds} rounds, {jobs} threads where a tool has them.

Machine: {machine}

| articles | queries | postil | sparse_dot_topn {sdt} | SciPy {scipy} | postil is faster by |
|---|---|---|---|---|---|
{rows}
{small}
Index of {articles:,} articles ({distinct:,} distinct words): {build:.1f} s from word numbers; opened from disk by
memory map, with a first query, in {opened:.2f} s.

BM25 beside bm25s {bm25s} (its own scores; queries a second):

| articles | queries | postil | bm25s | postil is faster by |
|---|---|---|---|---|
{bm25}
"""

SMALL = """
The last sets are real ones (`--corpus`), small: there an answer takes 15 to 80 microseconds, and sparse_dot_topn is
up to twice as fast.
"""


@dataclass(frozen=True, eq=False)
class Queries:
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def drawn(data: Workload, count: int, words: int | None) -> Queries:
    """Articles of the set, or some of their words."""
    rng = np.random.default_rng(SEED)
    texts = []
    for text in rng.choice(len(data), count, replace=False).tolist():
        ids = data.ids[data.offsets[text] : data.offsets[text + 1]]
        texts.append(ids if words is None else rng.choice(ids, min(words, len(ids)), replace=False))
    return Queries(np.concatenate(texts), np.concatenate([[0], np.cumsum([len(text) for text in texts])]))


def matrix(index: Index, queries: Queries | None) -> Any:
    """Documents, or queries, as rows of length 1."""
    if queries is None:
        starts, terms, counts = index.segments[0].forward
    else:
        starts, terms, counts = Index.of(queries.ids, queries.offsets, len(index.idf_weights)).segments[0].forward
    shape = (len(starts) - 1, len(index.idf_weights))
    found = scipy.sparse.csr_matrix((counts * index.idf_weights[terms], terms, starts), shape=shape)
    norms = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)).ravel())
    return scipy.sparse.diags(1 / np.where(norms > 0, norms, 1)).dot(found).tocsr().astype(np.float32)


def by_scipy(queries: Any, transposed: Any) -> NDArray[np.float32]:
    """The scores of the best, batch by batch."""
    best = []
    for start in range(0, queries.shape[0], BATCH):
        dense = (queries[start : start + BATCH] @ transposed).toarray()
        best.append(-np.sort(-np.partition(dense, -K, axis=1)[:, -K:], axis=1))
    return np.concatenate(best)


def rates(rounds: int, count: int, calls: dict[str, tuple[Callable[[], Any], int]]) -> dict[str, float]:
    """Queries a second of each; a slow one gets fewer queries."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, (call, queries) in calls.items():
            start = time.perf_counter()
            call()
            taken[name].append(queries / (time.perf_counter() - start))
    print(count, {name: round(statistics.median(values), 1) for name, values in taken.items()}, file=sys.stderr)
    return {name: statistics.median(values) for name, values in taken.items()}


def open_from_disk(index: Index, data: Workload) -> float:
    """Seconds until an index that lies in files has answered its first query."""
    with tempfile.TemporaryDirectory() as folder:
        for name, values in index.arrays().items():
            np.save(Path(folder, name), values)
        start = time.perf_counter()
        again = Index.of_arrays(
            lambda name, expected: open_array(Path(folder, f"{name}.npy"), expected, remake="this"),
            1,
            index.weighting,
            index.idf,
            len(index.idf_weights),
        )
        again.search(data.ids[:5], np.array([0, 5]), K)
        return time.perf_counter() - start


def by_bm25s(data: Workload, rounds: int, queries: Sequence[tuple[str, Queries]]) -> list[str]:
    """Rows of BM25 by postil and by bm25s; none where that is not installed."""
    try:
        import bm25s  # type: ignore[import-not-found]
    except ImportError:
        return []
    words = int(data.ids.max()) + 1
    index = Index.of(data.ids, data.offsets, words, weighting="bm25", jobs=JOBS)
    theirs = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    theirs.index([[str(word) for word in text] for text in _texts(data)], show_progress=False)
    rows = []
    for label, asked in queries:
        told = [[str(word) for word in text] for text in _texts(asked)]
        found = rates(
            rounds,
            len(data),
            {
                "postil": (lambda: index.search(asked.ids, asked.offsets, K, jobs=JOBS), len(asked)),  # noqa: B023
                "bm25s": (lambda: theirs.retrieve(told, k=K, show_progress=False, n_threads=JOBS), len(asked)),  # noqa: B023
            },
        )
        ratio = found["postil"] / found["bm25s"]
        rows.append(f"| {len(data):,} | {label} | {found['postil']:,.0f} | {found['bm25s']:,.0f} | {ratio:.1f}x |")
    return rows


def beside(name: str, data: Workload, index: Index, given: argparse.Namespace) -> list[str]:
    """Rows of TF-IDF by postil, sparse_dot_topn and SciPy."""
    rows = []
    transposed = matrix(index, None).T.tocsr()
    for label, words in (("articles", None), ("titles", TITLE)):
        queries = drawn(data, min(len(data), given.queries if words is None else 4 * given.queries), words)
        asked = matrix(index, queries)
        few = asked[: max(BATCH, given.queries // 8)]
        found = rates(
            given.rounds,
            len(data),
            {
                "postil": (lambda: index.search(queries.ids, queries.offsets, K, jobs=JOBS), len(queries)),  # noqa: B023
                "sdt": (
                    lambda: sparse_dot_topn.sp_matmul_topn(asked, transposed, top_n=K, n_threads=JOBS, sort=True),  # noqa: B023
                    len(queries),
                ),
                "scipy": (lambda: by_scipy(few, transposed), few.shape[0]),  # noqa: B023
            },
        )
        mine = index.search(queries.ids, queries.offsets, K, jobs=JOBS).scores[: few.shape[0]]
        np.testing.assert_allclose(mine, by_scipy(few, transposed), atol=1e-5)
        rows.append(
            f"| {name} | {label} | {found['postil']:,.0f} | {found['sdt']:,.0f} | {found['scipy']:,.0f} "
            f"| {found['postil'] / found['sdt']:.1f}x, {found['postil'] / found['scipy']:.1f}x |"
        )
    return rows


def of_corpus(folder: Path) -> tuple[Workload, int]:
    """Titles and contents of a corpus's training articles, and how many words there are."""
    corpus = Corpus.open(folder)
    both = concatenate_texts(corpus.tokens("train", "title"), corpus.tokens("train", "content"), 2**31 - 1)
    return Workload(both.ids, both.offsets), len(corpus.words())


def _texts(data: Workload | Queries) -> list[list[int]]:
    return [data.ids[a:b].tolist() for a, b in pairwise(data.offsets.tolist())]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="The most similar articles, exactly.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--articles", type=int, nargs="+", default=[10_000, 50_000, 191_502])
    parser.add_argument("--corpus", type=Path, nargs="*", default=[], help="corpora with contents, to be looked at too")
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args(arguments)

    everything = workload(max(given.articles))
    rows = []
    build = opened = 0.0
    for articles in given.articles:
        data = everything.first(articles)
        start = time.perf_counter()
        index = Index.of(data.ids, data.offsets, int(everything.ids.max()) + 1, idf="smooth", jobs=JOBS)
        index.search(data.ids[:5], np.array([0, 5]), K)
        build = time.perf_counter() - start
        opened = open_from_disk(index, data)
        rows += beside(f"{articles:,}", data, index, given)
    for folder in given.corpus:
        data, distinct = of_corpus(folder)
        found = Index.of(data.ids, data.offsets, distinct, idf="smooth", jobs=JOBS)
        rows += beside(f"{len(data):,} ({folder.name})", data, found, given)
    smallest = everything.first(min(given.articles))
    asked = [("articles", drawn(smallest, given.queries, None)), ("titles", drawn(smallest, 4 * given.queries, TITLE))]
    bm25 = by_bm25s(smallest, given.rounds, asked)
    text = PAGE.format(
        words=len(everything.ids),
        title=TITLE,
        k=K,
        rounds=given.rounds,
        jobs=JOBS,
        machine=machine(),
        sdt=version("sparse_dot_topn"),
        scipy=version("scipy"),
        rows="\n".join(rows),
        small=SMALL if given.corpus else "",
        articles=max(given.articles),
        distinct=int((index.collection.frequencies > 0).sum()),
        build=build,
        opened=opened,
        bm25s=version("bm25s") if bm25 else "(not installed)",
        bm25="\n".join(bm25),
    )
    print(text)
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
