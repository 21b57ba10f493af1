"""Tables of rankings of the passages of a page, and targets that must not be missed."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final

import numpy as np

from bench.interest.ideas import ideas, parts
from bench.interest.rankings import Graded, numbers_of, table
from bench.interest.rated import good_of_ten
from postil.encoders.static import open_static
from postil.interest.model import page_scores, shipped_model
from postil.interest.ranking import topic_scores
from postil.interest.training_options import InterestTrainOptions
from postil.passages.gain import gain_curve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.interest.rankings import Floats, Numbers

OPTIONS: Final = InterestTrainOptions()
TRAINED: Final = "trained, cross-fitted"
TOPIC: Final = "topic"
TOPIC_VECTORS: Final = "topic with vectors"
DRAWS: Final = 10
"""Number of draws of pages for each point of the learning curve."""
SIZES: Final = (3, 6, 12)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", metavar="FILE", help="rows of passages with readers' votes")
    parser.add_argument("--search", metavar="FILE", help="rows of passages with judgements of relevance")
    parser.add_argument("--rated", metavar="FILE", help="rows of passages with grades, of which the shipped model is")
    parser.add_argument("--vectors", metavar="FOLDER", help="static vectors, as of postil vectors import wordllama")
    asked = parser.parse_args(arguments)
    missed: list[str] = []
    if asked.votes:
        missed += _votes(Graded.of(asked.votes))
    if asked.search:
        missed += _search(Graded.of(asked.search), asked.vectors)
    if asked.rated:
        print(good_of_ten(Graded.of(asked.rated)))
    for each in missed:
        print(f"missed: {each}", file=sys.stderr)
    return int(bool(missed))


def _votes(graded: Graded) -> Iterator[str]:
    """Print the tables on votes, and yield the targets that are missed."""
    folds = np.arange(graded.pages, dtype=np.int32)
    trained = graded.rated.cross_fitted(folds, OPTIONS.penalty, OPTIONS.min_count)
    part = parts(graded)
    whole = part["cues"] + part["names"] + part["overlap"]
    rankings = {
        "logsim-1": graded.measure("logsim-1"),
        "logsim-1, stop words": graded.measure("logsim-1", "en"),
        "f1-2, stop words": part["overlap"],
        "cues": part["cues"],
        "untrained sum": graded.by_page(page_scores),
        "shipped": graded.by_page(lambda texts: page_scores(texts, shipped_model())),
        TRAINED: trained,
        "both, half and half": graded.standard(trained) + graded.standard(whole),
    }
    rows = numbers_of(graded, rankings)
    print(f"Votes: {len(graded.passages):,} passages of {graded.pages} pages\n\n{table(rows)}\n")
    print(table(numbers_of(graded, dict(ideas(graded)))[1:]), end="\n\n")
    _learning_curve(graded)
    yield from _targets(next(row for row in rows if row.name == TRAINED))


def _targets(row: Numbers) -> Iterator[str]:
    value, low, _ = row.above
    for name, number, least in (
        ("nCG@10 on votes", row.gains[0], 0.69),
        ("nCG@50 on votes", row.gains[2], 0.82),
        ("nCG@5 in thirds on votes", row.thirds, 0.70),
        ("nCG@10 on votes minus longest first", value, 0.08),
        ("its lower bound", low, 0.03),
    ):
        if number < least:
            yield f"{name}: {number:.3f}, expected at least {least}"


def _learning_curve(graded: Graded) -> None:
    """Print nCG of fits on few pages: each page is ranked by fits on others, drawn at random."""
    print("| pages | @10 | @20 | @50 |\n|---|---|---|---|")
    random = np.random.default_rng(OPTIONS.seed)
    for size in SIZES:
        gains = np.mean([_gains(graded, _few(graded, size, random)) for _ in range(DRAWS)], axis=0)
        print(f"| {size} | {' | '.join(f'{each:.3f}'.lstrip('0') for each in gains.tolist())} |")
    print()


def _few(graded: Graded, size: int, random: np.random.Generator) -> Floats:
    scores = np.zeros(len(graded.passages))
    for page in range(graded.pages):
        others = random.permutation([each for each in range(graded.pages) if each != page])[:size]
        model = graded.rated.fit(OPTIONS.penalty, OPTIONS.min_count, ~np.isin(graded.page, others))
        scores += graded.rated.predicted(model, graded.page == page)
    return scores


def _gains(graded: Graded, scores: Floats) -> Floats:
    return gain_curve(scores, graded.grades, graded.page, (10, 20, 50), resamples=1).ncg


def _search(graded: Graded, vectors: str | None) -> Iterator[str]:
    """Print the table on judgements of relevance, and yield the targets that are missed."""
    rankings = {
        "logsim-1": graded.measure("logsim-1"),
        TOPIC: graded.by_page(lambda texts: topic_scores(texts, "en")),
        "untrained sum": graded.by_page(page_scores),
        "shipped": graded.by_page(lambda texts: page_scores(texts, shipped_model())),
    }
    least = {TOPIC: 0.65}
    if vectors is not None:
        encoder = open_static(vectors)
        rankings[TOPIC_VECTORS] = graded.by_page(lambda texts: topic_scores(texts, "en", encoder=encoder))
        least[TOPIC_VECTORS] = 0.665
    rows = numbers_of(graded, rankings)
    print(f"Search: {len(graded.passages):,} passages of {graded.pages} topics\n\n{table(rows)}")
    for row in rows:
        if row.gains[0] < least.get(row.name, 0.0):
            yield f"nCG@10 of {row.name} on search: {row.gains[0]:.3f}, expected at least {least[row.name]}"


if __name__ == "__main__":
    raise SystemExit(main())
