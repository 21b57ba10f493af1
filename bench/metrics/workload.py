"""Synthetic sets of candidates and references, the same in every run, for measuring the speed of metrics.

- ``zh27``: Chinese-looking words separated by spaces, candidates of about 12 words, 27 references of about 17: the
  shape of an article with its human comments.
- ``en5``: English-looking words, candidates and references of about 20 words, 5 references: the shape of captions.

Words follow Zipf's law over 30,000. Each item has a topic of 40 words: a sentence takes a quarter of its words from it,
a fifth as the fixed follower of the word before, the rest from the whole vocabulary, so that candidates share words
and word pairs with their references. Each reference has a weight.

    python -m bench.metrics.workload OUT [--items N] [--english FILE]

writes ``OUT/zh27.jsonl`` and ``OUT/en5.jsonl``, one ``{"id", "cand", "refs", "weights"}`` per line.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

VOCABULARY = 30_000
LONGEST = 50
FOLLOW, TOPIC = 0.22, 0.47  # below .22: the follower of the word before; below .47: a word of the topic
WEIGHTS = ((0.25, 0.2), (0.5, 0.4), (0.75, 0.35), (1.0, 0.05))  # weight and its probability


@dataclass(frozen=True)
class Item:
    """One candidate, its references and a weight for each of them."""

    candidate: str
    references: list[str]
    weights: list[float]


@dataclass(frozen=True)
class Workload:
    """A named list of items."""

    name: str
    items: list[Item]

    @property
    def candidates(self) -> list[str]:
        return [item.candidate for item in self.items]

    @property
    def references(self) -> list[list[str]]:
        return [item.references for item in self.items]

    @property
    def weights(self) -> list[list[float]]:
        return [item.weights for item in self.items]

    def first(self, n: int) -> Workload:
        """The first ``n`` items, for peers too slow for all."""
        return Workload(self.name, self.items[:n])


@dataclass(frozen=True)
class Shape:
    """Parameters of a synthetic workload."""

    name: str
    seed: int
    references: int
    candidate_length: float
    reference_length: float


SHAPES = (
    Shape("zh27", 20181, references=27, candidate_length=12.5, reference_length=17.5),
    Shape("en5", 20182, references=5, candidate_length=20.5, reference_length=20.5),
)


def workloads(
    items: int = 2000, english: Path | None = None, *, shapes: Sequence[Shape] = SHAPES
) -> Iterator[Workload]:
    """Draw workloads; ``english`` names a text whose words, by frequency, become the vocabulary of ``en5``."""
    for shape in shapes:
        rng = np.random.default_rng(shape.seed)
        words = _vocabulary(rng, shape, english)
        yield Workload(shape.name, list(_items(rng, words, shape, items)))


def _vocabulary(rng: np.random.Generator, shape: Shape, english: Path | None) -> list[str]:
    if shape.name == "zh27":
        return _distinct(lambda taken: _chinese_word(rng, taken))
    if english is not None:
        return _words_of(english)
    return _distinct(lambda _: _latin_word(rng))


def _distinct(make: Callable[[int], str]) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words.setdefault(make(len(words)))
    return list(words)


def _chinese_word(rng: np.random.Generator, taken: int) -> str:
    """One character for the 150 most frequent words, then one to four."""
    length = 1 if taken < 150 else int(rng.choice([1, 2, 3, 4], p=[0.08, 0.66, 0.19, 0.07]))
    return "".join(map(chr, rng.integers(0x4E00, 0x4E00 + 3500, length).tolist()))


def _latin_word(rng: np.random.Generator) -> str:
    length = int(rng.integers(1, 10))
    return "".join(chr(ord("a") + letter) for letter in rng.integers(0, 26, length).tolist())


def _words_of(text: Path) -> list[str]:
    counts = Counter(re.findall("[a-z]+", text.read_text("utf-8", "ignore").lower()))
    return [word for word, _ in counts.most_common(VOCABULARY)]


class _Language:
    """Draws sentences: Zipf's law, fixed followers, topics."""

    def __init__(self, rng: np.random.Generator, words: list[str]) -> None:
        self.rng, self.words = rng, words
        mass = 1 / np.arange(1, len(words) + 1)
        self.cumulative = np.cumsum(mass / mass.sum())
        self.follower = rng.integers(0, len(words), len(words))

    def draw(self, n: int) -> NDArray[np.intp]:
        return np.minimum(np.searchsorted(self.cumulative, self.rng.random(n)), len(self.words) - 1)

    def sentence(self, mean_length: float, topic: NDArray[np.intp]) -> str:
        length = int(np.clip(self.rng.gamma(2.2, mean_length / 2.2), 1, LONGEST))
        free, chance = self.draw(length), self.rng.random(length)
        on_topic = topic[self.rng.integers(0, len(topic), length)]
        chosen = [int(free[0])]
        for at in range(1, length):
            if chance[at] < FOLLOW:
                chosen.append(int(self.follower[chosen[-1]]))
            else:
                chosen.append(int(on_topic[at] if chance[at] < TOPIC else free[at]))
        return " ".join(self.words[word] for word in chosen)


def _items(rng: np.random.Generator, words: list[str], shape: Shape, n: int) -> Iterator[Item]:
    language = _Language(rng, words)
    values, chances = zip(*WEIGHTS, strict=True)
    for _ in range(n):
        topic = language.draw(40)
        candidate = language.sentence(shape.candidate_length, topic)
        references = [language.sentence(shape.reference_length, topic) for _ in range(shape.references)]
        yield Item(candidate, references, rng.choice(values, shape.references, p=chances).tolist())


def describe(workload: Workload) -> str:
    """Statistics of a workload in one line."""
    candidates = [text.split() for text in workload.candidates]
    references = [[text.split() for text in texts] for texts in workload.references]
    lengths = [len(words) for texts in references for words in texts]
    shared = [
        len(set(words) & {word for text in texts for word in text}) / len(set(words))
        for words, texts in zip(candidates, references, strict=True)
    ]
    return (
        f"{workload.name}: {len(candidates)} candidates of {np.mean([len(words) for words in candidates]):.2f} words, "
        f"{len(lengths)} references of {np.mean(lengths):.2f}, {sum(lengths)} reference words, "
        f"{np.mean(shared):.3f} of a candidate's distinct words are in its references"
    )


def write(workload: Workload, folder: Path) -> Path:
    """Write a workload as JSON lines and return the file."""
    path = folder / f"{workload.name}.jsonl"
    rows = (
        {"id": number, "cand": item.candidate, "refs": item.references, "weights": item.weights}
        for number, item in enumerate(workload.items)
    )
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the two workloads as JSON lines.")
    parser.add_argument("out", type=Path, help="folder to write to")
    parser.add_argument("--items", type=int, default=2000, help="items of each (default 2000)")
    parser.add_argument("--english", type=Path, help="any English text, for the words of en5")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for workload in workloads(given.items, given.english):
        print(describe(workload), "->", write(workload, given.out))


if __name__ == "__main__":
    main()
