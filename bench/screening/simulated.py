"""Simulated sites, and how often intervals of a precision, and of a difference of shares, hold the truth there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.screening.evaluation import Predicted, share
from postil.screening.fairness import difference

if TYPE_CHECKING:
    from postil.kernel.arrays import Booleans, Floats

PARTS: Final = 5
PRECISION: Final = 0.8
_POPULATION: Final = 400_000


@dataclass(frozen=True, slots=True)
class Setting:
    """A simulated site.

    Args:
        texts: Number of texts.
        authors: Mean number of texts of an author, geometrically distributed from 1.
        spread: Standard deviation of what an author does beyond what the screen sees, in logits.
        drift: By how much the logit of being held, and a third of it the screen's, rises from part to part in time.
    """

    texts: int
    authors: float
    spread: float
    drift: float

    def chances(self, logits: Floats, part: Floats, of_author: Floats) -> Floats:
        """Probability that a text is held."""
        return np.asarray(1 / (1 + np.exp(-(logits - 1 + self.drift * part + of_author))))

    def draw(self, random: np.random.Generator) -> Predicted:
        """A draw."""
        part = np.repeat(np.arange(PARTS), self.texts // PARTS)
        ends = np.cumsum(random.geometric(1 / self.authors, self.texts))
        cluster = random.permutation(np.searchsorted(ends, np.arange(self.texts), side="right"))
        logits = random.normal(0, 1.5, self.texts)
        of_author = random.normal(0, self.spread, self.texts)[cluster]
        held = random.random(self.texts) < self.chances(logits, part.astype(np.float64), of_author)
        return Predicted(logits + self.drift / 3 * part, held, cluster, part, in_time=True)

    def population(self, random: np.random.Generator) -> list[tuple[Floats, Floats]]:
        """For each part what the screen sees of a great many texts, descending, and the sums of their chances."""
        found = []
        for part in range(PARTS):
            logits = np.sort(random.normal(0, 1.5, _POPULATION))[::-1]
            of_author = random.normal(0, self.spread, _POPULATION)
            chances = self.chances(logits, np.full(_POPULATION, float(part)), of_author)
            found.append((logits + self.drift / 3 * part, np.append(0.0, np.cumsum(chances))))
        return found


SETTINGS: Final = (
    Setting(3_000, 1, 0.0, 0.3),
    Setting(3_000, 1, 0.0, 0.0),
    Setting(3_000, 5, 0.5, 0.3),
    Setting(3_000, 5, 1.0, 0.3),
    Setting(1_000, 5, 0.5, 0.3),
    Setting(1_000, 20, 0.5, 0.3),
)


def coverage(setting: Setting, draws: int, seed: int) -> tuple[float, float, int]:
    """Share of draws whose interval holds the precision of the same thresholds on texts of other authors.

    Returns:
        The share; the mean width of the intervals; the number of draws with an interval.
    """
    random = np.random.default_rng(seed)
    population = setting.population(random)
    hits, widths = 0, list[float]()
    for _ in range(draws):
        seen = setting.draw(random)
        beyond, _ = seen.decided(PRECISION)
        found = share(seen.held & beyond, beyond, seen.cluster)
        if found is None or found.low is None or found.high is None:
            continue
        widths.append(found.high - found.low)
        hits += found.low <= _truth(seen, beyond, population) <= found.high
    return hits / max(len(widths), 1), float(np.mean(widths)), len(widths)


def _truth(seen: Predicted, beyond: Booleans, population: list[tuple[Floats, Floats]]) -> float:
    """Precision of the thresholds on the population, of the texts that are beyond them there."""
    held = there = 0.0
    for part in range(1, PARTS):
        if not (beyond & (seen.fold == part)).any():
            continue
        threshold = seen.take(seen.fold < part).threshold(PRECISION)
        assert threshold is not None
        values, sums = population[part]
        count = int(np.searchsorted(-values, -threshold, side="right"))
        held, there = held + sums[count], there + count
    return held / there


@dataclass(frozen=True, slots=True)
class Naming:
    """Kept texts of a simulated site, some of which name a group.

    Args:
        texts: Number of kept texts.
        naming: Share of them that name a group.
        held: Shares that the screen holds for an author in the middle, of those that name a group and of the others.
        authors: Number of texts of an author.
        spread: Standard deviation of authors, in logits.
    """

    texts: int
    naming: float
    held: tuple[float, float]
    authors: int
    spread: float


NAMING: Final = (
    Naming(600, 0.05, (0.05, 0.02), 1, 0.0),
    Naming(2_000, 0.05, (0.05, 0.02), 1, 0.0),
    Naming(2_000, 0.05, (0.2, 0.1), 1, 0.0),
    Naming(2_000, 0.05, (0.05, 0.02), 5, 1.0),
    Naming(2_000, 0.2, (0.05, 0.02), 5, 1.0),
    Naming(2_000, 0.2, (0.2, 0.1), 5, 1.0),
    Naming(2_000, 0.2, (0.2, 0.1), 20, 1.0),
)


def difference_coverage(setting: Naming, draws: int, seed: int) -> tuple[float, float]:
    """Share of draws whose interval holds the difference over all authors, and the mean width of the intervals."""
    random = np.random.default_rng(seed)
    shares = np.array(setting.held)
    logits = np.log(shares / (1 - shares))
    authors = np.linspace(-6, 6, 2_001)
    weights = np.exp(-(authors**2) / 2)
    means = (weights / (1 + np.exp(-(logits[:, None] + setting.spread * authors)))).sum(axis=1) / weights.sum()
    hits, widths = 0, list[float]()
    for _ in range(draws):
        author = np.arange(setting.texts) // setting.authors
        ones = random.random(setting.texts) < setting.naming
        of_author = random.normal(0, setting.spread, setting.texts)[author]
        chance = 1 / (1 + np.exp(-(np.where(ones, *logits) + of_author)))
        found = difference(random.random(setting.texts) < chance, ones, ~ones, author)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= means[0] - means[1] <= found.high
        widths.append(found.high - found.low)
    return hits / draws, float(np.mean(widths))
