"""Runs of simple summarizers, and the articles that they summarize, from pages whose sentences are graded.

    python examples/trivia_to_rows.py crowd_judged.tsv passages.jsonl --least 0.6
    python examples/summary_runs.py passages.jsonl runs.jsonl articles.jsonl
    postil passages passages.jsonl --summaries runs.jsonl --articles articles.jsonl --stop en --stem porter

Each topic is a page; its passages are all of its sentences, and the pool of its informative ones are those with a
grade above 0. A summarizer orders the sentences and takes them while they fit into the limit: 500 words, or a share of
the page where that is less. There are

- random orders, by ten seeds; the longest and the shortest sentences first;
- the sentences most similar to the rest of their page, by ten measures;
- those most similar to the informative sentences of *other* pages, by two measures, as a reader of grades could do.

No summarizer sees a grade of its own page, or the order of the file, which may follow the grades.

The pool is a part of the page, so that a summarizer that takes more of one takes more of the other. ``--rest`` writes
as articles what the pool leaves of the page, which shares no sentence with it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.data.row_files import read, write
from postil.data.row_locations import RowLocations
from postil.data.rows import Candidate, Passage, TopicArticle
from postil.metrics.folds import folds_of
from postil.metrics.passage_measures import measure_passages
from postil.metrics.passage_pools import informativeness, interestingness
from postil.metrics.preprocessing import Preprocessing
from postil.metrics.spec import parse_measure
from postil.text.tokenizers import tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Scores: TypeAlias = NDArray[np.float64]

PAGE: Final = ("f1-1", "f1-2", "kl-1", "kl-2", "js-1", "logsim-1", "logsim-2", "rouge-1", "rouge-2", "tf-idf-1")
OTHERS: Final = ("f1-1", "logsim-1")
RANDOM: Final = 10
LONGEST: Final = 500


def scored(passages: Sequence[Passage], seed: int) -> Iterator[tuple[str, Scores]]:
    """Each summarizer's name and its scores of the passages; higher comes first.

    Args:
        passages: n sentences.
        seed: Seed of the random orders and of the folds.
    """
    names = list(dict.fromkeys(passage.topic for passage in passages))
    topics = np.array([names.index(passage.topic) for passage in passages])
    words = np.array(lengths(passages), np.float64)
    for number in range(RANDOM):
        yield f"random-{number + 1}", np.random.default_rng([seed, number]).random(len(passages))
    yield "longest", words
    yield "shortest", -words
    collection = Preprocessing(stop="en", stem="porter").collection(passages, RowLocations("passages"))
    page = informativeness(topics, np.ones(len(passages)))
    grades = np.array([passage.grade or 0.0 for passage in passages])
    folds = folds_of(len(names), len(names), seed=seed)
    others = interestingness(topics, grades / grades.max(), collection.duplicates(), folds)

    for where, specs, pools in (("page", PAGE, page), ("others", OTHERS, others)):
        measures = {spec: parse_measure(spec) for spec in specs}
        values = measure_passages(list(measures.values()), collection, pools)
        for spec, measure in measures.items():
            found = np.empty(len(passages))
            found[pools.texts] = measure.ranked(values[measure])
            yield f"{where}-{spec}", found


def lengths(passages: Sequence[Passage]) -> list[int]:
    """Number of words of each passage, as `postil passages` counts them."""
    return [len(words) for words in tokenizer("words").split_all([passage.text for passage in passages])]


def summary(passages: Sequence[Passage], scores: Sequence[float], limit: int) -> str:
    """The best passages, in this order, while they fit; those of equal scores by their text.

    Args:
        passages: The sentences of a page.
        scores: Their scores.
        limit: Largest number of words.
    """
    taken, left = [], limit
    ranked = zip(scores, passages, lengths(passages), strict=True)
    for _, text, words in sorted((-score, passage.text, words) for score, passage, words in ranked):
        if words <= left:
            taken.append(text)
            left -= words
    return " ".join(taken)


def runs(passages: Sequence[Passage], share: float, seed: int) -> Iterator[Candidate]:
    """One summary per summarizer and page.

    Args:
        passages: Sentences of all pages.
        share: Largest share of a page.
        seed: The seed.
    """
    pages: dict[str, list[int]] = {}
    for row, passage in enumerate(passages):
        pages.setdefault(passage.topic, []).append(row)
    words = np.array(lengths(passages))
    for system, scores in scored(passages, seed):
        for topic, rows in pages.items():
            limit = min(LONGEST, int(share * words[rows].sum()))
            yield Candidate(topic, system, summary([passages[row] for row in rows], scores[rows].tolist(), limit))


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Runs of simple summarizers of pages with graded sentences.")
    parser.add_argument("passages", help="rows with topic, id, text and grade: all sentences of each page")
    parser.add_argument("runs", type=Path, help="output: item, system, text")
    parser.add_argument("articles", type=Path, help="output: topic, text")
    parser.add_argument("--share", type=float, default=0.2, help="largest share of a page that a summary takes")
    parser.add_argument("--rest", action="store_true", help="articles without the sentences of the pool")
    parser.add_argument("--seed", type=int, default=20181, help="seed of the random orders")
    given = parser.parse_args(arguments)
    passages = list(read(given.passages, Passage))
    made = list(runs(passages, given.share, given.seed))
    texts: dict[str, list[str]] = {}
    for passage in passages:
        if not (given.rest and passage.grade):
            texts.setdefault(passage.topic, []).append(passage.text)
    write(given.runs, made)
    write(given.articles, [TopicArticle(topic, " ".join(sentences)) for topic, sentences in texts.items()])
    print(f"{len({row.system for row in made})} runs of {len(texts)} topics in {given.runs}")


if __name__ == "__main__":
    main()
