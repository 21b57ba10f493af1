"""A made-up site: articles with comments, in the proportions of the paper's corpus (Table 2), the same in every run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SEED = 20181
TYPES = 400_000
CONTENT, TITLE, COMMENT = 554, 12, 17
COMMENTS = 25
AT_ONCE = 500
SYLLABLES = [f"{a}{b}" for a in "bcdfghklmnprstvwz" for b in "aeiouy"]


def vocabulary() -> list[str]:
    """Distinct words; the frequent ones are short."""
    count = len(SYLLABLES)
    words = []
    for number in range(TYPES):
        word, rest = SYLLABLES[number % count], number // count
        while rest:
            word, rest = word + SYLLABLES[rest % count], rest // count
        words.append(word)
    return words


def write(path: Path, comments: int, seed: int = SEED) -> int:
    """Write about so many comments with their articles as JSON Lines; how many articles."""
    rng = np.random.default_rng(seed)
    words = np.array(vocabulary(), dtype=object)
    share = 1 / np.arange(1, TYPES + 1) ** 1.05
    cumulative = np.cumsum(share / share.sum())
    articles = round(comments / COMMENTS)

    def texts(lengths: NDArray[np.int64]) -> list[str]:
        drawn = words[np.searchsorted(cumulative, rng.random(int(lengths.sum())))].tolist()
        ends = np.cumsum(lengths).tolist()
        return [" ".join(drawn[end - length : end]) for end, length in zip(ends, lengths.tolist(), strict=True)]

    with path.open("w", encoding="utf-8") as out:
        for start in range(0, articles, AT_ONCE):
            count = min(AT_ONCE, articles - start)
            sizes = 20 + rng.poisson(COMMENTS - 20, count)
            contents = texts(rng.poisson(CONTENT, count))
            titles = texts(1 + rng.poisson(TITLE - 1, count))
            said = iter(texts(1 + np.minimum(rng.geometric(1 / COMMENT, int(sizes.sum())), 60)))
            votes = iter((rng.pareto(1.0, int(sizes.sum())) * 3).astype(int).tolist())
            for row in range(count):
                listed = [{"id": str(n), "text": next(said), "upvotes": next(votes)} for n in range(int(sizes[row]))]
                article = {
                    "id": f"a{start + row}",
                    "title": titles[row],
                    "content": contents[row],
                    "lang": "en",
                    "category": f"section {(start + row) % 44}",
                    "comments": listed,
                }
                out.write(json.dumps(article) + "\n")
    return articles
